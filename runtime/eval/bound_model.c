/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The bound model. For each launch: how many workgroups run, how many a CU
 * holds at once and how many the busiest CU gets; how long that CU's matrix,
 * vector, LDS and L1 pipes are busy with them, and how long one wave alone
 * needs from start to end, waits included. From these follows how long those
 * who share the worst pipe take; the launch takes about the longer of its
 * busiest CU and of what L2, Infinity Cache and HBM need; the candidate the sum
 * of its launches and their launch costs. It is there to rank; docs/bound-model.md
 * says how well it does.
 */
#include "bound_model_internal.h"

#include <math.h>
#include <string.h>

static const char *const bound_texts[WS_BOUND_COUNT] = {
#define WS_BOUND_TEXT(name, text) [WS_BOUND_##name] = text,
    WS_BOUND_MAP(WS_BOUND_TEXT)
#undef WS_BOUND_TEXT
};

const char *ws_bound_text(ws_bound bound) {
  return bound >= 0 && bound < WS_BOUND_COUNT ? bound_texts[bound] : "?";
}

/* ---- occupancy
 * ------------------------------------------------------------------
 */

static double round_up(double value, double granule) {
  return ceil(value / granule) * granule;
}

/* Waves of this kernel that the registers of a SIMD hold. */
static double waves_by_registers(const ws_kernel_facts *facts) {
  double vgprs = round_up(fmax(1, facts->vgpr), ws__model.vgpr_granule);
  double sgprs = round_up(fmax(1, facts->sgpr), ws__model.sgpr_granule);
  double waves = fmin(floor(ws__model.vgpr_file / vgprs),
                      floor(ws__model.sgpr_file / sgprs));
  return fmin(waves, ws__model.max_waves_per_simd);
}

int ws_occupancy_workgroups(const ws_kernel_facts *facts, int threads,
                            int lds_bytes) {
  double waves = ceil(threads / 64.0);
  if (threads < 1 || waves > ws__model.max_waves_per_workgroup ||
      lds_bytes > ws__model.lds_bytes)
    return 0;
  /* a workgroup's waves go to the SIMDs in turn: with a multiple of four each
   * SIMD gets the same share, with fewer others fill the gaps */
  double slots = waves_by_registers(facts);
  double workgroups = waves >= ws__model.simds
                          ? floor(slots / ceil(waves / ws__model.simds))
                          : floor(slots * ws__model.simds / waves);
  if (lds_bytes > 0)
    workgroups =
        fmin(workgroups, floor(ws__model.lds_bytes /
                               round_up(lds_bytes, ws__model.lds_granule)));
  return (int)workgroups;
}

/* ---- expressions over parameters and shape
 * ----------------------------------------
 */

typedef struct full_scope {
  ws_binding bindings[WS_TEMPLATE_MAX_PARAMS + WS_MAX_DIMS + 1];
  ws_scope scope;
} full_scope;

static void fill_scope(const ws_candidate *candidate, const ws_shape *shape,
                       int64_t cu_count, full_scope *out) {
  int count = 0;
  for (int i = 0; i < candidate->tmpl->param_count; i++)
    out->bindings[count++] =
        (ws_binding){candidate->tmpl->params[i].name, candidate->values[i]};
  count += ws_shape_bindings(shape, &out->bindings[count]);
  out->bindings[count++] = (ws_binding){"cu_count", cu_count};
  out->scope = (ws_scope){out->bindings, count};
}

static ws_status grid_of(const ws_launch *launch, const full_scope *scope,
                         double *out_workgroups, ws_diag *diag) {
  *out_workgroups = 1;
  for (int axis = 0; axis < 3; axis++) {
    int64_t extent;
    WS_TRY(ws_expr_eval(launch->grid[axis], &scope->scope, &extent, diag));
    *out_workgroups *= (double)extent;
  }
  return WS_OK;
}

/* ---- one launch
 * -------------------------------------------------------------------
 */

/* The larger decides; how sharply, the exponent says. */
static double overlap(double a, double b) {
  const double p = ws__model.overlap_exponent;
  double high = fmax(a, b), low = fmin(a, b);
  return high <= 0 ? 0 : high * pow(1 + pow(low / high, p), 1 / p);
}

