/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How HIP is compiled for wavesmith, see the header. Optimised code is asked
 * for and the optimiser kept from running: what clang writes at -O0 says
 * "optnone" and unrolls nothing.
 */
#include "wavesmith/hip_source.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const common[] = {
    "-O3",
    "-Xclang",
    "-disable-llvm-passes",
    "-fno-discard-value-names",
    "-gline-tables-only",
    "-mcode-object-version=5",
    "-fgpu-rdc",
    "-nogpulib",
    "-nogpuinc",
    "-fdeclspec",
    "-fno-math-errno",
    "-Wno-unused-command-line-argument",
    "-Wno-undefined-internal",
    "-Wundef",
    "-Werror=vla",
    "-D__WAVESMITH_IMPORT__=1",
    "-I", /* not -isystem: comgr puts the system's own in front */
};
enum { COMMON = sizeof common / sizeof common[0] };

ws_status ws_hip_headers(ws_arena *arena, const char **out_folder,
                         ws_diag *diag) {
  /* beside bin/wavesmith, and beside libexec/wavesmith/wavesmith-compiler */
  static const char *const ups[] = {"..", "../.."};
  const char *named = getenv("WAVESMITH_HIP");
  char *folder;
  if (named && *named) {
    *out_folder = ws_arena_strdup(arena, named);
    return WS_OK;
  }
  WS_TRY(ws_program_directory(arena, &folder, diag));
  for (int i = 0; i < 2; i++) {
    const char *path =
        ws_arena_printf(arena, "%s/%s/share/wavesmith/hip", folder, ups[i]);
    if (ws_file_exists(ws_arena_printf(arena, "%s/wavesmith/hip.h", path))) {
      *out_folder = path;
      return WS_OK;
    }
  }
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "wavesmith's HIP headers are not in %s/../share/wavesmith/hip;"
                 " set WAVESMITH_HIP to the folder of hip/hip_runtime.h",
                 folder);
}

const char *const *ws_hip_options(ws_arena *arena, const char *headers,
                                  int *out_count) {
  const char **options = ws_arena_alloc(arena, (COMMON + 2) * sizeof *options);
  memcpy(options, common, sizeof common);
  options[COMMON] = headers;
  *out_count = COMMON + 1;
  return options;
}

/* ---- the log ------------------------------------------------------------- */

/* "FILE:LINE:COLUMN: KIND: TEXT"; the end of the place, or NULL. */
static const char *read_place(ws_arena *arena, const char *line, size_t size,
                              ws_hip_error *out) {
  for (const char *at = line; at < line + size; at++) {
    char *rest;
    if (*at != ':' || !isdigit((unsigned char)at[1]))
      continue;
    out->line = (int)strtol(at + 1, &rest, 10);
    if (*rest != ':')
      continue;
    strtol(rest + 1, &rest, 10);
    if (*rest != ':')
      continue;
    out->file = ws_arena_strndup(arena, line, (size_t)(at - line));
    return rest + 1 + strspn(rest + 1, " ");
  }
  return NULL;
}

static bool begins(const char *text, const char *part) {
  return text && !strncmp(text, part, strlen(part));
}

#define NO_CONSTANT                                                            \
  "; a parameter is known only once the template is specialised: "             \
  "WS_MOST(name), its largest value, is a constant, and WS_SHARED sizes LDS"

/* A parameter's value is asked for where the compiler wants one. */
static const char *wanted_constant(ws_arena *arena, const char *at,
                                   const char *end) {
  static const char *const marks[] = {"read of non-const variable '",
                                      "read of non-constexpr variable '"};
  static const struct {
    const char *mark, *hint;
  } others[] = {
      {"invalid explicitly-specified argument for template parameter",
       "; a parameter (WS_PARAM, -D) is no constant of C++, WS_MOST(name), its "
       "largest value, is"},
      {"variable length array", NO_CONSTANT},
      {"is not an integer constant expression", NO_CONSTANT},
      {"initializer element is not a compile-time constant", NO_CONSTANT},
      {"is not defined, evaluates to 0",
       "; #if is decided before a parameter has a value: write if (...)"}};
  for (int i = 0; i < 2; i++) {
    const char *found =
        memmem(at, (size_t)(end - at), marks[i], strlen(marks[i]));
    if (!found)
      continue;
    found += strlen(marks[i]);
    if (begins(found, "ws__macro_"))
      found += strlen("ws__macro_");
    const char *name = ws_arena_strndup(arena, found, strcspn(found, "'\n"));
    return ws_arena_printf(
        arena,
        "; '%s' is known only once the template is specialised: WS_MOST(%s), "
        "its largest value, is a constant of C++, and WS_SHARED sizes LDS",
        name, name);
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (memmem(at, (size_t)(end - at), others[i].mark, strlen(others[i].mark)))
      return others[i].hint;
  return "";
}

/* Where the next line that is no note begins. */
static const char *skip_notes(ws_arena *arena, const char *at) {
  ws_hip_error ignored;
  while (*at) {
    size_t size = strcspn(at, "\n");
    const char *kind = read_place(arena, at, size, &ignored);
    if (begins(kind, "error:") || begins(kind, "fatal error:") ||
        begins(kind, "warning:"))
      break;
    at += size + (at[size] == '\n');
  }
  return at;
}

bool ws_hip_next_error(ws_arena *arena, const char **log, ws_hip_error *out) {
  while (**log) {
    const char *line = *log;
    size_t size = strcspn(line, "\n");
    *log += size + (line[size] == '\n');
    const char *kind = read_place(arena, line, size, out);
    bool macro_in_if =
        begins(kind, "warning:") &&
        memmem(kind, (size_t)(line + size - kind), "'ws__macro_", 11);
    if (!begins(kind, "error:") && !begins(kind, "fatal error:") &&
        !macro_in_if)
      continue;
    kind = strchr(kind, ':') + 2;
    const char *end = skip_notes(arena, *log);
    out->text =
        macro_in_if
            ? "a parameter stands in #if, which is decided before any value is "
              "chosen; write if (...), or make it no parameter"
            : ws_arena_printf(arena, "%.*s%s", (int)(line + size - kind), kind,
                              wanted_constant(arena, kind, end));
    *log = end;
    return true;
  }
  return false;
}
