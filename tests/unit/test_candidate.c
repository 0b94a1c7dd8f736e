/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Candidates: setting values and variants from text, ids, constraints.
 */
#include "../gemm_shape.h"
#include "wavesmith/problem.h"
#include "ws_test_template.h"

#define HEAD "template|gemm|1|gemm|gfx942|a GEMM\n"
#define LAUNCH "launch|gemm|m|n|1|64|1|a\n"
#define TILE_M "param|tile_m|ws.tile_m|16 32 128|rows|32\n"
#define TILE_N "param|tile_n|ws.tile_n|16 64|columns|64\n"
#define OFFSET "param|offset|ws.offset|-8 0 8|shift|0\n"
#define LOAD "region|load|reads\n"
#define STORE "region|store|writes\n"
#define LOAD_WIDE "variant|load|load_wide|wide\n"
#define LOAD_SLIM "variant|load|load_slim|slim\n"

static const char text[] =
    HEAD TILE_M TILE_N OFFSET LOAD STORE LOAD_WIDE LOAD_SLIM LAUNCH
    "require|tile_m * tile_n <= 4096|the tile needs too many registers\n"
    "require|k % (tile_m * 4) == 0|k must be a multiple of 4 tile_m\n"
    "require|256 / (tile_m - 16) > 0|odd\n";

static ws_arena *arena;

static ws_candidate *create(void) {
  arena = ws_arena_create();
  return ws_candidate_create(arena, ws_test_template(arena, text));
}

WS_TEST(a_new_candidate_has_the_defaults) {
  ws_candidate *candidate = create();
  WS_CHECK_TEXT(ws_candidate_values_text(arena, candidate),
                "tile_m=32;tile_n=64;offset=0");
  WS_CHECK_TEXT(ws_candidate_variants_text(arena, candidate), "");
  WS_CHECK_INT(candidate->bodies[0].variant, -1);
  WS_CHECK_INT(strlen(candidate->id.hex), 32);
}

WS_TEST(values_are_set_by_name) {
  ws_candidate *candidate = create();
  ws_diag diag = {""};
  WS_CHECK_INT(ws_candidate_set(candidate, "offset=-8;tile_m=128", &diag),
               WS_OK);
  WS_CHECK_TEXT(ws_candidate_values_text(arena, candidate),
                "tile_m=128;tile_n=64;offset=-8");
  WS_CHECK_INT(ws_candidate_set(candidate, " tile_n = 16 ; ;", &diag), WS_OK);
  WS_CHECK_INT(candidate->values[1], 16);
  WS_CHECK_INT(ws_candidate_set(candidate, "", &diag), WS_OK);
  WS_CHECK_TEXT(ws_candidate_values_text(arena, candidate),
                "tile_m=128;tile_n=16;offset=-8");
}

WS_TEST(bad_values_are_refused_and_change_nothing) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"tile_q=1", "gemm.ll: no parameter is named 'tile_q'; there are: tile_m "
                   "tile_n offset"},
      {"tile=1", "no parameter is named 'tile'"},
      {"tile_m=64",
       "gemm.ll:2: parameter 'tile_m' cannot be '64'; choose from: 16 32 128"},
      {"tile_n=16;tile_m=x", "parameter 'tile_m' cannot be 'x'; choose from"},
      {"tile_m=", "cannot be ''"},
      {"tile_m=16x", "cannot be '16x'"},
      {"tile_m=1 6", "cannot be '1 6'"},
      {"tile_m=99999999999999999999", "cannot be '99999999999999999999'"},
      {"tile_m=9999999999999999999999999999999999999999", "cannot be"},
      {"tile_m", "gemm.ll: 'tile_m' is not an assignment; write "
                 "parameter=value"},
      {"=16", "no parameter is named ''"},
      {"tile_m=16,tile_n=16", "cannot be '16,tile_n=16'"},
      {"tile_m=16;tile_m=32", "gemm.ll: 'tile_m' is set twice; keep one"},
  };
  ws_candidate *candidate = create();
  ws_hash before = candidate->id;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_diag diag = {""};
    WS_CHECK_INT(ws_candidate_set(candidate, cases[i].text, &diag), WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, cases[i].want);
    WS_CHECK_TEXT(ws_candidate_values_text(arena, candidate),
                  "tile_m=32;tile_n=64;offset=0");
    WS_CHECK_TEXT(candidate->id.hex, before.hex);
  }
}

