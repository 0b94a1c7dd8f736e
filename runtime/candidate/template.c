/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Records to template: one row of a table per record kind says how many
 * operands it takes, how many records there may be and which function reads
 * it. Rows are worked off in order, so that each may rely on those above it
 * (expressions on parameters, variants on regions). Everything that is wrong
 * is one WS_INPUT with file:line and the way to mend it.
 */
#include "wavesmith/template.h"
#include "wavesmith/problem.h"
#include "wavesmith/text.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct reader {
  ws_arena *arena;
  const char *file;
  ws_template *tmpl;
  ws_diag *diag;
  /* The template's tables, writable while they are filled. */
  ws_param *params;
  ws_region *regions;
  ws_require *requires;
  ws_lds *lds;
  ws_launch *launches;
  ws_occupancy *occupancies;
  ws_tensor_map *tensor_maps;
};

#define FAIL(reader, line, ...)                                                \
  ws_fail((reader)->diag, WS_INPUT, (reader)->file, line, __VA_ARGS__)

int ws_template_param_index(const ws_template *tmpl, const char *name) {
  for (int i = 0; i < tmpl->param_count; i++)
    if (!strcmp(tmpl->params[i].name, name))
      return i;
  return -1;
}

int ws_template_region_index(const ws_template *tmpl, const char *function) {
  for (int i = 0; i < tmpl->region_count; i++)
    if (!strcmp(tmpl->regions[i].function, function))
      return i;
  return -1;
}

/* ---- names -----------------------------------------------------------------
 */

/* Every name of a template comes through here, or through check_dotted. */
static ws_status check_name(struct reader *reader, const ws_record *record,
                            const char *what, const char *name) {
  const char *fault = ws_name_fault(name);
  return fault ? FAIL(reader, record->line, "%s '%.80s' %s; rename it", what,
                      name, fault)
               : WS_OK;
}

static ws_status check_dotted(struct reader *reader, const ws_record *record,
                              const char *what, const char *name) {
  const char *fault = ws_dotted_name_fault(name);
  return fault ? FAIL(reader, record->line, "%s '%.80s' %s; rename it", what,
                      name, fault)
               : WS_OK;
}

static bool is_shape_name(const struct reader *reader, const char *name) {
  return ws_dims_index(reader->tmpl->dims, name) >= 0;
}

/* ---- expressions -----------------------------------------------------------
 */

enum { NAMES_PARAM = 0, NAMES_SHAPE = 1, NAMES_DEVICE = 2 };

/* Parses an expression that may use parameters and what `allowed` adds. */
static ws_status read_expr(struct reader *reader, const ws_record *record,
                           int operand, int allowed, const ws_expr **out) {
  const char *text = record->operands[operand];
  ws_expr *expr = NULL;
  WS_TRY(ws_expr_parse(reader->arena, text, reader->file, record->line, &expr,
                       reader->diag));
  for (int i = 0; i < ws_expr_name_count(expr); i++) {
    const char *name = ws_expr_name(expr, i);
    bool shape = is_shape_name(reader, name),
         device = !strcmp(name, "cu_count");
    if (!shape && !device) {
      if (ws_template_param_index(reader->tmpl, name) < 0)
        return FAIL(reader, record->line,
                    "unknown name '%s' in '%.200s'; declare it in "
                    "!wavesmith.param or mend the spelling",
                    name, text);
    } else if (!(allowed & (shape ? NAMES_SHAPE : NAMES_DEVICE))) {
      return FAIL(reader, record->line,
                  "'%s' must not be used in the %s expression '%.200s': it is "
                  "known only later; use %s",
                  name, record->kind, text,
                  allowed ? "parameters and dimensions" : "parameters only");
    }
  }
  *out = expr;
  return WS_OK;
}

/* ---- one function per kind --------------------------------------------------
 */

/* Names with blanks between. */
static ws_status read_dims(struct reader *reader, const ws_record *record,
                           const char *text) {
  const char *names[WS_MAX_DIMS];
  int count = 0;
  char *rest = ws_arena_strdup(reader->arena, text);
  for (char *name; (name = strsep(&rest, " "));) {
    if (count == WS_MAX_DIMS)
      return FAIL(reader, record->line, "more than %d dimensions: '%.200s'",
                  WS_MAX_DIMS, text);
    WS_TRY(check_name(reader, record, "dimension", name));
    names[count++] = name;
  }
  reader->tmpl->dims = ws_dims_of(names, count);
  return WS_OK;
}

