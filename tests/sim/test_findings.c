/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a kernel does wrong, and what only looks wrong: each snippet with the
 * finding it must give, or none. One workgroup, two waves unless said
 * otherwise.
 */
#include "sim_fixture.h"

typedef struct snippet {
  const char *id;                 /* NULL: no finding */
  const char *instruction, *text; /* parts of the report */
  const char *body;
  fixture_options options;
  int64_t budget;
} snippet;

/* s[8:9]: 4 KiB of input, s[10:11]: 4 KiB of output; v9 4 * flat id. */
static const char start[] =
    "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32_e32 v9, 2, v0\n"
    "s_waitcnt lgkmcnt(0)\n";

static void check_snippet(const snippet *self) {
  fixture_run run;
  ws_arena *arena = ws_arena_create();
  fixture_options options = self->options;
  options.threads = options.threads ? options.threads : 128;
  const char *body = ws_arena_printf(arena, "%s%s", start, self->body);
  fixture_open(&run, fixture_kernel(arena, body, &options),
               &(ws_sim_options){.budget = self->budget});
  ws_arena_destroy(arena);
  static uint32_t in[1024];
  WS_CHECK(fixture_launch(&run, in, sizeof in, 4096, 1,
                          (uint32_t)options.threads) == WS_OK);
  if (!self->id) {
    fixture_no_findings(&run);
  } else {
    WS_CHECK_INT(run.report.finding_count, 1);
    const ws_sim_finding *finding = &run.report.findings[0];
    WS_CHECK_TEXT(finding->id, self->id);
    WS_CHECK_CONTAINS(finding->instruction, self->instruction);
    WS_CHECK_CONTAINS(finding->text, self->text);
  }
  fixture_close(&run);
}

#define BUG(name, id_, instruction_, text_, body_, ...)                        \
  WS_TEST(name) {                                                              \
    const snippet self = {.id = id_,                                           \
                          .instruction = instruction_,                         \
                          .text = text_,                                       \
                          .body = body_,                                       \
                          __VA_ARGS__};                                        \
    check_snippet(&self);                                                      \
  }
#define FINE(name, ...) BUG(name, NULL, NULL, NULL, __VA_ARGS__)
#define LDS .options = {.lds = 4096}
#define STORE(register) "global_store_dword v9, " register ", s[10:11]\n"

/* ---- memory ---------------------------------------------------------------
 */
BUG(load_behind_the_end, "oob-global", "global_load_dword", "",
    "global_load_dword v1, v9, s[8:9] offset:3800\n")
BUG(load_before_the_begin, "oob-global", "global_load_dword", "",
    "global_load_dword v1, v9, s[8:9] offset:-4\n")
BUG(null_pointer, "oob-global", "flat_load_dword", "",
    "v_mov_b32_e32 v2, 0\nv_mov_b32_e32 v3, 0\nflat_load_dword v1, v[2:3]\n")
BUG(scalar_load_behind_the_end, "oob-global", "s_load_dword", "",
    "s_load_dwordx2 s[20:21], s[8:9], 0xffc\n")
BUG(store_into_code, "write-to-code", "global_store_dword", "",
    "s_getpc_b64 s[20:21]\nv_mov_b32_e32 v1, 0\n"
    "global_store_dword v1, v1, s[20:21]\n")
BUG(lds_behind_the_end, "oob-lds", "ds_write_b32", "",
    "ds_write_b32 v9, v9 offset:3840\n", LDS)
BUG(lds_without_any, "oob-lds", "ds_read_b32", "", "ds_read_b32 v1, v9\n")
BUG(scratch_behind_the_end, "oob-scratch", "scratch_store_dword", "",
    "scratch_store_dword off, v9, off offset:32\n", .options = {.scratch = 32})
BUG(atomic_misaligned, "misaligned", "global_atomic_add", "",
    "v_mov_b32_e32 v1, 1\nv_add_u32_e32 v2, 2, v9\n"
    "global_atomic_add v2, v1, s[10:11]\n")

/* ---- never written --------------------------------------------------------
 */
