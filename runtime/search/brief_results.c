/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sections made of results: the shapes with their times, what a request aims
 * at, the population. Ratios have four decimals and, where the times have one,
 * an interval: a gain of 0.4 % must be visible, and so must its doubt.
 */
#include "brief_page.h"

#include "wavesmith/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 24, MOST_STRIDES = 6 /* shapes that they are told of */ };

static const ws__result *result_at(const ws__page *page, int index) {
  return &page->brief->knowledge->results[index];
}

const char *ws__page_name(const ws__page *page, int result) {
  const char *id = result < 0 ? "" : result_at(page, result)->id;
  return *id ? ws_arena_strndup(page->arena, id, 8) : "(none)";
}

const char *ws__page_shape(ws__page *page, const ws_shape *shape) {
  return ws_shape_text(page->arena, shape);
}

int ws__page_origin(const ws__page *page, int result) {
  if (result < 0)
    return -1;
  const ws__request *request = &result_at(page, result)->request;
  while (request->kind == WS_REQUEST_REPAIR && request->parents[0] >= 0)
    request = &result_at(page, request->parents[0])->request;
  return request->parents[0];
}

static double time_of(const ws__page *page, int result, int shape) {
  const double *us = result < 0 ? NULL : result_at(page, result)->us;
  return us ? us[shape] : INFINITY;
}

/* ---- ratios ----------------------------------------------------------------
 */

typedef struct measured {
  const ws_measurement *items;
  int count;
} measured;

static ws_status measurements(ws__page *page, int result, measured *out) {
  ws_measurement *items = NULL;
  *out = (measured){NULL, 0};
  if (result < 0 || !*result_at(page, result)->id)
    return WS_OK;
  WS_TRY(ws_archive_get_measurements(page->brief->archive, page->arena,
                                     result_at(page, result)->id, &items,
                                     &out->count, page->diag));
  out->items = items;
  return WS_OK;
}

static const ws_measurement *of_shape(const ws__page *page, const measured *m,
                                      int shape) {
  const ws_shape *want = &page->brief->task->shapes[shape];
  for (int i = 0; i < m->count; i++)
    if (ws_shape_same(&m->items[i].shape, want) &&
        !strcmp(m->items[i].provenance, page->brief->provenance))
      return &m->items[i];
  return NULL;
}

/* Half the width of the interval of ln us; 0: it is exact. */
static double doubt(const ws_measurement *m) {
  return m && m->low_us > 0 && m->high_us > m->low_us
             ? log(m->high_us / m->low_us) / 2
             : 0;
}

ws_status ws__page_ratio(ws__page *page, int a, int b, const char **out) {
  const ws__knowledge *knowledge = page->brief->knowledge;
  measured of_a, of_b;
  double sum = 0, square = 0;
  int count = 0;
  *out = "";
  WS_TRY(measurements(page, a, &of_a));
  WS_TRY(measurements(page, b, &of_b));
  for (int s = 0; s < knowledge->shape_count; s++) {
    const double ua = time_of(page, a, s), ub = time_of(page, b, s);
    if (!isfinite(ua) || !isfinite(ub))
      continue;
    const double da = doubt(of_shape(page, &of_a, s)),
                 db = doubt(of_shape(page, &of_b, s));
    sum += log(ub / ua);
    square += da * da + db * db;
    count++;
  }
  if (!count)
    return WS_OK;
  const double mean = sum / count, half = sqrt(square) / count;
  const char *text = ws_arena_printf(page->arena, "%.4f", exp(mean));
  if (half > 0)
    text = ws_arena_printf(page->arena, "%s (95 %%: %.4f to %.4f)", text,
                           exp(mean - half), exp(mean + half));
  if (count < knowledge->shape_count)
    text = ws_arena_printf(page->arena, "%s over %d of %d shapes", text, count,
                           knowledge->shape_count);
  if (fabs(mean) <= fmax(knowledge->noise, half))
    text = ws_arena_printf(page->arena, "%s, within the noise", text);
  *out = text;
  return WS_OK;
}

/* ---- shapes ----------------------------------------------------------------
 */