/* What was written before records had the names: the problem says them, and
 * there was one with m n k. */
static ws_status find_dims(struct reader *reader, const ws_record *record) {
  const ws_problem *problem = ws_problem_find(record->operands[2]);
  if (record->operand_count > 5)
    return read_dims(reader, record, record->operands[5]);
  if (!problem)
    return read_dims(reader, record, "m n k");
  reader->tmpl->dims = problem->dims;
  return WS_OK;
}

static ws_status read_template(struct reader *reader, const ws_record *record) {
  ws_template *tmpl = reader->tmpl;
  WS_TRY(check_name(reader, record, "template", record->operands[0]));
  WS_TRY(check_dotted(reader, record, "version", record->operands[1]));
  WS_TRY(check_name(reader, record, "problem", record->operands[2]));
  WS_TRY(check_name(reader, record, "target", record->operands[3]));
  tmpl->name = record->operands[0];
  tmpl->version = record->operands[1];
  tmpl->problem = record->operands[2];
  tmpl->target = record->operands[3];
  tmpl->purpose = record->operands[4];
  return find_dims(reader, record);
}

/* One integer of a list or a default; *text moves behind it. */
static bool read_integer(const char **text, int64_t *out) {
  char *end = NULL;
  errno = 0;
  *out = strtoll(*text, &end, 10);
  bool complete = end != *text && errno == 0 && (!*end || *end == ' ');
  *text = end;
  return complete;
}

static ws_status read_values(struct reader *reader, const ws_record *record,
                             ws_param *param) {
  int64_t *values =
      ws_arena_alloc(reader->arena, WS_TEMPLATE_MAX_VALUES * sizeof *values);
  const char *text = record->operands[2];
  for (;;) {
    text += strspn(text, " ");
    if (!*text)
      break;
    if (param->value_count == WS_TEMPLATE_MAX_VALUES)
      return FAIL(reader, record->line,
                  "parameter '%s' has more than %d values; shorten its list",
                  param->name, WS_TEMPLATE_MAX_VALUES);
    int64_t value = 0;
    if (!read_integer(&text, &value))
      return FAIL(reader, record->line,
                  "values of parameter '%s' must be integers with blanks "
                  "between them, not '%.200s'",
                  param->name, record->operands[2]);
    if (param->value_count && value <= values[param->value_count - 1])
      return FAIL(reader, record->line,
                  "values of parameter '%s' must ascend; put %lld in its place",
                  param->name, (long long)value);
    values[param->value_count++] = value;
  }
  param->values = values;
  return WS_OK;
}

static ws_status read_default(struct reader *reader, const ws_record *record,
                              ws_param *param) {
  const char *text = record->operands[4];
  if (!read_integer(&text, &param->default_value) || *text)
    return FAIL(reader, record->line,
                "the initialiser of @%s must be an integer, not '%.40s'",
                param->global, record->operands[4]);
  for (int i = 0; i < param->value_count; i++)
    if (param->values[i] == param->default_value)
      return WS_OK;
  return FAIL(reader, record->line,
              "the default of parameter '%s', @%s = %lld, is not among its "
              "values '%.200s'; add it or change the initialiser",
              param->name, param->global, (long long)param->default_value,
              record->operands[2]);
}

static ws_status read_param(struct reader *reader, const ws_record *record) {
  ws_template *tmpl = reader->tmpl;
  ws_param param = {.name = record->operands[0],
                    .global = record->operands[1],
                    .meaning = record->operands[3],
                    .line = record->line};
  WS_TRY(check_name(reader, record, "parameter", param.name));
  WS_TRY(check_dotted(reader, record, "global", param.global));
  if (is_shape_name(reader, param.name) || !strcmp(param.name, "cu_count") ||
      ws_expr_is_reserved(param.name))
    return FAIL(reader, record->line,
                "'%s' already has a meaning in expressions; give the parameter "
                "another name",
                param.name);
  for (int i = 0; i < tmpl->param_count; i++) {
    bool same_name = !strcmp(tmpl->params[i].name, param.name);
    if (same_name || !strcmp(tmpl->params[i].global, param.global))
      return FAIL(reader, record->line,
                  "%s '%s' is declared twice, first in line %d; remove one",
                  same_name ? "parameter" : "global",
                  same_name ? param.name : param.global, tmpl->params[i].line);
  }
  WS_TRY(read_values(reader, record, &param));
  WS_TRY(read_default(reader, record, &param));
  reader->params[tmpl->param_count++] = param;
  return WS_OK;
}

