/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Launching and running: initial registers as AMDGPUUsage describes them,
 * hidden arguments, threads, workgroups that wait for each other, refused
 * launches.
 */
#include "sim_fixture.h"

#include <cjson/cJSON.h>

/* s[8:9] in, s[10:11] out */
#define ARGUMENTS "s_load_dwordx4 s[8:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"

static void open_body(fixture_run *run, const char *body,
                      const fixture_options *options,
                      const ws_sim_options *settings) {
  static const fixture_options none = {.lds = 0};
  ws_arena *arena = ws_arena_create();
  fixture_open(run, fixture_kernel(arena, body, options ? options : &none),
               settings);
  ws_arena_destroy(arena);
}

/* ---- initial state --------------------------------------------------------
 */

/* Every lane stores v0 at out[flat id], with the flat id by workgroup id and
 * lane count from the kernel's own arithmetic: s2 * threads + wave lane. */
WS_TEST(work_item_ids_are_packed) {
  fixture_run run;
  /* v1 = x + 5 (y + 3 z), all from v0 */
  open_body(&run,
            ARGUMENTS "v_and_b32_e32 v1, 0x3ff, v0\nv_bfe_u32 v2, v0, 10, 10\n"
                      "v_bfe_u32 v3, v0, 20, 10\nv_mul_u32_u24_e32 v3, 3, v3\n"
                      "v_add_u32_e32 v2, v2, v3\nv_mul_u32_u24_e32 v2, 5, v2\n"
                      "v_add_lshl_u32 v1, v1, v2, 2\n"
                      "global_store_dword v1, v0, s[10:11]\n",
            &(fixture_options){.threads = 1024, .work_items = 2}, NULL);
  run.in = ws_sim_allocate(run.sim, 4);
  uint32_t *out = run.out = ws_sim_allocate(run.sim, 4 * 5 * 3 * 7);
  const void *kernarg[2] = {run.in, run.out};
  const ws_sim_launch launch = {ws_sim_kernel_find(run.module, "probe"),
                                {1, 1, 1},
                                {5, 3, 7},
                                0,
                                kernarg,
                                sizeof kernarg,
                                0,
                                0};
  WS_CHECK(ws_sim_run(run.sim, &launch, run.arena, &run.report, NULL) == WS_OK);
  fixture_no_findings(&run); /* 105 items: lanes beyond are off */
  for (uint32_t i = 0; i < 5 * 3 * 7; i++)
    WS_CHECK_INT(out[i], i % 5 | i / 5 % 3 << 10 | i / 15 << 20);
  fixture_close(&run);
}

WS_TEST(workgroup_ids) {
  fixture_run run;
  open_body(&run,
            ARGUMENTS
            "s_mul_i32 s20, s4, 3\ns_add_u32 s20, s20, s3\n"
            "s_mul_i32 s20, s20, 2\ns_add_u32 s20, s20, s2\n"
            "s_lshl_b32 s20, s20, 2\ns_mul_i32 s21, s4, 100\n"
            "s_mul_i32 s22, s3, 10\ns_add_u32 s21, s21, s22\n"
            "s_add_u32 s21, s21, s2\nv_mov_b32_e32 v1, s20\n"
            "v_mov_b32_e32 v2, s21\nglobal_store_dword v1, v2, s[10:11]\n",
            NULL, NULL);
  run.in = ws_sim_allocate(run.sim, 4);
  uint32_t *out = run.out = ws_sim_allocate(run.sim, 4 * 24);
  const void *kernarg[2] = {run.in, run.out};
  const ws_sim_launch launch = {ws_sim_kernel_find(run.module, "probe"),
                                {2, 3, 4},
                                {64, 1, 1},
                                0,
                                kernarg,
                                sizeof kernarg,
                                0,
                                0};
  WS_CHECK(ws_sim_run(run.sim, &launch, run.arena, &run.report, NULL) == WS_OK);
  fixture_no_findings(&run);
  for (uint32_t i = 0; i < 24; i++)
    WS_CHECK_INT(out[i], i % 2 + 10 * (i / 2 % 3) + 100 * (i / 6));
  fixture_close(&run);
}

/* User SGPRs in order: dispatch ptr, queue ptr, kernarg, dispatch id; then
 * workgroup ids. */
