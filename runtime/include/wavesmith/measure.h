/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Verifying and timing code objects on a device: what is asked (workload,
 * settings), what is answered, the client of the device server, and the two
 * measurements themselves, which run in the server.
 *
 * Requests and answers travel as JSON (message frames of base.h); a request's
 * blob is the code object, or that of the candidate and then its rival's.
 *   {"op":"verify","settings":{...},"workloads":[...]} -> {"measured":{...}}
 *   {"op":"time","settings":{...},"workloads":[W]}     -> {"measured":{...}}
 *   {"op":"time",...,"workloads":[W],"rival":{"size":BYTES,"workload":{...}}}
 * On its own the server first sends {"ready":true,"info":{...}}, or an error.
 *
 * Threads: a ws_device_client, and ws_inputs with its device, belong to one
 * thread at a time; the rest is plain data.
 */
#ifndef WAVESMITH_MEASURE_H
#define WAVESMITH_MEASURE_H

#include "wavesmith/build.h"
#include "wavesmith/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what runs -------------------------------------------------------------
 */

/* One explicit argument of a kernel. */
typedef enum ws_operand_kind {
  WS_OPERAND_PROBLEM,   /* argument of the problem, by name */
  WS_OPERAND_INTEGER,   /* value, in size bytes */
  WS_OPERAND_BUFFER,    /* pointer to value bytes of random data from seed;
                         * operands of one name, not "", share the first's */
  WS_OPERAND_TENSOR_MAP /* of the problem's argument, 128 bytes in place */
} ws_operand_kind;
typedef struct ws_operand_map { /* wavesmith/device.h: ws_device_tensor */
  int element_bytes;
  int64_t inner, outer;
  int32_t box_inner, box_outer, swizzle;
} ws_operand_map;
typedef struct ws_operand {
  ws_operand_kind kind;
  const char *name; /* of an argument of the problem, a buffer; else "" */
  int64_t value;
  uint64_t seed;
  int32_t offset, size; /* in the kernarg segment; 4, 8 or 128 bytes */
  ws_operand_map map;   /* of a tensor map */
} ws_operand;

enum { WS_MAX_OPERANDS = 32, WS_MAX_KERNARG = 2048 };
typedef struct ws_workload_launch {
  const char *kernel;
  uint32_t grid[3], block; /* workgroups; threads of one, in x */
  uint32_t dynamic_lds;
  const ws_operand *operands;
  int operand_count;
} ws_workload_launch;

/* A launch sequence on one shape, everything evaluated. */
typedef struct ws_workload {
  const char *problem; /* "": none, nothing is compared */
  int layout;          /* or ws_problem_form() */
  ws_shape shape;
  uint64_t seed; /* of the inputs */
  bool sampled;  /* verify by the problem's sample(), not every element */
  bool once; /* verify on the seed's contents only, not on extreme ones, too */
  int64_t workspace_bytes;
  const ws_workload_launch *launches;
  int launch_count;
  /* Of the kernel that the problem's results are compared with, on this shape;
   * NULL: there is none, or it does not take the shape. */
  const struct ws_workload_reference {
    int64_t workspace_bytes;
    const ws_workload_launch *launches;
    int launch_count;
  } * reference;
} ws_workload;

/* The workload of a candidate. WS_INPUT: its constraints refuse the shape, an
 * expression fails, or no launch condition holds. In the arena. */
ws_status ws_workload_of(ws_arena *arena, const ws_problem *problem, int layout,
                         const ws_candidate *candidate,
                         const ws_build_result *result, const ws_shape *shape,
                         int cu_count, ws_workload *out_workload,
                         ws_diag *diag) WS_MUST_CHECK;

/* ---- how it is measured
 * ------------------------------------------------------
 */
typedef struct ws_measure_settings {
  int wall_ms; /* the client's watchdog; default 20000. Sampling stops at 40 %
                * of it with what it has; 0: no limit */
  /* Timing on a card; a simulator takes one sample. */
  double warm_up_ms;   /* until the clock is steady; default 50 */
  double target_width; /* of the interval / median; default 0.01; with a rival
                        * that of the ratio */
  int min_samples;     /* default 20 */
  int max_samples;     /* default 400 */
  double roofline_us;  /* faster than this is wrong; 0: unknown */
} ws_measure_settings;
extern const ws_measure_settings ws_measure_settings_default;

