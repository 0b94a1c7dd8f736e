/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table device: reading, what is wrong with a table, looking up; and that
 * the template of the MI300X sweep describes the sweep.
 */
#include "../gemm_shape.h"
#include "space.h"
#include "table.h"
#include "wavesmith/build.h"
#include "ws_test_template.h"

#define TEMPLATE                                                               \
  "template|t|1|fp8_gemm_blockscale|gfx942|x\n"                                \
  "param|bm|ws.bm|64 128|x|64\n"                                               \
  "param|deep|ws.deep|0 1|x|0\n"                                               \
  "launch|kernel|1|1|1|64|1|c\n"
#define HEADING "m,n,k,deep,bm,first_us,total_us_min\n"

static char path[] = "/tmp/ws-table-XXXXXX";

static ws_status read_text(ws_arena *arena, const char *text, ws__table **out,
                           ws_diag *diag) {
  int file = mkstemp(path);
  WS_CHECK(file >= 0);
  WS_CHECK(write(file, text, strlen(text)) == (ssize_t)strlen(text));
  close(file);
  ws_status status = ws__table_read(arena, path, out, diag);
  unlink(path);
  return status;
}

static double look_up(const ws__table *table, ws_candidate *candidate, int bm,
                      int deep, int m) {
  candidate->values[0] = bm;
  candidate->values[1] = deep;
  const ws_shape shape = gemm_shape(m, 32, 128);
  return ws__table_us(table, candidate, &shape);
}

WS_TEST(times_are_looked_up) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag = {""};
  ws__table *table;
  const ws_template *tmpl = ws_test_template(arena, TEMPLATE);
  ws_candidate *candidate = ws_candidate_create(arena, tmpl);
  if (read_text(arena,
                HEADING "16,32,128,0,64,1,7.5\r\n"
                        "64,32,128,0,64,1,9\n"
                        "16,32,128,1,64,1,6.25\n\n"
                        "16,32,128,1,128,1,3\n",
                &table, &diag) != WS_OK ||
      ws__table_check(table, tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK(look_up(table, candidate, 64, 0, 16) == 7.5);
  WS_CHECK(look_up(table, candidate, 64, 0, 64) == 9);
  WS_CHECK(look_up(table, candidate, 64, 1, 16) == 6.25);
  WS_CHECK(look_up(table, candidate, 128, 1, 16) == 3);
  WS_CHECK(look_up(table, candidate, 128, 0, 16) == INFINITY);
  WS_CHECK(look_up(table, candidate, 64, 0, 32) == INFINITY);
  const ws_shape *shapes;
  WS_CHECK_INT(ws__table_shapes(table, arena, &shapes), 2);
  WS_CHECK(shapes[0].size[DIM_M] == 16 && shapes[1].size[DIM_M] == 64);
  WS_CHECK(!strncmp(ws__table_provenance(table), "table:ws-table-", 15));
  ws_arena_destroy(arena);
}

WS_TEST(another_template_has_no_times) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag = {""};
  ws__table *table;
  const ws_template *tmpl =
      ws_test_template(arena, "template|u|1|fp8_gemm_blockscale|gfx942|x\n"
                              "param|bm|ws.bm|64 128|x|64\n"
                              "launch|kernel|1|1|1|64|1|c\n");
  WS_CHECK(read_text(arena, HEADING "16,32,128,0,64,1,7\n", &table, &diag) ==
           WS_OK);
  WS_CHECK_INT(ws__table_check(table, tmpl, &diag), WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "column 'deep' is no parameter of template u");
  const ws_shape shape = gemm_shape(16, 32, 128);
  WS_CHECK(ws__table_us(table, ws_candidate_create(arena, tmpl), &shape) ==
           INFINITY);
  ws_arena_destroy(arena);
}

