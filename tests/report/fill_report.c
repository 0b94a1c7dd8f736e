/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fill-report FILE CANDIDATES: makes an archive as a long project leaves it,
 * with everything that a report shows, from a seed: five runs of four
 * strategies, two provenances, models' exchanges with claims, findings,
 * confirmations, a profile. The numbers mean nothing; some texts are hostile. 0
 * candidates: no run either.
 */
#include "../gemm_shape.h"
#include "wavesmith/archive.h"
#include "wavesmith/sim_error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE "<img src=x onerror=alert(1)>"

static const char template_text[] =
    "; made up for the tests of the report\n"
    "define void @gemm() {\n"
    "  %x = call <4 x float> @llvm.amdgcn.mfma(i64 %a, i64 %b)\n"
    "  ret void\n"
    "}\n";
static char sim[64]; /* of the model that is here */
static const char estimate[] = "estimate:bound-model-1:MI300X";

static const int64_t sizes[][3] = {{1024, 1536, 7168}, {1024, 3072, 1536},
                                   {1024, 576, 7168},  {1024, 7168, 256},
                                   {1024, 4608, 7168}, {6144, 1536, 7168},
                                   {6144, 3072, 1536}, {6144, 576, 7168},
                                   {6144, 7168, 256},  {6144, 4608, 7168}};
enum { SHAPES = sizeof sizes / sizeof sizes[0], MAX_TIMES = 2 * SHAPES };

static ws_shape shape_number(int s) {
  return ws_shape_of(gemm_dims(), sizes[s]);
}

typedef struct filler {
  ws_archive *archive;
  ws_arena *arena;
  const ws_template *tmpl;
  ws_rng rng;
  int number, wanted;
  struct made { /* of the run at hand */
    const char *id;
    double log_speed;
  } * made;
  int made_count;
} filler;

static void must(ws_status status, const ws_diag *diag) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "fill-report: %s\n", diag->text);
  exit(1);
}

/* ---- template ---- */
static const ws_template *make_template(ws_arena *arena) {
  static const char *const head[] = {"fp8_gemm_made_up", "1",
                                     "fp8_gemm_blockscale", "gfx942",
                                     "for the tests of the report"};
  static const char *const tile[] = {"tile_m", "ws.tile_m", "16 32 64 128 256",
                                     "rows of a tile", "64"};
  static const char *const split[] = {"split_k", "ws.split_k", "1 2 4 8",
                                      "slices of k", "1"};
  static const char *const region[] = {"mma", "multiplies a tile"};
  static const char *const variant[] = {"mma", "mma_stationary",
                                        "keeps a in registers"};
  static const char *const launch[] = {
      "gemm", "ceildiv(m, tile_m)", "n / 16", "1", "256", "1", "a b c"};
  static const ws_record items[] = {
      {"template", head, 5, 1},   {"param", tile, 5, 2},
      {"param", split, 5, 3},     {"region", region, 2, 4},
      {"variant", variant, 3, 5}, {"launch", launch, 7, 6}};
  static const ws_records records = {items, sizeof items / sizeof items[0]};
  const ws_template *tmpl;
  ws_diag diag;
  must(ws_template_from_records(
           arena, &records, "made/up.ll",
           ws_hash_bytes(template_text, sizeof template_text - 1), &tmpl,
           &diag),
       &diag);
  return tmpl;
}

/* ---- one candidate ---- */
static const struct fate {
  double share;
  const char *verdict, *stage, *reason;
} fates[] = {
    {0.62, "ok", "", ""},
    {0.07, "wrong", "sanitize", "lds-race: two waves write one address"},
    {0.02, "wrong", "device", "element 5,7 is 3.5, want 3.25"},
    {0.07, "illegal", "check", "constraint split_k <= k / 128 does not hold"},
    {0.06, "no_compile", "splice", "mma.ll:7: expected ')'"},
    {0.03, "no_compile", "lower", "the register allocator ran out"},
    {0.08, "duplicate", "", "the same as another"},
    {0.02, "crash", "", "the compile server's child died"},
    {0.02, "timeout", "verify", "no answer in 20 s"},
    {0.01, "unstable", "time", "the interval stays at 9 %"},
};

static const struct fate *draw_fate(filler *f) {
  double at = ws_rng_double(&f->rng);
  for (size_t i = 0; i < sizeof fates / sizeof fates[0]; i++)
    if ((at -= fates[i].share) < 0)
      return &fates[i];
  return &fates[0];
}

