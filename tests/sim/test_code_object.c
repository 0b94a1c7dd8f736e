/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The loader and the decoder, on code objects that comgr assembles here: what
 * a good one becomes, and what each kind of damage is refused with. Offsets in
 * the ELF file are those of <elf.h>.
 */
#include "code_object.h"
#include "ws_test.h"

#include <elf.h>
#include <stddef.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#include "foreign_compile.h"
#include "sim_fixture.h"

static ws_arena *arena;
static ws_memory *memory;

static void open_all(void) {
  arena = ws_arena_create();
  memory = ws__memory_create();
}

static void close_all(void) {
  WS_CHECK_INT(ws__memory_bytes_in_use(memory), 0);
  ws__memory_destroy(memory);
  ws_arena_destroy(arena);
}

static ws_sim_module *load(const void *image, size_t size) {
  ws_sim_module *module;
  ws_diag diag = {""};
  if (ws__module_load(memory, image, size, &module, &diag))
    WS_FAIL("%s", diag.text);
  return module;
}

static ws_sim_module *load_text(const char *text) {
  size_t size;
  const void *image = fixture_assemble(arena, text, &size);
  return load(image, size);
}

static void expect_refusal(const void *image, size_t size, const char *part) {
  ws_sim_module *module;
  ws_diag diag = {""};
  if (ws__module_load(memory, image, size, &module, &diag) != WS_INPUT)
    WS_FAIL("not refused (%s): %s", part, diag.text);
  WS_CHECK(!module);
  WS_CHECK_CONTAINS(diag.text, part);
}

static const char *kernel_text(const char *body, const char *descriptor,
                               const char *rest) {
  const fixture_options options = {.threads = 128,
                                   .lds = 1024,
                                   .scratch = 64,
                                   .descriptor = descriptor,
                                   .rest = rest};
  return fixture_kernel(arena, body, &options);
}

/* ---- what a good one becomes -----------------------------------------------
 */

WS_TEST(kernel) {
  open_all();
  ws_sim_module *module = load_text(kernel_text("s_nop 0", NULL, NULL));
  const ws_sim_kernel *kernel = module->kernels;
  const ws_sim_kernel_info *info = &kernel->info;
  WS_CHECK_INT(module->kernel_count, 1);
  WS_CHECK_TEXT(info->name, "probe");
  WS_CHECK_INT(info->vgpr, 256);
  WS_CHECK_INT(info->agpr, 128);
  WS_CHECK_INT(info->sgpr, 96);
  WS_CHECK_INT(info->lds_bytes, 1024);
  WS_CHECK_INT(info->scratch_bytes, 64);
  WS_CHECK_INT(info->kernarg_bytes, 16);
  WS_CHECK_INT(info->max_workgroup, 128);
  WS_CHECK_INT(info->dynamic_stack, 0);
  WS_CHECK_INT(info->arg_count, 2);
  WS_CHECK_TEXT(info->args[1].name, "out");
  WS_CHECK_TEXT(info->args[1].kind, "global_buffer");
  WS_CHECK_INT(info->args[1].offset, 8);
  WS_CHECK_INT(info->args[1].size, 8);
  WS_CHECK_INT(kernel->accum_offset, 128);
  WS_CHECK_INT(kernel->properties, 1 << 3); /* kernarg segment pointer */
  WS_CHECK_INT(kernel->rsrc1 & 63, 256 / 8 - 1);
  WS_CHECK_INT(kernel->rsrc3 & 63, 128 / 4 - 1);
  WS_CHECK_INT(kernel->rsrc2 >> 1 & 31, 2); /* user SGPRs */
  WS_CHECK_INT(kernel->rsrc2 >> 7 & 7, 7);  /* workgroup ids x, y, z */
  WS_CHECK_INT(kernel->preload, 0);
  WS_CHECK_INT(kernel->entry, 0);
  WS_CHECK_INT(kernel->entry_preload, 0);
  WS_CHECK(kernel->module == module);
  WS_CHECK(!module->lines);
  ws__module_unload(memory, module);
  close_all();
}

/* Two pointers preloaded: 4 dwords; the firmware enters 256 bytes further on,
 * past 64 instructions of 4 bytes. */
