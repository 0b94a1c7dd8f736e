/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sections of words and numbers: claims, parameters, avenues, experiments.
 * Decoration (list marks, bold, back quotes, typographic signs) is taken off
 * a copy of each line first.
 */
#include "reply.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- lines without decoration -------------------------------------------- */

static const struct {
  const char *from, *to;
} signs[] = {
    {"\xE2\x80\x93", "-"}, {"\xE2\x80\x94", "-"},  {"\xE2\x88\x92", "-"},
    {"\xC3\x97", "x"},     {"\xE2\x86\x92", "->"}, {"\xC2\xA0", " "},
};

/* Dashes, times, arrows and hard blanks in ASCII; without '*' and '`'. */
static char *plain_text(ws_arena *arena, const char *line) {
  char *text = ws_arena_alloc(arena, strlen(line) + 1);
  size_t used = 0;
  while (*line) {
    size_t sign = 0, count = sizeof signs / sizeof *signs;
    while (sign < count &&
           strncmp(line, signs[sign].from, strlen(signs[sign].from)))
      sign++;
    if (sign < count) {
      memcpy(text + used, signs[sign].to, strlen(signs[sign].to));
      used += strlen(signs[sign].to);
      line += strlen(signs[sign].from);
    } else {
      if (*line != '*' && *line != '`')
        text[used++] = *line;
      line++;
    }
  }
  return text;
}

/* Behind "- ", "* ", "+ ", "3. ", "3) "; the line itself when there is none. */
static const char *skip_list_mark(const char *line) {
  const char *text = ws__skip_blanks(line);
  size_t size = strspn(text, "0123456789");
  if (size ? text[size] == '.' || text[size] == ')'
           : *text && strchr("-*+", *text))
    size++;
  else
    return line;
  return text[size] == ' ' || text[size] == '\t' ? ws__skip_blanks(text + size)
                                                 : line;
}

static char *plain_item(ws_arena *arena, const char *line) {
  return plain_text(arena, ws__skip_blanks(skip_list_mark(line)));
}

static bool is_content(const ws__line *line) {
  return line->kind != WS__LINE_FENCE && !ws__is_blank(line->text);
}

/* ---- ranges -------------------------------------------------------------- */

/* [+-]digits[.digits][e[+-]digits]: no names, no hexadecimal. */
static bool read_number(const char **text, double *out_value) {
  char number[32];
  const char *at = *text;
  size_t size = strspn(at, "+-") ? 1 : 0;
  size_t digits = strspn(at + size, "0123456789");
  size += digits;
  /* "5..10" is two numbers. */
  if (at[size] == '.' && at[size + 1] != '.') {
    size_t fraction = strspn(at + size + 1, "0123456789");
    digits += fraction;
    size += 1 + fraction;
  }
  if (digits && (at[size] == 'e' || at[size] == 'E')) {
    size_t sign = at[size + 1] == '-' || at[size + 1] == '+';
    size_t exponent = strspn(at + size + 1 + sign, "0123456789");
    size += exponent ? 1 + sign + exponent : 0;
  }
  if (!digits || size >= sizeof number)
    return false;
  memcpy(number, at, size);
  number[size] = '\0';
  *out_value = strtod(number, NULL);
  *text = at + size;
  return isfinite(*out_value);
}

typedef struct amount {
  double value;
  bool per_cent;
} amount;

/* "1.05", "1.05x", "5 %", "5%". */
static bool read_amount(const char **text, amount *out_amount) {
  if (!read_number(text, &out_amount->value))
    return false;
  const char *unit = ws__skip_blanks(*text);
  out_amount->per_cent = *unit == '%';
  if (out_amount->per_cent)
    *text = unit + 1;
  else if (**text == 'x' && !isalnum((unsigned char)(*text)[1]))
    (*text)++;
  return true;
}

static bool begins_number(const char *text) {
  text += strspn(text, "+-") ? 1 : 0;
  text += *text == '.';
  return isdigit((unsigned char)*text);
}

