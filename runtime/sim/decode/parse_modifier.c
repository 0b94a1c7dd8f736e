/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What follows the operands in a line of disassembly: one table of modifiers,
 * each with the function that reads its value into the instruction. Names and
 * values are LLVM's (AMDGPUModifierSyntax of LLVM 21), encodings the CDNA3 ISA
 * guide's.
 */
#include "parse.h"

#include <stddef.h>

typedef struct modifier modifier;
typedef bool (*read_value)(const modifier *mod, ws_span value, int sources,
                           ws_instruction *out);
struct modifier {
  const char *name;
  read_value read;
  size_t field;   /* offset in ws_instruction */
  int low, high;  /* of the value */
  uint16_t given; /* flag or encoding, as the reader says */
};

static uint8_t *byte_of(const modifier *mod, ws_instruction *out) {
  return (uint8_t *)out + mod->field;
}

static bool in_range(const modifier *mod, ws_span value, int64_t *out) {
  return ws__read_integer(value, out) && *out >= mod->low && *out <= mod->high;
}

static bool read_flag(const modifier *mod, ws_span value, int sources,
                      ws_instruction *out) {
  (void)sources;
  out->flags |= mod->given;
  return value.begin == value.end;
}

/* "bound_ctrl:0" and "bound_ctrl:1" both mean that the bit is set: the former
 * is how assemblers before LLVM 13 wrote it. */
static bool read_bound_ctrl(const modifier *mod, ws_span value, int sources,
                            ws_instruction *out) {
  int64_t number;
  (void)sources;
  out->flags |= WS_BOUND_CTRL;
  return in_range(mod, value, &number);
}

static bool read_byte(const modifier *mod, ws_span value, int sources,
                      ws_instruction *out) {
  int64_t number;
  (void)sources;
  if (!in_range(mod, value, &number))
    return false;
  *byte_of(mod, out) = (uint8_t)number;
  return true;
}

/* The encoding of mul:2, mul:4 and div:2 is 1, 2 and 3. */
static bool read_omod(const modifier *mod, ws_span value, int sources,
                      ws_instruction *out) {
  int64_t number;
  (void)sources;
  if (!in_range(mod, value, &number) || number == 3)
    return false;
  out->omod = mod->given ? (uint8_t)mod->given : (uint8_t)(number / 2);
  return true;
}

/* One bit per source; one entry more than sources: of the destination, bit 3.
 * Entries that are not there keep their default. */
static bool read_bits(const modifier *mod, ws_span value, int sources,
                      ws_instruction *out) {
  int64_t bits[4];
  int count = ws__read_list(value, bits, 4);
  uint8_t *field = byte_of(mod, out);
  if (count < 1)
    return false;
  for (int i = 0; i < count; i++) {
    int place = i == sources && i == count - 1 ? 3 : i;
    if (bits[i] != 0 && bits[i] != 1)
      return false;
    *field = (uint8_t)((*field & ~(1 << place)) | bits[i] << place);
  }
  out->flags |= mod->given;
  return true;
}

/* Of f64 MFMA: the bits lie where blgp lies otherwise. */
static bool read_matrix_negation(const modifier *mod, ws_span value,
                                 int sources, ws_instruction *out) {
  bool done = read_bits(mod, value, sources, out);
  out->blgp = out->neg_lo;
  return done;
}

static bool read_quad_perm(const modifier *mod, ws_span value, int sources,
                           ws_instruction *out) {
  int64_t lanes[4];
  (void)mod;
  (void)sources;
  if (ws__read_list(value, lanes, 4) != 4)
    return false;
  out->dpp = 0;
  for (int i = 0; i < 4; i++) {
    if (lanes[i] < 0 || lanes[i] > 3)
      return false;
    out->dpp |= (uint16_t)(lanes[i] << 2 * i);
  }
  return true;
}

/* given: dpp_ctrl of the value 0 (ISA guide, "DPP_CTRL enumeration"). */
static bool read_dpp_shift(const modifier *mod, ws_span value, int sources,
                           ws_instruction *out) {
  int64_t number;
  (void)sources;
  if (!in_range(mod, value, &number))
    return false;
  out->dpp = (uint16_t)(mod->given + number);
  return true;
}

static bool read_dpp_mirror(const modifier *mod, ws_span value, int sources,
                            ws_instruction *out) {
  (void)sources;
  out->dpp = mod->given;
  return value.begin == value.end;
}

