/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Whatever may be handed in as a module: ELF, bundles, compressed bundles,
 * other GPUs', truncated, broken at random. The bundles are written here after
 * clang's documentation, not by the code under test.
 */
#include "hipsim_test.h"

#include <stdint.h>
#include <sys/mman.h>
#ifdef WS_HAVE_ZLIB
#include <zlib.h>
#endif

typedef struct bytes {
  unsigned char *data;
  size_t size;
} bytes;

static bytes read_file(const char *path) {
  bytes file = {test_memory(1 << 20), 0};
  FILE *stream = fopen(path, "rb");
  WS_CHECK(stream && file.data);
  file.size = fread(file.data, 1, 1 << 20, stream);
  fclose(stream);
  WS_CHECK(file.size > 1000);
  return file;
}

/* The last byte lies before a page that cannot be read. */
static unsigned char *at_the_edge(const unsigned char *data, size_t size) {
  size_t pages = (size + 4095) / 4096 * 4096;
  unsigned char *map = mmap(NULL, pages + 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  WS_CHECK(map != MAP_FAILED && !mprotect(map + pages, 4096, PROT_NONE));
  return memcpy(map + pages - size, data, size);
}

static void put64(unsigned char **at, uint64_t value) {
  memcpy(*at, &value, 8);
  *at += 8;
}

typedef struct entry {
  const char *id;
  bytes code;
} entry;

static bytes make_bundle(const entry *entries, int count) {
  bytes bundle = {test_memory(1 << 20), 24 + 8};
  unsigned char *at = bundle.data;
  memcpy(at, "__CLANG_OFFLOAD_BUNDLE__", 24);
  at += 24;
  put64(&at, (uint64_t)count);
  for (int i = 0; i < count; i++)
    bundle.size += 24 + strlen(entries[i].id);
  for (int i = 0; i < count; i++) {
    bundle.size = (bundle.size + 4095) / 4096 * 4096;
    put64(&at, bundle.size);
    put64(&at, entries[i].code.size);
    put64(&at, strlen(entries[i].id));
    memcpy(at, entries[i].id, strlen(entries[i].id));
    at += strlen(entries[i].id);
    memcpy(bundle.data + bundle.size, entries[i].code.data,
           entries[i].code.size);
    bundle.size += entries[i].code.size;
  }
  return bundle;
}

#ifdef WS_HAVE_ZLIB
/* Version 2: magic, u16 version, u16 method (0: zlib), u32 size of all, u32
 * uncompressed size, u64 hash. */
static bytes compress_bundle(bytes bundle) {
  bytes out = {test_memory(1 << 20), 24};
  uLongf packed = (1 << 20) - 24;
  uint16_t halves[2] = {2, 0};
  WS_CHECK(compress(out.data + 24, &packed, bundle.data, bundle.size) == Z_OK);
  out.size += packed;
  uint32_t words[2] = {(uint32_t)out.size, (uint32_t)bundle.size};
  memcpy(out.data, "CCOB", 4);
  memcpy(out.data + 4, halves, 4);
  memcpy(out.data + 8, words, 8);
  return out;
}
#endif

static hipError_t load(const void *image) {
  hipModule_t module;
  hipFunction_t function;
  hipError_t error = hipModuleLoadData(&module, image);
  if (!error) {
    OK(hipModuleGetFunction(&function, module, "saxpy"));
    OK(hipModuleUnload(module));
  }
  return error;
}

WS_TEST(elf_is_loaded) {
  bytes elf = read_file(WS_KERNELS);
  OK(load(at_the_edge(elf.data, elf.size)));
}

WS_TEST(truncated_elf_is_refused) {
  bytes elf = read_file(WS_KERNELS);
  for (size_t size = 1; size < elf.size; size += size < 100 ? 1 : 997)
    FAILS(load(at_the_edge(elf.data, size)), hipErrorInvalidImage);
}

WS_TEST(other_images_are_refused) {
  char zeros[64] = {0};
  hipModule_t module;
  bytes other = read_file(WS_KERNELS_OTHER);
  bytes program = read_file("/proc/self/exe");
  FAILS(load(zeros), hipErrorInvalidImage);
  FAILS(load((void *)16), hipErrorInvalidImage);
  FAILS(load(NULL), hipErrorInvalidValue);
  FAILS(load(program.data), hipErrorInvalidImage);
  FAILS(load(other.data), hipErrorNoBinaryForGpu);
  FAILS(hipModuleLoad(&module, "/no/such/file"), hipErrorFileNotFound);
  FAILS(hipModuleLoad(&module, "/proc/self/exe"), hipErrorInvalidImage);
}

WS_TEST(bundle_gives_its_gfx942_entry) {
  bytes ours = read_file(WS_KERNELS), other = read_file(WS_KERNELS_OTHER);
  const entry all[] = {
      {"host-x86_64-unknown-linux-gnu-", {(unsigned char *)"", 0}},
      {"hipv4-amdgcn-amd-amdhsa--gfx90a", other},
      {"hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-", ours}};
  const entry wrong[] = {{"hipv4-amdgcn-amd-amdhsa--gfx90a", other},
                         {"hipv4-amdgcn-amd-amdhsa--gfx942:xnack+", ours},
                         {"hipv4-amdgcn-amd-amdhsa--gfx9420", ours}};
  bytes good = make_bundle(all, 3), bad = make_bundle(wrong, 3);
  OK(load(at_the_edge(good.data, good.size)));
  FAILS(load(bad.data), hipErrorNoBinaryForGpu);
  FAILS(load(at_the_edge(good.data, 40)), hipErrorInvalidImage);
  FAILS(load(at_the_edge(good.data, good.size - 100)), hipErrorInvalidImage);
}

#ifdef WS_HAVE_ZLIB
WS_TEST(compressed_bundle_is_opened) {
  const entry one[] = {
      {"host-x86_64-unknown-linux-gnu-", {(unsigned char *)"", 0}},
      {"hipv4-amdgcn-amd-amdhsa--gfx942", read_file(WS_KERNELS)}};
  bytes packed = compress_bundle(make_bundle(one, 2));
  OK(load(at_the_edge(packed.data, packed.size)));
  FAILS(load(at_the_edge(packed.data, packed.size - 10)), hipErrorInvalidImage);
  packed.data[4] = 9; /* version */
  FAILS(load(packed.data), hipErrorInvalidImage);
}
#endif

/* One to four bytes of the first 128 changed, which is what image.c reads: an
 * error or a module, never a crash. The loader has its own such test. */
WS_TEST(broken_images_do_not_crash) {
  const entry one[] = {
      {"hipv4-amdgcn-amd-amdhsa--gfx942", read_file(WS_KERNELS)}};
  bytes elf = one[0].code, bundle = make_bundle(one, 1);
  unsigned state = 1;
  setenv("WAVESMITH_LOG", "none", 1);
  for (int round = 0; round < 1500; round++) {
    bytes image = round & 1 ? elf : bundle;
    const size_t reach = 128;
    unsigned char *copy = at_the_edge(image.data, image.size);
    for (int i = 0; i < 1 + round % 4; i++) {
      state = state * 1664525u + 1013904223u;
      copy[(state >> 8) % reach] ^= (unsigned char)(1 + (state >> 24) % 255);
    }
    hipModule_t module;
    if (hipModuleLoadData(&module, copy) == hipSuccess)
      OK(hipModuleUnload(module));
    munmap((void *)((uintptr_t)copy & ~(uintptr_t)4095), image.size + 4096);
  }
}
