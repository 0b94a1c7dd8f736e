/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP and OpenCL C to gfx942 code objects through comgr, for tests with kernels
 * that are not ours.
 */
#ifndef WS_TEST_FOREIGN_COMPILE_H
#define WS_TEST_FOREIGN_COMPILE_H

#include "wavesmith/base.h"
#include "ws_test.h"

#include <amd_comgr/amd_comgr.h>
#include <stdlib.h>
#include <string.h>

typedef struct foreign_step {
  amd_comgr_action_kind_t action;
  amd_comgr_language_t language;
  amd_comgr_data_kind_t from, to;
} foreign_step;

static void foreign_show_log(amd_comgr_data_set_t set) {
  size_t count = 0, size = 0;
  amd_comgr_data_t log;
  amd_comgr_action_data_count(set, AMD_COMGR_DATA_KIND_LOG, &count);
  if (!count ||
      amd_comgr_action_data_get_data(set, AMD_COMGR_DATA_KIND_LOG, 0, &log))
    return;
  amd_comgr_get_data(log, &size, NULL);
  char *text = calloc(1, size + 1);
  amd_comgr_get_data(log, &size, text);
  printf("# %.2000s\n", text);
  free(text);
  amd_comgr_release_data(log);
}

/* Consumes data, returns the result's data of kind step->to. */
static amd_comgr_data_t foreign_run(const foreign_step *step,
                                    amd_comgr_data_t data,
                                    const char *const *options, size_t count) {
  amd_comgr_action_info_t info;
  amd_comgr_data_set_t in, out;
  amd_comgr_data_t result = {0};
  amd_comgr_create_action_info(&info);
  if (step->language != AMD_COMGR_LANGUAGE_NONE)
    amd_comgr_action_info_set_language(info, step->language);
  amd_comgr_action_info_set_isa_name(info, "amdgcn-amd-amdhsa--gfx942");
  amd_comgr_action_info_set_option_list(info, (const char **)options, count);
  amd_comgr_action_info_set_logging(info, true);
  amd_comgr_create_data_set(&in);
  amd_comgr_create_data_set(&out);
  amd_comgr_data_set_add(in, data);
  if (amd_comgr_do_action(step->action, info, in, out) ||
      amd_comgr_action_data_get_data(out, step->to, 0, &result)) {
    foreign_show_log(out);
    WS_FAIL("comgr action %d failed", (int)step->action);
  }
  amd_comgr_destroy_data_set(in);
  amd_comgr_destroy_data_set(out);
  amd_comgr_destroy_action_info(info);
  amd_comgr_release_data(data);
  return result;
}

/* The code object of a source file below tests/sim/foreign (.hip or .cl). */
static void *foreign_compile(ws_arena *arena, const char *name,
                             const char *optimisation, size_t *out_size) {
  static const foreign_step link = {
      AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, AMD_COMGR_LANGUAGE_NONE,
      AMD_COMGR_DATA_KIND_RELOCATABLE, AMD_COMGR_DATA_KIND_EXECUTABLE};
  static const foreign_step generate = {
      AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE, AMD_COMGR_LANGUAGE_NONE,
      AMD_COMGR_DATA_KIND_BC, AMD_COMGR_DATA_KIND_RELOCATABLE};
  bool hip = strstr(name, ".hip") != NULL;
  const foreign_step compile = {
      hip ? AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC
          : AMD_COMGR_ACTION_COMPILE_SOURCE_WITH_DEVICE_LIBS_TO_BC,
      hip ? AMD_COMGR_LANGUAGE_HIP : AMD_COMGR_LANGUAGE_OPENCL_2_0,
      AMD_COMGR_DATA_KIND_SOURCE, AMD_COMGR_DATA_KIND_BC};
  const char *const hip_options[] = {optimisation,
                                     "-nogpuinc",
                                     "-nogpulib",
                                     "-fgpu-rdc",
                                     "-mcode-object-version=5",
                                     "-gline-tables-only"};
  const char *const cl_options[] = {optimisation,
                                    "-Xclang",
                                    "-finclude-default-header",
                                    "-isystem",
                                    "/usr/lib/llvm-21/lib/clang/21/include",
                                    "-mcode-object-version=5",
                                    "-gline-tables-only"};
  const char *root = getenv("WS_SOURCE_DIR");
  char *text;
  size_t size;
  ws_diag diag;
  amd_comgr_data_t data;
  if (ws_file_read(
          arena, ws_arena_printf(arena, "%s/tests/sim/foreign/%s", root, name),
          &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  amd_comgr_create_data(AMD_COMGR_DATA_KIND_SOURCE, &data);
  amd_comgr_set_data(data, size, text);
  amd_comgr_set_data_name(data, name);
  data = hip ? foreign_run(&compile, data, hip_options, 6)
             : foreign_run(&compile, data, cl_options, 7);
  data = foreign_run(&generate, data, &optimisation, 1);
  data = foreign_run(&link, data, NULL, 0);
  amd_comgr_get_data(data, out_size, NULL);
  void *image = ws_arena_alloc(arena, *out_size);
  amd_comgr_get_data(data, out_size, image);
  amd_comgr_release_data(data);
  return image;
}

#endif
