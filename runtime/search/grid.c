/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The grid's bins: per family and axis a table of upper ends, the last one
 * open. They follow what changes on the hardware: LDS and registers where a
 * further workgroup or wave fits no more, tiles by the factor two. Of several
 * launches the one with the most work in the first sanitizer run counts, where
 * there is none the first kernel.
 */
#include "grid.h"
#include "occupancy.h"

#include <string.h>

enum { MAX_BINS = 8 };

typedef struct scale {
  const char *name;
  int count;
  int64_t upper[MAX_BINS]; /* inclusive; of the last bin: ignored */
  const char *texts[MAX_BINS];
} scale;

static const scale lds_scales[] = {
    [WS_FAMILY_AMDGPU] = {"lds",
                          5,
                          {0, 8192, 16384, 32768},
                          {"none", "1-8K", "8-16K", "16-32K", "32-64K"}},
    [WS_FAMILY_NVPTX] = {"lds",
                         5,
                         {0, 57344, 76800, 115712}, /* four, three, two fit */
                         {"none", "1-56K", "56-75K", "75-113K", "113-227K"}}};
static const scale register_scales[] = {
    [WS_FAMILY_AMDGPU] = {"registers",
                          6,
                          {64, 96, 128, 168, 256},
                          {"1-64", "65-96", "97-128", "129-168", "169-256",
                           "257-512"}},
    [WS_FAMILY_NVPTX] = {
        "registers",
        6,
        {40, 64, 96, 128, 168},
        {"1-40", "41-64", "65-96", "97-128", "129-168", "169-255"}}};
static const scale occupancy_scales[] = {
    [WS_FAMILY_AMDGPU] = {"occupancy", 4, {1, 2, 4}, {"1", "2", "3-4", "5-8"}},
    [WS_FAMILY_NVPTX] = {
        "occupancy", 4, {2, 4, 8}, {"1-2", "3-4", "5-8", "9-16"}}};
static const scale bottleneck_scale = {"bottleneck", WS_BOUND_COUNT, {0}, {0}};
static const scale tile_scale = {
    "tile",
    6,
    {1024, 4096, 8192, 16384, 32768},
    {"1-1K", "1-4K", "4-8K", "8-16K", "16-32K", "32K-"}};

static const scale *scale_of(ws_target_family family, ws__axis axis) {
  const scale *const scales[WS__AXIS_COUNT] = {
      [WS__AXIS_LDS] = &lds_scales[family],
      [WS__AXIS_REGISTERS] = &register_scales[family],
      [WS__AXIS_OCCUPANCY] = &occupancy_scales[family],
      [WS__AXIS_BOTTLENECK] = &bottleneck_scale,
      [WS__AXIS_TILE] = &tile_scale};
  return scales[axis];
}

static int8_t bin_of(const ws__cell *cell, ws__axis axis, int64_t value) {
  const scale *s = scale_of(cell->family, axis);
  int bin = 0;
  while (bin + 1 < s->count && value > s->upper[bin])
    bin++;
  return (int8_t)bin;
}

/* ---- which launch ---- */
static int64_t work_of(const ws_observed *o) {
  enum { CLOCKS_16 = 16, CLOCKS_32 = 32 };
  return o->ds_clocks + o->vmem_clocks + CLOCKS_16 * o->mfma_16x16x32 +
         CLOCKS_32 * (o->mfma_32x32x16 + o->mfma_other);
}

static const char *longest_kernel(const ws_build_result *result) {
  const char *name = result->kernel_count ? result->kernels[0].name : "";
  int64_t most = -1;
  for (int i = 0; result->run_count && i < result->runs[0].launch_count; i++) {
    int64_t work = work_of(&result->runs[0].launches[i].observed);
    if (work > most) {
      most = work;
      name = result->runs[0].launches[i].kernel;
    }
  }
  return name;
}

static const ws_launch *launch_of(const ws_template *tmpl, const char *kernel) {
  for (int i = 0; i < tmpl->launch_count; i++)
    if (!strcmp(tmpl->launches[i].kernel, kernel))
      return &tmpl->launches[i];
  return tmpl->launch_count ? &tmpl->launches[0] : NULL;
}

/* ---- the axes ---- */
static int64_t threads_of(const ws_candidate *candidate,
                          const ws_launch *launch) {
  ws_arena *arena = ws_arena_create();
  ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  int64_t threads;
  if (ws_expr_eval(launch->threads, &scope, &threads, NULL) != WS_OK)
    threads = -1;
  ws_arena_destroy(arena);
  return threads;
}

static int8_t occupancy_bin(const ws__cell *cell, const ws_target *target,
                            const ws_candidate *candidate,
                            const ws_launch *launch,
                            const ws_kernel_facts *facts) {
  enum { SIMDS = 4 };
  int64_t threads = launch ? threads_of(candidate, launch) : -1;
  if (threads <= 0 || threads > 1024)
    return -1;
  int64_t groups = ws_resident_workgroups(target, facts, (int)threads);
  int64_t waves = groups * ((threads + target->wave - 1) / target->wave);
  return bin_of(cell, WS__AXIS_OCCUPANCY, (waves + SIMDS - 1) / SIMDS);
}

