/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How poison goes through what moves bytes: bitwise operations with a mask that
 * all lanes share, shifts by whole bytes, v_perm. With masks that differ from
 * lane to lane, a byte of the result is poison where that byte of any source
 * is (v_perm, shifts: where any byte is).
 */
#include "poison_bytes.h"

enum { BYTES = 4 };

typedef struct bytes {
  uint64_t lanes[BYTES]; /* poison */
} bytes;

/* A word that is the same in all lanes, and defined. */
typedef struct uniform {
  bool known;
  uint32_t value;
} uniform;

static bool is_partial(const ws_wave *wave, uint32_t index) {
  return wave->partial[index / 64] >> index % 64 & 1;
}

static uint64_t byte_of(const ws_wave *wave, uint32_t index, int byte) {
  const uint64_t lanes = wave->vector_poison[index];
  return is_partial(wave, index) ? lanes & wave->byte_poison[index][byte]
                                 : lanes;
}

uint64_t ws__bytes_poison(const ws_wave *wave, uint32_t index, unsigned which) {
  uint64_t lanes = 0;
  for (int byte = 0; byte < BYTES; byte++)
    if (which >> byte & 1)
      lanes |= byte_of(wave, index, byte);
  return lanes;
}

void ws__bytes_set(ws_wave *wave, uint32_t index, uint64_t exec,
                   const uint64_t new_bytes[4]) {
  uint64_t any = 0, all = UINT64_MAX, set[BYTES];
  for (int byte = 0; byte < BYTES; byte++) {
    set[byte] = (byte_of(wave, index, byte) & ~exec) | (new_bytes[byte] & exec);
    any |= set[byte];
    all &= set[byte];
  }
  const uint64_t flag = UINT64_C(1) << index % 64;
  wave->partial_count -= is_partial(wave, index);
  wave->partial[index / 64] &= ~flag;
  wave->vector_poison[index] = any;
  if (any == all)
    return;
  wave->partial_count++;
  wave->partial[index / 64] |= flag;
  memcpy(wave->byte_poison[index], set, sizeof set);
}

void ws__bytes_follow(ws_wave *wave, const ws_effects *effects, uint64_t exec) {
  for (int i = 0; i < effects->write_count; i++)
    for (int r = 0; r < effects->writes[i].count; r++) {
      const uint32_t index = effects->writes[i].first + (uint32_t)r;
      const uint64_t lanes = wave->vector_poison[index];
      if (is_partial(wave, index))
        ws__bytes_set(wave, index, exec,
                      (const uint64_t[]){lanes, lanes, lanes, lanes});
    }
}

/* ---- sources --------------------------------------------------------------
 */

static bytes source(const ws_wave *wave, const ws_operand *operand) {
  bytes out = {{0}};
  for (int byte = 0; byte < BYTES; byte++) {
    if (operand->kind == WS_OPERAND_VECTOR)
      out.lanes[byte] = byte_of(wave, operand->index, byte);
    else if (operand->kind == WS_OPERAND_SCALAR && operand->index < WS_SGPRS &&
             wave->scalar_poison[operand->index / 64] >> operand->index % 64 &
                 1 &&
             wave->scalar_poison_bits[operand->index] >> 8 * byte & 0xff)
      out.lanes[byte] = UINT64_MAX;
  }
  return out;
}

static bool is_poisoned(const bytes *b) {
  return b->lanes[0] | b->lanes[1] | b->lanes[2] | b->lanes[3];
}

static uniform shared(const ws_wave *wave, const ws_operand *operand) {
  const bytes poison = source(wave, operand);
  if (operand->kind == WS_OPERAND_VECTOR || is_poisoned(&poison))
    return (uniform){false, 0};
  return (uniform){true, (uint32_t)ws__scalar_value(wave, operand)};
}

/* Bytes of a source that count: what SDWA selects, and of 16-bit operands
 * without a selection the lower half. */
static unsigned used_bytes(const ws_instruction *in, const ws_operand *source) {
  if (in->flags & WS_IS_SDWA && source->select < WS_SELECT_ALL)
    return source->select < WS_SELECT_WORD_0
               ? 1u << source->select
               : (unsigned)WS_BYTE_LOW_HALF
                     << 2 * (source->select - WS_SELECT_WORD_0);
  const bool half = source->type == 'w' || source->type == 'h';
  return half && !(in->flags & WS_OP_SEL_GIVEN) ? WS_BYTE_LOW_HALF
                                                : WS_BYTE_ALL;
}

