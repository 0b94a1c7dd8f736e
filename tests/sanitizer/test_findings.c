/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Each finding on the smallest kernel that deserves it, at its line; and
 * kernels beside them that do not. The kernels do not compute a GEMM, so
 * wrong-result and unwritten-output come along; they are not looked at here.
 */
#include "../gemm_shape.h"
#include "sanitizer_fixture.h"

#define LDS_AT_TID                                                             \
  "  %off = mul i32 %tid, 4\n"                                                 \
  "  %at = getelementptr i8, ptr addrspace(3) @lds, i32 %off\n"

/* ---- bounds ---------------------------------------------------------------
 */

WS_TEST(oob_global_load) { /* a has 16 * 128 bytes */
  expect_here(
      (small){.body = "  %p = getelementptr i8, ptr addrspace(1) %a, i64 2046\n"
                      "  %v = load i32, ptr addrspace(1) %p, align 2 ; here\n"
                      "  ret void"},
      "oob-global-load");
  expect_silence(
      (small){.body = "  %p = getelementptr i8, ptr addrspace(1) %a, i64 2044\n"
                      "  %v = load i32, ptr addrspace(1) %p, align 4\n"
                      "  ret void"},
      "oob-global-load");
}

WS_TEST(oob_global_store) { /* c has 512 bytes; far off is as good as near */
  static const char *const offsets[] = {"511", "-2", "8000000000", "3000"};
  for (int i = 0; i < 4; i++) {
    char body[300];
    snprintf(body, sizeof body,
             "  %%p = getelementptr i8, ptr addrspace(1) %%c, i64 %s\n"
             "  store i16 0, ptr addrspace(1) %%p, align 1 ; here\n"
             "  ret void",
             offsets[i]);
    expect_here((small){.body = body}, "oob-global-store");
  }
}

WS_TEST(readonly_store) {
  expect_here((small){.body = "  store i32 0, ptr addrspace(1) %a ; here\n"
                              "  ret void"},
              "readonly-store");
}

WS_TEST(oob_lds) {
  expect_here(
      (small){.body =
                  "  %p = getelementptr i8, ptr addrspace(3) @lds, i32 16380\n"
                  "  store i64 0, ptr addrspace(3) %p, align 4 ; here\n"
                  "  ret void"},
      "oob-lds");
  expect_here(/* 32-bit arithmetic on the address itself */
              (small){.body =
                          "  %n0 = ptrtoint ptr addrspace(3) @lds to i32\n"
                          "  %n1 = sub i32 %n0, 4\n"
                          "  %p = inttoptr i32 %n1 to ptr addrspace(3)\n"
                          "  store i32 0, ptr addrspace(3) %p, align 4 ; here\n"
                          "  ret void"},
              "oob-lds");
}

/* ---- what was never written -------------------------------------------------
 */

WS_TEST(uninit_lds) {
  expect_here((small){.body = LDS_AT_TID
                      "  store i16 0, ptr addrspace(3) %at\n"
                      "  %v = load i32, ptr addrspace(3) %at ; here\n"
                      "  ret void"},
              "uninit-lds");
  expect_silence((small){.body = LDS_AT_TID
                         "  store i16 0, ptr addrspace(3) %at\n"
                         "  %v = load i16, ptr addrspace(3) %at\n"
                         "  ret void"},
                 "uninit-lds");
}

WS_TEST(lds_is_fresh_in_every_workgroup) {
  expect_here((small){.groups = "2",
                      .body = LDS_AT_TID
                      "  %first = icmp eq i32 %group, 0\n"
                      "  br i1 %first, label %store, label %load\n"
                      "store:\n"
                      "  store i32 0, ptr addrspace(3) %at\n"
                      "  ret void\n"
                      "load:\n"
                      "  %v = load i32, ptr addrspace(3) %at ; here\n"
                      "  ret void"},
              "uninit-lds");
}

