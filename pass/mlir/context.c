/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The context: dialects, passes, translations; and running a pipeline.
 */
#include "mlir.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <string.h>

static MlirContext own_context;

MlirContext ws__mlir_context(void) {
  if (!mlirContextIsNull(own_context))
    return own_context;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllPasses();
  mlirRegisterAllDialects(registry);
  own_context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirRegisterAllLLVMTranslations(own_context);
  /* convert-gpu-to-rocdl of LLVM 21 makes index.mul and does not say so */
  mlirContextGetOrLoadDialect(own_context, ws__mlir_ref("index"));
  return own_context;
}

/* ---- pipelines
 * ----------------------------------------------------------------- */

/* canonicalize gathers the patterns of all dialects when it is made, which
 * takes as long as to run it on a small kernel: what is made is kept. */
enum { MOST_KEPT = 32 };
typedef struct kept_passes {
  MlirIdentifier anchor; /* operations' name */
  char *pipeline;
  MlirPassManager passes;
} kept_passes;

/* Null and a finding: this MLIR does not know the passes. */
static MlirPassManager make(const ws_mlir *m, MlirOperation on,
                            const char *pipeline) {
  MlirPassManager passes =
      mlirPassManagerCreateOnOperation(m->context, ws__mlir_name(on));
  ws_strbuf fault;
  ws_strbuf_init(&fault);
  mlirPassManagerEnableVerifier(passes, false);
  if (mlirLogicalResultIsFailure(mlirParsePassPipeline(
          mlirPassManagerGetAsOpPassManager(passes), ws__mlir_ref(pipeline),
          ws__mlir_append, &fault))) {
    ws__mlir_refuse(m, on, "mlir-pipeline", "%s", fault.data);
    mlirPassManagerDestroy(passes);
    passes.ptr = NULL;
  }
  ws_strbuf_deinit(&fault);
  return passes;
}

static kept_passes *find(MlirIdentifier anchor, const char *pipeline) {
  static kept_passes items[MOST_KEPT];
  int i = 0;
  while (i < MOST_KEPT && items[i].pipeline &&
         (!mlirIdentifierEqual(items[i].anchor, anchor) ||
          strcmp(items[i].pipeline, pipeline)))
    i++;
  WS_ASSERT(i < MOST_KEPT && "pipelines are few");
  return &items[i];
}

static MlirPassManager kept(const ws_mlir *m, MlirOperation on,
                            const char *pipeline) {
  kept_passes *k = find(mlirOperationGetName(on), pipeline);
  if (!k->pipeline)
    *k = (kept_passes){mlirOperationGetName(on), strdup(pipeline),
                       make(m, on, pipeline)};
  return k->passes;
}

static bool run(const ws_mlir *m, MlirPassManager passes, MlirOperation on,
                const char *pipeline) {
  const int before = m->findings->count;
  if (mlirPassManagerIsNull(passes))
    return false;
  const bool ok =
      mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, on));
  if (!ok && m->findings->count == before)
    ws__mlir_refuse(m, on, "mlir-lower", "the passes %s failed", pipeline);
  return ok;
}

bool ws__mlir_run(const ws_mlir *m, MlirOperation on, const char *pipeline) {
  if (mlirContextEqual(m->context, own_context))
    return run(m, kept(m, on, pipeline), on, pipeline);
  MlirPassManager passes = make(m, on, pipeline);
  const bool ok = run(m, passes, on, pipeline);
  if (!mlirPassManagerIsNull(passes))
    mlirPassManagerDestroy(passes);
  return ok;
}