static ws_status read_region(struct reader *reader, const ws_record *record) {
  ws_template *tmpl = reader->tmpl;
  const char *function = record->operands[0];
  WS_TRY(check_name(reader, record, "region", function));
  int twin = ws_template_region_index(tmpl, function);
  if (twin >= 0)
    return FAIL(reader, record->line,
                "region '%s' is declared twice, first in line %d; remove one",
                function, tmpl->regions[twin].line);
  reader->regions[tmpl->region_count++] = (ws_region){
      .function = function,
      .contract = record->operands[1],
      .variants = ws_arena_alloc(reader->arena,
                                 WS_TEMPLATE_MAX_VARIANTS * sizeof(ws_variant)),
      .line = record->line};
  return WS_OK;
}

static ws_status read_variant(struct reader *reader, const ws_record *record) {
  ws_template *tmpl = reader->tmpl;
  const char *function = record->operands[1];
  int index = ws_template_region_index(tmpl, record->operands[0]);
  if (index < 0)
    return FAIL(reader, record->line,
                "variant of '%s', which is no region; declare it in "
                "!wavesmith.region or mend the spelling",
                record->operands[0]);
  WS_TRY(check_name(reader, record, "variant", function));
  if (ws_template_region_index(tmpl, function) >= 0)
    return FAIL(reader, record->line,
                "variant '%s' is a region itself; give the alternative a "
                "function of its own",
                function);
  for (int r = 0; r < tmpl->region_count; r++)
    for (int v = 0; v < tmpl->regions[r].variant_count; v++)
      if (!strcmp(tmpl->regions[r].variants[v].function, function))
        return FAIL(reader, record->line,
                    "variant '%s' is declared twice, first in line %d; remove "
                    "one",
                    function, tmpl->regions[r].variants[v].line);
  ws_region *region = &reader->regions[index];
  if (region->variant_count == WS_TEMPLATE_MAX_VARIANTS)
    return FAIL(reader, record->line,
                "region '%s' has more than %d variants; remove some",
                region->function, WS_TEMPLATE_MAX_VARIANTS);
  /* region->variants is the array that read_region made. */
  ws_variant *variants = (ws_variant *)region->variants;
  variants[region->variant_count++] = (ws_variant){
      .function = function, .purpose = record->operands[2], record->line};
  return WS_OK;
}

static ws_status read_require(struct reader *reader, const ws_record *record) {
  ws_require require = {.reason = record->operands[1], .line = record->line};
  WS_TRY(read_expr(reader, record, 0, NAMES_SHAPE, &require.expr));
  for (int i = 0; i < ws_expr_name_count(require.expr); i++)
    require.uses_shape |= is_shape_name(reader, ws_expr_name(require.expr, i));
  reader->requires[reader->tmpl->require_count++] = require;
  return WS_OK;
}

static ws_status read_lds(struct reader *reader, const ws_record *record) {
  ws_template *tmpl = reader->tmpl;
  ws_lds lds = {.global = record->operands[0], .line = record->line};
  WS_TRY(check_dotted(reader, record, "global", lds.global));
  for (int i = 0; i < tmpl->lds_count; i++)
    if (!strcmp(tmpl->lds[i].global, lds.global))
      return FAIL(reader, record->line,
                  "the size of @%s is given twice, first in line %d; remove "
                  "one",
                  lds.global, tmpl->lds[i].line);
  for (int i = 0; i < tmpl->param_count; i++)
    if (!strcmp(tmpl->params[i].global, lds.global))
      return FAIL(reader, record->line,
                  "@%s is the global of parameter '%s'; name an LDS array",
                  lds.global, tmpl->params[i].name);
  WS_TRY(read_expr(reader, record, 1, NAMES_PARAM, &lds.bytes));
  reader->lds[tmpl->lds_count++] = lds;
  return WS_OK;
}

