/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The careful path of step.h: one instruction with all checks, and the queues
 * of loads under way.
 */
#include "step.h"
#include "lds_shadow.h"
#include "poison_bytes.h"

#include <stdio.h>

enum {
  VMCNT = 1, /* ws_pending.counters */
  LGKMCNT = 2,
  VMCNT_MAX = 63, /* the counters' widths; a full one stalls the issue */
  LGKMCNT_MAX = 15,
  PENDING_MAX = (int)(sizeof((ws_wave *)0)->pending / sizeof(struct ws_pending))
};

bool ws__step_refused(ws_wave *wave) {
  const ws_text *text = wave->group->text;
  if (wave->pc >= text->count)
    ws__fault(wave, NULL, -1, "wild-branch",
              "the program runs past the end of its code; it lacks s_endpgm");
  else
    ws__fault(wave, &text->items[wave->pc], -1, "infinite-loop",
              "the wave has executed %llu instructions without ending; a loop "
              "does not end, or raise the budget",
              (unsigned long long)wave->executed);
  return false;
}

/* ---- registers in words ---------------------------------------------------
 */

static void vector_name(char out[16], uint32_t index) {
  snprintf(out, 16, "%c%u", index < WS_ACC_BASE ? 'v' : 'a',
           index % WS_ACC_BASE);
}

static void scalar_name(char out[16], uint32_t index) {
  if (index == WS_SGPR_VCC || index == WS_SGPR_VCC + 1)
    snprintf(out, 16, "vcc");
  else if (index == WS_SGPR_M0)
    snprintf(out, 16, "m0");
  else
    snprintf(out, 16, "s%u", index);
}

static int first_bit(uint64_t bits) {
  return bits ? __builtin_ctzll(bits) : -1;
}

static int first_scalar(const uint64_t set[2]) {
  return set[0] ? first_bit(set[0]) : set[1] ? 64 + first_bit(set[1]) : -1;
}

/* ---- queues of loads ------------------------------------------------------
 */

static void mark_pending(ws_wave *wave, uint32_t first, uint32_t count) {
  const uint32_t word = first / 64, shift = first % 64;
  const uint64_t bits = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
  wave->pending_vectors[word] |= bits << shift;
  if (shift + count > 64 && word + 1 < WS_VECTORS / 64)
    wave->pending_vectors[word + 1] |= bits >> 1 >> (63 - shift);
}

static void append_pending(ws_wave *wave, struct ws_pending entry) {
  wave->pending[wave->pending_count++] = entry;
  wave->vector_queue[0] += (entry.counters & VMCNT) != 0;
  wave->vector_queue[1] += (entry.counters & LGKMCNT) != 0;
  mark_pending(wave, entry.first, entry.count);
}

/* At most `left` operations of the counter remain. What is certain: the oldest
 * of those that return in order, even if all others returned before them; and
 * everything at 0. */
static void complete(ws_wave *wave, uint8_t counter, int left) {
  const int count = wave->pending_count;
  int surplus = -left; /* operations that return in order, beyond `left` */
  for (int i = 0; i < count; i++)
    surplus += wave->pending[i].counters == counter;
  wave->pending_count = 0;
  memset(wave->pending_vectors, 0, sizeof wave->pending_vectors);
  memset(wave->vector_queue, 0, sizeof wave->vector_queue);
  for (int i = 0; i < count; i++) {
    struct ws_pending entry = wave->pending[i];
    if (left == 0)
      entry.counters &= (uint8_t)~counter;
    else if (entry.counters == counter && surplus-- > 0)
      entry.counters = 0;
    if (entry.counters)
      append_pending(wave, entry);
  }
  if (counter == LGKMCNT && left == 0) {
    memset(wave->pending_scalars, 0, sizeof wave->pending_scalars);
    wave->scalar_queue = 0;
  }
}

static void push_scalar(ws_wave *wave, const ws_effects *effects) {
  wave->pending_scalars[0] |= effects->scalar_writes[0];
  wave->pending_scalars[1] |= effects->scalar_writes[1];
  wave->scalar_queue = 1;
}

