/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The MCP server over files and pipes: conversations as clients have them, and
 * everything that no client should send.
 */
#include "talk.h"

#include <signal.h>
#include <sys/resource.h>

/* ---- the protocol ---- */
WS_TEST(handshake) {
  talk t = make_talk();
  static const char *const versions[][2] = {{"2024-11-05", "2024-11-05"},
                                            {"2025-03-26", "2025-03-26"},
                                            {"2025-06-18", "2025-06-18"},
                                            {"1999-01-01", "2025-06-18"}};
  for (int i = 0; i < 4; i++) {
    serve(&t, ws_arena_printf(
                  t.arena,
                  REQUEST("\"a\"", "initialize",
                          "{\"protocolVersion\":\"%s\",\"capabilities\":{},"
                          "\"clientInfo\":{\"name\":\"x\",\"version\":"
                          "\"1\"}}") "{\"jsonrpc\":\"2.0\",\"method\":"
                                     "\"notifications/"
                                     "initialized\"}\n" PING,
                  versions[i][0]));
    WS_CHECK_INT(t.count, 2);
    const cJSON *result = at(t.answers[0], "result");
    WS_CHECK_TEXT(at(t.answers[0], "id")->valuestring, "a");
    WS_CHECK_TEXT(at(result, "protocolVersion")->valuestring, versions[i][1]);
    WS_CHECK(at(at(result, "capabilities"), "tools"));
    WS_CHECK_TEXT(at(at(result, "serverInfo"), "name")->valuestring,
                  "wavesmith");
    is_pong(t.answers[1]);
  }
  WS_CHECK_INT(fake.opened, 0); /* no tool was called */
  free_talk(&t);
}

WS_TEST(tools_are_described) {
  static const char *const names[] = {"task",     "prompt",  "candidates",
                                      "show",     "check",   "submit",
                                      "findings", "profile", "times"};
  talk t = make_talk();
  serve(&t, REQUEST("1", "tools/list", "{}"));
  const cJSON *tools = at(at(t.answers[0], "result"), "tools");
  WS_CHECK_INT(cJSON_GetArraySize(tools), 9);
  for (int i = 0; i < 9; i++) {
    const cJSON *tool = cJSON_GetArrayItem(tools, i), *field;
    const cJSON *schema = at(tool, "inputSchema");
    WS_CHECK_TEXT(at(tool, "name")->valuestring, names[i]);
    WS_CHECK(strlen(at(tool, "description")->valuestring) > 60);
    WS_CHECK_TEXT(at(schema, "type")->valuestring, "object");
    cJSON_ArrayForEach(field, at(schema, "properties"))
        WS_CHECK(strlen(at(field, "description")->valuestring) > 20);
    const bool changes = !strcmp(names[i], "submit");
    WS_CHECK(cJSON_IsTrue(at(at(tool, "annotations"), "readOnlyHint")) ==
             !changes);
  }
  const cJSON *submit = at(cJSON_GetArrayItem(tools, 5), "inputSchema");
  WS_CHECK_INT(cJSON_GetArraySize(at(submit, "required")), 2);
  const cJSON *kind = at(at(submit, "properties"), "kind");
  WS_CHECK_INT(cJSON_GetArraySize(at(kind, "enum")), 8);
  WS_CHECK_TEXT(cJSON_GetArrayItem(at(kind, "enum"), 3)->valuestring, "repair");
  free_talk(&t);
}

