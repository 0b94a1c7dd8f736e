/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Code to instructions: comgr disassembles, parse_instruction.c reads its
 * lines, and branches get the index of where they go. What does not
 * disassemble becomes an instruction that is a fault when executed; so does
 * one more after the last, which is where wild branches and a wave that runs
 * off the end arrive.
 */
#include "decode.h"

#include <amd_comgr/amd_comgr.h>
#include <stdio.h>

ws_execute ws__find_handler(ws_op op) {
  static ws_execute (*const families[])(ws_op) = {
      ws__execute_scalar, ws__execute_vector, ws__execute_lds,
      ws__execute_memory, ws__execute_matrix};
  for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
    ws_execute handler = families[i](op);
    if (handler)
      return handler;
  }
  return NULL;
}

static void execute_wild(ws_wave *wave, const ws_instruction *in) {
  ws__fault(wave, in, -1, "wild-branch",
            "no instruction is at byte %u of the text section", in->offset);
}

/* ---- disassembly -----------------------------------------------------------
 */

typedef struct reader {
  uint64_t begin, end; /* of the code */
  char line[512];
} reader;

/* Beyond the end are zeros: LLVM 21 dies of a literal that is cut off. */
static uint64_t read_memory(uint64_t from, char *to, uint64_t size,
                            void *user_data) {
  const reader *code = user_data;
  if (from < code->begin || from >= code->end)
    return 0;
  uint64_t left = code->end - from;
  memset(to, 0, size);
  memcpy(to, (const void *)(uintptr_t)from, size < left ? size : left);
  return size;
}

static void keep_line(const char *line, void *user_data) {
  reader *code = user_data;
  line += strspn(line, " \t");
  snprintf(code->line, sizeof code->line, "%s", line);
}

/* Fields without a meaning show as comments: "row_xmask is not supported". */
static bool is_instruction(const char *line) {
  return line[0] && !strstr(line, "/*");
}

static void ignore_address(uint64_t address, void *user_data) {
  (void)address;
  (void)user_data;
}

/* Encodings that gfx942 does not have and that LLVM 21's disassembler dies of
 * instead of refusing them (found by giving it 10^8 random words): literals
 * where none may be, and selectors of SDWA without a meaning. */
static bool is_deadly(uint64_t address, uint64_t bytes) {
  static const struct pattern {
    uint32_t mask[2], value[2];
  } patterns[] = {
      /* MUBUF, MTBUF: literal as soffset */
      {{0xf4000000, 0xff000000}, {0xe0000000, 0xff000000}},
      /* VOP3: literal as src0, src1, src2, or as the mask of a comparison */
      {{0xfc000000, 0x1ff}, {0xd0000000, 0xff}},
      {{0xfc000000, 0x1ff << 9}, {0xd0000000, 0xff << 9}},
      {{0xfc000000, 0x1ff << 18}, {0xd0000000, 0xff << 18}},
      {{0xff0000ff, 0}, {0xd00000ff, 0}},
      /* SDWA: src0_sel, src1_sel, dst_sel 7, dst_unused 3; a comparison has
       * its destination in place of the last two */
      {{0x800001ff, 0x7 << 16}, {0xf9, 0x7 << 16}},
      {{0x800001ff, 0x7 << 24}, {0xf9, 0x7 << 24}},
      {{0x800001ff, 0x7 << 8}, {0xf9, 0x7 << 8}},
      {{0x800001ff, 0x3 << 11}, {0xf9, 0x3 << 11}},
  };
  const uint32_t vopc = 0x3e;
  uint32_t words[2] = {0};
  memcpy(words, (const void *)(uintptr_t)address, bytes < 8 ? bytes : 8);
  size_t count = sizeof patterns / sizeof *patterns;
  for (size_t i = 0; i < (words[0] >> 25 == vopc ? count - 2 : count); i++)
    if ((words[0] & patterns[i].mask[0]) == patterns[i].value[0] &&
        (words[1] & patterns[i].mask[1]) == patterns[i].value[1])
      return true;
  return false;
}

