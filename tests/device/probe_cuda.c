/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The device layer on a real NVIDIA card, by hand-written PTX and nothing else
 * of wavesmith: info, memory, launches, graphs, events, tensor maps, clocks,
 * and what a fault and bad code look like. On a machine with a driver, a C
 * compiler and nothing else, from the repository's root in bash:
 *   gcc -std=gnu11 -O2 -D_GNU_SOURCE -DWAVESMITH_LIBDIR='"lib"' \
 *     -Iruntime/include tests/device/probe_cuda.c runtime/device/?*.c \
 *     runtime/rt/library.c -ldl -o probe_cuda \
 *     runtime/base/{arena,clock,file,log,status,strbuf}.c && ./probe_cuda
 *
 * probe_cuda [FILL [TILE]]: files with the kernels of fill.ptx and tile.ptx, as
 * PTX or cubin. Exit 0: all is right; 1: something is not; 77: no card.
 */
#include "wavesmith/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef WS_PROBE_FOLDER
#define WS_PROBE_FOLDER "tests/device"
#endif

enum {
  COUNT = 1 << 16,
  BLOCK = 256,
  REPEATS = 100,
  ROWS = 40,
  COLUMNS = 64, /* of the tensor, in words */
  BOX_ROWS = 8,
  BOX_COLUMNS = 16,
  TILE_LDS = 65536 + 1024,
  NO_CARD = 77
};

static ws_arena *arena;
static ws_device *device;
static ws_diag diag;
static int failures;

static void say(bool right, const char *what, const char *detail) {
  printf("%-6s %s%s%s\n", right ? "ok" : "WRONG", what, detail[0] ? ": " : "",
         detail);
  failures += !right;
}

static bool done(ws_status status, const char *what) {
  if (status != WS_OK)
    say(false, what, diag.text);
  return status == WS_OK;
}

static ws_device_module *load(const char *path) {
  char *code;
  size_t bytes;
  ws_device_module *module = NULL;
  double begin = ws_clock_ms();
  if (!done(ws_file_read(arena, path, &code, &bytes, &diag), path) ||
      !done(ws_device_load(device, code, bytes, &module, &diag), path))
    return NULL;
  say(true, "load",
      ws_arena_printf(arena, "%s, %.2f ms", path, ws_clock_ms() - begin));
  return module;
}

static void *allocate(size_t bytes) {
  void *memory = NULL;
  done(ws_device_allocate(device, bytes, &memory, &diag), "allocate");
  return memory;
}

typedef struct fill_arguments {
  void *c;
  int32_t n;
} fill_arguments;

static ws_device_launch fill_launch(const fill_arguments *arguments) {
  static const uint32_t offsets[] = {0, 8};
  return (ws_device_launch){.kernel = "fill",
                            .grid = {COUNT / BLOCK, 1, 1},
                            .block = {BLOCK, 1, 1},
                            .kernarg = arguments,
                            .kernarg_bytes = 12,
                            .argument_offsets = offsets,
                            .argument_count = 2};
}

static void show_info(void) {
  const ws_device_info *info = ws_device_info_of(device);
  printf("       %s, %s, %d multiprocessors, %.1f GB, L2 %.1f MB\n", info->name,
         info->arch, info->cu_count, (double)info->memory_bytes / 1e9,
         (double)info->cache_bytes / (1 << 20));
  printf("       driver %s, %s, lock %s\n", info->driver, info->library,
         info->lock);
  printf("       %s; at most %d MHz, memory %d MHz; graphs %d\n",
         info->provenance, info->clock_mhz, info->memory_clock_mhz,
         info->graphs);
}

static void show_clocks(const char *when) {
  double begin = ws_clock_ms();
  ws_device_clocks now = ws_device_read_clocks(device);
  double took = ws_clock_ms() - begin;
  printf("       clocks %s: %d MHz, memory %d MHz, %d C, %.1f W, throttled by "
         "'%s' (read in %.3f ms)\n",
         when, now.mhz, now.memory_mhz, now.celsius, now.watts, now.throttle,
         took);
}

