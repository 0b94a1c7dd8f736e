/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a launch says, as numbers: the lanes of a workgroup are a parameter's
 * business and one row (x), so gpu.block_dim, gpu.global_id and what is said of
 * waves are constants and sums. gpu.subgroup_reduce becomes shuffles. Each is
 * written in operations that both vendors' lowerings have.
 */
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* Of the kernel of this name; 0: it has no launch, or none that has a value. */
static int64_t threads_of(const ws_mlir *m, const ws_mlir_function *f) {
  const char *text =
      mlirAttributeIsNull(f->launch) ? NULL : ws__mlir_operand(m, f->launch, 3);
  ws_expr *expr;
  ws_diag diag;
  int64_t value;
  return text &&
                 ws_expr_parse(m->arena, text, m->file, 0, &expr, &diag) ==
                     WS_OK &&
                 ws_expr_eval(expr, &m->values, &value, &diag) == WS_OK
             ? value
             : 0;
}

/* Lanes of the workgroup that runs an operation: what the kernel's launch says;
 * for other functions, what all launches do. 0: that is nothing. */
static int64_t lanes_at(const ws_mlir *m, MlirOperation op) {
  int64_t lanes = 0;
  while (!ws__mlir_is(op, "gpu.func") && !ws__mlir_is(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  const bool is_kernel = ws__mlir_is(op, "gpu.func");
  for (int i = 0; i < m->function_count; i++) {
    const ws_mlir_function *f = &m->functions[i];
    const bool counts = is_kernel ? mlirStringRefEqual(ws__mlir_symbol(op),
                                                       ws__mlir_ref(f->name))
                                  : !mlirAttributeIsNull(f->launch);
    const int64_t own = counts ? threads_of(m, f) : 0;
    if (counts && lanes && own != lanes)
      return 0;
    lanes = counts ? own : lanes;
  }
  return lanes;
}

static bool no_lanes(const ws_mlir *m, MlirOperation op) {
  ws__mlir_refuse(m, op, "mlir-lower",
                  "%.*s: no launch says how many lanes the workgroup has, or "
                  "they differ; pass the number as an argument",
                  (int)ws__mlir_name(op).length, ws__mlir_name(op).data);
  return false;
}

/* ---- numbers
 * ----------------------------------------------------------------- */

/* "x", "y" or "z". */
static char dimension_of(const ws_mlir *m, MlirOperation op) {
  static const char *const dims[] = {"#gpu<dim x>", "#gpu<dim y>"};
  MlirAttribute is =
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("dimension"));
  for (int i = 0; i < 2; i++)
    if (mlirAttributeEqual(
            is, mlirAttributeParseGet(m->context, ws__mlir_ref(dims[i]))))
      return (char)('x' + i);
  return 'z';
}

static bool write_number(const ws_mlir *m, MlirOperation op, int64_t value) {
  return ws__mlir_write(m, op,
                        ws_arena_printf(m->arena,
                                        "%%c = arith.constant %lld : index\n"
                                        "return %%c : index\n",
                                        (long long)value));
}

static bool write_block_dim(const ws_mlir *m, MlirOperation op, int64_t lanes) {
  return write_number(m, op, dimension_of(m, op) == 'x' ? lanes : 1);
}

/* Of y and z there is one lane. */
static bool write_global_id(const ws_mlir *m, MlirOperation op, int64_t lanes) {
  const char dimension = dimension_of(m, op);
  return ws__mlir_write(
      m, op,
      dimension == 'x'
          ? ws_arena_printf(m->arena,
                            "%%lane = gpu.thread_id x\n"
                            "%%group = gpu.block_id x\n"
                            "%%lanes = arith.constant %lld : index\n"
                            "%%first = arith.muli %%group, %%lanes : index\n"
                            "%%id = arith.addi %%first, %%lane : index\n"
                            "return %%id : index\n",
                            (long long)lanes)
          : ws_arena_printf(m->arena,
                            "%%id = gpu.block_id %c\nreturn %%id : index\n",
                            dimension));
}

/* Of the lane's number in the workgroup by the lanes of a wave. */
static bool write_of_wave(const ws_mlir *m, MlirOperation op,
                          const char *operation) {
  return ws__mlir_write(m, op,
                        ws_arena_printf(m->arena,
                                        "%%lane = gpu.thread_id x\n"
                                        "%%wave = arith.constant %d : index\n"
                                        "%%id = %s %%lane, %%wave : index\n"
                                        "return %%id : index\n",
                                        m->target->wave, operation));
}

static bool write_subgroup_id(const ws_mlir *m, MlirOperation op,
                              int64_t lanes) {
  (void)lanes;
  return write_of_wave(m, op, "arith.divui");
}

static bool write_lane_id(const ws_mlir *m, MlirOperation op, int64_t lanes) {
  (void)lanes;
  return write_of_wave(m, op, "arith.remui");
}

static bool write_num_subgroups(const ws_mlir *m, MlirOperation op,
                                int64_t lanes) {
  return write_number(m, op, (lanes + m->target->wave - 1) / m->target->wave);
}

static bool write_subgroup_size(const ws_mlir *m, MlirOperation op,
                                int64_t lanes) {
  (void)lanes;
  return write_number(m, op, m->target->wave);
}

/* ---- reductions
 * -------------------------------------------------------------- */

static const struct {
  const char *kind, *on_integers, *on_floats;
} combinations[] = {
    {"add", "addi", "addf"},        {"mul", "muli", "mulf"},
    {"minui", "minui", NULL},       {"minsi", "minsi", NULL},
    {"maxui", "maxui", NULL},       {"maxsi", "maxsi", NULL},
    {"and", "andi", NULL},          {"or", "ori", NULL},
    {"xor", "xori", NULL},          {"minnumf", NULL, "minnumf"},
    {"maxnumf", NULL, "maxnumf"},   {"minimumf", NULL, "minimumf"},
    {"maximumf", NULL, "maximumf"},
};

static const char *combination_of(const ws_mlir *m, MlirOperation op,
                                  MlirType type) {
  MlirAttribute is =
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("op"));
  for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
    if (mlirAttributeEqual(
            is, mlirAttributeParseGet(m->context,
                                      ws__mlir_ref(ws_arena_printf(
                                          m->arena, "#gpu<all_reduce_op %s>",
                                          combinations[i].kind)))))
      return mlirTypeIsAFloat(type) ? combinations[i].on_floats
                                    : combinations[i].on_integers;
  return NULL;
}

