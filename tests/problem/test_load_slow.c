/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * References that do not come back: they are given up after ten seconds,
 * whether they compute or sleep.
 */
#include "wavesmith/problem.h"
#include "ws_test.h"

#include <time.h>

static void check_given_up(const char *body) {
  char folder[] = "/tmp/wavesmith-problem-XXXXXX", path[64], text[1024];
  const ws_problem *problem = NULL;
  ws_diag diag = {""};
  WS_CHECK(mkdtemp(folder));
  setenv("WAVESMITH_CACHE", folder, 1);
  snprintf(path, sizeof path, "%s/mine.c", folder);
  FILE *file = fopen(path, "w");
  WS_CHECK(file);
  fprintf(
      file,
      "#include <wavesmith/define_problem.h>\n"
      "#include <unistd.h>\n"
      "static void reference(const ws_reference_call *call) { %s }\n"
      "static const int64_t sizes[][1] = {{1000}};\n"
      "static const ws_problem_definition mine = {WS_PROBLEM_ABI,\n"
      "  .name = \"endless\", .dims = {{\"n\"}},\n"
      "  .args = {{\"y\", WS_ARG_OUTPUT, WS_F32, {\"n\"}}},\n"
      "  .sets = {WS_PROBLEM_SET(\"one\", sizes)}, .reference = reference};\n"
      "WS_PROBLEM(mine)\n",
      body);
  fclose(file);
  const time_t begin = time(NULL);
  WS_CHECK_INT(ws_problem_add_file(path, &problem, &diag), WS_INPUT);
  const long took = (long)(time(NULL) - begin);
  snprintf(text, sizeof text, "rm -rf '%s'", folder);
  (void)!system(text);
  WS_CHECK_CONTAINS(diag.text, "reference of endless is not done after 10 s");
  WS_CHECK_CONTAINS(diag.text, "n=1");
  WS_CHECK(!problem && !strchr(diag.text, '\n'));
  WS_CHECK(took >= 9 && took <= 19);
}

WS_TEST(one_that_computes_on) {
  check_given_up("volatile int go = (int)call->end; while (go) ;");
}

WS_TEST(one_that_sleeps) { check_given_up("while (call->end) sleep(100);"); }
