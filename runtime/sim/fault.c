/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The first thing that went wrong in a workgroup.
 */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>

void ws__fault(ws_wave *wave, const ws_instruction *in, int lane,
               const char *id, const char *format, ...) {
  struct ws_fault_record *fault = &wave->group->fault;
  if (fault->id)
    return;
  fault->id = id;
  fault->wave = wave->index;
  fault->lane = lane;
  fault->pc = in ? (uint32_t)(in - wave->group->text->items) : UINT32_MAX;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(fault->text, sizeof fault->text, format, arguments);
  va_end(arguments);
}