static int64_t number_of(MlirOperation op, const char *name,
                         int64_t otherwise) {
  MlirAttribute value =
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref(name));
  return mlirAttributeIsNull(value) ? otherwise
                                    : mlirIntegerAttrGetValueInt(value);
}

/* A shuffle of 32 bits: narrower ones go within them. */
static void write_shuffle(ws_strbuf *out, const char *type, int bits, int k,
                          int64_t distance, int wave) {
  const bool is_float = type[0] != 'i';
  ws_strbuf_printf(out,
                   "%%d%d = arith.constant %lld : i32\n"
                   "%%w%d = arith.constant %d : i32\n",
                   k, (long long)distance, k, wave);
  if (bits == 32) {
    ws_strbuf_printf(
        out, "%%s%d, %%p%d = gpu.shuffle xor %%v%d, %%d%d, %%w%d : %s\n", k, k,
        k, k, k, type);
    return;
  }
  if (is_float)
    ws_strbuf_printf(out, "%%b%d = arith.bitcast %%v%d : %s to i%d\n", k, k,
                     type, bits);
  ws_strbuf_printf(out,
                   "%%e%d = arith.extui %%%c%d : i%d to i32\n"
                   "%%f%d, %%p%d = gpu.shuffle xor %%e%d, %%d%d, %%w%d : i32\n"
                   "%%%c%d = arith.trunci %%f%d : i32 to i%d\n",
                   k, is_float ? 'b' : 'v', k, bits, k, k, k, k, k,
                   is_float ? 't' : 's', k, k, bits);
  if (is_float)
    ws_strbuf_printf(out, "%%s%d = arith.bitcast %%t%d : i%d to %s\n", k, k,
                     bits, type);
}