WS_TEST(uninit_global) {
  expect_here((small){.body = "  %v = load i32, ptr addrspace(1) %c ; here\n"
                              "  ret void"},
              "uninit-global");
  expect_here(
      (small){.body = "  %v = load i32, ptr addrspace(1) %workspace ; here\n"
                      "  ret void"},
      "uninit-global");
}

WS_TEST(uninit_private) {
  expect_here(
      (small){.body = "  %x = alloca [4 x float], addrspace(5)\n"
                      "  store float 1.0, ptr addrspace(5) %x\n"
                      "  %p = getelementptr float, ptr addrspace(5) %x, i32 1\n"
                      "  %v = load float, ptr addrspace(5) %p ; here\n"
                      "  %h = fptrunc float %v to bfloat\n"
                      "  store bfloat %h, ptr addrspace(1) %c\n"
                      "  ret void"},
      "uninit-private");
}

WS_TEST(oob_private) {
  expect_here(
      (small){.body = "  %x = alloca [4 x i32], addrspace(5)\n"
                      "  %p = getelementptr i32, ptr addrspace(5) %x, i32 4\n"
                      "  store i32 0, ptr addrspace(5) %p ; here\n"
                      "  ret void"},
      "oob-private");
}

WS_TEST(wild_private_pointer) {
  fixture f = run_small((small){
      .body = "  %x = alloca i32, addrspace(5)\n"
              "  %p = getelementptr i8, ptr addrspace(5) %x, i64 268435456\n"
              "  store i32 0, ptr addrspace(5) %p\n"
              "  ret void"});
  expect_finding(&f, "oob-private", NULL, 0);
}

WS_TEST(unwritten_output) {
  fixture f = run_small((small){.body = "  ret void"});
  expect_finding(&f, "unwritten-output", "", 0);
  WS_CHECK_CONTAINS(find(&f, "unwritten-output")->text, "512 of 512 bytes");
}

WS_TEST(wrong_result) {
  fixture f = run_small(
      (small){.body = "  %o = mul i32 %tid, 8\n"
                      "  %p = getelementptr i8, ptr addrspace(1) %c, i32 %o\n"
                      "  store i64 0, ptr addrspace(1) %p, align 8\n"
                      "  ret void"});
  expect_none(&f, "unwritten-output");
  expect_finding(&f, "wrong-result", "", 0);
  WS_CHECK_CONTAINS(find(&f, "wrong-result")->text, "of 256 elements");
}

/* Of two launches the second runs with split_k > 1 alone. The finding stands at
 * the last one that ran, not at the last one declared. */
WS_TEST(wrong_results_name_what_ran) {
  ws_arena *arena = ws_arena_create();
  const char *text = read_template(arena, "fp8_gemm_mfma.ll");
  const replaced nothing = {
      "scale", "opencl",
      "void scale(private float *running, private float *partial, local float "
      "*a_scales, local float *b_scales, int row, int column, int lane) {}\n"};
  const ws_run run = {.shape = gemm_shape(128, 128, 256), .seed = 1};
  fixture f = sanitize_replaced(arena, text, "split_k=1", &run, 1, nothing);
  expect_finding(&f, "wrong-result", "",
                 line_of(text, "!{!\"fp8_gemm_mfma\", !\"ceildiv"));
  WS_CHECK_CONTAINS(find(&f, "wrong-result")->text,
                    "; what ran: fp8_gemm_mfma; ");
  f = sanitize_replaced(arena, text, "split_k=2", &run, 1, nothing);
  expect_finding(&f, "wrong-result", "",
                 line_of(text, "!{!\"fp8_gemm_reduce\", !\"ceildiv"));
  WS_CHECK_CONTAINS(find(&f, "wrong-result")->text,
                    "; what ran: fp8_gemm_mfma, fp8_gemm_reduce; ");
  ws_arena_destroy(arena);
}

/* ---- races
 * ------------------------------------------------------------------- */

