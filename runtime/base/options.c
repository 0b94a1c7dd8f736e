/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reading a command's options by its table. Not getopt_long: that takes any
 * unambiguous beginning of a name, so that a new option changes what an old
 * script means.
 */
#include "wavesmith/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */
enum { LONGEST_NAME = 64 };

static int least(int a, int b) { return a < b ? a : b; }

/* Letters to be put in, taken out, replaced or swapped with the next
 * (Damerau and Levenshtein, without overlaps). */
static int distance(const char *a, const char *b) {
  int rows[3][LONGEST_NAME + 1];
  int a_size = (int)strlen(a), b_size = (int)strlen(b);
  if (a_size > LONGEST_NAME || b_size > LONGEST_NAME)
    return LONGEST_NAME;
  for (int j = 0; j <= b_size; j++)
    rows[0][j] = j;
  for (int i = 1; i <= a_size; i++) {
    int *row = rows[i % 3], *up = rows[(i + 2) % 3], *up2 = rows[(i + 1) % 3];
    row[0] = i;
    for (int j = 1; j <= b_size; j++) {
      row[j] = least(least(up[j], row[j - 1]) + 1,
                     up[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = least(row[j], up2[j - 2] + 1);
    }
  }
  return rows[a_size % 3][b_size];
}

/* What begins with text is near too, however much of it is missing. */
const char *ws_nearest_name(const char *text, const char *const *names,
                            int count) {
  const char *nearest = NULL;
  size_t size = strlen(text);
  int most = size < 3 ? 1 : size < 8 ? 2 : 3, best = most + 1;
  for (int i = 0; i < count; i++) {
    int steps = size >= 2 && !strncmp(names[i], text, size)
                    ? 1
                    : distance(text, names[i]);
    if (steps < best) {
      best = steps;
      nearest = names[i];
    }
  }
  return nearest;
}

/* ---- values ---- */
static ws_status wrong(const ws_option *option, const char *value,
                       const char *what, ws_diag *diag) {
  char range[96] = "";
  if (option->high > 0 && option->high < 9e15)
    snprintf(range, sizeof range, " from %.10g to %.10g", option->low,
             option->high);
  else if (option->kind != WS_OPTION_SEED)
    snprintf(range, sizeof range, " from %.10g", option->low);
  return ws_fail(diag, WS_USAGE, NULL, 0, "--%s '%s' is not %s%s", option->name,
                 value, what, range);
}

/* high 0: no limit. */
static ws_status read_integer(const ws_option *option, const char *value,
                              int64_t *out, ws_diag *diag) {
  char *end;
  errno = 0;
  *out = strtoll(value, &end, 10);
  bool good = end != value && !*end && !errno && (double)*out >= option->low &&
              (option->high == 0 || (double)*out <= option->high);
  return good ? WS_OK : wrong(option, value, "an integer", diag);
}

static ws_status read_int(const ws_option *option, const char *value, void *out,
                          ws_diag *diag) {
  int64_t number;
  WS_TRY(read_integer(option, value, &number, diag));
  *(int *)out = (int)number;
  return WS_OK;
}

static ws_status read_int64(const ws_option *option, const char *value,
                            void *out, ws_diag *diag) {
  return read_integer(option, value, out, diag);
}

static ws_status read_seed(const ws_option *option, const char *value,
                           void *out, ws_diag *diag) {
  char *end;
  errno = 0;
  *(uint64_t *)out = strtoull(value, &end, 10);
  if (*value < '0' || *value > '9' || *end || errno)
    return wrong(option, value, "an integer from 0", diag);
  return WS_OK;
}

static ws_status read_real(const ws_option *option, const char *value,
                           void *out, ws_diag *diag) {
  char *end;
  double number = strtod(value, &end);
  *(double *)out = number;
  bool good = end != value && !*end && isfinite(number) &&
              number >= option->low &&
              (option->high == 0 || number <= option->high);
  return good ? WS_OK : wrong(option, value, "a number", diag);
}

static ws_status read_text(const ws_option *option, const char *value,
                           void *out, ws_diag *diag) {
  (void)option, (void)diag;
  *(const char **)out = value;
  return WS_OK;
}

static ws_status leave(const ws_option *option, const char *value, void *out,
                       ws_diag *diag) {
  (void)option, (void)value, (void)out, (void)diag;
  return WS_OK;
}

static ws_status read_flag(const ws_option *option, const char *value,
                           void *out, ws_diag *diag) {
  (void)option, (void)value, (void)diag;
  *(bool *)out = true;
  return WS_OK;
}

ws_status ws_option_read(const ws_option *option, const char *value, void *out,
                         ws_diag *diag) {
  static ws_option_reader *const readers[] = {
      [WS_OPTION_FLAG] = read_flag, [WS_OPTION_TEXT] = read_text,
      [WS_OPTION_INT] = read_int,   [WS_OPTION_INT64] = read_int64,
      [WS_OPTION_SEED] = read_seed, [WS_OPTION_REAL] = read_real,
      [WS_OPTION_TAKEN] = leave};
  if (option->kind == WS_OPTION_READ)
    return option->read(option, value, out, diag);
  return readers[option->kind](option, value, out, diag);
}

/* ---- options ---- */
static const ws_option *find(const ws_command *command, const char *name,
                             size_t size) {
  for (const ws_option *option = command->options; option->help; option++) {
    if (option->kind != WS_OPTION_GROUP && strlen(option->name) == size &&
        !memcmp(option->name, name, size))
      return option;
  }
  return NULL;
}

static ws_status unknown(const ws_command *command, const char *given,
                         ws_diag *diag) {
  enum { MOST = 128 };
  const char *names[MOST];
  int count = 0;
  char name[LONGEST_NAME + 1];
  snprintf(name, sizeof name, "%.*s",
           (int)strcspn(given + strspn(given, "-"), "="),
           given + strspn(given, "-"));
  for (const ws_option *option = command->options;
       option->help && count < MOST - 1; option++)
    if (option->kind != WS_OPTION_GROUP)
      names[count++] = option->name;
  names[count++] = "help";
  const char *nearest = ws_nearest_name(name, names, count);
  if (nearest)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "'%.*s' is unknown; is --%s meant? `%s --help` lists the "
                   "options",
                   (int)strcspn(given, "="), given, nearest, command->program);
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "'%.*s' is unknown; `%s --help` lists the options",
                 (int)strcspn(given, "="), given, command->program);
}

