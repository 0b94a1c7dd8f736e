/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A compile server of a test's own, with a temp folder of its own: what is
 * left in it, or running with it in its environment, is a leak.
 */
#ifndef WS_SERVER_FIXTURE_H
#define WS_SERVER_FIXTURE_H

#include "wavesmith/build.h"
#include "ws_test.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>

static char temp_folder[] = "/tmp/wavesmith-test-XXXXXX";

static const char good_kernel[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "define amdgpu_kernel void @good(ptr addrspace(1) %p) {\n"
    "  store i32 42, ptr addrspace(1) %p\n"
    "  ret void\n"
    "}\n";

static ws_compiler *start_server(void) {
  ws_compiler *compiler;
  ws_diag diag;
  WS_CHECK(mkdtemp(temp_folder));
  setenv("TMPDIR", temp_folder, 1);
  if (ws_compiler_start(&compiler, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return compiler;
}

static int count_temp_entries(void) {
  int count = 0;
  DIR *folder = opendir(temp_folder);
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

/* Processes, other than this one, that have our temp folder as TMPDIR or below
 * it. A job's TMPDIR is below its server's. *out_pid is one of them. */
static int count_processes(pid_t *out_pid) {
  char name[64], text[65536];
  int count = 0;
  DIR *folder = opendir("/proc");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    if (!isdigit((unsigned char)entry->d_name[0]))
      continue;
    pid_t pid = (pid_t)atol(entry->d_name);
    snprintf(name, sizeof name, "/proc/%d/environ", (int)pid);
    FILE *file = pid == getpid() ? NULL : fopen(name, "r");
    size_t size = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
      fclose(file);
    if (memmem(text, size, temp_folder, strlen(temp_folder))) {
      count++;
      *out_pid = pid;
    }
  }
  if (folder)
    closedir(folder);
  return count;
}

/* Nothing of ours is left, at the latest after five seconds. */
static void check_nothing_left(void) {
  pid_t pid = 0;
  double end = ws_clock_ms() + 5000;
  while (ws_clock_ms() < end && (count_temp_entries() || count_processes(&pid)))
    usleep(20000);
  WS_CHECK_INT(count_processes(&pid), 0);
  WS_CHECK_INT(count_temp_entries(), 0);
  WS_CHECK(rmdir(temp_folder) == 0);
}

static ws_build_request raw_request(const char *text, size_t size) {
  return (ws_build_request){.template_file = "raw.ll",
                            .template_text = text,
                            .template_size = size,
                            .target = "gfx942",
                            .assignments = "",
                            .variants = "",
                            .stages = WS_STAGE_RAW,
                            .limits = ws_limits_default};
}

static ws_build_result build(ws_compiler *compiler, ws_arena *arena,
                             const ws_build_request *request) {
  ws_build_result result;
  ws_diag diag;
  if (ws_compiler_build(compiler, arena, request, &result, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return result;
}

/* The server still serves. */
static inline void check_good(ws_compiler *compiler) {
  ws_arena *arena = ws_arena_create();
  ws_build_request request = raw_request(good_kernel, sizeof good_kernel - 1);
  ws_build_result result = build(compiler, arena, &request);
  if (result.verdict != WS_VERDICT_OK)
    WS_FAIL("the good kernel is %s: %s", ws_verdict_text(result.verdict),
            result.reason);
  WS_CHECK_INT(result.kernel_count, 1);
  WS_CHECK_TEXT(result.kernels[0].name, "good");
  WS_CHECK(result.code_object_size > 4 &&
           !memcmp(result.code_object, "\177ELF", 4));
  ws_arena_destroy(arena);
}

/* Takes LLVM many seconds: multiplications of long vectors of 64-bit
 * integers, all unrolled. */
static inline char *slow_module(ws_arena *arena) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, "target triple = \"amdgcn-amd-amdhsa\"\n"
                        "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
                        "  %v0 = load <128 x i64>, ptr addrspace(1) %p\n");
  for (int i = 0; i < 40; i++)
    ws_strbuf_printf(&text, "  %%v%d = mul <128 x i64> %%v%d, %%v%d\n", i + 1,
                     i, i > 3 ? i - 3 : 0);
  ws_strbuf_puts(&text, "  store <128 x i64> %v40, ptr addrspace(1) %p\n"
                        "  ret void\n}\n");
  char *copy = ws_arena_strndup(arena, text.data, text.size);
  ws_strbuf_deinit(&text);
  return copy;
}

#endif
