/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Structs as JSON objects and back. A table says once which members there are,
 * where they lie and what they may hold; one writer and one reader serve all
 * tables. The order of a table is the order of what is written. The reader
 * trusts nothing: each member is there, has its type and lies in its range, or
 * one line says which does not. Members that no table names are passed over.
 *
 *   static const ws_json_field fields[] = {
 *       {WS_JSON_TEXT(thing, name)}, {WS_JSON_INT(thing, line, 0, INT32_MAX)}};
 *   const ws_json_struct thing_json = WS_JSON_STRUCT(thing, fields);
 *
 * Threads: tables are constants; calls share nothing.
 */
#ifndef WAVESMITH_JSON_FIELDS_H
#define WAVESMITH_JSON_FIELDS_H

#include "wavesmith/shape.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ws_json_type {
  WS_JSON_IS_INT,     /* of 4 or 8 bytes; unsigned where low is not below 0 */
  WS_JSON_IS_DOUBLE,  /* what JSON has no digits for is written as 1e300 */
  WS_JSON_IS_TEXT,    /* const char *; NULL is written as "" */
  WS_JSON_IS_BOOL,    /* bool */
  WS_JSON_IS_SEED,    /* uint64_t, a string of digits: it uses all 64 bits */
  WS_JSON_IS_CHOICE,  /* an enum from 0, a string of `names` */
  WS_JSON_IS_SHAPE,   /* ws_shape, an object of sizes by name */
  WS_JSON_IS_OBJECT,  /* a struct; without a name its members stand in line */
  WS_JSON_IS_POINTER, /* to a struct in the arena; NULL: none */
  WS_JSON_IS_ITEMS,   /* pointer to `count` structs in the arena */
  WS_JSON_IS_ROOM     /* array of room for `high` structs */
} ws_json_type;

typedef enum ws_json_presence {
  WS_JSON_REQUIRED,
  WS_JSON_ADDED,   /* absent in what older programs wrote */
  WS_JSON_LEFT_OUT /* not written when it is 0, "", NULL or holds only such */
} ws_json_presence;

typedef struct ws_json_struct ws_json_struct;
/* What is absent reads as 0 or "". */
typedef struct ws_json_field {
  const char *name;
  ws_json_type type;
  ws_json_presence presence;
  size_t offset, size;
  size_t count_offset; /* of an int, how many items there are */
  int64_t low, high;   /* of an integer; of the number of items */
  const char *const *names;
  const ws_json_struct *of; /* the struct, or the items */
} ws_json_field;

struct ws_json_struct {
  const ws_json_field *fields;
  int count;
  size_t size; /* of the struct */
  /* In it and below, an integer of 0 is not written, and an absent one is 0. */
  bool sparse;
  const char *what; /* in messages, from here on; NULL: as the one above */
  /* What no field says by itself, once all are read; NULL: nothing. */
  ws_status (*check)(const void *value, const char *what, ws_diag *diag);
};

/* A table of one field without a name that is no object: the value itself. */
extern const ws_json_struct ws_json_of_double, ws_json_of_text,
    ws_json_of_shape;

/* ---- tables ---- */
#define WS_JSON_FIELDS(owner, table)                                           \
  .fields = (table), .count = sizeof(table) / sizeof((table)[0]),              \
  .size = sizeof(owner)
#define WS_JSON_STRUCT(owner, table)                                           \
  { WS_JSON_FIELDS(owner, table) }

#define WS_JSON_AT(text, sort, owner, member)                                  \
  .name = (text), .type = WS_JSON_IS_##sort, .offset = offsetof(owner, member)
#define WS_JSON_INT_AS(text, owner, member, least, most)                       \
  WS_JSON_AT(text, INT, owner, member), .size = sizeof((owner *)0)->member,    \
                                        .low = (least), .high = (most)
#define WS_JSON_INT(owner, member, least, most)                                \
  WS_JSON_INT_AS(#member, owner, member, least, most)
#define WS_JSON_DOUBLE(owner, member) WS_JSON_AT(#member, DOUBLE, owner, member)
#define WS_JSON_TEXT_AS(text, owner, member)                                   \
  WS_JSON_AT(text, TEXT, owner, member)
#define WS_JSON_TEXT(owner, member) WS_JSON_TEXT_AS(#member, owner, member)
#define WS_JSON_BOOL(owner, member) WS_JSON_AT(#member, BOOL, owner, member)
#define WS_JSON_SEED(owner, member) WS_JSON_AT(#member, SEED, owner, member)
#define WS_JSON_CHOICE(owner, member, texts)                                   \
  WS_JSON_AT(#member, CHOICE, owner, member),                                  \
      .names = (texts), .high = sizeof(texts) / sizeof((texts)[0]) - 1
#define WS_JSON_SHAPE(owner, member) WS_JSON_AT(#member, SHAPE, owner, member)
#define WS_JSON_OBJECT(owner, member, table)                                   \
  WS_JSON_AT(#member, OBJECT, owner, member), .of = &(table)
#define WS_JSON_INLINE(owner, member, table)                                   \
  WS_JSON_AT(NULL, OBJECT, owner, member), .of = &(table)
#define WS_JSON_POINTER(owner, member, table)                                  \
  WS_JSON_AT(#member, POINTER, owner, member), .of = &(table)
#define WS_JSON_ITEMS_AS(text, owner, member, counter, least, most, table)     \
  WS_JSON_AT(text, ITEMS, owner, member),                                      \
      .count_offset = offsetof(owner, counter), .low = (least),                \
      .high = (most), .of = &(table)
#define WS_JSON_ITEMS(owner, member, counter, least, most, table)              \
  WS_JSON_ITEMS_AS(#member, owner, member, counter, least, most, table)
#define WS_JSON_ROOM(owner, member, counter, table)                            \
  WS_JSON_AT(#member, ROOM, owner, member),                                    \
      .count_offset = offsetof(owner, counter),                                \
      .high = sizeof((owner *)0)->member / sizeof((owner *)0)->member[0],      \
      .of = &(table)

/* ---- JSON ---- */
struct cJSON;
/* Free with cJSON_Delete; the names are the table's own. */
struct cJSON *ws_json_write(const ws_json_struct *table, const void *value);
/* Fills *out_value; texts and items live in the arena. json may be NULL, which
 * is refused. WS_INPUT with a sentence about `what`; *out_value is all zeros
 * then. */
ws_status ws_json_read(const ws_json_struct *table, ws_arena *arena,
                       const struct cJSON *json, const char *what,
                       void *out_value, ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
