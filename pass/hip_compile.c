/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP to a module by comgr's clang, with the headers that stand in for ROCm's.
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

static const char *const *join_options(ws_arena *arena, const char *headers,
                                       const char *const *own, int own_count,
                                       int *out_count) {
  int count;
  const char *const *common = ws_hip_options(arena, headers, &count);
  const char **options =
      ws_arena_alloc(arena, (size_t)(own_count + count) * sizeof *options);
  if (own_count)
    memcpy(options, own, (size_t)own_count * sizeof *options);
  memcpy(options + own_count, common, (size_t)count * sizeof *options);
  *out_count = own_count + count;
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
  options = join_options(arena, headers, options, option_count, &option_count);
  if (!ws_comgr_compile_hip(text, h->file, h->target, options, option_count,
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
