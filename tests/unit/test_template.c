/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Records to template: a good one field by field, and every way to write a
 * bad one, with the sentence its author reads.
 */
#include "ws_test_template.h"

#include <cjson/cJSON.h>

#define HEAD "template|fp8_gemm_mfma|1.0|fp8_gemm_blockscale|gfx942|a GEMM\n"
#define TILE "param|tile_m|ws.tile_m|16 32 128|rows of a tile|32\n"
#define LAUNCH "launch|gemm|ceildiv(m, 16)|n|1|64|1|a b c m n k\n"

static const char good[] = HEAD TILE
    "param|split|ws.split|1 2 4|parts of k|1\n"
    "require|tile_m * split <= 256|too much LDS\n"
    "require|k % (128 * split) == 0|k must split evenly\n"
    "lds|ws.lds|tile_m * 128 * 2\n"
    "region|load_a|reads a tile of A\n"
    "region|store_c|writes C\n"
    "variant|load_a|load_a_wide|16 bytes a lane\n"
    "variant|load_a|load_a_narrow|4 bytes a lane\n" LAUNCH
    "launch|reduce|ceildiv(m * n, 256)|1|1|256|split > 1|c workspace m  n\n"
    "workspace|split > 1 ? split * m * n * 4 : 0\n"
    "allow|scratch\n";

WS_TEST(a_good_template_field_by_field) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = ws_test_template(arena, good);
  WS_CHECK_TEXT(tmpl->file, "gemm.ll");
  WS_CHECK_TEXT(tmpl->name, "fp8_gemm_mfma");
  WS_CHECK_TEXT(tmpl->version, "1.0");
  WS_CHECK_TEXT(tmpl->problem, "fp8_gemm_blockscale");
  WS_CHECK_TEXT(tmpl->target, "gfx942");
  WS_CHECK_TEXT(tmpl->purpose, "a GEMM");
  WS_CHECK_TEXT(tmpl->hash.hex, ws_hash_bytes("template text", 13).hex);
  WS_CHECK(tmpl->allow_scratch);
  WS_CHECK_INT(tmpl->param_count, 2);
  WS_CHECK_TEXT(tmpl->params[0].name, "tile_m");
  WS_CHECK_TEXT(tmpl->params[0].global, "ws.tile_m");
  WS_CHECK_TEXT(tmpl->params[0].meaning, "rows of a tile");
  WS_CHECK_INT(tmpl->params[0].value_count, 3);
  WS_CHECK_INT(tmpl->params[0].values[2], 128);
  WS_CHECK_INT(tmpl->params[0].default_value, 32);
  WS_CHECK_INT(tmpl->params[1].line, 3);
  WS_CHECK_INT(tmpl->require_count, 2);
  WS_CHECK(!tmpl->requires[0].uses_shape && tmpl->requires[1].uses_shape);
  WS_CHECK_TEXT(tmpl->requires[1].reason, "k must split evenly");
  WS_CHECK_INT(tmpl->lds_count, 1);
  WS_CHECK_TEXT(ws_expr_text(tmpl->lds[0].bytes), "tile_m * 128 * 2");
  WS_CHECK_INT(tmpl->region_count, 2);
  WS_CHECK_INT(tmpl->regions[0].variant_count, 2);
  WS_CHECK_TEXT(tmpl->regions[0].variants[1].function, "load_a_narrow");
  WS_CHECK_TEXT(tmpl->regions[0].variants[1].purpose, "4 bytes a lane");
  WS_CHECK_INT(tmpl->regions[0].variants[1].line, 10);
  WS_CHECK_INT(tmpl->regions[1].variant_count, 0);
  WS_CHECK_INT(tmpl->launch_count, 2);
  WS_CHECK_TEXT(tmpl->launches[1].kernel, "reduce");
  WS_CHECK_TEXT(ws_expr_text(tmpl->launches[0].grid[1]), "n");
  WS_CHECK_TEXT(ws_expr_text(tmpl->launches[0].threads), "64");
  WS_CHECK_TEXT(ws_expr_text(tmpl->launches[1].condition), "split > 1");
  WS_CHECK_INT(tmpl->launches[0].argument_count, 6);
  WS_CHECK_INT(tmpl->launches[1].argument_count, 4);
  WS_CHECK_TEXT(tmpl->launches[1].arguments[1], "workspace");
  WS_CHECK_TEXT(tmpl->launches[1].arguments[3], "n");
  WS_CHECK(tmpl->workspace != NULL);
  WS_CHECK_INT(ws_template_param_index(tmpl, "split"), 1);
  WS_CHECK_INT(ws_template_param_index(tmpl, "spli"), -1);
  WS_CHECK_INT(ws_template_region_index(tmpl, "store_c"), 1);
  WS_CHECK_INT(ws_template_region_index(tmpl, "load_a_wide"), -1);
  ws_arena_destroy(arena);
}

