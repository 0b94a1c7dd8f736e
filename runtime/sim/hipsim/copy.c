/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Copies and fills. The pointers say what they are, as in HIP: the direction
 * that a call names must agree with them as far as it calls memory the
 * device's. Ranges that leave their allocation are hipErrorInvalidValue.
 *
 * Time, simple and the same always; nothing here is measured by us:
 *   over the link to the host  10 us and 55 GB/s: PCIe 5.0 x16 carries 63 GB/s
 *                              each way (data sheet) less headers
 *   on the device              2.5 us and 2.0 TB/s (4.0 TB/s of reads and
 * writes, measured by others: research/mi300_timing.md) a fill 2.5 us and 4.6
 * TB/s (same source) 2.5 us is the floor of trivial kernels
 * (research/problem.md 4.1). Both rates are MI300X's; another card's are as
 * its rate of HBM to MI300X's.
 */
#include "hipsim.h"

#include <string.h>

static const double link_start_us = 10, link_bytes_per_us = 55e3;
static const double device_start_us = 2.5, device_bytes_per_us = 2.0e6;
static const double fill_bytes_per_us = 4.6e6;

/* These two are MI300X's. */
static double of_card(double bytes_per_us) {
  const double is = (double)ws__hip_card()->constants.hbm_rate;
  return bytes_per_us * (is / (double)ws__clock_mi300x.hbm_rate);
}

/* ---- copies ----------------------------------------------------------------
 */

/* Bytes from the first to the last of height rows; false: more than there are.
 */
static bool extent(size_t pitch, size_t width, size_t height, size_t *out) {
  size_t rows;
  *out = 0;
  if (!width || !height)
    return true;
  return pitch >= width && !__builtin_mul_overflow(pitch, height - 1, &rows) &&
         !__builtin_add_overflow(rows, width, out);
}

/* What the direction demands of the pointers. */
static hipError_t check_kind(hipMemcpyKind kind, bool to_device,
                             bool from_device) {
  switch ((int)kind) {
  case hipMemcpyHostToHost:
  case hipMemcpyDefault:
    return hipSuccess;
  case hipMemcpyHostToDevice:
    return to_device ? hipSuccess : hipErrorInvalidValue;
  case hipMemcpyDeviceToHost:
    return from_device ? hipSuccess : hipErrorInvalidValue;
  case hipMemcpyDeviceToDevice:
  case hipMemcpyDeviceToDeviceNoCU:
    return to_device && from_device ? hipSuccess : hipErrorInvalidValue;
  default:
    return hipErrorInvalidMemcpyDirection;
  }
}

/* Our own memory is known to be there; a host pointer may be anything. */
static bool move_rows(const struct ws_copy_operation *copy, bool known) {
  unsigned char *to = copy->to;
  const unsigned char *from = copy->from;
  bool moved = true;
  for (size_t row = 0; row < copy->height && moved; row++) {
    unsigned char *target = to + row * copy->to_pitch;
    const unsigned char *source = from + row * copy->from_pitch;
    if (known)
      memmove(target, source, copy->width);
    else
      moved = ws__hip_memory_copy(target, source, copy->width);
  }
  return moved;
}

static bool on_the_card(const void *pointer, bool device) {
  return device && !ws__hip_memory_is_pinned_host(pointer);
}

static hipError_t copy_rows(ws_stream *stream,
                            const struct ws_copy_operation *copy) {
  size_t to_bytes, from_bytes;
  bool to_device, from_device;
  if (!extent(copy->to_pitch, copy->width, copy->height, &to_bytes) ||
      !extent(copy->from_pitch, copy->width, copy->height, &from_bytes))
    return hipErrorInvalidPitchValue;
  hipError_t error = ws__hip_memory_range(copy->to, to_bytes, &to_device);
  if (!error)
    error = ws__hip_memory_range(copy->from, from_bytes, &from_device);
  if (!error && to_bytes)
    error = check_kind(copy->kind, to_device, from_device);
  if (error || !to_bytes)
    return error;
  if (!move_rows(copy, to_device && from_device))
    return hipErrorInvalidValue;
  if (to_device)
    ws__hip_memory_contents(
        copy->to,
        !from_device || !ws_sim_is_unknown(ws__hip_device.sim, copy->from));
  double bytes = (double)copy->width * (double)copy->height;
  if (on_the_card(copy->to, to_device) &&
      on_the_card(copy->from, from_device)) {
    const ws_sim_range ranges[] = {{copy->from, from_bytes},
                                   {copy->to, to_bytes}};
    ws_sim_touch(ws__hip_device.sim, ranges, 2);
    ws__hip_advance(
        stream, &ws__hip_device.compute_us,
        ws__hip_us_now(device_start_us + bytes / of_card(device_bytes_per_us)));
  } else {
    ws__hip_advance(stream, &ws__hip_device.link_us,
                    link_start_us + bytes / link_bytes_per_us);
  }
  return hipSuccess;
}

/* The device's address of registered memory is as good as its own, except that
 * the direction then is no longer the pointers'. */
