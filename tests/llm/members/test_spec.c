/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Specs of members: what is read, what is refused and how, and that nothing
 * that could be a secret is repeated.
 */
#include "spec.h"
#include "ws_test.h"

static ws__spec read_ok(ws_arena *arena, const char *text) {
  ws__spec spec;
  ws_diag diag = {""};
  if (ws__spec_read(arena, text, &spec, &diag) != WS_OK)
    WS_FAIL("'%s': %s", text, diag.text);
  return spec;
}

WS_TEST(all_parts_are_read) {
  ws_arena *arena = ws_arena_create();
  ws__spec spec = read_ok(
      arena, "openai:http://localhost:8080/v1#qwen3:8b;weight=2.5;price=3/15;"
             "key=MY_KEY;stream;max-reply-tokens=500;temperature=0.5");
  WS_CHECK_TEXT(spec.provider, "openai");
  WS_CHECK_TEXT(spec.url, "http://localhost:8080/v1");
  WS_CHECK_TEXT(spec.model, "qwen3:8b");
  WS_CHECK_TEXT(spec.path, "");
  WS_CHECK_NEAR(spec.weight, 2.5, 0);
  WS_CHECK_NEAR(spec.usd_in, 3, 0);
  WS_CHECK_NEAR(spec.usd_out, 15, 0);
  WS_CHECK_TEXT(spec.key_variable, "MY_KEY");
  WS_CHECK(!spec.key_file && spec.stream);
  WS_CHECK_INT(spec.max_reply_tokens, 500);
  WS_CHECK_NEAR(spec.temperature, 0.5, 0);
  WS_CHECK_TEXT(ws__spec_name(arena, &spec), "openai:qwen3:8b");
  ws_arena_destroy(arena);
}

WS_TEST(what_is_left_out_has_a_default) {
  ws_arena *arena = ws_arena_create();
  ws__spec spec = read_ok(arena, "anthropic:#claude");
  WS_CHECK_TEXT(spec.url, "");
  WS_CHECK_TEXT(spec.model, "claude");
  WS_CHECK_NEAR(spec.weight, 1, 0);
  WS_CHECK(spec.usd_in < 0 && spec.usd_out < 0 && spec.temperature < 0);
  WS_CHECK(!spec.key_variable && !spec.key_file && !spec.stream);
  WS_CHECK_INT(spec.max_reply_tokens, 16384);
  WS_CHECK_TEXT(read_ok(arena, "gemini:https://h/x#g").url, "https://h/x");
  WS_CHECK_TEXT(read_ok(arena, "gemini:#g;key-file=/a/b").key_file, "/a/b");
  spec = read_ok(arena, "exchange:/tmp/a:b;price=0/0");
  WS_CHECK_TEXT(spec.path, "/tmp/a:b");
  WS_CHECK_TEXT(ws__spec_name(arena, &spec), "exchange");
  WS_CHECK_TEXT(read_ok(arena, "replay-any:x.jsonl").path, "x.jsonl");
  WS_CHECK_TEXT(read_ok(arena, "builtin;weight=3").provider, "builtin");
  ws_arena_destroy(arena);
}

/* Every refusal names the spec (its safe part), and what is wrong with it. */
static const struct refusal {
  const char *text, *spec, *part;
} refusals[] = {
    {"", "''", "unknown provider"},
    {"gpt:x", "'gpt:x'",
     "unknown provider; there are: openai:BASE_URL#MODEL, "
     "anthropic:[BASE_URL]#MODEL, gemini:[BASE_URL]#MODEL, "
     "exchange:DIR, replay:FILE, replay-any:FILE, builtin"},
    {"openai", "'openai'", "wanted is openai:BASE_URL#MODEL"},
    {"openai:http://h/v1", "'openai:http://h/v1'", "the model is missing"},
    {"openai:http://h/v1#", "'openai:http://h/v1#'", "the model is missing"},
    {"openai:#m", "'openai:#m'", "the URL is missing"},
    {"openai:h:80#m", "'openai:h:80#m'", "http:// or https://"},
    {"openai:ftp://h#m", "'openai:ftp://h#m'", "http:// or https://"},
    {"openai:http://#m", "'openai:http://#m'", "no URL"},
    {"openai:http://a b#m", "'openai:http://a b#m'", "no URL"},
    {"exchange", "'exchange'", "the path is missing"},
    {"exchange:", "'exchange:'", "the path is missing"},
    {"builtin:x", "'builtin:x'", "nothing may follow"},
    {"builtin;stream", "'builtin'",
     "unknown option 'stream'; this provider "
     "takes: weight="},
    {"replay:f;weight=1", "'replay:f'", "takes: none"},
    {"exchange:d;weight=0", "'exchange:d'", "weight= must be"},
    {"exchange:d;weight=nan", "'exchange:d'", "weight= must be"},
    {"exchange:d;weight=1x", "'exchange:d'", "weight= must be"},
    {"exchange:d;weight", "'exchange:d'", "weight lacks its value"},
    {"exchange:d;weight=1;weight=1", "'exchange:d'", "weight is given twice"},
    {"exchange:d;", "'exchange:d'", "unknown option"},
    {"gemini:#m;price=3", "'gemini:#m'", "price= must be IN/OUT"},
    {"gemini:#m;price=-3/4", "'gemini:#m'", "price= must be IN/OUT"},
    {"gemini:#m;price=3/4/5", "'gemini:#m'", "price= must be IN/OUT"},
    {"gemini:#m;stream=1", "'gemini:#m'", "stream takes no value"},
    {"gemini:#m;max-reply-tokens=0", "'gemini:#m'", "from 1 to 10000000"},
    {"gemini:#m;max-reply-tokens=9999999999999999999", "'gemini:#m'",
     "from 1 to 10000000"},
    {"gemini:#m;temperature=3", "'gemini:#m'", "from 0 to 2"},
    {"gemini:#m;key-file=", "'gemini:#m'", "lacks its path"},
    {"gemini:#m;key=A;key-file=b", "'gemini:#m'", "both given"},
};

WS_TEST(refusals_name_spec_and_part) {
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    ws__spec spec;
    ws_diag diag = {""};
    if (ws__spec_read(arena, refusals[i].text, &spec, &diag) != WS_USAGE)
      WS_FAIL("'%s' is accepted", refusals[i].text);
    WS_CHECK_CONTAINS(diag.text, refusals[i].spec);
    WS_CHECK_CONTAINS(diag.text, refusals[i].part);
  }
  ws_arena_destroy(arena);
}

/* Wherever someone puts a secret by mistake, the message does not hold it. */
static const char *const leaks[] = {
    "openai:http://user:SECRET@host/v1#m",
    "openai:http://host/v1?key=SECRET#m",
    "openai:http://host/v1#m;key=sk-SECRET",
    "openai:http://host/v1#m;api-key=SECRET",
    "openai:http://host/v1#m;SECRET-0123456789",
    "openai:http://host/v1#m;weight=SECRET",
    "openai:http://host/v1#m;key=A;key-file=SECRET",
    "sk-ant-0123456789-SECRET-0123456789",
};

WS_TEST(secrets_are_not_repeated) {
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof leaks / sizeof leaks[0]; i++) {
    ws__spec spec;
    ws_diag diag = {""};
    WS_CHECK(ws__spec_read(arena, leaks[i], &spec, &diag) == WS_USAGE);
    if (strstr(diag.text, "SECRET"))
      WS_FAIL("'%s' is repeated: %s", leaks[i], diag.text);
  }
  ws_arena_destroy(arena);
}
