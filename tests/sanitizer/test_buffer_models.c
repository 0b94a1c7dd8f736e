/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Memory by buffer descriptor, and loads straight into LDS, through the
 * sanitizer and, compiled, through the simulator: the same bytes, and those
 * that are written here from the CDNA3 ISA guide's rules of range and of the
 * LDS address.
 */
#include "model_fixture.h"

enum { LANES = 64, INPUT_BYTES = 2048, MOST_OUTPUT = 4096 };
static unsigned char input[INPUT_BYTES], sanitized[MOST_OUTPUT],
    simulated[MOST_OUTPUT], wanted[MOST_OUTPUT];

#define MAKE "@llvm.amdgcn.make.buffer.rsrc.p8.p1"

static const char declares[] =
    "declare ptr addrspace(8) " MAKE "(ptr addrspace(1), i16, i32, i32)\n"
    "declare void @llvm.amdgcn.s.waitcnt(i32 immarg)\n"
    "declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr "
    "addrspace(3), i32 immarg, i32 immarg, i32 immarg)\n"
    "declare void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr addrspace(8), ptr "
    "addrspace(3), i32 immarg, i32, i32, i32 immarg, i32 immarg)\n"
    "declare void @llvm.amdgcn.struct.ptr.buffer.load.lds(ptr addrspace(8), "
    "ptr addrspace(3), i32 immarg, i32, i32, i32, i32 immarg, i32 immarg)\n"
    "declare i32 @llvm.amdgcn.struct.ptr.buffer.load.i32(ptr addrspace(8), "
    "i32, i32, i32, i32 immarg)\n"
    "declare void @llvm.amdgcn.struct.ptr.buffer.store.i32(i32, ptr "
    "addrspace(8), i32, i32, i32, i32 immarg)\n"
    "%s\n";

static void fill_input(void) {
  for (int i = 0; i < INPUT_BYTES; i++)
    input[i] = (unsigned char)(1 + i * 37 % 251);
}

/* Compares both with what is wanted, byte by byte. */
static void run(const char *name, const char *extra_declares, const char *body,
                int output_bytes) {
  ws_arena *arena = ws_arena_create();
  const small kernel = {.body = body,
                        .declares =
                            ws_arena_printf(arena, declares, extra_declares)};
  char *text = small_text(arena, &kernel);
  model_run.name = name;
  model_run.input = input;
  model_run.input_bytes = sizeof input;
  model_run.output = sanitized;
  model_run.output_bytes = output_bytes;
  model_check_static(arena, text);
  model_sanitize(arena, text);
  model_simulate(arena, text, simulated);
  for (int i = 0; i < output_bytes; i++)
    if (sanitized[i] != wanted[i] || simulated[i] != wanted[i])
      WS_FAIL("%s, byte %d: sanitizer %d, simulator %d, want %d", name, i,
              sanitized[i], simulated[i], wanted[i]);
  ws_arena_destroy(arena);
}

/* ---- what is in range -------------------------------------------------------
 */

/* The byte at `offset` + `byte` of an access of `size`, of a buffer that begins
 * at input + begin: dwords count on their own, what is smaller as a whole. */
static unsigned char loaded(uint32_t offset, int byte, int size, int begin,
                            uint32_t records) {
  const int piece = size < 4 ? size : 4;
  const uint64_t end = (uint64_t)offset + (uint64_t)(byte / piece + 1) * piece;
  return end <= records ? input[begin + (int)offset + byte] : 0;
}

static const struct width {
  const char *type, *suffix;
  int bytes;
} widths[] = {
    {"i8", "i8", 1},
    {"i16", "i16", 2},
    {"i32", "i32", 4},
    {"<2 x i32>", "v2i32", 8},
    {"<3 x i32>", "v3i32", 12},
    {"<4 x i32>", "v4i32", 16},
    {"<8 x half>", "v8f16", 16},
};

/* Lanes at multiples of 4, the last ones beyond the 198 bytes or astride their
 * end; and the same far out, at -16 + 4 * lane. */
static void load_width(const struct width *w, bool far) {
  ws_arena *arena = ws_arena_create();
  char *body = ws_arena_printf(
      arena,
      "  %%from = getelementptr i8, ptr addrspace(1) %%a, i64 60\n"
      "  %%buffer = call ptr addrspace(8) " MAKE
      "(ptr addrspace(1) %%from, i16 0, i32 198, i32 159744)\n"
      "  %%near = mul i32 %%tid, 4\n"
      "  %%at = add i32 %%near, %d\n"
      "  %%v = call %s @llvm.amdgcn.raw.ptr.buffer.load.%s(ptr addrspace(8) "
      "%%buffer, i32 %%at, i32 0, i32 0)\n"
      "  %%place = mul i32 %%tid, 16\n"
      "  %%to = getelementptr i8, ptr addrspace(1) %%c, i32 %%place\n"
      "  store <4 x i32> zeroinitializer, ptr addrspace(1) %%to\n"
      "  store %s %%v, ptr addrspace(1) %%to, align 16\n"
      "  ret void",
      far ? -16 : 0, w->type, w->suffix, w->type);
  char *extra = ws_arena_printf(
      arena,
      "declare %s @llvm.amdgcn.raw.ptr.buffer.load.%s(ptr addrspace(8), i32, "
      "i32, i32 immarg)",
      w->type, w->suffix);
  for (int lane = 0; lane < LANES; lane++)
    for (int byte = 0; byte < 16; byte++)
      wanted[lane * 16 + byte] =
          byte < w->bytes ? loaded((uint32_t)(lane * 4 - (far ? 16 : 0)), byte,
                                   w->bytes, 60, 198)
                          : 0;
  run(w->type, extra, body, LANES * 16);
  ws_arena_destroy(arena);
}

