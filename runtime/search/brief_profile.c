/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parent's profile, from the simulator's report: one JSON object a line,
 * each with "profile", its numbers. They are told in few bytes, the hot lines
 * with the lines of code that they stand for. Two shapes: the
 * slowest, and shortened the one furthest from its limit.
 */
#include "brief_page.h"

#include "wavesmith/measure.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEAST_SHARE = 2, /* per cent */
  MOST_LINES = 8,  /* of hot lines; of the second shape: */
  FEW_LINES = 3,
  QUOTE_BYTES = 80,
  LOOP_BYTES = 1800
};
/* Rows of the loop below this share of an iteration are told as one. */
static const double row_share = 0.015;

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

/* The largest stalls, those that have at least that share. */
static void put_stalls(const cJSON *stalls, int most, double least,
                       ws_strbuf *out) {
  double below = 2;
  for (int n = 0; n < most; n++) {
    const cJSON *item, *largest = NULL;
    cJSON_ArrayForEach(item, stalls) if (cJSON_IsNumber(item) &&
                                         item->valuedouble < below &&
                                         (!largest || item->valuedouble >
                                                          largest->valuedouble))
        largest = item;
    if (!largest || largest->valuedouble < least)
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
  put_stalls(cJSON_GetObjectItemCaseSensitive(line, "stalls"), 3, 0.1, out);
  ws_strbuf_puts(out, ")");
  const char *code = row ? ws__page_quote(page, &page->parent, file, row) : "";
  if (*code)
    ws_strbuf_printf(out, ": `%.*s%s`", QUOTE_BYTES, code,
                     strlen(code) > QUOTE_BYTES ? "..." : "");
  ws_strbuf_puts(out, "\n");
}

/* "812.4 vmem s_waitcnt vmcnt(0) ; load_b:45" */
static void put_row(const cJSON *row, ws_strbuf *out) {
  const char *text = string(row, "text");
  const double line = number(row, "line"), latency = number(row, "latency");
  ws_strbuf_printf(out, "%.1f %s ", number(row, "clocks"),
                   string(row, "waits"));
  ws_strbuf_puts(out, text);
  if (number(row, "count") > 1)
    ws_strbuf_printf(out, " x%.0f", number(row, "count"));
  if (latency > 0)
    ws_strbuf_printf(out, " (data after %.0f)", latency);
  if (line >= 1)
    ws_strbuf_printf(out, " ; %s:%.0f", string(row, "region"), line);
  ws_strbuf_puts(out, "\n");
}

/* Rows that are told as one. */
typedef struct small_rows {
  double clocks, count;
} small_rows;

static void put_small(small_rows *small, ws_strbuf *out) {
  if (small->count > 0)
    ws_strbuf_printf(out, "%.1f ... %.0f more\n", small->clocks, small->count);
  *small = (small_rows){0, 0};
}

static void put_rows(const cJSON *rows, double clocks, ws_strbuf *out) {
  const size_t end = out->size + LOOP_BYTES;
  const cJSON *row;
  small_rows small = {0, 0};
  cJSON_ArrayForEach(row, rows) {
    const double own = number(row, "clocks");
    if (own < row_share * clocks || !*string(row, "text") || out->size >= end) {
      small.clocks += own;
      small.count += number(row, "count");
      continue;
    }
    put_small(&small, out);
    put_row(row, out);
  }
  put_small(&small, out);
}

static void put_loop(const cJSON *loop, ws_strbuf *out) {
  const cJSON *rows = cJSON_GetObjectItemCaseSensitive(loop, "rows");
  if (!cJSON_GetArraySize(rows))
    return;
  ws_strbuf_printf(
      out,
      "Hottest loop: %.0f %% of the wave clocks; %.4g iterations of "
      "%.0f clocks, %.0f instructions (clocks, mostly waiting "
      "for, instruction; region:line):\n",
      100 * number(loop, "share"), number(loop, "iterations"),
      number(loop, "clocks"), number(loop, "instructions"));
  put_rows(rows, number(loop, "clocks"), out);
}

static void put_lines(ws__page *page, const cJSON *profile, int most,
                      ws_strbuf *out) {
  const cJSON *line;
  int count = 0;
  cJSON_ArrayForEach(line, cJSON_GetObjectItemCaseSensitive(profile, "lines")) {
    if (count == most || number(line, "share") * 100 < LEAST_SHARE)
      continue;
    if (!count++)
      ws_strbuf_puts(out, "Hottest lines (share of the wave clocks; why waves "
                          "did not issue):\n");
    put_line(page, line, out);
  }
}

static void put_busy(const cJSON *profile, ws_strbuf *out) {
  static const char *const units[][2] = {{"mfma_busy", "MFMA"},
                                         {"valu_busy", "VALU"},
                                         {"salu_busy", "SALU"},
                                         {"lds_busy", "LDS"},
                                         {"vmem_busy", "VMEM"}};
  const char *separator = "busy, %: ";
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    ws_strbuf_printf(out, "%s%s %.0f", separator, units[i][1],
                     100 * number(profile, units[i][0]));
    separator = ", ";
  }
}