/* To the second number of a range; false: there is none. "5 -3" has a sign,
 * "5-3" and "5 - 3" a dash. */
static bool skip_separator(const char **text) {
  static const char *const separators[] = {"..", "to ", "-", ","};
  const char *begin = *text, *at = ws__skip_blanks(begin);
  bool apart = at > begin;
  for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
    size_t size = strlen(separators[i]);
    if ((apart && *at == '-' && at[1] != ' ') ||
        strncasecmp(at, separators[i], size))
      continue;
    at = ws__skip_blanks(at + size + (*at == '.' ? strspn(at + size, ".") : 0));
    apart = true;
    break;
  }
  if (!apart || !begins_number(at))
    return false;
  *text = at;
  return true;
}

bool ws__read_range(const char **text, bool per_cent, double *out_low,
                    double *out_high) {
  amount low, high;
  const char *at = *text + strspn(*text, " \t[~");
  if (!read_amount(&at, &low))
    return false;
  high = low;
  if (skip_separator(&at) && !read_amount(&at, &high))
    return false;
  low.per_cent |= high.per_cent; /* "5 to 20 %" */
  if (low.per_cent != high.per_cent || (low.per_cent && !per_cent))
    return false;
  *out_low = low.per_cent ? 1 + low.value / 100 : low.value;
  *out_high = high.per_cent ? 1 + high.value / 100 : high.value;
  *text = at + strspn(at, " \t]");
  return *out_low <= *out_high && (!per_cent || *out_low > 0);
}

/* ---- claims -------------------------------------------------------------- */

static const struct claim_word {
  const char *word, *what;
} claim_words[] = {
    {"speedup", "speedup"},
    {"speed-up", "speedup"},
    {"vgprs", "vgpr"},
    {"vgpr", "vgpr"},
    {"agprs", "agpr"},
    {"agpr", "agpr"},
    {"sgprs", "sgpr"},
    {"sgpr", "sgpr"},
    {"lds_conflict", "lds_conflict"}, /* before "lds" */
    {"lds", "lds"},
    {"scratch", "scratch"},
    {"occupancy", "occupancy"},
    {"share", "share"},
};

static const char *read_claim_word(const char **text) {
  for (size_t i = 0; i < sizeof claim_words / sizeof *claim_words; i++) {
    size_t size = strlen(claim_words[i].word);
    if (strncasecmp(*text, claim_words[i].word, size) ||
        isalnum((unsigned char)(*text)[size]))
      continue;
    *text += size;
    *text += strspn(*text, " \t:=");
    return claim_words[i].what;
  }
  return NULL;
}

static size_t name_size(const char *text) {
  size_t size = 0;
  while (isalnum((unsigned char)text[size]) ||
         (text[size] && strchr("_.$", text[size])))
    size++;
  return size;
}

/* Takes a word of that size in front of the range; "" when none follows it. */
static char *take_word(ws_arena *arena, const char **text, size_t size) {
  const char *after = *text + size + strspn(*text + size, " \t:=");
  if (!size || after == *text + size ||
      !begins_number(after + strspn(after, "[~")))
    return ws_arena_strdup(arena, "");
  char *word = ws_arena_strndup(arena, *text, size);
  *text = after;
  return word;
}

/* "1024,7168 " or "1024x7168x512 " or "rows=16,cols=1024 ", in front of the
 * range: a list of sizes, one of them alone only by its name. */
static const char *read_shape(ws_arena *arena, const char **text) {
  const char *rest = *text;
  char *word = take_word(arena, &rest, strspn(rest, "0123456789,x"));
  const bool by_name = !*word;
  if (by_name) {
    size_t size = 0;
    while (name_size(rest + size) || (rest[size] && strchr(",=", rest[size])))
      size++;
    word = take_word(arena, &rest, size);
  }
  if (by_name ? !strchr(word, '=')
              : !word[strcspn(word, ",x")] || !strchr("123456789", *word))
    return "";
  for (char *at = by_name ? NULL : strchr(word, 'x'); at; at = strchr(at, 'x'))
    *at = ',';
  *text = rest;
  return ws_arena_printf(arena, " %s", word);
}

