/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: how a template looks in IR.
 */
#ifndef WAVESMITH_PASS_TEMPLATE_IR_H
#define WAVESMITH_PASS_TEMPLATE_IR_H

#include "pass.h"

#define WS_METADATA_PREFIX "wavesmith."

/* Address spaces: LLVM's AMDGPU and NVPTX guides, which agree but for the last
 * and for where allocas are (family.h). */
enum {
  WS_SPACE_FLAT = 0,
  WS_SPACE_GLOBAL = 1,
  WS_SPACE_LDS = 3,
  WS_SPACE_CONSTANT = 4,
  WS_SPACE_PRIVATE = 5,
  WS_SPACE_CLUSTER = 7, /* LDS of any workgroup of the cluster; NVPTX */
  WS_SPACE_BUFFER = 8   /* a buffer descriptor; AMDGPU */
};

/* Whether the module carries wavesmith metadata at all. */
bool ws__pass_is_template(LLVMModuleRef module);

/* ws_pass_read_records for a module whose records were not written in its own
 * text: line_of says where the index-th of a kind was. */
typedef int ws_record_line(void *context, const char *kind, int index);
ws_status ws__pass_read_records(LLVMModuleRef module, const char *file,
                                ws_record_line *line_of, void *context,
                                ws_arena *arena, ws_records *out_records,
                                ws_diag *diag) WS_MUST_CHECK;

#endif
