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
  return mlirBlockIsNull(ws__mlir_body(function));
}

/* The template's function of a name; null: it has none. */
static MlirOperation find(const body *b, const char *name) {
  return ws__mlir_function(b->gpu, "func.func", name);
}

/* ---- what a body may be -----------------------------------------------------
 */

/* What a function may not have in it: it would be of the template, beside its
 * functions, or a schedule. */
static bool is_of_a_module(MlirOperation op) {
  return ws__mlir_is(op, "builtin.module") ||
         ws__mlir_begins(op, "transform.") ||
         !mlirAttributeIsNull(
             mlirOperationGetAttributeByName(op, ws__mlir_ref("sym_name")));
}

static bool refuse_other(ws_mlir *m, MlirOperation op) {
  ws__mlir_refuse(m, op, "splice-metadata", "a body has functions only, no %s",
                  ws__mlir_text(m->arena, ws__mlir_name(op)));
  return false;
}

typedef struct inside {
  ws_mlir *m;
  MlirOperation function;
  bool ok;
} inside;

static MlirWalkResult check_inside(MlirOperation op, void *data) {
  inside *i = data;
  i->ok = mlirOperationEqual(op, i->function) || !is_of_a_module(op) ||
          refuse_other(i->m, op);
  return i->ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

/* All of a function's attributes but what makes it this function: they are
 * promises and conventions, and those are the template's to give. */
static void drop_attributes(const ws_mlir *m, MlirOperation function) {
  for (intptr_t i = mlirOperationGetNumDiscardableAttributes(function); i--;) {
    MlirNamedAttribute each = mlirOperationGetDiscardableAttribute(function, i);
    mlirOperationRemoveDiscardableAttributeByName(
        function,
        ws__mlir_ref(ws__mlir_text(m->arena, mlirIdentifierStr(each.name))));
  }
  mlirOperationRemoveAttributeByName(function, ws__mlir_ref("arg_attrs"));
  mlirOperationRemoveAttributeByName(function, ws__mlir_ref("res_attrs"));
}

/* A body's text as a module that has functions only; null and findings. */
static MlirOperation read_functions(ws_mlir *m, const char *text,
                                    const char *rest,
                                    const char *template_text) {
  MlirOperation none = {NULL};
  m->frame = (ws_mlir_frame){0};
  if (!ws__mlir_check_body_text(m, text))
    return none;
  MlirOperation module = ws__mlir_parse_functions(m, text, rest, template_text);
  bool ok = !mlirOperationIsNull(module) && ws__mlir_check_dialects(m, module);
  MlirOperation op = ok ? ws__mlir_first(module) : none;
  for (; ok && !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    inside i = {m, op, true};
    if (!ws__mlir_is(op, "func.func"))
      i.ok = refuse_other(m, op);
    else
      mlirOperationWalk(op, check_inside, &i, MlirWalkPreOrder);
    if (i.ok)
      drop_attributes(m, op);
    ok = i.ok;
  }
  if (ok || mlirOperationIsNull(module))
    return module;
  mlirOperationDestroy(module);
  return none;
}

/* ---- in place of the template's ---------------------------------------------
 */

static bool collect(body *b, MlirOperation module) {
  MlirOperation op = ws__mlir_first(module);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
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
  if (is_declaration(function) ||
      !mlirOperationIsNull(find(b, name_of(b, function))))
    return;
  MlirStringRef name = ws__mlir_ref(ws_arena_printf(
      b->m->arena, "%s.%s", b->given->region, name_of(b, function)));
  if (mlirLogicalResultIsSuccess(mlirSymbolTableReplaceAllSymbolUses(
          ws__mlir_symbol(function), name, module)))
    mlirOperationSetInherentAttributeByName(
        function, ws__mlir_ref("sym_name"),
        mlirStringAttrGet(b->m->context, name));
}

static void move(const body *b, MlirOperation function) {
  MlirOperation ours = find(b, name_of(b, function));
  MlirBlock block = ws__mlir_body(b->gpu);
  if (is_declaration(function))
    return;
  mlirOperationRemoveFromParent(function);
  if (mlirOperationIsNull(ours)) {
    mlirBlockInsertOwnedOperation(block, 0, function);
    return;
  }
  MlirStringRef word = ws__mlir_ref("wavesmith.region");
  mlirOperationSetDiscardableAttributeByName(
      function, word, mlirOperationGetDiscardableAttributeByName(ours, word));
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
  /* All of them while they stand together: they call each other. */
  for (int i = 0; i < b->count; i++)
    qualify(b, b->functions[i], module);
  for (int i = 0; i < b->count; i++)
    move(b, b->functions[i]);
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

/* Declarations of the template's other functions. */
static const char *rest_of_module(const body *b) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  MlirOperation op = ws__mlir_first(b->gpu);
  for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (ws__mlir_is(op, "func.func") &&
        !names_function(b->given->text, name_of(b, op))) {
      ws_strbuf_printf(&out, " func.func private @%s", name_of(b, op));
      mlirTypePrint(type_of(op), ws__mlir_append, &out);
    }
  const char *text = ws_arena_strdup(b->m->arena, out.data);
  ws_strbuf_deinit(&out);
  return text;
}

bool ws__mlir_splice(ws_mlir *m, const ws_mlir_request *request) {
  const char *template_file = m->file, *template_text = m->text;
  const ws_mlir_body *bodies = request->bodies;
  bool ok = true;
  for (int i = 0; i < request->body_count && ok; i++) {
    body b = {.m = m, .given = &bodies[i], .gpu = ws__mlir_gpu_module(m)};
    const int before = m->findings->count;
    m->file = bodies[i].file; /* of which findings speak now */
    m->text = bodies[i].text;
    MlirOperation module =
        read_functions(m, m->text, rest_of_module(&b), request->text);
    ok = !mlirOperationIsNull(module) && take(&b, module);
    if (!mlirOperationIsNull(module))
      mlirOperationDestroy(module);
    for (int k = before; k < m->findings->count; k++)
      m->findings->items[k].region = bodies[i].region;
  }
  m->file = template_file;
  m->text = template_text;
  m->frame = (ws_mlir_frame){0};
  return ok;
}

MlirOperation ws__mlir_read_body(ws_mlir *m, const char *text) {
  MlirOperation functions = read_functions(m, text, "", ""), op;
  m->frame = (ws_mlir_frame){0};
  if (mlirOperationIsNull(functions))
    return functions;
  MlirOperation whole = mlirOperationCreateParse(
      m->context, ws__mlir_ref("module { gpu.module @body { } }"),
      ws__mlir_ref(m->file));
  MlirBlock block = ws__mlir_body(ws__mlir_first(whole));
  while (!mlirOperationIsNull(op = ws__mlir_first(functions))) {
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(block, op);
  }
  mlirOperationDestroy(functions);
  return whole;
}
