/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Acceptance: one thing at a time is broken in the shipped fp8_gemm_mfma, by
 * exchanging a line of its text, and each mutant must be caught in its region
 * and at its line. The template's header names the lines this rests on.
 */
#include "../gemm_shape.h"
#include "sanitizer_fixture.h"

static ws_arena *arena;
static char *text;

/* Rows that are multiples of 16 bytes, so that LDS accesses are of 16. */
#define WIDE "lds_pad=16"

static void load(void) {
  arena = test_arena();
  text = read_template(arena, "fp8_gemm_mfma.ll");
}

/* Where the line with the nth marker begins; *out_length is without its end. */
static const char *line_at(const char *marker, int nth, size_t *out_length) {
  const char *at = strstr(text, marker);
  for (; nth > 0 && at; nth--)
    at = strstr(at + 1, marker);
  if (!at)
    WS_FAIL("the template lacks \"%s\"", marker);
  while (at[-1] != '\n')
    at--;
  *out_length = (size_t)(strchr(at, '\n') - at);
  return at;
}

/* A mutant: in the line with the nth marker, `from` becomes `to`. */
static char *mutant_of(const char *marker, int nth, const char *from,
                       const char *to) {
  size_t length;
  const char *at = line_at(marker, nth, &length);
  char *line = ws_arena_strndup(arena, at, length);
  return ws_arena_printf(arena, "%.*s%s%s", (int)(at - text), text,
                         exchanged(arena, line, from, to), at + length);
}

static char *mutant(const char *marker, const char *from, const char *to) {
  return mutant_of(marker, 0, from, to);
}

static fixture sanitize(const char *mutated, const char *assignments) {
  fixture f = sanitize_runs(arena, mutated, assignments, NULL, 0);
  return f;
}

/* Caught: the finding is there, in that region, at the line of the mutant that
 * holds the marker (NULL: at some line). */
static void expect_caught(const char *mutated, const char *assignments,
                          const char *id, const char *region,
                          const char *marker) {
  fixture f = sanitize(mutated, assignments);
  WS_CHECK(!f.ok);
  expect_finding(&f, id, region, marker ? line_of(mutated, marker) : 0);
  WS_CHECK(find(&f, id)->line > 0);
}

WS_TEST(the_template_itself_is_fine) {
  load();
  fixture f = sanitize(text, "");
  print_findings(&f);
  WS_CHECK(f.ok);
}

/* In each order of waves by itself. */
static void expect_race(const char *mutated, const char *region) {
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    ws_run run = {.shape = gemm_shape(128, 128, 256),
                  .order = (ws_wave_order)order,
                  .seed = 1};
    fixture f = sanitize_runs(arena, mutated, "", &run, 1);
    WS_CHECK(!f.ok);
    expect_finding(&f, "lds-race", region, 0);
    WS_CHECK(find(&f, "lds-race")->line > 0);
  }
}

static const char barrier[] = "call void @llvm.amdgcn.s.barrier()";

WS_TEST(missing_barrier_before_the_read) {
  load();
  char *bad = mutant("; barrier: tile is in LDS", barrier, "");
  expect_race(bad, "read_fragments");
}

WS_TEST(missing_barrier_after_the_read) {
  load();
  char *bad = mutant("; barrier: previous tile is read", barrier, "");
  expect_race(bad, "store_rows");
  expect_caught(bad, WIDE, "lds-race", "store_rows", "; 16-byte LDS store");
}

WS_TEST(wrong_offset) { /* every chunk of a row goes to the row's start */
  load();
  char *bad = mutant("; LDS store offset", "i32 %k)", "i32 0)");
  expect_caught(bad, WIDE, "lds-overlap", "store_rows", "; 16-byte LDS store");
}

