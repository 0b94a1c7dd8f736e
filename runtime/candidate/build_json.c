/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Build requests and results as JSON and back: the tables of their members.
 * Most counts of an instruction mix are zero, so a zero integer is left out.
 */
#include "wavesmith/build.h"

/* Far above what the two sides send each other. */
enum { RUNS_MAX = 4096, FINDINGS_MAX = 4096, SPOTS_MAX = 4096 };

#define COUNT32(owner, name)                                                   \
  { WS_JSON_INT(owner, name, INT32_MIN, INT32_MAX) }
#define COUNT64(owner, name)                                                   \
  { WS_JSON_INT(owner, name, INT64_MIN, INT64_MAX) }

/* ---- requests ---- */
static const ws_json_field limits_fields[] = {
    {WS_JSON_INT(ws_limits, wall_ms, 1, INT32_MAX)},
    {WS_JSON_INT(ws_limits, cpu_ms, 1, INT32_MAX)},
    {WS_JSON_INT(ws_limits, memory_mb, 1, INT32_MAX)}};
static const ws_json_struct limits_json =
    WS_JSON_STRUCT(ws_limits, limits_fields);

static const ws_json_field body_fields[] = {
    {WS_JSON_TEXT(struct ws_request_body, region)},
    {WS_JSON_TEXT(struct ws_request_body, language)},
    {WS_JSON_TEXT(struct ws_request_body, text)},
    {WS_JSON_TEXT(struct ws_request_body, file)}};
static const ws_json_struct body_json =
    WS_JSON_STRUCT(struct ws_request_body, body_fields);

static const ws_json_field run_fields[] = {
    {WS_JSON_SHAPE(ws_run, shape)},
    {WS_JSON_INT(ws_run, order, WS_WAVES_UP, WS_WAVES_DOWN)},
    {WS_JSON_INT(ws_run, spots, 0, SPOTS_MAX)},
    {WS_JSON_BOOL(ws_run, alone), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_SEED(ws_run, seed)}};
static const ws_json_struct run_json = WS_JSON_STRUCT(ws_run, run_fields);

static const ws_json_field request_fields[] = {
    {WS_JSON_TEXT(ws_build_request, template_file)},
    {WS_JSON_TEXT(ws_build_request, target)},
    {WS_JSON_TEXT(ws_build_request, assignments)},
    {WS_JSON_TEXT(ws_build_request, variants)},
    COUNT32(ws_build_request, stages),
    {WS_JSON_OBJECT(ws_build_request, limits, limits_json)},
    {WS_JSON_ITEMS(ws_build_request, bodies, body_count, 0,
                   WS_TEMPLATE_MAX_REGIONS, body_json)},
    {WS_JSON_ITEMS(ws_build_request, runs, run_count, 0, RUNS_MAX, run_json)}};

static ws_status check_stages(const void *value, const char *what,
                              ws_diag *diag) {
  const ws_build_request *request = value;
  if (request->stages & ~(WS_STAGE_CHECK | WS_STAGE_SANITIZE | WS_STAGE_LOWER |
                          WS_STAGE_RAW | WS_STAGE_LINES | WS_STAGE_BRANCHES))
    return ws_fail(diag, WS_INPUT, what, 0, "unknown stages %d",
                   request->stages);
  return WS_OK;
}

static const ws_json_struct request_json = {
    WS_JSON_FIELDS(ws_build_request, request_fields), .sparse = true,
    .check = check_stages};

struct cJSON *ws_build_request_to_json(const ws_build_request *request) {
  return ws_json_write(&request_json, request);
}

ws_status ws_build_request_from_json(ws_arena *arena, const struct cJSON *json,
                                     ws_build_request *out_request,
                                     ws_diag *diag) {
  return ws_json_read(&request_json, arena, json, "build request", out_request,
                      diag);
}

/* ---- facts ---- */
static const ws_json_field mix_fields[] = {
#define MIX_FIELD(name) COUNT32(ws_mix, name),
    WS_MIX_MAP(MIX_FIELD)
#undef MIX_FIELD
};
static const ws_json_struct mix_json = WS_JSON_STRUCT(ws_mix, mix_fields);

static const ws_json_field loop_fields[] = {
    COUNT32(ws_loop, mfma_clocks_over_load),
    COUNT32(ws_loop, load_bytes),
    {WS_JSON_OBJECT(ws_loop, mix, mix_json)}};
static const ws_json_struct loop_json = WS_JSON_STRUCT(ws_loop, loop_fields);

static const ws_json_field kernarg_fields[] = {
    {WS_JSON_TEXT(struct ws_kernarg, name)},
    COUNT32(struct ws_kernarg, offset),
    COUNT32(struct ws_kernarg, size)};
static const ws_json_struct kernarg_json =
    WS_JSON_STRUCT(struct ws_kernarg, kernarg_fields);

static const ws_json_field constant_fields[] = {
    {WS_JSON_TEXT(struct ws_scalar_constant, scalar)},
    COUNT64(struct ws_scalar_constant, value),
    COUNT32(struct ws_scalar_constant, modulus)};
static const ws_json_struct constant_json =
    WS_JSON_STRUCT(struct ws_scalar_constant, constant_fields);

