/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A line is a JSON object with a shape and how often it was launched since the
 * last line of that shape, so lines are added up, also those of several
 * processes and of files that were put together.
 */
#include "shape_log.h"
#include "wavesmith/base.h"
#include "wavesmith/json_fields.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

typedef struct logged {
  const char *problem, *layout;
  ws_shape shape;
  int64_t count;
} logged;

static const ws_json_field logged_fields[] = {
    {WS_JSON_TEXT(logged, problem)},
    {WS_JSON_TEXT(logged, layout)},
    {WS_JSON_SHAPE(logged, shape)},
    {WS_JSON_INT(logged, count, 1, INT64_C(1) << 53)}};
static const ws_json_struct logged_json = WS_JSON_STRUCT(logged, logged_fields);

typedef struct shape_log {
  const ws_problem *problem;
  const char *layout; /* NULL: any */
  ws_arena *arena;
  const char *path;
  logged *items;
  int count, room;
  int lines, others; /* of other problems and layouts */
} shape_log;

/* ---- lines ---- */

static ws_status parse_line(const shape_log *log, const char *text, size_t size,
                            logged *out, ws_diag *diag) {
  cJSON *json = ws_json_parse(text, size, NULL, diag);
  if (!json)
    return WS_INPUT;
  ws_status status =
      ws_json_read(&logged_json, log->arena, json, "the line", out, diag);
  cJSON_Delete(json);
  return status;
}

static void add(shape_log *log, const logged *item) {
  log->items = ws_arena_grow(log->arena, log->items, sizeof *item, log->count,
                             &log->room);
  log->items[log->count++] = *item;
}

static ws_status take_line(shape_log *log, const char *text, size_t size,
                           ws_diag *diag) {
  logged item;
  WS_TRY(parse_line(log, text, size, &item, diag));
  log->lines++;
  if (strcmp(item.problem, log->problem->name) ||
      (log->layout && strcmp(item.layout, log->layout))) {
    log->others++;
    return WS_OK;
  }
  WS_TRY(ws_problem_check_shape(log->problem, &item.shape, diag));
  add(log, &item);
  return WS_OK;
}

static bool is_blank(const char *text, size_t size) {
  return strspn(text, " \t\r\n") >= size;
}

static ws_status take_lines(shape_log *log, const char *text, size_t size,
                            ws_diag *diag) {
  const char *const end = text + size;
  for (int number = 1; text < end; number++) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    const size_t length = (size_t)((newline ? newline : end) - text);
    ws_diag cause;
    ws_status status =
        is_blank(text, length) ? WS_OK : take_line(log, text, length, &cause);
    if (status != WS_OK && newline)
      return ws_fail(diag, WS_INPUT, log->path, number,
                     "not a logged shape: %s; take the line out", cause.text);
    if (status != WS_OK)
      ws_log(WS_LOG_WARN, "%s:%d: the last line is cut off and passed over",
             log->path, number);
    text += length + (newline != NULL);
  }
  return WS_OK;
}

/* ---- shapes ---- */

static int by_shape(const void *a, const void *b) {
  return ws_shape_compare(&((const logged *)a)->shape,
                          &((const logged *)b)->shape);
}

static int by_count(const void *a, const void *b) {
  const logged *one = a, *other = b;
  if (one->count != other->count)
    return one->count > other->count ? -1 : 1;
  return by_shape(a, b);
}

static void merge(shape_log *log) {
  int kept = 0;
  qsort(log->items, (size_t)log->count, sizeof *log->items, by_shape);
  for (int i = 0; i < log->count; i++) {
    logged *last = kept ? &log->items[kept - 1] : NULL;
    if (!last || by_shape(last, &log->items[i]))
      log->items[kept++] = log->items[i];
    else if (__builtin_add_overflow(last->count, log->items[i].count,
                                    &last->count))
      last->count = INT64_MAX;
  }
  log->count = kept;
  qsort(log->items, (size_t)log->count, sizeof *log->items, by_count);
}

static ws_status check_found(const shape_log *log, ws_diag *diag) {
  if (log->count && log->others)
    ws_log(WS_LOG_WARN,
           "%s: %d of %d lines are of other problems or layouts than %s, %s",
           log->path, log->others, log->lines, log->problem->name,
           log->layout ? log->layout : "any layout");
  if (log->count)
    return WS_OK;
  if (!log->lines)
    return ws_fail(diag, WS_INPUT, log->path, 0, "holds no shapes");
  return ws_fail(diag, WS_INPUT, log->path, 0,
                 "none of %d lines is of %s, layout %s", log->lines,
                 log->problem->name, log->layout ? log->layout : "any");
}

ws_status ws__shape_log_read(const ws_problem *problem, const char *layout,
                             ws_arena *arena, const char *path,
                             const ws_shape **out_shapes, int *out_count,
                             ws_diag *diag) {
  shape_log log = {
      .problem = problem, .layout = layout, .arena = arena, .path = path};
  char *text;
  size_t size;
  WS_TRY(ws_file_read(arena, path, &text, &size, diag));
  WS_TRY(take_lines(&log, text, size, diag));
  WS_TRY(check_found(&log, diag));
  merge(&log);
  ws_shape *shapes = ws_arena_alloc(arena, sizeof *shapes * (size_t)log.count);
  for (int i = 0; i < log.count; i++)
    shapes[i] = log.items[i].shape;
  *out_shapes = shapes;
  *out_count = log.count;
  return WS_OK;
}
