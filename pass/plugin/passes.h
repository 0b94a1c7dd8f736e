/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the C++ shim registers (a table of module passes in C) and what it
 * offers to them (a diagnostic, which LLVM's C API cannot emit).
 */
#ifndef WAVESMITH_PLUGIN_PASSES_H
#define WAVESMITH_PLUGIN_PASSES_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_plugin_pass {
  const char *name; /* "NAME" or "NAME<parameters>" in a pipeline */
  bool at_start;    /* also runs first in every default pipeline, where it
                       passes over modules without wavesmith metadata */
  /* parameters is "" when there are none; by_name is false at the start of a
   * default pipeline. Returns whether the module changed. */
  bool (*run)(LLVMModuleRef module, const char *parameters, bool by_name);
} ws_plugin_pass;

extern const ws_plugin_pass ws_plugin_passes[];
extern const int ws_plugin_pass_count;

/* An LLVM error. opt ends with it at once, so say all there is to say. */
void ws_plugin_error(LLVMContextRef context, const char *text);

#ifdef __cplusplus
}
#endif
#endif