#define BARRIER "  call void @llvm.amdgcn.s.barrier()\n"
#define LDS_OF_ANOTHER(distance)                                               \
  "  %other = xor i32 %tid, " distance "\n"                                    \
  "  %other.off = mul i32 %other, 4\n"                                         \
  "  %there = getelementptr i8, ptr addrspace(3) @lds, i32 %other.off\n"

#define STORE_THEN_LOAD(distance, between)                                     \
  LDS_AT_TID LDS_OF_ANOTHER(                                                   \
      distance) "  store i32 %tid, ptr addrspace(3) %at\n" between             \
                "  %v = load i32, ptr addrspace(3) %there ; here\n"            \
                "  ret void"

WS_TEST(lds_race_across_waves) {
  static const small race = {.threads = 128, .body = STORE_THEN_LOAD("64", "")};
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    small s = race;
    s.order = (ws_wave_order)order;
    fixture f = run_small(s);
    expect_finding(&f, "lds-race", "kernel", 0);
  }
  small fine = {.threads = 128, .body = STORE_THEN_LOAD("64", BARRIER)};
  expect_silence(fine, "lds-race");
  expect_silence(fine, "uninit-lds");
}

WS_TEST(lds_race_within_a_wave) {
  static const char wave_barrier[] =
      STORE_THEN_LOAD("1", "  call void @llvm.amdgcn.wave.barrier()\n");
  fixture f = run_small((small){.body = STORE_THEN_LOAD("1", "")});
  expect_finding(&f, "lds-race", "kernel", 0);
  WS_CHECK_CONTAINS(find(&f, "lds-race")->text, "not known to run in step");
  /* A wave operation orders the lanes of its wave... */
  expect_silence((small){.body = wave_barrier}, "lds-race");
  expect_silence((small){.body = STORE_THEN_LOAD("1", BARRIER)}, "lds-race");
  /* ... and no others. */
  f = run_small((small){
      .threads = 128,
      .body =
          STORE_THEN_LOAD("64", "  call void @llvm.amdgcn.wave.barrier()\n")});
  expect_finding(&f, "lds-race", "kernel", 0);
}

#define LOAD_THEN_STORE(between)                                               \
  LDS_AT_TID LDS_OF_ANOTHER(                                                   \
      "64") "  store i32 %tid, ptr addrspace(3) %at\n" BARRIER                 \
            "  %v = load i32, ptr addrspace(3) %there\n" between               \
            "  store i32 0, ptr addrspace(3) %at ; here\n"                     \
            "  ret void"

WS_TEST(lds_race_write_after_read) {
  small race = {.threads = 128, .body = LOAD_THEN_STORE("")};
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++) {
    race.order = (ws_wave_order)order;
    fixture f = run_small(race);
    expect_finding(&f, "lds-race", "kernel", 0);
  }
  expect_silence((small){.threads = 128, .body = LOAD_THEN_STORE(BARRIER)},
                 "lds-race");
}

WS_TEST(lds_race_two_writers) {
  expect_here((small){.body = "  store i32 0, ptr addrspace(3) @lds ; here\n"
                              "  ret void"},
              "lds-overlap"); /* more of these: test_races.c */
  /* neighbouring bytes are no race */
  expect_silence(
      (small){.threads = 256,
              .body = "  %at = getelementptr i8, ptr addrspace(3) @lds, i32 "
                      "%tid\n"
                      "  store i8 0, ptr addrspace(3) %at\n"
                      "  %v = load i8, ptr addrspace(3) %at\n"
                      "  ret void"},
      "lds-race");
}

WS_TEST(global_race_of_lanes) {
  expect_here((small){.body = "  store i16 0, ptr addrspace(1) %c ; here\n"
                              "  ret void"},
              "global-race");
}

#define ONE_LANE(then)                                                         \
  "  %first = icmp eq i32 %tid, 0\n"                                           \
  "  br i1 %first, label %one, label %out\n"                                   \
  "one:\n" then "  br label %out\n"                                            \
  "out:\n"                                                                     \
  "  ret void"

