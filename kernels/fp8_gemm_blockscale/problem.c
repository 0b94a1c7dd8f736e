/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * fp8_gemm_blockscale: C = A B^T with A scaled by 1 x 128 and B by 128 x 128
 * blocks; arguments, layouts, inputs,
 * tolerance and shapes are explained in README.md.
 *
 * fp8 is e4m3: sign, four exponent bits, three fraction bits, no infinity.
 * FNUZ has bias 8, no minus zero, and 0x80 is NaN; OCP has bias 7, a minus
 * zero, and 0x7f and 0xff are NaN. Finite values are integers of at most 18
 * bits times 2^-10 (FNUZ: 240 = 245760 2^-10) or 2^-9 (OCP: 448 = 229376 2^-9),
 * so a product is an integer of at most 36 bits times 2^-20 or 2^-18, and a sum
 * of 128 of them, of at most 43, is exact in a double: the reference rounds
 * only when it scales and adds blocks.
 */
#include "advice.h"
#include "wavesmith/base.h"
#include "wavesmith/define_problem.h"

#include <stdlib.h>

enum { SCALE_BLOCK = 128, N_STEP = 16 };

enum {
  LAYOUT_KMAJOR,
  LAYOUT_MNMAJOR,
  LAYOUT_KMAJOR_OCP,
  LAYOUT_KMAJOR_BPRESHUFFLE,
  LAYOUT_KMAJOR_ADD,
  LAYOUTS
};

/* How a matrix of scales lies: without gaps, with gaps behind rows, the other
 * index running along memory, gaps between all elements. */
typedef enum spread { DENSE, PADDED, TURNED, SPACED } spread;

enum {
  ARG_A,
  ARG_B,
  ARG_AS,
  ARG_BS,
  ARG_C,
  ARG_WORKSPACE,
  ARG_M,
  ARG_N,
  ARG_K,
  ARG_AS_STRIDE_M,
  ARG_AS_STRIDE_K,
  ARG_BS_STRIDE_N,
  ARG_BS_STRIDE_K,
  ARG_COUNT
};

static const char definition[] =
    "C = A B^T with block scales:\n"
    "    C[i][j] (bf16) = sum over kb of as[i][kb] * bs[j/128][kb]\n"
    "                     * sum over k in block kb of A[i][k] * B[j][k]\n"
    "kb counts blocks of 128 in k. A has one scale per row and block, B one "
    "per 128 x 128 block; the last column block may be cut short (n = 576 has "
    "five). Scales are fp32 of either sign, also near zero.\n"
    "fp8 is e4m3: FNUZ (bias 8, largest 240, 0x80 is NaN) in the layouts "
    "kmajor, mnmajor, kmajor-bpreshuffle and kmajor-add, OCP e4m3fn (bias 7, "
    "largest 448, "
    "0x7f and 0xff are NaN, 0x80 is minus zero) in kmajor-ocp. Operands hold "
    "no NaN.\n"
    "In kmajor-bpreshuffle B's bytes lie as [n/16][k/16][16 rows][16 k]: "
    "element (j, k) at (j/16) * 16 * K + (k/16) * 256 + (j%16) * 16 + k%16, K "
    "being the whole depth; all else is as in kmajor.\n"
    "In kmajor-add the sum is added to what C holds at entry (bf16, zeros for "
    "a plain product); all else is as in kmajor. k may be cut between scale "
    "blocks into at most 8 slices, each of which rounds its part to bf16 and "
    "adds it to C, in any order.\n"
    "Legal are every m from 1, n from 16 in multiples of 16, k from 128 in "
    "multiples of 128.\n"
    "A result passes when |got - want| <= 2^-8 |want| + E + 2^-126, where want "
    "is computed in fp64. E = (k/16 + 16) 2^-23 sum |as bs a b| with FNUZ, "
    "2^-8 sqrt(sum (as bs a b)^2) with OCP. That allows fp32 sums in any order "
    "and matrix instructions (Hopper's keep 14 bits within a block of 128); "
    "bf16 must be rounded to nearest (truncation fails). In kmajor-add E is "
    "larger by 1.0625 2^-8 ((s - 1) (|c| + B + |want|) / 2 + B) + 3 s 2^-126, "
    "where c is C at entry, B the sum of the magnitudes of the scaled sums of "
    "blocks, s the smaller of 8 and k/128.\n";

