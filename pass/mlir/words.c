/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "mlir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

MlirStringRef ws__mlir_ref(const char *text) {
  return mlirStringRefCreate(text, strlen(text));
}

const char *ws__mlir_text(ws_arena *arena, MlirStringRef text) {
  return ws_arena_strndup(arena, text.data, text.length);
}

void ws__mlir_append(MlirStringRef part, void *out) {
  ws_strbuf_append(out, part.data, part.length);
}

MlirAttribute ws__mlir_word(MlirOperation op, const char *name) {
  char full[64];
  snprintf(full, sizeof full, "wavesmith.%s", name);
  return mlirOperationGetDiscardableAttributeByName(op, ws__mlir_ref(full));
}

MlirStringRef ws__mlir_name(MlirOperation op) {
  return mlirIdentifierStr(mlirOperationGetName(op));
}

bool ws__mlir_begins(MlirOperation op, const char *start) {
  MlirStringRef name = ws__mlir_name(op);
  const size_t size = strlen(start);
  return name.length >= size && !memcmp(name.data, start, size);
}

bool ws__mlir_is_in(const ws_mlir *m, MlirType memref, const char *space) {
  return mlirAttributeEqual(
      mlirMemRefTypeGetMemorySpace(memref),
      mlirAttributeParseGet(m->context, ws__mlir_ref(space)));
}

MlirOperation ws__mlir_new(const ws_mlir *m, const char *name,
                           MlirLocation location, int operand_count,
                           const MlirValue *operands, MlirType result,
                           const char *attribute, MlirAttribute value) {
  MlirOperationState state =
      mlirOperationStateGet(ws__mlir_ref(name), location);
  mlirOperationStateAddOperands(&state, operand_count, operands);
  if (!mlirTypeIsNull(result))
    mlirOperationStateAddResults(&state, 1, &result);
  if (attribute) {
    MlirNamedAttribute named = mlirNamedAttributeGet(
        mlirIdentifierGet(m->context, ws__mlir_ref(attribute)), value);
    mlirOperationStateAddAttributes(&state, 1, &named);
  }
  return mlirOperationCreate(&state);
}

MlirBlock ws__mlir_body(MlirOperation op) {
  return mlirOperationGetNumRegions(op)
             ? mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(op))
             : (MlirBlock){NULL};
}

MlirOperation ws__mlir_first(MlirOperation op) {
  MlirBlock body = ws__mlir_body(op);
  return mlirBlockIsNull(body) ? (MlirOperation){NULL}
                               : mlirBlockGetFirstOperation(body);
}

MlirOperation ws__mlir_function(MlirOperation module, const char *kind,
                                const char *name) {
  MlirOperation op = ws__mlir_first(module);
  while (!mlirOperationIsNull(op) &&
         !(ws__mlir_is(op, kind) &&
           mlirStringRefEqual(ws__mlir_symbol(op), ws__mlir_ref(name))))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

bool ws__mlir_is(MlirOperation op, const char *name) {
  return mlirStringRefEqual(ws__mlir_name(op), ws__mlir_ref(name));
}

MlirStringRef ws__mlir_symbol(MlirOperation function) {
  return mlirStringAttrGetValue(
      mlirOperationGetAttributeByName(function, ws__mlir_ref("sym_name")));
}

MlirOperation ws__mlir_gpu_module(const ws_mlir *m) {
  MlirOperation op = ws__mlir_first(m->module);
  while (!mlirOperationIsNull(op) && !ws__mlir_is(op, "gpu.module"))
    op = mlirOperationGetNextInBlock(op);
  return op;
}

MlirLocation ws__mlir_place(MlirLocation location) {
  if (mlirLocationIsAFileLineColRange(location))
    return location;
  if (mlirLocationIsACallSite(location))
    return ws__mlir_place(mlirLocationCallSiteGetCallee(location));
  if (mlirLocationIsAName(location))
    return ws__mlir_place(mlirLocationNameGetChildLoc(location));
  MlirLocation parts[16], none = {NULL};
  const unsigned count = mlirLocationIsAFused(location)
                             ? mlirLocationFusedGetNumLocations(location)
                             : 0;
  if (!count || count > sizeof parts / sizeof *parts)
    return none;
  mlirLocationFusedGetLocations(location, parts);
  for (unsigned i = 0; i < count && !none.ptr; i++)
    none = ws__mlir_place(parts[i]);
  return none;
}

void ws__mlir_line_column(const ws_mlir *m, MlirLocation place, int *out_line,
                          int *out_column) {
  const ws_mlir_frame *f = &m->frame;
  MlirStringRef file =
      mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place));
  *out_line = mlirLocationFileLineColRangeGetStartLine(place);
  *out_column = mlirLocationFileLineColRangeGetStartColumn(place);
  if (!f->last_line || !mlirStringRefEqual(file, ws__mlir_ref(m->file)))
    return;
  *out_column -= (*out_line == 1 ? f->before : 0) +
                 (*out_line == f->open_line ? f->opening : 0);
  if (*out_column < 1)
    *out_column = 1;
  if (*out_line > f->last_line ||
      (*out_line == f->last_line && *out_column > f->last_end)) {
    *out_line = f->last_line;
    *out_column = f->last_end;
  }
}

