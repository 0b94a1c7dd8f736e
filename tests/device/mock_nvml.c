/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An NVML for the tests of the device layer: one H200 under load, which is the
 * card of mock_cuda.c by its UUID. MOCK_NVML_REASONS (0): why its clock is low,
 * as bits. MOCK_NVML_FAIL: the function that does not answer. A function that
 * is called without initialisation ends the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6 };

static int started;
static int card;

static int answer(const char *name) {
  const char *failing = getenv("MOCK_NVML_FAIL");
  if (!started)
    abort();
  return failing && !strcmp(failing, name) ? NOT_SUPPORTED : SUCCESS;
}

/* Who starts it ends it. */
__attribute__((destructor)) static void look_back(void) {
  if (started)
    abort();
}

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlSystemGetDriverVersion(char *version, unsigned length);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *clock);
int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *celsius);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device,
                                              unsigned long long *reasons);

int nvmlInit_v2(void) {
  started++;
  int failure = answer("nvmlInit_v2");
  started -= failure != SUCCESS;
  return failure;
}
int nvmlShutdown(void) {
  if (--started)
    abort();
  return SUCCESS;
}
int nvmlSystemGetDriverVersion(char *version, unsigned length) {
  if (length < 80) /* NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE */
    abort();
  snprintf(version, length, "580.159.04");
  return answer("nvmlSystemGetDriverVersion");
}
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device) {
  if (strcmp(uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff"))
    return NOT_FOUND;
  *device = &card;
  return answer("nvmlDeviceGetHandleByUUID");
}
int nvmlDeviceGetClockInfo(void *device, unsigned type, unsigned *clock) {
  if (device != &card)
    abort();
  /* NVML_CLOCK_GRAPHICS, SM, MEM, VIDEO */
  static const unsigned clocks[] = {1500, 1485, 3201, 1600};
  *clock = clocks[type];
  return answer("nvmlDeviceGetClockInfo");
}
int nvmlDeviceGetTemperature(void *device, unsigned sensor, unsigned *celsius) {
  if (device != &card || sensor != 0)
    abort();
  *celsius = 47;
  return answer("nvmlDeviceGetTemperature");
}
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts) {
  if (device != &card)
    abort();
  *milliwatts = 699125;
  return answer("nvmlDeviceGetPowerUsage");
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device,
                                              unsigned long long *reasons) {
  const char *setting = getenv("MOCK_NVML_REASONS");
  if (device != &card)
    abort();
  *reasons = setting ? strtoull(setting, NULL, 0) : 0;
  return answer("nvmlDeviceGetCurrentClocksThrottleReasons");
}
