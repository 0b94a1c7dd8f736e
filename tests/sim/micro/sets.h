/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The data sets: which rows and columns are taken, and the launches that give
 * the same quantity in the simulator. What the kernels are is in README.md;
 * the data's own description has the rest.
 */
#ifndef WS_MICRO_SETS_H
#define WS_MICRO_SETS_H

#include "csv.h"
#include "machine.h"

typedef struct micro_set {
  const char *name;    /* of the .csv too */
  const char *unit;    /* of the quantity */
  const char *columns; /* that are measured, with commas between */
  const char *curve;   /* columns that are the same along a curve */
  const char *point;   /* columns that tell its points apart */
  bool (*takes)(const csv_row *row);
  double (*simulate)(machine *m, const csv_row *row, const char *column);
  bool points_compete; /* they are ways to do the same */
} micro_set;

/* Is number among those of a list with blanks around each? */
static bool is_listed(const char *list, const char *number) {
  char word[32];
  snprintf(word, sizeof word, " %s ", number);
  return strstr(list, word) != NULL;
}

/* "read_gbps" -> "read" */
static const char *kernel_of_column(machine *m, const char *column) {
  return ws_arena_strndup(m->arena, column, strcspn(column, "_"));
}

/* ---- one instruction again and again ----------------------------------------
 */

enum { SHORT_REPEAT = 128, LONG_REPEAT = 384 };

typedef struct repeated {
  const char *operation, *type, *text;
} repeated;

#define MFMA(instruction, last)                                                \
  "v_mfma_" instruction " a[0:" last "], v[2:3], v[4:5], a[0:" last "]"

static const repeated matrix_operations[] = {
    {"", "fp8-fp32", MFMA("f32_16x16x32_fp8_fp8", "3")},
    {"", "bf8-fp32", MFMA("f32_16x16x32_bf8_bf8", "3")},
    {"", "int8-int32", MFMA("i32_16x16x32_i8", "3")},
    {"", "bf16-fp32", MFMA("f32_16x16x16_bf16", "3")},
    {"", "fp16-fp32", MFMA("f32_16x16x16_f16", "3")},
    {"", "tf32-fp32", MFMA("f32_16x16x8_xf32", "3")},
    {"", "fp32-fp32", "v_mfma_f32_16x16x4_f32 a[0:3], v2, v4, a[0:3]"},
    {"", "fp64-fp64", MFMA("f64_16x16x4_f64", "7")},
    {NULL, NULL, NULL}};

/* x op x, x op y; x * x + x, x * y + x, y * z + x, x being the destination too.
 * A fused half is two instructions, as its measured time is of two. */
static const repeated vector_operations[] = {
    {"vadd1", "fp16", "v_add_f16 v0, v0, v0"},
    {"vadd1", "fp32", "v_add_f32 v0, v0, v0"},
    {"vadd1", "fp64", "v_add_f64 v[0:1], v[0:1], v[0:1]"},
    {"vadd2", "fp16", "v_add_f16 v0, v0, v2"},
    {"vadd2", "fp32", "v_add_f32 v0, v0, v2"},
    {"vadd2", "fp64", "v_add_f64 v[0:1], v[0:1], v[2:3]"},
    {"vmul1", "fp16", "v_mul_f16 v0, v0, v0"},
    {"vmul1", "fp32", "v_mul_f32 v0, v0, v0"},
    {"vmul1", "fp64", "v_mul_f64 v[0:1], v[0:1], v[0:1]"},
    {"vmul2", "fp16", "v_mul_f16 v0, v0, v2"},
    {"vmul2", "fp32", "v_mul_f32 v0, v0, v2"},
    {"vmul2", "fp64", "v_mul_f64 v[0:1], v[0:1], v[2:3]"},
    {"vfma1", "fp16", "v_mul_f16 v0, v0, v0\\0Av_add_f16 v0, v0, v0"},
    {"vfma1", "fp32", "v_fma_f32 v0, v0, v0, v0"},
    {"vfma1", "fp64", "v_fma_f64 v[0:1], v[0:1], v[0:1], v[0:1]"},
    {"vfma2", "fp16", "v_mul_f16 v0, v0, v2\\0Av_add_f16 v0, v0, v2"},
    {"vfma2", "fp32", "v_fma_f32 v0, v0, v2, v0"},
    {"vfma2", "fp64", "v_fma_f64 v[0:1], v[0:1], v[2:3], v[0:1]"},
    {"vfma3", "fp16", "v_mul_f16 v6, v2, v4\\0Av_add_f16 v0, v0, v6"},
    {"vfma3", "fp32", "v_fma_f32 v0, v2, v4, v0"},
    {"vfma3", "fp64", "v_fma_f64 v[0:1], v[2:3], v[4:5], v[0:1]"},
    {NULL, NULL, NULL}};

