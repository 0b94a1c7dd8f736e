/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of clock_constants.h as values and as text.
 */
#include "clock_constants.h"

const ws__clock_constants ws__clock_mi300x = {
#define WS_CLOCK_VALUE(name, value, unit, source, confidence, what)            \
  .name = value,
    WS_CLOCK_CONSTANTS(WS_CLOCK_VALUE)
#undef WS_CLOCK_VALUE
};

const ws__clock_constant ws__clock_table[] = {
#define WS_CLOCK_ROW(name, value, unit, source, confidence, what)              \
  {#name, value, unit, source, confidence, what},
    WS_CLOCK_CONSTANTS(WS_CLOCK_ROW)
#undef WS_CLOCK_ROW
};
const int ws__clock_table_count =
    sizeof ws__clock_table / sizeof *ws__clock_table;