hipError_t ws__hip_do_copy(ws_stream *stream,
                           const struct ws_copy_operation *copy) {
  struct ws_copy_operation home = *copy;
  home.to = ws__hip_memory_home(copy->to);
  home.from = ws__hip_memory_home(copy->from);
  bool known_kind = copy->kind >= hipMemcpyHostToHost &&
                    copy->kind <= hipMemcpyDeviceToDeviceNoCU;
  if ((home.to != copy->to || home.from != copy->from) && known_kind)
    home.kind = hipMemcpyDefault;
  return copy_rows(stream, &home);
}

static ws_operation copy_of(void *to, const void *from, size_t bytes,
                            hipMemcpyKind kind) {
  return (ws_operation){
      .kind = WS_OPERATION_COPY,
      .u.copy = {to, from, bytes, bytes, bytes, 1, kind},
  };
}

static hipError_t copy_now(void *to, const void *from, size_t bytes,
                           hipMemcpyKind kind, hipStream_t stream) {
  ws_operation operation = copy_of(to, from, bytes, kind);
  return ws__hip_submit_and_wait(stream, &operation);
}

static hipError_t copy_later(void *to, const void *from, size_t bytes,
                             hipMemcpyKind kind, hipStream_t stream) {
  ws_operation operation = copy_of(to, from, bytes, kind);
  return ws__hip_submit(stream, &operation);
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes,
                     hipMemcpyKind kind) {
  HIP_WORK(copy_now(to, from, bytes, kind, NULL));
}
hipError_t hipMemcpyWithStream(void *to, const void *from, size_t bytes,
                               hipMemcpyKind kind, hipStream_t stream) {
  HIP_WORK(copy_now(to, from, bytes, kind, stream));
}
hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
                          hipMemcpyKind kind, hipStream_t stream) {
  HIP_WORK(copy_later(to, from, bytes, kind, stream));
}
hipError_t hipMemcpyHtoD(hipDeviceptr_t to, void *from, size_t bytes) {
  HIP_WORK(copy_now(to, from, bytes, hipMemcpyHostToDevice, NULL));
}
hipError_t hipMemcpyDtoH(void *to, hipDeviceptr_t from, size_t bytes) {
  HIP_WORK(copy_now(to, from, bytes, hipMemcpyDeviceToHost, NULL));
}
hipError_t hipMemcpyDtoD(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes) {
  HIP_WORK(copy_now(to, from, bytes, hipMemcpyDeviceToDevice, NULL));
}
hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes,
                              hipStream_t stream) {
  HIP_WORK(copy_later(to, from, bytes, hipMemcpyHostToDevice, stream));
}
hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes,
                              hipStream_t stream) {
  HIP_WORK(copy_later(to, from, bytes, hipMemcpyDeviceToHost, stream));
}
hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from,
                              size_t bytes, hipStream_t stream) {
  HIP_WORK(copy_later(to, from, bytes, hipMemcpyDeviceToDevice, stream));
}

hipError_t hipMemcpy2D(void *to, size_t to_pitch, const void *from,
                       size_t from_pitch, size_t width, size_t height,
                       hipMemcpyKind kind) {
  ws_operation operation = {
      .kind = WS_OPERATION_COPY,
      .u.copy = {to, from, to_pitch, from_pitch, width, height, kind}};
  HIP_WORK(ws__hip_submit_and_wait(NULL, &operation));
}
hipError_t hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                            size_t from_pitch, size_t width, size_t height,
                            hipMemcpyKind kind, hipStream_t stream) {
  ws_operation operation = {
      .kind = WS_OPERATION_COPY,
      .u.copy = {to, from, to_pitch, from_pitch, width, height, kind}};
  HIP_WORK(ws__hip_submit(stream, &operation));
}

/* ---- variables of a program built by clang ----------------------------------
 */

static hipError_t part_of_symbol(const void *symbol, size_t bytes,
                                 size_t offset, char **out) {
  void *address;
  size_t size;
  hipError_t error = ws__hip_registered_variable(symbol, &address, &size);
  if (error)
    return error;
  if (offset > size || bytes > size - offset)
    return hipErrorInvalidValue;
  *out = (char *)address + offset;
  return hipSuccess;
}

static hipError_t to_symbol(const void *symbol, const void *from, size_t bytes,
                            size_t offset, hipMemcpyKind kind,
                            hipStream_t stream, bool wait) {
  char *to;
  hipError_t error = part_of_symbol(symbol, bytes, offset, &to);
  if (error)
    return error;
  return (wait ? copy_now : copy_later)(to, from, bytes, kind, stream);
}

static hipError_t from_symbol(void *to, const void *symbol, size_t bytes,
                              size_t offset, hipMemcpyKind kind,
                              hipStream_t stream, bool wait) {
  char *from;
  hipError_t error = part_of_symbol(symbol, bytes, offset, &from);
  if (error)
    return error;
  return (wait ? copy_now : copy_later)(to, from, bytes, kind, stream);
}

