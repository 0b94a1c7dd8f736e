/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Why an attempt became slower, as a prompt tells it.
 */
#include "brief_run.h"

/* 400 us, of which a quarter waits for memory, a tenth at barriers. */
static const char fast[] = "{\"profile\":{\"us\":400,\"stalls\":{\"vmem\":0.25,"
                           "\"barrier\":0.1,\"issue\":0.65}}}";
/* Two launches, 500 us: memory 0.2 x 300 + 0.5 x 200 = 160, barriers 0.5 x 300
 * = 150, issue 90 + 100 = 190. */
static const char slow[] = "{\"profile\":{\"us\":300,\"stalls\":{\"vmem\":0.2,"
                           "\"barrier\":0.5,\"issue\":0.3}}}\n"
                           "{\"profile\":{\"us\":200,\"stalls\":{\"vmem\":0.5,"
                           "\"issue\":0.5}}}";

static int add_child(run *r, double us, int vgpr) {
  return add(r,
             (entry){.kind = WS_REQUEST_EXPLOIT,
                     .label = "the child",
                     .us = {100, us},
                     .vgpr = vgpr},
             candidate(r, 32, "define i32 @inner(i32 %x) {\n}\n"));
}

static void profile(run *r, int result, const char *report) {
  MUST(ws_archive_put_profile(r->archive, r->knowledge.results[result].id,
                              provenance, &shapes[1], report, diag));
}

/* Barriers 150 - 40, memory 160 - 100; issue 190 - 260 is less. 96 registers of
 * 256 threads: 5 waves per SIMD, but LDS allows 4; 256 registers: 2. */
WS_TEST(what_was_waited_for_more) {
  run *r = example();
  const int child = add_child(r, 500, 256);
  profile(r, START, fast);
  profile(r, child, slow);
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_EXPLOIT, START, -1),
                    "    slower on 2048,512,256, 400 -> 500 us: barrier +110 "
                    "us, vmem +60 us; registers 96 -> 256; occupancy 4 -> "
                    "2.\n");
  run_destroy(r);
}

WS_TEST(nothing_is_told_of_a_gain_or_without_profiles) {
  run *r = example();
  const int child = add_child(r, 399, 96);
  profile(r, child, slow);
  WS_CHECK(!strstr(ask(r, WS_REQUEST_EXPLOIT, START, -1), "slower on"));
  profile(r, START, fast);
  WS_CHECK(!strstr(ask(r, WS_REQUEST_EXPLOIT, START, -1), "slower on"));
  run_destroy(r);
}

/* What no one can read is not told, and breaks nothing. */
WS_TEST(garbage_explains_nothing) {
  run *r = example();
  const int child = add_child(r, 500, 96);
  profile(r, START, "not json\n[]\n{\"profile\":7}\n");
  profile(r, child, "{\"profile\":{\"us\":\"x\",\"stalls\":{\"lds\":1e300}}}");
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_EXPLOIT, START, -1),
                    "slower on 2048,512,256, 400 -> 500 us.\n");
  run_destroy(r);
}

WS_TEST(a_failure_that_was_built_tells_its_cost) {
  run *r = example();
  entry e = {.kind = WS_REQUEST_EXPLOIT,
             .verdict = WS_VERDICT_WRONG,
             .stage = "verify",
             .reason = "wrong-result",
             .vgpr = 256,
             .built = true};
  add(r, e, candidate(r, 32, "define i32 @inner(i32 %x) {\n}\n"));
  WS_CHECK_CONTAINS(ask(r, WS_REQUEST_EXPLOIT, START, -1),
                    "    had it been right; registers 96 -> 256; occupancy 4 "
                    "-> 2");
  e.verdict = WS_VERDICT_DUPLICATE;
  r = (run_destroy(r), example());
  add(r, e, candidate(r, 32, "define i32 @inner(i32 %x) {\n}\n"));
  WS_CHECK(!strstr(ask(r, WS_REQUEST_EXPLOIT, START, -1), "had it been right"));
  run_destroy(r);
}
