/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reading JSON that others wrote, over cJSON: whole values only, exact types,
 * a sentence for each fault. Numbers are doubles in cJSON, so an integer is
 * taken only where a double holds it exactly.
 */
#include "json_value.h"

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

ws_status ws__json_expect(const cJSON *member, const char *key,
                          const char *what,
                          cJSON_bool (*is_type)(const cJSON *),
                          const char *type_name, ws_diag *diag) {
  if (member && is_type(member))
    return WS_OK;
  if (!key)
    return ws_fail(diag, WS_INPUT, what, 0, "it must be %s", type_name);
  return member ? ws_fail(diag, WS_INPUT, what, 0, "'%s' must be %s", key,
                          type_name)
                : ws_fail(diag, WS_INPUT, what, 0,
                          "'%s' is missing; it must be %s", key, type_name);
}

ws_status ws__json_string(const cJSON *member, const char *key,
                          const char *what, const char **out, ws_diag *diag) {
  *out = NULL;
  WS_TRY(ws__json_expect(member, key, what, cJSON_IsString, "a string", diag));
  *out = member->valuestring;
  return WS_OK;
}

ws_status ws__json_int(const cJSON *member, const char *key, const char *what,
                       int64_t *out, ws_diag *diag) {
  *out = 0;
  WS_TRY(
      ws__json_expect(member, key, what, cJSON_IsNumber, "an integer", diag));
  double value = member->valuedouble;
  if (!(fabs(value) <= 0x1p53) || value != trunc(value))
    return ws_fail(diag, WS_INPUT, what, 0,
                   "'%s' must be an integer of at most 2^53, not %g", key,
                   value);
  *out = (int64_t)value;
  return WS_OK;
}

ws_status ws__json_double(const cJSON *member, const char *key,
                          const char *what, double *out, ws_diag *diag) {
  *out = 0;
  WS_TRY(ws__json_expect(member, key, what, cJSON_IsNumber, "a number", diag));
  if (!isfinite(member->valuedouble))
    return ws_fail(diag, WS_INPUT, what, 0, "'%s' is out of range", key);
  *out = member->valuedouble;
  return WS_OK;
}

/* ---- members by name ---- */
static const cJSON *member_of(const cJSON *object, const char *key) {
  return cJSON_GetObjectItemCaseSensitive(object, key);
}

ws_status ws_json_get_string(const cJSON *object, const char *key,
                             const char *what, const char **out,
                             ws_diag *diag) {
  return ws__json_string(member_of(object, key), key, what, out, diag);
}

ws_status ws_json_get_int(const cJSON *object, const char *key,
                          const char *what, int64_t *out, ws_diag *diag) {
  return ws__json_int(member_of(object, key), key, what, out, diag);
}

ws_status ws_json_get_double(const cJSON *object, const char *key,
                             const char *what, double *out, ws_diag *diag) {
  return ws__json_double(member_of(object, key), key, what, out, diag);
}

ws_status ws_json_get_array(const cJSON *object, const char *key,
                            const char *what, const cJSON **out,
                            ws_diag *diag) {
  *out = member_of(object, key);
  return ws__json_expect(*out, key, what, cJSON_IsArray, "an array", diag);
}
