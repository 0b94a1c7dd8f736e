/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every operation across lanes that a kernel of gfx942 may use, through the
 * sanitizer and, compiled, through the simulator, with all lanes and with some:
 * the same words, and those that a table of source lanes gives, written here
 * from the CDNA3 ISA guide's pictures of DPP and ds_swizzle. What a lane
 * without a source reads is open to the instruction (DPP keeps the old value).
 */
#include "model_fixture.h"

#include <inttypes.h>

/* Which lane `lane` reads; -1: none. */
typedef int (*source)(int lane, int n);

static int row_of(int lane) { return lane / 16; }
static int in_row(int lane, int place) {
  return place < 0 || place > 15 ? -1 : row_of(lane) * 16 + place;
}
static int quad(int lane, int n) {
  const int places[4] = {n % 4, n / 4 % 4, n / 16 % 4, n / 64};
  return lane / 4 * 4 + places[lane % 4];
}
static int row_shl(int lane, int n) { return in_row(lane, lane % 16 + n); }
static int row_shr(int lane, int n) { return in_row(lane, lane % 16 - n); }
static int row_ror(int lane, int n) {
  return in_row(lane, (lane % 16 + 16 - n) % 16);
}
static int wave_shl(int lane, int n) { return lane + n > 63 ? -1 : lane + n; }
static int wave_shr(int lane, int n) { return lane - n; }
static int wave_rol(int lane, int n) { return (lane + n) % 64; }
static int wave_ror(int lane, int n) { return (lane + 64 - n) % 64; }
static int mirror(int lane, int n) { return lane / n * n + n - 1 - lane % n; }
static int bcast15(int lane, int n) {
  (void)n;
  return row_of(lane) ? row_of(lane) * 16 - 1 : -1;
}
static int bcast31(int lane, int n) {
  (void)n;
  return lane < 32 ? -1 : 31;
}
static int newbcast(int lane, int n) { return row_of(lane) * 16 + n; }

/* ds_swizzle, within 32 lanes. */
static int masks(int lane, int n) { /* and, or, xor, bit by bit */
  int from = 0;
  for (int bit = 0; bit < 5; bit++) {
    bool set = lane >> bit & 1;
    set = set && (n >> bit & 1);
    set = set || (n >> (5 + bit) & 1);
    set = set != (n >> (10 + bit) & 1);
    from += set << bit;
  }
  return lane / 32 * 32 + from;
}
/* Bits that n keeps stay. (LLVM's disassembler forgets them, so that the
 * simulator cannot see any: none here.) */
static int rotate(int lane, int n) {
  const int kept = n & 31, by = n >> 5 & 31, down = n >> 10 & 1;
  const int moved = ((lane & 31) + (down ? 32 - by : by)) % 32;
  int from = 0;
  for (int bit = 0; bit < 5; bit++)
    from |= (kept >> bit & 1 ? lane : moved) & 1 << bit;
  return lane / 32 * 32 + from;
}
/* Five bits reversed, shifted down once for each bit that is kept. */
static int fft(int lane, int n) {
  int reversed = 0, kept = 0;
  for (int bit = 0; bit < 5; bit++) {
    reversed = reversed * 2 + (lane >> bit & 1);
    kept += n >> bit & 1;
  }
  return lane / 32 * 32 + (reversed >> kept | (lane & n & 31));
}

static const struct pattern {
  int first, count; /* controls: n of the source is begin, begin + 1, ... */
  source from;
  int begin;
} dpp_patterns[] = {
    {0x00, 256, quad, 0},     {0x101, 15, row_shl, 1}, {0x111, 15, row_shr, 1},
    {0x121, 15, row_ror, 1},  {0x130, 1, wave_shl, 1}, {0x134, 1, wave_rol, 1},
    {0x138, 1, wave_shr, 1},  {0x13c, 1, wave_ror, 1}, {0x140, 1, mirror, 16},
    {0x141, 1, mirror, 8},    {0x142, 1, bcast15, 0},  {0x143, 1, bcast31, 0},
    {0x150, 16, newbcast, 0},
};
enum { DPP_PATTERNS = sizeof dpp_patterns / sizeof *dpp_patterns };

/* ---- one operation of a kernel ---- */

typedef enum kind { UPDATE, MOVE, SWIZZLE, READ, WRITE, GATHER, SCATTER } kind;
typedef struct operation {
  kind kind;
  source from;
  int control, n, rows, banks;
  bool zero;
} operation;

enum { MOST = 96 };
static operation operations[MOST];
static int operation_count;

static void add(operation o) {
  WS_CHECK(operation_count < MOST);
  operations[operation_count++] = o;
}

/* Two words per lane; the second says whom ds_permute and its kin name. */
static uint32_t input[128], sanitized[MOST * 64], simulated[MOST * 64];

