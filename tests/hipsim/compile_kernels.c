/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * compile_kernels IN.hip OUT.co [ISA]: HIP device code to a code object, by
 * comgr; ISA: gfx942 when left out.
 */
#include <amd_comgr/amd_comgr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(amd_comgr_status_t status, const char *what) {
  const char *text = "";
  if (status == AMD_COMGR_STATUS_SUCCESS)
    return;
  amd_comgr_status_string(status, &text);
  fprintf(stderr, "compile_kernels: %s: %s\n", what, text);
  exit(1);
}
#define NEED(call) need(call, #call)

static char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  char *text = malloc(1 << 20);
  if (!file || !text) {
    perror(path);
    exit(3);
  }
  *size = fread(text, 1, 1 << 20, file);
  fclose(file);
  return text;
}

static amd_comgr_action_info_t make_action(const char *processor) {
  const char *options[] = {"-O2", "-nogpuinc", "-nogpulib", "-std=c++17",
                           "-mcode-object-version=5"};
  char isa[128];
  amd_comgr_action_info_t action;
  snprintf(isa, sizeof isa, "amdgcn-amd-amdhsa--%s", processor);
  NEED(amd_comgr_create_action_info(&action));
  NEED(amd_comgr_action_info_set_language(action, AMD_COMGR_LANGUAGE_HIP));
  NEED(amd_comgr_action_info_set_isa_name(action, isa));
  NEED(amd_comgr_action_info_set_logging(action, true));
  NEED(amd_comgr_action_info_set_option_list(
      action, options, sizeof options / sizeof options[0]));
  return action;
}

static void print_log(amd_comgr_data_set_t set) {
  amd_comgr_data_t data;
  char text[1 << 14] = "";
  size_t size = sizeof text - 1;
  if (!amd_comgr_action_data_get_data(set, AMD_COMGR_DATA_KIND_LOG, 0, &data) &&
      !amd_comgr_get_data(data, &size, text))
    fputs(text, stderr);
}

/* One action from a set of one object, which it destroys. */
static amd_comgr_data_set_t act(amd_comgr_action_kind_t kind,
                                amd_comgr_action_info_t action,
                                amd_comgr_data_set_t input) {
  amd_comgr_data_set_t output;
  NEED(amd_comgr_create_data_set(&output));
  amd_comgr_status_t status = amd_comgr_do_action(kind, action, input, output);
  if (status)
    print_log(output);
  need(status, "action");
  NEED(amd_comgr_destroy_data_set(input));
  return output;
}

/* Destroys the set. */
static void write_result(amd_comgr_data_set_t set, const char *path) {
  amd_comgr_data_t data;
  size_t size = 0;
  NEED(amd_comgr_action_data_get_data(set, AMD_COMGR_DATA_KIND_EXECUTABLE, 0,
                                      &data));
  NEED(amd_comgr_get_data(data, &size, NULL));
  char *bytes = malloc(size);
  FILE *file = fopen(path, "wb");
  if (!bytes || !file) {
    perror(path);
    exit(3);
  }
  NEED(amd_comgr_get_data(data, &size, bytes));
  if (fwrite(bytes, 1, size, file) != size || fclose(file)) {
    perror(path);
    exit(3);
  }
  free(bytes);
  NEED(amd_comgr_release_data(data));
  NEED(amd_comgr_destroy_data_set(set));
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: compile_kernels IN.hip OUT.co [ISA]\n");
    return 2;
  }
  size_t size;
  char *text = read_file(argv[1], &size);
  amd_comgr_data_t source;
  amd_comgr_data_set_t input;
  NEED(amd_comgr_create_data(AMD_COMGR_DATA_KIND_SOURCE, &source));
  NEED(amd_comgr_set_data(source, size, text));
  NEED(amd_comgr_set_data_name(source, "kernels.hip"));
  NEED(amd_comgr_create_data_set(&input));
  NEED(amd_comgr_data_set_add(input, source));
  NEED(amd_comgr_release_data(source));
  amd_comgr_action_info_t action = make_action(argc > 3 ? argv[3] : "gfx942");
  amd_comgr_data_set_t bitcode =
      act(AMD_COMGR_ACTION_COMPILE_SOURCE_TO_BC, action, input);
  amd_comgr_data_set_t object =
      act(AMD_COMGR_ACTION_CODEGEN_BC_TO_RELOCATABLE, action, bitcode);
  NEED(amd_comgr_action_info_set_option_list(action, NULL, 0));
  write_result(
      act(AMD_COMGR_ACTION_LINK_RELOCATABLE_TO_EXECUTABLE, action, object),
      argv[2]);
  NEED(amd_comgr_destroy_action_info(action));
  free(text);
  return 0;
}
