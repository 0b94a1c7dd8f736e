/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith check` as a user runs it: output, exit codes, files.
 */
#include "wavesmith/base.h"
#include "ws_test.h"

#include <cjson/cJSON.h>

/* Made at the first use. */
static const char *folder(void) {
  static char path[] = "/tmp/wavesmith-test-XXXXXX";
  static bool made;
  if (!made)
    WS_CHECK(mkdtemp(path));
  made = true;
  return path;
}

/* Runs `wavesmith check ARGUMENTS`; stdout and stderr into out. */
static int check(ws_arena *arena, char **out, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int check(ws_arena *arena, char **out, const char *format, ...) {
  char arguments[2048], *command;
  va_list list;
  va_start(list, format);
  vsnprintf(arguments, sizeof arguments, format, list);
  va_end(list);
  command = ws_arena_printf(arena, "'%s' check %s >'%s/out' 2>&1", WS_PROGRAM,
                            arguments, folder());
  int status = system(command);
  size_t size;
  ws_diag diag;
  char *path = ws_arena_printf(arena, "%s/out", folder());
  WS_CHECK(ws_file_read(arena, path, out, &size, &diag) == WS_OK);
  unlink(path);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *naive(ws_arena *arena) {
  const char *source = getenv("WS_SOURCE_DIR");
  return ws_arena_printf(arena, "%s/ir-templates/fp8_gemm_naive.ll",
                         source ? source : ".");
}

WS_TEST(a_good_candidate_exits_0) {
  ws_arena *arena = ws_arena_create();
  char *out;
  int code = check(arena, &out, "'%s' --shape 128,576,512 --layout mnmajor",
                   naive(arena));
  if (code != 0)
    WS_FAIL("exit %d: %s", code, out);
  WS_CHECK_CONTAINS(out, "verdict    ok");
  WS_CHECK_CONTAINS(out, "layout=1");
  WS_CHECK_CONTAINS(out, "kernel     fp8_gemm_naive: ");
  WS_CHECK_CONTAINS(out, "256 threads");
  WS_CHECK_CONTAINS(out, "estimate:"); /* never without provenance */
  WS_CHECK_CONTAINS(out, "n=576");
  rmdir(folder());
  ws_arena_destroy(arena);
}

WS_TEST(json_is_json) {
  ws_arena *arena = ws_arena_create();
  char *out;
  WS_CHECK_INT(check(arena, &out, "'%s' --stage lower --json", naive(arena)),
               0);
  cJSON *json = cJSON_Parse(out);
  const cJSON *result = cJSON_GetObjectItem(json, "result");
  WS_CHECK_TEXT(cJSON_GetObjectItem(result, "verdict")->valuestring, "ok");
  WS_CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(result, "kernels")), 1);
  cJSON_Delete(json);
  rmdir(folder());
  ws_arena_destroy(arena);
}

/* Facts in NVIDIA's words, no estimate, nothing said of a sanitizer; PTX where
 * there is no ptxas. */
WS_TEST(sm90_is_reported_in_its_words) {
  ws_arena *arena = ws_arena_create();
  char *out;
  const char *source = getenv("WS_SOURCE_DIR");
  const char *tiny = ws_arena_printf(arena, "%s/tests/pass/Inputs/tiny_sm90.ll",
                                     source ? source : ".");
  setenv("WAVESMITH_PTXAS", "none", 1);
  int code = check(arena, &out, "'%s' --set columns=96", tiny);
  if (code != 0)
    WS_FAIL("exit %d: %s", code, out);
  WS_CHECK_CONTAINS(out, "kernel     tiny: registers not known (no ptxas), "
                         "49216 bytes of shared memory (0 static, 49216 "
                         "dynamic)");
  WS_CHECK_CONTAINS(out, "128 threads");
  WS_CHECK_CONTAINS(out, "PTX; the driver assembles it");
  WS_CHECK(!strstr(out, "MFMA") && !strstr(out, "VGPR"));
  WS_CHECK_INT(check(arena, &out, "'%s' --json", tiny), 0);
  cJSON *json = cJSON_Parse(out);
  const cJSON *result = cJSON_GetObjectItem(json, "result");
  WS_CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(result, "runs")), 0);
  cJSON_Delete(json);
  WS_CHECK_INT(check(arena, &out, "'%s' --shape 128,128,128", tiny), 2);
  WS_CHECK_CONTAINS(out, "there is no estimate for sm_90a");
  rmdir(folder());
  ws_arena_destroy(arena);
}

WS_TEST(the_code_object_is_written) {
  ws_arena *arena = ws_arena_create();
  char *out, *data, *path;
  size_t size;
  ws_diag diag;
  path = ws_arena_printf(arena, "%s/k.co", folder());
  WS_CHECK_INT(
      check(arena, &out, "'%s' --stage lower --emit '%s'", naive(arena), path),
      0);
  WS_CHECK(ws_file_read(arena, path, &data, &size, &diag) == WS_OK);
  WS_CHECK(size > 4 && !memcmp(data, "\177ELF", 4));
  WS_CHECK_INT(check(arena, &out, "'%s' --stage lower --emit /proc/nowhere.co",
                     naive(arena)),
               3);
  unlink(path);
  rmdir(folder());
  ws_arena_destroy(arena);
}

WS_TEST(a_body_of_ones_own_is_judged) {
  static const char body[] = "define float @decode(i32 %byte) {\n"
                             "  %x = call i64 @llvm.readcyclecounter()\n"
                             "  ret float 0.0\n"
                             "}\n"
                             "declare i64 @llvm.readcyclecounter()\n";
  ws_arena *arena = ws_arena_create();
  char *out, *path;
  ws_diag diag;
  path = ws_arena_printf(arena, "%s/body.ll", folder());
  WS_CHECK(ws_file_write_atomic(path, body, sizeof body - 1, &diag) == WS_OK);
  WS_CHECK_INT(
      check(arena, &out, "'%s' --body 'decode=%s'", naive(arena), path), 1);
  WS_CHECK(!strstr(out, "verdict    ok"));
  WS_CHECK_CONTAINS(out, "finding    ");
  WS_CHECK_CONTAINS(out, "decode");
  unlink(path);
  rmdir(folder());
  ws_arena_destroy(arena);
}

WS_TEST(a_raw_module_is_lowered) {
  static const char kernel[] = "target triple = \"amdgcn-amd-amdhsa\"\n"
                               "define amdgpu_kernel void @k() {\n"
                               "  ret void\n}\n";
  ws_arena *arena = ws_arena_create();
  char *out, *path;
  ws_diag diag;
  path = ws_arena_printf(arena, "%s/raw.ll", folder());
  WS_CHECK(ws_file_write_atomic(path, kernel, sizeof kernel - 1, &diag) ==
           WS_OK);
  WS_CHECK_INT(check(arena, &out, "--raw '%s'", path), 0);
  WS_CHECK_CONTAINS(out, "kernel     k: ");
  unlink(path);
  rmdir(folder());
  ws_arena_destroy(arena);
}

WS_TEST(what_is_wrong_is_one_line_with_its_code) {
  static const struct {
    const char *options, *part;
    int code;
  } cases[] = {
      {"--set tile_n=17", "choose from: 16 32 64", 1},
      {"--set nothing=1", "nothing", 1},
      {"--set tile_n", "tile_n", 1},
      {"--variant decode=other", "other", 1},
      {"--body decode=missing.ll", "missing.ll", 1},
      {"--body other=missing.ll", "no region 'other'", 1},
      {"--body decode", "REGION=FILE", 2},
      {"--layout diagonal", "diagonal", 2},
      {"--shape 0,128,128", "is no shape m,n,k", 2},
      {"--shape 128,128,100", "it needs k", 1},
      {"--shape 128,128", "is no shape m,n,k", 2},
      {"--shape 128,128,128 --stage check", "--shape needs", 2},
      {"--stage none", "--stage", 2},
      {"--frobnicate", "--help", 2},
      {"--archive x.db --set tile_n=16", "--archive takes", 2},
      {"--archive /nowhere/x.db", "/nowhere/x.db", 1},
      {"--raw --set tile_n=16", "--raw takes", 2},
      {"another", "name one", 2},
  };
  ws_arena *arena = ws_arena_create();
  char *out;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int code = check(arena, &out, "'%s' %s", naive(arena), cases[i].options);
    char *last = strstr(out, "wavesmith check: ");
    if (code != cases[i].code || !last || !strstr(last, cases[i].part))
      WS_FAIL("%s: exit %d: %s", cases[i].options, code, out);
    WS_CHECK(strchr(last, '\n') == last + strlen(last) - 1);
  }
  rmdir(folder());
  ws_arena_destroy(arena);
}

WS_TEST(help_and_a_missing_template) {
  ws_arena *arena = ws_arena_create();
  char *out;
  WS_CHECK_INT(check(arena, &out, "--help"), 0);
  WS_CHECK_CONTAINS(out, "usage: wavesmith check");
  WS_CHECK_INT(check(arena, &out, "/nowhere.ll"), 1);
  WS_CHECK_CONTAINS(out, "/nowhere.ll");
  rmdir(folder());
  ws_arena_destroy(arena);
}
