/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The text of NAME.h and NAME.c: C99 without warnings, tables of rt.h, code
 * objects as byte arrays. Everything that depends on the shape (grids,
 * conditions, workspace, constraints, rules) is an expression with the
 * candidate's parameters folded in, printed by ws_expr_print_c, so that what a
 * program runs is what the tuner evaluated. Nothing here depends on the time
 * or place of the run: the same input gives the same bytes.
 */
#include "dispatch_internal.h"
#include "wavesmith/rt.h"
#include "wavesmith/sim_error.h"
#include "wavesmith/target.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#ifndef WAVESMITH_VERSION
#define WAVESMITH_VERSION "unknown"
#endif

static ws_target_family family_of(const ws__emission *emission) {
  const ws_target *target = ws_target_find(emission->target);
  return target ? target->family : WS_FAMILY_AMDGPU;
}

static bool is_elf(const ws_dispatch_entry *entry) {
  return entry->code_object_size >= 4 &&
         !memcmp(entry->code_object, "\177ELF", 4);
}

size_t ws__code_object_text_size(const ws__emission *emission, int position) {
  const ws_dispatch_entry *entry = emission->portfolio[position];
  if (family_of(emission) != WS_FAMILY_NVPTX || is_elf(entry))
    return entry->code_object_size;
  return strnlen(entry->code_object, entry->code_object_size);
}

const char *ws__code_object_name(const ws__emission *emission, int position) {
  const ws_dispatch_entry *entry = emission->portfolio[position];
  const char *suffix = family_of(emission) == WS_FAMILY_AMDGPU ? "co"
                       : is_elf(entry)                         ? "cubin"
                                                               : "ptx";
  return ws_arena_printf(emission->arena, "%s-%s.%s", emission->name,
                         entry->candidate->id.hex, suffix);
}

void ws__emit_banner(const ws__emission *emission, ws_strbuf *out) {
  ws_strbuf_printf(out,
                   "/* %s for %s, layout %s, target %s.\n"
                   " * Made by `wavesmith dispatch`, version %s: do not edit.\n"
                   " *\n"
                   " * Times and regret in this file are of provenance\n"
                   " *   ",
                   emission->name, emission->problem->name, emission->layout,
                   emission->target, WAVESMITH_VERSION);
  ws__put_comment(out, emission->provenance);
  ws_strbuf_puts(out, "\n");
  if (ws__is_estimate(emission->provenance))
    ws_strbuf_puts(out, " * that is, they come from a model: no kernel here "
                        "has been timed.\n");
  const double coin = ws_sim_error_coin(emission->provenance);
  if (coin > 0)
    ws_strbuf_printf(out,
                     " * Of kernels less than %.0f %% apart on a shape, which "
                     "the model cannot put in order,\n"
                     " * the one that serves more shapes is here.\n",
                     100 * coin);
  ws_strbuf_printf(out, " * Contents %s; kernels:\n", emission->content.hex);
  for (int p = 0; p < emission->count; p++) {
    ws_strbuf_printf(out, " *   %d  candidate %s, machine code ", p,
                     emission->portfolio[p]->candidate->id.hex);
    ws__put_comment(out, emission->portfolio[p]->result->code_hash);
    ws_strbuf_puts(out, "\n");
  }
  ws_strbuf_puts(out, " */\n");
}

/* ---- NAME.h
 * -------------------------------------------------------------------
 */

static const char *upper(ws_arena *arena, const char *text) {
  char *copy = ws_arena_strdup(arena, text);
  for (char *c = copy; *c; c++)
    *c = (char)toupper((unsigned char)*c);
  return copy;
}

static const char *slot_type(const ws__emission *emission, int index) {
  const ws_problem *problem = emission->problem;
  const ws_problem_arg *arg = &problem->args[index];
  int layout = ws_problem_layout_index(problem, emission->layout);
  ws_arg_role role = ws_problem_arg_role(problem, index, layout);
  if (role != WS_ARG_SCALAR)
    return role == WS_ARG_INOUT ? "pointer, read and written" : "pointer";
  return arg->type == WS_F32   ? "float"
         : arg->type == WS_I64 ? "int64"
                               : "int32";
}

