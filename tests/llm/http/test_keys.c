/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where keys may come from and go to; which addresses are taken. Nothing is
 * sent here.
 */
#include "ws_test.h"

#include "llm/endpoint.h"
#include "llm/keys.h"
#include "llm/provider.h"

#include <sys/stat.h>

static char *write_key_file(ws_arena *arena, const char *text, mode_t mode) {
  char *path = ws_arena_strdup(arena, "/tmp/ws-key-XXXXXX");
  int file = mkstemp(path);
  WS_CHECK(file >= 0 && fchmod(file, mode) == 0);
  WS_CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
  close(file);
  return path;
}

WS_TEST(key_files) {
  static const struct {
    const char *text;
    mode_t mode;
    const char *secret, *error;
  } files[] = {
      {"  abc-123\n", 0600, "abc-123", ""},
      {"abc-123", 0400, "abc-123", ""},
      {"abc-123", 0640, NULL, "others may read the key file (mode 640); chmod"},
      {"abc-123", 0602, NULL, "others may read the key file (mode 602)"},
      {"\n \n", 0600, NULL, "is empty"},
      {"abc def", 0600, NULL, "not one word of printable ASCII"},
      {"abc\r\nX-Evil: 1", 0600, NULL, "not one word of printable ASCII"},
      {"abc\x7f", 0600, NULL, "not one word of printable ASCII"},
      {"\xc3\xa4", 0600, NULL, "not one word of printable ASCII"},
  };
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const char *path = write_key_file(arena, files[i].text, files[i].mode);
    ws__key key;
    ws_diag diag = {""};
    ws_status status = ws__key_read(NULL, path, "UNUSED", &key, &diag);
    WS_CHECK_INT(status, files[i].secret ? WS_OK : WS_ENVIRONMENT);
    WS_CHECK_CONTAINS(diag.text, files[i].error);
    WS_CHECK(!strstr(diag.text, "abc"));
    if (files[i].secret)
      WS_CHECK_TEXT(key.secret, files[i].secret);
    ws__key_wipe(&key);
    WS_CHECK(!key.secret);
    remove(path);
  }
  ws_arena_destroy(arena);
}

WS_TEST(key_files_that_are_no_files) {
  ws_arena *arena = ws_arena_create();
  char *path = write_key_file(arena, "", 0600);
  ws__key key;
  ws_diag diag;
  remove(path);
  WS_CHECK_INT(ws__key_read(NULL, path, "U", &key, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "cannot be read: No such file");
  WS_CHECK(mkfifo(path, 0600) == 0); /* would wait for ever */
  WS_CHECK_INT(ws__key_read(NULL, path, "U", &key, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "must be a regular file");
  remove(path);
  char *large = ws_arena_alloc(arena, 5001);
  memset(large, 'k', 5000);
  path = write_key_file(arena, large, 0600);
  WS_CHECK_INT(ws__key_read(NULL, path, "U", &key, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "too large");
  setenv("WS_LARGE", large, 1);
  WS_CHECK_INT(ws__key_read("WS_LARGE", NULL, "U", &key, &diag),
               WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "too long");
  remove(path);
  ws_arena_destroy(arena);
}

WS_TEST(key_variables) {
  ws__key key;
  ws_diag diag;
  setenv("WS_A", " key-a ", 1);
  setenv("WS_B", "key-b", 1);
  WS_CHECK_INT(ws__key_read("WS_A", NULL, "WS_B", &key, &diag), WS_OK);
  WS_CHECK_TEXT(key.secret, "key-a");
  WS_CHECK_TEXT(key.source, "WS_A");
  ws__key_wipe(&key);
  WS_CHECK_INT(ws__key_read(NULL, NULL, "WS_B", &key, &diag), WS_OK);
  WS_CHECK_TEXT(key.secret, "key-b");
  ws__key_wipe(&key);
  WS_CHECK_INT(ws__key_read(NULL, NULL, "WS_NONE", &key, &diag), WS_OK);
  WS_CHECK(!key.secret);
  WS_CHECK_INT(ws__key_read("WS_NONE", NULL, "WS_B", &key, &diag),
               WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "WS_NONE is not set");
}

WS_TEST(scrub) {
  ws_arena *arena = ws_arena_create();
  char secret[] = "abab";
  ws__key key = {secret, "X"}, none = {NULL, "X"};
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "abababab, ab, abab"),
                "[key][key], ab, [key]");
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "nothing"), "nothing");
  WS_CHECK_TEXT(ws__key_scrub(&none, arena, "abab"), "abab");
  ws_arena_destroy(arena);
}