/* ---- fill, plainly and as a graph ---- */

static bool is_filled(const uint32_t *words) {
  for (uint32_t i = 0; i < COUNT; i++)
    if (words[i] != 3 * i + 1)
      return false;
  return true;
}

static void check_fill(void *c, const char *what) {
  uint32_t *words = ws_arena_alloc(arena, COUNT * sizeof *words);
  if (done(ws_device_download(device, words, c, COUNT * sizeof *words, &diag),
           what))
    say(is_filled(words), what, "");
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Starts the graph, or the launch where there is none, between two events. */
static ws_status time_once(ws_device_module *module,
                           const ws_device_launch *launch,
                           ws_device_graph *graph, ws_device_event **events,
                           double *out_us) {
  WS_TRY(ws_device_event_record(device, events[0], &diag));
  if (graph)
    WS_TRY(ws_device_graph_start(device, graph, &diag));
  else if (launch)
    WS_TRY(ws_device_start(device, module, launch, &diag));
  WS_TRY(ws_device_event_record(device, events[1], &diag));
  return ws_device_event_elapsed(device, events[0], events[1], out_us, &diag);
}

static void time_many(ws_device_module *module, const ws_device_launch *launch,
                      ws_device_graph *graph, const char *what) {
  ws_device_event *events[2] = {NULL, NULL};
  double us[REPEATS];
  for (int i = 0; i < 2; i++)
    if (!done(ws_device_event_create(device, &events[i], &diag), "event"))
      return;
  for (int i = 0; i < REPEATS; i++)
    if (!done(time_once(module, launch, graph, events, &us[i]), what))
      return;
  qsort(us, REPEATS, sizeof *us, compare_doubles);
  say(us[0] >= 0, what,
      ws_arena_printf(arena, "%d times, %.2f us at the median, %.2f to %.2f",
                      REPEATS, us[REPEATS / 2], us[0], us[REPEATS - 1]));
  for (int i = 0; i < 2; i++)
    ws_device_event_destroy(device, events[i]);
}

static ws_device_graph *record(ws_device_module *module,
                               const ws_device_launch *launch, int launches,
                               void *poisoned) {
  ws_device_graph *graph = NULL;
  if (!done(ws_device_graph_begin(device, &diag), "graph"))
    return NULL;
  ws_status status = WS_OK;
  if (poisoned)
    status = ws_device_fill(device, poisoned, 0xff, 4 * COUNT, &diag);
  for (int i = 0; i < launches && status == WS_OK; i++)
    status = ws_device_start(device, module, launch, &diag);
  done(status, "recording");
  return done(ws_device_graph_end(device, &graph, &diag), "graph") ? graph
                                                                   : NULL;
}

static void probe_graphs(ws_device_module *module,
                         const ws_device_launch *launch, void *c) {
  ws_device_graph *one = record(module, launch, 1, NULL);
  ws_device_graph *several = record(module, launch, 3, c);
  if (!one || !several)
    return;
  if (done(ws_device_fill(device, c, 0xff, 4 * COUNT, &diag), "fill") &&
      done(ws_device_graph_start(device, several, &diag), "graph"))
    check_fill(c, "results of a graph of a fill and three launches");
  time_many(module, NULL, one, "a graph of one launch");
  time_many(module, NULL, several, "a graph of a fill and three launches");
  ws_device_graph_destroy(device, one);
  ws_device_graph_destroy(device, several);
}

static void probe_fill(const char *path) {
  ws_device_module *module = load(path);
  void *c = allocate(4 * COUNT);
  if (!module || !c)
    return;
  fill_arguments arguments = {c, COUNT};
  ws_device_launch launch = fill_launch(&arguments);
  ws_device_kernel facts;
  if (done(ws_device_kernel_of(device, module, "fill", &facts, &diag), "facts"))
    say(facts.registers > 0, "kernel_of",
        ws_arena_printf(arena, "%d registers, %d local, %d shared",
                        facts.registers, facts.local_bytes, facts.lds_bytes));
  if (done(ws_device_fill(device, c, 0xff, 4 * COUNT, &diag), "fill") &&
      done(ws_device_start(device, module, &launch, &diag), "launch"))
    check_fill(c, "results of a launch");
  time_many(module, NULL, NULL, "nothing between two events");
  time_many(module, &launch, NULL, "a launch");
  probe_graphs(module, &launch, c);
  ws_device_free(device, c);
  ws_device_unload(device, module);
}

/* ---- a tensor map as an argument ---- */

typedef struct tile_arguments {
  unsigned char map[WS_TENSOR_MAP_BYTES];
  void *out;
  uint32_t x, y;
} tile_arguments;

/* Rows that lie behind the tensor are zero. */
static bool is_tile(const uint32_t *got, uint32_t x, uint32_t y) {
  for (uint32_t r = 0; r < BOX_ROWS; r++)
    for (uint32_t c = 0; c < BOX_COLUMNS; c++)
      if (got[r * BOX_COLUMNS + c] !=
          (y + r < ROWS ? 1000 * (y + r) + x + c : 0))
        return false;
  return true;
}

static void copy_tile(ws_device_module *module, tile_arguments *arguments,
                      uint32_t x, uint32_t y, const char *what) {
  uint32_t got[BOX_ROWS * BOX_COLUMNS];
  arguments->x = x;
  arguments->y = y;
  static const uint32_t offsets[] = {0, 128, 136, 140};
  ws_device_launch launch = {.kernel = "tile",
                             .grid = {1, 1, 1},
                             .block = {BOX_ROWS * BOX_COLUMNS, 1, 1},
                             .dynamic_lds = TILE_LDS,
                             .kernarg = arguments,
                             .kernarg_bytes = sizeof *arguments,
                             .argument_offsets = offsets,
                             .argument_count = 4};
  if (done(ws_device_start(device, module, &launch, &diag), what) &&
      done(ws_device_download(device, got, arguments->out, sizeof got, &diag),
           what))
    say(is_tile(got, x, y), what, "");
}

static void probe_tile(const char *path) {
  ws_device_module *module = load(path);
  static uint32_t words[ROWS][COLUMNS];
  for (uint32_t r = 0; r < ROWS; r++)
    for (uint32_t c = 0; c < COLUMNS; c++)
      words[r][c] = 1000 * r + c;
  void *tensor = allocate(sizeof words);
  tile_arguments arguments = {.out = allocate(4 * BOX_ROWS * BOX_COLUMNS)};
  ws_device_tensor shape = {.address = tensor,
                            .element_bytes = 4,
                            .inner = COLUMNS,
                            .outer = ROWS,
                            .box_inner = BOX_COLUMNS,
                            .box_outer = BOX_ROWS};
  if (!module || !tensor || !arguments.out ||
      !done(ws_device_upload(device, tensor, words, sizeof words, &diag),
            "upload") ||
      !done(ws_device_tensor_map(device, &shape, arguments.map, &diag),
            "tensor map"))
    return;
  copy_tile(module, &arguments, 16, 24, "a tile through a tensor map");
  copy_tile(module, &arguments, 32, 36, "a tile at the tensor's end");
  shape.swizzle = 32;
  ws_status status = ws_device_tensor_map(device, &shape, arguments.map, &diag);
  say(status == WS_INPUT, "a tensor map against the rules", diag.text);
  ws_device_free(device, tensor);
  ws_device_free(device, arguments.out);
  ws_device_unload(device, module);
}

/* ---- what must fail ---- */

static void refuse(ws_status status, const char *part, const char *what) {
  say(status == WS_INPUT && strstr(diag.text, part), what,
      status == WS_OK ? "was accepted" : diag.text);
}

static void probe_refusals(void) {
  static const struct {
    const char *text, *part, *what;
  } codes[] = {
      {".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f()\n"
       "{ nonsense; }\n",
       "INVALID_PTX", "PTX with an error"},
      {".version 99.0\n.target sm_75\n.address_size 64\n", "PTX",
       "PTX of a version to come"},
      {"\x7f"
       "ELF but no cubin; padded to be long enough to be looked into, "
       "so that the driver does not read behind the end of it, we hope.......",
       "", "an ELF that is no cubin"},
      {"", "", "nothing"}};
  for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
    ws_device_module *module = NULL;
    refuse(ws_device_load(device, codes[i].text, strlen(codes[i].text), &module,
                          &diag),
           codes[i].part, codes[i].what);
    ws_device_unload(device, module);
  }
}

