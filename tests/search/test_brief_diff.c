/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What differs between two texts, as a prompt shows it.
 */
#include "brief_page.h"
#include "ws_test.h"

static void check_diff(const char *before, const char *after, int most,
                       const char *want) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws__page_diff(before, after, most, &out);
  WS_CHECK_TEXT(out.data, want);
  ws_strbuf_deinit(&out);
}

WS_TEST(differences_line_by_line) {
  check_diff("a\nb\nc\n", "a\nb\nc\n", 9, "");
  check_diff("a\nb\nc\nd", "a\nx\nc\ny\nd", 9, "  - b\n  + x\n  + y\n");
  check_diff("", "a\nb\n", 9, "  + a\n  + b\n");
  check_diff("a\na\n", "a\n", 9, "  - a\n");
  check_diff("a\nb\nc\n", "x\ny\n", 2,
             "  3 lines became these 2:\n"
             "  + x\n  + y\n");
  check_diff("a\nb\nc\nd\n", "a\nx\nc\ny\nz\nd\n", 2,
             "  - b\n  + x\n  ... 2 more lines differ\n");
  /* what says nothing is no difference */
  check_diff("a\n; old\ndeclare void @f()\n\nb\n",
             "a\n  ; new\n  declare void @g(i32)\nb\nc\n", 9, "  + c\n");
  check_diff("declared\n", "", 9, "  - declared\n");
}
