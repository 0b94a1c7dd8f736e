/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between an archive and a batch: candidates out to be measured, answers in.
 *
 * Threads: as its archive and its batch.
 */
#ifndef WAVESMITH_BATCH_TRANSFER_H
#define WAVESMITH_BATCH_TRANSFER_H

#include "wavesmith/archive.h"
#include "wavesmith/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_batch_export_options {
  /* What is exported: the candidates named (ids or unique prefixes), or the
   * best by score, or all that are ok, or, with none of these, those that have
   * no time of a card yet. */
  const char *const *ids;
  int id_count;
  int best; /* 0: not asked for */
  bool all;
  const char *target; /* NULL: what all of them are for */
  const char *device; /* NULL: the target's */
  const char *shapes; /* shape set, or shapes; NULL: the first set */
  uint64_t seed;      /* of the inputs; one for all, so that cards keep them */
  /* Compiles what the archive recorded without its code object (an import has
   * none), into the arena; NULL: such candidates are left out. */
  ws_status (*compile)(void *context, ws_archive *archive, ws_arena *arena,
                       const ws_candidate *candidate, ws_build_result *build,
                       ws_diag *diag);
  void *context;
} ws_batch_export_options;

typedef struct ws_batch_exported {
  const char *target, *device;
  int candidates, added, known; /* jobs that are new; that were there */
  int without_code, unsuitable; /* left out: no code object in the archive;
                                 * takes none of the shapes */
} ws_batch_exported;
/* Verification on edge shapes and on a large one, then times, the least work
 * first. WS_INPUT: an unknown candidate, nothing to export, several targets. */
ws_status ws_batch_export(ws_archive *archive, ws_arena *arena,
                          const char *folder,
                          const ws_batch_export_options *options,
                          ws_batch_exported *out_exported,
                          ws_diag *diag) WS_MUST_CHECK;

typedef struct ws_batch_imported {
  int jobs, answers;
  int times;         /* new in the archive */
  int refuted;       /* candidates that were ok before */
  int device_faults; /* a simulator died or was too slow: says nothing */
} ws_batch_imported;
/* Verdicts and times of every answer, in one transaction. WS_INPUT: an unknown
 * candidate, one of another target or other code, an altered job; nothing is
 * written then. */
ws_status ws_batch_import(ws_archive *archive, const char *folder,
                          ws_batch_imported *out_imported,
                          ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
