/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A point of a template's space: setting values and variants from text, its
 * name (the hash), its constraints. The id hashes names and texts in sorted
 * order, so that two templates that declare the same things in another order,
 * or two processes, give the same point the same name.
 */
#include "wavesmith/template.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- creation and id -------------------------------------------------------
 */

static ws_candidate *allocate(ws_arena *arena, const ws_template *tmpl) {
  ws_candidate *candidate = ws_arena_alloc(arena, sizeof *candidate);
  candidate->tmpl = tmpl;
  candidate->values = ws_arena_alloc(arena, (size_t)tmpl->param_count *
                                                sizeof *candidate->values);
  candidate->bodies = ws_arena_alloc(arena, (size_t)tmpl->region_count *
                                                sizeof *candidate->bodies);
  return candidate;
}

ws_candidate *ws_candidate_create(ws_arena *arena, const ws_template *tmpl) {
  ws_candidate *candidate = allocate(arena, tmpl);
  for (int i = 0; i < tmpl->param_count; i++)
    candidate->values[i] = tmpl->params[i].default_value;
  for (int i = 0; i < tmpl->region_count; i++)
    candidate->bodies[i].variant = -1;
  ws_candidate_update_id(candidate);
  return candidate;
}

bool ws_body_same(const ws_body *a, const ws_body *b) {
  return a->text && b->text
             ? !strcmp(a->text, b->text) && !strcmp(a->language, b->language)
             : !a->text && !b->text && a->variant == b->variant;
}

ws_candidate *ws_candidate_copy(ws_arena *arena, const ws_candidate *from) {
  ws_candidate *copy = allocate(arena, from->tmpl);
  for (int i = 0; i < from->tmpl->param_count; i++)
    copy->values[i] = from->values[i];
  for (int i = 0; i < from->tmpl->region_count; i++) {
    copy->bodies[i] = from->bodies[i];
    copy->bodies[i].language = ws_arena_strdup(arena, from->bodies[i].language);
    copy->bodies[i].text = ws_arena_strdup(arena, from->bodies[i].text);
  }
  copy->id = from->id;
  return copy;
}

/* Something with a name, to be hashed in the order of names. */
struct named {
  const char *name;
  int index;
};

static int compare_names(const void *a, const void *b) {
  return strcmp(((const struct named *)a)->name,
                ((const struct named *)b)->name);
}

static void hash_body(ws_hasher *hasher, const ws_region *region,
                      const ws_body *body) {
  ws_hasher_update_text(hasher, region->function);
  if (body->text) {
    ws_hasher_update_text(hasher, body->language ? body->language : "ir");
    ws_hasher_update_text(hasher, body->text);
  } else {
    ws_hasher_update_text(hasher, "variant");
    ws_hasher_update_text(
        hasher, body->variant < 0 ? "default"
                                  : region->variants[body->variant].function);
  }
}

void ws_candidate_update_id(ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  struct named params[WS_TEMPLATE_MAX_PARAMS];
  struct named regions[WS_TEMPLATE_MAX_REGIONS];
  for (int i = 0; i < tmpl->param_count; i++)
    params[i] = (struct named){tmpl->params[i].name, i};
  for (int i = 0; i < tmpl->region_count; i++)
    regions[i] = (struct named){tmpl->regions[i].function, i};
  qsort(params, (size_t)tmpl->param_count, sizeof params[0], compare_names);
  qsort(regions, (size_t)tmpl->region_count, sizeof regions[0], compare_names);
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, tmpl->hash.hex);
  for (int i = 0; i < tmpl->param_count; i++) {
    char value[24];
    snprintf(value, sizeof value, "%" PRId64,
             candidate->values[params[i].index]);
    ws_hasher_update_text(hasher, params[i].name);
    ws_hasher_update_text(hasher, value);
  }
  for (int i = 0; i < tmpl->region_count; i++)
    hash_body(hasher, &tmpl->regions[regions[i].index],
              &candidate->bodies[regions[i].index]);
  candidate->id = ws_hasher_finish(hasher);
}