enum { STRIDINGS = 7 };
static const struct {
  spread as, bs;
} spreads[STRIDINGS] = {{DENSE, DENSE},   {PADDED, PADDED}, {TURNED, TURNED},
                        {SPACED, SPACED}, {DENSE, PADDED},  {DENSE, TURNED},
                        {DENSE, SPACED}};

/* The parts of a form; one that is none is taken for a plain layout. */
static int base_layout(int form) { return form % LAYOUTS; }

static int striding_of(int form) { return form / LAYOUTS % STRIDINGS; }

/* ---- shapes: README.md says where each set comes from ---------------------
 */

typedef struct extents {
  int64_t m, n, k;
} extents;

static extents extents_of(const int64_t *dims) {
  return (extents){dims[0], dims[1], dims[2]};
}

static const int64_t contest[][3] = {
    {1024, 1536, 7168}, {1024, 3072, 1536}, {1024, 576, 7168},
    {1024, 7168, 256},  {1024, 7168, 2048}, {1024, 4608, 7168},
    {1024, 7168, 2304}, {1024, 512, 7168},  {1024, 4096, 512},
    {6144, 1536, 7168}, {6144, 3072, 1536}, {6144, 576, 7168},
    {6144, 7168, 256},  {6144, 7168, 2048}, {6144, 4608, 7168},
    {6144, 7168, 2304}, {6144, 512, 7168},  {6144, 4096, 512}};

static const int64_t contest_test[][3] = {
    {64, 64, 128},    {64, 1536, 7168}, {64, 3072, 1536}, {64, 576, 7168},
    {96, 7168, 256},  {96, 7168, 2048}, {96, 4608, 7168}, {128, 7168, 2304},
    {128, 512, 7168}, {512, 4096, 512}, {512, 1536, 7168}};

#define DECODE(n, k)                                                           \
  {16, n, k}, {32, n, k}, {48, n, k}, {64, n, k}, {96, n, k}, {128, n, k},     \
      {192, n, k}, {                                                           \
    256, n, k                                                                  \
  }
static const int64_t decode[][3] = {
    DECODE(1536, 7168), DECODE(3072, 1536), DECODE(576, 7168),
    DECODE(7168, 256),  DECODE(7168, 2048), DECODE(4608, 7168),
    DECODE(7168, 2304), DECODE(512, 7168),  DECODE(4096, 512)};

#define HELD_OUT(n, k)                                                         \
  {16, n, k}, {80, n, k}, {384, n, k}, {1024, n, k}, { 4096, n, k }
static const int64_t held_out[][3] = {
    HELD_OUT(2112, 7168),  HELD_OUT(24576, 1536), HELD_OUT(32768, 512),
    HELD_OUT(7168, 16384), HELD_OUT(4096, 7168),  HELD_OUT(1536, 1536),
    HELD_OUT(6144, 4096),  HELD_OUT(4096, 14336)};

/* docs/shapes.md */
#define LLM(m, n, k)                                                           \
  {m, n, k}, {8 * (m), n, k}, {64 * (m), n, k}, {512 * (m), n, k},             \
      {4096 * (m), n, k},
static const int64_t llm[][3] = {
#include "shapes_llm.h"
};

/* For kernels that take nothing small, or little but what a model named. */
static const int64_t samples[][3] = {
    {80, 320, 384},   {32, 48, 1024},    {64, 576, 512},    {64, 128, 2048},
    {256, 256, 512},  {512, 512, 1024},  {1024, 512, 512},  {512, 1024, 512},
    {512, 512, 7168}, {1024, 1536, 512}, {1024, 7168, 256}, {2048, 2048, 256},
    {6144, 512, 128}, {4096, 4096, 128}};

static int64_t blocks(int64_t extent) {
  return (extent + SCALE_BLOCK - 1) / SCALE_BLOCK;
}

/* Elements between neighbours of a matrix of scales, rows x columns. */
typedef struct strides {
  int64_t row, column;
} strides;

static strides strides_of(int64_t rows, int64_t columns, bool columns_first,
                          spread way) {
  const int64_t inner = way == SPACED ? 3 : 1;
  const bool turn = columns_first != (way == TURNED);
  const int64_t pad = way == PADDED || way == SPACED ? 5 : 0;
  const int64_t outer = (turn ? rows : columns) * inner + pad;
  return turn ? (strides){inner, outer} : (strides){outer, inner};
}

/* as is [m][k / 128] with m running along memory, bs [ceil(n / 128)][k / 128]
 * with k. */
static strides strides_of_a(const extents *shape, int form) {
  return strides_of(shape->m, blocks(shape->k), true,
                    spreads[striding_of(form)].as);
}