BUG(stores_register_never_written, "uninitialised", "global_store_dword", "v20",
    STORE("v20"))
BUG(stores_sum_with_register_never_written, "uninitialised",
    "global_store_dword", "v21",
    "v_add_u32_e32 v21, v9, v20\nv_mov_b32_e32 v21, v21\n" STORE("v21"))
BUG(stores_lds_never_written, "uninitialised", "global_store_dword", "v1",
    "ds_read_b32 v1, v9\ns_waitcnt lgkmcnt(0)\n" STORE("v1"), LDS)
BUG(stores_scratch_never_written, "uninitialised", "global_store_dword", "v1",
    "scratch_load_dword v1, off, off\ns_waitcnt vmcnt(0)\n" STORE("v1"),
    .options = {.scratch = 16})
BUG(stores_through_lds, "uninitialised", "global_store_dword", "v1",
    "ds_write_b32 v9, v20\nds_read_b32 v1, v9\ns_waitcnt lgkmcnt(0)\n" STORE(
        "v1"),
    LDS)
BUG(stores_matrix_product_of_nothing, "uninitialised", "global_store_dword",
    "v64",
    "v_mov_b32_e32 v20, 0\nv_mov_b32_e32 v21, 0\nv_mov_b32_e32 v22, 0\n"
    "v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[20:21], v[22:23], 0\n"
    "s_nop 15\ns_nop 15\n" STORE("v64"))
BUG(address_never_written, "uninitialised", "global_load_dword", "v20",
    "global_load_dword v1, v20, s[8:9]\n")
BUG(scalar_address_never_written, "uninitialised", "s_load_dword", "s20",
    "s_load_dword s30, s[20:21], 0x0\n")
BUG(branch_on_nothing, "uninitialised", "s_cbranch_scc1", "scc",
    "s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 .L1\n.L1:\n")
BUG(branch_on_compared_nothing, "uninitialised", "s_cbranch_vccnz", "vcc",
    "v_cmp_eq_u32_e32 vcc, 0, v20\ns_cbranch_vccnz .L1\n.L1:\n")
BUG(mask_from_nothing, "uninitialised", "s_and_saveexec_b64", "lanes",
    "v_cmp_eq_u32_e32 vcc, 0, v20\ns_and_saveexec_b64 s[20:21], vcc\n")
BUG(one_lane_never_written, "uninitialised", "global_store_dword", "v20",
    "s_mov_b64 exec, -2\nv_mov_b32_e32 v20, 1\ns_mov_b64 exec, -1\n" STORE(
        "v20"))
FINE(other_lanes_never_written,
     "s_mov_b64 exec, -2\nv_mov_b32_e32 v20, 1\n" STORE("v20"))
FINE(select_takes_the_written_side,
     "v_cmp_ne_u32_e32 vcc, -1, v0\nv_cndmask_b32_e32 v1, v20, v9, vcc\n" STORE(
         "v1"))
/* Of a scalar pair only the word that op_sel names matters. */
#define PACKED(set, select)                                                    \
  "s_mov_b32 " set ", 1.0\nv_mov_b32_e32 v2, 1.0\nv_mov_b32_e32 v3, 1.0\n"     \
  "v_pk_mul_f32 v[2:3], v[2:3], s[20:21] " select "\n" STORE("v3")
FINE(packed_with_the_low_scalar, PACKED("s20", "op_sel_hi:[1,0]"))
FINE(packed_with_the_high_scalar, PACKED("s21", "op_sel:[0,1]"))
BUG(packed_with_the_high_scalar_never_written, "uninitialised",
    "global_store_dword", "v3", PACKED("s20", ""))
/* A register whose halves are filled one after the other; v1 is one of whose
 * bytes the lower two were written. */
#define HALF "s_mov_b32 s20, 0xffff\nv_bfi_b32 v1, s20, v9, v20\n"
#define BYTES(selector)                                                        \
  HALF "s_mov_b32 s21, " selector "\nv_perm_b32 v2, v9, v1, s21\n" STORE("v2")
