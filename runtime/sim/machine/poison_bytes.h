/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Poison of vector registers byte by byte. ws_wave.vector_poison says of a
 * lane that some byte of a register was never written; where halves of a
 * register are filled one after the other (v_bfi, then v_perm), these say which
 * bytes. Few registers have them at a time, most programs none.
 */
#ifndef WAVESMITH_SIM_POISON_BYTES_H
#define WAVESMITH_SIM_POISON_BYTES_H

#include "effects.h"

enum { WS_BYTE_ALL = 15, WS_BYTE_LOW_HALF = 3, WS_BYTE_HIGH_HALF = 12 };

/* Does the instruction move bytes in a way that is followed here? */
bool ws__moves_bytes(const ws_instruction *in);
/* Lanes in which one of the bytes (bit per byte) of a register is poison. */
uint64_t ws__bytes_poison(const ws_wave *wave, uint32_t index, unsigned bytes);
/* Lanes in which some source's bytes are poison that the instruction uses. */
uint64_t ws__sources_poison(const ws_wave *wave, const ws_instruction *in);
/* Of the result of an instruction that moves bytes, before it is executed. */
void ws__bytes_flow(const ws_wave *wave, const ws_instruction *in,
                    uint64_t out[4]);
void ws__bytes_set(ws_wave *wave, uint32_t index, uint64_t exec,
                   const uint64_t bytes[4]);
/* After an instruction that set vector_poison alone, in lanes of exec. */
void ws__bytes_follow(ws_wave *wave, const ws_effects *effects, uint64_t exec);

#endif