static int fill_times(filler *f, double log_speed, bool on_device,
                      ws_measurement *out) {
  int count = 0;
  for (int s = 0; s < SHAPES; s++) {
    const ws_shape shape = shape_number(s);
    double scale = ws_shape_product(&shape);
    double us = 8 + scale / 2e8;
    us *= exp(-log_speed + 0.06 * ws_rng_normal(&f->rng));
    out[count++] =
        (ws_measurement){shape, us * 0.9, "lds", estimate, us * 0.9, us * 0.9};
    if (on_device)
      out[count++] =
          (ws_measurement){shape, us, "latency", sim, us * 0.98, us * 1.025};
  }
  return count;
}

static const char *draw_cell(filler *f) {
  static const char *const lds[] = {"<16K", "16-32K", "32-64K"};
  static const char *const registers[] = {"<64", "65-128", "129-256", ">256"};
  static const char *const bottleneck[] = {"mfma", "lds", "latency", "hbm"};
  static const char *const tile[] = {"<4K", "4-16K", ">16K"};
  ws_rng *rng = &f->rng;
  return ws_arena_printf(
      f->arena, "lds=%s registers=%s occupancy=%d bottleneck=%s tile=%s",
      lds[ws_rng_below(rng, 3)], registers[ws_rng_below(rng, 4)],
      1 << ws_rng_below(rng, 3), bottleneck[ws_rng_below(rng, 4)],
      tile[ws_rng_below(rng, 3)]);
}

static const char *draw_label(filler *f) {
  static const char *const labels[] = {
      "wider LDS reads",        "double buffer with prefetch",
      "swizzle instead of pad", "scale once per k block",
      "snake order of tiles",   HOSTILE "</script>"};
  return labels[ws_rng_below(&f->rng, 6)];
}

typedef struct proposal {
  int64_t run, sequence;
  const char *origin, *kind;
  bool grid, crossed;
} proposal;

static ws_candidate *make_candidate(filler *f, bool written) {
  ws_candidate *candidate = ws_candidate_create(f->arena, f->tmpl);
  f->number++;
  if (written)
    candidate->bodies[0] = (ws_body){
        .variant = -1,
        .language = "ir",
        .text = ws_arena_printf(f->arena,
                                "define void @mma() {\n  ; number %d\n  "
                                "%%p = fmul float 1.0, 2.0\n  ret void\n}\n",
                                f->number)};
  candidate->values[0] = f->tmpl->params[0].values[ws_rng_below(&f->rng, 5)];
  candidate->values[1] = f->tmpl->params[1].values[ws_rng_below(&f->rng, 4)];
  ws_candidate_update_id(candidate);
  return candidate;
}

static const char *put_candidate(filler *f, const proposal *p,
                                 const struct fate *fate, double log_speed,
                                 const struct made *parent) {
  ws_candidate *candidate = make_candidate(f, f->number > 0);
  ws_measurement times[MAX_TIMES];
  bool timed =
      !strcmp(fate->verdict, "ok") || !strcmp(fate->verdict, "duplicate");
  int count = timed ? fill_times(f, log_speed, p->sequence % 4 != 3, times) : 0;
  bool model = *p->kind != 0;
  ws_candidate_row row = {
      .id = candidate->id.hex,
      .template_hash = f->tmpl->hash.hex,
      .template_name = f->tmpl->name,
      .layout = "kmajor",
      .assignments = ws_candidate_values_text(f->arena, candidate),
      .variants = "",
      .proposer = p->origin,
      .parent_id = parent ? parent->id : "",
      .second_parent_id = p->crossed ? f->made[0].id : "",
      .kind = p->kind,
      .label = model ? draw_label(f) : "",
      .cell = p->grid && timed ? draw_cell(f) : "",
      .move = model ? "region mma rewritten" : "split_k 1 -> 2",
      .run_id = p->run,
      .sequence = p->sequence,
      .verdict = fate->verdict,
      .stage = fate->stage,
      .reason = fate->reason,
      .result_json = "{\"kernels\":[{\"name\":\"gemm\",\"vgpr\":128,\"sgpr\":"
                     "40,\"lds_bytes\":32768,\"code_bytes\":3068}]}",
      .ir_hash = "",
      .code_hash = ""};
  ws_diag diag;
  must(ws_archive_put_candidate(f->archive, &row, candidate, NULL, 0, times,
                                count, &diag),
       &diag);
  if (!strcmp(fate->verdict, "ok"))
    f->made[f->made_count++] = (struct made){row.id, log_speed};
  return row.id;
}

