/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A line of disassembly as a ws_instruction: the mnemonic is looked up in the
 * opcode table, the operands are assigned in the order of its type letters,
 * and what the text leaves out gets the value that the hardware assumes.
 */
#include "parse.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_OPERANDS = 6 };

static const struct opcode {
  const char *name;
  uint8_t class_;
  const char *operands;
} opcodes[WS_OP_COUNT] = {
#define OP(name, class_, operands) {#name, WS_CLASS_##class_, operands},
#include "opcodes.h"
#undef OP
};

const char *ws__op_name(ws_op op) {
  return (unsigned)op < WS_OP_COUNT ? opcodes[op].name : "?";
}

/* ---- mnemonic --------------------------------------------------------------
 */

static uint16_t by_name[WS_OP_COUNT];
static pthread_once_t sort_once = PTHREAD_ONCE_INIT;

static int compare_opcodes(const void *a, const void *b) {
  return strcmp(opcodes[*(const uint16_t *)a].name,
                opcodes[*(const uint16_t *)b].name);
}

static void sort_opcodes(void) {
  for (int i = 0; i < WS_OP_COUNT; i++)
    by_name[i] = (uint16_t)i;
  qsort(by_name, WS_OP_COUNT, sizeof *by_name, compare_opcodes);
}

static int compare_name(const void *key, const void *element) {
  const ws_span *name = key;
  const char *other = opcodes[*(const uint16_t *)element].name;
  int order = strncmp(name->begin, other, ws_span_size(*name));
  return order ? order : other[ws_span_size(*name)] ? -1 : 0;
}

static bool find_opcode(ws_span name, uint16_t *out) {
  pthread_once(&sort_once, sort_opcodes);
  const uint16_t *found =
      bsearch(&name, by_name, WS_OP_COUNT, sizeof *by_name, compare_name);
  if (found)
    *out = *found;
  return found != NULL;
}

/* Encoding suffixes; the longer ones first. */
static bool find_mnemonic(ws_span name, ws_instruction *out) {
  static const char *const suffixes[] = {"_e64_dpp", "_e32", "_e64", "_dpp",
                                         "_sdwa"};
  if (find_opcode(name, &out->op))
    return true;
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t size = strlen(suffixes[i]);
    if (ws_span_size(name) <= size ||
        memcmp(name.end - size, suffixes[i], size))
      continue;
    if (!strcmp(suffixes[i], "_sdwa"))
      out->flags |= WS_IS_SDWA;
    return find_opcode((ws_span){name.begin, name.end - size}, &out->op);
  }
  return false;
}

/* ---- operands --------------------------------------------------------------
 */

/* One operand of the opcode's string. */
typedef struct slot {
  char type;
  bool is_destination, optional, also_read;
} slot;

static int read_slots(const char *pattern, slot *slots) {
  int count = 0;
  bool destination = true, optional = false;
  for (; *pattern; pattern++) {
    if (*pattern == '=')
      destination = false;
    else if (*pattern == '?')
      optional = true;
    else if (*pattern == '+' && count)
      slots[count - 1].also_read = true;
    else if (count < MAX_OPERANDS) {
      slots[count++] = (slot){*pattern, destination, optional, false};
      optional = false;
    }
  }
  return count;
}

/* Leaves out optional operands from the first on until `texts` are left. */
static int drop_optional(slot *slots, int count, int texts) {
  for (int i = 0; i < count && count > texts;)
    if (slots[i].optional) {
      memmove(&slots[i], &slots[i + 1],
              (size_t)(count - i - 1) * sizeof *slots);
      count--;
    } else {
      i++;
    }
  return count;
}

/* Cuts "a, b, c modifiers" at the commas; what follows the last operand stays
 * in *rest. -1: too many. */
static int cut_operands(ws_span *rest, ws_span *texts) {
  ws_span probe = *rest;
  int count = 0;
  if (rest->begin == rest->end || ws__is_modifier(ws__cut(&probe, ' ')))
    return 0;
  for (;;) {
    if (count == MAX_OPERANDS)
      return -1;
    ws_span tail = *rest;
    ws_span part = ws__cut(rest, ',');
    if (rest->begin < rest->end) {
      texts[count++] = part;
      continue;
    }
    texts[count++] = ws__cut(&tail, ' ');
    *rest = tail;
    return count;
  }
}