/* Encodings by other hands: python3's urllib.parse, json, html, base64 and
 * binascii of sk-Test_42+/=Zz and of texts around it. */
WS_TEST(scrub_of_encoded_keys) {
  static const char *const hidden[] = {
      "sk-Test_42+/=Zz",
      "SK-TEST_42+/=ZZ",
      "sk-Test_42%2B%2F%3DZz",
      "sk-Test_42%2b/%3dZz",
      "%73%6b%2d%54%65%73%74%5f%34%32%2b%2f%3d%5a%7a",
      "sk-Test_42%252B%252F%253DZz",
      "sk-Test_42+\\/=Zz",
      "\\u0073\\u006b-Test\\u005f42\\u002b\\/=Zz",
      "\\\\u0073k-Test_42+/=Zz",
      "\\x73\\x6b-Test_42+/=Zz",
      "sk-Test_42&#43;&#47;&#x3D;Zz",
      "sk-Test_42&plus;&sol;&equals;Zz",
      "&amp;#115;k-Test&lowbar;42+/=Zz",
      "sk-Test_42+/=3DZz",
      "736b2d546573745f34322b2f3d5a7a",
      "736B2D546573745F34322B2F3D5A7A",
      "73:6b:2d:54:65:73:74:5f:34:32:2b:2f:3d:5a:7a",
      "0x73, 0x6b, 0x2d, 0x54, 0x65, 0x73, 0x74, 0x5f, 0x34, 0x32, 0x2b, "
      "0x2f, 0x3d, 0x5a, 0x7a",
      "c2stVGVzdF80MisvPVp6",         /* the key */
      "c2stVGVzdF80MisvPVp6Cg==",     /* and a line end */
      "Y2stVGVzdF80MisvPVp6",         /* not the key: "ck-Test..." */
      "OnNrLVRlc3RfNDIrLz1aejo=",     /* ":" before and after */
      "YTpzay1UZXN0XzQyKy89Wno=",     /* "a:" before */
      "dXNlcjpzay1UZXN0XzQyKy89Wno",  /* "user:", without padding */
      "YTpzay1UZXN0\r\nXzQyKy89Wno=", /* wrapped */
  };
  ws_arena *arena = ws_arena_create();
  char secret[] = "sk-Test_42+/=Zz";
  ws__key key = {secret, "X"};
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
    bool other = !strncmp(hidden[i], "Y2s", 3);
    const char *clean = ws__key_scrub(
        &key, arena, ws_arena_printf(arena, "bad key '%s'!", hidden[i]));
    if (strstr(clean, "[key]") ? other : !other)
      WS_FAIL("%s: %s", hidden[i], clean);
    WS_CHECK(!strncmp(clean, "bad key '", 9) &&
             !strcmp(clean + strlen(clean) - 2, "'!"));
  }
  /* Cut off, in the last place only. */
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "got sk-Test_42"), "got [key]");
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "sk-Test_42."), "sk-Test_42.");
  /* Ends within every kind of escape. */
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "%"), "%");
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "s\\"), "s\\");
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "&amp;"), "&amp;");
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "&#x"), "&#x");
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "\\u00"), "\\u00");
  WS_CHECK_TEXT(ws__key_scrub(&key, arena, "73 6b 2"), "73 6b 2");
  ws_arena_destroy(arena);
}

