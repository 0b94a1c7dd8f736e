/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One operand of a line of disassembly: registers, constants, messages,
 * counters. The syntax is LLVM's (AMDGPUOperandSyntax, AMDGPUModifierSyntax of
 * LLVM 21). A constant becomes the bits that the hardware feeds to an operand
 * of its type:
 *   integers -16..64       the integer in the operand's width, sign-extended,
 *                          even where the operand is a float
 *   0.5 1 2 4, 1/(2 pi)    the float of the operand's format: f16 where it has
 *                          16 bits, f64 where it has 64 (integers too), else
 *                          f32, for packed 16-bit integers as well
 *   literals (hexadecimal) 32 bits; of an f64 the high half; of 64-bit
 *                          integers zero-extended, sign-extended where the
 *                          opcode is signed (parse_instruction.c)
 *   packed 16-bit types    as 32 bits: a float is in the low half only
 */
#include "parse.h"

#include <ctype.h>

/* ---- text ------------------------------------------------------------------
 */

static ws_span trim(ws_span span) {
  while (span.begin < span.end && isspace((unsigned char)*span.begin))
    span.begin++;
  while (span.end > span.begin && isspace((unsigned char)span.end[-1]))
    span.end--;
  return span;
}

ws_span ws__cut(ws_span *rest, char stop) {
  const char *at = rest->begin;
  bool quoted = false;
  for (int depth = 0; at < rest->end; at++) {
    if (*at == '"')
      quoted = !quoted;
    depth += *at == '[' || *at == '(';
    depth -= *at == ']' || *at == ')';
    if (depth == 0 && !quoted &&
        (stop == ' ' ? isspace((unsigned char)*at) != 0 : *at == stop))
      break;
  }
  ws_span part = trim((ws_span){rest->begin, at});
  rest->begin = at < rest->end ? at + 1 : at;
  *rest = trim(*rest);
  return part;
}

static int digit_value(char c) {
  return isdigit((unsigned char)c)    ? c - '0'
         : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                      : 99;
}

bool ws__read_integer(ws_span span, int64_t *out) {
  bool negative = ws_span_starts(span, "-");
  uint64_t base = 10, value = 0;
  span.begin += negative;
  if (ws_span_starts(span, "0x") || ws_span_starts(span, "0X")) {
    base = 16;
    span.begin += 2;
  }
  if (span.begin == span.end)
    return false;
  for (; span.begin < span.end; span.begin++) {
    uint64_t digit = (uint64_t)digit_value(*span.begin);
    if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
        __builtin_add_overflow(value, digit, &value))
      return false;
  }
  if (negative && value > INT64_MAX)
    return false;
  *out = (int64_t)(negative ? -value : value);
  return true;
}

int ws__read_list(ws_span span, int64_t *out, int max) {
  int count = 0;
  if (ws_span_size(span) < 3 || (*span.begin != '[' && *span.begin != '(') ||
      (span.end[-1] != ']' && span.end[-1] != ')'))
    return -1;
  span = (ws_span){span.begin + 1, span.end - 1};
  while (span.begin < span.end)
    if (count == max || !ws__read_integer(ws__cut(&span, ','), &out[count++]))
      return -1;
  return count;
}

/* "name(inside)": takes the name and both brackets off. */
static bool unwrap(ws_span *span, const char *open, char close) {
  if (!ws_span_starts(*span, open) || ws_span_size(*span) < strlen(open) + 1 ||
      span->end[-1] != close)
    return false;
  *span = trim((ws_span){span->begin + strlen(open), span->end - 1});
  return true;
}

/* ---- registers -------------------------------------------------------------
 */