static const ws_json_field kernel_fields[] = {
    {WS_JSON_TEXT(ws_kernel_facts, name)},
    COUNT32(ws_kernel_facts, vgpr),
    COUNT32(ws_kernel_facts, agpr),
    COUNT32(ws_kernel_facts, sgpr),
    COUNT32(ws_kernel_facts, lds_bytes),
    COUNT32(ws_kernel_facts, dynamic_lds),
    COUNT32(ws_kernel_facts, scratch_bytes),
    COUNT32(ws_kernel_facts, vgpr_spills),
    COUNT32(ws_kernel_facts, sgpr_spills),
    COUNT32(ws_kernel_facts, kernarg_bytes),
    COUNT32(ws_kernel_facts, max_workgroup),
    COUNT32(ws_kernel_facts, code_bytes),
    {WS_JSON_BOOL(ws_kernel_facts, dynamic_stack), .presence = WS_JSON_ADDED},
    {WS_JSON_OBJECT(ws_kernel_facts, mix, mix_json)},
    {WS_JSON_ROOM(ws_kernel_facts, loops, loop_count, loop_json)},
    {WS_JSON_ROOM(ws_kernel_facts, args, arg_count, kernarg_json)},
    {WS_JSON_ROOM(ws_kernel_facts, constants, constant_count, constant_json),
     .presence = WS_JSON_ADDED}};
static const ws_json_struct kernel_json =
    WS_JSON_STRUCT(ws_kernel_facts, kernel_fields);

/* ---- observations ---- */
static const ws_json_field observed_fields[] = {
#define OBSERVED_FIELD(name) COUNT64(ws_observed, name),
    WS_OBSERVED_MAP(OBSERVED_FIELD)
#undef OBSERVED_FIELD
};
static const ws_json_struct observed_json =
    WS_JSON_STRUCT(ws_observed, observed_fields);

static const ws_json_field launch_fields[] = {
    {WS_JSON_TEXT(struct ws_launch_observed, kernel)},
    {WS_JSON_OBJECT(struct ws_launch_observed, observed, observed_json)}};
static const ws_json_struct launch_json =
    WS_JSON_STRUCT(struct ws_launch_observed, launch_fields);

static const ws_json_field run_result_fields[] = {
    {WS_JSON_SHAPE(ws_run_result, shape)},
    {WS_JSON_ROOM(ws_run_result, launches, launch_count, launch_json)}};
static const ws_json_struct run_result_json =
    WS_JSON_STRUCT(ws_run_result, run_result_fields);

/* ---- results ---- */
static const ws_json_field branch_fields[] = {
    {WS_JSON_TEXT(ws_branch, kernel)}, {WS_JSON_TEXT(ws_branch, left)},
    {WS_JSON_TEXT(ws_branch, right)},  COUNT64(ws_branch, modulus),
    {WS_JSON_TEXT(ws_branch, region)}, {WS_JSON_TEXT(ws_branch, file)},
    COUNT32(ws_branch, line)};
static const ws_json_struct branch_json =
    WS_JSON_STRUCT(ws_branch, branch_fields);

static const ws_json_field result_fields[] = {
    {WS_JSON_CHOICE(ws_build_result, verdict, ws_verdict_names)},
    {WS_JSON_CHOICE(ws_build_result, blame, ws_blame_names),
     .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_TEXT(ws_build_result, stage)},
    {WS_JSON_TEXT(ws_build_result, reason)},
    {WS_JSON_TEXT(ws_build_result, ir_hash)},
    {WS_JSON_TEXT(ws_build_result, code_hash)},
    {WS_JSON_DOUBLE(ws_build_result, parse_ms)},
    {WS_JSON_DOUBLE(ws_build_result, check_ms)},
    {WS_JSON_DOUBLE(ws_build_result, sanitize_ms)},
    {WS_JSON_DOUBLE(ws_build_result, lower_ms)},
    {WS_JSON_TEXT(ws_build_result, compiler), .presence = WS_JSON_ADDED},
    {WS_JSON_TEXT(ws_build_result, object_hash), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_TEXT(ws_build_result, not_modelled), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_ITEMS(ws_build_result, findings, finding_count, 0, FINDINGS_MAX,
                   ws_finding_json)},
    {WS_JSON_ITEMS(ws_build_result, runs, run_count, 0, RUNS_MAX,
                   run_result_json)},
    {WS_JSON_ITEMS(ws_build_result, kernels, kernel_count, 0, WS_MAX_KERNELS,
                   kernel_json)},
    {WS_JSON_ITEMS(ws_build_result, branches, branch_count, 0, WS_MAX_BRANCHES,
                   branch_json),
     .presence = WS_JSON_LEFT_OUT}};
static const ws_json_struct result_json = {
    WS_JSON_FIELDS(ws_build_result, result_fields), .sparse = true};

struct cJSON *ws_build_result_to_json(const ws_build_result *result) {
  ws_build_result written = *result;
  ws_hash hash;
  if (result->code_object_size) {
    hash = ws_hash_bytes(result->code_object, result->code_object_size);
    written.object_hash = hash.hex;
  }
  return ws_json_write(&result_json, &written);
}

ws_status ws_build_result_from_json(ws_arena *arena, const struct cJSON *json,
                                    ws_build_result *out_result,
                                    ws_diag *diag) {
  return ws_json_read(&result_json, arena, json, "build result", out_result,
                      diag);
}
