/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A profile in words, for people and for whoever proposes the next kernel: time
 * and what bounds it, pipes, where waves wait, LDS conflicts, bytes per level,
 * occupancy and what limits it, the hottest lines. And the same as JSON.
 */
#include "wavesmith/sim.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *text;
} stalls[WS_SIM_STALL_COUNT] = {
#define WS_SIM_STALL_TEXT(name, text) [WS_SIM_STALL_##name] = {#name, text},
    WS_SIM_STALL_MAP(WS_SIM_STALL_TEXT)
#undef WS_SIM_STALL_TEXT
};

static const struct {
  const char *bound, *text;
} bounds[] = {
    {"mfma", "the matrix pipes"},
    {"valu", "the vector ALUs' issue slots"},
    {"lds", "LDS bandwidth"},
    {"vmem", "the address unit and L1 of each compute unit"},
    {"l2", "L2 bandwidth"},
    {"mall", "Infinity Cache bandwidth"},
    {"hbm", "HBM bandwidth"},
    {"latency", "latency: no unit is busy most of the time"},
    {"dispatch", "the rate at which workgroups start"},
    {"launch", "the launch itself"},
};

static const char *text_of_bound(const char *bound) {
  for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
    if (!strcmp(bounds[i].bound, bound))
      return bounds[i].text;
  return bound;
}

/* ---- words ------------------------------------------------------------------
 */

/* The largest shares first; those under 2 % are left out. */
static void put_stalls(const double shares[WS_SIM_STALL_COUNT], bool short_form,
                       ws_strbuf *out) {
  bool used[WS_SIM_STALL_COUNT] = {false};
  const char *separator = "";
  for (int n = 0; n < WS_SIM_STALL_COUNT; n++) {
    int best = -1;
    for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
      if (!used[s] && (best < 0 || shares[s] > shares[best]))
        best = s;
    used[best] = true;
    if (shares[best] < 0.02)
      return;
    ws_strbuf_printf(out, "%s%.0f%% %s", separator, 100 * shares[best],
                     short_form ? stalls[best].name : stalls[best].text);
    separator = ", ";
  }
}

static void put_level(const char *name, double bytes, double hit,
                      const ws_sim_profile *p, ws_strbuf *out) {
  const double exec_us = (double)p->clocks / p->clock_mhz;
  ws_strbuf_printf(out, "  %-14s %10.2f MB  %7.2f TB/s", name, bytes / 1e6,
                   bytes / exec_us / 1e6);
  if (hit >= 0)
    ws_strbuf_printf(out, "  %5.1f%% hit", 100 * hit);
  ws_strbuf_puts(out, "\n");
}

/* "gemm.mlir:44:9", as far as it is known. */
static void put_place(const char *file, int line, int column, ws_strbuf *out) {
  ws_strbuf_puts(out, file);
  if (line)
    ws_strbuf_printf(out, ":%d", line);
  if (line && column)
    ws_strbuf_printf(out, ":%d", column);
}

static void put_lines(const ws_sim_profile *p, ws_strbuf *out) {
  if (!p->line_count)
    return;
  ws_strbuf_puts(out, "hottest lines (share of all wave clocks; why):\n");
  for (int i = 0; i < p->line_count; i++) {
    const ws_sim_hot_line *line = &p->lines[i];
    ws_strbuf_printf(out, "  %5.1f%%  ", 100 * line->share);
    put_place(line->file, line->line, line->column, out);
    if (*line->region)
      ws_strbuf_printf(out, " in %s", line->region);
    ws_strbuf_puts(out, ": ");
    put_stalls(line->stalls, true, out);
    ws_strbuf_puts(out, "\n");
  }
}

/* "(vmem)"; "" where it is issue alone. */
static const char *main_stall(const double shares[WS_SIM_STALL_COUNT]) {
  int best = WS_SIM_STALL_issue;
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
    if (shares[s] > shares[best])
      best = s;
  return best == WS_SIM_STALL_issue ? "" : stalls[best].name;
}

