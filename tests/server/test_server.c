/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The compile server through its client: answers, limits, deaths, restarts.
 */
#include "server_fixture.h"

#include <cjson/cJSON.h>
#include <poll.h>
#include <sys/stat.h>

static const char small_template[] =
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "@ws.step = internal addrspace(4) constant i32 1\n"
    "define internal i32 @value(i32 %x) alwaysinline {\n"
    "  %y = add i32 %x, 1\n"
    "  ret i32 %y\n"
    "}\n"
    "define internal i32 @value_twice(i32 %x) alwaysinline {\n"
    "  %y = mul i32 %x, 2\n"
    "  ret i32 %y\n"
    "}\n"
    "define amdgpu_kernel void @fill(ptr addrspace(1) %c, i32 %m) "
    "\"amdgpu-flat-work-group-size\"=\"64,64\" \"target-cpu\"=\"gfx942\" {\n"
    "  %step = load i32, ptr addrspace(4) @ws.step\n"
    "  %s = add i32 %m, %step\n"
    "  %v = call i32 @value(i32 %s)\n"
    "  store i32 %v, ptr addrspace(1) %c\n"
    "  ret void\n"
    "}\n"
    "define amdgpu_kernel void @reduce(ptr addrspace(1) %c) "
    "\"amdgpu-flat-work-group-size\"=\"64,64\" \"target-cpu\"=\"gfx942\" {\n"
    "  store i32 0, ptr addrspace(1) %c\n"
    "  ret void\n"
    "}\n"
    "!wavesmith.template = !{!0}\n"
    "!0 = !{!\"small\", !\"1\", !\"fp8_gemm_blockscale\", !\"gfx942\", "
    "!\"for tests\"}\n"
    "!wavesmith.param = !{!1}\n"
    "!1 = !{!\"step\", !\"ws.step\", !\"1 2 3\", !\"what is added\"}\n"
    "!wavesmith.require = !{!6}\n"
    "!6 = !{!\"step != 3\", !\"three is not allowed\"}\n"
    "!wavesmith.launch = !{!2, !3}\n"
    "!2 = !{!\"fill\", !\"m\", !\"1\", !\"1\", !\"64\", !\"1\"}\n"
    "!3 = !{!\"reduce\", !\"m\", !\"1\", !\"1\", !\"64\", !\"step > 1\"}\n"
    "!wavesmith.region = !{!4}\n"
    "!4 = !{!\"value\", !\"any function of x\"}\n"
    "!wavesmith.variant = !{!5}\n"
    "!5 = !{!\"value\", !\"value_twice\", !\"doubles\"}\n";

static ws_build_request template_request(const char *assignments) {
  return (ws_build_request){.template_file = "small.ll",
                            .template_text = small_template,
                            .template_size = sizeof small_template - 1,
                            .target = "gfx942",
                            .assignments = assignments,
                            .variants = "",
                            .stages = WS_STAGE_CHECK | WS_STAGE_LOWER,
                            .limits = ws_limits_default};
}

static ws_build_result build_template(ws_compiler *compiler, ws_arena *arena,
                                      const char *assignments,
                                      const char *variants,
                                      const char *opencl) {
  ws_build_request request = template_request(assignments);
  struct ws_request_body body = {"value", "opencl", opencl, "value.cl"};
  request.variants = variants;
  request.bodies = &body;
  request.body_count = opencl != NULL;
  return build(compiler, arena, &request);
}

static void check_verdict(const ws_build_result *result, ws_verdict want) {
  if (result->verdict != want)
    WS_FAIL("%s, want %s: %s", ws_verdict_text(result->verdict),
            ws_verdict_text(want), result->reason);
}

