/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Code objects: anything that calls itself an ELF file. The opcodes' handlers
 * are left out: nothing here runs, and every opcode loads.
 */
#include "code_object.h"
#include "fuzz.h"

static void do_nothing(ws_wave *wave, const ws_instruction *in) {
  (void)wave;
  (void)in;
}
ws_execute ws__execute_scalar(ws_op op) {
  (void)op;
  return do_nothing;
}
ws_execute ws__execute_vector(ws_op op) { return ws__execute_scalar(op); }
ws_execute ws__execute_lds(ws_op op) { return ws__execute_scalar(op); }
ws_execute ws__execute_memory(ws_op op) { return ws__execute_scalar(op); }
ws_execute ws__execute_matrix(ws_op op) { return ws__execute_scalar(op); }
void ws__fault(ws_wave *wave, const ws_instruction *in, int lane,
               const char *id, const char *format, ...) {
  (void)lane;
  (void)id;
  (void)format;
  do_nothing(wave, in);
}

static void check_text(const ws_text *text) {
  FUZZ_CHECK(text->count >= 1);
  for (uint32_t i = 0; i < text->count; i++) {
    const ws_instruction *in = &text->items[i];
    FUZZ_CHECK(in->execute && text->lines[i]);
    FUZZ_CHECK(in->offset + in->bytes <= text->size);
    FUZZ_CHECK(in->target < text->count);
    FUZZ_CHECK(i == text->count - 1 || text->index_at[in->offset / 4] == i);
  }
}

static void check_module(const ws_sim_module *module) {
  check_text(&module->text);
  for (int i = 0; i < module->kernel_count; i++) {
    const ws_sim_kernel *kernel = &module->kernels[i];
    FUZZ_CHECK(kernel->entry < module->text.count &&
               kernel->entry_preload < module->text.count);
    FUZZ_CHECK(kernel->info.lds_bytes >= 0 &&
               kernel->info.lds_bytes <= WS_LDS_BYTES);
    for (int k = 0; k < kernel->info.arg_count; k++)
      FUZZ_CHECK(kernel->info.args[k].offset + kernel->info.args[k].size <=
                 kernel->info.kernarg_bytes);
  }
  for (int i = 0; i < module->variable_count; i++)
    FUZZ_CHECK((uint8_t *)module->variables[i].address >= module->base &&
               (uint8_t *)module->variables[i].address +
                       module->variables[i].bytes <=
                   module->base + module->bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static ws_memory *memory;
  ws_sim_module *module = NULL;
  ws_diag diag = {""};
  if (!memory)
    memory = ws__memory_create();
  ws_status status = ws__module_load(memory, data, size, &module, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  FUZZ_CHECK((status == WS_OK) == (module != NULL));
  if (module)
    check_module(module);
  ws__module_unload(memory, module);
  FUZZ_CHECK(ws__memory_bytes_in_use(memory) == 0);
  return 0;
}