static strides strides_of_b(const extents *shape, int form) {
  return strides_of(blocks(shape->n), blocks(shape->k),
                    base_layout(form) == LAYOUT_MNMAJOR,
                    spreads[striding_of(form)].bs);
}

static int64_t scale_bytes(int64_t rows, int64_t columns, strides apart) {
  return 4 * ((rows - 1) * apart.row + (columns - 1) * apart.column + 1);
}

/* Layouts permute elements; of strides some leave gaps. */
static int64_t bytes_of(int arg, const extents *shape, int layout) {
  switch (arg) {
  case ARG_A:
    return shape->m * shape->k;
  case ARG_B:
    return shape->n * shape->k;
  case ARG_AS:
    return scale_bytes(shape->m, blocks(shape->k), strides_of_a(shape, layout));
  case ARG_BS:
    return scale_bytes(blocks(shape->n), blocks(shape->k),
                       strides_of_b(shape, layout));
  case ARG_C:
    return 2 * shape->m * shape->n;
  default:
    return 0;
  }
}

static int64_t scalar_of(int arg, const extents *shape, int layout) {
  switch (arg) {
  case ARG_M:
    return shape->m;
  case ARG_N:
    return shape->n;
  case ARG_K:
    return shape->k;
  case ARG_AS_STRIDE_M:
    return strides_of_a(shape, layout).row;
  case ARG_AS_STRIDE_K:
    return strides_of_a(shape, layout).column;
  case ARG_BS_STRIDE_N:
    return strides_of_b(shape, layout).row;
  case ARG_BS_STRIDE_K:
    return strides_of_b(shape, layout).column;
  default:
    return 0;
  }
}

/* ---- fp8 ------------------------------------------------------------------
 */

/* What the bytes of a run have in common: byte = (random & mask) | base. */
typedef struct code_class {
  uint8_t mask, base;
} code_class;
enum { CODE_CLASSES = 5 };

typedef struct fp8_format {
  int bias;
  uint8_t largest;       /* code of the largest finite value */
  uint8_t nan_mask, nan; /* NaN: (code & nan_mask) == nan */
  code_class classes[CODE_CLASSES];
} fp8_format;

static const fp8_format fnuz = {.bias = 8,
                                .largest = 0x7f,
                                .nan_mask = 0xff,
                                .nan = 0x80,
                                .classes = {
                                    {0xff, 0x00}, /* any code */
                                    {0x87, 0x00}, /* subnormal: below 2^-7 */
                                    {0x8f, 0x70}, /* 64 to 240 */
                                    {0x80, 0x40}, /* 1 and -1 */
                                    {0x00, 0x00}, /* zero */
                                }};

static const fp8_format ocp = {.bias = 7,
                               .largest = 0x7e,
                               .nan_mask = 0x7f,
                               .nan = 0x7f,
                               .classes = {
                                   {0xff, 0x00}, /* any code */
                                   {0x87, 0x00}, /* subnormal: below 2^-6 */
                                   {0x8f, 0x70}, /* 128 to 448 */
                                   {0x80, 0x38}, /* 1 and -1 */
                                   {0x80, 0x00}, /* zero and minus zero */
                               }};

static const fp8_format *format_of(int layout) {
  return base_layout(layout) == LAYOUT_KMAJOR_OCP ? &ocp : &fnuz;
}

static bool is_nan(const fp8_format *format, unsigned code) {
  return (code & format->nan_mask) == format->nan;
}

static double fp8_decode(const fp8_format *format, unsigned code) {
  const int field = (int)(code >> 3 & 15), fraction = (int)(code & 7);
  if (is_nan(format, code))
    return NAN;
  const double magnitude = field ? ldexp(8 + fraction, field - 3 - format->bias)
                                 : ldexp(fraction, -2 - format->bias);
  return code & 0x80 ? -magnitude : magnitude;
}

/* ---- inputs ---------------------------------------------------------------
 */

enum { QUANTILES = 1 << 16 };

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

static unsigned code_of_rank(int rank) {
  return rank < 0 ? (unsigned)-rank | 0x80 : (unsigned)rank;
}

/* byte[u] is the fp8 value that a normal variable rounds to at the quantile
 * (u + 1/2) / 2^16. With it four elements cost one random number instead of
 * four logarithms. Values are visited in ascending order; each owns the
 * quantiles up to the midpoint to its successor. */