void ws__mlir_find(const ws_mlir *m, MlirLocation at, const char *id,
                   const char *region, const char *text) {
  MlirLocation place = ws__mlir_place(at);
  const bool known = !mlirLocationIsNull(place);
  int line = 0, column = 0;
  if (known)
    ws__mlir_line_column(m, place, &line, &column);
  ws_finding *added = ws_findings_add(
      m->findings, id, region,
      known ? ws__mlir_text(m->arena,
                            mlirIdentifierStr(
                                mlirLocationFileLineColRangeGetFilename(place)))
            : m->file,
      line, "%s", text);
  if (added && known)
    added->column = column;
}

void ws__mlir_find_at(const ws_mlir *m, const char *text, const char *at,
                      const char *id, const char *what) {
  const char *start = text;
  unsigned line = 1;
  for (const char *c = text; c < at; c++)
    if (*c == '\n') {
      line++;
      start = c + 1;
    }
  ws__mlir_find(m,
                mlirLocationFileLineColGet(m->context, ws__mlir_ref(m->file),
                                           line, (unsigned)(at - start) + 1),
                id, "", what);
}

/* The function that an operation is in, which may be a region's. */
static const char *function_of(const ws_mlir *m, MlirOperation op) {
  while (!mlirOperationIsNull(op) && !ws__mlir_is(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  return mlirOperationIsNull(op) ? ""
                                 : ws__mlir_text(m->arena, ws__mlir_symbol(op));
}

/* Of an operation that MLIR has made of nothing in the text (a constant that
 * was folded): the place of who uses it, or of what it is in. */
static MlirLocation location_of(MlirOperation op) {
  MlirLocation at = mlirOperationGetLocation(op);
  if (mlirLocationIsNull(ws__mlir_place(at)) &&
      mlirOperationGetNumResults(op)) {
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
    if (!mlirOpOperandIsNull(use))
      at = mlirOperationGetLocation(mlirOpOperandGetOwner(use));
  }
  while (mlirLocationIsNull(ws__mlir_place(at)) && !mlirOperationIsNull(op)) {
    at = mlirOperationGetLocation(op);
    op = mlirOperationGetParentOperation(op);
  }
  return at;
}

void ws__mlir_refuse(const ws_mlir *m, MlirOperation at, const char *id,
                     const char *format, ...) {
  char text[512];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  ws__mlir_find(m, location_of(at), id, function_of(m, at), text);
}

typedef struct walk {
  ws_mlir *m;
  ws_mlir_visit *visit;
  bool ok;
} walk;

static MlirWalkResult step(MlirOperation op, void *data) {
  walk *w = data;
  w->ok = w->visit(w->m, op);
  return w->ok ? MlirWalkResultAdvance : MlirWalkResultInterrupt;
}

bool ws__mlir_walk(ws_mlir *m, MlirOperation root, ws_mlir_visit *visit) {
  walk w = {m, visit, true};
  mlirOperationWalk(root, step, &w, MlirWalkPreOrder);
  return w.ok;
}
