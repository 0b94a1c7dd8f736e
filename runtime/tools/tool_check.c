/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith check`: judges one candidate through the compile server. The
 * candidate is a template with parameters, variants and bodies from the
 * command line, or one of an archive; --raw lowers any module's kernels.
 */
#include "check_report.h"
#include "tools.h"
#include "wavesmith/archive.h"
#include "wavesmith/reference.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SHAPES = 1024 };

typedef struct check_options {
  const char *subject; /* template, module or candidate id */
  const char *archive, *layout, *emit, *target;
  const char *shapes[MAX_SHAPES]; /* as given */
  int shape_count;
  const char *bodies[WS_TEMPLATE_MAX_REGIONS];
  int body_count;
  ws_strbuf assignments, variants; /* joined by ';' */
  int stages;
  bool lines, json, raw, thorough;
  const char *device; /* for thorough; NULL: the target's */
  uint64_t seed;
} check_options;

typedef struct check_job {
  const check_options *options;
  ws_arena *arena;
  ws_compiler *compiler;
  const char *file;
  char *text;
  size_t size;
  ws_candidate *candidate; /* NULL for a raw module */
  ws_build_result result;
  check_estimate *estimates;
  int estimate_count;
  ws_run runs[WS_STANDARD_RUNS + WS_MAX_DIMS + WS_COVERAGE_FAR];
  int run_count;
  ws_coverage_ran covered;
} check_job;

/* ---- options ----------------------------------------------------------------
 */

static const struct {
  const char *name;
  int stages;
} stage_names[] = {
    {"check", WS_STAGE_CHECK},
    {"sanitize", WS_STAGE_CHECK | WS_STAGE_SANITIZE},
    {"lower", WS_STAGE_CHECK | WS_STAGE_LOWER},
    {"all", WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER},
};

static ws_status parse_stage(const char *text, int *out, ws_diag *diag) {
  for (size_t i = 0; i < sizeof stage_names / sizeof stage_names[0]; i++)
    if (!strcmp(text, stage_names[i].name)) {
      *out = stage_names[i].stages;
      return WS_OK;
    }
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "--stage is check, sanitize, lower or all, not '%s'", text);
}

static void join(ws_strbuf *buffer, const char *text) {
  ws_strbuf_printf(buffer, "%s%s", buffer->size ? ";" : "", text);
}

static ws_status append(const char **items, int limit, int *count,
                        const char *text, ws_diag *diag) {
  if (*count == limit)
    return ws_fail(diag, WS_USAGE, NULL, 0, "'%s' is one option too many",
                   text);
  items[(*count)++] = text;
  return WS_OK;
}

static ws_status read_set(const ws_option *option, const char *value, void *out,
                          ws_diag *diag) {
  (void)option, (void)diag;
  join(&((check_options *)out)->assignments, value);
  return WS_OK;
}

static ws_status read_variant(const ws_option *option, const char *value,
                              void *out, ws_diag *diag) {
  (void)option, (void)diag;
  join(&((check_options *)out)->variants, value);
  return WS_OK;
}

static ws_status read_body(const ws_option *option, const char *value,
                           void *out, ws_diag *diag) {
  check_options *options = out;
  (void)option;
  return append(options->bodies, WS_TEMPLATE_MAX_REGIONS, &options->body_count,
                value, diag);
}

static ws_status read_shape(const ws_option *option, const char *value,
                            void *out, ws_diag *diag) {
  check_options *options = out;
  (void)option;
  return append(options->shapes, MAX_SHAPES, &options->shape_count, value,
                diag);
}

static ws_status read_stage(const ws_option *option, const char *value,
                            void *out, ws_diag *diag) {
  (void)option;
  return parse_stage(value, &((check_options *)out)->stages, diag);
}

static ws_status read_seed(const ws_option *option, const char *value,
                           void *out, ws_diag *diag) {
  char *end;
  (void)option;
  ((check_options *)out)->seed = strtoull(value, &end, 10);
  return *value >= '0' && *value <= '9' && !*end
             ? WS_OK
             : ws_fail(diag, WS_USAGE, NULL, 0,
                       "--seed is an integer from 0, not '%s'", value);
}

#define AT(member) .offset = offsetof(check_options, member)
static const ws_option rows[] = {
    TOOL_PROBLEM_ROW,
    TOOL_REFERENCE_ROWS,
    {"set", "a=1;b=2", "parameters that differ from the defaults",
     WS_OPTION_READ, .read = read_set},
    {"variant", "REGION=FUNCTION", "a shipped alternative for a region",
     WS_OPTION_READ, .read = read_variant},
    {"body", "REGION=FILE",
     "a body of one's own: LLVM IR (.ll), MLIR (.mlir), OpenCL C (.cl) or HIP "
     "C++ (.hip)",
     WS_OPTION_READ, .read = read_body},
    {"layout", "L", "the problem's layout, by name", WS_OPTION_TEXT,
     AT(layout)},
    {"shape", "A,B | a=A,b=B | SET",
     "estimate the time on a shape, or on a shape set", WS_OPTION_READ,
     .read = read_shape},
    {"stage", "S", "check, sanitize, lower or all (default)", WS_OPTION_READ,
     .read = read_stage, .choices = "check sanitize lower all"},
    {"emit", "FILE", "write the code object: ELF of amdhsa, cubin or PTX",
     WS_OPTION_TEXT, AT(emit)},
    {"thorough", NULL,
     "also run it on a device (gfx942: the simulator) on shapes that cover all "
     "pairs of classes of the dimensions and of strides",
     WS_OPTION_FLAG, AT(thorough)},
    {"device", "KIND", "for --thorough, and for what the sanitizer cannot run",
     WS_OPTION_TEXT, AT(device),
     .choices = "cuda hip sim sim:mi300a sim:mi308x sim:mi325x"},
    {"seed", "N", "draws other shapes (default 1)", WS_OPTION_READ,
     .read = read_seed},
    {"lines", NULL, "keep the template's lines in it, for profiles",
     WS_OPTION_FLAG, AT(lines)},
    {"target", "T", "for --raw (default: gfx942)", WS_OPTION_TEXT, AT(target),
     .choices = "gfx942 sm_90a"},
    {"archive", "DB", "the candidate is one of this archive", WS_OPTION_TEXT,
     AT(archive)},
    {"raw", NULL, "any module, which is no template", WS_OPTION_FLAG, AT(raw)},
    {"json", NULL, "everything as JSON on stdout", WS_OPTION_FLAG, AT(json)},
    WS_OPTIONS_END};

const ws_command check_command = {
    .program = "wavesmith check",
    .purpose = "judge one candidate: check, sanitize, lower",
    .usage = "TEMPLATE [OPTION ...]\n"
             "--archive DB CANDIDATE_ID [OPTION ...]\n"
             "--raw FILE.ll [OPTION ...]",
    .about =
        "Static check, IR sanitizer and code object of one candidate. (sm_90a "
        "has\n"
        "no IR sanitizer: a device judges its results.) What the sanitizer has "
        "no\n"
        "model of runs on the simulator instead, on the same shapes.",
    .options = rows,
    .after = "Exit code 1: the verdict is not ok, nothing could verify it, or "
             "a shape has no\n"
             "estimate."};

static ws_status check_combination(const check_options *options,
                                   ws_diag *diag) {
  if (!options->subject)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "name one template, module or candidate; see `wavesmith "
                   "check --help`");
  bool changes = options->assignments.size || options->variants.size ||
                 options->body_count || options->layout;
  if (options->raw && (options->archive || changes || options->shape_count))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--raw takes a module as it is: no parameters, bodies, "
                   "shapes or archive");
  if (options->archive && changes)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--archive takes a candidate as it is: no --set, "
                   "--variant, --body or --layout");
  if (options->thorough &&
      (options->raw || !(options->stages & WS_STAGE_LOWER)))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--thorough runs a candidate's code object: not with --raw, "
                   "--stage check or sanitize");
  if (options->shape_count &&
      (options->stages & (WS_STAGE_SANITIZE | WS_STAGE_LOWER)) !=
          (WS_STAGE_SANITIZE | WS_STAGE_LOWER))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--shape needs all stages: the estimate is made from what "
                   "they find");
  return WS_OK;
}