/* ---- exchanges ---- */
static void put_exchange(filler *f, const proposal *p, const char *id,
                         const struct fate *fate, double gain) {
  double guess = exp(0.02 + 0.12 * fabs(ws_rng_normal(&f->rng)));
  const char *member = p->sequence % 3 ? "openai:qwen3" : "anthropic:opus";
  char measured[64] = "";
  if (!strcmp(fate->verdict, "ok"))
    snprintf(measured, sizeof measured, ",\"measured\":%.5f", exp(gain));
  ws_exchange_row row = {
      .run_id = p->run,
      .sequence = p->sequence,
      .kind = p->kind,
      .member = member,
      .prompt_version = "exploit 1, system 1",
      .prompt_hash = "00",
      .prompt_cut = "",
      .system = "system",
      .prompt = "prompt",
      .reply = ws_arena_printf(f->arena,
                               "## Reasoning\nNumber %d. </script><script>"
                               "alert(2)</script><!-- \xff\n",
                               f->number),
      .error = !id && ws_rng_below(&f->rng, 2) ? "429 too many requests" : "",
      .prompt_tokens = 9000 + (int64_t)ws_rng_below(&f->rng, 3000),
      .reply_tokens = 500 + (int64_t)ws_rng_below(&f->rng, 2000),
      .usd = p->sequence % 3 ? 0.004 : 0.05,
      .seconds = 5 + 40 * ws_rng_double(&f->rng),
      .candidate_id = id ? id : "",
      .verdict = id ? fate->verdict : "illegal",
      .stage = id ? fate->stage : "reply",
      .reason = "",
      .claims_json =
          id ? ws_arena_printf(f->arena,
                               "[{\"what\":\"speedup\",\"low\":%.4f,\"high\":"
                               "%.4f%s}%s]",
                               guess / 1.05, guess * 1.05, measured,
                               *measured ? ",{\"what\":\"vgpr\",\"low\":100,"
                                           "\"high\":128,\"measured\":128}"
                                         : "")
             : "",
      .reward = id && *measured ? gain : 0};
  ws_diag diag;
  must(ws_archive_put_exchange(f->archive, &row, &diag), &diag);
  must(ws_archive_set_outcome(f->archive, &row, &diag), &diag);
}

static void put_document(filler *f, int64_t run, int64_t sequence) {
  const ws_findings_row findings = {
      run, sequence,
      "What holds so far\n- LDS reads of 16 bytes pay where k is deep.\n"
      "- split_k pays only where fewer than 304 tiles are left.\n"
      "- " HOSTILE "\n"};
  ws_exchange_row row = {.run_id = run,
                         .sequence = sequence,
                         .kind = "distil",
                         .member = "anthropic:opus",
                         .prompt_version = "",
                         .prompt_hash = "",
                         .prompt_cut = "",
                         .system = "",
                         .prompt = "",
                         .reply = "",
                         .error = "",
                         .prompt_tokens = 12000,
                         .reply_tokens = 900,
                         .usd = 0.08,
                         .seconds = 30,
                         .candidate_id = "",
                         .verdict = "",
                         .stage = "",
                         .reason = "",
                         .claims_json = ""};
  ws_diag diag;
  must(ws_archive_put_exchange(f->archive, &row, &diag), &diag);
  must(ws_archive_put_findings(f->archive, &findings, &diag), &diag);
}

/* ---- a profile ---- */
static void put_profile(filler *f, const char *id) {
  static const char report[] =
      "{\"kernel\":\"gemm\",\"us\":39.7,\"profile\":{\"kernel\":\"gemm\","
      "\"bound\":\"latency\",\"limiter\":\"lds\",\"us\":39.7,"
      "\"waves_per_simd\":2,\"mfma_busy\":0.23,\"valu_busy\":0.14,"
      "\"lds_busy\":0.36,\"vmem_busy\":0.2,\"lds_conflict\":1,\"lines\":["
      "{\"region\":\"mma\",\"file\":\"mma.ll\",\"line\":3,\"share\":0.31,"
      "\"stalls\":{\"lds\":0.7,\"mfma\":0.2,\"issue\":0.1}},"
      "{\"region\":\"gemm\",\"file\":\"up.ll\",\"line\":3,\"share\":0.22,"
      "\"stalls\":{\"mfma\":0.9,\"issue\":0.1}},"
      "{\"region\":\"gemm\",\"file\":\"s_barrier\",\"line\":0,\"share\":0.08,"
      "\"stalls\":{\"barrier\":0.97,\"issue\":0.03}}]}}\n";
  const ws_shape shape = shape_number(0);
  ws_diag diag;
  must(ws_archive_put_profile(f->archive, id, sim, &shape, report, &diag),
       &diag);
}

/* ---- runs ---- */
static const struct run_plan {
  const char *strategy;
  uint64_t seed;
  double pace; /* of ln speed-up by a step */
  bool model, grid;
} plans[] = {{"random", 1, 0.0, false, false},
             {"local", 1, 0.03, false, false},
             {"evolve", 1, 0.02, true, true},
             {"evolve", 2, 0.025, true, true},
             {"scientist", 1, 0.05, true, false}};
