/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A function's body in place of an operation: of a call, or of what is easier
 * written as text than made piece by piece. Everything that is put there has
 * the place of the operation, so that findings have a line.
 */
#include "declare.h"

#include <string.h>

const char *ws__mlir_type_text(const ws_mlir *m, MlirType type) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  mlirTypePrint(type, ws__mlir_append, &text);
  const char *kept = ws_arena_strdup(m->arena, text.data);
  ws_strbuf_deinit(&text);
  return kept;
}

void ws__mlir_paste(MlirOperation function, MlirOperation op) {
  MlirBlock block = ws__mlir_body(function);
  MlirOperation end = mlirBlockGetTerminator(block),
                item = mlirBlockGetFirstOperation(block);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(block, i),
                                  mlirOperationGetOperand(op, i));
  while (!mlirOperationEqual(item, end)) {
    MlirOperation next = mlirOperationGetNextInBlock(item);
    mlirOperationMoveBefore(item, op);
    item = next;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  mlirOperationGetOperand(end, i));
  mlirOperationDestroy(op);
  mlirOperationDestroy(function);
}

/* The place at the end of each line, so that operations have it. */
static void add_lines(const char *body, MlirLocation at, ws_strbuf *out) {
  ws_strbuf place;
  ws_strbuf_init(&place);
  mlirLocationPrint(at, ws__mlir_append, &place);
  for (size_t size; *body; body += size + 1) {
    size = strcspn(body, "\n");
    ws_strbuf_append(out, body, size);
    ws_strbuf_printf(out, " %s\n", place.data);
  }
  ws_strbuf_deinit(&place);
}

bool ws__mlir_write(const ws_mlir *m, MlirOperation op, const char *body) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(&text, "func.func private @f(");
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    ws_strbuf_printf(&text, "%s%%arg%d: %s", i ? ", " : "", (int)i,
                     ws__mlir_type_text(
                         m, mlirValueGetType(mlirOperationGetOperand(op, i))));
  ws_strbuf_printf(&text, ") -> (");
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    ws_strbuf_printf(
        &text, "%s%s", i ? ", " : "",
        ws__mlir_type_text(m, mlirValueGetType(mlirOperationGetResult(op, i))));
  ws_strbuf_printf(&text, ") {\n");
  MlirLocation at = ws__mlir_place(mlirOperationGetLocation(op));
  add_lines(body, mlirLocationIsNull(at) ? mlirOperationGetLocation(op) : at,
            &text);
  ws_strbuf_printf(&text, "}");
  MlirOperation function = mlirOperationCreateParse(
      m->context, ws__mlir_ref(text.data), ws__mlir_ref(m->file));
  ws_strbuf_deinit(&text);
  if (mlirOperationIsNull(function))
    return false;
  ws__mlir_paste(function, op);
  return true;
}
