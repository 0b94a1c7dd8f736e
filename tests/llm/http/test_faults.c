/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The three providers against the fault server: what comes of each fault, after
 * how many attempts and within which time, and that the key is in no text. All
 * cases are in flight at once. Waits follow from the rules in transport.c: 0.5
 * s, 1 s, 2 s ..., or Retry-After.
 */
#include "ws_test.h"

#include "fault_client.h"

#include <arpa/inet.h>
#include <fcntl.h>

typedef struct fault_case {
  const char *name; /* of the server's case */
  char vendor;      /* 'o', 'a', 'g' */
  bool stream;
  int retries, attempts;   /* allowed, wanted */
  double attempt_s, least; /* one attempt's limit; the least time it takes */
  const char *error;       /* part of it; NULL: an answer */
  const char *text;
  int prompt_tokens, reply_tokens; /* -1: not looked at */
  bool cut_off;
} fault_case;

#define ANSWER(...) .attempts = 1, .text = "hello", __VA_ARGS__
#define ERROR(words) .error = words, .prompt_tokens = -1, .reply_tokens = -1
#define ONCE(words) .retries = 2, .attempts = 1, ERROR(words)

static const fault_case cases[] = {
    {"good", 'o', ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"good", 'a', ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"good", 'g', ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"good", 'o', true, ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"good", 'a', true, ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"good", 'g', true, ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"parts", 'o', ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"parts", 'o', true, ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    /* "be brief" + "say \"hi\"\n": 17 bytes; 40 bytes. */
    {"no-usage", 'o', .attempts = 1, .prompt_tokens = 4, .reply_tokens = 10,
     .text = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"bad-usage", 'o', .attempts = 1, .prompt_tokens = 4, .reply_tokens = 10,
     .text = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"length", 'o', .attempts = 1, .prompt_tokens = 11, .reply_tokens = 7,
     .text = "half a", .cut_off = true},
    {"anthropic-length", 'a', .cut_off = true,
     ANSWER(.prompt_tokens = 11, .reply_tokens = 7)},
    {"length-empty", 'o', .cut_off = true, ONCE(";max-reply-tokens=N")},
    {"rate-seconds", 'o', .retries = 1, .attempts = 2, .least = 1,
     .text = "hello", .prompt_tokens = 11, .reply_tokens = 7},
    /* Dates have whole seconds: 2 s ahead is more than 1 s away. */
    {"rate-date", 'o', .retries = 1, .attempts = 2, .attempt_s = 1,
     .least = 0.9, .text = "hello", .prompt_tokens = 11, .reply_tokens = 7},
    {"rate-hour", 'o',
     ONCE("HTTP 429: slow down (attempt 1; the next, after "
          "3600.0 s, would be past the 4 s")},
    {"fail-twice", 'o', .retries = 2, .attempts = 3, .least = 1.5,
     .text = "hello", .prompt_tokens = 11, .reply_tokens = 7},
    {"fail", 'o', .retries = 1, .attempts = 2, .least = 0.5,
     .error = "HTTP 503: oops (2 attempts)"},
    {"cut-json", 'o', ONCE("the reply is not a JSON object, or is cut off")},
    {"not-json", 'a', ONCE("the reply is not a JSON object, or is cut off")},
    {"not-utf8", 'o', ONCE("the reply is not valid UTF-8")},
    {"nul", 'o', ONCE("not valid UTF-8 text")},
    {"deep", 'g', ONCE("not a JSON object")},
    {"wrong-types", 'o', ONCE("the reply is empty")},
    {"wrong-types", 'a', ONCE("the reply holds no content")},
    {"wrong-types", 'g', ONCE("the reply holds no candidates")},
    {"no-choices", 'o', .retries = 1, .attempts = 1, .prompt_tokens = 11,
     .error = "the reply holds no choices"},
    {"empty-text", 'o', ONCE("the reply is empty")},
    {"null-text", 'o', ONCE("the reply is empty")},
    {"empty-body", 'o', ONCE("cut off (0 bytes)")},
    {"html", 'o', ONCE("the server sent 'text/html', not JSON")},
    {"no-type", 'o', ONCE("the server sent 'no type', not JSON")},
    {"silent", 'o', .attempts = 1, .attempt_s = 0.5, .least = 0.5,
     ERROR("no complete reply within 0.5 s")},
    {"silent", 'g', .retries = 1, .attempts = 2, .attempt_s = 0.3, .least = 1.1,
     ERROR("no complete reply within 0.3")},
    {"stalled-stream", 'o', true, .attempts = 1, .attempt_s = 0.7, .least = 0.7,
     ERROR("no complete reply within 0.7")},
    {"slow-drip", 'o', .attempts = 1, .attempt_s = 0.7, .least = 0.7,
     ERROR("s; it had begun")},
    /* 100 kB are allowed below, eight times that for a stream. */
    {"huge", 'o', ONCE("larger than the 100000 bytes allowed")},
    {"huge-known", 'o', true, ONCE("larger than the 800000 bytes allowed")},
    {"huge-error", 'a', ONCE("larger than the 100000 bytes allowed")},
    {"partial", 'o', .retries = 1, .attempts = 2, .least = 0.5,
     ERROR("(2 attempts)")},
    {"partial-once", 'o', .retries = 1, .attempts = 2, .least = 0.5,
     .text = "hello", .prompt_tokens = 11, .reply_tokens = 7},
    {"reset", 'o', .retries = 1, .attempts = 2, .least = 0.5,
     ERROR("(2 attempts)")},
    {"reset-once", 'o', .retries = 1, .attempts = 2, .least = 0.5,
     .text = "hello", .prompt_tokens = 11, .reply_tokens = 7},
    {"redirect", 'o', ONCE("HTTP 302; redirects are not followed")},
    {"key-refused", 'o',
     ONCE("HTTP 401; the key from WS_TEST_KEY is refused: "
          "bad key [key], yes: '[key]' 2")},
    {"key-at-cut", 'o', ONCE("[key]")},
    {"key-in-event", 'o', true, ONCE("xxx[key]")},
    {"key-in-text", 'o', .attempts = 1, .text = "your key is [key]!",
     .prompt_tokens = 11, .reply_tokens = 7},
    {"no-model", 'o',
     ONCE("openai:tiny: HTTP 404; no model 'tiny', or no such "
          "path: model 'tiny' not found")},
    {"bad-request", 'o', ONCE("HTTP 400: no [31m such thing")},
    {"plain-error", 'o', ONCE("HTTP 400: upstream is down")},
    {"stream-stops", 'o', true, ONCE("the stream broke off before its end")},
    {"stream-bad-event", 'o', true,
     ONCE("an event of the reply is not a JSON")},
    {"stream-error", 'o', true, ONCE("the server reports: overloaded")},
    {"blocked", 'g', ONCE("the server refused the prompt: SAFETY")},
    {"gemini-array", 'g', ONCE("HTTP 400: no such thing")},
};
enum { CASES = sizeof cases / sizeof *cases };

static const ws__provider *provider_of(char vendor) {
  return vendor == 'o'   ? &ws__provider_openai
         : vendor == 'a' ? &ws__provider_anthropic
                         : &ws__provider_gemini;
}

static const double TOTAL_S = 4;

static void check_case(const fault_case *want, const ws_llm_answer *got) {
  fprintf(stderr, "# %s %c%s: %d attempts, %.2f s: %s%s\n", want->name,
          want->vendor, want->stream ? " stream" : "", got->attempts,
          got->seconds, got->error, got->text);
  double slack = want->attempt_s > 0 ? want->attempt_s * want->attempts : 0;
  WS_CHECK_INT(got->sequence, 42);
  WS_CHECK_INT(got->attempts, want->attempts);
  WS_CHECK(got->seconds >= want->least);
  WS_CHECK(got->seconds <= want->least + slack + 1);
  WS_CHECK_TEXT(got->text, want->error ? "" : want->text);
  if (want->error)
    WS_CHECK_CONTAINS(got->error, want->error);
  else
    WS_CHECK_TEXT(got->error, "");
  WS_CHECK(!strpbrk(got->error, "\n\r\x1b"));
  WS_CHECK(strlen(got->error) <= 700);
  WS_CHECK(!strstr(got->error, "test-key"));
  WS_CHECK_INT(got->cut_off, want->cut_off);
  if (want->prompt_tokens >= 0)
    WS_CHECK_INT(got->prompt_tokens, want->prompt_tokens);
  if (want->reply_tokens >= 0)
    WS_CHECK_INT(got->reply_tokens, want->reply_tokens);
  WS_CHECK_NEAR(got->usd,
                2e-6 * (double)got->prompt_tokens +
                    1e-5 * (double)got->reply_tokens,
                1e-12);
}

/* The key must not be in the command line, which anybody may read. */
static void check_command_line(void) {
  char line[4096] = "";
  int file = open("/proc/self/cmdline", O_RDONLY);
  ssize_t size = read(file, line, sizeof line - 1);
  close(file);
  for (ssize_t i = 0; i + 1 < size; i++)
    line[i] = line[i] ? line[i] : ' ';
  WS_CHECK(size > 0 && !strstr(line, "test-key"));
}

WS_TEST(every_fault_ends_as_one_line_within_its_time) {
  ws_arena *arena = ws_arena_create();
  fault_server server = start_fault_server(false);
  static asked all[CASES];
  double start = ws_clock_ms();
  for (int i = 0; i < CASES; i++) {
    ws_llm_options options = {.request_seconds = cases[i].attempt_s,
                              .total_seconds = TOTAL_S,
                              .retries = cases[i].retries,
                              .reply_bytes = 100000};
    const char *suffix = cases[i].vendor == 'o' ? "/v1" : "";
    all[i] = ask_at(provider_of(cases[i].vendor),
                    ws_arena_printf(arena, "http://127.0.0.1:%d/%s%s/",
                                    server.port, cases[i].name, suffix),
                    cases[i].stream, &options);
  }
  await(all, CASES, arena);
  WS_CHECK(ws_clock_ms() - start < 1000 * (TOTAL_S + 1));
  for (int i = 0; i < CASES; i++)
    check_case(&cases[i], &all[i].answer);
  check_command_line();
  /* The redirect was not followed; no 100 MB were read. */
  WS_CHECK_TEXT(answer_of(&server, "seen", arena).text,
                "stolen=0 huge-was-read=0 proxied=0");
  ws_arena_destroy(arena);
}

WS_TEST(one_provider_has_many_questions_in_flight) {
  enum { COUNT = 20 };
  ws_arena *arena = ws_arena_create();
  fault_server server = start_fault_server(false);
  ws_llm_options options = {.request_seconds = 3, .retries = 0};
  asked one =
      ask_at(&ws__provider_openai,
             ws_arena_printf(arena, "http://127.0.0.1:%d/good/v1", server.port),
             false, &options);
  ws_diag diag;
  for (int i = 1; i < COUNT; i++) {
    ws_llm_question question = {WS_REQUEST_EXPLOIT, 42 + i, "be brief",
                                "say \"hi\"\n", 0};
    WS_CHECK(one.provider->ask(one.state, &question, &diag) == WS_OK);
  }
  int seen[COUNT] = {0};
  for (int taken = 0; taken < COUNT;) {
    bool found;
    ws_llm_answer answer;
    WS_CHECK(one.provider->take(one.state, arena, &found, &answer, &diag) ==
             WS_OK);
    if (!found)
      continue;
    taken++;
    WS_CHECK_TEXT(answer.text, "hello");
    WS_CHECK(answer.sequence >= 42 && answer.sequence < 42 + COUNT);
    seen[answer.sequence - 42]++;
  }
  for (int i = 0; i < COUNT; i++)
    WS_CHECK_INT(seen[i], 1);
  one.provider->destroy(one.state);
  ws_arena_destroy(arena);
}

/* Whatever bytes come, there is a text or a line that says why not. */
WS_TEST(mutated_replies) {
  enum { EACH = 60 };
  ws_arena *arena = ws_arena_create();
  fault_server server = start_fault_server(false);
  ws_llm_options options = {.request_seconds = 5, .retries = 0};
  static asked all[6 * EACH];
  int texts = 0;
  const char *url =
      ws_arena_printf(arena, "http://127.0.0.1:%d/mutated/v1", server.port);
  for (int i = 0; i < 6 * EACH; i += 6) {
    for (int k = 0; k < 6; k++)
      all[i + k] = ask_at(provider_of("oag"[k % 3]), url, k < 3, &options);
    await(all + i, 6, arena);
  }
  for (int i = 0; i < 6 * EACH; i++) {
    const ws_llm_answer *answer = &all[i].answer;
    WS_CHECK((*answer->text == 0) != (*answer->error == 0));
    WS_CHECK(!strpbrk(answer->error, "\n\r"));
    WS_CHECK(answer->prompt_tokens >= 0 && answer->reply_tokens >= 0);
    WS_CHECK(isfinite(answer->usd));
    texts += *answer->text != 0;
  }
  /* Both kinds come up. */
  WS_CHECK(texts > EACH / 2 && texts < 6 * EACH - EACH / 2);
  ws_arena_destroy(arena);
}

WS_TEST(destroy_drops_what_is_in_flight) {
  ws_arena *arena = ws_arena_create();
  fault_server server = start_fault_server(false);
  ws_llm_options options = {.request_seconds = 30, .retries = 0};
  asked one = ask_at(
      &ws__provider_openai,
      ws_arena_printf(arena, "http://127.0.0.1:%d/silent/v1", server.port),
      false, &options);
  ws_diag diag;
  double start = ws_clock_ms();
  for (int i = 0; i < 100 && !one.answered; i++) {
    WS_CHECK(one.provider->take(one.state, arena, &one.answered, &one.answer,
                                &diag) == WS_OK);
    usleep(1000);
  }
  WS_CHECK(!one.answered);
  one.provider->destroy(one.state);
  WS_CHECK(ws_clock_ms() - start < 15000);
  ws_arena_destroy(arena);
}

/* A port that was free a moment ago. */
static int closed_port(void) {
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int it = socket(AF_INET, SOCK_STREAM, 0);
  WS_CHECK(bind(it, (struct sockaddr *)&address, size) == 0 &&
           getsockname(it, (struct sockaddr *)&address, &size) == 0);
  close(it);
  return ntohs(address.sin_port);
}

WS_TEST(nobody_listens) {
  ws_arena *arena = ws_arena_create();
  ws_llm_options options = {.request_seconds = 2, .retries = 1};
  asked one =
      ask_at(&ws__provider_openai,
             ws_arena_printf(arena, "http://127.0.0.1:%d/v1", closed_port()),
             false, &options);
  await(&one, 1, arena);
  WS_CHECK_INT(one.answer.attempts, 2);
  WS_CHECK_CONTAINS(one.answer.error, "127.0.0.1");
  WS_CHECK_CONTAINS(one.answer.error, "(2 attempts)");
  WS_CHECK(one.answer.seconds >= 0.5 && one.answer.seconds < 1.5);
  ws_arena_destroy(arena);
}

/* No certificate of the two is one that the system trusts. */
WS_TEST(tls_is_verified_and_ca_settings_count) {
  ws_arena *arena = ws_arena_create();
  fault_server server = start_fault_server(true);
  if (!server.tls_good_port)
    WS_SKIP("no openssl command to make certificates with");
  const struct {
    const char *variable, *file; /* NULL: none */
    int port;
    bool good;
  } tries[] = {{"SSL_CERT_FILE", "good.pem", server.tls_good_port, true},
               {"CURL_CA_BUNDLE", "good.pem", server.tls_good_port, true},
               {NULL, NULL, server.tls_good_port, false},
               {"SSL_CERT_FILE", "wrong.pem", server.tls_good_port, false},
               {"SSL_CERT_FILE", "wrong.pem", server.tls_wrong_port, false},
               {"SSL_CERT_FILE", "none.pem", server.tls_good_port, false}};
  ws_llm_options options = {.request_seconds = 3, .retries = 3};
  for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
    unsetenv("SSL_CERT_FILE");
    unsetenv("CURL_CA_BUNDLE");
    if (tries[i].variable)
      setenv(tries[i].variable,
             ws_arena_printf(arena, "%s/%s", server.folder, tries[i].file), 1);
    asked one = ask_at(
        &ws__provider_openai,
        ws_arena_printf(arena, "https://127.0.0.1:%d/good/v1", tries[i].port),
        false, &options);
    await(&one, 1, arena);
    fprintf(stderr, "# %zu: %s%s\n", i, one.answer.text, one.answer.error);
    WS_CHECK_TEXT(one.answer.text, tries[i].good ? "hello" : "");
    WS_CHECK_INT(one.answer.attempts, 1);
    WS_CHECK(one.answer.seconds < 1);
  }
  ws_arena_destroy(arena);
}