uint64_t ws__sources_poison(const ws_wave *wave, const ws_instruction *in) {
  uint64_t lanes = 0;
  for (int i = 0; i < in->src_count; i++) {
    const ws_operand *operand = &in->src[i];
    const uint32_t count = operand->count ? operand->count : 1;
    if (operand->kind == WS_OPERAND_VECTOR)
      for (uint32_t r = 0; r < count && operand->index + r < WS_VECTORS; r++)
        lanes |=
            ws__bytes_poison(wave, operand->index + r,
                             count > 1 ? WS_BYTE_ALL : used_bytes(in, operand));
  }
  return lanes;
}

/* ---- operations -----------------------------------------------------------
 */

static bytes either(const bytes *a, const bytes *b) {
  bytes out;
  for (int i = 0; i < BYTES; i++)
    out.lanes[i] = a->lanes[i] | b->lanes[i];
  return out;
}

static bytes everywhere(const bytes *b) {
  const uint64_t any = b->lanes[0] | b->lanes[1] | b->lanes[2] | b->lanes[3];
  return (bytes){{any, any, any, any}};
}

static int byte_at(uint32_t word, int byte) { return word >> 8 * byte & 0xff; }

/* Defined where the mask's byte is `decides`: 0 of an and, 0xff of an or. */
static bytes masked(const bytes *value, uniform mask, int decides) {
  bytes out = *value;
  for (int i = 0; i < BYTES && mask.known; i++)
    if (byte_at(mask.value, i) == decides)
      out.lanes[i] = 0;
  return out;
}

static bytes logic(const ws_wave *wave, const ws_operand *a,
                   const ws_operand *b, int decides) {
  const bytes left = source(wave, a), right = source(wave, b);
  const bytes one = masked(&left, shared(wave, b), decides);
  const bytes other = masked(&right, shared(wave, a), decides);
  return either(&one, &other);
}

/* (a & b) | (~a & c) */
static bytes insert(const ws_wave *wave, const ws_instruction *in) {
  const uniform mask = shared(wave, &in->src[0]);
  const bytes poison = source(wave, &in->src[0]);
  const bytes b = source(wave, &in->src[1]), c = source(wave, &in->src[2]);
  const bytes one = masked(&b, mask, 0), other = masked(&c, mask, 0xff);
  const bytes values = either(&one, &other);
  return either(&values, &poison);
}

/* The eight bytes low, then high, shifted to the right by so many bits; the
 * lower four of them. */
static bytes shifted(const bytes *low, const bytes *high, unsigned bits) {
  bytes out = {{0}};
  for (unsigned i = 0; i < BYTES; i++)
    for (unsigned at = i + bits / 8; at <= i + (bits + 7) / 8; at++)
      out.lanes[i] |= at < BYTES       ? low->lanes[at]
                      : at < 2 * BYTES ? high->lanes[at - BYTES]
                                       : 0;
  return out;
}

static const bytes defined = {{0}};

static bytes shift(const ws_wave *wave, const ws_operand *value,
                   const ws_operand *amount, bool left) {
  const bytes v = source(wave, value), a = source(wave, amount);
  const uniform by = shared(wave, amount);
  const bytes both = either(&v, &a);
  if (!by.known)
    return everywhere(&both);
  const unsigned bits = by.value & 31;
  if (!left)
    return shifted(&v, &defined, bits);
  return bits ? shifted(&defined, &v, 32 - bits) : v;
}

static bytes align(const ws_wave *wave, const ws_instruction *in,
                   unsigned unit) {
  const bytes high = source(wave, &in->src[0]), low = source(wave, &in->src[1]);
  const bytes amount = source(wave, &in->src[2]);
  const uniform by = shared(wave, &in->src[2]);
  bytes all = either(&high, &low);
  all = either(&all, &amount);
  if (!by.known)
    return everywhere(&all);
  return shifted(&low, &high, unit == 8 ? (by.value & 3) * 8 : by.value & 31);
}

/* Selectors: 0 to 3 of src[1], 4 to 7 of src[0]; 8 to 11 the sign of their
 * upper bytes of words; above, constants. */
