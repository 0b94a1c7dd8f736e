/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kind "cuda" against a driver that records what it is asked and runs
 * nothing (mock_cuda.c): launches, their faults, graphs, tensor maps.
 */
#include "cuda_test.h"

/* ---- launches ---- */

typedef struct arguments {
  void *c;
  int32_t n;
} arguments;

static ws_device_launch make_launch(const char *kernel, const void *kernarg,
                                    size_t bytes) {
  static const uint32_t fill[] = {0, 8}, tile[] = {0, 128, 136};
  bool is_tile = !strcmp(kernel, "tile");
  return (ws_device_launch){.kernel = kernel,
                            .grid = {132, 2, 3},
                            .block = {384, 4, 5},
                            .kernarg = kernarg,
                            .kernarg_bytes = bytes,
                            .argument_offsets = is_tile ? tile : fill,
                            .argument_count = bytes == 0 ? 0
                                              : is_tile  ? 3
                                                         : 2};
}

WS_TEST(launches_pass_arguments_as_they_are) {
  open_with_module();
  arguments packed = {(void *)0x1122334455667788, 0x01020304};
  ws_device_launch launch = make_launch("fill", &packed, 12);
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  launch = make_launch("bare", NULL, 0);
  need(ws_device_start(device, module, &launch, &diag));
  WS_CHECK_TEXT(
      recorded(),
      "cuModuleGetFunction m1 fill\n"
      "cuFuncGetAttribute fill 8\n"
      "cuLaunchKernel fill 132,2,3 384,4,5 0 s1 12:887766554433221104030201\n"
      "cuLaunchKernel fill 132,2,3 384,4,5 0 s1 12:887766554433221104030201\n"
      "cuModuleGetFunction m1 bare\n"
      "cuFuncGetAttribute bare 8\n"
      "cuLaunchKernel bare 132,2,3 384,4,5 0 s1 0:\n");
  close_mock();
}

/* The mock says when the buffer is no place for a tensor map. */
WS_TEST(arguments_are_aligned_for_tensor_maps) {
  open_with_module();
  _Alignas(64) unsigned char buffer[64 + 140] = {0};
  ws_device_launch launch = make_launch("tile", buffer + 1, 140);
  need(ws_device_start(device, module, &launch, &diag));
  WS_CHECK_CONTAINS(recorded(), " 140:0000");
  WS_CHECK(!strstr(recorded(), "misaligned"));
  close_mock();
}

WS_TEST(arguments_have_a_limit) {
  open_with_module();
  char *many = calloc(1, 32765);
  ws_device_launch launch = make_launch("fill", many, 32764);
  need(ws_device_start(device, module, &launch, &diag));
  launch.kernarg_bytes = 32765;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "fill: 32765 bytes of arguments; at most 32764 are possible");
  free(many);
  close_mock();
}

/* The mock's kernels have 1 KB of their own, so 47 KB need no asking. */
WS_TEST(shared_memory_is_asked_for_once) {
  static const uint32_t wanted[] = {47 << 10, (47 << 10) + 1, 200000, 100000};
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  for (int i = 0; i < 4; i++) {
    launch.dynamic_lds = wanted[i];
    need(ws_device_start(device, module, &launch, &diag));
  }
  WS_CHECK_TEXT(recorded(), "cuModuleGetFunction m1 gemm\n"
                            "cuFuncGetAttribute gemm 8\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 48128 s1 0:\n"
                            "cuDeviceGetAttribute 97 200\n"
                            "cuFuncSetAttribute gemm 8 48129\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 48129 s1 0:\n"
                            "cuDeviceGetAttribute 97 200\n"
                            "cuFuncSetAttribute gemm 8 200000\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 200000 s1 0:\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 100000 s1 0:"
                            "\n");
  launch.dynamic_lds = 232449;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "gemm: wants 232449 bytes of dynamic shared memory; the card "
                "gives a workgroup 232448 at most");
  launch.dynamic_lds = 0xffffffff;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "4294967295 bytes");
  launch.dynamic_lds = 232000; /* with the 1 KB it is too much */
  fail_with("cuFuncSetAttribute=1");
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "gemm: CUDA_ERROR_INVALID_VALUE");
  close_mock();
}