#define SM90 "template|fp8_gemm_wgmma|1|fp8_gemm_blockscale|sm_90a|a GEMM\n"
#define MAPPED "launch|gemm|n|1|1|384|1|a_map c_map c m n k\n"
#define A_MAP "tensor_map|a_map|a|u8|k|m|128|tile_m|128\n"
#define C_MAP "tensor_map|c_map|c|bf16|n|m|64|64|tile_m\n"

WS_TEST(tensor_maps_and_occupancy) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = ws_test_template(
      arena, A_MAP SM90 C_MAP TILE "occupancy|gemm|tile_m / 16|2\n" MAPPED);
  WS_CHECK_INT(tmpl->tensor_map_count, 2);
  WS_CHECK_TEXT(tmpl->tensor_maps[0].name, "a_map");
  WS_CHECK_TEXT(tmpl->tensor_maps[0].argument, "a");
  WS_CHECK_INT(tmpl->tensor_maps[0].line, 1);
  WS_CHECK_TEXT(ws_expr_text(tmpl->tensor_maps[0].inner), "k");
  WS_CHECK_TEXT(ws_expr_text(tmpl->tensor_maps[0].outer), "m");
  WS_CHECK_TEXT(ws_expr_text(tmpl->tensor_maps[0].box_inner), "128");
  WS_CHECK_TEXT(ws_expr_text(tmpl->tensor_maps[0].box_outer), "tile_m");
  WS_CHECK_TEXT(ws_expr_text(tmpl->tensor_maps[1].swizzle), "tile_m");
  WS_CHECK_INT(ws_element_bytes(tmpl->tensor_maps[0].element), 1);
  WS_CHECK_INT(ws_element_bytes(tmpl->tensor_maps[1].element), 2);
  WS_CHECK_INT(ws_element_bytes(WS_ELEMENT_F32), 4);
  WS_CHECK_INT(tmpl->occupancy_count, 1);
  WS_CHECK_TEXT(tmpl->occupancies[0].kernel, "gemm");
  WS_CHECK_TEXT(ws_expr_text(tmpl->occupancies[0].cluster), "tile_m / 16");
  WS_CHECK_TEXT(ws_expr_text(tmpl->occupancies[0].workgroups), "2");
  ws_arena_destroy(arena);
}