static bool read_dpp_broadcast(const modifier *mod, ws_span value, int sources,
                               ws_instruction *out) {
  int64_t number;
  (void)sources;
  if (!in_range(mod, value, &number) || (number != 15 && number != 31))
    return false;
  out->dpp = number == 15 ? 0x142 : 0x143;
  return true;
}

static bool read_word(ws_span value, const char *const *words, int count,
                      uint8_t *out) {
  for (int i = 0; i < count; i++)
    if (ws_span_is(value, words[i])) {
      *out = (uint8_t)i;
      return true;
    }
  return false;
}

static bool read_select(const modifier *mod, ws_span value, int sources,
                        ws_instruction *out) {
  static const char *const words[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                      "WORD_0", "WORD_1", "DWORD"};
  (void)sources;
  return read_word(value, words, 7, byte_of(mod, out));
}

static bool read_unused(const modifier *mod, ws_span value, int sources,
                        ws_instruction *out) {
  static const char *const words[] = {"UNUSED_PAD", "UNUSED_SEXT",
                                      "UNUSED_PRESERVE"};
  (void)sources;
  return read_word(value, words, 3, byte_of(mod, out));
}

static bool read_number(const modifier *mod, ws_span value, int sources,
                        ws_instruction *out) {
  int64_t number;
  (void)sources;
  if (!in_range(mod, value, &number))
    return false;
  int32_t narrow = (int32_t)number;
  memcpy((char *)out + mod->field, &narrow, sizeof narrow);
  return true;
}

/* ---- ds_swizzle_b32 --------------------------------------------------------
 * offset:swizzle(MODE, ...) (ISA guide, DS_SWIZZLE_B32; LLVM's "swizzle"
 * syntax): QUAD_PERM 0x8000 | lanes, ROTATE 0xc000, FFT 0xe000, all others
 * and_mask | or_mask << 5 | xor_mask << 10.
 */

static bool read_bitmask(ws_span text, int32_t *out) {
  if (ws_span_size(text) != 7 || *text.begin != '"' || text.end[-1] != '"')
    return false;
  int32_t and_mask = 0, or_mask = 0, xor_mask = 0;
  for (int i = 0; i < 5; i++) {
    char c = text.begin[1 + i];
    int32_t bit = 1 << (4 - i);
    if (!strchr("01pi", c) || !c)
      return false;
    and_mask |= c == 'p' || c == 'i' ? bit : 0;
    or_mask |= c == '1' ? bit : 0;
    xor_mask |= c == 'i' ? bit : 0;
  }
  *out = and_mask | or_mask << 5 | xor_mask << 10;
  return true;
}

static int32_t encode_swizzle(const char *mode, const int64_t *v) {
  if (!strcmp(mode, "QUAD_PERM"))
    return (int32_t)(0x8000 | v[0] | v[1] << 2 | v[2] << 4 | v[3] << 6);
  if (!strcmp(mode, "BROADCAST"))
    return (int32_t)((32 - v[0]) | v[1] << 5);
  if (!strcmp(mode, "SWAP"))
    return (int32_t)(0x1f | v[0] << 10);
  if (!strcmp(mode, "REVERSE"))
    return (int32_t)(0x1f | (v[0] - 1) << 10);
  if (!strcmp(mode, "FFT"))
    return (int32_t)(0xe000 | v[0]);
  return (int32_t)(0xc000 | v[0] << 10 | v[1] << 5); /* ROTATE */
}

static bool read_swizzle(ws_span inside, ws_instruction *out) {
  static const struct swizzle_mode {
    const char *name;
    int values;
    int low, high[4]; /* low: of the first value */
  } modes[] = {{"QUAD_PERM", 4, 0, {3, 3, 3, 3}},
               {"BROADCAST", 2, 2, {32, 31}},
               {"SWAP", 1, 1, {16}},
               {"REVERSE", 1, 2, {32}},
               {"FFT", 1, 0, {31}},
               {"ROTATE", 2, 0, {1, 31}}};
  ws_span name = ws__cut(&inside, ',');
  if (ws_span_is(name, "BITMASK_PERM"))
    return read_bitmask(inside, &out->imm);
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    if (!ws_span_is(name, modes[i].name))
      continue;
    int64_t v[4] = {0};
    for (int k = 0; k < modes[i].values; k++)
      if (!ws__read_integer(ws__cut(&inside, ','), &v[k]) ||
          v[k] < (k ? 0 : modes[i].low) || v[k] > modes[i].high[k])
        return false;
    out->imm = encode_swizzle(modes[i].name, v);
    return inside.begin == inside.end;
  }
  return false;
}