static void push_pending(ws_wave *wave, const ws_effects *effects) {
  static const uint8_t counters[] = {[WS_QUEUE_VMEM] = VMCNT,
                                     [WS_QUEUE_LDS] = LGKMCNT,
                                     [WS_QUEUE_FLAT] = VMCNT | LGKMCNT};
  if (wave->vector_queue[0] >= VMCNT_MAX)
    complete(wave, VMCNT, VMCNT_MAX - 1);
  if (wave->vector_queue[1] >= LGKMCNT_MAX)
    complete(wave, LGKMCNT, LGKMCNT_MAX - 1);
  if (wave->pending_count >= PENDING_MAX)
    return; /* full of FLAT: the counters are long full */
  struct ws_pending entry = {.counters = counters[effects->queue]};
  if (effects->write_count) {
    entry.first = effects->writes[0].first;
    entry.count = effects->writes[0].count;
  }
  append_pending(wave, entry);
}

/* s_waitcnt: vmcnt in bits 3:0 and 15:14, lgkmcnt in bits 11:8. */
static void wait(ws_wave *wave, const ws_instruction *in) {
  const uint32_t field = (uint32_t)in->imm & 0xffff;
  const int vmcnt = (int)((field & 15) | (field >> 14) << 4);
  const int lgkmcnt = (int)(field >> 8 & 15);
  if (wave->vector_queue[0] > vmcnt)
    complete(wave, VMCNT, vmcnt);
  if (wave->vector_queue[1] > lgkmcnt || (lgkmcnt == 0 && wave->scalar_queue))
    complete(wave, LGKMCNT, lgkmcnt);
  if (wave->group->shadow)
    ws__lds_shadow_wait(wave->group->shadow, wave->index, vmcnt, lgkmcnt);
}

static uint8_t pending_counters(const ws_wave *wave, uint32_t first,
                                uint32_t count) {
  uint8_t counters = 0;
  for (int i = 0; i < wave->pending_count; i++)
    if (wave->pending[i].first < first + count &&
        first < (uint32_t)wave->pending[i].first + wave->pending[i].count)
      counters |= wave->pending[i].counters;
  return counters;
}

static bool report_vector_wait(ws_wave *wave, const ws_instruction *in,
                               const ws_register_range *range,
                               const char *verb) {
  char name[16];
  vector_name(name, range->first);
  const uint8_t counters = pending_counters(wave, range->first, range->count);
  ws__fault(wave, in, -1, "missing-wait",
            "%s is %s while a load that writes it is under way; wait for %s "
            "first",
            name, verb,
            counters == VMCNT     ? "vmcnt"
            : counters == LGKMCNT ? "lgkmcnt"
                                  : "vmcnt and lgkmcnt");
  return false;
}

static bool check_scalar_waits(ws_wave *wave, const ws_instruction *in,
                               const ws_effects *effects) {
  uint64_t touched[2];
  for (int i = 0; i < 2; i++)
    touched[i] = wave->pending_scalars[i] &
                 (effects->scalar_reads[i] | effects->scalar_writes[i]);
  const int first = first_scalar(touched);
  if (first < 0)
    return true;
  char name[16];
  scalar_name(name, (uint32_t)first);
  ws__fault(wave, in, -1, "missing-wait",
            "%s is used while a scalar load that writes it is under way; wait "
            "for lgkmcnt(0) first",
            name);
  return false;
}

/* Loads of one queue return in order, so one may overwrite the other's. */
static bool check_waits(ws_wave *wave, const ws_instruction *in,
                        const ws_effects *effects) {
  for (int i = 0; i < effects->read_count; i++)
    if (ws__is_pending(wave, effects->reads[i].first, effects->reads[i].count))
      return report_vector_wait(wave, in, &effects->reads[i], "read");
  for (int i = 0; i < effects->write_count; i++) {
    const ws_register_range *range = &effects->writes[i];
    if (!ws__is_pending(wave, range->first, range->count))
      continue;
    const uint8_t counters = pending_counters(wave, range->first, range->count);
    if (!(effects->queue == WS_QUEUE_VMEM && counters == VMCNT) &&
        !(effects->queue == WS_QUEUE_LDS && counters == LGKMCNT))
      return report_vector_wait(wave, in, range, "overwritten");
  }
  return check_scalar_waits(wave, in, effects);
}

