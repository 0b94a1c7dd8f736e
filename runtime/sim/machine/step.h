/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One instruction of one wave. Unchecked that is fetch and handler; checked it
 * adds, from the registers that the instruction names (effects.h):
 *
 *   waits    Loads under way are a queue per counter. A register that one of
 *            them will write must not be read or written before an s_waitcnt
 *            that covers it ("missing-wait"). VMEM returns in order, LDS in
 *            order; SMEM returns out of order, so only lgkmcnt(0) covers it,
 *            and FLAT needs both counters at 0 (CDNA3 ISA guide, 4.4).
 *   poison   A register lane never written, or computed from such, may be
 *            moved about but not decide control flow, an address, or what a
 *            store to global memory writes ("uninitialised"). Scalars keep it
 *            bit by bit, because lane masks are merged from halves of which one
 *            is undefined, and vector registers byte by byte where only some
 *            are (poison_bytes.h).
 *   barriers Lanes that were off when their wave passed a barrier and are on
 *            again later have missed it ("divergent-barrier").
 *
 * Handlers of loads and of cross-lane instructions keep the poison of their
 * results themselves. LDS contents and races: lds_shadow.h.
 */
#ifndef WAVESMITH_SIM_STEP_H
#define WAVESMITH_SIM_STEP_H

#include "effects.h"

/* A wave that cannot take a step: end of the text or budget; always false. */
bool ws__step_refused(ws_wave *wave);
/* Any instruction, with all checks. */
void ws__step_careful(ws_wave *wave, const ws_instruction *in,
                      const ws_effects *effects);

static inline uint64_t ws__any_poison(const ws_wave *wave,
                                      const ws_effects *effects) {
  uint64_t poison = 0;
  for (int i = 0; i < effects->read_count; i++)
    for (int r = 0; r < effects->reads[i].count; r++)
      poison |= wave->vector_poison[effects->reads[i].first + r];
  return poison;
}

static inline void ws__set_poison(ws_wave *wave, const ws_effects *effects,
                                  uint64_t exec, uint64_t poison) {
  for (int i = 0; i < effects->write_count; i++)
    for (int r = 0; r < effects->writes[i].count; r++) {
      uint64_t *lanes = &wave->vector_poison[effects->writes[i].first + r];
      *lanes = (*lanes & ~exec) | (poison & exec);
    }
}

/* Registers that a load under way will write, among first..first+count-1. */
static inline bool ws__is_pending(const ws_wave *wave, uint32_t first,
                                  uint32_t count) {
  const uint32_t word = first / 64, shift = first % 64;
  uint64_t bits = wave->pending_vectors[word] >> shift;
  if (shift + count > 64 && word + 1 < WS_VECTORS / 64)
    bits |= wave->pending_vectors[word + 1] << 1 << (63 - shift);
  return (bits & (count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX)) != 0;
}

static inline bool ws__touches_pending(const ws_wave *wave,
                                       const ws_effects *effects) {
  if (wave->scalar_queue &&
      ((wave->pending_scalars[0] &
        (effects->scalar_reads[0] | effects->scalar_writes[0])) |
       (wave->pending_scalars[1] &
        (effects->scalar_reads[1] | effects->scalar_writes[1]))))
    return true;
  if (!wave->pending_count)
    return false;
  bool touched = false;
  for (int i = 0; i < effects->read_count; i++)
    touched |=
        ws__is_pending(wave, effects->reads[i].first, effects->reads[i].count);
  for (int i = 0; i < effects->write_count; i++)
    touched |= ws__is_pending(wave, effects->writes[i].first,
                              effects->writes[i].count);
  return touched;
}

static inline bool ws__reads_poisoned_scalar(const ws_wave *wave,
                                             const ws_effects *effects) {
  return ((wave->scalar_poison[0] & effects->scalar_reads[0]) |
          (wave->scalar_poison[1] & effects->scalar_reads[1])) != 0;
}

/* A VALU instruction while VGPR indexing is on. */
void ws__step_indexed(ws_wave *wave, const ws_instruction *in, bool checked);

/* The common case, inline: vector registers in, vector registers out. */
static inline void ws__step_checked(ws_wave *wave, const ws_instruction *in,
                                    const ws_effects *effects) {
  if (!(effects->simple | effects->unchecked) || wave->partial_count ||
      ws__touches_pending(wave, effects) ||
      ws__reads_poisoned_scalar(wave, effects)) {
    ws__step_careful(wave, in, effects);
    return;
  }
  if (effects->unchecked) {
    in->execute(wave, in);
    return;
  }
  const uint64_t poison = ws__any_poison(wave, effects);
  if (poison && effects->flow != WS_FLOW_LANES) {
    ws__step_careful(wave, in, effects);
    return;
  }
  in->execute(wave, in);
  ws__set_poison(wave, effects, ws_exec(wave), poison);
}

/* False: the wave cannot go on (it ended, is at a barrier, or the group has a
 * fault). */
static inline bool ws__step(ws_wave *wave, bool checked) {
  ws_group *group = wave->group;
  const ws_text *text = group->text;
  const uint32_t pc = wave->pc;
  if (__builtin_expect(
          pc >= text->count || (int64_t)wave->executed >= group->budget, 0))
    return ws__step_refused(wave);
  const ws_instruction *in = &text->items[pc];
  wave->pc = pc + 1;
  wave->executed++;
  if (__builtin_expect(wave->mode & WS_MODE_GPR_INDEX, 0) &&
      in->class_ <= WS_CLASS_TRANS)
    ws__step_indexed(wave, in, checked);
  else if (checked)
    ws__step_checked(wave, in, &text->effects[pc]);
  else
    in->execute(wave, in);
  return wave->state == WS_WAVE_READY && !group->fault.id;
}

#endif