/* ---- "name=value;name=value" ------------------------------------------------
 */

/* One assignment of a list; the parts are not NUL-terminated. */
struct assignment {
  const char *name, *value;
  int name_size, value_size;
};

static void trim(const char **text, int *size) {
  while (*size > 0 && (*text)[0] == ' ') {
    (*text)++;
    (*size)--;
  }
  while (*size > 0 && (*text)[*size - 1] == ' ')
    (*size)--;
}

/* Takes the next assignment off *text. Empty parts are passed over, so that a
 * trailing ';' does no harm. false at the end; a part without '=' has a NULL
 * value. */
static bool next_assignment(const char **text, struct assignment *out) {
  for (;;) {
    if (!**text)
      return false;
    const char *part = *text;
    int size = (int)strcspn(part, ";");
    *text += size + (part[size] == ';');
    trim(&part, &size);
    if (size == 0)
      continue;
    const char *equals = memchr(part, '=', (size_t)size);
    *out = (struct assignment){.name = part, .name_size = size};
    if (equals) {
      out->name_size = (int)(equals - part);
      out->value = equals + 1;
      out->value_size = size - out->name_size - 1;
      trim(&out->name, &out->name_size);
      trim(&out->value, &out->value_size);
    }
    return true;
  }
}

static bool same_text(const char *text, const char *part, int size) {
  return strlen(text) == (size_t)size && !memcmp(text, part, (size_t)size);
}

static ws_status fail_without_value(const ws_template *tmpl,
                                    const struct assignment *item,
                                    const char *form, ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, tmpl->file, 0,
                 "'%.*s' is not an assignment; write %s", item->name_size,
                 item->name, form);
}

static ws_status fail_twice(const ws_template *tmpl,
                            const struct assignment *item, ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, tmpl->file, 0, "'%.*s' is set twice; keep one",
                 item->name_size, item->name);
}

/* ---- values
 * ------------------------------------------------------------------ */

static bool read_value(const struct assignment *item, int64_t *out) {
  char text[32], *end;
  if (item->value_size <= 0 || item->value_size >= (int)sizeof text)
    return false;
  memcpy(text, item->value, (size_t)item->value_size);
  text[item->value_size] = '\0';
  errno = 0;
  *out = strtoll(text, &end, 10);
  return errno == 0 && !*end;
}

static ws_status fail_unknown_param(const ws_template *tmpl,
                                    const struct assignment *item,
                                    ws_diag *diag) {
  ws_strbuf names;
  ws_strbuf_init(&names);
  for (int i = 0; i < tmpl->param_count; i++)
    ws_strbuf_printf(&names, " %s", tmpl->params[i].name);
  ws_fail(diag, WS_INPUT, tmpl->file, 0,
          "no parameter is named '%.*s'; there are:%s", item->name_size,
          item->name, names.data);
  ws_strbuf_deinit(&names);
  return WS_INPUT;
}

static ws_status fail_value(const ws_template *tmpl, const ws_param *param,
                            const struct assignment *item, ws_diag *diag) {
  ws_strbuf values;
  ws_strbuf_init(&values);
  for (int i = 0; i < param->value_count; i++)
    ws_strbuf_printf(&values, " %" PRId64, param->values[i]);
  ws_fail(diag, WS_INPUT, tmpl->file, param->line,
          "parameter '%s' cannot be '%.*s'; choose from:%s", param->name,
          item->value_size, item->value, values.data);
  ws_strbuf_deinit(&values);
  return WS_INPUT;
}

static ws_status assign_value(const ws_template *tmpl,
                              const struct assignment *item, int64_t *values,
                              bool *assigned, ws_diag *diag) {
  if (!item->value)
    return fail_without_value(tmpl, item, "parameter=value", diag);
  int index = 0;
  while (index < tmpl->param_count &&
         !same_text(tmpl->params[index].name, item->name, item->name_size))
    index++;
  if (index == tmpl->param_count)
    return fail_unknown_param(tmpl, item, diag);
  if (assigned[index])
    return fail_twice(tmpl, item, diag);
  assigned[index] = true;
  const ws_param *param = &tmpl->params[index];
  if (read_value(item, &values[index]))
    for (int i = 0; i < param->value_count; i++)
      if (param->values[i] == values[index])
        return WS_OK;
  return fail_value(tmpl, param, item, diag);
}

