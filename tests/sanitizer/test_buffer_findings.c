/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is wrong with accesses by buffer descriptor and with loads into LDS, on
 * the smallest kernels that deserve the finding, and beside them some that do
 * not. Results are not looked at. a has 2048 bytes, c 512.
 */
#include "sanitizer_fixture.h"

static const char declares[] =
    "declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr "
    "addrspace(1), i16, i32, i32)\n"
    "declare ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p0(ptr, i16, "
    "i32, i32)\n"
    "declare i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8), i32, "
    "i32, i32 immarg)\n"
    "declare void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32, ptr "
    "addrspace(8), i32, i32, i32 immarg)\n"
    "declare void @llvm.amdgcn.global.load.lds(ptr addrspace(1), ptr "
    "addrspace(3), i32 immarg, i32 immarg, i32 immarg)\n"
    "declare void @llvm.amdgcn.s.waitcnt(i32 immarg)\n";

#define PLACE "  %place = mul i32 %tid, 4\n"
#define BUFFER_OF(from, records)                                               \
  "  %b = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8.p1(ptr "      \
  "addrspace(1) " from ", i16 0, i32 " records ", i32 159744)"
#define LOAD(at, scalar)                                                       \
  "  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32(ptr addrspace(8) "     \
  "%b, i32 " at ", i32 " scalar ", i32 0)"
#define STORE(at)                                                              \
  "  call void @llvm.amdgcn.raw.ptr.buffer.store.i32(i32 0, ptr "              \
  "addrspace(8) %b, i32 " at ", i32 0, i32 0)"
#define HERE " ; here\n"
#define END "  ret void"

static small kernel(const char *body) {
  return (small){.declares = declares, .body = body};
}

/* ---- resources -----------------------------------------------------------
 */

