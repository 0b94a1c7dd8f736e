/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The passes of WavesmithMLIR.so under mlir-opt, for the shim that registers
 * them.
 */
#ifndef WAVESMITH_PASS_MLIR_PLUGIN_PASSES_H
#define WAVESMITH_PASS_MLIR_PLUGIN_PASSES_H

#include <mlir-c/Pass.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_mlir_options {
  const char *set;     /* "a=1;b=2"; "": the defaults */
  const char *problem; /* a file of one's own; "": none */
} ws_mlir_options;

typedef struct ws_mlir_pass {
  const char *name, *purpose;
  /* Reports errors; false: failed. */
  bool (*run)(MlirOperation module, const ws_mlir_options *options);
} ws_mlir_pass;

extern const ws_mlir_pass ws_mlir_passes[];
extern const int ws_mlir_pass_count;

/* A pass of the table on builtin.module; options are copied. */
MlirPass ws_mlir_pass_create(const ws_mlir_pass *pass,
                             const ws_mlir_options *options);

#ifdef __cplusplus
}
#endif
#endif
