/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The cards that are simulated: their table, profiles of a user's own with all
 * that can be wrong in them, and what of a card reaches a kernel and the clock.
 */
#include "../unit/ws_test.h"

#include "card.h"
#include "clock.h"
#include "sim_fixture.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <unistd.h>

static const ws_sim_card *must_find(const char *name, ws_arena *arena) {
  const ws_sim_card *card;
  ws_diag diag;
  if (ws_sim_card_find(name, arena, &card, &diag) != WS_OK)
    WS_FAIL("%s: %s", name ? name : "NULL", diag.text);
  return card;
}

/* ---- the table ---- */

WS_TEST(mi300x_is_the_base) {
  ws_arena *arena = ws_arena_create();
  const char *const names[] = {NULL, "", "mi300x", "MI300X"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const ws_sim_card *card = must_find(names[i], arena);
    WS_CHECK(
        !memcmp(&card->constants, &ws__clock_mi300x, sizeof ws__clock_mi300x));
    WS_CHECK_TEXT(ws_sim_card_title(card), "MI300X");
    WS_CHECK_TEXT(card->device, "AMD Instinct MI300X");
    WS_CHECK_TEXT(ws_sim_card_differs(card, arena), "");
    WS_CHECK_INT(card->rows[WS_CARD_memory_bytes].value, INT64_C(192) << 30);
  }
  ws_arena_destroy(arena);
}

/* Published: AMD's data sheets, gpu-specs; MI308X from who has one. */
WS_TEST(cards_are_as_published) {
  static const struct {
    const char *name, *title;
    int64_t xcds, cus, mhz, gib, watts;
  } published[] = {{"mi300x", "MI300X", 8, 304, 2100, 192, 750},
                   {"mi300a", "MI300A", 6, 228, 2100, 128, 550},
                   {"mi308x", "MI308X", 4, 80, 1420, 192, 750},
                   {"mi325x", "MI325X", 8, 304, 2100, 256, 1000}};
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
    const ws_sim_card *card = must_find(published[i].name, arena);
    const ws__clock_constants *c = &card->constants;
    WS_CHECK_TEXT(ws_sim_card_name_at((int)i), published[i].name);
    WS_CHECK_TEXT(card->title, published[i].title);
    WS_CHECK_INT(c->xcds, published[i].xcds);
    WS_CHECK_INT(c->xcds * c->cus_per_xcd, published[i].cus);
    WS_CHECK_INT(c->clock_mhz, published[i].mhz);
    WS_CHECK_INT(card->rows[WS_CARD_memory_bytes].value >> 30,
                 published[i].gib);
    WS_CHECK_INT(card->rows[WS_CARD_power_watts].value, published[i].watts);
  }
  WS_CHECK(ws_sim_card_name_at(4) == NULL && ws_sim_card_name_at(-1) == NULL);
  ws_arena_destroy(arena);
}

static bool says(const ws__card *card, int row) {
  for (int i = 0; i < card->count; i++)
    if (card->differs[i].row == row)
      return true;
  return false;
}

/* What belongs to the whole device is said, even where it is MI300X's, once,
 * within the limits of profiles and with its source. */