static ws_status read_arguments(struct reader *reader, const ws_record *record,
                                ws_launch *launch) {
  const char *text = record->operands[6];
  const char **names =
      ws_arena_alloc(reader->arena, WS_TEMPLATE_MAX_ARGUMENTS * sizeof *names);
  launch->arguments = names;
  for (;;) {
    text += strspn(text, " ");
    size_t size = strcspn(text, " ");
    if (size == 0)
      return WS_OK;
    if (launch->argument_count == WS_TEMPLATE_MAX_ARGUMENTS)
      return FAIL(reader, record->line,
                  "kernel '%s' takes more than %d "
                  "arguments",
                  launch->kernel, WS_TEMPLATE_MAX_ARGUMENTS);
    const char *name = ws_arena_strndup(reader->arena, text, size);
    WS_TRY(check_name(reader, record, "argument", name));
    for (int i = 0; i < launch->argument_count; i++)
      if (!strcmp(names[i], name))
        return FAIL(reader, record->line,
                    "kernel '%s' has two arguments named '%s'; rename one",
                    launch->kernel, name);
    names[launch->argument_count++] = name;
    text += size;
  }
}

static ws_status read_launch(struct reader *reader, const ws_record *record) {
  ws_launch launch = {.kernel = record->operands[0], .line = record->line};
  WS_TRY(check_name(reader, record, "kernel", launch.kernel));
  for (int axis = 0; axis < 3; axis++)
    WS_TRY(read_expr(reader, record, 1 + axis, NAMES_SHAPE | NAMES_DEVICE,
                     &launch.grid[axis]));
  WS_TRY(read_expr(reader, record, 4, NAMES_PARAM, &launch.threads));
  WS_TRY(read_expr(reader, record, 5, NAMES_SHAPE | NAMES_DEVICE,
                   &launch.condition));
  WS_TRY(read_arguments(reader, record, &launch));
  reader->launches[reader->tmpl->launch_count++] = launch;
  return WS_OK;
}

static ws_status read_workspace(struct reader *reader,
                                const ws_record *record) {
  return read_expr(reader, record, 0, NAMES_SHAPE | NAMES_DEVICE,
                   &reader->tmpl->workspace);
}

static ws_status read_allow(struct reader *reader, const ws_record *record) {
  if (strcmp(record->operands[0], "scratch"))
    return FAIL(reader, record->line,
                "unknown feature '%s' in !wavesmith.allow; known: scratch",
                record->operands[0]);
  reader->tmpl->allow_scratch = true;
  return WS_OK;
}

static ws_status read_source(struct reader *reader, const ws_record *record) {
  reader->tmpl->source_file = record->operands[0];
  reader->tmpl->source_text = record->operands[1];
  const char *lines = record->operands[2];
  for (int i = 0; i < reader->tmpl->launch_count && *lines; i++) {
    int64_t line = 0;
    if (!read_integer(&lines, &line) || line < 1 || line > INT_MAX)
      return FAIL(reader, record->line,
                  "the lines of !wavesmith.source are '%.80s'; they are one "
                  "number for each launch",
                  record->operands[2]);
    reader->launches[i].source_line = (int)line;
    lines += strspn(lines, " ");
  }
  return WS_OK;
}

static ws_status read_occupancy(struct reader *reader,
                                const ws_record *record) {
  ws_template *tmpl = reader->tmpl;
  ws_occupancy occupancy = {.kernel = record->operands[0],
                            .line = record->line};
  bool launched = false;
  for (int i = 0; i < tmpl->launch_count; i++)
    launched |= !strcmp(tmpl->launches[i].kernel, occupancy.kernel);
  if (!launched)
    return FAIL(reader, record->line,
                "occupancy of '%s', which no !wavesmith.launch starts; mend "
                "the spelling",
                occupancy.kernel);
  for (int i = 0; i < tmpl->occupancy_count; i++)
    if (!strcmp(tmpl->occupancies[i].kernel, occupancy.kernel))
      return FAIL(reader, record->line,
                  "the occupancy of '%s' is given twice, first in line %d; "
                  "remove one",
                  occupancy.kernel, tmpl->occupancies[i].line);
  WS_TRY(read_expr(reader, record, 1, NAMES_PARAM, &occupancy.cluster));
  WS_TRY(read_expr(reader, record, 2, NAMES_PARAM, &occupancy.workgroups));
  reader->occupancies[tmpl->occupancy_count++] = occupancy;
  return WS_OK;
}

static const struct element {
  const char *name;
  int bytes;
} elements[] = {[WS_ELEMENT_U8] = {"u8", 1},
                [WS_ELEMENT_BF16] = {"bf16", 2},
                [WS_ELEMENT_F32] = {"f32", 4}};
enum { ELEMENTS = sizeof elements / sizeof elements[0] };

int ws_element_bytes(ws_element element) { return elements[element].bytes; }

