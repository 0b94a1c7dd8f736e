/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A launch from a few of its compute units. Workgroup i goes to XCD i mod 8 and
 * there to CU (i / 8) mod 38 (MI300X; other cards alike with their own
 * numbers), as hardware deals them out, so the first CU has the most
 * workgroups. Three CUs are simulated, drawn by the launch's seed, so that no
 * kernel knows which: one of either half of those with the most workgroups, and
 * one of all; and, where the prefix (clock_share.c) shows that others have more
 * to do, one of those, for a grid may give half of the XCDs nothing but
 * workgroups that end at once. The launch takes as long as the slowest. The
 * clock follows the matrix load that the first pass found; if it falls, the CUs
 * are simulated again at it. Every pass sees memory as the launch finds it.
 *
 * Where a wave of these waits for other workgroups, or takes a number that
 * others count on, all CUs are simulated together instead (clock_together.c).
 *
 * Where a sample read what is not known (memory.h), the samples run once more
 * with the checks: what is not known counts as never written and may be moved,
 * computed with and stored, but not decide an address or a branch. Else there
 * is no time, for it would be of another way through the kernel.
 */
#include "clock.h"
#include "sim_internal.h"
#include "wavesmith/sim_error.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SAMPLES = 4, BUDGET_PER_SAMPLE = 350000 };

typedef enum ws_company {
  COMPANY_UNKNOWN,  /* samples alone, unless one waits for others */
  COMPANY_ALONE,    /* samples alone, whatever they wait for */
  COMPANY_TOGETHER, /* all CUs */
} ws_company;

typedef struct timing {
  const ws__clock_constants *constants;
  ws_plan plan;
  ws__residence occupancy;
  ws_sharing sharing;
  ws_cost *costs;
  ws_stalls *stalls;         /* by instruction index, of all samples */
  ws_stalls *scratch_stalls; /* nobody's */
  ws_unit_run *samples;      /* MOST_SAMPLES, or all CUs */
  int sample_count;
  ws_company company;
  bool stood_still;
  const ws_unit_run *longest;
  int64_t mhz;
  uint64_t seed;
  bool warm;
  const ws_held *held; /* as of ws_sharing */
  ws_arena *arena;
} timing;

/* ---- samples ----------------------------------------------------------------
 */

/* place: in the order in which CUs get their first workgroup. */
static void add_sample(timing *t, int64_t place) {
  const int64_t xcd = place % t->constants->xcds;
  const int64_t cu = place / t->constants->xcds;
  for (int i = 0; i < t->sample_count; i++)
    if (t->samples[i].xcd == xcd && t->samples[i].cu == cu)
      return;
  t->samples[t->sample_count++] = (ws_unit_run){.plan = &t->plan,
                                                .costs = t->costs,
                                                .sharing = &t->sharing,
                                                .constants = t->constants,
                                                .xcd = (int)xcd,
                                                .cu = (int)cu,
                                                .resident = t->occupancy.groups,
                                                .seed = t->seed,
                                                .warm = t->warm,
                                                .budget = BUDGET_PER_SAMPLE,
                                                .stalls = t->stalls};
}

static int64_t draw(ws_rng *rng, int64_t from, int64_t to) {
  return from + (int64_t)ws_rng_below(rng, (uint64_t)(to - from));
}

static int64_t work_at(const timing *t, int64_t place) {
  return t->sharing.work[place];
}

static int64_t work_of(const timing *t, const ws_unit_run *sample) {
  return work_at(t, sample->xcd + t->constants->xcds * sample->cu);
}

/* One of those with the most to do, if it is a quarter more than the samples
 * have. */
static void add_heaviest(timing *t, ws_rng *rng) {
  const int64_t cus = t->constants->xcds * t->constants->cus_per_xcd;
  int64_t most = 0, sampled = 0, heaviest = -1, count = 0;
  for (int64_t place = 0; place < cus; place++)
    most = work_at(t, place) > most ? work_at(t, place) : most;
  for (int i = 0; i < t->sample_count; i++)
    if (work_of(t, &t->samples[i]) > sampled)
      sampled = work_of(t, &t->samples[i]);
  if (most <= sampled + sampled / 4)
    return;
  for (int64_t place = 0; place < cus; place++)
    if (work_at(t, place) > most - most / 16 &&
        !ws_rng_below(rng, (uint64_t)++count))
      heaviest = place; /* each with the same chance */
  add_sample(t, heaviest);
}

