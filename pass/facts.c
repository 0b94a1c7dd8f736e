/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Facts of a code object: its metadata (comgr.c), the size of each kernel, the
 * instruction mix and the innermost loops (machine_loops.c), both from comgr's
 * disassembly. One line of it is
 * "\tMNEMONIC OPERANDS // ADDRESS: WORDS  <target>".
 */
#include "lower.h"
#include "machine_code.h"

#include <stdlib.h>
#include <string.h>

typedef enum issue_class {
#define ISSUE_CLASS(name) CLASS_##name,
  WS_MIX_MAP(ISSUE_CLASS)
#undef ISSUE_CLASS
      CLASS_COUNT
} issue_class;

/* Mnemonic prefix -> class; the first that matches counts, so special cases
 * stand before the general ones. Mnemonics: research/gfx942_opcodes.md and
 * LLVM's AMDGPU instruction syntax for gfx940. */
static const struct prefix {
  const char *text;
  issue_class class;
} prefixes[] = {
    {"v_mfma_f32_16x16x32_fp8", CLASS_mfma_16x16x32},
    {"v_mfma_f32_16x16x32_bf8", CLASS_mfma_16x16x32},
    {"v_mfma_f32_32x32x16_fp8", CLASS_mfma_32x32x16},
    {"v_mfma_f32_32x32x16_bf8", CLASS_mfma_32x32x16},
    {"v_mfma_", CLASS_mfma_other},
    {"v_smfmac_", CLASS_mfma_other},
    {"v_exp_", CLASS_valu_trans},
    {"v_log_", CLASS_valu_trans},
    {"v_rcp_", CLASS_valu_trans},
    {"v_rsq_", CLASS_valu_trans},
    {"v_sqrt_", CLASS_valu_trans},
    {"v_sin_", CLASS_valu_trans},
    {"v_cos_", CLASS_valu_trans},
    {"v_nop", CLASS_nop},
    {"v_", CLASS_valu},
    {"s_load_", CLASS_smem},
    {"s_buffer_load_", CLASS_smem},
    {"s_scratch_load_", CLASS_smem},
    {"s_store_", CLASS_smem},
    {"s_atomic_", CLASS_smem},
    {"s_dcache_", CLASS_smem},
    {"s_memtime", CLASS_smem},
    {"s_memrealtime", CLASS_smem},
    {"s_cbranch_", CLASS_branch},
    {"s_branch", CLASS_branch},
    {"s_setpc_", CLASS_branch},
    {"s_swappc_", CLASS_branch},
    {"s_call_", CLASS_branch},
    {"s_barrier", CLASS_barrier},
    {"s_waitcnt", CLASS_wait},
    {"s_nop", CLASS_nop},
    {"s_sleep", CLASS_other},
    {"s_endpgm", CLASS_other},
    {"s_setprio", CLASS_other},
    {"s_sendmsg", CLASS_other},
    {"s_trap", CLASS_other},
    {"s_icache_", CLASS_other},
    {"s_", CLASS_salu},
    {"ds_read", CLASS_ds_read},
    {"ds_bpermute", CLASS_ds_read},
    {"ds_permute", CLASS_ds_read},
    {"ds_swizzle", CLASS_ds_read},
    {"ds_", CLASS_ds_write}, /* writes, and atomics, which write */
    {"global_load", CLASS_vmem_load},
    {"buffer_load", CLASS_vmem_load},
    {"flat_load", CLASS_vmem_load},
    {"global_store", CLASS_vmem_store},
    {"buffer_store", CLASS_vmem_store},
    {"flat_store", CLASS_vmem_store},
    {"global_atomic", CLASS_vmem_atomic},
    {"buffer_atomic", CLASS_vmem_atomic},
    {"flat_atomic", CLASS_vmem_atomic},
    {"scratch_", CLASS_scratch},
};

static issue_class classify(const char *mnemonic) {
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
    if (!strncmp(mnemonic, prefixes[i].text, strlen(prefixes[i].text)))
      return prefixes[i].class;
  return CLASS_other;
}

static void mix_from_counts(const int32_t counts[CLASS_COUNT], ws_mix *out) {
#define MIX_FROM_COUNTS(name) out->name = counts[CLASS_##name];
  WS_MIX_MAP(MIX_FROM_COUNTS)
#undef MIX_FROM_COUNTS
}

