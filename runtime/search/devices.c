/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Opening devices. An architecture is compared as its maker writes it: AMD
 * appends features (gfx942:sramecc+), NVIDIA's driver knows no suffix (sm_90
 * runs sm_90a).
 */
#include "devices.h"

#include <string.h>

/* ---- does it run the code? ---- */
static size_t arch_size(const char *arch, const ws_target *target) {
  size_t size = strcspn(arch, ":");
  bool suffix = target->family == WS_FAMILY_NVPTX && size > 0;
  return suffix && arch[size - 1] == 'a' ? size - 1 : size;
}

ws_status ws__device_suits(const ws_device_info *info, const ws_target *target,
                           ws_diag *diag) {
  size_t has = arch_size(info->arch, target);
  size_t wants = arch_size(target->name, target);
  if (has == wants && !strncmp(info->arch, target->name, has))
    return WS_OK;
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "the device %s (%s, %s) does not run code for %s; it needs "
                 "an %s",
                 info->kind, info->name, info->arch, target->name,
                 target->card);
}

static ws_status open_one(ws__devices *devices, const ws_target *target,
                          const char *kind, ws_diag *diag) {
  ws_device_client **client = &devices->clients[devices->count];
  WS_TRY(ws_device_client_start(kind, client, diag));
  ws_status status =
      ws__device_suits(ws_device_client_info(*client), target, diag);
  if (status == WS_OK)
    devices->count++;
  else
    ws_device_client_stop(*client);
  return status;
}

/* ---- which ---- */
/* Nothing on this machine can stand in for the card. */
static ws_status name_batches(ws_status status, ws_diag *diag) {
  const ws_diag why = *diag;
  return ws_fail(diag, status, NULL, 0,
                 "%s; or give --device batch:FOLDER, and time on another "
                 "machine",
                 why.text);
}

static ws_status open_auto(ws__devices *devices, const ws_target *target,
                           ws_diag *diag) {
  ws_status status = open_one(devices, target, target->device, diag);
  if (status == WS_OK)
    return WS_OK;
  if (!target->has_host_model)
    return name_batches(status, diag);
  ws_log(WS_LOG_INFO, "no device %s: %s", target->device, diag->text);
  if (open_one(devices, target, "sim", diag) == WS_OK)
    return WS_OK;
  ws_log(WS_LOG_INFO, "no device sim: %s", diag->text);
  ws_log(WS_LOG_WARN, "neither a card nor the simulator answers; times are "
                      "estimates (`wavesmith doctor` says why)");
  return WS_OK;
}

/* From the first card on until none answers. */
static ws_status open_every(ws__devices *devices, const ws_target *target,
                            const char *kind, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  ws_status status = WS_OK;
  int length = (int)strcspn(kind, ":");
  while (status == WS_OK && devices->count < WS__MOST_DEVICES)
    status = open_one(
        devices, target,
        ws_arena_printf(arena, "%.*s:%d", length, kind, devices->count), diag);
  ws_arena_destroy(arena);
  return devices->count ? WS_OK : status;
}

static bool is_kind(const char *text, const char *kind) {
  size_t size = strlen(kind);
  return !strncmp(text, kind, size) && (!text[size] || text[size] == ':');
}

static bool is_all(const char *kind) {
  const char *colon = strchr(kind, ':');
  return colon && !strcmp(colon, ":all");
}

ws_status ws__devices_open(ws__devices *devices, const ws_target *target,
                           const char *kind, ws_diag *diag) {
  *devices = (ws__devices){.count = 0};
  if (!kind || !strcmp(kind, "estimate"))
    return WS_OK;
  if (!strcmp(kind, "auto"))
    return open_auto(devices, target, diag);
  const bool simulated = is_kind(kind, "sim");
  if (!is_kind(kind, "hip") && !is_kind(kind, "cuda") && !simulated)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "unknown device '%s'; there are hip, cuda, sim, estimate, "
                   "auto, batch:FOLDER and table:FILE; of several cards "
                   "cuda:1 is the second, cuda:all all of them; sim:mi300a is "
                   "another card than sim",
                   kind);
  return !simulated && is_all(kind) ? open_every(devices, target, kind, diag)
                                    : open_one(devices, target, kind, diag);
}

void ws__devices_close(ws__devices *devices) {
  for (int i = 0; i < devices->count; i++)
    ws_device_client_stop(devices->clients[i]);
  devices->count = 0;
}