static void choose_samples(timing *t) {
  const int64_t cus = t->constants->xcds * t->constants->cus_per_xcd;
  const int64_t groups = (int64_t)t->plan.group_count;
  const int64_t used = groups < cus ? groups : cus;
  const int64_t busiest = groups > cus && groups % cus ? groups % cus : used;
  const int64_t half = (busiest + 1) / 2;
  ws_rng rng;
  ws_rng_init(&rng, t->seed);
  add_sample(t, draw(&rng, 0, half));
  if (busiest > half)
    add_sample(t, draw(&rng, half, busiest));
  add_sample(t, draw(&rng, 0, used));
  add_heaviest(t, &rng);
}

static ws_unit_run *ready_sample(timing *t, int i, bool proving) {
  ws_unit_run *sample = &t->samples[i];
  sample->mhz = t->mhz;
  sample->resident = t->occupancy.groups;
  sample->counters = (ws_counters){0};
  sample->stalls = proving ? t->scratch_stalls : t->stalls;
  sample->proving = proving;
  sample->stops = t->company == COMPANY_UNKNOWN;
  sample->waits = sample->takes_numbers = false;
  sample->progress = 0;
  sample->stored = NULL;
  return sample;
}

static ws_status run_alone(timing *t, bool proving, ws_diag *diag) {
  for (int i = 0; i < t->sample_count; i++)
    WS_TRY(ws__unit_run(ready_sample(t, i, proving), diag));
  return WS_OK;
}

static void sample_all(timing *t) {
  const int64_t cus = t->constants->xcds * t->constants->cus_per_xcd;
  t->samples = ws_arena_alloc(t->arena, (size_t)cus * sizeof *t->samples);
  t->sample_count = 0;
  for (int64_t place = 0; place < cus && place < (int64_t)t->plan.group_count;
       place++)
    add_sample(t, place);
  t->company = COMPANY_TOGETHER;
}

static ws_status run_together(timing *t, bool proving, ws_together *out,
                              ws_diag *diag) {
  for (int i = 0; i < t->sample_count; i++)
    ready_sample(t, i, proving);
  return ws__units_together(t->samples, t->sample_count, out, diag);
}

/* From the samples: whether workgroups wait for one another, and all of them
 * are few enough. */
static bool wants_company(const timing *t) {
  bool stopped = false, numbers = false;
  int64_t instructions = 0, groups = 0;
  for (int i = 0; i < t->sample_count; i++) {
    stopped |= ws__unit_was_stopped(&t->samples[i]);
    numbers |= t->samples[i].takes_numbers;
    instructions += t->samples[i].counters.instructions;
    groups += t->samples[i].groups_simulated;
  }
  return stopped ||
         (numbers && instructions / groups * (int64_t)t->plan.group_count <
                         WS_MOST_TOGETHER);
}

static void forget_run(timing *t) {
  ws__overlay_open(t->plan.memory); /* forgets what was stored before */
  memset(t->stalls, 0, t->plan.kernel->module->text.count * sizeof *t->stalls);
}

/* What asks for the same all the time need not wait for others: where that is
 * too much for company, the samples decide. */
static ws_status find_company(timing *t, ws_diag *diag) {
  ws_unit_run *few = t->samples;
  const int few_count = t->sample_count;
  ws_together how;
  WS_TRY(run_alone(t, false, diag));
  if (!wants_company(t)) {
    t->company = COMPANY_ALONE;
    return WS_OK;
  }
  sample_all(t);
  forget_run(t);
  WS_TRY(run_together(t, false, &how, diag));
  if (how == WS_TOGETHER_ENDED)
    return WS_OK;
  t->stood_still = how == WS_TOGETHER_STANDS_STILL;
  t->samples = few;
  t->sample_count = few_count;
  t->company = COMPANY_ALONE;
  forget_run(t);
  return run_alone(t, false, diag);
}