WS_TEST(missing_zeroing) {
  load();
  char *bad = mutant(
      "; accumulator zeroing",
      "store <4 x float> zeroinitializer, ptr addrspace(5) %at, align 16", "");
  fixture f = sanitize(bad, "");
  WS_CHECK(!f.ok);
  const ws_finding *finding = find(&f, "uninit-private");
  WS_CHECK(finding && finding->line > 0 && *finding->region);
  WS_CHECK_CONTAINS(finding->text, "missing zeroing");
}

WS_TEST(global_load_out_of_bounds) {
  load();
  static const char mask[] = "call i32 @llvm.umin.i32(i32 %row, i32 "
                             "%row.kept.0)";
  expect_caught(mutant_of("; global load mask", 0, mask, "add i32 %row, 0"), "",
                "oob-global-load", "load_rows", "; 16-byte global load");
  expect_caught(mutant_of("; global load mask", 1, mask, "add i32 %row, 0"),
                "layout=1", "oob-global-load", "load_bands", NULL);
}

WS_TEST(global_store_out_of_bounds) {
  load();
  expect_caught(mutant("; global store mask: rows of a cut block",
                       "i1 %within,", "i1 true,"),
                "", "oob-global-store", "store_blocks", NULL);
  /* of whole blocks: the standard runs cut one */
  ws_run run = {.shape = gemm_shape(80, 128, 128), .seed = 1};
  fixture f = sanitize_runs(
      arena, mutant("; global store mask: rows\n", "i1 %lines", "i1 true"), "",
      &run, 1);
  WS_CHECK(!f.ok);
  expect_finding(&f, "oob-global-store", "store_blocks", 0);
}

#define ALONE "layout=4;tile_m=32;tile_n=32"
#define ADDS ALONE ";split_k=2"
static const char addition[] =
    "%before = atomicrmw fadd ptr addrspace(1) %at, <2 x bfloat> %terms "
    "syncscope(\"agent\") monotonic, align 4";

/* Slices of k that do not add atomically; each slice's sums are right. */
WS_TEST(additions_that_are_no_atomics) {
  load();
  char *stored = mutant("; addition to C", addition,
                        "store <2 x bfloat> %terms, ptr addrspace(1) %at, "
                        "align 4");
  char *added = mutant("; addition to C", addition,
                       "%mutant = load <2 x bfloat>, ptr addrspace(1) %at, "
                       "align 4\n"
                       "%mutant.sum = fadd <2 x bfloat> %mutant, %terms\n"
                       "store <2 x bfloat> %mutant.sum, ptr addrspace(1) %at, "
                       "align 4");
  expect_caught(stored, ADDS, "global-race", "put_pair", NULL);
  expect_caught(added, ADDS, "global-race", "put_pair", NULL);
  /* by one slice alone it is no race, and a sum is a sum */
  expect_caught(stored, ALONE, "wrong-result", NULL, NULL);
  fixture f = sanitize(added, ALONE);
  print_findings(&f);
  WS_CHECK(f.ok);
}

WS_TEST(additions_out_of_bounds) {
  load();
  expect_caught(exchanged(arena, text,
                          "%upper.write = or i1 %uncut, %upper.within",
                          "%upper.write = or i1 true, %upper.within"),
                ADDS, "oob-global-store", "put_pair", NULL);
  expect_caught(exchanged(arena, text,
                          "%lower.write = or i1 %uncut, %lower.within",
                          "%lower.write = or i1 true, %lower.within"),
                ADDS, "oob-global-store", "put_pair", NULL);
}

/* Parts that are missing, come twice, or are cut in place of rounded. */
WS_TEST(wrong_parts) {
  load();
  static const char rounding[] =
      "%rounded = fptrunc <4 x float> %values to <4 x bfloat>\n"
      "  %bits = bitcast <4 x bfloat> %rounded to <4 x i16>";
  static const char cut[] =
      "%mutant = bitcast <4 x float> %values to <4 x i32>\n"
      "  %high = lshr <4 x i32> %mutant, splat (i32 16)\n"
      "  %bits = trunc <4 x i32> %high to <4 x i16>";
  static const char last_slice[] = "%limit.1 = mul i32 %blocks, %limit.0";
  static const char no_last_slice[] = "%limit.1 = mul i32 %blocks, %slice";
  expect_caught(exchanged(arena, text, rounding, cut), ADDS, "wrong-result",
                NULL, NULL);
  expect_caught(exchanged(arena, text, last_slice, no_last_slice), ADDS,
                "wrong-result", NULL, NULL);
  expect_caught(exchanged(arena, text, "%first.1 = udiv i32 %first.0, %split_k",
                          "%first.1 = udiv i32 0, %split_k"),
                ADDS, "wrong-result", NULL, NULL);
}

