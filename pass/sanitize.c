/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The IR sanitizer: runs a candidate's launch sequence on the CPU, lane by
 * lane, on small shapes, and looks at every memory access and every operation
 * across lanes (docs/sanitizer.md). Inputs, reference and comparison are the
 * problem's; this file does the runs and the order of launches.
 *
 * A run that ends with a wrong result is done once more with hooks on private
 * memory, which is too slow to do always.
 */
#include "sanitize_internal.h"

#include <string.h>

ws_sanitizer ws__sanitizer;

static ws_sanitizer *const sanitizer = &ws__sanitizer;

/* One call of ws_pass_sanitize. */
typedef struct sanitize_job {
  LLVMModuleRef module;
  const ws_candidate *candidate;
  const ws_problem *problem;
  int layout;
  ws_arena *arena;
  const ws_run *runs;
  int run_count;
  ws_program program;
  ws_spots spots;                  /* of the run in hand */
  bool spotted;                    /* a launch of it ran */
  void *left[WS_PROBLEM_MAX_ARGS]; /* by a run alone: its first results */
} sanitize_job;

void ws_sanitize_warm_up(void) {
  ws__jit_warm_up();
  ws__memory_reserve();
  ws__lanes_reserve();
}

ws_sanitize_times ws_sanitize_latest_times(void) { return sanitizer->times; }

/* Adds the time since *start and starts again. */
static void count_time(double *start, double *sum) {
  double now = ws_clock_ms();
  *sum += now - *start;
  *start = now;
}

/* ---- buffers --------------------------------------------------------- */

/* 0 when the template's expression fails: the run then stops. */
static int64_t workspace_bytes(const sanitize_job *job, const ws_run *run) {
  const ws_template *tmpl = job->candidate->tmpl;
  if (!tmpl->workspace)
    return 0;
  ws_scope scope =
      ws_candidate_scope(job->arena, job->candidate, &run->shape, 304);
  int64_t bytes = 0;
  ws_diag diag;
  if (ws_expr_eval(tmpl->workspace, &scope, &bytes, &diag) != WS_OK)
    ws__fault(WS_FAULT_BAD_LAUNCH, NULL, "workspace size: %s", diag.text);
  else if (bytes < 0 || bytes > (int64_t)1 << 32)
    ws__fault(WS_FAULT_BAD_LAUNCH, NULL, "a workspace of %lld bytes",
              (long long)bytes);
  else
    return bytes;
  return 0;
}

static void make_buffers(const sanitize_job *job, const ws_run *run,
                         const ws_prepared *prepared,
                         void *data[WS_PROBLEM_MAX_ARGS]) {
  const ws_problem *problem = job->problem;
  for (int i = 0; i < problem->arg_count; i++) {
    ws_arg_role role = ws_problem_arg_role(problem, i, job->layout);
    data[i] = NULL;
    if (role == WS_ARG_SCALAR)
      continue;
    int64_t bytes =
        role == WS_ARG_WORKSPACE
            ? workspace_bytes(job, run)
            : ws_problem_arg_bytes(problem, i, &run->shape, job->layout);
    data[i] = prepared->inputs[i];
    if (role != WS_ARG_INPUT) {
      data[i] = ws__memory_allocate(bytes, problem->alignment);
      memset(data[i], 0xff, (size_t)bytes); /* NaN as f32 and bf16 */
    }
    ws_buffer *buffer =
        ws__memory_add_buffer(problem->args[i].name, role, data[i], bytes);
    if (role == WS_ARG_INOUT) {
      memcpy(data[i], prepared->inputs[i], (size_t)bytes);
      ws__memory_give(buffer);
    }
  }
}

/* ---- launches -------------------------------------------------------- */

/* One 8-byte slot per argument, as the wrapper reads them. */
static void pack_arguments(const sanitize_job *job, const ws_run *run,
                           const ws_launch *launch, void *const *data,
                           uint64_t slots[WS_PROBLEM_MAX_ARGS]) {
  for (int i = 0; i < launch->argument_count; i++) {
    int arg = ws_problem_arg_index(job->problem, launch->arguments[i]);
    if (job->problem->args[arg].role == WS_ARG_SCALAR)
      slots[i] = (uint64_t)ws_problem_arg_scalar(job->problem, arg, &run->shape,
                                                 job->layout);
    else
      slots[i] = (uintptr_t)data[arg];
  }
}

