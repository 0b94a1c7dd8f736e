/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table as a device. Rows are kept as keys (sizes, then the parameter
 * columns in their order) sorted for search; each maps to total_us_min.
 */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COLUMNS = WS_MAX_DIMS + WS_TEMPLATE_MAX_PARAMS };
static const char size_prefix[] = "dim:";
static const char time_column[] = "total_us_min";

struct ws__table {
  const char *path, *provenance;
  const char *names[MAX_COLUMNS]; /* of the key */
  int key_count;
  const ws_dims *dims; /* the first columns */
  int time_field;      /* index in a line */
  int64_t *keys;       /* key_count of each row */
  double *us;          /* by row; sorted with keys */
  int count;
};

static int64_t *key_of(const ws__table *table, int row) {
  return &table->keys[(size_t)row * (size_t)table->key_count];
}

/* ---- reading ---- */
/* Cuts *rest at its next separator; NULL at the end. */
static char *next_field(char **rest, const char *separator) {
  return *rest ? strsep(rest, separator) : NULL;
}

static bool is_time(const char *name) { return strstr(name, "_us") != NULL; }

/* The dimension that a column is of; NULL: none. Tables from before named
 * dimensions begin with m, n, k. */
static const char *dimension_of(const char *name, int field) {
  static const char *const old[] = {"m", "n", "k"};
  const size_t size = sizeof size_prefix - 1;
  if (!strncmp(name, size_prefix, size))
    return name + size;
  return field < 3 && !strcmp(name, old[field]) ? name : NULL;
}

static ws_status settle_dims(ws__table *table, ws_diag *diag) {
  const char *names[WS_MAX_DIMS];
  int count = 0;
  for (; count < table->key_count && count < WS_MAX_DIMS; count++) {
    const char *name = dimension_of(table->names[count], count);
    if (!name)
      break;
    names[count] = name;
  }
  /* Of those from before, all three. */
  const bool old =
      count && strncmp(table->names[0], size_prefix, sizeof size_prefix - 1);
  if (old && count < 3)
    return ws_fail(diag, WS_INPUT, table->path, 1,
                   "column %d, '%s': a table has dimensions, then parameters, "
                   "then times in ..._us...",
                   count + 1,
                   count < table->key_count ? table->names[count] : "");
  if (!count)
    return ws_fail(diag, WS_INPUT, table->path, 1,
                   "a table begins with its dimensions, as columns %sNAME",
                   size_prefix);
  table->dims = ws_dims_of(names, count);
  return WS_OK;
}

/* Columns: dimensions; parameters; times. */
static ws_status read_heading(ws__table *table, ws_arena *arena, char *line,
                              ws_diag *diag) {
  int field = 0;
  table->time_field = -1;
  for (char *rest = line, *name; (name = next_field(&rest, ",")); field++) {
    if (is_time(name)) {
      if (!strcmp(name, time_column))
        table->time_field = field;
      continue;
    }
    bool fits = table->key_count == field && field < MAX_COLUMNS && *name;
    if (!fits)
      return ws_fail(
          diag, WS_INPUT, table->path, 1,
          "column %d, '%s': a table has dimensions, then parameters, "
          "then times in ..._us...",
          field + 1, name);
    table->names[table->key_count++] = ws_arena_strdup(arena, name);
  }
  if (table->time_field < 0)
    return ws_fail(diag, WS_INPUT, table->path, 1, "there is no column %s",
                   time_column);
  return settle_dims(table, diag);
}

static ws_status read_row(ws__table *table, char *line, int number,
                          ws_diag *diag) {
  int64_t *key = key_of(table, table->count);
  int field = 0;
  bool timed = false;
  for (char *rest = line, *text; (text = next_field(&rest, ",")); field++) {
    char *end = text;
    double us = 0;
    if (field < table->key_count)
      key[field] = strtoll(text, &end, 10);
    else
      us = strtod(text, &end);
    if (end == text || *end || !(us >= 0))
      return ws_fail(diag, WS_INPUT, table->path, number,
                     "column %d: '%s' is not a number", field + 1, text);
    if (field == table->time_field) {
      table->us[table->count] = us;
      timed = us > 0 && isfinite(us);
    }
  }
  if (!timed)
    return ws_fail(diag, WS_INPUT, table->path, number,
                   "the row ends before %s, or its time is 0", time_column);
  table->count++;
  return WS_OK;
}

/* ---- sorted rows ---- */
static int compare_keys(const int64_t *a, const int64_t *b, int count) {
  for (int i = 0; i < count; i++)
    if (a[i] != b[i])
      return a[i] < b[i] ? -1 : 1;
  return 0;
}

