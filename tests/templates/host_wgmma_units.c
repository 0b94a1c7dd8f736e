/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * TMA, cp.async, messages within a cluster, and wgmma for host_wgmma. A copy or message
 * arrives at some time between its start and the moment that somebody needs it,
 * or after its sender has ended; a product reads shared memory either when
 * it is started or when it is waited for: whoever frees memory too early is
 * found. Layouts are PTX ISA's: swizzles (chunk of 16 bytes ^= address / 128),
 * K-major tiles of 128-byte rows, the accumulators of m64nNk32.
 */
#include "host_wgmma.h"

#include <math.h>
#include <string.h>

enum { MAX_COPIES = 1 << 19, CHUNK = 16, LINE = 128, ATOM = 1024 };
/* Descriptor but for the address: 128-byte swizzle, 1024 bytes to the next 8
 * rows, 16 to the next column of chunks. */
static const uint64_t descriptor_rest = 0x4000004000010000;

typedef enum copy_kind { LOAD, STORE, ARRIVAL, VALUE, OWN, OWN_DONE } copy_kind;

typedef struct copy {
  copy_kind kind;
  workgroup *group;
  thread *owner;
  const tensor *map;
  uint32_t lds, barrier;
  int x, y;
  int group_number;   /* of the owner's stores, or of its copies by cp.async */
  const void *from;   /* of one by cp.async */
  unsigned receivers; /* by rank */
  uint32_t bits;
} copy;

static copy copies[MAX_COPIES];
static int copy_count;

/* ---- TMA ------------------------------------------------------------------
 */

static uint32_t swizzled(uint32_t at, int swizzle) {
  if (!swizzle)
    return at;
  return at ^ (at / LINE & ((uint32_t)swizzle / CHUNK - 1)) * CHUNK;
}

static void move_byte(const copy *c, workgroup *group, int row, int byte) {
  const tensor *map = c->map;
  const int64_t width = map->inner * map->element;
  const int64_t x = (int64_t)c->x * map->element + byte, y = c->y + row;
  const uint32_t at =
      c->lds + (uint32_t)(row * map->box_inner * map->element + byte);
  const bool inside = x >= 0 && x < width && y >= 0 && y < map->outer;
  uint8_t *lds = lds_at(group, swizzled(at, map->swizzle), 1);
  if (c->kind == LOAD)
    *lds = inside ? map->memory[y * width + x] : 0;
  else if (inside)
    map->memory[y * width + x] = *lds;
}

static void move_box(const copy *c, workgroup *group) {
  const tensor *map = c->map;
  const uint32_t align = map->swizzle ? (uint32_t)map->swizzle * 8 : LINE;
  if (c->lds % align)
    fail("a box is not aligned", c->lds);
  if (c->x * map->element % CHUNK) /* an illegal instruction on the card */
    fail("a box does not begin at a multiple of 16 bytes", c->x);
  for (int row = 0; row < map->box_outer; row++)
    for (int byte = 0; byte < map->box_inner * map->element; byte++)
      move_byte(c, group, row, byte);
}

static void finish_message(const copy *c) {
  const uint32_t barrier = c->barrier & OFFSET_MASK;
  workgroup *to = group_of(c->group->cluster, c->barrier);
  if (c->kind == ARRIVAL) {
    arrive(to, barrier);
    return;
  }
  memcpy(lds_at(to, c->lds & OFFSET_MASK, sizeof c->bits), &c->bits,
         sizeof c->bits);
  count_bytes(to, barrier, sizeof c->bits);
}

static void finish_copy(int index);

/* cp.async of a thread, those in front of an arrival at the latest then. */
static void finish_own_copies(const copy *arrival) {
  for (int i = 0; i < copy_count; i++)
    if (copies[i].kind == OWN && copies[i].owner == arrival->owner &&
        copies[i].group_number <= arrival->group_number)
      finish_copy(i--);
}

static void finish_copy(int index) {
  const copy c = copies[index];
  copies[index] = copies[--copy_count];
  if (c.kind == OWN) {
    memcpy(lds_at(c.group, c.lds, sizeof c.bits), c.from, sizeof c.bits);
    return;
  }
  if (c.kind == OWN_DONE) {
    finish_own_copies(&c);
    arrive(c.group, c.barrier);
    return;
  }
  if (c.kind == ARRIVAL || c.kind == VALUE) {
    finish_message(&c);
    return;
  }
  if (c.kind == STORE) {
    move_box(&c, c.group);
    return;
  }
  const long bytes = (long)c.map->box_inner * c.map->box_outer * c.map->element;
  for (int rank = 0; rank < cluster_size; rank++) {
    workgroup *group = &c.group->cluster->groups[rank];
    if (!(c.receivers >> rank & 1))
      continue;
    if (!group->running)
      fail("a copy to a workgroup that has ended", rank);
    move_box(&c, group);
    count_bytes(group, c.barrier, bytes);
  }
}

bool copies_left(const cluster *c) {
  for (int i = 0; i < copy_count; i++)
    if (!c || copies[i].group->cluster == c)
      return true;
  return false;
}

