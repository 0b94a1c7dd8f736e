/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP, with the headers that stand in for ROCm's, or OpenCL C to a module by
 * comgr's clang.
 * What LLVM says of bitcode goes where the context's owner has it go.
 */
#include "comgr.h"
#include "hip.h"
#include "wavesmith/hip_source.h"

#include <llvm-c/BitReader.h>
#include <string.h>

/* A body is always compiled by comgr; import takes what another clang made. */
static void refuse_bitcode(ws_hip *h) {
  WS_HIP_REFUSE(h, 0,
                "the bitcode of comgr is not of this LLVM's version; install "
                "comgr and LLVM of the same release%s",
                h->candidate ? "" : ", or use --clang");
}

/* OpenCL C finds its types and the builtins' names in clang's own folder. */
static const char *const opencl[] = {"-cl-uniform-work-group-size",
                                     "-Werror=undef",
                                     "-Xclang",
                                     "-finclude-default-header",
                                     "-Xclang",
                                     "-fdeclare-opencl-builtins",
                                     "-isystem"};
enum { OPENCL = sizeof opencl / sizeof opencl[0] };

static int append(const char **list, int count, const char *const *more,
                  int more_count) {
  for (int i = 0; i < more_count; i++)
    list[count + i] = more[i];
  return count + more_count;
}

/* The caller's, the language's, the common ones; NULL and a finding. */
static const char *const *join_options(ws_hip *h, const char *headers,
                                       const char *const *own, int own_count,
                                       int *out_count) {
  int common_count, count;
  const char *const *common =
      ws_hip_options(h->findings->arena, headers, &common_count);
  const char **options = ws_arena_alloc(
      h->findings->arena,
      (size_t)(own_count + common_count + OPENCL + 1) * sizeof *options);
  count = append(options, 0, own, own_count);
  if (!strcmp(h->language, "opencl")) {
    const char *folder = ws_comgr_clang_headers(h->file, h->findings);
    if (!folder)
      return NULL;
    count = append(options, count, opencl, OPENCL);
    count = append(options, count, &folder, 1);
  }
  *out_count = append(options, count, common, common_count);
  return options;
}

LLVMModuleRef ws__hip_compile(ws_hip *h, LLVMContextRef context,
                              const char *text, const char *const *options,
                              int option_count) {
  ws_arena *arena = h->findings->arena;
  const char *headers;
  const void *bitcode;
  ws_diag diag;
  size_t size;
  if (ws_hip_headers(arena, &headers, &diag) != WS_OK) {
    WS_HIP_REFUSE(h, 0, "%s", diag.text);
    return NULL;
  }
  options = join_options(h, headers, options, option_count, &option_count);
  if (!options || !ws_comgr_compile_import(text, h->file, h->language,
                                           h->target, options, option_count,
                                           arena, &bitcode, &size, h->findings))
    return NULL;
  LLVMModuleRef module = NULL;
  LLVMMemoryBufferRef buffer =
      LLVMCreateMemoryBufferWithMemoryRange(bitcode, size, h->file, 0);
  if (LLVMParseBitcodeInContext2(context, buffer, &module))
    refuse_bitcode(h);
  LLVMDisposeMemoryBuffer(buffer);
  return module;
}
