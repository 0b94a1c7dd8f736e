/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the file of a problem declares: an operation with its dimensions,
 * arguments, legal shapes, shape sets and a reference in fp64. The only header
 * that such a file needs, it includes nothing of wavesmith's; how to write one:
 * docs/your-own-kernel.md. Members that are left out have the default that is
 * said here.
 *
 *   #include <wavesmith/define_problem.h>
 *   static void reference(const ws_reference_call *call) { ... }
 *   static const ws_problem_definition mine = {WS_PROBLEM_ABI, .name = ...};
 *   WS_PROBLEM(mine)
 *
 * Functions of a definition are pure: they may be called from several threads
 * at once, and the same arguments give the same results.
 */
#ifndef WAVESMITH_DEFINE_PROBLEM_H
#define WAVESMITH_DEFINE_PROBLEM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; another number is refused. */
#define WS_PROBLEM_ABI 2

enum {
  WS_PROBLEM_MAX_DIMS = 8,
  WS_PROBLEM_MAX_ARGS = 24,
  WS_PROBLEM_MAX_EXTENTS = 6,
  WS_PROBLEM_MAX_LAYOUTS = 8,
  WS_PROBLEM_MAX_STRIDINGS = 16,
  WS_PROBLEM_MAX_SETS = 8,
  WS_PROBLEM_MAX_ADVICE = 4
};

/* ---- element types --------------------------------------------------------
 * X(enumerator, text, bytes). e4m3 and e5m2 without FNUZ are OCP's. xf32 and
 * tf32 are F32 in memory. */
#define WS_TYPE_MAP(X)                                                         \
  X(WS_F64, "f64", 8)                                                          \
  X(WS_F32, "f32", 4)                                                          \
  X(WS_F16, "f16", 2)                                                          \
  X(WS_BF16, "bf16", 2)                                                        \
  X(WS_E4M3, "e4m3", 1)                                                        \
  X(WS_E5M2, "e5m2", 1)                                                        \
  X(WS_E4M3_FNUZ, "e4m3fnuz", 1)                                               \
  X(WS_E5M2_FNUZ, "e5m2fnuz", 1)                                               \
  X(WS_I8, "i8", 1)                                                            \
  X(WS_U8, "u8", 1)                                                            \
  X(WS_I16, "i16", 2)                                                          \
  X(WS_U16, "u16", 2)                                                          \
  X(WS_I32, "i32", 4)                                                          \
  X(WS_U32, "u32", 4)                                                          \
  X(WS_I64, "i64", 8)                                                          \
  X(WS_U64, "u64", 8)                                                          \
  X(WS_FP8, "fp8", 1) /* e4m3 in the format that the layout names */           \
  X(WS_BF8, "bf8", 1) /* e5m2, likewise */
typedef enum ws_type {
#define WS_TYPE_ENUM(name, text, bytes) name,
  WS_TYPE_MAP(WS_TYPE_ENUM)
#undef WS_TYPE_ENUM
      WS_TYPE_COUNT
} ws_type;

/* ---- parts of a definition ------------------------------------------------
 */

/* Legal sizes of a dimension are multiples of step (default: found from
 * `legal`). The operation itself treats it in blocks, multiples of step
 * (default: step): edges within one are worth a look. A depth is summed over
 * and appears in no output: its sizes are tried by number of blocks. */
typedef struct ws_dim {
  const char *name; /* of a C identifier's form */
  int64_t step, block;
  int depth; /* 1: yes */
} ws_dim;

typedef enum ws_arg_role {
  WS_ARG_INPUT,     /* device pointer, read only */
  WS_ARG_OUTPUT,    /* device pointer, every element must be written; read as
                     * well in layouts that say so */
  WS_ARG_INOUT,     /* device pointer, read and written */
  WS_ARG_WORKSPACE, /* device pointer, contents undefined at entry */
  WS_ARG_SCALAR     /* i32, i64 or f32 by value */
} ws_arg_role;

/* A kernel names its parameters as here and takes any subset in any order. */
typedef struct ws_problem_arg {
  const char *name;
  ws_arg_role role;
  ws_type type;
  /* Of a pointer: expressions over dims, scalars that are integers, and
   * `layout`, outermost first; dense, the last contiguous. */
  const char *extents[WS_PROBLEM_MAX_EXTENTS];
  /* Of an integer scalar: an expression likewise (default: the dimension of its
   * name). */
  const char *value;
  double number;       /* of an f32 scalar */
  const char *meaning; /* for who writes kernels; default: type and extents */
  /* A scalar that says how this argument lies in memory; NULL: none. */
  const char *stride_of;
  /* Integer inputs: the least and largest value, expressions likewise (default:
   * all values of 8 and 16 bits, -1000 to 1000 or 0 to 1000 of more). */
  const char *low, *high;
} ws_problem_arg;

/* A way in which operands lie in memory or are coded. A template may declare
 * the parameter "layout": its value is the index. The task fixes it, search
 * never changes it. */
