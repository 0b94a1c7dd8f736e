/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Problems that do not come with wavesmith travel with the batch: their C text,
 * with all that it includes, which the machine of the card compiles; and the
 * file of a kernel that is the reference.
 */
#include "batch_internal.h"
#include "wavesmith/reference.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const char text_ending[] = ".c", kernel_ending[] = ".json";

/* Whether it is NAME-CHECK.c, or what the ending is. */
static bool is_of(const char *file, const char *name, const char *ending) {
  size_t size = strlen(name);
  return !strncmp(file, name, size) && file[size] == '-' &&
         strlen(file + size + 1) == sizeof(ws__check) - 1 + strlen(ending) &&
         !strcmp(file + strlen(file) - strlen(ending), ending);
}

/* The folder's file of that problem; NULL: it has none. */
static const char *find(ws_arena *arena, const char *folder, const char *name,
                        const char *ending) {
  const char *found = NULL;
  DIR *all = opendir(ws_arena_printf(arena, "%s/problem", folder));
  for (struct dirent *one; all && !found && (one = readdir(all));)
    if (is_of(one->d_name, name, ending))
      found = ws_arena_strdup(arena, one->d_name);
  if (all)
    closedir(all);
  return found;
}

static ws_status write_one(ws_arena *arena, const char *folder,
                           const ws_problem *problem, const char *ending,
                           const char *text, size_t size, ws_diag *diag) {
  const char *file = ws_arena_printf(arena, "%s-%s%s", problem->name,
                                     ws__check_of(text, size).hex, ending);
  const char *there = find(arena, folder, problem->name, ending);
  if (there && !strcmp(there, file))
    return WS_OK;
  if (there)
    return ws_fail(diag, WS_INPUT, folder, 0,
                   "its jobs are of another problem '%s' than %s says now, or "
                   "compared with another kernel; take another folder",
                   problem->name, problem->file);
  WS_TRY(
      ws_make_directories(ws_arena_printf(arena, "%s/problem", folder), diag));
  return ws_file_write_atomic(
      ws_arena_printf(arena, "%s/problem/%s", folder, file), text, size, diag);
}

static ws_status write_all(ws_arena *arena, const char *folder,
                           const ws_problem *problem, ws_diag *diag) {
  const char *kernel = ws_reference_file(problem);
  char *text;
  size_t size;
  WS_TRY(ws_problem_source(problem, arena, &text, &size, diag));
  WS_TRY(write_one(arena, folder, problem, text_ending, text, size, diag));
  if (!kernel)
    return WS_OK;
  WS_TRY(ws_file_read(arena, kernel, &text, &size, diag));
  return write_one(arena, folder, problem, kernel_ending, text, size, diag);
}

ws_status ws__batch_write_problem(const char *folder, const char *name,
                                  ws_diag *diag) {
  const ws_problem *problem = ws_problem_find(name);
  if (!problem || !*problem->file)
    return WS_OK;
  ws_arena *arena = ws_arena_create();
  ws_status status = write_all(arena, folder, problem, diag);
  ws_arena_destroy(arena);
  return status;
}

/* The check in the file's name tells a damaged one. */
static ws_status add(ws_arena *arena, const char *path, const char *ending,
                     ws_diag *diag) {
  char *text;
  size_t size;
  const ws_problem *problem;
  WS_TRY(ws_file_read(arena, path, &text, &size, diag));
  const char *wanted =
      ws_arena_printf(arena, "-%s%s", ws__check_of(text, size).hex, ending);
  if (!strstr(path, wanted))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "not the file that was written (%zu bytes); copy the folder "
                   "again",
                   size);
  return ending == kernel_ending ? ws_reference_add_file(path, diag)
                                 : ws_problem_add_file(path, &problem, diag);
}

static ws_status add_all(ws_arena *arena, const char *folder,
                         const char *ending, ws_diag *diag) {
  const char *path = ws_arena_printf(arena, "%s/problem", folder);
  DIR *all = opendir(path); /* NULL: there are none */
  ws_status status = WS_OK;
  for (struct dirent *one; all && status == WS_OK && (one = readdir(all));) {
    const char *dot = strrchr(one->d_name, '.');
    if (dot && !strcmp(dot, ending))
      status = add(arena, ws_arena_printf(arena, "%s/%s", path, one->d_name),
                   ending, diag);
  }
  if (all)
    closedir(all);
  return status;
}

/* Problems first: a kernel is the reference of one. */
ws_status ws__batch_add_problems(const char *folder, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_status status = add_all(arena, folder, text_ending, diag);
  if (status == WS_OK)
    status = add_all(arena, folder, kernel_ending, diag);
  ws_arena_destroy(arena);
  return status;
}
