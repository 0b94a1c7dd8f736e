/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Structs as JSON by tables: one writer, one reader. Members mostly come in the
 * table's order, so the reader looks for each where the one before it ended,
 * and searches only when it is not there.
 */
#include "wavesmith/json_fields.h"
#include "json_value.h"
#include "wavesmith/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(int) == sizeof(int32_t) &&
                   sizeof(size_t) == sizeof(int64_t),
               "int and size_t members are integers of 4 and 8 bytes");

static const ws_json_field lone_double[] = {{.type = WS_JSON_IS_DOUBLE}};
static const ws_json_field lone_text[] = {{.type = WS_JSON_IS_TEXT}};
const ws_json_struct ws_json_of_double = WS_JSON_STRUCT(double, lone_double);
static const ws_json_field lone_shape[] = {{.type = WS_JSON_IS_SHAPE}};
const ws_json_struct ws_json_of_shape = WS_JSON_STRUCT(ws_shape, lone_shape);
const ws_json_struct ws_json_of_text = WS_JSON_STRUCT(const char *, lone_text);

static bool is_inline(const ws_json_field *field) {
  return !field->name && field->type == WS_JSON_IS_OBJECT;
}

/* The struct is no object, but the value of its only field. */
static bool is_lone(const ws_json_struct *table) {
  return table->count == 1 && !table->fields[0].name &&
         !is_inline(&table->fields[0]);
}

/* ---- what a struct holds ---- */
static int64_t integer_at(const ws_json_field *field, const void *member) {
  if (field->size == sizeof(int64_t))
    return *(const int64_t *)member;
  if (field->low < 0)
    return *(const int32_t *)member;
  return *(const uint32_t *)member;
}

static int count_of(const ws_json_field *field, const void *base) {
  return *(const int *)((const char *)base + field->count_offset);
}

/* Through memcpy: what it points to has any type. */
static const void *pointer_at(const void *member) {
  const void *pointer;
  memcpy(&pointer, member, sizeof pointer);
  return pointer;
}

static const char *items_of(const ws_json_field *field, const void *member) {
  return field->type == WS_JSON_IS_ROOM ? member : pointer_at(member);
}

static bool is_nothing(const ws_json_field *field, const void *base) {
  const void *member = (const char *)base + field->offset;
  switch (field->type) {
  case WS_JSON_IS_INT:
    return integer_at(field, member) == 0;
  case WS_JSON_IS_DOUBLE:
    return *(const double *)member == 0;
  case WS_JSON_IS_TEXT:
    return !*(const char *const *)member || !**(const char *const *)member;
  case WS_JSON_IS_BOOL:
    return !*(const bool *)member;
  case WS_JSON_IS_SEED:
    return *(const uint64_t *)member == 0;
  case WS_JSON_IS_CHOICE:
    return *(const int *)member == 0;
  case WS_JSON_IS_SHAPE:
    return !((const ws_shape *)member)->dims;
  case WS_JSON_IS_POINTER:
    return !pointer_at(member);
  case WS_JSON_IS_ITEMS:
  case WS_JSON_IS_ROOM:
    return count_of(field, base) == 0;
  case WS_JSON_IS_OBJECT:
    break;
  }
  for (int i = 0; i < field->of->count; i++)
    if (!is_nothing(&field->of->fields[i], member))
      return false;
  return true;
}

/* ---- writing ---- */
static cJSON *struct_to_json(const ws_json_struct *table, const void *base,
                             bool sparse);

static cJSON *items_to_json(const ws_json_field *field, const void *base,
                            bool sparse) {
  cJSON *array = cJSON_CreateArray();
  const char *items = items_of(field, (const char *)base + field->offset);
  int count = count_of(field, base);
  for (int i = 0; i < count; i++)
    WS_ASSERT(cJSON_AddItemToArray(
        array, struct_to_json(field->of, items + (size_t)i * field->of->size,
                              sparse)));
  return array;
}

/* JSON has no infinity, which is what a NaN in the output comes to. */
static cJSON *double_to_json(double value) {
  if (!(value < 1e300))
    value = 1e300;
  return cJSON_CreateNumber(value > -1e300 ? value : -1e300);
}

static cJSON *seed_to_json(uint64_t seed) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, seed);
  return cJSON_CreateString(text);
}

static cJSON *text_to_json(const char *text) {
  return cJSON_CreateString(text ? text : "");
}

static cJSON *choice_to_json(const ws_json_field *field, unsigned choice) {
  return cJSON_CreateString(choice <= field->high ? field->names[choice]
                                                  : "unknown");
}

