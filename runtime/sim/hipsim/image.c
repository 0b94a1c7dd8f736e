/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From what a program hands to hipModuleLoadData, or clang put into it, to a
 * gfx942 code object. Three forms: the ELF itself; an offload bundle of several
 * targets' ELFs ("Clang Offload Bundler" of clang's documentation); the same,
 * compressed, which comgr opens. HIP gives no length, so everything is copied
 * out by steps that fail where memory ends.
 */
#include "hipsim.h"

#include <amd_comgr/amd_comgr.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
  MACHINE_AMDGPU = 224,
  MACH_MASK = 0xff,  /* EF_AMDGPU_MACH, LLVM AMDGPUUsage "ELF header" */
  MACH_GFX942 = 0x4c /* EF_AMDGPU_MACH_AMDGCN_GFX942 */
};
static const size_t most_bytes = (size_t)1 << 30;
static const char bundle_magic[] = "__CLANG_OFFLOAD_BUNDLE__";
static const char compressed_magic[] = "CCOB";

static hipError_t wrong(const char *text, hipError_t error) {
  ws_log(WS_LOG_ERROR, "module image: %s", text);
  return error;
}

/* ---- ELF -------------------------------------------------------------------
 */

static void widen(uint64_t begin, uint64_t bytes, uint64_t *end) {
  uint64_t here;
  if (__builtin_add_overflow(begin, bytes, &here))
    here = UINT64_MAX;
  if (here > *end)
    *end = here;
}

/* Where the last of header, program and section table ends. Sections lie before
 * the section table in what LLVM's linkers write, segments' ends are looked at.
 */
static uint64_t elf_size(const unsigned char *image, const Elf64_Ehdr *header) {
  uint64_t end = sizeof *header;
  widen(header->e_phoff, (uint64_t)header->e_phnum * header->e_phentsize, &end);
  widen(header->e_shoff, (uint64_t)header->e_shnum * header->e_shentsize, &end);
  for (int i = 0; i < header->e_phnum && end <= most_bytes; i++) {
    Elf64_Phdr segment;
    const unsigned char *place =
        image + header->e_phoff + (size_t)i * header->e_phentsize;
    if (!ws__hip_memory_copy(&segment, place, sizeof segment))
      return UINT64_MAX;
    if (segment.p_type == PT_LOAD)
      widen(segment.p_offset, segment.p_filesz, &end);
  }
  return end;
}

static hipError_t copy_out(const void *from, uint64_t size, ws_image *out) {
  if (size > most_bytes)
    return wrong("it claims to be larger than 1 GiB", hipErrorInvalidImage);
  out->data = malloc(size);
  out->size = size;
  if (!out->data)
    return hipErrorOutOfMemory;
  if (ws__hip_memory_copy(out->data, from, size))
    return hipSuccess;
  free(out->data);
  out->data = NULL;
  return wrong("it ends before its tables say", hipErrorInvalidImage);
}

static hipError_t open_elf(const unsigned char *image, ws_image *out) {
  Elf64_Ehdr header;
  if (!ws__hip_memory_copy(&header, image, sizeof header))
    return wrong("it ends within the ELF header", hipErrorInvalidImage);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_machine != MACHINE_AMDGPU)
    return wrong("an ELF of another machine than AMDGPU", hipErrorInvalidImage);
  if ((header.e_flags & MACH_MASK) != MACH_GFX942)
    return wrong("a code object of another GPU than gfx942",
                 hipErrorNoBinaryForGpu);
  return copy_out(image, elf_size(image, &header), out);
}

/* ---- bundle ----------------------------------------------------------------
 */

enum { MOST_ENTRIES = 4096, MOST_ID_BYTES = 256 };

/* "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-": kind, triple, processor,
 * features. Ours is sramecc+, xnack-; a feature that is not named is either. */
static bool runs_here(const char *id) {
  const char *processor = strstr(id, "gfx942");
  if (strncmp(id, "hip", 3) || !strstr(id, "amdgcn") || !processor)
    return false;
  const char *features = processor + strlen("gfx942");
  return (*features == 0 || *features == ':') && !strstr(features, ":xnack+") &&
         !strstr(features, ":sramecc-");
}

static bool take(void *to, const unsigned char **at, size_t size) {
  bool taken = ws__hip_memory_copy(to, *at, size);
  *at += size;
  return taken;
}

static hipError_t open_bundle(const unsigned char *image, ws_image *out) {
  const unsigned char *at = image + strlen(bundle_magic);
  uint64_t count, entry[3]; /* offset, size, bytes of id */
  if (!take(&count, &at, sizeof count) || count > MOST_ENTRIES)
    return wrong("a bundle without a table", hipErrorInvalidImage);
  for (uint64_t i = 0; i < count; i++) {
    char id[MOST_ID_BYTES] = "";
    if (!take(entry, &at, sizeof entry) || entry[2] >= sizeof id ||
        !take(id, &at, entry[2]))
      return wrong("a bundle with a broken table", hipErrorInvalidImage);
    ws_log(WS_LOG_DEBUG, "bundle entry %s", id);
    if (runs_here(id) && entry[1] && entry[0] <= most_bytes)
      return open_elf(image + entry[0], out);
  }
  return wrong("a bundle without code for gfx942", hipErrorNoBinaryForGpu);
}

/* ---- compressed bundle ------------------------------------------------------
 */

