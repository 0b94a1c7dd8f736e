/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * JSON of the report: numbers with the digits that matter, and text that is
 * valid whatever a model wrote.
 */
#ifndef WAVESMITH_REPORT_JSON_H
#define WAVESMITH_REPORT_JSON_H

#include "source.h"

#include <cjson/cJSON.h>

/* Five significant digits; null where it is not finite. */
cJSON *ws__report_number(double value);
void ws__report_add_number(cJSON *object, const char *key, double value);
/* Bytes that are no UTF-8 become U+FFFD; at most limit bytes are kept (0: all),
 * then "..." follows. NULL counts as "". */
cJSON *ws__report_text(const char *text, size_t limit);
void ws__report_add_text(cJSON *object, const char *key, const char *text,
                         size_t limit);
/* [m, n, k] */
cJSON *ws__report_shape(const ws_shape *shape);

#endif
