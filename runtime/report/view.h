/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A view: the candidates compared within one provenance, against one
 * reference. Times of two provenances never meet.
 */
#ifndef WAVESMITH_REPORT_VIEW_H
#define WAVESMITH_REPORT_VIEW_H

#include "source.h"

enum { WS__REPORT_TOP = 8 }; /* candidates shown in full */

typedef struct ws__report_view {
  int provenance, reference;
  const char *role;       /* of the reference: "baseline", "default", "first" */
  const ws_shape *shapes; /* those that the reference has a time on */
  int shape_count;
  /* By candidate: geometric mean of reference / candidate over the shapes that
   * both have; 0: none, or the candidate does not rank. */
  const double *speedup;
  const int *shared; /* how many shapes these are; it ranks if all of them */
  int top[WS__REPORT_TOP]; /* the best that rank, best first */
  int top_count;
} ws__report_view;

/* All views, the default one first: provenances nearest to a card first, of
 * each the baseline, the template's default and, without these, the first
 * candidate that ranks as the reference. */
void ws__report_views(const ws__report_source *source,
                      ws__report_view **out_views, int *out_count);
bool ws__report_ranked(const ws__report_view *view, int candidate);

struct cJSON;
struct cJSON *ws__report_view_json(const ws__report_source *source,
                                   const ws__report_view *view);

#endif
