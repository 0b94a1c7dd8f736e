/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What `wavesmith dispatch` and `wavesmith build` have in common: from where
 * kernels are taken, for which problem, under which name they are emitted.
 */
#ifndef WAVESMITH_EMIT_OPTIONS_H
#define WAVESMITH_EMIT_OPTIONS_H

#include "wavesmith/dispatch.h"
#include "wavesmith/target.h"

typedef struct emit_options {
  const char *source; /* the archive or folder */
  const char *name, *out, *problem_name, *layout, *target, *shapes;
  const char *provenance;      /* NULL: the best that is there */
  int max_kernels, max_leaves; /* 0: the emitter's default */
  bool check, json, help;
  /* found by their names */
  const ws_problem *problem;
  const ws_shape_set *shape_set;
  const ws_target *for_target; /* by emit_options_settle */
} emit_options;

/* The lines of --help for what is parsed here. */
#define EMIT_OPTIONS_USAGE                                                     \
  "  --name N         C identifier that the files and functions are named "    \
  "after\n"                                                                    \
  "                   (default: fp8_gemm)\n"                                   \
  "  --out DIR        where the files go (default: .)\n"                       \
  "  --problem P      (default: fp8_gemm_blockscale)\n"                        \
  "  --layout L       kmajor, mnmajor or kmajor-ocp (default: the one that "   \
  "the\n"                                                                      \
  "                   kernels are for)\n"                                      \
  "  --target T       gfx942 or sm_90a (default: the one that the kernels "    \
  "are\n"                                                                      \
  "                   for)\n"                                                  \
  "  --shapes SET     shape set that rules are fitted on and around "          \
  "(default:\n"                                                                \
  "                   contest)\n"                                              \
  "  --provenance P   which times decide: hip, cuda, sim, estimate, or a "     \
  "whole\n"                                                                    \
  "                   provenance (default: hip or cuda, else sim where the "   \
  "kernels\n"                                                                  \
  "                   have times on all shapes of the set, else estimate)\n"   \
  "  --max-kernels N  at most N kernels are kept (default: 8; of times that "  \
  "a\n"                                                                        \
  "                   card took, 16)\n"                                        \
  "  --max-leaves N   at most N rules (default: 24)\n"                         \
  "  --json           the result as JSON on stdout\n"

/* command names itself in messages; source says what its one argument is
 * ("archive"); with_check: it knows --check. WS_USAGE with a sentence. After
 * --help nothing but help is set. */
ws_status emit_options_parse(const char *command, const char *source,
                             bool with_check, int argc, char **argv,
                             emit_options *out, ws_diag *diag) WS_MUST_CHECK;

/* Fills in the target and layout that were not asked for: those that the
 * archive's kernels are for. WS_USAGE when they are for several targets, of
 * which --target must choose; of several layouts the target's first counts. */
ws_status emit_options_settle(emit_options *options, ws_archive *archive,
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
