/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a template's IR to its records: the string operands of wavesmith.*
 * named metadata with their lines (grammar: ir-templates/README.md), plus the
 * two facts that only the IR knows, a parameter's default and a kernel's
 * argument names. Checked here is what needs the IR: that every name stands
 * for a global or function of the right kind. What the strings mean (values,
 * expressions, counts) is checked by the one reader of the records,
 * ws_template_from_records.
 */
#include "template_ir.h"
#include "family.h"
#include "scalar_type.h"
#include "source_lines.h"

#include <llvm-c/Target.h>
#include <string.h>

enum { MAX_OPERANDS = 8 };

typedef struct reader {
  LLVMModuleRef module;
  const char *file;
  ws_arena *arena;
  ws_diag *diag;
  const ws_problem *problem;
  const ws_ir_family *family;
  ws_source_metadata *sources; /* NULL: no text, no lines */
  ws_record_line *line_of;     /* NULL: by sources */
  void *line_context;
  ws_record *records;
  int count;
  int dynamic_lds; /* external LDS arrays so far */
} reader;

/* A record under construction. */
typedef struct draft {
  const char *operands[MAX_OPERANDS + 1];
  int count, line;
} draft;

#define FAULT(r, d, ...)                                                       \
  ws_fail((r)->diag, WS_INPUT, (r)->file, (d)->line, __VA_ARGS__)

/* ---- what a name must stand for ------------------------------------------ */

static ws_status check_param(reader *r, draft *d) {
  const char *name = d->operands[1];
  LLVMValueRef global = LLVMGetNamedGlobal(r->module, name);
  if (!global)
    return FAULT(r, d,
                 "parameter %s: there is no global @%s; define it as "
                 "internal addrspace(4) constant i32",
                 d->operands[0], name);
  LLVMTypeRef type = LLVMGlobalGetValueType(global);
  LLVMValueRef value = LLVMGetInitializer(global);
  if (LLVMGetLinkage(global) != LLVMInternalLinkage ||
      LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != WS_SPACE_CONSTANT ||
      !LLVMIsGlobalConstant(global) ||
      LLVMGetTypeKind(type) != LLVMIntegerTypeKind ||
      LLVMGetIntTypeWidth(type) != 32 || !value || !LLVMIsAConstantInt(value))
    return FAULT(r, d,
                 "parameter %s: write @%s = internal addrspace(4) "
                 "constant i32 VALUE",
                 d->operands[0], name);
  d->operands[d->count++] = ws_arena_printf(
      r->arena, "%lld", (long long)LLVMConstIntGetSExtValue(value));
  return WS_OK;
}

static bool is_lds_array(const reader *r, LLVMValueRef global) {
  LLVMValueRef value = LLVMGetInitializer(global);
  if (LLVMGetPointerAddressSpace(LLVMTypeOf(global)) != WS_SPACE_LDS)
    return false;
  if (r->family->family == WS_FAMILY_NVPTX && ws__is_dynamic_lds(global))
    return true;
  return LLVMGetLinkage(global) == LLVMInternalLinkage && value &&
         LLVMIsUndef(value);
}

static ws_status check_lds(reader *r, draft *d) {
  const char *name = d->operands[0];
  LLVMValueRef global = LLVMGetNamedGlobal(r->module, name);
  if (!global)
    return FAULT(r, d, "lds: there is no global @%s; define it as %s", name,
                 r->family->lds_form);
  if (!is_lds_array(r, global))
    return FAULT(r, d, "lds: write @%s = %s (LDS cannot be initialised)", name,
                 r->family->lds_form);
  if (ws__is_dynamic_lds(global) && r->dynamic_lds++)
    return FAULT(r, d,
                 "lds: @%s would lie where another external array does; keep "
                 "one and count offsets from it",
                 name);
  return WS_OK;
}

static ws_status unknown_argument(const reader *r, const draft *d,
                                  const char *name) {
  ws_strbuf known;
  ws_strbuf_init(&known);
  for (int i = 0; i < r->problem->arg_count; i++)
    ws_strbuf_printf(&known, " %s", r->problem->args[i].name);
  ws_status status = FAULT(
      r, d, "kernel @%s: '%s' is no argument of %s; name its arguments from:%s",
      d->operands[0], name, r->problem->name, known.data);
  ws_strbuf_deinit(&known);
  return status;
}

