/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Verdict, findings, facts and estimates of one candidate, for people and as
 * JSON. An estimate is always shown with its provenance.
 */
#include "check_report.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Threads of a kernel's launch at this point; 0 when nothing launches it. */
static int launch_threads(const ws_candidate *candidate, const char *kernel,
                          ws_arena *arena) {
  ws_diag diag;
  int64_t threads = 0;
  if (!candidate)
    return 0;
  ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  for (int i = 0; i < candidate->tmpl->launch_count; i++) {
    const ws_launch *launch = &candidate->tmpl->launches[i];
    if (!strcmp(launch->kernel, kernel) &&
        ws_expr_eval(launch->threads, &scope, &threads, &diag) != WS_OK)
      threads = 0;
  }
  return (int)threads;
}

static void print_findings(const ws_build_result *result) {
  for (int i = 0; i < result->finding_count; i++) {
    const ws_finding *finding = &result->findings[i];
    printf("finding    %s", finding->id);
    if (finding->region[0])
      printf(" in %s", finding->region);
    if (finding->line > 0)
      printf(" at %s:%d", finding->file, finding->line);
    printf("\n           %s\n", finding->text);
  }
}

static void print_amdgpu_kernel(const check_report *report,
                                const ws_kernel_facts *facts, ws_arena *arena) {
  int threads = launch_threads(report->candidate, facts->name, arena);
  printf("kernel     %s: %d VGPRs (%d accumulation), %d SGPRs, %d bytes of "
         "LDS, ",
         facts->name, facts->vgpr, facts->agpr, facts->sgpr, facts->lds_bytes);
  if (facts->scratch_bytes || facts->dynamic_stack)
    printf("%d bytes of scratch (%d spilled), ", facts->scratch_bytes,
           facts->vgpr_spills);
  printf("%d bytes of code\n", facts->code_bytes);
  if (threads)
    printf("           %d threads, %d workgroups per CU\n", threads,
           ws_occupancy_workgroups(facts, threads, facts->lds_bytes));
  printf("           %d MFMA, %d VALU, %d LDS reads, %d LDS writes, %d loads, "
         "%d stores, %d barriers, %d waits\n",
         facts->mix.mfma_16x16x32 + facts->mix.mfma_32x32x16 +
             facts->mix.mfma_other,
         facts->mix.valu + facts->mix.valu_trans, facts->mix.ds_read,
         facts->mix.ds_write, facts->mix.vmem_load, facts->mix.vmem_store,
         facts->mix.barrier, facts->mix.wait);
}

static void print_nvptx_kernel(const check_report *report,
                               const ws_kernel_facts *facts, ws_arena *arena) {
  int threads = launch_threads(report->candidate, facts->name, arena);
  int lds = facts->lds_bytes + facts->dynamic_lds;
  printf("kernel     %s: ", facts->name);
  if (facts->vgpr)
    printf("%d registers, ", facts->vgpr);
  else
    printf("registers not known (no ptxas), ");
  printf("%d bytes of shared memory (%d static, %d dynamic)", lds,
         facts->lds_bytes, facts->dynamic_lds);
  if (facts->scratch_bytes)
    printf(", %d bytes of stack (%d registers spilled)", facts->scratch_bytes,
           facts->vgpr_spills);
  if (facts->code_bytes)
    printf(", %d bytes of code", facts->code_bytes);
  int held = ws_target_workgroups(report->target, facts->vgpr, threads, lds);
  if (threads && held)
    printf("\n           %d threads, %d workgroups per SM", threads, held);
  else if (threads)
    printf("\n           %d threads", threads);
  putchar('\n');
}

static void print_kernel(const check_report *report,
                         const ws_kernel_facts *facts, ws_arena *arena) {
  bool nvptx = report->target && report->target->family == WS_FAMILY_NVPTX;
  (nvptx ? print_nvptx_kernel : print_amdgpu_kernel)(report, facts, arena);
}