/* Loopback is asked directly; other plain HTTP goes where http_proxy says.
 * Without a key, for one would be refused there. */
WS_TEST(the_proxy_of_the_environment_is_used) {
  ws_arena *arena = ws_arena_create();
  fault_server server = start_fault_server(false);
  unsetenv("no_proxy");
  unsetenv("NO_PROXY");
  setenv("http_proxy",
         ws_arena_printf(arena, "http://127.0.0.1:%d", server.port), 1);
  setenv("OPENAI_API_KEY", TEST_KEY, 1); /* named by nobody: not sent */
  ws__spec spec = {.provider = "openai",
                   .url = "http://model.invalid/echo/v1",
                   .model = "tiny",
                   .temperature = -1};
  ws_llm_options options = {.request_seconds = 2, .retries = 0};
  ws_llm_question question = {WS_REQUEST_WRITE, 42, "", "hi", 0};
  asked one = {.provider = &ws__provider_openai};
  ws_diag diag;
  WS_CHECK(one.provider->create(&spec, &options, &one.state, &diag) == WS_OK);
  WS_CHECK(one.provider->ask(one.state, &question, &diag) == WS_OK);
  await(&one, 1, arena);
  WS_CHECK_CONTAINS(one.answer.text, "\"Host\": \"model.invalid\"");
  WS_CHECK(!strstr(one.answer.text, "uthorization"));
  WS_CHECK_CONTAINS(answer_of(&server, "seen", arena).text, "proxied=1");
  ws_arena_destroy(arena);
}