/* ---- poison of scalars, bit by bit ----------------------------------------
 */

static bool scalar_is_poisoned(const ws_wave *wave, uint32_t index) {
  return index < WS_SGPRS && wave->scalar_poison[index / 64] >> index % 64 & 1;
}

static uint64_t scalar_bits(const ws_wave *wave, uint32_t index) {
  const uint64_t low =
      scalar_is_poisoned(wave, index) ? wave->scalar_poison_bits[index] : 0;
  const uint64_t high = scalar_is_poisoned(wave, index + 1)
                            ? wave->scalar_poison_bits[index + 1]
                            : 0;
  return low | high << 32;
}

static void set_scalar_word(ws_wave *wave, uint32_t index, uint32_t bits) {
  const uint64_t flag = UINT64_C(1) << index % 64;
  wave->scalar_poison_bits[index] = bits;
  if (bits)
    wave->scalar_poison[index / 64] |= flag;
  else
    wave->scalar_poison[index / 64] &= ~flag;
}

static void set_scalar(ws_wave *wave, const ws_operand *operand,
                       uint64_t bits) {
  if (operand->kind != WS_OPERAND_SCALAR)
    return;
  for (uint32_t i = 0; i < operand->count && operand->index + i < WS_SGPRS; i++)
    set_scalar_word(wave, operand->index + i,
                    i == 0   ? (uint32_t)bits
                    : i == 1 ? (uint32_t)(bits >> 32)
                             : (bits ? UINT32_MAX : 0));
}

static uint64_t operand_bits(const ws_wave *wave, const ws_operand *operand) {
  if (operand->kind != WS_OPERAND_SCALAR)
    return 0;
  const uint64_t bits = scalar_bits(wave, operand->index);
  return operand->count > 1 ? bits : (uint32_t)bits;
}

/* A bit of a & b is defined where either is a defined 0; of a | b where either
 * is a defined 1. */
static uint64_t logic_bits(const ws_wave *wave, const ws_instruction *in,
                           const ws_effects *effects) {
  const bool save = effects->flags & WS_EFFECT_SAVEEXEC;
  const bool second = !save && in->src_count > 1;
  uint64_t a = ws__scalar_value(wave, &in->src[0]);
  uint64_t b = second ? ws__scalar_value(wave, &in->src[1]) : ws_exec(wave);
  const uint64_t poison_a = operand_bits(wave, &in->src[0]);
  const uint64_t poison_b = second ? operand_bits(wave, &in->src[1]) : 0;
  if (effects->flags & WS_EFFECT_INVERT_FIRST)
    a = ~a;
  if (effects->flags & WS_EFFECT_INVERT_SECOND)
    b = ~b;
  const uint64_t both = poison_a & poison_b;
  switch (effects->flow) {
  case WS_FLOW_AND:
    return both | (poison_a & b) | (poison_b & a);
  case WS_FLOW_OR:
    return both | (poison_a & ~b) | (poison_b & ~a);
  default:
    return poison_a | poison_b;
  }
}

static uint64_t scalar_flow(const ws_wave *wave, const ws_instruction *in,
                            const ws_effects *effects) {
  const bool scc = effects->flags & WS_EFFECT_READS_SCC && wave->scc_poison;
  switch (effects->flow) {
  case WS_FLOW_SCALAR:
    return scc || ws__reads_poisoned_scalar(wave, effects) ? UINT64_MAX : 0;
  case WS_FLOW_AND:
  case WS_FLOW_OR:
  case WS_FLOW_BITS:
    return ws__reads_poisoned_scalar(wave, effects)
               ? logic_bits(wave, in, effects)
               : 0;
  default:
    return 0;
  }
}

