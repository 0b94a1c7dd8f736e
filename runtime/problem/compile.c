/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A problem's C file made a library by the system's compiler. It is kept by the
 * contents of all files that the compiler read for it, whose list is kept by
 * the C file's path, so that the same contents are compiled once.
 */
#include "compile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char header[] = "wavesmith/define_problem.h";

/* ---- places ---- */

static bool exists(const char *path) { return !access(path, R_OK); }

/* Where define_problem.h lies: named, beside the program, or where this was
 * built; NULL: nowhere. */
static const char *include_dir(ws_arena *arena) {
  char program[4096];
  ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
  program[size > 0 ? size : 0] = '\0';
  char *slash = strrchr(program, '/');
  if (slash)
    *slash = '\0';
  const char *const places[] = {
      getenv("WAVESMITH_INCLUDE"),
      ws_arena_printf(arena, "%s/../include", program),
      ws_arena_printf(arena, "%s/../../include", program),
      WAVESMITH_INCLUDE_DIR};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
    if (places[i] && exists(ws_arena_printf(arena, "%s/%s", places[i], header)))
      return places[i];
  return NULL;
}

static const char *cache_dir(ws_arena *arena) {
  const char *named = getenv("WAVESMITH_CACHE");
  const char *shared = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  if (named && *named)
    return named;
  if (shared && *shared)
    return ws_arena_printf(arena, "%s/wavesmith", shared);
  if (home && *home)
    return ws_arena_printf(arena, "%s/.cache/wavesmith", home);
  return ws_arena_printf(arena, "/tmp/wavesmith-%u", (unsigned)getuid());
}

/* All of its folders; what fails shows when a file is written there. */
static void make_folder(char *path) {
  for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = '\0';
    (void)!mkdir(path, 0777);
    *at = '/';
  }
  (void)!mkdir(path, 0777);
}

/* ---- compiling ---- */

/* Runs it with its messages in a file; its exit code, 127: it could not run. */
static int run(const char *const *argv, const char *messages) {
  pid_t child = fork();
  int status = 0;
  if (!child) {
    int file = open(messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, 1) < 0 || dup2(file, 2) < 0)
      _exit(127);
    setenv("LC_ALL", "C", 1);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
  }
  if (child < 0)
    return 127;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
}

/* The first line with one of these words, the first word first; else the first
 * line. */
static const char *first_error(ws_arena *arena, const char *messages) {
  static const char *const words[] = {"undefined reference", "error:"};
  char *text = NULL, *at = NULL;
  size_t size;
  if (ws_file_read(arena, messages, &text, &size, NULL) != WS_OK)
    return "no message";
  for (int i = 0; i < 2 && !at; i++)
    at = strstr(text, words[i]);
  char *begin = at ? at : text;
  while (begin > text && begin[-1] != '\n')
    begin--;
  begin[strcspn(begin, "\n")] = '\0';
  return begin;
}

/* To the file `fresh`: a library, with the list of what was read for it, or
 * (list NULL) the text that the compiler sees. */
static ws_status compile(ws_arena *arena, const char *path, const char *include,
                         const char *fresh, const char *list, ws_diag *diag) {
  const char *cc = getenv("CC") && *getenv("CC") ? getenv("CC") : "cc";
  const char *messages = ws_arena_printf(arena, "%s.log", fresh);
  /* the list names no file of ours: a ':' ends what stands before it */
  const char *const library[] = {
      cc,    "-std=gnu11", "-O2",     "-fPIC", "-MD",   "-MF",         list,
      "-MT", "library",    "-shared", "-I",    include, "-Wl,-z,defs", "-o",
      fresh, path,         "-lm",     NULL};
  const char *const text[] = {cc,   "-std=gnu11", "-E", "-I", include,
                              "-o", fresh,        path, NULL};
  int code = run(list ? library : text, messages);
  ws_status status = WS_OK;
  if (code == 127)
    status = ws_fail(diag, WS_ENVIRONMENT, path, 0,
                     "the C compiler '%s' cannot be run, or '%s' cannot be "
                     "written: name them with CC and WAVESMITH_CACHE",
                     cc, messages);
  else if (code)
    status = ws_fail(diag, WS_INPUT, NULL, 0, "%s does not compile: %s", path,
                     first_error(arena, messages));
  unlink(messages);
  return status;
}

/* ---- contents ---- */

/* FNV-1a: a name for what is kept, not a proof of what it is. */
static uint64_t mix(uint64_t hash, const char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return hash;
}
static const uint64_t no_contents = UINT64_C(0xcbf29ce484222325);