WS_TEST(global_race_of_workgroups) {
  expect_here(
      (small){.groups = "2",
              .body = ONE_LANE("  store i16 0, ptr addrspace(1) %c ; here\n")},
      "global-race");
  expect_silence((small){.body = ONE_LANE("  store i16 0, ptr addrspace(1) "
                                          "%c\n")},
                 "global-race");
  /* what another workgroup has written must not be read either */
  expect_here(
      (small){.groups = "2",
              .body = "  %w = mul i32 %group, 4\n"
                      "  %p = getelementptr i8, ptr addrspace(1) %workspace, "
                      "i32 %w\n" ONE_LANE(
                          "  store i32 0, ptr addrspace(1) %p\n"
                          "  %v = load i32, ptr addrspace(1) %workspace ; "
                          "here\n")},
      "global-race");
}

WS_TEST(atomics_do_not_race) {
  small s = {.groups = "2",
             .body = "  %v = atomicrmw add ptr addrspace(3) @lds, i32 1 "
                     "syncscope(\"workgroup\") monotonic\n"
                     "  %u = atomicrmw xchg ptr addrspace(1) %c, i32 1 "
                     "syncscope(\"agent\") monotonic\n"
                     "  ret void"};
  expect_silence(s, "lds-race");
  expect_silence(s, "global-race");
  expect_here((small){.body = "  %v = atomicrmw add ptr addrspace(1) %a, i32 1 "
                              "syncscope(\"agent\") monotonic ; here\n"
                              "  ret void"},
              "readonly-store");
}

/* In the layout kmajor-add, whose c has values at entry. */
static const char adds[] =
    "@ws.layout = internal addrspace(4) constant i32 4\n"
    "!wavesmith.param = !{!9}\n"
    "!9 = !{!\"layout\", !\"ws.layout\", !\"4\", !\"kmajor-add\"}\n";

static const char add_deed[] =
    "  %%%s = atomicrmw fadd ptr addrspace(1) %%c, <2 x bfloat> <bfloat 1.0, "
    "bfloat 2.0> syncscope(\"agent\") monotonic, align 4\n";
static const char store_deed[] = "  store i32 0, ptr addrspace(1) %%c ; %s\n";
static const char load_deed[] = "  %%%s = load i32, ptr addrspace(1) %%c\n";

/* Number of a lane, or of the first lane of a workgroup. */
static const char lanes_act[] = "  %party = add i32 %tid, 0\n";
static const char groups_act[] = "  %apart = mul i32 %tid, 2\n"
                                 "  %party = add i32 %group, %apart\n";

/* Party 0 does one thing to the first dword of c, party 1 another. */
static bool two_race(const char *who, const char *first, const char *second,
                     ws_wave_order order) {
  ws_arena *arena = test_arena();
  const char *one = ws_arena_printf(arena, first, "one");
  const char *two = ws_arena_printf(arena, second, "two");
  fixture f = run_small((small){
      .declares = adds,
      .groups = who == groups_act ? "2" : "1",
      .order = order,
      .body = ws_arena_printf(arena,
                              "%s"
                              "  %%is.0 = icmp eq i32 %%party, 0\n"
                              "  br i1 %%is.0, label %%first, label %%others\n"
                              "first:\n%s  br label %%out\n"
                              "others:\n"
                              "  %%is.1 = icmp eq i32 %%party, 1\n"
                              "  br i1 %%is.1, label %%second, label %%out\n"
                              "second:\n%s  br label %%out\n"
                              "out:\n"
                              "  ret void",
                              who, one, two)});
  expect_none(&f, "uninit-global");
  return find(&f, "global-race") != NULL;
}

WS_TEST(additions_race_with_plain_accesses_only) {
  static const char *const parties[] = {lanes_act, groups_act};
  for (int order = WS_WAVES_UP; order <= WS_WAVES_DOWN; order++)
    for (int i = 0; i < 2; i++) {
      const char *who = parties[i];
      WS_CHECK(two_race(who, add_deed, store_deed, (ws_wave_order)order));
      WS_CHECK(two_race(who, store_deed, add_deed, (ws_wave_order)order));
      WS_CHECK(two_race(who, add_deed, load_deed, (ws_wave_order)order));
      WS_CHECK(two_race(who, load_deed, add_deed, (ws_wave_order)order));
      WS_CHECK(!two_race(who, add_deed, add_deed, (ws_wave_order)order));
    }
}

