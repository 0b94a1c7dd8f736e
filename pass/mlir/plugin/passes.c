/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The passes of WavesmithMLIR.so, fronts of the steps of pass/mlir:
 *   wavesmith-check              lowers a copy and checks it like any template
 *   wavesmith-specialize         sets parameters, applies the schedule, makes
 *                                shapes static
 *   wavesmith-lower-to-llvm      all that, and on to the LLVM dialect
 * Each takes set="a=1;b=2", parameters that differ from their defaults. Errors
 * are MLIR's own, with file, line and column.
 */
#include "passes.h"
#include "../../specialize.h"
#include "../../template_ir.h"
#include "../declare.h"

#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>

/* What a pass needs; lives while it runs. */
typedef struct job {
  ws_mlir m;
  ws_findings findings;
  const ws_candidate *candidate;
} job;

/* MLIR's own errors have been said by the host. */
static void say(const job *j) {
  for (int i = 0; i < j->findings.count; i++) {
    const ws_finding *f = &j->findings.items[i];
    MlirLocation at =
        f->line
            ? mlirLocationFileLineColGet(j->m.context, ws__mlir_ref(f->file),
                                         (unsigned)f->line, (unsigned)f->column)
            : mlirOperationGetLocation(j->m.module);
    mlirEmitError(at, ws_arena_printf(j->m.arena, "%s%s%s [%s]", f->region,
                                      *f->region ? ": " : "", f->text, f->id));
  }
}

static const char *file_of(MlirLocation location, ws_arena *arena) {
  return mlirLocationIsAFileLineColRange(location)
             ? ws__mlir_text(arena, mlirIdentifierStr(
                                        mlirLocationFileLineColRangeGetFilename(
                                            location)))
             : "";
}

/* A copy of the module, lowered; NULL: it cannot be. */
static LLVMModuleRef lower_copy(job *j, const ws_scope *values) {
  ws_mlir copy = j->m;
  copy.module = mlirOperationClone(j->m.module);
  LLVMModuleRef module =
      ws__mlir_open(&copy, values)
          ? ws__mlir_lower_template(&copy, LLVMContextCreate())
          : NULL;
  mlirOperationDestroy(copy.module);
  return module;
}

/* The candidate of the values, by the template that the module is. */
static bool find_candidate(job *j, const char *values) {
  ws_records records;
  const ws_template *tmpl;
  ws_diag diag = {""};
  LLVMModuleRef module = lower_copy(j, NULL);
  if (!module)
    return false;
  if (ws_pass_read_records(module, NULL, j->m.file, j->m.arena, &records,
                           &diag) == WS_OK &&
      ws_template_from_records(j->m.arena, &records, j->m.file, (ws_hash){{0}},
                               &tmpl, &diag) == WS_OK) {
    ws_candidate *candidate = ws_candidate_create(j->m.arena, tmpl);
    j->candidate = candidate;
    if (ws_candidate_set(candidate, values, &diag) == WS_OK)
      return true;
  }
  ws_findings_add(&j->findings, "candidate", "", j->m.file, 0, "%s", diag.text);
  return false;
}

static ws_scope values_of(const job *j) {
  const ws_template *tmpl = j->candidate->tmpl;
  ws_binding *bindings = ws_arena_alloc(
      j->m.arena, (size_t)(tmpl->param_count + 1) * sizeof *bindings);
  for (int i = 0; i < tmpl->param_count; i++)
    bindings[i] = (ws_binding){tmpl->params[i].name, j->candidate->values[i]};
  return (ws_scope){bindings, tmpl->param_count};
}

/* ---- passes ---------------------------------------------------------------
 */

static bool check(job *j) {
  const ws_scope values = values_of(j);
  LLVMModuleRef module = lower_copy(j, &values);
  return module && ws__pass_specialize(module, j->candidate, &j->findings) &&
         ws_pass_check(module, j->candidate, j->candidate->tmpl->target,
                       &j->findings);
}

static bool specialize(job *j) {
  const ws_scope values = values_of(j);
  return ws__mlir_open(&j->m, &values) && ws__mlir_specialize(&j->m);
}

static bool lower(job *j) {
  return specialize(j) && ws__mlir_to_llvm_dialect(&j->m);
}

static bool run(MlirOperation module, const char *values,
                bool (*work)(job *j)) {
  job j = {.candidate = NULL};
  j.m = (ws_mlir){.arena = ws_arena_create(),
                  .findings = &j.findings,
                  .context = mlirOperationGetContext(module),
                  .module = module};
  j.m.file = file_of(mlirOperationGetLocation(module), j.m.arena);
  ws_findings_init(&j.findings, j.m.arena);
  bool ok = find_candidate(&j, values) && work(&j) && !j.findings.count;
  say(&j);
  ws_arena_destroy(j.m.arena);
  return ok;
}

static bool run_check(MlirOperation module, const char *values) {
  return run(module, values, check);
}
static bool run_specialize(MlirOperation module, const char *values) {
  return run(module, values, specialize);
}
static bool run_lower(MlirOperation module, const char *values) {
  return run(module, values, lower);
}

const ws_mlir_pass ws_mlir_passes[] = {
    {"wavesmith-check", "lowers a copy and checks it", run_check},
    {"wavesmith-specialize",
     "sets parameters, applies the schedule, makes shapes static",
     run_specialize},
    {"wavesmith-lower-to-llvm", "specializes and lowers to the LLVM dialect",
     run_lower}};
const int ws_mlir_pass_count = sizeof ws_mlir_passes / sizeof *ws_mlir_passes;

/* ---- as MLIR's passes ------------------------------------------------------
 */

typedef struct instance {
  const ws_mlir_pass *pass;
  char *values;
} instance;

static instance *new_instance(const ws_mlir_pass *pass, const char *values) {
  instance *made = malloc(sizeof *made);
  *made = (instance){pass, strdup(values)};
  return made;
}

static void construct(void *data) { (void)data; }

static void destruct(void *data) {
  instance *self = data;
  free(self->values);
  free(self);
}

static void *clone(void *data) {
  const instance *self = data;
  return new_instance(self->pass, self->values);
}

static void run_on(MlirOperation op, MlirExternalPass pass, void *data) {
  const instance *self = data;
  if (!self->pass->run(op, self->values))
    mlirExternalPassSignalFailure(pass);
}

MlirPass ws_mlir_pass_create(const ws_mlir_pass *pass, const char *values) {
  static MlirTypeIDAllocator ids;
  if (!ids.ptr)
    ids = mlirTypeIDAllocatorCreate();
  return mlirCreateExternalPass(
      mlirTypeIDAllocatorAllocateTypeID(ids), ws__mlir_ref(pass->name),
      ws__mlir_ref(pass->name), ws__mlir_ref(pass->purpose),
      ws__mlir_ref("builtin.module"), 0, NULL,
      (MlirExternalPassCallbacks){.construct = construct,
                                  .destruct = destruct,
                                  .clone = clone,
                                  .run = run_on},
      new_instance(pass, values));
}