WS_TEST(user_sgprs_and_dispatch_packet) {
  fixture_run run;
  open_body(
      &run,
      "s_load_dwordx4 s[20:23], s[4:5], 0x0\n"
      "s_load_dwordx4 s[24:27], s[0:1], 0x0\ns_load_dword s28, s[0:1], 0x1c\n"
      "s_load_dwordx2 s[30:31], s[0:1], 0x28\ns_waitcnt lgkmcnt(0)\n"
      "v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, s25\nv_mov_b32_e32 v3, s27\n"
      "v_mov_b32_e32 v4, s28\nv_mov_b32_e32 v5, s8\n"
      "s_cmp_eq_u64 s[30:31], s[4:5]\ns_cselect_b32 s29, 1, 0\n"
      "global_store_dwordx4 v1, v[2:5], s[22:23]\n"
      "v_mov_b32_e32 v6, s29\nglobal_store_dword v1, v6, s[22:23] offset:16\n",
      &(fixture_options){.lds = 512,
                         .threads = 128,
                         .descriptor = ".amdhsa_user_sgpr_dispatch_ptr 1\n"
                                       ".amdhsa_user_sgpr_queue_ptr 1\n"
                                       ".amdhsa_user_sgpr_dispatch_id 1\n"},
      NULL);
  WS_CHECK(fixture_launch(&run, "\0\0\0", 4, 64, 1, 128) == WS_OK);
  fixture_no_findings(&run);
  const uint32_t *out = run.out;
  WS_CHECK_INT(out[0], 128 | 1 << 16); /* workgroup size x, y */
  WS_CHECK_INT(out[1], 128);           /* grid size x in work-items */
  WS_CHECK_INT(out[2], 512);           /* group segment */
  WS_CHECK_INT(out[3], 0);             /* s8: workgroup id x */
  WS_CHECK_INT(out[4], 1);             /* the kernarg address */
  fixture_close(&run);
}

/* Firmware that preloads starts 256 bytes further on. */
WS_TEST(kernarg_preload) {
  fixture_run run;
  open_body(&run,
            "s_load_dwordx2 s[2:3], s[0:1], 0x0\n"
            "s_load_dwordx2 s[4:5], s[0:1], 0x8\ns_waitcnt lgkmcnt(0)\n"
            "s_branch .Lmain\n.p2align 8\n.Lmain:\n"
            "v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, s6\n"
            "global_store_dword v1, v2, s[4:5]\n",
            &(fixture_options){
                .descriptor = ".amdhsa_user_sgpr_kernarg_preload_length 4\n"
                              ".amdhsa_user_sgpr_kernarg_preload_offset 0\n"},
            NULL);
  WS_CHECK(fixture_launch(&run, "\0\0\0", 4, 64, 3, 64) == WS_OK);
  fixture_no_findings(&run);
  WS_CHECK(*(uint32_t *)run.out < 3); /* one of the workgroup ids */
  WS_CHECK_INT(run.report.wave_instructions, 3 * 4);
  fixture_close(&run);
}

#define HIDDEN(name, offset, size)                                             \
  "      - {.offset: " offset ", .size: " size ", .value_kind: " name "}\n"

WS_TEST(hidden_arguments) {
  fixture_run run;
  open_body(
      &run,
      ARGUMENTS "s_load_dwordx8 s[20:27], s[0:1], 0x10\n"
                "s_load_dwordx2 s[28:29], s[0:1], 0x30\ns_waitcnt lgkmcnt(0)\n"
                "v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, s20\n"
                "v_mov_b32_e32 v3, s21\nv_mov_b32_e32 v4, s22\n"
                "v_mov_b32_e32 v5, s23\nv_mov_b32_e32 v6, s24\n"
                "v_mov_b32_e32 v7, s25\nv_mov_b32_e32 v8, s26\n"
                "v_mov_b32_e32 v9, s28\n"
                "global_store_dwordx4 v1, v[2:5], s[10:11]\n"
                "global_store_dwordx4 v1, v[6:9], s[10:11] offset:16\n",
      &(fixture_options){
          .kernarg = 272,
          .threads = 192,
          .arguments = HIDDEN("hidden_block_count_x", "16",
                              "4") HIDDEN("hidden_block_count_y", "20", "4")
              HIDDEN("hidden_block_count_z", "24",
                     "4") HIDDEN("hidden_group_size_x", "28",
                                 "2") HIDDEN("hidden_group_size_y", "30", "2")
                  HIDDEN("hidden_group_size_z", "32", "2")
                      HIDDEN("hidden_remainder_x", "34", "2")
                          HIDDEN("hidden_grid_dims", "36", "2")
                              HIDDEN("hidden_dynamic_lds_size", "40", "4")
                                  HIDDEN("hidden_global_offset_x", "48", "8")},
      NULL);
  run.in = ws_sim_allocate(run.sim, 4);
  uint32_t *out = run.out = ws_sim_allocate(run.sim, 32);
  const void *kernarg[2] = {run.in, run.out};
  const ws_sim_launch launch = {ws_sim_kernel_find(run.module, "probe"),
                                {7, 5, 1},
                                {32, 6, 1},
                                4096,
                                kernarg,
                                sizeof kernarg,
                                0,
                                0};
  WS_CHECK(ws_sim_run(run.sim, &launch, run.arena, &run.report, NULL) == WS_OK);
  fixture_no_findings(&run);
  static const uint32_t want[8] = {7, 5, 1, 32 | 6 << 16, 1, 2, 4096, 0};
  for (int i = 0; i < 8; i++)
    WS_CHECK_INT(out[i], want[i]);
  fixture_close(&run);
}