/* *out_help: --help was given. */
static ws_status parse_options(int argc, char **argv, check_options *out,
                               bool *out_help, ws_diag *diag) {
  ws_words words;
  out->target = "gfx942";
  out->seed = 1;
  out->stages = stage_names[3].stages;
  WS_TRY(ws_options_parse(&check_command, argc, argv, out, &words, diag));
  *out_help = words.help;
  if (words.help)
    return WS_OK;
  out->subject = words.count == 1 ? words.items[0] : NULL;
  return check_combination(out, diag);
}

/* ---- the candidate ----------------------------------------------------------
 */

static ws_status set_layout(check_job *job, const char *name, ws_diag *diag) {
  const ws_template *tmpl = job->candidate->tmpl;
  const ws_problem *problem = ws_problem_find(tmpl->problem);
  if (!name)
    return WS_OK;
  int layout = problem ? ws_problem_layout_index(problem, name) : -1;
  if (layout < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0, "problem %s has no layout '%s'",
                   tmpl->problem, name);
  return ws_candidate_set(
      job->candidate, ws_arena_printf(job->arena, "layout=%d", layout), diag);
}

/* "region=FILE.ll" */
static ws_status set_body(check_job *job, const char *option, ws_diag *diag) {
  const char *equal = strchr(option, '=');
  const char *file = equal ? equal + 1 : NULL;
  const char *dot = file ? strrchr(file, '.') : NULL;
  const char *language = dot ? ws_language_of_ending(dot + 1) : NULL;
  size_t size;
  char *text;
  if (!language)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--body is REGION=FILE with FILE ending in .ll, .mlir, .cl "
                   "or .hip, not "
                   "'%s'",
                   option);
  const char *name =
      ws_arena_strndup(job->arena, option, (size_t)(equal - option));
  int region = ws_template_region_index(job->candidate->tmpl, name);
  if (region < 0)
    return ws_fail(diag, WS_INPUT, job->file, 0, "there is no region '%s'",
                   name);
  WS_TRY(ws_file_read(job->arena, file, &text, &size, diag));
  job->candidate->bodies[region] =
      (ws_body){.variant = -1, .language = language, .text = text};
  ws_candidate_update_id(job->candidate);
  return WS_OK;
}

