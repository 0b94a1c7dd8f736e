/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Conversations with the MCP server over files, for its tests.
 */
#ifndef WAVESMITH_TESTS_MCP_TALK_H
#define WAVESMITH_TESTS_MCP_TALK_H

#include "fake_session.h"
#include "wavesmith/mcp.h"

#include <cjson/cJSON.h>
#include <fcntl.h>

typedef struct talk {
  ws_arena *arena;
  char *folder;
  ws_tune_options tune;
  ws_mcp_options options;
  ws_status status;
  ws_diag diag;
  cJSON *answers[64];
  int count;
} talk;

__attribute__((unused)) static talk make_talk(void) {
  talk t = {.arena = ws_arena_create()};
  t.folder = fixture_path(t.arena, "");
  char *path = ws_arena_printf(t.arena, "%st.ll", t.folder);
  MUST(ws_file_write_atomic(path, template_text, sizeof template_text - 1,
                            diag));
  t.tune = (ws_tune_options){.template_file = path,
                             .archive_path =
                                 ws_arena_printf(t.arena, "%sa.db", t.folder),
                             .layout = "kmajor",
                             .shape_set = "contest"};
  return t;
}

__attribute__((unused)) static void free_talk(talk *t) {
  for (int i = 0; i < t->count; i++)
    cJSON_Delete(t->answers[i]);
  fixture_remove(t->arena, t->folder);
  ws_arena_destroy(t->arena);
}

/* Every line must be JSON of a JSON-RPC message or a batch of such. */
__attribute__((unused)) static void read_answers(talk *t, const char *path) {
  char *text;
  size_t size;
  MUST(ws_file_read(t->arena, path, &text, &size, diag));
  for (; *text; t->count++) {
    size_t line = strcspn(text, "\n");
    WS_CHECK(text[line] == '\n' && t->count < 64);
    cJSON *json = ws_json_parse(text, line, "answer", NULL);
    if (!json)
      WS_FAIL("no JSON: %.*s", (int)line, text);
    t->answers[t->count] = json;
    text += line + 1;
  }
}

/* Serves this input to its end. */
__attribute__((unused)) static void serve_bytes(talk *t, const void *data,
                                                size_t size) {
  const char *in = ws_arena_printf(t->arena, "%sin", t->folder);
  const char *out = ws_arena_printf(t->arena, "%sout", t->folder);
  FILE *file = fopen(in, "wb");
  WS_CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
  t->options.tune = &t->tune;
  t->options.in = open(in, O_RDONLY);
  t->options.out = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  WS_CHECK(t->options.in >= 0 && t->options.out >= 0);
  for (int i = 0; i < t->count; i++)
    cJSON_Delete(t->answers[i]);
  t->count = 0;
  t->status = ws_mcp_serve(&t->options, &t->diag);
  close(t->options.in);
  close(t->options.out);
  read_answers(t, out);
}

__attribute__((unused)) static void serve(talk *t, const char *text) {
  serve_bytes(t, text, strlen(text));
  WS_CHECK_INT(t->status, WS_OK);
}

#define REQUEST(id, method, params)                                            \
  "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                    \
  "\",\"params\":" params "}\n"
#define CALL(tool, arguments)                                                  \
  REQUEST("1", "tools/call",                                                   \
          "{\"name\":\"" tool "\",\"arguments\":" arguments "}")
#define PING REQUEST("99", "ping", "{}")

__attribute__((unused)) static const cJSON *at(const cJSON *json,
                                               const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
  if (!item)
    WS_FAIL("no '%s'", key);
  return item;
}

__attribute__((unused)) static void is_error(const cJSON *answer, int code,
                                             const char *part) {
  const cJSON *error = at(answer, "error");
  WS_CHECK_TEXT(at(answer, "jsonrpc")->valuestring, "2.0");
  WS_CHECK(!cJSON_GetObjectItem(answer, "result"));
  WS_CHECK_INT(at(error, "code")->valuedouble, code);
  WS_CHECK_CONTAINS(at(error, "message")->valuestring, part);
}

__attribute__((unused)) static void is_pong(const cJSON *answer) {
  WS_CHECK_INT(at(answer, "id")->valuedouble, 99);
  WS_CHECK_INT(cJSON_GetArraySize(at(answer, "result")), 0);
}

/* The text of a tool's result. */
__attribute__((unused)) static const char *result_text(const cJSON *answer,
                                                       bool want_error) {
  const cJSON *result = at(answer, "result");
  const cJSON *item = cJSON_GetArrayItem(at(result, "content"), 0);
  if (cJSON_IsTrue(at(result, "isError")) != want_error)
    WS_FAIL("isError is wrong: %s", at(item, "text")->valuestring);
  WS_CHECK_TEXT(at(item, "type")->valuestring, "text");
  return at(item, "text")->valuestring;
}

/* The text of the only answer to a call of this tool. */
__attribute__((unused)) static const char *
call(talk *t, const char *tool, const char *arguments, bool want_error) {
  serve(t, ws_arena_printf(t->arena,
                           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/"
                           "call\",\"params\":{\"name\":\"%s\",\"arguments\":"
                           "%s}}\n",
                           tool, arguments));
  WS_CHECK_INT(t->count, 1);
  return result_text(t->answers[0], want_error);
}

__attribute__((unused)) static void fake_ids(talk *t) {
  call(t, "candidates", "{}", false);
}

#endif
