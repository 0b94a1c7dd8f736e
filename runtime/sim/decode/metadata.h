/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A code object's kernel metadata (LLVM AMDGPUUsage, "Code Object V5
 * Metadata"), read through comgr.
 */
#ifndef WAVESMITH_SIM_METADATA_H
#define WAVESMITH_SIM_METADATA_H

#include "elf_file.h"
#include "wavesmith/sim.h"

typedef struct ws_kernel_metadata {
  const char *symbol; /* of the descriptor: "NAME.kd" */
  ws_sim_kernel_info info;
} ws_kernel_metadata;

/* All kernels of the metadata; none when there is no metadata, as in assembly
 * without .amdgpu_metadata. WS_INPUT: it is malformed. */
ws_status ws__read_metadata(ws_arena *arena, const ws_elf *elf,
                            ws_kernel_metadata **out_kernels, int *out_count,
                            ws_diag *diag) WS_MUST_CHECK;

/* metadata_check.c: may comgr see the notes of this file? */
bool ws__is_metadata_plain(const ws_elf *elf);

#endif
