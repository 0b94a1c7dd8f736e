/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A folder for one test, and looking into its files.
 */
#ifndef WAVESMITH_TEST_BATCH_FOLDER_H
#define WAVESMITH_TEST_BATCH_FOLDER_H

#include "batch_internal.h"
#include "ws_test.h"

#include <libgen.h>

static ws_arena *arena;
static ws_diag fault;
static const char *folder;

static inline void make_folder(void) {
  char name[] = "/tmp/ws-batch-XXXXXX";
  arena = ws_arena_create();
  WS_CHECK(mkdtemp(name));
  folder = ws_arena_printf(arena, "%s/b", name);
}

static inline void remove_folder(void) {
  char *above = dirname(ws_arena_strdup(arena, folder));
  pid_t child = fork();
  if (child == 0) {
    execlp("rm", "rm", "-rf", above, (char *)NULL);
    _exit(1);
  }
  waitpid(child, NULL, 0);
  ws_arena_destroy(arena);
}

static inline const char *path_of(const char *name) {
  return ws_arena_printf(arena, "%s/%s", folder, name);
}

static inline void append(const char *name, const char *text) {
  FILE *file = fopen(path_of(name), "a");
  WS_CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

/* Beside the folder, which need not be there. */
static inline const char *beside(const char *name) {
  return ws_arena_printf(arena, "%s/%s",
                         dirname(ws_arena_strdup(arena, folder)), name);
}

static inline const char *read_text(const char *path) {
  char *text;
  size_t size;
  WS_CHECK(ws_file_read(arena, path, &text, &size, &fault) == WS_OK);
  return ws_arena_strdup(arena, text); /* a copy that GCC believes in */
}

static inline const char *content(const char *name) {
  return read_text(path_of(name));
}

static inline int count_lines(const char *name) {
  int count = 0;
  for (const char *c = content(name); *c; c++)
    count += *c == '\n';
  return count;
}

#endif