static const struct named_register {
  const char *name;
  uint8_t kind;
  uint16_t index;
  uint8_t count;
} named_registers[] = {
    {"vcc", WS_OPERAND_SCALAR, WS_SGPR_VCC, 2},
    {"vcc_lo", WS_OPERAND_SCALAR, WS_SGPR_VCC, 1},
    {"vcc_hi", WS_OPERAND_SCALAR, WS_SGPR_VCC + 1, 1},
    {"exec", WS_OPERAND_SCALAR, WS_SGPR_EXEC, 2},
    {"exec_lo", WS_OPERAND_SCALAR, WS_SGPR_EXEC, 1},
    {"exec_hi", WS_OPERAND_SCALAR, WS_SGPR_EXEC + 1, 1},
    {"m0", WS_OPERAND_SCALAR, WS_SGPR_M0, 1},
    {"flat_scratch", WS_OPERAND_SCALAR, WS_SGPR_FLAT_SCRATCH, 2},
    {"flat_scratch_lo", WS_OPERAND_SCALAR, WS_SGPR_FLAT_SCRATCH, 1},
    {"flat_scratch_hi", WS_OPERAND_SCALAR, WS_SGPR_FLAT_SCRATCH + 1, 1},
    {"xnack_mask", WS_OPERAND_SCALAR, WS_SGPR_XNACK_MASK, 2},
    {"xnack_mask_lo", WS_OPERAND_SCALAR, WS_SGPR_XNACK_MASK, 1},
    {"xnack_mask_hi", WS_OPERAND_SCALAR, WS_SGPR_XNACK_MASK + 1, 1},
    {"off", WS_OPERAND_NONE, 0, 0},
    {"scc", WS_OPERAND_SPECIAL, WS_SPECIAL_SCC, 1},
    {"vccz", WS_OPERAND_SPECIAL, WS_SPECIAL_VCCZ, 1},
    {"execz", WS_OPERAND_SPECIAL, WS_SPECIAL_EXECZ, 1},
    {"src_scc", WS_OPERAND_SPECIAL, WS_SPECIAL_SCC, 1},
    {"src_vccz", WS_OPERAND_SPECIAL, WS_SPECIAL_VCCZ, 1},
    {"src_execz", WS_OPERAND_SPECIAL, WS_SPECIAL_EXECZ, 1},
    {"src_shared_base", WS_OPERAND_SPECIAL, WS_SPECIAL_SHARED_BASE, 2},
    {"src_shared_limit", WS_OPERAND_SPECIAL, WS_SPECIAL_SHARED_LIMIT, 2},
    {"src_private_base", WS_OPERAND_SPECIAL, WS_SPECIAL_PRIVATE_BASE, 2},
    {"src_private_limit", WS_OPERAND_SPECIAL, WS_SPECIAL_PRIVATE_LIMIT, 2},
};

static const struct register_file {
  const char *prefix;
  uint8_t kind;
  uint16_t first, size;
} register_files[] = {
    {"ttmp", WS_OPERAND_SCALAR, WS_SGPR_TTMP, 16},
    {"v", WS_OPERAND_VECTOR, 0, 256},
    {"a", WS_OPERAND_VECTOR, WS_ACC_BASE, 256},
    {"s", WS_OPERAND_SCALAR, 0, WS_SGPR_FLAT_SCRATCH},
};

static bool read_named(ws_span span, ws_operand *out) {
  for (size_t i = 0; i < sizeof named_registers / sizeof *named_registers; i++)
    if (ws_span_is(span, named_registers[i].name)) {
      out->kind = named_registers[i].kind;
      out->index = named_registers[i].index;
      out->count = named_registers[i].count;
      return true;
    }
  return false;
}

/* "5", "[2:3]" or "[2]" */
static bool read_range(ws_span span, int64_t *first, int64_t *last) {
  if (!unwrap(&span, "[", ']')) {
    if (!isdigit((unsigned char)*span.begin) || !ws__read_integer(span, first))
      return false;
    *last = *first;
    return true;
  }
  if (!ws__read_integer(ws__cut(&span, ':'), first))
    return false;
  *last = *first;
  return span.begin == span.end || ws__read_integer(span, last);
}