static void fill_quantiles(const fp8_format *format, uint8_t byte[QUANTILES]) {
  int next = 0;
  for (int rank = -format->largest; rank <= format->largest; rank++) {
    const unsigned code = code_of_rank(rank);
    int end = QUANTILES;
    if (rank < format->largest) {
      const double midpoint =
          0.5 * (fp8_decode(format, code) +
                 fp8_decode(format, code_of_rank(rank + 1)));
      end = (int)lrint(QUANTILES * normal_cdf(midpoint));
    }
    if (end > next)
      memset(byte + next, (int)code, (size_t)(end - next));
    next = end > next ? end : next;
  }
}

static void generate_fp8(const fp8_format *format, ws_rng *rng, int64_t count,
                         uint8_t *out) {
  uint8_t byte[QUANTILES];
  fill_quantiles(format, byte);
  for (int64_t i = 0; i < count; i += 4) { /* counts are multiples of k */
    const uint64_t bits = ws_rng_next(rng);
    for (int j = 0; j < 4; j++)
      out[i + j] = byte[bits >> 16 * j & 0xffff];
  }
}

static void generate_scales(ws_rng *rng, int64_t count, float *out) {
  for (int64_t i = 0; i < count; i++)
    out[i] = (float)ws_rng_normal(rng);
}

/* Runs of 128 elements, each of one class: a row of a block when k is
 * contiguous. */
static void generate_hard_fp8(const fp8_format *format, ws_rng *rng,
                              int64_t count, uint8_t *out) {
  const code_class *class = format->classes;
  for (int64_t i = 0; i < count; i++) {
    if (i % SCALE_BLOCK == 0)
      class = &format->classes[ws_rng_below(rng, CODE_CLASSES)];
    const unsigned random = (unsigned)(ws_rng_next(rng) >> 56);
    const unsigned code = (random & class->mask) | class->base;
    out[i] = is_nan(format, code) ? 0 : (uint8_t)code;
  }
}

/* Normal, or that times a power of two, or zero. */
static void generate_hard_scales(ws_rng *rng, int64_t count, float *out) {
  static const float factors[] = {1, 1, 0, 0x1p+12f, 0x1p-12f};
  for (int64_t i = 0; i < count; i++)
    out[i] = (float)ws_rng_normal(rng) *
             factors[ws_rng_below(rng, sizeof factors / sizeof factors[0])];
}

static uint16_t bf16_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* What C holds before something is added to it: of the size of results. */
static void generate_c(const extents *shape, bool hard, ws_rng *rng,
                       int64_t count, uint16_t *out) {
  const float size = (float)sqrt((double)shape->k);
  for (int64_t i = 0; i < count; i++) {
    float value;
    (hard ? generate_hard_scales : generate_scales)(rng, 1, &value);
    out[i] = bf16_of(value * size);
  }
}

static void generate(int arg, const int64_t *dims, int layout, uint64_t seed,
                     void *out_bytes) {
  const extents shape = extents_of(dims);
  const int64_t bytes = bytes_of(arg, &shape, layout);
  const bool hard = seed & WS_HARD_INPUTS;
  ws_rng rng;
  ws_rng_init(&rng, seed * ARG_COUNT + (uint64_t)arg);
  if (arg == ARG_A || arg == ARG_B)
    (hard ? generate_hard_fp8 : generate_fp8)(format_of(layout), &rng, bytes,
                                              out_bytes);
  else if (arg == ARG_AS || arg == ARG_BS)
    (hard ? generate_hard_scales : generate_scales)(&rng, bytes / 4, out_bytes);
  else if (arg == ARG_C)
    generate_c(&shape, hard, &rng, bytes / 2, out_bytes);
}

/* ---- reference ------------------------------------------------------------
 */

enum {
  COLUMNS = 16
}; /* of C at a time, so that their sums stay in registers */

typedef double pair __attribute__((vector_size(16)));
typedef float quad __attribute__((vector_size(16)));

/* A block of B, 128 deep and COLUMNS wide, decoded once for all rows, with
 * what its elements weigh in the error. */
typedef struct panel {
  pair b[SCALE_BLOCK][COLUMNS / 2];
  quad weight[SCALE_BLOCK][COLUMNS / 4];
} panel;

typedef struct operands {
  const uint8_t *a, *b;
  const float *as, *bs;
  int64_t a_row, a_depth, b_row, b_depth; /* element strides */
  int64_t as_m, as_k, bs_n, bs_k;
  double decoded[256];
  const uint16_t *c; /* that the product is added to; NULL: it is not */
  bool ocp, shuffled;
} operands;

