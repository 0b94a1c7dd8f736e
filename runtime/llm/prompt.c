/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads the texts of prompts, the program's own or a folder's, and checks each
 * once: its version, and that every {{section}} is known and stands on a line
 * of its own. NAME_TARGET_LANGUAGE.txt, NAME_LANGUAGE.txt and NAME_TARGET.txt
 * stand in for NAME.txt, in this order.
 * Filling them in is prompt_render.c.
 */
#include "prompt_texts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const section_names[WS__SECTION_COUNT] = {
#define WS__SECTION_TEXT(name) [WS__SECTION_##name] = #name,
    WS__SECTION_MAP(WS__SECTION_TEXT)
#undef WS__SECTION_TEXT
};

const char *ws__section_name(ws__section section) {
  return section_names[section];
}

static ws__section find_section(const char *name, size_t size) {
  for (int i = 0; i < WS__SECTION_COUNT; i++)
    if (strlen(section_names[i]) == size &&
        !memcmp(section_names[i], name, size))
      return (ws__section)i;
  return WS__SECTION_COUNT;
}

ws__section ws__section_of_line(const char *line, size_t size,
                                bool *out_named) {
  while (size && isspace((unsigned char)line[size - 1]))
    size--;
  while (size && isspace((unsigned char)*line))
    line++, size--;
  *out_named =
      size > 4 && !memcmp(line, "{{", 2) && !memcmp(line + size - 2, "}}", 2);
  return *out_named ? find_section(line + 2, size - 4) : WS__SECTION_COUNT;
}

static size_t line_size(const char *line) { return strcspn(line, "\n"); }

/* ---- one text --------------------------------------------------------------
 */

static ws_status read_version(const char *file, const char **text,
                              int *out_version, ws_diag *diag) {
  static const char heading[] = "# version ";
  const size_t size = line_size(*text);
  char *end = NULL;
  long version = 0;
  if (!strncmp(*text, heading, sizeof heading - 1))
    version = strtol(*text + sizeof heading - 1, &end, 10);
  if (version < 1 || version > 1000000 ||
      strspn(end, " \t\r") != (size_t)(*text + size - end))
    return ws_fail(diag, WS_INPUT, file, 1,
                   "the first line is not the prompt's version; make it "
                   "\"# version 1\" and count up with every change");
  *out_version = (int)version;
  *text += size + ((*text)[size] == '\n');
  return WS_OK;
}

static ws_status unknown_section(const char *file, int number, const char *line,
                                 ws_diag *diag) {
  ws_strbuf known;
  ws_strbuf_init(&known);
  for (int i = 0; i < WS__SECTION_COUNT; i++)
    ws_strbuf_printf(&known, " %s", section_names[i]);
  ws_status status = ws_fail(
      diag, WS_INPUT, file, number,
      "\"%.*s\" is no section on a line of its own; there are:%s",
      (int)(line_size(line) < 80 ? line_size(line) : 80), line, known.data);
  ws_strbuf_deinit(&known);
  return status;
}

/* No text may name itself through parts: parts have no sections. */
static ws_status check_sections(const char *file, const char *text,
                                bool is_part, ws_diag *diag) {
  int number = 2;
  for (const char *line = text; *line; number++) {
    const size_t size = line_size(line);
    bool named;
    const ws__section section = ws__section_of_line(line, size, &named);
    if (named && is_part)
      return ws_fail(diag, WS_INPUT, file, number,
                     "this text is a section itself and cannot have sections");
    const bool stray =
        memmem(line, size, "{{", 2) && memmem(line, size, "}}", 2);
    if ((named && section == WS__SECTION_COUNT) ||
        (!named && !is_part && stray))
      return unknown_section(file, number, line, diag);
    line += size + (line[size] == '\n');
  }
  return WS_OK;
}

static const char *own_text(const char *name) {
  for (int i = 0; i < ws__prompt_source_count; i++)
    if (!strcmp(ws__prompt_sources[i].name, name))
      return (const char *)ws__prompt_sources[i].text;
  return NULL;
}