/* The next file of a list as make reads it, at *text; NULL behind the last. */
static const char *next_file(char **text) {
  char *out, *end;
  for (;; ++*text)
    if (**text == '\\' && (*text)[1] == '\n')
      ++*text;
    else if (!**text || !strchr(" \n", **text))
      break;
  if (!**text)
    return NULL;
  for (out = end = *text; **text && !strchr(" \n", **text); ++*text) {
    if ((**text == '\\' && strchr(" #", (*text)[1])) ||
        (**text == '$' && (*text)[1] == '$'))
      ++*text;
    *end++ = **text;
  }
  if (**text)
    ++*text;
  *end = '\0';
  return out;
}

/* Where the library of such contents is kept; NULL: a file of the list cannot
 * be read, or there is no list. */
static const char *library_of(ws_arena *arena, const char *folder,
                              const char *list) {
  char *text;
  size_t size, sum = 0;
  uint64_t hash = no_contents;
  if (!exists(list) || ws_file_read(arena, list, &text, &size, NULL) != WS_OK)
    return NULL;
  text = strchr(text, ':') ? strchr(text, ':') + 1 : "";
  for (const char *file; (file = next_file(&text)); sum += size) {
    char *contents;
    if (ws_file_read(arena, file, &contents, &size, NULL) != WS_OK)
      return NULL;
    hash = mix(mix(hash, file, strlen(file)), contents, size);
  }
  return ws_arena_printf(arena, "%s/%016llx-%zu.so", folder,
                         (unsigned long long)hash, sum);
}

/* Both or none. */
static ws_status keep(const char *fresh, const char *library,
                      const char *fresh_list, const char *list, ws_diag *diag) {
  if (library && !rename(fresh, library) && !rename(fresh_list, list))
    return WS_OK;
  return ws_fail(diag, WS_ENVIRONMENT, library ? library : fresh, 0,
                 "cannot be written: %s", strerror(errno));
}

/* Where this process may write, and the header's folder. */
typedef struct places {
  const char *include;
  char *folder;
  const char *fresh;
} places;

static ws_status find_places(ws_arena *arena, places *out, ws_diag *diag) {
  out->include = include_dir(arena);
  out->folder = ws_arena_printf(arena, "%s/problems", cache_dir(arena));
  out->fresh =
      ws_arena_printf(arena, "%s/fresh.%ld", out->folder, (long)getpid());
  if (out->include)
    return WS_OK;
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "%s is not found: name its folder with WAVESMITH_INCLUDE",
                 header);
}

const char *ws_problem_cache_folder(ws_arena *arena, const char *name) {
  char *folder = ws_arena_printf(arena, "%s/%s", cache_dir(arena), name);
  make_folder(folder);
  return folder;
}

ws_status ws__problem_library(ws_arena *arena, const char *path,
                              const char **out_library, ws_diag *diag) {
  places at;
  WS_TRY(find_places(arena, &at, diag));
  const char *list =
      ws_arena_printf(arena, "%s/%016llx.d", at.folder,
                      (unsigned long long)mix(no_contents, path, strlen(path)));
  const char *fresh_list = ws_arena_printf(arena, "%s.d", at.fresh);
  *out_library = library_of(arena, at.folder, list);
  if (*out_library && exists(*out_library))
    return WS_OK;
  make_folder(at.folder);
  ws_status status =
      compile(arena, path, at.include, at.fresh, fresh_list, diag);
  if (status == WS_OK) {
    *out_library = library_of(arena, at.folder, fresh_list);
    status = keep(at.fresh, *out_library, fresh_list, list, diag);
  }
  unlink(at.fresh);
  unlink(fresh_list);
  return status;
}

ws_status ws_problem_source(const ws_problem *problem, ws_arena *arena,
                            char **out_text, size_t *out_size, ws_diag *diag) {
  places at;
  const char *dot = strrchr(problem->file, '.');
  if (!dot || strcmp(dot, ".c") != 0)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "the problem '%s' was read from a library, which another "
                   "machine may not run: name its C file",
                   problem->name);
  WS_TRY(find_places(arena, &at, diag));
  make_folder(at.folder);
  ws_status status =
      compile(arena, problem->file, at.include, at.fresh, NULL, diag);
  if (status == WS_OK)
    status = ws_file_read(arena, at.fresh, out_text, out_size, diag);
  unlink(at.fresh);
  return status;
}