enum { SHUFFLE = 16 };

/* Where B's element (n, k) lies. Shuffled: the rows of a block of 16 x 16
 * follow one another, and along k the blocks. */
static int64_t place_in_b(const operands *in, int64_t n, int64_t k) {
  if (!in->shuffled)
    return n * in->b_row + k * in->b_depth;
  return n / SHUFFLE * SHUFFLE * in->b_row + k / SHUFFLE * SHUFFLE * SHUFFLE +
         n % SHUFFLE * SHUFFLE + k % SHUFFLE;
}

static void open_operands(const extents *shape, int layout,
                          const void *const *buffers, operands *out) {
  const bool kmajor = base_layout(layout) != LAYOUT_MNMAJOR;
  out->a = buffers[ARG_A];
  out->b = buffers[ARG_B];
  out->as = buffers[ARG_AS];
  out->bs = buffers[ARG_BS];
  out->a_row = kmajor ? shape->k : 1;
  out->a_depth = kmajor ? 1 : shape->m;
  out->b_row = kmajor ? shape->k : 1;
  out->b_depth = kmajor ? 1 : shape->n;
  out->as_m = scalar_of(ARG_AS_STRIDE_M, shape, layout);
  out->as_k = scalar_of(ARG_AS_STRIDE_K, shape, layout);
  out->bs_n = scalar_of(ARG_BS_STRIDE_N, shape, layout);
  out->bs_k = scalar_of(ARG_BS_STRIDE_K, shape, layout);
  for (unsigned i = 0; i < 256; i++)
    out->decoded[i] = fp8_decode(format_of(layout), i);
  out->c = base_layout(layout) == LAYOUT_KMAJOR_ADD ? buffers[ARG_C] : NULL;
  out->ocp = format_of(layout) == &ocp;
  out->shuffled = base_layout(layout) == LAYOUT_KMAJOR_BPRESHUFFLE;
}

/* What arithmetic may be off by apart from rounding the result (derivation:
 * README.md) follows from the sum of the products' weights: their magnitudes
 * where every one of fp32's errors is bounded (CDNA3, FNUZ), their squares
 * where many truncations of random sign add up (Hopper, OCP). */
static double weight(const operands *in, double product) {
  return in->ocp ? product * product : fabs(product);
}

static double error_of_weight(const operands *in, const extents *shape,
                              double sum) {
  return in->ocp ? ldexp(sqrt(sum), -8)
                 : ldexp((double)(shape->k / 16 + 16) * sum, -23);
}

/* ---- kmajor-add: README.md derives both ---- */

enum { MOST_ADDITIONS = 8 };

static double additions(const extents *shape) {
  return fmin((double)blocks(shape->k), MOST_ADDITIONS);
}

/* What rounding parts and sums may cost an element, apart from its last
 * rounding; parts: the magnitudes of its blocks' sums. */
static double error_of_adding(const extents *shape, double before, double parts,
                              double want) {
  const double partial = (fabs(before) + parts + fabs(want)) / 2;
  return ldexp(1.0625, -8) * ((additions(shape) - 1) * partial + parts) +
         ldexp(3 * additions(shape), -126);
}

/* The same of a row, whose errors' signs are random: squares of what it holds
 * before, and of its products. */
static double error_of_adding_row(const extents *shape, double before,
                                  double products) {
  return ldexp(sqrt(additions(shape) * (before + products) + products), -8);
}

static void add_before(const operands *in, const extents *shape,
                       int64_t element, double parts, double *value,
                       double *error) {
  const double before = ws_load(WS_BF16, in->c, element);
  *value += before;
  *error += error_of_adding(shape, before, parts, *value);
}

static void decode_panel(const operands *in, int64_t column, int64_t depth,
                         panel *out) {
  for (int64_t j = 0; j < COLUMNS; j++)
    for (int64_t k = 0; k < SCALE_BLOCK; k++) {
      const double value =
          in->decoded[in->b[place_in_b(in, column + j, depth + k)]];
      out->b[k][j / 2][j % 2] = value;
      out->weight[k][j / 4][j % 4] = (float)weight(in, value);
    }
}

/* One block of a row of A. */
typedef struct strip {
  double a[SCALE_BLOCK];
  float weight[SCALE_BLOCK];
} strip;

static void decode_row(const operands *in, int64_t row, int64_t depth,
                       strip *out) {
  for (int64_t k = 0; k < SCALE_BLOCK; k++) {
    out->a[k] = in->decoded[in->a[row * in->a_row + (depth + k) * in->a_depth]];
    out->weight[k] = (float)weight(in, out->a[k]);
  }
}

