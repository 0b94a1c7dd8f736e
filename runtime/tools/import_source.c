/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Options become lines of HIP in front of the author's and behind it: so there
 * is one way in which a launch or a parameter is said.
 *
 * A macro that is to be a parameter cannot stay text. It becomes the name of a
 * variable; where C++ wants a constant there, clang refuses, and the sentence
 * says why (hip_source.c).
 */
#include "import_source.h"
#include "wavesmith/hip_source.h"
#include "wavesmith/text.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- the text ---- */

static void add_item(import_list *list, const char *item) {
  if (list->count < IMPORT_MOST)
    list->items[list->count++] = item;
}

/* "TILE=64:32,64,128" is a parameter, any other a macro for clang. */
static ws_status add_define(ws_arena *arena, const char *define,
                            ws_strbuf *text, import_list *clang,
                            ws_diag *diag) {
  const char *equal = strchr(define, '='), *colon = strchr(define, ':');
  size_t digits = equal ? strspn(equal + 1, "-0123456789") : 0;
  if (!equal || !colon || colon != equal + 1 + digits) {
    add_item(clang, ws_arena_printf(arena, "-D%s", define));
    return WS_OK;
  }
  char *name = ws_arena_strndup(arena, define, (size_t)(equal - define));
  char *values = ws_arena_strdup(arena, colon + 1);
  if (!digits || !*values ||
      strspn(values, "-0123456789, ") != strlen(values) || ws_name_fault(name))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "-D %s: a parameter is NAME=DEFAULT:VALUE,VALUE,...",
                   define);
  for (char *at = values; *at; at++)
    if (*at == ',')
      *at = ' ';
  ws_strbuf_printf(text,
                   "extern \"C\" __attribute__((device, constant)) "
                   "WS__NOTE(\"param\", \"%s\\n%s\\nmacro %s\") int "
                   "ws__macro_%s = %.*s;\n"
                   "#define %s ws__macro_%s\n",
                   name, values, name, name, (int)digits, equal + 1, name,
                   name);
  return WS_OK;
}

/* "kernel;x;y;z;threads;condition", the last may be left out. */
static ws_status add_launch(ws_arena *arena, const char *launch,
                            ws_strbuf *text, ws_diag *diag) {
  char *rest = ws_arena_strdup(arena, launch);
  const char *fields[6] = {"", "", "1", "1", "", "1"};
  int count = 0;
  for (char *field; (field = strsep(&rest, ";"));)
    if (count < 6)
      fields[count++] = field;
    else
      count = 7;
  if (count < 5 || count > 6)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--launch '%s': it is KERNEL;X;Y;Z;THREADS or "
                   "KERNEL;X;Y;Z;THREADS;CONDITION",
                   launch);
  ws_strbuf_printf(text, "WS_LAUNCH(%s, %s, %s, %s, %s, %s)\n", fields[0],
                   fields[1], fields[2], fields[3], fields[4], fields[5]);
  return WS_OK;
}

static ws_status add_pair(ws_arena *arena, const char *option,
                          const char *given, const char *format,
                          ws_strbuf *text, ws_diag *diag) {
  const char *equal = strchr(given, '=');
  if (!equal)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--%s '%s': it is NAME=%s", option,
                   given, !strcmp(option, "lds") ? "BYTES" : "NAMES");
  ws_strbuf_printf(text, format,
                   ws_arena_strndup(arena, given, (size_t)(equal - given)),
                   equal + 1);
  return WS_OK;
}

static ws_status add_tail(ws_arena *arena, const import_options *options,
                          ws_strbuf *text, ws_diag *diag) {
  ws_strbuf_printf(text, "\n# 1 \"<options>\"\n");
  for (int i = 0; i < options->launches.count; i++)
    WS_TRY(add_launch(arena, options->launches.items[i], text, diag));
  for (int i = 0; i < options->lds.count; i++)
    WS_TRY(add_pair(arena, "lds", options->lds.items[i], "WS_LDS(%s, %s)\n",
                    text, diag));
  for (int i = 0; i < options->arguments.count; i++)
    WS_TRY(add_pair(arena, "arguments", options->arguments.items[i],
                    "WS_ARGUMENTS(%s, \"%s\")\n", text, diag));
  return WS_OK;
}

static ws_status compose(ws_arena *arena, const import_options *options,
                         const char *file, const char *own, ws_strbuf *text,
                         import_list *out_options, ws_diag *diag) {
  ws_strbuf_printf(text, "#include <hip/hip_runtime.h>\n"
                         "#include <wavesmith/hip.h>\n");
  for (int i = 0; i < options->defines.count; i++)
    WS_TRY(
        add_define(arena, options->defines.items[i], text, out_options, diag));
  ws_strbuf_printf(text, "# 1 \"%s\"\n%s", file, own);
  for (int i = 0; i < options->includes.count; i++)
    add_item(out_options,
             ws_arena_printf(arena, "-I%s", options->includes.items[i]));
  return add_tail(arena, options, text, diag);
}

/* Where the file's own #include "..." looks. */
static const char *folder_of(ws_arena *arena, const char *file) {
  char *path = realpath(file, NULL);
  const char *slash = path ? strrchr(path, '/') : NULL;
  const char *folder =
      slash ? ws_arena_strndup(arena, path, (size_t)(slash - path)) : ".";
  free(path);
  return folder;
}