static void emit_slots(const ws__emission *emission, ws_strbuf *out) {
  const ws_problem *problem = emission->problem;
  const char *prefix = upper(emission->arena, emission->name);
  ws_strbuf_puts(out, "/* Argument slots of ws_rt_run: slots[i] points at the "
                      "value of argument i,\n * a device pointer or a scalar "
                      "(of a stride, in elements). */\nenum {\n");
  for (int i = 0; i < problem->arg_count; i++) {
    ws_strbuf_printf(out, "  %s_ARG_%s = %d, /* %s: ", prefix,
                     upper(emission->arena, problem->args[i].name), i,
                     slot_type(emission, i));
    ws__put_comment(out, problem->args[i].meaning);
    ws_strbuf_puts(out, " */\n");
  }
  ws_strbuf_printf(out, "  %s_ARG_COUNT = %d\n};\n\n", prefix,
                   problem->arg_count);
}

/* The dimensions, each in a form, with commas: "long long m, long long n". */
const char *ws__list_sizes(const ws__emission *emission, const char *form) {
  const ws_dims *dims = emission->problem->dims;
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < dims->count; i++) {
    const char *mark = strstr(form, "%s");
    ws_strbuf_printf(&text, "%s%.*s%s%s", i ? ", " : "", (int)(mark - form),
                     form, dims->names[i], mark + 2);
  }
  const char *out = ws_arena_strdup(emission->arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

const char *ws__size_parameters(const ws__emission *emission) {
  return ws__list_sizes(emission, "long long %s");
}

/* "m=%lld n=%lld", a format of the emitted code. */
const char *ws__size_format(const ws__emission *emission) {
  const ws_dims *dims = emission->problem->dims;
  const char *out = "";
  for (int i = 0; i < dims->count; i++)
    out = ws_arena_printf(emission->arena, "%s%s%s=%%lld", out, i ? " " : "",
                          dims->names[i]);
  return out;
}

void ws__emit_header(const ws__emission *emission, ws_strbuf *out) {
  const char *name = emission->name;
  const char *guard = upper(emission->arena, name);
  ws__emit_banner(emission, out);
  ws_strbuf_printf(out,
                   "#ifndef %s_DISPATCH_H\n#define %s_DISPATCH_H\n\n"
                   "#include \"wavesmith/rt.h\"\n\n"
                   "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n",
                   guard, guard);
  emit_slots(emission, out);
  ws_strbuf_printf(
      out,
      "/* Index of the kernel for a shape; -1 when the shape is not legal. "
      "Total "
      "over\n * legal shapes; the kernel's constraints always hold. */\n"
      "int %s_select(%s);\n\n"
      "/* Says in one line which rule picks which kernel, and why. Returns "
      "buffer. */\n"
      "const char *%s_explain(%s,\n"
      "                       char *ws_buffer, size_t ws_size);\n\n"
      "/* For ws_rt_open. A shape of ws_rt_run is {%s}. */\n"
      "extern const ws_rt_dispatch %s;\n\n"
      "#ifdef __cplusplus\n}\n#endif\n#endif\n",
      name, ws__size_parameters(emission), name, ws__size_parameters(emission),
      ws__list_sizes(emission, "%s"), name);
}

/* ---- shape functions
 * ------------------------------------------------------------
 */

/* Gives the sizes their names; what is not used draws no warning. */
void ws__put_sizes(const ws__emission *emission, ws_strbuf *out) {
  const ws_dims *dims = emission->problem->dims;
  for (int i = 0; i < dims->count; i++)
    ws_strbuf_printf(out, "%s%s = ws_sizes[%d]",
                     i ? ", " : "  const long long ", dims->names[i], i);
  ws_strbuf_printf(out, ";\n  %s;\n", ws__list_sizes(emission, "(void)%s"));
}

/* requires: expr names nothing but dimensions and, with device_parameters,
 * cu_count. */
static void open_function(const ws__emission *emission, const char *type,
                          const char *name, const char *parameters,
                          ws_strbuf *out) {
  ws_strbuf_printf(out, "static %s %s(%s) {\n", type, name, parameters);
  ws__put_sizes(emission, out);
  if (strstr(parameters, "cu_count"))
    ws_strbuf_puts(out, "  (void)cu_count;\n");
}

static void emit_value(const ws__emission *emission, const char *name,
                       const char *parameters, const ws_expr *expr,
                       ws_strbuf *out) {
  open_function(emission, "long long", name, parameters, out);
  ws_strbuf_puts(out, "  return ");
  ws_expr_print_c(expr, out);
  ws_strbuf_puts(out, ";\n}\n\n");
}

void ws__emit_truth(const ws__emission *emission, const char *name,
                    const char *parameters, const ws_expr *expr,
                    ws_strbuf *out) {
  open_function(emission, "int", name, parameters, out);
  ws_strbuf_puts(out, "  return ");
  ws_expr_print_c(expr, out);
  ws_strbuf_puts(out, " != 0LL;\n}\n\n");
}

static const char shape_parameters[] = "const long long *ws_sizes";
static const char device_parameters[] =
    "const long long *ws_sizes, long long cu_count";

static ws_expr *fold(const ws__emission *emission, int position,
                     const ws_expr *expr) {
  const ws_scope scope = ws_candidate_scope(
      emission->arena, emission->portfolio[position]->candidate, NULL, 0);
  return ws_expr_bind(emission->arena, expr, &scope);
}

static void emit_workspace(const ws__emission *emission, int position,
                           ws_strbuf *out) {
  const ws_expr *bytes =
      emission->portfolio[position]->candidate->tmpl->workspace;
  const char *name = ws_arena_printf(emission->arena, "workspace_%d", position);
  if (bytes) {
    emit_value(emission, name, device_parameters,
               fold(emission, position, bytes), out);
    return;
  }
  open_function(emission, "long long", name, device_parameters, out);
  ws_strbuf_puts(out, "  return 0;\n}\n\n");
}

static void emit_grid(const ws__emission *emission, int position, int index,
                      ws_strbuf *out) {
  const ws_launch *launch =
      &emission->portfolio[position]->candidate->tmpl->launches[index];
  ws_strbuf_printf(out,
                   "static void grid_%d_%d(%s,\n                     long long "
                   "ws_grid[3]) {\n",
                   position, index, device_parameters);
  ws__put_sizes(emission, out);
  ws_strbuf_puts(out, "  (void)cu_count;\n");
  for (int axis = 0; axis < 3; axis++) {
    ws_strbuf_printf(out, "  ws_grid[%d] = ", axis);
    ws_expr_print_c(fold(emission, position, launch->grid[axis]), out);
    ws_strbuf_puts(out, ";\n");
  }
  ws_strbuf_puts(out, "}\n\n");
}

/* The constraints that depend on the shape; the others held when the candidate
 * was built. */
static void emit_accepts(const ws__emission *emission, int position,
                         ws_strbuf *out) {
  const ws_template *tmpl = emission->portfolio[position]->candidate->tmpl;
  ws_strbuf_printf(out, "static int accepts_%d(%s) {\n", position,
                   shape_parameters);
  ws__put_sizes(emission, out);
  for (int i = 0; i < tmpl->require_count; i++) {
    if (!tmpl->requires[i].uses_shape)
      continue;
    ws_strbuf_puts(out, "  if (");
    ws_expr_print_c(fold(emission, position, tmpl->requires[i].expr), out);
    ws_strbuf_puts(out, " == 0LL) /* ");
    ws__put_comment(out, tmpl->requires[i].reason);
    ws_strbuf_puts(out, " */\n    return 0;\n");
  }
  ws_strbuf_puts(out, "  return 1;\n}\n\n");
}

/* ---- tables of one candidate
 * ------------------------------------------------------
 */

static void put_bytes(const unsigned char *bytes, size_t size, ws_strbuf *out) {
  for (size_t i = 0; i < size; i++)
    ws_strbuf_printf(out, "%s%u,", i % 18 ? "" : "\n  ", bytes[i]);
}

static void emit_bytes(const ws__emission *emission, int position,
                       ws_strbuf *out) {
  const ws_dispatch_entry *entry = emission->portfolio[position];
  const size_t size = ws__code_object_text_size(emission, position);
  const bool is_text = family_of(emission) == WS_FAMILY_NVPTX && !is_elf(entry);
  ws_strbuf_printf(
      out,
      "/* %s: the union aligns it. */\n"
      "static const union {\n  unsigned char bytes[%zu];\n  double "
      "alignment;\n} code_%d = {{",
      is_text ? "PTX, which the driver compiles"
              : "An ELF image, which is read in place",
      size + is_text, position);
  put_bytes(entry->code_object, size, out);
  ws_strbuf_puts(out, is_text ? "\n  0\n}};\n\n" : "\n}};\n\n");
}

/* ---- tensor maps ---- */

static ws_status constant_of(const ws__emission *emission, int position,
                             const ws_expr *expr, const char *what, int line,
                             int64_t *out, ws_diag *diag) {
  const ws_template *tmpl = emission->portfolio[position]->candidate->tmpl;
  if (ws_expr_is_constant(fold(emission, position, expr), out))
    return WS_OK;
  return ws_fail(diag, WS_INPUT, tmpl->file, line,
                 "%s depends on more than parameters", what);
}

static void emit_extents(const ws__emission *emission, int position, int index,
                         const ws_tensor_map *map, ws_strbuf *out) {
  const ws_expr *const extents[] = {map->inner, map->outer};
  ws_strbuf_printf(out,
                   "static void extents_%d_%d(%s,\n                        "
                   "long long ws_extents[2]) {\n",
                   position, index, shape_parameters);
  ws__put_sizes(emission, out);
  for (int axis = 0; axis < 2; axis++) {
    ws_strbuf_printf(out, "  ws_extents[%d] = ", axis);
    ws_expr_print_c(fold(emission, position, extents[axis]), out);
    ws_strbuf_puts(out, ";\n");
  }
  ws_strbuf_puts(out, "}\n\n");
}

static ws_status emit_tensor_map(const ws__emission *emission, int position,
                                 int index, ws_strbuf *table, ws_strbuf *out,
                                 ws_diag *diag) {
  const ws_template *tmpl = emission->portfolio[position]->candidate->tmpl;
  const ws_tensor_map *map = &tmpl->tensor_maps[index];
  const int slot = ws_problem_arg_index(emission->problem, map->argument);
  const ws_expr *const fixed[] = {map->box_inner, map->box_outer, map->swizzle};
  int64_t values[3];
  if (slot < 0)
    return ws_fail(diag, WS_INPUT, tmpl->file, map->line,
                   "tensor map %s is of an argument '%s' that problem %s does "
                   "not have",
                   map->name, map->argument, emission->problem->name);
  for (int i = 0; i < 3; i++)
    WS_TRY(constant_of(emission, position, fixed[i], "box or swizzle",
                       map->line, &values[i], diag));
  emit_extents(emission, position, index, map, out);
  ws_strbuf_printf(table, "  {%d, %d, %lldu, %lldu, %lldu, extents_%d_%d}, ",
                   slot, ws_element_bytes(map->element), (long long)values[0],
                   (long long)values[1], (long long)values[2], position, index);
  ws_strbuf_puts(table, "/* ");
  ws__put_comment(table, map->name);
  ws_strbuf_puts(table, " of ");
  ws__put_comment(table, map->argument);
  ws_strbuf_puts(table, " */\n");
  return WS_OK;
}

static ws_status emit_tensor_maps(const ws__emission *emission, int position,
                                  ws_strbuf *out, ws_diag *diag) {
  const ws_template *tmpl = emission->portfolio[position]->candidate->tmpl;
  ws_status status = WS_OK;
  ws_strbuf table;
  ws_strbuf_init(&table);
  for (int i = 0; i < tmpl->tensor_map_count && status == WS_OK; i++)
    status = emit_tensor_map(emission, position, i, &table, out, diag);
  if (tmpl->tensor_map_count && status == WS_OK)
    ws_strbuf_printf(out,
                     "static const ws_rt_tensor_map tensor_maps_%d[] = "
                     "{\n%s};\n\n",
                     position, table.data);
  ws_strbuf_deinit(&table);
  return status;
}

/* ---- launches ---- */

/* What a kernel's argument is made of: a slot of the problem, or a tensor map
 * of the template. */
static ws_status source_of(const ws__emission *emission, int position,
                           const ws_kernel_facts *kernel,
                           const struct ws_kernarg *arg, int *out_index,
                           ws_diag *diag) {
  const ws_template *tmpl = emission->portfolio[position]->candidate->tmpl;
  *out_index = -1;
  if (arg->size != WS_RT_TENSOR_MAP_BYTES)
    *out_index = ws_problem_arg_index(emission->problem, arg->name);
  for (int i = 0;
       arg->size == WS_RT_TENSOR_MAP_BYTES && i < tmpl->tensor_map_count; i++)
    if (!strcmp(tmpl->tensor_maps[i].name, arg->name))
      *out_index = i;
  if (*out_index >= 0)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "kernel %s takes an argument '%s' that neither problem %s nor "
                 "a tensor map has",
                 kernel->name, arg->name, emission->problem->name);
}