typedef struct ws_problem_layout {
  const char *name;
  const char *targets; /* that it is of use on, blank-separated; "": all. The
                        * first layout for a target is its default. */
  ws_type fp8, bf8;    /* what WS_FP8 and WS_BF8 mean in it */
  /* Outputs that kernels also read in it, blank-separated: in this layout they
   * are WS_ARG_INOUT. NULL: none. */
  const char *inout;
} ws_problem_layout;

/* sizes: [count][dims] */
typedef struct ws_problem_set {
  const char *name;
  const int64_t *sizes;
  int count;
} ws_problem_set;
#define WS_PROBLEM_SET(set_name, array)                                        \
  { (set_name), &(array)[0][0], (int)(sizeof(array) / sizeof((array)[0])) }

/* ---- the reference --------------------------------------------------------
 * Asked for slices [begin, end) of the outputs: of the first extent that all of
 * them share; 0 to 1 where they share none, which is everything. It writes with
 * ws_put the elements of these slices of every output, and may write no other.
 */
typedef struct ws_reference_call {
  const int64_t *dims; /* sizes, in the order of the declaration */
  int layout;
  const void *const *args; /* by argument: contents; of a scalar, its value */
  const ws_type *types;    /* by argument, none of them WS_FP8 or WS_BF8 */
  int64_t begin, end;
  /* By argument; for ws_put. */
  double *const *values, *const *errors;
  const int64_t *first, *count; /* of the elements there is room for */
  double unit; /* what a sum may be off by, of its terms' magnitude */
} ws_reference_call;
typedef void (*ws_reference_function)(const ws_reference_call *call);

#define WS_HARD_INPUTS (UINT64_C(1) << 63) /* a bit of a seed */

/* ---- the definition -------------------------------------------------------
 */
typedef struct ws_problem_definition {
  int abi; /* WS_PROBLEM_ABI */
  const char *name, *purpose;
  ws_dim dims[WS_PROBLEM_MAX_DIMS]; /* the first without a name ends them */
  ws_problem_arg args[WS_PROBLEM_MAX_ARGS]; /* likewise */
  /* Which shapes are legal: an expression over dims, best as conditions joined
   * by &&, since the first that fails is what an error shows. NULL: all. */
  const char *legal;
  ws_problem_set sets[WS_PROBLEM_MAX_SETS]; /* the first is the default */
  /* NULL, and no `slices`: a kernel is the reference (wavesmith --reference),
   * results are compared as wavesmith/problem.h says of a ws_reference_kernel.
   */
  ws_reference_function reference;

  /* Terms of the longest sum that goes to an element, an expression (default:
   * "1"): the tolerance grows with it. An element passes when
   *   |got - want| <= half a unit in the last place of its type
   *                   + error + the type's smallest step at zero
   * (8-bit floats: half of the step at |want| + error, and error).
   * error: what ws_put was given, by default |want| (terms / 8 + 32) 2^-24. */
  const char *terms;
  /* The unit of the arithmetic (default: 2^-24, f32; 2^-53 where an output is
   * f64). 2^-11 for tf32 and xf32 products. */
  double arithmetic;
  /* What is computed, for who writes kernels (default: from the rest). */
  const char *definition;
  /* What pays in it on a target and what does not, for a model that tunes it;
   * target "" or NULL: on all. */
  struct {
    const char *target, *text;
  } advice[WS_PROBLEM_MAX_ADVICE];
  /* Operations of a shape, an expression (default: the elements of all inputs);
   * which peak rate bounds them: that of matrix instructions on this type
   * (default: of vector instructions, matrix 0). */
  const char *flops;
  int matrix;
  ws_type matrix_type;
  /* 1: the bound model's order of this problem's kernels was held against a
   * device, so that a run need not look first (docs/search.md). */
  int is_calibrated;
  /* Bytes that must be moved at least, an expression (default: each argument
   * once). */
  const char *bytes;
  ws_problem_layout layouts[WS_PROBLEM_MAX_LAYOUTS]; /* default: one, "plain" */
  /* Every pointer is a multiple of this and may be no multiple of more: what a
   * kernel may rely on. A power of two from 16 (default: 16). */
  int64_t alignment;
  /* Shapes for a kernel that takes few of those that are drawn. */
  ws_problem_set samples;

  /* ---- instead of the defaults; each may be left out ----
   * `form` is a layout plus layout_count times a striding. */

  /* Ways in which operands may lie in memory at one shape and layout: what a
   * caller's strides may be. 0 is what is meant where nothing is said, and the
   * only one that is timed. */
  const char *stridings[WS_PROBLEM_MAX_STRIDINGS];
  int64_t (*arg_bytes)(int arg, const int64_t *dims, int form);
  int64_t (*arg_scalar)(int arg, const int64_t *dims, int form);
  /* Fills an input deterministically from the seed. One with WS_HARD_INPUTS
   * gives what ordinary data seldom holds: the ends of each type's range,
   * zeros, and magnitudes that differ from block to block. */
  void (*generate)(int arg, const int64_t *dims, int form, uint64_t seed,
                   void *out_bytes);
  /* fp64 reference of slices, as ws_put leaves it: value and error, slice by
   * slice, of a problem with one output. */
  void (*slices)(const int64_t *dims, int form, const void *const *buffers,
                 int64_t begin, int64_t end, double *out_value,
                 double *out_error);
  /* The same of some elements, by their index. */
  void (*elements)(const int64_t *dims, int form, const void *const *buffers,
                   const int64_t *indices, int count, double *out_value,
                   double *out_error);
  /* For outputs that are too many to compare them all: the product of each of
   * these slices with a vector of signs, one an element of a slice. value, and
   * what arithmetic may be off by. The bound of a product is 7 times that of an
   * element as large as its slice is long. */
  void (*project)(const int64_t *dims, int form, const void *const *buffers,
                  const double *signs, const int64_t *slices, int64_t count,
                  double *out_value, double *out_error);
} ws_problem_definition;