WS_TEST(preload) {
  open_all();
  ws_sim_module *module =
      load_text(kernel_text(".rept 64\ns_nop 0\n.endr\ns_nop 1",
                            ".amdhsa_user_sgpr_kernarg_preload_length 4\n"
                            ".amdhsa_user_sgpr_kernarg_preload_offset 0\n"
                            ".amdhsa_user_sgpr_count 6\n",
                            NULL));
  WS_CHECK_INT(module->kernels->preload, 4);
  WS_CHECK_INT(module->kernels->entry, 0);
  WS_CHECK_INT(module->kernels->entry_preload, 64);
  WS_CHECK_TEXT(module->text.lines[64], "s_nop 1");
  ws__module_unload(memory, module);
  close_all();
}

WS_TEST(text_and_branches) {
  open_all();
  ws_sim_module *module =
      load_text(kernel_text("s_mov_b32 s5, 0x12345678\n" /* 0: 8 bytes */
                            ".Lback:\n"
                            "v_add_f32 v0, v1, v2\n"  /* 8 */
                            "s_cbranch_scc1 .Lback\n" /* 12 */
                            "s_branch .Lforth\n"      /* 16 */
                            ".long 0xffffffff\n"      /* 20: nothing */
                            ".Lforth:\n"
                            "s_branch 1000\n" /* 24: beyond */
                            "s_branch -7\n",  /* 28: to 4, within the first */
                            NULL, NULL));
  const ws_text *text = &module->text;
  const ws_instruction *in = text->items;
  WS_CHECK_INT(in[0].bytes, 8);
  WS_CHECK_INT(in[1].offset, 8);
  WS_CHECK_TEXT(text->lines[1], "v_add_f32_e32 v0, v1, v2");
  WS_CHECK_INT(in[2].target, 1);
  WS_CHECK_INT(in[3].offset, 16);
  WS_CHECK_INT(in[3].target, 5);
  WS_CHECK_TEXT(text->lines[4], "");
  WS_CHECK_INT(in[4].bytes, 4);
  WS_CHECK(in[4].execute);
  WS_CHECK(in[4].execute != in[0].execute);
  WS_CHECK_INT(in[5].target, text->count - 1);
  WS_CHECK_INT(in[6].target, text->count - 1);
  WS_CHECK_INT(text->index_at[0], 0);
  WS_CHECK_INT(text->index_at[1], UINT32_MAX);
  WS_CHECK_INT(text->index_at[2], 1);
  WS_CHECK_TEXT(text->lines[7], "s_endpgm");
  WS_CHECK_INT(text->count, 9); /* with the one behind the last */
  WS_CHECK_INT(in[8].bytes, 0);
  WS_CHECK(in[8].execute == in[4].execute);
  ws__module_unload(memory, module);
  close_all();
}

/* ---- variables and relocations ---------------------------------------------
 * `fixed` is protected, so a pointer to it is relative to the code object;
 * `moved` could be overridden, so that pointer is against the symbol.
 */
static const char *const data_text =
    ".data\n.p2align 3\n"
    ".globl pointers\n.protected pointers\n.type pointers,@object\npointers:\n"
    ".quad fixed+4\n.quad moved+8\n.size pointers, 16\n"
    ".globl fixed\n.protected fixed\n.type fixed,@object\nfixed:\n"
    ".long 11, 22\n.size fixed, 8\n"
    ".globl moved\n.type moved,@object\nmoved:\n"
    ".long 33, 44\n.size moved, 8\n"
    ".bss\n.globl zeros\n.protected zeros\n.type zeros,@object\nzeros:\n"
    ".zero 4096\n.size zeros, 4096\n"
    ".text\n";

static uint8_t *variable(const ws_sim_module *module, const char *name,
                         size_t bytes) {
  for (int i = 0; i < module->variable_count; i++)
    if (!strcmp(module->variables[i].name, name)) {
      WS_CHECK_INT(module->variables[i].bytes, bytes);
      return module->variables[i].address;
    }
  WS_FAIL("no variable %s", name);
}

static bool may_store(const void *at) {
  const char *id;
  return !ws__memory_problem(memory, (uint64_t)(uintptr_t)at, 4, true, &id);
}

