/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs kernels for sm_90a on the CPU, to test templates that have no host
 * model: host_sm90a.py turns a template into a library whose intrinsics are
 * functions of this program. Each thread of a workgroup is a fiber; what a warp
 * or the workgroup does together waits until all have come. Inputs come from
 * the problem, the result goes to its comparison. Found beside wrong results:
 * accesses outside of an argument or of shared memory, misaligned ones, and
 * copies that are read before they were waited for (they are made as late as
 * possible, shared memory begins as NaN) or that overwrite what is still read
 * (--early makes them at once).
 *
 *   host_sm90a PROBLEM LIBRARY SHAPE SEED ORDER late|early WORKSPACE_BYTES
 *              {KERNEL GRID_X GRID_Y THREADS LDS ARGUMENT,...}...
 */
#include "host_fiber.h"
#include "host_judge.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LANES = 32, MAX_THREADS = 1024, STACK_BYTES = 1 << 16 };
enum { MAX_COPIES = 4096, LDS_BYTES = 232448, ARGUMENTS = 13 };
enum { PAGE = 4096 };

/* What libraries take from this program: the templates' @ws.lds, and in the
 * place of intrinsics: */
extern char ws_lds[LDS_BYTES];
int nv_tid(void);
int nv_ctaid_x(void);
int nv_ctaid_y(void);
void nv_barrier(int number);
void nv_copy_16(char *to, const char *from);
void nv_copy_4(char *to, const char *from);
void nv_commit(void);
void nv_wait(int pending);
void nv_ldmatrix(const char *at, uint32_t *out);
void nv_mma(const uint32_t *in, uint32_t *out);
uint32_t nv_shuffle(uint32_t mask, uint32_t value, uint32_t flip,
                    uint32_t clamp);
uint32_t nv_pack(float high, float low);
float nv_decode(uint16_t pair);

char ws_lds[LDS_BYTES] __attribute__((aligned(1024)));

static _Noreturn void fail(const char *what, long value) {
  printf("%s (%ld)\n", what, value);
  exit(1);
}

/* ---- fibers ---------------------------------------------------------------
 */

typedef struct copy {
  char *to;
  const char *from;
  int bytes, group;
} copy;

typedef struct thread {
  fiber fiber;
  bool done;
  copy copies[MAX_COPIES]; /* a ring: taken up to head, given up to tail */
  int head, tail, group;
} thread;

/* What the lanes of a warp bring to what they do together, and take. */
typedef struct warp {
  int arrived;
  long generation;
  uint32_t in[LANES][12], out[LANES][4];
  const char *address[LANES];
} warp;

static thread threads[MAX_THREADS];
static warp warps[MAX_THREADS / LANES];
static int current, thread_count, group_x, group_y, barrier_arrived;
static long barrier_generation, conflicts;
static size_t lds_bytes;
static bool early;

static void yield(void) { fiber_yield(&threads[current].fiber); }

/* The last of `count` to come does it for all. */
static void together(int *arrived, long *generation, int count,
                     void (*work)(warp *), warp *of) {
  const long mine = *generation;
  if (++*arrived < count) {
    while (*generation == mine)
      yield();
    return;
  }
  *arrived = 0;
  ++*generation;
  if (work)
    work(of);
}

static warp *with_warp(void (*work)(warp *)) {
  warp *of = &warps[current / LANES];
  together(&of->arrived, &of->generation, LANES, work, of);
  return of;
}

/* ---- memory ---------------------------------------------------------------
 */

static struct region {
  const char *start;
  size_t bytes;
} inputs[ARGUMENTS];
static int input_count;

static void check_lds(const char *at, int bytes) {
  if (at < ws_lds || at + bytes > ws_lds + lds_bytes)
    fail("shared memory is left at byte", (long)(at - ws_lds));
  if ((uintptr_t)at % (unsigned)bytes)
    fail("misaligned in shared memory at byte", (long)(at - ws_lds));
}

static void check_input(const char *at, int bytes) {
  for (int i = 0; i < input_count; i++)
    if (at >= inputs[i].start &&
        at + bytes <= inputs[i].start + inputs[i].bytes)
      return;
  fail("a copy reads outside of its operand", bytes);
}

static void copy_bytes(char *to, const char *from, int bytes) {
  thread *own = &threads[current];
  check_lds(to, bytes);
  check_input(from, bytes);
  if (early)
    memcpy(to, from, (size_t)bytes);
  else if (own->tail - own->head == MAX_COPIES)
    fail("too many copies under way", MAX_COPIES);
  else
    own->copies[own->tail++ % MAX_COPIES] = (copy){to, from, bytes, own->group};
}

/* ---- what the library calls -----------------------------------------------
 */

int nv_tid(void) { return current; }
int nv_ctaid_x(void) { return group_x; }
int nv_ctaid_y(void) { return group_y; }

void nv_barrier(int number) {
  (void)number;
  together(&barrier_arrived, &barrier_generation, thread_count, NULL, NULL);
}

