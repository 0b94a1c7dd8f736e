/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Numbers and texts of the report's JSON. A double is rounded to the nearest
 * that five digits can say, which cJSON then prints with these digits.
 */
#include "json.h"
#include "wavesmith/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cJSON *ws__report_number(double value) {
  char digits[40];
  if (!isfinite(value))
    return cJSON_CreateNull();
  snprintf(digits, sizeof digits, "%.5g", value);
  return cJSON_CreateNumber(strtod(digits, NULL));
}

void ws__report_add_number(cJSON *object, const char *key, double value) {
  cJSON_AddItemToObject(object, key, ws__report_number(value));
}

cJSON *ws__report_text(const char *text, size_t limit) {
  ws_strbuf clean;
  ws_strbuf_init(&clean);
  const char *at = text ? text : "";
  while (*at && (!limit || clean.size < limit)) {
    size_t size = ws_text_character(at, strnlen(at, 4));
    ws_strbuf_append(&clean, size ? at : "\xef\xbf\xbd", size ? size : 3);
    at += size ? size : 1;
  }
  if (*at)
    ws_strbuf_puts(&clean, "...");
  cJSON *json = cJSON_CreateString(clean.data);
  ws_strbuf_deinit(&clean);
  return json;
}

void ws__report_add_text(cJSON *object, const char *key, const char *text,
                         size_t limit) {
  cJSON_AddItemToObject(object, key, ws__report_text(text, limit));
}

cJSON *ws__report_shape(const ws_shape *shape) {
  double extents[WS_MAX_DIMS];
  int count = shape->dims ? shape->dims->count : 0;
  for (int i = 0; i < count; i++)
    extents[i] = (double)shape->size[i];
  return cJSON_CreateDoubleArray(extents, count);
}