/* ---- refused launches -----------------------------------------------------
 */

static void expect_refusal(uint32_t grid, uint32_t block, uint32_t lds,
                           size_t bytes, const char *part) {
  fixture_run run;
  open_body(&run, "s_nop 0", &(fixture_options){.threads = 256, .lds = 1024},
            NULL);
  const void *kernarg[2] = {NULL, NULL};
  const ws_sim_launch launch = {ws_sim_kernel_find(run.module, "probe"),
                                {grid, 1, 1},
                                {block, 1, 1},
                                lds,
                                kernarg,
                                bytes,
                                0,
                                0};
  WS_CHECK(ws_sim_run(run.sim, &launch, run.arena, &run.report, &run.diag) ==
           WS_INPUT);
  WS_CHECK_CONTAINS(run.diag.text, part);
  WS_CHECK_CONTAINS(run.diag.text, "probe");
  fixture_close(&run);
}

WS_TEST(refuses_wrong_launches) {
  expect_refusal(0, 64, 0, 16, "grid of 0");
  expect_refusal(1, 0, 0, 16, "block of 0");
  expect_refusal(1, 2048, 0, 16, "block of 2048");
  expect_refusal(1, 512, 0, 16, "at most 256");
  expect_refusal(1u << 30, 64, 0, 16, "2^32");
  expect_refusal(1, 64, 65536, 16, "66560 bytes of LDS");
  expect_refusal(1, 64, 0, 8,
                 "8 bytes of arguments given, the kernel takes 16");
}

/* ---- running --------------------------------------------------------------
 */

/* The first `waiting` groups wait until the others have counted up. */
static void run_waiting(int waiting, int groups, int threads) {
  fixture_run run;
  char body[1024];
  snprintf(body, sizeof body,
           ARGUMENTS "v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v2, 1\n"
                     "s_mov_b64 exec, 1\ns_cmp_lt_u32 s2, %d\n"
                     "s_cbranch_scc1 .Lwait\n"
                     "global_atomic_add v1, v2, s[10:11]\ns_branch .Ldone\n"
                     ".Lwait:\nglobal_load_dword v3, v1, s[10:11] sc1\n"
                     "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s20, v3\n"
                     "s_sleep 1\ns_cmp_lt_u32 s20, %d\n"
                     "s_cbranch_scc1 .Lwait\n.Ldone:\n",
           waiting, groups - waiting);
  open_body(&run, body, NULL, &(ws_sim_options){.threads = threads});
  run.in = ws_sim_allocate(run.sim, 4);
  run.out = ws_sim_allocate(run.sim, 4);
  *(uint32_t *)run.out = 0;
  const void *kernarg[2] = {run.in, run.out};
  const ws_sim_launch launch = {ws_sim_kernel_find(run.module, "probe"),
                                {(uint32_t)groups, 1, 1},
                                {64, 1, 1},
                                0,
                                kernarg,
                                sizeof kernarg,
                                0,
                                0};
  WS_CHECK(ws_sim_run(run.sim, &launch, run.arena, &run.report, NULL) == WS_OK);
  fixture_no_findings(&run);
  WS_CHECK_INT(*(uint32_t *)run.out, groups - waiting);
  fixture_close(&run);
}

WS_TEST(workgroups_that_wait_for_each_other) {
  run_waiting(40, 200, 1);
  run_waiting(40, 200, 3);
}

/* As at a barrier of the grid: all but one wait for the last. */
WS_TEST(all_workgroups_of_a_card_may_wait) {
  run_waiting(303, 304, 1);
  run_waiting(607, 608, 3);
}