static ws_status emit_kernargs(const ws__emission *emission, int position,
                               int index, const ws_kernel_facts *kernel,
                               uint32_t *out_bytes, ws_strbuf *out,
                               ws_diag *diag) {
  const char *id = emission->portfolio[position]->candidate->id.hex;
  *out_bytes = 0;
  if (kernel->arg_count == 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "kernel %s of candidate %s has no arguments, so it cannot "
                   "write a result",
                   kernel->name, id);
  ws_strbuf_printf(out, "static const ws_rt_kernarg kernargs_%d_%d[] = {\n",
                   position, index);
  for (int i = 0; i < kernel->arg_count; i++) {
    const struct ws_kernarg *arg = &kernel->args[i];
    int source;
    WS_TRY(source_of(emission, position, kernel, arg, &source, diag));
    ws_strbuf_printf(out, "  {%d, %d, %d}, /* ", source, (int)arg->offset,
                     (int)arg->size);
    ws__put_comment(out, arg->name);
    ws_strbuf_puts(out, " */\n");
    uint32_t end = (uint32_t)(arg->offset + arg->size);
    *out_bytes = end > *out_bytes ? end : *out_bytes;
  }
  ws_strbuf_puts(out, "};\n\n");
  if (*out_bytes <= WS_RT_MAX_KERNARG_BYTES)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "kernel %s of candidate %s takes %u bytes of arguments, at "
                 "most %d are possible",
                 kernel->name, id, (unsigned)*out_bytes,
                 WS_RT_MAX_KERNARG_BYTES);
}

