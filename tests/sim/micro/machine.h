/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the micro benchmarks run on: the files of this folder compiled as they
 * are but for their @TOKENS@, buffers that take no memory of the host until
 * somebody writes to them, and launches timed with whatever constants.
 */
#ifndef WS_MICRO_MACHINE_H
#define WS_MICRO_MACHINE_H

#include "clock.h"
#include "sim_internal.h"
#include "wavesmith/build.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MACHINE_MODULES = 256, MACHINE_BUFFERS = 4, MACHINE_MARGIN = 4096 };

typedef struct machine {
  ws_arena *arena;
  ws_compiler *compiler;
  ws_sim *sim;
  ws__clock_constants constants;
  const char *folder; /* of the kernels */
  struct {
    const char *key; /* file and tokens */
    ws_sim_module *module;
  } modules[MACHINE_MODULES];
  int module_count;
  struct {
    char *begin;
    size_t bytes;
  } buffers[MACHINE_BUFFERS];
  bool explains; /* prints every profile */
  FILE *report;  /* NULL, or gets a line of JSON a launch, of the form of
                  * WAVESMITH_SIM_REPORT */
  ws_diag diag;
} machine;

static void machine_must(machine *m, ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "%s\n", m->diag.text);
  exit(ws_status_exit_code(status));
}

static void machine_open(machine *m, ws_arena *arena) {
  const char *source = getenv("WS_SOURCE_DIR");
  const ws_sim_options options = {.unchecked = true};
  m->arena = arena;
  m->constants = ws__clock_mi300x;
  m->folder =
      ws_arena_printf(arena, "%s/tests/sim/micro", source ? source : ".");
  machine_must(m, ws_compiler_start(&m->compiler, &m->diag));
  machine_must(m, ws_sim_create(&options, &m->sim, &m->diag));
}

static void machine_close(machine *m) {
  ws_sim_destroy(m->sim);
  ws_compiler_stop(m->compiler);
}

/* ---- kernels --------------------------------------------------------------
 */

/* text with every @NAME@ in place of which tokens, "NAME=value;...", has
 * something. */
static char *machine_fill(ws_arena *arena, const char *text,
                          const char *tokens) {
  char *copy = ws_arena_strdup(arena, tokens), *rest = NULL;
  for (char *one = strtok_r(copy, ";", &rest); one;
       one = strtok_r(NULL, ";", &rest)) {
    char *value = strchr(one, '=');
    *value++ = 0;
    const char *name = ws_arena_printf(arena, "@%s@", one);
    ws_strbuf filled;
    ws_strbuf_init(&filled);
    for (const char *at; (at = strstr(text, name)); text = at + strlen(name)) {
      ws_strbuf_append(&filled, text, (size_t)(at - text));
      ws_strbuf_puts(&filled, value);
    }
    ws_strbuf_puts(&filled, text);
    text = ws_arena_strdup(arena, filled.data);
    ws_strbuf_deinit(&filled);
  }
  return ws_arena_strdup(arena, text);
}

static ws_sim_module *machine_build(machine *m, const char *file,
                                    const char *tokens) {
  char *text;
  size_t size;
  ws_build_result result;
  ws_sim_module *module;
  const char *path = ws_arena_printf(m->arena, "%s/%s", m->folder, file);
  machine_must(m, ws_file_read(m->arena, path, &text, &size, &m->diag));
  text = machine_fill(m->arena, text, tokens);
  const ws_build_request request = {.template_file = file,
                                    .template_text = text,
                                    .template_size = strlen(text),
                                    .target = "gfx942",
                                    .assignments = "",
                                    .variants = "",
                                    .stages = WS_STAGE_RAW,
                                    .limits = ws_limits_default};
  machine_must(
      m, ws_compiler_build(m->compiler, m->arena, &request, &result, &m->diag));
  if (result.verdict != WS_VERDICT_OK) {
    fprintf(stderr, "%s: %s\n", path, result.reason);
    exit(1);
  }
  machine_must(m, ws_sim_load(m->sim, result.code_object,
                              result.code_object_size, &module, &m->diag));
  return module;
}