static bool read_offset(const modifier *mod, ws_span value, int sources,
                        ws_instruction *out) {
  const char *word = "swizzle(";
  if (!ws_span_starts(value, word) || value.end[-1] != ')')
    return read_number(mod, value, sources, out);
  return read_swizzle((ws_span){value.begin + strlen(word), value.end - 1},
                      out);
}

/* ---- the table -------------------------------------------------------------
 */

#define FLAG(name, flag)                                                       \
  { name, read_flag, 0, 0, 0, flag }
#define BYTE(name, high)                                                       \
  { #name, read_byte, offsetof(ws_instruction, name), 0, high, 0 }
#define BITS(name, given)                                                      \
  { #name, read_bits, offsetof(ws_instruction, name), 0, 1, given }
#define SHIFT(name, low, high, base)                                           \
  { name, read_dpp_shift, 0, low, high, base }
#define SELECT(name, field)                                                    \
  { name, read_select, offsetof(ws_instruction, field), 0, 0, 0 }
#define NUMBER(name, read, field, low, high)                                   \
  { name, read, offsetof(ws_instruction, field), low, high, 0 }

static const modifier modifiers[] = {
    FLAG("clamp", WS_CLAMP),
    FLAG("offen", WS_OFFEN),
    FLAG("idxen", WS_IDXEN),
    FLAG("lds", WS_LDS_DMA),
    FLAG("gds", WS_GDS),
    FLAG("sc0", WS_SC0),
    FLAG("glc", WS_SC0), /* what scalar loads call it */
    FLAG("sc1", WS_SC1),
    FLAG("nt", WS_NT),
    BYTE(cbsz, 7),
    BYTE(abid, 15),
    BYTE(blgp, 7),
    BYTE(row_mask, 15),
    BYTE(bank_mask, 15),
    BITS(op_sel, WS_OP_SEL_GIVEN),
    BITS(op_sel_hi, WS_OP_SEL_GIVEN),
    BITS(neg_lo, 0),
    BITS(neg_hi, 0),
    SHIFT("row_shl", 1, 15, 0x100),
    SHIFT("row_shr", 1, 15, 0x110),
    SHIFT("row_ror", 1, 15, 0x120),
    SHIFT("wave_shl", 1, 1, 0x130 - 1),
    SHIFT("wave_rol", 1, 1, 0x134 - 1),
    SHIFT("wave_shr", 1, 1, 0x138 - 1),
    SHIFT("wave_ror", 1, 1, 0x13c - 1),
    SHIFT("row_newbcast", 0, 15, 0x150),
    {"row_mirror", read_dpp_mirror, 0, 0, 0, 0x140},
    {"row_half_mirror", read_dpp_mirror, 0, 0, 0, 0x141},
    {"row_bcast", read_dpp_broadcast, 0, 15, 31, 0},
    {"quad_perm", read_quad_perm, 0, 0, 3, 0},
    {"bound_ctrl", read_bound_ctrl, 0, 0, 1, 0},
    {"mul", read_omod, 0, 2, 4, 0},
    {"div", read_omod, 0, 2, 2, 3},
    {"neg", read_matrix_negation, offsetof(ws_instruction, neg_lo), 0, 1, 0},
    SELECT("dst_sel", dst_select),
    SELECT("src0_sel", src[0].select),
    SELECT("src1_sel", src[1].select),
    {"dst_unused", read_unused, offsetof(ws_instruction, dst_unused), 0, 0, 0},
    NUMBER("offset", read_offset, imm, INT32_MIN, INT32_MAX),
    NUMBER("offset0", read_number, imm, 0, 255),
    NUMBER("offset1", read_number, imm2, 0, 255),
};

static const modifier *find_modifier(ws_span name) {
  for (size_t i = 0; i < sizeof modifiers / sizeof *modifiers; i++)
    if (ws_span_is(name, modifiers[i].name))
      return &modifiers[i];
  return NULL;
}

bool ws__is_modifier(ws_span span) {
  return find_modifier(ws__cut(&span, ':')) != NULL;
}

bool ws__read_modifier(ws_span span, int sources, ws_instruction *out) {
  bool has_value = memchr(span.begin, ':', ws_span_size(span)) != NULL;
  const modifier *mod = find_modifier(ws__cut(&span, ':'));
  return mod && has_value == (span.begin < span.end) &&
         mod->read(mod, span, sources, out);
}
