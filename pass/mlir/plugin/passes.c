/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The passes of WavesmithMLIR.so, fronts of the steps of pass/mlir:
 *   wavesmith-check              lowers a copy and checks it like any template
 *   wavesmith-specialize         sets parameters, applies the schedule, makes
 *                                shapes static
 *   wavesmith-lower-to-llvm      all that, and on to the LLVM dialect, of which
 *                                mlir-translate makes LLVM IR
 * Each takes set="a=1;b=2", parameters that differ from their defaults, and
 * problem=FILE, a problem of one's own. Errors go through MLIR's engine: what
 * MLIR itself says stays as it is, what is found here is said at its place.
 */
#include "passes.h"
#include "../../parse.h"
#include "../../specialize.h"
#include "../../template_ir.h"
#include "../declare.h"
#include "wavesmith/problem.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Diagnostics.h>
#include <string.h>

/* What a pass needs; lives while it runs. */
typedef struct job {
  ws_mlir m;
  ws_findings findings;
  LLVMContextRef llvm; /* of what copies are lowered to */
  const ws_candidate *candidate;
} job;

/* ---- errors -----------------------------------------------------------------
 */

static const char said_by_mlir[] = "mlir";

/* An error of MLIR's own is noted, so that nobody says it again, and goes on to
 * the host's handler. Warnings end here, as they do in the compile server:
 * those of a schedule ("tiling is not thread safe") are about templates that
 * are well. */
static MlirLogicalResult note_error(MlirDiagnostic diagnostic, void *data) {
  job *j = data;
  if (mlirDiagnosticGetSeverity(diagnostic) != MlirDiagnosticError)
    return mlirLogicalResultSuccess();
  ws_findings_add(&j->findings, said_by_mlir, "", "", j->findings.count + 1,
                  "said");
  return mlirLogicalResultFailure();
}

static const char *file_of(MlirLocation location, ws_arena *arena) {
  return mlirLocationIsAFileLineColRange(location)
             ? ws__mlir_text(arena, mlirIdentifierStr(
                                        mlirLocationFileLineColRangeGetFilename(
                                            location)))
             : "";
}

typedef struct search {
  const job *j;
  const ws_finding *finding;
  MlirLocation found;
} search;

static MlirWalkResult is_on_line(MlirOperation op, void *data) {
  search *s = data;
  MlirLocation at = mlirOperationGetLocation(op);
  if (!mlirLocationIsAFileLineColRange(at) ||
      mlirLocationFileLineColRangeGetStartLine(at) != s->finding->line ||
      strcmp(file_of(at, s->j->m.arena), s->finding->file))
    return MlirWalkResultAdvance;
  s->found = at;
  return MlirWalkResultInterrupt;
}

/* Of a function LLVM keeps the line only: the first operation there. */
static MlirLocation place_of(const job *j, const ws_finding *f) {
  search s = {j, f, mlirOperationGetLocation(j->m.module)};
  if (f->line && f->column)
    return mlirLocationFileLineColGet(j->m.context, ws__mlir_ref(f->file),
                                      (unsigned)f->line, (unsigned)f->column);
  if (f->line)
    mlirOperationWalk(j->m.module, is_on_line, &s, MlirWalkPreOrder);
  return s.found;
}

static void say(const job *j) {
  for (int i = 0; i < j->findings.count; i++) {
    const ws_finding *f = &j->findings.items[i];
    if (strcmp(f->id, said_by_mlir))
      mlirEmitError(place_of(j, f),
                    ws_arena_printf(j->m.arena, "%s%s%s [%s]", f->region,
                                    *f->region ? ": " : "", f->text, f->id));
  }
}

/* ---- the candidate ----------------------------------------------------------
 */

/* A copy of the module, lowered; NULL: it cannot be. */
static LLVMModuleRef lower_copy(job *j, const ws_scope *values) {
  ws_mlir copy = j->m;
  copy.module = mlirOperationClone(j->m.module);
  LLVMModuleRef module = ws__mlir_open(&copy, values)
                             ? ws__mlir_lower_template(&copy, j->llvm)
                             : NULL;
  mlirOperationDestroy(copy.module);
  return module;
}

static bool read_template(job *j, const ws_template **out, ws_diag *diag) {
  ws_records records;
  LLVMModuleRef module = lower_copy(j, NULL);
  return module &&
         ws_pass_read_records(module, NULL, j->m.file, j->m.arena, &records,
                              diag) == WS_OK &&
         ws_template_from_records(j->m.arena, &records, j->m.file,
                                  (ws_hash){{0}}, out, diag) == WS_OK;
}

