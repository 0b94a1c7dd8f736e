/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What host_wgmma's two files share: host_wgmma.c has the threads and what they
 * wait for, host_wgmma_units.c what the copy and matrix units do.
 */
#ifndef WAVESMITH_HOST_WGMMA_H
#define WAVESMITH_HOST_WGMMA_H

#include "host_fiber.h"

#include <stdint.h>
#include <stdlib.h>

enum { LANES = 32, MAX_THREADS = 640, MAX_CLUSTER = 8 };
enum { LDS_BYTES = 232448, MAX_WARPS = MAX_THREADS / LANES };
enum { NAMED_BARRIERS = 16, MAX_SUMS = 128, MAX_PENDING = 16 };
/* A shared address in a cluster: the workgroup's number + 1 above the offset.
 */
enum { RANK_SHIFT = 24, OFFSET_MASK = (1 << RANK_SHIFT) - 1 };

/* A tensor map, as the template declares it. */
typedef struct tensor {
  uint8_t *memory;
  int element, box_inner, box_outer, swizzle; /* bytes, elements, rows, bytes */
  int64_t inner, outer;
} tensor;

/* An mbarrier: complete when all have arrived and all bytes have come. */
typedef struct transaction_barrier {
  bool started;
  int count, pending;
  long bytes;
  unsigned phase;
} transaction_barrier;

typedef struct named_barrier {
  int arrived;
  unsigned generation;
} named_barrier;

/* Elements of a matrix instruction's operands. */
typedef struct operand_kind {
  int depth; /* elements of a row of 128 bytes */
  void (*decode)(const uint8_t *from, int count, float *to);
} operand_kind;

/* A group of four wgmma under way: products of its own and what they are added
 * to, which the one before leaves where that is under way too. */
typedef struct product {
  const operand_kind *kind;
  float *sums, results[MAX_SUMS], base[MAX_SUMS];
  uint64_t a, b;
  int columns;
  bool done, chained;
} product;

struct workgroup;
typedef struct thread {
  struct workgroup *group;
  int number;
  bool exited;
  bool (*ready)(const struct thread *); /* NULL: may go on */
  uint32_t address;                     /* of the mbarrier waited for */
  unsigned parity, generation, cluster_generation;
  const named_barrier *meeting;
  product products[MAX_PENDING];
  int product_count, store_groups; /* committed */
  int own_groups;                  /* of copies by cp.async: arrivals asked */
  int stores_pending;              /* groups that a wait allows */
  fiber fiber;
  char *stack;
} thread;

typedef struct warp {
  named_barrier barrier;
  uint32_t bits[2][LANES]; /* of this meeting and the last one */
} warp;

struct cluster;
typedef struct workgroup {
  struct cluster *cluster;
  int rank, number, running; /* threads that have not exited */
  int loads;                 /* started */
  unsigned pace;             /* goes on one time in so many */
  uint8_t *lds;
  transaction_barrier *barriers; /* one for each 8 bytes of lds */
  named_barrier named[NAMED_BARRIERS];
  warp warps[MAX_WARPS];
  thread threads[MAX_THREADS];
} workgroup;

typedef struct cluster {
  workgroup groups[MAX_CLUSTER];
  int arrived, running;
  unsigned generation;
} cluster;

extern thread *current;
extern int cluster_size, lds_size;

_Noreturn void fail(const char *what, long value);
unsigned random_below(unsigned count);
/* Lets others run until ready(current), and now and then before, too. */
void wait_until(bool (*ready)(const thread *));
/* All lanes of the warp have come; returns which of its two sets is theirs. */
int meet_warp(uint32_t bits);

/* Bytes [offset, offset + bytes) of a workgroup's shared memory. */
uint8_t *lds_at(workgroup *group, uint32_t offset, uint32_t bytes);
/* The workgroup that an address of the cluster is in; must still run. */
workgroup *group_of(struct cluster *c, uint32_t address);
void count_bytes(workgroup *group, uint32_t barrier, long bytes);
void arrive(workgroup *group, uint32_t barrier);

/* On its way to another workgroup of the cluster: an arrival at a
 * barrier, or four bytes that a barrier counts. */
void send_arrival(uint32_t barrier);
void send_value(uint32_t to, uint32_t bits, uint32_t barrier);

/* Copies and messages under way of a cluster, or with NULL of any. */
bool copies_left(const cluster *c);
void finish_some_copies(void);

#endif
