/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * comgr behind a few verbs and a metadata reader. One action is one call of
 * `run_action`: it builds the data sets, runs, copies result and log into the
 * arena, and releases every handle, whatever happened.
 */
#include "comgr.h"
#include "wavesmith/hip_source.h"

#include <amd_comgr/amd_comgr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct action {
  amd_comgr_action_kind_t kind;
  amd_comgr_data_kind_t input_kind, output_kind;
  amd_comgr_language_t language;
  const char *input_name;
  const char *const *options;
  size_t option_count;
} action;

void ws_comgr_prepare(void) { setenv("AMD_COMGR_CACHE", "0", 1); }

void ws_comgr_version(size_t *out_major, size_t *out_minor) {
  amd_comgr_get_version(out_major, out_minor);
}

/* The first member of a kind, copied with a NUL after it. */
static bool take_data(amd_comgr_data_set_t set, amd_comgr_data_kind_t kind,
                      ws_arena *arena, ws_blob *out) {
  size_t count = 0, size = 0;
  amd_comgr_data_t data;
  if (amd_comgr_action_data_count(set, kind, &count) || !count ||
      amd_comgr_action_data_get_data(set, kind, 0, &data))
    return false;
  amd_comgr_get_data(data, &size, NULL);
  char *bytes = ws_arena_alloc(arena, size + 1);
  amd_comgr_status_t status = amd_comgr_get_data(data, &size, bytes);
  amd_comgr_release_data(data);
  *out = (ws_blob){bytes, size};
  return status == AMD_COMGR_STATUS_SUCCESS;
}

static amd_comgr_status_t set_up_action(const action *act, const char *target,
                                        amd_comgr_action_info_t info) {
  char isa[64];
  snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%s", target);
  amd_comgr_status_t status = amd_comgr_action_info_set_isa_name(info, isa);
  if (status == AMD_COMGR_STATUS_SUCCESS && act->language)
    status = amd_comgr_action_info_set_language(info, act->language);
  if (status == AMD_COMGR_STATUS_SUCCESS && act->option_count)
    /* comgr's prototype lacks a const; it copies the strings */
    status = amd_comgr_action_info_set_option_list(
        info, (const char **)(void *)act->options, act->option_count);
  if (status == AMD_COMGR_STATUS_SUCCESS)
    status = amd_comgr_action_info_set_logging(info, true);
  return status;
}

static amd_comgr_status_t add_input(const action *act, ws_blob input,
                                    amd_comgr_data_set_t set) {
  amd_comgr_data_t data;
  amd_comgr_status_t status = amd_comgr_create_data(act->input_kind, &data);
  if (status)
    return status;
  status = amd_comgr_set_data(data, input.size, input.data);
  if (!status)
    status = amd_comgr_set_data_name(data, act->input_name);
  if (!status)
    status = amd_comgr_data_set_add(set, data);
  amd_comgr_release_data(data);
  return status;
}

static bool run_action(const action *act, const char *target, ws_blob input,
                       ws_arena *arena, ws_blob *out, char **out_log) {
  amd_comgr_data_set_t inputs, outputs;
  amd_comgr_action_info_t info;
  WS_ASSERT(!amd_comgr_create_data_set(&inputs));
  WS_ASSERT(!amd_comgr_create_data_set(&outputs));
  WS_ASSERT(!amd_comgr_create_action_info(&info));
  amd_comgr_status_t status = set_up_action(act, target, info);
  if (!status)
    status = add_input(act, input, inputs);
  if (!status)
    status = amd_comgr_do_action(act->kind, info, inputs, outputs);
  ws_blob log = {"", 0};
  take_data(outputs, AMD_COMGR_DATA_KIND_LOG, arena, &log);
  bool done = !status && take_data(outputs, act->output_kind, arena, out);
  const char *text = "";
  if (!done && log.size == 0)
    amd_comgr_status_string(status, &text);
  *out_log = ws_arena_printf(arena, "%s%s", (const char *)log.data, text);
  amd_comgr_destroy_action_info(info);
  amd_comgr_destroy_data_set(outputs);
  amd_comgr_destroy_data_set(inputs);
  return done;
}

