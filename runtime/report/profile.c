/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The hot lines of a profile, quoted. A code object without a line table has
 * the instruction itself in place of file and line.
 */
#include "detail.h"
#include "json.h"

#include <limits.h>
#include <string.h>

static const char *text_at(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_at(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* ---- lines ---- */
/* The name of the greatest share. */
static const char *greatest(const cJSON *shares) {
  const cJSON *share, *best = NULL;
  cJSON_ArrayForEach(
      share, shares) if (cJSON_IsNumber(share) &&
                         (!best || share->valuedouble > best->valuedouble))
      best = share;
  return best ? best->string : "";
}

static cJSON *line_json(ws_arena *arena, const ws_candidate *candidate,
                        const ws_archived_template *text, const cJSON *line) {
  const char *file = text_at(line, "file"), *slash = strrchr(file, '/');
  double number = number_at(line, "line");
  cJSON *json = cJSON_CreateObject();
  ws__report_add_text(json, "region", text_at(line, "region"), 200);
  ws__report_add_number(json, "share", number_at(line, "share"));
  ws__report_add_text(
      json, "waits", greatest(cJSON_GetObjectItemCaseSensitive(line, "stalls")),
      0);
  if (number > 0 && number < INT_MAX) {
    ws__report_add_text(json, "file", slash ? slash + 1 : file, 200);
    cJSON_AddNumberToObject(json, "line", number);
    ws__report_add_text(json, "source",
                        ws_candidate_source_line(arena, candidate, text->text,
                                                 text->file, file, (int)number),
                        0);
  } else {
    ws__report_add_text(json, "instruction", file, 200);
  }
  return json;
}

/* ---- launches ---- */
static cJSON *launch_json(ws_arena *arena, const ws_candidate *candidate,
                          const ws_archived_template *text,
                          const cJSON *launch) {
  static const char *const numbers[] = {
      "us",        "waves_per_simd", "mfma_busy", "valu_busy", "lds_busy",
      "vmem_busy", "lds_conflict",   "l2_hit",    "mall_hit",  "hbm_bytes"};
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(launch, "profile");
  const cJSON *line;
  if (!cJSON_IsObject(profile))
    return NULL;
  cJSON *json = cJSON_CreateObject();
  ws__report_add_text(json, "kernel", text_at(profile, "kernel"), 200);
  ws__report_add_text(json, "bound", text_at(profile, "bound"), 0);
  ws__report_add_text(json, "limiter", text_at(profile, "limiter"), 0);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    ws__report_add_number(json, numbers[i], number_at(profile, numbers[i]));
  cJSON *stalls = cJSON_AddObjectToObject(json, "stalls");
  cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(profile, "stalls"))
      ws__report_add_number(stalls, line->string, line->valuedouble);
  cJSON *lines = cJSON_AddArrayToObject(json, "lines");
  cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(profile, "lines"))
      cJSON_AddItemToArray(lines, line_json(arena, candidate, text, line));
  return json;
}

cJSON *ws__report_profile(ws_arena *arena, const ws_candidate *candidate,
                          const ws_archived_template *text,
                          const char *report) {
  cJSON *launches = cJSON_CreateArray();
  while (*report) {
    size_t size = strcspn(report, "\n");
    cJSON *launch = ws_json_parse(report, size, "profile", NULL);
    cJSON *shown = launch ? launch_json(arena, candidate, text, launch) : NULL;
    if (shown)
      cJSON_AddItemToArray(launches, shown);
    cJSON_Delete(launch);
    report += size + (report[size] == '\n');
  }
  return launches;
}