/* Header: magic, u16 version, u16 method, then the size of the whole: 32 bits
 * in version 2, 64 in 3. Version 1 does not say. */
static hipError_t compressed_size(const unsigned char *image, uint64_t *out) {
  uint16_t version;
  uint32_t narrow;
  if (!ws__hip_memory_copy(&version, image + 4, sizeof version) ||
      !ws__hip_memory_copy(&narrow, image + 8, sizeof narrow) ||
      !ws__hip_memory_copy(out, image + 8, sizeof *out))
    return wrong("it ends within the header", hipErrorInvalidImage);
  if (version == 2)
    *out = narrow;
  if (version < 2 || version > 3)
    return wrong("a compressed bundle of another version than 2 and 3",
                 hipErrorInvalidImage);
  return hipSuccess;
}

typedef struct unbundling {
  amd_comgr_data_t bundle;
  amd_comgr_data_set_t input, output;
  amd_comgr_action_info_t action;
} unbundling;

static bool is_ok(amd_comgr_status_t status) {
  return status == AMD_COMGR_STATUS_SUCCESS;
}

static bool prepare(unbundling *work, const ws_image *image, const char *id) {
  return is_ok(amd_comgr_create_data(AMD_COMGR_DATA_KIND_OBJ_BUNDLE,
                                     &work->bundle)) &&
         is_ok(amd_comgr_set_data(work->bundle, image->size, image->data)) &&
         is_ok(amd_comgr_set_data_name(work->bundle, "bundle.o")) &&
         is_ok(amd_comgr_create_data_set(&work->input)) &&
         is_ok(amd_comgr_data_set_add(work->input, work->bundle)) &&
         is_ok(amd_comgr_create_data_set(&work->output)) &&
         is_ok(amd_comgr_create_action_info(&work->action)) &&
         is_ok(amd_comgr_action_info_set_language(work->action,
                                                  AMD_COMGR_LANGUAGE_HIP)) &&
         is_ok(
             amd_comgr_action_info_set_bundle_entry_ids(work->action, &id, 1));
}

/* The one object in the set that is an ELF. */
static hipError_t first_elf(amd_comgr_data_set_t set, ws_image *out) {
  amd_comgr_data_t data;
  size_t size = 0;
  if (!is_ok(amd_comgr_action_data_get_data(set, AMD_COMGR_DATA_KIND_EXECUTABLE,
                                            0, &data)))
    return hipErrorNoBinaryForGpu;
  hipError_t error = hipErrorNoBinaryForGpu;
  char *bytes = NULL;
  if (is_ok(amd_comgr_get_data(data, &size, NULL)) &&
      size >= sizeof(Elf64_Ehdr) && (bytes = malloc(size)) &&
      is_ok(amd_comgr_get_data(data, &size, bytes)) &&
      !memcmp(bytes, ELFMAG, SELFMAG))
    error = open_elf((unsigned char *)bytes, out);
  free(bytes);
  amd_comgr_release_data(data);
  return error;
}

static hipError_t unbundle(const ws_image *image, const char *id,
                           ws_image *out) {
  unbundling work = {0};
  hipError_t error = hipErrorNoBinaryForGpu;
  if (prepare(&work, image, id) &&
      is_ok(amd_comgr_do_action(AMD_COMGR_ACTION_UNBUNDLE, work.action,
                                work.input, work.output)))
    error = first_elf(work.output, out);
  if (work.action.handle)
    amd_comgr_destroy_action_info(work.action);
  if (work.output.handle)
    amd_comgr_destroy_data_set(work.output);
  if (work.input.handle)
    amd_comgr_destroy_data_set(work.input);
  if (work.bundle.handle)
    amd_comgr_release_data(work.bundle);
  return error;
}

static hipError_t open_compressed(const unsigned char *image, ws_image *out) {
  static const char *const ids[] = {
      "hipv4-amdgcn-amd-amdhsa--gfx942",
      "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-",
      "hipv4-amdgcn-amd-amdhsa--gfx942:xnack-",
      "hipv4-amdgcn-amd-amdhsa--gfx942:sramecc+",
  };
  uint64_t size;
  ws_image bundle;
  hipError_t error = compressed_size(image, &size);
  if (!error)
    error = copy_out(image, size, &bundle);
  if (error)
    return error;
  error = hipErrorNoBinaryForGpu;
  for (size_t i = 0; i < sizeof ids / sizeof ids[0] && error; i++)
    error = unbundle(&bundle, ids[i], out);
  free(bundle.data);
  return error ? wrong("a compressed bundle without code for gfx942", error)
               : hipSuccess;
}

/* ---- all forms -------------------------------------------------------------
 */

hipError_t ws__hip_image_open(const void *image, ws_image *out_image) {
  static const struct form {
    const char *magic;
    hipError_t (*open)(const unsigned char *image, ws_image *out);
  } forms[] = {{ELFMAG, open_elf},
               {bundle_magic, open_bundle},
               {compressed_magic, open_compressed}};
  *out_image = (ws_image){0};
  for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
    char start[sizeof bundle_magic];
    size_t size = strlen(forms[i].magic);
    if (ws__hip_memory_copy(start, image, size) &&
        !memcmp(start, forms[i].magic, size))
      return forms[i].open(image, out_image);
  }
  return wrong("neither an ELF nor an offload bundle", hipErrorInvalidImage);
}