static const char *read_region(ws_arena *arena, const char **text) {
  const char *rest = *text, *word = take_word(arena, &rest, name_size(rest));
  if (!*word || begins_number(word))
    return "";
  *text = rest;
  return ws_arena_printf(arena, " %s", word);
}

static const char *without_signs(ws_arena *arena, const char *text, char sign) {
  char *copy = ws_arena_strdup(arena, text);
  for (char *at = copy; (at = strchr(at, sign));)
    *at = ' ';
  return copy;
}

static bool read_claim(ws_arena *arena, const char *what, const char *rest,
                       ws_reply_claim *out_claim) {
  const bool speedup = !strcmp(what, "speedup"), share = !strcmp(what, "share");
  const char *of = speedup ? read_shape(arena, &rest)
                   : share ? read_region(arena, &rest)
                           : "";
  out_claim->what = ws_arena_printf(arena, "%s%s", what, of);
  if (share) /* in per cent, said or not */
    rest = without_signs(arena, rest, '%');
  if ((share && !*of) ||
      !ws__read_range(&rest, speedup, &out_claim->low, &out_claim->high))
    return false;
  rest += strspn(rest, ",;. \t"); /* words may follow, no numbers or signs */
  return !*rest || *rest == '(' || isalpha((unsigned char)*rest);
}

ws_status ws__read_claims(const ws__reply_text *reply,
                          const ws__section *section, ws_reply *out_reply,
                          ws_diag *diag) {
  ws_reply_claim *claims =
      ws_arena_alloc(reply->arena, WS__REPLY_ITEMS * sizeof *claims);
  int count = 0;
  for (int i = section->begin; i < section->end; i++) {
    if (!is_content(&reply->lines[i]))
      continue;
    const char *rest = plain_item(reply->arena, reply->lines[i].text);
    const char *what = read_claim_word(&rest);
    if (!what)
      continue;
    if (count == WS__REPLY_ITEMS)
      return WS__REPLY_FAIL(diag, i, "more than %d claims", WS__REPLY_ITEMS);
    if (!read_claim(reply->arena, what, rest, &claims[count++]))
      return WS__REPLY_FAIL(
          diag, i, "'%s' has no range that can be read; write '%s LOW HIGH'",
          ws__quotable(reply->arena, rest, strlen(rest), 80), what);
  }
  out_reply->claims = claims;
  out_reply->claim_count = count;
  return WS_OK;
}

/* ---- parameters ---------------------------------------------------------- */

/* Ends the line where a remark begins. */
static void cut_remark(char *line) {
  line[strcspn(line, "(#")] = '\0';
  char *slashes = strstr(line, "//");
  if (slashes)
    *slashes = '\0';
}

/* Of "64 -> 128" the 128. */
static const char *last_value(const char *value) {
  const char *arrow = strstr(value, "->");
  return arrow ? ws__skip_blanks(arrow + 2) : value;
}

typedef enum assignment { NONE, GOOD, BAD } assignment;

/* "name=value", "name: value", "name value"; *out_text "name=value". */
static assignment read_assignment(ws_arena *arena, const char *part,
                                  char **out_text) {
  part = ws__skip_blanks(part + strspn(part, " \t@"));
  size_t size = name_size(part);
  const char *sign = ws__skip_blanks(part + size);
  bool equals = *sign == '=', colon = *sign == ':';
  const char *value = ws__skip_blanks(sign + (equals || colon));
  value = last_value(value);
  value += *value == '@';
  size_t value_size =
      *value == '-' ? 1 + name_size(value + 1) : name_size(value);
  bool whole = size && value_size && ws__is_blank(value + value_size);
  bool number = whole && (isdigit((unsigned char)*value) || *value == '-');
  if (whole && (equals || colon || (number && sign > part + size))) {
    *out_text = ws_arena_printf(arena, "%.*s=%.*s", (int)size, part,
                                (int)value_size, value);
    return GOOD;
  }
  return strchr(part, '=') ? BAD : NONE;
}

