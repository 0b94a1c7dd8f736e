/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lists of paths in the environment: any path comes back as it was added, once.
 */
#include "wavesmith/base.h"
#include "ws_test.h"

static const char variable[] = "WS_TEST_PATHS";

static void check_paths(const char *const *want, int want_count) {
  int count;
  ws_arena *arena = ws_arena_create();
  const char *const *paths = ws_environment_paths(arena, variable, &count);
  WS_CHECK_INT(count, want_count);
  for (int i = 0; i < count; i++)
    WS_CHECK_TEXT(paths[i], want[i]);
  ws_arena_destroy(arena);
}

WS_TEST(paths_come_back_as_they_were_added) {
  static const char *const paths[] = {
      "/a/one.so", "/b:c/two.so", "/d\\e/three.so",        "/f\\:g",
      ":",         "\\",          "/with blank\nand line", "/caf\xc3\xa9"};
  enum { COUNT = sizeof paths / sizeof *paths };
  unsetenv(variable);
  check_paths(NULL, 0);
  for (int i = 0; i < COUNT; i++) {
    ws_environment_add_path(variable, paths[i]);
    check_paths(paths, i + 1);
  }
  for (int i = 0; i < COUNT; i++)
    ws_environment_add_path(variable, paths[i]);
  check_paths(paths, COUNT);
}

WS_TEST(a_part_of_another_is_not_that) {
  static const char *const paths[] = {"/a/bc.json", "/a/b", "a/bc.json", "/a"};
  unsetenv(variable);
  for (int i = 0; i < 4; i++)
    ws_environment_add_path(variable, paths[i]);
  check_paths(paths, 4);
}

WS_TEST(what_a_shell_wrote_is_read) {
  static const char *const paths[] = {"/a.so", "/b.so"};
  setenv(variable, ":/a.so::/b.so:", 1);
  check_paths(paths, 2);
  ws_environment_add_path(variable, "/b.so");
  WS_CHECK_TEXT(getenv(variable), ":/a.so::/b.so:");
  setenv(variable, "", 1);
  check_paths(NULL, 0);
  ws_environment_add_path(variable, "/a.so");
  WS_CHECK_TEXT(getenv(variable), "/a.so");
  ws_environment_add_path(variable, "/b:c.so");
  WS_CHECK_TEXT(getenv(variable), "/a.so:/b\\:c.so"); /* as base.h says */
}
