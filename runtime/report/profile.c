/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The hot lines of a profile, quoted. A code object without a line table has
 * the instruction itself in place of file and line.
 */
#include "detail.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_at(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* ---- the quoted line ---- */
static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The compiler names a body's file after its region: "stage.ll". */
static const char *text_of_file(const ws_candidate *candidate,
                                const ws_archived_template *text,
                                const char *file) {
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    const ws_body *body = &candidate->bodies[i];
    if (!body->text)
      continue;
    const char *name = candidate->tmpl->regions[i].function;
    size_t size = strlen(name);
    const char *part = last_part(file);
    if (!strncmp(part, name, size) &&
        (!strcmp(part + size, ".ll") || !strcmp(part + size, ".cl")))
      return body->text;
  }
  return strcmp(last_part(file), last_part(text->file)) ? NULL : text->text;
}

static cJSON *quoted(const char *text, double line) {
  char copy[241];
  for (double at = 1; text && at < line; at++) {
    text = strchr(text, '\n');
    text = text ? text + 1 : NULL;
  }
  snprintf(copy, sizeof copy, "%.*s", text ? (int)strcspn(text, "\n") : 0,
           text ? text : "");
  return ws__report_text(copy + strspn(copy, " \t"), 0);
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

static cJSON *line_json(const ws_candidate *candidate,
                        const ws_archived_template *text, const cJSON *line) {
  const char *file = text_at(line, "file");
  double number = number_at(line, "line");
  cJSON *json = cJSON_CreateObject();
  ws__report_add_text(json, "region", text_at(line, "region"), 200);
  ws__report_add_number(json, "share", number_at(line, "share"));
  ws__report_add_text(
      json, "waits", greatest(cJSON_GetObjectItemCaseSensitive(line, "stalls")),
      0);
  if (number > 0) {
    ws__report_add_text(json, "file", last_part(file), 200);
    cJSON_AddNumberToObject(json, "line", number);
    cJSON_AddItemToObject(json, "source",
                          quoted(text_of_file(candidate, text, file), number));
  } else {
    ws__report_add_text(json, "instruction", file, 200);
  }
  return json;
}

/* ---- launches ---- */
static cJSON *launch_json(const ws_candidate *candidate,
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
      cJSON_AddItemToArray(lines, line_json(candidate, text, line));
  return json;
}

cJSON *ws__report_profile(const ws_candidate *candidate,
                          const ws_archived_template *text,
                          const char *report) {
  cJSON *launches = cJSON_CreateArray();
  while (*report) {
    size_t size = strcspn(report, "\n");
    cJSON *launch = ws_json_parse(report, size, "profile", NULL);
    cJSON *shown = launch ? launch_json(candidate, text, launch) : NULL;
    if (shown)
      cJSON_AddItemToArray(launches, shown);
    cJSON_Delete(launch);
    report += size + (report[size] == '\n');
  }
  return launches;
}
