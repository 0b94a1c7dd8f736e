/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A stand-in for the HIP library: it has no device, it records what it is
 * asked, one line per call, and answers as the environment says:
 *   FAKE_HIP_ARCH     gcnArchName of every device (gfx942:sramecc+:xnack-)
 *   FAKE_HIP_DEVICES  number of devices (1)
 *   FAKE_HIP_CUS      compute units of device d: this plus d (304)
 *   FAKE_HIP_FAIL     "hipModuleLoadData:2": the second such call fails
 * The record is read through fake_hip_log(). Its soname is the real one's, so
 * that it can play the library that a process has loaded already.
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *fake_hip_log(void);
void fake_hip_clear_log(void);

/* Fixed sizes: the tests count allocations of the code under test. */
static char log_text[1 << 16];
static size_t log_size;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local int current_device;

/* A module or function handle points at one of these. */
static struct object {
  char name[256];
  int device;
} objects[256];
static int object_count;

const char *fake_hip_log(void) { return log_text; }

void fake_hip_clear_log(void) {
  log_size = 0;
  log_text[0] = 0;
}

static long long setting(const char *name, long long otherwise) {
  const char *text = getenv(name);
  return text ? strtoll(text, NULL, 10) : otherwise;
}

__attribute__((format(printf, 1, 2))) static void record(const char *format,
                                                         ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&log_lock);
  log_size += (size_t)vsnprintf(log_text + log_size, sizeof log_text - log_size,
                                format, arguments);
  if (log_size >= sizeof log_text)
    abort();
  pthread_mutex_unlock(&log_lock);
  va_end(arguments);
}

/* Counts the calls of one name towards FAKE_HIP_FAIL. */
static int must_fail(const char *name) {
  static int calls;
  const char *wish = getenv("FAKE_HIP_FAIL");
  size_t size = strlen(name);
  if (!wish || strncmp(wish, name, size) || wish[size] != ':')
    return 0;
  return ++calls == strtol(wish + size + 1, NULL, 10);
}

static struct object *new_object(const char *name) {
  if (strlen(name) >= sizeof objects[0].name)
    abort();
  pthread_mutex_lock(&log_lock);
  if (object_count == 256)
    abort();
  struct object *object = &objects[object_count++];
  pthread_mutex_unlock(&log_lock);
  memcpy(object->name, name, strlen(name) + 1);
  object->device = current_device;
  return object;
}

hipError_t hipInit(unsigned flags) {
  return flags                  ? hipErrorInvalidValue
         : must_fail("hipInit") ? hipErrorNotInitialized
                                : hipSuccess;
}

hipError_t hipGetDeviceCount(int *count) {
  *count = (int)setting("FAKE_HIP_DEVICES", 1);
  return *count ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipGetDevicePropertiesR0600(hipDeviceProp_tR0600 *properties,
                                       int device) {
  const char *arch = getenv("FAKE_HIP_ARCH");
  memset(properties, 0, sizeof *properties);
  snprintf(properties->name, sizeof properties->name, "Fake %d", device);
  snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s",
           arch ? arch : "gfx942:sramecc+:xnack-");
  properties->multiProcessorCount = (int)setting("FAKE_HIP_CUS", 304) + device;
  return must_fail("hipGetDevicePropertiesR0600") ? hipErrorInvalidDevice
                                                  : hipSuccess;
}

hipError_t hipGetDevice(int *device) {
  *device = current_device;
  return hipSuccess;
}

hipError_t hipSetDevice(int device) {
  if (must_fail("hipSetDevice"))
    return hipErrorInvalidDevice;
  current_device = device;
  return hipSuccess;
}

const char *hipGetErrorName(hipError_t error) {
  switch (error) {
  case hipErrorNoDevice:
    return "hipErrorNoDevice";
  case hipErrorNotInitialized:
    return "hipErrorNotInitialized";
  case hipErrorInvalidDevice:
    return "hipErrorInvalidDevice";
  case hipErrorNoBinaryForGpu:
    return "hipErrorNoBinaryForGpu";
  case hipErrorNotFound:
    return "hipErrorNotFound";
  case hipErrorLaunchFailure:
    return "hipErrorLaunchFailure";
  default:
    return "hipErrorUnknown";
  }
}

/* A code object of the tests is a text; it becomes the module's name. */
hipError_t hipModuleLoadData(hipModule_t *module, const void *image) {
  if (must_fail("hipModuleLoadData"))
    return hipErrorNoBinaryForGpu;
  *module = (hipModule_t)new_object(image);
  record("load %s on %d\n", (const char *)image, current_device);
  return hipSuccess;
}

hipError_t hipModuleUnload(hipModule_t module) {
  record("unload %s\n", ((struct object *)module)->name);
  return hipSuccess;
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t module,
                                const char *name) {
  char full_name[512];
  if (must_fail("hipModuleGetFunction"))
    return hipErrorNotFound;
  snprintf(full_name, sizeof full_name, "%s.%s",
           ((struct object *)module)->name, name);
  *function = (hipFunction_t)new_object(full_name);
  return hipSuccess;
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x,
                                 unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void **parameters,
                                 void **extra) {
  const struct object *object = (const struct object *)function;
  if (must_fail("hipModuleLaunchKernel"))
    return hipErrorLaunchFailure;
  if (object->device != current_device)
    return hipErrorInvalidDevice;
  if (parameters || !extra || extra[0] != HIP_LAUNCH_PARAM_BUFFER_POINTER ||
      extra[2] != HIP_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != HIP_LAUNCH_PARAM_END)
    return hipErrorInvalidValue;
  const unsigned char *bytes = extra[1];
  size_t size = *(const size_t *)extra[3];
  char hex[1024];
  if (size * 2 + 1 > sizeof hex)
    abort();
  hex[0] = 0;
  for (size_t i = 0; i < size; i++)
    snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
  record("launch %s grid %u,%u,%u block %u,%u,%u shared %u stream %p "
         "args %s\n",
         object->name, grid_x, grid_y, grid_z, block_x, block_y, block_z,
         shared_bytes, (void *)stream, hex);
  return hipSuccess;
}