typedef struct extent {
  int64_t condition, grid[3], threads;
} extent;

/* More than this on a shape that is small enough to run as a whole is a
 * mistake, and would take for ever. */
static const double MOST_WORKGROUPS = 0x1p20;

static double workgroup_count(const extent *size) {
  return (double)size->grid[0] * (double)size->grid[1] * (double)size->grid[2];
}

static bool evaluate_launch(const sanitize_job *job, const ws_run *run,
                            const ws_launch *launch, extent *out) {
  ws_scope scope =
      ws_candidate_scope(job->arena, job->candidate, &run->shape, 304);
  ws_diag diag = {""};
  bool ok =
      ws_expr_eval(launch->condition, &scope, &out->condition, &diag) == WS_OK;
  if (ok && !out->condition)
    return true;
  for (int i = 0; i < 3; i++)
    ok = ok &&
         ws_expr_eval(launch->grid[i], &scope, &out->grid[i], &diag) == WS_OK;
  ok = ok &&
       ws_expr_eval(launch->threads, &scope, &out->threads, &diag) == WS_OK;
  if (!ok) {
    ws__fault(WS_FAULT_BAD_LAUNCH, NULL, "kernel %s: %s", launch->kernel,
              diag.text);
    return false;
  }
  if (out->threads < 1 || out->threads > WS_MAX_LANES || out->grid[0] < 1 ||
      out->grid[1] < 1 || out->grid[2] < 1 || out->grid[0] > INT32_MAX ||
      out->grid[1] > INT32_MAX || out->grid[2] > INT32_MAX ||
      workgroup_count(out) > (run->spots ? 0x1p62 : MOST_WORKGROUPS)) {
    ws__fault(WS_FAULT_BAD_LAUNCH, NULL,
              "kernel %s: grid %lld x %lld x %lld of %lld threads",
              launch->kernel, (long long)out->grid[0], (long long)out->grid[1],
              (long long)out->grid[2], (long long)out->threads);
    return false;
  }
  return true;
}

static bool run_workgroup(const ws_run *run, const extent *size,
                          int64_t number) {
  ws_lanes *lanes = &sanitizer->lanes;
  ws_observed *observed = sanitizer->recorder.observed;
  for (int i = 0; i < 3; i++) {
    lanes->workgroup_id[i] = (int32_t)(number % size->grid[i]);
    number /= size->grid[i];
  }
  if (!ws__lanes_run_workgroup(run->order))
    return false;
  observed->workgroups++;
  observed->threads += lanes->count;
  observed->waves += lanes->wave_count;
  return true;
}

/* A bit for each launch whose condition holds in the run. An expression that
 * fails is found again, and reported, when its turn comes. */
static uint32_t launches_of(const sanitize_job *job, const ws_run *run) {
  const ws_template *tmpl = job->candidate->tmpl;
  uint32_t needed = 0;
  ws_scope scope =
      ws_candidate_scope(job->arena, job->candidate, &run->shape, 304);
  for (int i = 0; i < tmpl->launch_count; i++) {
    int64_t condition = 1;
    ws_diag diag;
    if (ws_expr_eval(tmpl->launches[i].condition, &scope, &condition, &diag) !=
            WS_OK ||
        condition)
      needed |= 1u << i;
  }
  return needed;
}

static uint32_t launches_needed(const sanitize_job *job) {
  uint32_t needed = 0;
  for (int r = 0; r < job->run_count; r++)
    needed |= launches_of(job, &job->runs[r]);
  return needed;
}

static int count_launches(const sanitize_job *job, const ws_run *run) {
  return __builtin_popcount(launches_of(job, run));
}

static void run_spots(sanitize_job *job, const ws_run *run, const extent *size,
                      int64_t count) {
  ws_spots *spots = &job->spots;
  ws__spots_begin(run, count, count_launches(job, run) == 1, spots);
  job->spotted = true;
  for (int i = 0;
       ws__spots_go_on(spots, i) && run_workgroup(run, size, spots->numbers[i]);
       i++)
    ws__spots_note(spots);
}

