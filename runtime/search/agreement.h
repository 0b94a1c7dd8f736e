/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How often bound model and device disagree.
 */
#ifndef WAVESMITH_SEARCH_AGREEMENT_H
#define WAVESMITH_SEARCH_AGREEMENT_H

#include "task.h"

/* Over all candidates of the task in the archive. */
ws_status ws__agreement(ws_archive *archive, ws_arena *arena,
                        const ws__task *task, const char *provenance,
                        ws_tune_agreement *out, ws_diag *diag) WS_MUST_CHECK;

#endif
