/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The shipped GEMM template on the simulator: candidates built by the wavesmith
 * program of this build, launched as the template's metadata says, compared
 * with the problem's fp64 reference.
 */
#ifndef WS_TEST_SHIPPED_H
#define WS_TEST_SHIPPED_H

#include "../gemm_shape.h"
#include "wavesmith/problem.h"
#include "wavesmith/sim.h"
#include "ws_test.h"

/* What `wavesmith tune` found best for the contest's shapes, and two others of
 * the tuned archive: 16x16x32 with two slices of k, 32x32x16, two buffers. */
static const char *const shipped_candidates[] = {
    "tile_m=256;tile_n=128;tile_k=128;waves_m=4;waves_n=2;mfma=16;"
    "lds_layout=2;lds_pad=0;lds_read=16;lds_buffers=1;prefetch=1;split_k=1;"
    "order=2;group_m=1",
    "tile_m=128;tile_n=64;tile_k=64;waves_m=4;waves_n=1;mfma=32;lds_layout=1;"
    "lds_pad=0;lds_read=16;lds_buffers=1;prefetch=1;split_k=4;order=1;group_m="
    "4",
    "tile_m=128;tile_n=128;tile_k=64;waves_m=4;waves_n=1;mfma=32;lds_layout=2;"
    "lds_pad=0;lds_read=16;lds_buffers=2;prefetch=1;split_k=8;order=0;group_m="
    "1",
    "tile_m=64;tile_n=64;tile_k=128;waves_m=2;waves_n=1;mfma=32;lds_layout=0;"
    "lds_pad=8;lds_read=8;lds_buffers=1;prefetch=1;split_k=1;order=0;group_m=1",
};
enum { SHIPPED_COUNT = sizeof shipped_candidates / sizeof *shipped_candidates };

/* "tile_m=256;..." -> 256 */
static int64_t shipped_value(const char *assignments, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = assignments; at; at = strchr(at, ';')) {
    at += *at == ';';
    if (!strncmp(at, name, length) && at[length] == '=')
      return strtoll(at + length + 1, NULL, 10);
  }
  WS_FAIL("no %s in %s", name, assignments);
}

/* ---- building -------------------------------------------------------------
 */

static char *shipped_program(ws_arena *arena) {
  ws_diag diag;
  char *folder;
  const char *given = getenv("WAVESMITH_PROGRAM");
  if (given)
    return ws_arena_strdup(arena, given);
  WS_CHECK(ws_program_directory(arena, &folder, &diag) == WS_OK);
  return ws_arena_printf(arena, "%s/../bin/wavesmith", folder);
}

static void *shipped_build(ws_arena *arena, const char *assignments,
                           size_t *out_size) {
  const char *source = getenv("WS_SOURCE_DIR");
  const char *program = shipped_program(arena);
  char folder[] = "/tmp/ws-shipped-XXXXXX", *image;
  ws_diag diag;
  if (!ws_file_exists(program))
    WS_SKIP("%s is not built", program);
  WS_CHECK(mkdtemp(folder) != NULL);
  const char *path = ws_arena_printf(arena, "%s/kernel.co", folder);
  const char *command = ws_arena_printf(
      arena,
      "'%s' check '%s/ir-templates/fp8_gemm_mfma.ll' --set '%s' --lines "
      "--stage lower --emit '%s' >/dev/null",
      program, source ? source : ".", assignments, path);
  if (system(command) ||
      ws_file_read(arena, path, &image, out_size, &diag) != WS_OK)
    WS_FAIL("failed: %s", command);
  unlink(path);
  rmdir(folder);
  return image;
}

/* ---- running --------------------------------------------------------------
 */

typedef struct shipped {
  ws_arena *arena;
  ws_sim *sim;
  ws_sim_module *module;
  const char *assignments;
  const ws_problem *problem;
  ws_shape shape;
  void *buffers[WS_PROBLEM_MAX_ARGS];
  size_t bytes[WS_PROBLEM_MAX_ARGS];
  ws_sim_report report; /* of the last launch */
  double seconds;       /* of all launches */
  int64_t instructions;
} shipped;