FINE(halves_filled_one_after_the_other, BYTES("0x05040100"))
FINE(bytes_that_are_written_or_constant, BYTES("0x000c0d01"))
FINE(upper_half_cut_off, HALF "v_and_b32_e32 v2, s20, v1\n" STORE("v2"))
FINE(upper_half_set, HALF "v_or_b32_e32 v2, 0xffff0000, v1\n" STORE("v2"))
FINE(upper_half_shifted_out, HALF "v_lshlrev_b32_e32 v2, 16, v1\n" STORE("v2"))
FINE(halves_joined, HALF "v_lshlrev_b32_e32 v2, 16, v9\n"
                         "v_and_or_b32 v2, v1, s20, v2\n" STORE("v2"))
FINE(halves_shifted_together, HALF "v_lshl_or_b32 v2, v1, 16, 7\n" STORE("v2"))
FINE(halves_aligned, HALF "v_alignbit_b32 v2, v1, v9, 16\n" STORE("v2"))
FINE(lower_half_moved_about,
     HALF "v_mov_b32_e32 v3, v1\nv_cmp_ne_u32_e32 vcc, 3, v0\n"
          "v_cndmask_b32_e32 v3, v1, v3, vcc\n"
          "v_and_b32_e32 v2, s20, v3\n" STORE("v2"))
FINE(lower_half_of_a_pair,
     HALF "v_mov_b32_e32 v0, 0\nv_pk_mov_b32 v[2:3], v[0:1], v[0:1] "
          "op_sel:[1,0]\nv_and_b32_e32 v2, s20, v2\n" STORE("v2"))
FINE(lower_half_stored, HALF "global_store_short v9, v1, s[10:11]\n")
FINE(lower_half_used, HALF "v_add_f16_e32 v2, v1, v1\n" STORE("v2"))
FINE(lower_half_selected,
     HALF "v_add_u32_sdwa v2, v1, v9 dst_sel:DWORD dst_unused:UNUSED_PAD "
          "src0_sel:WORD_0 src1_sel:DWORD\n" STORE("v2"))
FINE(other_half_filled_by_a_load, HALF "global_load_dword v1, v9, s[8:9]\n"
                                       "s_waitcnt vmcnt(0)\n" STORE("v1"))
BUG(half_never_written, "uninitialised", "global_store_dword", "v1",
    HALF STORE("v1"))
BUG(wrong_half_kept, "uninitialised", "global_store_dword", "v2",
    BYTES("0x07060302"))
BUG(one_byte_too_many, "uninitialised", "global_store_dword", "v2",
    BYTES("0x05040102"))
BUG(upper_half_kept, "uninitialised", "global_store_dword", "v2",
    HALF "v_and_b32_e32 v2, 0xffffff, v1\n" STORE("v2"))
BUG(upper_half_shifted_down, "uninitialised", "global_store_dword", "v2",
    HALF "v_lshrrev_b32_e32 v2, 8, v1\n" STORE("v2"))
BUG(shifted_by_some_bits, "uninitialised", "global_store_dword", "v2",
    HALF "v_lshlrev_b32_e32 v2, 15, v1\n" STORE("v2"))
BUG(upper_half_stored, "uninitialised", "global_store_short_d16_hi", "v1",
    HALF "global_store_short_d16_hi v9, v1, s[10:11]\n")
BUG(sum_with_half_never_written, "uninitialised", "global_store_dword", "v2",
    HALF "v_add_u32_e32 v2, v1, v9\n" STORE("v2"))
BUG(mask_of_lanes_own, "uninitialised", "global_store_dword", "v2",
    HALF "v_and_b32_e32 v2, v9, v1\n" STORE("v2"))
BUG(half_written_again_by_nothing, "uninitialised", "global_store_dword", "v2",
    HALF "v_add_u32_e32 v1, v20, v9\n"
         "v_and_b32_e32 v2, s20, v1\n" STORE("v2"))