static ws_status read_file(ws_arena *arena, const char *path,
                           const char **out_text, ws_diag *diag) {
  char *data;
  size_t size;
  WS_TRY(ws_file_read(arena, path, &data, &size, diag));
  if (strlen(data) != size)
    return ws_fail(diag, WS_INPUT, path, 0, "this is no text: it holds a NUL");
  *out_text = data;
  return WS_OK;
}

/* "system_sm_90a", where the target has a text of its own, else "system". */
static const char *choose_text(ws_arena *arena, const char *name,
                               const ws_prompts *of) {
  const char *const own[] = {
      ws_arena_printf(arena, "%s_%s_%s", name, of->target, of->language),
      ws_arena_printf(arena, "%s_%s", name, of->language),
      ws_arena_printf(arena, "%s_%s", name, of->target)};
  for (int i = 0; i < 3; i++)
    if (own_text(own[i]))
      return own[i];
  return name;
}

static ws_status open_text(ws_arena *arena, const char *folder,
                           const ws_prompts *of, const char *base, bool is_part,
                           const ws_prompt_text **out, ws_diag *diag) {
  const char *name = choose_text(arena, base, of);
  const char *file =
      ws_arena_printf(arena, "%s/%s.txt", folder ? folder : "prompts", name);
  const char *text = own_text(name);
  WS_ASSERT(text);
  if (folder && ws_file_exists(file))
    WS_TRY(read_file(arena, file, &text, diag));
  ws_prompt_text *result = ws_arena_alloc(arena, sizeof *result);
  WS_TRY(read_version(file, &text, &result->version, diag));
  WS_TRY(check_sections(file, text, is_part, diag));
  result->name = ws_arena_strdup(arena, name);
  result->text = text;
  *out = result;
  return WS_OK;
}

/* ---- all of them -----------------------------------------------------------
 */

static int is_text(const struct dirent *entry) {
  const size_t size = strlen(entry->d_name);
  return size > 4 && !strcmp(entry->d_name + size - 4, ".txt");
}

/* A misspelt name would leave the program's own text in force unseen. */
static ws_status check_folder(const char *folder, ws_diag *diag) {
  struct dirent **entries;
  const int count = scandir(folder, &entries, is_text, alphasort);
  if (count < 0)
    return ws_fail(diag, WS_INPUT, folder, 0, "cannot read the folder: %s",
                   strerror(errno));
  ws_status status = WS_OK;
  for (int i = 0; i < count; i++) {
    char *name = entries[i]->d_name;
    name[strlen(name) - 4] = '\0';
    if (status == WS_OK && !own_text(name))
      status = ws_fail(diag, WS_INPUT, folder, 0,
                       "%s.txt is no prompt of wavesmith; `wavesmith prompt` "
                       "lists them",
                       name);
    free(entries[i]);
  }
  free(entries);
  return status;
}

ws_status ws_prompts_open(ws_arena *arena, const char *folder,
                          const char *target, const char *language,
                          const ws_prompts **out_prompts, ws_diag *diag) {
  *out_prompts = NULL;
  if (folder)
    WS_TRY(check_folder(folder, diag));
  ws_prompts *prompts = ws_arena_alloc(arena, sizeof *prompts);
  *prompts = (ws_prompts){.target = target, .language = language};
  WS_TRY(open_text(arena, folder, prompts, "system", false, &prompts->system,
                   diag));
  for (int i = 0; i < WS_REQUEST_COUNT; i++)
    WS_TRY(open_text(arena, folder, prompts,
                     ws_request_text((ws_request_kind)i), false,
                     &prompts->kinds[i], diag));
  for (int i = 0; i < WS__SECTION_COUNT; i++)
    if (own_text(section_names[i]))
      WS_TRY(open_text(arena, folder, prompts, section_names[i], true,
                       &prompts->parts[i], diag));
  *out_prompts = prompts;
  return WS_OK;
}

const ws_prompt_text *ws_prompts_at(const ws_prompts *prompts, int index) {
  if (index < 1)
    return index ? NULL : prompts->system;
  if (index <= WS_REQUEST_COUNT)
    return prompts->kinds[index - 1];
  index -= 1 + WS_REQUEST_COUNT;
  for (int i = 0; i < WS__SECTION_COUNT; i++)
    if (prompts->parts[i] && index-- == 0)
      return prompts->parts[i];
  return NULL;
}