static const char *text_of(const repeated *table, const char *operation,
                           const char *type) {
  while (table->type &&
         (strcmp(table->operation, operation) || strcmp(table->type, type)))
    table++;
  WS_ASSERT(table->type);
  return table->text;
}

static bool takes_waves(const csv_row *row) {
  return is_listed(" 1 2 4 5 8 12 16 ", csv_text(row, "waves"));
}

static const ws_sim_kernel *repeat_kernel(machine *m, const char *text,
                                          const char *kernel) {
  const char *tokens =
      ws_arena_printf(m->arena, "INSTRUCTION=%s;SHORT=%d;LONG=%d", text,
                      SHORT_REPEAT, LONG_REPEAT);
  return machine_kernel(m, "repeat.ll", tokens, kernel);
}

/* Clocks of one workgroup, from two lengths, an iteration. */
static double clocks_each(machine *m, const char *text, int64_t waves) {
  machine_launch launch = {
      .groups = 1, .threads = 64 * waves, .residency = WS_SIM_WARM};
  launch.kernel = repeat_kernel(m, text, "short");
  const int64_t shorter = machine_time(m, &launch).clocks;
  launch.kernel = repeat_kernel(m, text, "long");
  const int64_t longer = machine_time(m, &launch).clocks;
  return (double)(longer - shorter) / (LONG_REPEAT - SHORT_REPEAT);
}

/* The clock of a load that lasts: a launch of a microsecond counts as long. */
static double clock_under(machine *m, const char *text, const csv_row *row) {
  const int64_t power_us = m->constants.power_us;
  const machine_launch launch = {.kernel = repeat_kernel(m, text, "short"),
                                 .groups = csv_int(row, "workgroups"),
                                 .threads = 64 * csv_int(row, "waves"),
                                 .residency = WS_SIM_WARM};
  m->constants.power_us = 1;
  const double mhz = machine_time(m, &launch).clock_mhz;
  m->constants.power_us = power_us;
  return mhz;
}

static const char *matrix_text(const csv_row *row) {
  return text_of(matrix_operations, "", csv_text(row, "type"));
}

static const char *vector_text(const csv_row *row) {
  return text_of(vector_operations, csv_text(row, "op"), csv_text(row, "type"));
}

static double simulate_matrix(machine *m, const csv_row *row,
                              const char *column) {
  (void)column;
  return clocks_each(m, matrix_text(row), csv_int(row, "waves"));
}

static double simulate_vector(machine *m, const csv_row *row,
                              const char *column) {
  (void)column;
  return clocks_each(m, vector_text(row), csv_int(row, "waves"));
}

static bool takes_workgroups(const csv_row *row) {
  return is_listed(" 1 128 256 304 ", csv_text(row, "workgroups"));
}

static double simulate_matrix_clock(machine *m, const csv_row *row,
                                    const char *column) {
  (void)column;
  return clock_under(m, matrix_text(row), row);
}

static double simulate_vector_clock(machine *m, const csv_row *row,
                                    const char *column) {
  (void)column;
  return clock_under(m, vector_text(row), row);
}

/* ---- latency ----------------------------------------------------------------
 */

enum {
  POINTER_LINE = 128,
  TURN_LOADS = 32,
  MOST_WALKED = 131072, /* lines of a chain that is walked as a whole */
  TIMED_LOADS = 16384
};

static bool takes_latency(const csv_row *row) { return row->index % 9 == 0; }

/* Random order of `lines` lines, or of the first `count` of them. */
static uint32_t *random_lines(int64_t lines, int64_t count) {
  uint32_t *order = malloc((size_t)lines * sizeof *order);
  WS_ASSERT(order);
  ws_rng rng;
  ws_rng_init(&rng, 1);
  for (int64_t i = 0; i < lines; i++)
    order[i] = (uint32_t)i;
  for (int64_t i = 0; i < count; i++) {
    const int64_t other =
        i + (int64_t)ws_rng_below(&rng, (uint64_t)(lines - i));
    const uint32_t swap = order[i];
    order[i] = order[other];
    order[other] = swap;
  }
  return order;
}

