/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The context: dialects, passes, translations; and running a pipeline.
 */
#include "mlir.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>
#include <string.h>

MlirContext ws__mlir_context(void) {
  static MlirContext context;
  if (!mlirContextIsNull(context))
    return context;
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllPasses();
  mlirRegisterAllDialects(registry);
  context = mlirContextCreateWithRegistry(registry, false);
  mlirDialectRegistryDestroy(registry);
  mlirRegisterAllLLVMTranslations(context);
  return context;
}

static void keep_text(MlirStringRef part, void *out) {
  ws_strbuf_printf(out, "%.*s", (int)part.length, part.data);
}

bool ws__mlir_run(ws_mlir *m, MlirOperation on, const char *pipeline) {
  MlirPassManager passes =
      mlirPassManagerCreateOnOperation(m->context, ws__mlir_name(on));
  ws_strbuf fault;
  ws_strbuf_init(&fault);
  mlirPassManagerEnableVerifier(passes, true);
  bool ok = mlirLogicalResultIsSuccess(
      mlirParsePassPipeline(mlirPassManagerGetAsOpPassManager(passes),
                            ws__mlir_ref(pipeline), keep_text, &fault));
  if (!ok)
    ws__mlir_refuse(m, on, "mlir-pipeline", "%s", fault.data);
  const int before = m->findings->count;
  ok = ok && mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(passes, on));
  if (!ok && m->findings->count == before)
    ws__mlir_refuse(m, on, "mlir-lower", "the passes %s failed", pipeline);
  mlirPassManagerDestroy(passes);
  ws_strbuf_deinit(&fault);
  return ok;
}
