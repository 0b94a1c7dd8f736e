/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls that inlining has not removed: nothing is linked to a template. What an
 * author is to write instead is said for the libraries that kernels are fond
 * of.
 */
#include "hip.h"
#include "opencl_names.h"
#include "parse.h"

#include <string.h>

#define NO_MEMORY "a kernel cannot allocate memory; declare the workspace"
#define NO_HOST "writes through the host; a kernel has buffers only"
#define NO_LIBRARY                                                             \
  "is in AMD's device libraries, which are not linked; wavesmith's "           \
  "hip/hip_runtime.h has expf, logf, sqrtf and others that need none"
static const struct callee {
  const char *prefix, *shown, *why;
} callees[] = {
    {"__ockl_printf", "printf", NO_HOST},
    {"printf", "printf", NO_HOST},
    {"__ockl_hostcall", "hostcall", NO_HOST},
    {"__ockl_dm_", "malloc", NO_MEMORY},
    {"malloc", "malloc", NO_MEMORY},
    {"free", "free", NO_MEMORY},
    {"_Znw", "new", NO_MEMORY},
    {"_Zna", "new", NO_MEMORY},
    {"_Zdl", "delete", NO_MEMORY},
    {"_Zda", "delete", NO_MEMORY},
    {"__ws_assert_fail", "assert",
     "it ends the kernel, which must return; take it out"},
    {"__ocml_", NULL, NO_LIBRARY},
    {"__ockl_", NULL, NO_LIBRARY},
    {"", NULL, "it is declared and nowhere defined; define it in this file"},
};

static const char *name_of(LLVMValueRef value) {
  size_t size;
  return LLVMGetValueName2(value, &size);
}

static const struct callee *find_callee(const char *name) {
  const struct callee *callee = callees;
  while (strncmp(name, callee->prefix, strlen(callee->prefix)))
    callee++;
  return callee;
}

void ws__hip_refuse_calls(ws_hip *h) {
  for (LLVMValueRef f = LLVMGetFirstFunction(h->module); f;
       f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f) || LLVMGetIntrinsicID(f) || !LLVMGetFirstUse(f))
      continue;
    const struct callee *callee = find_callee(name_of(f));
    const char *shown = callee->shown
                            ? callee->shown
                            : ws__hip_base_name(h->findings->arena, name_of(f));
    const char *instead =
        strcmp(h->language, "opencl") ? NULL : ws__opencl_instead(shown);
    WS_HIP_REFUSE(h, ws_pass_line_of_use(f), "%s: %s%s", shown,
                  instead ? "there is no library; write " : callee->why,
                  instead ? instead : "");
  }
}
