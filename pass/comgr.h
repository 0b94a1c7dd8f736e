/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The only door to comgr (AMD's code object manager): link, kernel metadata,
 * disassembly, OpenCL C. Results live in the caller's arena.
 *
 * comgr may abort or exit the process on input that verifies, writes below
 * TMPDIR and keeps a cache in the user's home unless told not to
 * (ws_comgr_prepare): call it only from a child of the compile server, or from
 * opt. One thread at a time gains nothing from a second: comgr serialises.
 */
#ifndef WAVESMITH_PASS_COMGR_H
#define WAVESMITH_PASS_COMGR_H

#include "pass.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_blob {
  const void *data;
  size_t size;
} ws_blob;

/* Turns comgr's disk cache off, so that times are times of work done and no
 * file outlives a job. Once per process, before any other call. */
void ws_comgr_prepare(void);

/* What turns one file into the next. target is "gfx942". Each returns false
 * when comgr reports an error; *out_log is then its log, never NULL, and may be
 * empty. */
bool ws_comgr_link(ws_arena *arena, const char *target, ws_blob object,
                   ws_blob *out_code_object, char **out_log);
/* NUL-terminated text, of every executable section. */
bool ws_comgr_disassemble(ws_arena *arena, const char *target,
                          ws_blob code_object, ws_blob *out_text,
                          char **out_log);

/* The kernels of a code object in the order of its metadata: everything of
 * ws_kernel_facts that the metadata says; code_bytes, mix and loops stay 0. */
bool ws_comgr_read_kernels(ws_arena *arena, ws_blob code_object,
                           ws_kernel_facts **out_kernels, int *out_count,
                           char **out_log);

/* OpenCL C to gfx942 bitcode, with every parameter of the candidate as a
 * macro of its name. false and findings ("opencl-compile", with the line)
 * on an error. candidate may be NULL. */
bool ws_comgr_compile_opencl(const char *text, const char *file,
                             const ws_candidate *candidate, ws_arena *arena,
                             const void **out_bitcode, size_t *out_size,
                             ws_findings *findings);

/* clang's folder of headers, where opencl-c-base.h is; NULL and a finding. */
const char *ws_comgr_clang_headers(const char *file, ws_findings *findings);

/* What import reads ("hip" or "opencl") to the target's bitcode, before any
 * optimisation. compiled_as is the file's name in the text's own #line
 * directives. Other contracts as above, findings are "hip". */
bool ws_comgr_compile_import(const char *text, const char *compiled_as,
                             const char *language, const char *target,
                             const char *const *options, int option_count,
                             ws_arena *arena, const void **out_bitcode,
                             size_t *out_size, ws_findings *findings);

void ws_comgr_version(size_t *out_major, size_t *out_minor);

#ifdef __cplusplus
}
#endif
#endif
