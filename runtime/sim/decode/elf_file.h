/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An AMDGPU ELF file in memory, every table checked to lie within it: what the
 * loader reads it through. A file is whatever someone gave us; each structure
 * is copied out, as nothing says that it is aligned.
 */
#ifndef WAVESMITH_SIM_ELF_FILE_H
#define WAVESMITH_SIM_ELF_FILE_H

#include "wavesmith/base.h"

#include <elf.h>

typedef struct ws_elf_table {
  const uint8_t *bytes; /* NULL: there is none */
  size_t count;         /* entries, or bytes of a string table */
} ws_elf_table;

typedef struct ws_elf {
  const uint8_t *image;
  size_t size;
  ws_elf_table segments;           /* Elf64_Phdr */
  ws_elf_table sections;           /* Elf64_Shdr */
  ws_elf_table symbols;            /* Elf64_Sym of .dynsym */
  ws_elf_table names;              /* .dynstr; ends with NUL */
  uint64_t low, high;              /* addresses that PT_LOADs take */
  uint64_t text_begin, text_bytes; /* the executable PT_LOAD */
  uint64_t data_begin;             /* from here on are variables; high: there
                                    * are none */
  bool has_line_table; /* .debug_line */
} ws_elf;

/* WS_INPUT and why for everything but a gfx942 code object of version 5 or 6.
 * The image must outlive out. */
ws_status ws__elf_open(const void *image, size_t size, ws_elf *out,
                       ws_diag *diag) WS_MUST_CHECK;
Elf64_Phdr ws__elf_segment(const ws_elf *elf, size_t index);
Elf64_Shdr ws__elf_section(const ws_elf *elf, size_t index);
Elf64_Sym ws__elf_symbol(const ws_elf *elf, size_t index);
/* "" when the name lies outside of the string table. */
const char *ws__elf_name(const ws_elf *elf, const Elf64_Sym *symbol);
/* The entries of a section; WS_INPUT: they are not of entry_bytes each, or not
 * within the file. */
ws_status ws__elf_entries(const ws_elf *elf, const Elf64_Shdr *section,
                          size_t entry_bytes, ws_elf_table *out,
                          ws_diag *diag) WS_MUST_CHECK;

#endif