static ws_status make_candidate(check_job *job, ws_diag *diag) {
  const check_options *options = job->options;
  const ws_template *tmpl;
  job->file = options->subject;
  WS_TRY(ws_file_read(job->arena, job->file, &job->text, &job->size, diag));
  if (options->raw)
    return WS_OK;
  WS_TRY(ws_compiler_describe(job->compiler, job->arena, job->file, job->text,
                              job->size, &tmpl, diag));
  job->candidate = ws_candidate_create(job->arena, tmpl);
  WS_TRY(set_layout(job, options->layout, diag));
  WS_TRY(ws_candidate_set(job->candidate, options->assignments.data, diag));
  WS_TRY(
      ws_candidate_set_variants(job->candidate, options->variants.data, diag));
  for (int i = 0; i < options->body_count; i++)
    WS_TRY(set_body(job, options->bodies[i], diag));
  return WS_OK;
}

static ws_status read_archived(check_job *job, ws_archive *archive,
                               ws_diag *diag) {
  ws_candidate_row row;
  ws_archived_template archived;
  const ws_template *tmpl;
  bool found;
  WS_TRY(ws_archive_get_candidate(archive, job->arena, job->options->subject,
                                  &found, &row, diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, job->options->archive, 0,
                   "there is no candidate '%s'; `wavesmith archive ls` lists "
                   "them",
                   job->options->subject);
  WS_TRY(ws_archive_get_template(archive, job->arena, row.template_hash, &tmpl,
                                 &archived, diag));
  job->file = archived.file;
  job->text = ws_arena_strdup(job->arena, archived.text);
  job->size = strlen(job->text);
  return ws_archive_load_candidate(archive, job->arena, &row, tmpl,
                                   &job->candidate, diag);
}

static ws_status load_archived(check_job *job, ws_diag *diag) {
  ws_archive *archive;
  WS_TRY(ws_archive_open(job->options->archive, false, &archive, diag));
  ws_status status = read_archived(job, archive, diag);
  ws_archive_close(archive);
  return status;
}

/* ---- build and estimate
 * ------------------------------------------------------- */

/* The bodies that carry text, as a request wants them. */
static ws_build_request raw_request(const check_job *job) {
  return (ws_build_request){.template_file = job->file,
                            .template_text = job->text,
                            .template_size = job->size,
                            .target = job->options->target,
                            .assignments = "",
                            .variants = "",
                            .stages = WS_STAGE_RAW,
                            .limits = ws_limits_default};
}

static int layout_of(const ws_candidate *candidate) {
  int index = ws_template_param_index(candidate->tmpl, "layout");
  return index < 0 ? 0 : (int)candidate->values[index];
}

/* The standard ones, and spots where the shape set goes furthest. */
static void add_runs(check_job *job, const ws_problem *problem) {
  job->run_count = ws_standard_runs(job->candidate, job->runs);
  job->run_count +=
      ws_coverage_spots(problem, job->candidate, job->options->seed, job->runs,
                        job->run_count, &job->runs[job->run_count]);
}

static void add_far_runs(check_job *job, const ws_problem *problem,
                         ws_build_request *request) {
  job->run_count +=
      ws_coverage_far(problem, layout_of(job->candidate), job->candidate,
                      job->options->seed, &job->runs[job->run_count]);
  request->limits = (ws_limits){
      .wall_ms = 120000, .cpu_ms = 120000, .memory_mb = WS_COVERAGE_FAR_MB};
}

static ws_status build(check_job *job, ws_diag *diag) {
  ws_build_request request = raw_request(job);
  if (job->candidate) {
    request =
        ws_build_request_of(job->arena, job->candidate, job->text, job->size);
    const ws_problem *problem = ws_problem_find(job->candidate->tmpl->problem);
    request.stages = job->options->stages | WS_STAGE_BRANCHES;
    if (problem)
      add_runs(job, problem);
    if (problem && job->options->thorough)
      add_far_runs(job, problem, &request);
    request.runs = job->runs;
    request.run_count = job->run_count;
  }
  request.stages |= job->options->lines ? WS_STAGE_LINES : 0;
  return ws_compiler_build(job->compiler, job->arena, &request, &job->result,
                           diag);
}

/* Appends to shapes. */
static ws_status read_shapes(check_job *job, const ws_problem *problem,
                             const char *text, ws_shape *shapes, int *count,
                             ws_diag *diag) {
  ws_shape_set set;
  WS_TRY(ws_problem_read_shapes(problem, job->options->layout, job->arena, text,
                                &set, diag));
  if (set.count > MAX_SHAPES - *count)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--shape: more than %d shapes",
                   MAX_SHAPES);
  for (int i = 0; i < set.count; i++)
    shapes[(*count)++] = set.shapes[i];
  return WS_OK;
}

