/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Structs as JSON by tables: one struct with every type, its JSON written by
 * hand.
 */
#include "wavesmith/json_fields.h"
#include "ws_test.h"

#include <cjson/cJSON.h>
#include <math.h>

typedef struct point {
  int32_t x;
  int64_t y;
} point;
enum color { RED, GREEN };
typedef struct thing {
  const char *name, *old, *note;
  int32_t line;
  uint32_t wide;
  size_t bytes;
  double time;
  bool on;
  uint64_t seed;
  enum color color;
  point flat, deep, rare;
  const point *far;
  const point *items;
  int item_count;
  point room[2];
  int room_count;
  const char *const *words;
  int word_count;
} thing;

static ws_status check_point(const void *value, const char *what,
                             ws_diag *diag) {
  const point *at = value;
  return at->x == 13 ? ws_fail(diag, WS_INPUT, what, 0, "x is unlucky") : WS_OK;
}

static const ws_json_field point_fields[] = {
    {WS_JSON_INT(point, x, -20, 20)},
    {WS_JSON_INT(point, y, INT64_MIN, INT64_MAX)}};
static const ws_json_struct point_json = {WS_JSON_FIELDS(point, point_fields),
                                          .check = check_point};
static const ws_json_struct sparse_point_json = {
    WS_JSON_FIELDS(point, point_fields), .sparse = true, .what = "far point"};
static const char *const colors[] = {"red", "green"};
static const ws_json_field fields[] = {
    {WS_JSON_TEXT(thing, name)},
    {WS_JSON_TEXT(thing, old), .presence = WS_JSON_ADDED},
    {WS_JSON_TEXT(thing, note), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_INT_AS("at", thing, line, -1, INT32_MAX)},
    {WS_JSON_INT(thing, wide, 0, UINT32_MAX)},
    {WS_JSON_INT(thing, bytes, 1, 100)},
    {WS_JSON_DOUBLE(thing, time)},
    {WS_JSON_BOOL(thing, on)},
    {WS_JSON_SEED(thing, seed)},
    {WS_JSON_CHOICE(thing, color, colors)},
    {WS_JSON_INLINE(thing, flat, point_json)},
    {WS_JSON_OBJECT(thing, deep, point_json)},
    {WS_JSON_OBJECT(thing, rare, point_json), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_POINTER(thing, far, sparse_point_json),
     .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_ITEMS(thing, items, item_count, 1, 3, point_json)},
    {WS_JSON_ROOM(thing, room, room_count, point_json)},
    {WS_JSON_ITEMS(thing, words, word_count, 0, 2, ws_json_of_text),
     .presence = WS_JSON_LEFT_OUT}};
static const ws_json_struct thing_json = {WS_JSON_FIELDS(thing, fields),
                                          .what = "thing"};

static const char *const words[] = {"a", ""};
static const point points[] = {{1, 2}, {0, 0}};
static const thing full = {.name = "n",
                           .old = "o",
                           .note = "!",
                           .line = -1,
                           .wide = UINT32_MAX,
                           .bytes = 100,
                           .time = 0.5,
                           .on = true,
                           .seed = UINT64_MAX,
                           .color = GREEN,
                           .flat = {3, -4},
                           .deep = {5, 6},
                           .rare = {0, 7},
                           .far = &points[1],
                           .items = points,
                           .item_count = 2,
                           .room = {{8, 9}, {10, 11}},
                           .room_count = 2,
                           .words = words,
                           .word_count = 2};
static const char full_text[] =
    "{\"name\":\"n\",\"old\":\"o\",\"note\":\"!\",\"at\":-1,"
    "\"wide\":4294967295,\"bytes\":100,\"time\":0.5,\"on\":true,"
    "\"seed\":\"18446744073709551615\",\"color\":\"green\",\"x\":3,\"y\":-4,"
    "\"deep\":{\"x\":5,\"y\":6},\"rare\":{\"x\":0,\"y\":7},\"far\":{},"
    "\"items\":[{\"x\":1,\"y\":2},{\"x\":0,\"y\":0}],"
    "\"room\":[{\"x\":8,\"y\":9},{\"x\":10,\"y\":11}],\"words\":[\"a\",\"\"]}";
