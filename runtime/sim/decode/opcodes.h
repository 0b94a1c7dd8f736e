/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * All opcodes, by family; see OP in machine.h. No include guard: it is a list
 * to be included with OP defined. Names and operands: LLVM's assembly syntax
 * for gfx942 (AMDGPU/AMDGPUAsmGFX940.rst of LLVM 21), semantics: "AMD Instinct
 * MI300" CDNA3 instruction set architecture, AMD, 2024.
 */
#include "ops_scalar.def"
#include "ops_vector.def"
#include "ops_lds.def"
#include "ops_memory.def"
#include "ops_matrix.def"