enum { TENSOR_MAP_BYTES = 128, TENSOR_MAP_ALIGN = 64 };

/* Whether !wavesmith.tensor_map declares this name. */
static bool is_tensor_map(const reader *r, const char *name) {
  const char *list = WS_METADATA_PREFIX "tensor_map";
  unsigned count = LLVMGetNamedMetadataNumOperands(r->module, list), size;
  LLVMValueRef *nodes = ws_arena_alloc(r->arena, count * sizeof *nodes);
  LLVMGetNamedMetadataOperands(r->module, list, nodes);
  for (unsigned i = 0; i < count; i++) {
    LLVMValueRef operands[MAX_OPERANDS];
    unsigned operand_count = (unsigned)LLVMGetMDNodeNumOperands(nodes[i]);
    if (operand_count == 0 || operand_count > MAX_OPERANDS)
      continue;
    LLVMGetMDNodeOperands(nodes[i], operands);
    const char *own = operands[0] ? LLVMGetMDString(operands[0], &size) : NULL;
    if (own && strlen(name) == size && !memcmp(own, name, size))
      return true;
  }
  return false;
}

/* ptr byval([128 x i8]) align 64: a kernel's copy of a descriptor. */
static ws_status check_map_argument(const reader *r, const draft *d,
                                    LLVMValueRef kernel, unsigned index,
                                    const char *name) {
  unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
  LLVMAttributeRef attribute =
      LLVMGetEnumAttributeAtIndex(kernel, index + 1, byval);
  LLVMTargetDataRef layout = LLVMGetModuleDataLayout(r->module);
  if (attribute &&
      LLVMABISizeOfType(layout, LLVMGetTypeAttributeValue(attribute)) ==
          TENSOR_MAP_BYTES &&
      ws__parameter_align(kernel, index) == TENSOR_MAP_ALIGN)
    return WS_OK;
  return FAULT(r, d,
               "kernel @%s: tensor map '%s' must be ptr byval([%d x i8]) "
               "align %d",
               d->operands[0], name, TENSOR_MAP_BYTES, TENSOR_MAP_ALIGN);
}

/* An argument is one of the problem's, by name, and has its type; or it is a
 * tensor map. */
static ws_status check_argument(const reader *r, const draft *d,
                                LLVMValueRef kernel, unsigned position,
                                const char *name) {
  int index = ws_problem_arg_index(r->problem, name);
  if (index < 0 && is_tensor_map(r, name))
    return check_map_argument(r, d, kernel, position, name);
  if (index < 0)
    return unknown_argument(r, d, name);
  LLVMTypeRef type = LLVMTypeOf(LLVMGetParam(kernel, position));
  const ws_problem_arg *arg = &r->problem->args[index];
  bool is_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind &&
                    LLVMGetPointerAddressSpace(type) == WS_SPACE_GLOBAL;
  bool scalar = arg->role == WS_ARG_SCALAR;
  if (scalar ? !ws__is_scalar_type(arg->type, type) : !is_pointer)
    return FAULT(r, d, "kernel @%s: argument '%s' must be %s", d->operands[0],
                 name,
                 !scalar               ? "ptr addrspace(1)"
                 : arg->type == WS_F32 ? "float"
                                       : ws_type_text(arg->type));
  return WS_OK;
}

/* Blank-separated names of a kernel's arguments. */
static ws_status append_arguments(const reader *r, draft *d,
                                  LLVMValueRef kernel) {
  const char *names = "";
  unsigned count = LLVMCountParams(kernel);
  for (unsigned i = 0; i < count; i++) {
    size_t size;
    const char *name = LLVMGetValueName2(LLVMGetParam(kernel, i), &size);
    if (!size)
      return FAULT(r, d,
                   "kernel @%s: argument %u has no name; name it as the "
                   "problem's argument table does",
                   d->operands[0], i + 1);
    WS_TRY(check_argument(r, d, kernel, i, name));
    names = ws_arena_printf(r->arena, "%s%s%s", names, i ? " " : "", name);
  }
  d->operands[d->count++] = names;
  return WS_OK;
}