/* ---- poison of vectors ----------------------------------------------------
 */

static uint64_t lane_poison(const ws_wave *wave, const ws_operand *operand) {
  if (operand->kind == WS_OPERAND_VECTOR && operand->index < WS_VECTORS)
    return wave->vector_poison[operand->index];
  return operand_bits(wave, operand) ? UINT64_MAX : 0;
}

/* v_cndmask takes src[1] where the mask's bit is set, else src[0]. */
static uint64_t select_flow(const ws_wave *wave, const ws_instruction *in) {
  const uint64_t mask = ws__scalar_value(wave, &in->src[2]);
  return operand_bits(wave, &in->src[2]) |
         (mask & lane_poison(wave, &in->src[1])) |
         (~mask & lane_poison(wave, &in->src[0]));
}

static uint64_t lanes_flow(const ws_wave *wave, const ws_instruction *in,
                           const ws_effects *effects) {
  uint64_t poison = wave->partial_count ? ws__sources_poison(wave, in)
                                        : ws__any_poison(wave, effects);
  if (!ws__reads_poisoned_scalar(wave, effects))
    return poison;
  uint64_t others[2] = {effects->scalar_reads[0] & wave->scalar_poison[0],
                        effects->scalar_reads[1] & wave->scalar_poison[1]};
  if (effects->lane_mask < WS_SGPRS - 1) {
    const uint32_t mask = effects->lane_mask;
    poison |= scalar_bits(wave, mask);
    others[mask / 64] &= ~(UINT64_C(3) << mask % 64);
  }
  return others[0] | others[1] ? UINT64_MAX : poison;
}

/* Poison of one word of an operand, which may be its only one. */
static uint64_t word_poison(const ws_wave *wave, const ws_operand *operand,
                            uint32_t word) {
  const uint32_t past = word < operand->count ? word : 0;
  if (operand->kind != WS_OPERAND_VECTOR)
    return operand_bits(wave, operand) >> 32 * past & UINT32_MAX ? UINT64_MAX
                                                                 : 0;
  const uint32_t index = operand->index + past;
  return index < WS_VECTORS ? wave->vector_poison[index] : 0;
}

/* op_sel and op_sel_hi name the word that makes the low and the high result;
 * v_pk_mov takes one from each source, v_mov_b64 has no selection. */
static void pairs_flow(const ws_wave *wave, const ws_instruction *in,
                       uint64_t out[2]) {
  const bool move = in->op == WS_OP_v_pk_mov_b32;
  for (uint32_t half = 0; half < 2; half++) {
    const uint8_t select = half ? in->op_sel_hi : in->op_sel;
    out[half] = 0;
    for (uint32_t i = 0; i < in->src_count; i++)
      if (in->op == WS_OP_v_mov_b64)
        out[half] |= word_poison(wave, &in->src[i], half);
      else if (!move || i == half)
        out[half] |= word_poison(wave, &in->src[i],
                                 move ? in->op_sel >> i & 1 : select >> i & 1);
  }
}

/* Sums, products and left shifts carry upwards only. */
static void wide_flow(const ws_wave *wave, const ws_instruction *in,
                      uint64_t out[2]) {
  out[0] = out[1] = 0;
  for (uint32_t i = 0; i < in->src_count; i++) {
    out[0] |= word_poison(wave, &in->src[i], 0);
    if (in->src[i].count > 1)
      out[1] |= word_poison(wave, &in->src[i], 1);
  }
  out[1] |= out[0];
}

static uint64_t vector_flow(const ws_wave *wave, const ws_instruction *in,
                            const ws_effects *effects) {
  switch (effects->flow) {
  case WS_FLOW_LANES:
    return lanes_flow(wave, in, effects);
  case WS_FLOW_SELECT:
    return select_flow(wave, in);
  default:
    return 0;
  }
}

/* ---- what must not be poisoned --------------------------------------------
 */

