/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libnvidia-ml.so.1 by dlopen; WAVESMITH_NVML_LIBRARY names another. Names,
 * signatures and constants are from the public "NVML API Reference Guide":
 * System queries, Device queries, Clocks event reasons.
 */
#include "nvml.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvml_device_of_library *nvml_device;

enum {
  NVML_SUCCESS = 0,
  NVML_TEMPERATURE_GPU = 0, /* nvmlTemperatureSensors_t */
  NVML_CLOCK_SM = 1,        /* nvmlClockType_t */
  NVML_CLOCK_MEM = 2,
  NVML_VERSION_BYTES = 80 /* of nvmlSystemGetDriverVersion */
};

#define NVML_FUNCTIONS(X)                                                      \
  X(nvmlInit_v2, (void))                                                       \
  X(nvmlShutdown, (void))                                                      \
  X(nvmlSystemGetDriverVersion, (char *out_text, unsigned size))               \
  X(nvmlDeviceGetHandleByUUID, (const char *uuid, nvml_device *out_device))    \
  X(nvmlDeviceGetClockInfo, (nvml_device device, int type, unsigned *out_mhz)) \
  X(nvmlDeviceGetTemperature,                                                  \
    (nvml_device device, int sensor, unsigned *out_celsius))                   \
  X(nvmlDeviceGetPowerUsage, (nvml_device device, unsigned *out_milliwatts))   \
  X(nvmlDeviceGetCurrentClocksThrottleReasons,                                 \
    (nvml_device device, unsigned long long *out_reasons))

struct ws__nvml {
#define NVML_POINTER(name, parameters) int(*name) parameters;
  NVML_FUNCTIONS(NVML_POINTER)
#undef NVML_POINTER
  nvml_device device;
};

/* Bits of the reasons, the worst first. A card that is hot enough to be slowed
 * down by hardware shows HwSlowdown as well, so that comes last. */
static const struct {
  unsigned long long bits;
  const char *name;
} reasons[] = {
    {0x20 | 0x40, "thermal"},               /* SwThermal, HwThermal */
    {0x04 | 0x80, "power"},                 /* SwPowerCap, HwPowerBrake */
    {0x02 | 0x08 | 0x10 | 0x100, "other"}}; /* set clocks, HwSlowdown,
                                               SyncBoost, display */

static bool bind_functions(ws__nvml *nvml, void *handle) {
  static const char *const names[] = {
#define NVML_NAME(name, parameters) #name,
      NVML_FUNCTIONS(NVML_NAME)
#undef NVML_NAME
  };
  void **const places[] = {
#define NVML_PLACE(name, parameters) (void **)&nvml->name,
      NVML_FUNCTIONS(NVML_PLACE)
#undef NVML_PLACE
  };
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!(*places[i] = dlsym(handle, names[i]))) {
      ws_log(WS_LOG_INFO, "NVML lacks %s; clocks are not read", names[i]);
      return false;
    }
  return true;
}

static bool start(ws__nvml *nvml, const char *uuid) {
  if (nvml->nvmlInit_v2() != NVML_SUCCESS)
    return false;
  if (nvml->nvmlDeviceGetHandleByUUID(uuid, &nvml->device) == NVML_SUCCESS)
    return true;
  nvml->nvmlShutdown();
  return false;
}

ws__nvml *ws__nvml_open(const char *uuid) {
  const char *wanted = secure_getenv("WAVESMITH_NVML_LIBRARY");
  void *handle = dlopen(wanted && wanted[0] ? wanted : "libnvidia-ml.so.1",
                        RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    ws_log(WS_LOG_INFO, "clocks are not read: %s", dlerror());
    return NULL;
  }
  ws__nvml *nvml = calloc(1, sizeof *nvml);
  WS_ASSERT(nvml && "out of memory");
  if (bind_functions(nvml, handle) && start(nvml, uuid))
    return nvml;
  free(nvml);
  return NULL;
}

/* The library itself stays loaded, as the driver's does. */
void ws__nvml_close(ws__nvml *nvml) {
  if (nvml)
    nvml->nvmlShutdown();
  free(nvml);
}

const char *ws__nvml_driver(const ws__nvml *nvml, ws_arena *arena) {
  char text[NVML_VERSION_BYTES] = "";
  if (!nvml ||
      nvml->nvmlSystemGetDriverVersion(text, sizeof text) != NVML_SUCCESS)
    return "";
  return ws_arena_strndup(arena, text, strnlen(text, sizeof text));
}

static int clock_mhz(const ws__nvml *nvml, int type) {
  unsigned mhz = 0;
  return nvml->nvmlDeviceGetClockInfo(nvml->device, type, &mhz) == NVML_SUCCESS
             ? (int)mhz
             : 0;
}

static const char *throttle_of(const ws__nvml *nvml) {
  unsigned long long bits = 0;
  if (nvml->nvmlDeviceGetCurrentClocksThrottleReasons(nvml->device, &bits) !=
      NVML_SUCCESS)
    return "";
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
    if (bits & reasons[i].bits)
      return reasons[i].name;
  return "";
}

ws_device_clocks ws__nvml_clocks(const ws__nvml *nvml) {
  ws_device_clocks clocks = {.throttle = ""};
  if (!nvml)
    return clocks;
  unsigned celsius = 0, milliwatts = 0;
  if (nvml->nvmlDeviceGetTemperature(nvml->device, NVML_TEMPERATURE_GPU,
                                     &celsius) == NVML_SUCCESS)
    clocks.celsius = (int)celsius;
  if (nvml->nvmlDeviceGetPowerUsage(nvml->device, &milliwatts) == NVML_SUCCESS)
    clocks.watts = milliwatts / 1000.0;
  clocks.mhz = clock_mhz(nvml, NVML_CLOCK_SM);
  clocks.memory_mhz = clock_mhz(nvml, NVML_CLOCK_MEM);
  clocks.throttle = throttle_of(nvml);
  return clocks;
}
