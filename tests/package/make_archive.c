/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An archive as tuning on a card leaves it, without the card:
 *   make_archive ARCHIVE LAYOUT PROVENANCE (TEMPLATE ASSIGNMENTS)...
 * compiles each candidate for its template's target and records times on the
 * contest's shapes: candidate c takes 10 us on the shapes whose index is c
 * modulo the number of candidates, on the others 20 us.
 */
#include "wavesmith/archive.h"
#include "wavesmith/base.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ws_diag diag;

static void must(ws_status status) {
  if (status == WS_OK)
    return;
  fprintf(stderr, "make_archive: %s\n", diag.text);
  exit(1);
}

typedef struct maker {
  ws_arena *arena;
  ws_archive *archive;
  ws_compiler *compiler;
  const ws_problem *problem;
  const char *layout, *provenance;
  int64_t run;
  int count; /* of candidates */
} maker;

static ws_candidate *prepare(maker *m, const char *file,
                             const char *assignments, const char *text,
                             size_t size) {
  const ws_template *tmpl;
  must(ws_compiler_describe(m->compiler, m->arena, file, text, size, &tmpl,
                            &diag));
  m->problem = ws_problem_find(tmpl->problem);
  ws_candidate *candidate = ws_candidate_create(m->arena, tmpl);
  const int layout = ws_problem_layout_index(m->problem, m->layout);
  must(ws_candidate_set(candidate,
                        ws_arena_printf(m->arena, "layout=%d", layout), &diag));
  must(ws_candidate_set(candidate, assignments, &diag));
  if (m->run == 0) {
    const ws_run_row run = {.problem = tmpl->problem,
                            .layout = m->layout,
                            .target = tmpl->target,
                            .strategy = "by hand",
                            .shape_set = "contest",
                            .settings_json = "{}"};
    must(ws_archive_begin_run(m->archive, &run, &m->run, &diag));
  }
  must(ws_archive_put_template(m->archive, tmpl, text, NULL, &diag));
  return candidate;
}

static ws_build_result build(maker *m, const ws_candidate *candidate,
                             const char *text, size_t size) {
  const ws_build_request request = {
      .template_file = candidate->tmpl->file,
      .template_text = text,
      .template_size = size,
      .target = candidate->tmpl->target,
      .assignments = ws_candidate_values_text(m->arena, candidate),
      .variants = "",
      .stages = WS_STAGE_CHECK | WS_STAGE_LOWER,
      .limits = ws_limits_default};
  ws_build_result result;
  must(ws_compiler_build(m->compiler, m->arena, &request, &result, &diag));
  if (result.verdict != WS_VERDICT_OK) {
    fprintf(stderr, "make_archive: %s: %s: %s\n", request.assignments,
            ws_verdict_text(result.verdict), result.reason);
    exit(1);
  }
  return result;
}

static void record(maker *m, const ws_candidate *candidate,
                   const ws_build_result *result, int index) {
  const ws_shape_set *set = ws_problem_shape_set(m->problem, "contest");
  ws_measurement *times =
      ws_arena_alloc(m->arena, (size_t)set->count * sizeof *times);
  for (int s = 0; s < set->count; s++) {
    const double us = s % m->count == index ? 10 : 20;
    times[s] = (ws_measurement){.shape = set->shapes[s],
                                .us = us,
                                .bound = "",
                                .provenance = m->provenance,
                                .low_us = us,
                                .high_us = us};
  }
  cJSON *json = ws_build_result_to_json(result);
  char *text = cJSON_PrintUnformatted(json);
  const ws_candidate_row row = {
      .id = candidate->id.hex,
      .template_hash = candidate->tmpl->hash.hex,
      .template_name = candidate->tmpl->name,
      .layout = m->layout,
      .assignments = ws_candidate_values_text(m->arena, candidate),
      .variants = "",
      .proposer = "default",
      .parent_id = "",
      .run_id = m->run,
      .sequence = index + 1,
      .verdict = "ok",
      .stage = "",
      .reason = "",
      .result_json = text,
      .ir_hash = result->ir_hash,
      .code_hash = result->code_hash};
  must(ws_archive_put_candidate(m->archive, &row, candidate,
                                result->code_object, result->code_object_size,
                                times, set->count, &diag));
  cJSON_free(text);
  cJSON_Delete(json);
}

int main(int argc, char **argv) {
  if (argc < 6 || argc % 2) {
    fputs("usage: make_archive ARCHIVE LAYOUT PROVENANCE (TEMPLATE "
          "ASSIGNMENTS)...\n",
          stderr);
    return 2;
  }
  maker m = {.arena = ws_arena_create(),
             .layout = argv[2],
             .provenance = argv[3],
             .count = (argc - 4) / 2};
  must(ws_archive_open(argv[1], true, &m.archive, &diag));
  must(ws_compiler_start(&m.compiler, &diag));
  for (int i = 0; i < m.count; i++) {
    char *text;
    size_t size;
    must(ws_file_read(m.arena, argv[4 + 2 * i], &text, &size, &diag));
    const ws_candidate *candidate =
        prepare(&m, argv[4 + 2 * i], argv[5 + 2 * i], text, size);
    const ws_build_result result = build(&m, candidate, text, size);
    record(&m, candidate, &result, i);
  }
  ws_compiler_stop(m.compiler);
  ws_archive_close(m.archive);
  ws_arena_destroy(m.arena);
  return 0;
}