ws_status ws_candidate_set(ws_candidate *candidate, const char *assignments,
                           ws_diag *diag) {
  const ws_template *tmpl = candidate->tmpl;
  int64_t values[WS_TEMPLATE_MAX_PARAMS]; /* all or nothing */
  bool assigned[WS_TEMPLATE_MAX_PARAMS] = {false};
  for (int i = 0; i < tmpl->param_count; i++)
    values[i] = candidate->values[i];
  struct assignment item;
  while (next_assignment(&assignments, &item))
    WS_TRY(assign_value(tmpl, &item, values, assigned, diag));
  for (int i = 0; i < tmpl->param_count; i++)
    candidate->values[i] = values[i];
  ws_candidate_update_id(candidate);
  return WS_OK;
}

char *ws_candidate_values_text(ws_arena *arena, const ws_candidate *candidate) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < candidate->tmpl->param_count; i++)
    ws_strbuf_printf(&text, "%s%s=%" PRId64, i ? ";" : "",
                     candidate->tmpl->params[i].name, candidate->values[i]);
  char *copy = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

/* ---- variants
 * ----------------------------------------------------------------- */

static ws_status fail_unknown_region(const ws_template *tmpl,
                                     const struct assignment *item,
                                     ws_diag *diag) {
  ws_strbuf names;
  ws_strbuf_init(&names);
  for (int i = 0; i < tmpl->region_count; i++)
    ws_strbuf_printf(&names, " %s", tmpl->regions[i].function);
  ws_fail(diag, WS_INPUT, tmpl->file, 0,
          "no region is named '%.*s'; there are:%s", item->name_size,
          item->name, names.data);
  ws_strbuf_deinit(&names);
  return WS_INPUT;
}

static ws_status fail_variant(const ws_template *tmpl, const ws_region *region,
                              const struct assignment *item, ws_diag *diag) {
  ws_strbuf names;
  ws_strbuf_init(&names);
  for (int i = 0; i < region->variant_count; i++)
    ws_strbuf_printf(&names, " %s", region->variants[i].function);
  ws_fail(diag, WS_INPUT, tmpl->file, region->line,
          "region '%s' has no variant '%.*s'; choose from: default%s",
          region->function, item->value_size, item->value, names.data);
  ws_strbuf_deinit(&names);
  return WS_INPUT;
}

static ws_status assign_variant(const ws_template *tmpl,
                                const struct assignment *item, ws_body *bodies,
                                bool *assigned, ws_diag *diag) {
  if (!item->value)
    return fail_without_value(tmpl, item, "region=variant", diag);
  int index = 0;
  while (index < tmpl->region_count &&
         !same_text(tmpl->regions[index].function, item->name, item->name_size))
    index++;
  if (index == tmpl->region_count)
    return fail_unknown_region(tmpl, item, diag);
  if (assigned[index])
    return fail_twice(tmpl, item, diag);
  assigned[index] = true;
  const ws_region *region = &tmpl->regions[index];
  int variant = -1;
  if (!same_text("default", item->value, item->value_size)) {
    for (variant = 0; variant < region->variant_count; variant++)
      if (same_text(region->variants[variant].function, item->value,
                    item->value_size))
        break;
    if (variant == region->variant_count)
      return fail_variant(tmpl, region, item, diag);
  }
  bodies[index] = (ws_body){.variant = variant};
  return WS_OK;
}

