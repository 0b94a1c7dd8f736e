/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loads a code object: its segments go into one range of device memory as far
 * apart as they are in the file (code addresses data relative to itself), the
 * relocations are applied, the text is decoded, and the kernels and variables
 * among the dynamic symbols are made known. Layouts are those of LLVM's "User
 * Guide for AMDGPU Backend": "Relocation Records", "Kernel Descriptor",
 * "Preloaded Kernel Arguments".
 */
#include "code_object.h"
#include "elf_file.h"
#include "line_table.h"
#include "metadata.h"

enum {
  PAGE_BYTES = 4096,
  DESCRIPTOR_BYTES = 64,
  PRELOAD_PROLOGUE = 256, /* bytes that loading firmware skips */
  PROPERTY_WAVE32 = 1 << 10,
  PROPERTY_DYNAMIC_STACK = 1 << 11,
  VGPR_GRANULE = 8, /* gfx90a and gfx942 */
  ACCUM_GRANULE = 4,
  SGPR_DEFAULT = 104 /* gfx9 reserves 102 and VCC for every wave */
};

#define REFUSE(diag, ...) ws_fail(diag, WS_INPUT, NULL, 0, __VA_ARGS__)

/* What a load works on. */
typedef struct loading {
  ws_elf elf;
  ws_sim_module *module;
  ws_kernel_metadata *metadata;
  int metadata_count;
  ws_diag *diag;
} loading;

/* Where bytes from an ELF address are in memory; NULL: not in a segment. */
static uint8_t *place(const loading *load, uint64_t address, uint64_t bytes) {
  const ws_elf *elf = &load->elf;
  if (address < elf->low || address > elf->high || bytes > elf->high - address)
    return NULL;
  return load->module->base + (address - elf->low);
}

/* ---- segments --------------------------------------------------------------
 */

static ws_status load_segments(ws_memory *memory, loading *load) {
  const ws_elf *elf = &load->elf;
  ws_sim_module *module = load->module;
  module->bytes =
      (elf->high - elf->low + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  module->base = ws__memory_allocate_code(memory, module->bytes);
  if (!module->base)
    return ws_fail(load->diag, WS_ENVIRONMENT, NULL, 0,
                   "no memory for a code object of %zu bytes", module->bytes);
  memset(module->base, 0, module->bytes);
  for (size_t i = 0; i < elf->segments.count; i++) {
    Elf64_Phdr segment = ws__elf_segment(elf, i);
    if (segment.p_type == PT_LOAD && segment.p_memsz)
      memcpy(place(load, segment.p_vaddr, segment.p_filesz),
             elf->image + segment.p_offset, segment.p_filesz);
  }
  if (elf->data_begin < elf->high)
    ws__memory_allow_stores(memory, module->base, elf->data_begin - elf->low);
  return WS_OK;
}

/* ---- relocations -----------------------------------------------------------
 * S: address of the symbol, A: addend, P: place, B: where the code object is.
 */

typedef enum relocation_value { VALUE_S, VALUE_S_MINUS_P, VALUE_B } value_of;

static const struct relocation_kind {
  uint32_t type;
  value_of value;
  int shift;   /* bits that the value is moved right */
  int bytes;   /* stored */
  bool narrow; /* the whole value must fit */
} relocation_kinds[] = {
    {1, VALUE_S, 0, 4, false},           /* R_AMDGPU_ABS32_LO */
    {2, VALUE_S, 32, 4, false},          /* R_AMDGPU_ABS32_HI */
    {3, VALUE_S, 0, 8, false},           /* R_AMDGPU_ABS64 */
    {4, VALUE_S_MINUS_P, 0, 4, true},    /* R_AMDGPU_REL32 */
    {5, VALUE_S_MINUS_P, 0, 8, false},   /* R_AMDGPU_REL64 */
    {6, VALUE_S, 0, 4, true},            /* R_AMDGPU_ABS32 */
    {10, VALUE_S_MINUS_P, 0, 4, false},  /* R_AMDGPU_REL32_LO */
    {11, VALUE_S_MINUS_P, 32, 4, false}, /* R_AMDGPU_REL32_HI */
    {13, VALUE_B, 0, 8, false},          /* R_AMDGPU_RELATIVE64 */
};

static const struct relocation_kind *find_relocation(uint32_t type) {
  for (size_t i = 0; i < sizeof relocation_kinds / sizeof *relocation_kinds;
       i++)
    if (relocation_kinds[i].type == type)
      return &relocation_kinds[i];
  return NULL;
}

/* Address in memory that relocations against the symbol mean. Nothing else is
 * loaded that an undefined symbol could be in. */
static ws_status symbol_address(const loading *load, uint32_t index,
                                uint64_t *out) {
  if (index >= load->elf.symbols.count)
    return REFUSE(load->diag, "a relocation is against symbol %u of %zu", index,
                  load->elf.symbols.count);
  Elf64_Sym symbol = ws__elf_symbol(&load->elf, index);
  *out = 0;
  if (symbol.st_shndx == SHN_UNDEF) {
    if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK || index == 0)
      return WS_OK;
    return REFUSE(load->diag,
                  "the code object needs '%s', which it does not "
                  "define",
                  ws__elf_name(&load->elf, &symbol));
  }
  const uint8_t *at = place(load, symbol.st_value, 0);
  if (!at)
    return REFUSE(load->diag,
                  "symbol '%s' is at 0x%llx, outside of the code "
                  "object",
                  ws__elf_name(&load->elf, &symbol),
                  (unsigned long long)symbol.st_value);
  *out = (uint64_t)(uintptr_t)at;
  return WS_OK;
}