WS_TEST(addresses) {
  static const struct {
    const char *url;
    bool encrypted, loopback;
    const char *base, *error;
  } urls[] = {
      {"http://127.0.0.1:8080/v1/", false, true, "http://127.0.0.1:8080/v1", 0},
      {"http://localhost", false, true, "http://localhost", NULL},
      {"http://a.localhost/", false, true, "http://a.localhost", NULL},
      {"http://[::1]:80/v1", false, true, "http://[::1]:80/v1", NULL},
      {"http://127.1/", false, true, "http://127.1", NULL},
      {"HTTPS://api.example/v1", true, false, "HTTPS://api.example/v1", NULL},
      {"http://128.0.0.1", false, false, "http://128.0.0.1", NULL},
      {"http://127.0.0.1.example", false, false, "http://127.0.0.1.example", 0},
      {"http://localhost.example", false, false, "http://localhost.example", 0},
      {"http://notlocalhost", false, false, "http://notlocalhost", NULL},
      {"ftp://127.0.0.1/", false, false, "", "not with ftp://"},
      {"file:///etc/passwd", false, false, "", "not with file://"},
      {"", false, false, "", "not an address"},
      {"http://", false, false, "", "not an address"},
      {"http://a b/", false, false, "", "not an address"},
      {"http://user:secret@h/", false, false, "", "no user, password"},
      {"http://secret@h/", false, false, "", "no user, password"},
      {"http://h/?key=secret", false, false, "", "no user, password"},
  };
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    ws__endpoint endpoint;
    ws_diag diag = {""};
    ws_status status = ws__endpoint_parse(arena, urls[i].url, &endpoint, &diag);
    fprintf(stderr, "# %s: %s\n", urls[i].url, diag.text);
    WS_CHECK_INT(status, urls[i].error ? WS_USAGE : WS_OK);
    if (urls[i].error) {
      WS_CHECK_CONTAINS(diag.text, urls[i].error);
      WS_CHECK(!strstr(diag.text, "secret"));
      continue;
    }
    WS_CHECK_INT(endpoint.encrypted, urls[i].encrypted);
    WS_CHECK_INT(endpoint.loopback, urls[i].loopback);
    WS_CHECK_TEXT(endpoint.base, urls[i].base);
  }
  ws_arena_destroy(arena);
}

/* Which provider may start with which key to which place. */
WS_TEST(who_may_start) {
  static const struct {
    const ws__provider *provider;
    const char *url, *variable, *model;
    ws_status status;
    const char *error;
  } starts[] = {
      {&ws__provider_openai, "http://127.0.0.1/v1", NULL, "m", WS_OK, ""},
      {&ws__provider_openai, "http://127.0.0.1/v1", NULL, "", WS_OK, ""},
      {&ws__provider_openai, "http://10.0.0.1/v1", NULL, "m", WS_OK, ""},
      {&ws__provider_openai, "http://127.0.0.1/v1", "WS_SET", "m", WS_OK, ""},
      {&ws__provider_openai, "https://h/v1", "WS_SET", "m", WS_OK, ""},
      {&ws__provider_openai, "", NULL, "m", WS_USAGE,
       "openai needs the server's address"},
      {&ws__provider_openai, "https://h/v1", NULL, "m", WS_ENVIRONMENT,
       "no key: set OPENAI_API_KEY, or add ;key="},
      {&ws__provider_openai, "http://10.0.0.1/v1", "WS_SET", "m", WS_USAGE,
       "a key is not sent to 10.0.0.1 without encryption"},
      {&ws__provider_openai, "http://127.0.0.1/", "WS_UNSET", "m",
       WS_ENVIRONMENT, "WS_UNSET is not set"},
      {&ws__provider_anthropic, "", "WS_SET", "m", WS_OK, ""},
      {&ws__provider_anthropic, "", NULL, "m", WS_ENVIRONMENT,
       "set ANTHROPIC_API_KEY"},
      {&ws__provider_anthropic, "", "WS_SET", "", WS_USAGE, "needs a model"},
      {&ws__provider_anthropic, "http://proxy.example", NULL, "m", WS_USAGE,
       "without encryption"},
      {&ws__provider_gemini, "", "WS_SET", "m", WS_OK, ""},
      {&ws__provider_gemini, "", NULL, "m", WS_ENVIRONMENT,
       "set GEMINI_API_KEY"},
      {&ws__provider_gemini, "http://127.0.0.1", NULL, "m", WS_ENVIRONMENT,
       "no key"},
  };
  setenv("WS_SET", "key-1", 1);
  unsetenv("OPENAI_API_KEY");
  unsetenv("ANTHROPIC_API_KEY");
  unsetenv("GEMINI_API_KEY");
  ws_llm_options options = {.retries = -1};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    ws__spec spec = {.url = starts[i].url,
                     .model = starts[i].model,
                     .key_variable = starts[i].variable,
                     .temperature = -1};
    void *state;
    ws_diag diag = {""};
    ws_status status =
        starts[i].provider->create(&spec, &options, &state, &diag);
    fprintf(stderr, "# %zu: %s\n", i, diag.text);
    WS_CHECK_INT(status, starts[i].status);
    WS_CHECK_CONTAINS(diag.text, starts[i].error);
    starts[i].provider->destroy(state);
  }
}