/* ---- divergence
 * ------------------------------------------------------------------ */

#define LANES_BELOW(limit, then)                                               \
  "  %some = icmp ult i32 %tid, " limit "\n"                                   \
  "  br i1 %some, label %yes, label %out\n"                                    \
  "yes:\n" then "  br label %out\n"                                            \
  "out:\n"                                                                     \
  "  ret void"

WS_TEST(divergent_barrier) {
  expect_here(
      (small){.body = LANES_BELOW(
                  "32", "  call void @llvm.amdgcn.s.barrier() ; here\n")},
      "divergent-barrier");
  expect_here(
      (small){.threads = 128,
              .body = LANES_BELOW(
                  "64", "  call void @llvm.amdgcn.s.barrier() ; here\n")},
      "divergent-barrier");
}

WS_TEST(different_barriers) {
  fixture f = run_small((small){.threads = 128,
                                .body = "  %some = icmp ult i32 %tid, 64\n"
                                        "  br i1 %some, label %yes, label %no\n"
                                        "yes:\n" BARRIER "  br label %out\n"
                                        "no:\n" BARRIER "  br label %out\n"
                                        "out:\n"
                                        "  ret void"});
  expect_finding(&f, "divergent-barrier", "kernel", 0);
}

#define MFMA                                                                   \
  "  %d = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 0, i64 " \
  "0, <4 x float> zeroinitializer, i32 0, i32 0, i32 0) ; here\n"

WS_TEST(divergent_wave_operation) {
  expect_here((small){.body = LANES_BELOW("63", MFMA)}, "divergent-wave-op");
  expect_silence((small){.threads = 128, .body = MFMA "  ret void"},
                 "divergent-wave-op");
  /* a whole wave may skip it */
  expect_silence((small){.threads = 128, .body = LANES_BELOW("64", MFMA)},
                 "divergent-wave-op");
}

WS_TEST(readfirstlane_takes_the_active_lanes) {
  /* Lanes 40..63 read lane 40's number; the store at its place is in bounds
   * only for that. */
  expect_silence(
      (small){.body = "  %some = icmp uge i32 %tid, 40\n"
                      "  br i1 %some, label %yes, label %out\n"
                      "yes:\n"
                      "  %v = call i32 @llvm.amdgcn.readfirstlane.i32(i32 "
                      "%tid)\n"
                      "  %wrong = sub i32 %v, 40\n"
                      "  %far = mul i32 %wrong, 100000\n"
                      "  %p = getelementptr i8, ptr addrspace(1) %a, i32 %far\n"
                      "  %x = load i8, ptr addrspace(1) %p\n"
                      "  br label %out\n"
                      "out:\n"
                      "  ret void"},
      "oob-global-load");
}

/* ---- the rest
 * ---------------------------------------------------------------------- */

WS_TEST(misaligned) {
  expect_here(
      (small){.body = "  %p = getelementptr i8, ptr addrspace(1) %a, i64 8\n"
                      "  %v = load <4 x i32>, ptr addrspace(1) %p, align 16 ; "
                      "here\n"
                      "  ret void"},
      "misaligned");
  expect_here((small){.body = "  %p = getelementptr i8, ptr addrspace(3) "
                              "@lds, i64 4\n"
                              "  store i64 0, ptr addrspace(3) %p, align 8 ; "
                              "here\n"
                              "  ret void"},
              "misaligned");
  expect_silence(
      (small){.body = "  %p = getelementptr i8, ptr addrspace(1) %a, i64 8\n"
                      "  %v = load <4 x i32>, ptr addrspace(1) %p, align 8\n"
                      "  ret void"},
      "misaligned");
}

