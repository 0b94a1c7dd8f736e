/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How `wavesmith check` shows what it found.
 */
#ifndef WAVESMITH_CHECK_REPORT_H
#define WAVESMITH_CHECK_REPORT_H

#include "wavesmith/bound_model.h"
#include "wavesmith/coverage.h"
#include "wavesmith/target.h"

typedef struct check_estimate {
  ws_shape shape;
  ws_estimate estimate;
  bool known;
  ws_diag why_not;
} check_estimate;

typedef struct check_report {
  const ws_candidate *candidate; /* NULL for a raw module */
  const ws_target *target;       /* NULL: a raw module's, not in our table */
  const ws_build_result *result;
  const check_estimate *estimates;
  int estimate_count;
  ws_coverage_ran covered;
  bool may_cover_more; /* --thorough was not given */
} check_report;

void check_report_print(const check_report *report);
void check_report_print_json(const check_report *report);

#endif
