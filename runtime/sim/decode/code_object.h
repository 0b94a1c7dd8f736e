/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loads an AMDGPU code object (ELF64, EM_AMDGPU, gfx942, code object v5 or v6):
 * segments, relocations, kernel descriptors, metadata, line table.
 */
#ifndef WAVESMITH_SIM_CODE_OBJECT_H
#define WAVESMITH_SIM_CODE_OBJECT_H

#include "decode.h"
#include "memory.h"

/* The 64-byte kernel descriptor (LLVM AMDGPUUsage, "Kernel Descriptor"), as far
 * as a launch needs it. */
struct ws_sim_kernel {
  ws_sim_kernel_info info;
  const ws_sim_module *module;
  uint32_t entry;         /* index of the first instruction */
  uint32_t entry_preload; /* index with kernarg preload done by firmware:
                           * entry + 256 bytes; = entry without preload */
  uint32_t rsrc1, rsrc2, rsrc3;
  uint16_t properties; /* kernel_code_properties */
  uint16_t preload;    /* kernarg preload: length | offset << 7, as encoded */
  int accum_offset;    /* first register that is an accumulation VGPR */
};

typedef struct ws_line {
  const char *region; /* innermost inlined function; "" unknown */
  const char *file;
  int line, column; /* 0: unknown */
} ws_line;

struct ws_sim_module {
  ws_arena *arena; /* all of it */
  uint8_t *base;   /* loaded image, in device memory */
  size_t bytes;
  ws_text text;
  ws_sim_kernel *kernels;
  int kernel_count;
  ws_line *lines; /* by instruction index; NULL: no line table */
  struct ws_sim_symbol {
    const char *name;
    void *address;
    size_t bytes;
  } * variables;
  int variable_count;
};

ws_status ws__module_load(ws_memory *memory, const void *image, size_t size,
                          ws_sim_module **out_module,
                          ws_diag *diag) WS_MUST_CHECK;
void ws__module_unload(ws_memory *memory, ws_sim_module *module);

#endif