static const char *code_object_kind(const ws_build_result *result) {
  static const char magic[] = "\x7f"
                              "ELF";
  bool elf = result->code_object_size >= 4 &&
             !memcmp(result->code_object, magic, sizeof magic - 1);
  return elf ? "cubin" : "PTX; the driver assembles it";
}

static void print_estimates(const check_report *report) {
  if (report->estimate_count)
    printf("estimates  %s\n", WS_PROVENANCE_ESTIMATE);
  for (int i = 0; i < report->estimate_count; i++) {
    const check_estimate *item = &report->estimates[i];
    printf("           m=%-6" PRId64 " n=%-6" PRId64 " k=%-6" PRId64 " ",
           item->shape.m, item->shape.n, item->shape.k);
    if (item->known)
      printf("%9.2f us  bound by %s\n", item->estimate.us,
             ws_bound_text(item->estimate.bound));
    else
      printf("none: %s\n", item->why_not.text);
  }
}

void check_report_print(const check_report *report) {
  const ws_build_result *result = report->result;
  ws_arena *arena = ws_arena_create();
  printf("verdict    %s", ws_verdict_text(result->verdict));
  if (result->stage[0])
    printf(" (%s)", result->stage);
  putchar('\n');
  if (report->candidate) {
    printf("candidate  %s\n", report->candidate->id.hex);
    printf("           %s\n",
           ws_candidate_values_text(arena, report->candidate));
    const char *variants = ws_candidate_variants_text(arena, report->candidate);
    if (variants[0])
      printf("           %s\n", variants);
  }
  if (!result->finding_count && result->reason[0])
    printf("reason     %s\n", result->reason);
  print_findings(result);
  for (int i = 0; i < result->kernel_count; i++)
    print_kernel(report, &result->kernels[i], arena);
  if (result->code_object_size && report->target &&
      report->target->family == WS_FAMILY_NVPTX)
    printf("code       %s, %zu bytes\n", code_object_kind(result),
           result->code_object_size);
  if (report->covered)
    printf("coverage   %s\n", report->covered);
  print_estimates(report);
  printf("times      parse %.1f, check %.1f, sanitize %.1f, lower %.1f ms\n",
         result->parse_ms, result->check_ms, result->sanitize_ms,
         result->lower_ms);
  ws_arena_destroy(arena);
}

static cJSON *estimates_json(const check_report *report) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < report->estimate_count; i++) {
    const check_estimate *item = &report->estimates[i];
    cJSON *object = ws_json_write(&ws_shape_json, &item->shape);
    if (item->known) {
      cJSON_AddNumberToObject(object, "us", item->estimate.us);
      cJSON_AddStringToObject(object, "bound",
                              ws_bound_text(item->estimate.bound));
      cJSON_AddStringToObject(object, "provenance", WS_PROVENANCE_ESTIMATE);
    } else {
      cJSON_AddStringToObject(object, "error", item->why_not.text);
    }
    cJSON_AddItemToArray(list, object);
  }
  return list;
}

void check_report_print_json(const check_report *report) {
  ws_arena *arena = ws_arena_create();
  const ws_candidate *candidate = report->candidate;
  cJSON *json = cJSON_CreateObject();
  if (candidate) {
    cJSON_AddStringToObject(json, "candidate", candidate->id.hex);
    cJSON_AddStringToObject(json, "template", candidate->tmpl->name);
    cJSON_AddStringToObject(json, "assignments",
                            ws_candidate_values_text(arena, candidate));
    cJSON_AddStringToObject(json, "variants",
                            ws_candidate_variants_text(arena, candidate));
  }
  cJSON_AddItemToObject(json, "result",
                        ws_build_result_to_json(report->result));
  cJSON_AddItemToObject(json, "estimates", estimates_json(report));
  if (report->covered)
    cJSON_AddStringToObject(json, "coverage", report->covered);
  char *text = cJSON_Print(json);
  puts(text ? text : "{}");
  cJSON_free(text);
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}
