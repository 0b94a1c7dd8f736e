/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The machine code inside a code object: finds AMD's functions through the
 * symbol table of the ELF file and hashes them; in a cubin every kernel has a
 * section. Every offset is checked against the size of the file, which may come
 * from an archive. Reads little-endian 64-bit files only; there are no others.
 */
#include "lower.h"

#include <elf.h>
#include <string.h>

/* size bytes at offset, NULL when they are not all there. */
static const void *bytes_at(ws_blob file, uint64_t offset, uint64_t size) {
  if (offset > file.size || size > file.size - offset)
    return NULL;
  return (const char *)file.data + offset;
}

static bool read_header(ws_blob file, Elf64_Ehdr *out) {
  const void *bytes = bytes_at(file, 0, sizeof *out);
  if (!bytes)
    return false;
  memcpy(out, bytes, sizeof *out);
  return !memcmp(out->e_ident, ELFMAG, SELFMAG) &&
         out->e_ident[EI_CLASS] == ELFCLASS64 &&
         out->e_ident[EI_DATA] == ELFDATA2LSB &&
         out->e_shentsize == sizeof(Elf64_Shdr);
}

static bool read_section(ws_blob file, const Elf64_Ehdr *header, unsigned index,
                         Elf64_Shdr *out) {
  const void *bytes = NULL;
  if (index < header->e_shnum)
    bytes = bytes_at(file, header->e_shoff + (uint64_t)index * sizeof *out,
                     sizeof *out);
  if (bytes)
    memcpy(out, bytes, sizeof *out);
  return bytes != NULL;
}

static bool find_symbols(ws_blob file, const Elf64_Ehdr *header,
                         Elf64_Shdr *out_symbols, Elf64_Shdr *out_strings) {
  for (unsigned i = 0; i < header->e_shnum; i++)
    if (read_section(file, header, i, out_symbols) &&
        out_symbols->sh_type == SHT_DYNSYM)
      return read_section(file, header, out_symbols->sh_link, out_strings);
  return false;
}

/* Whether the string at offset of a string table is name. */
static bool is_named(ws_blob file, const Elf64_Shdr *strings, uint64_t offset,
                     const char *name) {
  size_t size = strlen(name) + 1;
  const void *text = NULL;
  if (offset <= strings->sh_size && size <= strings->sh_size - offset)
    text = bytes_at(file, strings->sh_offset + offset, size);
  return text && !memcmp(text, name, size);
}

bool ws_elf_function(ws_blob code_object, const char *name, ws_blob *out_code,
                     uint64_t *out_address) {
  Elf64_Ehdr header;
  Elf64_Shdr symbols, strings, section;
  if (!read_header(code_object, &header) ||
      !find_symbols(code_object, &header, &symbols, &strings))
    return false;
  for (uint64_t i = 0; i < symbols.sh_size / sizeof(Elf64_Sym); i++) {
    Elf64_Sym symbol;
    const void *bytes = bytes_at(
        code_object, symbols.sh_offset + i * sizeof symbol, sizeof symbol);
    if (!bytes)
      return false;
    memcpy(&symbol, bytes, sizeof symbol);
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
        !is_named(code_object, &strings, symbol.st_name, name) ||
        !read_section(code_object, &header, symbol.st_shndx, &section))
      continue;
    uint64_t offset = section.sh_offset + (symbol.st_value - section.sh_addr);
    *out_code = (ws_blob){bytes_at(code_object, offset, symbol.st_size),
                          symbol.st_size};
    *out_address = symbol.st_value;
    return out_code->data != NULL;
  }
  return false;
}

size_t ws_elf_section_bytes(ws_blob code_object, const char *prefix,
                            const char *name) {
  Elf64_Ehdr header;
  Elf64_Shdr names, section;
  size_t prefix_size = strlen(prefix);
  if (!read_header(code_object, &header) ||
      !read_section(code_object, &header, header.e_shstrndx, &names))
    return 0;
  for (unsigned i = 0; i < header.e_shnum; i++) {
    const char *text = NULL;
    if (read_section(code_object, &header, i, &section) &&
        section.sh_name < names.sh_size &&
        prefix_size <= names.sh_size - section.sh_name)
      text =
          bytes_at(code_object, names.sh_offset + section.sh_name, prefix_size);
    if (text && !memcmp(text, prefix, prefix_size) &&
        is_named(code_object, &names, section.sh_name + prefix_size, name))
      return section.sh_size;
  }
  return 0;
}

ws_hash ws_code_hash(ws_blob code_object, const ws_kernel_facts *kernels,
                     int count) {
  ws_hasher *hasher = ws_hasher_create();
  for (int i = 0; i < count; i++) {
    const ws_kernel_facts *kernel = &kernels[i];
    const int32_t resources[] = {kernel->vgpr,          kernel->agpr,
                                 kernel->lds_bytes,     kernel->scratch_bytes,
                                 kernel->kernarg_bytes, kernel->max_workgroup};
    ws_blob code = {NULL, 0};
    uint64_t address;
    ws_hasher_update_text(hasher, kernel->name);
    ws_hasher_update(hasher, resources, sizeof resources);
    if (ws_elf_function(code_object, kernel->name, &code, &address))
      ws_hasher_update(hasher, code.data, code.size);
  }
  return ws_hasher_finish(hasher);
}
