/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Headings: "## Region `decode` (IR)", "**Name:** wide loads". A table of the
 * words that open a section; a heading with more words than its section takes
 * is text like any other.
 */
#include "reply.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum {
  CANDIDATE = 1 << WS_REQUEST_EXPLORE | 1 << WS_REQUEST_EXPLOIT |
              1 << WS_REQUEST_CROSSOVER | 1 << WS_REQUEST_REPAIR |
              1 << WS_REQUEST_WRITE,
  SELECT = 1 << WS_REQUEST_SELECT,
  DESIGN = 1 << WS_REQUEST_DESIGN,
  DISTIL = 1 << WS_REQUEST_DISTIL,
  ANY = CANDIDATE | SELECT | DESIGN | DISTIL,
  TITLE_BYTES = 200
};

/* What may follow the word. */
typedef enum argument_style {
  NOTHING,
  NUMBER,
  LANGUAGE,
  REGION
} argument_style;

static const struct section_form {
  const char *text;
  int requests;
  bool single;
  argument_style style;
} forms[WS__SECTION_COUNT] = {
    [WS__SECTION_NAME] = {"## name", ANY, true, NOTHING},
    [WS__SECTION_REASONING] = {"## reasoning", ANY, false, NOTHING},
    [WS__SECTION_EXPECTED] = {"## expected", CANDIDATE, true, NOTHING},
    [WS__SECTION_PARAMETERS] = {"## parameters", CANDIDATE, true, NOTHING},
    [WS__SECTION_REGION] = {"## region NAME", CANDIDATE, false, REGION},
    [WS__SECTION_TEMPLATE] = {"## template", CANDIDATE, true, LANGUAGE},
    [WS__SECTION_BASE] = {"## base", SELECT, true, NOTHING},
    [WS__SECTION_REFERENCE] = {"## reference", SELECT, true, NOTHING},
    [WS__SECTION_AVENUES] = {"## avenues", DESIGN, true, NOTHING},
    [WS__SECTION_EXPERIMENT] = {"## experiment N", DESIGN, false, NUMBER},
    [WS__SECTION_FINDINGS] = {"## findings", DISTIL, true, NOTHING},
    [WS__SECTION_CANDIDATE] = {"## candidate", CANDIDATE, true, NUMBER},
};

/* Longer ones before those that they begin with. */
static const struct {
  const char *word;
  ws__section_kind kind;
} words[] = {
    {"name", WS__SECTION_NAME},
    {"reasoning", WS__SECTION_REASONING},
    {"rationale", WS__SECTION_REASONING},
    {"expected effects", WS__SECTION_EXPECTED},
    {"expected effect", WS__SECTION_EXPECTED},
    {"expected", WS__SECTION_EXPECTED},
    {"parameter changes", WS__SECTION_PARAMETERS},
    {"parameters", WS__SECTION_PARAMETERS},
    {"region", WS__SECTION_REGION},
    {"whole template", WS__SECTION_TEMPLATE},
    {"template", WS__SECTION_TEMPLATE},
    {"base", WS__SECTION_BASE},
    {"reference", WS__SECTION_REFERENCE},
    {"avenues", WS__SECTION_AVENUES},
    {"experiment", WS__SECTION_EXPERIMENT},
    {"findings", WS__SECTION_FINDINGS},
    {"candidate", WS__SECTION_CANDIDATE},
};

static const struct {
  const char *word, *language;
} languages[] = {
    {"ir", "ir"},           {"llvm", "ir"},    {"ll", "ir"},
    {"llvm-ir", "ir"},      {"llvm ir", "ir"}, {"opencl", "opencl"},
    {"opencl c", "opencl"}, {"cl", "opencl"},  {"c", "opencl"},
    {"hip", "hip"},         {"hip c++", "hip"}, {"mlir", "mlir"}};

const char *ws__section_text(ws__section_kind kind) { return forms[kind].text; }

bool ws__section_is_single(ws__section_kind kind) { return forms[kind].single; }

const char *ws__language_named(const char *word, size_t size) {
  for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
    if (strlen(languages[i].word) == size &&
        !strncasecmp(languages[i].word, word, size))
      return languages[i].language;
  return NULL;
}

/* ---- what follows the word ----------------------------------------------- */

/* "", "(IR)", "- IR", "(IR, edits)"; other words only in parentheses. */
static bool read_language(const char *rest, const char **out_language) {
  bool remark = *rest == '(';
  *out_language = "";
  while (*rest) {
    rest += strspn(rest, " \t(),-/");
    size_t whole = strcspn(rest, "(),/"), size = whole;
    while (size && isspace((unsigned char)rest[size - 1]))
      size--;
    const char *language = ws__language_named(rest, size);
    if (language && !**out_language)
      *out_language = language;
    if (!language && size && !remark)
      return false;
    rest += whole;
  }
  return true;
}