/* ---- reading the disassembly ------------------------------------------------
 */

/* "s_waitcnt vmcnt(3) lgkmcnt(0)" -> 3, without vmcnt -> -1; the plain number
 * form waits for whatever its bits say (vmcnt: 3:0 and 15:14). */
static int16_t read_vmcnt(const char *operands, const char *end) {
  static const char key[] = "vmcnt(";
  char *rest;
  long number = strtol(operands, &rest, 0);
  if (rest != operands)
    return (int16_t)((number & 15) | ((number >> 10) & 48));
  const char *found =
      memmem(operands, (size_t)(end - operands), key, sizeof key - 1);
  return found ? (int16_t)strtol(found + sizeof key - 1, NULL, 10) : -1;
}

static int find_address(const machine_code *kernel, uint64_t address) {
  int low = 0, high = kernel->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (kernel->items[middle].address < address)
      low = middle + 1;
    else
      high = middle;
  }
  return low < kernel->count && kernel->items[low].address == address ? low
                                                                      : -1;
}

/* "global_load_dwordx4" -> 16: what the name says after "load_", per lane. */
static uint8_t read_load_bytes(const char *mnemonic) {
  static const struct {
    const char *text;
    uint8_t bytes;
  } widths[] = {{"dwordx4", 16}, {"dwordx3", 12}, {"dwordx2", 8}, {"dword", 4},
                {"short", 2},    {"ushort", 2},   {"sshort", 2}};
  const char *width = strstr(mnemonic, "load_") + strlen("load_");
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
    if (!strncmp(width, widths[i].text, strlen(widths[i].text)))
      return widths[i].bytes;
  return 1; /* ubyte, sbyte */
}

/* No branch; displacements have 16 bits. */
enum { NO_TARGET = INT32_MIN };

/* One line of the text; false when it is no instruction. A branch keeps its
 * displacement in target until all addresses are known. */
static bool read_line(const char *line, const char *end,
                      machine_instruction *out) {
  if (line == end || *line != '\t')
    return false;
  const char *comment = memmem(line, (size_t)(end - line), "// ", 3);
  if (!comment)
    return false;
  const char *mnemonic = line + 1;
  const char *operands = mnemonic + strcspn(mnemonic, " \n");
  *out = (machine_instruction){.address = strtoull(comment + 3, NULL, 16),
                               .target = NO_TARGET,
                               .vmcnt = -1,
                               .class = (uint8_t)classify(mnemonic),
                               .goes_on = true};
  if (out->class == CLASS_vmem_load)
    out->load_bytes = read_load_bytes(mnemonic);
  if (out->class == CLASS_wait)
    out->vmcnt = read_vmcnt(operands, comment);
  if (!strncmp(mnemonic, "s_cbranch_", 10) || !strncmp(mnemonic, "s_branch", 8))
    out->target = (int16_t)strtol(operands, NULL, 10);
  out->goes_on =
      strncmp(mnemonic, "s_branch", 8) && strncmp(mnemonic, "s_endpgm", 8);
  return true;
}

/* From displacements, in words from the next instruction, to indices. */
static void find_targets(machine_code *kernel) {
  for (int i = 0; i < kernel->count; i++) {
    machine_instruction *item = &kernel->items[i];
    int64_t bytes = 4 + 4 * (int64_t)item->target;
    item->target = item->target != NO_TARGET
                       ? find_address(kernel, item->address + (uint64_t)bytes)
                       : -1;
  }
}

/* The instructions of one function: those with an address inside it. */
static machine_code read_code(ws_arena *arena, ws_blob text, uint64_t address,
                              size_t size) {
  machine_code kernel = {
      ws_arena_alloc(arena, (size / 4 + 1) * sizeof(machine_instruction)), 0};
  const char *line = text.data, *end = line + text.size;
  while (line < end) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    machine_instruction item;
    if (!stop)
      stop = end;
    if (read_line(line, stop, &item) && item.address >= address &&
        item.address - address < size && (size_t)kernel.count < size / 4)
      kernel.items[kernel.count++] = item;
    line = stop + 1;
  }
  find_targets(&kernel);
  return kernel;
}

/* ---- loops ------------------------------------------------------------------
 */

