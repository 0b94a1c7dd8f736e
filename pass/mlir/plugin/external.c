/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table's passes as MLIR's own, by mlirCreateExternalPass.
 */
#include "../mlir.h"
#include "passes.h"

#include <stdlib.h>
#include <string.h>

typedef struct instance {
  const ws_mlir_pass *pass;
  char *set, *problem;
} instance;

static instance *new_instance(const ws_mlir_pass *pass,
                              const ws_mlir_options *options) {
  instance *made = malloc(sizeof *made);
  WS_ASSERT(made && "out of memory");
  *made = (instance){pass, strdup(options->set), strdup(options->problem)};
  return made;
}

static void construct(void *data) { (void)data; }

static void destruct(void *data) {
  instance *self = data;
  free(self->set);
  free(self->problem);
  free(self);
}

static void *clone(void *data) {
  const instance *self = data;
  return new_instance(self->pass, &(ws_mlir_options){self->set, self->problem});
}

static void run_on(MlirOperation op, MlirExternalPass pass, void *data) {
  const instance *self = data;
  if (!self->pass->run(op, &(ws_mlir_options){self->set, self->problem}))
    mlirExternalPassSignalFailure(pass);
}

MlirPass ws_mlir_pass_create(const ws_mlir_pass *pass,
                             const ws_mlir_options *options) {
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
      new_instance(pass, options));
}
