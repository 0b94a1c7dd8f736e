/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One archive knows one reference of a problem: runs whose results were
 * compared with something else are refused, whoever brings them.
 */
#include "fixture.h"

#define COMPARED(kernel, sha256, tolerance)                                    \
  "{\"a\":1,\"compared\":{\"kernel\":\"" kernel "\",\"sha256\":\"" sha256      \
  "\",\"tolerance\":\"" tolerance "\"}}"

static const char *const naive = COMPARED("naive.ll", "feed", "0.1 |want| + 0");

static ws_run_row run_of(const char *problem, const char *settings) {
  return (ws_run_row){.problem = problem,
                      .layout = "plain",
                      .target = "gfx942",
                      .strategy = "local",
                      .shape_set = "some",
                      .settings_json = settings,
                      .seed = 1};
}

/* "" or why not. */
static const char *begin(ws_archive *archive, const char *problem,
                         const char *settings) {
  static ws_diag diag;
  const ws_run_row run = run_of(problem, settings);
  int64_t id;
  diag.text[0] = '\0';
  ws_status status = ws_archive_begin_run(archive, &run, &id, &diag);
  WS_CHECK_INT(status == WS_OK, !diag.text[0]);
  WS_CHECK(status == WS_OK || status == WS_INPUT);
  return diag.text;
}

WS_TEST(an_archive_has_one_reference_of_a_problem) {
  ws_archive *archive;
  MUST(ws_archive_open(":memory:", true, &archive, diag));
  WS_CHECK_TEXT(begin(archive, "p", naive), "");
  WS_CHECK_TEXT(begin(archive, "p", naive), ""); /* resumed */
  /* wherever it lies, and whatever else is set */
  WS_CHECK_TEXT(
      begin(archive, "p", COMPARED("other.ll", "feed", "0.1 |want| + 0")), "");
  WS_CHECK_TEXT(begin(archive, "q", "{\"a\":1}"), ""); /* another problem */
  WS_CHECK_TEXT(
      begin(archive, "p", COMPARED("naive.ll", "beef", "0.1 |want| + 0")),
      ":memory:: its results of p were compared with kernel naive.ll, sha256 "
      "feed, tolerance 0.1 |want| + 0, these are with kernel naive.ll, sha256 "
      "beef, tolerance 0.1 |want| + 0; take another archive");
  WS_CHECK(strstr(
      begin(archive, "p", COMPARED("naive.ll", "feed", "0.2 |want| + 0")),
      "these are with kernel naive.ll, sha256 feed, tolerance 0.2"));
  WS_CHECK(strstr(begin(archive, "p", "{\"a\":1}"),
                  "these are with the problem's own reference"));
  WS_CHECK(strstr(begin(archive, "q", naive),
                  "its results of q were compared with the problem's own "
                  "reference, these are with kernel naive.ll"));
  ws_archive_close(archive);
}

WS_TEST(what_is_compared_is_read_from_a_run) {
  ws_arena *arena = ws_arena_create();
  const ws_run_row with = run_of("p", naive),
                   without = run_of("p", "{\"a\":1}"), none = run_of("p", "");
  WS_CHECK_TEXT(ws_run_compared_text(arena, &with),
                "kernel naive.ll, sha256 feed, tolerance 0.1 |want| + 0");
  WS_CHECK_TEXT(ws_run_compared_text(arena, &without), "");
  WS_CHECK_TEXT(ws_run_compared_text(arena, &none), "");
  ws_arena_destroy(arena);
}