/* Once more, with another clock or the checks: waits may take more turns. */
static ws_status run_together_again(timing *t, bool proving, ws_diag *diag) {
  ws_together how;
  WS_TRY(run_together(t, proving, &how, diag));
  return how == WS_TOGETHER_ENDED
             ? WS_OK
             : ws_fail(diag, WS_INPUT, NULL, 0,
                       "%s: workgroups that wait for one another take more "
                       "than %lld wave instructions: too long for the cycle "
                       "model",
                       t->plan.kernel->info.name, (long long)WS_MOST_TOGETHER);
}

static ws_status run_pass(timing *t, bool proving, ws_diag *diag) {
  return t->company == COMPANY_UNKNOWN    ? find_company(t, diag)
         : t->company == COMPANY_TOGETHER ? run_together_again(t, proving, diag)
                                          : run_alone(t, proving, diag);
}

/* Workgroups that the device holds at once. */
static int64_t places_of(const timing *t) {
  return t->occupancy.groups * t->constants->xcds * t->constants->cus_per_xcd;
}

/* A CU alone did not end, and the whole device together stood still. */
static ws_status deadlock(const timing *t, ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "%s: workgroups wait for what none of those with a place "
                 "does: a deadlock (%lld workgroups, %lld have a place at "
                 "once)",
                 t->plan.kernel->info.name, (long long)t->plan.group_count,
                 (long long)places_of(t));
}

static ws_status run_samples(timing *t, int64_t mhz, ws_diag *diag) {
  t->mhz = mhz;
  forget_run(t);
  const ws_status status = run_pass(t, false, diag);
  if (status != WS_OK)
    return t->stood_still ? deadlock(t, diag) : status;
  t->longest = &t->samples[0];
  for (int i = 0; i < t->sample_count; i++)
    if (t->samples[i].clocks > t->longest->clocks)
      t->longest = &t->samples[i];
  return WS_OK;
}

static bool reads_unknown(const timing *t) {
  bool any = false;
  for (int i = 0; i < t->sample_count; i++)
    any |= t->samples[i].read_unknown;
  return any;
}

/* Results of the samples stay what they were. */
static ws_status prove_way(timing *t, ws_diag *diag) {
  ws_diag found;
  timing again = *t;
  const size_t bytes = (size_t)t->sample_count * sizeof *t->samples;
  again.samples = ws_arena_alloc(t->arena, bytes);
  memcpy(again.samples, t->samples, bytes);
  ws__overlay_open(t->plan.memory);
  if (run_pass(&again, true, &found) != WS_OK)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "what earlier launches or other workgroups would have "
                   "written is not known to the clock: %s",
                   found.text);
  return WS_OK;
}

/* ---- the launch from the samples --------------------------------------------
 */

typedef struct sums {
  ws_counters counters; /* of the simulated workgroups */
  int64_t groups;
  double scale;       /* to all workgroups */
  double cu_clocks;   /* of all CUs over the launch */
  double simd_clocks; /* of all SIMDs */
} sums;

static sums sum_up(const timing *t) {
  sums s = {.scale = 1};
  for (int i = 0; i < t->sample_count; i++) {
    const ws_counters *from = &t->samples[i].counters;
#define WS_COUNTER_ADD(name) s.counters.name += from->name;
    WS_COUNTER_MAP(WS_COUNTER_ADD)
#undef WS_COUNTER_ADD
    s.groups += t->samples[i].groups_simulated;
  }
  const ws__clock_constants *c = t->constants;
  s.scale = (double)t->plan.group_count / (double)s.groups;
  s.cu_clocks = (double)t->longest->clocks * (double)(c->xcds * c->cus_per_xcd);
  s.simd_clocks = s.cu_clocks * (double)c->simds;
  return s;
}

