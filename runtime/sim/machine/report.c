/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Faults become findings: with the kernel's name, the disassembly and the line
 * of the template; and a report becomes JSON.
 */
#include "run.h"

#include <cjson/cJSON.h>

static void locate(const ws_sim_module *module, uint32_t pc,
                   ws_sim_finding *finding) {
  finding->instruction = finding->region = finding->file = "";
  if (pc >= module->text.count)
    return;
  finding->pc = module->text.items[pc].offset;
  if (module->text.lines && module->text.lines[pc])
    finding->instruction = module->text.lines[pc];
  if (!module->lines)
    return;
  const ws_line *line = &module->lines[pc];
  finding->region = line->region ? line->region : "";
  finding->file = line->file ? line->file : "";
  finding->line = line->line;
}

ws_sim_finding *ws__findings_of(const ws_plan *plan,
                                const ws_fault_list *faults, ws_arena *arena) {
  ws_sim_finding *findings =
      ws_arena_alloc(arena, (size_t)faults->count * sizeof *findings);
  for (int i = 0; i < faults->count; i++) {
    const ws_fault_entry *entry = &faults->entries[i];
    ws_sim_finding *finding = &findings[i];
    locate(plan->kernel->module, entry->fault.pc, finding);
    finding->id = entry->fault.id;
    finding->kernel = ws_arena_strdup(arena, plan->kernel->info.name);
    finding->instruction = ws_arena_strdup(arena, finding->instruction);
    finding->region = ws_arena_strdup(arena, finding->region);
    finding->file = ws_arena_strdup(arena, finding->file);
    memcpy(finding->workgroup, entry->workgroup, sizeof finding->workgroup);
    finding->wave = entry->fault.wave;
    finding->lane = entry->fault.lane;
    finding->text = ws_arena_strdup(arena, entry->fault.text);
  }
  return findings;
}

static cJSON *finding_to_json(const ws_sim_finding *finding) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "id", finding->id);
  cJSON_AddStringToObject(json, "kernel", finding->kernel);
  cJSON *workgroup = cJSON_AddArrayToObject(json, "workgroup");
  for (int i = 0; i < 3; i++)
    cJSON_AddItemToArray(workgroup, cJSON_CreateNumber(finding->workgroup[i]));
  cJSON_AddNumberToObject(json, "wave", finding->wave);
  cJSON_AddNumberToObject(json, "lane", finding->lane);
  cJSON_AddNumberToObject(json, "pc", (double)finding->pc);
  cJSON_AddStringToObject(json, "instruction", finding->instruction);
  cJSON_AddStringToObject(json, "region", finding->region);
  cJSON_AddStringToObject(json, "file", finding->file);
  cJSON_AddNumberToObject(json, "line", finding->line);
  cJSON_AddStringToObject(json, "text", finding->text);
  return json;
}

cJSON *ws_sim_report_to_json(const ws_sim_report *report) {
  cJSON *json = cJSON_CreateObject();
  cJSON *findings = cJSON_AddArrayToObject(json, "findings");
  for (int i = 0; i < report->finding_count; i++)
    cJSON_AddItemToArray(findings, finding_to_json(&report->findings[i]));
  cJSON *notes = cJSON_AddArrayToObject(json, "notes");
  for (int i = 0; i < report->note_count; i++)
    cJSON_AddItemToArray(notes, finding_to_json(&report->notes[i]));
  cJSON_AddNumberToObject(json, "wave_instructions",
                          (double)report->wave_instructions);
  cJSON_AddNumberToObject(json, "seconds", report->seconds);
  return json;
}
