/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kind "hip" against mock_hip.c, in this process: cards by number, graphs
 * where the library has them and where not, and what the kernel's driver says
 * in a /sys of the test's own making.
 */
#include "wavesmith/device.h"
#include "ws_test.h"

static ws_arena *arena;
static ws_device *device;
static ws_diag diag;

static ws_status try_open(const char *kind, const char *library) {
  setenv("WAVESMITH_HIP_LIBRARY", library, 1);
  arena = ws_arena_create();
  return ws_device_open(kind, WS_DEVICE_RUN, &device, &diag);
}

static void need(ws_status status) {
  if (status != WS_OK)
    WS_FAIL("%s", diag.text);
}

static void end(void) {
  ws_device_close(device);
  ws_arena_destroy(arena);
}

WS_TEST(cards_by_number) {
  setenv("MOCK_DEVICES", "2", 1);
  setenv("MOCK_DEVICE", "1", 1);
  need(try_open("hip:1", WS_MOCK_HIP));
  const ws_device_info *info = ws_device_info_of(device);
  WS_CHECK_TEXT(info->kind, "hip");
  WS_CHECK_TEXT(info->lock, "0001:c6:00.0");
  WS_CHECK_INT(info->clock_mhz, 2100);
  WS_CHECK_INT(info->memory_clock_mhz, 1300);
  void *memory;
  need(ws_device_allocate(device, 16, &memory, &diag));
  ws_device_free(device, memory);
  end();
  WS_CHECK_INT(try_open("hip:2", WS_MOCK_HIP), WS_ENVIRONMENT);
  WS_CHECK_TEXT(diag.text, "there is no hip:2; the last one visible is hip:1");
  end();
}

WS_TEST(a_simulator_has_nothing_to_lock) {
  setenv("WAVESMITH_SIM_LIBRARY", WS_MOCK_HIP_GRAPHS, 1);
  need(try_open("sim", ""));
  WS_CHECK_TEXT(ws_device_info_of(device)->lock, "");
  WS_CHECK_TEXT(ws_device_info_of(device)->driver, "");
  WS_CHECK(!ws_device_info_of(device)->graphs);
  end();
}

WS_TEST(a_library_without_graphs) {
  unsigned char map[WS_TENSOR_MAP_BYTES];
  ws_device_graph *graph = (ws_device_graph *)&graph;
  ws_device_kernel facts;
  need(try_open("hip", WS_MOCK_HIP));
  WS_CHECK(!ws_device_info_of(device)->graphs);
  WS_CHECK_INT(ws_device_graph_begin(device, &diag), WS_INPUT);
  WS_CHECK_TEXT(diag.text, "device hip (Mock) has no graphs");
  WS_CHECK_INT(ws_device_graph_end(device, &graph, &diag), WS_INPUT);
  WS_CHECK(!graph);
  WS_CHECK_INT(ws_device_graph_start(device, NULL, &diag), WS_INPUT);
  ws_device_graph_destroy(device, NULL);
  WS_CHECK_INT(ws_device_tensor_map(device, NULL, map, &diag), WS_INPUT);
  WS_CHECK_TEXT(diag.text, "device hip (Mock) has no tensor maps");
  need(ws_device_kernel_of(device, NULL, "gemm_ok", &facts, &diag));
  WS_CHECK_INT(facts.registers, -1);
  WS_CHECK_INT(facts.local_bytes, -1);
  WS_CHECK_INT(facts.lds_bytes, -1);
  end();
}

/* ---- graphs: 1 x 1 x 128, all ones, so that the sum is 128 ---- */

enum { K = 128, BF16_128 = 0x4300, FP8_ONE = 0x40 /* FNUZ: bias 8 */ };

typedef struct problem {
  uint8_t a[K], b[K];
  float as[1], bs[1];
  uint16_t c[1];
} problem;

typedef struct arguments {
  uint8_t *a, *b;
  float *as, *bs;
  uint16_t *c;
  int32_t m, n, k;
} arguments;

static problem *make_problem(void) {
  problem ones = {.as = {1}, .bs = {1}};
  void *memory;
  memset(ones.a, FP8_ONE, K);
  memset(ones.b, FP8_ONE, K);
  need(ws_device_allocate(device, sizeof ones, &memory, &diag));
  need(ws_device_upload(device, memory, &ones, sizeof ones, &diag));
  return memory;
}

static int result_of(problem *on_device) {
  uint16_t c;
  need(ws_device_download(device, &c, on_device->c, sizeof c, &diag));
  return c;
}

