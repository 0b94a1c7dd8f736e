/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shapes and the names of their dimensions. Names are kept once in a list that
 * only grows: a process meets as many as it meets problems.
 */
#include "wavesmith/shape.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

typedef struct kept_dims {
  ws_dims dims;
  char *text;
  struct kept_dims *next;
} kept_dims;
static kept_dims *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_named(const ws_dims *dims, const char *const *names, int count) {
  if (dims->count != count)
    return false;
  for (int i = 0; i < count; i++)
    if (strcmp(dims->names[i], names[i]))
      return false;
  return true;
}

static kept_dims *keep(const char *const *names, int count) {
  ws_strbuf text;
  kept_dims *one = calloc(1, sizeof *one);
  WS_ASSERT(one && "out of memory");
  ws_strbuf_init(&text);
  for (int i = 0; i < count; i++) {
    one->dims.names[i] = strdup(names[i]);
    WS_ASSERT(one->dims.names[i] && "out of memory");
    ws_strbuf_printf(&text, "%s%s", i ? "," : "", names[i]);
  }
  one->dims.count = count;
  one->text = strdup(text.data);
  ws_strbuf_deinit(&text);
  one->next = kept;
  return kept = one;
}

const ws_dims *ws_dims_of(const char *const *names, int count) {
  kept_dims *found;
  WS_ASSERT(count <= WS_MAX_DIMS);
  pthread_mutex_lock(&lock);
  for (found = kept; found && !is_named(&found->dims, names, count);)
    found = found->next;
  if (!found)
    found = keep(names, count);
  pthread_mutex_unlock(&lock);
  return &found->dims;
}

int ws_dims_index(const ws_dims *dims, const char *name) {
  for (int i = 0; i < dims->count; i++)
    if (!strcmp(dims->names[i], name))
      return i;
  return -1;
}

const char *ws_dims_text(const ws_dims *dims) {
  return ((const kept_dims *)dims)->text; /* its first member */
}

/* ---- shapes ---- */

ws_shape ws_shape_of(const ws_dims *dims, const int64_t *sizes) {
  ws_shape shape = {.dims = dims};
  memcpy(shape.size, sizes, sizeof *sizes * (size_t)dims->count);
  return shape;
}

bool ws_shape_same(const ws_shape *a, const ws_shape *b) {
  return a->dims == b->dims && !memcmp(a->size, b->size, sizeof a->size);
}

bool ws_shape_same_group(const ws_shape *a, const ws_shape *b) {
  return !memcmp(a->size + 1, b->size + 1, sizeof a->size - sizeof *a->size);
}

int ws_shape_number_groups(const ws_shape *shapes, int count, int *out_group) {
  int groups = 0;
  for (int s = 0; s < count; s++) {
    int other = 0;
    while (!ws_shape_same_group(&shapes[other], &shapes[s]))
      other++;
    out_group[s] = other < s ? out_group[other] : groups++;
  }
  return groups;
}

int ws_shape_compare(const ws_shape *a, const ws_shape *b) {
  for (int i = 0; i < WS_MAX_DIMS; i++)
    if (a->size[i] != b->size[i])
      return a->size[i] < b->size[i] ? -1 : 1;
  return 0;
}

double ws_shape_product(const ws_shape *shape) {
  double product = 1;
  for (int i = 0; shape->dims && i < shape->dims->count; i++)
    product *= (double)shape->size[i];
  return product;
}

/* ---- text ---- */

static const char *print(const ws_shape *shape, bool named, char *out) {
  size_t length = 0;
  *out = '\0';
  for (int i = 0; shape->dims && i < shape->dims->count; i++) {
    length += (size_t)snprintf(
        out + length, WS_SHAPE_TEXT - length, "%s%s%s%" PRId64, i ? "," : "",
        named ? shape->dims->names[i] : "", named ? "=" : "", shape->size[i]);
    WS_ASSERT(length < WS_SHAPE_TEXT);
  }
  return out;
}

const char *ws_shape_print(const ws_shape *shape, char *out) {
  return print(shape, false, out);
}