static uint32_t old_of(int lane) { return 0xabcd0000 + (uint32_t)lane; }

/* What a lane of `on` gets. known: the ISA says. */
static uint32_t wanted(const operation *o, int lane, uint64_t on, bool *known) {
  const int from = o->from ? o->from(lane, o->n) : -1;
  const bool there = from >= 0 && on >> from & 1;
  *known = true;
  switch (o->kind) {
  case UPDATE:
  case MOVE: {
    const bool enabled =
        o->rows >> lane / 16 & 1 && o->banks >> lane / 4 % 4 & 1;
    if (enabled && there)
      return input[from];
    *known = o->kind == UPDATE || (enabled && o->zero);
    return enabled && o->zero ? 0 : old_of(lane);
  }
  case SWIZZLE:
    *known = there;
    return there ? input[from] : 0;
  case READ:
    *known = on >> o->n & 1;
    return input[o->n];
  case WRITE:
    return lane == o->n ? 77 : old_of(lane);
  case GATHER: {
    const int named = (int)(input[64 + lane] / 4 % 64);
    *known = on >> named & 1;
    return input[named];
  }
  default: { /* the highest lane that names this one */
    uint32_t value = 0;
    *known = false;
    for (int i = 0; i < 64; i++)
      if (on >> i & 1 && (int)(input[64 + i] / 4 % 64) == lane) {
        value = input[i];
        *known = true;
      }
    return value;
  }
  }
}

/* ---- the kernel ---- */

static void put(ws_strbuf *body, int i, const operation *o) {
  switch (o->kind) {
  case UPDATE:
    ws_strbuf_printf(
        body,
        "  %%r%d = call i32 @llvm.amdgcn.update.dpp.i32(i32 %%old, "
        "i32 %%v, i32 %d, i32 %d, i32 %d, i1 %d)\n",
        i, o->control, o->rows, o->banks, o->zero);
    break;
  case MOVE:
    ws_strbuf_printf(body,
                     "  %%r%d = call i32 @llvm.amdgcn.mov.dpp.i32(i32 %%v, i32 "
                     "%d, i32 %d, i32 %d, i1 %d)\n",
                     i, o->control, o->rows, o->banks, o->zero);
    break;
  case SWIZZLE:
    ws_strbuf_printf(
        body, "  %%r%d = call i32 @llvm.amdgcn.ds.swizzle(i32 %%v, i32 %d)\n",
        i, o->control);
    break;
  case READ:
    ws_strbuf_printf(
        body, "  %%r%d = call i32 @llvm.amdgcn.readlane.i32(i32 %%v, i32 %d)\n",
        i, o->n);
    break;
  case WRITE:
    ws_strbuf_printf(
        body,
        "  %%r%d = call i32 @llvm.amdgcn.writelane.i32(i32 77, i32 "
        "%d, i32 %%old)\n",
        i, o->n);
    break;
  default:
    ws_strbuf_printf(
        body, "  %%r%d = call i32 @llvm.amdgcn.ds.%s(i32 %%at, i32 %%v)\n", i,
        o->kind == GATHER ? "bpermute" : "permute");
  }
  ws_strbuf_printf(body,
                   "  %%q%d = getelementptr i32, ptr addrspace(1) %%out, i32 "
                   "%d\n  store i32 %%r%d, ptr addrspace(1) %%q%d\n",
                   i, i * 64, i, i);
}

/* Lanes of `on` do them all; the others store old values. */
static const char *kernel_of(uint64_t on) {
  ws_strbuf body;
  ws_strbuf_init(&body);
  ws_strbuf_printf(
      &body,
      "  %%pv = getelementptr i32, ptr addrspace(1) %%a, i32 %%tid\n"
      "  %%pa = getelementptr i32, ptr addrspace(1) %%pv, i32 64\n"
      "  %%v = load i32, ptr addrspace(1) %%pv\n"
      "  %%at = load i32, ptr addrspace(1) %%pa\n"
      "  %%old = add i32 %%tid, %u\n"
      "  %%out = getelementptr i32, ptr addrspace(1) %%c, i32 %%tid\n"
      "  %%wide = zext i32 %%tid to i64\n"
      "  %%bits = lshr i64 %" PRIu64 ", %%wide\n"
      "  %%in = trunc i64 %%bits to i1\n"
      "  br i1 %%in, label %%on, label %%off\n"
      "on:\n",
      old_of(0), on);
  for (int i = 0; i < operation_count; i++)
    put(&body, i, &operations[i]);
  ws_strbuf_printf(&body, "  ret void\noff:\n");
  for (int i = 0; i < operation_count; i++)
    ws_strbuf_printf(&body,
                     "  %%o%d = getelementptr i32, ptr addrspace(1) %%out, i32 "
                     "%d\n  store i32 %%old, ptr addrspace(1) %%o%d\n",
                     i, i * 64, i);
  ws_strbuf_printf(&body, "  ret void");
  const small s = {
      .body = body.data,
      .declares =
          "declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32, i32, i32, "
          "i1)\n"
          "declare i32 @llvm.amdgcn.mov.dpp.i32(i32, i32, i32, i32, i1)\n"
          "declare i32 @llvm.amdgcn.ds.swizzle(i32, i32)\n"
          "declare i32 @llvm.amdgcn.readlane.i32(i32, i32)\n"
          "declare i32 @llvm.amdgcn.writelane.i32(i32, i32, i32)\n"
          "declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)\n"
          "declare i32 @llvm.amdgcn.ds.permute(i32, i32)"};
  const char *text = small_text(test_arena(), &s);
  ws_strbuf_deinit(&body);
  return text;
}