/* The one entry point. */
#define WS_PROBLEM(definition)                                                 \
  const ws_problem_definition *wavesmith_problem(void);                        \
  const ws_problem_definition *wavesmith_problem(void) { return &(definition); }

/* ---- for references -------------------------------------------------------
 */

/* 2^exponent times the fraction bits of a small float, NaN and infinity as
 * stated. */
static inline double ws_small_float(unsigned code, int exponent_bits,
                                    int fraction_bits, int bias) {
  const unsigned fraction = code & ((1U << fraction_bits) - 1);
  const int field = (int)(code >> fraction_bits & ((1U << exponent_bits) - 1));
  const double magnitude =
      field ? ldexp((double)(fraction + (1U << fraction_bits)),
                    field - bias - fraction_bits)
            : ldexp((double)fraction, 1 - bias - fraction_bits);
  return code >> (exponent_bits + fraction_bits) & 1 ? -magnitude : magnitude;
}

/* Element `index` of contents of that type. */
static inline double ws_load(ws_type type, const void *contents,
                             int64_t index) {
  const uint8_t *byte = (const uint8_t *)contents + index;
  switch (type) {
  case WS_F64:
    return ((const double *)contents)[index];
  case WS_F32:
    return ((const float *)contents)[index];
  case WS_BF16: {
    const uint32_t wide = (uint32_t)((const uint16_t *)contents)[index] << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
  }
  case WS_F16: {
    const uint16_t code = ((const uint16_t *)contents)[index];
    if ((code & 0x7c00) != 0x7c00)
      return ws_small_float(code, 5, 10, 15);
    return code & 0x3ff ? NAN : code & 0x8000 ? -INFINITY : INFINITY;
  }
  case WS_FP8: /* resolved before a reference sees it */
  case WS_E4M3:
    return (*byte & 0x7f) == 0x7f ? NAN : ws_small_float(*byte, 4, 3, 7);
  case WS_BF8:
  case WS_E5M2:
    if ((*byte & 0x7c) != 0x7c)
      return ws_small_float(*byte, 5, 2, 15);
    return *byte & 3 ? NAN : *byte & 0x80 ? -INFINITY : INFINITY;
  case WS_E4M3_FNUZ:
    return *byte == 0x80 ? NAN : ws_small_float(*byte, 4, 3, 8);
  case WS_E5M2_FNUZ:
    return *byte == 0x80 ? NAN : ws_small_float(*byte, 5, 2, 16);
  case WS_I8:
    return *(const int8_t *)byte;
  case WS_U8:
    return *byte;
  case WS_I16:
    return ((const int16_t *)contents)[index];
  case WS_U16:
    return ((const uint16_t *)contents)[index];
  case WS_I32:
    return ((const int32_t *)contents)[index];
  case WS_U32:
    return ((const uint32_t *)contents)[index];
  case WS_I64:
    return (double)((const int64_t *)contents)[index];
  case WS_U64:
    return (double)((const uint64_t *)contents)[index];
  case WS_TYPE_COUNT:
    break;
  }
  return NAN;
}

/* An element of an argument, 0 of a scalar's value. */
static inline double ws_get(const ws_reference_call *call, int arg,
                            int64_t index) {
  return ws_load(call->types[arg], call->args[arg], index);
}

/* The value of an output's element, whatever is asked for; magnitude: the sum
 * of the magnitudes of the terms that it is made of, which says how far honest
 * arithmetic may be off where terms cancel. */
static inline void ws_put_sum(const ws_reference_call *call, int arg,
                              int64_t index, double value, double magnitude) {
  const int64_t at = index - call->first[arg];
  if (at < 0 || at >= call->count[arg])
    return;
  call->values[arg][at] = value;
  call->errors[arg][at] = magnitude * call->unit;
}

static inline void ws_put(const ws_reference_call *call, int arg, int64_t index,
                          double value) {
  ws_put_sum(call, arg, index, value, fabs(value));
}

#ifdef __cplusplus
}
#endif
#endif