static void put_row(const ws_sim_loop_row *row, ws_strbuf *out) {
  ws_strbuf_printf(out, "  %8.1f  %-7s ", row->clocks, main_stall(row->stalls));
  if (!*row->text)
    ws_strbuf_printf(out, "... %d more", row->count);
  else
    ws_strbuf_puts(out, row->text);
  if (*row->text && row->count > 1)
    ws_strbuf_printf(out, " x%d", row->count);
  if (row->latency > 0)
    ws_strbuf_printf(out, " (data after %.0f clocks)", row->latency);
  if (row->line) {
    ws_strbuf_puts(out, "  ; ");
    put_place(row->file, row->line, row->column, out);
    ws_strbuf_printf(out, " in %s", row->region);
  }
  ws_strbuf_puts(out, "\n");
}

static void put_loop(const ws_sim_loop *loop, ws_strbuf *out) {
  if (!loop->row_count)
    return;
  ws_strbuf_printf(out,
                   "hottest loop: %.1f%% of all wave clocks; a wave goes round "
                   "%.1f times, %.0f clocks each, %d instructions (clocks, "
                   "mostly waiting for, instruction):\n",
                   100 * loop->share, loop->iterations, loop->clocks,
                   loop->instructions);
  for (int i = 0; i < loop->row_count; i++)
    put_row(&loop->rows[i], out);
}

static void put_latency(const char *of, double mean, double most,
                        ws_strbuf *out) {
  if (mean > 0)
    ws_strbuf_printf(out, "%s data comes after %.0f clocks, %.0f at most\n", of,
                     mean, most);
}

void ws_sim_explain(const ws_sim_profile *p, ws_strbuf *out) {
  ws_strbuf_printf(
      out,
      "%s: simulated %.2f us +-%.0f %% (the model's error; +- %.2f "
      "us by sampling; %lld clocks at %.0f MHz, the rest is "
      "launch)\nbound by %s\n",
      p->kernel, p->us, 100 * p->model_error, p->us_error, (long long)p->clocks,
      p->clock_mhz, text_of_bound(p->bound));
  ws_strbuf_printf(out,
                   "busy: MFMA %.0f%%, VALU %.0f%%, SALU %.0f%%, LDS %.0f%%, "
                   "VMEM %.0f%%\nwaves: ",
                   100 * p->mfma_busy, 100 * p->valu_busy, 100 * p->salu_busy,
                   100 * p->lds_busy, 100 * p->vmem_busy);
  put_stalls(p->stalls, false, out);
  ws_strbuf_printf(
      out,
      "\nLDS: bank conflicts make accesses take %.2f x their "
      "clocks\noccupancy: %d waves per SIMD, limited by %s; %lld "
      "workgroups fill the device %.2f times (%lld simulated%s)\n",
      p->lds_conflict, p->waves_per_simd, p->limiter, (long long)p->workgroups,
      p->waves_of_grid, (long long)p->workgroups_simulated,
      p->together ? ", together, as they wait for one another" : "");
  put_latency("LDS:", p->lds_latency, p->lds_latency_most, out);
  put_latency("global loads:", p->load_latency, p->load_latency_most, out);
  ws_strbuf_puts(out, "memory:\n");
  put_level("L1", p->l1_bytes, p->l1_hit, p, out);
  put_level("L2", p->l2_bytes, p->l2_hit, p, out);
  put_level("Infinity Cache", p->mall_bytes, p->mall_hit, p, out);
  put_level("HBM", p->hbm_bytes, -1, p, out);
  put_lines(p, out);
  put_loop(&p->loop, out);
}

/* ---- JSON -------------------------------------------------------------------
 */

static cJSON *stalls_to_json(const double shares[WS_SIM_STALL_COUNT]) {
  cJSON *object = cJSON_CreateObject();
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
    cJSON_AddNumberToObject(object, stalls[s].name, shares[s]);
  return object;
}