static void check_operation(int i, uint64_t on) {
  const operation *o = &operations[i];
  for (int lane = 0; lane < 64; lane++) {
    bool known;
    const uint32_t want = wanted(o, lane, on, &known);
    const uint32_t got = sanitized[i * 64 + lane];
    const uint32_t other = simulated[i * 64 + lane];
    if (on >> lane & 1 && known && (got != want || other != want))
      WS_FAIL("kind %d control 0x%x n %d rows %d banks %d zero %d, lanes "
              "%" PRIx64 ": lane %d has %x, the simulator %x, wanted %x",
              o->kind, o->control, o->n, o->rows, o->banks, o->zero, on, lane,
              got, other, want);
  }
}

/* All that was added, with these lanes; then none. */
static void run_with(uint64_t on) {
  for (int i = 0; i < 64; i++) {
    input[i] = 0x1000u + (uint32_t)i * 3;
    input[64 + i] = (uint32_t)(i * 37 + 11) % 64 * 4 + (i % 2 ? 256 : 0);
  }
  model_run.input = input;
  model_run.output = sanitized;
  model_run.input_bytes = sizeof input;
  model_run.output_bytes = operation_count * 64 * 4;
  const char *text = kernel_of(on);
  ws_pass_initialize();
  model_check_static(test_arena(), text);
  model_sanitize(test_arena(), text);
  model_simulate(test_arena(), text, simulated);
  for (int i = 0; i < operation_count; i++)
    check_operation(i, on);
}
static void run_all(void) {
  run_with(UINT64_MAX);
  run_with(0x8f31ffff0001fa5e);
  operation_count = 0;
}

WS_TEST(dpp_controls) {
  for (int p = 0; p < DPP_PATTERNS; p++)
    for (int i = 0; i < dpp_patterns[p].count; i++) {
      const struct pattern *of = &dpp_patterns[p];
      if (of->from == quad && i % 9 != 3 && i != 0 && i != 255)
        continue; /* quad: some of 256 */
      add((operation){UPDATE, of->from, of->first + i, of->begin + i, 15, 15,
                      i % 2});
      if (operation_count == MOST)
        run_all();
    }
  run_all();
}
WS_TEST(dpp_masks_and_bounds) {
  for (int i = 0; i < 16; i++) {
    add((operation){UPDATE, row_shr, 0x113, 3, i, 15, i % 3 == 0});
    add((operation){UPDATE, row_shl, 0x102, 2, 15, i, i % 3 == 1});
    add((operation){MOVE, row_ror, 0x125, 5, 15, 15, i % 2});
    add((operation){MOVE, wave_shr, 0x138, 1, 15, 15, true});
    add((operation){UPDATE, bcast15, 0x142, 0, 10, i, false});
  }
  run_all();
}
WS_TEST(swizzles) {
  for (int i = 0; i < 16; i++) {
    const int mask = i * 2459 % 0x8000, around = i * 3 << 5 & 0x7e0;
    add((operation){SWIZZLE, masks, mask, mask, 0, 0, false});
    add((operation){SWIZZLE, quad, 0x8000 | i * 17, i * 17, 0, 0, false});
    add((operation){SWIZZLE, rotate, 0xc000 | around, around, 0, 0, false});
    add((operation){SWIZZLE, fft, 0xe000 | i * 2, i * 2, 0, 0, false});
  }
  run_all();
}
WS_TEST(one_lane_and_any) {
  for (int i = 1; i < 64; i += 9) {
    add((operation){READ, NULL, 0, i, 0, 0, false});
    add((operation){WRITE, NULL, 0, i, 0, 0, false});
  }
  add((operation){GATHER, NULL, 0, 0, 0, 0, false});
  add((operation){SCATTER, NULL, 0, 0, 0, 0, false});
  run_all();
}
