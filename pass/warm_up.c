/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the compile server does once so that no child has to: initialise LLVM
 * and comgr, and run every stage on something small. Children then find the
 * code paged in, symbols resolved and tables built (measured on a 128x128x128
 * candidate: 22 ms of 261 ms CPU time, a slow 2.5 GHz Xeon).
 */
#include "comgr.h"
#include "family.h"
#include "sanitize.h"
#include "server.h"

#include <dirent.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Support.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Must compile. */
static const char kernel[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "define amdgpu_kernel void @warm(ptr addrspace(1) %p) {\n"
    "  store i32 1, ptr addrspace(1) %p\n"
    "  ret void\n"
    "}\n";

/* For check and sanitizer: LDS, a barrier, a matrix instruction, a store. What
 * it computes is of no account, nor is their verdict. */
static const char candidate[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@ws.lds = internal addrspace(3) global [1024 x i8] poison, align 16\n"
    "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    "declare void @llvm.amdgcn.s.barrier()\n"
    "declare <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64, i64, "
    "<4 x float>, i32 immarg, i32 immarg, i32 immarg)\n"
    "define amdgpu_kernel void @warm(ptr addrspace(1) %INPUT, ptr addrspace(1) "
    "%OUTPUT) "
    "\"amdgpu-flat-work-group-size\"=\"64,64\" \"target-cpu\"=\"gfx942\" {\n"
    "  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n"
    "  %from = getelementptr i64, ptr addrspace(1) %INPUT, i32 %lane\n"
    "  %to = getelementptr i64, ptr addrspace(3) @ws.lds, i32 %lane\n"
    "  %value = load i64, ptr addrspace(1) %from\n"
    "  store i64 %value, ptr addrspace(3) %to\n"
    "  fence syncscope(\"workgroup\") release\n"
    "  call void @llvm.amdgcn.s.barrier()\n"
    "  fence syncscope(\"workgroup\") acquire\n"
    "  %other.lane = xor i32 %lane, 1\n"
    "  %other.at = getelementptr i64, ptr addrspace(3) @ws.lds, i32 "
    "%other.lane\n"
    "  %other = load i64, ptr addrspace(3) %other.at\n"
    "  %sum = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 "
    "%value, i64 %other, <4 x float> zeroinitializer, i32 0, i32 0, i32 0)\n"
    "  %narrow = fptrunc <4 x float> %sum to <4 x bfloat>\n"
    "  %out = getelementptr <4 x bfloat>, ptr addrspace(1) %OUTPUT, i32 %lane\n"
    "  store <4 x bfloat> %narrow, ptr addrspace(1) %out\n"
    "  ret void\n"
    "}\n"
    "!wavesmith.template = !{!0}\n"
    "!0 = !{!\"warm\", !\"1\", !\"PROBLEM\", !\"gfx942\", "
    "!\"warm\"}\n"
    "!wavesmith.launch = !{!1}\n"
    "!1 = !{!\"warm\", !\"1\", !\"1\", !\"1\", !\"64\", !\"1\"}\n";

/* Likewise for NVIDIA. */
static const char ptx_kernel[] =
    "target triple = \"nvptx64-nvidia-cuda\"\n"
    "define ptx_kernel void @warm(ptr addrspace(1) %p) {\n"
    "  store i32 1, ptr addrspace(1) %p\n"
    "  ret void\n"
    "}\n";

static void on_fatal_error(const char *reason) {
  fprintf(stderr, "LLVM ERROR: %s\n", reason);
  fflush(NULL);
  ws_server_remove_folder();
  _exit(70); /* EX_SOFTWARE; the parent reads the line above */
}

static ws_build_result run(ws_arena *arena, const char *target,
                           const char *text, size_t size, int stages) {
  int count;
  const ws_run tile = {.shape = ws_problems(&count)[0]->least, .seed = 1};
  const ws_build_request request = {.template_file = "warm.ll",
                                    .template_text = text,
                                    .template_size = size,
                                    .target = target,
                                    .assignments = "",
                                    .variants = "",
                                    .runs = &tile,
                                    .run_count = 1,
                                    .stages = stages,
                                    .limits = ws_limits_default};
  ws_build_result result;
  ws_pass_build(&request, arena, &result);
  return result;
}

static int count_threads(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

/* Dead store elimination walks a window of memory accesses per store and takes
 * half of O3 on unrolled tile stores (128x128x128: 16 of 31 ms; with these
 * limits 2 ms, and the same IR after it; LLVM 21.1.8). Options may be parsed
 * once per process, and comgr resets them: after the warm-up, before any fork.
 */
static void limit_store_walks(void) {
  static const char *const options[] = {"wavesmith-compiler",
                                        "-dse-memoryssa-walklimit=10",
                                        "-dse-memoryssa-scanlimit=20"};
  LLVMParseCommandLineOptions(3, options, "");
}

/* The candidate as one of the first problem there is. */
static const char *fill_candidate(ws_arena *arena) {
  int count;
  const ws_problem *problem = ws_problems(&count)[0];
  const char *input = "";
  for (int i = problem->arg_count - 1; i >= 0; i--)
    if (problem->args[i].role == WS_ARG_INPUT)
      input = problem->args[i].name;
  const struct {
    const char *word, *value;
  } words[] = {{"INPUT", input},
               {"OUTPUT", problem->args[problem->outputs[0]].name},
               {"PROBLEM", problem->name}};
  const char *text = candidate;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    for (const char *at; (at = strstr(text, words[i].word));)
      text = ws_arena_printf(arena, "%.*s%s%s", (int)(at - text), text,
                             words[i].value, at + strlen(words[i].word));
  return text;
}

ws_status ws_server_warm_up(ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  ws_comgr_prepare();
  ws_pass_initialize();
  ws_sanitize_warm_up();
  LLVMInstallFatalErrorHandler(on_fatal_error);
  ws_build_result result =
      run(arena, "gfx942", kernel, sizeof kernel - 1, WS_STAGE_RAW);
  if (result.verdict != WS_VERDICT_OK)
    status = ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                     "LLVM and comgr cannot compile for gfx942 (%s); see "
                     "`wavesmith doctor`",
                     result.reason);
  const char *filled = fill_candidate(arena);
  result = run(arena, "gfx942", filled, strlen(filled),
               WS_STAGE_CHECK | WS_STAGE_SANITIZE);
  ws_log(WS_LOG_DEBUG, "compile server: warm-up candidate is %s %s",
         ws_verdict_text(result.verdict), result.reason);
  if (status == WS_OK && count_threads() > 1)
    status = ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                     "LLVM or comgr started threads of its own; forking from "
                     "here would hang");
  ws_arena_destroy(arena);
  limit_store_walks();
  return status;
}

void ws_server_warm_up_target(const char *name) {
  static bool warm;
  const ws_target *target = ws_target_find(name);
  if (warm || !target || target->family != WS_FAMILY_NVPTX)
    return;
  warm = true;
  ws_arena *arena = ws_arena_create();
  ws_build_result result =
      run(arena, name, ptx_kernel, sizeof ptx_kernel - 1, WS_STAGE_RAW);
  ws_log(WS_LOG_DEBUG, "compile server: warm-up for %s is %s %s", name,
         ws_verdict_text(result.verdict), result.reason);
  ws_arena_destroy(arena);
}