static ws_status check_launch(reader *r, draft *d) {
  const char *name = d->operands[0];
  LLVMValueRef kernel = LLVMGetNamedFunction(r->module, name);
  if (!kernel || LLVMIsDeclaration(kernel))
    return FAULT(r, d, "launch: there is no kernel @%s in this file", name);
  if (LLVMGetFunctionCallConv(kernel) != r->family->kernel_convention)
    return FAULT(r, d,
                 "launch: @%s is no kernel; write define %s void @%s(...)",
                 name, r->family->kernel_word, name);
  return append_arguments(r, d, kernel);
}

/* A function that regions and variants may be: internal alwaysinline. */
static ws_status check_inlined(reader *r, draft *d, const char *what,
                               const char *name) {
  LLVMValueRef function = LLVMGetNamedFunction(r->module, name);
  if (!function || LLVMIsDeclaration(function))
    return FAULT(r, d, "%s: there is no function @%s in this file", what, name);
  unsigned kind = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
  if (LLVMGetLinkage(function) != LLVMInternalLinkage ||
      !LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind))
    return FAULT(r, d, "%s: write define internal ... @%s(...) alwaysinline",
                 what, name);
  return WS_OK;
}

static ws_status check_region(reader *r, draft *d) {
  return check_inlined(r, d, "region", d->operands[0]);
}

static ws_status check_variant(reader *r, draft *d) {
  WS_TRY(check_inlined(r, d, "variant", d->operands[0]));
  WS_TRY(check_inlined(r, d, "variant", d->operands[1]));
  LLVMValueRef region = LLVMGetNamedFunction(r->module, d->operands[0]);
  LLVMValueRef variant = LLVMGetNamedFunction(r->module, d->operands[1]);
  if (LLVMGlobalGetValueType(region) != LLVMGlobalGetValueType(variant))
    return FAULT(r, d, "variant: @%s must have the signature of region @%s",
                 d->operands[1], d->operands[0]);
  return WS_OK;
}

static ws_status check_occupancy(reader *r, draft *d) {
  if (r->family->family != WS_FAMILY_NVPTX)
    return FAULT(r, d,
                 "occupancy: there is none to state for \"%s\"; remove it",
                 r->family->triple);
  return WS_OK;
}

/* The argument behind a map is a buffer of the problem, and the map's own name
 * is none of the problem's. */
static ws_status check_tensor_map(reader *r, draft *d) {
  const char *name = d->operands[0], *argument = d->operands[1];
  int index = ws_problem_arg_index(r->problem, argument);
  if (r->family->family != WS_FAMILY_NVPTX)
    return FAULT(r, d, "tensor_map: \"%s\" has no tensor maps; load by address",
                 r->family->triple);
  if (index < 0 || r->problem->args[index].role == WS_ARG_SCALAR)
    return FAULT(r, d, "tensor_map: '%s' is no buffer of %s", argument,
                 r->problem->name);
  if (ws_problem_arg_index(r->problem, name) >= 0)
    return FAULT(r, d,
                 "tensor_map: '%s' is the name of an argument of %s; give the "
                 "map another",
                 name, r->problem->name);
  return WS_OK;
}

/* The problem's dimensions, for readers that do not know the problem. */
static ws_status add_dims(reader *r, draft *d) {
  const ws_dims *dims = r->problem->dims;
  ws_strbuf names;
  ws_strbuf_init(&names);
  for (int i = 0; i < dims->count; i++)
    ws_strbuf_printf(&names, "%s%s", i ? " " : "", dims->names[i]);
  d->operands[d->count++] = ws_arena_strdup(r->arena, names.data);
  ws_strbuf_deinit(&names);
  return WS_OK;
}