/* {"rows":16,"cols":4096}: the names live as long as the process. */
static cJSON *shape_to_json(const ws_shape *shape) {
  cJSON *object = cJSON_CreateObject();
  for (int i = 0; shape->dims && i < shape->dims->count; i++)
    WS_ASSERT(
        cJSON_AddItemToObjectCS(object, shape->dims->names[i],
                                cJSON_CreateNumber((double)shape->size[i])));
  return object;
}

static cJSON *field_to_json(const ws_json_field *field, const void *base,
                            bool sparse) {
  const void *member = (const char *)base + field->offset;
  switch (field->type) {
  case WS_JSON_IS_INT:
    return cJSON_CreateNumber((double)integer_at(field, member));
  case WS_JSON_IS_DOUBLE:
    return double_to_json(*(const double *)member);
  case WS_JSON_IS_TEXT:
    return text_to_json(*(const char *const *)member);
  case WS_JSON_IS_BOOL:
    return cJSON_CreateBool(*(const bool *)member);
  case WS_JSON_IS_SEED:
    return seed_to_json(*(const uint64_t *)member);
  case WS_JSON_IS_CHOICE:
    return choice_to_json(field, *(const unsigned *)member);
  case WS_JSON_IS_SHAPE:
    return shape_to_json(member);
  case WS_JSON_IS_OBJECT:
    return struct_to_json(field->of, member, sparse);
  case WS_JSON_IS_POINTER:
    return struct_to_json(field->of, pointer_at(member), sparse);
  case WS_JSON_IS_ITEMS:
  case WS_JSON_IS_ROOM:
    break;
  }
  return items_to_json(field, base, sparse);
}

static void add_members(cJSON *object, const ws_json_struct *table,
                        const void *base, bool sparse) {
  for (int i = 0; i < table->count; i++) {
    const ws_json_field *field = &table->fields[i];
    bool may_lack = field->presence == WS_JSON_LEFT_OUT ||
                    (sparse && field->type == WS_JSON_IS_INT);
    if (is_inline(field))
      add_members(object, field->of, (const char *)base + field->offset,
                  sparse);
    else if (!may_lack || !is_nothing(field, base))
      WS_ASSERT(cJSON_AddItemToObjectCS(object, field->name,
                                        field_to_json(field, base, sparse)));
  }
}

static cJSON *struct_to_json(const ws_json_struct *table, const void *base,
                             bool sparse) {
  sparse |= table->sparse;
  if (is_lone(table))
    return field_to_json(&table->fields[0], base, sparse);
  cJSON *object = cJSON_CreateObject();
  add_members(object, table, base, sparse);
  return object;
}

struct cJSON *ws_json_write(const ws_json_struct *table, const void *value) {
  return struct_to_json(table, value, false);
}

/* ---- reading ---- */
typedef struct reader {
  ws_arena *arena;
  const char *what;
  bool sparse;
  ws_diag *diag;
} reader;

static ws_status read_struct(const reader *outer, const ws_json_struct *table,
                             const cJSON *json, const char *key, void *base);

static ws_status check_range(const reader *in, const ws_json_field *field,
                             const char *key, int64_t value) {
  if (value >= field->low && value <= field->high)
    return WS_OK;
  return ws_fail(in->diag, WS_INPUT, in->what, 0,
                 "'%s' is %" PRId64 ", outside %" PRId64 " to %" PRId64, key,
                 value, field->low, field->high);
}

static ws_status read_integer(const reader *in, const ws_json_field *field,
                              const char *key, const cJSON *json,
                              void *member) {
  int64_t value;
  WS_TRY(ws__json_int(json, key, in->what, &value, in->diag));
  WS_TRY(check_range(in, field, key, value));
  if (field->size == sizeof(int64_t))
    *(int64_t *)member = value;
  else if (field->low < 0)
    *(int32_t *)member = (int32_t)value;
  else
    *(uint32_t *)member = (uint32_t)value;
  return WS_OK;
}

static ws_status read_text(const reader *in, const char *key, const cJSON *json,
                           const char **out) {
  WS_TRY(ws__json_string(json, key, in->what, out, in->diag));
  *out = ws_arena_strdup(in->arena, *out);
  return WS_OK;
}

static ws_status read_bool(const reader *in, const char *key, const cJSON *json,
                           bool *out) {
  WS_TRY(ws__json_expect(json, key, in->what, cJSON_IsBool, "true or false",
                         in->diag));
  *out = cJSON_IsTrue(json);
  return WS_OK;
}

