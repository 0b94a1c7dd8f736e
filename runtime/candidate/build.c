/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Names of verdicts and blames, what a signal says, the default limits of a
 * build, findings as JSON, and a build's kernels by name.
 */
#include "wavesmith/build.h"

#include <signal.h>
#include <string.h>

const char *const ws_verdict_names[WS_VERDICT_COUNT] = {
#define VERDICT_NAME(name, text) text,
    WS_VERDICT_MAP(VERDICT_NAME)
#undef VERDICT_NAME
};

const char *ws_verdict_text(ws_verdict verdict) {
  return (unsigned)verdict < WS_VERDICT_COUNT ? ws_verdict_names[verdict]
                                              : "unknown";
}

bool ws_verdict_parse(const char *text, ws_verdict *out_verdict) {
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (!strcmp(text, ws_verdict_names[i])) {
      *out_verdict = (ws_verdict)i;
      return true;
    }
  return false;
}

const char *const ws_blame_names[WS_BLAME_COUNT] = {
#define BLAME_NAME(name, text) text,
    WS_BLAME_MAP(BLAME_NAME)
#undef BLAME_NAME
};

const char *ws_blame_text(ws_blame blame) {
  return (unsigned)blame < WS_BLAME_COUNT ? ws_blame_names[blame] : "unknown";
}

bool ws_blame_parse(const char *text, ws_blame *out_blame) {
  for (int i = 0; i < WS_BLAME_COUNT; i++)
    if (!strcmp(text, ws_blame_names[i])) {
      *out_blame = (ws_blame)i;
      return true;
    }
  return false;
}

/* Code raises these by itself; SIGKILL is the operator's, or the kernel's when
 * memory runs out. SIGBUS is no crash: a mapped page could not be had, for want
 * of room on a disk or of memory. */
ws_blame ws_blame_of_signal(int signal) {
  static const int crashes[] = {SIGABRT, SIGFPE,  SIGILL, SIGSEGV,
                                SIGSYS,  SIGTRAP, SIGXCPU};
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
    if (signal == crashes[i])
      return WS_BLAME_SUSPECTED;
  return WS_BLAME_UNKNOWN;
}

const ws_limits ws_limits_default = {
    .wall_ms = 20000, .cpu_ms = 15000, .memory_mb = 2048};

static const ws_json_field finding_fields[] = {
    {WS_JSON_TEXT(ws_finding, id)},
    {WS_JSON_TEXT(ws_finding, region)},
    {WS_JSON_TEXT(ws_finding, file)},
    {WS_JSON_TEXT(ws_finding, text)},
    {WS_JSON_INT(ws_finding, line, 0, INT32_MAX)},
    {WS_JSON_INT(ws_finding, column, 0, INT32_MAX),
     .presence = WS_JSON_LEFT_OUT}};
const ws_json_struct ws_finding_json =
    WS_JSON_STRUCT(ws_finding, finding_fields);

const char *ws_finding_place(ws_arena *arena, const ws_finding *finding) {
  if (finding->line <= 0)
    return finding->file;
  return finding->column > 0
             ? ws_arena_printf(arena, "%s:%d:%d", finding->file, finding->line,
                               finding->column)
             : ws_arena_printf(arena, "%s:%d", finding->file, finding->line);
}

const ws_kernel_facts *ws_build_kernel_facts(const ws_build_result *result,
                                             const char *kernel) {
  for (int i = 0; i < result->kernel_count; i++)
    if (!strcmp(result->kernels[i].name, kernel))
      return &result->kernels[i];
  return NULL;
}