/* Before the build, so that a typing error costs nothing. */
static ws_status list_shapes(check_job *job, ws_diag *diag) {
  const check_options *options = job->options;
  ws_shape shapes[MAX_SHAPES];
  if (!options->shape_count)
    return WS_OK;
  const ws_target *target = ws_target_find(job->candidate->tmpl->target);
  if (target && !target->has_host_model)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--shape: there is no estimate for %s, which only a device "
                   "can time; see `wavesmith bench`",
                   target->name);
  const ws_problem *problem = ws_problem_find(job->candidate->tmpl->problem);
  if (!problem)
    return ws_fail(diag, WS_INPUT, job->file, 0, "unknown problem '%s'",
                   job->candidate->tmpl->problem);
  for (int i = 0; i < options->shape_count; i++)
    WS_TRY(read_shapes(job, problem, options->shapes[i], shapes,
                       &job->estimate_count, diag));
  job->estimates = ws_arena_alloc(job->arena, (size_t)job->estimate_count *
                                                  sizeof *job->estimates);
  for (int i = 0; i < job->estimate_count; i++)
    job->estimates[i].shape = shapes[i];
  return WS_OK;
}

/* false when a shape has none. */
static bool estimate(check_job *job) {
  bool all = true;
  if (job->result.verdict != WS_VERDICT_OK)
    job->estimate_count = 0;
  for (int i = 0; i < job->estimate_count; i++) {
    check_estimate *item = &job->estimates[i];
    item->known =
        ws_model_estimate(&ws_mi300x,
                          ws_problem_find(job->candidate->tmpl->problem),
                          job->candidate, &job->result, &item->shape,
                          &item->estimate, &item->why_not) == WS_OK;
    all &= item->known;
  }
  return all;
}