/* v_fma_mix reads a source as f16 where op_sel_hi says so. */
static char constant_type(const ws_instruction *out, int source, char type) {
  bool mix = !strncmp(opcodes[out->op].name, "v_fma_mix", 9);
  return mix && out->op_sel_hi >> source & 1 ? 'h' : type;
}

static bool read_slot(ws_span text, slot place, ws_instruction *out) {
  if (place.is_destination ? out->dst_count == 2 : out->src_count == 4)
    return false;
  ws_operand *operand = place.is_destination ? &out->dst[out->dst_count++]
                                             : &out->src[out->src_count++];
  operand->type = place.is_destination
                      ? place.type
                      : constant_type(out, out->src_count - 1, place.type);
  bool known = ws__read_operand(text, operand, out);
  operand->type = place.type;
  return known &&
         !(place.is_destination && operand->kind == WS_OPERAND_CONSTANT);
}

static bool read_operands(const ws_span *texts, const slot *slots, int count,
                          ws_instruction *out) {
  for (int i = 0; i < count; i++)
    if (!read_slot(texts[i], slots[i], out))
      return false;
  for (int i = 0, dst = 0; i < count; i++) {
    if (slots[i].also_read && out->src_count < 4)
      out->src[out->src_count++] = out->dst[dst];
    dst += slots[i].is_destination;
  }
  return true;
}

/* ---- what the text does not say --------------------------------------------
 */

static bool starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

static bool ends_with(const char *text, const char *end) {
  size_t size = strlen(text), part = strlen(end);
  return size >= part && !strcmp(text + size - part, end);
}

/* op_sel_hi is all ones by default where it selects halves (VOP3P); v_fma_mix
 * has another meaning for it, and 0. */
static uint8_t default_op_sel_hi(const char *name) {
  return starts_with(name, "v_pk_") || starts_with(name, "v_dot") ? 7 : 0;
}

static void set_defaults(ws_instruction *out) {
  out->class_ = opcodes[out->op].class_;
  out->dpp = WS_DPP_NONE;
  out->row_mask = out->bank_mask = 15;
  out->dst_select = WS_SELECT_ALL;
  out->op_sel_hi = default_op_sel_hi(opcodes[out->op].name);
  for (int i = 0; i < 2; i++)
    out->dst[i].select = WS_SELECT_ALL;
  for (int i = 0; i < 4; i++)
    out->src[i].select = WS_SELECT_ALL;
}

static bool is_modified(const ws_instruction *out) {
  const char *name = opcodes[out->op].name;
  bool modified = out->dpp != WS_DPP_NONE || out->omod || out->op_sel ||
                  out->neg_lo || out->neg_hi || out->cbsz || out->abid ||
                  out->blgp || out->op_sel_hi != default_op_sel_hi(name) ||
                  (out->flags & (WS_IS_SDWA | WS_CLAMP));
  for (int i = 0; i < out->src_count; i++)
    modified |=
        out->src[i].negate || out->src[i].absolute || out->src[i].sign_extend;
  return modified;
}

/* The 16-bit constant of SOPK is sign-extended for i32, zero-extended for u32
 * (ISA guide, SOPK instructions). imm keeps it for SOPK and SOPP alike. */
static void set_immediate(ws_instruction *out) {
  static const char *const sopk[] = {"s_movk_", "s_cmovk_", "s_addk_",
                                     "s_mulk_", "s_cmpk_"};
  const char *name = opcodes[out->op].name;
  ws_operand *last = NULL;
  bool is_sopk = false;
  for (int i = 0; i < out->src_count; i++)
    if (out->src[i].kind == WS_OPERAND_CONSTANT)
      last = &out->src[i];
  for (size_t i = 0; i < sizeof sopk / sizeof *sopk; i++)
    is_sopk |= starts_with(name, sopk[i]);
  if (!last)
    return;
  int16_t narrow = (int16_t)(uint16_t)last->constant;
  if (is_sopk)
    last->constant =
        ends_with(name, "_u32") ? (uint16_t)narrow : (uint32_t)(int32_t)narrow;
  if (is_sopk || out->class_ == WS_CLASS_INTERNAL ||
      out->class_ == WS_CLASS_BRANCH || out->class_ == WS_CLASS_BARRIER ||
      starts_with(name, "s_set_gpr_idx_"))
    out->imm = narrow;
  if (out->class_ == WS_CLASS_WAIT)
    out->imm = (uint16_t)last->constant;
}