static void run_grid(sanitize_job *job, const ws_run *run, const extent *size) {
  ws_lanes *lanes = &sanitizer->lanes;
  int64_t count = 1;
  lanes->count = (int)size->threads;
  for (int i = 0; i < 3; i++) {
    lanes->workgroup_count[i] = (int32_t)size->grid[i];
    count *= size->grid[i];
  }
  if (run->spots)
    run_spots(job, run, size, count);
  else
    for (int64_t i = 0; i < count && run_workgroup(run, size, i); i++)
      ;
}

static void run_launch(sanitize_job *job, const ws_run *run, int index,
                       void *const *data, ws_observed *observed) {
  const ws_launch *launch = &job->candidate->tmpl->launches[index];
  const ws_entry_point *entry = &job->program.entries[index];
  const ws_launch *before = sanitizer->launch;
  sanitizer->launch = launch;
  extent size;
  if (!evaluate_launch(job, run, launch, &size) || !size.condition) {
    sanitizer->launch = before; /* findings name what ran */
    return;
  }
  sanitizer->ran[sanitizer->ran_count++] = launch;
  uint64_t arguments[WS_PROBLEM_MAX_ARGS];
  pack_arguments(job, run, launch, data, arguments);
  sanitizer->lanes.entry = entry->call;
  sanitizer->lanes.arguments = arguments;
  sanitizer->memory.lds_begin = entry->lds_begin;
  sanitizer->memory.lds_end = entry->lds_end;
  sanitizer->recorder.observed = observed;
  ws__memory_begin_launch();
  run_grid(job, run, &size);
}

const char *ws__what_ran(ws_arena *arena) {
  const char *text = "", *between = "; what ran: ";
  if (sanitizer->tmpl->launch_count < 2)
    return text;
  for (int i = 0; i < sanitizer->ran_count; i++) {
    text = ws_arena_printf(arena, "%s%s%s", text, between,
                           sanitizer->ran[i]->kernel);
    between = ", ";
  }
  return *text ? text : "; no launch's condition held";
}

/* ---- the result ------------------------------------------------------ */

static void check_written(void) {
  const ws_memory *memory = &sanitizer->memory;
  for (int b = 0; b < memory->buffer_count; b++) {
    const ws_buffer *buffer = &memory->buffers[b];
    int64_t first = -1, count = 0;
    for (int64_t i = 0; buffer->role == WS_ARG_OUTPUT && i < buffer->size; i++)
      if ((uint32_t)buffer->shadow[i] < memory->run_key) {
        first = first < 0 ? i : first;
        count++;
      }
    if (count)
      ws__fault(WS_FAULT_UNWRITTEN_OUTPUT, NULL,
                "%lld of %lld bytes of %s were never stored, the first at "
                "byte %lld",
                (long long)count, (long long)buffer->size, buffer->name,
                (long long)first);
  }
}

static bool result_is_right(const sanitize_job *job, const ws_run *run,
                            const ws_prepared *prepared, void *const *data) {
  ws_comparison comparison = {0};
  const ws_shape *shape = &run->shape;
  if (!prepared->value)
    return true; /* a kernel is the reference, and does not take the shape */
  ws_problem_compare(job->problem, shape, job->layout,
                     (const void *const *)data, 0,
                     ws_problem_slices(job->problem, shape), prepared->value,
                     prepared->scale, &comparison);
  if (comparison.wrong == 0)
    return true;
  ws__fault(WS_FAULT_WRONG_RESULT, NULL,
            "%s, waves %s: %lld of %lld elements are wrong, the first at %s: "
            "got %.9g, want %.9g, bound %.3g%s",
            ws_shape_named(job->arena, shape),
            run->order == WS_WAVES_UP ? "up" : "down",
            (long long)comparison.wrong, (long long)comparison.checked,
            ws_problem_place_text(job->arena, job->problem, shape, job->layout,
                                  comparison.first),
            comparison.first_got, comparison.first_want, comparison.first_bound,
            ws__what_ran(job->arena));
  return false;
}