/* Operand counts as in wavesmith/template.h. */
static const struct record_kind {
  const char *name;
  int operands;
  const char *form;
  ws_status (*check)(reader *r, draft *d);
} kinds[] = {
    {"template", 5, "name, version, problem, target, purpose", add_dims},
    {"param", 4, "name, global, allowed values, meaning", check_param},
    {"require", 2, "expression, reason", NULL},
    {"lds", 2, "global, bytes expression", check_lds},
    {"launch", 6, "kernel, grid x, grid y, grid z, threads, condition",
     check_launch},
    {"workspace", 1, "bytes expression", NULL},
    {"region", 2, "function, contract", check_region},
    {"variant", 3, "region, function, purpose", check_variant},
    {"allow", 1, "feature", NULL},
    {"source", 3, "file, text, lines of the launched kernels", NULL},
    {"occupancy", 3, "kernel, workgroups of a cluster, workgroups of a CU",
     check_occupancy},
    {"tensor_map", 8,
     "name, argument, element, inner extent, outer extent, box inner, box "
     "outer, swizzle bytes",
     check_tensor_map},
};

static const struct record_kind *find_kind(const char *name, size_t size) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strlen(kinds[i].name) == size && !memcmp(kinds[i].name, name, size))
      return &kinds[i];
  return NULL;
}

/* ---- reading ------------------------------------------------------------- */

static int operand_line(const reader *r, const char *name, size_t size,
                        int index) {
  if (r->line_of)
    return r->line_of(r->line_context, name + strlen(WS_METADATA_PREFIX),
                      index);
  for (const ws_source_metadata *m = r->sources; m; m = m->next) {
    if (m->name_size != size || memcmp(m->name, name, size))
      continue;
    if (index < m->count)
      return m->lines[index];
    index -= m->count;
  }
  return 0;
}

static ws_status read_strings(reader *r, const struct record_kind *kind,
                              LLVMValueRef node, draft *d) {
  int count = (int)LLVMGetMDNodeNumOperands(node);
  if (count != kind->operands)
    return FAULT(r, d, "wavesmith.%s has %d operands, want %d strings: %s",
                 kind->name, count, kind->operands, kind->form);
  LLVMValueRef values[MAX_OPERANDS];
  LLVMGetMDNodeOperands(node, values);
  for (int i = 0; i < count; i++) {
    unsigned size = 0;
    const char *text = values[i] ? LLVMGetMDString(values[i], &size) : NULL;
    if (!text || memchr(text, '\0', size))
      return FAULT(r, d,
                   "wavesmith.%s: operand %d is no string; its operands "
                   "are strings: %s",
                   kind->name, i + 1, kind->form);
    d->operands[i] = ws_arena_strndup(r->arena, text, size);
  }
  d->count = count;
  return WS_OK;
}

static ws_status read_record(reader *r, const struct record_kind *kind,
                             LLVMValueRef node, int line) {
  draft d = {.line = line};
  WS_TRY(read_strings(r, kind, node, &d));
  if (kind->check)
    WS_TRY(kind->check(r, &d));
  const char **operands =
      ws_arena_alloc(r->arena, (size_t)d.count * sizeof *operands);
  memcpy(operands, d.operands, (size_t)d.count * sizeof *operands);
  r->records[r->count++] = (ws_record){kind->name, operands, d.count, line};
  return WS_OK;
}

static ws_status read_named(reader *r, const char *name, size_t size) {
  const size_t prefix = strlen(WS_METADATA_PREFIX);
  const struct record_kind *kind = find_kind(name + prefix, size - prefix);
  unsigned count = LLVMGetNamedMetadataNumOperands(r->module, name);
  draft d = {.line = operand_line(r, name, size, 0)};
  if (!kind)
    return FAULT(r, &d,
                 "!%.*s is not known; see ir-templates/README.md for "
                 "the kinds there are",
                 (int)size, name);
  LLVMValueRef *nodes = ws_arena_alloc(r->arena, count * sizeof *nodes);
  LLVMGetNamedMetadataOperands(r->module, name, nodes);
  for (unsigned i = 0; i < count; i++)
    WS_TRY(read_record(r, kind, nodes[i], operand_line(r, name, size, (int)i)));
  return WS_OK;
}

static bool is_ours(const char *name, size_t size) {
  const size_t prefix = strlen(WS_METADATA_PREFIX);
  return size > prefix && !memcmp(name, WS_METADATA_PREFIX, prefix);
}

