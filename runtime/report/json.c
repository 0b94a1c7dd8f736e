/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Numbers and texts of the report's JSON. A double is rounded to the nearest
 * that five digits can say, which cJSON then prints with these digits.
 */
#include "json.h"

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

/* Bytes of the UTF-8 sequence at text; 0: it is none (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF). */
static size_t sequence_size(const unsigned char *text) {
  static const struct {
    unsigned char first_low, first_high, second_low, second_high;
    size_t size;
  } forms[] = {{0x01, 0x7f, 0x00, 0xff, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2},
               {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
               {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
               {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
               {0xf4, 0xf4, 0x80, 0x8f, 4}};
  for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
    if (text[0] < forms[f].first_low || text[0] > forms[f].first_high)
      continue;
    if (forms[f].size > 1 &&
        (text[1] < forms[f].second_low || text[1] > forms[f].second_high))
      return 0;
    for (size_t i = 2; i < forms[f].size; i++)
      if ((text[i] & 0xc0) != 0x80)
        return 0;
    return forms[f].size;
  }
  return 0;
}

cJSON *ws__report_text(const char *text, size_t limit) {
  ws_strbuf clean;
  ws_strbuf_init(&clean);
  const char *at = text ? text : "";
  while (*at && (!limit || clean.size < limit)) {
    size_t size = sequence_size((const unsigned char *)at);
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
  const double extents[] = {(double)shape->m, (double)shape->n,
                            (double)shape->k};
  return cJSON_CreateDoubleArray(extents, 3);
}
