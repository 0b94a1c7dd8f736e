/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * For tests that run assembly on the simulator the whole way: comgr assembles
 * and links a code object, ws_sim_load reads it, ws_sim_run runs it.
 *
 *   fixture_assemble  text -> code object
 *   fixture_kernel    wraps instructions into a module with one kernel
 *   fixture_launch    loads and runs it on given buffers
 */
#ifndef WS_TEST_SIM_FIXTURE_H
#define WS_TEST_SIM_FIXTURE_H

#include "wavesmith/sim.h"
#include "ws_test.h"

#include <amd_comgr/amd_comgr.h>

/* ---- assembler ------------------------------------------------------------
 */

static void fixture_show_log(amd_comgr_data_set_t set) {
  size_t count = 0, size = 0;
  amd_comgr_data_t log;
  amd_comgr_action_data_count(set, AMD_COMGR_DATA_KIND_LOG, &count);
  if (!count ||
      amd_comgr_action_data_get_data(set, AMD_COMGR_DATA_KIND_LOG, 0, &log))
    return;
  amd_comgr_get_data(log, &size, NULL);
  char *text = calloc(1, size + 1);
  amd_comgr_get_data(log, &size, text);
  fprintf(stderr, "# %.3000s\n", text);
  free(text);
  amd_comgr_release_data(log);
}

static amd_comgr_data_t fixture_action(amd_comgr_action_kind_t kind,
                                       amd_comgr_data_t data,
                                       amd_comgr_data_kind_t result_kind) {
  amd_comgr_action_info_t info;
  amd_comgr_data_set_t in, out;
  amd_comgr_data_t result = {0};
  amd_comgr_create_action_info(&info);
  amd_comgr_action_info_set_isa_name(info, "amdgcn-amd-amdhsa--gfx942");
  amd_comgr_action_info_set_logging(info, true);
  amd_comgr_create_data_set(&in);
  amd_comgr_create_data_set(&out);
  amd_comgr_data_set_add(in, data);
  if (amd_comgr_do_action(kind, info, in, out) ||
      amd_comgr_action_data_get_data(out, result_kind, 0, &result)) {
    fixture_show_log(out);
    WS_FAIL("comgr action %d failed", (int)kind);
  }
  amd_comgr_destroy_data_set(in);
  amd_comgr_destroy_data_set(out);
  amd_comgr_destroy_action_info(info);
  amd_comgr_release_data(data);
  return result;
}

static void *fixture_assemble(ws_arena *arena, const char *text,
                              size_t *out_size) {
  setenv("AMD_COMGR_CACHE", "0", 1);
  amd_comgr_data_t data;
  amd_comgr_create_data(AMD_COMGR_DATA_KIND_SOURCE, &data);
  amd_comgr_set_data(data, strlen(text), text);
  amd_comgr_set_data_name(data, "probe.s");
  data = fixture_action(AMD_COMGR_ACTION_ASSEMBLE_SOURCE_TO_RELOCATABLE, data,
                        AMD_COMGR_DATA_KIND_RELOCATABLE);
  amd_comgr_set_data_name(data, "probe.o");
  data = fixture_action(AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, data,
                        AMD_COMGR_DATA_KIND_EXECUTABLE);
  amd_comgr_get_data(data, out_size, NULL);
  void *bytes = ws_arena_alloc(arena, *out_size);
  amd_comgr_get_data(data, out_size, bytes);
  amd_comgr_release_data(data);
  return bytes;
}

/* ---- kernel around instructions -------------------------------------------
 */

typedef struct fixture_options {
  int threads;            /* per workgroup; 0: 64 */
  int lds;                /* bytes; -1: none */
  int scratch;            /* bytes per lane */
  int work_items;         /* .amdhsa_system_vgpr_workitem_id */
  const char *descriptor; /* further .amdhsa_ lines; NULL: none */
  const char *arguments;  /* further .args entries of the metadata */
  int kernarg;            /* bytes; 0: 16 */
  const char *rest;       /* behind the kernel: functions, data */
} fixture_options;

/* What LLVM sets for kernels that say nothing. */
static const char fixture_denormals[] = ".amdhsa_float_denorm_mode_32 3";

/* s[0:1] is the kernarg segment, s2 s3 s4 the workgroup's id; 256 registers, of
 * which v0-v127 and a0-a127. */
