/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Allocations. All of them, pinned host memory too, come from the simulator, so
 * that kernels may touch them; a table by address keeps what HIP wants to know
 * of each. Memory that a program registers stays where it is and gets a mirror
 * on the device, whose address hipHostGetDevicePointer gives: it is brought up
 * to date before each launch and copied back after it. (The device's property
 * canUseHostPointerForRegisteredMem says that there are two addresses.)
 */
#include "hipsim.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct block {
  uintptr_t begin;
  size_t bytes;
  hipMemoryType type;
  unsigned flags;
  void *mirror; /* of registered memory; NULL: an allocation of ours */
} block;

/* Sorted by begin: there are thousands at most. */
static block *blocks;
static size_t block_count, block_capacity, mirror_count;

/* The first block that begins behind address. */
static size_t block_after(uintptr_t address) {
  size_t low = 0, high = block_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (blocks[middle].begin > address)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* The block that holds address; an end of a block is not in it, except that an
 * empty block holds its begin. */
static block *block_of(const void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  size_t index = block_after(address);
  if (!index)
    return NULL;
  block *found = &blocks[index - 1];
  return address - found->begin < found->bytes || address == found->begin
             ? found
             : NULL;
}

static bool insert(block added) {
  if (block_count == block_capacity) {
    size_t wanted = block_capacity ? block_capacity * 2 : 64;
    block *larger = realloc(blocks, wanted * sizeof *larger);
    if (!larger)
      return false;
    blocks = larger;
    block_capacity = wanted;
  }
  size_t index = block_after(added.begin);
  memmove(&blocks[index + 1], &blocks[index],
          (block_count - index) * sizeof *blocks);
  blocks[index] = added;
  block_count++;
  return true;
}

static void erase(block *gone) {
  size_t index = (size_t)(gone - blocks);
  block_count--;
  memmove(gone, gone + 1, (block_count - index) * sizeof *blocks);
}

void ws__hip_memory_forget(void) { block_count = mirror_count = 0; }

/* ---- how much there is -----------------------------------------------------
 */

/* MemAvailable of /proc/meminfo; without it nothing is known, and the device's
 * size is the only limit. */
static size_t host_available(void) {
  FILE *file = fopen("/proc/meminfo", "re");
  unsigned long long kilobytes = SIZE_MAX >> 10;
  char line[128];
  while (file && fgets(line, sizeof line, file))
    if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
      break;
  if (file)
    fclose(file);
  return (size_t)kilobytes << 10;
}

/* What is left of the device's 192 GiB, and of the host's memory less a
 * sixteenth for everybody else. */
static size_t free_bytes(ws_sim *sim) {
  size_t total = ws__hip_properties()->totalGlobalMem;
  size_t used = ws_sim_bytes_in_use(sim);
  size_t left = used < total ? total - used : 0;
  size_t host = host_available();
  host -= host / 16;
  return left < host ? left : host;
}

static hipError_t memory_info(size_t *out_free, size_t *out_total) {
  ws_sim *sim = ws__hip_simulator();
  if (!sim)
    return hipErrorNotInitialized;
  if (!out_free || !out_total)
    return hipErrorInvalidValue;
  *out_free = free_bytes(sim);
  *out_total = ws__hip_properties()->totalGlobalMem;
  return hipSuccess;
}
hipError_t hipMemGetInfo(size_t *out_free, size_t *out_total) {
  HIP_CALL(memory_info(out_free, out_total));
}

/* ---- allocating ------------------------------------------------------------
 */

void ws__hip_memory_contents(const void *address, bool given) {
  if (ws__hip_device.settings.mode == WS_HIPSIM_TIME)
    ws_sim_set_unknown(ws__hip_device.sim, address, !given);
}

static hipError_t allocate(void **out, size_t bytes, hipMemoryType type,
                           unsigned flags) {
  if (!out)
    return hipErrorInvalidValue;
  *out = NULL;
  if (!bytes)
    return hipSuccess;
  ws_sim *sim = ws__hip_simulator();
  if (!sim)
    return hipErrorNotInitialized;
  /* Reading meminfo takes longer than a small allocation. */
  if (bytes > 1u << 20 && bytes > free_bytes(sim))
    return hipErrorOutOfMemory;
  void *memory = ws_sim_allocate(sim, bytes);
  if (!memory)
    return hipErrorOutOfMemory;
  if (!insert((block){(uintptr_t)memory, bytes, type, flags, NULL})) {
    ws_sim_free(sim, memory);
    return hipErrorOutOfMemory;
  }
  if (type == hipMemoryTypeDevice)
    ws__hip_memory_contents(memory, false);
  *out = memory;
  return hipSuccess;
}

hipError_t hipMalloc(void **out, size_t bytes) {
  HIP_CALL(allocate(out, bytes, hipMemoryTypeDevice, 0));
}
hipError_t hipExtMallocWithFlags(void **out, size_t bytes, unsigned flags) {
  HIP_CALL(allocate(out, bytes, hipMemoryTypeDevice, flags));
}
hipError_t hipMallocManaged(void **out, size_t bytes, unsigned flags) {
  bool known = flags == hipMemAttachGlobal || flags == hipMemAttachHost;
  HIP_CALL(known ? allocate(out, bytes, hipMemoryTypeManaged, flags)
                 : hipErrorInvalidValue);
}
hipError_t hipMallocAsync(void **out, size_t bytes, hipStream_t stream) {
  HIP_CALL(ws__hip_stream(stream) ? allocate(out, bytes, hipMemoryTypeDevice, 0)
                                  : hipErrorInvalidHandle);
}
hipError_t hipHostMalloc(void **out, size_t bytes, unsigned flags) {
  HIP_CALL(allocate(out, bytes, hipMemoryTypeHost, flags));
}
hipError_t hipHostAlloc(void **out, size_t bytes, unsigned flags) {
  HIP_CALL(allocate(out, bytes, hipMemoryTypeHost, flags));
}
hipError_t hipMallocHost(void **out, size_t bytes) {
  HIP_CALL(allocate(out, bytes, hipMemoryTypeHost, 0));
}
hipError_t hipMemAllocHost(void **out, size_t bytes) {
  HIP_CALL(allocate(out, bytes, hipMemoryTypeHost, 0));
}

/* Rows start at multiples of 256 bytes. */
static hipError_t allocate_pitch(void **out, size_t *out_pitch, size_t width,
                                 size_t height) {
  size_t pitch = (width + 255) / 256 * 256, bytes;
  if (!out || !out_pitch || pitch < width ||
      __builtin_mul_overflow(pitch, height, &bytes))
    return hipErrorInvalidValue;
  *out_pitch = pitch;
  return allocate(out, bytes, hipMemoryTypeDevice, 0);
}
hipError_t hipMallocPitch(void **out, size_t *out_pitch, size_t width,
                          size_t height) {
  HIP_CALL(allocate_pitch(out, out_pitch, width, height));
}
hipError_t hipMemAllocPitch(hipDeviceptr_t *out, size_t *out_pitch,
                            size_t width, size_t height, unsigned element) {
  bool known = element == 4 || element == 8 || element == 16;
  HIP_CALL(known ? allocate_pitch(out, out_pitch, width, height)
                 : hipErrorInvalidValue);
}

/* ---- freeing: all work is done when a call is made
 * --------------------------- */

static hipError_t release(void *pointer, bool host) {
  if (!pointer)
    return hipSuccess;
  block *found = block_of(pointer);
  if (!found || found->begin != (uintptr_t)pointer || found->mirror ||
      host != (found->type == hipMemoryTypeHost))
    return hipErrorInvalidValue;
  erase(found);
  return ws_sim_free(ws__hip_device.sim, pointer) ? hipSuccess
                                                  : hipErrorInvalidValue;
}

hipError_t hipFree(void *pointer) { HIP_CALL(release(pointer, false)); }
hipError_t hipFreeAsync(void *pointer, hipStream_t stream) {
  HIP_CALL(!pointer || !ws__hip_stream(stream) ? hipErrorInvalidValue
                                               : release(pointer, false));
}
hipError_t hipHostFree(void *pointer) { HIP_CALL(release(pointer, true)); }
hipError_t hipFreeHost(void *pointer) { HIP_CALL(release(pointer, true)); }

/* ---- what a pointer is ------------------------------------------------------
 */

hipError_t ws__hip_memory_range(const void *pointer, size_t bytes,
                                bool *out_device) {
  *out_device = false;
  if (!pointer && bytes)
    return hipErrorInvalidValue;
  void *begin;
  size_t size;
  if (!ws__hip_device.sim ||
      !ws_sim_find(ws__hip_device.sim, pointer, &begin, &size))
    return hipSuccess;
  *out_device = true;
  size_t offset = (size_t)((uintptr_t)pointer - (uintptr_t)begin);
  return offset <= size && bytes <= size - offset ? hipSuccess
                                                  : hipErrorInvalidValue;
}

bool ws__hip_memory_is_pinned_host(const void *pointer) {
  const block *found = block_of(pointer);
  return found && found->type == hipMemoryTypeHost;
}

bool ws__hip_memory_copy(void *to, const void *from, size_t bytes) {
  /* The kernel takes at most 2 GiB less a page at a time. */
  const size_t most = (size_t)1 << 30;
  for (size_t done = 0; done < bytes;) {
    size_t part = bytes - done < most ? bytes - done : most;
    struct iovec target = {(char *)to + done, part};
    struct iovec source = {(char *)(uintptr_t)from + done, part};
    ssize_t moved = process_vm_readv(getpid(), &target, 1, &source, 1, 0);
    if (moved < 0 && (errno == EPERM || errno == ENOSYS)) {
      memmove(target.iov_base, source.iov_base,
              part); /* a sandbox forbids it */
      moved = (ssize_t)part;
    }
    if (moved <= 0)
      return false;
    done += (size_t)moved;
  }
  return true;
}

static hipError_t address_range(hipDeviceptr_t *out_begin, size_t *out_bytes,
                                const void *pointer) {
  void *begin;
  size_t bytes;
  if (!ws__hip_device.sim ||
      !ws_sim_find(ws__hip_device.sim, pointer, &begin, &bytes))
    return hipErrorNotFound;
  if (out_begin)
    *out_begin = begin;
  if (out_bytes)
    *out_bytes = bytes;
  return hipSuccess;
}
hipError_t hipMemGetAddressRange(hipDeviceptr_t *out_begin, size_t *out_bytes,
                                 hipDeviceptr_t pointer) {
  HIP_CALL(address_range(out_begin, out_bytes, pointer));
}

static hipError_t pointer_size(const void *pointer, size_t *out_bytes) {
  const block *found = block_of(pointer);
  if (!out_bytes || !found || found->begin != (uintptr_t)pointer)
    return hipErrorInvalidValue;
  *out_bytes = found->bytes;
  return hipSuccess;
}
hipError_t hipMemPtrGetInfo(void *pointer, size_t *out_bytes) {
  HIP_CALL(pointer_size(pointer, out_bytes));
}

static hipError_t attributes(hipPointerAttribute_t *out, const void *pointer) {
  const block *found = block_of(pointer);
  if (!out || !pointer)
    return hipErrorInvalidValue;
  memset(out, 0, sizeof *out);
  out->type = found ? found->type : hipMemoryTypeUnregistered;
  if (!found)
    return hipSuccess;
  out->devicePointer = (void *)(uintptr_t)pointer;
  out->hostPointer =
      found->type == hipMemoryTypeDevice ? NULL : out->devicePointer;
  if (found->mirror)
    out->devicePointer =
        (char *)found->mirror + ((uintptr_t)pointer - found->begin);
  out->isManaged = found->type == hipMemoryTypeManaged;
  out->allocationFlags = found->flags;
  return hipSuccess;
}
hipError_t hipPointerGetAttributes(hipPointerAttribute_t *out,
                                   const void *pointer) {
  HIP_CALL(attributes(out, pointer));
}

/* ---- pinned host memory
 * ------------------------------------------------------ */

static bool is_readable(const void *pointer, size_t bytes) {
  char byte;
  for (size_t at = 0; at < bytes; at += 4096)
    if (!ws__hip_memory_copy(&byte, (const char *)pointer + at, 1))
      return false;
  return true;
}

static hipError_t host_register(void *host, size_t bytes, unsigned flags) {
  uintptr_t begin = (uintptr_t)host;
  if (!host || !bytes || begin + bytes < begin || !is_readable(host, bytes))
    return hipErrorInvalidValue;
  size_t next = block_after(begin);
  if (block_of(host) ||
      (next < block_count && blocks[next].begin < begin + bytes))
    return hipErrorHostMemoryAlreadyRegistered;
  ws_sim *sim = ws__hip_simulator();
  if (!sim)
    return hipErrorNotInitialized;
  void *mirror = ws_sim_allocate(sim, bytes);
  if (!mirror)
    return hipErrorOutOfMemory;
  if (insert((block){begin, bytes, hipMemoryTypeHost, flags, mirror})) {
    mirror_count++;
    return hipSuccess;
  }
  ws_sim_free(sim, mirror);
  return hipErrorOutOfMemory;
}
hipError_t hipHostRegister(void *host, size_t bytes, unsigned flags) {
  HIP_CALL(host_register(host, bytes, flags));
}

static hipError_t unregister(void *host) {
  block *found = block_of(host);
  if (!found || !found->mirror || found->begin != (uintptr_t)host)
    return hipErrorHostMemoryNotRegistered;
  ws_sim_free(ws__hip_device.sim, found->mirror);
  erase(found);
  mirror_count--;
  return hipSuccess;
}
hipError_t hipHostUnregister(void *host) { HIP_CALL(unregister(host)); }

void ws__hip_memory_mirror(bool to_device) {
  for (size_t i = 0; i < block_count && mirror_count; i++) {
    void *host = (void *)blocks[i].begin, *mirror = blocks[i].mirror;
    if (mirror &&
        !ws__hip_memory_copy(to_device ? mirror : host,
                             to_device ? host : mirror, blocks[i].bytes))
      ws_log(WS_LOG_WARN, "registered memory at %p is gone", host);
  }
}

void *ws__hip_memory_home(const void *pointer) {
  uintptr_t address = (uintptr_t)pointer;
  for (size_t i = 0; i < block_count && mirror_count; i++) {
    uintptr_t mirror = (uintptr_t)blocks[i].mirror;
    if (mirror && address - mirror < blocks[i].bytes)
      return (void *)(blocks[i].begin + (address - mirror));
  }
  return (void *)address;
}

static hipError_t device_pointer(void **out, void *host) {
  const block *found = block_of(host);
  if (!out || !found || found->type == hipMemoryTypeDevice)
    return hipErrorInvalidValue;
  *out = found->mirror
             ? (char *)found->mirror + ((uintptr_t)host - found->begin)
             : host;
  return hipSuccess;
}
hipError_t hipHostGetDevicePointer(void **out, void *host, unsigned flags) {
  HIP_CALL(flags ? hipErrorInvalidValue : device_pointer(out, host));
}

static hipError_t host_flags(unsigned *out, const void *host) {
  const block *found = block_of(host);
  if (!out || !found || found->type != hipMemoryTypeHost)
    return hipErrorInvalidValue;
  *out = found->flags;
  return hipSuccess;
}
hipError_t hipHostGetFlags(unsigned *out, void *host) {
  HIP_CALL(host_flags(out, host));
}

static hipError_t prefetch(const void *pointer, size_t bytes) {
  bool device;
  hipError_t error = ws__hip_memory_range(pointer, bytes, &device);
  return error || device ? error : hipErrorInvalidValue;
}
hipError_t hipMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                               hipStream_t stream) {
  (void)device;
  HIP_CALL(ws__hip_stream(stream) ? prefetch(pointer, bytes)
                                  : hipErrorInvalidHandle);
}
hipError_t hipMemAdvise(const void *pointer, size_t bytes,
                        hipMemoryAdvise advice, int device) {
  (void)advice;
  (void)device;
  HIP_CALL(prefetch(pointer, bytes));
}

/* ---- beside HIP: what kernels stored (wavesmith/sim.h) ----------------------
 */

int wavesmith_sim_watch(const void *address) {
  ws__hip_enter();
  ws_sim *sim = ws__hip_simulator();
  bool found = sim && ws_sim_watch(sim, address);
  ws__hip_leave(hipSuccess);
  return found;
}

size_t wavesmith_sim_unstored(const void *address, size_t bytes,
                              size_t *out_first) {
  ws__hip_enter();
  ws_sim *sim = ws__hip_simulator();
  size_t count = sim ? ws_sim_unstored(sim, address, bytes, out_first) : bytes;
  ws__hip_leave(hipSuccess);
  return count;
}

/* ---- beside HIP: caches as a flush leaves them (wavesmith/sim.h) ------------
 */

void wavesmith_sim_flush(void) {
  ws__hip_enter();
  ws_sim *sim = ws__hip_simulator();
  if (sim)
    ws_sim_flush(sim);
  ws__hip_leave(hipSuccess);
}