WS_TEST(more_kernels_than_are_kept) {
  char name[16];
  open_with_module();
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 20; i++) {
      snprintf(name, sizeof name, "k%d", i);
      ws_device_launch launch = make_launch(name, NULL, 0);
      clear();
      need(ws_device_start(device, module, &launch, &diag));
      WS_CHECK_CONTAINS(recorded(), "cuLaunchKernel ");
      WS_CHECK_CONTAINS(recorded(), name);
      WS_CHECK(!strstr(recorded(), "GetFunction") == (round && i < 15));
    }
  close_mock();
}

WS_TEST(kernels_that_are_not_there) {
  char name[200];
  open_with_module();
  ws_device_launch launch = make_launch("absent", NULL, 0);
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "absent: CUDA_ERROR_NOT_FOUND: the code has no such kernel");
  memset(name, 'k', sizeof name);
  name[199] = 0;
  launch.kernel = name;
  check_failure(ws_device_start(device, module, &launch, &diag), WS_INPUT,
                "a kernel's name has at most 127 bytes");
  close_mock();
}

WS_TEST(kernel_facts) {
  open_with_module();
  ws_device_kernel facts;
  need(ws_device_kernel_of(device, module, "gemm", &facts, &diag));
  WS_CHECK_INT(facts.registers, 168);
  WS_CHECK_INT(facts.local_bytes, 24);
  WS_CHECK_INT(facts.lds_bytes, 1024);
  check_failure(ws_device_kernel_of(device, module, "absent", &facts, &diag),
                WS_INPUT, "absent: CUDA_ERROR_NOT_FOUND");
  WS_CHECK_INT(facts.registers, -1);
  close_mock();
}

WS_TEST(launches_that_are_refused) {
  static const struct {
    const char *failure;
    ws_status status;
    const char *text;
  } cases[] = {
      {"cuLaunchKernel=1", WS_INPUT,
       "gemm (grid 132,2,3 of 384,4,5 threads, 0 bytes of shared memory, 0 of "
       "arguments): CUDA_ERROR_INVALID_VALUE: "},
      {"cuLaunchKernel=701", WS_INPUT, "more registers or threads"},
      {"cuLaunchKernel=720", WS_INPUT, "larger than the card holds at once"},
      {"cuLaunchKernel=912", WS_INPUT, "takes no such cluster"},
      {"cuLaunchKernel=2", WS_ENVIRONMENT, "memory is used up"},
      {"cuLaunchKernel=801", WS_ENVIRONMENT, "cannot do that"},
      {"cuLaunchKernel=999", WS_ENVIRONMENT, "CUDA_ERROR_UNKNOWN (999)"},
  };
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fail_with(cases[i].failure);
    check_failure(ws_device_start(device, module, &launch, &diag),
                  cases[i].status, cases[i].text);
  }
  unsetenv("MOCK_CUDA_FAIL"); /* none of them sticks */
  need(ws_device_start(device, module, &launch, &diag));
  close_mock();
}

/* ---- faults ---- */

static const struct fault {
  const char *failure;
  ws_status status;
  const char *text;
} faults[] = {
    {"cuStreamSynchronize=700", WS_INPUT,
     "gemm: CUDA_ERROR_ILLEGAL_ADDRESS: touched memory that is not its own"},
    {"cuStreamSynchronize=702", WS_INPUT, "gemm: CUDA_ERROR_LAUNCH_TIMEOUT: "},
    {"cuStreamSynchronize=710", WS_INPUT, "gemm: CUDA_ERROR_ASSERT: "},
    {"cuStreamSynchronize=714", WS_INPUT, "gemm: CUDA_ERROR_HARDWARE_STACK"},
    {"cuStreamSynchronize=715", WS_INPUT, "gemm: CUDA_ERROR_ILLEGAL_INSTR"},
    {"cuStreamSynchronize=716", WS_INPUT, "gemm: CUDA_ERROR_MISALIGNED_ADD"},
    {"cuStreamSynchronize=717", WS_INPUT, "gemm: CUDA_ERROR_INVALID_ADDRESS"},
    {"cuStreamSynchronize=718", WS_INPUT, "gemm: CUDA_ERROR_INVALID_PC: "},
    {"cuStreamSynchronize=719", WS_INPUT, "gemm: CUDA_ERROR_LAUNCH_FAILED: "},
    {"cuStreamSynchronize=214", WS_ENVIRONMENT,
     "waiting for the card: CUDA_ERROR_ECC_UNCORRECTABLE: "},
    {"cuStreamSynchronize=220", WS_ENVIRONMENT, "NVLINK_UNCORRECTABLE"},
    {"cuStreamSynchronize=226", WS_ENVIRONMENT, "CONTAINED"},
    {"cuStreamSynchronize=709", WS_ENVIRONMENT, "CONTEXT_IS_DESTROYED"},
};