/* How LLVM merges lane masks of which one half is undefined. */
FINE(masks_merged_with_an_undefined_half,
     "v_cmp_eq_u32_e32 vcc, 0, v0\ns_andn2_b64 s[20:21], s[20:21], exec\n"
     "s_and_b64 s[22:23], vcc, exec\ns_or_b64 s[20:21], s[20:21], s[22:23]\n"
     "s_and_saveexec_b64 s[24:25], s[20:21]\n" STORE("v9"))
FINE(spills_of_registers_never_written,
     "scratch_store_dword off, v20, off\ns_waitcnt vmcnt(0)\n"
     "scratch_load_dword v20, off, off\ns_waitcnt vmcnt(0)\n" STORE("v9"),
     .options = {.scratch = 16})
FINE(scalar_spills, "s_mov_b32 s20, 5\nv_writelane_b32 v30, s20, 3\n"
                    "v_readlane_b32 s21, v30, 3\ns_nop 4\nv_mov_b32_e32 v1, "
                    "s21\n" STORE("v1"))
FINE(dpp_of_written_lanes,
     "v_mov_b32_e32 v1, v9\ns_nop 1\nv_add_u32_dpp v1, v1, v1 row_shr:1 "
     "row_mask:0xf bank_mask:0xf bound_ctrl:0\n" STORE("v1"))

/* ---- waits ----------------------------------------------------------------
 */
#define TWO_LOADS                                                              \
  "global_load_dword v1, v9, s[8:9]\nglobal_load_dword v2, v9, s[8:9]\n"
BUG(load_without_wait, "missing-wait", "global_store_dword", "vmcnt",
    "global_load_dword v1, v9, s[8:9]\n" STORE("v1"))
BUG(load_with_wait_for_the_other, "missing-wait", "v_add_u32", "v2",
    TWO_LOADS "s_waitcnt vmcnt(1)\nv_add_u32_e32 v3, v1, v2\n")
FINE(load_with_wait_for_the_first, TWO_LOADS
     "s_waitcnt vmcnt(1)\n" STORE("v1") "s_waitcnt vmcnt(1)\n" STORE("v2"))
BUG(overwrites_what_a_load_writes, "missing-wait", "v_mov_b32", "overwritten",
    "global_load_dword v1, v9, s[8:9]\nv_mov_b32_e32 v1, 0\n")
FINE(load_over_load, "global_load_dword v1, v9, s[8:9]\n"
                     "global_load_dword v1, v9, s[8:9] offset:4\n"
                     "s_waitcnt vmcnt(0)\n" STORE("v1"))
FINE(stores_count, "global_load_dword v1, v9, s[8:9]\n" STORE("v9")
                       STORE("v9") "s_waitcnt vmcnt(2)\n" STORE("v1"))
BUG(lds_read_without_wait, "missing-wait", "v_mov_b32", "lgkmcnt",
    "ds_write_b32 v9, v9\nds_read_b32 v1, v9\nv_mov_b32_e32 v2, v1\n", LDS)
FINE(lds_read_with_partial_wait,
     "ds_write_b32 v9, v9\nds_read_b32 v1, v9\nds_read_b32 v2, v9\n"
     "s_waitcnt lgkmcnt(1)\n" STORE("v1"),
     LDS)
BUG(vmcnt_does_not_cover_lds, "missing-wait", "v_mov_b32", "lgkmcnt",
    "ds_write_b32 v9, v9\nds_read_b32 v1, v9\ns_waitcnt vmcnt(0)\n"
    "v_mov_b32_e32 v2, v1\n",
    LDS)
BUG(scalar_load_without_wait, "missing-wait", "s_add_u32", "s20",
    "s_load_dword s20, s[8:9], 0x0\ns_add_u32 s21, s20, 1\n")
/* Two scalar loads return in any order: lgkmcnt(1) proves nothing. */
BUG(scalar_loads_out_of_order, "missing-wait", "v_mov_b32", "lgkmcnt(0)",
    "s_load_dword s20, s[8:9], 0x0\ns_load_dword s21, s[8:9], 0x4\n"
    "s_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v1, s20\n")