static ws_status read_parameter_line(const ws__reply_text *reply, int index,
                                     ws_strbuf *text, ws_diag *diag) {
  char *line = plain_item(reply->arena, reply->lines[index].text), *item;
  cut_remark(line);
  for (char *part = line, *end; part; part = end) {
    end = strpbrk(part, ";,");
    if (end)
      *end++ = '\0';
    assignment found = read_assignment(reply->arena, part, &item);
    if (found == BAD)
      return WS__REPLY_FAIL(diag, index,
                            "'%s' is not an assignment; write parameter=value",
                            ws__quotable(reply->arena, part, strlen(part), 80));
    if (found == GOOD)
      ws_strbuf_printf(text, "%s%s", text->size ? ";" : "", item);
  }
  return WS_OK;
}

ws_status ws__read_parameters(const ws__reply_text *reply,
                              const ws__section *section, ws_reply *out_reply,
                              ws_diag *diag) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_status status = WS_OK;
  for (int i = section->begin; i < section->end && status == WS_OK; i++)
    if (is_content(&reply->lines[i]))
      status = read_parameter_line(reply, i, &text, diag);
  out_reply->parameters = ws_arena_strdup(reply->arena, text.data);
  ws_strbuf_deinit(&text);
  return status;
}

/* ---- avenues ------------------------------------------------------------- */

/* A line that begins an item: one with a mark, not indented; without any mark
 * in the section every line is one. */
static bool begins_item(const char *line, bool marked) {
  return !marked ||
         (!isspace((unsigned char)*line) && skip_list_mark(line) != line);
}

ws_status ws__read_avenues(const ws__reply_text *reply,
                           const ws__section *section, ws_reply *out_reply,
                           ws_diag *diag) {
  const char **items =
      ws_arena_alloc(reply->arena, WS__REPLY_ITEMS * sizeof *items);
  int count = 0, begin = -1;
  bool marked = false;
  for (int i = section->begin; i < section->end; i++)
    marked |= begins_item(reply->lines[i].text, true);
  for (int i = section->begin; i <= section->end; i++) {
    bool ends = i == section->end;
    if (!ends && (!is_content(&reply->lines[i]) ||
                  !begins_item(reply->lines[i].text, marked)))
      continue;
    if (begin >= 0)
      items[count++] = skip_list_mark(ws__join_trimmed(reply, begin, i));
    if (!ends && count == WS__REPLY_ITEMS)
      return WS__REPLY_FAIL(diag, i, "more than %d avenues", WS__REPLY_ITEMS);
    begin = i;
  }
  out_reply->avenues = items;
  out_reply->avenue_count = count;
  return WS_OK;
}

/* ---- experiments --------------------------------------------------------- */

typedef enum experiment_key {
  TITLE,
  DESCRIPTION,
  RUBRIC,
  GAIN,
  INNOVATION,
  KEY_COUNT
} experiment_key;

static const char *const key_words[KEY_COUNT] = {
    "title", "description", "rubric", "gain", "innovation"};

/* "- **Title:** TEXT" -> TITLE; *out_value: TEXT as it stands, whose asterisks
 * may be products. */
static experiment_key read_key(ws_arena *arena, const char *line,
                               const char **out_value) {
  const char *text = plain_item(arena, line);
  for (int key = 0; key < KEY_COUNT; key++) {
    size_t size = strlen(key_words[key]);
    if (strncasecmp(text, key_words[key], size))
      continue;
    const char *rest = ws__skip_blanks(text + size);
    if (*rest != ':')
      continue;
    const char *value = strchr(line, ':') + 1; /* the first in both */
    *out_value = ws__skip_blanks(value + strspn(value, "*"));
    return (experiment_key)key;
  }
  return KEY_COUNT;
}

