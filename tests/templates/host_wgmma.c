/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Runs fp8_gemm_wgmma or gemm_bf16_wgmma on the CPU: host_wgmma.py or
 * host_gemm_bf16.py turns the template into a library whose assembly and
 * intrinsics are functions of this program. Each thread is a fiber; clusters
 * run at once, some at a time; which thread goes next and when copies are made
 * is random by the seed. Found beside wrong results: deadlocks, too many
 * arrivals, waits on barriers that nobody has made, memory that is written
 * while it is still read (results), accesses outside of shared memory or past
 * the end of an argument (a signal), messages to workgroups that have ended,
 * bytes that nobody waits for, tensor maps that the driver refuses. Warps do
 * what is .aligned together, as wgmma's wait. Prints "right", and how many
 * loads the workgroup with most of them starts.
 *
 *   host_wgmma LIBRARY PROBLEM M,N,K[/STRIDING] SEED
 *              KERNEL GRID CLUSTER THREADS LDS ARGUMENT,...
 *              {MAP ARGUMENT ELEMENT INNER OUTER BOX_INNER BOX_OUTER SWIZZLE}...
 */
#include "host_wgmma.h"
#include "../gemm_shape.h"
#include "host_judge.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK_BYTES = 1 << 15, CLUSTERS_AT_ONCE = 3, MAX_MAPS = 8 };
enum { POISONED_BYTES = 1 << 14 }; /* of a stack: where a kernel's frame is */
enum { ARGUMENTS = 16, SKIPPED_ONE_IN = 8, SLOWEST = 8 };

thread *current;
int cluster_size, lds_size;
static int thread_count, grid, most_loads;
static uint64_t random_state;
static cluster *running[CLUSTERS_AT_ONCE], *homes[CLUSTERS_AT_ONCE];
static void (*kernel)(long, long, long, long, long, long, long, long, long,
                      long, long, long, long, long, long, long);
static long values[ARGUMENTS];
static tensor maps[MAX_MAPS];
static const char *map_names[MAX_MAPS];
static int map_count;

_Noreturn void fail(const char *what, long value) {
  printf("%s (%ld)", what, value);
  if (current)
    printf(" in thread %d of workgroup %d", current->number,
           current->group->number);
  printf("\n");
  exit(1);
}

unsigned random_below(unsigned count) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned)((random_state >> 11) % count);
}

void wait_until(bool (*ready)(const thread *)) {
  if (ready(current) && random_below(4))
    return;
  current->ready = ready;
  fiber_yield(&current->fiber);
}

/* ---- barriers -------------------------------------------------------------
 */

static bool met(const thread *t) {
  return t->meeting->generation != t->generation;
}

static void meet(named_barrier *barrier, int count) {
  current->meeting = barrier;
  current->generation = barrier->generation;
  if (++barrier->arrived == count) {
    barrier->arrived = 0;
    barrier->generation++;
  }
  wait_until(met);
}

int meet_warp(uint32_t bits) {
  warp *own = &current->group->warps[current->number / LANES];
  const int set = (int)(own->barrier.generation & 1);
  own->bits[set][current->number % LANES] = bits;
  meet(&own->barrier, LANES);
  return set;
}

void nv_barrier(int number, int count);
void nv_barrier(int number, int count) {
  meet(&current->group->named[number], count);
}

void nv_barrier_all(int number);
void nv_barrier_all(int number) { nv_barrier(number, thread_count); }

/* Threads that have exited count as arrived. */
static void check_cluster(cluster *c) {
  if (!c->arrived || c->arrived < c->running)
    return;
  c->arrived = 0;
  c->generation++;
}

void nv_cluster_arrive(void);
void nv_cluster_arrive(void) {
  cluster *c = current->group->cluster;
  current->cluster_generation = c->generation;
  c->arrived++;
  check_cluster(c);
}

static bool cluster_met(const thread *t) {
  return t->group->cluster->generation != t->cluster_generation;
}
void nv_cluster_wait(void);
void nv_cluster_wait(void) { wait_until(cluster_met); }

/* ---- mbarriers ------------------------------------------------------------
 */

uint8_t *lds_at(workgroup *group, uint32_t offset, uint32_t bytes) {
  if (offset + bytes > (uint32_t)lds_size)
    fail("outside of shared memory", offset);
  return group->lds + offset;
}

workgroup *group_of(cluster *c, uint32_t address) {
  const int rank = (int)(address >> RANK_SHIFT) - 1;
  if (rank < 0 || rank >= cluster_size)
    fail("no address in the cluster", address);
  workgroup *group = &c->groups[rank];
  if (!group->running)
    fail("a message to a workgroup that has ended", rank);
  return group;
}