static ws_status read_element(struct reader *reader, const ws_record *record,
                              ws_element *out) {
  for (int i = 0; i < ELEMENTS; i++)
    if (!strcmp(elements[i].name, record->operands[2])) {
      *out = (ws_element)i;
      return WS_OK;
    }
  return FAIL(reader, record->line,
              "tensor map '%s': the element is u8, bf16 or f32, not '%.40s'",
              record->operands[0], record->operands[2]);
}

/* Whether a kernel takes an argument of that name. */
static bool is_taken(const ws_template *tmpl, const char *name) {
  for (int i = 0; i < tmpl->launch_count; i++)
    for (int k = 0; k < tmpl->launches[i].argument_count; k++)
      if (!strcmp(tmpl->launches[i].arguments[k], name))
        return true;
  return false;
}

static ws_status read_tensor_map(struct reader *reader,
                                 const ws_record *record) {
  ws_template *tmpl = reader->tmpl;
  ws_tensor_map map = {.name = record->operands[0],
                       .argument = record->operands[1],
                       .line = record->line};
  WS_TRY(check_name(reader, record, "tensor map", map.name));
  WS_TRY(check_name(reader, record, "argument", map.argument));
  for (int i = 0; i < tmpl->tensor_map_count; i++)
    if (!strcmp(tmpl->tensor_maps[i].name, map.name))
      return FAIL(reader, record->line,
                  "tensor map '%s' is declared twice, first in line %d; remove "
                  "one",
                  map.name, tmpl->tensor_maps[i].line);
  if (!is_taken(tmpl, map.name))
    return FAIL(reader, record->line,
                "no kernel takes tensor map '%s'; give one an argument of that "
                "name, or remove the map",
                map.name);
  WS_TRY(read_element(reader, record, &map.element));
  WS_TRY(read_expr(reader, record, 3, NAMES_SHAPE, &map.inner));
  WS_TRY(read_expr(reader, record, 4, NAMES_SHAPE, &map.outer));
  WS_TRY(read_expr(reader, record, 5, NAMES_PARAM, &map.box_inner));
  WS_TRY(read_expr(reader, record, 6, NAMES_PARAM, &map.box_outer));
  WS_TRY(read_expr(reader, record, 7, NAMES_PARAM, &map.swizzle));
  reader->tensor_maps[tmpl->tensor_map_count++] = map;
  return WS_OK;
}

/* ---- the table
 * --------------------------------------------------------------- */

static const struct kind {
  const char *name;
  ws_status (*read)(struct reader *reader, const ws_record *record);
  int operands;     /* exactly, or one more where it may be added */
  int may_be_empty; /* index of the operand that may be "", or -1 */
  int min_count, max_count;
  const char *usage;
  bool may_be_added;
} kinds[] = {
    {"template", read_template, 5, -1, 1, 1,
     "name, version, problem, target, purpose (and the problem's dimensions)",
     true},
    {"param", read_param, 5, -1, 0, WS_TEMPLATE_MAX_PARAMS,
     "name, global, values, meaning (and the global's initialiser)", false},
    {"region", read_region, 2, -1, 0, WS_TEMPLATE_MAX_REGIONS,
     "function, contract", false},
    {"variant", read_variant, 3, -1, 0,
     WS_TEMPLATE_MAX_REGIONS *WS_TEMPLATE_MAX_VARIANTS,
     "region, function, purpose", false},
    {"require", read_require, 2, -1, 0, WS_TEMPLATE_MAX_REQUIRES,
     "expression, reason", false},
    {"lds", read_lds, 2, -1, 0, WS_TEMPLATE_MAX_LDS, "global, bytes", false},
    {"launch", read_launch, 7, 6, 1, WS_TEMPLATE_MAX_LAUNCHES,
     "kernel, grid x, grid y, grid z, threads, condition (and the kernel's "
     "argument names)",
     false},
    {"workspace", read_workspace, 1, -1, 0, 1, "bytes", false},
    {"allow", read_allow, 1, -1, 0, 1, "feature", false},
    {"source", read_source, 3, 2, 0, 1,
     "file, text, lines of the launched kernels", false},
    {"occupancy", read_occupancy, 3, -1, 0, WS_TEMPLATE_MAX_LAUNCHES,
     "kernel, workgroups of a cluster, workgroups of a CU", false},
    {"tensor_map", read_tensor_map, 8, -1, 0, WS_TEMPLATE_MAX_TENSOR_MAPS,
     "name, argument, element, inner extent, outer extent, box inner, box "
     "outer, swizzle bytes",
     false},
};
enum { KIND_COUNT = sizeof kinds / sizeof kinds[0] };