WS_TEST(cards_say_what_is_of_the_device) {
  static const int of_device[] = {WS_CARD_xcds,
                                  WS_CARD_cus_per_xcd,
                                  WS_CARD_clock_mhz,
                                  WS_CARD_loaded_mhz,
                                  WS_CARD_l2_bytes,
                                  WS_CARD_mall_bytes,
                                  WS_CARD_mall_rate,
                                  WS_CARD_hbm_extra,
                                  WS_CARD_hbm_rate,
                                  WS_CARD_memory_bytes,
                                  WS_CARD_memory_bus_bits,
                                  WS_CARD_memory_clock_khz,
                                  WS_CARD_power_watts};
  for (int c = 1; c < ws__card_count; c++) {
    const ws__card *card = &ws__cards[c];
    for (size_t i = 0; i < sizeof of_device / sizeof of_device[0]; i++)
      if (!says(card, of_device[i]))
        WS_FAIL("%s does not say %s", card->name,
                ws__card_rows[of_device[i]].name);
    for (int i = 0; i < card->count; i++) {
      const ws__card_value *value = &card->differs[i];
      int64_t low, high;
      ws__card_row_limits(value->row, &low, &high);
      WS_CHECK(value->value >= low && value->value <= high);
      WS_CHECK(strlen(value->source) > 3 && strlen(value->confidence) == 1 &&
               strchr("HML", value->confidence[0]));
      for (int j = 0; j < i; j++)
        WS_CHECK(card->differs[j].row != value->row);
    }
  }
}

/* Each is another one than every other. */
WS_TEST(cards_differ) {
  ws_arena *arena = ws_arena_create();
  for (int a = 0; a < ws__card_count; a++)
    for (int b = 0; b < a; b++)
      WS_CHECK(memcmp(&must_find(ws__cards[a].name, arena)->constants,
                      &must_find(ws__cards[b].name, arena)->constants,
                      sizeof(ws__clock_constants)));
  WS_CHECK_CONTAINS(ws_sim_card_differs(must_find("mi300a", arena), arena),
                    "XCDs: 6 instead of 8; ");
  ws_arena_destroy(arena);
}

WS_TEST(rows_have_limits_that_hold_their_value) {
  for (int row = 0; row < WS_CARD_ROWS; row++) {
    int64_t low, high;
    ws__card_row_limits(row, &low, &high);
    WS_CHECK(low >= 1 && low <= ws__card_rows[row].value &&
             high >= ws__card_rows[row].value && high < INT64_C(1) << 53);
    WS_CHECK_INT(ws__card_row_find(ws__card_rows[row].name), row);
  }
  WS_CHECK_INT(ws__card_row_find("hbm_rat"), -1);
}