WS_TEST(stack_overflow) {
  expect_here((small){.body =
                          "  %x = alloca [41000 x i8], addrspace(5) ; here\n"
                          "  store i8 0, ptr addrspace(5) %x\n"
                          "  ret void"},
              "stack-overflow");
  fixture f = run_small((small){.body = "  br label %again\n"
                                        "again:\n"
                                        "  %x = alloca [4000 x i8], "
                                        "addrspace(5)\n"
                                        "  br label %again\n"});
  expect_finding(&f, "stack-overflow", NULL, 0);
}

WS_TEST(infinite_loop) {
  fixture f = run_small((small){.body = "  br label %again\n"
                                        "again:\n"
                                        "  br label %again"});
  expect_finding(&f, "infinite-loop", NULL, 0);
}

WS_TEST(infinite_loop_with_barrier) {
  fixture f =
      run_small((small){.body = "  br label %again\n"
                                "again:\n" BARRIER "  br label %again"});
  expect_finding(&f, "infinite-loop", "kernel", 0);
}

WS_TEST(input_modified) { /* behind the back of the hooks */
  fixture f = run_small((small){
      .body = "  %p = addrspacecast ptr addrspace(1) %a to ptr addrspace(5)\n"
              "  store i32 0, ptr addrspace(5) %p\n"
              "  ret void"});
  expect_finding(&f, "input-modified", NULL, 0);
}

WS_TEST(division_by_zero) {
  fixture f = run_small((small){.body = "  %zero = sub i32 %n, 16\n"
                                        "  %v = udiv i32 1, %zero\n"
                                        "  store i32 %v, ptr addrspace(1) %c\n"
                                        "  ret void"});
  expect_finding(&f, "division-by-zero", NULL, 0);
}

WS_TEST(trap) {
  fixture f = run_small((small){.declares = "declare void @llvm.trap()",
                                .body = "  call void @llvm.trap()\n"
                                        "  ret void"});
  expect_finding(&f, "trap", NULL, 0);
}

WS_TEST(no_host_model) {
  expect_here((small){.declares = "declare i64 @llvm.amdgcn.s.memtime()",
                      .body =
                          "  %t = call i64 @llvm.amdgcn.s.memtime() ; here\n"
                          "  ret void"},
              "no-host-model");
  expect_here((small){.body =
                          "  call void asm sideeffect \"s_nop 0\", \"\"() ; "
                          "here\n"
                          "  ret void"},
              "no-host-model");
  expect_here((small){.declares = "declare void @elsewhere()",
                      .body = "  call void @elsewhere() ; here\n"
                              "  ret void"},
              "no-host-model");
}

/* What the static check allows is for others to judge. */
WS_TEST(not_modelled) {
  expect_here((small){.declares =
                          "declare <4 x i32> @llvm.amdgcn.mqsad.u32.u8(i64, "
                          "i32, <4 x i32>)",
                      .body = "  %v = call <4 x i32> "
                              "@llvm.amdgcn.mqsad.u32.u8(i64 0, i32 0, <4 x "
                              "i32> zeroinitializer) ; here\n"
                              "  ret void"},
              "not-modelled");
}

WS_TEST(empty_assembly_does_nothing) {
  fixture f = run_small((small){.body = "  call void asm sideeffect \"\", "
                                        "\"~{memory}\"()\n"
                                        "  ret void"});
  expect_none(&f, "no-host-model");
  expect_none(&f, "not-modelled");
  expect_finding(&f, "unwritten-output", NULL, 0);
}

WS_TEST(bad_launch) {
  fixture f = run_small((small){.groups = "m - 16", .body = "  ret void"});
  expect_finding(&f, "bad-launch", "", 0);
  f = run_small((small){.groups = "1 / (m - 16)", .body = "  ret void"});
  expect_finding(&f, "bad-launch", "", 0);
}

