/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a candidate to what is launched, for a template with tensor maps,
 * clusters and dynamic shared memory. Extents are worked out by hand from the
 * layout of the problem's arguments.
 */
#include "../gemm_shape.h"
#include "wavesmith/measure.h"
#include "ws_test.h"

static ws_arena *arena;

static const ws_expr *expression(const char *text) {
  ws_expr *parsed;
  ws_diag diag;
  WS_CHECK(ws_expr_parse(arena, text, "t.ll", 1, &parsed, &diag) == WS_OK);
  return parsed;
}

static const int64_t tiles[] = {64, 128};
static const ws_param params[] = {
    {"tile_m", "ws.tile_m", "rows", tiles, 2, 128, 1},
    {"tile_n", "ws.tile_n", "columns", tiles, 2, 64, 1}};

typedef struct fixture {
  ws_template tmpl;
  ws_tensor_map maps[2];
  ws_launch launch;
  ws_occupancy occupancy;
  ws_kernel_facts facts;
  ws_build_result build;
  const ws_candidate *candidate;
} fixture;

static fixture *make(void) {
  arena = ws_arena_create();
  fixture *f = ws_arena_alloc(arena, sizeof *f);
  f->maps[0] = (ws_tensor_map){.name = "a_map",
                               .argument = "a",
                               .element = WS_ELEMENT_U8,
                               .inner = expression("k"),
                               .outer = expression("m"),
                               .box_inner = expression("128"),
                               .box_outer = expression("tile_m"),
                               .swizzle = expression("128")};
  f->maps[1] = (ws_tensor_map){.name = "as_map",
                               .argument = "as",
                               .element = WS_ELEMENT_F32,
                               .inner = expression("m"),
                               .outer = expression("k / 128"),
                               .box_inner = expression("tile_m"),
                               .box_outer = expression("1"),
                               .swizzle = expression("0")};
  f->launch = (ws_launch){.kernel = "gemm",
                          .grid = {expression("m / tile_m * (n / tile_n)"),
                                   expression("1"), expression("1")},
                          .threads = expression("384"),
                          .condition = expression("1")};
  f->occupancy = (ws_occupancy){.kernel = "gemm",
                                .cluster = expression("2"),
                                .workgroups = expression("1")};
  f->tmpl = (ws_template){.file = "t.ll",
                          .name = "t",
                          .problem = "fp8_gemm_blockscale",
                          .target = "sm_90a",
                          .params = params,
                          .param_count = 2,
                          .launches = &f->launch,
                          .launch_count = 1,
                          .occupancies = &f->occupancy,
                          .occupancy_count = 1,
                          .tensor_maps = f->maps,
                          .tensor_map_count = 2};
  f->facts = (ws_kernel_facts){.name = "gemm",
                               .dynamic_lds = 200000,
                               .args = {{"a_map", 0, 128},
                                        {"as_map", 128, 128},
                                        {"bs", 256, 8},
                                        {"n", 264, 4}},
                               .arg_count = 4};
  f->build = (ws_build_result){.kernels = &f->facts, .kernel_count = 1};
  f->candidate = ws_candidate_create(arena, &f->tmpl);
  return f;
}

static ws_status workload(fixture *f, ws_workload *out, ws_diag *diag) {
  const ws_shape shape = gemm_shape(1024, 1536, 7168);
  return ws_workload_of(arena, ws_problem_find("fp8_gemm_blockscale"), 0,
                        f->candidate, &f->build, &shape, 132, out, diag);
}

static void refused(fixture *f, const char *part) {
  ws_workload out;
  ws_diag diag = {""};
  WS_CHECK(workload(f, &out, &diag) == WS_INPUT);
  if (!strstr(diag.text, part))
    WS_FAIL("'%s' does not say '%s'", diag.text, part);
  ws_arena_destroy(arena);
}

WS_TEST(shared_memory_and_maps_go_into_the_launch) {
  fixture *f = make();
  ws_workload out;
  ws_diag diag = {""};
  if (workload(f, &out, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(out.launch_count, 1);
  const ws_workload_launch *launch = &out.launches[0];
  WS_CHECK_INT(launch->dynamic_lds, 200000);
  WS_CHECK_INT(launch->grid[0], 8 * 24);
  WS_CHECK_INT(launch->operand_count, 4);
  const ws_operand *a = &launch->operands[0], *as = &launch->operands[1];
  WS_CHECK_INT(a->kind, WS_OPERAND_TENSOR_MAP);
  WS_CHECK_TEXT(a->name, "a");
  WS_CHECK_INT(a->size, 128);
  WS_CHECK_INT(a->map.element_bytes, 1);
  WS_CHECK_INT(a->map.inner, 7168);
  WS_CHECK_INT(a->map.outer, 1024);
  WS_CHECK_INT(a->map.box_inner, 128);
  WS_CHECK_INT(a->map.box_outer, 128);
  WS_CHECK_INT(a->map.swizzle, 128);
  WS_CHECK_TEXT(as->name, "as");
  WS_CHECK_INT(as->offset, 128);
  WS_CHECK_INT(as->map.element_bytes, 4);
  WS_CHECK_INT(as->map.inner, 1024);
  WS_CHECK_INT(as->map.outer, 56);
  WS_CHECK_INT(as->map.swizzle, 0);
  WS_CHECK_INT(launch->operands[2].kind, WS_OPERAND_PROBLEM);
  WS_CHECK_TEXT(launch->operands[2].name, "bs");
  ws_arena_destroy(arena);
}

WS_TEST(a_map_beyond_its_argument_is_refused) {
  fixture *f = make();
  f->maps[0].outer = expression("m + 1");
  refused(f, "more than the 7340032 bytes of 'a'"); /* 1024 * 7168 */
  f = make();
  f->maps[0].inner = expression("0");
  refused(f, "an inner extent of 0");
}

WS_TEST(boxes_and_swizzles_have_ranges) {
  fixture *f = make();
  f->maps[0].box_outer = expression("257");
  refused(f, "an outer box of 257 is not within 1 and 256");
  f = make();
  f->maps[0].swizzle = expression("96");
  refused(f, "a swizzle of 96 bytes");
  f = make();
  f->maps[1].swizzle = expression("16");
  refused(f, "a swizzle of 16 bytes");
}

WS_TEST(a_grid_is_a_multiple_of_the_clusters) {
  fixture *f = make();
  f->occupancy.cluster = expression("5"); /* of 192 workgroups */
  refused(f, "no multiple of its clusters of 5");
}

WS_TEST(an_argument_of_nobody_is_refused) {
  fixture *f = make();
  f->maps[1].argument = "scales";
  refused(f, "an argument 'scales'");
}

WS_TEST(a_map_of_the_workspace_has_its_size) {
  fixture *f = make();
  f->maps[1].argument = "workspace";
  f->tmpl.workspace = expression("4 * m * (k / 128)");
  ws_workload out;
  ws_diag diag = {""};
  if (workload(f, &out, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(out.workspace_bytes, 4 * 1024 * 56);
  f->tmpl.workspace = expression("4 * m * (k / 128) - 1");
  refused(f, "of 'workspace'");
}
