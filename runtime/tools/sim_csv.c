/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Rows of measured times: each is a call of `wavesmith sim`, its columns are
 * named like the options.
 */
#include "sim_compare.h"
#include "tools.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef enum target { OF_OPTIONS, OF_KERNEL, OF_ROW, A_TIME } target;
#define OPTION(member) OF_OPTIONS, offsetof(sim_options, member)
#define KERNEL(member) OF_KERNEL, offsetof(sim_kernel, member)
#define ROW(member) OF_ROW, offsetof(sim_row, member)
#define TIME(member) A_TIME, offsetof(sim_row, member)
static const struct column {
  const char *name;
  target target;
  size_t offset; /* of a text there, of a time's number */
} columns[] = {{"us", TIME(us)},
               {"simulated_us", TIME(simulated_us)},
               {"report", ROW(report)},
               {"family", ROW(family)},
               {"group", ROW(group)},
               {"part", ROW(part)},
               {"residency", ROW(residency)},
               {"device", OPTION(device)},
               {"template", OPTION(template_file)},
               {"archive", OPTION(archive)},
               {"candidate", OPTION(candidate_id)},
               {"set", OPTION(set)},
               {"variant", OPTION(variants)},
               {"file", OPTION(file)},
               {"kernel", KERNEL(name)},
               {"grid", KERNEL(grid)},
               {"block", KERNEL(block)},
               {"args", KERNEL(args)},
               {"lds", KERNEL(lds)},
               {"workspace", OPTION(workspace)},
               {"problem", OPTION(problem)},
               {"layout", OPTION(layout)},
               {"shape", OPTION(shape)},
               {"seed", OPTION(seed)}};
enum { COLUMNS = sizeof columns / sizeof columns[0], MOST_FIELDS = 64 };

typedef struct reader {
  ws_arena *arena;
  const char *path;
  char *at;                                   /* the rest of the text */
  int line;                                   /* of the record read last */
  int next;                                   /* of the next one */
  const struct column *of_field[MOST_FIELDS]; /* NULL: left alone */
  int field_count;
  ws_diag *diag;
} reader;

static ws_status fail(const reader *in, const char *what, const char *text) {
  return ws_fail(in->diag, WS_INPUT, in->path, in->line, "%s%s%s", what,
                 text ? ": " : "", text ? text : "");
}

/* The next field, in place; its end is at *out_end (',', '\n' or 0). */
static ws_status next_field(reader *in, char **out, char *out_end) {
  char *to = in->at;
  *out = to;
  if (*in->at == '"') {
    in->at++;
    while (*in->at && !(in->at[0] == '"' && in->at[1] != '"')) {
      in->at += *in->at == '"'; /* "" is a quote */
      in->next += *in->at == '\n';
      *to++ = *in->at++;
    }
    if (!*in->at)
      return fail(in, "a quote has no end", NULL);
    in->at++;
  } else {
    to += strcspn(in->at, ",\r\n");
    in->at = to;
  }
  in->at += *in->at == '\r';
  *out_end = *in->at;
  if (*out_end && *out_end != ',' && *out_end != '\n')
    return fail(in, "a field goes on after its quote", NULL);
  in->at += *out_end != 0;
  *to = 0;
  return WS_OK;
}

/* count 0: the text has ended. */
static ws_status next_record(reader *in, char *fields[MOST_FIELDS],
                             int *out_count) {
  char end = ',';
  *out_count = 0;
  while (*in->at == '\n' || *in->at == '\r') /* empty lines */
    in->next += *in->at++ == '\n';
  in->line = in->next;
  if (!*in->at)
    return WS_OK;
  while (end == ',') {
    if (*out_count == MOST_FIELDS)
      return fail(in, "more than 64 fields", NULL);
    WS_TRY(next_field(in, &fields[(*out_count)++], &end));
  }
  in->next += end == '\n';
  return WS_OK;
}

static const struct column *find_column(const char *name) {
  for (int c = 0; c < COLUMNS; c++)
    if (!strcmp(columns[c].name, name))
      return &columns[c];
  return NULL;
}

