/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith build`: code objects and dispatch from a text archive. It imports
 * the folder into an archive in memory, compiles its kernels again, and goes on
 * as `wavesmith dispatch` does, so that the same candidates give the same
 * files. No network, GPU or model; this is what wavesmith_add_kernels() runs.
 */
#include "tools.h"
#include "wavesmith/dispatch.h"

#include <cjson/cJSON.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: wavesmith build FOLDER [OPTION ...]\n"
    "Compiles the kernels of a text archive (`wavesmith archive export`) and\n"
    "writes NAME.h, NAME.c, NAME.json and the code objects.\n\n"
    "  --name N         C identifier that the files and functions are named "
    "after\n"
    "                   (default: problem and layout)\n"
    "  --out DIR        where the files go (default: .)\n"
    "  --problem P      (default: fp8_gemm_blockscale)\n"
    "  --layout L       kmajor or mnmajor (default: kmajor)\n"
    "  --target T       (default: gfx942)\n"
    "  --shapes SET     shape set that rules are fitted on (default: contest)\n"
    "  --max-kernels N  at most N kernels are kept (default: 8)\n"
    "  --check          run every kernel through the IR sanitizer again\n"
    "  --json           the result as JSON on stdout\n";

typedef struct build_options {
  const char *folder, *name, *out, *problem, *layout, *target, *shapes;
  int max_kernels;
  bool check, json, help;
} build_options;

/* ---- options ---------------------------------------------------------- */

static const struct {
  const char *name;
  size_t offset;
} text_options[] = {{"name", offsetof(build_options, name)},
                    {"out", offsetof(build_options, out)},
                    {"problem", offsetof(build_options, problem)},
                    {"layout", offsetof(build_options, layout)},
                    {"target", offsetof(build_options, target)},
                    {"shapes", offsetof(build_options, shapes)}};
enum {
  TEXT_OPTIONS = sizeof text_options / sizeof text_options[0],
  KERNELS = TEXT_OPTIONS,
  CHECK,
  JSON,
  HELP,
  OPTIONS
};

static ws_status parse_count(const char *text, int *out, ws_diag *diag) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < 1 || value > 1024)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--max-kernels '%s' is not a number from 1 to 1024", text);
  *out = (int)value;
  return WS_OK;
}

static ws_status parse_option(int option, build_options *out, ws_diag *diag) {
  if (option < TEXT_OPTIONS)
    memcpy((char *)out + text_options[option].offset, &optarg, sizeof optarg);
  else if (option == KERNELS)
    return parse_count(optarg, &out->max_kernels, diag);
  else if (option == CHECK)
    out->check = true;
  else if (option == JSON)
    out->json = true;
  else
    out->help = true;
  return WS_OK;
}

static ws_status parse_options(int argc, char **argv, build_options *out,
                               ws_diag *diag) {
  struct option table[OPTIONS + 1] = {
      [KERNELS] = {"max-kernels", required_argument, NULL, KERNELS},
      [CHECK] = {"check", no_argument, NULL, CHECK},
      [JSON] = {"json", no_argument, NULL, JSON},
      [HELP] = {"help", no_argument, NULL, HELP}};
  for (int i = 0; i < TEXT_OPTIONS; i++)
    table[i] =
        (struct option){text_options[i].name, required_argument, NULL, i};
  *out = (build_options){.out = ".",
                         .problem = "fp8_gemm_blockscale",
                         .layout = "kmajor",
                         .target = "gfx942",
                         .shapes = "contest"};
  opterr = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0) {
    if (option == '?' || option == ':')
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is unknown or lacks its value; `wavesmith build "
                     "--help` lists the options",
                     argv[optind - 1]);
    WS_TRY(parse_option(option, out, diag));
  }
  if (!out->help && optind + 1 != argc)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one folder with a text archive; `wavesmith build "
                   "--help` shows how");
  out->folder = argv[optind];
  return WS_OK;
}

/* ---- work ------------------------------------------------------------- */

typedef struct build {
  build_options options;
  ws_arena *arena;
  ws_archive *archive;
  ws_compiler *compiler;
  const ws_problem *problem;
  const ws_shape_set *shape_set;
  int kernel_count; /* that the archive has */
  ws_rebuild_report rebuilt;
  ws_matrix matrix;
  ws_dispatch_entry *entries;
  ws_dispatch_report emitted;
} build;

static ws_status find_problem(build *b, ws_diag *diag) {
  const build_options *options = &b->options;
  b->problem = ws_problem_find(options->problem);
  if (!b->problem)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--problem %s: there is none",
                   options->problem);
  if (ws_problem_layout_index(b->problem, options->layout) < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--layout %s: %s has none such",
                   options->layout, options->problem);
  b->shape_set = ws_problem_shape_set(b->problem, options->shapes);
  if (!b->shape_set)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--shapes %s: %s has none such",
                   options->shapes, options->problem);
  if (!options->name)
    b->options.name =
        ws_arena_printf(b->arena, "%s_%s", options->problem, options->layout);
  return WS_OK;
}