static bool report_scalar(ws_wave *wave, const ws_instruction *in,
                          const ws_effects *effects, const char *what) {
  const uint64_t poisoned[2] = {
      effects->scalar_reads[0] & wave->scalar_poison[0],
      effects->scalar_reads[1] & wave->scalar_poison[1]};
  char name[16] = "scc";
  if (first_scalar(poisoned) >= 0)
    scalar_name(name, (uint32_t)first_scalar(poisoned));
  ws__fault(wave, in, -1, "uninitialised",
            "%s depends on %s, which comes from a value never written", what,
            name);
  return false;
}

static bool check_memory_poison(ws_wave *wave, const ws_instruction *in,
                                const ws_effects *effects) {
  /* What a timed group stores is of no consequence. */
  const bool store =
      effects->flags & WS_EFFECT_GLOBAL_STORE && !wave->group->timing;
  if (ws__reads_poisoned_scalar(wave, effects))
    return report_scalar(wave, in, effects, "an address");
  if (effects->flags & WS_EFFECT_LANE_INDEX)
    return true;
  for (int i = 0; i < effects->read_count; i++) {
    const ws_register_range *range = &effects->reads[i];
    if (range->is_data && !store)
      continue;
    uint64_t lanes = 0;
    for (uint32_t r = 0; r < range->count; r++)
      lanes |=
          ws__bytes_poison(wave, range->first + r,
                           range->is_data ? effects->data_bytes : WS_BYTE_ALL);
    lanes &= ws_exec(wave);
    if (!lanes)
      continue;
    char name[16];
    vector_name(name, range->first);
    ws__fault(wave, in, first_bit(lanes), "uninitialised",
              "%s %s comes from a value never written",
              range->is_data ? "what is stored from" : "the address in", name);
    return false;
  }
  return true;
}

static bool check_poison(ws_wave *wave, const ws_instruction *in,
                         const ws_effects *effects) {
  if (effects->queue != WS_QUEUE_NONE)
    return check_memory_poison(wave, in, effects);
  if (!(effects->flags & WS_EFFECT_NEEDS_DEFINED))
    return true;
  const bool scc = effects->flags & WS_EFFECT_READS_SCC && wave->scc_poison;
  if (scc || ws__reads_poisoned_scalar(wave, effects))
    return report_scalar(wave, in, effects, "control flow");
  return true;
}

/* ---- barriers -------------------------------------------------------------
 */

static bool check_barrier(ws_wave *wave, const ws_instruction *in,
                          const ws_effects *effects) {
  const bool barrier = in->class_ == WS_CLASS_BARRIER;
  const uint64_t missed = wave->absent_lanes & ws_exec(wave);
  if (!barrier && !(effects->flags & WS_EFFECT_SHARED_WRITE))
    return true;
  if (missed) {
    ws__fault(wave, in, first_bit(missed), "divergent-barrier",
              "the lane was switched off when its wave passed a barrier and "
              "goes on now; put the barrier outside the condition");
    return false;
  }
  if (barrier)
    wave->absent_lanes |= wave->initial_exec & ~ws_exec(wave);
  else
    wave->acted = true;
  return true;
}

/* ---- one instruction ------------------------------------------------------
 */

/* Handlers that keep poison of scalars set only the register's flag. */
static void widen_scalars(ws_wave *wave, const ws_effects *effects) {
  for (uint32_t word = 0; word < 2; word++)
    for (uint64_t set = effects->scalar_writes[word]; set; set &= set - 1) {
      const uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(set);
      wave->scalar_poison_bits[index] =
          scalar_is_poisoned(wave, index) ? UINT32_MAX : 0;
    }
}

static bool check_exec(ws_wave *wave, const ws_instruction *in,
                       const ws_effects *effects, uint64_t poison) {
  if (!poison || !(effects->flags & WS_EFFECT_WRITES_EXEC))
    return true;
  ws__fault(wave, in, first_bit(poison), "uninitialised",
            "which lanes go on depends on a value never written");
  return false;
}

