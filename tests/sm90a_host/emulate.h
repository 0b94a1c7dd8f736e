/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels of sm_90a on the CPU. host.py makes their code of templates in MLIR,
 * with calls of the functions below in place of NVVM's intrinsics; a program
 * for each problem has buffers and the reference.
 */
#ifndef WAVESMITH_TESTS_SM90A_HOST_EMULATE_H
#define WAVESMITH_TESTS_SM90A_HOST_EMULATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- for programs ---------------------------------------------------------
 */

typedef struct emulated_kernel {
  void (*call)(void); /* one lane's run */
  long shared_bytes;
} emulated_kernel;

/* way: bit 0: copies happen late; bit 1: the last warp runs first. */
enum { EMULATE_LATE = 1, EMULATE_BACKWARDS = 2, EMULATE_WAYS = 4 };
void emulate_run(const emulated_kernel *kernel, int blocks, int threads,
                 int way);
/* Between pages that trap; ends where the second begins. */
void *emulate_buffer(size_t bytes, int fill);

static inline uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float from_bf16(uint16_t half) {
  const uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* ---- for kernels -----------------------------------------------------------
 */

extern char emulate_shared[];

float emulate_rsqrt(float value);
int emulate_thread(void);
int emulate_block(void);
void emulate_barrier(void);
/* cp.async; read: bytes that are read, 0 or all, zeros for the rest. */
void emulate_copy(char *to, const char *from, int bytes, int read);
void emulate_commit(void);
void emulate_wait(int pending);

/* Runs once all lanes of a warp have come, with the operands of each. */
typedef void emulate_operation(void **operands);
void emulate_together(emulate_operation *operation, void *operands);
emulate_operation emulate_ldmatrix, emulate_mma, emulate_shuffle;
struct ldmatrix {
  const char *from;
  uint32_t result[4];
};
struct mma {
  uint32_t a[4], b[2];
  float c[4];
};
struct shuffle {
  uint32_t value;
  int by;
};

#endif