/* tile_m * tile_n where the template has these parameters (as for the
 * sanitizer's runs, model.h), else the outputs of a large problem by its
 * workgroups. */
static int64_t tile_of(const ws_candidate *candidate, const ws_launch *launch,
                       int cu_count) {
  enum { LARGE = 4096 };
  const ws_template *tmpl = candidate->tmpl;
  const ws_problem *problem = ws_problem_find(tmpl->problem);
  ws_shape large = {.dims = tmpl->dims};
  ws_arena *arena = ws_arena_create();
  int64_t tile = 1, by_name = 1;
  int named = 0, extents = 0;
  for (int i = 0; i < tmpl->dims->count; i++) {
    large.size[i] = LARGE;
    if (problem && problem->is_depth[i])
      continue;
    int param = ws_template_param_index(
        tmpl, ws_arena_printf(arena, "tile_%s", tmpl->dims->names[i]));
    tile *= LARGE;
    extents++;
    named += param >= 0;
    by_name *= param >= 0 ? candidate->values[param] : 1;
  }
  if (named == extents) {
    ws_arena_destroy(arena);
    return by_name;
  }
  ws_scope scope = ws_candidate_scope(arena, candidate, &large, cu_count);
  for (int i = 0; tile > 0 && i < 3; i++) {
    int64_t groups;
    tile =
        launch &&
                ws_expr_eval(launch->grid[i], &scope, &groups, NULL) == WS_OK &&
                groups > 0
            ? tile / groups
            : -1;
  }
  ws_arena_destroy(arena);
  return tile;
}

static int8_t bottleneck_bin(const char *bound) {
  for (int i = 0; i < WS_BOUND_COUNT; i++)
    if (!strcmp(bound, ws_bound_text((ws_bound)i)))
      return (int8_t)i;
  return -1;
}

static void fill_from_facts(ws__cell *cell, const ws_target *target,
                            const ws_candidate *candidate,
                            const ws_launch *launch,
                            const ws_kernel_facts *facts) {
  cell->bins[WS__AXIS_LDS] = bin_of(cell, WS__AXIS_LDS, ws__lds_bytes(facts));
  if (facts->vgpr > 0 || cell->family == WS_FAMILY_AMDGPU)
    cell->bins[WS__AXIS_REGISTERS] =
        bin_of(cell, WS__AXIS_REGISTERS, facts->vgpr);
  cell->bins[WS__AXIS_OCCUPANCY] =
      occupancy_bin(cell, target, candidate, launch, facts);
}

ws__cell ws__cell_of(const ws_candidate *candidate,
                     const ws_build_result *result, const char *bound) {
  const ws_target *target = ws_target_find(candidate->tmpl->target);
  const char *kernel = result ? longest_kernel(result) : "";
  const ws_launch *launch = launch_of(candidate->tmpl, kernel);
  const ws_kernel_facts *facts = result ? ws_build_kernel_facts(result, kernel) : NULL;
  ws__cell cell = {.family = target->family};
  int64_t tile = tile_of(candidate, launch, target->cu_count);
  memset(cell.bins, -1, sizeof cell.bins);
  if (facts)
    fill_from_facts(&cell, target, candidate, launch, facts);
  cell.bins[WS__AXIS_BOTTLENECK] = bottleneck_bin(bound);
  if (tile > 0)
    cell.bins[WS__AXIS_TILE] = bin_of(&cell, WS__AXIS_TILE, tile);
  return cell;
}

/* ---- cells ---- */
bool ws__cell_equal(const ws__cell *a, const ws__cell *b) {
  return !memcmp(a->bins, b->bins, sizeof a->bins);
}

/* Bottlenecks have no order: another one is one bin away. */
int ws__cell_distance(const ws__cell *a, const ws__cell *b) {
  int sum = 0;
  for (int axis = 0; axis < WS__AXIS_COUNT; axis++) {
    int distance = a->bins[axis] - b->bins[axis];
    distance = distance < 0 ? -distance : distance;
    sum += axis == WS__AXIS_BOTTLENECK ? distance != 0 : distance;
  }
  return sum;
}

static const char *bin_text(const ws__cell *cell, ws__axis axis) {
  int bin = cell->bins[axis];
  const scale *s = scale_of(cell->family, axis);
  if (bin < 0 || bin >= s->count)
    return "?";
  return axis == WS__AXIS_BOTTLENECK ? ws_bound_text((ws_bound)bin)
                                     : s->texts[bin];
}

char *ws__cell_text(ws_arena *arena, const ws__cell *cell) {
  char *text = ws_arena_strdup(arena, "");
  for (int axis = 0; axis < WS__AXIS_COUNT; axis++)
    text = ws_arena_printf(arena, "%s%s%s=%s", text, axis ? " " : "",
                           scale_of(cell->family, (ws__axis)axis)->name,
                           bin_text(cell, (ws__axis)axis));
  return text;
}
