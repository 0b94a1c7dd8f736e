/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Workgroup memory: each memref.alloc of it becomes a global, which no launch
 * initialises, and which has the name and the bytes that the module declares.
 * Its sizes are numbers before the schedule is applied: canonicalisation, which
 * would make them so, makes another operation, without the name. On NVIDIA's
 * targets all of it is one block of the launch (settle.c), so there is one such
 * operation. What would be workgroup memory without a declaration is refused.
 */
#include "../template_ir.h"
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* 0: it is none. */
static int64_t number_of(MlirAttribute attribute) {
  return !mlirAttributeIsNull(attribute) && mlirAttributeIsAInteger(attribute)
             ? mlirIntegerAttrGetValueInt(attribute)
             : 0;
}

/* By its name, or by LLVM's number. */
static bool is_workgroup(const ws_mlir *m, MlirType type) {
  if (!mlirTypeIsAMemRef(type))
    return false;
  return ws__mlir_is_in(m, type, "#gpu.address_space<workgroup>") ||
         number_of(mlirMemRefTypeGetMemorySpace(type)) == WS_SPACE_LDS;
}

static MlirAttribute own(MlirOperation op, const char *name) {
  return mlirOperationGetInherentAttributeByName(op, ws__mlir_ref(name));
}

/* ---- what there is ---------------------------------------------------------
 */

enum { MOST_BLOCKS = 64 };
typedef struct blocks {
  ws_mlir *m;
  MlirOperation items[MOST_BLOCKS]; /* memref.alloc and memref.global */
  int count;
  bool of_template; /* which are looked for */
} blocks;

static bool is_block(const ws_mlir *m, MlirOperation op) {
  if (ws__mlir_is(op, "memref.alloc"))
    return is_workgroup(m, mlirValueGetType(mlirOperationGetResult(op, 0)));
  return ws__mlir_is(op, "memref.global") &&
         is_workgroup(m, mlirTypeAttrGetValue(own(op, "type")));
}

static bool is_of_template(const ws_mlir *m, MlirOperation op) {
  MlirLocation at = ws__mlir_place(mlirOperationGetLocation(op));
  return !mlirLocationIsNull(at) &&
         mlirStringRefEqual(
             mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(at)),
             ws__mlir_ref(m->file));
}

static MlirWalkResult collect_block(MlirOperation op, void *data) {
  blocks *list = data;
  if (!is_block(list->m, op) ||
      is_of_template(list->m, op) != list->of_template)
    return MlirWalkResultAdvance;
  if (list->count == MOST_BLOCKS) {
    ws__mlir_refuse(list->m, op, "mlir-lds",
                    "there may be %d of workgroup memory", MOST_BLOCKS);
    return MlirWalkResultInterrupt;
  }
  list->items[list->count++] = op;
  return MlirWalkResultAdvance;
}

/* Those of bodies last: what is wrong with two of them is said at the second.
 */
static bool collect(ws_mlir *m, blocks *out) {
  *out = (blocks){.m = m, .of_template = true};
  mlirOperationWalk(m->module, collect_block, out, MlirWalkPreOrder);
  out->of_template = false;
  mlirOperationWalk(m->module, collect_block, out, MlirWalkPreOrder);
  return m->findings->count == 0;
}

/* ---- what may not be -------------------------------------------------------
 */

static const char how[] =
    "workgroup memory is memref.alloc() {wavesmith.lds = \"NAME\"}, a name "
    "among those of the module's wavesmith.lds";

/* An author's memref.global is none; one of wavesmith-specialize's names itself
 * in wavesmith.lds. */
static bool is_declared(MlirOperation global) {
  MlirAttribute word = ws__mlir_word(global, "lds");
  return !mlirAttributeIsNull(word) &&
         mlirAttributeEqual(word, own(global, "sym_name"));
}

static bool is_undeclared(const ws_mlir *m, MlirOperation op) {
  if (ws__mlir_is(op, "llvm.mlir.global"))
    return number_of(own(op, "addr_space")) == WS_SPACE_LDS;
  if (ws__mlir_is(op, "memref.alloca"))
    return is_workgroup(m, mlirValueGetType(mlirOperationGetResult(op, 0)));
  return ws__mlir_is(op, "gpu.dynamic_shared_memory") ||
         (ws__mlir_is(op, "memref.global") && is_block(m, op) &&
          !is_declared(op));
}