static bool read_region(ws_arena *arena, const char *rest,
                        ws__section *out_section) {
  rest += strspn(rest, "@\"'");
  size_t size = 0;
  while (isalnum((unsigned char)rest[size]) ||
         (rest[size] && strchr("_.$-", rest[size])))
    size++;
  out_section->argument = ws_arena_strndup(arena, rest, size);
  rest += size;
  rest = ws__skip_blanks(rest + strspn(rest, "\"'"));
  return read_language(rest, &out_section->language);
}

/* "3", "3 - title", "". */
static bool read_number(ws_arena *arena, const char *rest,
                        ws__section *out_section) {
  size_t digits = strspn(rest, "0123456789");
  const char *title = rest + digits;
  if (!digits && *rest)
    return false;
  while (*title && !isalnum((unsigned char)*title))
    title++;
  out_section->argument = ws_arena_strdup(arena, title);
  return true;
}

static bool read_argument(ws_arena *arena, argument_style style,
                          const char *rest, ws__section *out_section) {
  switch (style) {
  case REGION:
    return read_region(arena, rest, out_section);
  case LANGUAGE:
    return read_language(rest, &out_section->language);
  case NUMBER:
    return read_number(arena, rest, out_section);
  case NOTHING:
    break;
  }
  return !*rest || *rest == '(';
}

/* ---- titles -------------------------------------------------------------- */

/* Behind "3. " or "3) ". */
static const char *skip_number(const char *title) {
  size_t digits = strspn(title, "0123456789");
  bool numbered = digits && (title[digits] == '.' || title[digits] == ')');
  return numbered ? ws__skip_blanks(title + digits + 1) : title;
}

static bool read_title(ws_arena *arena, const char *title,
                       ws_request_kind request, ws__section *out_section) {
  title = skip_number(title);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t size = strlen(words[i].word);
    const struct section_form *form = &forms[words[i].kind];
    if (!(form->requests >> request & 1) ||
        strncasecmp(title, words[i].word, size) ||
        isalnum((unsigned char)title[size]) || title[size] == '_')
      continue;
    *out_section = (ws__section){words[i].kind, "", "", 0, 0, 0};
    return read_argument(arena, form->style, ws__skip_blanks(title + size),
                         out_section);
  }
  return false;
}

/* Without '*', back quotes and blanks at the ends. NULL: too long. */
static char *clean_title(ws_arena *arena, const char *text, size_t size) {
  if (size > TITLE_BYTES)
    return NULL;
  char *title = ws_arena_alloc(arena, size + 1);
  size_t used = 0;
  for (size_t i = 0; i < size; i++)
    if (text[i] != '*' && text[i] != '`' && (used || text[i] != ' '))
      title[used++] = text[i];
  while (used && strchr(" \t#", title[used - 1]))
    used--;
  title[used] = '\0';
  return title;
}

/* "# TITLE", "# TITLE: VALUE". */
static bool split_hashes(const char *line, const char **out_title,
                         size_t *out_size, const char **out_value) {
  size_t level = strspn(line, "#");
  if (!level || level > 6 || (line[level] != ' ' && line[level] != '\t'))
    return false;
  *out_title = ws__skip_blanks(line + level);
  *out_size = strcspn(*out_title, ":");
  const char *value = *out_title + *out_size;
  *out_value = *value ? value + 1 : value;
  return true;
}

/* "**TITLE**", "**TITLE:** VALUE", "**TITLE**: VALUE". */
static bool split_bold(const char *line, const char **out_title,
                       size_t *out_size, const char **out_value) {
  if (strncmp(line, "**", 2) && strncmp(line, "__", 2))
    return false;
  const char mark[] = {line[0], line[0], '\0'};
  const char *title = line + 2, *end = strstr(title, mark);
  if (!end || end == title)
    return false;
  bool colon = end[-1] == ':';
  const char *value = ws__skip_blanks(end + 2);
  if (!colon && *value && *value != ':')
    return false;
  *out_title = title;
  *out_size = (size_t)(end - title) - colon;
  *out_value = *value == ':' && !colon ? value + 1 : value;
  return true;
}

bool ws__read_heading(ws_arena *arena, const char *line, ws_request_kind kind,
                      ws__section *out_section, const char **out_value) {
  const char *title, *value;
  size_t size;
  line = ws__skip_blanks(line);
  if (!split_hashes(line, &title, &size, &value) &&
      !split_bold(line, &title, &size, &value))
    return false;
  const char *clean = clean_title(arena, title, size);
  if (!clean || !read_title(arena, clean, kind, out_section))
    return false;
  *out_value = value + strspn(value, "* \t");
  if (out_section->kind != WS__SECTION_REGION || *out_section->argument)
    return true;
  clean = clean_title(arena, *out_value, strlen(*out_value));
  *out_value = ""; /* "## region: NAME (LANGUAGE)" */
  return clean && read_region(arena, clean, out_section);
}