const char *ws_shape_print_named(const ws_shape *shape, char *out) {
  return print(shape, true, out);
}

const char *ws_shape_text(ws_arena *arena, const ws_shape *shape) {
  char text[WS_SHAPE_TEXT];
  return ws_arena_strdup(arena, print(shape, false, text));
}

const char *ws_shape_named(ws_arena *arena, const ws_shape *shape) {
  char text[WS_SHAPE_TEXT];
  return ws_arena_strdup(arena, print(shape, true, text));
}

enum { MAX_NAME = 64 };
static const int64_t most_size = INT64_C(1) << 53;

static void skip_blanks(const char **at) {
  while (**at == ' ')
    (*at)++;
}

/* "name=" if there is one; the name is "" else. */
static bool read_name(const char **at, char name[MAX_NAME]) {
  size_t length = strspn(*at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
                              "WXYZ0123456789_");
  const char *behind = *at + length;
  *name = '\0';
  skip_blanks(&behind);
  if (*behind != '=')
    return true;
  if (!length || length >= MAX_NAME)
    return false;
  memcpy(name, *at, length);
  name[length] = '\0';
  *at = behind + 1;
  skip_blanks(at);
  return true;
}

static bool read_size(const char **at, int64_t *out) {
  char *end;
  if (**at < '0' || **at > '9')
    return false;
  errno = 0;
  *out = strtoll(*at, &end, 10);
  *at = end;
  skip_blanks(at);
  return !errno && *out >= 1 && *out <= most_size;
}

/* One part and the ',' behind it, if more is to come. */
static bool read_part(const char **at, char name[MAX_NAME], int64_t *out_size,
                      bool *out_more) {
  skip_blanks(at);
  if (!read_name(at, name) || !read_size(at, out_size))
    return false;
  *out_more = **at == ',';
  *at += *out_more;
  return true;
}

static bool parse(const ws_dims *dims, const char **text, ws_shape *out) {
  const char *at = *text;
  bool more = true, named = false;
  int count = 0;
  unsigned seen = 0;
  *out = (ws_shape){.dims = dims};
  for (; more && count < dims->count; count++) {
    char name[MAX_NAME];
    int64_t size;
    if (!read_part(&at, name, &size, &more) ||
        (count && named != (*name != '\0')))
      return false;
    named = *name != '\0';
    int dim = named ? ws_dims_index(dims, name) : count;
    if (dim < 0 || seen >> dim & 1)
      return false;
    seen |= 1U << dim;
    out->size[dim] = size;
  }
  if (count < dims->count || more || (*at && *at != ';'))
    return false;
  *text = at + (*at == ';');
  return true;
}

ws_status ws_shape_parse(const ws_dims *dims, const char **text, ws_shape *out,
                         ws_diag *diag) {
  if (parse(dims, text, out))
    return WS_OK;
  return ws_fail(diag, WS_INPUT, NULL, 0,
                 "'%.60s' is no shape %s: sizes from 1 as 'A,B', or by name "
                 "as '%s=A,...', several with ';' between",
                 *text, ws_dims_text(dims), dims->names[0]);
}

bool ws_shape_read(const char *text, ws_shape *out) {
  char names[WS_MAX_DIMS][MAX_NAME];
  const char *pointers[WS_MAX_DIMS];
  int64_t sizes[WS_MAX_DIMS];
  int count = 0;
  for (bool more = true; more; count++)
    if (count == WS_MAX_DIMS ||
        !read_part(&text, names[count], &sizes[count], &more) || !*names[count])
      return false;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < i; j++)
      if (!strcmp(names[i], names[j]))
        return false;
    pointers[i] = names[i];
  }
  if (!*text)
    *out = ws_shape_of(ws_dims_of(pointers, count), sizes);
  return !*text;
}

int ws_shape_bindings(const ws_shape *shape, ws_binding *out) {
  int count = shape->dims ? shape->dims->count : 0;
  for (int i = 0; i < count; i++)
    out[i] = (ws_binding){shape->dims->names[i], shape->size[i]};
  return count;
}

int64_t ws_common_divisor(int64_t a, int64_t b) {
  while (b) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