/* workgroup(%tile : ...) of a kernel, behind its arguments; null: none. */
static MlirValue attribution(MlirOperation op) {
  if (!ws__mlir_is(op, "gpu.func") ||
      !number_of(mlirOperationGetAttributeByName(
          op, ws__mlir_ref("workgroup_attributions"))))
    return (MlirValue){NULL};
  return mlirBlockGetArgument(
      ws__mlir_body(op), mlirFunctionTypeGetNumInputs(
                             mlirTypeAttrGetValue(own(op, "function_type"))));
}

static bool admit(ws_mlir *m, MlirOperation op) {
  MlirValue value = attribution(op);
  if (!mlirValueIsNull(value))
    ws__mlir_find(m, mlirValueGetLocation(value), "mlir-lds", "", how);
  else if (is_undeclared(m, op))
    ws__mlir_refuse(m, op, "mlir-lds", "%s", how);
  else
    return true;
  return false;
}

/* ---- sizes -----------------------------------------------------------------
 */

/* The type with its dynamic sizes as the operands say, which must be constants;
 * null: one is not. */
static MlirType sized(ws_mlir *m, MlirOperation alloc, MlirType written) {
  const intptr_t rank = mlirShapedTypeGetRank(written);
  int64_t *sizes = ws_arena_alloc(m->arena, ((size_t)rank + 1) * sizeof *sizes);
  intptr_t operand = 0;
  for (intptr_t i = 0; i < rank; i++) {
    sizes[i] = mlirShapedTypeGetDimSize(written, i);
    if (!mlirShapedTypeIsDynamicDim(written, i))
      continue;
    MlirValue size = mlirOperationGetOperand(alloc, operand++);
    if (!mlirValueIsAOpResult(size) ||
        !ws__mlir_is(mlirOpResultGetOwner(size), "arith.constant"))
      return (MlirType){NULL};
    sizes[i] =
        mlirIntegerAttrGetValueInt(own(mlirOpResultGetOwner(size), "value"));
    if (sizes[i] < 0) {
      ws__mlir_refuse(m, alloc, "mlir-lds", "a size of %s is %lld",
                      ws__mlir_type_text(m, written), (long long)sizes[i]);
      return (MlirType){NULL};
    }
  }
  return mlirMemRefTypeGet(mlirShapedTypeGetElementType(written), rank, sizes,
                           mlirMemRefTypeGetLayout(written),
                           mlirMemRefTypeGetMemorySpace(written));
}

/* Gives an alloc its type with what it said of itself left to it. */
static void set_type(const ws_mlir *m, MlirOperation alloc, MlirType type) {
  MlirValue result = mlirOperationGetResult(alloc, 0);
  MlirOperation cast = ws__mlir_new(
      m, "memref.cast", mlirOperationGetLocation(alloc), 1, &result,
      mlirValueGetType(result), NULL, (MlirAttribute){NULL});
  mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(alloc), alloc, cast);
  mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(cast, 0));
  mlirOperationSetOperand(cast, 0, result);
  mlirOperationSetOperands(alloc, 0, NULL);
  mlirOperationSetInherentAttributeByName(
      alloc, ws__mlir_ref("operandSegmentSizes"),
      mlirDenseI32ArrayGet(m->context, 2, (int32_t[]){0, 0}));
  mlirValueSetType(result, type);
}

/* False and a finding: a size is below zero. One that is no constant yet may
 * become one. */
static bool size_block(ws_mlir *m, MlirOperation op) {
  if (!ws__mlir_is(op, "memref.alloc"))
    return true;
  MlirType written = mlirValueGetType(mlirOperationGetResult(op, 0)),
           type = sized(m, op, written);
  if (!mlirTypeIsNull(type) && !mlirTypeEqual(type, written))
    set_type(m, op, type);
  return m->findings->count == 0;
}

bool ws__mlir_size_lds(ws_mlir *m) {
  blocks list;
  if (!ws__mlir_walk(m, m->module, admit) || !collect(m, &list))
    return false;
  for (int i = 0; i < list.count; i++)
    if (!size_block(m, list.items[i]))
      return false;
  return true;
}