static void *link_lines(char *memory, int64_t lines, int64_t count) {
  uint32_t *order = random_lines(lines, count);
  for (int64_t i = 0; i < count; i++) {
    const char *next = memory + (size_t)order[(i + 1) % count] * POINTER_LINE;
    memcpy(memory + (size_t)order[i] * POINTER_LINE, &next, sizeof next);
  }
  void *first = memory + (size_t)order[0] * POINTER_LINE;
  free(order);
  return first;
}

static int64_t chase_clocks(machine *m, void *first, int64_t loads) {
  const struct {
    void *start, *end;
    int64_t turns;
  } arguments = {first, machine_buffer(m, 1, POINTER_LINE), loads / TURN_LOADS};
  const machine_launch launch = {
      .kernel = machine_kernel(m, "latency.ll", "", "chase"),
      .groups = 1,
      .threads = 1,
      .residency = WS_SIM_WARM,
      .arguments = &arguments,
      .argument_bytes = sizeof arguments};
  return machine_time(m, &launch).clocks;
}

/* A launch follows the chain from its first line, LAUNCH_LOADS times or once
 * round, whichever is more; so it finds in L2 what the launch before it met
 * last. Here one launch does both: each visit has a pointer of its own. */
enum { LAUNCH_LOADS = 100000, LINE_POINTERS = POINTER_LINE / 8 };

static double launched_twice(machine *m, char *memory, int64_t lines) {
  uint32_t *order = random_lines(lines, lines);
  const int64_t wanted = lines > LAUNCH_LOADS ? lines : LAUNCH_LOADS;
  const int64_t loads = wanted / TURN_LOADS * TURN_LOADS;
  const int64_t passes = (loads + lines - 1) / lines;
  WS_ASSERT(2 * passes <= LINE_POINTERS);
  char *at = memory + (size_t)order[0] * POINTER_LINE, *first = at;
  for (int64_t i = 1; i <= 2 * loads; i++) {
    const int64_t visit = i % loads, launch = i / loads % 2;
    const int64_t pointer = launch * passes + visit / lines;
    char *next = memory + (size_t)order[visit % lines] * POINTER_LINE +
                 pointer * (POINTER_LINE / LINE_POINTERS);
    memcpy(at, &next, sizeof next);
    at = next;
  }
  free(order);
  return (double)(chase_clocks(m, first, 2 * loads) -
                  chase_clocks(m, first, loads)) /
         (double)loads;
}

/* Clocks a load. Two launches went before the measured one. So a chain that
 * stays in L2 is walked once before what counts; of a very long one only the
 * part that is walked exists. */
static double walked_before(machine *m, char *memory, int64_t lines) {
  const int64_t before = lines > MOST_WALKED ? TIMED_LOADS : lines;
  const int64_t chain = lines > MOST_WALKED ? before + TIMED_LOADS : lines;
  void *first = link_lines(memory, lines, chain);
  const int64_t rounded = (before + TURN_LOADS - 1) / TURN_LOADS * TURN_LOADS;
  return (double)(chase_clocks(m, first, rounded + TIMED_LOADS) -
                  chase_clocks(m, first, rounded)) /
         TIMED_LOADS;
}

static double simulate_latency(machine *m, const csv_row *row,
                               const char *column) {
  (void)column;
  const int64_t lines = (int64_t)(csv_number(row, "kib") * 1024 / POINTER_LINE);
  const size_t bytes = (size_t)lines * POINTER_LINE;
  char *memory = machine_buffer(m, 0, bytes);
  const bool in_part_in_l2 =
      lines <= MOST_WALKED && (int64_t)bytes > m->constants.l2_bytes;
  const double clocks = in_part_in_l2 ? launched_twice(m, memory, lines)
                                      : walked_before(m, memory, lines);
  machine_let_go(memory, bytes);
  return clocks * 1e3 / (double)m->constants.clock_mhz;
}

/* ---- cache reads ------------------------------------------------------------
 */

enum { SHARED_GROUPS = 304, PAIRS_TOGETHER = 32, LEAST_PAIRS = 512 };

static bool takes_shared(const csv_row *row) {
  return csv_number(row, "kib") <= 8192 && row->index % 3 == 0;
}

static int64_t shared_threads(int64_t kib) {
  return kib == 4 ? 128 : kib == 8 || kib == 24 ? 256 : 512;
}