/* Each lane gets what its cluster comes to, in log2 steps. */
static bool write_reduction(const ws_mlir *m, MlirOperation op, int64_t lanes) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  const int64_t stride = number_of(op, "cluster_stride", 1),
                size = number_of(op, "cluster_size", m->target->wave);
  const int bits = mlirTypeIsAFloat(type) ? (int)mlirFloatTypeGetWidth(type)
                   : mlirTypeIsAInteger(type)
                       ? (int)mlirIntegerTypeGetWidth(type)
                       : 0;
  const char *name = ws__mlir_type_text(m, type),
             *combination = bits ? combination_of(m, op, type) : NULL;
  if (!combination || bits < 8 || bits > 32 ||
      size * stride > m->target->wave || lanes % m->target->wave) {
    ws__mlir_refuse(m, op, "mlir-lower",
                    "gpu.subgroup_reduce is of integers and floats of 8 to 32 "
                    "bits, in waves of %d lanes that are all there",
                    m->target->wave);
    return false;
  }
  ws_strbuf body;
  ws_strbuf_init(&body);
  ws_strbuf_printf(&body, "%%v0 = arith.bitcast %%arg0 : %s to %s\n", name,
                   name);
  int k = 0;
  for (int64_t distance = stride; distance < size * stride; distance *= 2) {
    write_shuffle(&body, name, bits, k, distance, m->target->wave);
    ws_strbuf_printf(&body, "%%v%d = arith.%s %%v%d, %%s%d : %s\n", k + 1,
                     combination, k, k, name);
    k++;
  }
  ws_strbuf_printf(&body, "return %%v%d : %s\n", k, name);
  const bool ok = ws__mlir_write(m, op, body.data);
  ws_strbuf_deinit(&body);
  return ok;
}

/* ---- all of it
 * --------------------------------------------------------------- */

static const struct id {
  const char *name;
  bool wants_lanes;
  bool (*write)(const ws_mlir *m, MlirOperation op, int64_t lanes);
} ids[] = {
    {"gpu.block_dim", true, write_block_dim},
    {"gpu.global_id", true, write_global_id},
    {"gpu.lane_id", false, write_lane_id},
    {"gpu.num_subgroups", true, write_num_subgroups},
    {"gpu.subgroup_id", false, write_subgroup_id},
    {"gpu.subgroup_reduce", true, write_reduction},
    {"gpu.subgroup_size", false, write_subgroup_size},
};

enum { IDS = sizeof ids / sizeof *ids, MOST_FOUND = 4096 };

typedef struct found {
  MlirOperation op;
  const struct id *id;
} found;

typedef struct list {
  found items[MOST_FOUND];
  int count;
} list;

static MlirWalkResult collect(MlirOperation op, void *data) {
  list *l = data;
  for (int i = 0; ws__mlir_begins(op, "gpu.") && i < IDS; i++)
    if (ws__mlir_is(op, ids[i].name) && l->count < MOST_FOUND)
      l->items[l->count++] = (found){op, &ids[i]};
  return MlirWalkResultAdvance;
}

bool ws__mlir_ids(ws_mlir *m) {
  list *l = ws_arena_alloc(m->arena, sizeof *l);
  l->count = 0;
  mlirOperationWalk(ws__mlir_gpu_module(m), collect, l, MlirWalkPreOrder);
  for (int i = 0; i < l->count; i++) {
    const found *f = &l->items[i];
    const int64_t lanes = f->id->wants_lanes ? lanes_at(m, f->op) : 0;
    if (f->id->wants_lanes && !lanes)
      return no_lanes(m, f->op);
    if (!f->id->write(m, f->op, lanes))
      return false;
  }
  return true;
}