WS_TEST(lds_out_of_bounds) {
  load();
  expect_caught(mutant("; LDS store offset", "i32 %k)", "i32 65536)"), WIDE,
                "oob-lds", "store_rows", "; 16-byte LDS store");
}

WS_TEST(lds_too_small) {
  load();
  char *bad = mutant("!\"ws.lds\",", "4 * tile_m", "2 * tile_m");
  expect_caught(bad, "", "oob-lds", "store_scales", NULL);
}

WS_TEST(lds_not_initialised) {
  load();
  char *bad =
      mutant("; 16-byte LDS store",
             "store <4 x i32> %value, ptr addrspace(3) %at, align 16", "");
  expect_caught(bad, WIDE, "uninit-lds", "read_fragments", NULL);
}

WS_TEST(divergent_barrier) {
  load();
  char *bad = mutant("; barrier: tile is in LDS", barrier,
                     "%mutant = icmp ult i32 %lane, 32\n"
                     "br i1 %mutant, label %mutant.yes, label %mutant.end\n"
                     "mutant.yes:\n"
                     "call void @llvm.amdgcn.s.barrier() ; divergent\n"
                     "br label %mutant.end\n"
                     "mutant.end:\n");
  expect_caught(bad, "", "divergent-barrier", "fp8_gemm_mfma", "; divergent");
}

WS_TEST(divergent_matrix_instruction) {
  load();
  char *bad = mutant("; matrix instruction", "%d16 = call",
                     "%mutant.id = call i32 @llvm.amdgcn.workitem.id.x()\n"
                     "%mutant.lane = and i32 %mutant.id, 63\n"
                     "%mutant = icmp ult i32 %mutant.lane, 63\n"
                     "br i1 %mutant, label %mutant.yes, label %mutant.end\n"
                     "mutant.end:\n"
                     "ret void\n"
                     "mutant.yes:\n"
                     "%d16 = call");
  fixture f = sanitize(bad, "");
  WS_CHECK(!f.ok);
  expect_finding(&f, "divergent-wave-op", NULL,
                 line_of(bad, "; matrix instruction"));
  WS_CHECK(*find(&f, "divergent-wave-op")->region);
}

WS_TEST(misaligned_16_byte_access) {
  load();
  expect_caught(
      mutant("; 16-byte global load",
             "%value = load <4 x i32>, ptr "
             "addrspace(1) %at",
             "%mutant = getelementptr i8, ptr addrspace(1) %at, i64 8\n"
             "%value = load <4 x i32>, ptr addrspace(1) %mutant"),
      "", "misaligned", "load_rows", "; 16-byte global load");
  expect_caught(
      mutant("; 16-byte LDS store",
             "store <4 x i32> %value, ptr addrspace(3) %at",
             "%mutant = getelementptr i8, ptr addrspace(3) %at, i32 8\n"
             "store <4 x i32> %value, ptr addrspace(3) %mutant"),
      WIDE, "misaligned", "store_rows", "; 16-byte LDS store");
  expect_caught(
      mutant("; 16-byte LDS read",
             "%pair = load <2 x i64>, ptr addrspace(3) %chunk.at",
             "%mutant = getelementptr i8, ptr addrspace(3) %chunk.at, i32 8\n"
             "%pair = load <2 x i64>, ptr addrspace(3) %mutant"),
      WIDE ";lds_read=16", "misaligned", "read_fragments",
      "; 16-byte LDS read");
}
