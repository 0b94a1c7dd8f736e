/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A template's declarations back as the records they were read from, so that
 * they can be kept as JSON and the template made again without a compiler. The
 * inverse of ws_template_from_records but for the line of the `template`
 * record, which nothing needs.
 */
#include "wavesmith/template.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct writer {
  ws_arena *arena;
  ws_record *items;
  int count, capacity;
} writer;

/* operands ends with NULL. */
static void add(writer *w, const char *kind, int line,
                const char *const *operands) {
  int count = 0;
  while (operands[count])
    count++;
  const char **copy = ws_arena_alloc(w->arena, sizeof *copy * (size_t)count);
  memcpy(copy, operands, sizeof *copy * (size_t)count);
  WS_ASSERT(w->count < w->capacity);
  w->items[w->count++] = (ws_record){
      .kind = kind, .operands = copy, .operand_count = count, .line = line};
}
#define ADD(w, kind, line, ...)                                                \
  add(w, kind, line, (const char *const[]){__VA_ARGS__, NULL})

static const char *text_of_integer(writer *w, int64_t value) {
  return ws_arena_printf(w->arena, "%lld", (long long)value);
}

static const char *values_text(writer *w, const ws_param *param) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < param->value_count; i++)
    ws_strbuf_printf(&text, "%s%lld", i ? " " : "",
                     (long long)param->values[i]);
  char *copy = ws_arena_strndup(w->arena, text.data, text.size);
  ws_strbuf_deinit(&text);
  return copy;
}

static const char *arguments_text(writer *w, const ws_launch *launch) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < launch->argument_count; i++)
    ws_strbuf_printf(&text, "%s%s", i ? " " : "", launch->arguments[i]);
  char *copy = ws_arena_strndup(w->arena, text.data, text.size);
  ws_strbuf_deinit(&text);
  return copy;
}

static void write_region(writer *w, const ws_region *region) {
  ADD(w, "region", region->line, region->function, region->contract);
  for (int i = 0; i < region->variant_count; i++)
    ADD(w, "variant", region->variants[i].line, region->function,
        region->variants[i].function, region->variants[i].purpose);
}

static void write_launch(writer *w, const ws_launch *launch) {
  ADD(w, "launch", launch->line, launch->kernel, ws_expr_text(launch->grid[0]),
      ws_expr_text(launch->grid[1]), ws_expr_text(launch->grid[2]),
      ws_expr_text(launch->threads), ws_expr_text(launch->condition),
      arguments_text(w, launch));
}

static void write_tensor_map(writer *w, const ws_tensor_map *map) {
  static const char *const elements[] = {[WS_ELEMENT_U8] = "u8",
                                         [WS_ELEMENT_BF16] = "bf16",
                                         [WS_ELEMENT_F32] = "f32"};
  ADD(w, "tensor_map", map->line, map->name, map->argument,
      elements[map->element], ws_expr_text(map->inner),
      ws_expr_text(map->outer), ws_expr_text(map->box_inner),
      ws_expr_text(map->box_outer), ws_expr_text(map->swizzle));
}

static int record_count(const ws_template *tmpl) {
  int count = 1 + tmpl->param_count + tmpl->require_count + tmpl->lds_count +
              tmpl->launch_count + tmpl->region_count + tmpl->occupancy_count +
              tmpl->tensor_map_count + (tmpl->workspace != NULL) +
              tmpl->allow_scratch;
  for (int i = 0; i < tmpl->region_count; i++)
    count += tmpl->regions[i].variant_count;
  return count;
}

/* For who does not know the problem. m, n and k go without saying: records from
 * before dimensions had names stay what they are. NULL: these. */
static const char *dims_text(writer *w, const ws_dims *dims) {
  ws_strbuf text;
  if (!strcmp(ws_dims_text(dims), "m,n,k"))
    return NULL;
  ws_strbuf_init(&text);
  for (int i = 0; i < dims->count; i++)
    ws_strbuf_printf(&text, "%s%s", i ? " " : "", dims->names[i]);
  char *copy = ws_arena_strdup(w->arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

static void write_template(writer *w, const ws_template *tmpl) {
  ADD(w, "template", 0, tmpl->name, tmpl->version, tmpl->problem, tmpl->target,
      tmpl->purpose, dims_text(w, tmpl->dims));
  for (int i = 0; i < tmpl->param_count; i++) {
    const ws_param *param = &tmpl->params[i];
    ADD(w, "param", param->line, param->name, param->global,
        values_text(w, param), param->meaning,
        text_of_integer(w, param->default_value));
  }
  for (int i = 0; i < tmpl->require_count; i++)
    ADD(w, "require", tmpl->requires[i].line,
        ws_expr_text(tmpl->requires[i].expr), tmpl->requires[i].reason);
  for (int i = 0; i < tmpl->lds_count; i++)
    ADD(w, "lds", tmpl->lds[i].line, tmpl->lds[i].global,
        ws_expr_text(tmpl->lds[i].bytes));
  for (int i = 0; i < tmpl->launch_count; i++)
    write_launch(w, &tmpl->launches[i]);
  if (tmpl->workspace)
    ADD(w, "workspace", ws_expr_line(tmpl->workspace),
        ws_expr_text(tmpl->workspace));
  for (int i = 0; i < tmpl->region_count; i++)
    write_region(w, &tmpl->regions[i]);
  for (int i = 0; i < tmpl->occupancy_count; i++)
    ADD(w, "occupancy", tmpl->occupancies[i].line, tmpl->occupancies[i].kernel,
        ws_expr_text(tmpl->occupancies[i].cluster),
        ws_expr_text(tmpl->occupancies[i].workgroups));
  for (int i = 0; i < tmpl->tensor_map_count; i++)
    write_tensor_map(w, &tmpl->tensor_maps[i]);
  if (tmpl->allow_scratch)
    ADD(w, "allow", 0, "scratch");
}

char *ws_template_records_json(ws_arena *arena, const ws_template *tmpl) {
  writer w = {.arena = arena, .capacity = record_count(tmpl)};
  w.items = ws_arena_alloc(arena, sizeof *w.items * (size_t)w.capacity);
  write_template(&w, tmpl);
  ws_records records = {.items = w.items, .count = w.count};
  cJSON *json = ws_records_to_json(&records);
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  char *copy = ws_arena_strdup(arena, text);
  cJSON_free(text);
  return copy;
}
