/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Progress of a tuning run: rate, best so far, verdict counts, time left. Only
 * new candidates count for the rate; those that the archive knew cost nothing.
 */
#include "progress.h"
#include "wavesmith/text.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REDRAW_MS = 200, LINE_MS = 5000 };

void ws__progress_init(ws__progress *progress, bool json) {
  double now_ms = ws_clock_ms();
  bool terminal = !json && isatty(STDERR_FILENO);
  *progress =
      (ws__progress){.json = json,
                     .terminal = terminal,
                     .start_ms = now_ms,
                     .next_ms = now_ms + (terminal ? REDRAW_MS : LINE_MS)};
}

static double rate_of(const ws__progress *progress,
                      const ws__progress_state *state) {
  double seconds = (ws_clock_ms() - progress->start_ms) / 1000;
  return seconds > 0 ? (double)state->counts->evaluated / seconds : 0;
}

/* With replies that held none. */
static int64_t towards_limit(const ws__counts *counts) {
  return counts->evaluated + counts->replayed + counts->further +
         counts->refused - counts->moves;
}

static double seconds_left(const ws__progress_state *state) {
  double left = (state->deadline_ms - ws_clock_ms()) / 1000;
  return left > 0 ? left : 0;
}

static void print_json(const ws__progress *progress,
                       const ws__progress_state *state) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "event", "progress");
  cJSON_AddNumberToObject(json, "evaluated", (double)state->counts->evaluated);
  cJSON_AddNumberToObject(json, "replayed", (double)state->counts->replayed);
  if (state->counts->moves > 0)
    cJSON_AddNumberToObject(json, "small_moves", (double)state->counts->moves);
  cJSON_AddNumberToObject(json, "per_second", rate_of(progress, state));
  if (state->best_geomean_us > 0)
    cJSON_AddNumberToObject(json, "best_geomean_us", state->best_geomean_us);
  cJSON *verdicts = cJSON_AddObjectToObject(json, "verdicts");
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (state->counts->verdicts[i])
      cJSON_AddNumberToObject(verdicts, ws_verdict_text((ws_verdict)i),
                              (double)state->counts->verdicts[i]);
  if (*state->provenance) {
    cJSON_AddStringToObject(json, "device", state->provenance);
    cJSON_AddNumberToObject(json, "timed", (double)state->timed);
    cJSON_AddNumberToObject(json, "refuted", (double)state->refuted);
  }
  if (state->questions > 0) {
    cJSON_AddNumberToObject(json, "questions", (double)state->questions);
    cJSON_AddNumberToObject(json, "tokens", (double)state->tokens);
    cJSON_AddNumberToObject(json, "usd", state->usd);
  }
  if (isfinite(state->deadline_ms))
    cJSON_AddNumberToObject(json, "seconds_left", seconds_left(state));
  char *text = cJSON_PrintUnformatted(json);
  cJSON_Delete(json);
  WS_ASSERT(text);
  puts(text);
  fflush(stdout);
  cJSON_free(text);
}

static void print_text(const ws__progress *progress,
                       const ws__progress_state *state, bool last) {
  ws_strbuf line;
  ws_strbuf_init(&line);
  double rate = rate_of(progress, state);
  ws_strbuf_printf(&line, "%lld new, %.1f/%s",
                   (long long)state->counts->evaluated,
                   rate < 0.1 ? 60 * rate : rate, rate < 0.1 ? "min" : "s");
  if (state->counts->replayed)
    ws_strbuf_printf(&line, ", %lld known", (long long)state->counts->replayed);
  if (state->best_geomean_us > 0)
    ws_strbuf_printf(
        &line, " | best %.2f us (geomean, %.*s)", state->best_geomean_us,
        (int)strcspn(state->best_provenance, ":"), state->best_provenance);
  const char *separator = " | ";
  for (int i = 0; i < WS_VERDICT_COUNT; i++)
    if (state->counts->verdicts[i]) {
      ws_strbuf_printf(&line, "%s%s %lld", separator,
                       ws_verdict_text((ws_verdict)i),
                       (long long)state->counts->verdicts[i]);
      separator = " ";
    }
  if (*state->provenance)
    ws_strbuf_printf(&line, " | %.*s: %lld timed",
                     (int)strcspn(state->provenance, ":"), state->provenance,
                     (long long)state->timed);
  if (state->questions > 0)
    ws_strbuf_printf(&line, " | %lld answers, %lld tokens",
                     (long long)state->questions, (long long)state->tokens);
  if (isfinite(state->deadline_ms)) {
    int left = (int)ceil(seconds_left(state));
    ws_strbuf_printf(&line, " | %d:%02d left", left / 60, left % 60);
  } else if (state->evaluation_limit > 0) {
    ws_strbuf_printf(&line, " | %lld of %lld",
                     (long long)towards_limit(state->counts),
                     (long long)state->evaluation_limit);
  }
  ws_terminal_progress(line.data, last);
  ws_strbuf_deinit(&line);
}

static void print(const ws__progress *progress, const ws__progress_state *state,
                  bool last) {
  if (progress->json)
    print_json(progress, state);
  else
    print_text(progress, state, last);
}

void ws__progress_show(ws__progress *progress,
                       const ws__progress_state *state) {
  double now_ms = ws_clock_ms();
  if (now_ms < progress->next_ms)
    return;
  progress->next_ms = now_ms + (progress->terminal ? REDRAW_MS : LINE_MS);
  print(progress, state, false);
}

void ws__progress_end(ws__progress *progress, const ws__progress_state *state) {
  print(progress, state, true);
}
