/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs workgroups of sm_90a code on the CPU: lanes are contexts, warps of 32
 * run greedily up to a barrier, first to last or last to first. What wants all
 * lanes of a warp (ldmatrix, mma.sync, shfl) waits for them. Asynchronous
 * copies happen when they are issued or, late, when they are waited for.
 *
 * Of shared memory that is written by cp.async and read by ldmatrix every word
 * has a record: a read of what was not waited for, or not behind a barrier, or
 * never written, and a copy over what was read since the last barrier are
 * faults, whatever the values are. Other accesses of shared memory are seen in
 * results only.
 */
#define _GNU_SOURCE
#include "emulate.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { WARP = 32, MOST_LANES = 1024, STACK = 1 << 18, MOST_COPIES = 1 << 12 };
enum state { RUNS, AT_OPERATION, AT_BARRIER, ENDED };

typedef struct copy {
  char *to;
  const char *from;
  int bytes, group;
} copy;

static struct lane {
  ucontext_t context;
  enum state state;
  const void *site; /* of the operation */
  void *operands;
  copy copies[MOST_COPIES];
  int copy_count, groups;
} * lanes;

static ucontext_t scheduler;
static int current, lane_count, block, epoch, late, backwards;
static const emulated_kernel *kernel;
char emulate_shared[232448] __attribute__((aligned(1024)));

/* Where the kernel's code called last: an address within the call. */
static const char *place;
#define CALLED (place = (const char *)__builtin_return_address(0) - 1)

static _Noreturn void stop_at(const char *what, const void *at) {
  printf("fault: %s\nat %p %p\nlane %d of workgroup %d, barrier %d\n", what, at,
         (const void *)place, current, block, epoch);
  fflush(stdout);
  _Exit(1);
}

static _Noreturn void fault(const char *what) { stop_at(what, place); }

/* An access of the kernel's own, or a copy's. */
static void on_trap(int number, siginfo_t *info, void *context) {
  const ucontext_t *c = context;
  (void)number;
  (void)info;
  stop_at("outside of a buffer", (const void *)c->uc_mcontext.gregs[REG_RIP]);
}

static void catch_traps(void) {
  static char stack[1 << 16];
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_sigaction = on_trap,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigaction(SIGSEGV, &action, NULL);
}

/* ---- shared memory -------------------------------------------------------
 */

enum { MOST_WORDS = sizeof emulate_shared / 4, MANY = -2 };
static struct word {
  int written, writer; /* epoch of the wait, lane; -1: never */
  int issued;          /* a copy is on its way */
  int read, reader;
} words[MOST_WORDS];

static struct word *word_at(const char *at, int bytes) {
  const long offset = at - emulate_shared;
  if (offset < 0 || offset + bytes > kernel->shared_bytes)
    fault("outside of shared memory");
  if (offset % bytes)
    fault("misaligned");
  return &words[offset / 4];
}

/* The lane has waited for it. */
static void finish_copy(const copy *c) {
  struct word *w = word_at(c->to, c->bytes);
  for (int i = 0; i < c->bytes / 4; i++) {
    w[i].written = epoch;
    w[i].writer = current;
    w[i].issued = 0;
  }
  if (late)
    memcpy(c->to, c->from, (size_t)c->bytes);
}

void emulate_copy(char *to, const char *from, int bytes, int read) {
  static const char zeros[16];
  struct lane *l = &lanes[current];
  CALLED;
  struct word *w = word_at(to, bytes);
  if (read != bytes && read != 0)
    fault("part of a copy");
  from = read ? from : zeros;
  memcpy((char[16]){0}, from, (size_t)bytes); /* traps where it is outside */
  for (int i = 0; i < bytes / 4; i++) {
    if (w[i].issued)
      fault("two copies to one place");
    if (w[i].read == epoch && w[i].reader != current)
      fault("a copy over what is being read");
    w[i].issued = 1;
  }
  if (!late)
    memcpy(to, from, (size_t)bytes);
  if (l->copy_count == MOST_COPIES)
    fault("more copies under way than there is room for");
  l->copies[l->copy_count++] = (copy){to, from, bytes, l->groups};
}

void emulate_commit(void) { lanes[current].groups++; }

void emulate_wait(int pending) {
  struct lane *l = &lanes[current];
  int kept = 0;
  for (int i = 0; i < l->copy_count; i++)
    if (l->copies[i].group < l->groups - pending)
      finish_copy(&l->copies[i]);
    else
      l->copies[kept++] = l->copies[i];
  l->copy_count = kept;
}

static void read_word(const char *at, int lane) {
  struct word *w = word_at(at, 4);
  if (w->issued)
    fault("read before its copy was waited for");
  if (w->written < 0)
    fault("read of what was never written");
  if (w->written == epoch && w->writer != lane)
    fault("read of another lane's copy without a barrier");
  w->reader = w->read == epoch && w->reader != lane ? MANY : lane;
  w->read = epoch;
}

/* ---- operations of a warp --------------------------------------------------
 */

static void stop(enum state state) {
  lanes[current].state = state;
  swapcontext(&lanes[current].context, &scheduler);
}

void emulate_barrier(void) {
  CALLED;
  stop(AT_BARRIER);
}

void emulate_together(emulate_operation *operation, void *operands) {
  lanes[current].site = (const void *)(size_t)operation;
  lanes[current].operands = operands;
  CALLED;
  stop(AT_OPERATION);
}