static ws_status check_kinds(struct reader *reader, const ws_records *records) {
  for (int i = 0; i < records->count; i++) {
    int kind = 0;
    while (kind < KIND_COUNT &&
           strcmp(records->items[i].kind, kinds[kind].name))
      kind++;
    if (kind == KIND_COUNT)
      return FAIL(reader, records->items[i].line,
                  "unknown declaration !wavesmith.%s; known: template param "
                  "region variant require lds launch workspace source "
                  "allow occupancy tensor_map",
                  records->items[i].kind);
  }
  return WS_OK;
}

static ws_status check_operands(struct reader *reader, const struct kind *kind,
                                const ws_record *record) {
  if (record->operand_count != kind->operands &&
      record->operand_count != kind->operands + kind->may_be_added)
    return FAIL(reader, record->line,
                "!wavesmith.%s takes %d operands, not %d: %s", kind->name,
                kind->operands, record->operand_count, kind->usage);
  for (int i = 0; i < record->operand_count; i++)
    if (i != kind->may_be_empty && !*record->operands[i])
      return FAIL(reader, record->line,
                  "operand %d of !wavesmith.%s is empty; it takes %s", i + 1,
                  kind->name, kind->usage);
  return WS_OK;
}

static ws_status read_kind(struct reader *reader, const struct kind *kind,
                           const ws_records *records) {
  int count = 0;
  for (int i = 0; i < records->count; i++) {
    const ws_record *record = &records->items[i];
    if (strcmp(record->kind, kind->name))
      continue;
    if (++count > kind->max_count)
      return FAIL(reader, record->line,
                  "more than %d !wavesmith.%s; remove this one",
                  kind->max_count, kind->name);
    WS_TRY(check_operands(reader, kind, record));
    WS_TRY(kind->read(reader, record));
  }
  if (count < kind->min_count)
    return FAIL(reader, 0, "no !wavesmith.%s; add one: %s", kind->name,
                kind->usage);
  return WS_OK;
}

/* The template must not point into the records: they may be the caller's. */
static ws_records copy_records(ws_arena *arena, const ws_records *records) {
  ws_record *items =
      ws_arena_alloc(arena, (size_t)records->count * sizeof *items);
  for (int i = 0; i < records->count; i++) {
    const ws_record *from = &records->items[i];
    const char **operands =
        ws_arena_alloc(arena, (size_t)from->operand_count * sizeof *operands);
    for (int o = 0; o < from->operand_count; o++)
      operands[o] = ws_arena_strdup(arena, from->operands[o]);
    items[i] = (ws_record){ws_arena_strdup(arena, from->kind), operands,
                           from->operand_count, from->line};
  }
  return (ws_records){items, records->count};
}

ws_status ws_template_from_records(ws_arena *arena, const ws_records *records,
                                   const char *file, ws_hash hash,
                                   const ws_template **out_template,
                                   ws_diag *diag) {
  *out_template = NULL;
  ws_template *tmpl = ws_arena_alloc(arena, sizeof *tmpl);
  struct reader reader = {.arena = arena, .tmpl = tmpl, .diag = diag};
  tmpl->file = reader.file = ws_arena_strdup(arena, file);
  tmpl->hash = hash;
#define TABLE(field, limit)                                                    \
  reader.field = ws_arena_alloc(arena, (limit) * sizeof *reader.field);        \
  tmpl->field = reader.field
  TABLE(params, WS_TEMPLATE_MAX_PARAMS);
  TABLE(regions, WS_TEMPLATE_MAX_REGIONS);
  TABLE(requires, WS_TEMPLATE_MAX_REQUIRES);
  TABLE(lds, WS_TEMPLATE_MAX_LDS);
  TABLE(launches, WS_TEMPLATE_MAX_LAUNCHES);
  TABLE(occupancies, WS_TEMPLATE_MAX_LAUNCHES);
  TABLE(tensor_maps, WS_TEMPLATE_MAX_TENSOR_MAPS);
#undef TABLE
  ws_records own = copy_records(arena, records);
  WS_TRY(check_kinds(&reader, &own));
  for (int kind = 0; kind < KIND_COUNT; kind++)
    WS_TRY(read_kind(&reader, &kinds[kind], &own));
  *out_template = tmpl;
  return WS_OK;
}
