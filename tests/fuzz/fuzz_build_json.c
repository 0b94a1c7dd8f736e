/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Any JSON as a build request and result, a device request, what was measured
 * and the facts of a device. What is accepted is written and read again, and
 * must then be written the same.
 */
#include "fuzz.h"
#include "wavesmith/measure.h"

#include <cjson/cJSON.h>

/* Both directions of one kind of message, with its object in `storage`. */
struct direction {
  ws_status (*read)(ws_arena *arena, const struct cJSON *json, void *storage,
                    ws_diag *diag);
  struct cJSON *(*write)(const void *storage);
};

static ws_status read_request(ws_arena *arena, const struct cJSON *json,
                              void *storage, ws_diag *diag) {
  return ws_build_request_from_json(arena, json, storage, diag);
}
static struct cJSON *write_request(const void *storage) {
  return ws_build_request_to_json(storage);
}
static ws_status read_result(ws_arena *arena, const struct cJSON *json,
                             void *storage, ws_diag *diag) {
  return ws_build_result_from_json(arena, json, storage, diag);
}
static struct cJSON *write_result(const void *storage) {
  return ws_build_result_to_json(storage);
}
#define BY_TABLE(name, table)                                                  \
  static ws_status read_##name(ws_arena *arena, const struct cJSON *json,      \
                               void *storage, ws_diag *diag) {                 \
    return ws_json_read(&table, arena, json, #name, storage, diag);            \
  }                                                                            \
  static struct cJSON *write_##name(const void *storage) {                     \
    return ws_json_write(&table, storage);                                     \
  }
BY_TABLE(measure, ws_measure_request_json)
BY_TABLE(measured, ws_measured_json)
BY_TABLE(device, ws_device_info_json)

static const struct direction directions[] = {{read_request, write_request},
                                              {read_result, write_result},
                                              {read_measure, write_measure},
                                              {read_measured, write_measured},
                                              {read_device, write_device}};

static void check_direction(const struct direction *direction,
                            const struct cJSON *json) {
  union {
    ws_build_request request;
    ws_build_result result;
    ws_measure_request measure;
    ws_measured measured;
    ws_device_info device;
  } storage;
  ws_arena *arena = ws_arena_create();
  ws_diag diag = {""};
  ws_status status = direction->read(arena, json, &storage, &diag);
  FUZZ_CHECK_REFUSAL(status, diag);
  if (status == WS_OK) {
    struct cJSON *first = direction->write(&storage);
    FUZZ_CHECK(direction->read(arena, first, &storage, &diag) == WS_OK);
    struct cJSON *second = direction->write(&storage);
    FUZZ_CHECK(cJSON_Compare(first, second, true));
    cJSON_Delete(first);
    cJSON_Delete(second);
  }
  ws_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  ws_diag diag = {""};
  struct cJSON *json = ws_json_parse((const char *)data, size, "fuzz", &diag);
  if (!json)
    return 0;
  for (size_t i = 0; i < sizeof directions / sizeof *directions; i++)
    check_direction(&directions[i], json);
  cJSON_Delete(json);
  return 0;
}