void nv_copy_16(char *to, const char *from) { copy_bytes(to, from, 16); }
void nv_copy_4(char *to, const char *from) { copy_bytes(to, from, 4); }
void nv_commit(void) { threads[current].group++; }

void nv_wait(int pending) {
  thread *own = &threads[current];
  while (own->head < own->tail) {
    const copy *first = &own->copies[own->head % MAX_COPIES];
    if (first->group >= own->group - pending)
      return;
    memcpy(first->to, first->from, (size_t)first->bytes);
    own->head++;
  }
}

/* Four matrices of 8 rows of 16 bytes; lane l gets 4 bytes of row l / 4. */
static void load_matrices(warp *of) {
  for (int matrix = 0; matrix < 4; matrix++) {
    unsigned columns = 0;
    for (int row = 0; row < 8; row++) {
      const char *at = of->address[matrix * 8 + row];
      check_lds(at, 16);
      columns |= 1u << (uintptr_t)at / 16 % 8;
      for (int quarter = 0; quarter < 4; quarter++)
        memcpy(&of->out[row * 4 + quarter][matrix], at + 4 * quarter, 4);
    }
    conflicts += columns != 255;
  }
}

void nv_ldmatrix(const char *at, uint32_t *out) {
  warps[current / LANES].address[current % LANES] = at;
  memcpy(out, with_warp(load_matrices)->out[current % LANES], 16);
}

static double decode(unsigned code) {
  const int field = (int)(code >> 3 & 15), fraction = (int)(code & 7);
  if ((code & 127) == 127)
    return NAN;
  const double magnitude =
      field ? ldexp(8 + fraction, field - 10) : ldexp(fraction, -9);
  return code & 128 ? -magnitude : magnitude;
}

/* PTX ISA, "Matrix Fragments for mma.m16n8k32": of A lane l has rows l / 4 and
 * l / 4 + 8 at k 4 * (l % 4) and 16 further, of B column l / 4 likewise, of C
 * columns 2 * (l % 4) and the next of the same two rows. */
static void multiply(warp *of) {
  double a[16][32], b[32][8];
  for (int lane = 0; lane < LANES; lane++)
    for (int word = 0; word < 6; word++)
      for (int byte = 0; byte < 4; byte++) {
        const double x = decode(of->in[lane][word] >> 8 * byte & 255);
        const int k = lane % 4 * 4 + byte;
        if (word < 4)
          a[lane / 4 + 8 * (word % 2)][k + 16 * (word / 2)] = x;
        else
          b[k + 16 * (word - 4)][lane / 4] = x;
      }
  for (int lane = 0; lane < LANES; lane++)
    for (int e = 0; e < 4; e++) {
      float sum;
      memcpy(&sum, &of->in[lane][6 + e], sizeof sum);
      double total = sum;
      for (int k = 0; k < 32; k++)
        total += a[lane / 4 + 8 * (e / 2)][k] * b[k][lane % 4 * 2 + e % 2];
      sum = (float)total;
      memcpy(&of->out[lane][e], &sum, sizeof sum);
    }
}

void nv_mma(const uint32_t *in, uint32_t *out) {
  memcpy(warps[current / LANES].in[current % LANES], in, 40);
  memcpy(out, with_warp(multiply)->out[current % LANES], 16);
}

static void exchange(warp *of) {
  for (unsigned lane = 0; lane < LANES; lane++)
    of->out[lane][0] = of->in[lane ^ of->in[lane][1]][0];
}

uint32_t nv_shuffle(uint32_t mask, uint32_t value, uint32_t flip,
                    uint32_t clamp) {
  warp *of = &warps[current / LANES];
  if (mask != UINT32_MAX || clamp != 31)
    fail("a shuffle of a part of the warp", (long)mask);
  of->in[current % LANES][0] = value;
  of->in[current % LANES][1] = flip;
  return with_warp(exchange)->out[current % LANES][0];
}

uint32_t nv_pack(float high, float low) {
  return host_bf16(high) << 16 | host_bf16(low);
}
float nv_decode(uint16_t pair) { return (float)decode(pair & 255u); }

/* ---- launches -------------------------------------------------------------
 */

/* Integer arguments and pointers fill registers and stack slots of 8 bytes in
 * turn, so one type serves all kernels. */
typedef void (*kernel_function)(long, long, long, long, long, long, long, long,
                                long, long, long, long, long);
static kernel_function kernel;
static long values[ARGUMENTS]; /* of this kernel, in its order */

static void enter(void) {
  const long *v = values;
  kernel(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10],
         v[11], v[12]);
  threads[current].done = true;
  for (;;)
    yield();
}

static void start_thread(int number, char *stack) {
  thread *t = &threads[number];
  t->done = false;
  t->head = t->tail = t->group = 0;
  fiber_make(&t->fiber, enter, stack, STACK_BYTES);
}

/* 0 up, 1 down, 2 in strides. */
static int in_order(int order, int i) {
  return order == 0   ? i
         : order == 1 ? thread_count - 1 - i
                      : (i * 37 + 11) % thread_count;
}

