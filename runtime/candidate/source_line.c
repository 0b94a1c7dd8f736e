/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The line that a finding or a profile means. The compiler names the file of a
 * body after its region: "mma.ll", "mma.cl", "mma.hip"; what a template was
 * imported from has its own name; any other is the template's.
 */
#include "wavesmith/template.h"

#include <ctype.h>
#include <string.h>

enum { MOST_BYTES = 200 };

static const char *last_part(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *body_of(const ws_candidate *candidate, const char *name) {
  const ws_template *tmpl = candidate->tmpl;
  size_t size = strcspn(name, ".");
  for (int i = 0; i < tmpl->region_count; i++)
    if (candidate->bodies[i].text &&
        strlen(tmpl->regions[i].function) == size &&
        !memcmp(tmpl->regions[i].function, name, size) && name[size] &&
        ws_language_of_ending(name + size + 1))
      return candidate->bodies[i].text;
  return NULL;
}

const char *ws_candidate_source_text(const ws_candidate *candidate,
                                     const char *template_text,
                                     const char *template_file,
                                     const char *file) {
  const char *name = last_part(file), *text = body_of(candidate, name);
  const ws_template *tmpl = candidate->tmpl;
  if (!text && tmpl->source_file && !strcmp(name, last_part(tmpl->source_file)))
    text = tmpl->source_text;
  if (!text && (!template_file || !strcmp(name, last_part(template_file))))
    text = template_text;
  return text;
}

const char *ws_candidate_source_line(ws_arena *arena,
                                     const ws_candidate *candidate,
                                     const char *template_text,
                                     const char *template_file,
                                     const char *file, int line) {
  const char *text = ws_candidate_source_text(candidate, template_text,
                                              template_file, file);
  if (!text || line < 1)
    return "";
  for (; line > 1 && *text; line--) {
    text += strcspn(text, "\n");
    text += *text == '\n';
  }
  size_t size = strcspn(text, "\n");
  while (size && isspace((unsigned char)*text))
    text++, size--;
  while (size && isspace((unsigned char)text[size - 1]))
    size--;
  return ws_arena_strndup(arena, text, size < MOST_BYTES ? size : MOST_BYTES);
}
