/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Whether there are estimates of a run's candidates, and whether they order
 * them as its device does: a few spread over the space are built and timed
 * before the search begins.
 */
#ifndef WAVESMITH_SEARCH_PROBE_H
#define WAVESMITH_SEARCH_PROBE_H

#include "session.h"

/* *out_trusted: estimates may rank. *out_text: one line on why, in the
 * session's arena; "" where nothing was asked. The points follow from the run's
 * seed, and the search's own draws do not change. */
ws_status ws__probe_estimates(ws_session *s, bool *out_trusted,
                              const char **out_text) WS_MUST_CHECK;

/* *out_modelled: the sanitizer can run the template's defaults, so that there
 * are estimates at all; else *out_text says what it cannot. */
ws_status ws__probe_model(ws_session *s, bool *out_modelled,
                          const char **out_text) WS_MUST_CHECK;

#endif