static const char *us_text(ws__page *page, double us) {
  return isfinite(us) ? ws_arena_printf(page->arena, "%.4g", us) : "-";
}

static const char *provenance_text(const ws__page *page) {
  const char *provenance = page->brief->provenance;
  if (!strncmp(provenance, "sim", 3))
    return "simulated by a cycle model of the card";
  return strncmp(provenance, "estimate", 8) ? "measured"
                                            : "estimated by a bound model";
}

static void put_shape(ws__page *page, int s, ws_strbuf *out) {
  const ws__brief *brief = page->brief;
  const ws_shape *shape = &brief->task->shapes[s];
  const int best = ws__knowledge_best(brief->knowledge, s);
  const double roof =
      ws_target_roofline_us(brief->task->target, brief->task->problem, shape);
  const double parent = time_of(page, page->parent.result, s);
  ws_strbuf_printf(out, "| %s | %s | %s (%s) | %s | %.4g | %s |\n",
                   ws__page_shape(page, shape),
                   us_text(page, time_of(page, brief->knowledge->reference, s)),
                   us_text(page, time_of(page, best, s)),
                   ws__page_name(page, best), us_text(page, parent), roof,
                   isfinite(parent) ? ws_arena_printf(page->arena, "%.1f %%",
                                                      100 * roof / parent)
                                    : "-");
}

/* How far apart elements lie in what the times are of; a caller's may differ.
 */
static void put_strides(ws__page *page, ws_strbuf *out) {
  const ws__task *task = page->brief->task;
  const int layout = ws_problem_layout_index(task->problem, task->layout);
  const char *between = "Strides, by shape:";
  if (task->shape_count > MOST_STRIDES)
    return;
  for (int i = 0; i < task->problem->arg_count; i++) {
    if (!task->problem->args[i].stride_of)
      continue;
    ws_strbuf_printf(out, "%s %s", between, task->problem->args[i].name);
    for (int s = 0; s < task->shape_count; s++)
      ws_strbuf_printf(out, " %lld",
                       (long long)ws_problem_arg_scalar(
                           task->problem, i, &task->shapes[s], layout));
    between = ",";
  }
  if (*between == ',')
    ws_strbuf_puts(out, ".\n");
}

const char *ws__page_shapes(ws__page *page) {
  const ws__knowledge *knowledge = page->brief->knowledge;
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_printf(
      &out,
      "Times in us, %s (%s). Differences below %.2g %% mean nothing. The score "
      "of a candidate is its geometric mean speed-up over the reference. No "
      "kernel can be faster than the limit (peak rates and bandwidth).\n"
      "| %s | reference (%s) | best so far | parent (%s) | limit | parent "
      "reaches |\n|---|---|---|---|---|---|\n",
      provenance_text(page), page->brief->provenance,
      100 * (exp(knowledge->noise) - 1),
      ws_dims_text(page->brief->task->problem->dims),
      ws__page_name(page, knowledge->reference),
      ws__page_name(page, page->parent.result));
  for (int s = 0; s < knowledge->shape_count; s++)
    put_shape(page, s, &out);
  put_strides(page, &out);
  return ws__page_take(page, &out);
}

/* ---- aim -------------------------------------------------------------------
 */

const char *ws__page_aim(ws__page *page) {
  const ws__request *request = page->request;
  const ws_template *tmpl = page->parent.candidate->tmpl;
  ws_strbuf out;
  ws_strbuf_init(&out);
  if (request->target >= 0)
    ws_strbuf_printf(
        &out,
        "Make the shape %s faster above all; on the others it may lose, as "
        "each shape takes the best candidate that it has.\n",
        ws__page_shape(page, &page->brief->task->shapes[request->target]));
  if (request->region >= 0 && request->region < tmpl->region_count) {
    const double share = page->heat.shares[request->region];
    ws_strbuf_printf(&out, "Rewrite the region %s",
                     tmpl->regions[request->region].function);
    if (share > 0)
      ws_strbuf_printf(&out, " (%.3g %% of the wave clocks)", 100 * share);
    ws_strbuf_puts(&out,
                   "; another region or a parameter only where that needs it. "
                   "Where more is to be gained elsewhere, change that instead "
                   "and say why in one line. No whole template this time.\n");
  } else if (request->kind == WS_REQUEST_EXPLOIT && page->heat.reach > 0 &&
             page->heat.reach < WS__FAR_FROM_LIMIT) {
    ws_strbuf_printf(&out,
                     "The parent reaches %.2g %% of the limit (geometric "
                     "mean): so much no region's rewrite brings. Where you see "
                     "a better organisation of the work, write a whole "
                     "template; the one change is that design.\n",
                     100 * page->heat.reach);
  }
  return ws__page_take(page, &out);
}