static bool grid_is_fixed(const ws_launch *launch, const ws_dims *dims) {
  for (int axis = 0; axis < 3; axis++)
    for (int i = 0; i < ws_expr_name_count(launch->grid[axis]); i++)
      if (ws_dims_index(dims, ws_expr_name(launch->grid[axis], i)) >= 0)
        return false;
  return true;
}

static void spread_over_device(const ws_device_model *device,
                               const ws_launch *launch,
                               const ws__launch_work *work,
                               const ws_shape *shape, double workgroups,
                               double capacity, double waves, ws__spread *out) {
  const double xcds = device->xcd_count;
  *out = (ws__spread){.workgroups = workgroups,
                      .waves = waves,
                      .work_scale = 1,
                      .capacity = capacity};
  if (grid_is_fixed(launch, shape->dims)) /* workgroups walk over the shape */
    out->work_scale =
        fmax(1, ws__model_area(&work->depth, shape) / work->run_area);
  if (work->follows_depth)
    out->blocks = ceil((double)shape->size[work->depth.dim] /
                       (double)work->depth.block / work->slices);
  out->queue = ceil(ceil(workgroups / xcds) / (device->cu_count / xcds));
  out->resident = fmin(capacity, out->queue);
}

/* A pipe and those who queue for it. */
typedef struct pipe {
  double customers, clocks_each;
} pipe;

/* What a CU with some workgroups resident has to do for them. */
typedef struct batch {
  pipe mfma, valu, lds, vmem; /* of the busiest SIMD; of the CU */
  double chain;               /* one wave from start to end, alone */
  double waits;               /* the part of the chain in which it waits */
} batch;

static double total(double once, double block, const ws__spread *spread) {
  return (once + spread->blocks * block) * spread->work_scale;
}

/* A wave issues in order: its vector instructions stand before and after its
 * matrix instructions, and only other waves fill their shadow. */
static void add_chain(const ws__work *work, double times, double hidden_clocks,
                      double waves, batch *to) {
  double mfma = work->mfma_clocks / waves;
  double issue = work->issue_clocks / waves;
  double reads = work->lds_clocks - work->lds_write_clocks;
  double exposed = fmax(0, ws__model.load_latency - hidden_clocks);
  double lds_latency = work->lds_clocks > 0 ? ws__model.lds_latency : 0;
  double waits = work->barriers * ws__model.barrier_clocks +
                 work->steps * (lds_latency + exposed);
  /* with one barrier a step, a tile is written while another is read */
  bool two_buffers = work->steps > 0 && work->barriers < 1.5 * work->steps;
  double beside = two_buffers ? work->lds_clocks : reads;
  double apart = two_buffers ? 0 : work->lds_write_clocks;
  to->waits += times * waits;
  to->chain += times * (fmax(mfma + issue, beside) + apart + waits);
}

static batch batch_of(const ws__launch_work *work, const ws__spread *spread,
                      double resident) {
  const double waves = spread->waves;
  const double per_simd = ceil(resident * waves / ws__model.simds);
  const ws__work *once = &work->once, *block = &work->block;
  const double mfma = total(once->mfma_clocks, block->mfma_clocks, spread);
  const double issues =
      ws__model.issue_clocks * total(once->mfma_ops, block->mfma_ops, spread);
  const double valu = total(once->valu_clocks, block->valu_clocks, spread);
  batch b = {0};
  b.mfma = (pipe){per_simd, mfma / waves};
  b.valu = (pipe){per_simd, (valu + issues) / waves};
  b.lds = (pipe){resident, total(once->lds_clocks, block->lds_clocks, spread)};
  b.vmem =
      (pipe){resident, total(once->vmem_clocks, block->vmem_clocks, spread)};
  b.waits = b.chain = ws__model.workgroup_start_clocks + ws__model.load_latency;
  add_chain(once, spread->work_scale, work->hidden_clocks, waves, &b);
  add_chain(block, spread->blocks * spread->work_scale, work->hidden_clocks,
            waves, &b);
  return b;
}

/* How long each of the customers takes when they share the pipe: mean value
 * analysis of a closed queue whose customers need the pipe for some of their
 * chain and are elsewhere for the rest. One alone takes its chain; many take
 * what the pipe needs for all. */
