/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lists of shapes as users give them, and the logs of WAVESMITH_RT_MISSES among
 * them: lines written by hand in the form of wavesmith/rt.h.
 */
#include "wavesmith/base.h"
#include "wavesmith/problem.h"
#include "ws_test.h"
#include "ws_test_directory.h"

static ws_arena *arena;
static ws_shape_set set;
static ws_diag diag;

static ws_status read_list(const char *layout, const char *text) {
  arena = arena ? arena : ws_arena_create();
  return ws_problem_read_shapes(ws_problem_find("fp8_gemm_blockscale"), layout,
                                arena, text, &set, &diag);
}

/* The list is these shapes, in this order. */
static void expect(const char *layout, const char *text, const char *want) {
  if (read_list(layout, text) != WS_OK)
    WS_FAIL("%s: %s", text, diag.text);
  ws_strbuf got;
  ws_strbuf_init(&got);
  for (int i = 0; i < set.count; i++)
    ws_strbuf_printf(&got, "%s%s", i ? ";" : "",
                     ws_shape_text(arena, &set.shapes[i]));
  WS_CHECK_TEXT(got.data, want);
  ws_strbuf_deinit(&got);
}

static void refuse(ws_status status, const char *text, const char *part) {
  WS_CHECK_INT(read_list("kmajor", text), status);
  WS_CHECK_CONTAINS(diag.text, part);
  WS_CHECK(!strchr(diag.text, '\n'));
}

static const char *write_log(const char *text) {
  const char *path = ws_arena_printf(arena = arena ? arena : ws_arena_create(),
                                     "%s/misses.jsonl", ws_test_directory());
  FILE *file = fopen(path, "w");
  WS_CHECK(file && fputs(text, file) >= 0);
  fclose(file);
  return path;
}

#define LINE_OF(problem, layout, shape, count)                                 \
  "{\"dispatch\":\"g\",\"problem\":\"" problem "\",\"layout\":\"" layout       \
  "\",\"target\":\"gfx942\",\"shape\":" shape ",\"count\":" count              \
  ",\"nearest\":{\"m\":16,\"n\":16,\"k\":128},\"factor\":2}\n"
