/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A made-up template and candidates of it for the dispatch tests, and a
 * compiler for what is emitted. Tile 16 accepts every legal shape; the others
 * want m to be a multiple of their tile.
 */
#ifndef WAVESMITH_TEST_SYNTHETIC_H
#define WAVESMITH_TEST_SYNTHETIC_H

#include "../gemm_shape.h"
#include "wavesmith/dispatch.h"
#include "wavesmith/rt.h"
#include "ws_test.h"

#include <dlfcn.h>

#define SYNTHETIC_RECORD(kind, ...)                                            \
  {                                                                            \
    kind, (const char *const[]){__VA_ARGS__},                                  \
        (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)), 1  \
  }

static inline const ws_template *
synthetic_from_records(ws_arena *arena, const char *name,
                       const ws_record *items, size_t count) {
  const ws_records records = {items, (int)count};
  const ws_template *tmpl;
  ws_diag diag = {""};
  if (ws_template_from_records(arena, &records, name,
                               ws_hash_bytes(name, strlen(name)), &tmpl,
                               &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return tmpl;
}

static inline const ws_template *synthetic_template(ws_arena *arena) {
  const ws_record items[] = {
      SYNTHETIC_RECORD("template", "synthetic", "1", "fp8_gemm_blockscale",
                       "gfx942", "for tests"),
      SYNTHETIC_RECORD("param", "tile", "ws.tile", "16 48 64 128", "rows",
                       "16"),
      SYNTHETIC_RECORD("param", "split", "ws.split", "1 2 4", "slices", "1"),
      SYNTHETIC_RECORD("require", "tile == 16 || m % tile == 0", "whole tiles"),
      SYNTHETIC_RECORD("require", "split == 1 || k >= 256 * split",
                       "every slice has work"),
      SYNTHETIC_RECORD("launch", "gemm", "ceildiv(m, tile) * ceildiv(n, 128)",
                       "split", "1", "256", "1", "a b c m n k"),
      SYNTHETIC_RECORD("launch", "reduce",
                       "min(ceildiv(m * n, 4096), 4 * cu_count)", "1", "1",
                       "max(64, 4 * tile)", "split > 1", "workspace c m n"),
      SYNTHETIC_RECORD("workspace", "split > 1 ? 4 * split * m * n : 0"),
  };
  return synthetic_from_records(arena, "synthetic.ll", items,
                                sizeof items / sizeof *items);
}

/* Kernarg layouts of the two kernels, as a compiler would lay them out. */
static inline const ws_build_result *synthetic_result(ws_arena *arena,
                                                      const char *code_hash) {
  ws_kernel_facts *kernels = ws_arena_alloc(arena, 2 * sizeof *kernels);
  kernels[0] = (ws_kernel_facts){.name = "gemm",
                                 .args = {{"a", 0, 8},
                                          {"b", 8, 8},
                                          {"c", 16, 8},
                                          {"m", 24, 4},
                                          {"n", 28, 4},
                                          {"k", 32, 4}},
                                 .arg_count = 6,
                                 .kernarg_bytes = 296};
  kernels[1] = (ws_kernel_facts){
      .name = "reduce",
      .args = {{"workspace", 0, 8}, {"c", 8, 8}, {"m", 16, 4}, {"n", 20, 4}},
      .arg_count = 4,
      .kernarg_bytes = 280};
  ws_build_result *result = ws_arena_alloc(arena, sizeof *result);
  result->kernels = kernels;
  result->kernel_count = 2;
  result->code_hash = code_hash;
  return result;
}

static inline ws_dispatch_entry synthetic_entry(ws_arena *arena,
                                                const ws_template *tmpl,
                                                const char *assignments) {
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  ws_diag diag = {""};
  if (ws_candidate_set(candidate, assignments, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const char *code = ws_arena_printf(arena, "code of %s", assignments);
  return (ws_dispatch_entry){
      .candidate = candidate,
      .result = synthetic_result(
          arena, ws_arena_printf(arena, "%s", candidate->id.hex)),
      .code_object = code,
      .code_object_size = strlen(code)};
}

/* Runs argv and gives its exit code. */
static inline int synthetic_run(const char *const *argv) {
  pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
  }
  int state = 0;
  waitpid(pid, &state, 0);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

/* Compiles DIRECTORY/NAME.c without any warning and loads it. */
static inline void *synthetic_load(ws_arena *arena, const char *directory,
                                   const char *name, const char *optimise) {
  const char *source = ws_arena_printf(arena, "%s/%s.c", directory, name);
  const char *library = ws_arena_printf(arena, "%s/%s.so", directory, name);
  const char *const argv[] = {
      WS_TEST_CC, "-Wall",    "-Wextra",       "-pedantic", "-std=c99",
      "-Werror",  "-Wshadow", "-Wconversion",  optimise,    "-shared",
      "-fPIC",    "-I",       WS_TEST_INCLUDE, source,      "-o",
      library,    NULL};
  if (synthetic_run(argv) != 0)
    WS_FAIL("%s does not compile", source);
  void *handle = dlopen(library, RTLD_NOW);
  if (!handle)
    WS_FAIL("%s", dlerror());
  return handle;
}

static inline void *synthetic_symbol(void *handle, const char *name) {
  void *symbol = dlsym(handle, name);
  if (!symbol)
    WS_FAIL("no symbol %s", name);
  return symbol;
}

/* Legal shapes, small ones more often than large ones. */
static inline ws_shape synthetic_shape(ws_rng *rng) {
  const uint64_t scale = UINT64_C(1) << ws_rng_below(rng, 9);
  return gemm_shape(16 + 16 * (int64_t)ws_rng_below(rng, 4 * scale),
                    16 + 16 * (int64_t)ws_rng_below(rng, 4 * scale),
                    128 + 128 * (int64_t)ws_rng_below(rng, scale));
}

/* ---- an emitted dispatch --------------------------------------------------
 */

static const char *const synthetic_points[] = {
    "tile=16;split=1", "tile=64;split=1", "tile=128;split=1", "tile=48;split=2",
    "tile=16;split=2", "tile=16;split=4", "tile=128;split=4"};
enum { POINTS = 7 };

typedef struct emitted {
  ws_arena *arena;
  const ws_problem *problem;
  ws_dispatch_entry entries[POINTS];
  ws_matrix matrix;
  ws_dispatch_report report;
  const char *directory;
  const ws_rt_dispatch *dispatch;
  int (*select)(long long, long long, long long);
  const char *(*explain)(long long, long long, long long, char *, size_t);
} emitted;

/* Times that no simple rule describes, so that the tree gets all its leaves. */
static inline void fill_matrix(emitted *e) {
  const ws_shape_set *set = ws_problem_shape_set(e->problem, "contest");
  int count;
  const ws_shape *shapes =
      ws_dispatch_training_shapes(e->arena, e->problem, set, &count);
  double *us = ws_arena_alloc(e->arena, (size_t)count * POINTS * sizeof *us);
  for (int s = 0; s < count; s++)
    for (int c = 0; c < POINTS; c++) {
      const ws_shape *shape = &shapes[s];
      double wave =
          sin((double)c + 1.3 * log((double)shape->size[DIM_M])) +
          cos(2.0 * c -
              0.7 * log((double)(shape->size[DIM_N] * shape->size[DIM_K])));
      bool runs =
          ws_candidate_broken_require(e->entries[c].candidate, shape, NULL) < 0;
      us[s * POINTS + c] = runs ? 10 * exp(wave) : INFINITY;
    }
  e->matrix = (ws_matrix){shapes, count, POINTS, us, "estimate:test"};
}

static inline ws_status emit_as(emitted *e, const char *name,
                                const char *directory, ws_diag *diag) {
  const ws_selection_input input = {.problem = e->problem,
                                    .target = ws_target_find("gfx942"),
                                    .entries = e->entries,
                                    .matrix = &e->matrix};
  const ws_dispatch_options options = {name, directory, "kmajor"};
  return ws_dispatch_emit(e->arena, &input, &options, &e->report, diag);
}

static inline void emit_into(emitted *e, const char *directory) {
  ws_diag diag = {""};
  if (emit_as(e, "fp8_gemm", directory, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
}

static inline void prepare(emitted *e, const char *directory) {
  e->arena = ws_arena_create();
  e->problem = ws_problem_find("fp8_gemm_blockscale");
  const ws_template *tmpl = synthetic_template(e->arena);
  for (int i = 0; i < POINTS; i++)
    e->entries[i] = synthetic_entry(e->arena, tmpl, synthetic_points[i]);
  fill_matrix(e);
  e->directory = ws_arena_printf(e->arena, "%s/out", directory);
}

static inline void prepare_and_load(emitted *e, const char *directory,
                                    const char *optimise) {
  prepare(e, directory);
  emit_into(e, e->directory);
  void *handle = synthetic_load(e->arena, e->directory, "fp8_gemm", optimise);
  e->dispatch = synthetic_symbol(handle, "fp8_gemm");
  *(void **)&e->select = synthetic_symbol(handle, "fp8_gemm_select");
  *(void **)&e->explain = synthetic_symbol(handle, "fp8_gemm_explain");
}

#endif