/* What saturates is larger than any workgroup's memory. */
static int64_t times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t scalar_bits(MlirType type) {
  enum { INDEX_BITS = 64 };
  return mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type)
         : mlirTypeIsAFloat(type) ? mlirFloatTypeGetWidth(type)
         : mlirTypeIsAIndex(type) ? INDEX_BITS
                                  : 0;
}

/* In an array LLVM gives a number or a vector a power of two of bytes, and what
 * has further dimensions is an array of vectors. 0: not known here. */
static int64_t element_bytes(MlirType type) {
  const bool is_vector = mlirTypeIsAVector(type);
  const intptr_t rank = is_vector ? mlirShapedTypeGetRank(type) : 0;
  int64_t bits = scalar_bits(is_vector ? mlirShapedTypeGetElementType(type)
                                       : type),
          bytes = bits > 0;
  if (rank)
    bits = times(bits, mlirShapedTypeGetDimSize(type, rank - 1));
  while (bits > 0 && bytes <= INT64_MAX / 16 && bytes * 8 < bits)
    bytes *= 2;
  for (intptr_t i = 0; i + 1 < rank; i++)
    bytes = times(bytes, mlirShapedTypeGetDimSize(type, i));
  return bytes;
}

/* Launches and the search count with what the record says. */
static bool has_declared_size(ws_mlir *m, MlirOperation op, const char *name,
                              MlirType type) {
  int64_t declared, bytes = element_bytes(mlirShapedTypeGetElementType(type));
  if (!ws__mlir_lds_bytes(m, op, name, &declared))
    return false;
  if (!bytes) {
    ws__mlir_refuse(m, op, "mlir-lds",
                    "how large an element of %s is, is not known here: write "
                    "numbers, or vectors of them",
                    ws__mlir_type_text(m, type));
    return false;
  }
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    bytes = times(bytes, mlirShapedTypeGetDimSize(type, i));
  if (bytes == declared)
    return true;
  ws__mlir_refuse(
      m, op, "mlir-lds", "%s has %lld bytes, wavesmith.lds gives '%s' %lld",
      ws__mlir_type_text(m, type), (long long)bytes, name, (long long)declared);
  return false;
}

/* ---- names -----------------------------------------------------------------
 */

/* wavesmith.lds = "name", which the record of that name gives the bytes of. */
static const char *lds_name(const ws_mlir *m, MlirOperation op) {
  MlirAttribute word = ws__mlir_word(op, "lds");
  return mlirAttributeIsNull(word) || !mlirAttributeIsAString(word)
             ? NULL
             : ws__mlir_text(m->arena, mlirStringAttrGetValue(word));
}

/* As MLIR writes the names of symbols without quotes. */
static bool is_symbol(const char *name) {
  static const char letters[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return *name && strchr(letters, *name) &&
         !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX"
                            "YZ_0123456789.$")];
}

/* What else in the gpu.module has the name; null: nothing. */
static MlirOperation namesake(const ws_mlir *m, MlirOperation op,
                              const char *name) {
  MlirOperation item = ws__mlir_first(ws__mlir_gpu_module(m));
  for (; !mlirOperationIsNull(item); item = mlirOperationGetNextInBlock(item)) {
    MlirAttribute own_name =
        mlirOperationGetAttributeByName(item, ws__mlir_ref("sym_name"));
    if (!mlirOperationEqual(item, op) && !mlirAttributeIsNull(own_name) &&
        mlirAttributeIsAString(own_name) &&
        mlirStringRefEqual(mlirStringAttrGetValue(own_name),
                           ws__mlir_ref(name)))
      break;
  }
  return item;
}

static bool has_own_name(ws_mlir *m, MlirOperation op, const char *name) {
  if (!name) {
    ws__mlir_refuse(m, op, "mlir-lds",
                    "write {wavesmith.lds = \"NAME\"}, a name among those of "
                    "the module's wavesmith.lds");
    return false;
  }
  if (!is_symbol(name)) {
    ws__mlir_refuse(m, op, "mlir-lds",
                    "a name of wavesmith.lds is of letters, digits, '_', '.' "
                    "and '$', and begins with a letter or '_'");
    return false;
  }
  MlirOperation other = namesake(m, op, name);
  if (mlirOperationIsNull(other))
    return true;
  ws__mlir_refuse(m, op, "mlir-lds",
                  is_block(m, other)
                      ? "another memref.alloc is '%s' already: each has a name "
                        "of its own in wavesmith.lds"
                      : "'%s' is the name of a function; give the memory "
                        "another in wavesmith.lds",
                  name);
  return false;
}

