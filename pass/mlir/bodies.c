/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Bodies in MLIR for regions of a template in MLIR: their functions move into
 * the gpu.module, the region's in place of the template's. A body brings the
 * region's function with the template's type and helpers of its own; what it
 * calls of the template it need not declare.
 */
#include "declare.h"
#include "front.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_FUNCTIONS = 64 };

typedef struct body {
  ws_mlir *m;
  const ws_mlir_body *given;
  MlirOperation gpu; /* the template's gpu.module */
  MlirOperation functions[MOST_FUNCTIONS];
  int count;
} body;

static bool refuse(const body *b, MlirOperation at, const char *id,
                   const char *format, const char *name) {
  char text[256];
  snprintf(text, sizeof text, format, name);
  ws__mlir_find(b->m, mlirOperationGetLocation(at), id, b->given->region, text);
  return false;
}

static const char *name_of(const body *b, MlirOperation function) {
  return ws__mlir_text(b->m->arena, ws__mlir_symbol(function));
}

static MlirType type_of(MlirOperation function) {
  return mlirTypeAttrGetValue(mlirOperationGetInherentAttributeByName(
      function, ws__mlir_ref("function_type")));
}

static bool is_declaration(MlirOperation function) {
  return mlirBlockIsNull(
      mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(function)));
}

/* The template's function of a name; null: it has none. */
static MlirOperation find(const body *b, const char *name) {
  return ws__mlir_function(b->gpu, "func.func", name);
}

static bool collect(body *b, MlirOperation module) {
  MlirOperation op = mlirBlockGetFirstOperation(
      mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(module)));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (!ws__mlir_is(op, "func.func"))
      return refuse(b, op, "splice-metadata",
                    "a body has functions only, no %s",
                    ws__mlir_text(b->m->arena, ws__mlir_name(op)));
    if (b->count == MOST_FUNCTIONS)
      return refuse(b, op, "splice-redefined", "too many functions; @%s",
                    name_of(b, op));
    b->functions[b->count++] = op;
  }
  return true;
}

static bool may_be(const body *b, MlirOperation function) {
  const char *name = name_of(b, function);
  MlirOperation ours = find(b, name);
  const bool is_region = !strcmp(name, b->given->region);
  if (mlirOperationIsNull(ours))
    return !is_declaration(function) ||
           refuse(b, function, "splice-unknown-symbol",
                  "the body calls @%s, which the template does not have", name);
  if (!is_region && !is_declaration(function))
    return refuse(b, function, "splice-redefined",
                  "@%s is a function of the template; a body defines its own "
                  "region and helpers under other names",
                  name);
  return mlirTypeEqual(type_of(ours), type_of(function)) ||
         refuse(b, function, "splice-signature",
                "@%s has another type than in the template; keep the "
                "template's signature",
                name);
}

/* So that two bodies may have helpers of one name. */
static void qualify(const body *b, MlirOperation function,
                    MlirOperation module) {
  MlirStringRef name = ws__mlir_ref(ws_arena_printf(
      b->m->arena, "%s.%s", b->given->region, name_of(b, function)));
  if (mlirLogicalResultIsSuccess(mlirSymbolTableReplaceAllSymbolUses(
          ws__mlir_symbol(function), name, module)))
    mlirOperationSetInherentAttributeByName(
        function, ws__mlir_ref("sym_name"),
        mlirStringAttrGet(b->m->context, name));
}

static void move(const body *b, MlirOperation function, MlirOperation module) {
  const char *name = name_of(b, function);
  MlirOperation ours = find(b, name);
  MlirBlock block =
      mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(b->gpu));
  if (is_declaration(function))
    return;
  if (mlirOperationIsNull(ours))
    qualify(b, function, module);
  mlirOperationRemoveFromParent(function);
  if (mlirOperationIsNull(ours)) {
    mlirBlockInsertOwnedOperation(block, 0, function);
    return;
  }
  MlirStringRef word = ws__mlir_ref("wavesmith.region");
  mlirOperationSetDiscardableAttributeByName(
      function, word, mlirOperationGetDiscardableAttributeByName(ours, word));
  mlirOperationRemoveDiscardableAttributeByName(
      function, ws__mlir_ref("wavesmith.variant"));
  mlirBlockInsertOwnedOperationBefore(block, ours, function);
  mlirOperationDestroy(ours);
}

static bool take(body *b, MlirOperation module) {
  if (!collect(b, module))
    return false;
  bool has_region = false;
  for (int i = 0; i < b->count; i++) {
    if (!may_be(b, b->functions[i]))
      return false;
    has_region |= !is_declaration(b->functions[i]) &&
                  !strcmp(name_of(b, b->functions[i]), b->given->region);
  }
  if (!has_region)
    return refuse(b, module, "splice-undefined",
                  "the body does not define @%s; write the whole function with "
                  "the template's signature",
                  b->given->region);
  for (int i = 0; i < b->count; i++)
    move(b, b->functions[i], module);
  return true;
}

/* Whether a text declares or defines it. */
static bool names_function(const char *text, const char *name) {
  static const char word[] = "func.func", visibility[] = "private";
  const size_t size = strlen(name);
  for (const char *at = text; (at = strstr(at, word));) {
    at += sizeof word - 1;
    at += strspn(at, " \t\r\n");
    if (!strncmp(at, visibility, sizeof visibility - 1))
      at += sizeof visibility - 1;
    at += strspn(at, " \t\r\n");
    if (*at == '@' && !strncmp(at + 1, name, size) &&
        (at[size + 1] == '(' || at[size + 1] == ' '))
      return true;
  }
  return false;
}

/* Declarations of the template's other functions, and the end of a module. */
static const char *rest_of_module(const body *b) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  MlirOperation op = mlirBlockGetFirstOperation(
      mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(b->gpu)));
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (ws__mlir_is(op, "func.func") &&
        !names_function(b->given->text, name_of(b, op))) {
      ws_strbuf_printf(&out, " func.func private @%s", name_of(b, op));
      mlirTypePrint(type_of(op), ws__mlir_append, &out);
    }
  ws_strbuf_puts(&out, " }");
  const char *text = ws_arena_strdup(b->m->arena, out.data);
  ws_strbuf_deinit(&out);
  return text;
}

bool ws__mlir_splice(ws_mlir *m, const ws_mlir_request *request) {
  const char *template_file = m->file;
  const ws_mlir_body *bodies = request->bodies;
  bool ok = true;
  for (int i = 0; i < request->body_count && ok; i++) {
    body b = {.m = m, .given = &bodies[i], .gpu = ws__mlir_gpu_module(m)};
    const int before = m->findings->count;
    m->file = bodies[i].file; /* whose text diagnostics speak of */
    MlirOperation module = ws__mlir_parse_functions(
        m, bodies[i].text, "module {", rest_of_module(&b), request->text);
    ok = !mlirOperationIsNull(module) && ws__mlir_check_dialects(m, module) &&
         take(&b, module);
    if (!mlirOperationIsNull(module))
      mlirOperationDestroy(module);
    for (int k = before; k < m->findings->count; k++)
      m->findings->items[k].region = bodies[i].region;
  }
  m->file = template_file;
  return ok;
}