/* *at: the index of the option; of its value afterwards. */
static ws_status take_option(const ws_command *command, int argc, char **argv,
                             int *at, void *out, ws_diag *diag) {
  const char *given = argv[*at], *name = given + 2;
  size_t size = strcspn(name, "=");
  const char *value = name[size] ? name + size + 1 : NULL;
  const ws_option *option =
      strncmp(given, "--", 2) ? NULL : find(command, name, size);
  if (!option)
    return unknown(command, given, diag);
  if (!option->argument && value)
    return ws_fail(diag, WS_USAGE, NULL, 0, "'--%s' takes no value",
                   option->name);
  if (option->argument && !value && ++*at == argc)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "'--%s' lacks its value; `%s --help` lists the options",
                   option->name, command->program);
  void *place =
      option->kind == WS_OPTION_READ ? out : (char *)out + option->offset;
  return ws_option_read(option, value ? value : argv[*at], place, diag);
}

ws_status ws_options_parse(const ws_command *command, int argc, char **argv,
                           void *out, ws_words *out_words, ws_diag *diag) {
  bool ended = false;
  *out_words = (ws_words){.items = argv + 1};
  for (int i = 1; i < argc; i++) {
    const char *given = argv[i];
    if (ended || given[0] != '-' || !given[1])
      out_words->items[out_words->count++] = argv[i];
    else if (!strcmp(given, "--"))
      ended = true;
    else if (!strcmp(given, "--help"))
      out_words->help = true;
    else
      WS_TRY(take_option(command, argc, argv, &i, out, diag));
    if (out_words->help)
      return WS_OK;
  }
  return WS_OK;
}
