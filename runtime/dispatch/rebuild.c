/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Code objects for candidates that a text archive recorded without them. What
 * comes back is held against the recorded hash of the machine code: by the same
 * compiler a difference is a fault of the archive, by another it is expected,
 * and then the new facts replace the recorded ones so that estimates are about
 * the code that ships.
 */
#include "wavesmith/dispatch.h"
#include "wavesmith/target.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct rebuild {
  ws_archive *archive;
  ws_compiler *compiler;
  ws_arena *arena;
  const char *target;
  ws_target_family family;
  bool sanitize;
  ws_rebuild_report *report;
} rebuild;

static ws_status compile(const rebuild *job, const ws_candidate *candidate,
                         ws_build_result *out, ws_diag *diag) {
  const ws_template *tmpl = candidate->tmpl;
  ws_archived_template row;
  WS_TRY(ws_archive_get_template(job->archive, job->arena, tmpl->hash.hex, NULL,
                                 &row, diag));
  ws_run runs[WS_STANDARD_RUNS];
  ws_build_request request =
      ws_build_request_of(job->arena, candidate, row.text, strlen(row.text));
  request.stages = WS_STAGE_CHECK | WS_STAGE_LOWER;
  if (job->sanitize) {
    request.stages |= WS_STAGE_SANITIZE;
    request.runs = runs;
    request.run_count = ws_standard_runs(candidate, runs);
  }
  return ws_compiler_build(job->compiler, job->arena, &request, out, diag);
}

/* Why a candidate that once was ok is not now; with the first finding's line.
 */
static const char *failure_text(ws_arena *arena, const ws_candidate *candidate,
                                const ws_build_result *built) {
  const ws_finding *finding = built->finding_count ? &built->findings[0] : NULL;
  return ws_arena_printf(
      arena, "candidate %.8s (%s) is %s at stage %s: %s%s%s", candidate->id.hex,
      ws_candidate_values_text(arena, candidate),
      ws_verdict_text(built->verdict), built->stage, built->reason,
      finding ? "; " : "", finding ? finding->text : "");
}

/* Whether the recorded machine code must come out again. That of NVPTX is PTX,
 * which ptxas has no part in: report->compiler ends before it. */
static bool is_by_same_compiler(const rebuild *job,
                                const ws_build_result *recorded) {
  const char *ours = job->report->compiler;
  const size_t size = strlen(ours);
  return !strncmp(recorded->compiler, ours, size) &&
         (!recorded->compiler[size] ||
          (job->family == WS_FAMILY_NVPTX && recorded->compiler[size] == ','));
}

/* What lowers for NVPTX has ptxas at its end, and one may refuse what another
 * took. */
static bool must_build(const rebuild *job, const ws_build_result *recorded,
                       const ws_build_result *built) {
  const bool may_be_ptxas =
      job->family == WS_FAMILY_NVPTX && !strcmp(built->stage, "lower");
  return is_by_same_compiler(job, recorded) &&
         (!may_be_ptxas || !strcmp(recorded->compiler, built->compiler));
}

/* Of the same PTX the same ptxas makes the same bytes. */
static bool is_other_object(const ws_build_result *recorded,
                            const ws_build_result *built) {
  return !strcmp(recorded->compiler, built->compiler) &&
         recorded->object_hash && *recorded->object_hash &&
         strcmp(recorded->object_hash, built->object_hash);
}