WS_TEST(variants_are_set_by_name) {
  ws_candidate *candidate = create();
  ws_hash before = candidate->id;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_candidate_set_variants(candidate, "load=load_slim", &diag),
               WS_OK);
  WS_CHECK_INT(candidate->bodies[0].variant, 1);
  WS_CHECK_TEXT(ws_candidate_variants_text(arena, candidate), "load=load_slim");
  WS_CHECK(strcmp(candidate->id.hex, before.hex));
  WS_CHECK_INT(ws_candidate_set_variants(candidate, "load=default;", &diag),
               WS_OK);
  WS_CHECK_TEXT(candidate->id.hex, before.hex);
  WS_CHECK_INT(ws_candidate_set_variants(candidate, "", &diag), WS_OK);
}

WS_TEST(bad_variants_are_refused_and_change_nothing) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"lode=load_wide",
       "gemm.ll: no region is named 'lode'; there are: load store"},
      {"load=load", "gemm.ll:5: region 'load' has no variant 'load'; choose "
                    "from: default load_wide load_slim"},
      {"store=load_wide", "region 'store' has no variant 'load_wide'; choose "
                          "from: default"},
      {"load", "'load' is not an assignment; write region=variant"},
      {"load=load_wide;load=default", "'load' is set twice"},
  };
  ws_candidate *candidate = create();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_diag diag = {""};
    WS_CHECK_INT(ws_candidate_set_variants(candidate, cases[i].text, &diag),
                 WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, cases[i].want);
    WS_CHECK_TEXT(ws_candidate_variants_text(arena, candidate), "");
  }
}

/* ---- ids
 * --------------------------------------------------------------------- */

WS_TEST(the_id_does_not_depend_on_declaration_order) {
  ws_candidate *one = create();
  const ws_template *other = ws_test_template(
      arena, LAUNCH STORE LOAD LOAD_SLIM LOAD_WIDE OFFSET TILE_N TILE_M HEAD);
  ws_candidate *two = ws_candidate_create(arena, other);
  WS_CHECK_TEXT(one->id.hex, two->id.hex);
  ws_diag diag;
  WS_CHECK_INT(ws_candidate_set(one, "tile_m=16;offset=8", &diag), WS_OK);
  WS_CHECK_INT(ws_candidate_set(two, "offset=8;tile_m=16", &diag), WS_OK);
  WS_CHECK_INT(ws_candidate_set_variants(one, "load=load_wide", &diag), WS_OK);
  WS_CHECK_INT(ws_candidate_set_variants(two, "load=load_wide", &diag), WS_OK);
  WS_CHECK_TEXT(one->id.hex, two->id.hex);
}

/* The documented recipe, hashed here by hand. */
WS_TEST(the_id_is_the_hash_of_the_documented_text) {
  ws_candidate *candidate = create();
  ws_strbuf want;
  ws_strbuf_init(&want);
  ws_strbuf_append(&want, candidate->tmpl->hash.hex, 33);
  static const char rest[] = "offset\0000\0tile_m\00032\0tile_n\00064\0"
                             "load\0variant\0default\0store\0variant\0default";
  ws_strbuf_append(&want, rest, sizeof rest);
  WS_CHECK_TEXT(candidate->id.hex, ws_hash_bytes(want.data, want.size).hex);
  ws_strbuf_deinit(&want);
}

WS_TEST(every_part_of_a_candidate_is_in_its_id) {
  ws_candidate *base = create();
  ws_hash ids[8];
  for (int i = 0; i < 8; i++) {
    ws_candidate *candidate = ws_candidate_copy(arena, base);
    if (i == 1)
      candidate->values[0] = 16;
    if (i == 2)
      candidate->values[1] = 16;
    if (i == 3)
      candidate->bodies[0].variant = 0;
    if (i == 4)
      candidate->bodies[0] = (ws_body){-1, "ir", "ret void"};
    if (i == 5)
      candidate->bodies[1] = (ws_body){-1, "ir", "ret void"};
    if (i == 6)
      candidate->bodies[0] = (ws_body){-1, "opencl", "ret void"};
    if (i == 7)
      candidate->bodies[0] = (ws_body){-1, "ir", "default"};
    ws_candidate_update_id(candidate);
    ids[i] = candidate->id;
    for (int j = 0; j < i; j++)
      WS_CHECK(strcmp(ids[i].hex, ids[j].hex));
  }
  WS_CHECK_TEXT(ids[0].hex, base->id.hex);
}