static ws_status read_seed(const reader *in, const char *key, const cJSON *json,
                           uint64_t *out) {
  const char *text;
  char *end;
  WS_TRY(ws__json_string(json, key, in->what, &text, in->diag));
  errno = 0;
  *out = strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && !*end && !errno)
    return WS_OK;
  return ws_fail(in->diag, WS_INPUT, in->what, 0,
                 "'%s' must be a string of decimal digits below 2^64", key);
}

static ws_status read_choice(const reader *in, const ws_json_field *field,
                             const char *key, const cJSON *json, int *out) {
  const char *text;
  WS_TRY(ws__json_string(json, key, in->what, &text, in->diag));
  for (*out = 0; *out <= field->high; ++*out)
    if (!strcmp(field->names[*out], text))
      return WS_OK;
  *out = 0;
  return ws_fail(in->diag, WS_INPUT, in->what, 0, "unknown %s '%.40s'", key,
                 text);
}

static ws_status read_shape(const reader *in, const char *key,
                            const cJSON *json, ws_shape *out) {
  const char *names[WS_MAX_DIMS];
  int64_t sizes[WS_MAX_DIMS];
  const cJSON *item;
  int count = 0;
  const int64_t most = INT64_C(1) << 53;
  WS_TRY(ws__json_expect(json, key, in->what, cJSON_IsObject, "an object",
                         in->diag));
  cJSON_ArrayForEach(item, json) {
    if (count == WS_MAX_DIMS || ws_name_fault(item->string))
      return ws_fail(in->diag, WS_INPUT, in->what, 0,
                     "'%s' has more than %d sizes, or one without a name", key,
                     WS_MAX_DIMS);
    WS_TRY(ws__json_int(item, item->string, in->what, &sizes[count], in->diag));
    if (sizes[count] < 0 || sizes[count] > most)
      return ws_fail(in->diag, WS_INPUT, in->what, 0,
                     "'%s' is no size: %" PRId64, item->string, sizes[count]);
    names[count++] = item->string;
  }
  if (count)
    *out = ws_shape_of(ws_dims_of(names, count), sizes);
  return WS_OK;
}

/* What programs before named dimensions wrote: m, n and k in the object itself;
 * all 0 where there was none. */
static ws_status read_old_shape(const reader *in, const cJSON *object,
                                ws_shape *out) {
  static const char *const names[] = {"m", "n", "k"};
  int64_t sizes[3], any = 0;
  for (int i = 0; i < 3; i++) {
    WS_TRY(ws__json_int(cJSON_GetObjectItemCaseSensitive(object, names[i]),
                        names[i], in->what, &sizes[i], in->diag));
    if (sizes[i] < 0 || sizes[i] > INT32_MAX)
      return ws_fail(in->diag, WS_INPUT, in->what, 0,
                     "'%s' is no size: %" PRId64, names[i], sizes[i]);
    any |= sizes[i];
  }
  if (any)
    *out = ws_shape_of(ws_dims_of(names, 3), sizes);
  return WS_OK;
}

static ws_status check_count(const reader *in, const ws_json_field *field,
                             const char *key, int count) {
  if (count > field->high)
    return ws_fail(in->diag, WS_INPUT, in->what, 0,
                   "'%s' has %d items; the limit is %" PRId64, key, count,
                   field->high);
  if (count < field->low)
    return ws_fail(in->diag, WS_INPUT, in->what, 0,
                   "'%s' has %d items; wanted are at least %" PRId64, key,
                   count, field->low);
  return WS_OK;
}

static ws_status check_item(const reader *in, const ws_json_struct *table,
                            const char *key, int index, const cJSON *item) {
  ws_json_type type =
      is_lone(table) ? table->fields[0].type : WS_JSON_IS_OBJECT;
  if (type == WS_JSON_IS_DOUBLE ? cJSON_IsNumber(item)
      : type == WS_JSON_IS_TEXT ? cJSON_IsString(item)
                                : cJSON_IsObject(item))
    return WS_OK;
  return ws_fail(in->diag, WS_INPUT, in->what, 0, "item %d of '%s' must be %s",
                 index, key,
                 type == WS_JSON_IS_DOUBLE ? "a number"
                 : type == WS_JSON_IS_TEXT ? "a string"
                                           : "an object");
}

static ws_status read_items(const reader *in, const ws_json_field *field,
                            const char *key, const cJSON *json, void *base) {
  void *member = (char *)base + field->offset;
  const cJSON *item;
  WS_TRY(ws__json_expect(json, key, in->what, cJSON_IsArray, "an array",
                         in->diag));
  int count = cJSON_GetArraySize(json);
  WS_TRY(check_count(in, field, key, count));
  char *items = member;
  if (field->type == WS_JSON_IS_ITEMS) {
    items = ws_arena_alloc(in->arena, (size_t)count * field->of->size);
    memcpy(member, &items, sizeof items);
  }
  int index = 0;
  cJSON_ArrayForEach(item, json) {
    WS_TRY(check_item(in, field->of, key, index++, item));
    WS_TRY(read_struct(in, field->of, item, key, items));
    items += field->of->size;
  }
  *(int *)((char *)base + field->count_offset) = count;
  return WS_OK;
}

