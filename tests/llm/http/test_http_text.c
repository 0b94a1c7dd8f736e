/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Events of a stream, UTF-8 and the one line for a server's words.
 */
#include "ws_test.h"

#include "llm/http_text.h"
#include "llm/sse.h"
#include "wavesmith/text.h"

/* Each event in brackets. */
static bool gather(const char *data, size_t size, void *context) {
  WS_CHECK_INT(strlen(data), size);
  ws_strbuf_printf(context, "[%s]", data);
  return strcmp(data, "stop") != 0;
}

WS_TEST(events) {
  static const struct {
    const char *stream, *events;
  } streams[] = {
      {"", ""},
      {"data: a\n\ndata:b\n\n", "[a][b]"},
      {"data: a\r\n\r\ndata: b\r\rdata: c\n\n", "[a][b][c]"},
      {"event: x\nid: 1\n: comment\ndata: a\nretry: 5\n\n", "[a]"},
      {"data: a\ndata: b\n\n", "[a\nb]"},
      {"data:\n\n", "[]"},
      {"data:  a\n\n", "[ a]"},
      {"\n\n\ndata: a\n\n\n", "[a]"},
      {"data: a\n\ndata: whole line, no end\n", "[a]"},
      {"data: a\n\ndata: no end", "[a]"},
      {"data: stop\n\ndata: more\n\n", "[stop]"},
      {"data", ""},
      {"database: a\n\n", ""},
      {"\n", ""},
      {"data: a\r\n", ""},
  };
  for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
    ws_strbuf events;
    ws_strbuf_init(&events);
    /* A copy of the exact size, so that ASan sees one byte too far. */
    size_t size = strlen(streams[i].stream);
    char *copy = malloc(size ? size : 1);
    memcpy(copy, streams[i].stream, size);
    ws__sse_each(copy, size, gather, &events);
    WS_CHECK_TEXT(events.data, streams[i].events);
    free(copy);
    ws_strbuf_deinit(&events);
  }
}

/* From the table of Unicode 15, section 3.9, and Markus Kuhn's cases. */
WS_TEST(utf8) {
  static const char *const good[] = {"",
                                     "a\n",
                                     "\xc2\x80",
                                     "\xdf\xbf",
                                     "\xe0\xa0\x80",
                                     "\xed\x9f\xbf",
                                     "\xee\x80\x80",
                                     "\xef\xbf\xbf",
                                     "\xf0\x90\x80\x80",
                                     "\xf4\x8f\xbf\xbf"};
  static const char *const bad[] = {"\x80",
                                    "\xbf",
                                    "\xc0\x80",
                                    "\xc1\xbf",
                                    "\xc2",
                                    "\xc2z",
                                    "\xe0\x9f\xbf",
                                    "\xe0\xa0",
                                    "\xe1\x80z",
                                    "\xed\xa0\x80",
                                    "\xed\xbf\xbf",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf0\x90\x80",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xfe",
                                    "\xff",
                                    "a\xc3"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    WS_CHECK(ws_text_is_utf8(good[i], strlen(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    fprintf(stderr, "# bad %zu\n", i);
    WS_CHECK(!ws_text_is_utf8(bad[i], strlen(bad[i])));
  }
}

WS_TEST(one_line) {
  static const struct {
    const char *text, *line;
  } lines[] = {{"", ""},
               {"plain", "plain"},
               {"  a \t\r\n b  ", "a b"},
               {"\x1b[31mred\x7f", "[31mred"},
               {"\xc3\xa4\xff", "\xc3\xa4?"},
               {"123456789012", "123456789012"},
               {"1234567890123", "1234567890123"},
               {"1234567890123456", "1234567890123456"},
               {"12345678901234567", "1234567890123..."},
               {"123456789012\xc3\xa4zzzz", "123456789012..."}};
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    WS_CHECK_TEXT(ws__text_one_line(arena, lines[i].text, 16), lines[i].line);
  ws_arena_destroy(arena);
}
