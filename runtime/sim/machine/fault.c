/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The first thing that went wrong in a workgroup, and lists of such.
 */
#include "run.h"

#include <stdarg.h>
#include <stdio.h>

/* Index of an instruction of the text; of a copy (VGPR indexing): of the one
 * that the wave fetched last. */
static uint32_t index_of(const ws_wave *wave, const ws_instruction *in) {
  const ws_text *text = wave->group->text;
  const uintptr_t offset = (uintptr_t)in - (uintptr_t)text->items;
  if (!in)
    return UINT32_MAX;
  if (offset < (uintptr_t)text->count * sizeof *in)
    return (uint32_t)(offset / sizeof *in);
  return wave->pc ? wave->pc - 1 : UINT32_MAX;
}

static void record(struct ws_fault_record *out, const ws_wave *wave,
                   const ws_instruction *in, int lane, const char *id,
                   const char *format, va_list arguments) {
  if (out->id)
    return;
  out->id = id;
  out->wave = wave->index;
  out->lane = lane;
  out->pc = index_of(wave, in);
  vsnprintf(out->text, sizeof out->text, format, arguments);
}

void ws__fault(ws_wave *wave, const ws_instruction *in, int lane,
               const char *id, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(&wave->group->fault, wave, in, lane, id, format, arguments);
  va_end(arguments);
}

void ws__note(ws_wave *wave, const ws_instruction *in, int lane, const char *id,
              const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  record(&wave->group->note, wave, in, lane, id, format, arguments);
  va_end(arguments);
}

/* ---- of a run -------------------------------------------------------------
 */

static void insert(ws_fault_list *list, const ws_fault_entry *entry) {
  int at = list->count;
  while (at > 0 && list->entries[at - 1].index > entry->index)
    at--;
  if (at == WS_FAULTS_MAX)
    return;
  const int last =
      list->count < WS_FAULTS_MAX ? list->count++ : list->count - 1;
  memmove(&list->entries[at + 1], &list->entries[at],
          (size_t)(last - at) * sizeof list->entries[0]);
  list->entries[at] = *entry;
}

void ws__fault_list_add(ws_fault_list *list, uint64_t index,
                        const ws_group *group,
                        const struct ws_fault_record *fault) {
  if (!fault->id)
    return;
  const ws_fault_entry entry = {
      .index = index,
      .workgroup = {group->id[0], group->id[1], group->id[2]},
      .fault = *fault};
  insert(list, &entry);
}

void ws__fault_list_merge(ws_fault_list *list, const ws_fault_list *from) {
  for (int i = 0; i < from->count; i++)
    insert(list, &from->entries[i]);
}
