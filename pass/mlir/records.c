/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A template's declarations, from attributes to the named metadata that
 * template_ir.c reads: the words of templates in LLVM IR and their operands.
 * On the module stand wavesmith.template, .param, .require, .lds, .workspace,
 * .allow; on functions what is about them: .launch, .region, .variant.
 */
#include "declare.h"

#include <llvm-c/DebugInfo.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERANDS = 8 };

typedef struct writer {
  ws_mlir *m;
  LLVMModuleRef out;
} writer;

static void write_node(const writer *w, const char *kind,
                       const char *const *operands, int count) {
  LLVMContextRef context = LLVMGetModuleContext(w->out);
  LLVMMetadataRef texts[MOST_OPERANDS];
  for (int i = 0; i < count; i++)
    texts[i] =
        LLVMMDStringInContext2(context, operands[i], strlen(operands[i]));
  LLVMAddNamedMetadataOperand(
      w->out, ws_arena_printf(w->m->arena, "wavesmith.%s", kind),
      LLVMMetadataAsValue(context,
                          LLVMMDNodeInContext2(context, texts, (size_t)count)));
}

const char *ws__mlir_joined(const ws_mlir *m, MlirAttribute item) {
  if (mlirAttributeIsAString(item))
    return ws__mlir_text(m->arena, mlirStringAttrGetValue(item));
  const intptr_t count =
      mlirAttributeIsAArray(item) ? mlirArrayAttrGetNumElements(item) : 0;
  const char *text = count ? "" : NULL;
  for (intptr_t i = 0; i < count && text; i++) {
    MlirAttribute part = mlirArrayAttrGetElement(item, i);
    text = mlirAttributeIsAString(part)
               ? ws_arena_printf(
                     m->arena, "%s%s", text,
                     ws__mlir_text(m->arena, mlirStringAttrGetValue(part)))
               : NULL;
  }
  return text;
}

/* Texts of an array (or one text); -1: it has something else in it. */
static int texts_of(const ws_mlir *m, MlirAttribute list, const char **out) {
  if (mlirAttributeIsAString(list)) {
    out[0] = ws__mlir_text(m->arena, mlirStringAttrGetValue(list));
    return 1;
  }
  const intptr_t count =
      mlirAttributeIsAArray(list) ? mlirArrayAttrGetNumElements(list) : -1;
  if (count < 0 || count > MOST_OPERANDS)
    return -1;
  for (intptr_t i = 0; i < count; i++) {
    out[i] = ws__mlir_joined(m, mlirArrayAttrGetElement(list, i));
    if (!out[i])
      return -1;
  }
  return (int)count;
}

const char *ws__mlir_operand(const ws_mlir *m, MlirAttribute list, int index) {
  const char *operands[MOST_OPERANDS];
  return texts_of(m, list, operands) > index ? operands[index] : NULL;
}

/* ---- of the module ----------------------------------------------------------
 */

static const struct word {
  const char *name;
  int operands;
  bool is_list; /* of nodes */
  const char *form;
} words[] = {
    {"template", 5, false, "[name, version, problem, target, purpose]"},
    {"param", 4, true, "[[name, default, allowed values, meaning], ...]"},
    {"require", 2, true, "[[expression, reason], ...]"},
    {"lds", 2, true, "[[name, bytes expression], ...]"},
    {"workspace", 1, false, "bytes expression"},
    {"allow", 1, false, "feature"},
    {"occupancy", 3, true,
     "[[kernel, workgroups of a cluster, workgroups of a CU], ...]"},
    {"tensor_map", 8, true,
     "[[name, argument, element, inner extent, outer extent, box inner, box "
     "outer, swizzle], ...]"},
};

typedef void node_sink(void *context, const char *const *operands, int index);

static bool bad_form(ws_mlir *m, const struct word *word) {
  ws__mlir_refuse(m, m->module, "template", "write wavesmith.%s = %s, texts",
                  word->name, word->form);
  return false;
}

static bool is_word(const char *name) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcmp(words[i].name, name))
      return true;
  return false;
}

bool ws__mlir_check_words(ws_mlir *m) {
  static const char prefix[] = "wavesmith.";
  for (intptr_t i = mlirOperationGetNumDiscardableAttributes(m->module) - 1;
       i >= 0; i--) {
    const char *name = ws__mlir_text(
        m->arena, mlirIdentifierStr(
                      mlirOperationGetDiscardableAttribute(m->module, i).name));
    if (strncmp(name, prefix, sizeof prefix - 1) ||
        is_word(name + sizeof prefix - 1))
      continue;
    const char *known = "";
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
      known = ws_arena_printf(m->arena, "%s %s", known, words[k].name);
    ws__mlir_refuse(m, m->module, "template",
                    "%s: a module has no such word; there is%s", name, known);
    return false;
  }
  return true;
}

