/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The public functions of wavesmith/sim.h, time aside: each hands over to the
 * part that does the work.
 */
#include "effects.h"
#include "run.h"
#include "sim_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 256 };

static int core_count(void) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores < 1 ? 1 : cores > THREADS_MAX ? THREADS_MAX : (int)cores;
}

ws_status ws_sim_create(const ws_sim_options *options, ws_sim **out_sim,
                        ws_diag *diag) {
  *out_sim = NULL;
  ws_sim *sim = calloc(1, sizeof *sim);
  WS_ASSERT(sim != NULL);
  if (options)
    sim->options = *options;
  if (sim->options.threads < 0 || sim->options.threads > THREADS_MAX ||
      sim->options.budget < 0) {
    free(sim);
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "simulator: threads must be 0 to %d, the budget positive",
                   THREADS_MAX);
  }
  if (sim->options.threads == 0)
    sim->options.threads = core_count();
  sim->constants =
      sim->options.card ? &sim->options.card->constants : &ws__clock_mi300x;
  sim->memory = ws__memory_create();
  if (!sim->memory) {
    free(sim);
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "simulator: no address space for device memory");
  }
  *out_sim = sim;
  return WS_OK;
}

void ws_sim_destroy(ws_sim *sim) {
  if (!sim)
    return;
  for (int i = 0; i < sim->module_count; i++)
    ws__module_unload(sim->memory, sim->modules[i]);
  free(sim->modules);
  ws__memory_destroy(sim->memory);
  free(sim);
}

/* ---- memory ---------------------------------------------------------------
 */

void *ws_sim_allocate(ws_sim *sim, size_t bytes) {
  return ws__memory_allocate(sim->memory, bytes);
}

bool ws_sim_free(ws_sim *sim, void *address) {
  return ws__memory_release(sim->memory, address);
}

bool ws_sim_find(const ws_sim *sim, const void *address, void **out_begin,
                 size_t *out_bytes) {
  uint64_t begin = 0, bytes = 0;
  if (!ws__memory_find(sim->memory, (uintptr_t)address, &begin, &bytes))
    return false;
  if (out_begin)
    *out_begin = (void *)(uintptr_t)begin;
  if (out_bytes)
    *out_bytes = (size_t)bytes;
  return true;
}

size_t ws_sim_bytes_in_use(const ws_sim *sim) {
  return ws__memory_bytes_in_use(sim->memory);
}

/* Allocations that arguments point to. */
static int buffers_of(const ws_sim *sim, const ws_sim_launch *launch,
                      ws_sim_range out[WS_HELD_RANGES]) {
  int count = 0;
  const unsigned char *kernarg = launch->kernarg;
  for (size_t at = 0; at + 8 <= launch->kernarg_size; at += 8) {
    void *pointer, *begin;
    size_t bytes;
    memcpy(&pointer, kernarg + at, sizeof pointer);
    if (count < WS_HELD_RANGES && ws_sim_find(sim, pointer, &begin, &bytes))
      out[count++] = (ws_sim_range){begin, bytes};
  }
  return count;
}

bool ws_sim_set_unknown(ws_sim *sim, const void *address, bool unknown) {
  return ws__memory_set_unknown(sim->memory, (uintptr_t)address, unknown);
}

bool ws_sim_is_unknown(const ws_sim *sim, const void *address) {
  return ws__memory_is_unknown(sim->memory, (uintptr_t)address);
}

void ws_sim_set_known(ws_sim *sim, const void *address, size_t bytes) {
  ws__memory_set_known(sim->memory, (uintptr_t)address, bytes);
}

bool ws_sim_note_results(ws_sim *sim, const ws_sim_launch *launch, bool keep) {
  bool any = false;
  ws_sim_range ranges[WS_HELD_RANGES];
  const int count = buffers_of(sim, launch, ranges);
  for (int i = 0; i < count; i++) {
    const uint64_t begin = (uintptr_t)ranges[i].begin;
    any |= keep ? ws__memory_set_known(sim->memory, begin, 0)
                : ws__memory_forget_known(sim->memory, begin);
  }
  return any;
}

bool ws_sim_watch(ws_sim *sim, const void *address) {
  return ws__memory_watch(sim->memory, address);
}

size_t ws_sim_unstored(const ws_sim *sim, const void *address, size_t bytes,
                       size_t *out_first) {
  return ws__memory_unstored(sim->memory, address, bytes, out_first);
}