static void run_workgroup(int order) {
  enum { PATIENCE = 1 << 20 };
  static char *stacks;
  if (!stacks)
    stacks = malloc((size_t)MAX_THREADS * STACK_BYTES);
  memset(ws_lds, 0x7f, sizeof ws_lds); /* NaN in fp8 */
  memset(warps, 0, sizeof warps);
  barrier_arrived = 0;
  for (int i = 0; i < thread_count; i++)
    start_thread(i, stacks + (size_t)i * STACK_BYTES);
  for (long rounds = 0, left = thread_count; left; rounds++) {
    left = 0;
    for (int i = 0; i < thread_count; i++) {
      current = in_order(order, i);
      if (threads[current].done)
        continue;
      fiber_go_on(&threads[current].fiber);
      left += !threads[current].done;
    }
    if (rounds == PATIENCE)
      fail("threads wait for each other", left);
  }
}

/* Ends where memory does, so that what follows it faults. */
static char *guarded(size_t bytes) {
  const size_t pages = (bytes + PAGE - 1) / PAGE * PAGE;
  char *start = mmap(NULL, pages + PAGE, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED || mprotect(start + pages, PAGE, PROT_NONE))
    fail("no memory", errno);
  return start + pages - bytes;
}

/* The value of each of the problem's arguments, of an f32 scalar its bits;
 * outputs and workspace begin as NaN. */
static void make_arguments(const ws_problem *problem, const ws_shape *shape,
                           int layout, uint64_t seed, size_t workspace,
                           long out[ARGUMENTS], const void **buffers) {
  if (problem->arg_count > ARGUMENTS)
    fail("the problem has too many arguments", problem->arg_count);
  for (int i = 0; i < problem->arg_count; i++) {
    const ws_arg_role role = problem->args[i].role;
    if (!ws_arg_is_pointer(role)) {
      out[i] = ws_problem_arg_scalar(problem, i, shape, layout);
      buffers[i] = &out[i];
      continue;
    }
    const size_t bytes =
        role == WS_ARG_WORKSPACE
            ? workspace
            : (size_t)ws_problem_arg_bytes(problem, i, shape, layout);
    char *buffer = guarded(bytes);
    buffers[i] = buffer;
    out[i] = (long)buffer;
    memset(buffer, 0xff, bytes);
    if (!ws_arg_is_content(role))
      continue;
    ws_problem_generate(problem, i, shape, layout, seed, buffer);
    inputs[input_count++] = (struct region){buffer, bytes};
  }
}

/* Arguments by name, comma-separated. */
static void pick_arguments(const ws_problem *problem, char *names,
                           const long all[ARGUMENTS]) {
  char *rest = names;
  for (int i = 0; rest; i++) {
    char *name = strsep(&rest, ",");
    const int index = ws_problem_arg_index(problem, name);
    if (index < 0 || i == ARGUMENTS)
      fail("an argument that there is not", i);
    values[i] = all[index];
  }
}

static void launch(void *library, const ws_problem *problem, char **words,
                   const long all[ARGUMENTS], int order) {
  const long grid_x = strtol(words[1], NULL, 10);
  const long grid_y = strtol(words[2], NULL, 10);
  *(void **)&kernel = dlsym(library, words[0]);
  if (!kernel)
    fail("no such kernel", 0);
  thread_count = (int)strtol(words[3], NULL, 10);
  lds_bytes = (size_t)strtol(words[4], NULL, 10);
  pick_arguments(problem, words[5], all);
  for (group_y = 0; group_y < grid_y; group_y++)
    for (group_x = 0; group_x < grid_x; group_x++)
      run_workgroup(order);
}

int main(int count, char **words) {
  enum { FIXED = 8, PER_LAUNCH = 6 };
  const ws_problem *problem = count > FIXED ? ws_problem_find(words[1]) : NULL;
  long all[ARGUMENTS];
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {NULL};
  ws_shape shape;
  ws_diag diag;
  if (!problem || (count - FIXED) % PER_LAUNCH)
    fail("wrong use", count);
  const char *sizes = words[3];
  if (ws_shape_parse(problem->dims, &sizes, &shape, &diag) != WS_OK)
    fail(diag.text, 0);
  const int layout = ws_problem_layout_index(
      problem, ws_problem_default_layout(problem, "sm_90a"));
  void *library = dlopen(words[2], RTLD_NOW);
  if (!library)
    fail(dlerror(), 0);
  const int order = (int)strtol(words[5], NULL, 10);
  early = !strcmp(words[6], "early");
  make_arguments(problem, &shape, layout, strtoull(words[4], NULL, 10),
                 strtoul(words[7], NULL, 10), all, buffers);
  for (int i = FIXED; i < count; i += PER_LAUNCH)
    launch(library, problem, words + i, all, order);
  if (!host_is_right(problem, &shape, layout, buffers))
    return 1;
  printf("right, bank conflicts %ld\n", conflicts);
  return 0;
}