/* One byte more than the argument has; one before it; none at all. */
WS_TEST(a_resource_lies_within_one_argument) {
  static const char *const bad[] = {
      BUFFER_OF("%a", "2049") HERE END,
      BUFFER_OF("%c", "-1") HERE END,
      "  %p = getelementptr i8, ptr addrspace(1) %c, i64 -16\n" BUFFER_OF(
          "%p", "16") HERE END,
      "  %p = getelementptr i8, ptr addrspace(1) %a, i64 2000\n" BUFFER_OF(
          "%p", "49") HERE END,
      "  %p = getelementptr i8, ptr addrspace(1) %a, i64 "
      "8000000000\n" BUFFER_OF("%p", "4") HERE END,
  };
  static const char *const good[] = {
      BUFFER_OF("%a", "2048") "\n" END,
      "  %p = getelementptr i8, ptr addrspace(1) %a, i64 2000\n" BUFFER_OF(
          "%p", "48") "\n" END,
      "  %p = getelementptr i8, ptr addrspace(1) %a, i64 2048\n" BUFFER_OF(
          "%p", "0") "\n" END,
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    expect_here(kernel(bad[i]), "oob-resource");
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    expect_silence(kernel(good[i]), "oob-resource");
}

WS_TEST(a_resource_of_lds_or_of_nothing) {
  expect_here(
      kernel("  %f = addrspacecast ptr addrspace(3) @lds to ptr\n"
             "  %b = call ptr addrspace(8) "
             "@llvm.amdgcn.make.buffer.rsrc.p8.p0(ptr %f, i16 0, i32 16, i32 "
             "159744)" HERE END),
      "oob-resource");
  expect_here(kernel("  %v = call i32 @llvm.amdgcn.raw.ptr.buffer.load.i32("
                     "ptr addrspace(8) null, i32 0, i32 0, i32 0)" HERE END),
              "oob-resource");
}

/* ---- accesses ------------------------------------------------------------
 */

/* Lanes beyond num_records load 0 and store nothing: that is relied upon. */
WS_TEST(what_is_out_of_range_is_no_fault) {
  fixture f = run_small(
      kernel(PLACE BUFFER_OF("%a", "100") "\n" LOAD("%place", "0") "\n" END));
  for (int i = 0; i < f.findings.count; i++)
    WS_CHECK(!strcmp(f.findings.items[i].id, "unwritten-output") ||
             !strcmp(f.findings.items[i].id, "wrong-result"));
}

WS_TEST(stores_by_descriptor_are_stores) {
  expect_here(
      kernel(PLACE BUFFER_OF("%a", "2048") "\n" STORE("%place") HERE END),
      "readonly-store");
  expect_here(kernel(BUFFER_OF("%c", "512") "\n" STORE("0") HERE END),
              "global-race");
  expect_silence(
      kernel(PLACE BUFFER_OF("%c", "512") "\n" STORE("%place") "\n" END),
      "global-race");
  expect_here(
      kernel(PLACE BUFFER_OF("%c", "512") "\n" LOAD("%place", "0") HERE END),
      "uninit-global");
}

/* Whether it counts for the range is not agreed on. */
WS_TEST(a_scalar_offset_may_not_decide) {
  expect_here(
      kernel(PLACE BUFFER_OF("%a", "256") "\n" LOAD("%place", "4") HERE END),
      "oob-global-load");
  expect_silence(
      kernel(PLACE BUFFER_OF("%a", "260") "\n" LOAD("%place", "4") "\n" END),
      "oob-global-load");
}

/* ---- into LDS --------------------------------------------------------------
 */

#define TO_LDS(lds)                                                            \
  "  %from = getelementptr i8, ptr addrspace(1) %a, i32 %place\n"              \
  "  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %from, ptr "      \
  "addrspace(3) " lds ", i32 4, i32 0, i32 0)"
#define WAIT(counters) "  call void @llvm.amdgcn.s.waitcnt(i32 " counters ")\n"
#define NONE_LEFT "3952" /* vmcnt 0 */
#define ONE_LEFT "3953"
#define MEET "  call void @llvm.amdgcn.s.barrier()\n"
/* Each wave fills 256 bytes and reads the other's (of 128 lanes). */
#define WAVE_S_OWN                                                             \
  PLACE "  %first = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %place)\n"     \
        "  %mine = getelementptr i8, ptr addrspace(3) @lds, i32 %first\n"
#define READ_LANE(other)                                                       \
  "  %there = xor i32 %tid, " other "\n"                                       \
  "  %byte = mul i32 %there, 4\n"                                              \
  "  %at = getelementptr i8, ptr addrspace(3) @lds, i32 %byte\n"               \
  "  %v = load i32, ptr addrspace(3) %at"

static small two_waves(const char *body) {
  return (small){.declares = declares, .body = body, .threads = 128};
}

/* A wait and then a barrier; neither alone, nor the other way round. */
WS_TEST(other_waves_need_wait_and_barrier) {
  static const char *const bad[] = {
      WAVE_S_OWN TO_LDS("%mine") "\n" READ_LANE("64") HERE END,
      WAVE_S_OWN TO_LDS("%mine") "\n" MEET READ_LANE("64") HERE END,
      WAVE_S_OWN TO_LDS("%mine") "\n" MEET WAIT(NONE_LEFT) READ_LANE("64")
          HERE END,
      WAVE_S_OWN TO_LDS("%mine") "\n" WAIT(ONE_LEFT) MEET READ_LANE("64")
          HERE END,
      WAVE_S_OWN TO_LDS("%mine") "\n" WAIT("65535") MEET READ_LANE("64")
          HERE END,
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    small s = two_waves(bad[i]);
    fixture f = run_small(s);
    const ws_finding *race = find(&f, i ? "lds-race" : "uninit-lds");
    print_findings(&f);
    WS_CHECK(race && race->line == here(&s));
    WS_CHECK(!i || strstr(race->text, "s.waitcnt"));
  }
  expect_silence(two_waves(WAVE_S_OWN TO_LDS("%mine") "\n" WAIT(NONE_LEFT)
                               MEET READ_LANE("64") "\n" END),
                 "lds-race");
}

/* The oldest of two is done when one may be left. */
WS_TEST(a_wait_leaves_the_latest) {
#define TWICE(first, second)                                                   \
  WAVE_S_OWN                                                                   \
  "  %second = getelementptr i8, ptr addrspace(3) %mine, i32 512\n" TO_LDS(    \
      first) "\n"                                                              \
             "  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) "      \
             "%from, ptr addrspace(3) " second                                 \
             ", i32 4, i32 0, i32 0)\n" WAIT(ONE_LEFT) MEET READ_LANE("64")
  expect_silence(two_waves(TWICE("%mine", "%second") "\n" END), "lds-race");
  expect_here(two_waves(TWICE("%second", "%mine") HERE END), "lds-race");
}

/* Code generation waits for the wave's own loads. */
WS_TEST(the_wave_itself_needs_no_wait) {
  expect_silence(
      two_waves(WAVE_S_OWN TO_LDS("%mine") "\n" READ_LANE("1") "\n" END),
      "lds-race");
  expect_silence(
      two_waves(WAVE_S_OWN TO_LDS("%mine") "\n" MEET READ_LANE("1") "\n" END),
      "lds-race");
}

/* Bytes that another wave may still read. */
WS_TEST(a_load_to_lds_is_a_write) {
#define READ_FIRST                                                             \
  WAVE_S_OWN                                                                   \
  "  %own = getelementptr i8, ptr addrspace(3) @lds, i32 %place\n"             \
  "  store i32 0, ptr addrspace(3) %own\n" MEET READ_LANE("64") "\n"
  small race = two_waves(READ_FIRST TO_LDS("%mine") HERE END);
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    race.order = (ws_wave_order)order;
    fixture f = run_small(race);
    expect_finding(&f, "lds-race", "kernel", 0);
  }
  expect_silence(two_waves(READ_FIRST MEET TO_LDS("%mine") "\n" END),
                 "lds-race");
}

WS_TEST(loads_to_lds_stay_in_bounds) {
  expect_here(kernel(PLACE "  %past = getelementptr i8, ptr addrspace(3) @lds, "
                           "i32 16132\n" TO_LDS("%past") HERE END),
              "oob-lds");
  expect_here(kernel("  %place = mul i32 %tid, 33\n" TO_LDS("@lds") HERE END),
              "oob-global-load");
  expect_here(kernel(PLACE "  %odd = getelementptr i8, ptr addrspace(3) @lds, "
                           "i32 2\n" TO_LDS("%odd") HERE END),
              "misaligned");
}

/* The hardware takes the first lane's address. */
WS_TEST(one_lds_address_for_the_wave) {
  expect_here(kernel(PLACE "  %own = getelementptr i8, ptr addrspace(3) @lds, "
                           "i32 %place\n" TO_LDS("%own") HERE END),
              "divergent-wave-op");
}