bool ws_comgr_link(ws_arena *arena, const char *target, ws_blob object,
                   ws_blob *out_code_object, char **out_log) {
  const action act = {AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE,
                      AMD_COMGR_DATA_KIND_RELOCATABLE,
                      AMD_COMGR_DATA_KIND_EXECUTABLE,
                      AMD_COMGR_LANGUAGE_NONE,
                      "kernels.o",
                      NULL,
                      0};
  return run_action(&act, target, object, arena, out_code_object, out_log);
}

bool ws_comgr_disassemble(ws_arena *arena, const char *target,
                          ws_blob code_object, ws_blob *out_text,
                          char **out_log) {
  const action act = {AMD_COMGR_ACTION_DISASSEMBLE_EXECUTABLE_TO_SOURCE,
                      AMD_COMGR_DATA_KIND_EXECUTABLE,
                      AMD_COMGR_DATA_KIND_SOURCE,
                      AMD_COMGR_LANGUAGE_NONE,
                      "kernels.co",
                      NULL,
                      0};
  return run_action(&act, target, code_object, arena, out_text, out_log);
}

/* ---- kernel metadata -------------------------------------------------------
 */

/* The text of a scalar, in the arena; NULL when the key is missing. */
static char *read_text(amd_comgr_metadata_node_t map, const char *key,
                       ws_arena *arena) {
  amd_comgr_metadata_node_t node;
  if (amd_comgr_metadata_lookup(map, key, &node))
    return NULL;
  size_t size = 0; /* counts the NUL */
  char *text = NULL;
  if (!amd_comgr_get_metadata_string(node, &size, NULL)) {
    text = ws_arena_alloc(arena, size + 1);
    if (amd_comgr_get_metadata_string(node, &size, text))
      text = NULL;
  }
  amd_comgr_destroy_metadata(node);
  return text;
}

static int32_t read_number(amd_comgr_metadata_node_t map, const char *key,
                           ws_arena *arena) {
  const char *text = read_text(map, key, arena);
  return text ? (int32_t)strtol(text, NULL, 0) : 0;
}

static void read_arguments(amd_comgr_metadata_node_t kernel, ws_arena *arena,
                           ws_kernel_facts *facts) {
  amd_comgr_metadata_node_t list, argument;
  size_t count = 0;
  if (amd_comgr_metadata_lookup(kernel, ".args", &list))
    return;
  amd_comgr_get_metadata_list_size(list, &count);
  for (size_t i = 0; i < count && facts->arg_count < WS_PROBLEM_MAX_ARGS; i++) {
    if (amd_comgr_index_list_metadata(list, i, &argument))
      break;
    const char *name = read_text(argument, ".name", arena);
    if (name) /* hidden arguments have none */
      facts->args[facts->arg_count++] =
          (struct ws_kernarg){name, read_number(argument, ".offset", arena),
                              read_number(argument, ".size", arena)};
    amd_comgr_destroy_metadata(argument);
  }
  amd_comgr_destroy_metadata(list);
}

