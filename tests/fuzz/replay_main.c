/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Stands in for libFuzzer where the compiler has none: runs the target on
 * every file of the folders given. An empty folder is a failure, so that a
 * wrong path cannot pass.
 */
#include "fuzz.h"

#include <dirent.h>

static int replay_file(const char *path) {
  ws_arena *arena = ws_arena_create();
  char *data;
  size_t size;
  ws_diag diag;
  ws_status status = ws_file_read(arena, path, &data, &size, &diag);
  if (status == WS_OK)
    LLVMFuzzerTestOneInput((const uint8_t *)data, size);
  else
    fprintf(stderr, "%s\n", diag.text);
  ws_arena_destroy(arena);
  return status == WS_OK;
}

static int replay_folder(const char *folder) {
  struct dirent **entries;
  int entry_count = scandir(folder, &entries, NULL, alphasort), replayed = 0;
  for (int i = 0; i < entry_count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.')
      replayed += replay_file(path);
    free(entries[i]);
  }
  if (entry_count >= 0)
    free(entries);
  printf("%s: %d files\n", folder, replayed);
  return replayed;
}

int main(int argc, char **argv) {
  int failed = argc < 2;
  for (int i = 1; i < argc; i++)
    failed |= replay_folder(argv[i]) == 0;
  return failed;
}