BUG(scalar_load_among_lds_reads, "missing-wait", "v_mov_b32", "s20",
    "ds_write_b32 v9, v9\ns_load_dword s20, s[8:9], 0x0\nds_read_b32 v1, v9\n"
    "ds_read_b32 v2, v9\ns_waitcnt lgkmcnt(1)\nv_mov_b32_e32 v3, s20\n",
    LDS)
#define FLAT                                                                   \
  "v_mov_b32_e32 v2, s8\nv_mov_b32_e32 v3, s9\nflat_load_dword v1, v[2:3]\n"
BUG(flat_with_vmcnt_alone, "missing-wait", "global_store_dword", "v1",
    FLAT "s_waitcnt vmcnt(0)\n" STORE("v1"))
FINE(flat_with_both, FLAT "s_waitcnt vmcnt(0) lgkmcnt(0)\n" STORE("v1"))
BUG(loop_without_wait, "missing-wait", "global_load_dword v1, v1", "v1",
    "v_mov_b32_e32 v1, 0\ns_mov_b32 s20, 3\n.L1:\n"
    "global_load_dword v1, v1, s[8:9]\ns_sub_u32 s20, s20, 1\n"
    "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 .L1\n")

/* ---- LDS between waves ----------------------------------------------------
 */
#define OTHER_WAVE "v_xor_b32_e32 v2, 0x100, v9\n"
BUG(race_without_barrier, "lds-race", "ds_", "",
    OTHER_WAVE "ds_write_b32 v9, v9\ns_waitcnt lgkmcnt(0)\n"
               "ds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n" STORE("v1"),
    LDS)
FINE(exchange_with_barrier,
     OTHER_WAVE "ds_write_b32 v9, v9\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                "ds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n" STORE("v1"),
     LDS)
BUG(barrier_without_wait, "missing-wait", "ds_read_b32", "",
    OTHER_WAVE "ds_write_b32 v9, v9\ns_barrier\nds_read_b32 v1, v2\n"
               "s_waitcnt lgkmcnt(0)\n" STORE("v1"),
    LDS)
/* What LLVM 21.1 makes of tests/pass/lit/soft-wait.ll (docs/llvm-waitcnt.md):
 * the head of the loop lacks the wait for the store at its end. */
#define ROUND_TRIP(wait)                                                       \
  OTHER_WAVE "s_mov_b32 s20, 9\nds_write_b32 v9, v9\n"                         \
             "s_waitcnt lgkmcnt(0)\ns_barrier\n.L1:\n" wait                    \
             "s_barrier\nds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n"           \
             "s_barrier\nds_write_b32 v9, v1\ns_sub_u32 s20, s20, 1\n"         \
             "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 .L1\n" STORE("v1")
BUG(wait_dropped_at_the_head_of_a_loop, "missing-wait", "ds_read_b32",
    "before the barrier without waiting for lgkmcnt", ROUND_TRIP(""), LDS)
FINE(wait_held_at_the_head_of_a_loop, ROUND_TRIP("s_waitcnt lgkmcnt(0)\n"), LDS)
/* Both waves write 7 to each byte: whoever is last, LDS is the same. */
#define BOTH_WRITE(value)                                                      \
  "v_and_b32_e32 v2, 0xff, v9\n" value "ds_write_b32 v2, v3\n"                 \
  "s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v1, v2\n"                      \
  "s_waitcnt lgkmcnt(0)\n" STORE("v1")
WS_TEST(same_value_of_two_waves_is_a_note) {
  static const char body[] = BOTH_WRITE("v_mov_b32_e32 v3, 7\n");
  fixture_options options = {.threads = 128, .lds = 4096};
  fixture_run run;
  ws_arena *arena = ws_arena_create();
  const char *text = ws_arena_printf(arena, "%s%s", start, body);
  fixture_open(&run, fixture_kernel(arena, text, &options),
               &(ws_sim_options){0});
  static uint32_t in[1024];
  WS_CHECK(fixture_launch(&run, in, sizeof in, 4096, 1, 128) == WS_OK);
  fixture_no_findings(&run);
  WS_CHECK_INT(run.report.note_count, 1);
  const ws_sim_finding *note = &run.report.notes[0];
  WS_CHECK_TEXT(note->id, "lds-same-value");
  WS_CHECK_CONTAINS(note->instruction, "ds_write_b32 v2, v3");
  WS_CHECK_CONTAINS(note->text, "wave 1 writes LDS byte 0, which wave 0 wrote");
  WS_CHECK_CONTAINS(note->text, "benign");
  ws_arena_destroy(arena);
  fixture_close(&run);
}
BUG(two_values_of_two_waves, "lds-race", "ds_write_b32", "",
    BOTH_WRITE("v_mov_b32_e32 v3, v9\n"), LDS)