WS_TEST(versions_are_told) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  char *json;
  ws_diag diag;
  WS_CHECK(ws_compiler_versions(compiler, arena, &json, &diag) == WS_OK);
  cJSON *parsed = cJSON_Parse(json);
  WS_CHECK(cJSON_IsString(cJSON_GetObjectItem(parsed, "llvm")));
  WS_CHECK(cJSON_IsString(cJSON_GetObjectItem(parsed, "comgr")));
  cJSON_Delete(parsed);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(a_template_is_described) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl;
  ws_diag diag;
  if (ws_compiler_describe(compiler, arena, "small.ll", small_template,
                           sizeof small_template - 1, &tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_TEXT(tmpl->name, "small");
  WS_CHECK_INT(tmpl->param_count, 1);
  WS_CHECK_INT(tmpl->params[0].default_value, 1);
  WS_CHECK_INT(tmpl->region_count, 1);
  WS_CHECK_INT(tmpl->regions[0].variant_count, 1);
  WS_CHECK_INT(tmpl->launches[0].argument_count, 2);
  WS_CHECK_TEXT(tmpl->launches[0].arguments[1], "m");
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(a_malformed_template_is_an_input_error_with_its_line) {
  static const char broken[] = "target triple = \"amdgcn-amd-amdhsa\"\n"
                               "define void @f() {\n"
                               "  %x = add i32 %nowhere, 1\n"
                               "  ret void\n}\n";
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl;
  ws_diag diag;
  WS_CHECK_INT(ws_compiler_describe(compiler, arena, "broken.ll", broken,
                                    sizeof broken - 1, &tmpl, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "broken.ll:3:16: "); /* %nowhere */
  check_good(compiler);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

/* The first finding of OpenCL C that is no template, "FILE:LINE: TEXT". */
static const char *refusal(ws_compiler *compiler, ws_arena *arena,
                           const char *text, const char *target) {
  const ws_import import = {.file = "t.cl",
                            .target = target,
                            .own = text,
                            .text = text,
                            .language = "opencl",
                            .name = "t",
                            .problem = "gemm_bf16"};
  const ws_finding *findings;
  const char *made;
  int count;
  ws_diag diag;
  if (ws_compiler_import(compiler, arena, &import, &made, &findings, &count,
                         &diag) != WS_OK)
    return ws_arena_strdup(arena, diag.text);
  if (!count || *made)
    return "";
  return ws_arena_printf(arena, "%s:%d: %s", findings[0].file, findings[0].line,
                         findings[0].text);
}

/* Each is wrong in one line of the text, and told by it. */
WS_TEST(opencl_that_is_no_template_is_told_by_its_line) {
#define BEGIN                                                                  \
  "WS_PARAM(tile, 4, \"4 8\", \"rows\")\n"                                     \
  "WS_LAUNCH(f, 1, 1, 1, 64, 1)\n"                                             \
  "kernel void f(global __bf16 *c, int m) {\n"
  static const struct {
    const char *text, *target, *part;
  } cases[] = {
      {BEGIN "c[0] = x; }\n", "gfx942", "t.cl:4: use of undeclared identifier"},
      {BEGIN "float x[tile];\n}\n", "gfx942", "t.cl:4: variable length"},
      {BEGIN "float x[tile];\n}\n", "gfx942", "WS_MOST(name)"},
      {BEGIN "\n#if tile > 4\n#endif\n}\n", "gfx942", "write if (...)"},
      {BEGIN "c[get_local_id(0)] = 1; }\n", "gfx942",
       "t.cl:4: get_local_id: there is no library; write "
       "__builtin_amdgcn_workitem_id_x()"},
      {BEGIN "c[0] = max(1, m); }\n", "gfx942", "__builtin_elementwise_max"},
      {BEGIN "}\n\\\n\n#inc\\\nlude \"x\"\n", "gfx942", "t.cl:7: 'include'"},
      {"kernel void f(global __bf16 *c) {}\n", "gfx942",
       "nothing says how the kernel is launched"},
      /* notes made by hand, of what carries another kind */
      {"__attribute__((used, annotate(\"wavesmith.param\\nx\\n1 2\\ny\"))) "
       "static "
       "constant char ws__record_x = 0;\n" BEGIN "}\n",
       "gfx942", "t.cl:1: annotation wavesmith.param is none that"},
      {"__attribute__((used, annotate(\"wavesmith.region\\nx\"))) static "
       "constant "
       "char x = 0;\n" BEGIN "}\n",
       "gfx942", "t.cl:1: annotation wavesmith.region is none that"},
      {BEGIN "}\n", "sm_90a", "OpenCL C is compiled for AMD only; for sm_90a"},
  };
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    WS_CHECK_CONTAINS(refusal(compiler, arena, cases[i].text, cases[i].target),
                      cases[i].part);
  WS_CHECK_TEXT(
      refusal(compiler, arena, BEGIN "c[0] = (__bf16)(float)m; }\n", "gfx942"),
      "");
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(a_candidate_is_built) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  ws_build_result one = build_template(compiler, arena, "", "", NULL);
  ws_build_result two = build_template(compiler, arena, "step=2", "", NULL);
  ws_build_result same = build_template(compiler, arena, "step=1", "", NULL);
  ws_build_result other =
      build_template(compiler, arena, "", "value=value_twice", NULL);
  check_verdict(&one, WS_VERDICT_OK);
  check_verdict(&two, WS_VERDICT_OK);
  check_verdict(&other, WS_VERDICT_OK);
  WS_CHECK_TEXT(one.ir_hash, same.ir_hash);
  WS_CHECK_TEXT(one.code_hash, same.code_hash);
  WS_CHECK(strcmp(one.ir_hash, two.ir_hash) != 0);
  WS_CHECK(strcmp(one.ir_hash, other.ir_hash) != 0);
  WS_CHECK(one.lower_ms > 0 && one.parse_ms > 0);
  /* "reduce" is launched when step > 1 only */
  WS_CHECK_INT(one.kernel_count, 1);
  WS_CHECK_INT(two.kernel_count, 2);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(an_opencl_body_becomes_the_region) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  ws_build_result shipped =
      build_template(compiler, arena, "", "value=value_twice", NULL);
  ws_build_result own = build_template(
      compiler, arena, "", "", "int value(int x) { return x + step * x; }\n");
  ws_build_result bad = build_template(compiler, arena, "", "",
                                       "int value(int x) {\n  return y;\n}\n");
  if (strstr(own.reason, "not installed"))
    WS_SKIP("%s", own.reason);
  check_verdict(&own, WS_VERDICT_OK);
  WS_CHECK_TEXT(own.ir_hash, shipped.ir_hash); /* step is 1: twice x */
  check_verdict(&bad, WS_VERDICT_NO_COMPILE);
  WS_CHECK_TEXT(bad.findings[0].id, "opencl-compile");
  WS_CHECK_INT(bad.findings[0].line, 2);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(faulty_candidates_are_verdicts) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  ws_build_result broken = build_template(compiler, arena, "step=3", "", NULL);
  check_verdict(&broken, WS_VERDICT_ILLEGAL);
  WS_CHECK_CONTAINS(broken.reason, "three is not allowed");
  ws_build_result unknown = build_template(compiler, arena, "pace=1", "", NULL);
  check_verdict(&unknown, WS_VERDICT_ILLEGAL);
  ws_build_result value = build_template(compiler, arena, "step=9", "", NULL);
  check_verdict(&value, WS_VERDICT_ILLEGAL);
  WS_CHECK_CONTAINS(value.reason, "1 2 3");
  ws_build_request request = raw_request("not IR at all", 13);
  ws_build_result text = build(compiler, arena, &request);
  check_verdict(&text, WS_VERDICT_NO_COMPILE);
  WS_CHECK_TEXT(text.stage, "parse");
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(limits_hold) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  char *slow = slow_module(arena);
  ws_build_request request = raw_request(slow, strlen(slow));
  request.limits = (ws_limits){.wall_ms = 700, .cpu_ms = 9000, 2048};
  ws_build_result result;
  ws_diag diag;
  bool done;
  double start = ws_clock_ms();
  WS_CHECK_INT(ws_compiler_send(compiler, &request, &diag), WS_OK);
  while (!ws_compiler_has_answer(compiler))
    usleep(1000);
  double took = ws_clock_ms() - start;
  WS_CHECK(took >= 700 && took < 1700);
  WS_CHECK_INT(ws_compiler_receive(compiler, arena, &result, &done, &diag),
               WS_OK);
  check_verdict(&result, WS_VERDICT_TIMEOUT);
  WS_CHECK(!done); /* once is no evidence; nor ever, where it got no core */
  request.limits = (ws_limits){.wall_ms = 9000, .cpu_ms = 1000, 2048};
  result = build(compiler, arena, &request);
  check_verdict(&result, WS_VERDICT_TIMEOUT);
  WS_CHECK_CONTAINS(result.reason, "CPU");
#ifndef __SANITIZE_ADDRESS__ /* its allocator has its address space already */
  request.limits = (ws_limits){.wall_ms = 9000, .cpu_ms = 9000, 8};
  result = build(compiler, arena, &request);
  check_verdict(&result, WS_VERDICT_CRASH);
  WS_CHECK_CONTAINS(result.reason, "out of memory, limit 8 MB");
#endif
  check_good(compiler);
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  check_nothing_left();
}

WS_TEST(two_servers_work_at_once) {
  ws_compiler *compilers[2];
  ws_diag diag;
  compilers[0] = start_server();
  WS_CHECK(ws_compiler_start(&compilers[1], &diag) == WS_OK);
  ws_arena *arena = ws_arena_create();
  ws_build_request request = template_request("");
  struct pollfd items[2];
  for (int i = 0; i < 2; i++) {
    WS_CHECK(ws_compiler_send(compilers[i], &request, &diag) == WS_OK);
    items[i] = (struct pollfd){ws_compiler_descriptor(compilers[i]), POLLIN, 0};
  }
  for (int left = 2; left > 0;) {
    WS_CHECK(poll(items, 2, 10000) > 0);
    for (int i = 0; i < 2; i++) {
      ws_build_result result;
      if (items[i].fd < 0 || !items[i].revents)
        continue;
      bool done;
      WS_CHECK(ws_compiler_receive(compilers[i], arena, &result, &done,
                                   &diag) == WS_OK);
      WS_CHECK(done);
      check_verdict(&result, WS_VERDICT_OK);
      items[i].fd = -1;
      left--;
    }
  }
  ws_arena_destroy(arena);
  ws_compiler_stop(compilers[0]);
  ws_compiler_stop(compilers[1]);
  check_nothing_left();
}

WS_TEST(a_dead_server_costs_no_job) {
  ws_compiler *compiler = start_server();
  ws_arena *arena = ws_arena_create();
  char *slow = slow_module(arena);
  ws_build_request request = raw_request(slow, strlen(slow));
  ws_build_result result;
  ws_diag diag;
  pid_t server = 0;
  check_good(compiler);
  WS_CHECK_INT(count_processes(&server), 1); /* between jobs */
  WS_CHECK(kill(server, SIGKILL) == 0);
  usleep(50000);
  check_good(compiler); /* a new one */
  WS_CHECK_INT(count_processes(&server), 1);
  WS_CHECK(ws_compiler_send(compiler, &request, &diag) == WS_OK);
  usleep(100000);
  WS_CHECK(kill(server, SIGKILL) == 0);
  bool done = true; /* the job is no worse for it, and begins anew */
  WS_CHECK(ws_compiler_receive(compiler, arena, &result, &done, &diag) ==
           WS_OK);
  WS_CHECK(!done);
  check_good(compiler); /* which lets go of the slow one */
  ws_arena_destroy(arena);
  ws_compiler_stop(compiler);
  pid_t any;
  for (int i = 0; i < 100 && count_processes(&any); i++)
    usleep(20000);
  WS_CHECK_INT(count_processes(&any), 0); /* nor the job of the killed one */
  /* Nobody can remove the folder of a server that was killed. */
  char command[256];
  snprintf(command, sizeof command, "rm -rf '%s'", temp_folder);
  WS_CHECK(system(command) == 0);
}

WS_TEST(a_server_that_cannot_start_is_one_line) {
  static const struct {
    const char *script, *part;
  } cases[] = {
      {"#!/bin/sh\nexit 127\n", "library of LLVM or comgr is missing"},
      {"#!/bin/sh\nexit 3\n", "exit code 3"},
      {NULL, "cannot run"},
  };
  ws_compiler *compiler;
  char path[64];
  ws_diag diag;
  WS_CHECK(mkdtemp(temp_folder));
  snprintf(path, sizeof path, "%s/server", temp_folder);
  setenv("WAVESMITH_COMPILER", path, 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    unlink(path);
    if (cases[i].script) {
      WS_CHECK(ws_file_write_atomic(path, cases[i].script,
                                    strlen(cases[i].script), &diag) == WS_OK);
      WS_CHECK(chmod(path, 0755) == 0);
    }
    WS_CHECK_INT(ws_compiler_start(&compiler, &diag), WS_ENVIRONMENT);
    WS_CHECK(!compiler);
    WS_CHECK_CONTAINS(diag.text, cases[i].part);
    WS_CHECK_CONTAINS(diag.text, "wavesmith doctor");
    WS_CHECK(!strchr(diag.text, '\n'));
  }
  unlink(path);
  rmdir(temp_folder);
}