WS_TEST(bad_tensor_maps_and_occupancies) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {SM90 TILE MAPPED "occupancy|gem|1|1\n",
       "gemm.ll:4: occupancy of 'gem', which no !wavesmith.launch starts"},
      {SM90 TILE MAPPED "occupancy|gemm|1|1\noccupancy|gemm|2|1\n",
       "gemm.ll:5: the occupancy of 'gemm' is given twice, first in line 4"},
      {SM90 TILE MAPPED "occupancy|gemm|m|1\n",
       "gemm.ll:4: 'm' must not be used in the occupancy expression"},
      {SM90 TILE MAPPED A_MAP A_MAP,
       "gemm.ll:5: tensor map 'a_map' is declared twice, first in line 4"},
      {SM90 TILE MAPPED "tensor_map|b_map|b|u8|k|n|128|64|128\n",
       "gemm.ll:4: no kernel takes tensor map 'b_map'"},
      {SM90 TILE MAPPED "tensor_map|a_map|a|u16|k|m|128|64|128\n",
       "gemm.ll:4: tensor map 'a_map': the element is u8, bf16 or f32, not "
       "'u16'"},
      {SM90 TILE MAPPED "tensor_map|a_map|a|u8|k|m|k|64|128\n",
       "gemm.ll:4: 'k' must not be used in the tensor_map expression 'k'"},
      {SM90 TILE MAPPED "tensor_map|a_map|a|u8|cu_count|m|128|64|128\n",
       "gemm.ll:4: 'cu_count' must not be used"},
      {SM90 TILE MAPPED "tensor_map|a_map|a|u8|k|m|128|64\n",
       "gemm.ll:4: !wavesmith.tensor_map takes 8 operands, not 7"},
      {SM90 TILE MAPPED "tensor_maps|a_map\n", "allow occupancy tensor_map"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_arena *arena = ws_arena_create();
    const ws_template *tmpl;
    ws_diag diag = {""};
    WS_CHECK_INT(ws_test_read(arena, cases[i].text, &tmpl, &diag), WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, cases[i].want);
    ws_arena_destroy(arena);
  }
}

WS_TEST(the_least_template) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = ws_test_template(arena, HEAD LAUNCH);
  WS_CHECK_INT(tmpl->param_count, 0);
  WS_CHECK(tmpl->workspace == NULL && !tmpl->allow_scratch);
  WS_CHECK_INT(ws_test_template(arena, HEAD "launch|k|1|1|1|64|1|\n")
                   ->launches[0]
                   .argument_count,
               0);
  ws_arena_destroy(arena);
}

/* Metadata comes in any order: nothing must depend on it. */
WS_TEST(records_may_come_in_any_order) {
  ws_arena *arena = ws_arena_create();
  const ws_template *tmpl = ws_test_template(
      arena, LAUNCH "variant|load|load_wide|wide\nregion|load|reads\n"
                    "require|tile_m > 16|small\n" TILE HEAD);
  WS_CHECK_INT(tmpl->regions[0].variant_count, 1);
  WS_CHECK_INT(tmpl->requires[0].line, 4);
  ws_arena_destroy(arena);
}

