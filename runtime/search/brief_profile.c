/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parent's profile, from the simulator's report: one JSON object a line,
 * each with "text", the explanation, and "profile", its numbers. The hot lines
 * are told anew, with the lines of code that they stand for.
 */
#include "brief_page.h"

#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char hot_lines[] = "hottest lines";
enum { LEAST_SHARE = 2, MOST_LINES = 64 }; /* per cent; of hot lines */

static double number(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const char *string(const cJSON *object, const char *key) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static const char *base_name(const char *file) {
  const char *slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

/* The largest stalls, those of at least 10 %. */
static void put_stalls(const cJSON *stalls, ws_strbuf *out) {
  double below = 2;
  for (int n = 0; n < 3; n++) {
    const cJSON *item, *largest = NULL;
    cJSON_ArrayForEach(item, stalls) if (cJSON_IsNumber(item) &&
                                         item->valuedouble < below &&
                                         (!largest || item->valuedouble >
                                                          largest->valuedouble))
        largest = item;
    if (!largest || largest->valuedouble < 0.1)
      return;
    ws_strbuf_printf(out, "%s%.0f %% %s", n ? ", " : "",
                     100 * largest->valuedouble, largest->string);
    below = largest->valuedouble;
  }
}

static void put_line(ws__page *page, const cJSON *line, ws_strbuf *out) {
  const char *file = string(line, "file"), *region = string(line, "region");
  const double at = number(line, "line");
  const int row = at >= 1 && at < 1e8 ? (int)at : 0;
  ws_strbuf_printf(out, "- %4.1f %% ", 100 * number(line, "share"));
  if (*region)
    ws_strbuf_printf(out, "%s, ", region);
  ws_strbuf_puts(out, base_name(file));
  if (row)
    ws_strbuf_printf(out, ":%d", row);
  ws_strbuf_puts(out, " (");
  put_stalls(cJSON_GetObjectItemCaseSensitive(line, "stalls"), out);
  ws_strbuf_puts(out, ")");
  const char *code = row ? ws__page_quote(page, &page->parent, file, row) : "";
  ws_strbuf_printf(out, *code ? ": `%s`\n" : "%s\n", code);
}

static void put_launch(ws__page *page, const cJSON *launch, ws_strbuf *out) {
  const char *text = string(launch, "text");
  const char *lines = strstr(text, hot_lines);
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(launch, "profile");
  const cJSON *line;
  int count = 0;
  ws_strbuf_append(out, text, lines ? (size_t)(lines - text) : strlen(text));
  if (!*text)
    ws_strbuf_printf(out, "%s: %.4g us, bound by %s\n",
                     string(profile, "kernel"), number(profile, "us"),
                     string(profile, "bound"));
  cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(profile, "lines")) {
    if (count == MOST_LINES || number(line, "share") * 100 < LEAST_SHARE)
      continue;
    if (!count++)
      ws_strbuf_puts(out, "Hottest lines (share of all wave clocks; why the "
                          "waves did not issue; the code):\n");
    put_line(page, line, out);
  }
}

/* Calls visit for every launch of the report that has a profile. */
typedef void launch_visitor(ws__page *page, const cJSON *launch, void *data);
static ws_status visit(ws__page *page, launch_visitor *visitor, void *data,
                       bool *out_found, ws_shape *out_shape) {
  const char *report, *id = "";
  if (page->parent.result >= 0)
    id = page->brief->knowledge->results[page->parent.result].id;
  *out_found = false;
  if (!*id)
    return WS_OK;
  WS_TRY(ws_archive_get_profile(page->brief->archive, page->arena, id,
                                page->brief->provenance, out_found, out_shape,
                                &report, page->diag));
  char *rest = *out_found ? ws_arena_strdup(page->arena, report) : NULL;
  for (char *line; (line = strsep(&rest, "\n"));) {
    cJSON *launch = *line ? cJSON_Parse(line) : NULL;
    if (cJSON_IsObject(launch) &&
        cJSON_GetObjectItemCaseSensitive(launch, "profile"))
      visitor(page, launch, data);
    cJSON_Delete(launch);
  }
  return WS_OK;
}

static void visit_words(ws__page *page, const cJSON *launch, void *data) {
  put_launch(page, launch, data);
}

ws_status ws__page_profile(ws__page *page, const char **out) {
  bool found;
  ws_shape shape;
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_status status = visit(page, visit_words, &text, &found, &shape);
  if (status == WS_OK && found && text.size)
    *out = ws_arena_printf(page->arena, "On the shape %s:\n%s",
                           ws__page_shape(page, &shape), text.data);
  else
    *out = "";
  ws_strbuf_deinit(&text);
  return status;
}

/* ---- heat ------------------------------------------------------------------
 */

/* Sums of share * us; older profiles tell of the hottest lines alone. */
typedef struct heat_sums {
  double shares[WS_TEMPLATE_MAX_REGIONS], us, lds_conflict;
  bool ran[WS_TEMPLATE_MAX_REGIONS]; /* the region, or what it calls */
  bool complete;
} heat_sums;

static void add_heat(const ws__page *page, const char *function, double share,
                     double us, heat_sums *sums) {
  const ws_template *tmpl = page->parent.candidate->tmpl;
  const int region = ws_template_region_index(tmpl, function);
  if (!(isfinite(share) && share > 0 && share <= 1) || !*function)
    return;
  for (int i = 0; i < tmpl->region_count; i++) {
    const bool calls = ws__page_region_names(page, i, function);
    sums->ran[i] |= i == region || calls;
    if (i == region || (region < 0 && calls))
      sums->shares[i] += share * us;
  }
}

static void visit_heat(ws__page *page, const cJSON *launch, void *data) {
  heat_sums *sums = data;
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(launch, "profile");
  const cJSON *functions =
      cJSON_GetObjectItemCaseSensitive(profile, "functions");
  const cJSON *lines = cJSON_GetObjectItemCaseSensitive(profile, "lines");
  const cJSON *item;
  const double known = number(profile, "us");
  const double us = isfinite(known) && known > 0 ? known : 1;
  sums->us += us;
  sums->lds_conflict += us * number(profile, "lds_conflict");
  sums->complete &= cJSON_IsObject(functions);
  cJSON_ArrayForEach(item, functions)
      add_heat(page, item->string ? item->string : "",
               cJSON_IsNumber(item) ? item->valuedouble : 0, us, sums);
  if (!functions)
    cJSON_ArrayForEach(item, lines)
        add_heat(page, string(item, "region"), number(item, "share"), us, sums);
}

/* How much of the limit the parent reaches. */
static double reach_of(const ws__page *page) {
  const ws__brief *brief = page->brief;
  const int parent = page->parent.result;
  const double *us = parent < 0 ? NULL : brief->knowledge->results[parent].us;
  double sum = 0;
  int count = 0;
  for (int s = 0; us && s < brief->knowledge->shape_count; s++)
    if (isfinite(us[s]) && us[s] > 0) {
      sum +=
          log(ws_target_roofline_us(brief->task->target, brief->task->problem,
                                    &brief->task->shapes[s]) /
              us[s]);
      count++;
    }
  return count ? exp(sum / count) : 0;
}

ws_status ws__page_heat(ws__page *page, ws__heat *out) {
  bool found;
  ws_shape shape;
  heat_sums sums = {.complete = true};
  *out = (ws__heat){.reach = reach_of(page)};
  WS_TRY(visit(page, visit_heat, &sums, &found, &shape));
  if (!(sums.us > 0))
    return WS_OK;
  out->known = true;
  out->tmpl = page->parent.candidate->tmpl;
  out->lds_conflict = sums.lds_conflict / sums.us;
  for (int i = 0; i < out->tmpl->region_count; i++) {
    out->shares[i] = sums.shares[i] / sums.us;
    out->dead[i] = sums.complete && !sums.ran[i];
  }
  return WS_OK;
}