static ws_status apply_relocation(const loading *load, const Elf64_Rela *rela) {
  const struct relocation_kind *kind =
      find_relocation((uint32_t)ELF64_R_TYPE(rela->r_info));
  uint64_t value = 0;
  if (!kind)
    return REFUSE(load->diag, "relocation type %u at 0x%llx is not known",
                  (unsigned)ELF64_R_TYPE(rela->r_info),
                  (unsigned long long)rela->r_offset);
  uint8_t *at = place(load, rela->r_offset, (uint64_t)kind->bytes);
  if (!at)
    return REFUSE(load->diag,
                  "a relocation at 0x%llx is out of range: the "
                  "code object takes 0x%llx to 0x%llx",
                  (unsigned long long)rela->r_offset,
                  (unsigned long long)load->elf.low,
                  (unsigned long long)load->elf.high);
  if (kind->value == VALUE_B)
    value = (uint64_t)(uintptr_t)load->module->base - load->elf.low;
  else
    WS_TRY(symbol_address(load, (uint32_t)ELF64_R_SYM(rela->r_info), &value));
  value += (uint64_t)rela->r_addend;
  if (kind->value == VALUE_S_MINUS_P)
    value -= (uint64_t)(uintptr_t)at;
  if (kind->narrow && (int64_t)value != (int32_t)value && value > UINT32_MAX)
    return REFUSE(load->diag,
                  "a relocation of 32 bits at 0x%llx cannot hold "
                  "0x%llx",
                  (unsigned long long)rela->r_offset,
                  (unsigned long long)value);
  value >>= kind->shift;
  memcpy(at, &value, (size_t)kind->bytes);
  return WS_OK;
}

static ws_status relocate(const loading *load) {
  for (size_t i = 0; i < load->elf.sections.count; i++) {
    Elf64_Shdr section = ws__elf_section(&load->elf, i);
    ws_elf_table table;
    if (section.sh_type == SHT_REL && section.sh_flags & SHF_ALLOC)
      return REFUSE(load->diag, "the code object has relocations without "
                                "addends");
    if (section.sh_type != SHT_RELA || !(section.sh_flags & SHF_ALLOC))
      continue;
    WS_TRY(ws__elf_entries(&load->elf, &section, sizeof(Elf64_Rela), &table,
                           load->diag));
    for (size_t k = 0; k < table.count; k++) {
      Elf64_Rela rela;
      memcpy(&rela, table.bytes + k * sizeof rela, sizeof rela);
      WS_TRY(apply_relocation(load, &rela));
    }
  }
  return WS_OK;
}

/* ---- kernels ---------------------------------------------------------------
 */

static const ws_kernel_metadata *find_metadata(const loading *load,
                                               const char *symbol) {
  for (int i = 0; i < load->metadata_count; i++)
    if (!strcmp(load->metadata[i].symbol, symbol))
      return &load->metadata[i];
  return NULL;
}