/* Only the last lane differs, in its highest byte. */
BUG(two_values_in_one_byte, "lds-race", "ds_write_b32", "byte 255",
    BOTH_WRITE("v_mov_b32_e32 v3, 7\nv_mov_b32_e32 v4, 0x1000007\n"
               "v_cmp_eq_u32_e32 vcc, 0x7f, v0\n"
               "v_cndmask_b32_e32 v3, v3, v4, vcc\n"),
    LDS)
/* A read in the same interval is in a writer's way, whatever it writes. */
BUG(same_value_and_a_reader, "lds-race", "ds_write_b32", "",
    "v_and_b32_e32 v2, 0xff, v9\nv_mov_b32_e32 v3, 7\nds_write_b32 v2, v3\n"
    "s_waitcnt lgkmcnt(0)\nds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n" STORE(
        "v1"),
    LDS)
BUG(race_write_after_read, "lds-race", "ds_", "",
    OTHER_WAVE "ds_write_b32 v9, v9\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
               "ds_read_b32 v1, v9\ns_waitcnt lgkmcnt(0)\nds_write_b32 v2, "
               "v9\n",
    LDS)
BUG(lds_dma_without_wait, "missing-wait", "ds_read_b32", "",
    "s_mov_b32 m0, 0\nglobal_load_lds_dword v9, s[8:9]\nds_read_b32 v1, v9\n"
    "s_waitcnt lgkmcnt(0)\n",
    .options = {.lds = 4096, .threads = 64})

/* ---- barriers -------------------------------------------------------------
 */
FINE(lanes_that_left,
     "v_cmp_gt_u32_e32 vcc, 100, v0\n"
     "s_and_saveexec_b64 s[20:21], vcc\ns_barrier\n" STORE("v9"))
BUG(lanes_that_come_back, "divergent-barrier", "global_store_dword", "barrier",
    "v_cmp_gt_u32_e32 vcc, 100, v0\ns_and_saveexec_b64 s[20:21], vcc\n"
    "s_barrier\ns_mov_b64 exec, s[20:21]\n" STORE("v9"))
#define WAVE_0 "v_readfirstlane_b32 s20, v0\ns_cmp_eq_u32 s20, 0\n"
BUG(waves_that_miss_it, "divergent-barrier", "s_barrier", "wave 1",
    WAVE_0 "s_cbranch_scc0 .L1\ns_barrier\n.L1:\n" STORE("v9"))
FINE(waves_that_left_at_once,
     WAVE_0 "s_cbranch_scc0 .L1\ns_barrier\n" STORE("v9") ".L1:\n")

/* ---- control flow ---------------------------------------------------------
 */
BUG(endless_loop, "infinite-loop", "s_branch", "10000 instructions",
    ".L1:\ns_branch .L1\n", .budget = 10000)
BUG(jump_into_nowhere, "wild-branch", "s_setpc_b64", "",
    "s_mov_b64 s[20:21], 64\ns_setpc_b64 s[20:21]\n")
BUG(jump_between_instructions, "wild-branch", "s_setpc_b64", "",
    "s_getpc_b64 s[20:21]\ns_add_u32 s20, s20, 6\ns_addc_u32 s21, s21, 0\n"
    "s_setpc_b64 s[20:21]\n")
BUG(trap, "trap", "s_trap", "", "s_trap 2\n")
BUG(skipped_vectors, "unsupported", "s_setvskip", "",
    "s_mov_b32 s20, 0\ns_setvskip s20, 0\n")