WS_TEST(memcpy_is_watched) {
  expect_here(
      (small){.declares = "declare void @llvm.memcpy.p3.p1.i32(ptr "
                          "addrspace(3), ptr addrspace(1), i32, i1)",
              .body = "  call void @llvm.memcpy.p3.p1.i32(ptr addrspace(3) "
                      "@lds, ptr addrspace(1) %a, i32 2049, i1 false) ; here\n"
                      "  ret void"},
      "oob-global-load");
  expect_here(
      (small){.declares = "declare void @llvm.memcpy.p3.p1.i32(ptr "
                          "addrspace(3), ptr addrspace(1), i32, i1)",
              .body = "  %p = getelementptr i8, ptr addrspace(1) %a, i64 4\n"
                      "  call void @llvm.memcpy.p3.p1.i32(ptr addrspace(3) "
                      "@lds, ptr addrspace(1) align 8 %p, i32 8, i1 false) ; "
                      "here\n"
                      "  ret void"},
      "misaligned");
}

WS_TEST(flat_pointers_are_watched) {
  expect_here((small){.body =
                          "  %f = addrspacecast ptr addrspace(3) @lds to ptr\n"
                          "  %v = load i32, ptr %f ; here\n"
                          "  ret void"},
              "uninit-lds");
  expect_here((small){.body =
                          "  %f = addrspacecast ptr addrspace(1) %a to ptr\n"
                          "  %p = getelementptr i8, ptr %f, i64 2048\n"
                          "  %v = load i8, ptr %p ; here\n"
                          "  ret void"},
              "oob-global-load");
}

/* An access out of bounds unless the i32 %got is `want`. */
#define EXPECT_I32(want)                                                       \
  "  %same = icmp eq i32 %got, " want "\n"                                     \
  "  %there = select i1 %same, i64 0, i64 2048\n"                              \
  "  %probe = getelementptr i8, ptr addrspace(1) %a, i64 %there\n"             \
  "  %byte = load i8, ptr addrspace(1) %probe\n"                               \
  "  ret void"

static void expect_value(const char *declares, const char *body) {
  fixture f = run_small((small){.declares = declares, .body = body});
  expect_none(&f, "no-host-model");
  expect_none(&f, "oob-global-load");
}

WS_TEST(small_floats) {
  /* 1 + 2^-8 is a tie in bfloat: to even, 1. n is 16. */
  expect_value(NULL, "  %n.f = uitofp i32 %n to float\n"
                     "  %x = fdiv float %n.f, 16.0\n"
                     "  %y = fadd float %x, 0x3F70000000000000\n"
                     "  %h = fptrunc float %y to bfloat\n"
                     "  %i = bitcast bfloat %h to i16\n"
                     "  %got = zext i16 %i to i32\n" EXPECT_I32("16256"));
  expect_value(NULL, "  %n.f = uitofp i32 %n to double\n"
                     "  %h = fptrunc double %n.f to bfloat\n"
                     "  %g = fpext bfloat %h to float\n"
                     "  %got = fptosi float %g to i32\n" EXPECT_I32("16"));
  expect_value(NULL, "  %n.f = uitofp i32 %n to float\n"
                     "  %h = fptrunc float %n.f to half\n"
                     "  %d = fadd half %h, %h\n"
                     "  %g = fpext half %d to float\n"
                     "  %got = fptosi float %g to i32\n" EXPECT_I32("32"));
}

#define DPP(control)                                                           \
  "  %got.0 = call i32 @llvm.amdgcn.update.dpp.i32(i32 77, i32 %tid, "         \
  "i32 " control ", i32 15, i32 15, i1 false)\n"

static const char declare_dpp[] =
    "declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 "
    "immarg, i32 immarg, i1 immarg)";

/* want is an expression of i32 %tid in %want. */
static void expect_dpp(const char *call, const char *want) {
  char body[1200];
  snprintf(body, sizeof body,
           "%s%s"
           "  %%got = sub i32 %%got.0, %%want\n%s",
           call, want, EXPECT_I32("0"));
  expect_value(declare_dpp, body);
}