static const char least_text[] =
    "{\"name\":\"\",\"old\":\"\",\"at\":0,\"wide\":0,\"bytes\":1,\"time\":0,"
    "\"on\":false,\"seed\":\"0\",\"color\":\"red\",\"x\":0,\"y\":0,"
    "\"deep\":{\"x\":0,\"y\":0},\"items\":[{\"x\":1,\"y\":2}],\"room\":[]}";

static void check_written(const thing *value, const char *want) {
  cJSON *json = ws_json_write(&thing_json, value);
  char *text = cJSON_PrintUnformatted(json);
  WS_CHECK_TEXT(text, want);
  cJSON_free(text);
  cJSON_Delete(json);
}

WS_TEST(every_type_is_written) {
  const thing least = {.bytes = 1, .items = points, .item_count = 1};
  check_written(&full, full_text);
  check_written(&least, least_text);
}

static void read_back(ws_arena *arena, const char *text, thing *out) {
  cJSON *json = cJSON_Parse(text);
  ws_diag diag = {""};
  if (ws_json_read(&thing_json, arena, json, "test", out, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  cJSON_Delete(json);
}

WS_TEST(every_type_is_read) {
  ws_arena *arena = ws_arena_create();
  thing back;
  read_back(arena, full_text, &back);
  WS_CHECK(back.line == -1 && back.wide == UINT32_MAX && back.bytes == 100);
  WS_CHECK(back.seed == UINT64_MAX && back.color == GREEN && back.on);
  WS_CHECK(back.flat.y == -4 && back.rare.y == 7 && back.far->y == 0);
  WS_CHECK(back.item_count == 2 && back.room[1].y == 11);
  WS_CHECK_TEXT(back.words[0], "a");
  check_written(&back, full_text);
  read_back(arena, least_text, &back);
  WS_CHECK(back.far == NULL && back.rare.y == 0);
  WS_CHECK_TEXT(back.note, "");
  check_written(&back, least_text);
  ws_arena_destroy(arena);
}

/* Order says nothing, unknown members are passed over, the first of two counts,
 * and what was added later may lack. */
WS_TEST(other_writers) {
  ws_arena *arena = ws_arena_create();
  thing back;
  read_back(
      arena,
      "{\"words\":[\"w\"],\"new\":{},\"room\":[],\"items\":[{\"y\":2,\"x\":1}]"
      ",\"deep\":{\"y\":6,\"x\":5},\"y\":-4,\"x\":3,\"color\":\"red\","
      "\"seed\":\"0\",\"on\":false,\"time\":1,\"bytes\":1,\"wide\":0,"
      "\"at\":7,\"at\":8,\"name\":\"n\"}",
      &back);
  WS_CHECK(back.flat.x == 3 && back.deep.y == 6 && back.items[0].y == 2);
  WS_CHECK_INT(back.line, 7);
  WS_CHECK_TEXT(back.words[0], "w");
  WS_CHECK_TEXT(back.old, "");
  ws_arena_destroy(arena);
}

WS_TEST(numbers_that_json_lacks) {
  static const struct {
    double value;
    const char *want;
  } cases[] = {{INFINITY, "1e+300"}, {NAN, "1e+300"}, {-INFINITY, "-1e+300"}};
  for (int i = 0; i < 3; i++) {
    cJSON *json = ws_json_write(&ws_json_of_double, &cases[i].value);
    char *text = cJSON_PrintUnformatted(json);
    WS_CHECK_TEXT(text, cases[i].want);
    cJSON_free(text);
    cJSON_Delete(json);
  }
}

/* What is refused: full_text with one part replaced by another. */
static const struct {
  const char *part, *by, *want;
} refusals[] = {
    {"\"name\":\"n\",", "", "thing: 'name' is missing; it must be a string"},
    {"\"n\"", "null", "'name' must be a string"},
    {"\"old\":\"o\"", "\"old\":1", "'old' must be a string"},
    {"-1", "-2", "'at' is -2, outside -1 to 2147483647"},
    {"-1", "0.5", "'at' must be an integer"},
    {"4294967295", "4294967296", "'wide' is 4294967296, outside"},
    {"4294967295", "-1", "'wide' is -1, outside 0 to 4294967295"},
    {":100", ":0", "'bytes' is 0, outside 1 to 100"},
    {":100", ":101", "'bytes' is 101, outside 1 to 100"},
    {"-4", "1e300", "'y' must be an integer of at most 2^53"},
    {"0.5", "\"0.5\"", "'time' must be a number"},
    {"0.5", "1e999", "'time' is out of range"},
    {"true", "1", "'on' must be true or false"},
    {"\"18446744073709551615\"", "\"18446744073709551616\"", "below 2^64"},
    {"\"18446744073709551615\"", "\"-1\"", "decimal digits"},
    {"\"18446744073709551615\"", "\"\"", "decimal digits"},
    {"\"18446744073709551615\"", "5", "'seed' must be a string"},
    {"\"green\"", "\"blue\"", "unknown color 'blue'"},
    {"\"x\":3", "\"x\":21", "thing: 'x' is 21, outside -20 to 20"},
    {"\"x\":3", "\"x\":13", "x is unlucky"},
    {"\"x\":10", "\"x\":13", "x is unlucky"},
    {"{\"x\":5,\"y\":6}", "[]", "'deep' must be an object"},
    {"{\"x\":0,\"y\":7}", "{}", "'x' is missing"},
    {"\"far\":{}", "\"far\":5", "thing: 'far' must be an object"},
    {"\"far\":{}", "\"far\":{\"x\":99}", "far point: 'x' is 99"},
    {"[{\"x\":1,\"y\":2},{\"x\":0,\"y\":0}]", "{}", "'items' must be an array"},
    {"[{\"x\":1,\"y\":2},{\"x\":0,\"y\":0}]", "[]",
     "'items' has 0 items; wanted are at least 1"},
    {"[{\"x\":1,\"y\":2},{\"x\":0,\"y\":0}]", "[0,0,0,0]",
     "'items' has 4 items; the limit is 3"},
    {"{\"x\":10,\"y\":11}", "[]", "item 1 of 'room' must be an object"},
    {"{\"x\":10,\"y\":11}", "0,0", "'room' has 3 items; the limit is 2"},
    {"[\"a\",\"\"]", "[\"a\",5]", "item 1 of 'words' must be a string"},
    {"\"words\":[\"a\",\"\"]", "\"words\":null", "'words' must be an array"},
};

WS_TEST(everything_else_is_refused) {
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    const char *at = strstr(full_text, refusals[i].part);
    const char *text =
        ws_arena_printf(arena, "%.*s%s%s", (int)(at - full_text), full_text,
                        refusals[i].by, at + strlen(refusals[i].part));
    cJSON *json = cJSON_Parse(text);
    thing back;
    ws_diag diag = {""};
    WS_CHECK(json != NULL);
    if (ws_json_read(&thing_json, arena, json, "test", &back, &diag) !=
        WS_INPUT)
      WS_FAIL("accepted: %s", text);
    WS_CHECK_CONTAINS(diag.text, refusals[i].want);
    WS_CHECK(!back.name && !back.item_count);
    cJSON_Delete(json);
  }
  ws_arena_destroy(arena);
}

WS_TEST(no_object_at_all) {
  thing back;
  ws_diag diag = {""};
  ws_arena *arena = ws_arena_create();
  WS_CHECK_INT(ws_json_read(&thing_json, arena, NULL, "test", &back, &diag),
               WS_INPUT);
  WS_CHECK_TEXT(diag.text, "test: it must be an object");
  ws_arena_destroy(arena);
}
