/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shapes as text: both forms, and what is none.
 */
#include "../gemm_shape.h"
#include "ws_test.h"

static bool parses(const char *text, ws_shape *out, const char **rest) {
  ws_diag diag = {""};
  const char *at = text;
  ws_status status = ws_shape_parse(gemm_dims(), &at, out, &diag);
  *rest = at;
  if (status == WS_OK)
    return true;
  WS_CHECK_INT(status, WS_INPUT);
  WS_CHECK(at == text);
  WS_CHECK_CONTAINS(diag.text, "is no shape m,n,k");
  return false;
}

WS_TEST(both_forms_are_read) {
  static const char *const texts[] = {
      "16,32,128",       " 16 , 32 ,128 ",   "m=16,n=32,k=128",
      "k=128,m=16,n=32", "n=32,k=128,m=16",  " m = 16 , n=32,k=128 ",
      "16,32,128;1,2,3", "n=32,m=16,k=128;x"};
  static const char *const rests[] = {"", "", "", "", "", "", "1,2,3", "x"};
  const ws_shape want = gemm_shape(16, 32, 128);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    ws_shape shape;
    const char *rest;
    if (!parses(texts[i], &shape, &rest))
      WS_FAIL("'%s' is not read", texts[i]);
    WS_CHECK(ws_shape_same(&shape, &want));
    WS_CHECK_TEXT(rest, rests[i]);
  }
}

WS_TEST(all_else_is_refused) {
  static const char *const texts[] = {"",
                                      "16",
                                      "16,32",
                                      "16,32,",
                                      "16,32,128,",
                                      "16,32,128,1",
                                      "16,,128",
                                      "0,32,128",
                                      "-1,32,128",
                                      "16,32,128x",
                                      "16,32,x",
                                      "16 32 128",
                                      "9007199254740993,32,128",
                                      "99999999999999999999,32,128",
                                      "m=16,n=32",
                                      "m=16,n=32,k=0",
                                      "m=16,n=32,k=",
                                      "m=16,n=32,n=32",
                                      "m=16,m=16,k=128",
                                      "m=16,n=32,l=128",
                                      "m=16,n=32,k=128,k=128",
                                      "m=16,32,128",
                                      "16,32,k=128",
                                      "M=16,n=32,k=128",
                                      "=16,n=32,k=128"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    ws_shape shape;
    const char *rest;
    if (parses(texts[i], &shape, &rest))
      WS_FAIL("'%s' is read", texts[i]);
  }
}

WS_TEST(the_largest_size_is_2_to_the_53) {
  ws_shape shape;
  const char *rest;
  WS_CHECK(parses("9007199254740992,1,1", &shape, &rest));
  WS_CHECK(shape.size[DIM_M] == INT64_C(1) << 53);
}

WS_TEST(printed_shapes_are_read) {
  const ws_shape one = gemm_shape(1, INT64_C(1) << 53, 7168);
  char text[WS_SHAPE_TEXT];
  ws_shape back;
  const char *rest;
  WS_CHECK_TEXT(ws_shape_print_named(&one, text),
                "m=1,n=9007199254740992,k=7168");
  WS_CHECK(ws_shape_read(text, &back) && ws_shape_same(&one, &back));
  WS_CHECK(parses(text, &back, &rest) && ws_shape_same(&one, &back));
  WS_CHECK_TEXT(ws_shape_print(&one, text), "1,9007199254740992,7168");
  WS_CHECK(parses(text, &back, &rest) && ws_shape_same(&one, &back));
}

WS_TEST(reading_without_names_takes_names) {
  static const char *const none[] = {"",
                                     "16,32",
                                     "m=16,32",
                                     "m=16;",
                                     "m=16,",
                                     "m=0",
                                     "m=16 x",
                                     "m=16,m=16",
                                     "m",
                                     "=1",
                                     "a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1"};
  ws_shape shape;
  WS_CHECK(ws_shape_read("rows=16,cols=4096", &shape));
  WS_CHECK_INT(shape.dims->count, 2);
  WS_CHECK_TEXT(shape.dims->names[1], "cols");
  WS_CHECK_INT(shape.size[1], 4096);
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    if (ws_shape_read(none[i], &shape))
      WS_FAIL("'%s' is read", none[i]);
}

WS_TEST(order_is_of_sizes) {
  const ws_shape a = gemm_shape(64, 9, 9), b = gemm_shape(1024, 1, 1),
                 c = gemm_shape(64, 10, 1);
  WS_CHECK(ws_shape_compare(&a, &b) < 0 && ws_shape_compare(&b, &a) > 0);
  WS_CHECK(ws_shape_compare(&a, &c) < 0);
  WS_CHECK_INT(ws_shape_compare(&a, &a), 0);
}
