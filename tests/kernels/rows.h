/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests of the problems over rows share: buffers of one shape (rows,
 * cols), bf16, and the reference's answers.
 */
#ifndef WAVESMITH_TESTS_KERNELS_ROWS_H
#define WAVESMITH_TESTS_KERNELS_ROWS_H

#include "wavesmith/problem.h"
#include "ws_test.h"

/* The upper half of an f32, rounded to nearest, ties to even. */
static inline uint16_t bf16_of(double value) {
  const float narrow = (float)value;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline double bf16_value(uint16_t code) {
  const uint32_t bits = (uint32_t)code << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

typedef struct rows_case {
  const ws_problem *problem;
  ws_shape shape;
  uint16_t *args[WS_PROBLEM_MAX_ARGS]; /* of pointers */
  float scalar[WS_PROBLEM_MAX_ARGS];
  const void *buffers[WS_PROBLEM_MAX_ARGS];
  double *value, *error; /* output after output */
} rows_case;

static inline ws_shape rows_shape(const ws_problem *problem, int64_t rows,
                                  int64_t cols) {
  const int64_t sizes[] = {rows, cols};
  return ws_shape_of(problem->dims, sizes);
}

/* All zero; f32 scalars as the problem has them. */
static inline rows_case rows_make(const char *name, int64_t rows,
                                  int64_t cols) {
  rows_case c = {.problem = ws_problem_find(name)};
  WS_CHECK(c.problem);
  c.shape = rows_shape(c.problem, rows, cols);
  for (int i = 0; i < c.problem->arg_count; i++) {
    if (ws_arg_is_pointer(c.problem->args[i].role)) {
      c.args[i] =
          calloc(1, (size_t)ws_problem_arg_bytes(c.problem, i, &c.shape, 0));
      WS_CHECK(c.args[i]);
      c.buffers[i] = c.args[i];
    } else {
      const int64_t bits = ws_problem_arg_scalar(c.problem, i, &c.shape, 0);
      memcpy(&c.scalar[i], &bits, sizeof c.scalar[i]);
      c.buffers[i] = &c.scalar[i];
    }
  }
  const size_t count =
      (size_t)ws_problem_result_elements(c.problem, &c.shape, 0);
  c.value = calloc(count, sizeof *c.value);
  c.error = calloc(count, sizeof *c.error);
  WS_CHECK(c.value && c.error);
  return c;
}

static inline void rows_drop(rows_case *c) {
  for (int i = 0; i < WS_PROBLEM_MAX_ARGS; i++)
    free(c->args[i]);
  free(c->value);
  free(c->error);
}

static inline void rows_generate(rows_case *c, uint64_t seed) {
  for (int i = 0; i < c->problem->arg_count; i++)
    if (ws_arg_is_content(c->problem->args[i].role))
      ws_problem_generate(c->problem, i, &c->shape, 0, seed, c->args[i]);
}

static inline void rows_refer(rows_case *c) {
  ws_problem_reference(c->problem, &c->shape, 0, c->buffers, 0,
                       c->shape.size[0], c->value, c->error);
}

static inline ws_comparison rows_compare(const rows_case *c) {
  ws_comparison found;
  ws_problem_compare(c->problem, &c->shape, 0, c->buffers, 0, c->shape.size[0],
                     c->value, c->error, &found);
  return found;
}

/* What both problems say of shapes. */
static inline void rows_check_shapes(const char *name, int model,
                                     int held_out) {
  static const struct {
    int64_t rows, cols;
    const char *says;
  } bad[] = {{0, 8, "rows = 0"},
             {1, 12, "needs cols % 8 == 0"},
             {1, 65544, "needs cols <= 65536"},
             {1048577, 8, "needs rows <= 1048576"}};
  const ws_problem *problem = ws_problem_find(name);
  WS_CHECK(problem);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const ws_shape shape = rows_shape(problem, bad[i].rows, bad[i].cols);
    ws_diag diag = {""};
    WS_CHECK_INT(ws_problem_check_shape(problem, &shape, &diag), WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, bad[i].says);
  }
  const struct {
    const char *name;
    int count;
  } sets[] = {{"model", model}, {"held-out", held_out}};
  WS_CHECK_INT(problem->shape_set_count, 2);
  for (int i = 0; i < 2; i++) {
    const ws_shape_set *set = ws_problem_shape_set(problem, sets[i].name);
    WS_CHECK(set);
    WS_CHECK_INT(set->count, sets[i].count);
    for (int j = 0; j < set->count; j++)
      WS_CHECK(ws_problem_is_legal(problem, &set->shapes[j]));
  }
  const ws_shape least = rows_shape(problem, 1, 8);
  WS_CHECK(ws_problem_is_legal(problem, &least));
}

#endif
