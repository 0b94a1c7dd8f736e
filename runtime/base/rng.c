/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * xoshiro256** of Blackman and Vigna ("Scrambled linear pseudorandom number
 * generators", 2018), its state filled by splitmix64 as they advise. The
 * stream of a seed is part of the contract: runs are repeated from seeds.
 */
#include "wavesmith/base.h"

#include <math.h>

static uint64_t splitmix64(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t value, int count) {
  return value << count | value >> (64 - count);
}

void ws_rng_init(ws_rng *rng, uint64_t seed) {
  for (int i = 0; i < 4; i++)
    rng->state[i] = splitmix64(&seed);
}

uint64_t ws_rng_next(ws_rng *rng) {
  uint64_t *s = rng->state;
  uint64_t result = rotate_left(s[1] * 5, 7) * 9;
  uint64_t shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = rotate_left(s[3], 45);
  return result;
}

uint64_t ws_rng_below(ws_rng *rng, uint64_t bound) {
  WS_ASSERT(bound > 0);
  /* 2^64 mod bound values at the low end would make small results likelier. */
  uint64_t biased = -bound % bound;
  uint64_t value;
  do
    value = ws_rng_next(rng);
  while (value < biased);
  return value % bound;
}

double ws_rng_double(ws_rng *rng) {
  return (double)(ws_rng_next(rng) >> 11) * 0x1p-53;
}

/* Marsaglia's polar method; the second value is dropped so that the generator
 * has no state beside its four words. */
double ws_rng_normal(ws_rng *rng) {
  double x, y, square;
  do {
    x = 2 * ws_rng_double(rng) - 1;
    y = 2 * ws_rng_double(rng) - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  return x * sqrt(-2 * log(square) / square);
}