/* Every node of a word of the module. */
static bool each_node(ws_mlir *m, const struct word *word, node_sink *sink,
                      void *context) {
  const char *operands[MOST_OPERANDS];
  MlirAttribute value = ws__mlir_word(m->module, word->name);
  if (mlirAttributeIsNull(value))
    return true;
  if (word->is_list && !mlirAttributeIsAArray(value))
    return bad_form(m, word);
  const intptr_t count = word->is_list ? mlirArrayAttrGetNumElements(value) : 1;
  for (intptr_t i = 0; i < count; i++) {
    MlirAttribute node =
        word->is_list ? mlirArrayAttrGetElement(value, i) : value;
    if (texts_of(m, node, operands) != word->operands)
      return bad_form(m, word);
    sink(context, operands, (int)i);
  }
  return true;
}

/* ---- LDS
 * -----------------------------------------------------------------------
 */

typedef struct wanted {
  const char *name, *bytes;
} wanted;

static void find_bytes(void *context, const char *const *operands, int index) {
  wanted *w = context;
  (void)index;
  if (!strcmp(operands[0], w->name))
    w->bytes = operands[1];
}

bool ws__mlir_lds_bytes(ws_mlir *m, MlirOperation at, const char *name,
                        int64_t *out_bytes) {
  wanted w = {.name = name};
  ws_expr *expr;
  ws_diag diag;
  if (!each_node(m, &words[3], find_bytes, &w))
    return false;
  if (!w.bytes) {
    ws__mlir_refuse(m, at, "mlir-lds", "wavesmith.lds has no '%s'", name);
    return false;
  }
  if (ws_expr_parse(m->arena, w.bytes, NULL, 0, &expr, &diag) == WS_OK &&
      ws_expr_eval(expr, &m->values, out_bytes, &diag) == WS_OK)
    return true;
  ws__mlir_refuse(m, at, "mlir-lds", "%s", diag.text);
  return false;
}

/* ---- tensor maps
 * ------------------------------------------------------------- */

typedef struct named {
  const char *name;
  bool found;
} named;

static void compare_name(void *context, const char *const *operands,
                         int index) {
  named *n = context;
  (void)index;
  n->found |= !strcmp(operands[0], n->name);
}

bool ws__mlir_is_tensor_map(ws_mlir *m, const char *name) {
  named n = {.name = name};
  return each_node(m, &words[7], compare_name, &n) && n.found;
}

/* ---- defaults
 * ---------------------------------------------------------------- */

typedef struct defaults {
  ws_mlir *m;
  ws_binding *bindings;
  int count;
  bool ok;
} defaults;

/* Where the index-th of wavesmith.param is written. */
static MlirLocation place_of_parameter(const ws_mlir *m, int index) {
  int column = 0;
  const int line =
      m->text ? ws__mlir_record_place(m->text, "param", index, &column) : 0;
  return line ? mlirLocationFileLineColGet(m->context, ws__mlir_ref(m->file),
                                           (unsigned)line, (unsigned)column)
              : mlirOperationGetLocation(m->module);
}

static void add_default(void *context, const char *const *operands, int index) {
  defaults *d = context;
  char *end;
  const int64_t value = strtoll(operands[1], &end, 10);
  const char *fault =
      end == operands[1] || *end
          ? ws_arena_printf(d->m->arena,
                            "the default of parameter '%s' is an integer, not "
                            "'%s'",
                            operands[0], operands[1])
          : NULL;
  for (int i = 0; i < d->count && !fault; i++)
    if (!strcmp(d->bindings[i].name, operands[0]))
      fault = ws_arena_printf(d->m->arena,
                              "parameter '%s' is declared twice; rename one",
                              operands[0]);
  if (fault && d->ok)
    ws__mlir_find(d->m, place_of_parameter(d->m, index), "template", "", fault);
  d->ok &= !fault;
  if (d->count < WS_TEMPLATE_MAX_PARAMS)
    d->bindings[d->count++] = (ws_binding){operands[0], value};
}

bool ws__mlir_defaults(ws_mlir *m, ws_scope *out) {
  defaults d = {
      m, ws_arena_alloc(m->arena, WS_TEMPLATE_MAX_PARAMS * sizeof(ws_binding)),
      0, true};
  if (!each_node(m, &words[1], add_default, &d) || !d.ok)
    return false;
  *out = (ws_scope){d.bindings, d.count};
  return true;
}