/* ---- runs ------------------------------------------------------------ */

static bool load_program(sanitize_job *job, bool diagnose) {
  const char *layout;
  LLVMTargetMachineRef machine = ws__jit_machine(&layout);
  job->program = (ws_program){.arena = job->arena};
  double start = ws_clock_ms();
  LLVMModuleRef module = ws__instrument(
      job->module, job->candidate->tmpl, job->problem, launches_needed(job),
      diagnose, machine, layout, &job->program);
  sanitizer->sites = job->program.sites;
  count_time(&start, &sanitizer->times.instrument);
  bool loaded = module && ws__jit_load(module, &job->program);
  count_time(&start, &sanitizer->times.code);
  return loaded;
}

/* All launches, or of a run of spots the first: what the others would read is
 * not there. */
static void run_launches(sanitize_job *job, const ws_run *run,
                         void *const *data, ws_run_result *out_result) {
  const ws_template *tmpl = job->candidate->tmpl;
  job->spotted = false;
  for (int i = 0; i < tmpl->launch_count; i++) {
    out_result->launches[i].kernel = tmpl->launches[i].kernel;
    if (!sanitizer->lanes.stopped && !job->spotted)
      run_launch(job, run, i, data, &out_result->launches[i].observed);
  }
}

static bool spots_right(const sanitize_job *job, const ws_run *run,
                        void *const *data) {
  if (job->spotted)
    return ws__spots_right(job->problem, job->layout, run,
                           (const void *const *)data, &job->spots);
  ws__fault(WS_FAULT_BAD_LAUNCH, NULL,
            "%s: no launch condition holds; nothing would be computed",
            ws_shape_named(job->arena, &run->shape));
  return false;
}

/* What an earlier run of it left, in place of a reference; NULL: this is the
 * first, whose results are kept. */
static bool left_is_same(const sanitize_job *job, const ws_run *run,
                         void *const *data, void **left) {
  bool same = true;
  for (int i = 0; i < job->problem->arg_count; i++) {
    size_t bytes = ws_arg_is_result(job->problem->args[i].role)
                       ? (size_t)ws_problem_arg_bytes(job->problem, i,
                                                      &run->shape, job->layout)
                       : 0;
    if (bytes && !left[i])
      left[i] = memcpy(ws_arena_alloc(job->arena, bytes), data[i], bytes);
    else if (bytes)
      same &= !memcmp(left[i], data[i], bytes);
  }
  if (!same)
    ws__fault(WS_FAULT_WRONG_RESULT, NULL,
              "%s: waves up and waves down leave different results; a "
              "reference must do the same each time",
              ws_shape_named(job->arena, &run->shape));
  return same;
}

static bool run_is_right(sanitize_job *job, const ws_run *run,
                         const ws_prepared *prepared, void *const *data) {
  if (run->spots)
    return spots_right(job, run, data);
  check_written();
  if (run->alone)
    return left_is_same(job, run, data, job->left);
  return result_is_right(job, run, prepared, data);
}

/* true: the result is right, whatever was found on the way. */
static bool execute_prepared(sanitize_job *job, const ws_run *run,
                             const ws_prepared *prepared,
                             ws_run_result *out_result) {
  void *data[WS_PROBLEM_MAX_ARGS];
  double start = ws_clock_ms();
  sanitizer->lanes.stopped = false;
  sanitizer->launch = NULL;
  sanitizer->ran_count = 0;
  ws__memory_begin_run();
  make_buffers(job, run, prepared, data);
  *out_result = (ws_run_result){
      .shape = run->shape, .launch_count = job->candidate->tmpl->launch_count};
  run_launches(job, run, data, out_result);
  count_time(&start, &sanitizer->times.run);
  bool right =
      !sanitizer->lanes.stopped && run_is_right(job, run, prepared, data);
  count_time(&start, &sanitizer->times.compare);
  ws__memory_drop_buffers();
  return right;
}

/* Whether memory for a run of spots is there, at eight bytes of notes for each
 * that may be written. */
