/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: walking a function, and naming the region of code that has
 * another function name.
 */
#ifndef WAVESMITH_PASS_PARSE_H
#define WAVESMITH_PASS_PARSE_H

#include "pass.h"

/* for every instruction of a function, in order. Removing the current one is
 * not allowed. */
#define WS_FOR_EACH_INSTRUCTION(function, block, instruction)                  \
  for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block;      \
       block = LLVMGetNextBasicBlock(block))                                   \
    for (LLVMValueRef instruction = LLVMGetFirstInstruction(block);            \
         instruction; instruction = LLVMGetNextInstruction(instruction))

/* The context's errors become findings, which must live as long. */
void ws__pass_collect_diagnostics(LLVMContextRef context,
                                  ws_findings *findings);

/* Reads a body as part of the target's module: its context, its data layout,
 * the target's symbols without declarations of its own, and without touching
 * the context's diagnostic handler. */
LLVMModuleRef ws__pass_parse_body(LLVMModuleRef target, const char *text,
                                  const char *file, ws_findings *findings);

/* Declarations of the target's symbols that the text names and does not
 * declare, on one line (declarations.c). */
const char *ws__pass_declarations(LLVMModuleRef target, const char *text,
                                  ws_arena *arena);

/* The locations of the text that the module was parsed from, unless it brings
 * its own. */
void ws__pass_attach_text(LLVMModuleRef module, ws_arena *arena,
                          const char *text, size_t size, const char *file);

/* Locations that name the file only, unless the module brings its own. */
void ws__pass_attach_file(LLVMModuleRef module, const char *file);

/* Makes the module's locations name this file, whatever a compiler called it;
 * without a line where there are none. */
void ws__pass_set_file(LLVMModuleRef module, const char *file);

/* Makes the module's locations name files with the folder that they are in,
 * which debug info may keep apart. */
void ws__pass_join_folders(LLVMModuleRef module);

/* Makes ws_pass_region_of say `region` for the code of this function (a helper
 * of a region's body, a shipped variant), before and after inlining. */
void ws__pass_set_region(LLVMValueRef function, const char *region);

#endif
