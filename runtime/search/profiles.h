/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Profiles of what a run ends with, for `wavesmith report` and who asks next.
 */
#ifndef WAVESMITH_SEARCH_PROFILES_H
#define WAVESMITH_SEARCH_PROFILES_H

#include "session.h"

/* Where a simulator times: profiles, with lines of the source, of the kernels
 * that stand best; those that have one keep it. Seconds at most. What fails is
 * logged, and the run goes on. */
void ws__profiles_take(ws_session *s);

#endif
