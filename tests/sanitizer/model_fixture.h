/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One kernel through the sanitizer and, compiled, through the simulator, on
 * inputs of the test, whose results the test gets instead of a comparison. Link
 * with --wrap=ws_problem_find and --wrap=ws_problem_compare. A kernel reads %a
 * and writes %c: all of it, one workgroup. Of several runs, inputs and outputs
 * lie one behind the other.
 */
#ifndef WAVESMITH_MODEL_FIXTURE_H
#define WAVESMITH_MODEL_FIXTURE_H

#include "lower.h"
#include "sanitizer_fixture.h"

#include <hip/hip_runtime_api.h>

/* Of what is under way. */
static struct model_run {
  const char *name; /* for messages */
  int runs;
  const void *input;
  void *output;                      /* what the sanitizer's runs wrote */
  int64_t input_bytes, output_bytes; /* of one run */
  uint64_t seed; /* the next run's; every run has one of its own, since inputs
                    are kept by seed */
  int compared;
} model_run = {.name = "the kernel", .runs = 1, .seed = 1};

static const char *model_input(int run) {
  return (const char *)model_run.input + run * model_run.input_bytes;
}

static char *model_output(void *outputs, int run) {
  return (char *)outputs + run * model_run.output_bytes;
}

/* Seeds are given out before the runs. */
static void model_generate(int arg, const int64_t *shape, int layout,
                           uint64_t seed, void *out) {
  (void)shape, (void)layout;
  const int run = model_run.runs - (int)(model_run.seed - seed);
  if (arg == 0)
    memcpy(out, model_input(run), (size_t)model_run.input_bytes);
}

static void model_refer(const int64_t *shape, int layout,
                        const void *const *buffers, int64_t begin, int64_t end,
                        double *value, double *error) {
  (void)layout, (void)buffers, (void)begin, (void)end;
  memset(value, 0, sizeof *value * (size_t)(shape[DIM_M] * shape[DIM_N]));
  memset(error, 0, sizeof *error * (size_t)(shape[DIM_M] * shape[DIM_N]));
}

static int model_output_arg(void) {
  return ws_problem_arg_index(ws_problem_find("fp8_gemm_blockscale"), "c");
}

static int64_t model_bytes(int arg, const int64_t *shape, int layout) {
  (void)shape, (void)layout;
  return arg == model_output_arg() ? model_run.output_bytes
                                   : model_run.input_bytes;
}

void __wrap_ws_problem_compare(const ws_problem *of, const ws_shape *shape,
                               int form, const void *const *buffers,
                               int64_t begin, int64_t end, const double *value,
                               const double *error, ws_comparison *out);
void __wrap_ws_problem_compare(const ws_problem *of, const ws_shape *shape,
                               int form, const void *const *buffers,
                               int64_t begin, int64_t end, const double *value,
                               const double *error, ws_comparison *out) {
  (void)of, (void)shape, (void)form, (void)begin, (void)end, (void)value;
  (void)error;
  memcpy(model_output(model_run.output, model_run.compared++),
         buffers[model_output_arg()], (size_t)model_run.output_bytes);
  *out = (ws_comparison){.checked = 1};
}

const ws_problem *__real_ws_problem_find(const char *name);
const ws_problem *__wrap_ws_problem_find(const char *name);
/* The shipped problem's arguments with the contents above. */
const ws_problem *__wrap_ws_problem_find(const char *name) {
  static ws_problem problem;
  static ws_problem_definition definition;
  if (!problem.name) {
    problem = *__real_ws_problem_find(name);
    definition = *problem.given;
    definition.arg_bytes = model_bytes;
    definition.generate = model_generate;
    definition.slices = model_refer;
    problem.given = &definition;
  }
  return &problem;
}

/* Findings and all. */
static fixture model_observe(ws_arena *arena, const char *text) {
  ws_run *runs = ws_arena_alloc(arena, (size_t)model_run.runs * sizeof *runs);
  for (int i = 0; i < model_run.runs; i++)
    runs[i] =
        (ws_run){.shape = gemm_shape(16, 16, 128), .seed = model_run.seed++};
  model_run.compared = 0;
  return sanitize_runs(arena, text, "", runs, model_run.runs);
}

static void model_sanitize(ws_arena *arena, const char *text) {
  fixture f = model_observe(arena, text);
  print_findings(&f);
  if (f.findings.count || model_run.compared != model_run.runs)
    WS_FAIL("%s: %d findings, %d of %d runs compared", model_run.name,
            f.findings.count, model_run.compared, model_run.runs);
}

static void model_hip(hipError_t error) {
  if (error != hipSuccess)
    WS_FAIL("%s: %s", model_run.name, hipGetErrorString(error));
}

static hipModule_t model_compile(ws_arena *arena, const char *text) {
  ws_findings findings;
  ws_build_result result = {0};
  hipModule_t module;
  ws_findings_init(&findings, arena);
  ws_comgr_prepare();
  LLVMModuleRef ir = ws_pass_parse(LLVMContextCreate(), text, strlen(text),
                                   "test.ll", &findings);
  if (!ir ||
      !ws_pass_lower(ir, NULL, "gfx942", false, arena, &result, &findings))
    WS_FAIL("%s: %s", model_run.name, findings.items[0].text);
  model_hip(hipModuleLoadData(&module, result.code_object));
  return module;
}

static void model_simulate(ws_arena *arena, const char *text, void *outputs) {
  hipFunction_t kernel;
  void *in, *out;
  int32_t n = 0;
  model_hip(
      hipModuleGetFunction(&kernel, model_compile(arena, text), "kernel"));
  model_hip(hipMalloc(&in, (size_t)model_run.input_bytes));
  model_hip(hipMalloc(&out, (size_t)model_run.output_bytes));
  for (int i = 0; i < model_run.runs; i++) {
    void *arguments[] = {&in, &out, &out, &n};
    model_hip(hipMemcpy(in, model_input(i), (size_t)model_run.input_bytes,
                        hipMemcpyHostToDevice));
    model_hip(hipModuleLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, NULL,
                                    arguments, NULL));
    model_hip(hipDeviceSynchronize());
    model_hip(hipMemcpy(model_output(outputs, i), out,
                        (size_t)model_run.output_bytes, hipMemcpyDeviceToHost));
  }
}

static void model_check_static(ws_arena *arena, const char *text) {
  ws_findings findings;
  ws_findings_init(&findings, arena);
  LLVMModuleRef module = ws_pass_parse(LLVMContextCreate(), text, strlen(text),
                                       "test.ll", &findings);
  if (!module || !ws_pass_check(module, NULL, "gfx942", &findings))
    WS_FAIL("%s: %s", model_run.name, findings.items[0].text);
}

#endif