static bool read_register(ws_span span, ws_operand *out) {
  int64_t first, last;
  if (read_named(span, out))
    return true;
  for (size_t i = 0; i < sizeof register_files / sizeof *register_files; i++) {
    const struct register_file *file = &register_files[i];
    size_t skip = strlen(file->prefix);
    if (!ws_span_starts(span, file->prefix) || ws_span_size(span) <= skip ||
        !read_range((ws_span){span.begin + skip, span.end}, &first, &last))
      continue;
    if (first < 0 || last < first || last >= file->size || last - first > 31)
      return false;
    out->kind = file->kind;
    out->index = (uint16_t)(file->first + first);
    out->count = (uint8_t)(last - first + 1);
    return true;
  }
  return false;
}

/* ---- constants -------------------------------------------------------------
 */

/* Inline constants that are floats, in each format (ISA guide, "Operands":
 * scalar source codes 240 to 248). */
static const struct inline_float {
  const char *text; /* what the number starts with */
  double value;
  uint16_t f16;
  uint32_t f32;
  uint64_t f64;
} inline_floats[] = {
    {"0.5", 0.5, 0x3800, 0x3f000000, 0x3fe0000000000000},
    {"1.0", 1.0, 0x3c00, 0x3f800000, 0x3ff0000000000000},
    {"2.0", 2.0, 0x4000, 0x40000000, 0x4000000000000000},
    {"4.0", 4.0, 0x4400, 0x40800000, 0x4010000000000000},
    {"0.15915494", 0, 0x3118, 0x3e22f983, 0x3fc45f306dc9c882},
};

/* Digits with a point; the C library's strtod would heed the locale. Exact up
 * to 15 digits, which is what one writes by hand. */
static bool read_decimal(ws_span span, double *out) {
  double value = 0, scale = 1;
  bool point = false, digits = false;
  for (; span.begin < span.end; span.begin++) {
    if (*span.begin == '.' && !point) {
      point = true;
      continue;
    }
    if (!isdigit((unsigned char)*span.begin) || scale > 1e21)
      return false;
    digits = true;
    value = value * 10 + (*span.begin - '0');
    scale *= point ? 10 : 1;
  }
  *out = value / scale;
  return point && digits;
}

static bool is_wide_integer(char type) { return type == 'I' || type == 'm'; }

static bool read_inline_float(ws_span span, bool negative, ws_operand *out) {
  const struct inline_float *found = NULL;
  for (size_t i = 0; i < sizeof inline_floats / sizeof *inline_floats; i++)
    if (i == 4 ? ws_span_starts(span, inline_floats[i].text)
               : ws_span_is(span, inline_floats[i].text))
      found = &inline_floats[i];
  if (!found)
    return false;
  if (out->type == 'F' || is_wide_integer(out->type))
    out->constant = found->f64 | (uint64_t)negative << 63;
  else if (strchr("hHw", out->type))
    out->constant = found->f16 | (uint32_t)negative << 15;
  else
    out->constant = found->f32 | (uint32_t)negative << 31;
  return true;
}

/* Only hand-written text has these: a disassembler prints literals as bits. */
static bool read_float_literal(ws_span span, bool negative, ws_operand *out) {
  double value;
  if (!read_decimal(span, &value) || strchr("hHw", out->type) ||
      is_wide_integer(out->type))
    return false;
  value = negative ? -value : value;
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  out->constant = bits;
  if (out->type == 'F') {
    memcpy(&out->constant, &value, sizeof value);
    out->constant &= ~(uint64_t)UINT32_MAX;
  }
  return true;
}

static bool read_constant(ws_span span, ws_operand *out) {
  int64_t number;
  out->kind = WS_OPERAND_CONSTANT;
  out->count =
      out->type == 'F' || out->type == 'G' || is_wide_integer(out->type) ? 2
                                                                         : 1;
  if (ws__read_integer(span, &number)) {
    bool hexadecimal = memchr(span.begin, 'x', ws_span_size(span)) != NULL;
    if (number < INT32_MIN || (number > UINT32_MAX && out->count == 1))
      return false;
    out->constant = out->count == 2 ? (uint64_t)number : (uint32_t)number;
    if (out->type == 'F' && hexadecimal && number <= UINT32_MAX)
      out->constant = (uint64_t)number << 32;
    return true;
  }
  bool negative = ws_span_starts(span, "-");
  span.begin += negative;
  return read_inline_float(span, negative, out) ||
         read_float_literal(span, negative, out);
}

