/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of shipped problems, from shipped.def.
 */
#include "wavesmith/shipped.h"

#include <stddef.h>

#define SHIPPED(name)                                                          \
  const ws_problem_definition *wavesmith_problem_##name(void);
#include "shipped.def"
#undef SHIPPED

const ws_shipped_problem ws_shipped_problems[] = {
#define SHIPPED(name) wavesmith_problem_##name,
#include "shipped.def"
#undef SHIPPED
    NULL};