/* Clocks that an MFMA keeps the matrix core busy: 4 passes x 4 clocks and 8
 * passes x 4 (research/mi300_timing.md, section 4); other shapes count as the
 * short form. */
static int mfma_clocks(issue_class class) {
  switch (class) {
  case CLASS_mfma_32x32x16:
    return 32;
  case CLASS_mfma_16x16x32:
  case CLASS_mfma_other:
    return 16;
  default:
    return 0;
  }
}

static bool counts_for_vmcnt(issue_class class) {
  return class == CLASS_vmem_load || class == CLASS_vmem_store ||
         class == CLASS_vmem_atomic || class == CLASS_scratch;
}

/* From the last load of the body round the loop to the wait that needs it.
 * Operations finish in order, so vmcnt(n) waits for the load when at most n
 * were issued after it. vmcnt cannot say more than 63, so a wait that is not
 * met in four rounds counts as four rounds away. */
static int32_t clocks_over_load(const machine_code *kernel,
                                const machine_loop *loop) {
  int last = -1;
  for (int i = 0; i < loop->count; i++)
    if (kernel->items[loop->items[i]].class == CLASS_vmem_load)
      last = i;
  if (last < 0)
    return 0;
  int issued = 0, clocks = 0;
  for (int step = 1; step <= 4 * loop->count; step++) {
    int place = loop->items[(last + step) % loop->count];
    const machine_instruction *item = &kernel->items[place];
    if (item->vmcnt >= 0 && item->vmcnt <= issued)
      break;
    issued += counts_for_vmcnt(item->class);
    clocks += mfma_clocks(item->class);
  }
  return clocks;
}

static void read_loop(const machine_code *kernel, const machine_loop *loop,
                      ws_loop *out) {
  int32_t counts[CLASS_COUNT] = {0};
  for (int i = 0; i < loop->count; i++) {
    const machine_instruction *item = &kernel->items[loop->items[i]];
    counts[item->class]++;
    out->load_bytes += item->load_bytes;
  }
  mix_from_counts(counts, &out->mix);
  out->mfma_clocks_over_load = clocks_over_load(kernel, loop);
}

static int compare_length(const void *left, const void *right) {
  const machine_loop *a = left, *b = right;
  return b->count - a->count;
}

static int compare_head(const void *left, const void *right) {
  const machine_loop *a = left, *b = right;
  return a->items[0] - b->items[0];
}

/* The longest WS_MAX_LOOPS innermost loops, in the order of the code. */
static void read_loops(const machine_code *kernel, ws_arena *arena,
                       ws_kernel_facts *facts) {
  machine_loop *loops;
  int count = ws_machine_loops(kernel, arena, &loops);
  qsort(loops, (size_t)count, sizeof *loops, compare_length);
  if (count > WS_MAX_LOOPS)
    count = WS_MAX_LOOPS;
  qsort(loops, (size_t)count, sizeof *loops, compare_head);
  for (int i = 0; i < count; i++)
    read_loop(kernel, &loops[i], &facts->loops[facts->loop_count++]);
}

static void read_mix(const machine_code *kernel, ws_mix *out) {
  int32_t counts[CLASS_COUNT] = {0};
  for (int i = 0; i < kernel->count; i++)
    counts[kernel->items[i].class]++;
  mix_from_counts(counts, out);
}

bool ws_facts_read(ws_arena *arena, const char *target, ws_blob code_object,
                   ws_kernel_facts **out_kernels, int *out_count,
                   char **out_log) {
  ws_blob text;
  if (!ws_comgr_read_kernels(arena, code_object, out_kernels, out_count,
                             out_log) ||
      !ws_comgr_disassemble(arena, target, code_object, &text, out_log))
    return false;
  for (int i = 0; i < *out_count; i++) {
    ws_kernel_facts *facts = &(*out_kernels)[i];
    ws_blob bytes;
    uint64_t address;
    if (!ws_elf_function(code_object, facts->name, &bytes, &address)) {
      *out_log = ws_arena_printf(arena, "no code for kernel %s", facts->name);
      return false;
    }
    machine_code kernel = read_code(arena, text, address, bytes.size);
    facts->code_bytes = (int32_t)bytes.size;
    read_mix(&kernel, &facts->mix);
    read_loops(&kernel, arena, facts);
  }
  return true;
}