typedef struct row {
  const int64_t *key;
  double us;
  int key_count;
} row;

static int compare_rows(const void *a, const void *b) {
  const row *x = a, *y = b;
  return compare_keys(x->key, y->key, x->key_count);
}

static const char *row_shape_text(const ws__table *table, ws_arena *arena,
                                  const int64_t *key) {
  const ws_shape shape = ws_shape_of(table->dims, key);
  return ws_shape_text(arena, &shape);
}

static ws_status sort(ws__table *table, ws_arena *arena, ws_diag *diag) {
  size_t count = (size_t)table->count, width = (size_t)table->key_count;
  row *rows = ws_arena_alloc(arena, sizeof *rows * (count + 1));
  int64_t *keys = ws_arena_alloc(arena, sizeof *keys * (count * width + 1));
  for (size_t i = 0; i < count; i++)
    rows[i] = (row){&table->keys[i * width], table->us[i], table->key_count};
  qsort(rows, count, sizeof *rows, compare_rows);
  for (size_t i = 0; i < count; i++) {
    memcpy(&keys[i * width], rows[i].key, sizeof *keys * width);
    table->us[i] = rows[i].us;
    if (i && compare_rows(&rows[i - 1], &rows[i]) == 0)
      return ws_fail(diag, WS_INPUT, table->path, 0,
                     "two rows have the same shape (%s) and parameters",
                     row_shape_text(table, arena, rows[i].key));
  }
  table->keys = keys;
  return WS_OK;
}

ws_status ws__table_read(ws_arena *arena, const char *path,
                         ws__table **out_table, ws_diag *diag) {
  char *rest, *line;
  size_t size;
  WS_TRY(ws_file_read(arena, path, &rest, &size, diag));
  ws__table *table = ws_arena_alloc(arena, sizeof *table);
  const char *slash = strrchr(path, '/');
  table->path = ws_arena_strdup(arena, path);
  table->provenance =
      ws_arena_printf(arena, "table:%s", slash ? slash + 1 : path);
  size_t lines = 1;
  for (size_t i = 0; i < size; i++)
    lines += rest[i] == '\n';
  line = next_field(&rest, "\n");
  line[strcspn(line, "\r")] = '\0';
  WS_TRY(read_heading(table, arena, line, diag));
  table->keys = ws_arena_alloc(arena, sizeof *table->keys * lines *
                                          (size_t)table->key_count);
  table->us = ws_arena_alloc(arena, sizeof *table->us * lines);
  for (int number = 2; (line = next_field(&rest, "\n")); number++) {
    line[strcspn(line, "\r")] = '\0';
    if (*line)
      WS_TRY(read_row(table, line, number, diag));
  }
  *out_table = table;
  return sort(table, arena, diag);
}

/* ---- looking up ---- */
ws_status ws__table_check(const ws__table *table, const ws_template *tmpl,
                          ws_diag *diag) {
  for (int i = table->dims->count; i < table->key_count; i++)
    if (ws_template_param_index(tmpl, table->names[i]) < 0)
      return ws_fail(diag, WS_INPUT, table->path, 1,
                     "column '%s' is no parameter of template %s (%s)",
                     table->names[i], tmpl->name, tmpl->file);
  return WS_OK;
}

double ws__table_us(const ws__table *table, const ws_candidate *candidate,
                    const ws_shape *shape) {
  int64_t key[MAX_COLUMNS];
  if (shape->dims != table->dims)
    return INFINITY;
  memcpy(key, shape->size, sizeof *key * (size_t)shape->dims->count);
  for (int i = table->dims->count; i < table->key_count; i++) {
    int param = ws_template_param_index(candidate->tmpl, table->names[i]);
    if (param < 0)
      return INFINITY;
    key[i] = candidate->values[param];
  }
  int low = 0, high = table->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    int order = compare_keys(key_of(table, middle), key, table->key_count);
    if (order == 0)
      return table->us[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return INFINITY;
}

const char *ws__table_provenance(const ws__table *table) {
  return table->provenance;
}

int ws__table_shapes(const ws__table *table, ws_arena *arena,
                     const ws_shape **out_shapes) {
  ws_shape *shapes =
      ws_arena_alloc(arena, sizeof *shapes * (size_t)(table->count + 1));
  int count = 0;
  for (int i = 0; i < table->count; i++) {
    const ws_shape shape = ws_shape_of(table->dims, key_of(table, i));
    if (!count || !ws_shape_same(&shapes[count - 1], &shape))
      shapes[count++] = shape;
  }
  *out_shapes = shapes;
  return count;
}
