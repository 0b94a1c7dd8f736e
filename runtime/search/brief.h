/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a model is told: the sections of a prompt, from the task, the results so
 * far and the archive. Deterministic: no times of day, no paths of this
 * machine, no order that depends on speed; numbers with the digits that matter.
 */
#ifndef WAVESMITH_SEARCH_BRIEF_H
#define WAVESMITH_SEARCH_BRIEF_H

#include "strategy.h"
#include "task.h"
#include "wavesmith/archive.h"

typedef struct ws__brief {
  ws_archive *archive; /* builds, findings, profiles, texts of templates */
  const ws__task *task;
  const ws__knowledge *knowledge;
  const ws_prompts *prompts;
  const char *provenance; /* of the results' times */
  const char *differs;    /* ws_device_info's of who took them; "" */
  int64_t run_id;         /* whose exchange has the index of a result */
  size_t budget_bytes;
} ws__brief;

/* A candidate that reaches less of the limit lacks a design, not a region's
 * rewrite. Tuned kernels reach more of it on all but the smallest shapes, where
 * a launch, which is not part of the limit, is most of the time. */
#define WS__FAR_FROM_LIMIT 0.02

/* Where a candidate's time goes: shares of wave-clocks by region. */
typedef struct ws__heat {
  double reach; /* limit's time / its own, geometric mean; 0: it has no times */
  bool known;   /* it has a profile; the rest is of that */
  const ws_template *tmpl; /* whose regions they are */
  double shares[WS_TEMPLATE_MAX_REGIONS];
  double lds_conflict; /* LDS clocks / clocks without bank conflicts; 0: not
                          known */
  bool dead[WS_TEMPLATE_MAX_REGIONS]; /* nothing of it ran there */
} ws__heat;

/* Of what the request's prompt would be about. */
ws_status ws__brief_heat(const ws__brief *brief, ws_arena *arena,
                         const ws__request *request, ws__heat *out,
                         ws_diag *diag) WS_MUST_CHECK;

ws_status ws__brief_prompt(const ws__brief *brief, ws_arena *arena,
                           const ws__request *request, ws_prompt *out_prompt,
                           ws_diag *diag) WS_MUST_CHECK;

#endif