WS_TEST(data_parallel_primitives) { /* CDNA3 ISA, DPP controls */
  expect_dpp(DPP("177"), "  %want = xor i32 %tid, 1\n");  /* quad_perm 1032 */
  expect_dpp(DPP("78"), "  %want = xor i32 %tid, 2\n");   /* quad_perm 2301 */
  expect_dpp(DPP("320"), "  %want = xor i32 %tid, 15\n"); /* row_mirror */
  expect_dpp(DPP("321"), "  %want = xor i32 %tid, 7\n");  /* half mirror */
  expect_dpp(DPP("292"),                                  /* row_ror:4 */
             "  %down = sub i32 %tid, 4\n"
             "  %low = and i32 %down, 15\n"
             "  %high = and i32 %tid, 48\n"
             "  %want = or i32 %high, %low\n");
  expect_dpp(DPP("273"), /* row_shr:1: lane 0 of a row keeps the old value */
             "  %in.row = and i32 %tid, 15\n"
             "  %first = icmp eq i32 %in.row, 0\n"
             "  %before = sub i32 %tid, 1\n"
             "  %want = select i1 %first, i32 77, i32 %before\n");
  expect_dpp(DPP("341"), /* row_newbcast:5 */
             "  %high = and i32 %tid, 48\n"
             "  %want = or i32 %high, 5\n");
}

WS_TEST(wave_operations) {
  expect_value("declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)",
               "  %from = sub i32 63, %tid\n"
               "  %address = mul i32 %from, 4\n"
               "  %x = call i32 @llvm.amdgcn.ds.bpermute(i32 %address, i32 "
               "%tid)\n"
               "  %got = add i32 %x, %tid\n" EXPECT_I32("63"));
  expect_value("declare i64 @llvm.amdgcn.ballot.i64(i1)",
               "  %odd = trunc i32 %tid to i1\n"
               "  %x = call i64 @llvm.amdgcn.ballot.i64(i1 %odd)\n"
               "  %high = lshr i64 %x, 32\n"
               "  %got = trunc i64 %high to i32\n" EXPECT_I32("-1431655766"));
  expect_value("declare i32 @llvm.amdgcn.readlane.i32(i32, i32)",
               "  %got = call i32 @llvm.amdgcn.readlane.i32(i32 %tid, i32 "
               "37)\n" EXPECT_I32("37"));
  expect_value("declare i32 @llvm.amdgcn.perm(i32, i32, i32)",
               /* bytes 0 and 4 of {high, low}, zero, ones */
               "  %got = call i32 @llvm.amdgcn.perm(i32 287454020, i32 "
               "1432778632, i32 218891264)\n" EXPECT_I32("-16759672"));
  expect_value("declare i32 @llvm.amdgcn.mbcnt.lo(i32, i32)\n"
               "declare i32 @llvm.amdgcn.mbcnt.hi(i32, i32)",
               "  %x = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)\n"
               "  %y = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %x)\n"
               "  %got = sub i32 %y, %tid\n" EXPECT_I32("0"));
}

/* The process goes on after every kind of end. */
WS_TEST(the_next_candidate_is_not_affected) {
  static const char *const bodies[] = {
      "  br label %again\nagain:\n  br label %again",
      "  store i32 0, ptr addrspace(1) %a\n  ret void",
      "  %x = alloca i32, addrspace(5)\n"
      "  %p = getelementptr i8, ptr addrspace(5) %x, i64 268435456\n"
      "  store i32 0, ptr addrspace(5) %p\n  ret void"};
  for (int i = 0; i < 3; i++) {
    fixture bad = run_small((small){.body = bodies[i]});
    WS_CHECK(!bad.ok);
    ws_arena *arena = test_arena();
    ws_run run = {
        .shape = gemm_shape(32, 32, 128), .order = WS_WAVES_UP, .seed = 3};
    fixture good = sanitize_runs(
        arena, read_template(arena, "fp8_gemm_naive.ll"), "", &run, 1);
    print_findings(&good);
    WS_CHECK(good.ok);
  }
}