WS_TEST(variables_and_relocations) {
  open_all();
  ws_sim_module *module = load_text(kernel_text("s_nop 0", NULL, data_text));
  uint8_t *pointers = variable(module, "pointers", 16);
  uint8_t *fixed = variable(module, "fixed", 8);
  uint8_t *moved = variable(module, "moved", 8);
  uint8_t *zeros = variable(module, "zeros", 4096);
  uint64_t values[2];
  memcpy(values, pointers, sizeof values);
  WS_CHECK(values[0] == (uint64_t)(uintptr_t)fixed + 4);
  WS_CHECK(values[1] == (uint64_t)(uintptr_t)moved + 8);
  WS_CHECK_INT(fixed[4], 22);
  WS_CHECK_INT(moved[0], 33);
  for (int i = 0; i < 4096; i++)
    WS_CHECK_INT(zeros[i], 0);
  WS_CHECK(may_store(fixed));
  WS_CHECK(may_store(zeros + 4092));
  WS_CHECK(!may_store((void *)(uintptr_t)module->text.address));
  WS_CHECK(!may_store(module->base));
  ws__module_unload(memory, module);
  close_all();
}

/* The first section of a type, in the file. */
static Elf64_Shdr *find_section(uint8_t *image, uint32_t type) {
  Elf64_Ehdr *header = (Elf64_Ehdr *)image;
  Elf64_Shdr *sections = (Elf64_Shdr *)(image + header->e_shoff);
  for (int i = 0; i < header->e_shnum; i++)
    if (sections[i].sh_type == type)
      return &sections[i];
  WS_FAIL("no section of type %u", type);
}

static uint8_t *data_image(size_t *size) {
  return fixture_assemble(arena, kernel_text("s_nop 0", NULL, data_text), size);
}

/* The first address behind all segments. */
static uint64_t loaded_end(const uint8_t *image) {
  const Elf64_Ehdr *header = (const Elf64_Ehdr *)image;
  const Elf64_Phdr *segments = (const Elf64_Phdr *)(image + header->e_phoff);
  uint64_t end = 0;
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD &&
        segments[i].p_vaddr + segments[i].p_memsz > end)
      end = segments[i].p_vaddr + segments[i].p_memsz;
  return end;
}

WS_TEST(bad_relocations) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  Elf64_Rela *rela =
      (Elf64_Rela *)(image + find_section(image, SHT_RELA)->sh_offset);
  Elf64_Rela good = *rela;
  rela->r_offset = 1ull << 40;
  expect_refusal(image, size, "out of range");
  rela->r_offset = loaded_end(image) - 7; /* 8 bytes */
  expect_refusal(image, size, "out of range");
  rela->r_offset = UINT64_MAX - 3;
  expect_refusal(image, size, "out of range");
  *rela = good;
  rela->r_info = ELF64_R_INFO(0, 99);
  expect_refusal(image, size, "relocation type 99");
  rela->r_info = ELF64_R_INFO(1000, 3);
  expect_refusal(image, size, "symbol 1000");
  *rela = good;
  find_section(image, SHT_RELA)->sh_size -= 1;
  expect_refusal(image, size, "multiple of 24");
  find_section(image, SHT_RELA)->sh_size = 24ull << 40;
  expect_refusal(image, size, "truncated");
  close_all();
}

WS_TEST(undefined_symbol) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  Elf64_Shdr *section = find_section(image, SHT_DYNSYM);
  Elf64_Sym *symbols = (Elf64_Sym *)(image + section->sh_offset);
  for (size_t i = 1; i < section->sh_size / sizeof *symbols; i++)
    if (symbols[i].st_size == 8 &&
        ELF64_ST_VISIBILITY(symbols[i].st_other) == STV_DEFAULT)
      symbols[i].st_shndx = SHN_UNDEF;
  expect_refusal(image, size, "needs 'moved'");
  close_all();
}

/* ---- damage to the file ----------------------------------------------------
 */

#define FIELD(name) offsetof(Elf64_Ehdr, name)

WS_TEST(bad_headers) {
  static const struct {
    size_t at;
    uint64_t value;
    int bytes;
    const char *part;
  } cases[] = {
      {0, 0x7e, 1, "not an ELF file"},
      {EI_CLASS, ELFCLASS32, 1, "not of AMDGPU"},
      {EI_DATA, ELFDATA2MSB, 1, "not of AMDGPU"},
      {EI_OSABI, 0, 1, "amdhsa"},
      {EI_ABIVERSION, 2, 1, "code object version 4"},
      {EI_ABIVERSION, 5, 1, "code object version 7"},
      {FIELD(e_machine), EM_X86_64, 2, "machine 62"},
      {FIELD(e_flags), 0x53f, 4, "not gfx942"}, /* gfx90a */
      {FIELD(e_type), ET_REL, 2, "not linked"},
      {FIELD(e_phoff), 1 << 20, 8, "truncated"},
      {FIELD(e_phoff), UINT64_MAX, 8, "truncated"},
      {FIELD(e_phnum), 0xffff, 2, "truncated"},
      {FIELD(e_phnum), 0, 2, "truncated"},
      {FIELD(e_phentsize), 8, 2, "truncated"},
      {FIELD(e_shoff), UINT64_MAX - 64, 8, "truncated"},
      {FIELD(e_shnum), 0xffff, 2, "truncated"},
  };
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t good[8];
    memcpy(good, image + cases[i].at, 8);
    memcpy(image + cases[i].at, &cases[i].value, (size_t)cases[i].bytes);
    expect_refusal(image, size, cases[i].part);
    memcpy(image + cases[i].at, good, 8);
  }
  expect_refusal("", 0, "not an ELF file");
  expect_refusal("\x7f"
                 "ELF",
                 4, "truncated");
  ws__module_unload(memory, load(image, size));
  close_all();
}