static void put_memory(const cJSON *profile, ws_strbuf *out) {
  static const char *const levels[][3] = {
      {"L1", "l1_bytes", "l1_hit"},
      {"L2", "l2_bytes", "l2_hit"},
      {"Infinity Cache", "mall_bytes", "mall_hit"},
      {"HBM", "hbm_bytes", NULL}};
  const char *separator = "Memory, MB (hits): ";
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
    ws_strbuf_printf(out, "%s%s %.3g", separator, levels[i][0],
                     number(profile, levels[i][1]) / 1e6);
    if (levels[i][2])
      ws_strbuf_printf(out, " (%.0f %%)", 100 * number(profile, levels[i][2]));
    separator = ", ";
  }
  ws_strbuf_puts(out, ".\n");
}

static void put_latency(const cJSON *profile, const char *of, const char *mean,
                        const char *most, ws_strbuf *out) {
  if (number(profile, mean) > 0)
    ws_strbuf_printf(out, " %s after %.0f clocks (%.0f at most).", of,
                     number(profile, mean), number(profile, most));
}

static void put_summary(const cJSON *profile, ws_strbuf *out) {
  const double clock_mhz = number(profile, "clock_mhz");
  ws_strbuf_printf(out, "%s: %.4g us", string(profile, "kernel"),
                   number(profile, "us"));
  if (clock_mhz > 0)
    ws_strbuf_printf(out, ", %.4g of it after the launch",
                     number(profile, "clocks") / clock_mhz);
  ws_strbuf_printf(out, "; bound by %s; ", string(profile, "bound"));
  put_busy(profile, out);
  ws_strbuf_puts(out, "; waves: ");
  put_stalls(cJSON_GetObjectItemCaseSensitive(profile, "stalls"), 6, 0.02, out);
  ws_strbuf_printf(
      out,
      "; %.0f waves per SIMD, %.0f workgroups, %.3g rounds of "
      "them.\nLDS conflicts: %.3g x the clocks.",
      number(profile, "waves_per_simd"), number(profile, "workgroups"),
      number(profile, "waves_of_grid"), number(profile, "lds_conflict"));
  put_latency(profile, "LDS data", "lds_latency", "lds_latency_most", out);
  put_latency(profile, "Global data", "load_latency", "load_latency_most", out);
  ws_strbuf_puts(out, " ");
  put_memory(profile, out);
}

static void put_launch(ws__page *page, const cJSON *launch, ws_strbuf *out) {
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(launch, "profile");
  const cJSON *loop = cJSON_GetObjectItemCaseSensitive(profile, "loop");
  put_summary(profile, out);
  put_lines(page, profile, number(loop, "share") > 0 ? FEW_LINES : MOST_LINES,
            out); /* the loop has the rest */
  put_loop(loop, out);
}

/* Of the second shape: what may differ from the first. */
static void put_short(ws__page *page, const cJSON *launch, ws_strbuf *out) {
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(launch, "profile");
  const cJSON *loop = cJSON_GetObjectItemCaseSensitive(profile, "loop");
  ws_strbuf_printf(
      out, "%s: %.4g us, bound by %s; waves: ", string(profile, "kernel"),
      number(profile, "us"), string(profile, "bound"));
  put_stalls(cJSON_GetObjectItemCaseSensitive(profile, "stalls"), 3, 0.1, out);
  if (number(loop, "share") > 0)
    ws_strbuf_printf(out, "; hottest loop %.4g x %.0f clocks",
                     number(loop, "iterations"), number(loop, "clocks"));
  ws_strbuf_puts(out, "\n");
  put_lines(page, profile, FEW_LINES, out);
}

/* ---- which shapes ----------------------------------------------------------
 */

/* The slowest, then the one furthest from its limit, if that is another; more
 * may be there, which others are held against. */