hipError_t hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                             size_t offset, hipMemcpyKind kind) {
  HIP_WORK(to_symbol(symbol, from, bytes, offset, kind, NULL, true));
}
hipError_t hipMemcpyToSymbolAsync(const void *symbol, const void *from,
                                  size_t bytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
  HIP_WORK(to_symbol(symbol, from, bytes, offset, kind, stream, false));
}
hipError_t hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                               size_t offset, hipMemcpyKind kind) {
  HIP_WORK(from_symbol(to, symbol, bytes, offset, kind, NULL, true));
}
hipError_t hipMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
                                    size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  HIP_WORK(from_symbol(to, symbol, bytes, offset, kind, stream, false));
}

/* ---- fills -----------------------------------------------------------------
 */

static void fill_row(unsigned char *to, size_t width, uint32_t value,
                     unsigned unit) {
  if (unit == 1) {
    memset(to, (int)value, width);
    return;
  }
  for (size_t at = 0; at < width; at += unit)
    memcpy(to + at, &value, unit); /* little endian: the low bytes */
}

/* Larger fills are of outputs, or empty caches: no kernel reads them. */
static const size_t most_noted_bytes = 16 << 20;

hipError_t ws__hip_do_fill(ws_stream *stream,
                           const struct ws_fill_operation *fill) {
  size_t bytes;
  bool device;
  if (!extent(fill->pitch, fill->width, fill->height, &bytes))
    return hipErrorInvalidPitchValue;
  hipError_t error = ws__hip_memory_range(fill->to, bytes, &device);
  if (error || !bytes)
    return error;
  if (!device)
    return hipErrorInvalidValue;
  unsigned char *to = ws__hip_memory_home(fill->to);
  ws__hip_memory_contents(to, false);
  for (size_t row = 0; row < fill->height; row++) {
    unsigned char *at = to + row * fill->pitch;
    fill_row(at, fill->width, fill->value, fill->unit);
    if (bytes <= most_noted_bytes)
      ws_sim_set_known(ws__hip_device.sim, at, fill->width);
  }
  ws_sim_touch(ws__hip_device.sim, &(ws_sim_range){to, bytes}, 1);
  double size = (double)fill->width * (double)fill->height;
  ws__hip_advance(
      stream, &ws__hip_device.compute_us,
      ws__hip_us_now(device_start_us + size / of_card(fill_bytes_per_us)));
  return hipSuccess;
}

static hipError_t fill_rows(void *to, size_t pitch, uint32_t value,
                            unsigned unit, size_t count, size_t height,
                            hipStream_t stream, bool wait) {
  size_t width;
  if (__builtin_mul_overflow(count, (size_t)unit, &width))
    return hipErrorInvalidValue;
  ws_operation operation = {
      .kind = WS_OPERATION_FILL,
      .u.fill = {to, pitch ? pitch : width, width, height, value, unit}};
  return (wait ? ws__hip_submit_and_wait : ws__hip_submit)(stream, &operation);
}

hipError_t hipMemset(void *to, int value, size_t bytes) {
  HIP_WORK(fill_rows(to, 0, (uint32_t)value, 1, bytes, 1, NULL, true));
}
hipError_t hipMemsetAsync(void *to, int value, size_t bytes,
                          hipStream_t stream) {
  HIP_WORK(fill_rows(to, 0, (uint32_t)value, 1, bytes, 1, stream, false));
}
hipError_t hipMemsetD8(hipDeviceptr_t to, unsigned char value, size_t count) {
  HIP_WORK(fill_rows(to, 0, value, 1, count, 1, NULL, true));
}
hipError_t hipMemsetD8Async(hipDeviceptr_t to, unsigned char value,
                            size_t count, hipStream_t stream) {
  HIP_WORK(fill_rows(to, 0, value, 1, count, 1, stream, false));
}
hipError_t hipMemsetD16(hipDeviceptr_t to, unsigned short value, size_t count) {
  HIP_WORK(fill_rows(to, 0, value, 2, count, 1, NULL, true));
}
hipError_t hipMemsetD16Async(hipDeviceptr_t to, unsigned short value,
                             size_t count, hipStream_t stream) {
  HIP_WORK(fill_rows(to, 0, value, 2, count, 1, stream, false));
}
hipError_t hipMemsetD32(hipDeviceptr_t to, int value, size_t count) {
  HIP_WORK(fill_rows(to, 0, (uint32_t)value, 4, count, 1, NULL, true));
}
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int value, size_t count,
                             hipStream_t stream) {
  HIP_WORK(fill_rows(to, 0, (uint32_t)value, 4, count, 1, stream, false));
}
hipError_t hipMemset2D(void *to, size_t pitch, int value, size_t width,
                       size_t height) {
  HIP_WORK(fill_rows(to, pitch, (uint32_t)value, 1, width, height, NULL, true));
}
hipError_t hipMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                            size_t height, hipStream_t stream) {
  HIP_WORK(
      fill_rows(to, pitch, (uint32_t)value, 1, width, height, stream, false));
}