/* What is no request gets its error and the server goes on. */
static const struct fault {
  const char *text;
  int code;
  const char *part, *id; /* of the answer, as JSON */
} faults[] = {
    {"hello", -32700, "not JSON", "null"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", -32700, "not JSON",
     "null"},
    {PING "{}x", -32700, "more text after", "null"},
    {"\xff\xfe", -32700, "not UTF-8", "null"},
    {"\"\xc0\x80\"", -32700, "not UTF-8", "null"},
    {"\"\xed\xa0\x80\"", -32700, "not UTF-8", "null"},
    {"\"a\\u0000b\"", -32700, "has a NUL", "null"},
    {"\"a\\\\\\u0000b\"", -32700, "has a NUL", "null"},
    {"1", -32600, "must be a JSON object", "null"},
    {"\"a\\\\u0000b\"", -32600, "must be a JSON object", "null"},
    {"[]", -32600, "batch", "null"},
    {"{}", -32600, "'jsonrpc'", "null"},
    {"{\"id\":1,\"method\":\"ping\"}", -32600, "'jsonrpc'", "1"},
    {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600, "'jsonrpc'",
     "1"},
    {"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", -32600, "'jsonrpc'",
     "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, "'method'", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600, "'method'", "1"},
    {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600, "'id'",
     "null"},
    {"{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"ping\"}", -32600, "'id'",
     "null"},
    {REQUEST("\"x\"", "roots/list", "{}"), -32601, "roots/list", "\"x\""},
    {REQUEST("2", "", "{}"), -32601, "unknown method ''", "2"},
    {REQUEST("2", "ping", "[1]"), -32602, "'params'", "2"},
    {REQUEST("2", "ping", "null"), -32602, "'params'", "2"},
    {REQUEST("2", "initialize", "{}"), -32602, "'protocolVersion'", "2"},
    {REQUEST("2", "tools/list", "{\"cursor\":\"x\"}"), -32602, "cursor", "2"},
    {REQUEST("2", "tools/call", "{}"), -32602, "'name'", "2"},
    {CALL("rm", "{}"), -32602, "unknown tool 'rm'", "1"},
    {CALL("show", "[]"), -32602, "must be an object", "1"},
    {CALL("task", "[]"), -32602, "must be an object", "1"},
    {CALL("task", "7"), -32602, "must be an object", "1"},
    {CALL("show", "{}"), -32602, "'id' is missing", "1"},
    {CALL("show", "{\"id\":null}"), -32602, "must be of type string", "1"},
    {CALL("show", "{\"id\":5}"), -32602, "must be of type string", "1"},
    {CALL("show", "{\"id\":\"a\",\"deep\":1}"), -32602,
     "unknown argument 'deep'", "1"},
    {CALL("show", "{\"id\":\"a\",\"regions\":\"stage\"}"), -32602,
     "must be of type array", "1"},
    {CALL("prompt", "{\"kind\":\"guess\"}"), -32602,
     "must be one of: explore, exploit", "1"},
    {CALL("prompt", "{\"kind\":\"exploit\",\"parents\":[1]}"), -32602,
     "of at most 2 strings", "1"},
    {CALL("prompt", "{\"kind\":\"exploit\",\"parents\":[\"a\",\"b\",\"c\"]}"),
     -32602, "of at most 2 strings", "1"},
    {CALL("candidates", "{\"limit\":0}"), -32602, "from 1 to 500", "1"},
    {CALL("candidates", "{\"limit\":1.5}"), -32602, "from 1 to 500", "1"},
    {CALL("candidates", "{\"limit\":1e300}"), -32602, "from 1 to 500", "1"},
    {CALL("candidates", "{\"this_run\":1}"), -32602, "of type boolean", "1"},
    {CALL("submit", "{\"kind\":\"exploit\"}"), -32602, "'reply' is missing",
     "1"},
};

WS_TEST(faults_are_answered) {
  talk t = make_talk();
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    const struct fault *fault = &faults[i];
    serve(&t, ws_arena_printf(t.arena, "%s\n" PING, fault->text));
    if (t.count < 2)
      WS_FAIL("%d answers to %s", t.count, fault->text);
    const cJSON *answer = t.answers[t.count - 2];
    is_error(answer, fault->code, fault->part);
    char *id = cJSON_PrintUnformatted(at(answer, "id"));
    WS_CHECK_TEXT(id, fault->id);
    cJSON_free(id);
    is_pong(t.answers[t.count - 1]);
  }
  WS_CHECK_INT(fake.opened, 0);
  free_talk(&t);
}

/* Notifications of any kind, answers to nothing, blank lines: no answer. */
WS_TEST(some_messages_have_no_answer) {
  talk t = make_talk();
  serve(&t,
        "\n  \r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
        "cancelled\",\"params\":{\"requestId\":1}}\r\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"submit\"}}\n"
        "{\"jsonrpc\":\"2.0\",\"method\":\"nonsense\",\"params\":3}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}\n"
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":1}}\n"
        "[{\"jsonrpc\":\"2.0\",\"method\":\"a\"}]\n" PING);
  WS_CHECK_INT(t.count, 1);
  is_pong(t.answers[0]);
  free_talk(&t);
}