WS_TEST(loads_of_all_widths) {
  fill_input();
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    load_width(&widths[i], false);
    load_width(&widths[i], true);
  }
}

/* Each lane has 16 bytes of the output; the resource ends in lane 56's second
 * dword, so of that one dword goes in. */
static void store_width(const struct width *w) {
  enum { RECORDS = 56 * 16 + 6 };
  ws_arena *arena = ws_arena_create();
  char *body = ws_arena_printf(
      arena,
      "  %%place = mul i32 %%tid, 16\n"
      "  %%from = getelementptr i8, ptr addrspace(1) %%a, i32 %%place\n"
      "  %%v = load %s, ptr addrspace(1) %%from, align 16\n"
      "  %%to = getelementptr i8, ptr addrspace(1) %%c, i32 %%place\n"
      "  store <4 x i32> zeroinitializer, ptr addrspace(1) %%to\n"
      "  %%buffer = call ptr addrspace(8) " MAKE
      "(ptr addrspace(1) %%c, i16 0, i32 %d, i32 159744)\n"
      "  call void @llvm.amdgcn.raw.ptr.buffer.store.%s(%s %%v, ptr "
      "addrspace(8) %%buffer, i32 %%place, i32 0, i32 0)\n"
      "  ret void",
      w->type, RECORDS, w->suffix, w->type);
  char *extra = ws_arena_printf(
      arena,
      "declare void @llvm.amdgcn.raw.ptr.buffer.store.%s(%s, ptr "
      "addrspace(8), i32, i32, i32 immarg)",
      w->suffix, w->type);
  for (int i = 0; i < LANES * 16; i++) {
    const int piece = w->bytes < 4 ? w->bytes : 4;
    const bool in_range = i / piece * piece + piece <= RECORDS;
    wanted[i] = i % 16 < w->bytes && in_range ? input[i] : 0;
  }
  run(w->type, extra, body, LANES * 16);
  ws_arena_destroy(arena);
}

WS_TEST(stores_of_all_widths) {
  fill_input();
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    store_width(&widths[i]);
}

#define AT_TID                                                                 \
  "  %place = mul i32 %tid, 4\n"                                               \
  "  %to = getelementptr i8, ptr addrspace(1) %c, i32 %place\n"
#define BUFFER(name, from, records)                                            \
  "  " name " = call ptr addrspace(8) " MAKE "(ptr addrspace(1) " from         \
  ", i16 0, i32 " records ", i32 159744)\n"

static void want_words(int begin, int stride, int first_lane, int end_lane) {
  for (int lane = first_lane; lane < end_lane; lane++)
    memcpy(wanted + lane * 4, input + begin + lane * stride, 4);
}

/* Without stride the index counts for nothing; the scalar offset counts. */
WS_TEST(structured_accesses_and_scalar_offsets) {
  fill_input();
  want_words(64, 4, 0, LANES);
  run("structured", "",
      AT_TID BUFFER("%in", "%a", "320") BUFFER(
          "%out", "%c",
          "256") "  %v = call i32 @llvm.amdgcn.struct.ptr.buffer.load.i32(ptr "
                 "addrspace(8) %in, i32 %tid, i32 %place, i32 64, i32 0)\n"
                 "  call void @llvm.amdgcn.struct.ptr.buffer.store.i32(i32 %v, "
                 "ptr "
                 "addrspace(8) %out, i32 %tid, i32 %place, i32 0, i32 0)\n"
                 "  ret void",
      LANES * 4);
}

/* Which resource a lane uses may differ from lane to lane, and a loop may make
 * another one each time round. */
WS_TEST(resources_are_values) {
  fill_input();
  want_words(0, 4, 0, 32);
  want_words(1000, 4, 32, LANES);
  run("selected",
      "declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), "
      "i32, i32, i32 immarg)",
      AT_TID
      "  %far = getelementptr i8, ptr addrspace(1) %a, i64 1000\n" BUFFER(
          "%one", "%a", "128")
          BUFFER("%other", "%far",
                 "256") "  %low = icmp ult i32 %tid, 32\n"
                        "  %in = select i1 %low, ptr addrspace(8) %one, ptr "
                        "addrspace(8) %other\n"
                        "  %v = call i32 "
                        "@llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) "
                        "%in, i32 %place, i32 0, i32 0)\n"
                        "  store i32 %v, ptr addrspace(1) %to\n"
                        "  ret void",
      LANES * 4);
}