enum { PLANS = sizeof plans / sizeof plans[0] };

/* The better of two drawn. */
static const struct made *draw_parent(filler *f) {
  const struct made *a =
      &f->made[ws_rng_below(&f->rng, (uint64_t)f->made_count)];
  const struct made *b =
      &f->made[ws_rng_below(&f->rng, (uint64_t)f->made_count)];
  return a->log_speed > b->log_speed ? a : b;
}

static void propose(filler *f, const struct run_plan *plan, int64_t run,
                    int64_t sequence) {
  static const char *const kinds[] = {"explore",   "exploit", "exploit",
                                      "crossover", "repair",  "write"};
  const char *kind = plan->model ? kinds[ws_rng_below(&f->rng, 6)] : "";
  proposal p = {.run = run,
                .sequence = sequence,
                .origin = plan->model ? "openai:qwen3" : plan->strategy,
                .kind = kind,
                .grid = plan->grid,
                .crossed = !strcmp(kind, "crossover")};
  if (plan->model && ws_rng_below(&f->rng, 12) == 0) {
    put_exchange(f, &p, NULL, &fates[1], 0);
    return;
  }
  const struct made *parent = plan->pace > 0 ? draw_parent(f) : NULL;
  const struct fate *fate = draw_fate(f);
  double from = parent ? parent->log_speed : 1.0;
  double log_speed = from + plan->pace + 0.14 * ws_rng_normal(&f->rng) -
                     0.012 * (from > 3 ? from * from : 0);
  const char *id = put_candidate(f, &p, fate, log_speed, parent);
  if (plan->model)
    put_exchange(f, &p, id, fate, log_speed - from);
}

static void fill_run(filler *f, const struct run_plan *plan) {
  const ws_run_row row = {.problem = "fp8_gemm_blockscale",
                          .layout = "kmajor",
                          .target = "gfx942",
                          .strategy = plan->strategy,
                          .shape_set = "contest",
                          .settings_json = "{}",
                          .seed = plan->seed,
                          .started_unix_ms = 1795299678116};
  static const struct fate ok = {1, "ok", "", ""};
  int64_t run;
  ws_diag diag;
  must(ws_archive_begin_run(f->archive, &row, &run, &diag), &diag);
  f->made_count = 0;
  proposal p = {.run = run, .origin = "baseline", .kind = ""};
  put_candidate(f, &p, &ok, 0, NULL);
  p.sequence = 1;
  p.origin = "default";
  put_candidate(f, &p, &ok, 1.2, NULL);
  for (int i = 2; i < f->wanted / PLANS; i++)
    propose(f, plan, run, i);
  if (plan->model)
    put_document(f, run, f->wanted);
  for (int i = 0; i < f->made_count; i++)
    put_profile(f, f->made[i].id);
}

/* ---- the winner ---- */
static void confirm(filler *f, const char *against) {
  const struct made *best = &f->made[0];
  for (int i = 0; i < f->made_count; i++) {
    if (f->made[i].log_speed > best->log_speed)
      best = &f->made[i];
  }
  const ws_confirmation_row rows[] = {
      {best->id, against, sim, PLANS, "ok", "", 1.31, 1.24, 1.02, 0.006, 1.52,
       6},
      {f->made[1].id, against, sim, PLANS, "slow",
       "held-out shapes: 0.97 x of what was there", 1.08, 0.97, 0.81, 0.006, 0,
       0}};
  ws_diag diag;
  for (int i = 0; i < 2; i++)
    must(ws_archive_put_confirmation(f->archive, &rows[i], &diag), &diag);
}

int main(int argc, char **argv) {
  snprintf(sim, sizeof sim, "sim:gfx942-model-%d:MI300X", ws_sim_error_model);
  ws_diag diag;
  if (argc != 3) {
    fputs("usage: fill-report FILE CANDIDATES\n", stderr);
    return 2;
  }
  filler f = {.arena = ws_arena_create(),
              .wanted = (int)strtol(argv[2], NULL, 10)};
  f.made = ws_arena_alloc(f.arena, sizeof *f.made * (size_t)(f.wanted + 8));
  f.tmpl = make_template(f.arena);
  ws_rng_init(&f.rng, 4);
  must(ws_archive_open(argv[1], true, &f.archive, &diag), &diag);
  must(ws_archive_put_template(f.archive, f.tmpl, template_text, NULL, &diag),
       &diag);
  for (int i = 0; i < PLANS && f.wanted; i++)
    fill_run(&f, &plans[i]);
  if (f.wanted)
    confirm(&f, f.made[0].id);
  ws_archive_close(f.archive);
  ws_arena_destroy(f.arena);
  return 0;
}
