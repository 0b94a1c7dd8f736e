/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which shapes are legal, what they cost, and what the arguments are on them.
 */
#include "parts.h"
#include "trap.h"

/* Offsets within an argument stay far from 2^63, whatever is added. */
static const int64_t most_bytes = INT64_C(1) << 46;

void ws__sizes_of(const ws_problem *problem, const ws_shape *shape, int form,
                  ws__sizes *out) {
  int count = ws_shape_bindings(shape, out->bindings);
  out->bindings[count++] = (ws_binding){"layout", form % problem->layout_count};
  out->scope = (ws_scope){out->bindings, count};
}

int64_t ws__size_value(const ws_expr *expr, const ws__sizes *sizes) {
  int64_t value;
  return ws_expr_eval(expr, &sizes->scope, &value, NULL) == WS_OK && value >= 0
             ? value
             : -1;
}

/* ---- legality ---- */

bool ws_problem_is_legal(const ws_problem *problem, const ws_shape *shape) {
  return ws_problem_check_shape(problem, shape, NULL) == WS_OK;
}

/* The first argument of a size that can't be addressed, or a scalar that does
 * not hold its value; the count of arguments: none. */
static int bad_argument(const ws_problem *problem, const ws_shape *shape) {
  int i = 0;
  for (; i < problem->arg_count; i++) {
    const ws_problem_arg *arg = &problem->args[i];
    const int64_t bytes = ws_arg_is_pointer(arg->role)
                              ? ws_problem_arg_bytes(problem, i, shape, 0)
                              : 0;
    const int64_t value = arg->role == WS_ARG_SCALAR && arg->type == WS_I32
                              ? ws_problem_arg_scalar(problem, i, shape, 0)
                              : 0;
    if (bytes < 0 || bytes > most_bytes || value != (int32_t)value)
      break;
  }
  return i;
}

static ws_status refuse_argument(const ws_problem *problem, int i,
                                 const ws_shape *shape, ws_diag *diag) {
  char text[WS_SHAPE_TEXT];
  if (!diag)
    return WS_INPUT;
  ws_shape_print_named(shape, text);
  if (ws_arg_is_pointer(problem->args[i].role))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: on %s '%s' would be larger than 2^46 bytes",
                   problem->name, text, problem->args[i].name);
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "%s: on %s '%s' is %lld, which an i32 does not hold",
                 problem->name, text, problem->args[i].name,
                 (long long)ws_problem_arg_scalar(problem, i, shape, 0));
}

/* Without a diag it makes no texts: who draws shapes asks millions of times. */
ws_status ws_problem_check_shape(const ws_problem *problem,
                                 const ws_shape *shape, ws_diag *diag) {
  ws_binding bindings[WS_MAX_DIMS];
  char text[WS_SHAPE_TEXT], condition[160];
  const ws_scope scope = {bindings, ws_shape_bindings(shape, bindings)};
  if (shape->dims != problem->dims)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s has the dimensions %s; %s is no shape of it",
                   problem->name, ws_dims_text(problem->dims),
                   shape->dims ? ws_shape_print_named(shape, text) : "nothing");
  for (int i = 0; i < shape->dims->count; i++)
    if (shape->size[i] < 1)
      return ws_fail(diag, WS_INPUT, NULL, 0, "%s: %s = %lld; sizes are from 1",
                     problem->name, shape->dims->names[i],
                     (long long)shape->size[i]);
  if (!ws_expr_holds(problem->legal, &scope, condition,
                     diag ? sizeof condition : 0)) {
    if (!diag)
      return WS_INPUT;
    return ws_fail(diag, WS_INPUT, NULL, 0, "%s: %s is not legal: it needs %s",
                   problem->name, ws_shape_print_named(shape, text), condition);
  }
  const int bad = bad_argument(problem, shape);
  return bad == problem->arg_count
             ? WS_OK
             : refuse_argument(problem, bad, shape, diag);
}

/* ---- arguments ---- */

bool ws_arg_is_pointer(ws_arg_role role) { return role != WS_ARG_SCALAR; }

bool ws_arg_is_result(ws_arg_role role) {
  return role == WS_ARG_OUTPUT || role == WS_ARG_INOUT;
}

bool ws_arg_is_content(ws_arg_role role) {
  return role == WS_ARG_INPUT || role == WS_ARG_INOUT;
}

ws_arg_role ws_problem_arg_role(const ws_problem *problem, int arg, int form) {
  unsigned layout = (unsigned)(form % problem->layout_count);
  return problem->parts->args[arg].inout >> layout & 1
             ? WS_ARG_INOUT
             : problem->args[arg].role;
}