/* Of the share of the peak's clocks that a counter has, as far as counts. */
static double load_of(const timing *t, const sums *s, int64_t clocks) {
  const double busy = (double)clocks * s->scale / s->simd_clocks;
  const double share = busy * 100 / (double)t->constants->loaded_percent;
  return share < 1 ? share : 1;
}

/* Engine clock after what matrix load does to it, if it lasts: data that
 * changes costs the most. */
static int64_t clock_under_load(const timing *t, const sums *s) {
  const ws__clock_constants *c = t->constants;
  const ws_counters *n = &s->counters;
  const double us = (double)t->longest->clocks / (double)c->clock_mhz;
  const double lasts = fmin(1, us / (double)c->power_us);
  const double most = (double)(c->clock_mhz - c->loaded_mhz);
  const double still =
      fmin(most, (double)(c->clock_mhz * (100 - c->still_percent)) / 100);
  const double drop = most * load_of(t, s, n->mfma - n->mfma_still) +
                      still * load_of(t, s, n->mfma_still);
  return c->clock_mhz - (int64_t)(fmin(most, drop) * lasts);
}

static double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

static void fill_pipes(const sums *s, ws_sim_profile *out) {
  const ws_counters *n = &s->counters;
  const double simd = s->scale / s->simd_clocks, cu = s->scale / s->cu_clocks;
  const double array = (double)n->lds, ports = (double)n->lds_port / 2;
  out->mfma_busy = (double)n->mfma * simd;
  out->valu_busy = (double)n->valu * simd;
  out->salu_busy = (double)n->scalar * simd;
  out->lds_busy = (array > ports ? array : ports) * cu;
  out->vmem_busy = (double)n->vmem * cu;
  out->lds_conflict = n->lds_ideal ? array / (double)n->lds_ideal : 1;
}

static void fill_memory(const sums *s, ws_sim_profile *out) {
  const ws_counters *n = &s->counters;
  out->l1_hit = ratio((double)n->l1_hits, (double)n->l1_lines);
  out->l2_hit = ratio((double)n->l2_hits, (double)n->l2_lines);
  out->mall_hit = ratio((double)n->mall_hits, (double)n->mall_lines);
  out->l1_bytes = (double)n->l1_bytes * s->scale;
  out->l2_bytes = (double)n->l2_bytes * s->scale;
  out->mall_bytes = (double)n->mall_bytes * s->scale;
  out->hbm_bytes = (double)n->hbm_bytes * s->scale;
}

static void fill_occupancy(const timing *t, ws_sim_profile *out) {
  const ws__clock_constants *c = t->constants;
  const int64_t most_per_cu =
      ws__groups_of_cu((int64_t)t->plan.group_count, 0, 0, c);
  const bool by_grid = most_per_cu < t->occupancy.groups;
  const int64_t resident = by_grid ? most_per_cu : t->occupancy.groups;
  out->waves_per_simd =
      (int)((resident * t->plan.wave_count + c->simds - 1) / c->simds);
  out->limiter = by_grid ? "grid" : t->occupancy.limiter;
  out->waves_of_grid = (double)t->plan.group_count / (double)places_of(t);
  out->workgroups = (int64_t)t->plan.group_count;
}

/* The busiest of what a launch can wait for; "latency" when none is busy most
 * of the time. Pipes as the slowest CU uses them. */
static const char *bound_of(const timing *t, const ws_sim_profile *p) {
  const ws__clock_constants *c = t->constants;
  const ws_counters *n = &t->longest->counters;
  const double clocks = (double)t->longest->clocks;
  const double own = (double)t->longest->clocks_simulated;
  const double xcds = (double)c->xcds, simds = (double)c->simds;
  const double ns = clocks * 1e3 / (double)t->mhz;
  const double rate = (double)ws__dispatch_clocks(t->plan.wave_count, c);
  const struct {
    const char *name;
    double busy;
  } bounds[] = {
      {"mfma", (double)n->mfma / (own * simds)},
      {"valu", (double)n->valu / (own * simds)},
      {"lds", fmax((double)n->lds, (double)n->lds_port / 2) / own},
      {"vmem", (double)n->vmem / own},
      {"l2", p->l2_bytes / (xcds * (double)c->l2_rate * clocks)},
      {"mall", p->mall_bytes / ((double)c->mall_rate * ns)},
      {"hbm", p->hbm_bytes / ((double)c->hbm_rate * ns)},
      {"dispatch", (double)t->plan.group_count / xcds * rate / clocks},
  };
  const double busy_enough = 0.6;
  int best = 0;
  for (int i = 1; i < (int)(sizeof bounds / sizeof *bounds); i++)
    if (bounds[i].busy > bounds[best].busy)
      best = i;
  if (bounds[best].busy >= busy_enough)
    return bounds[best].name;
  return ns < (double)c->launch_ns ? "launch" : "latency";
}