/* In the row of wavesmith.param. */
static MlirAttribute with_value(const ws_mlir *m, MlirAttribute node,
                                int64_t value) {
  enum { DEFAULT = 1, ALLOWED = 2 };
  MlirAttribute parts[MOST_OPERANDS];
  const intptr_t count = mlirArrayAttrGetNumElements(node);
  for (intptr_t i = 0; i < count; i++)
    parts[i] = mlirArrayAttrGetElement(node, i);
  parts[DEFAULT] = parts[ALLOWED] = mlirStringAttrGet(
      m->context,
      ws__mlir_ref(ws_arena_printf(m->arena, "%lld", (long long)value)));
  return mlirArrayAttrGet(m->context, count, parts);
}

void ws__mlir_state_values(const ws_mlir *m) {
  MlirAttribute list = ws__mlir_word(m->module, words[1].name),
                nodes[WS_TEMPLATE_MAX_PARAMS];
  const intptr_t count =
      mlirAttributeIsNull(list) ? 0 : mlirArrayAttrGetNumElements(list);
  for (intptr_t i = 0; i < count; i++)
    nodes[i] = with_value(m, mlirArrayAttrGetElement(list, i),
                          m->values.bindings[i].value);
  if (count)
    mlirOperationSetDiscardableAttributeByName(
        m->module, ws__mlir_ref("wavesmith.param"),
        mlirArrayAttrGet(m->context, count, nodes));
}

/* ---- writing
 * ------------------------------------------------------------------ */

/* Code in LLVM IR or OpenCL C reads parameters like in templates of IR. */
static void write_parameter(const writer *w, const char *global,
                            int64_t value) {
  LLVMTypeRef type = LLVMInt32TypeInContext(LLVMGetModuleContext(w->out));
  LLVMValueRef made = LLVMAddGlobalInAddressSpace(w->out, type, global, 4);
  LLVMSetInitializer(made, LLVMConstInt(type, (uint64_t)value, true));
  LLVMSetGlobalConstant(made, true);
  LLVMSetLinkage(made, LLVMInternalLinkage);
}

typedef struct sink {
  const writer *w;
  const struct word *word;
} sink;

static void write_word(void *context, const char *const *operands, int index) {
  const sink *s = context;
  if (strcmp(s->word->name, "param")) {
    write_node(s->w, s->word->name, operands, s->word->operands);
    return;
  }
  const char *global = ws_arena_printf(s->w->m->arena, "ws.%s", operands[0]);
  write_parameter(s->w, global, s->w->m->values.bindings[index].value);
  const char *const own[] = {operands[0], global, operands[2], operands[3]};
  write_node(s->w, "param", own, 4);
}

static const struct {
  const char *word;
  size_t offset;
  int operands;
  const char *form;
} of_function[] = {
    {"launch", offsetof(ws_mlir_function, launch), 5,
     "[grid x, grid y, grid z, threads, condition]"},
    {"region", offsetof(ws_mlir_function, region), 1, "its contract"},
    {"variant", offsetof(ws_mlir_function, variant), 2, "[region, purpose]"},
};
enum { OF_FUNCTION = sizeof of_function / sizeof *of_function };

static MlirAttribute declared(const ws_mlir_function *function, int i) {
  return *(const MlirAttribute *)((const char *)function +
                                  of_function[i].offset);
}

bool ws__mlir_check_declared(ws_mlir *m, MlirOperation op,
                             const ws_mlir_function *function) {
  const char *operands[MOST_OPERANDS];
  for (int i = 0; i < OF_FUNCTION; i++) {
    MlirAttribute value = declared(function, i);
    if (mlirAttributeIsNull(value) ||
        texts_of(m, value, operands) == of_function[i].operands)
      continue;
    ws__mlir_refuse(m, op, "template", "write wavesmith.%s = %s, texts",
                    of_function[i].word, of_function[i].form);
    return false;
  }
  return true;
}

static void write_declared(const writer *w, const ws_mlir_function *function) {
  const char *operands[MOST_OPERANDS + 1];
  for (int i = 0; i < OF_FUNCTION; i++) {
    MlirAttribute value = declared(function, i);
    if (mlirAttributeIsNull(value))
      continue;
    const int count = texts_of(w->m, value, operands + 1);
    operands[0] = function->name;
    if (!strcmp(of_function[i].word, "variant")) {
      operands[0] = operands[1];
      operands[1] = function->name;
    }
    write_node(w, of_function[i].word, operands, count + 1);
  }
}

bool ws__mlir_write_records(ws_mlir *m, const ws_mlir_function *functions,
                            int count, LLVMModuleRef out) {
  writer w = {m, out};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    sink s = {&w, &words[i]};
    if (!each_node(m, &words[i], write_word, &s))
      return false;
  }
  for (int i = 0; i < count; i++)
    write_declared(&w, &functions[i]);
  return true;
}
