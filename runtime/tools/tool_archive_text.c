/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive export` and `import`: to a folder of text and back.
 */
#include "tool_archive.h"

#include <stdio.h>

static void report_transfer(const archive_call *call, const char *verb,
                            const char *folder, int count) {
  if (!call->arguments->json) {
    printf("%s %d candidates: %s\n", verb, count, folder);
    return;
  }
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, verb, count);
  cJSON_AddStringToObject(json, "folder", folder);
  archive_print_json(json);
}

ws_status archive_run_export(archive_call *call) {
  const archive_arguments *arguments = call->arguments;
  if (arguments->jsonl)
    return archive_export_jsonl(call);
  if (!arguments->word_count)
    return ws_fail(call->diag, WS_USAGE, NULL, 0,
                   "wanted is export DB FOLDER [ID ...] or export DB --jsonl "
                   "FILE");
  const char *folder = arguments->words[0];
  const char *const *ids = (const char *const *)arguments->words + 1;
  int count = arguments->word_count - 1;
  if (count == 0)
    WS_TRY(ws_archive_best(call->archive, call->arena, &arguments->filter,
                           (int)arguments->best, &ids, &count, call->diag));
  if (count == 0)
    return ws_fail(call->diag, WS_INPUT, NULL, 0,
                   "no candidate of that kind is ok and has times; `wavesmith "
                   "archive ls` shows what there is");
  WS_TRY(ws_archive_export(call->archive, folder, ids, count, call->diag));
  report_transfer(call, "exported", folder, count);
  return WS_OK;
}

ws_status archive_run_import(archive_call *call) {
  int count;
  const char *folder = call->arguments->words[0];
  WS_TRY(ws_archive_import(call->archive, folder, &count, call->diag));
  report_transfer(call, "imported", folder, count);
  return WS_OK;
}
