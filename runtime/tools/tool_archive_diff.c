/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive diff`: what differs between a candidate and its parent, or
 * another one. Candidates of one template differ in parameters and in the texts
 * of regions; of two templates, in parameters and in the templates' texts.
 */
#include "text_diff.h"
#include "tool_archive.h"
#include "wavesmith/llm.h"

#include <stdio.h>
#include <string.h>

typedef struct side {
  ws_candidate_row row;
  const ws_template *tmpl;
  ws_archived_template source;
  ws_candidate *candidate;
} side;

static ws_status read_side(archive_call *call, const char *id, side *out) {
  WS_TRY(archive_find_candidate(call, id, &out->row));
  WS_TRY(ws_archive_get_template(call->archive, call->arena,
                                 out->row.template_hash, &out->tmpl,
                                 &out->source, call->diag));
  return ws_archive_load_candidate(call->archive, call->arena, &out->row,
                                   out->tmpl, &out->candidate, call->diag);
}

/* ---- parameters ---- */
/* "128"; "-" when the template has no such parameter. */
static const char *value_text(ws_arena *arena, const side *s,
                              const char *name) {
  int index = ws_template_param_index(s->tmpl, name);
  return index < 0 ? "-"
                   : ws_arena_printf(arena, "%lld",
                                     (long long)s->candidate->values[index]);
}

typedef struct change {
  const char *name, *old, *new;
} change;

typedef struct changes {
  change *items;
  int count;
} changes;

static void compare_value(ws_arena *arena, const side *old, const side *new,
                          const char *name, changes *out) {
  change found = {name, value_text(arena, old, name),
                  value_text(arena, new, name)};
  if (strcmp(found.old, found.new))
    out->items[out->count++] = found;
}

static changes compare_values(ws_arena *arena, const side *old,
                              const side *new) {
  int most = old->tmpl->param_count + new->tmpl->param_count;
  changes result = {.items =
                        ws_arena_alloc(arena, sizeof(change) * (size_t)most)};
  for (int i = 0; i < old->tmpl->param_count; i++)
    compare_value(arena, old, new, old->tmpl->params[i].name, &result);
  for (int i = 0; i < new->tmpl->param_count; i++)
    if (ws_template_param_index(old->tmpl, new->tmpl->params[i].name) < 0)
      compare_value(arena, old, new, new->tmpl->params[i].name, &result);
  return result;
}

/* ---- texts ---- */
static ws_status add_diff(archive_call *call, ws_strbuf *out, const side *old,
                          const side *new, const char *what,
                          const char *old_text, const char *new_text) {
  ws_arena *arena = call->arena;
  return text_diff(out, ws_arena_printf(arena, "%.8s/%s", old->row.id, what),
                   ws_arena_printf(arena, "%.8s/%s", new->row.id, what),
                   old_text, new_text, call->diag);
}

static ws_status add_region(archive_call *call, ws_strbuf *out, const side *old,
                            const side *new, int region) {
  ws_arena *arena = call->arena;
  const char *old_language = "", *new_language = "";
  const char *old_text = ws_region_text(arena, old->candidate, old->source.text,
                                        region, &old_language);
  const char *new_text = ws_region_text(arena, new->candidate, new->source.text,
                                        region, &new_language);
  const char *name = old->tmpl->regions[region].function;
  if (strcmp(old_language, new_language))
    name =
        ws_arena_printf(arena, "%s (%s, %s)", name, old_language, new_language);
  return add_diff(call, out, old, new, name, old_text ? old_text : "",
                  new_text ? new_text : "");
}

static ws_status add_texts(archive_call *call, ws_strbuf *out, const side *old,
                           const side *new) {
  if (strcmp(old->row.template_hash, new->row.template_hash))
    return add_diff(call, out, old, new, "template", old->source.text,
                    new->source.text);
  for (int i = 0; i < old->tmpl->region_count; i++)
    WS_TRY(add_region(call, out, old, new, i));
  return WS_OK;
}

/* ---- showing ---- */
static void print_diff_json(const side *old, const side *new,
                            const ws_speedup *speedup,
                            const changes *parameters, const char *texts) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "old", old->row.id);
  cJSON_AddStringToObject(json, "new", new->row.id);
  cJSON_AddItemToObject(json, "speedup", archive_speedup_json(speedup));
  cJSON *list = cJSON_AddArrayToObject(json, "parameters");
  for (int i = 0; i < parameters->count; i++) {
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", parameters->items[i].name);
    cJSON_AddStringToObject(item, "old", parameters->items[i].old);
    cJSON_AddStringToObject(item, "new", parameters->items[i].new);
    cJSON_AddItemToArray(list, item);
  }
  cJSON_AddStringToObject(json, "diff", texts);
  archive_print_json(json);
}

static void print_diff(ws_arena *arena, const side *old, const side *new,
                       const ws_speedup *speedup, const changes *parameters,
                       const char *texts) {
  printf("from      %s  %s\n", old->row.id, old->row.verdict);
  printf("to        %s  %s\n", new->row.id, new->row.verdict);
  printf("speed-up  %s", archive_speedup_text(arena, speedup));
  printf(speedup->shapes ? ", %d shapes\n" : "\n", speedup->shapes);
  if (!parameters->count && !*texts)
    puts("no parameter and no region differs");
  for (int i = 0; i < parameters->count; i++)
    printf("%s%s: %s -> %s\n", i ? "          " : "values    ",
           parameters->items[i].name, parameters->items[i].old,
           parameters->items[i].new);
  if (*texts)
    putchar('\n');
  fputs(texts, stdout);
}

/* The one to compare with: the second word, else the parent. */
static ws_status find_other(archive_call *call, const side *of,
                            const char **out_id) {
  const archive_arguments *arguments = call->arguments;
  bool found = arguments->word_count > 1;
  ws_candidate_row row;
  *out_id = found ? arguments->words[1] : of->row.parent_id;
  if (!found && **out_id)
    WS_TRY(ws_archive_get_candidate(call->archive, call->arena, *out_id, &found,
                                    &row, call->diag));
  if (found)
    return WS_OK;
  return ws_fail(call->diag, WS_INPUT, NULL, 0,
                 "candidate %.8s has no parent in this archive; name the one "
                 "to compare with",
                 of->row.id);
}

ws_status archive_run_diff(archive_call *call) {
  const archive_arguments *arguments = call->arguments;
  side old, new;
  const char *other;
  ws_speedup speedup;
  WS_TRY(read_side(call, arguments->words[0], &new));
  WS_TRY(find_other(call, &new, &other));
  WS_TRY(read_side(call, other, &old));
  WS_TRY(ws_archive_speedup(call->archive, call->arena, new.row.id, old.row.id,
                            arguments->filter.provenance, &speedup,
                            call->diag));
  changes parameters = compare_values(call->arena, &old, &new);
  ws_strbuf texts;
  ws_strbuf_init(&texts);
  ws_status status = add_texts(call, &texts, &old, &new);
  if (status == WS_OK && arguments->json)
    print_diff_json(&old, &new, &speedup, &parameters, texts.data);
  else if (status == WS_OK)
    print_diff(call->arena, &old, &new, &speedup, &parameters, texts.data);
  ws_strbuf_deinit(&texts);
  return status;
}
