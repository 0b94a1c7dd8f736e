/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The list of findings: capped, one line each, without repetitions.
 */
#include "pass_test.h"

WS_TEST(repetitions_are_dropped) {
  fixture f = fixture_create();
  for (int i = 0; i < 3; i++) {
    ws_findings_add(&f.findings, "a", "r", "x.ll", 1, "same");
    ws_findings_add(&f.findings, "a", "r", "x.ll", 2, "same");
    ws_findings_add(&f.findings, "b", "r", "x.ll", 1, "same");
    ws_findings_add(&f.findings, "a", "r", "y.ll", 1, "same");
    ws_findings_add(&f.findings, "a", "r", "x.ll", 1, "other %d", 7);
  }
  WS_CHECK_INT(f.findings.count, 5);
  WS_CHECK_TEXT(f.findings.items[4].text, "other 7");
  fixture_destroy(&f);
}

WS_TEST(text_is_one_line) {
  fixture f = fixture_create();
  ws_findings_add(&f.findings, "a", NULL, NULL, 0, "%s", "one\n\ttwo\r\n");
  WS_CHECK_TEXT(f.findings.items[0].text, "one  two  ");
  WS_CHECK_TEXT(f.findings.items[0].region, "");
  WS_CHECK_TEXT(f.findings.items[0].file, "");
  fixture_destroy(&f);
}

WS_TEST(at_most_64) {
  fixture f = fixture_create();
  for (int i = 0; i < 1000; i++)
    ws_findings_add(&f.findings, "a", "", "x.ll", i, "text");
  WS_CHECK_INT(f.findings.count, 64);
  WS_CHECK_INT(f.findings.items[63].line, 63);
  fixture_destroy(&f);
}

WS_TEST(long_text_is_cut) {
  fixture f = fixture_create();
  char *text = ws_arena_alloc(f.arena, 5001);
  memset(text, 'x', 5000);
  ws_findings_add(&f.findings, "a", "", "x.ll", 1, "%s", text);
  WS_CHECK_INT(strlen(f.findings.items[0].text), 1023);
  fixture_destroy(&f);
}

/* A diag's own file and line become those of the finding. */
WS_TEST(diags_are_taken_apart) {
  static const struct {
    const char *diag, *text;
    int line;
  } cases[] = {
      {"x.ll:12: no good", "no good", 12},
      {"x.ll: no good", "no good", 0},
      {"x.ll: 12 lanes", "12 lanes", 0},
      {"y.ll:12: no good", "y.ll:12: no good", 0},
      {"no good", "no good", 0},
  };
  fixture f = fixture_create();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_diag diag;
    snprintf(diag.text, sizeof diag.text, "%s", cases[i].diag);
    const char *id = ws_arena_printf(f.arena, "case-%zu", i);
    const ws_finding *added =
        ws_findings_add_diag(&f.findings, id, "x.ll", &diag);
    WS_CHECK_TEXT(added->text, cases[i].text);
    WS_CHECK_TEXT(added->file, "x.ll");
    WS_CHECK_INT(added->line, cases[i].line);
  }
  fixture_destroy(&f);
}