static transaction_barrier *barrier_at(workgroup *group, uint32_t at) {
  lds_at(group, at, 8);
  if (at % 8 || !group->barriers[at / 8].started)
    fail("no barrier", at);
  return &group->barriers[at / 8];
}

static void check_barrier(transaction_barrier *b) {
  if (b->pending < 0)
    fail("too many arrivals", b->pending);
  if (b->pending || b->bytes)
    return;
  b->pending = b->count;
  b->phase++;
}

void arrive(workgroup *group, uint32_t at) {
  transaction_barrier *b = barrier_at(group, at);
  b->pending--;
  check_barrier(b);
}

void count_bytes(workgroup *group, uint32_t barrier, long bytes) {
  transaction_barrier *b = barrier_at(group, barrier);
  b->bytes -= bytes;
  check_barrier(b);
}

void nv_mbarrier_init(uint32_t at, int count);
void nv_mbarrier_init(uint32_t at, int count) {
  lds_at(current->group, at, 8);
  current->group->barriers[at / 8] =
      (transaction_barrier){.started = true, .count = count, .pending = count};
}

static bool completed(const thread *t) {
  return (barrier_at(t->group, t->address)->phase & 1) != t->parity;
}
void nv_mbarrier_wait(uint32_t at, unsigned parity);
void nv_mbarrier_wait(uint32_t at, unsigned parity) {
  current->address = at;
  current->parity = parity;
  wait_until(completed);
}

int nv_mbarrier_test(uint32_t at, unsigned parity);
int nv_mbarrier_test(uint32_t at, unsigned parity) {
  current->address = at;
  current->parity = parity;
  return completed(current);
}

/* What a test has said is believed: a wrong yes reads what has not come. */
void nv_mbarrier_wait_unless(uint32_t at, unsigned parity, int complete);
void nv_mbarrier_wait_unless(uint32_t at, unsigned parity, int complete) {
  if (!complete)
    nv_mbarrier_wait(at, parity);
}

void nv_mbarrier_expect(uint32_t at, int bytes);
void nv_mbarrier_expect(uint32_t at, int bytes) {
  barrier_at(current->group, at)->bytes += bytes;
  arrive(current->group, at);
}

void nv_mbarrier_arrive(uint32_t at, unsigned lane);
void nv_mbarrier_arrive(uint32_t at, unsigned lane) {
  if (lane == 0)
    arrive(current->group, at);
}

void nv_mbarrier_arrive_in(uint32_t address, unsigned lane);
void nv_mbarrier_arrive_in(uint32_t address, unsigned lane) {
  if (lane == 0)
    send_arrival(address);
}

uint32_t nv_map(uint32_t at, uint32_t rank);
uint32_t nv_map(uint32_t at, uint32_t rank) {
  return at | (rank + 1) << RANK_SHIFT;
}

void nv_mbarrier_arrive_sharers(uint32_t at, unsigned lane, unsigned count);
void nv_mbarrier_arrive_sharers(uint32_t at, unsigned lane, unsigned count) {
  if (lane < count)
    nv_mbarrier_arrive_in(nv_map(at, lane), 0);
}

void nv_send(uint32_t to, float value, uint32_t barrier);
void nv_send(uint32_t to, float value, uint32_t barrier) {
  uint32_t bits;
  if (to >> RANK_SHIFT != barrier >> RANK_SHIFT)
    fail("a message and its barrier are apart", to);
  memcpy(&bits, &value, sizeof bits);
  send_value(to, bits, barrier);
}

/* ---- small things ---------------------------------------------------------
 */

float nv_lds_float(uint64_t at);
float nv_lds_float(uint64_t at) {
  float value;
  memcpy(&value, lds_at(current->group, (uint32_t)at, sizeof value),
         sizeof value);
  return value;
}

int nv_tid(void);
int nv_tid(void) { return current->number; }
int nv_ctaid(void);
int nv_ctaid(void) { return current->group->number; }
int nv_nctaid(void);
int nv_nctaid(void) { return grid; }
int nv_rank(void);
int nv_rank(void) { return current->group->rank; }
int nv_elected(void);
int nv_elected(void) { return current->number % LANES == 0; }
void nv_nothing(void);
void nv_nothing(void) {}
void nv_prefetch(const tensor *map);
void nv_prefetch(const tensor *map) { (void)map; }
void nv_registers(int count);
void nv_registers(int count) {
  if (count % 8 || count < 24 || count > 240)
    fail("a number of registers", count);
}

void nv_warp_sync(int mask);
void nv_warp_sync(int mask) {
  (void)mask;
  meet_warp(0);
}

uint32_t nv_shuffle(int mask, uint32_t bits, int lane, int clamp);
uint32_t nv_shuffle(int mask, uint32_t bits, int lane, int clamp) {
  (void)mask, (void)clamp;
  const int set = meet_warp(bits);
  return current->group->warps[current->number / LANES].bits[set][lane];
}