/* As many workgroups as the longest, with as much to do as far as known. */
static bool is_like_longest(const timing *t, const ws_unit_run *sample) {
  const int64_t work = work_of(t, sample), most = work_of(t, t->longest);
  return sample->groups == t->longest->groups &&
         (!work || !most || work > most - most / 4);
}

/* Half of how far samples that are like the longest differ; none where all of
 * the device was simulated. */
static int64_t half_spread(const timing *t) {
  if (t->company == COMPANY_TOGETHER)
    return 0;
  int64_t lowest = t->longest->clocks;
  for (int i = 0; i < t->sample_count; i++)
    if (is_like_longest(t, &t->samples[i]) && t->samples[i].clocks < lowest)
      lowest = t->samples[i].clocks;
  return (t->longest->clocks - lowest) / 2;
}

/* ---- stalls and hot lines ---------------------------------------------------
 */

typedef struct line_stalls {
  ws_line at; /* its column: of the instruction with most of the clocks */
  ws_stalls stalls;
  int64_t total, most;
} line_stalls;

static int by_place(const void *a, const void *b) {
  const ws_line *x = &((const line_stalls *)a)->at;
  const ws_line *y = &((const line_stalls *)b)->at;
  int order = strcmp(x->file, y->file);
  if (!order)
    order = (x->line > y->line) - (x->line < y->line);
  return order ? order : strcmp(x->region, y->region);
}

static int by_total(const void *a, const void *b) {
  const line_stalls *x = a, *y = b;
  return x->total != y->total ? (x->total < y->total) - (x->total > y->total)
                              : by_place(a, b);
}

static void add_stalls(line_stalls *to, const ws_stalls *from) {
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++) {
    to->stalls.clocks[s] += from->clocks[s];
    to->total += from->clocks[s];
  }
}

static void merge(line_stalls *to, const line_stalls *from) {
  add_stalls(to, &from->stalls);
  if (from->most > to->most ||
      (from->most == to->most && from->at.column < to->at.column)) {
    to->most = from->most;
    to->at.column = from->at.column;
  }
}

/* Without a line table each instruction stands for itself. */
static ws_line line_of(const timing *t, uint32_t index) {
  const ws_sim_module *module = t->plan.kernel->module;
  if (module->lines && module->lines[index].line)
    return module->lines[index];
  return (ws_line){t->plan.kernel->info.name, module->text.lines[index], 0, 0};
}

static int collect_lines(const timing *t, line_stalls *lines) {
  int count = 0, merged = 0;
  for (uint32_t i = 0; i < t->plan.kernel->module->text.count; i++) {
    line_stalls line = {.at = line_of(t, i)};
    add_stalls(&line, &t->stalls[i]);
    line.most = line.total;
    if (line.total)
      lines[count++] = line;
  }
  qsort(lines, (size_t)count, sizeof *lines, by_place);
  for (int i = 0; i < count; i++)
    if (merged && !by_place(&lines[merged - 1], &lines[i]))
      merge(&lines[merged - 1], &lines[i]);
    else
      lines[merged++] = lines[i];
  qsort(lines, (size_t)merged, sizeof *lines, by_total);
  return merged;
}