/* The values, each with the lines that follow it; NULL: not given. */
static ws_status read_keys(const ws__reply_text *reply,
                           const ws__section *section, char *values[KEY_COUNT],
                           ws_diag *diag) {
  experiment_key open = KEY_COUNT;
  int begin = section->heading + 1;
  for (int i = begin; i <= section->end; i++) {
    const char *value = "";
    bool ends = i == section->end;
    experiment_key key =
        ends ? KEY_COUNT : read_key(reply->arena, reply->lines[i].text, &value);
    if (!ends && key == KEY_COUNT)
      continue;
    if (open != KEY_COUNT)
      values[open] = ws__join_trimmed(reply, begin, i);
    if (ends)
      break;
    if (values[key] || key == open)
      return WS__REPLY_FAIL(diag, i, "the experiment has a second '%s:'",
                            key_words[key]);
    reply->lines[i].text = ws_arena_strdup(reply->arena, value);
    open = key;
    begin = i;
  }
  return WS_OK;
}

static ws_status fail_key(const ws__section *section, experiment_key key,
                          const char *form, ws_diag *diag) {
  return WS__REPLY_FAIL(diag, section->heading,
                        "the experiment has no '%s:' that can be read; write "
                        "'%s: %s'",
                        key_words[key], key_words[key], form);
}

/* "## experiment 2: TITLE", "## experiment 2 - TITLE"; NULL: neither. */
static char *heading_title(const ws__reply_text *reply,
                           const ws__section *section) {
  if (section->begin == section->heading)
    return reply->lines[section->heading].text;
  return *section->argument ? ws_arena_strdup(reply->arena, section->argument)
                            : NULL;
}

static ws_status fill_experiment(const ws__section *section,
                                 char *const values[KEY_COUNT], ws_arena *arena,
                                 ws_reply_experiment *out, ws_diag *diag) {
  for (int key = TITLE; key <= DESCRIPTION; key++)
    if (!values[key] || !*values[key])
      return fail_key(section, (experiment_key)key, "TEXT", diag);
  out->title = values[TITLE];
  out->description = values[DESCRIPTION];
  out->rubric = values[RUBRIC] ? values[RUBRIC] : "";
  const char *gain = values[GAIN] ? plain_text(arena, values[GAIN]) : "";
  if (!ws__read_range(&gain, true, &out->gain_low, &out->gain_high))
    return fail_key(section, GAIN, "LOW HIGH", diag);
  const char *innovation =
      values[INNOVATION] ? plain_text(arena, values[INNOVATION]) : "";
  if (!read_number(&innovation, &out->innovation) || out->innovation < 0 ||
      out->innovation > 100)
    return fail_key(section, INNOVATION, "0 to 100", diag);
  return WS_OK;
}

ws_status ws__read_experiment(const ws__reply_text *reply,
                              const ws__section *section, ws_reply *out_reply,
                              ws_diag *diag) {
  ws_reply_experiment *items = (ws_reply_experiment *)out_reply->experiments;
  if (!items)
    items = ws_arena_alloc(reply->arena, WS__REPLY_ITEMS * sizeof *items);
  if (out_reply->experiment_count == WS__REPLY_ITEMS)
    return WS__REPLY_FAIL(diag, section->heading, "more than %d experiments",
                          WS__REPLY_ITEMS);
  char *values[KEY_COUNT] = {NULL};
  WS_TRY(read_keys(reply, section, values, diag));
  if (!values[TITLE])
    values[TITLE] = heading_title(reply, section);
  out_reply->experiments = items;
  return fill_experiment(section, values, reply->arena,
                         &items[out_reply->experiment_count++], diag);
}
