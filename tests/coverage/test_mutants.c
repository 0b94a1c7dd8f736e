/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels that are wrong on some legal call only, as bad tails and forgotten
 * edges make them: the static check, the sanitizer's standard runs and code
 * generation pass them, a coverage must not. Each is an edit of a shipped
 * template; which calls it is wrong on is said here and known from the edit.
 */
#include "wavesmith/bound_model.h"
#include "wavesmith/coverage.h"
#include "ws_test.h"

static const char mfma[] = "fp8_gemm_mfma", naive[] = "fp8_gemm_naive";
static const char small_tiles[] =
    "tile_m=64;tile_n=64;waves_m=2;waves_n=2;prefetch=1";

/* In fp8_gemm_mfma the steps of a slice end at %limit, in blocks %limit.2. */
#define BLOCKS "  %limit = mul i32 %limit.2, %substeps\n"
#define LESS_ONE_IF(condition)                                                 \
  condition "  %cut = zext i1 %bad to i32\n"                                   \
            "  %limit.3 = sub i32 %limit.2, %cut\n"                            \
            "  %limit = mul i32 %limit.3, %substeps\n"
/* One block less where a remainder of an extent is so, and the extent beyond
 * a bound. */
#define REMAINDER(extent, modulus, remainder, above)                           \
  LESS_ONE_IF("  %rest = urem i32 %" extent ", " modulus "\n"                  \
              "  %is = icmp eq i32 %rest, " remainder "\n"                     \
              "  %deep = icmp ugt i32 %" extent ", " above "\n"                \
              "  %bad = and i1 %is, %deep\n")

typedef struct mutant {
  const char *name, *base, *values, *find, *replacement;
} mutant;