/* One block of one row: the sums are exact, the weights (an error scale) are
 * rounded to fp32. Vectors of 16 bytes spelt out: gcc 12 makes the plain loops
 * two to nine times slower (-O2, -O3; 128 x 128 x 256 takes 1.4 ms with them
 * on a 2.5 GHz Xeon, one core). */
static void block_sums(const strip *a, const panel *b, double out_sum[COLUMNS],
                       double out_weight[COLUMNS]) {
  pair sum[COLUMNS / 2] = {0};
  quad weights[COLUMNS / 4] = {0};
  for (int k = 0; k < SCALE_BLOCK; k++) {
    for (int j = 0; j < COLUMNS / 2; j++)
      sum[j] += a->a[k] * b->b[k][j];
    for (int j = 0; j < COLUMNS / 4; j++)
      weights[j] += a->weight[k] * b->weight[k][j];
  }
  for (int j = 0; j < COLUMNS; j++) {
    out_sum[j] = sum[j / 2][j % 2];
    out_weight[j] = weights[j / 4][j % 4];
  }
}

static void slices(const int64_t *dims, int layout, const void *const *buffers,
                   int64_t m_begin, int64_t m_end, double *out_value,
                   double *out_error) {
  const extents sizes = extents_of(dims), *shape = &sizes;
  const int64_t count = (m_end - m_begin) * shape->n;
  operands in;
  panel b;
  open_operands(shape, layout, buffers, &in);
  double *parts = in.c ? calloc((size_t)count, sizeof *parts) : NULL;
  WS_ASSERT((!in.c || parts) && "out of memory");
  memset(out_value, 0, (size_t)count * sizeof(double));
  memset(out_error, 0, (size_t)count * sizeof(double));
  for (int64_t n = 0; n < shape->n; n += COLUMNS)
    for (int64_t kb = 0; kb < blocks(shape->k); kb++) {
      const double bs = in.bs[n / SCALE_BLOCK * in.bs_n + kb * in.bs_k];
      decode_panel(&in, n, kb * SCALE_BLOCK, &b);
      for (int64_t m = m_begin; m < m_end; m++) {
        strip a;
        double sum[COLUMNS], weights[COLUMNS];
        const double scale = in.as[m * in.as_m + kb * in.as_k] * bs;
        const double scale_weight = weight(&in, scale);
        const int64_t at = (m - m_begin) * shape->n + n;
        decode_row(&in, m, kb * SCALE_BLOCK, &a);
        block_sums(&a, &b, sum, weights);
        for (int j = 0; j < COLUMNS; j++) {
          out_value[at + j] += scale * sum[j];
          out_error[at + j] += scale_weight * weights[j];
          if (parts)
            parts[at + j] += fabs(scale * sum[j]);
        }
      }
    }
  for (int64_t i = 0; i < count; i++) {
    out_error[i] = error_of_weight(&in, shape, out_error[i]);
    if (parts)
      add_before(&in, shape, m_begin * shape->n + i, parts[i], &out_value[i],
                 &out_error[i]);
  }
  free(parts);
}

/* ---- what is too large to be compared whole: README.md ---------------------
 */

static double element_a(const operands *in, int64_t m, int64_t k) {
  return in->decoded[in->a[m * in->a_row + k * in->a_depth]] *
         in->as[m * in->as_m + k / SCALE_BLOCK * in->as_k];
}

static double element_b(const operands *in, int64_t n, int64_t k) {
  return in->decoded[in->b[place_in_b(in, n, k)]] *
         in->bs[n / SCALE_BLOCK * in->bs_n + k / SCALE_BLOCK * in->bs_k];
}

static void elements(const int64_t *dims, int layout,
                     const void *const *buffers, const int64_t *indices,
                     int count, double *out_value, double *out_error) {
  const extents shape = extents_of(dims);
  operands in;
  open_operands(&shape, layout, buffers, &in);
  for (int i = 0; i < count; i++) {
    const int64_t m = indices[i] / shape.n, n = indices[i] % shape.n;
    double weights = 0, parts = 0, block = 0;
    out_value[i] = 0;
    for (int64_t k = 0; k < shape.k; k++) {
      const double product = element_a(&in, m, k) * element_b(&in, n, k);
      out_value[i] += product;
      weights += weight(&in, product);
      block = k % SCALE_BLOCK ? block + product : product;
      if (k % SCALE_BLOCK == SCALE_BLOCK - 1)
        parts += fabs(block);
    }
    out_error[i] = error_of_weight(&in, &shape, weights);
    if (in.c)
      add_before(&in, &shape, indices[i], parts, &out_value[i], &out_error[i]);
  }
}