/* Lines and offsets of everything; "" is the line of what is no instruction. */
static void disassemble(amd_comgr_disassembly_info_t info, ws_arena *arena,
                        reader *code, ws_text *text, uint32_t *offsets) {
  for (uint32_t offset = 0; offset < text->size;) {
    uint64_t bytes = 0;
    code->line[0] = 0;
    bool done = !is_deadly(code->begin + offset, text->size - offset) &&
                !amd_comgr_disassemble_instruction(info, code->begin + offset,
                                                   code, &bytes) &&
                is_instruction(code->line) && bytes >= 4 && bytes % 4 == 0 &&
                bytes <= text->size - offset;
    offsets[text->count] = offset;
    text->lines[text->count] = done ? ws_arena_strdup(arena, code->line) : "";
    text->index_at[offset / 4] = text->count++;
    offset += done ? (uint32_t)bytes : 4;
  }
}

/* ---- instructions ----------------------------------------------------------
 */

static void make_wild(ws_instruction *out) {
  *out = (ws_instruction){.execute = execute_wild,
                          .op = WS_OP_s_nop,
                          .class_ = WS_CLASS_INTERNAL,
                          .dpp = WS_DPP_NONE};
}

static ws_status decode_line(const char *line, uint32_t offset,
                             ws_instruction *out, ws_diag *diag) {
  ws_diag why = {""};
  if (!line[0]) {
    make_wild(out);
    return WS_OK;
  }
  if (ws__parse_instruction(line, out, &why))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "at byte 0x%x of the text section: %s", offset, why.text);
  out->execute = ws__find_handler((ws_op)out->op);
  if (!out->execute)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "at byte 0x%x of the text section: the simulator cannot "
                   "execute '%s'",
                   offset, ws__op_name((ws_op)out->op));
  return WS_OK;
}

/* The target of a branch is relative to the next instruction, in words. */
static void set_target(const ws_text *text, ws_instruction *branch) {
  int64_t to = (int64_t)branch->offset + 4 + (int64_t)branch->imm * 4;
  branch->target = text->count - 1;
  if (to >= 0 && to < text->size && text->index_at[to / 4] != UINT32_MAX)
    branch->target = text->index_at[to / 4];
}

static ws_status decode_lines(const ws_text *text, const uint32_t *offsets,
                              ws_diag *diag) {
  for (uint32_t i = 0; i < text->count; i++) {
    ws_instruction *in = &text->items[i];
    uint32_t end = i + 1 < text->count ? offsets[i + 1] : text->size;
    WS_TRY(decode_line(text->lines[i], offsets[i], in, diag));
    in->offset = offsets[i];
    in->bytes = (uint8_t)(end - offsets[i]);
    if (in->class_ == WS_CLASS_BRANCH && in->src_count &&
        in->src[in->src_count - 1].kind == WS_OPERAND_CONSTANT)
      set_target(text, in);
  }
  return WS_OK;
}

ws_status ws__decode_text(ws_arena *arena, uint64_t text_address, uint32_t size,
                          ws_text *out_text, ws_diag *diag) {
  reader code = {.begin = text_address, .end = text_address + size / 4 * 4};
  amd_comgr_disassembly_info_t info;
  uint32_t slots = size / 4 + 2;
  uint32_t *offsets = ws_arena_alloc(arena, slots * sizeof *offsets);
  *out_text = (ws_text){.address = text_address, .size = size / 4 * 4};
  out_text->lines = ws_arena_alloc(arena, slots * sizeof *out_text->lines);
  out_text->index_at =
      ws_arena_alloc(arena, slots * sizeof *out_text->index_at);
  memset(out_text->index_at, 0xff, slots * sizeof *out_text->index_at);
  if (amd_comgr_create_disassembly_info("amdgcn-amd-amdhsa--gfx942",
                                        read_memory, keep_line, ignore_address,
                                        &info))
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "comgr has no disassembler for gfx942");
  disassemble(info, arena, &code, out_text, offsets);
  amd_comgr_destroy_disassembly_info(info);
  offsets[out_text->count] = out_text->size;
  out_text->lines[out_text->count++] = "";
  out_text->items =
      ws_arena_alloc(arena, out_text->count * sizeof *out_text->items);
  return decode_lines(out_text, offsets, diag);
}