typedef struct ws_measured {
  ws_verdict verdict; /* ok, wrong, crash, timeout, unstable */
  ws_blame blame;
  const char *reason;         /* one line; "" when ok */
  const ws_finding *findings; /* of a simulator; verdict ok: notes */
  int finding_count;
  ws_shape shape; /* where it went wrong */
  /* verify */
  double worst_ratio; /* |got - want| / bound, over everything compared */
  int64_t compared;
  /* Of so many workloads nothing could be compared: the kernel that is the
   * reference does not take the shape, or takes too long on a simulator. */
  int uncompared_shapes;
  /* time; us is 0 when there is none */
  double us, low_us, high_us; /* median, 95 % bootstrap interval */
  const double *samples;
  int sample_count;
  /* time against a rival, in one process, in random order, block by block: its
   * median, and candidate / rival with the 95 % interval of the median of the
   * blocks' ratios. All 0 without. */
  double rival_us, rival_low_us, rival_high_us;
  double ratio, low_ratio, high_ratio;
  /* Of the card while it was timed, lowest and highest reading; samples taken
   * while it throttled for heat were dropped, so many. */
  int low_mhz, high_mhz, memory_mhz, dropped;
  const char *throttle; /* words of the driver, "" */
  /* What an empty launch sequence reads between the same events; part of every
   * time, not subtracted. 0: not measured. */
  double empty_us;
  const char *provenance, *bound; /* bound "" on a card */
  /* Of the simulator, JSON objects one a line; "" on a card. */
  const char *report;
  double host_ms; /* spent in the server */
} ws_measured;

/* As members of something else; what they hold: runtime/eval/measure_json.c. */
extern const ws_json_struct ws_measure_request_json, ws_measured_json,
    ws_device_info_json;
struct cJSON;
struct cJSON *ws_workload_to_json(const ws_workload *workload);
ws_status ws_workload_from_json(ws_arena *arena, const struct cJSON *json,
                                ws_workload *out_workload,
                                ws_diag *diag) WS_MUST_CHECK;
struct cJSON *ws_measured_to_json(const ws_measured *measured);
ws_status ws_measured_from_json(ws_arena *arena, const struct cJSON *json,
                                ws_measured *out_measured,
                                ws_diag *diag) WS_MUST_CHECK;

/* ---- in the server
 * -----------------------------------------------------------
 */
/* Inputs of the latest measurements and what the reference says of them, kept
 * up to limit_bytes. A card's are compared with what was uploaded after every
 * verification and renewed when a kernel wrote to them. Destroy it before the
 * device. */
typedef struct ws_inputs ws_inputs;
/* limit_bytes 0: a quarter of the card's memory, at most a quarter of the
 * host's; of a simulator 1 GiB. */
ws_inputs *ws_inputs_create(ws_device *device, size_t limit_bytes);
void ws_inputs_destroy(ws_inputs *inputs); /* NULL is allowed */

/* Status: our machinery or the device failed. What the candidate did is the
 * verdict. inputs NULL: all are made anew. */
ws_status ws_verify(ws_device *device, ws_arena *arena, const void *code_object,
                    size_t size, const ws_workload *workloads, int count,
                    ws_inputs *inputs, ws_measured *out_measured,
                    ws_diag *diag) WS_MUST_CHECK;
typedef struct ws_contestant {
  const void *code_object;
  size_t size;
  const ws_workload *workload; /* both of the same problem, layout and shape */
} ws_contestant;
/* rival NULL: none. WS_INPUT: the rival is wrong or faults, which says nothing
 * of the candidate; after a fault the device is of no more use. */
ws_status ws_time(ws_device *device, ws_arena *arena,
                  const ws_contestant *candidate, const ws_contestant *rival,
                  const ws_measure_settings *settings, ws_inputs *inputs,
                  ws_measured *out_measured, ws_diag *diag) WS_MUST_CHECK;

/* What timing something against itself shows: how far from 1 an end of the
 * ratio's interval lies. */
double ws_measured_floor(const ws_measured *same);
/* A candidate that was timed against a rival: -1 it is faster, 1 slower, 0
 * neither is shown: the ratio's interval must leave out 1, and the ratio must
 * lie beyond the noise floor; of simulated times beyond what the model can tell
 * apart (wavesmith/sim_error.h). */
