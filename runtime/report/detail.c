/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One candidate in full. Long texts are cut, so that a page stays small.
 */
#include "detail.h"

#include "json.h"
#include "wavesmith/sim_error.h"

#include <string.h>

enum { BODY_BYTES = 64 << 10, REPLY_BYTES = 32 << 10 };

/* ---- parameters and regions ---- */
static cJSON *parameters_json(const ws_candidate *candidate) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < candidate->tmpl->param_count; i++) {
    const ws_param *param = &candidate->tmpl->params[i];
    cJSON *item = cJSON_CreateObject();
    ws__report_add_text(item, "name", param->name, 0);
    cJSON_AddNumberToObject(item, "value", (double)candidate->values[i]);
    cJSON_AddNumberToObject(item, "default", (double)param->default_value);
    ws__report_add_text(item, "meaning", param->meaning, 200);
    cJSON_AddItemToArray(list, item);
  }
  return list;
}

/* Those that are not the template's default. */
static cJSON *regions_json(const ws_candidate *candidate) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    const ws_region *region = &candidate->tmpl->regions[i];
    const ws_body *body = &candidate->bodies[i];
    if (!body->text && body->variant < 0)
      continue;
    cJSON *item = cJSON_CreateObject();
    ws__report_add_text(item, "region", region->function, 0);
    if (body->text) {
      ws__report_add_text(item, "language", body->language, 0);
      ws__report_add_text(item, "text", body->text, BODY_BYTES);
    } else {
      const ws_variant *variant = &region->variants[body->variant];
      ws__report_add_text(item, "variant", variant->function, 0);
      ws__report_add_text(item, "purpose", variant->purpose, 400);
    }
    cJSON_AddItemToArray(list, item);
  }
  return list;
}

/* ---- facts and times ---- */
static cJSON *facts_json(const char *result_json) {
  static const char *const facts[] = {
      "name",      "vgpr",          "agpr",       "sgpr",
      "lds_bytes", "scratch_bytes", "code_bytes", "vgpr_spills"};
  cJSON *list = cJSON_CreateArray();
  cJSON *result =
      ws_json_parse(result_json, strlen(result_json), "result", NULL);
  const cJSON *kernel;
  cJSON_ArrayForEach(kernel,
                     cJSON_GetObjectItemCaseSensitive(result, "kernels")) {
    cJSON *item = cJSON_CreateObject();
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
      const cJSON *fact = cJSON_GetObjectItemCaseSensitive(kernel, facts[i]);
      if (cJSON_IsString(fact))
        ws__report_add_text(item, facts[i], fact->valuestring, 200);
      else if (cJSON_IsNumber(fact))
        cJSON_AddNumberToObject(item, facts[i], fact->valuedouble);
    }
    cJSON_AddItemToArray(list, item);
  }
  cJSON_Delete(result);
  return list;
}

static cJSON *times_json(const ws__report_source *source,
                         const ws__report_candidate *candidate) {
  cJSON *list = cJSON_CreateArray();
  for (int p = 0; p < source->provenance_count; p++)
    for (int i = 0; i < candidate->time_count; i++) {
      const ws_measurement *time = &candidate->times[i];
      if (strcmp(time->provenance, source->provenances[p]))
        continue;
      cJSON *item = cJSON_CreateObject();
      cJSON_AddNumberToObject(item, "provenance", p);
      cJSON_AddItemToObject(item, "shape", ws__report_shape(&time->shape));
      ws__report_add_number(item, "us", time->us);
      ws__report_add_number(item, "low", time->low_us);
      ws__report_add_number(item, "high", time->high_us);
      ws__report_add_text(item, "bound", time->bound, 0);
      const double error = ws_sim_error_of(time->provenance, time->bound);
      if (error > 0)
        ws__report_add_number(item, "error", error);
      cJSON_AddItemToArray(list, item);
    }
  return list;
}

/* ---- origin ---- */
static ws_status add_origin(const ws__report_source *source, const char *id,
                            cJSON *json, ws_diag *diag) {
  bool found;
  ws_exchange_row exchange;
  WS_TRY(ws_archive_get_origin(source->archive, source->arena, id, &found,
                               &exchange, diag));
  if (!found)
    return WS_OK;
  cJSON *origin = cJSON_AddObjectToObject(json, "exchange");
  cJSON_AddNumberToObject(origin, "run", (double)exchange.run_id);
  cJSON_AddNumberToObject(origin, "sequence", (double)exchange.sequence);
  ws__report_add_text(origin, "kind", exchange.kind, 0);
  ws__report_add_text(origin, "member", exchange.member, 0);
  ws__report_add_text(origin, "prompt_version", exchange.prompt_version, 0);
  ws__report_add_text(origin, "reply", exchange.reply, REPLY_BYTES);
  return WS_OK;
}

/* Of the provenance nearest to a card that has one. */
static ws_status add_profile(const ws__report_source *source, const char *id,
                             const ws_candidate *candidate,
                             const ws_archived_template *text, cJSON *json,
                             ws_diag *diag) {
  for (int p = 0; p < source->provenance_count; p++) {
    bool found;
    ws_shape shape;
    const char *report;
    WS_TRY(ws_archive_get_profile(source->archive, source->arena, id,
                                  source->provenances[p], &found, &shape,
                                  &report, diag));
    if (!found)
      continue;
    cJSON *profile = cJSON_AddObjectToObject(json, "profile");
    cJSON_AddNumberToObject(profile, "provenance", p);
    cJSON_AddItemToObject(profile, "shape", ws__report_shape(&shape));
    cJSON_AddItemToObject(
        profile, "launches",
        ws__report_profile(source->arena, candidate, text, report));
    return WS_OK;
  }
  return WS_OK;
}

ws_status ws__report_detail(const ws__report_source *source, int candidate,
                            cJSON **out_json, ws_diag *diag) {
  const ws__report_candidate *own = &source->candidates[candidate];
  const char *id = own->row.id;
  bool found;
  ws_candidate_row row;
  const ws_template *tmpl;
  ws_archived_template text;
  ws_candidate *loaded;
  *out_json = NULL;
  WS_TRY(ws_archive_get_candidate(source->archive, source->arena, id, &found,
                                  &row, diag));
  WS_TRY(ws_archive_get_template(source->archive, source->arena,
                                 own->row.template_hash, &tmpl, &text, diag));
  WS_TRY(ws_archive_load_candidate(source->archive, source->arena, &row, tmpl,
                                   &loaded, diag));
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "candidate", candidate);
  ws__report_add_text(json, "id", id, 0);
  cJSON_AddItemToObject(json, "parameters", parameters_json(loaded));
  cJSON_AddItemToObject(json, "regions", regions_json(loaded));
  cJSON_AddItemToObject(json, "kernels", facts_json(row.result_json));
  cJSON_AddItemToObject(json, "times", times_json(source, own));
  ws_status status = add_origin(source, id, json, diag);
  if (status == WS_OK)
    status = add_profile(source, id, loaded, &text, json, diag);
  if (status == WS_OK)
    *out_json = json;
  else
    cJSON_Delete(json);
  return status;
}