static double shared(const pipe *p, double chain) {
  double elsewhere = fmax(0, chain - p->clocks_each), queue = 0, cycle = chain;
  for (int i = 1; i <= (int)p->customers; i++) {
    double at_pipe = p->clocks_each * (1 + queue);
    cycle = elsewhere + at_pipe;
    queue = cycle > 0 ? i * at_pipe / cycle : 0;
  }
  return cycle;
}

static double batch_clocks(const batch *b) {
  return fmax(fmax(shared(&b->mfma, b->chain), shared(&b->valu, b->chain)),
              fmax(shared(&b->lds, b->chain), shared(&b->vmem, b->chain)));
}

static double pipe_clocks(const pipe *p) {
  return p->customers * p->clocks_each;
}

static void add_batch(const batch *b, double times, double *clocks,
                      double by_bound[WS_BOUND_COUNT]) {
  *clocks += times * batch_clocks(b);
  by_bound[WS_BOUND_MFMA] += times * pipe_clocks(&b->mfma);
  by_bound[WS_BOUND_VALU] += times * pipe_clocks(&b->valu);
  by_bound[WS_BOUND_LDS] += times * pipe_clocks(&b->lds);
  by_bound[WS_BOUND_VMEM] += times * pipe_clocks(&b->vmem);
  by_bound[WS_BOUND_LATENCY] += times * b->waits;
}

/* The busiest CU works off its queue in batches of what it can hold. */
static double busiest_cu(const ws__launch_work *work, const ws__spread *spread,
                         double by_bound[WS_BOUND_COUNT]) {
  double full = floor(spread->queue / spread->resident);
  double rest = spread->queue - full * spread->resident;
  double clocks = 0;
  const batch whole = batch_of(work, spread, spread->resident);
  add_batch(&whole, full, &clocks, by_bound);
  if (rest > 0) {
    const batch last = batch_of(work, spread, rest);
    add_batch(&last, 1, &clocks, by_bound);
  }
  return clocks;
}

/* Clocks of a launch; by_bound gets clocks too. min_bytes: what of the
 * operands and result must cross HBM in this launch. */
static double launch_clocks(const ws_device_model *device,
                            const ws__launch_work *work,
                            const ws__spread *spread,
                            const ws__traffic *traffic, double min_bytes,
                            double by_bound[WS_BOUND_COUNT]) {
  const double xcds = device->xcd_count;
  /* TB/s = 1000 bytes/ns; GHz = clocks/ns */
  const double clocks_per_byte = device->clock_ghz / 1000;
  double mall_rate = min_bytes > ws__model.mall_bytes ? ws__model.hbm_tb_per_s
                                                      : ws__model.mall_tb_per_s;
  double l2 = fmax(traffic->l2_bytes / (xcds * ws__model.l2_bytes_per_clock),
                   traffic->mall_bytes * clocks_per_byte / mall_rate);
  double hbm = min_bytes * clocks_per_byte / ws__model.hbm_tb_per_s;
  double dispatch = ceil(spread->workgroups / xcds) *
                    fmax(ws__model.workgroup_dispatch_clocks,
                         spread->waves * ws__model.wave_dispatch_clocks);
  double cu = busiest_cu(work, spread, by_bound);
  by_bound[WS_BOUND_L2] += l2;
  by_bound[WS_BOUND_HBM] += hbm;
  by_bound[WS_BOUND_LAUNCH] += dispatch;
  return overlap(cu, fmax(fmax(l2, hbm), dispatch));
}

static void describe_longest(const ws_device_model *device,
                             const ws__spread *spread, ws_estimate *out) {
  const double cus = device->cu_count;
  out->waves_per_simd = spread->resident * spread->waves / ws__model.simds;
  out->rounds = spread->workgroups / (cus * spread->capacity);
  double last = fmod(spread->workgroups, cus);
  out->tail_idle = last > 0 ? 1 - last / cus : 0;
}

/* ---- a candidate
 * ------------------------------------------------------------------
 */

typedef struct estimation {
  const ws_device_model *device;
  const ws_problem *problem;
  const ws_candidate *candidate;
  const ws_build_result *result;
  const ws_shape *shape;
  full_scope scope;
  double clocks, longest;
  double by_bound[WS_BOUND_COUNT]; /* clocks */
  int launches;
  bool operands_read; /* a launch before has had them from HBM */
} estimation;