ws_type ws_problem_arg_type(const ws_problem *problem, int arg, int form) {
  const ws_problem_layout *layout =
      &problem->layouts[form % problem->layout_count];
  ws_type type = problem->args[arg].type;
  return type == WS_FP8 ? layout->fp8 : type == WS_BF8 ? layout->bf8 : type;
}

int64_t ws__arg_elements(const ws_problem *problem, int arg,
                         const ws_shape *shape, int form) {
  const ws__argument *parts = &problem->parts->args[arg];
  ws__sizes sizes;
  int64_t product = 1;
  if (problem->args[arg].role == WS_ARG_WORKSPACE)
    return 0;
  ws__sizes_of(problem, shape, form, &sizes);
  for (int i = 0; i < parts->extent_count; i++) {
    int64_t extent = ws__size_value(parts->extents[i], &sizes);
    if (extent < 0 || __builtin_mul_overflow(product, extent, &product))
      return -1;
  }
  return product;
}

static int64_t ask(const ws_problem *problem, int arg, const ws_shape *shape,
                   int form, int64_t (*function)(int, const int64_t *, int),
                   const char *what) {
  ws__trap_enter(problem, shape, what);
  int64_t value = function(arg, shape->size, form);
  ws__trap_leave();
  return value;
}

int64_t ws_problem_arg_bytes(const ws_problem *problem, int arg,
                             const ws_shape *shape, int form) {
  if (problem->given->arg_bytes)
    return ask(problem, arg, shape, form, problem->given->arg_bytes,
               ".arg_bytes");
  if (!ws_arg_is_pointer(problem->args[arg].role))
    return 0;
  int64_t bytes = ws__arg_elements(problem, arg, shape, form);
  return bytes < 0 || __builtin_mul_overflow(
                          bytes, ws_type_bytes(problem->args[arg].type), &bytes)
             ? -1
             : bytes;
}

int64_t ws_problem_arg_scalar(const ws_problem *problem, int arg,
                              const ws_shape *shape, int form) {
  const ws_expr *value = problem->parts->args[arg].value;
  int64_t bits = 0;
  if (problem->args[arg].role != WS_ARG_SCALAR)
    return 0;
  if (problem->args[arg].type == WS_F32) {
    float number = (float)problem->args[arg].number;
    memcpy(&bits, &number, sizeof number);
    return bits;
  }
  if (!value)
    return ask(problem, arg, shape, form, problem->given->arg_scalar,
               ".arg_scalar");
  ws__sizes sizes;
  ws__sizes_of(problem, shape, form, &sizes);
  return ws_expr_eval(value, &sizes.scope, &bits, NULL) == WS_OK ? bits : 0;
}

bool ws_problem_is_contiguous(const ws_problem *problem, int form, int dim) {
  ws_shape shape = problem->least;
  ws__sizes sizes;
  for (int i = 0; i < problem->arg_count; i++) {
    const ws__argument *arg = &problem->parts->args[i];
    if (problem->args[i].role != WS_ARG_INPUT || !arg->extent_count)
      continue;
    const ws_expr *last = arg->extents[arg->extent_count - 1];
    ws__sizes_of(problem, &shape, form, &sizes);
    int64_t before = ws__size_value(last, &sizes);
    shape.size[dim] *= 2;
    ws__sizes_of(problem, &shape, form, &sizes);
    return ws__size_value(last, &sizes) != before;
  }
  return false;
}

/* ---- work ---- */

static double value_of(const ws_expr *expr, const ws_problem *problem,
                       const ws_shape *shape) {
  ws__sizes sizes;
  int64_t value;
  ws__sizes_of(problem, shape, 0, &sizes);
  return ws_expr_eval(expr, &sizes.scope, &value, NULL) == WS_OK ? (double)value
                                                                 : INFINITY;
}

double ws_problem_flops(const ws_problem *problem, const ws_shape *shape) {
  double sum = 0;
  if (problem->parts->flops)
    return value_of(problem->parts->flops, problem, shape);
  for (int i = 0; i < problem->arg_count; i++)
    if (ws_arg_is_content(ws_problem_arg_role(problem, i, 0)))
      sum += (double)ws__arg_elements(problem, i, shape, 0);
  return sum;
}

double ws_problem_least_bytes(const ws_problem *problem,
                              const ws_shape *shape) {
  double sum = 0;
  if (problem->parts->bytes)
    return value_of(problem->parts->bytes, problem, shape);
  for (int i = 0; i < problem->arg_count; i++)
    sum += (double)ws_problem_arg_bytes(problem, i, shape, 0) *
           (ws_problem_arg_role(problem, i, 0) == WS_ARG_INOUT ? 2 : 1);
  return sum;
}