/* docs/simulator.md has all of them. */
WS_TEST(cards_are_documented) {
  const char *source = getenv("WS_SOURCE_DIR");
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  char *text;
  size_t size;
  if (ws_file_read(
          arena,
          ws_arena_printf(arena, "%s/docs/simulator.md", source ? source : "."),
          &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  for (int c = 1; c < ws__card_count; c++)
    for (int i = 0; i < ws__cards[c].count; i++) {
      const ws__card_value *value = &ws__cards[c].differs[i];
      WS_CHECK_CONTAINS(
          text, ws_arena_printf(
                    arena, "| %s | %s | %lld | %s | %s |", ws__cards[c].name,
                    ws__card_rows[value->row].name, (long long)value->value,
                    value->source, value->confidence));
    }
  ws_arena_destroy(arena);
}

/* ---- profiles of a user's own ---- */

static char folder[] = "/tmp/wavesmith-cards-XXXXXX";

static const char *write_profile(ws_arena *arena, const char *name,
                                 const char *text) {
  ws_diag diag;
  if (strstr(folder, "XXXXXX") && !mkdtemp(folder))
    WS_FAIL("no temporary folder");
  const char *path = ws_arena_printf(arena, "%s/%s", folder, name);
  if (ws_file_write_atomic(path, text, strlen(text), &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return path;
}

static void remove_profiles(ws_arena *arena) {
  static const char *const names[] = {"a.json", "b.json", "c.json"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    unlink(ws_arena_printf(arena, "%s/%s", folder, names[i]));
  rmdir(folder);
}

WS_TEST(profile_changes_what_it_names) {
  ws_arena *arena = ws_arena_create();
  const ws_sim_card *card = must_find(
      write_profile(arena, "a.json",
                    "{\"name\": \"mine\", \"base\": \"mi300a\", \"constants\": "
                    "{\"hbm_rate\": 3333, \"l2_latency\": {\"value\": 200, "
                    "\"source\": \"my own chase\", \"confidence\": \"M\"}}}"),
      arena);
  ws__clock_constants wanted = must_find("mi300a", arena)->constants;
  wanted.hbm_rate = 3333;
  wanted.l2_latency = 200;
  WS_CHECK(!memcmp(&card->constants, &wanted, sizeof wanted));
  WS_CHECK_TEXT(card->rows[WS_CARD_l2_latency].source, "my own chase");
  WS_CHECK_TEXT(card->rows[WS_CARD_l2_latency].confidence, "M");
  WS_CHECK_CONTAINS(card->rows[WS_CARD_hbm_rate].source, "/a.json");
  WS_CHECK(!strncmp(card->title, "mine-", 5) && strlen(card->title) == 13);
  WS_CHECK_TEXT(card->device, card->title);
  remove_profiles(arena);
  ws_arena_destroy(arena);
}

/* The same numbers have the same title whatever the file, others another. */
WS_TEST(profile_title_is_of_its_numbers) {
  static const char *const texts[] = {
      "{\"name\": \"x\", \"constants\": {\"hbm_rate\": 4000}}",
      "{\"name\": \"x\", \"base\": \"mi300x\",\n\"constants\": {\"hbm_rate\": "
      "{\"value\": 4000}, \"xcds\": 8}}",
      "{\"name\": \"x\", \"constants\": {\"hbm_rate\": 4001}}"};
  ws_arena *arena = ws_arena_create();
  const char *titles[3];
  for (int i = 0; i < 3; i++)
    titles[i] =
        must_find(write_profile(arena, "b.json", texts[i]), arena)->title;
  WS_CHECK_TEXT(titles[0], titles[1]);
  WS_CHECK(strcmp(titles[0], titles[2]));
  remove_profiles(arena);
  ws_arena_destroy(arena);
}

WS_TEST(profile_stands_on_a_file_beside_it) {
  ws_arena *arena = ws_arena_create();
  write_profile(arena, "b.json",
                "{\"name\": \"b\", \"constants\": {\"xcds\": 2}}");
  const ws_sim_card *card =
      must_find(write_profile(arena, "a.json",
                              "{\"name\": \"a\", \"base\": \"b.json\", "
                              "\"constants\": {\"hbm_rate\": 1000}}"),
                arena);
  WS_CHECK_INT(card->constants.xcds, 2);
  WS_CHECK_INT(card->constants.hbm_rate, 1000);
  remove_profiles(arena);
  ws_arena_destroy(arena);
}

WS_TEST(printed_profile_is_a_profile) {
  ws_arena *arena = ws_arena_create();
  const ws_sim_card *card = must_find("mi308x", arena);
  cJSON *json = ws_sim_card_to_json(card);
  char *text = cJSON_Print(json);
  const ws_sim_card *again =
      must_find(write_profile(arena, "a.json", text), arena);
  for (int row = 0; row < WS_CARD_ROWS; row++) {
    WS_CHECK_INT(again->rows[row].value, card->rows[row].value);
    WS_CHECK_TEXT(again->rows[row].source, card->rows[row].source);
  }
  WS_CHECK(!strncmp(again->title, "mi308x-", 7));
  cJSON_free(text);
  cJSON_Delete(json);
  remove_profiles(arena);
  ws_arena_destroy(arena);
}

/* One line that names the file, the key and the way out. */
static void refuses(ws_arena *arena, const char *text, const char *key,
                    const char *mend) {
  const ws_sim_card *card;
  ws_diag diag;
  const char *path = write_profile(arena, "a.json", text);
  if (ws_sim_card_find(path, arena, &card, &diag) == WS_OK)
    WS_FAIL("taken: %s", text);
  WS_CHECK(card == NULL);
  WS_CHECK_CONTAINS(diag.text, "/a.json");
  WS_CHECK_CONTAINS(diag.text, key);
  WS_CHECK_CONTAINS(diag.text, mend);
  WS_CHECK(!strchr(diag.text, '\n'));
}

#define OF(constants) "{\"name\": \"x\", \"constants\": {" constants "}}"
static const struct {
  const char *text, *key, *mend;
} wrong_profiles[] = {
    {"", "not JSON from byte", "--print-profile"},
    {"{\"name\": \"x\",", "not JSON from byte 13", "--print-profile"},
    {"{\"name\": \"x\"} {}", "not JSON from byte", "--print-profile"},
    {"[1]", "no JSON object", "write {"},
    {"{\"nam\": \"x\"}", "\"nam\" is unknown", "did you mean \"name\""},
    {"{}", "\"name\" has no letters", "1 to 32"},
    {"{\"name\": 3}", "\"name\" is no text", "quotes"},
    {"{\"name\": \"a/b\"}", "\"name\"", "letters, digits"},
    {"{\"name\": \"a:b\"}", "\"name\"", "letters, digits"},
    {"{\"name\": \"a b\"}", "\"name\"", "letters, digits"},
    {"{\"name\": \"a234567890123456789012345678901234567890\"}", "\"name\"",
     "1 to 32"},
    {"{\"name\": \"x\", \"base\": \"mi300b\"}", "\"base\"", "mi300x"},
    {"{\"name\": \"x\", \"base\": 7}", "\"base\" is no text", "quotes"},
    {"{\"name\": \"x\", \"base\": \"a.json\"}", "circle", "mi300x"},
    {"{\"name\": \"x\", \"base\": \"c.json\"}", "c.json", "cannot open"},
    {"{\"name\": \"x\", \"constants\": 5}", "\"constants\" is no object",
     "write {"},
    {OF("\"hbm_rat\": 5"), "\"hbm_rat\" is unknown", "\"hbm_rate\""},
    {OF("\"zzzzzzzzz\": 5"), "\"zzzzzzzzz\" is unknown", "leave it out"},
    {OF("\"hbm_rate\": 0"), "\"hbm_rate\": 0 is no integer", "from 256 to"},
    {OF("\"hbm_rate\": -4100"), "\"hbm_rate\": -4100", "from 256 to"},
    {OF("\"hbm_rate\": 1e30"), "\"hbm_rate\": 1e+30", "from 256 to"},
    {OF("\"hbm_rate\": 4100.5"), "\"hbm_rate\": 4100.5", "from 256 to"},
    {OF("\"hbm_rate\": \"4100\""), "\"hbm_rate\" is no number",
     "without quotes"},
    {OF("\"hbm_rate\": null"), "\"hbm_rate\" is no number", "from 256 to"},
    {OF("\"hbm_rate\": true"), "\"hbm_rate\" is no number", "from 256 to"},
    {OF("\"hbm_rate\": [4100]"), "\"hbm_rate\" is no number", "from 256 to"},
    {OF("\"hbm_rate\": {}"), "\"hbm_rate\" is no number", "from 256 to"},
    {OF("\"hbm_rate\": {\"valeu\": 4100}"), "\"hbm_rate\": \"valeu\"",
     "\"value\""},
    {OF("\"xcds\": 9"), "\"xcds\": 9", "from 1 to 8"},
    {OF("\"cus_per_xcd\": 64"), "\"cus_per_xcd\": 64", "from 1 to 40"},
    {OF("\"line\": 64"), "\"line\" is 128 on every card", "leave it out"},
    {OF("\"loaded_mhz\": 2200"), "\"loaded_mhz\": 2200", "above clock_mhz"},
};

WS_TEST(wrong_profiles_are_one_line) {
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof wrong_profiles / sizeof wrong_profiles[0]; i++)
    refuses(arena, wrong_profiles[i].text, wrong_profiles[i].key,
            wrong_profiles[i].mend);
  remove_profiles(arena);
  ws_arena_destroy(arena);
}

WS_TEST(base_in_a_circle_ends) {
  ws_arena *arena = ws_arena_create();
  write_profile(arena, "b.json", "{\"name\": \"b\", \"base\": \"a.json\"}");
  const ws_sim_card *card;
  ws_diag diag;
  WS_CHECK(
      ws_sim_card_find(write_profile(arena, "a.json",
                                     "{\"name\": \"a\", \"base\": \"b.json\"}"),
                       arena, &card, &diag) == WS_USAGE);
  WS_CHECK_CONTAINS(diag.text, "circle");
  remove_profiles(arena);
  ws_arena_destroy(arena);
}

WS_TEST(names_that_are_none) {
  ws_arena *arena = ws_arena_create();
  const ws_sim_card *card;
  ws_diag diag;
  WS_CHECK_INT(ws_sim_card_find("mi300y", arena, &card, &diag), WS_USAGE);
  WS_CHECK_CONTAINS(diag.text, "'mi300y' (did you mean mi300x?); there are "
                               "mi300x, mi300a, mi308x, mi325x, ");
  WS_CHECK_INT(ws_sim_card_find("/nonexistent/x", arena, &card, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "/nonexistent/x");
  WS_CHECK(ws_sim_card_find("/tmp/", arena, &card, &diag) != WS_OK);
  ws_arena_destroy(arena);
}

/* ---- what of it reaches a grid, a kernel and the clock ---- */

/* Workgroup i goes to XCD i mod 6, there to one CU after the other. */
WS_TEST(workgroups_of_an_mi300a) {
  ws_arena *arena = ws_arena_create();
  const ws__clock_constants *c = &must_find("mi300a", arena)->constants;
  int64_t all = 0;
  WS_CHECK_INT(ws__groups_of_xcd(13, 0, c), 3);
  WS_CHECK_INT(ws__groups_of_xcd(13, 1, c), 2);
  WS_CHECK_INT(ws__groups_of_cu(228, 5, 37, c), 1);
  WS_CHECK_INT(ws__groups_of_cu(229, 0, 0, c), 2);
  for (int xcd = 0; xcd < 6; xcd++)
    for (int cu = 0; cu < 38; cu++)
      all += ws__groups_of_cu(1000, xcd, cu, c);
  WS_CHECK_INT(all, 1000);
  ws_arena_destroy(arena);
}

/* Each workgroup stores the number of the XCD that it runs on. */
WS_TEST(kernel_sees_its_xcd) {
  static const char body[] = "s_getreg_b32 s4, hwreg(HW_REG_XCC_ID, 0, 4)\n"
                             "s_load_dwordx2 s[8:9], s[0:1], 8\n"
                             "s_lshl_b32 s5, s2, 2\nv_mov_b32 v1, s5\n"
                             "v_mov_b32 v2, s4\ns_waitcnt lgkmcnt(0)\n"
                             "global_store_dword v1, v2, s[8:9]";
  static const struct {
    const char *card;
    uint32_t xcds;
  } cases[] = {{NULL, 8}, {"mi300a", 6}, {"mi308x", 4}};
  enum { GROUPS = 20 };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fixture_run run = {0};
    ws_arena *arena = ws_arena_create();
    const fixture_options options = {.lds = -1};
    fixture_open(&run, fixture_kernel(arena, body, &options),
                 &(ws_sim_options){.card = cases[i].card
                                               ? must_find(cases[i].card, arena)
                                               : NULL});
    WS_CHECK_INT(fixture_launch(&run, NULL, 0, GROUPS * 4, GROUPS, 64), WS_OK);
    fixture_no_findings(&run);
    for (uint32_t group = 0; group < GROUPS; group++)
      WS_CHECK_INT(((const uint32_t *)run.out)[group], group % cases[i].xcds);
    fixture_close(&run);
    ws_arena_destroy(arena);
  }
}
