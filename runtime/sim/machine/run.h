/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs all workgroups of a plan and keeps the first faults and notes in
 * workgroup order.
 */
#ifndef WAVESMITH_SIM_RUN_H
#define WAVESMITH_SIM_RUN_H

#include "launch.h"

enum { WS_FAULTS_MAX = 32 };

typedef struct ws_fault_entry {
  uint64_t index; /* workgroup, x fastest */
  uint32_t workgroup[3];
  struct ws_fault_record fault;
} ws_fault_entry;

/* The faults of the lowest workgroups, ascending. */
typedef struct ws_fault_list {
  int count;
  ws_fault_entry entries[WS_FAULTS_MAX];
} ws_fault_list;

/* fault: of the group, if it has an id. */
void ws__fault_list_add(ws_fault_list *list, uint64_t index,
                        const ws_group *group,
                        const struct ws_fault_record *fault);
void ws__fault_list_merge(ws_fault_list *list, const ws_fault_list *from);

/* Returns the wave instructions executed. threads: at least 1. */
int64_t ws__run(const ws_plan *plan, bool checked, int threads,
                ws_fault_list *out_faults, ws_fault_list *out_notes);

/* With names, lines and disassembly, as many as faults, in the arena. */
ws_sim_finding *ws__findings_of(const ws_plan *plan,
                                const ws_fault_list *faults, ws_arena *arena);

#endif
