/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Copies a folder of text files, whole, file by file. The sources lie in
 * ../share/wavesmith/device-source, in the build tree as where it is installed.
 */
#include "copy_tree.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

static ws_status copy_file(const char *from, const char *to, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  char *data;
  size_t size;
  ws_status status = ws_file_read(arena, from, &data, &size, diag);
  if (status == WS_OK)
    status = ws_file_write_atomic(to, data, size, diag);
  ws_arena_destroy(arena);
  return status;
}

static ws_status copy_tree(ws_arena *arena, const char *from, const char *to,
                           ws_diag *diag) {
  DIR *folder = opendir(from);
  if (!folder)
    return ws_fail(diag, WS_ENVIRONMENT, from, 0,
                   "the sources of wavesmith-device cannot be read: %s",
                   strerror(errno));
  ws_status status = ws_make_directories(to, diag);
  const struct dirent *entry;
  while (status == WS_OK && (entry = readdir(folder))) {
    const char *source = ws_arena_printf(arena, "%s/%s", from, entry->d_name);
    const char *target = ws_arena_printf(arena, "%s/%s", to, entry->d_name);
    if (entry->d_name[0] == '.')
      continue;
    status = entry->d_type == DT_DIR ? copy_tree(arena, source, target, diag)
                                     : copy_file(source, target, diag);
  }
  closedir(folder);
  return status;
}

ws_status copy_device_source(ws_arena *arena, const char *folder,
                             ws_diag *diag) {
  char *programs;
  WS_TRY(ws_program_directory(arena, &programs, diag));
  return copy_tree(
      arena,
      ws_arena_printf(arena, "%s/../share/wavesmith/device-source", programs),
      ws_arena_printf(arena, "%s/src", folder), diag);
}