static double simulate_shared(machine *m, const csv_row *row,
                              const char *column) {
  (void)column;
  const int64_t kib = csv_int(row, "kib"), threads = shared_threads(kib);
  const int64_t elements = kib * 32, pairs = elements / threads;
  const int64_t inner = pairs < PAIRS_TOGETHER ? pairs : PAIRS_TOGETHER;
  const int64_t outer = PAIRS_TOGETHER / inner;
  const char *tokens = ws_arena_printf(
      m->arena, "ELEMENTS=%lld;THREADS=%lld;INNER=%lld;OUTER=%lld",
      (long long)elements, (long long)threads, (long long)inner,
      (long long)outer);
  const int64_t passes = (LEAST_PAIRS / pairs + outer) / outer * outer;
  struct {
    void *b, *a;
    int64_t passes;
  } arguments = {machine_buffer(m, 0, (size_t)kib * 1024),
                 machine_buffer(m, 1, 65536), passes};
  const machine_launch launch = {
      .kernel = machine_kernel(m, "cache_read_shared.ll", tokens, "read"),
      .groups = SHARED_GROUPS,
      .threads = threads,
      .residency = WS_SIM_WARM,
      .arguments = &arguments,
      .argument_bytes = sizeof arguments};
  const ws_sim_profile once = machine_time(m, &launch);
  arguments.passes = 2 * passes;
  const ws_sim_profile twice = machine_time(m, &launch);
  const double bytes = (double)kib * 1024 * SHARED_GROUPS * (double)passes;
  return bytes / ((twice.us - once.us) * 1e3);
}

enum { BLOCK_BYTES = 512 * 1024, BLOCK_GROUPS = 200000, BLOCK_THREADS = 1024 };

static bool takes_blocks(const csv_row *row) {
  return csv_number(row, "kib") < 700000 &&
         (row->index < 24 || row->index % 4 == 0);
}

static double simulate_blocks(machine *m, const csv_row *row,
                              const char *column) {
  (void)column;
  const int64_t blocks = csv_int(row, "distinct_blocks");
  const struct {
    void *b, *a;
    int64_t blocks;
  } arguments = {machine_buffer(m, 0, (size_t)blocks * BLOCK_BYTES),
                 machine_buffer(m, 1, 65536), blocks};
  const machine_launch launch = {
      .kernel = machine_kernel(m, "cache_read_blocks.ll", "", "read"),
      .groups = BLOCK_GROUPS,
      .threads = BLOCK_THREADS,
      .residency = WS_SIM_WARM,
      .arguments = &arguments,
      .argument_bytes = sizeof arguments};
  return (double)BLOCK_BYTES * BLOCK_GROUPS /
         (machine_time(m, &launch).us * 1e3);
}

/* ---- streams ----------------------------------------------------------------
 */

/* The measured stream has 2^28 elements, 2 GiB an array. Here arrays are 512
 * MiB, still more than the Infinity Cache; what is beyond the launch cost
 * counts four times. */
static const int64_t stream_elements = INT64_C(1) << 26;
static const int64_t stream_measured = INT64_C(1) << 28;
static const int64_t l2_elements = INT64_C(1) << 30;

static const struct {
  const char *kernel, *arrays; /* that it touches */
} stream_kernels[] = {{"write", "A"},     {"read", "B"},
                      {"scale", "AB"},    {"triad", "ABCD"},
                      {"stencil3", "AB"}, {"stencil5", "AB"}};

static const char *arrays_of(const char *kernel) {
  int i = 0;
  while (strcmp(stream_kernels[i].kernel, kernel))
    i++;
  return stream_kernels[i].arrays;
}

/* NULL: the kernel leaves it alone. What a launch might touch counts. */
static void *stream_array(machine *m, const char *kernel, int index,
                          size_t bytes) {
  return strchr(arrays_of(kernel), 'A' + index)
             ? machine_buffer(m, index, bytes)
             : NULL;
}

typedef struct stream_run {
  const char *file, *tokens, *kernel;
  int64_t elements; /* over which the grid goes */
  int64_t length;   /* of each array */
  ws_sim_residency residency;
} stream_run;

static ws_sim_profile time_stream(machine *m, const csv_row *row,
                                  const stream_run *run) {
  const size_t bytes = (size_t)run->length * sizeof(double);
  const int64_t block = csv_int(row, "block");
  const struct {
    void *arrays[4];
    int32_t elements, flag;
  } arguments = {{stream_array(m, run->kernel, 0, bytes),
                  stream_array(m, run->kernel, 1, bytes),
                  stream_array(m, run->kernel, 2, bytes),
                  stream_array(m, run->kernel, 3, bytes)},
                 (int32_t)run->elements,
                 0};
  const machine_launch launch = {
      .kernel = machine_kernel(m, run->file, run->tokens, run->kernel),
      .groups = (run->elements + 2 + block - 1) / block,
      .threads = block,
      .dynamic_lds = csv_int(row, "blocks_per_cu") == 1 ? 33024 : 22016,
      .residency = run->residency,
      .arguments = &arguments,
      .argument_bytes = sizeof arguments};
  return machine_time(m, &launch);
}

