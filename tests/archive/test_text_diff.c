/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Unified differences: known ones, and patch(1) must turn the old text into the
 * new one.
 */
#include "fixture.h"
#include "text_diff.h"

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  WS_CHECK(file && fputs(text, file) >= 0);
  fclose(file);
}

static char *difference(ws_arena *arena, const char *a, const char *b) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  MUST(text_diff(&out, "old", "new", a, b, diag));
  char *text = ws_arena_strndup(arena, out.data, out.size);
  ws_strbuf_deinit(&out);
  return text;
}

WS_TEST(known_differences) {
  static const struct {
    const char *a, *b, *want;
  } cases[] = {
      {"", "", ""},
      {"a\nb\n", "a\nb\n", ""},
      {"a\n", "b\n", "--- old\n+++ new\n@@ -1 +1 @@\n-a\n+b\n"},
      {"", "b\n", "--- old\n+++ new\n@@ -0,0 +1 @@\n+b\n"},
      {"a\n", "", "--- old\n+++ new\n@@ -1 +0,0 @@\n-a\n"},
      {"a\nb\n", "a\nb",
       "--- old\n+++ new\n@@ -1,2 +1,2 @@\n a\n-b\n+b\n"
       "\\ No newline at end of file\n"},
      {"1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nx\n6\n7\n8\n",
       "--- old\n+++ new\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
      /* Six lines between two changes share their context, seven do not. */
      {"a\n1\n2\n3\n4\n5\n6\nb\n", "x\n1\n2\n3\n4\n5\n6\ny\n",
       "--- old\n+++ new\n@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n"
       "-b\n+y\n"},
      {"a\n1\n2\n3\n4\n5\n6\n7\nb\n", "x\n1\n2\n3\n4\n5\n6\n7\ny\n",
       "--- old\n+++ new\n@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n"
       "@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n"},
  };
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    WS_CHECK_TEXT(difference(arena, cases[i].a, cases[i].b), cases[i].want);
  ws_arena_destroy(arena);
}

/* Lines of few letters, so that there is much to match. */
static char *random_text(ws_arena *arena, ws_rng *rng, int most) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  int count = (int)ws_rng_below(rng, (uint64_t)most + 1);
  for (int i = 0; i < count; i++)
    ws_strbuf_printf(&text, "%c%s", 'a' + (int)ws_rng_below(rng, 5),
                     i + 1 < count || ws_rng_below(rng, 4) ? "\n" : "");
  char *copy = ws_arena_strndup(arena, text.data, text.size);
  ws_strbuf_deinit(&text);
  return copy;
}

static void must_succeed(const char *command) {
  FILE *pipe = popen(command, "r");
  WS_CHECK(pipe);
  int status = pclose(pipe);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    WS_FAIL("`%s` gives %d", command, status);
}

WS_TEST(patch_makes_the_new_of_the_old) {
  if (access("/usr/bin/patch", X_OK) != 0)
    WS_SKIP("patch is not installed");
  ws_arena *arena = ws_arena_create();
  char *path = fixture_path(arena, "x");
  *strrchr(path, '/') = '\0';
  WS_CHECK(chdir(path) == 0);
  ws_rng rng;
  ws_rng_init(&rng, 5);
  for (int round = 0; round < 150; round++) {
    char *a = random_text(arena, &rng, round < 100 ? 12 : 200);
    char *b = random_text(arena, &rng, round < 100 ? 12 : 200);
    char *ours = difference(arena, a, b);
    write_text("old", a);
    write_text("new", b);
    write_text("ours", ours);
    if (*ours)
      must_succeed("cp old got && patch -s got ours && cmp got new");
    else
      WS_CHECK_TEXT(a, b);
  }
  WS_CHECK(chdir("/") == 0);
  fixture_remove(arena, ws_arena_printf(arena, "%s/x", path));
  ws_arena_destroy(arena);
}

/* More than a pipe holds. */
WS_TEST(large_texts_without_a_common_line) {
  ws_arena *arena = ws_arena_create();
  ws_strbuf a, b;
  ws_strbuf_init(&a);
  ws_strbuf_init(&b);
  for (int i = 0; i < 20000; i++) {
    ws_strbuf_printf(&a, "old %d\n", i);
    ws_strbuf_printf(&b, "new %d\n", i);
  }
  char *text = difference(arena, a.data, b.data);
  int lines = 0;
  for (const char *at = text; (at = strchr(at, '\n')); at++)
    lines++;
  WS_CHECK_INT(lines, 3 + 40000);
  WS_CHECK_CONTAINS(text, "@@ -1,20000 +1,20000 @@\n-old 0\n");
  ws_strbuf_deinit(&a);
  ws_strbuf_deinit(&b);
  ws_arena_destroy(arena);
}