ws_status import_compose(ws_arena *arena, const import_options *options,
                         const char *file, const char *own, char **out_text,
                         import_list *out_options, ws_diag *diag) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  *out_options = (import_list){.count = 0};
  add_item(out_options, "-iquote");
  add_item(out_options, folder_of(arena, file));
  ws_status status =
      compose(arena, options, file, own, &text, out_options, diag);
  *out_text = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return status;
}

/* ---- another clang ---- */

/* Its exit status; -1: it cannot be run. Both streams go to the file. */
static int run(char *const *argv, const char *log) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int status = -1;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, log,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0)
    status = -1;
  else if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
    status = -1;
  else
    status = WEXITSTATUS(status);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

static int major_version(ws_arena *arena, const char *clang, const char *log) {
  char *const argv[] = {(char *)(void *)clang, "-dumpversion", NULL};
  char *text;
  size_t size;
  ws_diag ignored;
  if (run(argv, log) != 0 ||
      ws_file_read(arena, log, &text, &size, &ignored) != WS_OK)
    return 0;
  return (int)strtol(text, NULL, 10);
}

enum { OLDEST = 18 };

/* The clang that is named, or the first of those that setup would find. */
static ws_status find_clang(ws_arena *arena, const char *asked, const char *log,
                            const char **out, ws_diag *diag) {
  static const char *const usual[] = {
      "clang-22", "clang-21", "clang-20", "clang-19",
      "clang-18", "clang",    "hipcc",    "/opt/rocm/bin/hipcc"};
  const char *named = getenv("WAVESMITH_CLANG");
  if (strcmp(asked, "auto")) {
    int major = major_version(arena, asked, log);
    *out = asked;
    return major >= OLDEST
               ? WS_OK
               : ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                         major ? "'%s' is clang %d; wanted is 18 or newer"
                               : "'%s' cannot be run (%d); give --clang the "
                                 "path of a clang or hipcc, or leave it out",
                         asked, major);
  }
  if (named && *named && major_version(arena, named, log) >= OLDEST) {
    *out = named;
    return WS_OK;
  }
  for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
    if (major_version(arena, usual[i], log) >= OLDEST) {
      *out = usual[i];
      return WS_OK;
    }
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "no clang 18 or newer and no hipcc is on the path; set "
                 "WAVESMITH_CLANG, or leave --clang out");
}

/* Of one that compiled, too: some warnings are errors to us. */
static ws_status print_errors(ws_arena *arena, const char *clang, bool compiled,
                              const char *log, ws_diag *diag) {
  char *text;
  size_t size;
  ws_hip_error error, last = {0};
  int count = 0;
  WS_TRY(ws_file_read(arena, log, &text, &size, diag));
  for (const char *at = text; ws_hip_next_error(arena, &at, &error); count++) {
    if (count)
      fprintf(stderr, "wavesmith import: %s:%d: %s\n", last.file, last.line,
              last.text);
    last = error;
  }
  if (count)
    return ws_fail(diag, WS_INPUT, last.file, last.line, "%s", last.text);
  return compiled ? WS_OK
                  : ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "%s: %.300s", clang,
                            text);
}

static ws_status run_clang(ws_arena *arena, const import_options *options,
                           const char *folder, const char *text,
                           const import_list *clang_options, char **out_ir,
                           ws_diag *diag) {
  const char *in = ws_arena_printf(arena, "%s/kernel.hip", folder);
  const char *out = ws_arena_printf(arena, "%s/kernel.ll", folder);
  const char *log = ws_arena_printf(arena, "%s/log", folder);
  const char *argv[IMPORT_MOST * 2] = {0}, *headers, *clang = "";
  int count = 0, common_count;
  size_t size;
  WS_TRY(find_clang(arena, options->clang, log, &clang, diag));
  WS_TRY(ws_hip_headers(arena, &headers, diag));
  WS_TRY(ws_file_write_atomic(in, text, strlen(text), diag));
  const char *const first[] = {
      clang,
      "-x",
      "hip",
      "--cuda-device-only",
      ws_arena_printf(arena, "--offload-arch=%s", options->target),
      "-S",
      "-emit-llvm",
      "-o",
      out};
  const char *const *common = ws_hip_options(arena, headers, &common_count);
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    argv[count++] = first[i];
  for (int i = 0; i < clang_options->count; i++)
    argv[count++] = clang_options->items[i];
  for (int i = 0; i < common_count; i++)
    argv[count++] = common[i];
  argv[count] = in;
  bool compiled = run((char *const *)(void *)argv, log) == 0;
  WS_TRY(print_errors(arena, clang, compiled, log, diag));
  return ws_file_read(arena, out, out_ir, &size, diag);
}

ws_status import_run_clang(ws_arena *arena, const import_options *options,
                           const char *text, const import_list *clang_options,
                           char **out_ir, ws_diag *diag) {
  static const char *const files[] = {"kernel.hip", "kernel.ll", "log"};
  const char *base = getenv("TMPDIR");
  char *folder = ws_arena_printf(arena, "%s/wavesmith-import-XXXXXX",
                                 base && *base ? base : "/tmp");
  if (!mkdtemp(folder))
    return ws_fail(diag, WS_ENVIRONMENT, folder, 0, "cannot make a folder");
  ws_status status =
      run_clang(arena, options, folder, text, clang_options, out_ir, diag);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++)
    unlink(ws_arena_printf(arena, "%s/%s", folder, files[i]));
  rmdir(folder);
  return status;
}