static bool fits(const sanitize_job *job, const ws_run *run) {
  const int64_t most_bytes = 128 << 20;
  int64_t bytes = workspace_bytes(job, run);
  for (int i = 0; i < job->problem->arg_count; i++)
    if (ws_arg_is_result(job->problem->args[i].role))
      bytes += ws_problem_arg_bytes(job->problem, i, &run->shape, job->layout);
  return bytes <= most_bytes;
}

static bool execute(sanitize_job *job, const ws_run *run,
                    ws_run_result *out_result) {
  if (!run->spots)
    return execute_prepared(
        job, run,
        ws__prepared_get(job->problem, job->layout, &run->shape, run->seed),
        out_result);
  if (!fits(job, run))
    return true;
  ws_prepared inputs =
      ws__prepared_inputs(job->problem, job->layout, &run->shape, run->seed);
  bool right = execute_prepared(job, run, &inputs, out_result);
  ws__prepared_discard(&inputs);
  return right;
}

/* A run alone for the second time, the waves in the other order. */
static bool execute_again(sanitize_job *job, const ws_run *run) {
  ws_run other = *run;
  ws_run_result ignored;
  other.order = run->order == WS_WAVES_UP ? WS_WAVES_DOWN : WS_WAVES_UP;
  bool right = execute(job, &other, &ignored);
  memset(job->left, 0, sizeof job->left);
  return right;
}

/* The run again, with private memory watched. */
static void diagnose(sanitize_job *job, const ws_run *run) {
  ws_run_result ignored;
  ws__jit_unload(&job->program);
  sanitizer->diagnosing = true;
  if (load_program(job, true))
    execute(job, run, &ignored);
  sanitizer->diagnosing = false;
}

static void execute_all(sanitize_job *job, ws_run_result *out_results) {
  if (!load_program(job, false))
    return;
  for (int i = 0; i < job->run_count; i++) {
    const ws_run *run = &job->runs[i];
    ws_diag diag;
    if (ws_problem_check_shape(job->problem, &run->shape, &diag) != WS_OK) {
      ws__fault(WS_FAULT_BAD_LAUNCH, NULL, "%s", diag.text);
      return;
    }
    int before = sanitizer->findings->count;
    if (!run->alone && !ws_problem_is_comparable(job->problem)) {
      ws__fault(WS_FAULT_BAD_LAUNCH, NULL,
                "problem %s has no reference to compare results with; name a "
                "kernel with --reference",
                job->problem->name);
      return;
    }
    bool right = execute(job, run, &out_results[i]);
    if (right && run->alone)
      right = execute_again(job, run);
    if (!right && !run->spots)
      diagnose(job, run);
    if (sanitizer->findings->count > before)
      return;
  }
}

static int layout_of(const ws_candidate *candidate) {
  int index = ws_template_param_index(candidate->tmpl, "layout");
  return index < 0 ? 0 : (int)candidate->values[index];
}

bool ws_pass_sanitize(LLVMModuleRef module, const ws_candidate *candidate,
                      const ws_run *runs, int run_count, ws_arena *arena,
                      ws_run_result *out_results, ws_findings *findings) {
  sanitize_job job = {.module = module,
                      .candidate = candidate,
                      .problem = ws_problem_find(candidate->tmpl->problem),
                      .layout = layout_of(candidate),
                      .arena = arena,
                      .runs = runs,
                      .run_count = run_count};
  int before = findings->count;
  memset(out_results, 0, (size_t)run_count * sizeof *out_results);
  sanitizer->findings = findings;
  sanitizer->candidate = candidate;
  sanitizer->tmpl = candidate->tmpl;
  sanitizer->launch = NULL;
  sanitizer->times = (ws_sanitize_times){0};
  ws_sanitize_warm_up();
  if (!job.problem) {
    ws__fault(WS_FAULT_BAD_LAUNCH, NULL, "there is no problem \"%s\"",
              candidate->tmpl->problem);
    return false;
  }
  ws__fault_signals_install();
  execute_all(&job, out_results);
  ws__fault_signals_restore();
  ws__jit_unload(&job.program);
  return findings->count == before;
}
