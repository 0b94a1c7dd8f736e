/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Checks an ELF file before anything is done with it. The numbers are those of
 * LLVM's "User Guide for AMDGPU Backend", sections "Header", "Sections" and
 * "Segments".
 */
#include "elf_file.h"

#include <string.h>

enum {
  EM_AMDGPU_ = 224,
  OSABI_AMDGPU_HSA = 64,
  MACH_MASK = 0xff,
  MACH_GFX942 = 0x4c,
  MACH_GFX9_4_GENERIC = 0x5f, /* runs on gfx942 */
  ABI_OF_V5 = 3,              /* code object version - 2 */
  ABI_OF_V6 = 4,
  PAGE = 4096
};
/* More than any module's code and variables; less than what would hurt the
 * host. */
static const uint64_t most_bytes = 1ull << 30;

#define REFUSE(diag, ...) ws_fail(diag, WS_INPUT, NULL, 0, __VA_ARGS__)

static bool within(uint64_t offset, uint64_t bytes, uint64_t size) {
  return offset <= size && bytes <= size - offset;
}

/* ---- header ----------------------------------------------------------------
 */

static ws_status check_identity(const Elf64_Ehdr *header, ws_diag *diag) {
  const unsigned char *id = header->e_ident;
  unsigned machine = header->e_flags & MACH_MASK;
  if (id[EI_CLASS] != ELFCLASS64 || id[EI_DATA] != ELFDATA2LSB ||
      id[EI_VERSION] != EV_CURRENT || header->e_machine != EM_AMDGPU_)
    return REFUSE(diag,
                  "the code object is an ELF file of machine %u, not of "
                  "AMDGPU",
                  header->e_machine);
  if (machine != MACH_GFX942 && machine != MACH_GFX9_4_GENERIC)
    return REFUSE(diag,
                  "the code object is for another GPU (e_flags machine 0x%x), "
                  "not gfx942: compile it with -mcpu=gfx942",
                  machine);
  if (id[EI_OSABI] != OSABI_AMDGPU_HSA)
    return REFUSE(diag, "the code object's OS ABI is %u, not amdhsa",
                  id[EI_OSABI]);
  if (id[EI_ABIVERSION] < ABI_OF_V5 || id[EI_ABIVERSION] > ABI_OF_V6)
    return REFUSE(diag,
                  "code object version %u: 5 or 6 is needed "
                  "(-mcode-object-version=5)",
                  id[EI_ABIVERSION] + 2u);
  if (header->e_type != ET_DYN)
    return REFUSE(diag,
                  "the code object is not linked (ELF type %u): link it "
                  "with ld.lld -shared",
                  header->e_type);
  return WS_OK;
}

static ws_status read_tables(const Elf64_Ehdr *header, ws_elf *elf,
                             ws_diag *diag) {
  uint64_t segments = (uint64_t)header->e_phnum * sizeof(Elf64_Phdr);
  uint64_t sections = (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);
  if (header->e_phnum == 0 || header->e_phentsize != sizeof(Elf64_Phdr) ||
      !within(header->e_phoff, segments, elf->size))
    return REFUSE(diag,
                  "the code object is truncated: its program headers are "
                  "not within the %zu bytes",
                  elf->size);
  if (header->e_shnum == 0 || header->e_shentsize != sizeof(Elf64_Shdr) ||
      !within(header->e_shoff, sections, elf->size))
    return REFUSE(diag,
                  "the code object is truncated: its section headers are "
                  "not within the %zu bytes",
                  elf->size);
  elf->segments = (ws_elf_table){elf->image + header->e_phoff, header->e_phnum};
  elf->sections = (ws_elf_table){elf->image + header->e_shoff, header->e_shnum};
  return WS_OK;
}

Elf64_Phdr ws__elf_segment(const ws_elf *elf, size_t index) {
  Elf64_Phdr segment;
  memcpy(&segment, elf->segments.bytes + index * sizeof segment,
         sizeof segment);
  return segment;
}

Elf64_Shdr ws__elf_section(const ws_elf *elf, size_t index) {
  Elf64_Shdr section;
  memcpy(&section, elf->sections.bytes + index * sizeof section,
         sizeof section);
  return section;
}

Elf64_Sym ws__elf_symbol(const ws_elf *elf, size_t index) {
  Elf64_Sym symbol;
  memcpy(&symbol, elf->symbols.bytes + index * sizeof symbol, sizeof symbol);
  return symbol;
}

const char *ws__elf_name(const ws_elf *elf, const Elf64_Sym *symbol) {
  return symbol->st_name < elf->names.count
             ? (const char *)elf->names.bytes + symbol->st_name
             : "";
}

/* ---- segments --------------------------------------------------------------
 */

static ws_status check_segment(const ws_elf *elf, const Elf64_Phdr *segment,
                               ws_diag *diag) {
  if (!within(segment->p_offset, segment->p_filesz, elf->size))
    return REFUSE(diag,
                  "the code object is truncated: a segment of %llu bytes "
                  "at 0x%llx is not within the %zu bytes",
                  (unsigned long long)segment->p_filesz,
                  (unsigned long long)segment->p_offset, elf->size);
  if (segment->p_memsz < segment->p_filesz || segment->p_vaddr > most_bytes ||
      segment->p_memsz > most_bytes)
    return REFUSE(diag,
                  "a segment of the code object takes 0x%llx bytes at "
                  "address 0x%llx, which cannot be",
                  (unsigned long long)segment->p_memsz,
                  (unsigned long long)segment->p_vaddr);
  return WS_OK;
}