/* A launch that the parameters rule out has no kernel: lowering drops it. */
static bool is_ruled_out(const ws__emission *emission, int position,
                         const ws_launch *launch) {
  int64_t value;
  return ws_expr_is_constant(fold(emission, position, launch->condition),
                             &value) &&
         value == 0;
}

static ws_status emit_launch(const ws__emission *emission, int position,
                             int index, ws_strbuf *table, ws_strbuf *out,
                             ws_diag *diag) {
  const ws_dispatch_entry *entry = emission->portfolio[position];
  const ws_launch *launch = &entry->candidate->tmpl->launches[index];
  const ws_kernel_facts *kernel =
      ws_build_kernel_facts(entry->result, launch->kernel);
  uint32_t bytes;
  int64_t threads;
  if (!kernel)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %s launches %s, which its code object does not "
                   "have; build it again",
                   entry->candidate->id.hex, launch->kernel);
  WS_TRY(emit_kernargs(emission, position, index, kernel, &bytes, out, diag));
  WS_TRY(constant_of(emission, position, launch->threads,
                     "the count of threads", launch->line, &threads, diag));
  emit_grid(emission, position, index, out);
  ws__emit_truth(
      emission,
      ws_arena_printf(emission->arena, "condition_%d_%d", position, index),
      device_parameters, fold(emission, position, launch->condition), out);
  ws_strbuf_puts(table, "  {");
  ws__put_literal(table, launch->kernel);
  ws_strbuf_printf(table,
                   ", %lldu, %du, %uu, kernargs_%d_%d, %du,\n   "
                   "condition_%d_%d, grid_%d_%d},\n",
                   (long long)threads, (int)kernel->dynamic_lds, bytes,
                   position, index, (int)kernel->arg_count, position, index,
                   position, index);
  return WS_OK;
}