static ws_status list(ws__page *page, ws_profile_row out[2], int *out_count) {
  const ws__task *task = page->brief->task;
  ws_profile_row *rows;
  const char *id = "";
  int count, furthest = 0;
  double worst = 0;
  *out_count = 0;
  if (page->parent.result >= 0)
    id = page->brief->knowledge->results[page->parent.result].id;
  if (!*id)
    return WS_OK;
  WS_TRY(ws_archive_list_profiles(page->brief->archive, page->arena, id,
                                  page->brief->provenance, &rows, &count,
                                  page->diag));
  for (int i = 0; i < count; i++) {
    const double limit =
        ws_target_roofline_us(task->target, task->problem, &rows[i].shape);
    if (limit > 0 && rows[i].us / limit > worst) {
      worst = rows[i].us / limit;
      furthest = i;
    }
  }
  if (count)
    out[(*out_count)++] = rows[0];
  if (furthest)
    out[(*out_count)++] = rows[furthest];
  return WS_OK;
}

/* Calls visit for every launch of the report that has a profile. */
typedef void launch_visitor(ws__page *page, const cJSON *launch, void *data);
static void visit(ws__page *page, const char *report, launch_visitor *visitor,
                  void *data) {
  char *rest = ws_arena_strdup(page->arena, report);
  for (char *line; (line = strsep(&rest, "\n"));) {
    cJSON *launch = *line ? cJSON_Parse(line) : NULL;
    if (cJSON_IsObject(launch) &&
        cJSON_GetObjectItemCaseSensitive(launch, "profile"))
      visitor(page, launch, data);
    cJSON_Delete(launch);
  }
}

static void visit_words(ws__page *page, const cJSON *launch, void *data) {
  put_launch(page, launch, data);
}

static void visit_short(ws__page *page, const cJSON *launch, void *data) {
  put_short(page, launch, data);
}

/* "9 % of its limit"; "" where the archive has no time. */
static const char *reached(const ws__page *page, const ws_profile_row *row) {
  const ws__task *task = page->brief->task;
  const double limit =
      ws_target_roofline_us(task->target, task->problem, &row->shape);
  return row->us > 0 ? ws_arena_printf(page->arena, ", at %.0f %% of its limit",
                                       100 * limit / row->us)
                     : "";
}

ws_status ws__page_profile(ws__page *page, const char **out) {
  static const struct {
    const char *which;
    launch_visitor *visitor;
  } told[2] = {{"On the shape", visit_words},
               {"Furthest from its limit, the shape", visit_short}};
  ws_profile_row rows[2];
  int count;
  ws_strbuf text;
  *out = "";
  WS_TRY(list(page, rows, &count));
  ws_strbuf_init(&text);
  for (int i = 0; i < count; i++) {
    const size_t begin = text.size;
    ws_strbuf_printf(&text, "%s %s%s:\n", told[i].which,
                     ws__page_shape(page, &rows[i].shape),
                     reached(page, &rows[i]));
    const size_t before = text.size;
    visit(page, rows[i].report, told[i].visitor, &text);
    if (text.size == before) /* no launch has one */
      text.data[text.size = begin] = 0;
  }
  *out = ws__page_take(page, &text);
  return WS_OK;
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

/* Each shape counts the same, as in the score. */
ws_status ws__page_heat(ws__page *page, ws__heat *out) {
  ws_profile_row rows[2];
  int count, shapes = 0;
  bool ran[WS_TEMPLATE_MAX_REGIONS] = {false}, complete = true;
  *out = (ws__heat){.reach = reach_of(page)};
  WS_TRY(list(page, rows, &count));
  for (int r = 0; r < count; r++) {
    heat_sums sums = {.complete = true};
    visit(page, rows[r].report, visit_heat, &sums);
    if (!(sums.us > 0))
      continue;
    shapes++;
    complete &= sums.complete;
    out->lds_conflict += sums.lds_conflict / sums.us;
    for (int i = 0; i < WS_TEMPLATE_MAX_REGIONS; i++) {
      out->shares[i] += sums.shares[i] / sums.us;
      ran[i] |= sums.ran[i];
    }
  }
  if (!shapes)
    return WS_OK;
  out->known = true;
  out->tmpl = page->parent.candidate->tmpl;
  out->lds_conflict /= shapes;
  for (int i = 0; i < out->tmpl->region_count; i++) {
    out->shares[i] /= shapes;
    out->dead[i] = complete && !ran[i];
  }
  return WS_OK;
}