static void read_kernel(amd_comgr_metadata_node_t kernel, ws_arena *arena,
                        ws_kernel_facts *facts) {
  const struct {
    const char *key;
    int32_t *field;
  } numbers[] = {
      {".vgpr_count", &facts->vgpr},
      {".agpr_count", &facts->agpr},
      {".sgpr_count", &facts->sgpr},
      {".group_segment_fixed_size", &facts->lds_bytes},
      {".private_segment_fixed_size", &facts->scratch_bytes},
      {".vgpr_spill_count", &facts->vgpr_spills},
      {".sgpr_spill_count", &facts->sgpr_spills},
      {".kernarg_segment_size", &facts->kernarg_bytes},
      {".max_flat_workgroup_size", &facts->max_workgroup},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    *numbers[i].field = read_number(kernel, numbers[i].key, arena);
  const char *dynamic = read_text(kernel, ".uses_dynamic_stack", arena);
  facts->dynamic_stack =
      dynamic && (!strcmp(dynamic, "true") || !strcmp(dynamic, "1"));
  const char *name = read_text(kernel, ".name", arena);
  facts->name = name ? name : "";
  read_arguments(kernel, arena, facts);
}

static void read_kernel_list(amd_comgr_metadata_node_t list, ws_arena *arena,
                             ws_kernel_facts **out_kernels, int *out_count) {
  size_t count = 0;
  amd_comgr_get_metadata_list_size(list, &count);
  if (count > WS_MAX_KERNELS)
    count = WS_MAX_KERNELS;
  ws_kernel_facts *kernels = ws_arena_alloc(arena, count * sizeof *kernels);
  for (size_t i = 0; i < count; i++) {
    amd_comgr_metadata_node_t kernel;
    if (amd_comgr_index_list_metadata(list, i, &kernel))
      break;
    read_kernel(kernel, arena, &kernels[(*out_count)++]);
    amd_comgr_destroy_metadata(kernel);
  }
  *out_kernels = kernels;
}

bool ws_comgr_read_kernels(ws_arena *arena, ws_blob code_object,
                           ws_kernel_facts **out_kernels, int *out_count,
                           char **out_log) {
  amd_comgr_data_t data;
  amd_comgr_metadata_node_t root, list;
  *out_kernels = NULL;
  *out_count = 0;
  *out_log = ws_arena_strdup(arena, "the code object has no kernel metadata");
  if (amd_comgr_create_data(AMD_COMGR_DATA_KIND_EXECUTABLE, &data))
    return false;
  bool found = !amd_comgr_set_data(data, code_object.size, code_object.data) &&
               !amd_comgr_get_data_metadata(data, &root);
  if (found && !amd_comgr_metadata_lookup(root, "amdhsa.kernels", &list)) {
    read_kernel_list(list, arena, out_kernels, out_count);
    amd_comgr_destroy_metadata(list);
  }
  if (found)
    amd_comgr_destroy_metadata(root);
  amd_comgr_release_data(data);
  return *out_count > 0;
}

/* ---- OpenCL C --------------------------------------------------------------
 */

const char *ws_comgr_clang_headers(const char *file, ws_findings *findings) {
  ws_arena *arena = findings->arena;
  unsigned major, minor, patch;
  LLVMGetVersion(&major, &minor, &patch);
  const char *candidates[] = {
      ws_arena_printf(arena, "/usr/lib/llvm-%u/lib/clang/%u/include", major,
                      major), /* Debian */
      ws_arena_printf(arena, "/usr/include/clang/%u/include", major),
      ws_arena_printf(arena, "/opt/rocm/llvm/lib/clang/%u/include", major),
  };
  for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
    if (ws_file_exists(
            ws_arena_printf(arena, "%s/opencl-c-base.h", candidates[i])))
      return candidates[i];
  ws_findings_add(findings, "opencl-compile", "", file, 0,
                  "clang's OpenCL headers are not installed: install "
                  "libclang-common-%u-dev, or answer with LLVM IR",
                  major);
  return NULL;
}

/* One finding per "region.cl:LINE:COLUMN: error: TEXT" of clang's log. */
static void add_clang_errors(const char *log, const char *file,
                             ws_findings *findings) {
  static const char mark[] = "region.cl:", kind[] = ": error: ";
  int before = findings->count;
  for (const char *at = log; (at = strstr(at, mark));) {
    at += sizeof mark - 1;
    size_t length = strcspn(at, "\n");
    char *rest;
    long line = strtol(at, &rest, 10);
    if (*rest == ':')
      strtol(rest + 1, &rest, 10);
    if (strncmp(rest, kind, sizeof kind - 1))
      continue;
    rest += sizeof kind - 1;
    ws_findings_add(findings, "opencl-compile", "", file, (int)line,
                    "OpenCL C: %.*s", (int)(length - (size_t)(rest - at)),
                    rest);
  }
  if (findings->count == before)
    ws_findings_add(findings, "opencl-compile", "", file, 0,
                    "OpenCL C does not compile: %.600s", log);
}

bool ws_comgr_compile_opencl(const char *text, const char *file,
                             const ws_candidate *candidate, ws_arena *arena,
                             const void **out_bitcode, size_t *out_size,
                             ws_findings *findings) {
  const char *folder = ws_comgr_clang_headers(file, findings);
  if (!folder)
    return false;
  const char *options[16 + WS_TEMPLATE_MAX_PARAMS] = {
      "-O3",
      "-Xclang",
      "-disable-llvm-passes",
      "-Xclang",
      "-finclude-default-header",
      "-Xclang",
      "-fdeclare-opencl-builtins",
      "-mcode-object-version=5",
      "-gline-tables-only",
      "-DWS_MOST(parameter)=(parameter)",
      "-isystem",
      folder};
  size_t count = 12;
  for (int i = 0; candidate && i < candidate->tmpl->param_count; i++)
    options[count++] =
        ws_arena_printf(arena, "-D%s=%lld", candidate->tmpl->params[i].name,
                        (long long)candidate->values[i]);
  const action act = {AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC,
                      AMD_COMGR_DATA_KIND_SOURCE,
                      AMD_COMGR_DATA_KIND_BC,
                      AMD_COMGR_LANGUAGE_OPENCL_2_0,
                      "region.cl",
                      options,
                      count};
  const char *target = candidate ? candidate->tmpl->target : "gfx942";
  ws_blob bitcode;
  char *log;
  if (!run_action(&act, target, (ws_blob){text, strlen(text)}, arena, &bitcode,
                  &log)) {
    add_clang_errors(log, file, findings);
    return false;
  }
  *out_bitcode = bitcode.data;
  *out_size = bitcode.size;
  return true;
}

/* ---- import
 * -------------------------------------------------------------------
 */

static void add_import_errors(const char *log, const char *file, bool compiled,
                              ws_findings *findings) {
  int before = findings->count;
  ws_hip_error error;
  for (const char *at = log; ws_hip_next_error(findings->arena, &at, &error);)
    ws_findings_add(findings, "hip", "", error.file, error.line, "%s",
                    error.text);
  if (findings->count == before && !compiled)
    ws_findings_add(findings, "hip", "", file, 0, "it does not compile: %.600s",
                    log);
}

bool ws_comgr_compile_import(const char *text, const char *compiled_as,
                             const char *language, const char *target,
                             const char *const *options, int option_count,
                             ws_arena *arena, const void **out_bitcode,
                             size_t *out_size, ws_findings *findings) {
  const bool opencl = !strcmp(language, "opencl");
  const action act = {AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC,
                      AMD_COMGR_DATA_KIND_SOURCE,
                      AMD_COMGR_DATA_KIND_BC,
                      opencl ? AMD_COMGR_LANGUAGE_OPENCL_2_0
                             : AMD_COMGR_LANGUAGE_HIP,
                      opencl ? "kernel.cl" : "kernel.hip",
                      options,
                      (size_t)option_count};
  ws_blob bitcode = {NULL, 0};
  char *log;
  int before = findings->count;
  bool compiled = run_action(&act, target, (ws_blob){text, strlen(text)}, arena,
                             &bitcode, &log);
  add_import_errors(log, compiled_as, compiled, findings);
  *out_bitcode = bitcode.data;
  *out_size = bitcode.size;
  return compiled && findings->count == before;
}