static ws_status read_head(reader *in) {
  char *names[MOST_FIELDS];
  bool has_time = false;
  WS_TRY(next_record(in, names, &in->field_count));
  for (int f = 0; f < in->field_count; f++) {
    in->of_field[f] = find_column(names[f]);
    has_time |= in->of_field[f] == columns;
    for (int before = 0; before < f && in->of_field[f]; before++)
      if (in->of_field[before] == in->of_field[f])
        return fail(in, "a column is there twice", names[f]);
  }
  return has_time ? WS_OK
                  : fail(in,
                         "the first line names no column 'us'; "
                         "docs/compare.md has the columns",
                         NULL);
}

static ws_status take_time(const reader *in, const struct column *column,
                           const char *text, sim_row *row) {
  char *end;
  const double us = strtod(text, &end);
  if (end == text || *end || !(us > 0) || isinf(us))
    return ws_fail(in->diag, WS_INPUT, in->path, in->line,
                   "'%s' is no time in microseconds: %s", column->name, text);
  memcpy((char *)row + column->offset, &us, sizeof us);
  return WS_OK;
}

static ws_status take_field(const reader *in, const struct column *column,
                            char *text, sim_row *row) {
  if (!column || (!*text && column != columns)) /* the first, us, is needed */
    return WS_OK;
  if (column->target == A_TIME)
    return take_time(in, column, text, row);
  void *object = column->target == OF_ROW      ? (void *)row
                 : column->target == OF_KERNEL ? (void *)row->options.kernels
                                               : (void *)&row->options;
  memcpy((char *)object + column->offset, &text, sizeof text);
  return WS_OK;
}

static bool is_residency(const char *word) {
  return !word || !strcmp(word, "cold") || !strcmp(word, "warm") ||
         !strcmp(word, "flushed");
}

static ws_status check_subject(const reader *in, const sim_row *row) {
  const sim_options *o = &row->options;
  ws_diag why;
  if (row->report && (o->file || o->template_file || o->archive))
    return fail(in, "a row has a report, or says what to run", NULL);
  if (!row->report && row->simulated_us > 0)
    return fail(in, "'simulated_us' needs its report", NULL);
  if (!row->report && sim_options_check(o, &why) != WS_OK)
    return fail(in, why.text, NULL);
  return WS_OK;
}

static ws_status read_row(const reader *in, const sim_options *base,
                          char *fields[], int count, sim_row *out) {
  *out = (sim_row){.options = *base, .family = "", .line = in->line};
  if (count != in->field_count)
    return fail(in, "the line has not as many fields as the first", NULL);
  for (int f = 0; f < count; f++)
    WS_TRY(take_field(in, in->of_field[f], fields[f], out));
  out->options.kernel_count = out->options.kernels[0].name != NULL;
  if (!is_residency(out->residency))
    return fail(in, "'residency' is cold, warm or flushed", out->residency);
  return check_subject(in, out);
}

ws_status sim_read_csv(ws_arena *arena, const sim_options *base,
                       const char *path, sim_row **out_rows, int *out_count,
                       ws_diag *diag) {
  reader in = {.arena = arena, .path = path, .next = 1, .diag = diag};
  char *fields[MOST_FIELDS];
  size_t size;
  int count, capacity = 0;
  WS_TRY(ws_file_read(arena, path, &in.at, &size, diag));
  in.line = 1;
  if (memchr(in.at, 0, size))
    return fail(&in, "this is no text", NULL);
  WS_TRY(read_head(&in));
  for (*out_count = 0, *out_rows = NULL;;) {
    WS_TRY(next_record(&in, fields, &count));
    if (!count)
      break;
    if (*out_count == capacity) {
      sim_row *larger =
          ws_arena_alloc(arena, sizeof *larger * (size_t)(2 * capacity + 64));
      if (capacity)
        memcpy(larger, *out_rows, sizeof *larger * (size_t)capacity);
      *out_rows = larger;
      capacity = 2 * capacity + 64;
    }
    WS_TRY(read_row(&in, base, fields, count, &(*out_rows)[*out_count]));
    ++*out_count;
  }
  return *out_count ? WS_OK : fail(&in, "there is no row", NULL);
}
