/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Macros that make a lane loop of an expression. The includer defines WS_TARGET
 * and WS_LINKAGE (attributes of the function, static or not) and WS_NAME(x)
 * (its name).
 *
 * Letters of values, as in KERNEL_2(add_f32, f, f, f, a + b): result, then
 * sources a, b, c.
 *   u, i  32-bit unsigned, signed   U, I  64-bit unsigned, signed
 *   w, x  16-bit unsigned, signed   h, f, F  f16 (as float), f32, f64
 */
#ifndef WAVESMITH_SIM_VECTOR_LETTERS_H
#define WAVESMITH_SIM_VECTOR_LETTERS_H

#define TYPE_u uint32_t
#define TYPE_i int32_t
#define TYPE_w uint32_t
#define TYPE_x int32_t
#define TYPE_U uint64_t
#define TYPE_I int64_t
#define TYPE_f float
#define TYPE_h float
#define TYPE_F double

#define WORD(k) v.source[k][0][i]
#define WIDE(k) ws_join(v.source[k][0][i], v.source[k][1][i])
#define GET_u(k) WORD(k)
#define GET_i(k) (int32_t) WORD(k)
#define GET_w(k) (WORD(k) & 0xffff)
#define GET_x(k) (int16_t) WORD(k)
#define GET_f(k) ws_float(WORD(k))
#define GET_h(k) ws_half(WORD(k))
#define GET_U(k) WIDE(k)
#define GET_I(k) (int64_t) WIDE(k)
#define GET_F(k) ws_double(WIDE(k))
/* The upper half of a packed operand. */
#define UPPER_w(k) (WORD(k) >> 16)
#define UPPER_x(k) ((int32_t)WORD(k) >> 16)
#define UPPER_h(k) ws_half(WORD(k) >> 16)

#define BITS_w(value) ((uint32_t)(value)&0xffff)
#define BITS_x(value) ((uint32_t)(value)&0xffff)
#define BITS_h(value) ws_half_bits(value)
#define PUT_u(value) v.result[0][i] = (value)
#define PUT_i(value) v.result[0][i] = (uint32_t)(value)
#define PUT_w(value) v.result[0][i] = BITS_w(value)
#define PUT_x(value) v.result[0][i] = BITS_x(value)
#define PUT_f(value) v.result[0][i] = ws_float_bits(value)
#define PUT_h(value) v.result[0][i] = ws_half_bits(value)
#define PUT_U(value)                                                           \
  do {                                                                         \
    uint64_t wide = (value);                                                   \
    v.result[0][i] = (uint32_t)wide;                                           \
    v.result[1][i] = (uint32_t)(wide >> 32);                                   \
  } while (0)
#define PUT_I(value) PUT_U((uint64_t)(value))
#define PUT_F(value) PUT_U(ws_double_bits(value))

/* A result may lie in a source's register, never across lanes. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define EACH_LANE INDEPENDENT for (int i = 0; i < WS_LANES; i++)

#define KERNEL(name)                                                           \
  WS_TARGET WS_LINKAGE void WS_NAME(name)(struct ws_lanes * lanes)
#define KERNEL_1(name, r, t, value)                                            \
  KERNEL(name) {                                                               \
    const struct ws_lanes v = *lanes;                                          \
    EACH_LANE {                                                                \
      TYPE_##t a = GET_##t(0);                                                 \
      PUT_##r(value);                                                          \
    }                                                                          \
  }
#define KERNEL_2(name, r, t, s, value)                                         \
  KERNEL(name) {                                                               \
    const struct ws_lanes v = *lanes;                                          \
    EACH_LANE {                                                                \
      TYPE_##t a = GET_##t(0);                                                 \
      TYPE_##s b = GET_##s(1);                                                 \
      PUT_##r(value);                                                          \
    }                                                                          \
  }
#define KERNEL_3(name, r, t, s, q, value)                                      \
  KERNEL(name) {                                                               \
    const struct ws_lanes v = *lanes;                                          \
    EACH_LANE {                                                                \
      TYPE_##t a = GET_##t(0);                                                 \
      TYPE_##s b = GET_##s(1);                                                 \
      TYPE_##q c = GET_##q(2);                                                 \
      PUT_##r(value);                                                          \
    }                                                                          \
  }
/* Both halves of a register. */
#define PACKED_2(name, t, value)                                               \
  KERNEL(name) {                                                               \
    const struct ws_lanes v = *lanes;                                          \
    EACH_LANE {                                                                \
      uint32_t low, high;                                                      \
      {                                                                        \
        TYPE_##t a = GET_##t(0), b = GET_##t(1);                               \
        low = BITS_##t(value);                                                 \
      }                                                                        \
      {                                                                        \
        TYPE_##t a = UPPER_##t(0), b = UPPER_##t(1);                           \
        high = BITS_##t(value);                                                \
      }                                                                        \
      v.result[0][i] = low | high << 16;                                       \
    }                                                                          \
  }
/* bits: the value as 16 bits already. */
#define PACKED_3(name, t, bits)                                                \
  KERNEL(name) {                                                               \
    const struct ws_lanes v = *lanes;                                          \
    EACH_LANE {                                                                \
      uint32_t low, high;                                                      \
      {                                                                        \
        TYPE_##t a = GET_##t(0), b = GET_##t(1), c = GET_##t(2);               \
        low = (bits);                                                          \
      }                                                                        \
      {                                                                        \
        TYPE_##t a = UPPER_##t(0), b = UPPER_##t(1), c = UPPER_##t(2);         \
        high = (bits);                                                         \
      }                                                                        \
      v.result[0][i] = low | high << 16;                                       \
    }                                                                          \
  }
/* condition, of a and b, into the mask. */
#define KERNEL_COMPARE(name, t, s, condition)                                  \
  KERNEL(name) {                                                               \
    const struct ws_lanes v = *lanes;                                          \
    uint64_t mask = 0;                                                         \
    for (int half = 0; half < WS_LANES; half += 32) {                          \
      uint32_t bits = 0;                                                       \
      for (int bit = 0; bit < 32; bit++) {                                     \
        int i = half + bit;                                                    \
        TYPE_##t a = GET_##t(0);                                               \
        TYPE_##s b = GET_##s(1);                                               \
        bits |= (condition) ? 1u << bit : 0;                                   \
      }                                                                        \
      mask |= (uint64_t)bits << half;                                          \
    }                                                                          \
    lanes->mask_out = mask;                                                    \
  }
/* A result, and a carry into the mask. in: the lane's bit of mask_in. */
#define KERNEL_CARRY(name, value, carry)                                       \
  KERNEL(name) {                                                               \
    const struct ws_lanes v = *lanes;                                          \
    uint64_t mask = 0;                                                         \
    for (int half = 0; half < WS_LANES; half += 32) {                          \
      uint32_t bits = 0, word = (uint32_t)(v.mask_in >> half);                 \
      INDEPENDENT for (int bit = 0; bit < 32; bit++) {                         \
        int i = half + bit;                                                    \
        uint32_t a = WORD(0), b = WORD(1), in = word >> bit & 1;               \
        (void)in;                                                              \
        uint32_t r = (value);                                                  \
        v.result[0][i] = r;                                                    \
        bits |= (carry) ? 1u << bit : 0;                                       \
      }                                                                        \
      mask |= (uint64_t)bits << half;                                          \
    }                                                                          \
    lanes->mask_out = mask;                                                    \
  }

#endif
