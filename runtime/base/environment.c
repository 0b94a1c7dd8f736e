/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lists of paths that children inherit. Paths may hold anything: what is no
 * separator stands behind a backslash.
 */
#include "wavesmith/base.h"

#include <stdlib.h>
#include <string.h>

static const char separator = ':', escape = '\\';

/* The next path of a list, at *list; NULL behind the last. */
static const char *next_path(ws_arena *arena, const char **list) {
  while (**list == separator)
    ++*list;
  if (!**list)
    return NULL;
  char *path = ws_arena_alloc(arena, strlen(*list) + 1), *end = path;
  for (; **list && **list != separator; ++*list) {
    if (**list == escape && (*list)[1])
      ++*list;
    *end++ = **list;
  }
  return path;
}

const char *const *ws_environment_paths(ws_arena *arena, const char *variable,
                                        int *out_count) {
  const char *list = getenv(variable) ? getenv(variable) : "";
  const char **paths =
      ws_arena_alloc(arena, sizeof *paths * (strlen(list) / 2 + 1));
  *out_count = 0;
  for (const char *path; (path = next_path(arena, &list));)
    paths[(*out_count)++] = path;
  return paths;
}

static bool is_listed(const char *variable, const char *path) {
  ws_arena *arena = ws_arena_create();
  int count;
  const char *const *paths = ws_environment_paths(arena, variable, &count);
  bool listed = false;
  for (int i = 0; i < count; i++)
    listed = listed || !strcmp(paths[i], path);
  ws_arena_destroy(arena);
  return listed;
}

void ws_environment_add_path(const char *variable, const char *path) {
  const char *before = getenv(variable);
  ws_strbuf list;
  if (!*path || is_listed(variable, path))
    return;
  ws_strbuf_init(&list);
  if (before && *before)
    ws_strbuf_printf(&list, "%s%c", before, separator);
  for (; *path; path++) {
    if (*path == separator || *path == escape)
      ws_strbuf_append(&list, &escape, 1);
    ws_strbuf_append(&list, path, 1);
  }
  WS_ASSERT(!setenv(variable, list.data, 1));
  ws_strbuf_deinit(&list);
}