/* Wave 0 waits for wave 1 through LDS, without a barrier. */
WS_TEST(waves_that_wait_for_each_other) {
  fixture_run run;
  open_body(
      &run,
      ARGUMENTS
      "v_mov_b32_e32 v1, 0\nv_mov_b32_e32 v5, 7\nv_readfirstlane_b32 s20, v0\n"
      "s_cmp_eq_u32 s20, 0\ns_mov_b64 exec, 1\ns_cbranch_scc0 .Lset\n"
      ".Lwait:\nglobal_load_dword v3, v1, s[10:11] sc1\n"
      "s_waitcnt vmcnt(0)\nv_readfirstlane_b32 s21, v3\ns_cmp_lg_u32 s21, 7\n"
      "s_cbranch_scc1 .Lwait\ns_branch .Ldone\n"
      ".Lset:\nglobal_store_dword v1, v5, s[10:11]\n.Ldone:\n",
      &(fixture_options){.threads = 128}, NULL);
  WS_CHECK(fixture_launch(&run, "\0\0\0", 4, 4, 1, 128) == WS_OK);
  fixture_no_findings(&run);
  fixture_close(&run);
}

/* Groups 3, 6, 9, ... store out of bounds; the others must be done. */
static void run_faulty(int threads, fixture_run *run) {
  open_body(run,
            ARGUMENTS
            "v_lshlrev_b32_e32 v1, 2, v0\ns_lshl_b32 s20, s2, 8\n"
            "v_add_u32_e32 v1, s20, v1\nv_mov_b32_e32 v2, s2\n"
            "s_mul_hi_u32 s21, s2, 0x55555556\ns_mul_i32 s21, s21, 3\n"
            "s_cmp_eq_u32 s21, s2\ns_cbranch_scc0 .Lgood\n"
            "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 .Lgood\n"
            "v_add_u32_e32 v1, 0x1000000, v1\n"
            ".Lgood:\nglobal_store_dword v1, v2, s[10:11]\n",
            NULL, &(ws_sim_options){.threads = threads});
  WS_CHECK(fixture_launch(run, "\0\0\0", 4, 256 * 150, 150, 64) == WS_OK);
}

WS_TEST(findings_are_sorted_and_the_same_on_any_number_of_threads) {
  for (int threads = 1; threads <= 4; threads++) {
    fixture_run run;
    run_faulty(threads, &run);
    WS_CHECK_INT(run.report.finding_count, 32);
    for (int i = 0; i < 32; i++) {
      WS_CHECK_TEXT(run.report.findings[i].id, "oob-global");
      WS_CHECK_INT(run.report.findings[i].workgroup[0], 3 * (i + 1));
      WS_CHECK_INT(run.report.findings[i].lane, 0);
      WS_CHECK_CONTAINS(run.report.findings[i].instruction,
                        "global_store_dword v1, v2");
    }
    const uint32_t *out = run.out;
    for (uint32_t group = 0; group < 150; group++)
      WS_CHECK_INT(out[64 * group + 5],
                   group && group % 3 == 0 ? 0xcccccccc : group);
    fixture_close(&run);
  }
}

WS_TEST(report_as_json) {
  fixture_run run;
  run_faulty(1, &run);
  cJSON *json = ws_sim_report_to_json(&run.report);
  const cJSON *findings = cJSON_GetObjectItem(json, "findings");
  WS_CHECK_INT(cJSON_GetArraySize(findings), 32);
  const cJSON *first = cJSON_GetArrayItem(findings, 0);
  WS_CHECK_TEXT(cJSON_GetObjectItem(first, "id")->valuestring, "oob-global");
  WS_CHECK_TEXT(cJSON_GetObjectItem(first, "kernel")->valuestring, "probe");
  WS_CHECK(cJSON_GetObjectItem(json, "wave_instructions")->valuedouble > 150);
  cJSON_Delete(json);
  fixture_close(&run);
}

WS_TEST(unchecked_runs_give_the_same_result) {
  for (int unchecked = 0; unchecked < 2; unchecked++) {
    fixture_run run;
    open_body(&run,
              ARGUMENTS "v_lshlrev_b32_e32 v1, 2, v0\n"
                        "global_load_dword v2, v1, s[8:9]\n"
                        "s_waitcnt vmcnt(0)\nds_write_b32 v1, v2\n"
                        "s_waitcnt lgkmcnt(0)\ns_barrier\n"
                        "v_xor_b32_e32 v3, 0x3fc, v1\nds_read_b32 v4, v3\n"
                        "s_waitcnt lgkmcnt(0)\n"
                        "global_store_dword v1, v4, s[10:11]\n",
              &(fixture_options){.lds = 1024, .threads = 256},
              &(ws_sim_options){.unchecked = unchecked});
    uint32_t in[256];
    for (uint32_t i = 0; i < 256; i++)
      in[i] = i * i;
    WS_CHECK(fixture_launch(&run, in, sizeof in, sizeof in, 1, 256) == WS_OK);
    fixture_no_findings(&run);
    for (uint32_t i = 0; i < 256; i++)
      WS_CHECK_INT(((uint32_t *)run.out)[i], (255 - i) * (255 - i));
    fixture_close(&run);
  }
}