/* ---- what only immediates can be -------------------------------------------
 */

/* Hardware registers by number (ISA guide, "Hardware register values"; LLVM's
 * AMDGPUAsmUtils, hwreg). */
static const struct named_number {
  const char *name;
  int64_t value;
} hardware_registers[] = {
    {"HW_REG_MODE", 1},
    {"HW_REG_STATUS", 2},
    {"HW_REG_TRAPSTS", 3},
    {"HW_REG_HW_ID", 4},
    {"HW_REG_GPR_ALLOC", 5},
    {"HW_REG_LDS_ALLOC", 6},
    {"HW_REG_IB_STS", 7},
    {"HW_REG_SH_MEM_BASES", 15},
    {"HW_REG_TBA_LO", 16},
    {"HW_REG_TBA_HI", 17},
    {"HW_REG_TMA_LO", 18},
    {"HW_REG_TMA_HI", 19},
    {"HW_REG_XCC_ID", 20},
    {"HW_REG_SQ_PERF_SNAPSHOT_DATA", 21},
    {"HW_REG_SQ_PERF_SNAPSHOT_DATA1", 22},
    {"HW_REG_SQ_PERF_SNAPSHOT_PC_LO", 23},
    {"HW_REG_SQ_PERF_SNAPSHOT_PC_HI", 24},
};

static const struct named_number messages[] = {
    {"MSG_INTERRUPT", 1},       {"MSG_GS", 2},
    {"MSG_GS_DONE", 3},         {"MSG_SAVEWAVE", 4},
    {"MSG_STALL_WAVE_GEN", 5},  {"MSG_HALT_WAVES", 6},
    {"MSG_ORDERED_PS_DONE", 7}, {"MSG_EARLY_PRIM_DEALLOC", 8},
    {"MSG_GS_ALLOC_REQ", 9},    {"MSG_GET_DOORBELL", 10},
    {"MSG_SYSMSG", 15},
};

static bool read_name(ws_span span, const struct named_number *names,
                      size_t count, int64_t *out) {
  for (size_t i = 0; i < count; i++)
    if (ws_span_is(span, names[i].name)) {
      *out = names[i].value;
      return true;
    }
  return ws__read_integer(span, out);
}
#define READ_NAME(span, names, out)                                            \
  read_name(span, names, sizeof names / sizeof *names, out)

/* hwreg(id, offset, size): encoded as id | offset << 6 | size - 1 << 11. */
static bool read_hwreg(ws_span span, ws_operand *out, ws_instruction *in) {
  int64_t id, field[2] = {0, 32};
  if (!READ_NAME(ws__cut(&span, ','), hardware_registers, &id))
    return false;
  for (int i = 0; i < 2 && span.begin < span.end; i++)
    if (!ws__read_integer(ws__cut(&span, ','), &field[i]))
      return false;
  if (span.begin < span.end || id < 0 || id > 63 || field[0] < 0 ||
      field[0] > 31 || field[1] < 1 || field[1] > 32)
    return false;
  in->imm = (int32_t)id;
  in->imm2 = (int32_t)(field[0] | field[1] << 8);
  out->constant = (uint64_t)(id | field[0] << 6 | (field[1] - 1) << 11);
  return true;
}

/* sendmsg(message, operation, stream): message | operation << 4 | stream << 8.
 * Operations by name matter to graphics alone and are refused, NOP aside. */