WS_TEST(batches) {
  talk t = make_talk();
  serve(&t, "[{\"jsonrpc\":\"2.0\",\"id\":99,\"method\":\"ping\"},"
            "{\"jsonrpc\":\"2.0\",\"method\":\"x\"},3,"
            "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"x\"}]\n");
  WS_CHECK_INT(t.count, 1);
  WS_CHECK_INT(cJSON_GetArraySize(t.answers[0]), 3);
  is_pong(cJSON_GetArrayItem(t.answers[0], 0));
  is_error(cJSON_GetArrayItem(t.answers[0], 1), -32600, "object");
  is_error(cJSON_GetArrayItem(t.answers[0], 2), -32601, "unknown method");
  free_talk(&t);
}

#define HUGE_ID                                                                \
  "12345678901234567890123456789012345678901234567890123456789012345678901234" \
  "5"

/* Also in a batch, behind numbers of other members. */
WS_TEST(ids_of_a_batch_come_back_as_they_are) {
  talk t = make_talk();
  serve(&t,
        "[{\"params\":{\"a\":[1,{\"id\":2}],\"b\":-3.5e-7},\"jsonrpc\":\"2.0\","
        "\"method\":\"ping\",\"id\":9007199254740995},"
        "{\"jsonrpc\":\"2.0\",\"id\":\"4\",\"method\":\"ping\"},"
        "{\"jsonrpc\":\"2.0\",\"id\":9007199254740997,\"method\":\"x\"}]\n");
  char *text;
  size_t size;
  MUST(ws_file_read(t.arena, ws_arena_printf(t.arena, "%sout", t.folder), &text,
                    &size, diag));
  WS_CHECK_CONTAINS(text, "\"id\":9007199254740995,");
  WS_CHECK_CONTAINS(text, "\"id\":\"4\",");
  WS_CHECK_CONTAINS(text, "\"id\":9007199254740997,");
  free_talk(&t);
}

/* What cJSON takes for a number and JSON does not is not sent back. */
WS_TEST(ids_that_are_no_numbers) {
  static const char *const ids[] = {"01",   "1.",   "-01", "1.e5",
                                    "null", "true", "[1]", "{}"};
  for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
    talk t = make_talk();
    serve(&t, ws_arena_printf(t.arena,
                              "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":"
                              "\"ping\"}\n",
                              ids[i]));
    WS_CHECK_INT(t.count, 1);
    WS_CHECK(cJSON_IsNull(at(t.answers[0], "id")));
    WS_CHECK(cJSON_IsObject(at(t.answers[0], "error")));
    free_talk(&t);
  }
}

WS_TEST(ids_come_back_as_they_are) {
  talk t = make_talk();
  serve(&t,
        REQUEST("9007199254740991", "ping", "{}") REQUEST("-3", "ping", "{}")
            REQUEST("\"a\\nb\"", "ping", "{}") REQUEST("1.5", "ping", "{}")
                REQUEST("9007199254740993", "ping", "{\"n\":[-1,\"2\\\"3\"]}")
                    REQUEST("-0", "ping", "{}") REQUEST("1E400", "ping", "{}")
                        REQUEST("1.000000000000000000001", "ping",
                                "{}") REQUEST(HUGE_ID, "ping", "{}")
                            REQUEST("\"\\u00e9\\ud83d\\ude00\"", "ping", "{}"));
  WS_CHECK_INT(t.count, 10);
  char *text;
  size_t size;
  MUST(ws_file_read(t.arena, ws_arena_printf(t.arena, "%sout", t.folder), &text,
                    &size, diag));
  WS_CHECK_CONTAINS(text, "\"id\":9007199254740991,");
  WS_CHECK_CONTAINS(text, "\"id\":-3,");
  WS_CHECK_CONTAINS(text, "\"id\":\"a\\nb\",");
  WS_CHECK_CONTAINS(text, "\"id\":1.5,");
  WS_CHECK_CONTAINS(text, "\"id\":9007199254740993,");
  WS_CHECK_CONTAINS(text, "\"id\":-0,");
  WS_CHECK_CONTAINS(text, "\"id\":1E400,");
  WS_CHECK_CONTAINS(text, "\"id\":1.000000000000000000001,");
  WS_CHECK_CONTAINS(text, "\"id\":" HUGE_ID ",");
  WS_CHECK_CONTAINS(text, "\"id\":\"\xc3\xa9\xf0\x9f\x98\x80\",");
  free_talk(&t);
}