static void shipped_open(shipped *self, const char *assignments,
                         const void *image, size_t size,
                         const ws_sim_options *options) {
  ws_diag diag;
  *self = (shipped){.arena = ws_arena_create(),
                    .assignments = assignments,
                    .problem = ws_problem_find("fp8_gemm_blockscale")};
  if (ws_sim_create(options, &self->sim, &diag) != WS_OK ||
      ws_sim_load(self->sim, image, size, &self->module, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
}

static void shipped_close(shipped *self) {
  ws_sim_destroy(self->sim);
  ws_arena_destroy(self->arena);
}

static void shipped_inputs(shipped *self, const ws_shape *shape) {
  self->shape = *shape;
  const int64_t slices = shipped_value(self->assignments, "split_k");
  for (int i = 0; i < self->problem->arg_count; i++) {
    const ws_arg_role role = self->problem->args[i].role;
    if (role == WS_ARG_SCALAR)
      continue;
    int64_t bytes = ws_problem_arg_bytes(self->problem, i, shape, 0);
    if (role == WS_ARG_WORKSPACE)
      bytes =
          slices > 1 ? 4 * slices * shape->size[DIM_M] * shape->size[DIM_N] : 0;
    self->bytes[i] = (size_t)bytes;
    self->buffers[i] = ws_sim_allocate(self->sim, (size_t)bytes);
    WS_CHECK(self->buffers[i] != NULL);
    if (role == WS_ARG_INPUT)
      ws_problem_generate(self->problem, i, shape, 0, 7, self->buffers[i]);
  }
}

static void shipped_pack(const shipped *self, const ws_sim_kernel_info *info,
                         uint8_t *kernarg) {
  for (int i = 0; i < info->arg_count; i++) {
    const char *name = info->args[i].name;
    const int arg = name ? ws_problem_arg_index(self->problem, name) : -1;
    if (arg < 0)
      continue;
    const int32_t scalar =
        ws_problem_arg_scalar(self->problem, arg, &self->shape, 0);
    const void *value = self->problem->args[arg].role == WS_ARG_SCALAR
                            ? (const void *)&scalar
                            : &self->buffers[arg];
    memcpy(kernarg + info->args[i].offset, value, (size_t)info->args[i].size);
  }
}

static void shipped_launch(shipped *self, const char *kernel, int64_t x,
                           int64_t y, int64_t threads) {
  ws_diag diag;
  uint8_t kernarg[512] = {0};
  const ws_sim_launch launch = {.kernel =
                                    ws_sim_kernel_find(self->module, kernel),
                                .grid = {(uint32_t)x, (uint32_t)y, 1},
                                .block = {(uint32_t)threads, 1, 1},
                                .kernarg = kernarg,
                                .kernarg_size = sizeof kernarg};
  WS_CHECK(launch.kernel != NULL);
  shipped_pack(self, ws_sim_kernel_info_of(launch.kernel), kernarg);
  if (ws_sim_run(self->sim, &launch, self->arena, &self->report, &diag) !=
      WS_OK)
    WS_FAIL("%s", diag.text);
  self->seconds += self->report.seconds;
  self->instructions += self->report.wave_instructions;
}

static int64_t shipped_ceil(int64_t value, int64_t step) {
  return (value + step - 1) / step;
}

/* The template's launches; false: findings, in self->report. */
static bool shipped_run(shipped *self) {
  const char *a = self->assignments;
  const int64_t m = self->shape.size[DIM_M], n = self->shape.size[DIM_N];
  const int64_t slices = shipped_value(a, "split_k");
  shipped_launch(
      self, "fp8_gemm_mfma",
      shipped_ceil(m, shipped_value(a, "tile_m")) *
          shipped_ceil(n, shipped_value(a, "tile_n")),
      slices, 64 * shipped_value(a, "waves_m") * shipped_value(a, "waves_n"));
  if (self->report.finding_count)
    return false;
  if (slices > 1)
    shipped_launch(self, "fp8_gemm_reduce", shipped_ceil(m * n, 1024), 1, 256);
  return self->report.finding_count == 0;
}

static inline void shipped_show(const shipped *self) {
  for (int i = 0; i < self->report.finding_count && i < 4; i++) {
    const ws_sim_finding *f = &self->report.findings[i];
    fprintf(stderr,
            "# %s: %s workgroup %u wave %d lane %d pc 0x%llx \"%s\" (%s, "
            "%s:%d): %s\n",
            f->kernel, f->id, f->workgroup[0], f->wave, f->lane,
            (unsigned long long)f->pc, f->instruction, f->region, f->file,
            f->line, f->text);
  }
}

/* Rows [begin, end) against the reference. */
static inline ws_comparison shipped_compare(const shipped *self, int64_t begin,
                                            int64_t end) {
  const size_t elements = (size_t)((end - begin) * self->shape.size[DIM_N]);
  double *value = calloc(elements, sizeof *value);
  double *scale = calloc(elements, sizeof *scale);
  ws_comparison result = {.checked = 0};
  WS_CHECK(value && scale);
  ws_problem_reference(self->problem, &self->shape, 0,
                       (const void *const *)self->buffers, begin, end, value,
                       scale);
  ws_problem_compare(self->problem, &self->shape, 0,
                     (const void *const *)self->buffers, begin, end, value,
                     scale, &result);
  free(value);
  free(scale);
  return result;
}

#endif