/* The candidate of the options, by the template that the module is. */
static bool find_candidate(job *j, const ws_mlir_options *options) {
  const ws_problem *problem;
  const ws_template *tmpl;
  const char *id = "candidate";
  ws_diag diag = {""};
  bool ok = (!*options->problem ||
             ws_problem_add_file(options->problem, &problem, &diag) == WS_OK) &&
            read_template(j, &tmpl, &diag);
  if (ok) {
    ws_candidate *candidate = ws_candidate_create(j->m.arena, tmpl);
    j->candidate = candidate;
    ok = ws_candidate_set(candidate, options->set, &diag) == WS_OK;
    if (ok && ws_candidate_broken_require(candidate, NULL, &diag) >= 0) {
      id = "require";
      ok = false;
    }
  }
  ws_diag_name_pass_options(&diag);
  if (!ok && *diag.text)
    ws_findings_add_diag(&j->findings, id, j->m.file, &diag);
  return ok;
}

/* ---- passes -----------------------------------------------------------------
 */

static bool check(job *j) {
  const ws_scope values = ws_candidate_scope(j->m.arena, j->candidate, NULL, 0);
  LLVMModuleRef module = lower_copy(j, &values);
  return module && ws__pass_specialize(module, j->candidate, &j->findings) &&
         ws_pass_check(module, j->candidate, j->candidate->tmpl->target,
                       &j->findings);
}

static bool specialize(job *j) {
  const ws_scope values = ws_candidate_scope(j->m.arena, j->candidate, NULL, 0);
  if (!ws__mlir_open(&j->m, &values) || !ws__mlir_specialize(&j->m))
    return false;
  ws__mlir_state_values(&j->m);
  return true;
}

/* Without it a workgroup of AMD's has 256 lanes at most. The kernel of several
 * launches takes the largest. */
static void state_threads(const job *j) {
  const ws_template *tmpl = j->candidate->tmpl;
  const bool amd = j->m.target->family == WS_FAMILY_AMDGPU;
  const ws_scope scope = ws_candidate_scope(j->m.arena, j->candidate, NULL, 0);
  for (int i = 0; i < tmpl->launch_count; i++) {
    MlirOperation kernel =
        ws__mlir_function(j->m.module, "llvm.func", tmpl->launches[i].kernel);
    int64_t most = 0, threads;
    for (int k = 0; k < tmpl->launch_count; k++)
      if (!strcmp(tmpl->launches[k].kernel, tmpl->launches[i].kernel) &&
          ws_expr_eval(tmpl->launches[k].threads, &scope, &threads, NULL) ==
              WS_OK &&
          threads > most)
        most = threads;
    if (mlirOperationIsNull(kernel) || !most)
      continue;
    const int32_t number = (int32_t)most;
    mlirOperationSetDiscardableAttributeByName(
        kernel,
        ws__mlir_ref(amd ? "rocdl.flat_work_group_size" : "nvvm.maxntid"),
        amd ? mlirStringAttrGet(j->m.context, ws__mlir_ref(ws_arena_printf(
                                                  j->m.arena, "1,%d", number)))
            : mlirDenseI32ArrayGet(j->m.context, 1, &number));
  }
}

static bool lower(job *j) {
  if (!specialize(j) || !ws__mlir_to_llvm_dialect(&j->m))
    return false;
  state_threads(j);
  return true;
}

static bool run(MlirOperation module, const ws_mlir_options *options,
                bool (*work)(job *j)) {
  job j = {.llvm = LLVMContextCreate()};
  j.m = (ws_mlir){.arena = ws_arena_create(),
                  .findings = &j.findings,
                  .find_problem = ws_problem_find,
                  .context = mlirOperationGetContext(module),
                  .module = module};
  j.m.file = file_of(mlirOperationGetLocation(module), j.m.arena);
  ws_findings_init(&j.findings, j.m.arena);
  ws__pass_collect_diagnostics(j.llvm, &j.findings);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(j.m.context, note_error, &j, NULL);
  const bool ok = find_candidate(&j, options) && work(&j) && !j.findings.count;
  mlirContextDetachDiagnosticHandler(j.m.context, handler);
  say(&j);
  LLVMContextDispose(j.llvm);
  ws_arena_destroy(j.m.arena);
  return ok;
}

static bool run_check(MlirOperation module, const ws_mlir_options *options) {
  return run(module, options, check);
}
static bool run_specialize(MlirOperation module,
                           const ws_mlir_options *options) {
  return run(module, options, specialize);
}
static bool run_lower(MlirOperation module, const ws_mlir_options *options) {
  return run(module, options, lower);
}

const ws_mlir_pass ws_mlir_passes[] = {
    {"wavesmith-check", "lowers a copy and checks it", run_check},
    {"wavesmith-specialize",
     "sets parameters, applies the schedule, makes shapes static",
     run_specialize},
    {"wavesmith-lower-to-llvm", "specializes and lowers to the LLVM dialect",
     run_lower}};
const int ws_mlir_pass_count = sizeof ws_mlir_passes / sizeof *ws_mlir_passes;
