/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A server may send the key back as it writes text: percent-encoded, escaped
 * for JSON, C, HTML or mail, as hexadecimal digits or in base64, where it may
 * stand anywhere in a longer text (three alignments). Each form is a matcher
 * that says how many bytes at a place are the key. Not found: what a server
 * compresses, encrypts or cuts into pieces.
 */
#include "keys.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
  KEY_MIN = 8, /* shorter ones are looked for as they are: base64 or hex of few
                * characters is found in any text */
  ALIGNMENTS = 3
};

typedef struct scrubber {
  const char *secret;
  size_t size;
  char *cores[ALIGNMENTS]; /* base64 that the key alone decides */
} scrubber;

/* ---- character by character ---- */
static size_t hex_code(const char *text, size_t digits, long *out) {
  char copy[9] = "";
  for (size_t i = 0; i < digits; i++)
    if (!isxdigit((unsigned char)(copy[i] = text[i])))
      return 0;
  *out = strtol(copy, NULL, 16);
  return digits;
}

/* "%41", also encoded again: "%2541"; "=41" of mail. */
static size_t percent_code(const char *text, long *out) {
  size_t size = 1;
  if (*text != '%' && *text != '=')
    return 0;
  while (*text == '%' && !strncmp(text + size, "25", 2))
    size += 2;
  size_t digits = hex_code(text + size, 2, out);
  return digits ? size + digits : 0;
}

/* "\u0041", "\x41", "\/"; the backslash may be escaped itself. */
static size_t escape_code(const char *text, long *out) {
  size_t size = strspn(text, "\\");
  if (!size || !text[size])
    return 0;
  size_t digits = text[size] == 'u'   ? hex_code(text + size + 1, 4, out)
                  : text[size] == 'x' ? hex_code(text + size + 1, 2, out)
                                      : 0;
  *out = digits ? *out : (unsigned char)text[size];
  return size + 1 + digits;
}

static size_t entity_name(const char *text, long *out) {
  static const struct {
    const char *name;
    char code;
  } entities[] = {
      {"amp;", '&'},    {"lt;", '<'},     {"gt;", '>'},     {"quot;", '"'},
      {"apos;", '\''},  {"plus;", '+'},   {"sol;", '/'},    {"equals;", '='},
      {"lowbar;", '_'}, {"period;", '.'}, {"colon;", ':'},  {"comma;", ','},
      {"semi;", ';'},   {"num;", '#'},    {"dollar;", '$'}, {"percnt;", '%'},
      {"excl;", '!'},   {"ast;", '*'},    {"quest;", '?'},  {"commat;", '@'},
      {"bsol;", '\\'},  {"vert;", '|'},   {"Hat;", '^'},    {"grave;", '`'},
      {"lpar;", '('},   {"rpar;", ')'},   {"lsqb;", '['},   {"rsqb;", ']'},
      {"lcub;", '{'},   {"rcub;", '}'}};
  for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
    if (!strncmp(text, entities[i].name, strlen(entities[i].name))) {
      *out = entities[i].code;
      return strlen(entities[i].name);
    }
  return 0;
}

/* "&#65;", "&#x41;", "&amp;"; the & may be an entity itself. */
static size_t entity_code(const char *text, long *out) {
  static const char again[] = "amp;";
  size_t size = 1;
  if (*text != '&')
    return 0;
  while (!strncmp(text + size, again, sizeof again - 1) &&
         strchr("#a", text[size + sizeof again - 1]) &&
         text[size + sizeof again - 1])
    size += sizeof again - 1;
  if (text[size] != '#') {
    size_t name = entity_name(text + size, out);
    return name ? size + name : 0;
  }
  bool hex = text[size + 1] == 'x' || text[size + 1] == 'X';
  const char *digits = text + size + 1 + hex;
  char *end;
  *out = strtol(digits, &end, hex ? 16 : 10);
  if (end == digits || !isxdigit((unsigned char)*digits))
    return 0;
  return (size_t)(end - text) + (*end == ';');
}

