/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Parameters are attributes: an operation with "wavesmith.ATTRIBUTE =
 * expression" has that integer attribute set to the expression's value, in the
 * type that it was written in. arith.constant {wavesmith.value = "tile_m"} 128
 * : index is the common case; transform operations take factors alike.
 */
#include "mlir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

static const char prefix[] = "wavesmith.";

/* In so many bits a number may be meant with a sign or without one. */
static bool fits(MlirType type, int64_t value) {
  const unsigned bits =
      mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 64;
  return bits >= 64 || (value >= -(INT64_C(1) << (bits ? bits - 1 : 0)) &&
                        value < INT64_C(1) << bits);
}

static bool evaluate(ws_mlir *m, MlirOperation op, const char *text,
                     int64_t *out) {
  ws_expr *expr;
  ws_diag diag;
  if (ws_expr_parse(m->arena, text, NULL, 0, &expr, &diag) == WS_OK &&
      ws_expr_eval(expr, &m->values, out, &diag) == WS_OK)
    return true;
  ws__mlir_refuse(m, op, "mlir-value", "%s", diag.text);
  return false;
}

static bool set_attribute(ws_mlir *m, MlirOperation op, const char *name,
                          const char *text) {
  MlirAttribute old = mlirOperationGetAttributeByName(op, ws__mlir_ref(name));
  int64_t value;
  if (mlirAttributeIsNull(old) || !mlirAttributeIsAInteger(old)) {
    ws__mlir_refuse(m, op, "mlir-value",
                    "wavesmith.%s: '%.*s' has no integer attribute '%s'; write "
                    "one, which holds by default",
                    name, (int)ws__mlir_name(op).length, ws__mlir_name(op).data,
                    name);
    return false;
  }
  if (!evaluate(m, op, text, &value))
    return false;
  MlirType type = mlirAttributeGetType(old);
  if (!fits(type, value)) {
    ws__mlir_refuse(m, op, "mlir-value",
                    "wavesmith.%s is %lld, which does not fit into i%u", name,
                    (long long)value, mlirIntegerTypeGetWidth(type));
    return false;
  }
  mlirOperationSetAttributeByName(op, ws__mlir_ref(name),
                                  mlirIntegerAttrGet(type, value));
  return true;
}

/* Attributes of ours that say something else (records.c, lds.c). */
static bool is_declaration(const char *name) {
  static const char *const words[] = {
      "template", "param",  "require", "lds",       "workspace", "allow",
      "launch",   "region", "variant", "occupancy", "tensor_map"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i], name))
      return true;
  return false;
}

/* Of an operation's i-th attribute what it sets; NULL: nothing. */
static const char *set_by(const ws_mlir *m, MlirNamedAttribute attribute) {
  const size_t size = sizeof prefix - 1;
  const char *name = ws__mlir_text(m->arena, mlirIdentifierStr(attribute.name));
  return !strncmp(name, prefix, size) && !is_declaration(name + size)
             ? name + size
             : NULL;
}

/* wavesmith.steps and .slots are what they say themselves, to lanes.c: a number
 * of the text or of transform.annotate, or an expression like elsewhere. */
static bool is_of_lanes(MlirOperation op, const char *name) {
  return (ws__mlir_is(op, "scf.forall") && !strcmp(name, "steps")) ||
         (ws__mlir_is(op, "memref.alloca") && !strcmp(name, "slots"));
}

static bool set_for_lanes(ws_mlir *m, MlirOperation op,
                          MlirNamedAttribute attribute) {
  int64_t value;
  if (!mlirAttributeIsAString(attribute.attribute))
    return true;
  if (!evaluate(
          m, op,
          ws__mlir_text(m->arena, mlirStringAttrGetValue(attribute.attribute)),
          &value))
    return false;
  mlirOperationSetDiscardableAttributeByName(
      op, mlirIdentifierStr(attribute.name),
      mlirIntegerAttrGet(mlirIntegerTypeGet(m->context, 64), value));
  return true;
}

static bool set_all(ws_mlir *m, MlirOperation op) {
  for (intptr_t i = mlirOperationGetNumDiscardableAttributes(op) - 1; i >= 0;
       i--) {
    MlirNamedAttribute attribute = mlirOperationGetDiscardableAttribute(op, i);
    const char *name = set_by(m, attribute);
    if (!name)
      continue;
    if (is_of_lanes(op, name)) {
      if (!set_for_lanes(m, op, attribute))
        return false;
      continue;
    }
    if (!mlirAttributeIsAString(attribute.attribute)) {
      ws__mlir_refuse(m, op, "mlir-value",
                      "write wavesmith.%s = \"EXPRESSION\", a text", name);
      return false;
    }
    if (!set_attribute(m, op, name,
                       ws__mlir_text(m->arena, mlirStringAttrGetValue(
                                                   attribute.attribute))))
      return false;
    mlirOperationRemoveDiscardableAttributeByName(
        op, mlirIdentifierStr(attribute.name));
  }
  return true;
}

bool ws__mlir_set_values(ws_mlir *m) {
  return ws__mlir_walk(m, m->module, set_all);
}