static ws_status emit_launches(const ws__emission *emission, int position,
                               ws_strbuf *out, ws_diag *diag) {
  const ws_template *tmpl = emission->portfolio[position]->candidate->tmpl;
  ws_status status = WS_OK;
  ws_strbuf table;
  ws_strbuf_init(&table);
  for (int i = 0; i < tmpl->launch_count && status == WS_OK; i++)
    if (!is_ruled_out(emission, position, &tmpl->launches[i]))
      status = emit_launch(emission, position, i, &table, out, diag);
  ws_strbuf_printf(out, "static const ws_rt_launch launches_%d[] = {\n%s};\n\n",
                   position, table.data);
  ws_strbuf_deinit(&table);
  return status;
}

static ws_status emit_candidate(const ws__emission *emission, int position,
                                ws_strbuf *out, ws_diag *diag) {
  const ws_dispatch_entry *entry = emission->portfolio[position];
  ws_strbuf_printf(out, "/* ---- kernel %d: ", position);
  ws__put_comment(out, entry->candidate->tmpl->name);
  ws_strbuf_puts(out, " ---- */\n\n");
  emit_bytes(emission, position, out);
  WS_TRY(emit_tensor_maps(emission, position, out, diag));
  WS_TRY(emit_launches(emission, position, out, diag));
  emit_workspace(emission, position, out);
  emit_accepts(emission, position, out);
  return WS_OK;
}