static bool read_sendmsg(ws_span span, ws_operand *out) {
  static const struct named_number operations[] = {{"GS_OP_NOP", 0}};
  int64_t message, operation = 0, stream = 0;
  if (!READ_NAME(ws__cut(&span, ','), messages, &message))
    return false;
  if (span.begin < span.end &&
      !READ_NAME(ws__cut(&span, ','), operations, &operation))
    return false;
  if (span.begin < span.end && !ws__read_integer(ws__cut(&span, ','), &stream))
    return false;
  if (span.begin < span.end || message < 0 || message > 15 || operation < 0 ||
      operation > 7 || stream < 0 || stream > 3)
    return false;
  out->constant = (uint64_t)(message | operation << 4 | stream << 8);
  return true;
}

/* gpr_idx(SRC0,DST): a bit each. */
static bool read_gpr_index(ws_span span, ws_operand *out) {
  static const struct named_number bits[] = {
      {"SRC0", 1}, {"SRC1", 2}, {"SRC2", 4}, {"DST", 8}};
  out->constant = 0;
  while (span.begin < span.end) {
    int64_t bit;
    if (!READ_NAME(ws__cut(&span, ','), bits, &bit) || bit < 1 || bit > 8)
      return false;
    out->constant |= (uint64_t)bit;
  }
  return true;
}

/* -1: it is none of these; 0: one, but not a valid one. */
static int read_immediate(ws_span span, ws_operand *out, ws_instruction *in) {
  out->kind = WS_OPERAND_CONSTANT;
  out->count = 1;
  if (unwrap(&span, "hwreg(", ')'))
    return read_hwreg(span, out, in);
  if (unwrap(&span, "sendmsg(", ')'))
    return read_sendmsg(span, out);
  if (unwrap(&span, "gpr_idx(", ')'))
    return read_gpr_index(span, out);
  return -1;
}

/* s_waitcnt: vmcnt 3:0 and 15:14, expcnt 6:4, lgkmcnt 11:8 (ISA guide,
 * S_WAITCNT); a counter that is not named is not waited for: its maximum. */
bool ws__read_waitcnt(ws_span span, int64_t *out) {
  int64_t vmcnt = 63, expcnt = 7, lgkmcnt = 15;
  const struct counter {
    const char *name;
    int64_t *value, max;
  } counters[] = {{"vmcnt(", &vmcnt, 63},
                  {"expcnt(", &expcnt, 7},
                  {"lgkmcnt(", &lgkmcnt, 15}};
  if (ws__read_integer(span, out))
    return *out >= 0 && *out <= UINT16_MAX;
  while (span.begin < span.end) {
    ws_span part = ws__cut(&span, ' ');
    if (ws_span_is(part, "&") || ws_span_is(part, ","))
      continue;
    if (part.end[-1] == ',')
      part.end--;
    bool known = false;
    for (size_t i = 0; i < 3 && !known; i++)
      known = unwrap(&part, counters[i].name, ')') &&
              ws__read_integer(part, counters[i].value) &&
              *counters[i].value >= 0 && *counters[i].value <= counters[i].max;
    if (!known)
      return false;
  }
  *out = (vmcnt & 15) | expcnt << 4 | lgkmcnt << 8 | (vmcnt >> 4) << 14;
  return true;
}

/* ---- one operand -----------------------------------------------------------
 */

bool ws__read_operand(ws_span span, ws_operand *out, ws_instruction *in) {
  int immediate = read_immediate(span, out, in);
  if (immediate >= 0)
    return immediate;
  if (unwrap(&span, "sext(", ')'))
    out->sign_extend = true;
  else if (unwrap(&span, "neg(", ')'))
    out->negate = true;
  else if (ws_span_size(span) > 1 && *span.begin == '-' &&
           !isdigit((unsigned char)span.begin[1])) {
    out->negate = true;
    span.begin++;
  }
  if (unwrap(&span, "|", '|') || unwrap(&span, "abs(", ')'))
    out->absolute = true;
  if (span.begin == span.end)
    return false;
  return read_register(span, out) || read_constant(span, out);
}