/* ---- the Infinity Cache ----------------------------------------------------
 */

void ws_sim_touch(ws_sim *sim, const ws_sim_range *ranges, int count) {
  ws__held_touch(ws__memory_held(sim->memory), ranges, count,
                 (uint64_t)sim->constants->mall_bytes);
}

void ws_sim_touch_launch(ws_sim *sim, const ws_sim_launch *launch) {
  ws_sim_range ranges[WS_HELD_RANGES];
  ws_sim_touch(sim, ranges, buffers_of(sim, launch, ranges));
}

void ws_sim_flush(ws_sim *sim) { ws__memory_held(sim->memory)->count = 0; }

int ws_sim_held(const ws_sim *sim, const void *address) {
  void *begin;
  size_t bytes;
  if (!ws_sim_find(sim, address, &begin, &bytes))
    return 0;
  return ws__held_parts(ws__memory_held(sim->memory),
                        (uint64_t)(uintptr_t)begin, bytes);
}

/* ---- modules --------------------------------------------------------------
 */

static void keep_module(ws_sim *sim, ws_sim_module *module) {
  if (sim->module_count == sim->module_capacity) {
    sim->module_capacity = sim->module_capacity ? 2 * sim->module_capacity : 8;
    sim->modules = realloc(sim->modules, (size_t)sim->module_capacity *
                                             sizeof(ws_sim_module *));
    WS_ASSERT(sim->modules != NULL);
  }
  sim->modules[sim->module_count++] = module;
}

ws_status ws_sim_load(ws_sim *sim, const void *image, size_t size,
                      ws_sim_module **out_module, ws_diag *diag) {
  *out_module = NULL;
  ws_sim_module *module = NULL;
  WS_TRY(ws__module_load(sim->memory, image, size, &module, diag));
  module->text.effects = ws__effects_create(module->arena, &module->text);
  keep_module(sim, module);
  *out_module = module;
  return WS_OK;
}

void ws_sim_unload(ws_sim *sim, ws_sim_module *module) {
  for (int i = 0; i < sim->module_count; i++) {
    if (sim->modules[i] != module)
      continue;
    sim->modules[i] = sim->modules[--sim->module_count];
    ws__module_unload(sim->memory, module);
    return;
  }
}

int ws_sim_kernel_count(const ws_sim_module *module) {
  return module->kernel_count;
}

const ws_sim_kernel *ws_sim_kernel_at(const ws_sim_module *module, int index) {
  return index >= 0 && index < module->kernel_count ? &module->kernels[index]
                                                    : NULL;
}

const ws_sim_kernel *ws_sim_kernel_find(const ws_sim_module *module,
                                        const char *name) {
  for (int i = 0; i < module->kernel_count; i++)
    if (!strcmp(module->kernels[i].info.name, name))
      return &module->kernels[i];
  return NULL;
}

bool ws_sim_variable(const ws_sim_module *module, const char *name,
                     void **out_address, size_t *out_bytes) {
  for (int i = 0; i < module->variable_count; i++) {
    if (strcmp(module->variables[i].name, name))
      continue;
    *out_address = module->variables[i].address;
    *out_bytes = module->variables[i].bytes;
    return true;
  }
  return false;
}

const ws_sim_kernel_info *ws_sim_kernel_info_of(const ws_sim_kernel *kernel) {
  return &kernel->info;
}

/* ---- running --------------------------------------------------------------
 */

ws_status ws_sim_run(ws_sim *sim, const ws_sim_launch *launch, ws_arena *arena,
                     ws_sim_report *out_report, ws_diag *diag) {
  *out_report = (ws_sim_report){.findings = NULL};
  ws_plan plan;
  const ws_status status = ws__plan_create(
      sim->memory, launch,
      launch->budget ? launch->budget : sim->options.budget, &plan, diag);
  if (status != WS_OK)
    return status;
  plan.constants = sim->constants;
  const double begin = ws_clock_ms();
  ws_fault_list faults, notes;
  out_report->wave_instructions = ws__run(
      &plan, !sim->options.unchecked, sim->options.threads, &faults, &notes);
  out_report->seconds = (ws_clock_ms() - begin) / 1000;
  out_report->findings = ws__findings_of(&plan, &faults, arena);
  out_report->finding_count = faults.count;
  out_report->notes = ws__findings_of(&plan, &notes, arena);
  out_report->note_count = notes.count;
  ws__plan_release(&plan);
  return WS_OK;
}