static ws_status load(build *b, ws_diag *diag) {
  const build_options *options = &b->options;
  int imported, count;
  WS_TRY(ws_archive_open(":memory:", true, &b->archive, diag));
  WS_TRY(ws_archive_import(b->archive, options->folder, &imported, diag));
  WS_TRY(ws_dispatch_load_recorded(b->archive, b->arena, b->problem,
                                   options->layout, options->target,
                                   &b->entries, &count, diag));
  b->kernel_count = count;
  WS_TRY(ws_compiler_start(&b->compiler, diag));
  WS_TRY(ws_dispatch_rebuild(b->archive, b->compiler, b->arena, options->target,
                             options->check, b->entries, &count, &b->rebuilt,
                             diag));
  int shape_count;
  const ws_shape *shapes = ws_dispatch_training_shapes(
      b->arena, b->problem, b->shape_set, &shape_count);
  return ws_dispatch_estimate(b->arena, b->problem, b->entries, count, shapes,
                              shape_count, &b->matrix, diag);
}

static ws_status emit(build *b, ws_diag *diag) {
  const ws_dispatch_options options = {.name = b->options.name,
                                       .output_dir = b->options.out,
                                       .max_portfolio = b->options.max_kernels};
  return ws_dispatch_emit(b->arena, b->problem, b->options.layout,
                          b->options.target, b->entries, &b->matrix, &options,
                          &b->emitted, diag);
}

/* ---- result ----------------------------------------------------------- */

static void warn(const build *b) {
  const ws_rebuild_report *rebuilt = &b->rebuilt;
  if (rebuilt->changed)
    ws_log(WS_LOG_WARN,
           "%d of %d kernels compile to other code with %s than with %s, which "
           "recorded them; the choice among them is made anew",
           rebuilt->changed, b->kernel_count, rebuilt->compiler,
           rebuilt->recorded_compiler);
  if (rebuilt->dropped)
    ws_log(WS_LOG_WARN, "%d of %d kernels were left out, the first because: %s",
           rebuilt->dropped, b->kernel_count, rebuilt->dropped_reason);
}

static void print_text(const build *b) {
  const ws_dispatch_report *emitted = &b->emitted;
  printf("%s: %d kernels compiled with %s%s, %d chosen, %d rules\n",
         b->options.name, b->kernel_count - b->rebuilt.dropped,
         b->rebuilt.compiler, b->options.check ? " and checked" : "",
         emitted->portfolio_count, emitted->leaf_count);
  printf("loss on %d training shapes: %.3fx, at worst %.3fx (%s)\n",
         b->matrix.shape_count, emitted->train_geomean_regret,
         emitted->train_max_regret, b->matrix.provenance);
  for (int i = 0; i < emitted->file_count; i++)
    printf("  %s\n", emitted->files[i]);
}

static cJSON *portfolio_json(const build *b) {
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < b->emitted.portfolio_count; i++) {
    const ws_dispatch_entry *entry = &b->entries[b->emitted.portfolio[i]];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "candidate", entry->candidate->id.hex);
    cJSON_AddStringToObject(
        item, "parameters",
        ws_candidate_values_text(b->arena, entry->candidate));
    cJSON_AddStringToObject(item, "code_hash", entry->result->code_hash);
    cJSON_AddItemToArray(array, item);
  }
  return array;
}

static void print_json(const build *b) {
  const ws_dispatch_report *emitted = &b->emitted;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", b->options.name);
  cJSON_AddStringToObject(json, "compiler", b->rebuilt.compiler);
  cJSON_AddNumberToObject(json, "kernels", b->kernel_count);
  cJSON_AddNumberToObject(json, "changed", b->rebuilt.changed);
  cJSON_AddNumberToObject(json, "dropped", b->rebuilt.dropped);
  cJSON_AddBoolToObject(json, "checked", b->options.check);
  cJSON_AddItemToObject(json, "portfolio", portfolio_json(b));
  cJSON_AddNumberToObject(json, "rules", emitted->leaf_count);
  cJSON_AddNumberToObject(json, "training_shapes", b->matrix.shape_count);
  cJSON_AddNumberToObject(json, "training_geomean_regret",
                          emitted->train_geomean_regret);
  cJSON_AddNumberToObject(json, "training_max_regret",
                          emitted->train_max_regret);
  cJSON_AddStringToObject(json, "provenance", b->matrix.provenance);
  cJSON_AddItemToObject(
      json, "files",
      cJSON_CreateStringArray(emitted->files, emitted->file_count));
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
  cJSON_Delete(json);
}

int tool_build(int argc, char **argv) {
  ws_diag diag = {""};
  build b = {.arena = ws_arena_create()};
  ws_status status = parse_options(argc, argv, &b.options, &diag);
  if (status == WS_OK && b.options.help) {
    fputs(usage, stdout);
  } else if (status == WS_OK) {
    status = find_problem(&b, &diag);
    if (status == WS_OK)
      status = load(&b, &diag);
    if (status == WS_OK)
      status = emit(&b, &diag);
    if (status == WS_OK) {
      warn(&b);
      (b.options.json ? print_json : print_text)(&b);
    }
  }
  if (b.compiler)
    ws_compiler_stop(b.compiler);
  if (b.archive)
    ws_archive_close(b.archive);
  ws_arena_destroy(b.arena);
  return status == WS_OK ? 0 : tool_fail("build", status, &diag);
}