static uint64_t field(const uint8_t *descriptor, int at, int bytes) {
  uint64_t value = 0;
  memcpy(&value, descriptor + at, (size_t)bytes);
  return value;
}

/* What the descriptor says wins over the metadata: it is what a launch obeys.
 */
static void read_descriptor(const uint8_t *bytes, ws_sim_kernel *kernel) {
  ws_sim_kernel_info *info = &kernel->info;
  kernel->rsrc3 = (uint32_t)field(bytes, 44, 4);
  kernel->rsrc1 = (uint32_t)field(bytes, 48, 4);
  kernel->rsrc2 = (uint32_t)field(bytes, 52, 4);
  kernel->properties = (uint16_t)field(bytes, 56, 2);
  kernel->preload = (uint16_t)field(bytes, 58, 2);
  kernel->accum_offset = (int)((kernel->rsrc3 & 63) + 1) * ACCUM_GRANULE;
  info->vgpr = (int32_t)((kernel->rsrc1 & 63) + 1) * VGPR_GRANULE;
  info->lds_bytes = (int32_t)field(bytes, 0, 4);
  info->scratch_bytes = (int32_t)field(bytes, 4, 4);
  int32_t kernarg_bytes = (int32_t)field(bytes, 8, 4);
  if (kernarg_bytes > info->kernarg_bytes)
    info->kernarg_bytes = kernarg_bytes;
  info->dynamic_stack |= (kernel->properties & PROPERTY_DYNAMIC_STACK) != 0;
}

static ws_status find_entry(const loading *load, int64_t address,
                            const char *name, uint32_t *out_index) {
  const ws_text *text = &load->module->text;
  uint64_t offset = (uint64_t)address - load->elf.text_begin;
  if (offset % 4 || offset >= text->size ||
      text->index_at[offset / 4] == UINT32_MAX)
    return REFUSE(load->diag,
                  "kernel %s: its entry 0x%llx is not an "
                  "instruction of the code object",
                  name, (unsigned long long)address);
  *out_index = text->index_at[offset / 4];
  return WS_OK;
}

static ws_status check_kernel(const loading *load,
                              const ws_sim_kernel *kernel) {
  const ws_sim_kernel_info *info = &kernel->info;
  if (kernel->properties & PROPERTY_WAVE32)
    return REFUSE(load->diag,
                  "kernel %s is for waves of 32 lanes; gfx942 has "
                  "64",
                  info->name);
  if (info->lds_bytes < 0 || info->lds_bytes > WS_LDS_BYTES)
    return REFUSE(load->diag,
                  "kernel %s needs %u bytes of LDS; a workgroup "
                  "has %d",
                  info->name, (unsigned)info->lds_bytes, WS_LDS_BYTES);
  if (info->scratch_bytes < 0 || info->kernarg_bytes < 0)
    return REFUSE(load->diag,
                  "kernel %s: its descriptor asks for more than "
                  "2 GiB",
                  info->name);
  for (int i = 0; i < info->arg_count; i++)
    if (info->args[i].size > info->kernarg_bytes ||
        info->args[i].offset > info->kernarg_bytes - info->args[i].size)
      return REFUSE(load->diag,
                    "kernel %s: argument %d (offset %d, %d bytes) "
                    "is not within its %d bytes of arguments",
                    info->name, i, info->args[i].offset, info->args[i].size,
                    info->kernarg_bytes);
  return WS_OK;
}

static ws_status read_kernel(const loading *load, const Elf64_Sym *symbol,
                             const char *name, ws_sim_kernel *kernel) {
  const ws_kernel_metadata *metadata = find_metadata(load, name);
  const uint8_t *bytes = place(load, symbol->st_value, DESCRIPTOR_BYTES);
  ws_sim_kernel_info *info = &kernel->info;
  *info = (ws_sim_kernel_info){.sgpr = SGPR_DEFAULT};
  if (metadata)
    *info = metadata->info;
  if (!info->name || !info->name[0])
    info->name = ws_arena_strndup(load->module->arena, name,
                                  strlen(name) - strlen(".kd"));
  if (info->max_workgroup <= 0 || info->max_workgroup > 1024)
    info->max_workgroup = 1024;
  if (!bytes)
    return REFUSE(load->diag,
                  "kernel %s: its descriptor is not within the "
                  "code object",
                  info->name);
  kernel->module = load->module;
  read_descriptor(bytes, kernel);
  int64_t entry = (int64_t)(symbol->st_value + field(bytes, 16, 8));
  WS_TRY(find_entry(load, entry, info->name, &kernel->entry));
  kernel->entry_preload = kernel->entry;
  if (kernel->preload & 127)
    WS_TRY(find_entry(load, entry + PRELOAD_PROLOGUE, info->name,
                      &kernel->entry_preload));
  return check_kernel(load, kernel);
}

