/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Differences of two texts by lines, in the unified form that diff and patch
 * speak.
 */
#ifndef WAVESMITH_TEXT_DIFF_H
#define WAVESMITH_TEXT_DIFF_H

#include "wavesmith/base.h"

/* Appends nothing when the texts are equal. WS_ENVIRONMENT: diff(1) is missing.
 */
ws_status text_diff(ws_strbuf *out, const char *old_name, const char *new_name,
                    const char *old_text, const char *new_text,
                    ws_diag *diag) WS_MUST_CHECK;

#endif
