/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/plugin: one run of a pass, and what it says to opt or clang.
 */
#ifndef WAVESMITH_PASS_PLUGIN_JOB_H
#define WAVESMITH_PASS_PLUGIN_JOB_H

#include "../pass.h"

typedef struct ws_plugin_setting {
  const char *key, *value;
} ws_plugin_setting;

typedef struct ws_plugin_job {
  const char *pass;
  LLVMModuleRef module;
  LLVMModuleRef placed; /* a copy whose instructions know their places */
  const char *file;
  const char *text; /* the file's; NULL: it is not to be had */
  size_t text_size;
  ws_arena *arena;
  ws_plugin_setting *settings; /* of the pipeline's text */
  int setting_count;
  ws_candidate *candidate;
  ws_findings findings;
} ws_plugin_job;

/* An error about the pipeline's text or the machine. */
void ws__plugin_fail(const ws_plugin_job *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* All findings in one error, a line each, which begins with file, line and
 * column; and each as a remark. */
void ws__plugin_fail_with_findings(const ws_plugin_job *j);

/* ---- remarks; requires: placed ---------------------------------------------
 */
void ws__plugin_remark_finding(const ws_plugin_job *j, const ws_finding *f);
void ws__plugin_remark_accepted(const ws_plugin_job *j);
/* Values, variants and sizes; of each launch its threads. */
void ws__plugin_remark_specialized(const ws_plugin_job *j);
/* Registers, LDS, spills and occupancy of each kernel, and the file. */
void ws__plugin_remark_code(const ws_plugin_job *j, const char *cpu,
                            const char *out, const ws_build_result *result);

#endif