static double gigabytes_per_s(const char *kernel, int64_t elements, double us) {
  return (double)elements * (double)sizeof(double) *
         (double)strlen(arrays_of(kernel)) / (us * 1e3);
}

static bool takes_stream(const csv_row *row) {
  return row->index < 12 || row->index % 3 == 0;
}

static double simulate_stream(machine *m, const csv_row *row,
                              const char *column) {
  const stream_run run = {.file = "stream.ll",
                          .tokens = "",
                          .kernel = kernel_of_column(m, column),
                          .elements = stream_elements,
                          .length = stream_elements,
                          .residency = WS_SIM_COLD};
  const double launch_us = (double)m->constants.launch_ns / 1e3;
  const double us = time_stream(m, row, &run).us - launch_us;
  return gigabytes_per_s(
      run.kernel, stream_measured,
      us * (double)stream_measured / (double)stream_elements + launch_us);
}

/* two_array_kib is rounded down; lengths are 8192 k + 8161. */
static int64_t length_of(int64_t two_array_kib) {
  const int64_t below = (two_array_kib + 1) * 1024 / 16;
  return (below - 8161) / 8192 * 8192 + 8161;
}

/* Where a pass is nearly a multiple of XCDS workgroups long, the next one gives
 * each XCD nearly the lines that it had before, which its L2 then keeps. That
 * is a matter of length and block, not of the caches, so beyond L2 such rows
 * are left out: blocks that are powers of two, all of whose passes are so (8 k
 * + 7.97 workgroups of 1024 threads), and some others. */
enum { XCDS = 8 };

static bool meets_itself(const csv_row *row) {
  const int64_t kib = csv_int(row, "two_array_kib");
  const double groups = (double)length_of(kib) / csv_number(row, "block");
  const double shift = fabs(groups - XCDS * round(groups / XCDS));
  return kib > 4096 && shift < 0.3;
}

static bool takes_l2_stream(const csv_row *row) {
  return !meets_itself(row) &&
         is_listed(" 1023 5375 12159 48639 152063 609151 ",
                   csv_text(row, "two_array_kib"));
}

static double simulate_l2_stream(machine *m, const csv_row *row,
                                 const char *column) {
  const int64_t length = length_of(csv_int(row, "two_array_kib"));
  const stream_run run = {
      .file = "l2_stream.ll",
      .tokens = ws_arena_printf(m->arena, "LENGTH=%lld", (long long)length),
      .kernel = kernel_of_column(m, column),
      .elements = l2_elements,
      .length = length,
      .residency = WS_SIM_WARM};
  return gigabytes_per_s(run.kernel, run.elements,
                         time_stream(m, row, &run).us);
}

/* ---- table ------------------------------------------------------------------
 */

static const micro_set micro_sets[] = {
    {"mfma_cu", "clk", "clk_per_iteration_slowest", "type", "waves",
     takes_waves, simulate_matrix, false},
    {"vector_cu", "clk", "clk_per_iteration_slowest", "op,type", "waves",
     takes_waves, simulate_vector, false},
    {"latency", "ns", "ns_median", "", "kib", takes_latency, simulate_latency,
     false},
    {"cache_read_shared", "GB/s", "best_gbps", "", "kib", takes_shared,
     simulate_shared, false},
    {"cache_read_blocks", "GB/s", "best_gbps", "", "distinct_blocks",
     takes_blocks, simulate_blocks, false},
    {"stream", "GB/s",
     "write_gbps,read_gbps,scale_gbps,triad_gbps,stencil3_gbps,stencil5_gbps",
     "", "block,blocks_per_cu", takes_stream, simulate_stream, true},
    {"l2_stream", "GB/s", "read_gbps,scale_gbps,triad_gbps,write_gbps",
     "two_array_kib", "block,blocks_per_cu", takes_l2_stream,
     simulate_l2_stream, true},
    {"mfma_device", "MHz", "smi_clock_mhz", "type", "workgroups",
     takes_workgroups, simulate_matrix_clock, false},
    {"vector_device", "MHz", "smi_clock_mhz", "op,type", "workgroups",
     takes_workgroups, simulate_vector_clock, false},
};
enum { MICRO_SETS = sizeof micro_sets / sizeof *micro_sets };

#endif
