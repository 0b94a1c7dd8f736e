/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What became of requests and candidates, what it cost, and whether the effects
 * that models claimed came true.
 */
#ifndef WAVESMITH_REPORT_FLOW_H
#define WAVESMITH_REPORT_FLOW_H

#include "source.h"

struct cJSON;
/* {"verdicts":{..},"links":[[from, to, count], ..]} */
struct cJSON *ws__report_flow(const ws__report_source *source);
/* One object per member and kind of request. */
struct cJSON *ws__report_cost(const ws__report_source *source);
/* {"open":N,"points":[{..}, ..]}: claims with an outcome; open: without. */
struct cJSON *ws__report_claims(const ws__report_source *source);

#endif