WS_TEST(what_is_wrong_is_said_in_one_line) {
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"", ":1: column 1, ''"},
      {"m,n,bm,total_us_min\n", ":1: column 3, 'bm'"},
      {"m,n,k,bm,,total_us_min\n", ":1: column 5, ''"},
      {"m,n,k,total_us_min,bm\n", ":1: column 5, 'bm'"},
      {"m,n,k,bm,mma_us\n", ":1: there is no column total_us_min"},
      {HEADING "16,32,128,0,64,1\n", ":2: the row ends before"},
      {HEADING "16,32,128,0,64,1,0\n", ":2: the row ends before"},
      {HEADING "16,32,128,0,64,1,5\n16,32,x,0,64,1,2\n", ":3: column 3: 'x'"},
      {HEADING "16,32,128,0,6.5,1,2\n", ":2: column 5: '6.5'"},
      {HEADING "16,32,128,0,64,1,nan\n", ":2: column 7: 'nan'"},
      {HEADING "16,32,128,0,64,1,-3\n", ":2: column 7: '-3'"},
      {HEADING "16,32,128,0,64,1,inf\n", ":2: the row ends before"},
      {HEADING "16,32,128,0,64,1,2\n16,32,128,0,64,1,3\n",
       "two rows have the same shape (16,32,128)"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    ws_arena *arena = ws_arena_create();
    ws_diag diag = {""};
    ws__table *table;
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    WS_CHECK_INT(read_text(arena, cases[i].text, &table, &diag), WS_INPUT);
    WS_CHECK_CONTAINS(diag.text, cases[i].part);
    WS_CHECK(!strchr(diag.text, '\n'));
    ws_arena_destroy(arena);
  }
}

WS_TEST(a_missing_table_is_an_input_at_fault) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag = {""};
  ws__table *table;
  WS_CHECK_INT(ws__table_read(arena, "/nonexistent.csv", &table, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "/nonexistent.csv");
  ws_arena_destroy(arena);
}

/* ---- the sweep ---- */
static const ws_template *describe(ws_arena *arena, const char *file) {
  ws_compiler *compiler;
  ws_diag diag = {""};
  char *text;
  size_t size;
  const ws_template *tmpl;
  if (ws_file_read(arena, file, &text, &size, &diag) != WS_OK ||
      ws_compiler_start(&compiler, &diag) != WS_OK ||
      ws_compiler_describe(compiler, arena, file, text, size, &tmpl, &diag) !=
          WS_OK)
    WS_FAIL("%s", diag.text);
  ws_compiler_stop(compiler);
  return tmpl;
}

/* Every legal point has a time on each of the 12 shapes, and 300 points times
 * 12 shapes are all of the table's 3600 rows. */
WS_TEST(the_template_of_the_sweep_is_the_sweep) {
  const char *shared = getenv("WS_SHARED_DIR"),
             *source = getenv("WS_SOURCE_DIR");
  ws_arena *arena = ws_arena_create();
  char *data = ws_arena_printf(arena, "%s/data/mi300x_fp8_gemm_sweep.csv",
                               shared ? shared : ".");
  if (!ws_file_exists(data))
    WS_SKIP("no %s", data);
  ws_diag diag = {""};
  ws__table *table;
  const ws_shape *shapes;
  const ws_template *tmpl = describe(
      arena, ws_arena_printf(arena, "%s/tests/search/mi300x_sweep.ll", source));
  if (ws__table_read(arena, data, &table, &diag) != WS_OK ||
      ws__table_check(table, tmpl, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  int shape_count = ws__table_shapes(table, arena, &shapes);
  WS_CHECK_INT(shape_count, 12);
  ws__space space;
  WS_CHECK(ws__space_init(&space, arena, tmpl, 1, "mnmajor", shapes,
                          shape_count, &diag) == WS_OK);
  ws_rng rng;
  ws__seen seen = {0};
  int point[WS_TEMPLATE_MAX_PARAMS], points = 0, times = 0;
  ws_rng_init(&rng, 1);
  while (ws__space_draw(&space, &rng, &seen, point) == WS__DRAW_FOUND) {
    const ws_candidate *candidate = ws__space_candidate(&space, arena, point);
    ws__seen_add(&seen, &candidate->id);
    points++;
    for (int s = 0; s < shape_count; s++)
      times += isfinite(ws__table_us(table, candidate, &shapes[s]));
  }
  WS_CHECK_INT(points, 300);
  WS_CHECK_INT(times, 3600);
  /* two rows of the file, read by eye */
  ws_candidate *row = ws_candidate_create(arena, tmpl);
  const ws_shape read = gemm_shape(1024, 512, 7168);
  WS_CHECK_NEAR(ws__table_us(table, row, &read), 164.21, 0);
  WS_CHECK(ws_candidate_set(row, "block_size=256", &diag) == WS_OK);
  WS_CHECK_NEAR(ws__table_us(table, row, &read), 126.97, 0);
  ws__seen_deinit(&seen);
  ws_arena_destroy(arena);
}