uint32_t nv_pack(float high, float low);
uint32_t nv_pack(float high, float low) {
  return host_bf16(high) << 16 | (host_bf16(low) & 0xffff);
}

/* ---- running --------------------------------------------------------------
 */

static void run_thread(void) {
  const long *v = values;
  kernel(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10],
         v[11], v[12], v[13], v[14], v[15]);
  thread *self = current;
  self->exited = true;
  self->group->running--;
  self->group->cluster->running--;
  check_cluster(self->group->cluster);
  fiber_yield(&self->fiber);
}

/* Memory for one of the clusters that run at once, made once and in huge pages:
 * a page's first touch costs more than what runs on it. */
static void *reserve(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED)
    fail("no memory", (long)bytes);
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

static cluster *make_home(void) {
  cluster *c = reserve(sizeof *c);
  for (int rank = 0; rank < cluster_size; rank++) {
    workgroup *group = &c->groups[rank];
    char *stacks = reserve((size_t)thread_count * STACK_BYTES);
    group->lds = reserve((size_t)lds_size);
    group->barriers =
        reserve(((size_t)lds_size / 8 + 1) * sizeof *group->barriers);
    for (int i = 0; i < thread_count; i++)
      group->threads[i].stack = stacks + (size_t)i * STACK_BYTES;
  }
  return c;
}

static void start_thread(workgroup *group, int number) {
  thread *t = &group->threads[number];
  *t = (thread){.group = group, .number = number, .stack = t->stack};
  memset(t->stack + STACK_BYTES - POISONED_BYTES, 0xff, POISONED_BYTES);
  fiber_make(&t->fiber, run_thread, t->stack, STACK_BYTES);
}

static void start_workgroup(workgroup *group, cluster *c, int number) {
  uint8_t *lds = group->lds;
  transaction_barrier *barriers = group->barriers;
  memset(group, 0, offsetof(workgroup, threads));
  group->cluster = c;
  group->rank = number % cluster_size;
  group->number = number;
  group->running = thread_count;
  group->pace = 1 + random_below(SLOWEST);
  group->lds = memset(lds, 0xff, (size_t)lds_size);
  group->barriers =
      memset(barriers, 0, ((size_t)lds_size / 8 + 1) * sizeof *barriers);
  for (int i = 0; i < thread_count; i++)
    start_thread(group, i);
}

static cluster *start_cluster(int number, int home) {
  if (!homes[home])
    homes[home] = make_home();
  cluster *c = homes[home];
  c->arrived = 0;
  c->generation = 0;
  c->running = cluster_size * thread_count;
  for (int rank = 0; rank < cluster_size; rank++)
    start_workgroup(&c->groups[rank], c, number * cluster_size + rank);
  return c;
}

static void end_cluster(cluster *c) {
  current = NULL;
  for (int rank = 0; rank < cluster_size; rank++) {
    workgroup *group = &c->groups[rank];
    for (int i = 0; i < lds_size / 8; i++)
      if (group->barriers[i].bytes)
        fail("bytes that nobody waits for", i * 8);
    if (group->loads > most_loads)
      most_loads = group->loads;
  }
}

/* Most threads that can go on do, from a random one on. Has any? */
static bool step_workgroup(workgroup *group) {
  const unsigned first = random_below((unsigned)thread_count);
  bool moved = false;
  if (random_below(group->pace))
    return false;
  for (unsigned i = 0; i < (unsigned)thread_count; i++) {
    thread *t = &group->threads[(first + i) % (unsigned)thread_count];
    if (t->exited)
      continue;
    if (!random_below(SKIPPED_ONE_IN) || (t->ready && !t->ready(t)))
      continue;
    t->ready = NULL;
    current = t;
    fiber_go_on(&t->fiber);
    moved = true;
  }
  return moved;
}

static bool step_all(void) {
  bool moved = false;
  for (int i = 0; i < CLUSTERS_AT_ONCE; i++)
    for (int rank = 0; running[i] && rank < cluster_size; rank++)
      moved |= step_workgroup(&running[i]->groups[rank]);
  moved |= copies_left(NULL);
  finish_some_copies();
  return moved;
}

/* Clusters that have ended make room for the next; returns how many run. */
static int replace_clusters(int *next) {
  int count = 0;
  for (int i = 0; i < CLUSTERS_AT_ONCE; i++) {
    if (running[i] && !running[i]->running && !copies_left(running[i])) {
      end_cluster(running[i]);
      running[i] = NULL;
    }
    if (!running[i] && *next < grid / cluster_size)
      running[i] = start_cluster((*next)++, i);
    count += running[i] != NULL;
  }
  return count;
}