/* gfx9-4-generic runs on gfx942; version 6 differs in the header alone. */
WS_TEST(version_6_and_generic) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  image[EI_ABIVERSION] = 4;
  ws__module_unload(memory, load(image, size));
  ((Elf64_Ehdr *)image)->e_flags = 0x0100055f;
  ws__module_unload(memory, load(image, size));
  close_all();
}

static Elf64_Phdr *find_text_segment(uint8_t *image) {
  Elf64_Ehdr *header = (Elf64_Ehdr *)image;
  Elf64_Phdr *segments = (Elf64_Phdr *)(image + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X)
      return &segments[i];
  WS_FAIL("no text");
}

WS_TEST(bad_segments) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  Elf64_Phdr *text = find_text_segment(image), good = *text;
  text->p_filesz = text->p_memsz = 1 << 20;
  expect_refusal(image, size, "truncated");
  *text = good;
  text->p_offset = UINT64_MAX - 8;
  expect_refusal(image, size, "truncated");
  *text = good;
  text->p_memsz = 1ull << 40;
  expect_refusal(image, size, "cannot be");
  text->p_memsz = text->p_filesz - 1;
  expect_refusal(image, size, "cannot be");
  *text = good;
  text->p_vaddr = UINT64_MAX - 16;
  expect_refusal(image, size, "cannot be");
  *text = good;
  text->p_vaddr += 2;
  expect_refusal(image, size, "aligned");
  *text = good;
  text->p_flags = PF_R; /* no code at all */
  expect_refusal(image, size, "entry");
  close_all();
}

/* Where the kernel descriptor lies in the file: its address is its offset, as
 * it is in the first segment. */
static uint8_t *find_descriptor(uint8_t *image) {
  Elf64_Shdr *section = find_section(image, SHT_DYNSYM);
  Elf64_Sym *symbols = (Elf64_Sym *)(image + section->sh_offset);
  for (size_t i = 1; i < section->sh_size / sizeof *symbols; i++)
    if (symbols[i].st_size == 64)
      return image + symbols[i].st_value;
  WS_FAIL("no descriptor");
}

WS_TEST(bad_descriptors) {
  static const struct {
    int at;
    uint64_t value;
    int bytes;
    const char *part;
  } cases[] = {
      {0, 65537, 4, "LDS"},        {4, 0x80000000, 4, "2 GiB"},
      {16, 3, 8, "entry"},         {16, 1 << 30, 8, "entry"},
      {16, INT64_MAX, 8, "entry"}, {56, 1 << 10, 2, "waves of 32"},
      {58, 2, 2, "entry"},
  };
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint8_t *descriptor = find_descriptor(image), good[64];
    memcpy(good, descriptor, sizeof good);
    memcpy(descriptor + cases[i].at, &cases[i].value, (size_t)cases[i].bytes);
    expect_refusal(image, size, cases[i].part);
    memcpy(descriptor, good, sizeof good);
  }
  close_all();
}

WS_TEST(bad_names) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  Elf64_Shdr *names = find_section(image, SHT_STRTAB); /* .dynstr is first */
  image[names->sh_offset + names->sh_size - 1] = 'x';
  expect_refusal(image, size, "do not end");
  close_all();
}

/* A key of the metadata's map becomes a list: MessagePack 0xae, a text of 14
 * bytes, to 0x9e, a list of 14. And a text longer than the note. */
WS_TEST(bad_metadata) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  uint8_t *key = memmem(image, size,
                        "\xae"
                        "amdhsa.kernels",
                        15);
  WS_CHECK(key);
  *key = 0x9e;
  expect_refusal(image, size, "metadata is malformed");
  *key = 0xdb; /* its next four bytes are the length */
  expect_refusal(image, size, "metadata is malformed");
  *key = 0xc0;
  expect_refusal(image, size, "metadata is malformed");
  close_all();
}

