/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tensor maps. An argument of a kernel that has the name of a map is an
 * !llvm.ptr to the descriptor, which lies among the kernel's parameters. The
 * lowering of gpu.func keeps no llvm.byval, so that is said after it.
 */
#include "declare.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

static const char descriptor[] =
    "{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, "
    "nvvm.grid_constant}";

static MlirAttribute argument_attributes(MlirOperation function) {
  return mlirOperationGetInherentAttributeByName(function,
                                                 ws__mlir_ref("arg_attrs"));
}

/* wavesmith.name; NULL: it has none. */
static const char *argument_name(const ws_mlir *m, MlirAttribute attributes) {
  MlirAttribute name = mlirDictionaryAttrGetElementByName(
      attributes, ws__mlir_ref("wavesmith.name"));
  return mlirAttributeIsNull(name) || !mlirAttributeIsAString(name)
             ? NULL
             : ws__mlir_text(m->arena, mlirStringAttrGetValue(name));
}

typedef struct search {
  ws_mlir *m;
  ws_mlir_maps *maps;
  MlirType wanted; /* of an argument */
} search;

static bool note(search *s, MlirOperation kernel, int index, MlirType type,
                 const char *name) {
  if (!mlirTypeEqual(type, s->wanted)) {
    ws__mlir_refuse(s->m, kernel, "template",
                    "the argument of the tensor map '%s' is an !llvm.ptr",
                    name);
    return false;
  }
  if (s->maps->count < WS_MLIR_MOST_MAPS)
    s->maps->items[s->maps->count++] = (ws_mlir_map){
        ws__mlir_text(s->m->arena, ws__mlir_symbol(kernel)), index};
  return true;
}

static MlirWalkResult find_in_kernel(MlirOperation op, void *data) {
  search *s = data;
  if (!ws__mlir_is(op, "gpu.func"))
    return MlirWalkResultAdvance;
  MlirAttribute list = argument_attributes(op);
  MlirBlock entry = ws__mlir_body(op);
  const intptr_t count =
      mlirAttributeIsNull(list) ? 0 : mlirArrayAttrGetNumElements(list);
  for (intptr_t i = 0; i < count; i++) {
    const char *name = argument_name(s->m, mlirArrayAttrGetElement(list, i));
    if (name && ws__mlir_is_tensor_map(s->m, name) &&
        !note(s, op, (int)i, mlirValueGetType(mlirBlockGetArgument(entry, i)),
              name))
      return MlirWalkResultInterrupt;
  }
  return MlirWalkResultSkip;
}

bool ws__mlir_find_maps(ws_mlir *m, ws_mlir_maps *out) {
  search s = {m, out, mlirTypeParseGet(m->context, ws__mlir_ref("!llvm.ptr"))};
  out->count = 0;
  mlirOperationWalk(ws__mlir_gpu_module(m), find_in_kernel, &s,
                    MlirWalkPreOrder);
  return m->findings->count == 0;
}

static void describe(const ws_mlir *m, MlirOperation kernel, int index) {
  enum { MOST_ARGUMENTS = 64 };
  MlirAttribute list = argument_attributes(kernel), items[MOST_ARGUMENTS];
  const intptr_t count = mlirBlockGetNumArguments(ws__mlir_body(kernel));
  if (count > MOST_ARGUMENTS)
    return; /* refused as a template */
  for (intptr_t i = 0; i < count; i++)
    items[i] =
        i == index ? mlirAttributeParseGet(m->context, ws__mlir_ref(descriptor))
        : mlirAttributeIsNull(list) ? mlirDictionaryAttrGet(m->context, 0, NULL)
                                    : mlirArrayAttrGetElement(list, i);
  mlirOperationSetInherentAttributeByName(
      kernel, ws__mlir_ref("arg_attrs"),
      mlirArrayAttrGet(m->context, count, items));
}

void ws__mlir_describe_maps(ws_mlir *m, const ws_mlir_maps *maps) {
  for (int i = 0; i < maps->count; i++) {
    MlirOperation kernel = ws__mlir_function(
        ws__mlir_gpu_module(m), "llvm.func", maps->items[i].kernel);
    if (!mlirOperationIsNull(kernel))
      describe(m, kernel, maps->items[i].argument);
  }
}
