/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Workgroup memory: each memref.alloc of it becomes a global, which no launch
 * initialises. By then its size must be a number. On NVIDIA's targets all of it
 * is one block of the launch (settle.c), so there is one such operation.
 */
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>

static const char *type_text(const ws_mlir *m, MlirType type) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  mlirTypePrint(type, ws__mlir_append, &text);
  const char *kept = ws_arena_strdup(m->arena, text.data);
  ws_strbuf_deinit(&text);
  return kept;
}

/* wavesmith.lds = "name", which the record of that name gives the bytes of. */
static const char *lds_name(const ws_mlir *m, MlirOperation alloc) {
  MlirAttribute word = ws__mlir_word(alloc, "lds");
  return mlirAttributeIsNull(word) || !mlirAttributeIsAString(word)
             ? NULL
             : ws__mlir_text(m->arena, mlirStringAttrGetValue(word));
}

/* The type with its dynamic sizes as the operands say, which must be constants;
 * null: one is not. */
static MlirType sized(MlirOperation alloc, MlirType written) {
  enum { MOST_DIMENSIONS = 8 };
  const intptr_t rank = mlirShapedTypeGetRank(written);
  int64_t sizes[MOST_DIMENSIONS];
  intptr_t operand = 0;
  if (rank > MOST_DIMENSIONS)
    return (MlirType){NULL};
  for (intptr_t i = 0; i < rank; i++) {
    sizes[i] = mlirShapedTypeGetDimSize(written, i);
    if (!mlirShapedTypeIsDynamicDim(written, i))
      continue;
    MlirValue size = mlirOperationGetOperand(alloc, operand++);
    if (!mlirValueIsAOpResult(size) ||
        !ws__mlir_is(mlirOpResultGetOwner(size), "arith.constant"))
      return (MlirType){NULL};
    sizes[i] =
        mlirIntegerAttrGetValueInt(mlirOperationGetInherentAttributeByName(
            mlirOpResultGetOwner(size), ws__mlir_ref("value")));
  }
  return mlirMemRefTypeGet(mlirShapedTypeGetElementType(written), rank, sizes,
                           mlirMemRefTypeGetLayout(written),
                           mlirMemRefTypeGetMemorySpace(written));
}

static bool add_global(const ws_mlir *m, MlirOperation alloc, const char *name,
                       MlirType type) {
  MlirOperation global = mlirOperationCreateParse(
      m->context,
      ws__mlir_ref(ws_arena_printf(
          m->arena,
          "memref.global \"private\" @%s : %s = uninitialized {alignment = 16 "
          ": i64}",
          name, type_text(m, type))),
      ws__mlir_ref("lds"));
  if (mlirOperationIsNull(global))
    return false;
  MlirOperation function = alloc;
  while (!ws__mlir_is(mlirOperationGetParentOperation(function), "gpu.module"))
    function = mlirOperationGetParentOperation(function);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(function), function,
                                      global);
  return true;
}

static MlirValue insert(MlirOperation before, MlirOperation made) {
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before,
                                      made);
  return mlirOperationGetResult(made, 0);
}

/* Of an element; 0: not known here. */
static int64_t element_bits(MlirType type) {
  if (mlirTypeIsAInteger(type))
    return mlirIntegerTypeGetWidth(type);
  if (mlirTypeIsAFloat(type))
    return mlirFloatTypeGetWidth(type);
  if (!mlirTypeIsAVector(type) || !mlirShapedTypeHasStaticShape(type))
    return 0;
  int64_t bits = element_bits(mlirShapedTypeGetElementType(type));
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    bits *= mlirShapedTypeGetDimSize(type, i);
  return bits;
}

/* Launches and the search count with what the record says. */
static bool has_declared_size(ws_mlir *m, MlirOperation alloc, const char *name,
                              MlirType type) {
  int64_t declared,
      bytes = element_bits(mlirShapedTypeGetElementType(type)) / 8;
  if (!ws__mlir_lds_bytes(m, alloc, name, &declared))
    return false;
  for (intptr_t i = 0; i < mlirShapedTypeGetRank(type); i++)
    bytes *= mlirShapedTypeGetDimSize(type, i);
  if (bytes == declared)
    return true;
  ws__mlir_refuse(
      m, alloc, "mlir-lds", "%s has %lld bytes, wavesmith.lds gives '%s' %lld",
      type_text(m, type), (long long)bytes, name, (long long)declared);
  return false;
}

static bool place(ws_mlir *m, MlirOperation alloc) {
  MlirType written = mlirValueGetType(mlirOperationGetResult(alloc, 0)),
           type = sized(alloc, written);
  const char *name = lds_name(m, alloc);
  if (mlirTypeIsNull(type) || !name) {
    ws__mlir_refuse(m, alloc, name ? "mlir-dynamic" : "mlir-lds",
                    name ? "a size of %s is no arith.constant; make it one "
                           "with wavesmith.value"
                         : "%.0swrite {wavesmith.lds = \"NAME\"}, a name among "
                           "those of the module's wavesmith.lds",
                    type_text(m, written));
    return false;
  }
  if (!has_declared_size(m, alloc, name, type) ||
      !add_global(m, alloc, name, type))
    return false;
  MlirLocation location = mlirOperationGetLocation(alloc);
  MlirValue place = insert(
      alloc,
      ws__mlir_new(m, "memref.get_global", location, 0, NULL, type, "name",
                   mlirFlatSymbolRefAttrGet(m->context, ws__mlir_ref(name))));
  if (!mlirTypeEqual(type, written))
    place = insert(alloc, ws__mlir_new(m, "memref.cast", location, 1, &place,
                                       written, NULL, (MlirAttribute){NULL}));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(alloc, 0), place);
  mlirOperationDestroy(alloc);
  return true;
}

enum { MOST_ALLOCS = 64 };
typedef struct allocs {
  const ws_mlir *m;
  MlirOperation items[MOST_ALLOCS];
  int count;
} allocs;

static MlirWalkResult collect(MlirOperation op, void *data) {
  allocs *list = data;
  if (ws__mlir_is(op, "memref.alloc") && list->count < MOST_ALLOCS &&
      ws__mlir_is_in(list->m, mlirValueGetType(mlirOperationGetResult(op, 0)),
                     "#gpu.address_space<workgroup>"))
    list->items[list->count++] = op;
  return MlirWalkResultAdvance;
}

bool ws__mlir_place_lds(ws_mlir *m) {
  allocs list = {.m = m};
  mlirOperationWalk(m->module, collect, &list, MlirWalkPreOrder);
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