/* ---- tables of the dispatch
 * -------------------------------------------------------
 */

static void emit_candidate_table(const ws__emission *emission, ws_strbuf *out) {
  ws_strbuf_puts(out, "static const ws_rt_candidate candidates[] = {\n");
  for (int p = 0; p < emission->count; p++) {
    const ws_dispatch_entry *entry = emission->portfolio[p];
    const ws_candidate *candidate = entry->candidate;
    const char *variants =
        ws_candidate_variants_text(emission->arena, candidate);
    const char *maps =
        candidate->tmpl->tensor_map_count
            ? ws_arena_printf(emission->arena, "tensor_maps_%d", p)
            : "NULL";
    ws_strbuf_puts(out, "  {");
    ws__put_literal(out, candidate->id.hex);
    ws_strbuf_puts(out, ",\n   ");
    ws__put_literal(
        out,
        ws_arena_printf(emission->arena, "%s %s%s%s", candidate->tmpl->name,
                        ws_candidate_values_text(emission->arena, candidate),
                        variants[0] ? " " : "", variants));
    ws_strbuf_printf(
        out,
        ",\n   code_%d.bytes, sizeof code_%d.bytes, %s, %du,\n   launches_%d, "
        "sizeof launches_%d / sizeof *launches_%d,\n   workspace_%d, "
        "accepts_%d},\n",
        p, p, maps, candidate->tmpl->tensor_map_count, p, p, p, p, p);
  }
  ws_strbuf_puts(out, "};\n\n");
}