static void add_function(ws_sim_profile *out, ws_arena *arena, const char *name,
                         double share) {
  int i = 0;
  while (i < out->function_count && strcmp(out->functions[i].name, name))
    i++;
  if (i == WS_SIM_FUNCTIONS)
    return;
  if (i == out->function_count)
    out->functions[out->function_count++] =
        (ws_sim_function_share){ws_arena_strdup(arena, name), 0};
  out->functions[i].share += share;
}

static void fill_stalls(const timing *t, ws_arena *arena, ws_sim_profile *out) {
  line_stalls *lines = ws_arena_alloc(
      t->arena, (t->plan.kernel->module->text.count + 1) * sizeof *lines);
  const int count = collect_lines(t, lines);
  line_stalls all = {0};
  for (int i = 0; i < count; i++)
    add_stalls(&all, &lines[i].stalls);
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
    out->stalls[s] = ratio((double)all.stalls.clocks[s], (double)all.total);
  for (int i = 0; i < count; i++)
    add_function(out, arena, lines[i].at.region,
                 ratio((double)lines[i].total, (double)all.total));
  out->line_count = count < WS_SIM_HOT_LINES ? count : WS_SIM_HOT_LINES;
  for (int i = 0; i < out->line_count; i++) {
    ws_sim_hot_line *hot = &out->lines[i];
    hot->region = ws_arena_strdup(arena, lines[i].at.region);
    hot->file = ws_arena_strdup(arena, lines[i].at.file);
    hot->line = lines[i].at.line;
    hot->column = lines[i].at.column;
    hot->share = ratio((double)lines[i].total, (double)all.total);
    for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
      hot->stalls[s] =
          ratio((double)lines[i].stalls.clocks[s], (double)lines[i].total);
  }
}

/* ---- latency and the loop ---------------------------------------------------
 */

static bool is_global(const ws_instruction *in) {
  return in->class_ == WS_CLASS_VMEM || in->class_ == WS_CLASS_FLAT;
}

static void fill_latency(const timing *t, ws_sim_profile *out) {
  const ws_text *text = &t->plan.kernel->module->text;
  struct {
    double sum, loads, most;
  } of[2] = {{0, 0, 0}, {0, 0, 0}}; /* LDS, global */
  for (uint32_t i = 0; i < text->count; i++) {
    const ws_stalls *stalls = &t->stalls[i];
    const int kind = is_global(&text->items[i]);
    if (!stalls->latency)
      continue;
    of[kind].sum += (double)stalls->latency;
    of[kind].loads += (double)stalls->issued;
    of[kind].most = fmax(of[kind].most, (double)stalls->latency_most);
  }
  out->lds_latency = ratio(of[0].sum, of[0].loads);
  out->lds_latency_most = of[0].most;
  out->load_latency = ratio(of[1].sum, of[1].loads);
  out->load_latency_most = of[1].most;
}

static void fill_loop(const timing *t, int64_t groups, ws_arena *arena,
                      ws_sim_profile *out) {
  const ws_loop_source source = {.module = t->plan.kernel->module,
                                 .stalls = t->stalls,
                                 .waves = groups * t->plan.wave_count};
  ws__hottest_loop(&source, arena, &out->loop);
}

static void fill_features(ws_sim_profile *p) {
  const double values[WS_SIM_FEATURES] = {
#define VALUE(name, value) (double)(value),
      WS_SIM_FEATURE_MAP(VALUE)
#undef VALUE
  };
  memcpy(p->features, values, sizeof values);
}

/* ---- the whole --------------------------------------------------------------
 */

static void fill_profile(const timing *t, ws_arena *arena,
                         ws_sim_profile *out) {
  const sums s = sum_up(t);
  const double mhz = (double)t->mhz;
  *out = (ws_sim_profile){
      .kernel = ws_arena_strdup(arena, t->plan.kernel->info.name),
      .clocks = t->longest->clocks,
      .clock_mhz = mhz,
      .us = (double)t->longest->clocks / mhz +
            (double)t->constants->launch_ns / 1e3,
      .us_error = (double)half_spread(t) / mhz,
      .instructions = (double)s.counters.instructions * s.scale,
      .workgroups_simulated = s.groups,
      .together = t->company == COMPANY_TOGETHER};
  fill_pipes(&s, out);
  fill_memory(&s, out);
  fill_occupancy(t, out);
  out->bound = bound_of(t, out);
  out->model_error = ws_sim_error_of_bound(out->bound);
  fill_stalls(t, arena, out);
  fill_latency(t, out);
  fill_loop(t, s.groups, arena, out);
  out->us_uncorrected = out->us;
  fill_features(out);
}

