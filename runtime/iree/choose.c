/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which of an archive's kernels stands for a shape: the fastest there of those
 * that IREE has words for. Times of two provenances are never compared.
 */
#include "wavesmith/iree.h"

#include <string.h>

ws_status ws_iree_sort(const ws_iree_contraction *contraction,
                       ws_dispatch_entry *entries, int count, int *out_count,
                       ws_diag *diag) {
  ws_diag why = {""}, first = {""};
  int fits = 0;
  for (int i = 0; i < count; i++) {
    const ws_dispatch_entry entry = entries[i];
    ws_iree_config config;
    if (ws_iree_config_of(contraction, entry.candidate, &config, &why) ==
        WS_OK) {
      memmove(&entries[fits + 1], &entries[fits],
              (size_t)(i - fits) * sizeof *entries);
      entries[fits++] = entry;
    } else if (!first.text[0])
      first = why;
  }
  *out_count = fits;
  if (fits)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "IREE has no words for any of the %d kernels of %s, layout "
                 "%s; for the first because %s",
                 count, contraction->problem->name, contraction->layout,
                 first.text);
}

/* ---- times ---- */

typedef struct recorded { /* of one entry */
  ws_measurement *items;
  int count;
} recorded;

static double time_on(const recorded *times, const ws_shape *shape,
                      const char *provenance) {
  for (int i = 0; i < times->count; i++)
    if (!strcmp(times->items[i].provenance, provenance) &&
        ws_shape_same(&times->items[i].shape, shape))
      return times->items[i].us;
  return 0;
}

/* -1: none was timed. */
static int fastest(const recorded *times, int count, const ws_shape *shape,
                   const char *provenance, double *out_us) {
  int best = -1;
  for (int e = 0; e < count; e++) {
    const double us = time_on(&times[e], shape, provenance);
    if (us > 0 && (best < 0 || us < *out_us)) {
      best = e;
      *out_us = us;
    }
  }
  return best;
}

/* "sim" of "sim:gfx942-model-5:MI300X", or the whole of it. */
static bool is_wanted(const char *provenance, const char *wanted) {
  if (!wanted)
    return strcmp(ws_provenance_word(provenance), "estimated") != 0;
  const size_t size = strlen(wanted);
  return !strncmp(provenance, wanted, size) &&
         (provenance[size] == ':' || !provenance[size]);
}

static void choose_one(const ws_dispatch_entry *entries, int count,
                       int config_count, const recorded *times,
                       const char *provenance, ws_iree_choice *choice) {
  const int best =
      fastest(times, config_count, &choice->shape, provenance, &choice->us);
  if (best < 0)
    return;
  const int first =
      fastest(times, count, &choice->shape, provenance, &choice->fastest_us);
  choice->candidate = entries[best].candidate;
  choice->fastest = entries[first].candidate;
  choice->provenance = provenance;
}

ws_status ws_iree_choose(ws_archive *archive, ws_arena *arena,
                         const ws_dispatch_entry *entries, int count,
                         int config_count, const char *wanted,
                         const ws_shape *shapes, int shape_count,
                         ws_iree_choice *out_choices, ws_diag *diag) {
  const char *const *provenances;
  int provenance_count;
  recorded *times = ws_arena_alloc(arena, (size_t)count * sizeof *times);
  for (int e = 0; e < count; e++)
    WS_TRY(ws_archive_get_measurements(archive, arena,
                                       entries[e].candidate->id.hex,
                                       &times[e].items, &times[e].count, diag));
  WS_TRY(ws_archive_list_provenances(archive, arena, &provenances,
                                     &provenance_count, diag));
  for (int s = 0; s < shape_count; s++) {
    ws_iree_choice *choice = &out_choices[s];
    *choice = (ws_iree_choice){.shape = shapes[s]};
    for (int p = 0; p < provenance_count && !choice->candidate; p++)
      if (is_wanted(provenances[p], wanted))
        choose_one(entries, count, config_count, times, provenances[p], choice);
  }
  return WS_OK;
}