static void emit_dispatch_table(const ws__emission *emission, ws_strbuf *out) {
  const bool cuda = family_of(emission) == WS_FAMILY_NVPTX;
  const char *const texts[] = {emission->name, emission->problem->name,
                               emission->layout, emission->target,
                               emission->provenance};
  const int tuned =
      ws__emit_tuned(emission->selection->portfolio.input->matrix, out);
  ws_strbuf_printf(out, "static const char *const dimensions[] = {%s};\n\n",
                   ws__list_sizes(emission, "\"%s\""));
  ws_strbuf_printf(out, "const ws_rt_dispatch %s = {\n  WS_RT_ABI_VERSION, %s",
                   emission->name, cuda ? "WS_RT_CUDA" : "WS_RT_HIP");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    ws_strbuf_puts(out, i == 2 ? ",\n  " : ", ");
    ws__put_literal(out, texts[i]);
  }
  ws_strbuf_printf(out,
                   ",\n  candidates, %du, %du, select_kernel, %du, "
                   "dimensions,\n  %s, %du};\n\n",
                   emission->count, emission->problem->arg_count,
                   emission->problem->dims->count,
                   tuned ? "tuned_shapes[0]" : "NULL", tuned);
}

/* The functions that printed expressions may call. */
static const struct {
  const char *call, *definition;
} helpers[] = {
    {"ws_ceildiv(", "static long long ws_ceildiv(long long a, long long b) {\n"
                    "  return (long long)(((unsigned long long)a +\n"
                    "                      (unsigned long long)b - 1) /\n"
                    "                     (unsigned long long)b);\n}\n\n"},
    {"ws_min(", "static long long ws_min(long long a, long long b) {\n"
                "  return a < b ? a : b;\n}\n\n"},
    {"ws_max(", "static long long ws_max(long long a, long long b) {\n"
                "  return a > b ? a : b;\n}\n\n"},
};

static void emit_dispatch(const ws__emission *emission, ws_strbuf *out) {
  emit_candidate_table(emission, out);
  ws__emit_select(emission, out);
  emit_dispatch_table(emission, out);
  ws__emit_explain(emission, out);
}

/* The dispatch under a name that nothing else has shows what it uses. */
static ws_status check_name(const ws__emission *emission,
                            const ws_strbuf *candidates, ws_diag *diag) {
  ws__emission probe = *emission;
  ws_strbuf text;
  probe.name = "ws_probe";
  ws_strbuf_init(&text);
  emit_dispatch(&probe, &text);
  ws_status status = ws__check_unused_name(emission->name, &text, diag);
  ws_strbuf_deinit(&text);
  return status == WS_OK
             ? ws__check_unused_name(emission->name, candidates, diag)
             : status;
}

ws_status ws__emit_source(const ws__emission *emission, ws_strbuf *out,
                          ws_diag *diag) {
  ws_strbuf body;
  ws_strbuf_init(&body);
  ws_status status = WS_OK;
  for (int p = 0; p < emission->count && status == WS_OK; p++)
    status = emit_candidate(emission, p, &body, diag);
  if (status == WS_OK)
    status = check_name(emission, &body, diag);
  if (status == WS_OK) {
    emit_dispatch(emission, &body);
    ws__emit_banner(emission, out);
    ws_strbuf_printf(out, "#include \"%s.h\"\n\n#include <stdio.h>\n\n",
                     emission->name);
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
      if (strstr(body.data, helpers[i].call))
        ws_strbuf_puts(out, helpers[i].definition);
    ws_strbuf_append(out, body.data, body.size);
  }
  ws_strbuf_deinit(&body);
  return status;
}
