/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See emit_options.h.
 */
#include "emit_options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name;
  size_t offset;
} text_options[] = {{"name", offsetof(emit_options, name)},
                    {"out", offsetof(emit_options, out)},
                    {"problem", offsetof(emit_options, problem_name)},
                    {"layout", offsetof(emit_options, layout)},
                    {"target", offsetof(emit_options, target)},
                    {"shapes", offsetof(emit_options, shapes)},
                    {"provenance", offsetof(emit_options, provenance)}};
enum {
  TEXT_OPTIONS = sizeof text_options / sizeof text_options[0],
  KERNELS = TEXT_OPTIONS,
  LEAVES,
  JSON,
  HELP,
  CHECK,
  OPTIONS
};

static ws_status parse_count(const char *name, const char *text, int *out,
                             ws_diag *diag) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < 1 || value > 1024)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "%s '%s' is not a number from 1 to 1024", name, text);
  *out = (int)value;
  return WS_OK;
}

static ws_status parse_option(int option, emit_options *out, ws_diag *diag) {
  if (option < TEXT_OPTIONS)
    memcpy((char *)out + text_options[option].offset, &optarg, sizeof optarg);
  else if (option == KERNELS)
    return parse_count("--max-kernels", optarg, &out->max_kernels, diag);
  else if (option == LEAVES)
    return parse_count("--max-leaves", optarg, &out->max_leaves, diag);
  else if (option == CHECK)
    out->check = true;
  else if (option == JSON)
    out->json = true;
  else
    out->help = true;
  return WS_OK;
}

static ws_status find_names(emit_options *out, ws_diag *diag) {
  out->problem = ws_problem_find(out->problem_name);
  if (!out->problem)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--problem %s: there is none",
                   out->problem_name);
  if (ws_problem_layout_index(out->problem, out->layout) < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--layout %s: %s has none such",
                   out->layout, out->problem_name);
  out->shape_set = ws_problem_shape_set(out->problem, out->shapes);
  if (!out->shape_set)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--shapes %s: %s has none such",
                   out->shapes, out->problem_name);
  return WS_OK;
}

ws_status emit_options_parse(const char *command, const char *source,
                             bool with_check, int argc, char **argv,
                             emit_options *out, ws_diag *diag) {
  struct option table[OPTIONS + 1] = {
      [KERNELS] = {"max-kernels", required_argument, NULL, KERNELS},
      [LEAVES] = {"max-leaves", required_argument, NULL, LEAVES},
      [JSON] = {"json", no_argument, NULL, JSON},
      [HELP] = {"help", no_argument, NULL, HELP}};
  for (int i = 0; i < TEXT_OPTIONS; i++)
    table[i] =
        (struct option){text_options[i].name, required_argument, NULL, i};
  if (with_check) /* last, so that the table ends before it otherwise */
    table[CHECK] = (struct option){"check", no_argument, NULL, CHECK};
  *out = (emit_options){.name = "fp8_gemm",
                        .out = ".",
                        .problem_name = "fp8_gemm_blockscale",
                        .layout = "kmajor",
                        .target = "gfx942",
                        .shapes = "contest"};
  opterr = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0) {
    if (option == '?' || option == ':')
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is unknown or lacks its value; `wavesmith %s "
                     "--help` lists the options",
                     argv[optind - 1], command);
    WS_TRY(parse_option(option, out, diag));
  }
  if (out->help)
    return WS_OK;
  if (optind + 1 != argc)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one %s; `wavesmith %s --help` shows how", source,
                   command);
  out->source = argv[optind];
  return find_names(out, diag);
}

static ws_status fill_matrix(const emit_options *options, ws_archive *archive,
                             ws_arena *arena, ws_dispatch_entry *entries,
                             int *entry_count, ws_matrix *out, ws_diag *diag) {
  const char *wanted = options->provenance;
  if (!wanted || strncmp(wanted, "estimate", strlen("estimate"))) {
    WS_TRY(ws_dispatch_measured(archive, arena, options->problem,
                                options->shape_set, wanted, entries,
                                entry_count, out, diag));
    if (out->provenance)
      return WS_OK;
    if (wanted)
      return ws_fail(diag, WS_INPUT, options->source, 0,
                     "no kernel that takes every shape has times of provenance "
                     "'%s' on all shapes of %s; `wavesmith tune` takes them",
                     wanted, options->shapes);
  }
  int shape_count;
  const ws_shape *shapes = ws_dispatch_training_shapes(
      arena, options->problem, options->shape_set, &shape_count);
  return ws_dispatch_estimate(arena, options->problem, entries, *entry_count,
                              shapes, shape_count, out, diag);
}

ws_status emit_entries(const emit_options *options, ws_archive *archive,
                       ws_arena *arena, ws_dispatch_entry *entries,
                       int *entry_count, ws_matrix *out_training,
                       ws_dispatch_report *out_report, ws_diag *diag) {
  WS_TRY(fill_matrix(options, archive, arena, entries, entry_count,
                     out_training, diag));
  const ws_dispatch_options emit = {.name = options->name,
                                    .output_dir = options->out,
                                    .max_portfolio = options->max_kernels,
                                    .max_leaves = options->max_leaves};
  return ws_dispatch_emit(arena, options->problem, options->layout,
                          options->target, entries, out_training, &emit,
                          out_report, diag);
}