int ws_measured_compare(const ws_measured *measured, double noise_floor);

/* ---- the client (runtime/eval/device_client.c)
 * ---------------------------------
 */
typedef struct ws_device_client ws_device_client;

/* Starts `wavesmith-device KIND` (../libexec/wavesmith, or
 * WAVESMITH_DEVICE_SERVER). WS_ENVIRONMENT: no such device, or another server
 * has it; the diag says which. */
ws_status ws_device_client_start(const char *kind,
                                 ws_device_client **out_client,
                                 ws_diag *diag) WS_MUST_CHECK;
void ws_device_client_stop(ws_device_client *client); /* NULL is allowed */
/* Ends its server, and with it the request in hand; the next request starts
 * another, which sees nothing of what was done to the device before. (A second
 * client would be refused: a card has one server.) */
void ws_device_client_renew(ws_device_client *client);
/* How many clients of it are of use at once: of a card 1, of a simulator one a
 * core, at most WS_DEVICE_CLIENTS (each may keep 1 GiB of inputs). */
enum { WS_DEVICE_CLIENTS = 4 };
int ws_device_clients_useful(const ws_device_client *client);
/* The index-th beside this one, of the same simulator, started when it is first
 * asked for; renewed and stopped with this one. */
ws_status ws_device_client_another(ws_device_client *client, int index,
                                   ws_device_client **out_other,
                                   ws_diag *diag) WS_MUST_CHECK;
/* Texts live as long as the client; "library" is where it was found. */
const ws_device_info *ws_device_client_info(const ws_device_client *client);

typedef enum ws_measure_op { WS_MEASURE_VERIFY, WS_MEASURE_TIME } ws_measure_op;
typedef struct ws_measure_request {
  ws_measure_op op;
  const void *code_object;
  size_t code_object_size;
  const ws_workload *workloads; /* time: one */
  int workload_count;
  const ws_contestant *rival; /* time only; NULL: none */
  ws_measure_settings settings;
  double give_up_ms; /* as of a ws_build_request */
} ws_measure_request;

/* A request without its code objects and rival; a device's facts.
 * Of whoever sends, keeps or reads them. */
struct cJSON *ws_measure_request_to_json(const ws_measure_request *request);
ws_status ws_measure_request_from_json(ws_arena *arena,
                                       const struct cJSON *json,
                                       ws_measure_request *out_request,
                                       ws_diag *diag) WS_MUST_CHECK;
struct cJSON *ws_device_info_to_json(const ws_device_info *info);
ws_status ws_device_info_from_json(ws_arena *arena, const struct cJSON *json,
                                   ws_device_info *out_info,
                                   ws_diag *diag) WS_MUST_CHECK;

/* As ws_compiler_build: a verdict is the candidate's own; a crash or hang is
 * one when it repeats on a fresh server. */
ws_status ws_device_client_measure(ws_device_client *client, ws_arena *arena,
                                   const ws_measure_request *request,
                                   ws_measured *out_measured,
                                   ws_diag *diag) WS_MUST_CHECK;
/* Many, whose answers are wanted in their order, up to the first that is not
 * ok: *out_answered of them. A simulator is asked on all cores, by further
 * servers of the client; a card has one after the other. is_over (NULL: never)
 * is asked every 100 ms: on true what is under way is dropped, and the answers
 * are those that were there. A status is of the first request that has one. */
ws_status ws_device_client_measure_all(ws_device_client *client,
                                       ws_arena *arena,
                                       const ws_measure_request *requests,
                                       int count, bool (*is_over)(void *),
                                       void *context, ws_measured *out_answers,
                                       int *out_answered,
                                       ws_diag *diag) WS_MUST_CHECK;
/* The same in steps, as of a compiler. */
ws_status ws_device_client_send(ws_device_client *client,
                                const ws_measure_request *request,
                                ws_diag *diag) WS_MUST_CHECK;
int ws_device_client_descriptor(const ws_device_client *client);
bool ws_device_client_has_answer(ws_device_client *client);
ws_status ws_device_client_receive(ws_device_client *client, ws_arena *arena,
                                   ws_measured *out_measured, bool *out_done,
                                   ws_diag *diag) WS_MUST_CHECK;
/* Whether its server runs, or can be started again. */
ws_status ws_device_client_reach(ws_device_client *client,
                                 ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