#define LINE(m, n, k, count)                                                   \
  LINE_OF("fp8_gemm_blockscale", "kmajor",                                     \
          "{\"m\":" #m ",\"n\":" #n ",\"k\":" #k "}", #count)

/* ---- sets and shapes ---- */

WS_TEST(sets_and_shapes_each_once) {
  expect(NULL, "16,32,128", "16,32,128");
  WS_CHECK_TEXT(set.name, "16,32,128");
  expect(NULL, "16,32,128;k=128,n=32,m=48;16,32,128", "16,32,128;48,32,128");
  WS_CHECK_INT(read_list(NULL, "contest;1024,1536,7168;16,16,128"), WS_OK);
  WS_CHECK_INT(set.count, 19);
  WS_CHECK_TEXT(set.name, "contest;1024,1536,7168;16,16,128");
  refuse(WS_USAGE, "contset", "no shape set 'contset'");
  refuse(WS_USAGE, "", "no shape set ''");
  refuse(WS_USAGE, "contest;16,16", "is no shape m,n,k");
  refuse(WS_INPUT, "16,17,128", "n");
}

/* ---- logs ---- */

/* 3 + 4 launches of one shape, 5 of another, 6 of a third. */
WS_TEST(most_launched_shapes_come_first) {
  expect("kmajor",
         write_log(LINE(48, 32, 128, 3) LINE(16, 32, 128, 5)
                       LINE(48, 32, 128, 4) "\n" LINE(32, 32, 128, 6)),
         "48,32,128;32,32,128;16,32,128");
  /* what a run records: the file may grow */
  WS_CHECK_TEXT(set.name, "48,32,128;32,32,128;16,32,128");
}

WS_TEST(a_log_may_stand_among_shapes) {
  const char *path = write_log(LINE(48, 32, 128, 3));
  expect("kmajor", ws_arena_printf(arena, "16,16,128;%s;48,32,128", path),
         "16,16,128;48,32,128");
}

WS_TEST(lines_of_others_are_passed_over_and_counted) {
  const char *path =
      write_log(LINE(48, 32, 128, 3)
                    LINE_OF("gemm_bf16", "nt", "{\"m\":8,\"n\":8,\"k\":8}", "9")
                        LINE_OF("fp8_gemm_blockscale", "mnmajor",
                                "{\"m\":64,\"n\":32,\"k\":128}", "9"));
  const char *log = ws_arena_printf(arena, "%s/stderr", ws_test_directory());
  int kept = dup(STDERR_FILENO);
  WS_CHECK(freopen(log, "w", stderr));
  expect("kmajor", path, "48,32,128");
  expect(NULL, path, "64,32,128;48,32,128");
  fflush(stderr);
  dup2(kept, STDERR_FILENO);
  char *text;
  size_t size;
  WS_CHECK_INT(ws_file_read(arena, log, &text, &size, &diag), WS_OK);
  WS_CHECK_CONTAINS(text, "2 of 3 lines are of other problems or layouts");
  WS_CHECK_CONTAINS(text, "1 of 3 lines are of other problems or layouts");
  refuse(
      WS_INPUT,
      write_log(LINE_OF("gemm_bf16", "nt", "{\"m\":8,\"n\":8,\"k\":8}", "9")),
      "none of 1 lines is of fp8_gemm_blockscale, layout kmajor");
}

/* A process that was killed, or a disk that was full. */
WS_TEST(a_cut_last_line_is_passed_over) {
  char whole[] = LINE(48, 32, 128, 3) LINE(16, 32, 128, 5);
  const size_t first = strlen(LINE(48, 32, 128, 3));
  for (size_t size = first + 1; size < strlen(whole) - 1; size++) {
    char cut[sizeof whole];
    memcpy(cut, whole, size);
    cut[size] = '\0';
    expect("kmajor", write_log(cut), "48,32,128");
  }
  whole[strlen(whole) - 1] = '\0'; /* the newline alone is missing */
  expect("kmajor", write_log(whole), "16,32,128;48,32,128");
}

WS_TEST(counts_that_overflow_stay_the_largest) {
  char text[4096 * 200] = LINE(16, 32, 128, 9007199254740991);
  for (int i = 0; i < 2000; i++)
    strcat(text, LINE(48, 32, 128, 9007199254740992));
  expect("kmajor", write_log(text), "48,32,128;16,32,128");
}

WS_TEST(nonsense_is_named_by_its_line) {
  static const struct {
    const char *line, *part;
  } bad[] = {
      {"nonsense\n", "not JSON"},
      {"{}\n", "problem"},
      {"[1]\n", "object"},
      {"{\"problem\":1}\n", "problem"},
      {LINE(48, 32, 128, 3) "x\n", NULL},
      {LINE(48, 32, 128, 0), "count"},
      {LINE(48, 32, 128, -4), "count"},
      {LINE(48, 32, 128, 1.5), "count"},
      {LINE(48, 32, 128, 1e300), "count"},
      {LINE(48, 32, 200, 3), "k % 128"},
      {LINE(0, 32, 128, 3), "m"},
      {LINE(-48, 32, 128, 3), "m"},
      {LINE(99999999999999999999, 32, 128, 3), "m"},
      {LINE(4000000, 4000000, 128, 3), "m * n"},
      {LINE_OF("fp8_gemm_blockscale", "kmajor", "{\"m\":8,\"n\":16}", "1"),
       "dimensions"},
      {LINE_OF("fp8_gemm_blockscale", "kmajor", "{\"a\":8}", "1"),
       "dimensions"},
      {LINE_OF("fp8_gemm_blockscale", "kmajor", "[8,16,128]", "1"), "shape"},
      {LINE(48, 32, 128, 3) "\x01\xff\n", NULL},
      {"{\"problem\":\"fp8_gemm_blockscale\"\n", "not JSON"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const char *path = write_log(ws_arena_printf(
        arena = arena ? arena : ws_arena_create(), "%s%s%s",
        LINE(16, 32, 128, 1), bad[i].line, LINE(16, 32, 128, 1)));
    int line = bad[i].part ? 2 : 3;
    refuse(WS_INPUT, path, ws_arena_printf(arena, "%s:%d: ", path, line));
    if (bad[i].part)
      WS_CHECK_CONTAINS(diag.text, bad[i].part);
  }
}

WS_TEST(files_that_hold_nothing) {
  refuse(WS_INPUT, write_log(""), "holds no shapes");
  refuse(WS_INPUT, write_log("\n \n"), "holds no shapes");
  refuse(WS_INPUT, "./no/such/log", "./no/such/log");
  refuse(WS_INPUT, ws_test_directory(), ws_test_directory());
}