static void probe_bad_launches(const char *path) {
  ws_device_module *module = load(path);
  void *c = allocate(4 * COUNT);
  if (!module || !c)
    return;
  fill_arguments arguments = {c, COUNT};
  ws_device_launch launch = fill_launch(&arguments);
  launch.block[0] = 2048;
  refuse(ws_device_start(device, module, &launch, &diag), "fill",
         "a launch of 2048 threads");
  launch.block[0] = BLOCK;
  launch.dynamic_lds = 300000;
  refuse(ws_device_start(device, module, &launch, &diag), "300000",
         "a launch with 300000 bytes of shared memory");
  launch.dynamic_lds = 0;
  launch.kernel = "other";
  refuse(ws_device_start(device, module, &launch, &diag), "NOT_FOUND",
         "a kernel that is not there");
  ws_device_free(device, c);
  ws_device_unload(device, module);
}

/* In a process of its own, which is of no use afterwards. */
static void probe_fault(const char *path) {
  ws_device_module *module = load(path);
  if (!module)
    return;
  fill_arguments arguments = {(void *)(uintptr_t)4096, COUNT};
  ws_device_launch launch = fill_launch(&arguments);
  void *memory;
  if (done(ws_device_start(device, module, &launch, &diag), "launch"))
    refuse(ws_device_synchronise(device, &diag), "ILLEGAL_ADDRESS",
           "a write to address 4096");
  double begin = ws_clock_ms();
  refuse(ws_device_allocate(device, 16, &memory, &diag), "ILLEGAL_ADDRESS",
         "the call after it");
  ws_device_unload(device, module);
  say(ws_clock_ms() - begin < 1, "calls after a fault return at once", "");
}

