/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Caches along a chain of operations. Bounds by hand from the rates of
 * docs/simulator.md: Infinity Cache 5300 GB/s and 256 MiB, HBM 4100 GB/s, a
 * launch 2.5 us. Only timed, so that the sizes can be a card's.
 */
#include "hipsim_test.h"

enum { MIB = 1 << 20, STREAM = 96 * MIB, BLOCK_BYTES = 256 * 256 };
#define MALL_RATE 5300e3 /* bytes a us */
#define HBM_RATE 4100e3
#define LAUNCH_US 2.5

static void *memory(size_t bytes) {
  void *found;
  OK(hipMalloc(&found, bytes));
  return found;
}

static void fill(void *to, size_t bytes) {
  OK(hipMemsetAsync(to, 1, bytes, NULL));
}

static double write_us(void *out, size_t bytes) {
  unsigned value = 7;
  void *params[] = {&out, &value};
  double us;
  ELAPSED_US(us, NULL,
             launch("stream_write", (unsigned)(bytes / BLOCK_BYTES), 256, 0,
                    NULL, params));
  return us;
}

static double read_us(void *in, void *out, size_t bytes) {
  void *params[] = {&in, &out};
  double us;
  ELAPSED_US(us, NULL,
             launch("stream_read", (unsigned)(bytes / BLOCK_BYTES), 256, 0,
                    NULL, params));
  return us;
}

static void only_time(const char *residency) {
  setenv("WAVESMITH_SIM_MODE", "time", 1);
  setenv("WAVESMITH_SIM_RESIDENCY", residency, 1);
}

/* Nothing is faster than the rate that it comes at; a stream from the Infinity
 * Cache is faster than HBM could be. */
static const double least_mall = STREAM / MALL_RATE + LAUNCH_US;
static const double least_hbm = STREAM / HBM_RATE + LAUNCH_US;

static void is_from_mall(double us) {
  WS_CHECK(us > least_mall);
  WS_CHECK(us < least_hbm);
}
static void is_from_hbm(double us) {
  WS_CHECK(us > least_hbm);
  WS_CHECK(us < 1.2 * least_hbm);
}

WS_TEST(what_a_kernel_wrote_is_in_the_infinity_cache) {
  only_time("");
  void *data = memory(STREAM), *sums = memory(STREAM / 64);
  is_from_hbm(read_us(data, sums, STREAM)); /* nothing was there */
  is_from_mall(read_us(data, sums, STREAM));
  void *other = memory(STREAM);
  write_us(other, STREAM);
  is_from_mall(read_us(other, sums, STREAM));
  is_from_mall(read_us(data, sums, STREAM)); /* 195 MiB in all */
}

WS_TEST(a_fill_of_twice_the_cache_is_a_flush) {
  only_time("cold");
  void *data = memory(STREAM), *sums = memory(STREAM / 64);
  const double first = read_us(data, sums, STREAM);
  void *flush = memory(512 * (size_t)MIB);
  fill(flush, 512 * (size_t)MIB);
  WS_CHECK_NEAR(read_us(data, sums, STREAM), first, 0); /* to the digit */
  is_from_mall(read_us(data, sums, STREAM));
}

/* 128 MiB fit beside the 97.5. 208 MiB leave 48 of these: the 54 that come from
 * HBM take 13.8 us, less than all 102 MB take from the cache, so time is the
 * cache's yet. 252 MiB leave 4, less than a sixteenth, which is nothing. */
WS_TEST(the_oldest_bytes_go_first) {
  only_time("cold");
  void *data = memory(STREAM), *sums = memory(STREAM / 64);
  void *other = memory(252 * (size_t)MIB);
  const double cold = read_us(data, sums, STREAM);
  fill(other, 128 * (size_t)MIB);
  is_from_mall(read_us(data, sums, STREAM));
  fill(other, 208 * (size_t)MIB);
  is_from_mall(read_us(data, sums, STREAM));
  fill(other, 252 * (size_t)MIB);
  WS_CHECK_NEAR(read_us(data, sums, STREAM), cold, 0);
}

WS_TEST(the_device_copies_through_the_cache_the_host_does_not) {
  only_time("cold");
  static char host[MIB];
  void *data = memory(STREAM), *sums = memory(STREAM / 64);
  void *copy = memory(STREAM);
  for (size_t at = 0; at < STREAM; at += MIB)
    OK(hipMemcpy((char *)data + at, host, MIB, hipMemcpyHostToDevice));
  const double cold = read_us(data, sums, STREAM);
  is_from_hbm(cold);
  OK(hipMemcpy(copy, data, STREAM, hipMemcpyDeviceToDevice));
  is_from_mall(read_us(copy, sums, STREAM));
}

WS_TEST(flushed_finds_caches_empty_each_time) {
  only_time("flushed");
  void *data = memory(STREAM), *sums = memory(STREAM / 64);
  for (int i = 0; i < 3; i++) {
    write_us(data, STREAM);
    is_from_hbm(read_us(data, sums, STREAM));
  }
}

WS_TEST(warm_finds_its_inputs_each_time) {
  only_time("warm");
  void *data = memory(STREAM), *sums = memory(STREAM / 64);
  is_from_mall(read_us(data, sums, STREAM));
}

/* ---- transpose, GEMM, reduce -------------------------------------------- */

enum { N = 3072, COLUMNS = 16, SLICES = 16 };

typedef struct chain {
  void *in, *turned, *b, *partial, *c;
} chain;

static chain new_chain(void) {
  const size_t square = (size_t)N * N * 4, thin = (size_t)N * COLUMNS * 4;
  chain x = {memory(square), memory(square), memory(thin),
             memory(thin * SLICES), memory(thin)};
  OK(hipMemcpy(x.b, test_memory(thin), thin, hipMemcpyHostToDevice));
  return x; /* b, which scalar loads read, is known */
}

/* flush NULL: what is in the caches stays between the three. */
static double chain_us(chain *x, void *flush) {
  const size_t flush_bytes = 512 * (size_t)MIB;
  unsigned n = N;
  void *turn[] = {&x->in, &x->turned, &n};
  void *gemm[] = {&x->turned, &x->b, &x->partial, &n};
  void *reduce[] = {&x->partial, &x->c, &n};
  double first, second, third;
  ELAPSED_US(first, NULL,
             launch("transpose", N / 64 * (N / 64), 256, 0, NULL, turn));
  if (flush)
    fill(flush, flush_bytes);
  ELAPSED_US(second, NULL,
             launch("gemm_slice", N / 256 * SLICES, 256, 0, NULL, gemm));
  if (flush)
    fill(flush, flush_bytes);
  ELAPSED_US(third, NULL,
             launch("reduce_slices", N * COLUMNS / 256, 256, 0, NULL, reduce));
  return first + second + third;
}

/* In front of the second chain a flush, so that both begin cold. */
WS_TEST(a_chain_is_faster_than_its_kernels_alone) {
  only_time("cold");
  chain x = new_chain();
  void *flush = memory(512 * (size_t)MIB);
  const double together = chain_us(&x, NULL);
  fill(flush, 512 * (size_t)MIB);
  const double alone = chain_us(&x, flush);
  WS_CHECK(together < 0.97 * alone);
  fill(flush, 512 * (size_t)MIB);
  WS_CHECK_NEAR(chain_us(&x, NULL), together, 0); /* again the same */
}
