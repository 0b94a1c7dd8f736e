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

/* A device knows the lines of code that has them in it. */
static const char *how_to_get_lines(const ws_build_result *result,
                                    const ws_finding *finding) {
  const bool of_device = result->stage && !strcmp(result->stage, "device");
  return of_device && !finding->line
             ? "; --lines names its line where one is known"
             : "";
}

static void print_findings(const ws_build_result *result, ws_arena *arena) {
  for (int i = 0; i < result->finding_count; i++) {
    const ws_finding *finding = &result->findings[i];
    printf("finding    %s", finding->id);
    if (finding->region[0])
      printf(" in %s", finding->region);
    if (finding->line > 0)
      printf(" at %s", ws_finding_place(arena, finding));
    printf("\n           %s%s\n", finding->text,
           how_to_get_lines(result, finding));
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
         "%d stores, ",
         facts->mix.mfma_16x16x32 + facts->mix.mfma_32x32x16 +
             facts->mix.mfma_other,
         facts->mix.valu + facts->mix.valu_trans, facts->mix.ds_read,
         facts->mix.ds_write, facts->mix.vmem_load, facts->mix.vmem_store);
  if (facts->mix.vmem_atomic)
    printf("%d atomics, ", facts->mix.vmem_atomic);
  printf("%d barriers, %d waits\n", facts->mix.barrier, facts->mix.wait);
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
    printf("           ");
    for (int d = 0; d < item->shape.dims->count; d++)
      printf("%s=%-6" PRId64 " ", item->shape.dims->names[d],
             item->shape.size[d]);
    if (item->known)
      printf("%9.2f us  bound by %s\n", item->estimate.us,
             ws_bound_text(item->estimate.bound));
    else
      printf("none: %s\n", item->why_not.text);
  }
}

/* "(line 120, region rows)", as far as it is known. */
static void print_place(const ws_gap *gap) {
  if (gap->line > 0 && *gap->region)
    printf(" (%s:%d, in %s)", gap->file, gap->line, gap->region);
  else if (*gap->region)
    printf(" (in %s)", gap->region);
}

static void print_coverage(const check_report *report) {
  enum { SHOWN = 8 };
  const ws_coverage_ran *covered = &report->covered;
  if (covered->near)
    printf("covered    %s\n", covered->near);
  if (covered->thorough)
    printf("coverage   %s\n", covered->thorough);
  if (covered->uncompared)
    printf("not compared: %d of these runs; the reference, kernel %s, does not "
           "take the shape, or takes too long on it\n",
           covered->uncompared,
           ws_problem_find(report->candidate->tmpl->problem)->kernel->file);
  for (int i = 0; i < covered->gap_count && i < SHOWN; i++) {
    printf("not covered: %s", covered->gaps[i].text);
    print_place(&covered->gaps[i]);
    putchar('\n');
  }
  if (covered->gap_count > SHOWN)
    printf("not covered: %d more, which --json lists\n",
           covered->gap_count - SHOWN);
  if (covered->gap_count && report->may_cover_more)
    puts("           --thorough covers more");
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
  print_findings(result, arena);
  if (!ws_build_is_modelled(result))
    printf("sanitizer  ran nothing: %s\n           %s: %s\n",
           result->not_modelled,
           report->covered.proven ? "verified instead" : "NOT VERIFIED",
           report->covered.instead ? report->covered.instead
                                   : "only all stages run it");
  for (int i = 0; i < result->kernel_count; i++)
    print_kernel(report, &result->kernels[i], arena);
  if (result->code_object_size && report->target &&
      report->target->family == WS_FAMILY_NVPTX)
    printf("code       %s, %zu bytes\n", code_object_kind(result),
           result->code_object_size);
  print_coverage(report);
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
    cJSON *object = ws_json_write(&ws_json_of_shape, &item->shape);
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

static void add_coverage(cJSON *json, const ws_coverage_ran *covered) {
  if (covered->thorough)
    cJSON_AddStringToObject(json, "coverage", covered->thorough);
  if (!covered->near)
    return;
  cJSON_AddStringToObject(json, "covered", covered->near);
  if (covered->uncompared)
    cJSON_AddNumberToObject(json, "not_compared", covered->uncompared);
  cJSON *gaps = cJSON_AddArrayToObject(json, "not_covered");
  for (int i = 0; i < covered->gap_count; i++)
    cJSON_AddItemToArray(gaps, ws_json_write(&ws_gap_json, &covered->gaps[i]));
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
  add_coverage(json, &report->covered);
  if (!ws_build_is_modelled(report->result)) {
    cJSON_AddBoolToObject(json, "verified_instead", report->covered.proven);
    cJSON_AddStringToObject(json, "instead",
                            report->covered.instead ? report->covered.instead
                                                    : "");
  }
  char *text = cJSON_Print(json);
  puts(text ? text : "{}");
  cJSON_free(text);
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}