ws_status ws_candidate_set_variants(ws_candidate *candidate, const char *text,
                                    ws_diag *diag) {
  const ws_template *tmpl = candidate->tmpl;
  ws_body bodies[WS_TEMPLATE_MAX_REGIONS]; /* all or nothing */
  bool assigned[WS_TEMPLATE_MAX_REGIONS] = {false};
  for (int i = 0; i < tmpl->region_count; i++)
    bodies[i] = candidate->bodies[i];
  struct assignment item;
  while (next_assignment(&text, &item))
    WS_TRY(assign_variant(tmpl, &item, bodies, assigned, diag));
  for (int i = 0; i < tmpl->region_count; i++)
    candidate->bodies[i] = bodies[i];
  ws_candidate_update_id(candidate);
  return WS_OK;
}

char *ws_candidate_variants_text(ws_arena *arena,
                                 const ws_candidate *candidate) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    const ws_region *region = &candidate->tmpl->regions[i];
    const ws_body *body = &candidate->bodies[i];
    if (!body->text && body->variant >= 0)
      ws_strbuf_printf(&text, "%s%s=%s", text.size ? ";" : "", region->function,
                       region->variants[body->variant].function);
  }
  char *copy = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

/* ---- constraints
 * ---------------------------------------------------------------- */

enum { BINDINGS_MAX = WS_TEMPLATE_MAX_PARAMS + WS_MAX_DIMS + 1 /* cu_count */ };

static int fill_bindings(const ws_candidate *candidate, const ws_shape *shape,
                         int64_t cu_count, ws_binding *out) {
  int count = 0;
  for (; count < candidate->tmpl->param_count; count++)
    out[count] = (ws_binding){candidate->tmpl->params[count].name,
                              candidate->values[count]};
  if (shape)
    count += ws_shape_bindings(shape, &out[count]);
  if (cu_count > 0)
    out[count++] = (ws_binding){"cu_count", cu_count};
  return count;
}

ws_scope ws_candidate_scope(ws_arena *arena, const ws_candidate *candidate,
                            const ws_shape *shape, int64_t cu_count) {
  ws_binding *bindings = ws_arena_alloc(arena, BINDINGS_MAX * sizeof *bindings);
  int count = fill_bindings(candidate, shape, cu_count, bindings);
  return (ws_scope){bindings, count};
}

bool ws_candidate_may_launch(const ws_candidate *candidate,
                             const char *kernel) {
  const ws_template *tmpl = candidate->tmpl;
  ws_arena *arena = ws_arena_create();
  ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  bool may = false;
  for (int i = 0; i < tmpl->launch_count && !may; i++) {
    int64_t value;
    if (!strcmp(tmpl->launches[i].kernel, kernel))
      may = !ws_expr_is_constant(
                ws_expr_bind(arena, tmpl->launches[i].condition, &scope),
                &value) ||
            value != 0;
  }
  ws_arena_destroy(arena);
  return may;
}

int ws_candidate_broken_require(const ws_candidate *candidate,
                                const ws_shape *shape, ws_diag *diag) {
  const ws_template *tmpl = candidate->tmpl;
  ws_binding bindings[BINDINGS_MAX];
  ws_scope scope = {bindings, fill_bindings(candidate, shape, 0, bindings)};
  for (int i = 0; i < tmpl->require_count; i++) {
    const ws_require *require = &tmpl->requires[i];
    if (require->uses_shape && !shape)
      continue;
    int64_t holds = 0;
    if (ws_expr_eval(require->expr, &scope, &holds, diag) != WS_OK)
      return i;
    if (!holds) {
      ws_fail(diag, WS_INPUT, tmpl->file, require->line, "%s (%.200s)",
              require->reason, ws_expr_text(require->expr));
      return i;
    }
  }
  return -1;
}

bool ws_candidate_takes(const ws_candidate *candidate, const ws_shape *shape) {
  const ws_template *tmpl = candidate->tmpl;
  ws_binding bindings[BINDINGS_MAX];
  ws_scope scope = {bindings, fill_bindings(candidate, shape, 0, bindings)};
  for (int i = 0; i < tmpl->require_count; i++) {
    int64_t holds = 0;
    if (tmpl->requires[i].uses_shape &&
        (ws_expr_eval(tmpl->requires[i].expr, &scope, &holds, NULL) != WS_OK ||
         !holds))
      return false;
  }
  return true;
}
