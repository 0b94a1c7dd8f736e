/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Nanoseconds per wave instruction of the VALU, for each instruction set that
 * this processor has.
 */
#include "decode.h"
#include "vector_lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static ws_vector registers[WS_VECTORS];
static ws_wave wave;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The least of many: the machine's noise only adds. */
static double nanoseconds(const ws_instruction *in, ws_execute execute) {
  enum { REPEATS = 4000 };
  double least = 1e9;
  for (int round = 0; round < 40; round++) {
    double start = seconds();
    for (int i = 0; i < REPEATS; i++)
      execute(&wave, in);
    double each = (seconds() - start) / REPEATS * 1e9;
    least = each < least ? each : least;
  }
  return least;
}

static void measure(const char *line, uint64_t exec) {
  ws_instruction in;
  ws_diag diag = {""};
  if (ws__parse_instruction(line, &in, &diag)) {
    printf("%s\n", diag.text);
    exit(1);
  }
  ws_set_sgpr64(&wave, WS_SGPR_EXEC, exec);
  printf("  %-58s", line);
  for (int i = 0; ws__vector_code(i); i++) {
    ws__vector_use(ws__vector_code(i));
    printf(" %8.1f", nanoseconds(&in, ws__execute_vector((ws_op)in.op)));
  }
  printf("%s\n", exec == UINT64_MAX ? "" : "  half of the lanes");
}

int main(void) {
  static const char *const lines[] = {
      "v_mov_b32_e32 v1, v2",
      "v_add_f32_e32 v1, v2, v3",
      "v_add_u32_e32 v1, s2, v3",
      "v_fma_f32 v1, v2, v3, v4",
      "v_fma_f32 v1, -v2, v3, v4",
      "v_lshlrev_b32_e32 v1, 4, v2",
      "v_lshl_add_u64 v[4:5], v[6:7], 2, v[8:9]",
      "v_mad_u64_u32 v[4:5], s[0:1], v6, v7, v[8:9]",
      "v_pk_fma_f32 v[4:5], v[6:7], v[8:9], v[10:11]",
      "v_pk_fma_f32 v[4:5], v[6:7], s[8:9], v[10:11] op_sel_hi:[1,0,1]",
      "v_pk_fma_f16 v1, v2, v3, v4",
      "v_cndmask_b32_e32 v1, v2, v3, vcc",
      "v_cmp_lt_u32_e32 vcc, v1, v2",
      "v_add_co_u32_e32 v1, vcc, v2, v3",
      "v_perm_b32 v1, v2, v3, s4",
      "v_cvt_pk_fp8_f32 v1, v2, v3",
      "v_accvgpr_read_b32 v1, a1",
      "v_mov_b32_dpp v1, v2 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
      "v_or_b32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:DWORD src1_sel:WORD_1",
      "v_exp_f32_e32 v1, v2",
      "v_rcp_f32_e32 v1, v2",
      "v_readfirstlane_b32 s0, v1",
  };
  wave.vgpr = registers;
  wave.mode = WS_MODE_DEFAULT;
  for (int r = 0; r < WS_VECTORS; r++)
    for (int i = 0; i < WS_LANES; i++)
      registers[r].u32[i] = ws_float_bits((float)(r + i) / 64);
  printf("  %-58s", "ns per wave instruction");
  for (int i = 0; ws__vector_code(i); i++)
    printf(" %8s", ws__vector_code(i)->name);
  printf("\n");
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    measure(lines[i], UINT64_MAX);
  measure("v_add_f32_e32 v1, v2, v3", UINT32_MAX);
  return 0;
}