/* After a fault every call says the same again, without asking the driver, and
 * what is freed is freed here. */
static void check_fault(const struct fault *fault) {
  open_with_module();
  void *memory, *more;
  ws_device_event *events[2], *another;
  ws_device_graph *graph;
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  ws_device_kernel facts;
  double us;
  need(ws_device_allocate(device, 16, &memory, &diag));
  need(ws_device_event_create(device, &events[0], &diag));
  need(ws_device_event_create(device, &events[1], &diag));
  need(ws_device_graph_begin(device, &diag));
  need(ws_device_graph_end(device, &graph, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  fail_with(fault->failure);
  check_failure(ws_device_synchronise(device, &diag), fault->status,
                fault->text);
  clear();
  const ws_status later[] = {
      ws_device_allocate(device, 16, &more, &diag),
      ws_device_upload(device, memory, "", 1, &diag),
      ws_device_download(device, &us, memory, 8, &diag),
      ws_device_fill(device, memory, 0, 16, &diag),
      ws_device_load(device, ptx, sizeof ptx, (void *)&more, &diag),
      ws_device_start(device, module, &launch, &diag),
      ws_device_kernel_of(device, module, "gemm", &facts, &diag),
      ws_device_kernel_of(device, module, "other", &facts, &diag),
      ws_device_graph_start(device, graph, &diag),
      ws_device_graph_begin(device, &diag),
      ws_device_event_create(device, &another, &diag),
      ws_device_event_record(device, events[0], &diag),
      ws_device_event_elapsed(device, events[0], events[1], &us, &diag),
      ws_device_synchronise(device, &diag)};
  for (size_t i = 0; i < sizeof later / sizeof later[0]; i++)
    if (later[i] != fault->status)
      WS_FAIL("call %zu: %d", i, later[i]);
  WS_CHECK_CONTAINS(diag.text, fault->text);
  ws_device_free(device, memory);
  ws_device_event_destroy(device, events[0]);
  ws_device_graph_destroy(device, graph);
  ws_device_unload(device, module);
  WS_CHECK_TEXT(recorded(), "");
  ws_device_close(device); /* the context is given back, and all with it */
  WS_CHECK_CONTAINS(recorded(), "cuDevicePrimaryCtxRelease_v2 200\n");
  WS_CHECK_INT(live(), 0);
  ws_arena_destroy(arena);
}

/* A process each: as on a card, there is no way back. */
#define FAULT_TEST(index)                                                      \
  WS_TEST(fault_##index) { check_fault(&faults[index]); }
FAULT_TEST(0)
FAULT_TEST(1)
FAULT_TEST(2)
FAULT_TEST(3)
FAULT_TEST(4)
FAULT_TEST(5)
FAULT_TEST(6)
FAULT_TEST(7)
FAULT_TEST(8)
FAULT_TEST(9)
FAULT_TEST(10)
FAULT_TEST(11)
FAULT_TEST(12)

WS_TEST(a_fault_is_seen_by_any_call) {
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  need(ws_device_start(device, module, &launch, &diag));
  fail_with("cuMemsetD8Async=700");
  void *memory;
  need(ws_device_allocate(device, 16, &memory, &diag));
  check_failure(ws_device_fill(device, memory, 0, 16, &diag), WS_INPUT,
                "gemm: CUDA_ERROR_ILLEGAL_ADDRESS: ");
  close_mock();
}

/* ---- graphs and events ---- */

WS_TEST(graphs_are_recorded_once) {
  open_with_module();
  ws_device_launch launch = make_launch("gemm", NULL, 0);
  ws_device_graph *graph;
  ws_device_event *begin, *end;
  void *memory;
  double us = 0;
  need(ws_device_event_create(device, &begin, &diag));
  need(ws_device_event_create(device, &end, &diag));
  need(ws_device_allocate(device, 64, &memory, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  clear();
  need(ws_device_graph_begin(device, &diag));
  need(ws_device_fill(device, memory, 255, 64, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_start(device, module, &launch, &diag));
  need(ws_device_graph_end(device, &graph, &diag));
  need(ws_device_event_record(device, begin, &diag));
  need(ws_device_graph_start(device, graph, &diag));
  need(ws_device_event_record(device, end, &diag));
  need(ws_device_event_elapsed(device, begin, end, &us, &diag));
  WS_CHECK_NEAR(us, 200, 0.01); /* two launches of the mock's 100 us */
  ws_device_graph_destroy(device, graph);
  WS_CHECK_TEXT(recorded(), "cuStreamBeginCapture_v2 s1 2\n"
                            "cuMemsetD8Async 255 64 s1\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 0 s1 0:\n"
                            "cuLaunchKernel gemm 132,2,3 384,4,5 0 s1 0:\n"
                            "cuStreamEndCapture s1\n"
                            "cuGraphInstantiateWithFlags g1 0\n"
                            "cuGraphDestroy g1\n"
                            "cuEventRecord e1 s1\n"
                            "cuGraphLaunch x1 s1\n"
                            "cuEventRecord e2 s1\n"
                            "cuEventSynchronize e2\n"
                            "cuEventElapsedTime e1 e2\n"
                            "cuGraphExecDestroy x1\n");
  ws_device_event_destroy(device, begin);
  ws_device_event_destroy(device, end);
  ws_device_free(device, memory);
  close_mock();
}

WS_TEST(graphs_that_fail) {
  open_with_module();
  ws_device_graph *graph;
  check_failure(ws_device_graph_end(device, &graph, &diag), WS_USAGE,
                "no graph is being recorded");
  fail_with("cuStreamBeginCapture_v2=801");
  check_failure(ws_device_graph_begin(device, &diag), WS_ENVIRONMENT,
                "cuStreamBeginCapture: CUDA_ERROR_NOT_SUPPORTED");
  fail_with("cuStreamEndCapture=901");
  need(ws_device_graph_begin(device, &diag));
  check_failure(ws_device_graph_begin(device, &diag), WS_USAGE,
                "a graph is being recorded");
  check_failure(ws_device_graph_end(device, &graph, &diag), WS_ENVIRONMENT,
                "cuStreamEndCapture: ");
  fail_with("cuGraphInstantiateWithFlags=2");
  need(ws_device_graph_begin(device, &diag));
  check_failure(ws_device_graph_end(device, &graph, &diag), WS_ENVIRONMENT,
                "cuGraphInstantiate: CUDA_ERROR_OUT_OF_MEMORY");
  WS_CHECK(!graph);
  unsetenv("MOCK_CUDA_FAIL");
  need(ws_device_graph_begin(device, &diag));
  clear();
  close_mock();
  WS_CHECK_TEXT(recorded(), "cuModuleUnload m1\n"
                            "cuStreamEndCapture s1\n"
                            "cuGraphDestroy g2\n"
                            "cuStreamDestroy_v2 s1\n"
                            "cuCtxSetCurrent none\n"
                            "cuDevicePrimaryCtxRelease_v2 200\n");
}

/* ---- tensor maps ---- */

static const struct {
  int element_bytes;
  uint64_t inner, outer;
  uint32_t box_inner, box_outer, swizzle;
  const char *call; /* data type to fill, by the documentation's numbers */
} maps[] = {
    {1, 7168, 1024, 128, 64, 128,
     "0 2 0x1000 7168,1024 7168 128,64 1,1 0 3 3 0"},
    {2, 1536, 1024, 64, 64, 128, "9 2 0x1000 1536,1024 3072 64,64 1,1 0 3 3 0"},
    {2, 1536, 1000, 32, 64, 64, "9 2 0x1000 1536,1000 3072 32,64 1,1 0 2 3 0"},
    {2, 1536, 1000, 16, 64, 32, "9 2 0x1000 1536,1000 3072 16,64 1,1 0 1 3 0"},
    {4, 1024, 56, 128, 1, 0, "7 2 0x1000 1024,56 4096 128,1 1,1 0 0 3 0"},
    {4, 1024, 56, 256, 256, 0, "7 2 0x1000 1024,56 4096 256,256 1,1 0 0 3 0"},
    /* One row needs no stride: what the driver takes for one. */
    {4, 1023, 1, 132, 1, 0, "7 2 0x1000 1023,1 4096 132,1 1,1 0 0 3 0"},
    {4, 1024, 1, 132, 1, 0, "7 2 0x1000 1024,1 4096 132,1 1,1 0 0 3 0"},
};

static ws_device_tensor tensor_of(int i) {
  return (ws_device_tensor){.address = (void *)0x1000,
                            .element_bytes = maps[i].element_bytes,
                            .inner = maps[i].inner,
                            .outer = maps[i].outer,
                            .box_inner = maps[i].box_inner,
                            .box_outer = maps[i].box_outer,
                            .swizzle = maps[i].swizzle};
}

WS_TEST(tensor_maps) {
  open_mock();
  for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
    ws_device_tensor tensor = tensor_of((int)i);
    unsigned char map[WS_TENSOR_MAP_BYTES + 1];
    char want[128];
    clear();
    /* One off: the caller's buffer need not be aligned, the driver's is. */
    need(ws_device_tensor_map(device, &tensor, map + 1, &diag));
    snprintf(want, sizeof want, "cuTensorMapEncodeTiled %s\n", maps[i].call);
    WS_CHECK_TEXT(recorded(), want);
    uint64_t words[16];
    memcpy(words, map + 1, sizeof words);
    WS_CHECK_INT(words[15], maps[i].inner + 15);
  }
  close_mock();
}

WS_TEST(tensor_maps_against_the_rules) {
  static const struct {
    ws_device_tensor tensor;
    const char *text;
  } cases[] = {
#define A (void *)0x1000
      {{A, 3, 64, 64, 16, 8, 0}, "elements have 1, 2 or 4 bytes"},
      {{A, 8, 64, 64, 16, 8, 0}, "elements have 1, 2 or 4 bytes"},
      {{A, 4, 64, 64, 16, 8, 16}, "swizzles are of 0, 32, 64 or 128 bytes"},
      {{(void *)0x1008, 4, 64, 64, 16, 8, 0}, "the address"},
      {{A, 4, 0, 64, 16, 8, 0}, "sizes are 1 to 2^32"},
      {{A, 4, 64, 0, 16, 8, 0}, "sizes are 1 to 2^32"},
      {{A, 4, 64, (1ull << 32) + 1, 16, 8, 0}, "sizes are 1 to 2^32"},
      {{A, 1, 72, 64, 16, 8, 0}, "rows have a multiple of 16 bytes"},
      {{A, 2, 12, 64, 16, 8, 0}, "rows have a multiple of 16 bytes"},
      {{A, 4, 64, 64, 0, 8, 0}, "a box is 1 to 256"},
      {{A, 4, 64, 64, 16, 257, 0}, "a box is 1 to 256"},
      {{A, 4, 64, 64, 3, 8, 0}, "a box's row has a multiple of 16 bytes"},
      {{A, 1, 256, 64, 256, 8, 128}, "no longer than the swizzle"},
      {{A, 2, 256, 64, 64, 8, 64}, "no longer than the swizzle"},
#undef A
  };
  unsigned char map[WS_TENSOR_MAP_BYTES];
  open_mock();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    check_failure(ws_device_tensor_map(device, &cases[i].tensor, map, &diag),
                  WS_INPUT, cases[i].text);
  WS_CHECK_CONTAINS(diag.text, "no tensor map of boxes 8x64 of 2 bytes in "
                               "[64][256], swizzle 64: ");
  WS_CHECK_TEXT(recorded(), "");
  ws_device_tensor tensor = tensor_of(0);
  fail_with("cuTensorMapEncodeTiled=1");
  check_failure(ws_device_tensor_map(device, &tensor, map, &diag), WS_INPUT,
                "cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE");
  close_mock();
}

WS_TEST(a_driver_without_tensor_maps) {
  arena = ws_arena_create();
  need(try_open("cuda", WS_MOCK_CUDA_11));
  ws_device_tensor tensor = tensor_of(0);
  unsigned char map[WS_TENSOR_MAP_BYTES];
  check_failure(ws_device_tensor_map(device, &tensor, map, &diag),
                WS_ENVIRONMENT, "lacks cuTensorMapEncodeTiled");
  ws_device_close(device);
  ws_arena_destroy(arena);
}