WS_TEST(bad_templates_are_refused_with_line_and_cure) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"", "gemm.ll: no !wavesmith.template; add one: name, version"},
      {LAUNCH, "gemm.ll: no !wavesmith.template"},
      {HEAD HEAD LAUNCH, "gemm.ll:2: more than 1 !wavesmith.template; remove "
                         "this one"},
      {"template|a|1|p|gfx942\n" LAUNCH,
       "gemm.ll:1: !wavesmith.template takes 5 operands, not 4: name, "
       "version, problem, target, purpose"},
      {"template||1|p|gfx942|x\n" LAUNCH,
       "gemm.ll:1: operand 1 of !wavesmith.template is empty"},
      {"template|a b|1|p|gfx942|x\n" LAUNCH,
       "gemm.ll:1: template 'a b' has other characters than letters, "
       "digits and _; rename it"},
      {"template|../a|1|p|gfx942|x\n" LAUNCH, "'../a'"},
      {HEAD, "gemm.ll: no !wavesmith.launch; add one"},
      {HEAD LAUNCH "parm|x|y|1|z|1\n",
       "gemm.ll:3: unknown declaration !wavesmith.parm; known: template param"},
      /* parameters */
      {HEAD LAUNCH "param|x|y|1|z\n", "gemm.ll:3: !wavesmith.param takes 5"},
      {HEAD LAUNCH "param|1x|y|1|z|1\n", "gemm.ll:3: parameter '1x' begins with a digit"},
      {HEAD LAUNCH "param|x-y|y|1|z|1\n", "parameter 'x-y'"},
      {HEAD LAUNCH "param|k|y|1|z|1\n",
       "gemm.ll:3: 'k' already has a meaning in expressions"},
      {HEAD LAUNCH "param|cu_count|y|1|z|1\n", "already has a meaning"},
      {HEAD LAUNCH "param|min|y|1|z|1\n", "already has a meaning"},
      {HEAD TILE LAUNCH "param|tile_m|other|1|z|1\n",
       "gemm.ll:4: parameter 'tile_m' is declared twice, first in line 2"},
      {HEAD TILE LAUNCH "param|other|ws.tile_m|1|z|1\n",
       "gemm.ll:4: global 'ws.tile_m' is declared twice, first in line 2"},
      {HEAD LAUNCH "param|x|g|1 2 x|z|1\n",
       "gemm.ll:3: values of parameter 'x' must be integers with blanks "
       "between them, not '1 2 x'"},
      {HEAD LAUNCH "param|x|g|1,2|z|1\n", "must be integers with blanks"},
      {HEAD LAUNCH "param|x|g|1 2.5|z|1\n", "must be integers with blanks"},
      {HEAD LAUNCH "param|x|g|99999999999999999999|z|1\n",
       "must be integers with blanks"},
      {HEAD LAUNCH "param|x|g|1 4 2|z|1\n",
       "gemm.ll:3: values of parameter 'x' must ascend; put 2 in its place"},
      {HEAD LAUNCH "param|x|g|1 1|z|1\n", "must ascend"},
      {HEAD LAUNCH "param|x|g||z|1\n",
       "operand 3 of !wavesmith.param is empty"},
      {HEAD LAUNCH "param|x|g| |z|1\n", "is not among its values ' '"},
      {HEAD LAUNCH "param|x|g|1 2|z|3\n",
       "gemm.ll:3: the default of parameter 'x', @g = 3, is not among its "
       "values '1 2'; add it or change the initialiser"},
      {HEAD LAUNCH "param|x|g|1 2|z|two\n",
       "gemm.ll:3: the initialiser of @g must be an integer, not 'two'"},
      {HEAD LAUNCH "param|x|g|1 2|z|1 2\n", "must be an integer, not '1 2'"},
      /* regions and variants */
      {HEAD LAUNCH "region|a;b|does\n", "gemm.ll:3: region 'a;b' has other"},
      {HEAD LAUNCH "region|a|does\nregion|b|does\nregion|a|does\n",
       "gemm.ll:5: region 'a' is declared twice, first in line 3"},
      {HEAD LAUNCH "region|a|\n", "operand 2 of !wavesmith.region is empty"},
      {HEAD LAUNCH "variant|a|b|c\n",
       "gemm.ll:3: variant of 'a', which is no region"},
      {HEAD LAUNCH "region|a|does\nvariant|a|b=c|x\n", "variant 'b=c' has other"},
      {HEAD LAUNCH "region|a|does\nvariant|a|default|x\n", "variant 'default' is a word"},
      {HEAD LAUNCH "region|a|does\nregion|b|does\nvariant|a|b|x\n",
       "gemm.ll:5: variant 'b' is a region itself"},
      {HEAD LAUNCH "region|a|x\nregion|b|x\nvariant|a|c|x\nvariant|b|c|x\n",
       "gemm.ll:6: variant 'c' is declared twice, first in line 5"},
      /* expressions */
      {HEAD LAUNCH "require|tile_q > 1|x\n",
       "gemm.ll:3: unknown name 'tile_q' in 'tile_q > 1'; declare it"},
      {HEAD LAUNCH "require|1 +|x\n", "gemm.ll:3: expected an integer"},
      {HEAD LAUNCH "require|cu_count > 1|x\n",
       "gemm.ll:3: 'cu_count' must not be used in the require expression"},
      {HEAD LAUNCH "lds|g|m * 2\n",
       "gemm.ll:3: 'm' must not be used in the lds expression 'm * 2': it is "
       "known only later; use parameters only"},
      {HEAD "launch|f|1|1|1|k|1|\n",
       "gemm.ll:2: 'k' must not be used in the launch expression 'k'"},
      {HEAD "launch|f|1|1|1|cu_count|1|\n", "'cu_count' must not be used"},
      {HEAD "launch|f|1|bad|1|64|1|\n", "unknown name 'bad'"},
      {HEAD "launch|f|1|1|1|64|bad|\n", "unknown name 'bad'"},
      {HEAD "launch|f|1|1|1|64||\n", "operand 6 of !wavesmith.launch is empty"},
      {HEAD "launch|f|1|1|1|64|1|a b a\n",
       "gemm.ll:2: kernel 'f' has two arguments named 'a'"},
      {HEAD "launch|f|1|1|1|64|1|a b c d e f g h i j k l m n o p q r s t u v w "
            "x y\n",
       "gemm.ll:2: kernel 'f' takes more than 24 arguments"},
      {HEAD LAUNCH "workspace|m\nworkspace|n\n",
       "gemm.ll:4: more than 1 !wavesmith.workspace"},
      {HEAD LAUNCH "workspace|size\n", "unknown name 'size'"},
      {HEAD LAUNCH "lds|g|1\nlds|g|2\n",
       "gemm.ll:4: the size of @g is given twice, first in line 3"},
      {HEAD TILE LAUNCH "lds|ws.tile_m|2\n",
       "gemm.ll:4: @ws.tile_m is the global of parameter 'tile_m'"},
      {HEAD LAUNCH "allow|everything\n",
       "gemm.ll:3: unknown feature 'everything' in !wavesmith.allow; known: "
       "scratch"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_arena *arena = ws_arena_create();
    const ws_template *tmpl;
    ws_diag diag = {""};
    if (ws_test_read(arena, cases[i].text, &tmpl, &diag) != WS_INPUT)
      WS_FAIL("case %zu was accepted, want: %s", i, cases[i].want);
    WS_CHECK(tmpl == NULL);
    WS_CHECK_CONTAINS(diag.text, cases[i].want);
    ws_arena_destroy(arena);
  }
}