static ws_status take_text(ws_elf *elf, const Elf64_Phdr *segment,
                           ws_diag *diag) {
  if (elf->text_bytes)
    return REFUSE(diag, "the code object has two executable segments");
  if (segment->p_vaddr % 4)
    return REFUSE(diag, "the code object's text is not aligned to words");
  elf->text_begin = segment->p_vaddr;
  elf->text_bytes = segment->p_filesz;
  return WS_OK;
}

static ws_status read_segments(ws_elf *elf, ws_diag *diag) {
  uint64_t relro_begin = 0;
  elf->low = UINT64_MAX;
  elf->data_begin = UINT64_MAX;
  for (size_t i = 0; i < elf->segments.count; i++) {
    Elf64_Phdr segment = ws__elf_segment(elf, i);
    if (segment.p_type == PT_GNU_RELRO)
      relro_begin = segment.p_vaddr;
  }
  for (size_t i = 0; i < elf->segments.count; i++) {
    Elf64_Phdr segment = ws__elf_segment(elf, i);
    if (segment.p_type != PT_LOAD || !segment.p_memsz)
      continue;
    WS_TRY(check_segment(elf, &segment, diag));
    uint64_t end = segment.p_vaddr + segment.p_memsz;
    elf->low = segment.p_vaddr < elf->low ? segment.p_vaddr : elf->low;
    elf->high = end > elf->high ? end : elf->high;
    if (segment.p_flags & PF_X)
      WS_TRY(take_text(elf, &segment, diag));
    else if (segment.p_flags & PF_W && segment.p_vaddr != relro_begin &&
             segment.p_vaddr < elf->data_begin)
      elf->data_begin = segment.p_vaddr;
  }
  if (elf->low > elf->high)
    return REFUSE(diag, "the code object has nothing to load");
  elf->low -= elf->low % PAGE;
  if (elf->data_begin > elf->high)
    elf->data_begin = elf->high;
  if (elf->data_begin < elf->text_begin + elf->text_bytes)
    return REFUSE(diag, "the code object's variables lie before or in its "
                        "code");
  return WS_OK;
}

/* ---- sections --------------------------------------------------------------
 */

ws_status ws__elf_entries(const ws_elf *elf, const Elf64_Shdr *section,
                          size_t entry_bytes, ws_elf_table *out,
                          ws_diag *diag) {
  if (!within(section->sh_offset, section->sh_size, elf->size))
    return REFUSE(diag,
                  "the code object is truncated: a section of %llu bytes "
                  "at 0x%llx is not within the %zu bytes",
                  (unsigned long long)section->sh_size,
                  (unsigned long long)section->sh_offset, elf->size);
  if (section->sh_size % entry_bytes)
    return REFUSE(diag,
                  "a table of the code object has %llu bytes, not a "
                  "multiple of %zu",
                  (unsigned long long)section->sh_size, entry_bytes);
  *out = (ws_elf_table){elf->image + section->sh_offset,
                        section->sh_size / entry_bytes};
  return WS_OK;
}

static ws_status read_symbols(ws_elf *elf, const Elf64_Shdr *section,
                              ws_diag *diag) {
  if (section->sh_link >= elf->sections.count)
    return REFUSE(diag, "the code object's symbols have no names");
  Elf64_Shdr names = ws__elf_section(elf, section->sh_link);
  WS_TRY(ws__elf_entries(elf, section, sizeof(Elf64_Sym), &elf->symbols, diag));
  WS_TRY(ws__elf_entries(elf, &names, 1, &elf->names, diag));
  if (names.sh_type != SHT_STRTAB || !elf->names.count ||
      elf->names.bytes[elf->names.count - 1])
    return REFUSE(diag, "the names of the code object's symbols do not end");
  return WS_OK;
}

/* Is this the section called name? */
static bool is_named(const ws_elf *elf, const Elf64_Ehdr *header,
                     const Elf64_Shdr *section, const char *name) {
  if (header->e_shstrndx >= elf->sections.count)
    return false;
  Elf64_Shdr names = ws__elf_section(elf, header->e_shstrndx);
  size_t size = strlen(name) + 1;
  return within(names.sh_offset, names.sh_size, elf->size) &&
         within(section->sh_name, size, names.sh_size) &&
         !memcmp(elf->image + names.sh_offset + section->sh_name, name, size);
}

static ws_status read_sections(const Elf64_Ehdr *header, ws_elf *elf,
                               ws_diag *diag) {
  for (size_t i = 0; i < elf->sections.count; i++) {
    Elf64_Shdr section = ws__elf_section(elf, i);
    if (section.sh_type == SHT_DYNSYM)
      WS_TRY(read_symbols(elf, &section, diag));
    elf->has_line_table |= is_named(elf, header, &section, ".debug_line");
  }
  return WS_OK;
}

ws_status ws__elf_open(const void *image, size_t size, ws_elf *out,
                       ws_diag *diag) {
  Elf64_Ehdr header;
  *out = (ws_elf){.image = image, .size = size};
  if (size < SELFMAG || memcmp(image, ELFMAG, SELFMAG))
    return REFUSE(diag,
                  "not an ELF file: %zu bytes that do not begin with "
                  "\\x7fELF",
                  size);
  if (size < sizeof header)
    return REFUSE(diag, "the code object is truncated: %zu bytes", size);
  memcpy(&header, image, sizeof header);
  WS_TRY(check_identity(&header, diag));
  WS_TRY(read_tables(&header, out, diag));
  WS_TRY(read_segments(out, diag));
  return read_sections(&header, out, diag);
}