WS_TEST(unknown_opcode) {
  size_t size;
  open_all();
  const char *body = "s_nop 0\n"
                     "tbuffer_load_format_x v0, v1, s[4:7], 0 offen\n";
  void *image = fixture_assemble(arena, kernel_text(body, NULL, NULL), &size);
  expect_refusal(image, size, "'tbuffer_load_format_x'");
  expect_refusal(image, size, "byte 0x4 ");
  close_all();
}

/* One, of graphics and documented nowhere, is refused at load. */
WS_TEST(every_opcode_has_a_handler) {
  for (int op = 0; op < WS_OP_COUNT; op++)
    if (!ws__find_handler((ws_op)op) && op != WS_OP_v_screen_partition_4se_b32)
      WS_FAIL("%s has none", ws__op_name((ws_op)op));
}

/* dpp_ctrl 0x160 is row_xmask, which came with gfx10: data, not code. */
WS_TEST(meaningless_fields) {
  open_all();
  ws_sim_module *module =
      load_text(kernel_text(".long 0x020206fa, 0xff016002", NULL, NULL));
  WS_CHECK_TEXT(module->text.lines[0], "");
  ws__module_unload(memory, module);
  close_all();
}

/* Encodings that comgr's disassembler dies of are no instructions: a buffer
 * load with a literal as soffset, an SDWA select of 7, a literal cut off. */
WS_TEST(deadly_encodings) {
  open_all();
  ws_sim_module *module =
      load_text(kernel_text(".long 0xe3400640, 0xff135f0c\n"
                            ".long 0x42304cf9, 0x42e7949b\n",
                            NULL, ".long 0xff\n"));
  WS_CHECK_TEXT(module->text.lines[0], "");
  ws__module_unload(memory, module);
  close_all();
}

static void try_load(const void *image, size_t size) {
  ws_sim_module *module;
  ws_diag diag = {""};
  ws_status status = ws__module_load(memory, image, size, &module, &diag);
  WS_CHECK(status == WS_OK || (status == WS_INPUT && diag.text[0]));
  ws__module_unload(memory, module);
}

WS_TEST(truncated_anywhere) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  for (size_t cut = 0; cut < size; cut += 16) {
    uint8_t *part = malloc(cut ? cut : 1); /* ASan sees its end */
    memcpy(part, image, cut);
    try_load(part, cut);
    free(part);
  }
  close_all();
}

/* The tables: headers, symbols, notes; every bit of every fifth byte is less
 * than the fuzzer does, but it is always done. */
WS_TEST(flipped_bits) {
  size_t size;
  open_all();
  uint8_t *image = data_image(&size);
  for (size_t i = 0; i < size; i += 5) {
    uint8_t bit = (uint8_t)(1 << i % 8);
    image[i] ^= bit;
    try_load(image, size);
    image[i] ^= bit;
  }
  close_all();
}

/* ---- line table ------------------------------------------------------------
 */

/* Number of the first line with this text; the next one that is "}" ends the
 * function there. */
static int find_line(const char *source, const char *text, int from) {
  int number = 1;
  for (const char *at = source; *at; number++) {
    size_t size = strcspn(at, "\n");
    if (number >= from && memmem(at, size, text, strlen(text)))
      return number;
    at += size + (at[size] == '\n');
  }
  WS_FAIL("no line with %s", text);
}

/* lds_split.hip: read8, inlined into gemm, reads LDS. */
WS_TEST(lines_of_inlined_functions) {
  size_t size;
  ws_diag diag;
  char *source;
  open_all();
  const char *root = getenv("WS_SOURCE_DIR");
  if (!root)
    WS_SKIP("WS_SOURCE_DIR is not set");
  const void *image = foreign_compile(arena, "lds_split.hip", "-O2", &size);
  ws_sim_module *module = load(image, size);
  WS_CHECK(!ws_file_read(
      arena, ws_arena_printf(arena, "%s/tests/sim/foreign/lds_split.hip", root),
      &source, &size, &diag));
  int first = find_line(source, "read8(", 1);
  int last = find_line(source, "}", first), inlined = 0, own = 0;
  WS_CHECK(module->lines);
  for (uint32_t i = 0; i < module->text.count; i++) {
    const ws_line *line = &module->lines[i];
    own += !strcmp(line->region, "gemm");
    if (strcmp(line->region, "read8"))
      continue;
    WS_CHECK(line->line >= first && line->line <= last);
    WS_CHECK_CONTAINS(line->file, "lds_split.hip");
    inlined += !strncmp(module->text.lines[i], "ds_read", 7);
  }
  WS_CHECK(inlined > 0);
  WS_CHECK(own > 0);
  WS_CHECK_INT(module->lines[module->text.count - 1].line, 0);
  ws__module_unload(memory, module);
  close_all();
}