void finish_some_copies(void) {
  enum { STORE_LAG = 16 };
  for (unsigned i = random_below((unsigned)copy_count + 1); i && copy_count;
       i--) {
    const int index = (int)random_below((unsigned)copy_count);
    if (copies[index].kind != STORE || !random_below(STORE_LAG))
      finish_copy(index);
  }
}

static void start_copy(copy c) {
  if (copy_count == MAX_COPIES)
    fail("too many copies", copy_count);
  c.group = current->group;
  c.owner = current;
  copies[copy_count++] = c;
}

void send_arrival(uint32_t barrier) {
  start_copy((copy){.kind = ARRIVAL, .barrier = barrier});
}

void send_value(uint32_t to, uint32_t bits, uint32_t barrier) {
  start_copy(
      (copy){.kind = VALUE, .lds = to, .bits = bits, .barrier = barrier});
}

void nv_load(uint64_t to, uint64_t barrier, const tensor *map, int x, int y,
             int mask, int64_t hint, int multicast, int hinted, int ctas);
void nv_load(uint64_t to, uint64_t barrier, const tensor *map, int x, int y,
             int mask, int64_t hint, int multicast, int hinted, int ctas) {
  (void)hint, (void)hinted, (void)ctas;
  current->group->loads++;
  start_copy((copy){.kind = LOAD,
                    .map = map,
                    .lds = (uint32_t)to,
                    .barrier = (uint32_t)barrier,
                    .x = x,
                    .y = y,
                    .receivers = multicast & 1 ? (unsigned)mask & 0xffff
                                               : 1U << current->group->rank});
}

void nv_store(uint64_t from, const tensor *map, int x, int y, int64_t hint,
              int hinted);
void nv_store(uint64_t from, const tensor *map, int x, int y, int64_t hint,
              int hinted) {
  (void)hint, (void)hinted;
  start_copy((copy){.kind = STORE,
                    .map = map,
                    .lds = (uint32_t)from,
                    .x = x,
                    .y = y,
                    .group_number = current->store_groups});
}

void nv_commit_stores(void);
void nv_commit_stores(void) { current->store_groups++; }

/* All but so many of the last committed groups. */
static bool stored(const thread *t) {
  for (int i = 0; i < copy_count; i++)
    if (copies[i].kind == STORE && copies[i].owner == t &&
        copies[i].group_number < t->store_groups - t->stores_pending)
      return false;
  return true;
}
void nv_wait_stores(int pending);
void nv_wait_stores(int pending) {
  current->stores_pending = pending;
  wait_until(stored);
}

/* ---- cp.async -------------------------------------------------------------
 */

void nv_copy_4(uint64_t to, const void *from);
void nv_copy_4(uint64_t to, const void *from) {
  start_copy((copy){.kind = OWN,
                    .lds = (uint32_t)to,
                    .from = from,
                    .group_number = current->own_groups});
}

/* An arrival when all that the thread has started is there. */
void nv_copy_arrive(uint64_t barrier);
void nv_copy_arrive(uint64_t barrier) {
  start_copy((copy){.kind = OWN_DONE,
                    .barrier = (uint32_t)barrier,
                    .group_number = current->own_groups++});
}

/* ---- wgmma ----------------------------------------------------------------
 */

static float e4m3_value(uint8_t code) {
  const int exponent = code >> 3 & 15, fraction = code & 7;
  if ((code & 0x7f) == 0x7f)
    return NAN;
  const float size = exponent ? ldexpf(8 + (float)fraction, exponent - 10)
                              : ldexpf((float)fraction, -9);
  return code & 0x80 ? -size : size;
}

static void decode_e4m3(const uint8_t *from, int count, float *to) {
  static float values[256];
  static bool known;
  for (int code = 0; !known && code < 256; code++)
    values[code] = e4m3_value((uint8_t)code);
  known = true;
  for (int i = 0; i < count; i++)
    to[i] = values[from[i]];
}

static void decode_bf16(const uint8_t *from, int count, float *to) {
  for (int i = 0; i < count; i++) {
    const uint32_t bits =
        (uint32_t)from[2 * i] << 16 | (uint32_t)from[2 * i + 1] << 24;
    memcpy(&to[i], &bits, sizeof bits);
  }
}

static const operand_kind e4m3 = {LINE, decode_e4m3};
static const operand_kind bf16 = {LINE / 2, decode_bf16};

static uint32_t tile_of(uint64_t descriptor) {
  const uint64_t address = 0x3fff;
  const uint32_t at = (uint32_t)(descriptor & address) * CHUNK;
  if ((descriptor & ~address) != descriptor_rest || at % ATOM)
    fail("a descriptor", (long)descriptor);
  return at;
}

static void read_row(const operand_kind *kind, uint32_t tile, int row,
                     float *out) {
  const uint32_t at = tile + (uint32_t)row * LINE;
  const int count = kind->depth * CHUNK / LINE; /* a swizzle moves chunks */
  for (uint32_t chunk = 0; chunk < LINE / CHUNK; chunk++)
    kind->decode(
        lds_at(current->group, swizzled(at + chunk * CHUNK, LINE), CHUNK),
        count, out + (int)chunk * count);
}