/* A fill of the output, then two launches. */
static ws_device_graph *record(ws_device_module *module, problem *of) {
  arguments packed = {of->a, of->b, of->as, of->bs, of->c, 1, 1, K};
  ws_device_launch launch = {.kernel = "gemm_ok",
                             .grid = {1, 1, 1},
                             .block = {64, 1, 1},
                             .kernarg = &packed,
                             .kernarg_bytes = sizeof packed};
  ws_device_graph *graph, *none;
  need(ws_device_graph_begin(device, &diag));
  WS_CHECK_INT(ws_device_graph_begin(device, &diag), WS_USAGE);
  need(ws_device_fill(device, of->c, 0xff, 2, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_graph_end(device, &graph, &diag));
  WS_CHECK_INT(ws_device_graph_end(device, &none, &diag), WS_USAGE);
  return graph;
}

WS_TEST(graphs_run_when_they_are_started) {
  need(try_open("hip", WS_MOCK_HIP_GRAPHS));
  WS_CHECK(ws_device_info_of(device)->graphs);
  ws_device_module *module;
  ws_device_event *begin, *finish;
  ws_device_graph *graph;
  double us = 0;
  problem *p = make_problem();
  WS_CHECK_INT(ws_device_graph_end(device, &graph, &diag), WS_USAGE);
  need(ws_device_load(device, "code object", 12, &module, &diag));
  need(ws_device_event_create(device, &begin, &diag));
  need(ws_device_event_create(device, &finish, &diag));
  graph = record(module, p);
  WS_CHECK_INT(result_of(p), 0); /* neither filled nor computed */
  need(ws_device_event_record(device, begin, &diag));
  need(ws_device_graph_start(device, graph, &diag));
  need(ws_device_event_record(device, finish, &diag));
  need(ws_device_event_elapsed(device, begin, finish, &us, &diag));
  WS_CHECK_INT(result_of(p), BF16_128);
  WS_CHECK_NEAR(us, 200.1, 0.02); /* the mock's first two: 100 and 100.1 */
  ws_device_graph_destroy(device, graph);
  ws_device_event_destroy(device, begin);
  ws_device_event_destroy(device, finish);
  ws_device_unload(device, module);
  ws_device_free(device, p);
  end();
}

/* ---- what /sys says ---- */

static const struct {
  const char *path, *text;
} files[] = {
    {"module/amdgpu/version", "6.12.12\n"},
    {"bus/pci/devices/0001:c5:00.0/hwmon/hwmon3/freq1_input", "2104000000\n"},
    {"bus/pci/devices/0001:c5:00.0/hwmon/hwmon3/freq2_input", "1300000000\n"},
    {"bus/pci/devices/0001:c5:00.0/hwmon/hwmon3/temp2_input", "61500\n"},
    {"bus/pci/devices/0001:c5:00.0/hwmon/hwmon3/power1_input", "748000000\n"},
};

/* And the folders that are empty then, the outermost too. */
static void remove_file(const char *folder, const char *name) {
  char *path = ws_arena_printf(arena, "%s/%s", folder, name);
  unlink(path);
  for (char *end;
       strlen(path) > strlen(folder) && (end = strrchr(path, '/'));) {
    *end = 0;
    rmdir(path);
  }
}

WS_TEST(clocks_of_the_kernels_driver) {
  char folder[] = "/tmp/ws-sysfs-XXXXXX";
  WS_CHECK(mkdtemp(folder) != NULL);
  arena = ws_arena_create();
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char *path = ws_arena_printf(arena, "%s/%s", folder, files[i].path);
    char *slash = strrchr(path, '/');
    *slash = 0;
    need(ws_make_directories(path, &diag));
    *slash = '/';
    need(ws_file_write_atomic(path, files[i].text, strlen(files[i].text),
                              &diag));
  }
  ws_arena_destroy(arena);
  setenv("WAVESMITH_SYSFS", folder, 1);
  need(try_open("hip", WS_MOCK_HIP));
  WS_CHECK_TEXT(ws_device_info_of(device)->driver, "6.12.12");
  ws_device_clocks clocks = ws_device_read_clocks(device);
  WS_CHECK_INT(clocks.mhz, 2104);
  WS_CHECK_INT(clocks.memory_mhz, 1300);
  WS_CHECK_INT(clocks.celsius, 61);
  WS_CHECK_NEAR(clocks.watts, 748, 1e-9);
  WS_CHECK_TEXT(clocks.throttle, "");
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    remove_file(folder, files[i].path);
  clocks = ws_device_read_clocks(device);
  WS_CHECK_INT(clocks.mhz, 0);
  WS_CHECK_NEAR(clocks.watts, 0, 0);
  end();
}

WS_TEST(clocks_without_a_driver) {
  setenv("WAVESMITH_SYSFS", "/nowhere", 1);
  need(try_open("hip", WS_MOCK_HIP));
  WS_CHECK_TEXT(ws_device_info_of(device)->driver, "");
  WS_CHECK_INT(ws_device_read_clocks(device).mhz, 0);
  WS_CHECK_TEXT(ws_device_read_clocks(device).throttle, "");
  end();
}