static const ws_sim_kernel *machine_kernel(machine *m, const char *file,
                                           const char *tokens,
                                           const char *kernel) {
  const char *key = ws_arena_printf(m->arena, "%s;%s", file, tokens);
  int i = 0;
  while (i < m->module_count && strcmp(m->modules[i].key, key))
    i++;
  if (i == m->module_count) {
    WS_ASSERT(i < MACHINE_MODULES);
    m->modules[i].key = key;
    m->modules[i].module = machine_build(m, file, tokens);
    m->module_count++;
  }
  const ws_sim_kernel *found = ws_sim_kernel_find(m->modules[i].module, kernel);
  WS_ASSERT(found);
  return found;
}

/* ---- buffers --------------------------------------------------------------
 */

/* Whole pages inside of it go back to the host and read as 0. */
static void machine_let_go(char *begin, size_t bytes) {
  const uintptr_t page = 4096;
  const uintptr_t from = ((uintptr_t)begin + page - 1) / page * page;
  const uintptr_t to = ((uintptr_t)begin + bytes) / page * page;
  if (to > from)
    WS_ASSERT(!madvise((void *)from, to - from, MADV_DONTNEED));
}

/* Some bytes before the place that is returned belong to it too. */
static char *machine_buffer(machine *m, int index, size_t bytes) {
  if (m->buffers[index].bytes != bytes) {
    if (m->buffers[index].begin)
      ws_sim_free(m->sim, m->buffers[index].begin);
    char *begin = ws_sim_allocate(m->sim, bytes + 2 * MACHINE_MARGIN);
    if (!begin) {
      fprintf(stderr, "no room for a buffer of %zu bytes\n", bytes);
      exit(1);
    }
    machine_let_go(begin, bytes + 2 * MACHINE_MARGIN);
    m->buffers[index].begin = begin;
    m->buffers[index].bytes = bytes;
  }
  return m->buffers[index].begin + MACHINE_MARGIN;
}

/* ---- launches -------------------------------------------------------------
 */

typedef struct machine_launch {
  const ws_sim_kernel *kernel;
  int64_t groups, threads; /* of a workgroup */
  uint32_t dynamic_lds;
  ws_sim_residency residency;
  const void *arguments;
  size_t argument_bytes;
} machine_launch;

static void machine_explain(const ws_sim_profile *profile) {
  ws_strbuf words;
  ws_strbuf_init(&words);
  ws_sim_explain(profile, &words);
  puts(words.data);
  ws_strbuf_deinit(&words);
}

static void machine_report(const machine *m, const ws_sim_profile *profile) {
  cJSON *line = cJSON_CreateObject();
  cJSON_AddNumberToObject(line, "model", WS_SIM_MODEL_VERSION);
  cJSON_AddNumberToObject(line, "us", profile->us);
  cJSON_AddItemToObject(line, "profile", ws_sim_profile_to_json(profile));
  char *text = cJSON_PrintUnformatted(line);
  fprintf(m->report, "%s\n", text);
  cJSON_free(text);
  cJSON_Delete(line);
}

/* The profile without the texts that it points to. */
static ws_sim_profile machine_time(machine *m, const machine_launch *launch) {
  const ws_sim_launch sim_launch = {.kernel = launch->kernel,
                                    .grid = {(uint32_t)launch->groups, 1, 1},
                                    .block = {(uint32_t)launch->threads, 1, 1},
                                    .dynamic_lds = launch->dynamic_lds,
                                    .kernarg = launch->arguments,
                                    .kernarg_size = launch->argument_bytes};
  ws_arena *arena = ws_arena_create();
  ws_sim_profile profile;
  machine_must(m, ws__clock_time(m->sim->memory, &sim_launch, launch->residency,
                                 &m->constants, arena, &profile, &m->diag));
  if (m->explains)
    machine_explain(&profile);
  if (m->report)
    machine_report(m, &profile);
  ws_arena_destroy(arena);
  return profile;
}

#endif