static void run_fault(const char *path) {
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "probe_cuda", "--fault", path, (char *)NULL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  say(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the faulting process",
      "");
}

static bool open_device(void) {
  const char *kind = getenv("WS_PROBE_DEVICE");
  ws_status status =
      ws_device_open(kind ? kind : "cuda", WS_DEVICE_TIME, &device, &diag);
  if (status != WS_OK)
    printf("# skipped: no card: %s\n", diag.text);
  return status == WS_OK;
}

int main(int argc, char **argv) {
  bool fault = argc == 3 && !strcmp(argv[1], "--fault");
  const char *fill = argc > 1 ? argv[1] : WS_PROBE_FOLDER "/fill.ptx";
  const char *tile = argc > 2 ? argv[2] : WS_PROBE_FOLDER "/tile.ptx";
  arena = ws_arena_create();
  if (!open_device()) {
    ws_arena_destroy(arena);
    return NO_CARD;
  }
  if (fault) {
    probe_fault(argv[2]);
  } else {
    show_info();
    show_clocks("at first");
    probe_fill(fill);
    probe_tile(tile);
    show_clocks("after work");
    probe_refusals();
    probe_bad_launches(fill);
    run_fault(fill);
  }
  ws_device_close(device);
  ws_arena_destroy(arena);
  return failures ? 1 : 0;
}