/* Four matrices of 8 rows of 16 bytes: rows of matrix i are at the addresses of
 * lanes 8 i .. 8 i + 7; lane l gets word l % 4 of row l / 4 of each. */
void emulate_ldmatrix(void **operands) {
  const int first = current;
  for (int l = 0; l < WARP; l++)
    for (int i = 0; i < 4; i++) {
      struct ldmatrix *own = operands[l], *row = operands[8 * i + l / 4];
      word_at(row->from, 16);
      read_word(row->from + l % 4 * 4, first + l);
      memcpy(&own->result[i], row->from + l % 4 * 4, 4);
    }
}

static float half_of(uint32_t word, int high) {
  const uint32_t bits = high ? word & 0xffff0000u : word << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/* Fragments of m16n8k16: PTX ISA, "Matrix fragments for mma.m16n8k16 with
 * floating point type". */
void emulate_mma(void **operands) {
  float a[16][16], b[16][8];
  for (int l = 0; l < WARP; l++) {
    const struct mma *o = operands[l];
    for (int i = 0; i < 8; i++) {
      const int row = l / 4 + (i / 2 % 2 ? 8 : 0),
                k = l % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0);
      a[row][k] = half_of(o->a[i / 2], i % 2);
    }
    for (int i = 0; i < 4; i++)
      b[l % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0)][l / 4] =
          half_of(o->b[i / 2], i % 2);
  }
  for (int l = 0; l < WARP; l++) {
    struct mma *o = operands[l];
    for (int i = 0; i < 4; i++) {
      const int row = l / 4 + (i >= 2 ? 8 : 0), column = l % 4 * 2 + i % 2;
      for (int k = 0; k < 16; k++)
        o->c[i] += a[row][k] * b[k][column];
    }
  }
}

void emulate_shuffle(void **operands) {
  uint32_t values[WARP];
  for (int l = 0; l < WARP; l++)
    values[l] = ((struct shuffle *)operands[l])->value;
  for (int l = 0; l < WARP; l++) {
    struct shuffle *o = operands[l];
    o->value = values[(l ^ o->by) % WARP];
  }
}

/* ---- lanes -----------------------------------------------------------------
 */

float emulate_rsqrt(float value) { return 1 / sqrtf(value); }
int emulate_thread(void) { return current; }
int emulate_block(void) { return block; }

static void run_lane(void) {
  kernel->call();
  emulate_wait(0);
  stop(ENDED);
}

static int all_in(int first, enum state state) {
  for (int i = first; i < first + WARP; i++)
    if (lanes[i].state != state)
      return 0;
  return 1;
}

static void run_operation(int first) {
  void *operands[WARP];
  for (int i = 0; i < WARP; i++) {
    if (lanes[first + i].site != lanes[first].site)
      fault("lanes of a warp at different operations");
    operands[i] = lanes[first + i].operands;
    lanes[first + i].state = RUNS;
  }
  current = first;
  ((emulate_operation *)(size_t)lanes[first].site)(operands);
}

static void run_warp(int first) {
  do {
    for (int i = 0; i < WARP; i++) {
      current = first + i;
      if (lanes[current].state == RUNS)
        swapcontext(&scheduler, &lanes[current].context);
    }
    if (all_in(first, AT_OPERATION))
      run_operation(first);
    else if (!all_in(first, AT_BARRIER) && !all_in(first, ENDED))
      fault("lanes of a warp part ways");
  } while (lanes[first].state == RUNS);
}

static void run_block(void) {
  static char *stacks;
  if (!stacks)
    stacks = mmap(NULL, (size_t)MOST_LANES * STACK, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  for (int i = 0; i < lane_count; i++) {
    struct lane *l = &lanes[i];
    l->state = RUNS;
    l->copy_count = l->groups = 0;
    getcontext(&l->context);
    l->context.uc_stack.ss_sp = stacks + (size_t)i * STACK;
    l->context.uc_stack.ss_size = STACK;
    makecontext(&l->context, run_lane, 0);
  }
  for (int i = 0; i < MOST_WORDS; i++)
    words[i] = (struct word){-1, -1, 0, -1, -1};
  memset(emulate_shared, 0xff, (size_t)kernel->shared_bytes);
  for (epoch = 0; lanes[0].state != ENDED; epoch++) {
    for (int w = 0; w < lane_count; w += WARP)
      run_warp(backwards ? lane_count - WARP - w : w);
    const enum state reached = lanes[0].state;
    for (int i = 0; i < lane_count; i++) {
      if (lanes[i].state != reached)
        fault("not all warps come to a barrier");
      if (reached == AT_BARRIER)
        lanes[i].state = RUNS;
    }
  }
}

void emulate_run(const emulated_kernel *which, int blocks, int threads,
                 int way) {
  kernel = which;
  lane_count = threads;
  late = way & 1;
  backwards = way & 2;
  if (!lanes) {
    lanes = calloc(MOST_LANES, sizeof *lanes);
    catch_traps();
  }
  for (block = 0; block < blocks; block++)
    run_block();
}

void *emulate_buffer(size_t bytes, int fill) {
  const size_t page = 4096, whole = (bytes + page - 1) / page * page;
  char *at = mmap(NULL, whole + 2 * page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  mprotect(at, page, PROT_NONE);
  mprotect(at + page + whole, page, PROT_NONE);
  at += page + whole - bytes;
  memset(at, fill, bytes);
  return at;
}