/* Of a column of B over n: the sum with signs, of weights, of squares. */
typedef struct column {
  double sum, weights, squares;
} column;

/* In blocks, so that neither layout is walked against its grain for long. */
static void project_b(const extents *shape, const operands *in,
                      const double *sign, column *out) {
  for (int64_t n0 = 0; n0 < shape->n; n0 += N_STEP)
    for (int64_t k0 = 0; k0 < shape->k; k0 += SCALE_BLOCK)
      for (int64_t n = n0; n < n0 + N_STEP; n++)
        for (int64_t k = k0; k < k0 + SCALE_BLOCK; k++) {
          const double b = element_b(in, n, k);
          out[k].sum += sign[n] * b;
          out[k].weights += weight(in, b);
          out[k].squares += b * b;
        }
}

/* sqrt(sum over n of e_n^2), e_n being the errors allowed to a row, from the
 * sum of their weights: exact for squares; the root mean square of magnitudes
 * is taken for at most twice their mean. */
static double error_of_row(const operands *in, const extents *shape,
                           double sum) {
  return error_of_weight(in, shape,
                         in->ocp ? sum : 2 * sum / sqrt((double)shape->n));
}

/* What a row holds before, times signs; its squares. */
static double project_before(const extents *shape, const operands *in,
                             const double *signs, int64_t row,
                             double *out_squares) {
  double sum = 0;
  *out_squares = 0;
  for (int64_t n = 0; n < shape->n; n++) {
    const double before = ws_load(WS_BF16, in->c, row * shape->n + n);
    sum += signs[n] * before;
    *out_squares += before * before;
  }
  return sum;
}

static void project(const int64_t *dims, int layout, const void *const *buffers,
                    const double *signs, const int64_t *rows, int64_t count,
                    double *out_value, double *out_error) {
  const extents shape = extents_of(dims);
  column *b = calloc((size_t)shape.k, sizeof *b);
  WS_ASSERT(b && "out of memory");
  operands in;
  open_operands(&shape, layout, buffers, &in);
  project_b(&shape, &in, signs, b);
  for (int64_t i = 0; i < count; i++) {
    double want = 0, weight_sum = 0, squares = 0, before;
    for (int64_t k = 0; k < shape.k; k++) {
      const double a = element_a(&in, rows[i], k);
      want += a * b[k].sum;
      weight_sum += weight(&in, a) * b[k].weights;
      squares += a * a * b[k].squares;
    }
    out_value[i] = want;
    out_error[i] = error_of_row(&in, &shape, weight_sum);
    if (!in.c)
      continue;
    out_value[i] += project_before(&shape, &in, signs, rows[i], &before);
    out_error[i] += error_of_adding_row(&shape, before, squares);
  }
  free(b);
}

/* ---- the definition --------------------------------------------------------
 */

static int64_t arg_bytes(int arg, const int64_t *dims, int form) {
  const extents shape = extents_of(dims);
  return bytes_of(arg, &shape, form);
}

static int64_t arg_scalar(int arg, const int64_t *dims, int form) {
  const extents shape = extents_of(dims);
  return scalar_of(arg, &shape, form);
}

#define STRIDE(text, of)                                                       \
  .role = WS_ARG_SCALAR, .type = WS_I32, .meaning = (text), .stride_of = (of)