static void finish_scalar(ws_wave *wave, const ws_instruction *in,
                          const ws_effects *effects, uint64_t poison) {
  if (!check_exec(wave, in, effects, poison))
    return;
  const bool save = effects->flags & WS_EFFECT_SAVEEXEC;
  for (int i = 0; i < in->dst_count; i++)
    set_scalar(wave, &in->dst[i], save ? 0 : poison);
  if (!(effects->flags & WS_EFFECT_WRITES_SCC))
    return;
  const bool bitwise = effects->flow != WS_FLOW_SCALAR && in->dst_count;
  wave->scc_poison =
      poison && !(bitwise && (ws__scalar_value(wave, &in->dst[0]) & ~poison));
}

static void finish_vector(ws_wave *wave, const ws_instruction *in,
                          const ws_effects *effects, uint64_t exec,
                          uint64_t poison) {
  if (!check_exec(wave, in, effects, poison & exec))
    return;
  ws__set_poison(wave, effects, exec, poison);
  for (int i = 0; i < in->dst_count; i++)
    set_scalar(wave, &in->dst[i], poison & exec);
}

static void finish_words(ws_wave *wave, const ws_instruction *in,
                         const ws_effects *effects, uint64_t exec,
                         const uint64_t words[2]) {
  for (uint32_t r = 0; effects->write_count && r < 2; r++) {
    uint64_t *lanes = &wave->vector_poison[effects->writes[0].first + r];
    *lanes = (*lanes & ~exec) | (words[r] & exec);
  }
  for (int i = 1; i < in->dst_count; i++) /* carry out */
    set_scalar(wave, &in->dst[i], words[1] & exec);
}

/* The register that a move of two words takes one of them from; -1: none. */
static int moved_register(const ws_instruction *in, uint32_t half) {
  const bool pair = in->op == WS_OP_v_pk_mov_b32;
  if (!pair && in->op != WS_OP_v_mov_b64)
    return -1;
  const ws_operand *from = &in->src[pair ? half : 0];
  const uint32_t word = pair ? in->op_sel >> half & 1 : half;
  return from->kind == WS_OPERAND_VECTOR && word < from->count
             ? from->index + (int)word
             : -1;
}

/* Moves of two words take along which bytes are poison. */
static void step_moves(ws_wave *wave, const ws_instruction *in,
                       const ws_effects *effects) {
  const uint64_t exec = ws_exec(wave);
  uint64_t words[2], bytes[2][4];
  pairs_flow(wave, in, words);
  for (uint32_t half = 0; half < 2; half++)
    for (unsigned byte = 0; byte < 4; byte++) {
      const int from = moved_register(in, half);
      bytes[half][byte] =
          from < 0 ? words[half]
                   : ws__bytes_poison(wave, (uint32_t)from, 1u << byte);
    }
  in->execute(wave, in);
  for (uint32_t half = 0; effects->write_count && half < 2; half++)
    ws__bytes_set(wave, effects->writes[0].first + half, exec, bytes[half]);
}

static void step_bytes(ws_wave *wave, const ws_instruction *in) {
  const uint64_t exec = ws_exec(wave);
  uint64_t bytes[4];
  ws__bytes_flow(wave, in, bytes);
  in->execute(wave, in);
  if (in->dst[0].kind == WS_OPERAND_VECTOR)
    ws__bytes_set(wave, in->dst[0].index, exec, bytes);
}

/* Two words that differ: pairs and wide integers. */
static void step_words(ws_wave *wave, const ws_instruction *in,
                       const ws_effects *effects) {
  const uint64_t exec = ws_exec(wave);
  uint64_t words[2];
  if (effects->flow == WS_FLOW_PAIRS)
    pairs_flow(wave, in, words);
  else
    wide_flow(wave, in, words);
  in->execute(wave, in);
  finish_words(wave, in, effects, exec, words);
}

