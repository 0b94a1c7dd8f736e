/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lines of disassembly, as a disassembler of another version may print them.
 * What is accepted must lie within the machine: registers that exist, at most
 * two destinations and four sources.
 */
#include "decode.h"
#include "fuzz.h"

static void check_operand(const ws_operand *operand) {
  unsigned end = operand->index + (unsigned)operand->count;
  FUZZ_CHECK(operand->select <= WS_SELECT_ALL);
  if (operand->kind == WS_OPERAND_VECTOR)
    FUZZ_CHECK(operand->count && end <= WS_VECTORS);
  if (operand->kind == WS_OPERAND_SCALAR)
    FUZZ_CHECK(operand->count && end <= WS_SGPRS);
  if (operand->kind == WS_OPERAND_SPECIAL)
    FUZZ_CHECK(operand->index <= WS_SPECIAL_PRIVATE_LIMIT);
}

static void check_instruction(const ws_instruction *in) {
  FUZZ_CHECK(in->op < WS_OP_COUNT && in->class_ < WS_CLASS_COUNT);
  FUZZ_CHECK(in->dst_count <= 2 && in->src_count <= 4);
  FUZZ_CHECK(in->dpp <= WS_DPP_NONE && in->row_mask <= 15 &&
             in->bank_mask <= 15 && in->omod <= 3);
  FUZZ_CHECK(in->op_sel <= 15 && in->neg_lo <= 15 && in->neg_hi <= 15);
  for (int i = 0; i < in->dst_count; i++)
    check_operand(&in->dst[i]);
  for (int i = 0; i < in->src_count; i++)
    check_operand(&in->src[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *line = malloc(size + 1);
  ws_instruction in;
  ws_diag diag = {""};
  memcpy(line, data, size);
  line[size] = 0;
  ws_status status = ws__parse_instruction(line, &in, &diag);
  FUZZ_CHECK(status == WS_OK || (status == WS_INPUT && diag.text[0]));
  if (status == WS_OK)
    check_instruction(&in);
  free(line);
  return 0;
}