static void add_place(cJSON *object, int line, int column) {
  cJSON_AddNumberToObject(object, "line", line);
  if (column)
    cJSON_AddNumberToObject(object, "column", column);
}

static cJSON *line_to_json(const ws_sim_hot_line *line) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "region", line->region);
  cJSON_AddStringToObject(object, "file", line->file);
  add_place(object, line->line, line->column);
  cJSON_AddNumberToObject(object, "share", line->share);
  cJSON_AddItemToObject(object, "stalls", stalls_to_json(line->stalls));
  return object;
}

static cJSON *row_to_json(const ws_sim_loop_row *row) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "text", row->text);
  cJSON_AddNumberToObject(object, "count", row->count);
  cJSON_AddStringToObject(object, "region", row->region);
  cJSON_AddStringToObject(object, "file", row->file);
  add_place(object, row->line, row->column);
  cJSON_AddNumberToObject(object, "clocks", row->clocks);
  cJSON_AddStringToObject(object, "waits", main_stall(row->stalls));
  cJSON_AddNumberToObject(object, "latency", row->latency);
  return object;
}

static cJSON *loop_to_json(const ws_sim_loop *loop) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddNumberToObject(object, "share", loop->share);
  cJSON_AddNumberToObject(object, "clocks", loop->clocks);
  cJSON_AddNumberToObject(object, "iterations", loop->iterations);
  cJSON_AddNumberToObject(object, "instructions", loop->instructions);
  cJSON *rows = cJSON_AddArrayToObject(object, "rows");
  for (int i = 0; i < loop->row_count; i++)
    cJSON_AddItemToArray(rows, row_to_json(&loop->rows[i]));
  return object;
}

/* clang-format off */
#define WS_PROFILE_NUMBERS(X)                                                 \
  X(us) X(us_uncorrected) X(us_error) X(model_error) X(clock_mhz) X(clocks)   \
  X(mfma_busy) X(valu_busy) X(salu_busy) X(lds_busy) X(vmem_busy)             \
  X(load_latency) X(load_latency_most) X(lds_latency) X(lds_latency_most)     \
  X(lds_conflict) X(l1_hit) X(l2_hit) X(mall_hit)                             \
  X(l1_bytes) X(l2_bytes) X(mall_bytes) X(hbm_bytes)                          \
  X(waves_per_simd) X(waves_of_grid) X(workgroups) X(workgroups_simulated)     \
  X(instructions)
/* clang-format on */

cJSON *ws_sim_profile_to_json(const ws_sim_profile *p) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddStringToObject(object, "kernel", p->kernel);
  cJSON_AddStringToObject(object, "bound", p->bound);
  cJSON_AddStringToObject(object, "limiter", p->limiter);
  cJSON_AddBoolToObject(object, "together", p->together);
#define WS_PROFILE_NUMBER(name)                                                \
  cJSON_AddNumberToObject(object, #name, (double)p->name);
  WS_PROFILE_NUMBERS(WS_PROFILE_NUMBER)
#undef WS_PROFILE_NUMBER
  cJSON_AddItemToObject(object, "stalls", stalls_to_json(p->stalls));
  cJSON *features = cJSON_AddObjectToObject(object, "features");
  for (int f = 0; f < WS_SIM_FEATURES; f++)
    cJSON_AddNumberToObject(features, ws_sim_feature_names[f], p->features[f]);
  cJSON *functions = cJSON_AddObjectToObject(object, "functions");
  for (int i = 0; i < p->function_count; i++)
    cJSON_AddNumberToObject(functions, p->functions[i].name,
                            p->functions[i].share);
  cJSON *lines = cJSON_AddArrayToObject(object, "lines");
  for (int i = 0; i < p->line_count; i++)
    cJSON_AddItemToArray(lines, line_to_json(&p->lines[i]));
  cJSON_AddItemToObject(object, "loop", loop_to_json(&p->loop));
  return object;
}