static bytes permute(const ws_wave *wave, const ws_instruction *in) {
  static const int signs[] = {1, 3, 5, 7};
  const bytes high = source(wave, &in->src[0]), low = source(wave, &in->src[1]);
  const bytes selector = source(wave, &in->src[2]);
  const uniform select = shared(wave, &in->src[2]);
  bytes out = either(&high, &low);
  out = either(&out, &selector);
  if (!select.known)
    return everywhere(&out);
  for (int i = 0; i < BYTES; i++) {
    const int s = byte_at(select.value, i);
    const int from = s < 8 ? s : s < 12 ? signs[s - 8] : -1;
    out.lanes[i] = from < 0       ? 0
                   : from < BYTES ? low.lanes[from]
                                  : high.lanes[from - BYTES];
  }
  return out;
}

/* v_cndmask; a lane whose bit of the mask is poison takes no one knows what. */
static bytes select_lanes(const ws_wave *wave, const ws_instruction *in) {
  const ws_operand *by = &in->src[2];
  const uint64_t mask = ws__scalar_value(wave, by);
  const bytes a = source(wave, &in->src[0]), b = source(wave, &in->src[1]);
  uint64_t unsure = 0;
  bytes out;
  for (uint32_t w = 0; w < 2 && by->kind == WS_OPERAND_SCALAR; w++)
    if (by->index + w < WS_SGPRS &&
        wave->scalar_poison[(by->index + w) / 64] >> (by->index + w) % 64 & 1)
      unsure |= (uint64_t)wave->scalar_poison_bits[by->index + w] << 32 * w;
  for (int i = 0; i < BYTES; i++)
    out.lanes[i] = (a.lanes[i] & ~mask) | (b.lanes[i] & mask) | unsure;
  return out;
}

static bytes or_third(const ws_wave *wave, const ws_instruction *in,
                      const bytes *value) {
  const bytes third = source(wave, &in->src[2]);
  const bytes kept = masked(value, shared(wave, &in->src[2]), 0xff);
  return either(&kept, &third);
}

static bytes result_of(const ws_wave *wave, const ws_instruction *in) {
  const ws_operand *src = in->src;
  bytes first;
  switch (in->op) {
  case WS_OP_v_mov_b32:
  case WS_OP_v_not_b32:
    return source(wave, &src[0]);
  case WS_OP_v_and_b32:
    return logic(wave, &src[0], &src[1], 0);
  case WS_OP_v_or_b32:
    return logic(wave, &src[0], &src[1], 0xff);
  case WS_OP_v_xor_b32:
    return logic(wave, &src[0], &src[1], -1);
  case WS_OP_v_lshlrev_b32:
    return shift(wave, &src[1], &src[0], true);
  case WS_OP_v_lshrrev_b32:
    return shift(wave, &src[1], &src[0], false);
  case WS_OP_v_and_or_b32:
    first = logic(wave, &src[0], &src[1], 0);
    return or_third(wave, in, &first);
  case WS_OP_v_or3_b32:
    first = logic(wave, &src[0], &src[1], 0xff);
    return or_third(wave, in, &first);
  case WS_OP_v_lshl_or_b32:
    first = shift(wave, &src[0], &src[1], true);
    return or_third(wave, in, &first);
  case WS_OP_v_bfi_b32:
    return insert(wave, in);
  case WS_OP_v_alignbit_b32:
    return align(wave, in, 1);
  case WS_OP_v_alignbyte_b32:
    return align(wave, in, 8);
  case WS_OP_v_perm_b32:
    return permute(wave, in);
  default:
    return select_lanes(wave, in);
  }
}

bool ws__moves_bytes(const ws_instruction *in) {
  static const uint16_t moves[] = {
      WS_OP_v_mov_b32,       WS_OP_v_not_b32,    WS_OP_v_and_b32,
      WS_OP_v_or_b32,        WS_OP_v_xor_b32,    WS_OP_v_lshlrev_b32,
      WS_OP_v_lshrrev_b32,   WS_OP_v_and_or_b32, WS_OP_v_or3_b32,
      WS_OP_v_lshl_or_b32,   WS_OP_v_bfi_b32,    WS_OP_v_alignbit_b32,
      WS_OP_v_alignbyte_b32, WS_OP_v_perm_b32};
  for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
    if (in->op == moves[i])
      return !(in->flags & WS_MODIFIED);
  return false;
}

void ws__bytes_flow(const ws_wave *wave, const ws_instruction *in,
                    uint64_t out[4]) {
  const bytes result = result_of(wave, in);
  memcpy(out, result.lanes, sizeof result.lanes);
}