static unsigned count_records(LLVMModuleRef module) {
  unsigned count = 0;
  for (LLVMNamedMDNodeRef n = LLVMGetFirstNamedMetadata(module); n;
       n = LLVMGetNextNamedMetadata(n)) {
    size_t size;
    const char *name = LLVMGetNamedMetadataName(n, &size);
    if (is_ours(name, size))
      count += LLVMGetNamedMetadataNumOperands(module, name);
  }
  return count;
}

bool ws__pass_is_template(LLVMModuleRef module) {
  return LLVMGetNamedMetadataNumOperands(module,
                                         WS_METADATA_PREFIX "template") > 0;
}

static ws_status check_target(reader *r, const draft *d) {
  const char *name = d->operands[3];
  const ws_target *target = ws_target_find(name);
  if (!target)
    return FAULT(r, d, "target '%s' is not known; there is %s", name,
                 ws_target_list());
  if (target->family != r->family->family)
    return FAULT(r, d,
                 "the target is %s and the target triple \"%s\"; write target "
                 "triple = \"%s\"",
                 name, LLVMGetTarget(r->module),
                 ws__ir_family(target->family)->triple);
  return WS_OK;
}

/* The problem that !wavesmith.template names: kernels' arguments are its. */
static ws_status find_problem(reader *r) {
  const char *list = WS_METADATA_PREFIX "template";
  draft d = {.line = operand_line(r, list, strlen(list), 0)};
  LLVMValueRef node;
  if (LLVMGetNamedMetadataNumOperands(r->module, list) != 1)
    return FAULT(r, &d, "a template has exactly one !%s node", list);
  LLVMGetNamedMetadataOperands(r->module, list, &node);
  WS_TRY(read_strings(r, find_kind("template", strlen("template")), node, &d));
  WS_TRY(check_target(r, &d));
  r->problem = ws_problem_find(d.operands[2]);
  if (r->problem)
    return WS_OK;
  ws_strbuf known;
  ws_strbuf_init(&known);
  int count;
  const ws_problem *const *problems = ws_problems(&count);
  for (int i = 0; i < count; i++)
    ws_strbuf_printf(&known, " %s", problems[i]->name);
  ws_status status =
      FAULT(r, &d,
            "problem '%s' is not known; name its file with --problem; "
            "there is:%s",
            d.operands[2], known.data);
  ws_strbuf_deinit(&known);
  return status;
}

static ws_status read_all(reader *r, ws_records *out_records) {
  *out_records = (ws_records){0};
  r->records =
      ws_arena_alloc(r->arena, count_records(r->module) * sizeof(ws_record));
  r->family = ws__ir_family_of(r->module);
  if (!r->family)
    return ws_fail(r->diag, WS_INPUT, r->file, 0,
                   "the target triple is \"%s\"; write target triple = %s",
                   LLVMGetTarget(r->module), ws__ir_triples(r->arena));
  WS_TRY(find_problem(r));
  for (LLVMNamedMDNodeRef n = LLVMGetFirstNamedMetadata(r->module); n;
       n = LLVMGetNextNamedMetadata(n)) {
    size_t size;
    const char *name = LLVMGetNamedMetadataName(n, &size);
    if (is_ours(name, size))
      WS_TRY(read_named(r, name, size));
  }
  *out_records = (ws_records){r->records, r->count};
  return WS_OK;
}

ws_status ws_pass_read_records(LLVMModuleRef module, const char *text,
                               const char *file, ws_arena *arena,
                               ws_records *out_records, ws_diag *diag) {
  reader r = {.module = module, .file = file, .arena = arena, .diag = diag};
  if (text)
    r.sources = ws_source_named_metadata(arena, text, strlen(text));
  return read_all(&r, out_records);
}

ws_status ws__pass_read_records(LLVMModuleRef module, const char *file,
                                ws_record_line *line_of, void *context,
                                ws_arena *arena, ws_records *out_records,
                                ws_diag *diag) {
  reader r = {.module = module,
              .file = file,
              .arena = arena,
              .diag = diag,
              .line_of = line_of,
              .line_context = context};
  return read_all(&r, out_records);
}
