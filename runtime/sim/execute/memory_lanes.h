/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Between registers and memory, 64 lanes at a time: what DS and vector memory
 * instructions have in common. Addresses count from a base, so that the same
 * code serves LDS, scratch, their poison, and device memory (base 0).
 */
#ifndef WAVESMITH_SIM_MEMORY_LANES_H
#define WAVESMITH_SIM_MEMORY_LANES_H

#include "machine.h"

/* Lanes of mask, in ascending order. */
#define WS_EACH_LANE(lane, mask)                                               \
  for (uint64_t rest_ = (mask), lane = 0;                                      \
       rest_ && (lane = (uint64_t)__builtin_ctzll(rest_), 1);                  \
       rest_ &= rest_ - 1)

/* What a lane moves: dwords, or less than one. */
typedef struct ws_width {
  uint8_t bytes;
  bool is_signed;
  uint8_t half; /* D16: 1 the low, 2 the high 16 bits of the register */
} ws_width;

static inline int ws_dwords(ws_width width) { return (width.bytes + 3) / 4; }

/* The operand's registers; NULL (and a fault): it is not a vector register, or
 * there are fewer than count left. */
ws_vector *ws__rows(ws_wave *wave, const ws_instruction *in,
                    const ws_operand *operand, int count);

void ws__lanes_load(ws_vector *rows, uintptr_t base,
                    const uint64_t address[WS_LANES], uint64_t mask,
                    ws_width width);
void ws__lanes_store(const ws_vector *rows, uintptr_t base,
                     const uint64_t address[WS_LANES], uint64_t mask,
                     ws_width width);

/* The same for what is known about the bytes: poison of registers
 * first, first + 1, ... from or to the bytes at base (0: written). base 0: all
 * is written. */
void ws__lanes_load_poison(ws_wave *wave, int first, uintptr_t base,
                           const uint64_t address[WS_LANES], uint64_t mask,
                           ws_width width);
void ws__lanes_store_poison(const ws_wave *wave, int first, uintptr_t base,
                            const uint64_t address[WS_LANES], uint64_t mask,
                            ws_width width);

/* Smallest and largest address, and the bits that differ from 0, over mask (not
 * 0). */
typedef struct ws_span_of_lanes {
  uint64_t low, high, bits;
} ws_span_of_lanes;
ws_span_of_lanes ws__lanes_span(const uint64_t address[WS_LANES],
                                uint64_t mask);

/* Whether lanes of mask may access bytes of LDS each, at addresses that are
 * multiples of alignment; false: a fault. In a group without checks a lane
 * beyond LDS does what the hardware does: its address is moved to where it
 * reads 0 and its write is lost. */
bool ws__lds_lanes(ws_wave *wave, const ws_instruction *in,
                   uint64_t address[WS_LANES], uint64_t mask, uint32_t bytes,
                   uint32_t alignment);

static inline void ws_set_lane_poison(ws_wave *wave, int index, uint64_t mask,
                                      uint64_t poison) {
  wave->vector_poison[index] =
      (wave->vector_poison[index] & ~mask) | (poison & mask);
}

/* ---- read-modify-write ------------------------------------------------------
 * data, data2: the operands in the order of the text; 32-bit ones are
 * zero-extended. Returns what memory holds then. */
typedef uint64_t (*ws_modify)(uint64_t memory, uint64_t data, uint64_t data2);

/* clang-format off */
#define WS_MODIFY_MAP(X) \
  X(add32) X(add64) X(sub32) X(sub64) X(rsub32) X(rsub64) X(inc32) X(inc64) \
  X(dec32) X(dec64) X(smin32) X(smin64) X(smax32) X(smax64) X(umin32) \
  X(umin64) X(umax32) X(umax64) X(and) X(or) X(xor) X(swap) X(mskor) \
  X(wrap32) X(add_f32) X(add_f64) X(min_f32) X(min_f64) X(max_f32) \
  X(max_f64) X(compare_f32) X(compare_f64) X(compare) X(compare_second) \
  X(pk_add_f16) X(pk_add_bf16) X(conditional)
/* clang-format on */
#define WS_MODIFY_DECLARE(name)                                                \
  uint64_t ws__modify_##name(uint64_t memory, uint64_t data, uint64_t data2);
WS_MODIFY_MAP(WS_MODIFY_DECLARE)
#undef WS_MODIFY_DECLARE

#endif
