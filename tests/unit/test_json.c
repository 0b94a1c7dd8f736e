/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Strict JSON reading.
 */
#include "wavesmith/base.h"
#include "ws_test.h"

#include <cjson/cJSON.h>

static void check_refused(const char *text, size_t size, const char *part) {
  ws_diag diag = {""};
  struct cJSON *json = ws_json_parse(text, size, "reply", &diag);
  if (json)
    WS_FAIL("accepted: %s", text);
  WS_CHECK_CONTAINS(diag.text, part);
}

WS_TEST(only_whole_values_are_taken) {
  ws_diag diag;
  static const char good[] = " {\"a\": [1, 2]} \r\n\t";
  struct cJSON *json = ws_json_parse(good, sizeof good - 1, "reply", &diag);
  WS_CHECK(json != NULL);
  cJSON_Delete(json);
  check_refused("", 0, "not JSON");
  check_refused("{\"a\":1", 6, "not JSON");
  check_refused("{\n\n\"a\":}", 8, "reply:3: not JSON");
  check_refused("{} x", 4, "more text after the end");
  check_refused("{}\0x", 4, "more text after the end");
  check_refused("[1,2],", 6, "more text after the end");
}

WS_TEST(deep_nesting_is_refused) {
  static char text[200000];
  memset(text, '[', sizeof text);
  check_refused(text, sizeof text, "not JSON");
}

WS_TEST(getters_are_strict) {
  ws_diag diag;
  static const char text[] =
      "{\"s\":\"x\",\"i\":-42,\"d\":1.5,\"a\":[1],\"big\":9007199254740993e3,"
      "\"inf\":1e999,\"edge\":9007199254740992,\"n\":null,\"b\":true}";
  struct cJSON *json = ws_json_parse(text, sizeof text - 1, "reply", &diag);
  const char *string;
  const struct cJSON *array;
  int64_t integer;
  double number;
  WS_CHECK_INT(ws_json_get_string(json, "s", "reply", &string, &diag), WS_OK);
  WS_CHECK_TEXT(string, "x");
  WS_CHECK_INT(ws_json_get_int(json, "i", "reply", &integer, &diag), WS_OK);
  WS_CHECK_INT(integer, -42);
  WS_CHECK_INT(ws_json_get_int(json, "edge", "reply", &integer, &diag), WS_OK);
  WS_CHECK_INT(integer, INT64_C(9007199254740992));
  WS_CHECK_INT(ws_json_get_double(json, "d", "reply", &number, &diag), WS_OK);
  WS_CHECK_NEAR(number, 1.5, 0);
  WS_CHECK_INT(ws_json_get_array(json, "a", "reply", &array, &diag), WS_OK);
  WS_CHECK_INT(cJSON_GetArraySize(array), 1);
  static const char *const not_integers[] = {"s", "d", "a", "big", "inf",
                                             "n", "b", "S", "none"};
  for (size_t i = 0; i < sizeof not_integers / sizeof *not_integers; i++) {
    WS_CHECK_INT(
        ws_json_get_int(json, not_integers[i], "reply", &integer, &diag),
        WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, "reply: ");
    WS_CHECK_CONTAINS(diag.text, not_integers[i]);
  }
  WS_CHECK_INT(ws_json_get_double(json, "inf", "reply", &number, &diag),
               WS_INPUT);
  WS_CHECK_INT(ws_json_get_string(json, "n", "reply", &string, &diag),
               WS_INPUT);
  WS_CHECK_TEXT(diag.text, "reply: 'n' must be a string");
  WS_CHECK_INT(ws_json_get_array(json, "s", "reply", &array, &diag), WS_INPUT);
  WS_CHECK_INT(ws_json_get_string(json, "no", "reply", &string, &diag),
               WS_INPUT);
  WS_CHECK_TEXT(diag.text, "reply: 'no' is missing; it must be a string");
  cJSON_Delete(json);
  WS_CHECK_INT(ws_json_get_int(NULL, "x", "reply", &integer, &diag), WS_INPUT);
}