/* ---- the command ------------------------------------------------------------
 */

/* What was built and is right so far; without a code object nothing is run, and
 * the sanitizer's shapes are all. */
static ws_status cover(check_job *job, ws_diag *diag) {
  const ws_coverage_run_request request = {.device = job->options->device,
                                           .candidate = job->candidate,
                                           .seed = job->options->seed,
                                           .thorough = job->options->thorough,
                                           .runs = job->runs,
                                           .run_count = job->run_count};
  if (!job->result.code_object_size || !job->candidate ||
      job->result.verdict != WS_VERDICT_OK)
    return WS_OK;
  return ws_coverage_run(job->arena, &request, &job->result, &job->covered,
                         diag);
}

static ws_status find_candidate(check_job *job, ws_diag *diag) {
  WS_TRY((job->options->archive ? load_archived : make_candidate)(job, diag));
  return job->candidate
             ? ws_problem_list_check(tool_named_problems(), job->file,
                                     job->candidate->tmpl->problem, diag)
             : WS_OK;
}

static ws_status judge(check_job *job, ws_diag *diag) {
  WS_TRY(ws_compiler_start(&job->compiler, diag));
  WS_TRY(find_candidate(job, diag));
  WS_TRY(list_shapes(job, diag));
  WS_TRY(build(job, diag));
  if (job->candidate && ws_problem_find(job->candidate->tmpl->problem))
    ws_reference_warn_of_same(ws_problem_find(job->candidate->tmpl->problem),
                              &job->result);
  if (job->options->emit && job->result.code_object)
    WS_TRY(ws_file_write_atomic(job->options->emit, job->result.code_object,
                                job->result.code_object_size, diag));
  return cover(job, diag);
}

static int run(const check_options *options) {
  ws_diag diag = {""};
  check_job job = {.options = options, .arena = ws_arena_create()};
  ws_status status = judge(&job, &diag);
  ws_compiler_stop(job.compiler);
  int code;
  if (status != WS_OK) {
    code = tool_fail("check", status, &diag);
  } else {
    bool judged = ws_build_is_modelled(&job.result) || job.covered.proven;
    bool good = estimate(&job) && job.result.verdict == WS_VERDICT_OK && judged;
    const char *target =
        job.candidate ? job.candidate->tmpl->target : options->target;
    const check_report report = {job.candidate,      ws_target_find(target),
                                 &job.result,        job.estimates,
                                 job.estimate_count, job.covered,
                                 !options->thorough};
    (options->json ? check_report_print_json : check_report_print)(&report);
    code = good ? 0 : ws_status_exit_code(WS_INPUT);
  }
  ws_arena_destroy(job.arena);
  return code;
}

int tool_check(int argc, char **argv) {
  check_options options = {0};
  ws_diag diag = {""};
  bool help = false;
  int code = 0;
  ws_strbuf_init(&options.assignments);
  ws_strbuf_init(&options.variants);
  ws_status status = parse_options(argc, argv, &options, &help, &diag);
  if (status != WS_OK)
    code = tool_fail("check", status, &diag);
  else if (help)
    tool_help(&check_command);
  else
    code = run(&options);
  ws_strbuf_deinit(&options.assignments);
  ws_strbuf_deinit(&options.variants);
  return code;
}