/* ---- globals ---------------------------------------------------------------
 */

/* What is right in the gpu.module and has the operation in it, or is it; null:
 * it is elsewhere. */
static MlirOperation item_of(const ws_mlir *m, MlirOperation op) {
  MlirOperation gpu = ws__mlir_gpu_module(m);
  while (!mlirOperationIsNull(op)) {
    MlirOperation parent = mlirOperationGetParentOperation(op);
    if (!mlirOperationIsNull(parent) && mlirOperationEqual(parent, gpu))
      break;
    op = parent;
  }
  return op;
}

/* wavesmith.lds says that it is declared: wavesmith-specialize prints it. */
static void add_global(const ws_mlir *m, MlirOperation alloc, const char *name,
                       MlirType type) {
  enum { ALIGN = 16 };
  MlirAttribute text = mlirStringAttrGet(m->context, ws__mlir_ref(name));
  const struct {
    const char *name;
    MlirAttribute value;
  } properties[] = {
      {"sym_visibility",
       mlirStringAttrGet(m->context, ws__mlir_ref("private"))},
      {"type", mlirTypeAttrGet(type)},
      {"initial_value", mlirUnitAttrGet(m->context)},
      {"alignment",
       mlirIntegerAttrGet(mlirIntegerTypeGet(m->context, 64), ALIGN)}};
  MlirOperation global =
      ws__mlir_new(m, "memref.global", mlirOperationGetLocation(alloc), 0, NULL,
                   (MlirType){NULL}, "sym_name", text);
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
    mlirOperationSetInherentAttributeByName(
        global, ws__mlir_ref(properties[i].name), properties[i].value);
  mlirOperationSetDiscardableAttributeByName(
      global, ws__mlir_ref("wavesmith.lds"), text);
  MlirOperation function = item_of(m, alloc);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(function), function,
                                      global);
}

static void replace_alloc(const ws_mlir *m, MlirOperation alloc,
                          const char *name, MlirType type) {
  add_global(m, alloc, name, type);
  MlirOperation global = ws__mlir_new(
      m, "memref.get_global", mlirOperationGetLocation(alloc), 0, NULL, type,
      "name", mlirFlatSymbolRefAttrGet(m->context, ws__mlir_ref(name)));
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(alloc), alloc,
                                      global);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(alloc, 0),
                                mlirOperationGetResult(global, 0));
  mlirOperationDestroy(alloc);
}

static bool place(ws_mlir *m, MlirOperation op) {
  const bool is_alloc = ws__mlir_is(op, "memref.alloc");
  const char *name = lds_name(m, op);
  if (mlirOperationIsNull(item_of(m, op))) {
    ws__mlir_refuse(m, op, "mlir-lds",
                    "workgroup memory is made in functions of the gpu.module");
    return false;
  }
  if (!has_own_name(m, op, name) || !size_block(m, op))
    return false;
  MlirType type = is_alloc ? mlirValueGetType(mlirOperationGetResult(op, 0))
                           : mlirTypeAttrGetValue(own(op, "type"));
  if (!mlirShapedTypeHasStaticShape(type)) {
    ws__mlir_refuse(m, op, "mlir-dynamic",
                    "a size of %s is no arith.constant; make it one with "
                    "wavesmith.value",
                    ws__mlir_type_text(m, type));
    return false;
  }
  if (!has_declared_size(m, op, name, type))
    return false;
  if (is_alloc)
    replace_alloc(m, op, name, type);
  return true;
}

bool ws__mlir_place_lds(ws_mlir *m) {
  blocks list;
  if (!collect(m, &list))
    return false;
  if (m->target->family == WS_FAMILY_NVPTX && list.count > 1) {
    ws__mlir_refuse(m, list.items[1], "mlir-lds",
                    "%s has one block of workgroup memory: write one "
                    "memref.alloc of bytes, and memref.view for its parts",
                    m->target->name);
    return false;
  }
  for (int i = 0; i < list.count; i++)
    if (!place(m, list.items[i]))
      return false;
  return true;
}