/* Bytes at text that stand for the character; 0: it is another. */
static size_t match_character(const char *text, char want) {
  static size_t (*const forms[])(const char *, long *) = {
      percent_code, escape_code, entity_code};
  long code;
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    size_t size = forms[i](text, &code);
    if (size && code < 0x80 &&
        tolower((int)code) == tolower((unsigned char)want))
      return size;
  }
  return tolower((unsigned char)*text) == tolower((unsigned char)want);
}

static size_t match_encoded(const scrubber *s, const char *text) {
  size_t size = 0;
  for (size_t i = 0; i < s->size; i++) {
    size_t step = match_character(text + size, s->secret[i]);
    if (!step)
      return 0;
    size += step;
  }
  return size;
}

/* ---- as a whole ---- */
static size_t match_plain(const scrubber *s, const char *text) {
  return strncmp(text, s->secret, s->size) ? 0 : s->size;
}

/* Two digits a character; blanks, colons, commas or 0x may stand between. */
static size_t match_hex(const scrubber *s, const char *text) {
  size_t size = 0;
  for (size_t i = 0; i < s->size; i++) {
    long code;
    if (i)
      size += strspn(text + size, " :,-");
    if (!strncasecmp(text + size, "0x", 2))
      size += 2;
    if (!hex_code(text + size, 2, &code) || code != s->secret[i])
      return 0;
    size += 2;
  }
  return size;
}

static size_t match_core(const char *core, const char *text) {
  size_t size = 0;
  for (; *core; core++) {
    if (size)
      size += strspn(text + size, " \t\r\n\\"); /* mail wraps, JSON escapes */
    char c = text[size] == '-' ? '+' : text[size] == '_' ? '/' : text[size];
    if (c != *core)
      return 0;
    size++;
  }
  return size;
}

static size_t match_base64(const scrubber *s, const char *text) {
  size_t longest = 0;
  for (int i = 0; i < ALIGNMENTS; i++) {
    size_t size = match_core(s->cores[i], text);
    longest = size > longest ? size : longest;
  }
  return longest;
}

/* A text that was cut may end in the beginning of the key. */
static size_t match_cut(const scrubber *s, const char *text) {
  size_t left = strnlen(text, s->size);
  return left >= KEY_MIN && left < s->size && !memcmp(text, s->secret, left)
             ? left
             : 0;
}

/* ---- base64 of the key with `before` bytes in front ---- */
static char *core_of(const char *secret, size_t size, size_t before) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t first = (before * 8 + 5) / 6, last = (before + size) * 8 / 6;
  char *core = calloc(last - first + 1, 1);
  WS_ASSERT(core && "out of memory");
  for (size_t i = first; i < last; i++) {
    unsigned six = 0;
    for (size_t bit = i * 6; bit < i * 6 + 6; bit++) {
      unsigned byte = (unsigned char)secret[bit / 8 - before];
      six = six << 1 | (byte >> (7 - bit % 8) & 1);
    }
    core[i - first] = letters[six];
  }
  return core;
}

static size_t match(const scrubber *s, const char *text) {
  static size_t (*const matchers[])(const scrubber *, const char *) = {
      match_plain, match_encoded, match_hex, match_base64, match_cut};
  size_t count = s->size < KEY_MIN ? 1 : sizeof matchers / sizeof *matchers;
  for (size_t i = 0; i < count; i++) {
    size_t size = matchers[i](s, text);
    if (size)
      return size;
  }
  return 0;
}

const char *ws__key_scrub(const ws__key *key, ws_arena *arena,
                          const char *text) {
  if (!key->secret)
    return text;
  scrubber s = {.secret = key->secret, .size = strlen(key->secret)};
  for (size_t i = 0; i < ALIGNMENTS; i++)
    s.cores[i] = core_of(s.secret, s.size, i);
  ws_strbuf clean;
  ws_strbuf_init(&clean);
  while (*text) {
    size_t size = match(&s, text);
    ws_strbuf_append(&clean, size ? "[key]" : text, size ? strlen("[key]") : 1);
    text += size ? size : 1;
  }
  for (int i = 0; i < ALIGNMENTS; i++) {
    explicit_bzero(s.cores[i], strlen(s.cores[i]));
    free(s.cores[i]);
  }
  char *copy = ws_arena_strdup(arena, clean.data);
  ws_strbuf_deinit(&clean);
  return copy;
}
