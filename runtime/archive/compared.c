/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the results of runs were compared with: a kernel in place of the
 * problem's own reference stands in a run's settings. Verdicts are facts for
 * ever, so one archive knows one reference of a problem.
 */
#include "store.h"

#include <cjson/cJSON.h>
#include <string.h>

static const char *text_of(const cJSON *json, const char *name) {
  const char *text =
      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, name));
  return text ? text : "";
}

const char *ws_run_compared_text(ws_arena *arena, const ws_run_row *run) {
  ws_diag ignored;
  const char *text = "";
  cJSON *json = ws_json_parse(run->settings_json, strlen(run->settings_json),
                              "settings", &ignored);
  const cJSON *compared = cJSON_GetObjectItemCaseSensitive(json, "compared");
  if (compared)
    text = ws_arena_printf(arena, "kernel %s, sha256 %s, tolerance %s",
                           text_of(compared, "kernel"),
                           text_of(compared, "sha256"),
                           text_of(compared, "tolerance"));
  cJSON_Delete(json);
  return text;
}

/* Where the file lies is not what it says. */
static const char *contents_of(const char *compared) {
  const char *at = strstr(compared, ", sha256 ");
  return at ? at : compared;
}

static const char *in_words(const char *compared) {
  return *compared ? compared : "the problem's own reference";
}

ws_status ws_archive_check_compared(ws_archive *archive, const ws_run_row *run,
                                    ws_diag *diag) {
  ws_run_row *rows;
  int count;
  ws_arena *arena = ws_arena_create();
  const char *now = ws_run_compared_text(arena, run);
  ws_status status = ws_archive_list_runs(archive, arena, &rows, &count, diag);
  for (int i = 0; status == WS_OK && i < count; i++) {
    const char *then = ws_run_compared_text(arena, &rows[i]);
    if (!strcmp(rows[i].problem, run->problem) &&
        strcmp(contents_of(then), contents_of(now)) != 0)
      status = ws_fail(diag, WS_INPUT, archive->path, 0,
                       "its results of %s were compared with %s, these are "
                       "with %s; take another archive",
                       run->problem, in_words(then), in_words(now));
  }
  ws_arena_destroy(arena);
  return status;
}