static ws_status no_room(const estimation *e, const ws_kernel_facts *facts,
                         int threads, ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "candidate %s: no compute unit holds a workgroup of %s (%d "
                 "threads, %d VGPRs, %d bytes of LDS)",
                 e->candidate->id.hex, facts->name, threads, facts->vgpr,
                 facts->lds_bytes);
}

static ws_status estimate_launch(estimation *e, int index, ws_estimate *out,
                                 ws_diag *diag) {
  const ws_launch *launch = &e->candidate->tmpl->launches[index];
  int64_t wanted, threads;
  double workgroups;
  WS_TRY(ws_expr_eval(launch->condition, &e->scope.scope, &wanted, diag));
  if (!wanted)
    return WS_OK;
  WS_TRY(ws_expr_eval(launch->threads, &e->scope.scope, &threads, diag));
  WS_TRY(grid_of(launch, &e->scope, &workgroups, diag));
  if (workgroups < 1)
    return WS_OK;
  ws__launch_work work;
  WS_TRY(ws__model_take_apart(e->problem, e->candidate, e->result, index,
                              (int)threads, &work, diag));
  int capacity =
      ws_occupancy_workgroups(work.facts, (int)threads, work.facts->lds_bytes);
  if (capacity < 1)
    return no_room(e, work.facts, (int)threads, diag);

  ws__spread spread;
  spread_over_device(e->device, launch, &work, e->shape, workgroups, capacity,
                     ceil((double)threads / 64), &spread);
  const ws__traffic traffic = ws__model_traffic(
      e->device, e->problem, e->candidate, &work, &spread, e->shape);
  double min_bytes =
      work.follows_depth && !e->operands_read ? ws_problem_least_bytes(e->problem, e->shape) : 0;
  double clocks = launch_clocks(e->device, &work, &spread, &traffic, min_bytes,
                                e->by_bound);
  e->operands_read |= work.follows_depth;
  e->clocks += clocks;
  e->launches++;
  if (clocks > e->longest) {
    e->longest = clocks;
    describe_longest(e->device, &spread, out);
  }
  return WS_OK;
}

/* The clock falls as the matrix units fill: a straight line from the full
 * clock at rest through AMD's measured point. */
static double clock_under_load(const estimation *e) {
  const double peak = ws__model.mfma_flops_per_clock * e->device->cu_count;
  double share = fmin(1, ws_problem_flops(e->problem, e->shape) / (peak * e->clocks));
  double drop = e->device->clock_ghz - ws__model.loaded_clock_ghz;
  return e->device->clock_ghz - drop * share / ws__model.loaded_share;
}

static void conclude(const estimation *e, ws_estimate *out) {
  const double us_per_clock = 1e-3 / e->device->clock_ghz;
  double launch_us =
      ws__model.first_launch_us + (e->launches - 1) * ws__model.next_launch_us;
  out->us = e->clocks * 1e-3 / clock_under_load(e) + launch_us;
  for (int i = 0; i < WS_BOUND_COUNT; i++)
    out->us_by_bound[i] = e->by_bound[i] * us_per_clock;
  out->us_by_bound[WS_BOUND_LAUNCH] += launch_us;
  out->bound = 0;
  for (int i = 1; i < WS_BOUND_COUNT; i++)
    if (out->us_by_bound[i] > out->us_by_bound[out->bound])
      out->bound = (ws_bound)i;
}

ws_status ws_model_estimate(const ws_device_model *device,
                            const ws_problem *problem,
                            const ws_candidate *candidate,
                            const ws_build_result *result,
                            const ws_shape *shape, ws_estimate *out_estimate,
                            ws_diag *diag) {
  *out_estimate = (ws_estimate){0};
  WS_TRY(ws_problem_check_shape(problem, shape, diag));
  if (ws_candidate_broken_require(candidate, shape, diag) >= 0)
    return WS_INPUT;
  estimation e = {.device = device,
                  .problem = problem,
                  .candidate = candidate,
                  .result = result,
                  .shape = shape};
  fill_scope(candidate, shape, device->cu_count, &e.scope);
  for (int i = 0; i < candidate->tmpl->launch_count; i++)
    WS_TRY(estimate_launch(&e, i, out_estimate, diag));
  char text[WS_SHAPE_TEXT];
  if (e.launches == 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %s launches nothing for %s", candidate->id.hex,
                   ws_shape_print_named(shape, text));
  conclude(&e, out_estimate);
  return WS_OK;
}