static ws_status read_pointer(const reader *in, const ws_json_field *field,
                              const char *key, const cJSON *json,
                              void *member) {
  void *value = ws_arena_alloc(in->arena, field->of->size);
  memcpy(member, &value, sizeof value);
  return read_struct(in, field->of, json, key, value);
}

static ws_status read_field(const reader *in, const ws_json_field *field,
                            const char *key, const cJSON *json, void *base) {
  void *member = (char *)base + field->offset;
  switch (field->type) {
  case WS_JSON_IS_INT:
    return read_integer(in, field, key, json, member);
  case WS_JSON_IS_DOUBLE:
    return ws__json_double(json, key, in->what, member, in->diag);
  case WS_JSON_IS_TEXT:
    return read_text(in, key, json, member);
  case WS_JSON_IS_BOOL:
    return read_bool(in, key, json, member);
  case WS_JSON_IS_SEED:
    return read_seed(in, key, json, member);
  case WS_JSON_IS_CHOICE:
    return read_choice(in, field, key, json, member);
  case WS_JSON_IS_SHAPE:
    return read_shape(in, key, json, member);
  case WS_JSON_IS_OBJECT:
    return read_struct(in, field->of, json, key, member);
  case WS_JSON_IS_POINTER:
    return read_pointer(in, field, key, json, member);
  case WS_JSON_IS_ITEMS:
  case WS_JSON_IS_ROOM:
    break;
  }
  return read_items(in, field, key ? key : "the array", json, base);
}

/* *next: where it is looked for first; then what follows it. */
static const cJSON *find(const cJSON *object, const char *name,
                         const cJSON **next) {
  const cJSON *member = *next;
  if (!member || strcmp(member->string, name))
    member = cJSON_GetObjectItemCaseSensitive(object, name);
  if (member)
    *next = member->next;
  return member;
}

/* What is not there is 0, as the struct is already, or "". */
static ws_status read_nothing(const reader *in, const ws_json_field *field,
                              void *base) {
  if (field->type == WS_JSON_IS_TEXT)
    *(const char **)((char *)base + field->offset) = "";
  return field->type == WS_JSON_IS_INT ? check_range(in, field, field->name, 0)
                                       : WS_OK;
}

static ws_status read_members(const reader *in, const ws_json_struct *table,
                              const cJSON *json, const cJSON **next,
                              void *base) {
  for (int i = 0; i < table->count; i++) {
    const ws_json_field *field = &table->fields[i];
    if (is_inline(field)) {
      WS_TRY(read_members(in, field->of, json, next,
                          (char *)base + field->offset));
      continue;
    }
    const cJSON *member = find(json, field->name, next);
    if (!member && field->type == WS_JSON_IS_SHAPE) {
      WS_TRY(read_old_shape(in, json, (void *)((char *)base + field->offset)));
      continue;
    }
    bool may_lack = field->presence != WS_JSON_REQUIRED ||
                    (in->sparse && field->type == WS_JSON_IS_INT);
    WS_TRY(!member && may_lack
               ? read_nothing(in, field, base)
               : read_field(in, field, field->name, member, base));
  }
  return table->check ? table->check(base, in->what, in->diag) : WS_OK;
}

static ws_status read_struct(const reader *outer, const ws_json_struct *table,
                             const cJSON *json, const char *key, void *base) {
  reader in = *outer;
  in.sparse |= table->sparse;
  if (is_lone(table))
    return read_field(&in, &table->fields[0], key, json, base);
  WS_TRY(ws__json_expect(json, key, in.what, cJSON_IsObject, "an object",
                         in.diag));
  if (table->what)
    in.what = table->what;
  const cJSON *next = json->child;
  return read_members(&in, table, json, &next, base);
}

ws_status ws_json_read(const ws_json_struct *table, ws_arena *arena,
                       const struct cJSON *json, const char *what,
                       void *out_value, ws_diag *diag) {
  const reader in = {.arena = arena, .what = what, .diag = diag};
  memset(out_value, 0, table->size);
  ws_status status = read_struct(&in, table, json, NULL, out_value);
  if (status != WS_OK)
    memset(out_value, 0, table->size);
  return status;
}