/* ---- symbols ---------------------------------------------------------------
 */

static bool is_descriptor(const Elf64_Sym *symbol, const char *name) {
  size_t size = strlen(name);
  return size > 3 && !strcmp(name + size - 3, ".kd") &&
         symbol->st_shndx != SHN_UNDEF;
}

static ws_status read_symbol(loading *load, const Elf64_Sym *symbol,
                             const char *name) {
  ws_sim_module *module = load->module;
  if (is_descriptor(symbol, name))
    return read_kernel(load, symbol, name,
                       &module->kernels[module->kernel_count++]);
  if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
      symbol->st_shndx == SHN_UNDEF)
    return WS_OK;
  uint8_t *at = place(load, symbol->st_value, symbol->st_size);
  if (!at)
    return REFUSE(load->diag, "variable '%s' is not within the code object",
                  name);
  module->variables[module->variable_count++] =
      (struct ws_sim_symbol){name, at, symbol->st_size};
  return WS_OK;
}

static ws_status read_symbols(loading *load) {
  ws_sim_module *module = load->module;
  size_t count = load->elf.symbols.count;
  module->kernels =
      ws_arena_alloc(module->arena, count * sizeof *module->kernels);
  module->variables =
      ws_arena_alloc(module->arena, count * sizeof *module->variables);
  for (size_t i = 0; i < count; i++) {
    Elf64_Sym symbol = ws__elf_symbol(&load->elf, i);
    WS_TRY(read_symbol(load, &symbol, ws__elf_name(&load->elf, &symbol)));
  }
  if (module->kernel_count < load->metadata_count)
    return REFUSE(load->diag,
                  "the code object's metadata names %d kernels, "
                  "its symbols %d",
                  load->metadata_count, module->kernel_count);
  return WS_OK;
}

/* ---- modules ---------------------------------------------------------------
 */

static ws_status load_all(ws_memory *memory, loading *load) {
  ws_sim_module *module = load->module;
  const ws_elf *elf = &load->elf;
  WS_TRY(ws__read_metadata(module->arena, elf, &load->metadata,
                           &load->metadata_count, load->diag));
  WS_TRY(load_segments(memory, load));
  WS_TRY(relocate(load));
  const uint8_t *text = place(load, elf->text_begin, elf->text_bytes);
  WS_TRY(ws__decode_text(module->arena, (uint64_t)(uintptr_t)text,
                         (uint32_t)elf->text_bytes, &module->text, load->diag));
  WS_TRY(read_symbols(load));
  const ws_line_source source = {elf->image, elf->size, elf->text_begin,
                                 &module->text};
  if (elf->has_line_table)
    module->lines = ws__read_lines(module->arena, &source);
  return WS_OK;
}

ws_status ws__module_load(ws_memory *memory, const void *image, size_t size,
                          ws_sim_module **out_module, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  void *copy = ws_arena_alloc(arena, size);
  loading load = {.module = ws_arena_alloc(arena, sizeof *load.module),
                  .diag = diag};
  if (size)
    memcpy(copy, image, size);
  *out_module = load.module;
  load.module->arena = arena;
  ws_status status = ws__elf_open(copy, size, &load.elf, diag);
  if (!status)
    status = load_all(memory, &load);
  if (status) {
    ws__module_unload(memory, load.module);
    *out_module = NULL;
  }
  return status;
}

void ws__module_unload(ws_memory *memory, ws_sim_module *module) {
  if (!module)
    return;
  if (module->base)
    ws__memory_release(memory, module->base);
  ws_arena_destroy(module->arena);
}