static char *fixture_kernel(ws_arena *arena, const char *body,
                            const fixture_options *options) {
  const int threads = options->threads ? options->threads : 64;
  const int lds = options->lds < 0 ? 0 : options->lds;
  const int kernarg = options->kernarg ? options->kernarg : 16;
  return ws_arena_printf(
      arena,
      ".amdgcn_target \"amdgcn-amd-amdhsa--gfx942\"\n"
      ".amdhsa_code_object_version 5\n"
      ".text\n.globl probe\n.p2align 8\n.type probe,@function\nprobe:\n"
      "%s\ns_endpgm\n.Lend:\n.size probe, .Lend-probe\n%s\n"
      ".rodata\n.p2align 6\n.amdhsa_kernel probe\n"
      ".amdhsa_user_sgpr_kernarg_segment_ptr 1\n"
      ".amdhsa_system_sgpr_workgroup_id_x 1\n"
      ".amdhsa_system_sgpr_workgroup_id_y 1\n"
      ".amdhsa_system_sgpr_workgroup_id_z 1\n"
      ".amdhsa_system_vgpr_workitem_id %d\n"
      ".amdhsa_next_free_vgpr 256\n.amdhsa_next_free_sgpr 96\n"
      ".amdhsa_accum_offset 128\n"
      ".amdhsa_group_segment_fixed_size %d\n"
      ".amdhsa_private_segment_fixed_size %d\n"
      ".amdhsa_enable_private_segment %d\n"
      ".amdhsa_kernarg_size %d\n%s\n.end_amdhsa_kernel\n"
      ".amdgpu_metadata\n---\namdhsa.version: [ 1, 2 ]\namdhsa.kernels:\n"
      "  - .name: probe\n    .symbol: probe.kd\n"
      "    .kernarg_segment_size: %d\n    .kernarg_segment_align: 8\n"
      "    .group_segment_fixed_size: %d\n"
      "    .private_segment_fixed_size: %d\n    .wavefront_size: 64\n"
      "    .sgpr_count: 96\n    .vgpr_count: 256\n    .agpr_count: 128\n"
      "    .max_flat_workgroup_size: %d\n    .args:\n"
      "      - {.name: in, .address_space: global, .offset: 0, .size: 8, "
      ".value_kind: global_buffer}\n"
      "      - {.name: out, .address_space: global, .offset: 8, .size: 8, "
      ".value_kind: global_buffer}\n%s\n...\n.end_amdgpu_metadata\n",
      body, options->rest ? options->rest : "", options->work_items, lds,
      options->scratch, options->scratch > 0, kernarg,
      options->descriptor ? options->descriptor : fixture_denormals, kernarg,
      lds, options->scratch, threads,
      options->arguments ? options->arguments : "");
}

/* ---- running --------------------------------------------------------------
 */

typedef struct fixture_run {
  ws_arena *arena;
  ws_sim *sim;
  ws_sim_module *module;
  ws_sim_report report;
  void *in, *out;
  ws_diag diag;
} fixture_run;

static void fixture_open(fixture_run *run, const char *text,
                         const ws_sim_options *options) {
  run->arena = ws_arena_create();
  size_t size = 0;
  const void *image = fixture_assemble(run->arena, text, &size);
  if (ws_sim_create(options, &run->sim, &run->diag) != WS_OK ||
      ws_sim_load(run->sim, image, size, &run->module, &run->diag) != WS_OK)
    WS_FAIL("%s", run->diag.text);
}

static void fixture_close(fixture_run *run) {
  ws_sim_destroy(run->sim);
  ws_arena_destroy(run->arena);
}

/* Buffers of in_bytes (copied from in) and out_bytes (0xcc), one launch. */
static ws_status fixture_launch(fixture_run *run, const void *in,
                                size_t in_bytes, size_t out_bytes,
                                uint32_t grid, uint32_t block) {
  run->in = ws_sim_allocate(run->sim, in_bytes);
  run->out = ws_sim_allocate(run->sim, out_bytes);
  WS_CHECK(run->in && run->out);
  if (in_bytes)
    memcpy(run->in, in, in_bytes);
  memset(run->out, 0xcc, out_bytes);
  const void *kernarg[2] = {run->in, run->out};
  const ws_sim_launch launch = {.kernel =
                                    ws_sim_kernel_find(run->module, "probe"),
                                .grid = {grid, 1, 1},
                                .block = {block, 1, 1},
                                .kernarg = kernarg,
                                .kernarg_size = sizeof kernarg};
  WS_CHECK(launch.kernel != NULL);
  return ws_sim_run(run->sim, &launch, run->arena, &run->report, &run->diag);
}

static void fixture_no_findings(const fixture_run *run) {
  for (int i = 0; i < run->report.finding_count; i++) {
    const ws_sim_finding *finding = &run->report.findings[i];
    fprintf(stderr, "# %s: wave %d lane %d pc 0x%llx \"%s\": %s\n", finding->id,
            finding->wave, finding->lane, (unsigned long long)finding->pc,
            finding->instruction, finding->text);
  }
  if (run->report.finding_count)
    WS_FAIL("%d findings", run->report.finding_count);
}

#endif
