/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Fills in a prompt. The text is cut into blocks, each from one heading ("#")
 * to the next; a block that has sections, all of them empty, is left out. If
 * the whole is too long, sections are shortened in the order of their
 * `expendable`, from their ends, at ends of lines, until it fits.
 */
#include "prompt_texts.h"

#include <string.h>

typedef struct slot { /* of a section */
  const char *text;
  size_t size;
  int expendable;
  const char *note; /* what stands in place of what was cut; "" */
  size_t missing;   /* bytes */
  bool used;        /* by system or kind */
} slot;

typedef struct rendering {
  ws_arena *arena;
  const ws_prompts *prompts;
  ws_request_kind kind;
  slot slots[WS__SECTION_COUNT];
} rendering;

/* ---- text with sections -----------------------------------------------------
 */

static const char *next_line(const char *line) {
  line += strcspn(line, "\n");
  return line + (*line == '\n');
}

static ws__section section_at(const char *line) {
  bool named;
  return ws__section_of_line(line, strcspn(line, "\n"), &named);
}

static const char *next_block(const char *text) {
  do
    text = next_line(text);
  while (*text && *text != '#');
  return text;
}

static bool is_empty(const slot *s) { return !s->size && !*s->note; }

/* Has the block sections, and is there nothing in them? */
static bool is_void(const rendering *r, const char *block, const char *end) {
  bool has_sections = false;
  for (const char *line = block; line < end; line = next_line(line)) {
    const ws__section section = section_at(line);
    if (section == WS__SECTION_COUNT)
      continue;
    if (!is_empty(&r->slots[section]))
      return false;
    has_sections = true;
  }
  return has_sections;
}

static void put_line(rendering *r, const char *line, ws_strbuf *out) {
  const ws__section section = section_at(line);
  if (section == WS__SECTION_COUNT) {
    ws_strbuf_append(out, line, (size_t)(next_line(line) - line));
    return;
  }
  const slot *s = &r->slots[section];
  ws_strbuf_append(out, s->text, s->size);
  if (s->size && s->text[s->size - 1] != '\n')
    ws_strbuf_puts(out, "\n");
  ws_strbuf_puts(out, s->note);
}

static void put_text(rendering *r, const char *text, ws_strbuf *out) {
  for (const char *end; *text; text = end) {
    end = next_block(text);
    if (is_void(r, text, end))
      continue;
    for (const char *line = text; line < end; line = next_line(line))
      put_line(r, line, out);
  }
}

static const char *render_text(rendering *r, const ws_prompt_text *text) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  put_text(r, text->text, &out);
  const char *result = ws_arena_strndup(r->arena, out.data, out.size);
  ws_strbuf_deinit(&out);
  return result;
}

static void note_use(rendering *r, const ws_prompt_text *text) {
  for (const char *line = text->text; *line; line = next_line(line)) {
    const ws__section section = section_at(line);
    if (section != WS__SECTION_COUNT)
      r->slots[section].used = true;
  }
}

/* ---- cutting ---------------------------------------------------------------
 */

/* The expendable section that is to go next: the highest, of equals the one
 * that is longer. NULL: none is left. */
static slot *most_expendable(rendering *r) {
  slot *best = NULL;
  for (int i = 0; i < WS__SECTION_COUNT; i++) {
    slot *s = &r->slots[i];
    if (!s->used || !s->size || s->expendable <= 0 || s->missing)
      continue;
    if (!best || s->expendable > best->expendable ||
        (s->expendable == best->expendable && s->size > best->size))
      best = s;
  }
  return best;
}

static size_t lines_end(const char *text, size_t size) {
  while (size && text[size - 1] != '\n')
    size--;
  return size;
}

/* Shortens a section by at least excess bytes, or to its note. */
static void shorten(rendering *r, slot *s, size_t excess) {
  enum { NOTE_BYTES = 100 };
  const size_t wish = excess + NOTE_BYTES;
  const size_t keep = s->size > wish ? lines_end(s->text, s->size - wish) : 0;
  s->missing = s->size - keep;
  s->size = keep;
  s->note = ws_arena_printf(
      r->arena,
      keep ? "[%zu more bytes left out: the prompt is too long]\n"
           : "[all %zu bytes left out: the prompt is too long]\n",
      s->missing);
}

static ws_status fit(rendering *r, size_t budget, ws_prompt *out,
                     ws_diag *diag) {
  for (;;) {
    out->system = render_text(r, r->prompts->system);
    out->user = render_text(r, r->prompts->kinds[r->kind]);
    const size_t size = strlen(out->system) + strlen(out->user);
    if (size <= budget)
      return WS_OK;
    slot *s = most_expendable(r);
    if (!s)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "the shortest prompt of kind %s has %zu bytes, the budget "
                     "is %zu; allow more bytes, or use shorter prompts",
                     ws_request_text(r->kind), size, budget);
    shorten(r, s, size - budget);
  }
}

/* ---- what it is ------------------------------------------------------------
 */

static const char *cut_text(rendering *r) {
  const char *text = "";
  for (int i = 0; i < WS__SECTION_COUNT; i++)
    if (r->slots[i].missing)
      text = ws_arena_printf(
          r->arena, "%s%s%s %zu bytes", text, *text ? "; " : "",
          ws__section_name((ws__section)i), r->slots[i].missing);
  return text;
}

static const char *version_text(rendering *r) {
  const ws_prompt_text *kind = r->prompts->kinds[r->kind];
  const char *text =
      ws_arena_printf(r->arena, "%s %d, %s %d", kind->name, kind->version,
                      r->prompts->system->name, r->prompts->system->version);
  for (int i = 0; i < WS__SECTION_COUNT; i++) {
    const ws_prompt_text *part = r->prompts->parts[i];
    if (part && r->slots[i].used && r->slots[i].text == part->text)
      text = ws_arena_printf(r->arena, "%s, %s %d", text, part->name,
                             part->version);
  }
  return text;
}

static ws_status set_section(rendering *r, const ws_prompt_section *section,
                             ws_diag *diag) {
  for (int i = 0; i < WS__SECTION_COUNT; i++) {
    if (strcmp(ws__section_name((ws__section)i), section->name))
      continue;
    slot *s = &r->slots[i];
    s->expendable = section->expendable;
    if (section->text) {
      s->text = section->text;
      s->size = strlen(section->text);
    }
    return WS_OK;
  }
  return ws_fail(diag, WS_INPUT, NULL, 0, "prompts have no section '%s'",
                 section->name);
}

ws_status ws_prompt_render(ws_arena *arena, const ws_prompts *prompts,
                           ws_request_kind kind,
                           const ws_prompt_section *sections, int count,
                           size_t budget_bytes, ws_prompt *out_prompt,
                           ws_diag *diag) {
  rendering r = {.arena = arena, .prompts = prompts, .kind = kind};
  *out_prompt = (ws_prompt){"", "", "", ""};
  for (int i = 0; i < WS__SECTION_COUNT; i++) {
    const char *text = prompts->parts[i] ? prompts->parts[i]->text : "";
    r.slots[i] = (slot){.text = text, .size = strlen(text), .note = ""};
  }
  for (int i = 0; i < count; i++)
    WS_TRY(set_section(&r, &sections[i], diag));
  note_use(&r, prompts->system);
  note_use(&r, prompts->kinds[kind]);
  WS_TRY(fit(&r, budget_bytes, out_prompt, diag));
  out_prompt->version = version_text(&r);
  out_prompt->cut = cut_text(&r);
  return WS_OK;
}
