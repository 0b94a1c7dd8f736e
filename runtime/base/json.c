/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reading JSON that others wrote, over cJSON: whole values only, exact types,
 * a sentence for each fault. Numbers are doubles in cJSON, so an integer is
 * taken only where a double holds it exactly.
 */
#include "wavesmith/base.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static int line_at(const char *text, const char *position) {
  int line = 1;
  for (; text < position; text++)
    line += *text == '\n';
  return line;
}

struct cJSON *ws_json_parse(const char *text, size_t size, const char *what,
                            ws_diag *diag) {
  const char *end = text;
  cJSON *json = cJSON_ParseWithLengthOpts(text, size, &end, false);
  if (!json) {
    ws_fail(diag, WS_INPUT, what, line_at(text, end), "not JSON");
    return NULL;
  }
  while (end < text + size && *end && strchr(" \t\r\n", *end))
    end++;
  if (end == text + size)
    return json;
  ws_fail(diag, WS_INPUT, what, line_at(text, end),
          "more text after the end of the JSON value");
  cJSON_Delete(json);
  return NULL;
}

/* The member, when it is there and of the right type. */
static ws_status get_member(const cJSON *object, const char *key,
                            const char *what,
                            cJSON_bool (*is_type)(const cJSON *),
                            const char *type_name, const cJSON **out,
                            ws_diag *diag) {
  *out = cJSON_GetObjectItemCaseSensitive(object, key);
  if (!*out)
    return ws_fail(diag, WS_INPUT, what, 0, "'%s' is missing; it must be %s",
                   key, type_name);
  if (!is_type(*out))
    return ws_fail(diag, WS_INPUT, what, 0, "'%s' must be %s", key, type_name);
  return WS_OK;
}

ws_status ws_json_get_string(const struct cJSON *object, const char *key,
                             const char *what, const char **out,
                             ws_diag *diag) {
  const cJSON *member;
  *out = NULL;
  WS_TRY(
      get_member(object, key, what, cJSON_IsString, "a string", &member, diag));
  *out = member->valuestring;
  return WS_OK;
}

ws_status ws_json_get_int(const struct cJSON *object, const char *key,
                          const char *what, int64_t *out, ws_diag *diag) {
  const cJSON *member;
  *out = 0;
  WS_TRY(get_member(object, key, what, cJSON_IsNumber, "an integer", &member,
                    diag));
  double value = member->valuedouble;
  if (!(fabs(value) <= 0x1p53) || value != trunc(value))
    return ws_fail(diag, WS_INPUT, what, 0,
                   "'%s' must be an integer of at most 2^53, not %g", key,
                   value);
  *out = (int64_t)value;
  return WS_OK;
}

ws_status ws_json_get_double(const struct cJSON *object, const char *key,
                             const char *what, double *out, ws_diag *diag) {
  const cJSON *member;
  *out = 0;
  WS_TRY(
      get_member(object, key, what, cJSON_IsNumber, "a number", &member, diag));
  if (!isfinite(member->valuedouble))
    return ws_fail(diag, WS_INPUT, what, 0, "'%s' is out of range", key);
  *out = member->valuedouble;
  return WS_OK;
}

ws_status ws_json_get_array(const struct cJSON *object, const char *key,
                            const char *what, const struct cJSON **out,
                            ws_diag *diag) {
  return get_member(object, key, what, cJSON_IsArray, "an array", out, diag);
}