static void finish(ws_wave *wave, const ws_instruction *in,
                   const ws_effects *effects, uint64_t exec, uint64_t poison) {
  switch (effects->flow) {
  case WS_FLOW_LANES:
  case WS_FLOW_SELECT:
    finish_vector(wave, in, effects, exec, poison);
    break;
  case WS_FLOW_OWN:
    widen_scalars(wave, effects);
    break;
  case WS_FLOW_NONE:
    break;
  default:
    finish_scalar(wave, in, effects, poison);
    break;
  }
  if (effects->queue == WS_QUEUE_SCALAR)
    push_scalar(wave, effects);
  else if (effects->queue != WS_QUEUE_NONE)
    push_pending(wave, effects);
  if (in->class_ == WS_CLASS_WAIT)
    wait(wave, in);
}

static bool follows_bytes(const ws_wave *wave, const ws_instruction *in,
                          const ws_effects *effects) {
  const bool select = effects->flow == WS_FLOW_SELECT &&
                      !(in->flags & WS_MODIFIED) && wave->partial_count;
  return select || effects->flow == WS_FLOW_BYTES;
}

static void step_lanes_or_scalars(ws_wave *wave, const ws_instruction *in,
                                  const ws_effects *effects, uint64_t exec) {
  const bool scalar = effects->flow >= WS_FLOW_SCALAR;
  const uint64_t poison =
      scalar ? scalar_flow(wave, in, effects) : vector_flow(wave, in, effects);
  in->execute(wave, in);
  finish(wave, in, effects, exec, poison);
}

void ws__step_careful(ws_wave *wave, const ws_instruction *in,
                      const ws_effects *effects) {
  if ((ws__touches_pending(wave, effects) && !check_waits(wave, in, effects)) ||
      !check_poison(wave, in, effects) || !check_barrier(wave, in, effects))
    return;
  const uint64_t exec = ws_exec(wave);
  if (follows_bytes(wave, in, effects)) {
    step_bytes(wave, in);
    return;
  }
  if (wave->partial_count && moved_register(in, 0) >= 0) {
    step_moves(wave, in, effects);
    return;
  }
  if (effects->flow == WS_FLOW_PAIRS || effects->flow == WS_FLOW_WIDE)
    step_words(wave, in, effects);
  else
    step_lanes_or_scalars(wave, in, effects, exec);
  if (wave->partial_count)
    ws__bytes_follow(wave, effects, exec);
}

/* ---- VGPR indexing --------------------------------------------------------
 */

static bool add_index(ws_wave *wave, const ws_instruction *in,
                      ws_operand *operand, uint32_t index) {
  if (operand->kind != WS_OPERAND_VECTOR)
    return true;
  if (operand->index + index + operand->count > WS_ACC_BASE) {
    ws__fault(wave, in, -1, "oob-register",
              "v%u indexed by m0 = %u is beyond v255; the index is not bounded",
              operand->index, index);
    return false;
  }
  operand->index = (uint16_t)(operand->index + index);
  return true;
}

void ws__step_indexed(ws_wave *wave, const ws_instruction *in, bool checked) {
  enum { FIRST_OPERAND = 12, DST = 3 };
  const uint32_t m0 = wave->sgpr[WS_SGPR_M0], index = m0 & 0xff;
  ws_instruction moved = *in;
  bool valid = true;
  for (int i = 0; i < in->src_count && i < DST; i++)
    if (m0 >> (FIRST_OPERAND + i) & 1)
      valid = valid && add_index(wave, in, &moved.src[i], index);
  if (in->dst_count && m0 >> (FIRST_OPERAND + DST) & 1)
    valid = valid && add_index(wave, in, &moved.dst[0], index);
  if (!valid)
    return;
  ws_effects effects;
  ws__effects_of(&moved, &effects);
  if (checked)
    ws__step_careful(wave, &moved, &effects);
  else
    moved.execute(wave, &moved);
  if (wave->group->fault.id) /* of this instruction: the first ends the group */
    wave->group->fault.pc = (uint32_t)(in - wave->group->text->items);
}