static ws_status judge(const rebuild *job, const ws_candidate *candidate,
                       const ws_build_result *recorded,
                       const ws_build_result *built, bool *out_keep,
                       ws_diag *diag) {
  ws_rebuild_report *report = job->report;
  bool same_compiler = is_by_same_compiler(job, recorded);
  bool same_code = !strcmp(recorded->code_hash, built->code_hash);
  *out_keep = built->verdict == WS_VERDICT_OK;
  if (!same_compiler && !strcmp(report->recorded_compiler, report->compiler))
    report->recorded_compiler =
        recorded->compiler[0] ? recorded->compiler : "an unknown compiler";
  if (*out_keep && same_code && job->family == WS_FAMILY_NVPTX &&
      is_other_object(recorded, built))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %.8s: %s makes another code object (%.8s) of the "
                   "same PTX than recorded (%.8s); restore the archive or "
                   "export it again",
                   candidate->id.hex, built->compiler, built->object_hash,
                   recorded->object_hash);
  if (*out_keep && same_code)
    return WS_OK;
  if (!*out_keep) {
    const char *why = failure_text(job->arena, candidate, built);
    if (must_build(job, recorded, built) || built->verdict == WS_VERDICT_WRONG)
      return ws_fail(diag, WS_INPUT, NULL, 0, "%s", why);
    if (report->dropped++ == 0)
      report->dropped_reason = why;
    return WS_OK;
  }
  if (same_compiler)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "candidate %.8s compiles to other code (%.8s) than recorded "
                   "(%.8s) by the same compiler, %s: the archive was altered; "
                   "restore it or export it again",
                   candidate->id.hex, built->code_hash, recorded->code_hash,
                   report->compiler);
  report->changed++;
  return WS_OK;
}

static ws_status rebuild_entry(const rebuild *job, ws_dispatch_entry *entry,
                               bool *out_keep, ws_diag *diag) {
  const ws_build_result *recorded = entry->result;
  ws_build_result *built = ws_arena_alloc(job->arena, sizeof *built);
  WS_TRY(compile(job, entry->candidate, built, diag));
  WS_TRY(judge(job, entry->candidate, recorded, built, out_keep, diag));
  if (!job->sanitize) {
    built->runs = recorded->runs;
    built->run_count = recorded->run_count;
  }
  entry->result = built;
  entry->code_object = built->code_object;
  entry->code_object_size = built->code_object_size;
  return WS_OK;
}

/* As ws_build_result.compiler is written, as far as machine code depends on it:
 * a build that fails before it is lowered does not say. */
static ws_status name_compiler(const rebuild *job, ws_diag *diag) {
  char *text;
  const char *llvm, *comgr;
  WS_TRY(ws_compiler_versions(job->compiler, job->arena, &text, diag));
  cJSON *json = ws_json_parse(text, strlen(text), "compiler versions", diag);
  if (!json)
    return WS_ENVIRONMENT;
  ws_status status =
      ws_json_get_string(json, "llvm", "compiler versions", &llvm, diag);
  if (status == WS_OK)
    status =
        ws_json_get_string(json, "comgr", "compiler versions", &comgr, diag);
  if (status == WS_OK)
    job->report->compiler = ws_arena_printf(
        job->arena, "wavesmith " WAVESMITH_VERSION ", LLVM %s%s%s", llvm,
        job->family == WS_FAMILY_AMDGPU ? ", comgr " : "",
        job->family == WS_FAMILY_AMDGPU ? comgr : "");
  job->report->recorded_compiler = job->report->compiler;
  cJSON_Delete(json);
  return status;
}

ws_status ws_dispatch_rebuild(ws_archive *archive, ws_compiler *compiler,
                              ws_arena *arena, const char *target,
                              bool sanitize, ws_dispatch_entry *entries,
                              int *count, ws_rebuild_report *out_report,
                              ws_diag *diag) {
  const ws_target *known = ws_target_find(target);
  rebuild job = {.archive = archive,
                 .compiler = compiler,
                 .arena = arena,
                 .target = target,
                 .family = known ? known->family : WS_FAMILY_AMDGPU,
                 .sanitize = sanitize,
                 .report = out_report};
  int kept = 0;
  *out_report = (ws_rebuild_report){.dropped_reason = ""};
  WS_TRY(name_compiler(&job, diag));
  for (int i = 0; i < *count; i++) {
    bool keep;
    WS_TRY(rebuild_entry(&job, &entries[i], &keep, diag));
    if (keep)
      entries[kept++] = entries[i];
  }
  *count = kept;
  if (kept == 0)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "no kernel of the archive builds with %s (recorded with "
                   "%s): %s",
                   out_report->compiler, out_report->recorded_compiler,
                   out_report->dropped_reason);
  return WS_OK;
}