/* ---- there and back --------------------------------------------------------
 * What one writes for the assembler reads as what the disassembler prints.
 */
WS_TEST(round_trip) {
  static const char *const lines[] = {
      "v_add_f32_e64 v1, -v2, |v3| clamp mul:2",
      "v_mov_b32_dpp v1, v2 row_newbcast:3 row_mask:0xf bank_mask:0xf",
      "v_add_f32_dpp v1, -v2, |v3| row_bcast:15 row_mask:0xa bank_mask:0xf "
      "bound_ctrl:0",
      "v_or_b32_sdwa v1, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD "
      "src0_sel:BYTE_0 src1_sel:WORD_1",
      "v_addc_co_u32_e64 v1, s[2:3], v2, v3, s[4:5]",
      "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7] op_sel:[0,1,0] "
      "op_sel_hi:[1,0,1] neg_lo:[1,0,0]",
      "v_pk_add_f16 v0, v1, 1.0 op_sel_hi:[1,0]",
      "v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[0:1], v[2:3], 1.0",
      "v_mfma_f32_32x32x16_fp8_fp8 a[0:15], v[0:1], v[2:3], a[0:15] cbsz:1 "
      "abid:2 blgp:3",
      "v_cvt_f32_f64_e32 v0, 100.0",
      "v_mul_f32_e32 v0, 3.5, v1",
      "v_add_f64 v[0:1], v[2:3], 0.15915494309189532",
      "v_cvt_sr_fp8_f32 v0, v1, v2 op_sel:[0,0,1,1]",
      "v_fmac_f32_e32 v0, v1, v2",
      "v_mad_i16 v0, v1, v2, v3 op_sel:[1,0,0,1]",
      "s_mov_b64 s[0:1], 0x12345678",
      "s_mov_b32 s0, -17",
      "s_cmpk_eq_i32 s0, 0xff00",
      "s_getreg_b32 s0, hwreg(HW_REG_XCC_ID, 0, 4)",
      "s_waitcnt vmcnt(17) lgkmcnt(2)",
      "s_waitcnt vmcnt(63) lgkmcnt(0)",
      "s_load_dwordx2 s[0:1], s[2:3], s4 offset:0x10",
      "s_load_dword s0, s[2:3], -0x10",
      "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,16)",
      "ds_swizzle_b32 v0, v1 offset:swizzle(BROADCAST,8,3)",
      "ds_read2_b32 v[0:1], v1 offset0:1 offset1:2",
      "global_load_dword v0, v1, s[2:3] offset:-16 sc0 sc1 nt",
      "global_atomic_add v0, v[2:3], v4, off sc0",
      "buffer_load_dword v0, s[4:7], 0 offen lds",
      "buffer_load_dwordx4 v[0:3], v[4:5], s[4:7], s8 idxen offen offset:16",
      "buffer_wbl2 sc0 sc1",
      "scratch_load_dword v0, off, s0 offset:4",
      "flat_atomic_cmpswap v0, v[2:3], v[4:5] sc0",
  };
  enum { COUNT = sizeof lines / sizeof *lines };
  ws_strbuf body;
  open_all();
  ws_strbuf_init(&body);
  for (int i = 0; i < COUNT; i++)
    ws_strbuf_printf(&body, "%s\n", lines[i]);
  ws_sim_module *module = load_text(kernel_text(body.data, NULL, NULL));
  for (int i = 0; i < COUNT; i++) {
    ws_instruction in, got = module->text.items[i];
    ws_diag diag;
    if (ws__parse_instruction(lines[i], &in, &diag))
      WS_FAIL("%s", diag.text);
    in.execute = got.execute;
    in.offset = got.offset;
    in.bytes = got.bytes;
    if (memcmp(&in, &got, sizeof in))
      WS_FAIL("%s reads otherwise as %s", lines[i], module->text.lines[i]);
  }
  ws_strbuf_deinit(&body);
  ws__module_unload(memory, module);
  close_all();
}