/* ---- population ------------------------------------------------------------
 */

static bool is_listed(const ws__result *result) {
  return *result->id && isfinite(result->score) &&
         result->verdict != WS_VERDICT_DUPLICATE;
}

/* The best by score, better first, of equals the earlier. */
static int best_listed(const ws__page *page, int *out) {
  const ws__knowledge *knowledge = page->brief->knowledge;
  int count = 0;
  for (int i = 0; i < knowledge->count; i++) {
    if (!is_listed(&knowledge->results[i]))
      continue;
    int place = count < MOST_LISTED ? count++ : MOST_LISTED;
    for (; place && knowledge->results[out[place - 1]].score <
                        knowledge->results[i].score;
         place--)
      if (place < MOST_LISTED)
        out[place] = out[place - 1];
    if (place < MOST_LISTED)
      out[place] = i;
  }
  return count;
}

static void put_verdicts(const ws__page *page, ws_strbuf *out) {
  const ws__knowledge *knowledge = page->brief->knowledge;
  int counts[WS_VERDICT_COUNT] = {0}, total = 0;
  for (int i = 0; i < knowledge->count; i++)
    if (!ws_request_is_document(knowledge->results[i].request.kind)) {
      counts[knowledge->results[i].verdict]++;
      total++;
    }
  ws_strbuf_printf(out, "Of %d requests for a candidate:", total);
  for (int v = 0; v < WS_VERDICT_COUNT; v++)
    if (counts[v])
      ws_strbuf_printf(out, " %d %s", counts[v],
                       ws_verdict_text((ws_verdict)v));
  ws_strbuf_puts(out, ".\n");
}

static ws_status put_entry(ws__page *page, int index, ws_strbuf *out) {
  const ws__result *result = result_at(page, index);
  const int origin = ws__page_origin(page, index);
  bool found;
  ws_candidate_row row;
  WS_TRY(ws_archive_get_candidate(page->brief->archive, page->arena, result->id,
                                  &found, &row, page->diag));
  ws_strbuf_printf(out, "- %s: speed-up %.4f; %s from %s",
                   ws__page_name(page, index), exp(result->score),
                   result->request.origin, ws__page_name(page, origin));
  if (found && *row.label)
    ws_strbuf_printf(out, ", \"%s\"", row.label);
  else if (found && *row.move)
    ws_strbuf_printf(out, ", %s", row.move);
  if (found)
    ws_strbuf_printf(out, "; template %s (%s)", row.template_name,
                     row.assignments);
  const char *cell = ws__cell_text(page->arena, &result->cell);
  if (*cell)
    ws_strbuf_printf(out, "; %s", cell);
  ws_strbuf_puts(out, "; us:");
  for (int s = 0; s < page->brief->knowledge->shape_count; s++)
    ws_strbuf_printf(out, " %s", us_text(page, result->us[s]));
  ws_strbuf_puts(out, "\n");
  return WS_OK;
}

ws_status ws__page_population(ws__page *page, const char **out) {
  int listed[MOST_LISTED];
  const int count = best_listed(page, listed);
  *out = "";
  if (!count)
    return WS_OK;
  ws_strbuf text;
  ws_strbuf_init(&text);
  put_verdicts(page, &text);
  ws_strbuf_puts(&text,
                 "The best, by score over all shapes; times in the order "
                 "of the shapes above:\n");
  ws_status status = WS_OK;
  for (int i = 0; i < count && status == WS_OK; i++)
    status = put_entry(page, listed[i], &text);
  *out = ws__page_take(page, &text);
  return status;
}
