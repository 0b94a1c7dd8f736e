/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What `wavesmith dispatch` and `wavesmith build` have in common: from where
 * kernels are taken, for which problem, under which name they are emitted.
 */
#ifndef WAVESMITH_EMIT_OPTIONS_H
#define WAVESMITH_EMIT_OPTIONS_H

#include "wavesmith/dispatch.h"
#include "wavesmith/options.h"
#include "wavesmith/target.h"

#include <stddef.h>

typedef struct emit_options {
  const char *source; /* the archive or folder */
  const char *name, *out, *problem_name, *layout, *target, *shapes;
  const char *provenance;      /* NULL: the best that is there */
  const char *terms_file;      /* NULL: the default terms */
  int max_kernels, max_leaves; /* 0: the emitter's default */
  bool check, json, help;
  /* by emit_options_settle */
  const ws_problem *problem;
  ws_shape_set shape_set; /* of that name; its shapes in the arena */
  const ws_target *for_target;
} emit_options;

#define EMIT_TEXT(member)                                                      \
  WS_OPTION_TEXT, .offset = offsetof(emit_options, member)
#define EMIT_COUNT(member)                                                     \
  WS_OPTION_INT, .offset = offsetof(emit_options, member), .low = 1,           \
                 .high = 1024
/* Rows of whoever takes times of kernels. */
#define EMIT_SOURCE_ROWS                                                       \
  {"problem", "P",                                                             \
   "a name, or its C file (default: the one that the kernels are for)",        \
   EMIT_TEXT(problem_name)},                                                   \
      {"layout", "L",                                                          \
       "the problem's layout (default: the one that the kernels are for)",     \
       EMIT_TEXT(layout)},                                                     \
      {"target", "T",                                                          \
       "gfx942 or sm_90a (default: the one that the kernels are for)",         \
       EMIT_TEXT(target), .choices = "gfx942 sm_90a"},                         \
      {"shapes", "S",                                                          \
       "shape sets, shapes or logs of shapes, with ';' between, that rules "   \
       "are fitted on and around (default: its first set)",                    \
       EMIT_TEXT(shapes)},                                                     \
      {"provenance", "P",                                                      \
       "which times decide: hip, cuda, sim, estimate, or a whole provenance "  \
       "(default: hip or cuda, else sim where it has times enough, else "       \
       "estimate)",                                                            \
       EMIT_TEXT(provenance), .choices = "hip cuda sim estimate"},             \
      {"terms", "FILE",                                                        \
       "terms of the time models, one expression a line, in place of the "     \
       "program's own (docs/dispatch.md)",                                     \
       EMIT_TEXT(terms_file)},                                                 \
      {"max-kernels", "N",                                                     \
       "at most N kernels are kept (default: 8 by estimates, 16 by times, "    \
       "64 by times on more than 64 shapes)",                                  \
       EMIT_COUNT(max_kernels)},                                               \
  {                                                                            \
    "json", NULL, "the result as JSON on stdout", WS_OPTION_FLAG,              \
        .offset = offsetof(emit_options, json)                                 \
  }
/* And of whoever emits. */
#define EMIT_OPTION_ROWS                                                       \
  {"name", "N",                                                                \
   "C identifier that the files and functions are named after (default: the "  \
   "problem's name)",                                                          \
   EMIT_TEXT(name)},                                                           \
      {"out", "DIR", "where the files go (default: .)", EMIT_TEXT(out)},       \
      {"max-leaves", "N", "at most N rules (default: 24)",                     \
       EMIT_COUNT(max_leaves)},                                                \
      EMIT_SOURCE_ROWS

/* source says what the command's one argument is ("archive"). WS_USAGE with a
 * sentence. After --help nothing but help is set. */
ws_status emit_options_parse(const ws_command *command, const char *source,
                             int argc, char **argv, emit_options *out,
                             ws_diag *diag) WS_MUST_CHECK;

/* The archive that source names; of a folder with a text archive one in memory.
 */
ws_status emit_options_open(const emit_options *options,
                            ws_archive **out_archive,
                            ws_diag *diag) WS_MUST_CHECK;

/* Finds what was asked for by name, and fills in the problem, target and layout
 * that were not: those that the archive's kernels are for. WS_USAGE when they
 * are for several targets, of which --target must choose; of several layouts
 * the target's first counts. */
ws_status emit_options_settle(emit_options *options, ws_archive *archive,
                              ws_arena *arena, ws_diag *diag) WS_MUST_CHECK;

/* The recorded times of the entries on the shape set, or, without them,
 * estimates on the training shapes; entries that do not take part are dropped.
 * And the terms of terms_file, with a line in the log for each that applies to
 * none of the kernels. What out_input points to is in the arena. */
ws_status emit_options_input(const emit_options *options, ws_archive *archive,
                             ws_arena *arena, ws_dispatch_entry *entries,
                             int *entry_count, ws_matrix *out_matrix,
                             ws_selection_input *out_input,
                             ws_diag *diag) WS_MUST_CHECK;

/* Emits from the recorded times of the entries on the shape set, or, without
 * them, from estimates on the training shapes. Entries that do not take part
 * are dropped. */
ws_status emit_entries(const emit_options *options, ws_archive *archive,
                       ws_arena *arena, ws_dispatch_entry *entries,
                       int *entry_count, ws_matrix *out_training,
                       ws_dispatch_report *out_report,
                       ws_diag *diag) WS_MUST_CHECK;

#endif