static void run_grid(void) {
  enum { IDLE_STEPS = 1000 };
  int next = 0, idle = 0;
  while (replace_clusters(&next)) {
    idle = step_all() ? 0 : idle + 1;
    if (idle > IDLE_STEPS)
      fail("nothing can go on", next);
  }
}

/* ---- arguments ------------------------------------------------------------
 */

/* A page that nobody may touch follows; aligned to 4 bytes. */
static void *allocate_guarded(size_t bytes) {
  const size_t page = 4096, size = (bytes + page - 1) / page * page;
  char *pages = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + size, page, PROT_NONE))
    fail("no memory", (long)bytes);
  return pages + size - bytes;
}

static void make_arguments(const ws_problem *problem, const ws_shape *shape,
                           int layout, uint64_t seed, const void **buffers) {
  for (int i = 0; i < problem->arg_count; i++) {
    const ws_arg_role role = problem->args[i].role;
    if (role != WS_ARG_INPUT && role != WS_ARG_OUTPUT)
      continue;
    const size_t bytes =
        (size_t)ws_problem_arg_bytes(problem, i, shape, layout);
    char *buffer = allocate_guarded(bytes);
    buffers[i] = buffer;
    if (role == WS_ARG_INPUT)
      ws_problem_generate(problem, i, shape, layout, seed, buffer);
    else
      memset(buffer, 0xff, bytes);
  }
}

static void read_map(const ws_problem *problem, char **words,
                     const void *const *buffers) {
  long number[6];
  for (int i = 0; i < 6; i++)
    number[i] = strtol(words[2 + i], NULL, 10);
  const int argument = ws_problem_arg_index(problem, words[1]);
  if (argument < 0 || map_count == MAX_MAPS)
    fail("a tensor map", argument);
  if (number[2] > 1 && /* cuTensorMapEncodeTiled's strides */
      number[0] * number[1] % 16)
    fail("rows of a tensor map are not whole 16 bytes", number[1]);
  map_names[map_count] = words[0];
  maps[map_count++] = (tensor){.memory = (uint8_t *)buffers[argument],
                               .element = (int)number[0],
                               .inner = number[1],
                               .outer = number[2],
                               .box_inner = (int)number[3],
                               .box_outer = (int)number[4],
                               .swizzle = (int)number[5]};
}

static long argument_value(const ws_problem *problem, const char *name,
                           const ws_shape *shape, int layout,
                           const void *const *buffers) {
  for (int i = 0; i < map_count; i++)
    if (!strcmp(map_names[i], name))
      return (long)&maps[i];
  const int index = ws_problem_arg_index(problem, name);
  if (index < 0)
    fail("an argument that there is not", index);
  return problem->args[index].role == WS_ARG_SCALAR
             ? ws_problem_arg_scalar(problem, index, shape, layout)
             : (long)buffers[index];
}

static void open_kernel(char **words) {
  void *library = dlopen(words[1], RTLD_NOW);
  if (!library)
    fail(dlerror(), 0);
  *(void **)&kernel = dlsym(library, words[5]);
  if (!kernel)
    fail("no such kernel", 0);
  random_state = strtoull(words[4], NULL, 10) * 2654435761U + 88172645463325252;
  grid = (int)strtol(words[6], NULL, 10);
  cluster_size = (int)strtol(words[7], NULL, 10);
  thread_count = (int)strtol(words[8], NULL, 10);
  lds_size = (int)strtol(words[9], NULL, 10);
}

int main(int count, char **words) {
  enum { FIXED = 11, PER_MAP = 8 };
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {NULL};
  long m, n, k;
  int striding = 0;
  const ws_problem *problem = count < FIXED ? NULL : ws_problem_find(words[2]);
  if (!problem || (count - FIXED) % PER_MAP ||
      sscanf(words[3], "%ld,%ld,%ld/%d", &m, &n, &k, &striding) < 3)
    fail("wrong use", count);
  const int layout = ws_problem_form(
      problem,
      ws_problem_layout_index(problem,
                              ws_problem_default_layout(problem, "sm_90a")),
      striding);
  const ws_shape shape = gemm_shape(m, n, k);
  open_kernel(words);
  make_arguments(problem, &shape, layout, strtoull(words[4], NULL, 10),
                 buffers);
  for (int i = FIXED; i < count; i += PER_MAP)
    read_map(problem, words + i, buffers);
  char *rest = words[10];
  for (int i = 0; rest && i < ARGUMENTS; i++)
    values[i] =
        argument_value(problem, strsep(&rest, ","), &shape, layout, buffers);
  run_grid();
  if (!host_is_right(problem, &shape, layout, buffers))
    return 1;
  printf("right %d\n", most_loads);
  return 0;
}