WS_TEST(long_messages) {
  talk t = make_talk();
  const size_t size = 300000;
  char *text = ws_arena_alloc(t.arena, size + 200);
  t.options.message_bytes = 100000;
  memset(text, 'x', size); /* over several reads */
  strcpy(text + size, "\n" PING);
  serve(&t, text);
  WS_CHECK_INT(t.count, 2);
  is_error(t.answers[0], -32600, "too long");
  is_pong(t.answers[1]);
  memset(text, ' ', 100000); /* just fits, and is blank */
  strcpy(text + 100000, "\n" PING);
  serve(&t, text);
  WS_CHECK_INT(t.count, 1);
  memset(text, ' ', 100001);
  strcpy(text + 100001, "\n" PING);
  serve(&t, text);
  WS_CHECK_INT(t.count, 2);
  is_error(t.answers[0], -32600, "too long");
  free_talk(&t);
}

/* 128 MiB on one line are not kept. */
WS_TEST(endless_messages) {
  enum { CHUNK = 1 << 20 };
  talk t = make_talk();
  int ends[2];
  const char *out = ws_arena_printf(t.arena, "%sout", t.folder);
  WS_CHECK(pipe(ends) == 0);
  pid_t writer = fork();
  if (writer == 0) {
    static char chunk[CHUNK];
    close(ends[0]);
    memset(chunk, 'x', CHUNK);
    for (int i = 0; i < 128; i++)
      for (size_t at = 0; at < CHUNK;)
        at += (size_t)write(ends[1], chunk + at, CHUNK - at);
    _exit(write(ends[1], "\n" PING, 1 + strlen(PING)) < 0);
  }
  close(ends[1]);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  t.options =
      (ws_mcp_options){.tune = &t.tune,
                       .message_bytes = CHUNK,
                       .in = ends[0],
                       .out = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666)};
  MUST(ws_mcp_serve(&t.options, diag));
  getrusage(RUSAGE_SELF, &after);
  waitpid(writer, NULL, 0);
  close(ends[0]);
  close(t.options.out);
  read_answers(&t, out);
  WS_CHECK_INT(t.count, 2);
  is_error(t.answers[0], -32600, "too long");
  WS_CHECK(after.ru_maxrss - before.ru_maxrss < 64 * 1024); /* KiB */
  free_talk(&t);
}

WS_TEST(deep_nesting_is_refused) {
  talk t = make_talk();
  const size_t depth = 500000;
  char *text = ws_arena_alloc(t.arena, depth + 200);
  memset(text, '[', depth);
  strcpy(text + depth, "\n" PING);
  serve(&t, text);
  WS_CHECK_INT(t.count, 2);
  is_error(t.answers[0], -32700, "not JSON");
  free_talk(&t);
}

WS_TEST(an_end_in_mid_message) {
  talk t = make_talk();
  serve(&t, PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"meth");
  WS_CHECK_INT(t.count, 1);
  serve(&t, "");
  WS_CHECK_INT(t.count, 0);
  serve_bytes(&t, "{\"a\":1\0}\n" PING, 9 + strlen(PING));
  WS_CHECK_INT(t.count, 2);
  is_error(t.answers[0], -32700, "NUL");
  free_talk(&t);
}

WS_TEST(a_slow_writer) {
  talk t = make_talk();
  int ends[2];
  const char *out = ws_arena_printf(t.arena, "%sout", t.folder);
  WS_CHECK(pipe(ends) == 0);
  pid_t writer = fork();
  if (writer == 0) {
    close(ends[0]);
    for (const char *c = PING PING; *c; c++)
      if (write(ends[1], c, 1) != 1 || usleep(500))
        _exit(1);
    _exit(0);
  }
  close(ends[1]);
  t.options =
      (ws_mcp_options){.tune = &t.tune,
                       .in = ends[0],
                       .out = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666)};
  MUST(ws_mcp_serve(&t.options, diag));
  waitpid(writer, NULL, 0);
  close(ends[0]);
  close(t.options.out);
  read_answers(&t, out);
  WS_CHECK_INT(t.count, 2);
  is_pong(t.answers[1]);
  free_talk(&t);
}