/* A literal of a signed 64-bit operand is sign-extended, of others
 * zero-extended; s_ashr_i64, s_bfe_i64, v_cmp_*_i64 are the signed ones. */
static void extend_literals(ws_instruction *out) {
  if (!ends_with(opcodes[out->op].name, "_i64"))
    return;
  for (int i = 0; i < out->src_count; i++)
    if (out->src[i].kind == WS_OPERAND_CONSTANT && out->src[i].type == 'I' &&
        out->src[i].constant <= UINT32_MAX)
      out->src[i].constant =
          (uint64_t)(int64_t)(int32_t)(uint32_t)out->src[i].constant;
}

/* Buffer and scalar atomics that return have no destination in the text: the
 * data is overwritten, of cmpswap its first half. */
static void set_returned_data(ws_instruction *out) {
  const char *name = opcodes[out->op].name;
  if (!(out->flags & WS_SC0) || !strstr(name, "_atomic_") || out->dst_count ||
      (!starts_with(name, "buffer_") && !starts_with(name, "s_")))
    return;
  out->dst[0] = out->src[0];
  out->dst_count = 1;
  if (strstr(name, "_cmpswap") && out->dst[0].count > 1)
    out->dst[0].count /= 2;
}

/* ---- the line --------------------------------------------------------------
 */

static ws_span without_comment(const char *line) {
  const char *end = strstr(line, "//");
  if (!end)
    end = strchr(line, ';');
  return (ws_span){line, end ? end : line + strlen(line)};
}

#define QUOTE(span) (int)ws_span_size(span), (span).begin

static ws_status read_modifiers(ws_span rest, int sources, ws_instruction *out,
                                ws_diag *diag) {
  while (rest.begin < rest.end) {
    ws_span part = ws__cut(&rest, ' ');
    if (!ws__read_modifier(part, sources, out))
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "%s: what is the modifier '%.*s'?", opcodes[out->op].name,
                     QUOTE(part));
  }
  return WS_OK;
}

/* s_waitcnt's operand has blanks in it. */
static ws_status read_wait(ws_span rest, ws_instruction *out, ws_diag *diag) {
  int64_t counters;
  if (!ws__read_waitcnt(rest, &counters))
    return ws_fail(diag, WS_INPUT, NULL, 0, "s_waitcnt: what is '%.*s'?",
                   QUOTE(rest));
  out->src[0] = (ws_operand){.kind = WS_OPERAND_CONSTANT,
                             .count = 1,
                             .type = 'i',
                             .select = WS_SELECT_ALL,
                             .constant = (uint64_t)counters};
  out->src_count = 1;
  return WS_OK;
}

static ws_status read_rest(ws_span rest, ws_instruction *out, ws_diag *diag) {
  slot slots[MAX_OPERANDS];
  ws_span texts[MAX_OPERANDS], all = rest;
  const struct opcode *opcode = &opcodes[out->op];
  int count = read_slots(opcode->operands, slots), sources = 0;
  int text_count = cut_operands(&rest, texts);
  count = drop_optional(slots, count, text_count);
  for (int i = 0; i < count; i++)
    sources += !slots[i].is_destination;
  if (count != text_count)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: '%.*s' does not have the operands \"%s\"", opcode->name,
                   QUOTE(all), opcode->operands);
  WS_TRY(read_modifiers(rest, sources, out, diag));
  if (!read_operands(texts, slots, count, out))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: an operand of '%.*s' is not known", opcode->name,
                   QUOTE(all));
  return WS_OK;
}

ws_status ws__parse_instruction(const char *line, ws_instruction *out,
                                ws_diag *diag) {
  ws_span rest = without_comment(line);
  *out = (ws_instruction){0};
  while (rest.begin < rest.end && strchr(" \t\r\n", *rest.begin))
    rest.begin++;
  ws_span name = ws__cut(&rest, ' ');
  if (!find_mnemonic(name, out))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the simulator does not know the opcode '%.*s'",
                   QUOTE(name));
  set_defaults(out);
  if (out->class_ == WS_CLASS_WAIT)
    WS_TRY(read_wait(rest, out, diag));
  else
    WS_TRY(read_rest(rest, out, diag));
  set_immediate(out);
  extend_literals(out);
  set_returned_data(out);
  if (is_modified(out))
    out->flags |= WS_MODIFIED;
  return WS_OK;
}