static const ws_problem_definition fp8_gemm_blockscale = {
    WS_PROBLEM_ABI, .name = "fp8_gemm_blockscale",
    .purpose = "fp8 matrix product with 1x128 and 128x128 block scales, bf16 "
               "result",
    .definition = definition,
    .advice = {{"gfx942", advice_gfx942}, {"sm_90a", advice_sm_90a}},
    .dims = {{"m", .block = SCALE_BLOCK},
             {"n", .block = SCALE_BLOCK},
             {"k", .block = SCALE_BLOCK, .depth = 1}},
    .args = {[ARG_A] = {"a",
                        WS_ARG_INPUT,
                        WS_FP8,
                        {"layout == 1 ? k : m", "layout == 1 ? m : k"},
                        .meaning = "fp8; mnmajor [k][m], the others [m][k]; "
                                   "16-byte aligned"},
             [ARG_B] = {"b",
                        WS_ARG_INPUT,
                        WS_FP8,
                        {"layout == 1 ? k : n", "layout == 1 ? n : k"},
                        .meaning = "fp8; kmajor, kmajor-ocp and kmajor-add "
                                   "[n][k], mnmajor "
                                   "[k][n], kmajor-bpreshuffle "
                                   "[n/16][k/16][16][16]; 16-byte aligned"},
             [ARG_AS] = {"as",
                         WS_ARG_INPUT,
                         WS_F32,
                         {"k / 128", "m"},
                         .meaning = "fp32; (i, kb) at i * as_stride_m + kb * "
                                    "as_stride_k"},
             [ARG_BS] = {"bs",
                         WS_ARG_INPUT,
                         WS_F32,
                         {"ceildiv(n, 128)", "k / 128"},
                         .meaning =
                             "fp32; (j/128, kb) at (j/128) * bs_stride_n + "
                             "kb * bs_stride_k"},
             [ARG_C] = {"c",
                        WS_ARG_OUTPUT,
                        WS_BF16,
                        {"m", "n"},
                        .meaning = "bf16 [m][n], in kmajor-add with values at "
                                   "entry; 16-byte aligned"},
             [ARG_WORKSPACE] = {"workspace", WS_ARG_WORKSPACE, WS_U8,
                                .meaning = "undefined bytes; 16-byte aligned"},
             [ARG_M] = {"m", WS_ARG_SCALAR, WS_I32,
                        .meaning = "rows of C, any number"},
             [ARG_N] = {"n", WS_ARG_SCALAR, WS_I32,
                        .meaning = "columns of C, a multiple of 16"},
             [ARG_K] = {"k", WS_ARG_SCALAR, WS_I32,
                        .meaning = "depth, a multiple of 128"},
             [ARG_AS_STRIDE_M] = {"as_stride_m",
                                  STRIDE("elements between rows of as", "as")},
             [ARG_AS_STRIDE_K] = {"as_stride_k",
                                  STRIDE("elements between k blocks of as",
                                         "as")},
             [ARG_BS_STRIDE_N] = {"bs_stride_n",
                                  STRIDE("elements between column blocks of bs",
                                         "bs")},
             [ARG_BS_STRIDE_K] = {"bs_stride_k",
                                  STRIDE("elements between k blocks of bs",
                                         "bs")}},
    .layouts = {[LAYOUT_KMAJOR] = {"kmajor", "gfx942", WS_E4M3_FNUZ},
                [LAYOUT_MNMAJOR] = {"mnmajor", "gfx942", WS_E4M3_FNUZ},
                [LAYOUT_KMAJOR_OCP] = {"kmajor-ocp", "gfx950 sm_90a", WS_E4M3},
                [LAYOUT_KMAJOR_BPRESHUFFLE] = {"kmajor-bpreshuffle", "gfx942",
                                               WS_E4M3_FNUZ},
                [LAYOUT_KMAJOR_ADD] = {"kmajor-add", "gfx942", WS_E4M3_FNUZ,
                                       .inout = "c"}},
    .stridings = {"dense", "padded", "turned", "spaced", "bs padded",
                  "bs turned", "bs spaced"},
    /* a launch counts its work items in 32 bits, and a template may spend one
     * on each element: hence m * n. No device of the targets holds an operand
     * beyond 256 GiB, and a TMA counts the scales of one in a row up to 2^31:
     * hence m * k and n * k */
    .legal = "m >= 1 && m <= 4194304 && "
             "n >= 16 && n <= 4194304 && n % 16 == 0 && "
             "k >= 128 && k <= 4194304 && k % 128 == 0 && m * n <= 2147483648 && "
             "m * k <= 274877906944 && n * k <= 274877906944",
    .sets = {WS_PROBLEM_SET("contest", contest),
             WS_PROBLEM_SET("contest-test", contest_test),
             WS_PROBLEM_SET("decode", decode),
             WS_PROBLEM_SET("held-out", held_out), WS_PROBLEM_SET("llm", llm)},
    .samples = WS_PROBLEM_SET("samples", samples), .terms = "k",
    .flops = "2 * m * n * k", .matrix = 1, .matrix_type = WS_FP8,
    .is_calibrated = 1, .alignment = 16, .arg_bytes = arg_bytes,
    .arg_scalar = arg_scalar, .generate = generate, .slices = slices,
    .elements = elements, .project = project};

WS_PROBLEM(fp8_gemm_blockscale)