static const mutant mutants[] = {
    {"no tail for blocks = 4 mod 8", mfma, small_tiles, BLOCKS,
     REMAINDER("blocks", "8", "4", "4")},
    {"no tail for an odd number of blocks above 3", mfma, small_tiles, BLOCKS,
     REMAINDER("blocks", "2", "1", "3")},
    {"a ring of 16 stages that forgets 8 left over", mfma, small_tiles, BLOCKS,
     REMAINDER("blocks", "16", "8", "8")},
    {"12 left over of 16", mfma, small_tiles, BLOCKS,
     REMAINDER("blocks", "16", "12", "16")},
    {"31 left over of 48", mfma, small_tiles, BLOCKS,
     REMAINDER("blocks", "48", "31", "48")},
    {"one of more than 64 blocks", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %bad = icmp ugt i32 %blocks, 64\n")},
    {"one of more than 128 blocks", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %bad = icmp ugt i32 %blocks, 128\n")},
    {"13 stages: any multiple of 13 blocks above 13", mfma, small_tiles, BLOCKS,
     REMAINDER("blocks", "13", "0", "13")},
    {"m = 48 mod 128", mfma, small_tiles, BLOCKS,
     REMAINDER("m", "128", "48", "128")},
    {"n = 112 mod 128, last tile", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %rest = urem i32 %n, 128\n"
                 "  %is = icmp eq i32 %rest, 112\n"
                 "  %right = add i32 %tile.column, 64\n"
                 "  %last.tile = icmp ugt i32 %right, %n\n"
                 "  %bad = and i1 %is, %last.tile\n")},
    {"m beyond 6144", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %bad = icmp ugt i32 %m, 6144\n")},
    {"a bound of the code's own: m beyond 2880", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %bad = icmp ugt i32 %m, 2880\n")},
    {"n beyond 25600", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %bad = icmp ugt i32 %n, 25600\n")},
    {"more than 4096 workgroups", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %bad = icmp ugt i32 %group, 4095\n")},
    {"an odd number of blocks beside n = 16 mod 32", mfma, small_tiles, BLOCKS,
     LESS_ONE_IF("  %odd = and i32 %blocks, 1\n"
                 "  %part = and i32 %n, 31\n"
                 "  %both = add i32 %odd, %part\n"
                 "  %is = icmp eq i32 %both, 17\n"
                 "  %more = icmp ugt i32 %blocks, 3\n"
                 "  %bad = and i1 %is, %more\n")},
    {"scales of A lie without gaps", naive, "",
     "  %as.k64 = sext i32 %as_stride_k to i64\n",
     "  %as.k64 = sext i32 %m to i64\n"},
    {"scales of A run along m", naive, "",
     "  %as.m64 = sext i32 %as_stride_m to i64\n",
     "  %as.m64 = sext i32 1 to i64\n"},
    {"scales of B lie without gaps", naive, "",
     "  %bs.n64 = sext i32 %bs_stride_n to i64\n",
     "  %bs.n64.0 = lshr i32 %k, 7\n"
     "  %bs.n64 = sext i32 %bs.n64.0 to i64\n"},
};
enum { MUTANTS = sizeof mutants / sizeof mutants[0] };

/* Offsets that lose their upper bits; the sanitizer's far runs must see it. */
static const mutant narrow[] = {
    {"rows of A in 32 bits", naive, "",
     "  %a.row = mul i64 %row64, %a.row.step64\n",
     "  %a.row.32 = mul i32 %row, %a.row.step\n"
     "  %a.row = zext i32 %a.row.32 to i64\n"},
    {"rows of A in 32 bits with a sign", naive, "",
     "  %a.row = mul i64 %row64, %a.row.step64\n",
     "  %a.row.32 = mul i32 %row, %a.row.step\n"
     "  %a.row = sext i32 %a.row.32 to i64\n"},
    {"rows of B in 32 bits", naive, "",
     "  %b.row = mul i64 %column64, %b.row.step64\n",
     "  %b.row.32 = mul i32 %column, %b.row.step\n"
     "  %b.row = zext i32 %b.row.32 to i64\n"}};

typedef struct fixture {
  ws_arena *arena;
  ws_compiler *compiler;
  ws_device_client *device;
} fixture;

static void must(ws_status status, const ws_diag *diag) {
  if (status != WS_OK)
    WS_FAIL("%s", diag->text);
}

static fixture start(void) {
  fixture f = {.arena = ws_arena_create()};
  ws_diag diag = {""};
  must(ws_compiler_start(&f.compiler, &diag), &diag);
  must(ws_device_client_start("sim", &f.device, &diag), &diag);
  return f;
}

static const char *edited(fixture *f, const mutant *m, const char *text) {
  const char *at = strstr(text, m->find);
  if (!at || strstr(at + 1, m->find))
    WS_FAIL("%s: what is to be replaced is not there once", m->name);
  return ws_arena_printf(f->arena, "%.*s%s%s", (int)(at - text), text,
                         m->replacement, at + strlen(m->find));
}

/* far: also on shapes with large offsets. */
static const ws_candidate *build(fixture *f, const mutant *m, bool far,
                                 ws_build_result *out) {
  ws_run runs[WS_STANDARD_RUNS + WS_COVERAGE_FAR];
  const ws_template *tmpl;
  ws_diag diag = {""};
  char *text;
  size_t size;
  const char *path = ws_arena_printf(f->arena, "%s/ir-templates/%s.ll",
                                     getenv("WS_SOURCE_DIR"), m->base);
  must(ws_file_read(f->arena, path, &text, &size, &diag), &diag);
  const char *mutated = m->find ? edited(f, m, text) : text;
  must(ws_compiler_describe(f->compiler, f->arena, "mutant.ll", mutated,
                            strlen(mutated), &tmpl, &diag),
       &diag);
  ws_candidate *candidate = ws_candidate_create(f->arena, tmpl);
  must(ws_candidate_set(candidate, m->values, &diag), &diag);
  int count = ws_standard_runs(candidate, runs);
  if (far)
    count += ws_coverage_far(ws_problem_find(tmpl->problem), 0, candidate, 1,
                             &runs[count]);
  const ws_build_request request = {
      .template_file = "mutant.ll",
      .template_text = mutated,
      .template_size = strlen(mutated),
      .target = "gfx942",
      .assignments = ws_candidate_values_text(f->arena, candidate),
      .variants = "",
      .runs = runs,
      .run_count = count,
      .stages = WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER,
      .limits = {
          .wall_ms = 60000, .cpu_ms = 60000, .memory_mb = WS_COVERAGE_FAR_MB}};
  must(ws_compiler_build(f->compiler, f->arena, &request, out, &diag), &diag);
  return candidate;
}

/* The first case that goes wrong; -1: none. */
static int first_wrong(fixture *f, const ws_candidate *candidate,
                       const ws_build_result *result,
                       const ws_coverage *coverage) {
  const ws_coverage_subject subject = {
      ws_problem_find(candidate->tmpl->problem), 0, candidate, result,
      ws_device_client_info(f->device)->cu_count};
  for (int i = 0; i < coverage->count; i += WS_COVERAGE_BATCH) {
    int left = coverage->count - i;
    ws_measure_request request;
    ws_measured measured;
    ws_diag diag = {""};
    must(
        ws_coverage_request(f->arena, &subject, &coverage->cases[i],
                            left < WS_COVERAGE_BATCH ? left : WS_COVERAGE_BATCH,
                            &request, &diag),
        &diag);
    request.settings.wall_ms = 600000; /* machines that run tests are busy */
    must(ws_device_client_measure(f->device, f->arena, &request, &measured,
                                  &diag),
         &diag);
    if (measured.verdict != WS_VERDICT_OK) {
      printf("#   %s\n", measured.reason);
      return i;
    }
  }
  return -1;
}

static int cover(fixture *f, const mutant *m, uint64_t seed) {
  ws_build_result result;
  ws_coverage coverage;
  const ws_candidate *candidate = build(f, m, false, &result);
  if (result.verdict != WS_VERDICT_OK)
    WS_FAIL("%s: refuted before by %s: %s", m->name, result.stage,
            result.reason);
  ws_coverage_plan(f->arena, ws_problem_find("fp8_gemm_blockscale"), 0,
                   candidate, &result, seed, &coverage);
  int wrong = first_wrong(f, candidate, &result, &coverage);
  printf("# %s: %d of %d\n", m->name, wrong, coverage.count);
  return wrong;
}

WS_TEST(each_mutant_is_refuted) {
  fixture f = start();
  const char *only = getenv("WS_MUTANT");
  for (int i = 0; i < MUTANTS; i++)
    if ((!only || !strcmp(only, mutants[i].name)) &&
        cover(&f, &mutants[i], 1000 + (uint64_t)i) < 0)
      WS_FAIL("%s: not refuted", mutants[i].name);
  ws_device_client_stop(f.device);
  ws_compiler_stop(f.compiler);
}

WS_TEST(what_is_right_passes) {
  fixture f = start();
  const mutant original = {"unchanged", mfma, small_tiles, NULL, NULL};
  WS_CHECK_INT(cover(&f, &original, 4), -1);
  ws_device_client_stop(f.device);
  ws_compiler_stop(f.compiler);
}

WS_TEST(narrow_offsets_are_refuted) {
  fixture f = start();
  ws_build_result result;
  for (size_t i = 0; i < sizeof narrow / sizeof narrow[0]; i++) {
    build(&f, &narrow[i], false, &result);
    WS_CHECK_INT(result.verdict, WS_VERDICT_OK);
    build(&f, &narrow[i], true, &result);
    printf("# %s: %s\n", narrow[i].name, result.reason);
    WS_CHECK_INT(result.verdict, WS_VERDICT_WRONG);
  }
  const mutant original[] = {{"unchanged", naive, "", NULL, NULL},
                             {"unchanged", mfma, small_tiles, NULL, NULL}};
  for (int i = 0; i < 2; i++) {
    build(&f, &original[i], true, &result);
    if (result.verdict != WS_VERDICT_OK)
      WS_FAIL("%s: %s", original[i].base, result.reason);
    printf("# %s: sanitized in %.0f ms\n", original[i].base,
           result.sanitize_ms);
  }
  ws_device_client_stop(f.device);
  ws_compiler_stop(f.compiler);
}