/* ---- limits
 * -------------------------------------------------------------------- */

/* HEAD, then count lines of format with a number in each, then tail. */
static char *many(ws_arena *arena, const char *before, const char *format_start,
                  const char *format_end, int count, const char *tail) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, before);
  for (int i = 0; i < count; i++)
    ws_strbuf_printf(&text, "%s%d%s", format_start, i, format_end);
  ws_strbuf_puts(&text, tail);
  char *copy = ws_arena_strdup(arena, text.data);
  ws_strbuf_deinit(&text);
  return copy;
}

WS_TEST(counts_above_the_limits_are_refused) {
  static const struct {
    int limit;
    const char *before, *start, *end, *tail, *want;
  } cases[] = {
      {64, HEAD LAUNCH "region|f|x\n", "variant|f|v", "|x\n", "", "variants"},
      {64, HEAD LAUNCH, "region|f", "|x\n", "",
       "more than 64 !wavesmith.region"},
      {128, HEAD LAUNCH, "require|m > ", "|x\n", "",
       "more than 128 !wavesmith.require"},
      {16, HEAD LAUNCH, "lds|g", "|64\n", "", "more than 16 !wavesmith.lds"},
      {16, HEAD, "launch|f", "|1|1|1|64|1|a\n", "",
       "more than 16 !wavesmith.launch"},
      {64, HEAD LAUNCH "param|x|g|", " ", "", "|z|0\n",
       "gemm.ll:3: parameter 'x' has more than 64 values"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_arena *arena = ws_arena_create();
    int limit = i == 0 ? WS_TEMPLATE_MAX_VARIANTS : cases[i].limit;
    const ws_template *tmpl;
    ws_diag diag = {""};
    for (int extra = 0; extra < 2; extra++) {
      char *text = many(arena, cases[i].before, cases[i].start, cases[i].end,
                        limit + extra, cases[i].tail);
      WS_CHECK_INT(ws_test_read(arena, text, &tmpl, &diag),
                   extra ? WS_INPUT : WS_OK);
    }
    WS_CHECK_CONTAINS(diag.text, cases[i].want);
    ws_arena_destroy(arena);
  }
}

WS_TEST(parameters_above_the_limit_are_refused) {
  ws_arena *arena = ws_arena_create();
  ws_strbuf text;
  const ws_template *tmpl;
  ws_diag diag = {""};
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, HEAD LAUNCH);
  for (int i = 0; i < 64; i++)
    ws_strbuf_printf(&text, "param|p%d|g%d|1|x|1\n", i, i);
  WS_CHECK_INT(ws_test_read(arena, text.data, &tmpl, &diag), WS_OK);
  WS_CHECK_INT(tmpl->param_count, 64);
  ws_strbuf_puts(&text, "param|p|g|1|x|1\n");
  WS_CHECK_INT(ws_test_read(arena, text.data, &tmpl, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "gemm.ll:67: more than 64 !wavesmith.param");
  ws_strbuf_deinit(&text);
  ws_arena_destroy(arena);
}

WS_TEST(the_template_does_not_point_into_the_records) {
  ws_arena *arena = ws_arena_create(), *records_arena = ws_arena_create();
  ws_records records = ws_test_records(records_arena, good);
  const ws_template *tmpl;
  ws_diag diag;
  WS_CHECK_INT(ws_template_from_records(arena, &records, "gemm.ll",
                                        ws_hash_bytes("", 0), &tmpl, &diag),
               WS_OK);
  for (int i = 0; i < records.count; i++)
    for (int o = 0; o < records.items[i].operand_count; o++)
      memset((char *)records.items[i].operands[o], '?',
             strlen(records.items[i].operands[o]));
  ws_arena_destroy(records_arena);
  WS_CHECK_TEXT(tmpl->regions[0].variants[0].function, "load_a_wide");
  WS_CHECK_TEXT(tmpl->launches[0].arguments[0], "a");
  WS_CHECK_TEXT(tmpl->lds[0].global, "ws.lds");
  ws_arena_destroy(arena);
}

/* ---- JSON
 * ------------------------------------------------------------------------- */

WS_TEST(records_survive_json) {
  ws_arena *arena = ws_arena_create();
  ws_records records =
      ws_test_records(arena, "param|quote \" slash \\|\xc3\xa9||\nregion\n");
  struct cJSON *json = ws_records_to_json(&records);
  char *text = cJSON_PrintUnformatted(json);
  WS_CHECK_TEXT(text,
                "[{\"kind\":\"param\",\"line\":1,\"operands\":[\"quote \\\" "
                "slash \\\\\",\"\xc3\xa9\",\"\",\"\"]},"
                "{\"kind\":\"region\",\"line\":2,\"operands\":[]}]");
  ws_records back;
  ws_diag diag;
  WS_CHECK_INT(ws_records_from_json(arena, json, &back, &diag), WS_OK);
  WS_CHECK_INT(back.count, 2);
  WS_CHECK_INT(back.items[0].operand_count, 4);
  WS_CHECK_TEXT(back.items[0].operands[0], "quote \" slash \\");
  WS_CHECK_INT(back.items[1].line, 2);
  cJSON_free(text);
  cJSON_Delete(json);
  WS_CHECK_TEXT(back.items[1].kind, "region"); /* copied */
  ws_arena_destroy(arena);
}

WS_TEST(bad_records_json_is_refused) {
  static const char *const texts[] = {
      "{}",
      "null",
      "[1]",
      "[{}]",
      "[{\"kind\":1,\"line\":1,\"operands\":[]}]",
      "[{\"kind\":\"x\",\"line\":\"1\",\"operands\":[]}]",
      "[{\"kind\":\"x\",\"line\":-1,\"operands\":[]}]",
      "[{\"kind\":\"x\",\"line\":1e10,\"operands\":[]}]",
      "[{\"kind\":\"x\",\"line\":1}]",
      "[{\"kind\":\"x\",\"line\":1,\"operands\":{}}]",
      "[{\"kind\":\"x\",\"line\":1,\"operands\":[1]}]",
      "[{\"kind\":\"x\",\"line\":1,\"operands\":[null]}]",
  };
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct cJSON *json = cJSON_Parse(texts[i]);
    ws_records records;
    ws_diag diag = {""};
    if (ws_records_from_json(arena, json, &records, &diag) != WS_INPUT)
      WS_FAIL("accepted: %s", texts[i]);
    WS_CHECK_CONTAINS(diag.text, "records: ");
    cJSON_Delete(json);
  }
  ws_arena_destroy(arena);
}