WS_TEST(a_client_that_has_gone) {
  talk t = make_talk();
  int in[2], out[2];
  WS_CHECK(pipe(in) == 0 && pipe(out) == 0);
  close(out[0]);
  WS_CHECK(write(in[1], PING PING, strlen(PING PING)) > 0);
  t.options = (ws_mcp_options){.tune = &t.tune, .in = in[0], .out = out[1]};
  MUST(ws_mcp_serve(&t.options, diag)); /* although in is still open */
  for (int i = 0; i < 2; i++)
    close(in[i]);
  close(out[1]);
  free_talk(&t);
}

static void on_signal(int number) { (void)number; }
WS_TEST(a_signal_ends_it) {
  talk t = make_talk();
  int in[2];
  WS_CHECK(pipe(in) == 0);
  const struct sigaction action = {.sa_handler = on_signal};
  sigaction(SIGALRM, &action, NULL);
  ualarm(50000, 0);
  t.options = (ws_mcp_options){.tune = &t.tune, .in = in[0], .out = 1};
  MUST(ws_mcp_serve(&t.options, diag));
  close(in[0]);
  close(in[1]);
  free_talk(&t);
}

WS_TEST(no_template_no_server) {
  talk t = make_talk();
  t.tune.template_file = "/nowhere/t.ll";
  serve_bytes(&t, PING, strlen(PING));
  WS_CHECK_INT(t.status, WS_INPUT);
  WS_CHECK_CONTAINS(t.diag.text, "/nowhere/t.ll");
  WS_CHECK_INT(t.count, 0);
  free_talk(&t);
}

/* ---- the session ---- */
WS_TEST(a_session_that_cannot_be_opened_is_tried_again) {
  talk t = make_talk();
  fake.fail_open = 1;
  serve(&t, CALL("candidates", "{}") CALL("candidates", "{}")
                CALL("candidates", "{}"));
  WS_CHECK_INT(t.count, 3);
  WS_CHECK_TEXT(result_text(t.answers[0], true), "another run has the archive");
  result_text(t.answers[1], false);
  WS_CHECK_INT(fake.opened, 1);
  WS_CHECK_INT(fake.closed, 1);
  free_talk(&t);
}

WS_TEST(an_interrupted_call_is_the_last) {
  talk t = make_talk();
  serve(&t,
        CALL("submit", "{\"kind\":\"exploit\",\"reply\":\"interrupt\"}") PING);
  WS_CHECK_INT(t.count, 1);
  WS_CHECK_TEXT(result_text(t.answers[0], true), "interrupted");
  WS_CHECK_INT(fake.closed, 1);
  free_talk(&t);
}

WS_TEST(long_calls_show_signs_of_life) {
  talk t = make_talk();
  t.options.beat_seconds = 0.1;
  serve(&t, REQUEST("1", "tools/call",
                    "{\"name\":\"submit\",\"arguments\":{\"kind\":\"exploit\","
                    "\"reply\":\"sleep\"},\"_meta\":{\"progressToken\":"
                    "\"p7\"}}"));
  WS_CHECK(t.count >= 3);
  double before = 0;
  for (int i = 0; i < t.count - 1; i++) {
    const cJSON *params = at(t.answers[i], "params");
    WS_CHECK_TEXT(at(t.answers[i], "method")->valuestring,
                  "notifications/progress");
    WS_CHECK_TEXT(at(params, "progressToken")->valuestring, "p7");
    WS_CHECK(at(params, "progress")->valuedouble > before);
    before = at(params, "progress")->valuedouble;
  }
  result_text(t.answers[t.count - 1], false);
  serve(&t, CALL("submit", "{\"kind\":\"exploit\",\"reply\":\"sleep\"}"));
  WS_CHECK_INT(t.count, 1); /* not asked for */
  serve(&t,
        REQUEST("1", "tools/call",
                "{\"name\":\"candidates\",\"_meta\":{\"progressToken\":3}}"));
  WS_CHECK_INT(t.count, 1); /* done before the first */
  free_talk(&t);
}
