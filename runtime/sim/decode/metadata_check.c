/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Is a code object's metadata note something that comgr survives? comgr 3 ends
 * the process on some MessagePack that is well-formed but not of the shape of
 * kernel metadata, such as a map with a list as key. Only what metadata is made
 * of passes: maps with text keys, lists, texts, integers, truth values. The
 * values are then read through comgr (metadata.c).
 */
#include "metadata.h"

#include <string.h>

enum {
  NOTE_METADATA = 32,    /* NT_AMDGPU_METADATA */
  NOTE_METADATA_V2 = 10, /* NT_AMD_HSA_METADATA: YAML, of other versions */
  MOST_LEVELS = 8
};

/* ---- MessagePack -----------------------------------------------------------
 */

typedef struct packed {
  const uint8_t *at, *end;
} packed;

/* A big-endian number of that many bytes. */
static bool take(packed *in, int bytes, uint64_t *out) {
  if (in->end - in->at < bytes)
    return false;
  for (*out = 0; bytes; bytes--)
    *out = *out << 8 | *in->at++;
  return true;
}

typedef enum shape { SHAPE_NUMBER, SHAPE_TEXT, SHAPE_LIST, SHAPE_MAP } shape;

/* Format bytes (MessagePack specification, "Formats"); the length, or the
 * number itself, follows in so many bytes. Those that are not here do not
 * occur in metadata. */
static const struct format {
  uint8_t first, last, bytes, shape;
} formats[] = {
    {0x00, 0x7f, 0, SHAPE_NUMBER}, {0x80, 0x8f, 0, SHAPE_MAP},
    {0x90, 0x9f, 0, SHAPE_LIST},   {0xa0, 0xbf, 0, SHAPE_TEXT},
    {0xc2, 0xc3, 0, SHAPE_NUMBER}, {0xcc, 0xcc, 1, SHAPE_NUMBER},
    {0xcd, 0xcd, 2, SHAPE_NUMBER}, {0xce, 0xce, 4, SHAPE_NUMBER},
    {0xcf, 0xcf, 8, SHAPE_NUMBER}, {0xd0, 0xd0, 1, SHAPE_NUMBER},
    {0xd1, 0xd1, 2, SHAPE_NUMBER}, {0xd2, 0xd2, 4, SHAPE_NUMBER},
    {0xd3, 0xd3, 8, SHAPE_NUMBER}, {0xd9, 0xd9, 1, SHAPE_TEXT},
    {0xda, 0xda, 2, SHAPE_TEXT},   {0xdb, 0xdb, 4, SHAPE_TEXT},
    {0xdc, 0xdc, 2, SHAPE_LIST},   {0xdd, 0xdd, 4, SHAPE_LIST},
    {0xde, 0xde, 2, SHAPE_MAP},    {0xdf, 0xdf, 4, SHAPE_MAP},
    {0xe0, 0xff, 0, SHAPE_NUMBER},
};

static bool take_head(packed *in, shape *out_shape, uint64_t *out_size) {
  uint64_t byte;
  if (!take(in, 1, &byte))
    return false;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    const struct format *format = &formats[i];
    if (byte < format->first || byte > format->last)
      continue;
    *out_shape = (shape)format->shape;
    *out_size = byte - format->first;
    return !format->bytes || take(in, format->bytes, out_size);
  }
  return false;
}

static bool is_text(packed *in) {
  shape form;
  uint64_t size;
  if (!take_head(in, &form, &size) || form != SHAPE_TEXT ||
      size > (uint64_t)(in->end - in->at))
    return false;
  in->at += size;
  return true;
}

static bool is_plain(packed *in, int levels) {
  packed again = *in;
  shape form;
  uint64_t size;
  if (!levels || !take_head(in, &form, &size))
    return false;
  if (form == SHAPE_TEXT) {
    *in = again;
    return is_text(in);
  }
  if (form == SHAPE_NUMBER)
    return true;
  for (uint64_t i = 0; i < size; i++)
    if ((form == SHAPE_MAP && !is_text(in)) || !is_plain(in, levels - 1))
      return false;
  return true;
}

static bool is_plain_map(const uint8_t *bytes, size_t size) {
  packed in = {bytes, bytes + size}, head = in;
  shape form;
  uint64_t count;
  return take_head(&head, &form, &count) && form == SHAPE_MAP &&
         is_plain(&in, MOST_LEVELS) && in.at == in.end;
}

/* ---- notes -----------------------------------------------------------------
 */

static size_t round_up(size_t size) { return (size + 3) / 4 * 4; }

/* All notes in a stretch of the file. */
static bool are_notes_plain(const uint8_t *bytes, uint64_t size) {
  while (size >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note;
    memcpy(&note, bytes, sizeof note);
    uint64_t name = round_up(note.n_namesz), text = round_up(note.n_descsz);
    if (name > size - sizeof note || text > size - sizeof note - name)
      return false;
    const uint8_t *owner = bytes + sizeof note;
    bool ours = note.n_namesz == 7 && !memcmp(owner, "AMDGPU", 7);
    bool older = note.n_namesz == 4 && !memcmp(owner, "AMD", 4);
    if ((ours && note.n_type == NOTE_METADATA &&
         !is_plain_map(owner + name, note.n_descsz)) ||
        (older && note.n_type == NOTE_METADATA_V2))
      return false;
    bytes += sizeof note + name + text;
    size -= sizeof note + name + text;
  }
  return true;
}

static bool is_stretch_plain(const ws_elf *elf, uint64_t offset,
                             uint64_t size) {
  return offset <= elf->size && size <= elf->size - offset &&
         are_notes_plain(elf->image + offset, size);
}

bool ws__is_metadata_plain(const ws_elf *elf) {
  for (size_t i = 0; i < elf->segments.count; i++) {
    Elf64_Phdr segment = ws__elf_segment(elf, i);
    if (segment.p_type == PT_NOTE &&
        !is_stretch_plain(elf, segment.p_offset, segment.p_filesz))
      return false;
  }
  for (size_t i = 0; i < elf->sections.count; i++) {
    Elf64_Shdr section = ws__elf_section(elf, i);
    if (section.sh_type == SHT_NOTE &&
        !is_stretch_plain(elf, section.sh_offset, section.sh_size))
      return false;
  }
  return true;
}