/* Another text of the template is another template, whatever it declares. */
WS_TEST(the_template_text_is_in_the_id) {
  ws_candidate *one = create();
  ws_template other = *one->tmpl;
  other.hash = ws_hash_bytes("other", 5);
  WS_CHECK(strcmp(one->id.hex, ws_candidate_create(arena, &other)->id.hex));
}

WS_TEST(a_copy_stands_alone) {
  ws_candidate *from = create();
  char body[] = "ret void", language[] = "ir";
  from->bodies[0] = (ws_body){-1, language, body};
  ws_candidate_update_id(from);
  ws_arena *other = ws_arena_create();
  ws_candidate *copy = ws_candidate_copy(other, from);
  WS_CHECK_TEXT(copy->id.hex, from->id.hex);
  memset(body, 'x', sizeof body - 1);
  from->values[0] = 128;
  WS_CHECK_TEXT(copy->bodies[0].text, "ret void");
  WS_CHECK_INT(copy->values[0], 32);
  WS_CHECK_TEXT(ws_candidate_variants_text(other, copy), "");
  ws_arena_destroy(other);
}

/* ---- scope and constraints
 * ------------------------------------------------------ */

static int64_t scope_value(ws_scope scope, const char *name) {
  for (int i = 0; i < scope.count; i++)
    if (!strcmp(scope.bindings[i].name, name))
      return scope.bindings[i].value;
  return -999;
}

WS_TEST(scope_holds_what_is_known) {
  ws_candidate *candidate = create();
  ws_shape shape = gemm_shape(1, 2, 3);
  ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  WS_CHECK_INT(scope.count, 3);
  WS_CHECK_INT(scope_value(scope, "tile_m"), 32);
  WS_CHECK_INT(scope_value(scope, "m"), -999);
  scope = ws_candidate_scope(arena, candidate, &shape, 304);
  WS_CHECK_INT(scope.count, 7);
  WS_CHECK_INT(scope_value(scope, "m"), 1);
  WS_CHECK_INT(scope_value(scope, "n"), 2);
  WS_CHECK_INT(scope_value(scope, "k"), 3);
  WS_CHECK_INT(scope_value(scope, "cu_count"), 304);
}

WS_TEST(constraints) {
  ws_candidate *candidate = create();
  ws_shape good = gemm_shape(16, 16, 128), bad = gemm_shape(16, 16, 192);
  ws_diag diag = {""};
  WS_CHECK_INT(ws_candidate_broken_require(candidate, NULL, &diag), -1);
  WS_CHECK_INT(ws_candidate_broken_require(candidate, &good, &diag), -1);
  WS_CHECK_INT(ws_candidate_broken_require(candidate, &bad, &diag), 1);
  WS_CHECK_TEXT(diag.text, "gemm.ll:11: k must be a multiple of 4 tile_m "
                           "(k % (tile_m * 4) == 0)");
  WS_CHECK_INT(ws_candidate_set(candidate, "tile_m=128", &diag), WS_OK);
  WS_CHECK_INT(ws_candidate_broken_require(candidate, NULL, &diag), 0);
  WS_CHECK_TEXT(diag.text, "gemm.ll:10: the tile needs too many registers "
                           "(tile_m * tile_n <= 4096)");
  WS_CHECK_INT(ws_candidate_broken_require(candidate, NULL, NULL), 0);
}

WS_TEST(a_constraint_that_cannot_be_evaluated_is_broken) {
  ws_candidate *candidate = create();
  ws_diag diag = {""};
  WS_CHECK_INT(ws_candidate_set(candidate, "tile_m=16", &diag), WS_OK);
  WS_CHECK_INT(ws_candidate_broken_require(candidate, NULL, &diag), 2);
  WS_CHECK_TEXT(diag.text,
                "gemm.ll:12: division by zero in '256 / (tile_m - 16)' of "
                "'256 / (tile_m - 16) > 0'");
}