/* ---- into LDS ---------------------------------------------------------------
 */

#define GLOBAL_TO_LDS(size, offset)                                            \
  "  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr "      \
  "addrspace(3) @lds, i32 " size ", i32 " offset ", i32 0)\n"
/* vmcnt 0, the other counters at their most */
#define WAIT "  call void @llvm.amdgcn.s.waitcnt(i32 3952)\n"
#define MEET "  call void @llvm.amdgcn.s.barrier()\n"
/* Each lane's neighbour's dword, from LDS byte `begin` on. */
#define READ_NEIGHBOUR(begin)                                                  \
  "  %other = xor i32 %tid, 1\n"                                               \
  "  %word = mul i32 %other, 4\n"                                              \
  "  %byte = add i32 %word, " begin "\n"                                       \
  "  %at = getelementptr i8, ptr addrspace(3) @lds, i32 %byte\n"               \
  "  %v = load i32, ptr addrspace(3) %at\n"                                    \
  "  store i32 %v, ptr addrspace(1) %to\n"                                     \
  "  ret void"

/* Lanes read at any address and write side by side; the offset counts on both
 * sides; a narrow load fills a dword. */
WS_TEST(global_loads_to_lds) {
  static const char *const bodies[] = {
      AT_TID "  %row = mul i32 %tid, 20\n"
             "  %from = getelementptr i8, ptr addrspace(1) %a, i32 "
             "%row\n" GLOBAL_TO_LDS("4", "64") WAIT MEET READ_NEIGHBOUR("64"),
      AT_TID "  %row = mul i32 %tid, 20\n"
             "  %from = getelementptr i8, ptr addrspace(1) %a, i32 "
             "%row\n" GLOBAL_TO_LDS("2", "64") WAIT MEET READ_NEIGHBOUR("64"),
      AT_TID "  %row = mul i32 %tid, 20\n"
             "  %from = getelementptr i8, ptr addrspace(1) %a, i32 "
             "%row\n" GLOBAL_TO_LDS("1", "64") WAIT MEET READ_NEIGHBOUR("64")};
  static const int sizes[] = {4, 2, 1};
  fill_input();
  for (int i = 0; i < 3; i++) {
    memset(wanted, 0, LANES * 4);
    for (int lane = 0; lane < LANES; lane++)
      memcpy(wanted + lane * 4, input + 64 + (lane ^ 1) * 20, (size_t)sizes[i]);
    run("global.load.lds", "", bodies[i], LANES * 4);
  }
}

/* Lanes out of range write zeros. */
WS_TEST(buffer_loads_to_lds) {
  fill_input();
  memset(wanted, 0, LANES * 4);
  for (int lane = 0; lane < LANES; lane++)
    if ((lane ^ 1) * 4 + 16 + 4 <= 100)
      memcpy(wanted + lane * 4, input + (lane ^ 1) * 4 + 16, 4);
  run("raw.ptr.buffer.load.lds", "",
      AT_TID BUFFER(
          "%in", "%a",
          "100") "  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr "
                 "addrspace(8) %in, "
                 "ptr addrspace(3) @lds, i32 4, i32 %place, i32 0, i32 16, i32 "
                 "0)\n" WAIT MEET READ_NEIGHBOUR("16"),
      LANES * 4);
  run("struct.ptr.buffer.load.lds", "",
      AT_TID BUFFER(
          "%in", "%a",
          "100") "  call void @llvm.amdgcn.struct.ptr.buffer.load.lds(ptr "
                 "addrspace(8) "
                 "%in, ptr addrspace(3) @lds, i32 4, i32 %tid, i32 %place, i32 "
                 "0, i32 16, "
                 "i32 0)\n" WAIT MEET READ_NEIGHBOUR("16"),
      LANES * 4);
}

/* Lanes that are off leave their place as it was. */
WS_TEST(some_lanes_load_to_lds) {
  fill_input();
  for (int lane = 0; lane < LANES; lane++) {
    const int other = lane ^ 1;
    memset(wanted + lane * 4, 0xff, 4);
    if (other % 3)
      memcpy(wanted + lane * 4, input + other * 4, 4);
  }
  run("some lanes", "",
      AT_TID
      "  %mine = getelementptr i8, ptr addrspace(3) @lds, i32 %place\n"
      "  store i32 -1, ptr addrspace(3) %mine\n" MEET
      "  %from = getelementptr i8, ptr addrspace(1) %a, i32 %place\n"
      "  %rest = urem i32 %tid, 3\n"
      "  %on = icmp ne i32 %rest, 0\n"
      "  br i1 %on, label %load, label %done\n"
      "load:\n" GLOBAL_TO_LDS("4", "0") "  br label %done\n"
                                        "done:\n" WAIT MEET READ_NEIGHBOUR("0"),
      LANES * 4);
}