static float dot(const float *a, const float *b, int depth) {
  float sum = 0;
  for (int k = 0; k < depth; k++)
    sum += a[k] * b[k];
  return sum;
}

/* This thread's sums: two rows, for each 8 columns two neighbours. */
static void multiply(product *p) {
  const int in_warp = current->number % LANES;
  const int first = current->number / LANES % 4 * 16 + in_warp / 4;
  const uint32_t a_tile = tile_of(p->a), b_tile = tile_of(p->b);
  float a[2][LINE], b[LINE];
  for (int half = 0; half < 2; half++)
    read_row(p->kind, a_tile, first + 8 * half, a[half]);
  for (int i = 0; i < p->columns / 4; i++) {
    read_row(p->kind, b_tile, i / 2 * 8 + in_warp % 4 * 2 + i % 2, b);
    for (int half = 0; half < 2; half++)
      p->results[i / 2 * 4 + half * 2 + i % 2] =
          dot(a[half], b, p->kind->depth);
  }
  p->done = true;
}

/* The last one under way onto these sums, or NULL. */
static product *under_way(const float *sums) {
  product *last = NULL;
  for (int i = 0; i < current->product_count; i++)
    if (current->products[i].sums == sums)
      last = &current->products[i];
  return last;
}

static void start_product(product started, bool add) {
  product *before = under_way(started.sums);
  if (current->product_count == MAX_PENDING)
    fail("too many products under way", MAX_PENDING);
  if (before && (!add || before->columns != started.columns))
    fail("a product onto sums of another", started.columns);
  product *p = &current->products[current->product_count++];
  *p = started;
  for (int i = 0; add && !before && i < p->columns / 2; i++)
    p->base[i] = p->sums[i];
  if (before)
    before->chained = true;
  if (random_below(2))
    multiply(p);
  for (int i = 0; i < p->columns / 2; i++)
    p->sums[i] = NAN;
}

void nv_wgmma(float *sums, uint64_t a, uint64_t b, int columns);
void nv_wgmma(float *sums, uint64_t a, uint64_t b, int columns) {
  start_product((product){&e4m3, sums, .a = a, .b = b, .columns = columns},
                false);
}

void nv_wgmma_onto(float *sums, uint64_t a, uint64_t b, int columns, int add);
void nv_wgmma_onto(float *sums, uint64_t a, uint64_t b, int columns, int add) {
  start_product((product){&e4m3, sums, .a = a, .b = b, .columns = columns},
                add);
}

void nv_wgmma_bf16_onto(float *sums, uint64_t a, uint64_t b, int columns,
                        int add);
void nv_wgmma_bf16_onto(float *sums, uint64_t a, uint64_t b, int columns,
                        int add) {
  start_product((product){&bf16, sums, .a = a, .b = b, .columns = columns},
                add);
}

/* The oldest one's sums are there, or go on into the next onto them. */
static void finish_product(void) {
  product done = current->products[0];
  if (!done.done)
    multiply(&done);
  current->product_count--;
  memmove(current->products, current->products + 1,
          (size_t)current->product_count * sizeof done);
  float *to = done.sums;
  for (int i = 0; done.chained && i < current->product_count; i++)
    if (current->products[i].sums == done.sums) {
      to = current->products[i].base;
      break;
    }
  for (int i = 0; i < done.columns / 2; i++)
    to[i] = done.base[i] + done.results[i];
}

static void complete(int pending) {
  while (current->product_count > pending)
    finish_product();
  meet_warp(0);
}

/* Waits that name no sums: those of a later wait may be there already. */
static bool waits_apart;

void nv_wgmma_wait_group(int pending);
void nv_wgmma_wait_group(int pending) {
  waits_apart = true;
  complete(pending);
}

void nv_wgmma_wait(const float *sums, int columns, int pending);
void nv_wgmma_wait(const float *sums, int columns, int pending) {
  const product *wanted = under_way(sums);
  if (wanted ? wanted->columns != columns : !waits_apart)
    fail("a wait for sums that are not under way", pending);
  complete(pending);
  if (under_way(sums))
    fail("sums that are still under way", pending);
}

/* ---- stmatrix -------------------------------------------------------------
 */

/* Four 8 x 8 matrices of 16-bit elements; lane l has the address of row l % 8
 * of matrix l / 8, and two elements of row l / 4 of each. */
void nv_stmatrix(uint32_t at, uint32_t v0, uint32_t v1, uint32_t v2,
                 uint32_t v3);
void nv_stmatrix(uint32_t at, uint32_t v0, uint32_t v1, uint32_t v2,
                 uint32_t v3) {
  const int lane = current->number % LANES;
  warp *own = &current->group->warps[current->number / LANES];
  const uint32_t values[4] = {v0, v1, v2, v3};
  const int set = meet_warp(at);
  for (int matrix = 0; matrix < 4; matrix++) {
    const uint32_t row = own->bits[set][8 * matrix + lane / 4];
    if (row % CHUNK)
      fail("a row of stmatrix is not aligned", row);
    memcpy(lds_at(current->group, row + (uint32_t)lane % 4 * 4, 4),
           &values[matrix], 4);
  }
  meet_warp(0);
}