static ws_status no_room(const timing *t, ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "%s: no compute unit holds a workgroup of %d waves with %d "
                 "VGPRs and %u bytes of LDS",
                 t->plan.kernel->info.name, t->plan.wave_count,
                 t->plan.kernel->info.vgpr, t->plan.lds_bytes);
}

static ws_status time_plan(timing *t, ws_arena *arena, ws_sim_profile *out,
                           ws_diag *diag) {
  const ws_sim_kernel *kernel = t->plan.kernel;
  const ws_text *text = &kernel->module->text;
  t->occupancy =
      ws__occupancy(kernel->info.vgpr, kernel->info.sgpr, t->plan.lds_bytes,
                    t->plan.wave_count, t->constants);
  if (t->occupancy.groups < 1)
    return no_room(t, diag);
  t->costs = ws__clock_costs(t->arena, text, t->constants);
  t->stalls = ws_arena_alloc(t->arena, text->count * sizeof *t->stalls);
  t->scratch_stalls = ws_arena_alloc(t->arena, text->count * sizeof *t->stalls);
  WS_TRY(ws__sharing_find(&t->plan, t->occupancy.groups, !t->warm, t->constants,
                          t->arena, &t->sharing, diag));
  t->sharing.held = t->held;
  t->samples = ws_arena_alloc(t->arena, MOST_SAMPLES * sizeof *t->samples);
  choose_samples(t);
  WS_TRY(run_samples(t, t->constants->clock_mhz, diag));
  const sums s = sum_up(t);
  const int64_t mhz = clock_under_load(t, &s);
  const bool together = t->company == COMPANY_TOGETHER;
  if (mhz < t->mhz - t->mhz / (together ? 20 : 100))
    WS_TRY(run_samples(t, mhz, diag));
  else if (together) /* too dear for so little: in clocks it is as before */
    t->mhz = mhz;
  if (reads_unknown(t))
    WS_TRY(prove_way(t, diag));
  fill_profile(t, arena, out);
  return WS_OK;
}

ws_status ws__clock_time(ws_memory *memory, const ws_sim_launch *launch,
                         ws_sim_residency residency,
                         const ws__clock_constants *constants, ws_arena *arena,
                         ws_sim_profile *out_profile, ws_diag *diag) {
  ws_arena *scratch = ws_arena_create();
  timing *t = ws_arena_alloc(scratch, sizeof *t);
  *t = (timing){.constants = constants,
                .seed = launch->sample_seed,
                .warm = residency == WS_SIM_WARM,
                .held =
                    residency == WS_SIM_CHAIN ? ws__memory_held(memory) : NULL,
                .arena = scratch};
  ws_status status = ws__plan_create(memory, launch, 0, &t->plan, diag);
  if (status == WS_OK) {
    t->plan.constants = constants;
    ws__overlay_open(memory);
    status = time_plan(t, arena, out_profile, diag);
    ws__overlay_close(memory);
    ws__plan_release(&t->plan);
  }
  ws_arena_destroy(scratch);
  return status;
}

ws_status ws_sim_time(ws_sim *sim, const ws_sim_launch *launch,
                      ws_sim_residency residency, ws_arena *arena,
                      ws_sim_profile *out_profile, ws_diag *diag) {
  WS_TRY(ws__clock_time(sim->memory, launch, residency, sim->constants, arena,
                        out_profile, diag));
  if (sim->options.card) {
    const double factor = ws_sim_correction_factor(
        &sim->options.card->correction, out_profile->features);
    out_profile->us *= factor;
    out_profile->us_error *= factor;
  }
  return WS_OK;
}
