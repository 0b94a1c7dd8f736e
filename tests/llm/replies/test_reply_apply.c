/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a parent and a reply to a candidate: where edits match, what is said
 * when they do not, parameters, languages; and cutting functions out of IR.
 */
#include "replies.h"
#include "wavesmith/ir_text.h"

#define NAIVE "ir-templates/fp8_gemm_naive.ll"

static ws_candidate *parent_of(ws_arena *arena) {
  return ws_candidate_create(arena, naive_template(arena));
}

static ws_candidate *apply_to(ws_arena *arena, const ws_candidate *parent,
                              const char *text) {
  ws_reply reply = parse(arena, text);
  ws_candidate *candidate;
  ws_diag diag;
  if (ws_reply_apply(arena, &reply, parent, read_source(arena, NAIVE),
                     &candidate, &diag) != WS_OK)
    WS_FAIL("not applied: %s\n%s", diag.text, text);
  return candidate;
}

static void refuse_to_apply(ws_arena *arena, const ws_candidate *parent,
                            const char *text, const char *words) {
  ws_reply reply = parse(arena, text);
  ws_candidate *candidate;
  ws_diag diag = {""};
  if (ws_reply_apply(arena, &reply, parent, read_source(arena, NAIVE),
                     &candidate, &diag) != WS_INPUT)
    WS_FAIL("applied, want \"%s\": %s", words, text);
  WS_CHECK_CONTAINS(diag.text, words);
  WS_CHECK(!strchr(diag.text, '\n'));
}

/* A parent whose dot is this text. */
static ws_candidate *parent_with(ws_arena *arena, const char *text) {
  ws_candidate *parent = parent_of(arena);
  parent->bodies[1] = (ws_body){-1, "opencl", text};
  ws_candidate_update_id(parent);
  return parent;
}

static const char *edit(ws_arena *arena, const char *search,
                        const char *replace) {
  return ws_arena_printf(arena,
                         "## region dot\n<<<<<<< SEARCH\n%s=======\n%s"
                         ">>>>>>> REPLACE\n",
                         search, replace);
}

/* ---- edits --------------------------------------------------------------- */

static const struct {
  const char *text, *search, *replace, *want;
} edits[] = {
    {"a\nb\nc\n", "b\n", "B\n", "a\nB\nc\n"},
    {"a\nb\nc\n", "a\n", "", "b\nc\n"},
    {"a\nb\nc\n", "c\n", "C\nD\n", "a\nb\nC\nD\n"},
    {"a\nb\nc", "c\n", "C\n", "a\nb\nC\n"}, /* no end of line */
    {"a\nb\nc\n", "a\nb\nc\n", "x\n", "x\n"},
    /* whole lines only: "a" is not in "ab" */
    {"ab\na\n", "a\n", "x\n", "ab\nx\n"},
    /* white space at the ends of lines */
    {"a \nb\t\r\nc\n", "a\nb  \n", "x\n", "x\nc\n"},
    /* indented more, less, with blank lines; the replacement moves along */
    {"  if\n    x\n", "if\n  x\n", "if\n\n  y\n", "  if\n\n    y\n"},
    {"if\n  x\n", "    if\n      x\n", "    if\n      y\n  z\n",
     "if\n  y\nz\n"},
    {"\tx\n", "x\n", "y\nz\n", "\ty\n\tz\n"},
    {"a\n\n  b\n", "a\n\n  b\n", "c\n", "c\n"},
    /* as written before indented otherwise */
    {"  x\nx\n", "x\n", "y\n", "  x\ny\n"},
    /* a repeated beginning: the one place where all lines follow */
    {"a\na\na\nb\n", "a\na\nb\n", "x\n", "a\nx\n"},
    {"a\nb\na\nb\na\nc\n", "a\nb\na\nc\n", "x\n", "a\nb\nx\n"},
    /* blank lines first */
    {"a\n\n\nb\n", "\nb\n", "c\n", "a\n\nc\n"},
};

WS_TEST(edits_that_match) {
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    ws_arena *arena = ws_arena_create();
    ws_candidate *parent = parent_with(arena, edits[i].text);
    ws_candidate *child =
        apply_to(arena, parent, edit(arena, edits[i].search, edits[i].replace));
    WS_CHECK_TEXT(child->bodies[1].text, edits[i].want);
    WS_CHECK_TEXT(child->bodies[1].language, "opencl");
    WS_CHECK(strcmp(child->id.hex, parent->id.hex));
    WS_CHECK_TEXT(parent->bodies[1].text, edits[i].text);
    ws_arena_destroy(arena);
  }
}

static const struct {
  const char *text, *search, *words;
} mismatches[] = {
    {"one = 1\ntwo = 2\nthree = 3\n", "two = 3\n",
     "reply:2: the edit's search text is not in region dot: its line 1 is 'two "
     "= 3', the nearest one there is line 2, 'two = 2'"},
    {"one = 1\ntwo = 2\n", "one = 1\ntwo = 22\n", "its line 2 is 'two = 22'"},
    {"one = 1\n", "zzz\n", "nothing there is like its line 1, 'zzz'"},
    {"a\nb\nc\n", "a\nc\n", "not one after the other"},
    {"a\n  b\n", "a\nb\n", "indented otherwise"},
    {"a\nb\na\n", "a\n", "is in region dot 2 times (lines 1 and 3)"},
    {"  a\n a\na b\n  a\n", "    a\n", "3 times (lines 1 and 2)"},
    {"a\na\na\na\n", "a\na\n", "3 times (lines 1 and 2)"},
    {"a\na\na\na\n", "a\na\na\n", "2 times (lines 1 and 2)"},
    {"a\nb\n", "\nb\n", "not one after the other"},
    {"a\nb\n", "a\nb\nc\n", "its line 3, 'c'"},
    {"", "a\n", "nothing there is like"},
};

WS_TEST(edits_that_do_not_match) {
  for (size_t i = 0; i < sizeof mismatches / sizeof *mismatches; i++) {
    ws_arena *arena = ws_arena_create();
    refuse_to_apply(arena, parent_with(arena, mismatches[i].text),
                    edit(arena, mismatches[i].search, "new\n"),
                    mismatches[i].words);
    ws_arena_destroy(arena);
  }
}

/* One after the other: the second edits what the first has written. */
WS_TEST(edits_in_order) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *parent = parent_with(arena, "a\nb\n");
  ws_candidate *child = apply_to(
      arena, parent,
      "## region dot\n<<<<<<<\na\n=======\nc\n>>>>>>>\n<<<<<<<\nc\nb\n=======\n"
      "d\n>>>>>>>\n");
  WS_CHECK_TEXT(child->bodies[1].text, "d\n");
  refuse_to_apply(
      arena, parent,
      "## region dot\n<<<<<<<\na\n=======\nc\n>>>>>>>\n<<<<<<<\nc\n=======\n"
      "a\n>>>>>>>\n",
      "reply:1: the edits of region dot change nothing");
  ws_arena_destroy(arena);
}

/* Of a shipped body, of a variant under the region's name. */
WS_TEST(edits_of_the_template) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *parent = parent_of(arena);
  static const char text[] =
      "## region decode (ir)\n<<<<<<< SEARCH\n  ret float %value\n=======\n"
      "  %twice = fadd float %value, %value\n  ret float %twice\n"
      ">>>>>>> REPLACE\n";
  ws_candidate *child = apply_to(arena, parent, text);
  WS_CHECK(!strncmp(child->bodies[0].text,
                    "define internal float @decode(i32 %byte) #1 {\n", 46));
  WS_CHECK_CONTAINS(child->bodies[0].text, "cvt.f32.fp8(i32 %byte, i32 0)\n"
                                           "  %twice = fadd");
  WS_CHECK_TEXT(child->bodies[0].language, "ir");
  parent->bodies[0].variant = 0;
  ws_candidate_update_id(parent);
  child = apply_to(arena, parent, text);
  WS_CHECK(!strncmp(child->bodies[0].text,
                    "define internal float @decode(i32 %byte) #1 {\n", 46));
  WS_CHECK_CONTAINS(child->bodies[0].text, "%is.nan");
  WS_CHECK_INT(child->bodies[0].variant, -1);
  refuse_to_apply(arena, parent,
                  "## region decode (opencl)\n<<<<<\na\n=====\nb\n>>>>>\n",
                  "region decode is written in ir, the edits are said to be "
                  "opencl");
  ws_arena_destroy(arena);
}

/* ---- edits by line numbers ----------------------------------------------- */

#define LINES(range, had, new)                                                 \
  "<<<<<<< LINES " range "\n" had "=======\n" new ">>>>>>> REPLACE\n"

static const struct {
  const char *text, *edits, *want;
} ranges[] = {
    {"a\nb\nc\n", LINES("2", "b\n", "B\n"), "a\nB\nc\n"},
    {"a\nb\nc\n", LINES("1 2", "a\n", "x\n"), "x\nc\n"},
    {"a\nb\nc\n", LINES("1-3", "a\nb\nc\n", ""), ""},
    {"a\nb\nc\n", LINES("2, 3", "b\n", "b\n"), "a\nb\n"},
    {"a\nb", LINES("2", "b\n", "b\nc\n"), "a\nb\nc\n"}, /* insertion */
    {"a\n  b \nc\n", LINES("2", "b\n", "  B\n"), "a\n  B\nc\n"},
    /* all numbers are of the text before any edit, whatever their order */
    {"a\nb\nc\n", LINES("3", "c\n", "C\n") LINES("1", "a\n", "A\nA\n"),
     "A\nA\nb\nC\n"},
    /* what occurs more than once can be told apart */
    {"a\na\na\n", LINES("2", "a\n", "b\n"), "a\nb\na\n"},
    /* and then the edits by search text */
    {"a\nb\nc\n",
     "<<<<<<< SEARCH\nB\n=======\nD\n>>>>>>> REPLACE\n" LINES("2", "b\n",
                                                              "B\nE\n"),
     "a\nD\nE\nc\n"},
};

WS_TEST(edits_by_line_numbers) {
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    ws_arena *arena = ws_arena_create();
    ws_candidate *child =
        apply_to(arena, parent_with(arena, ranges[i].text),
                 ws_arena_printf(arena, "## region dot\n%s", ranges[i].edits));
    WS_CHECK_TEXT(child->bodies[1].text, ranges[i].want);
    ws_arena_destroy(arena);
  }
}

static const struct {
  const char *text, *edits, *words;
} wrong_ranges[] = {
    {"a\nb\nc\n", LINES("2", "c\n", "x\n"),
     "reply:2: line 2 of region dot is 'b', the edit repeats 'c'; that is line "
     "3"},
    {"a\nb\nc\n", LINES("2 3", "b\nb\n", "x\n"),
     "line 3 of region dot is 'c', the edit repeats 'b'; that is line 2"},
    {"a\nb\n", LINES("2", "z\n", "x\n"), "'b', the edit repeats 'z'"},
    {"a\nb\n", LINES("2 3", "b\n", "x\n"),
     "the edit is of lines 2 to 3, region dot has 2"},
    {"a\nb\n", LINES("1", "a\nb\n", "x\n"),
     "the edit is of 1 lines and repeats 2"},
    {"a\nb\nc\n", LINES("2 3", "b\n", "x\n") LINES("1 2", "a\n", "y\n"),
     "reply:2: the edit of lines 2 to 3 overlaps that of lines 1 to 2"},
    {"a\nb\n", LINES("1", "a\n", "x\n") LINES("1", "a\n", "y\n"),
     "reply:7: the edit of lines 1 to 1 overlaps"},
    {"a\nb\n", LINES("1", "a\n", "a\n"), "change nothing"},
};

WS_TEST(line_numbers_that_are_wrong) {
  for (size_t i = 0; i < sizeof wrong_ranges / sizeof *wrong_ranges; i++) {
    ws_arena *arena = ws_arena_create();
    refuse_to_apply(
        arena, parent_with(arena, wrong_ranges[i].text),
        ws_arena_printf(arena, "## region dot\n%s", wrong_ranges[i].edits),
        wrong_ranges[i].words);
    ws_arena_destroy(arena);
  }
}

/* ---- templates ----------------------------------------------------------- */

static const char two_functions[] =
    "define float @decode() {\n  ret float 0.0\n}\n"
    "define float @dot() {\n  ret float 1.0\n}\n";

WS_TEST(edits_of_a_whole_template) {
  ws_arena *arena = ws_arena_create();
  const char *text = "", *language;
  ws_diag diag;
  ws_reply reply = parse(
      arena, "## template\n```llvm\n<<<<<<< SEARCH\n  ret float 1.0\n=======\n"
             "  ret float 2.0\n>>>>>>> REPLACE\n```\nand\n" LINES(
                 "1", "define float @decode() {\n", "; new\n"));
  WS_CHECK_INT(ws_reply_template_text(arena, &reply, two_functions, &text,
                                      &language, &diag),
               WS_OK);
  WS_CHECK_TEXT(text, "; new\n  ret float 0.0\n}\n"
                      "define float @dot() {\n  ret float 2.0\n}\n");
  WS_CHECK_INT(
      ws_reply_template_text(arena, &reply, "a\n", &text, &language, &diag),
      WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "line 1 of the template is 'a'");
  reply = parse(arena, "## template\n<<<<<<< SEARCH\n}\n=======\n>>>>>>> "
                       "REPLACE\n");
  WS_CHECK_INT(ws_reply_template_text(arena, &reply, two_functions, &text,
                                      &language, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "reply:2: the edit's search text is in the "
                               "template 2 times (lines 3 and 6)");
  ws_arena_destroy(arena);
}

#define OPENCL "## template (opencl)\n```c\n"
static const char in_c[] =
    "WS_REGION(\"decode(x) {\")\nfloat decode(int x) {\n  // dot(x) {\n  "
    "return '}';\n}\n"
    "float dot(void);\n"
    "float dot(void) { return decode(\"}\"[0]); }\n";

/* What is said of the language, and what the text says of itself. */
WS_TEST(a_template_in_opencl) {
  ws_arena *arena = ws_arena_create();
  const char *text = "", *language = "";
  ws_diag diag;
  ws_reply reply = parse(arena, OPENCL "kernel void f() {}\n```\n");
  WS_CHECK_INT(ws_reply_template_text(arena, &reply, two_functions, &text,
                                      &language, &diag),
               WS_OK);
  WS_CHECK_TEXT(text, "kernel void f() {}\n");
  WS_CHECK_TEXT(language, "opencl");
  reply = parse(arena, "## template\n" LINES("6", "float dot(void);\n", "\n"));
  WS_CHECK_INT(
      ws_reply_template_text(arena, &reply, in_c, &text, &language, &diag),
      WS_OK);
  WS_CHECK_TEXT(language, "opencl");
  reply = parse(arena, "## template (opencl)\n" LINES("1", "a\n", "b\n"));
  WS_CHECK_INT(ws_reply_template_text(arena, &reply, two_functions, &text,
                                      &language, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "the template is written in ir, the edits are "
                               "said to be opencl");
  ws_arena_destroy(arena);
}

/* A parent with tile_n = 64, a variant and a body. */
static ws_candidate *rich_parent(ws_arena *arena) {
  ws_candidate *parent = parent_with(arena, "float dot() {}\n");
  parent->values[1] = 64;
  parent->bodies[0].variant = 0;
  ws_candidate_update_id(parent);
  return parent;
}

WS_TEST(what_edits_of_a_template_leave_of_the_parent) {
  ws_arena *arena = ws_arena_create();
  const ws_candidate *parent = rich_parent(arena);
  const ws_template *tmpl = naive_template(arena);
  ws_reply reply = parse(arena, "## template\n" LINES("1", "a\n", "b\n"));
  const char *after = ws_arena_printf(arena, "; new\n%s", two_functions);
  ws_candidate *kept = ws_reply_template_parent(arena, &reply, parent,
                                                two_functions, tmpl, after);
  WS_CHECK_TEXT(ws_candidate_values_text(arena, kept), "tile_m=16;tile_n=64");
  WS_CHECK_TEXT(ws_candidate_variants_text(arena, kept),
                "decode=decode_integer");
  WS_CHECK_TEXT(kept->bodies[1].text, "float dot() {}\n");
  /* A region whose own text was edited has that text. */
  after = "define float @decode() {\n  ret float 0.0\n}\n"
          "define float @dot() {\n  ret float 2.0\n}\n";
  kept = ws_reply_template_parent(arena, &reply, parent, two_functions, tmpl,
                                  after);
  WS_CHECK(!kept->bodies[1].text);
  WS_CHECK_INT(kept->bodies[0].variant, 0);
  /* A value that the new template does not allow is its default. */
  ws_template narrow = *tmpl;
  ws_param params[2] = {tmpl->params[0], tmpl->params[1]};
  params[1].value_count = 2;
  narrow.params = params;
  kept = ws_reply_template_parent(arena, &reply, parent, two_functions, &narrow,
                                  two_functions);
  WS_CHECK_TEXT(ws_candidate_values_text(arena, kept), "tile_m=16;tile_n=16");
  /* In OpenCL C the same: its functions are compared as they are written. */
  after = ws_arena_printf(arena, "// new\n%s", in_c);
  kept = ws_reply_template_parent(arena, &reply, parent, in_c, tmpl, after);
  WS_CHECK_TEXT(kept->bodies[1].text, "float dot() {}\n");
  WS_CHECK_INT(kept->bodies[0].variant, 0);
  after = "float decode(int x) {\n  // dot(x) {\n  return '}';\n}\n"
          "float dot(void) { return decode(\"}\"[1]); }\n";
  kept = ws_reply_template_parent(arena, &reply, parent, in_c, tmpl, after);
  WS_CHECK(!kept->bodies[1].text);
  WS_CHECK_INT(kept->bodies[0].variant, 0);
  /* A template that is given whole starts afresh. */
  reply = parse(arena, "## template\n```\ndefine\n```\n");
  kept = ws_reply_template_parent(arena, &reply, parent, two_functions, tmpl,
                                  two_functions);
  WS_CHECK_TEXT(ws_candidate_values_text(arena, kept), "tile_m=16;tile_n=16");
  WS_CHECK(!kept->bodies[1].text && kept->bodies[0].variant < 0);
  ws_arena_destroy(arena);
}

WS_TEST(a_template_with_regions) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *child =
      apply_to(arena, parent_of(arena),
               "## template\n```llvm\ndefine void @f() { ret void }\n```\n"
               "## region dot (opencl)\n```c\nfloat dot() {}\n```\n"
               "## parameters\ntile_m=32\n");
  WS_CHECK_TEXT(child->bodies[1].text, "float dot() {}\n");
  WS_CHECK_TEXT(child->bodies[1].language, "opencl");
  WS_CHECK_TEXT(ws_candidate_values_text(arena, child), "tile_m=32;tile_n=16");
  refuse_to_apply(arena, parent_of(arena),
                  "## template\n```\ndefine\n```\n"
                  "## region other\n```\n{}\n```\n",
                  "reply:5: the template has no region 'other'");
  ws_arena_destroy(arena);
}

/* Edits of a long text of equal lines stay cheap. */
WS_TEST(edit_of_a_large_text) {
  ws_arena *arena = ws_arena_create();
  size_t count = 100000;
  char *text = ws_arena_alloc(arena, 2 * count + 3);
  for (size_t i = 0; i < count; i++)
    memcpy(text + 2 * i, "a\n", 2);
  memcpy(text + 2 * count, "b\n", 2);
  char *search = ws_arena_alloc(arena, count + 3);
  memcpy(search, text + count, count + 2);
  ws_candidate *child =
      apply_to(arena, parent_with(arena, text), edit(arena, search, "c\n"));
  WS_CHECK_INT(strlen(child->bodies[1].text), count + 2);
  WS_CHECK_TEXT(child->bodies[1].text + count - 2, "a\nc\n");
  refuse_to_apply(arena, parent_with(arena, text),
                  edit(arena, "a\na\nc\n", "c\n"), "its line 3, 'c'");
  ws_arena_destroy(arena);
}

/* ---- parameters, bodies, regions ----------------------------------------- */

WS_TEST(parameters_and_variants) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *parent = parent_of(arena);
  ws_candidate *child = apply_to(
      arena, parent, "## parameters\ntile_n=64\ndecode=decode_integer\n");
  WS_CHECK_TEXT(ws_candidate_values_text(arena, child), "tile_m=16;tile_n=64");
  WS_CHECK_TEXT(ws_candidate_variants_text(arena, child),
                "decode=decode_integer");
  child = apply_to(arena, child, "## parameters\ndecode=default;tile_m=32\n");
  WS_CHECK_TEXT(ws_candidate_values_text(arena, child), "tile_m=32;tile_n=64");
  WS_CHECK_TEXT(ws_candidate_variants_text(arena, child), "");
  ws_hash id = child->id;
  ws_candidate_update_id(child);
  WS_CHECK_TEXT(id.hex, child->id.hex);
  ws_arena_destroy(arena);
}

static const struct {
  const char *text, *words;
} refused[] = {
    {"## parameters\ntile_m=7\n", "cannot be '7'; choose from: 16 32"},
    {"## parameters\ntile_x=16\n", "'tile_x'; there are: tile_m tile_n"},
    {"## parameters\ntile_m=32;tile_m=16\n", "'tile_m' is set twice"},
    {"## parameters\ndecode=decode_fast\n", "decode_fast"},
    {"## parameters\ntile_m=16\n", "it changes nothing"},
    {"## region decod\n```\n{}\n```\n",
     "reply:1: the template has no region 'decod'; there are: decode dot"},
    {"## parameters\ndecode=decode_integer\n## region decode\n```\n{}\n```\n",
     "reply:3: region decode is given here and chosen under '## parameters'"},
};

WS_TEST(refused_candidates) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    ws_arena *arena = ws_arena_create();
    refuse_to_apply(arena, parent_of(arena), refused[i].text, refused[i].words);
    ws_arena_destroy(arena);
  }
}

/* A body that is the parent's text is no change. */
WS_TEST(whole_bodies) {
  ws_arena *arena = ws_arena_create();
  ws_candidate *parent = parent_of(arena);
  ws_candidate *child = apply_to(
      arena, parent, "## region dot (opencl)\n```c\nfloat dot() {}\n```\n");
  WS_CHECK_TEXT(child->bodies[1].text, "float dot() {}\n");
  WS_CHECK_TEXT(child->bodies[1].language, "opencl");
  WS_CHECK(!child->bodies[0].text);
  const char *language;
  const char *same =
      ws_region_text(arena, parent, read_source(arena, NAIVE), 1, &language);
  WS_CHECK_TEXT(language, "ir");
  const char *text = ws_arena_printf(
      arena, "## region dot\n```llvm\n%s```\n## parameters\n%s\n", same, "");
  refuse_to_apply(arena, parent, text, "it changes nothing");
  child =
      apply_to(arena, parent, ws_arena_printf(arena, "%stile_m=32\n", text));
  WS_CHECK(!child->bodies[1].text);
  ws_arena_destroy(arena);
}

/* ---- functions out of IR ------------------------------------------------- */

static const char module_text[] =
    "; define void @f() { in a comment }\n"
    "@s = constant [21 x i8] c\"define void @f() { }}\"\n"
    "declare void @f.other()\n"
    "%t = type { i32, { i8 } }\n"
    "define { i32, i32 } @g({ i32, i8 } %x, ptr %y) #0 {\n"
    "  %z = load { i32, { i8 } }, ptr %y ; a } in a comment\n"
    "  call void @f.2(ptr @\"f\")\n"
    "  ret { i32, i32 } zeroinitializer\n"
    "}\n"
    "define void @h() personality ptr @f { ret void }\n"
    "define internal void @\"f\"() #1 {\n"
    "  %\"a }\" = add i32 0, 1, !x !7\n"
    "  call void @f() #2\n"
    "  call void @f.2(ptr @f), !y !{!5}\n"
    "  ret void\n"
    "}\n"
    "define void @f.2(ptr %p) { ret void }\n"
    "attributes #0 = { nounwind }\n"
    "attributes #1 = { alwaysinline \"a\"=\"}\" }\n"
    "attributes #2 = { convergent }\n"
    "!named = !{!5}\n"
    "!5 = distinct !{!5, !6}\n"
    "!6 = !{!\"llvm.loop }\", !9}\n"
    "!7 = !DIExpression(1, 2)\n"
    "!8 = !{!7}\n"
    "!9 = !{i32 1, !{!7}}\n";

static const char f_text[] = "define internal void @\"f\"() #1 {\n"
                             "  %\"a }\" = add i32 0, 1, !x !7\n"
                             "  call void @f() #2\n"
                             "  call void @f.2(ptr @f), !y !{!5}\n"
                             "  ret void\n"
                             "}";

WS_TEST(function_text) {
  ws_arena *arena = ws_arena_create();
  int line;
  WS_CHECK_TEXT(ws_ir_function_text(arena, module_text, "f", &line), f_text);
  WS_CHECK_INT(line, 11);
  WS_CHECK_TEXT(ws_ir_function_text(arena, module_text, "f.2", &line),
                "define void @f.2(ptr %p) { ret void }");
  WS_CHECK_INT(line, 17);
  const char *g = ws_ir_function_text(arena, module_text, "g", NULL);
  WS_CHECK_CONTAINS(g, "zeroinitializer\n}");
  WS_CHECK(!strstr(g, "@\"f\"() #1"));
  WS_CHECK(!ws_ir_function_text(arena, module_text, "f.other", &line));
  WS_CHECK(!ws_ir_function_text(arena, module_text, "s", &line));
  WS_CHECK(!ws_ir_function_text(arena, "define void @f() {", "f", &line));
  WS_CHECK(!ws_ir_function_text(arena, "", "f", &line));
  ws_arena_destroy(arena);
}

/* With what it refers to; a variant under the region's name. */
WS_TEST(region_text) {
  ws_arena *arena = ws_arena_create();
  const ws_variant variant = {"f", "x", 1};
  const ws_region region = {
      .function = "r", .variants = &variant, .variant_count = 1};
  const ws_template tmpl = {.regions = &region, .region_count = 1};
  ws_body body = {.variant = 0};
  const ws_candidate candidate = {.tmpl = &tmpl, .bodies = &body};
  const char *language;
  WS_CHECK_TEXT(ws_region_text(arena, &candidate, module_text, 0, &language),
                "define internal void @r() #1 {\n"
                "  %\"a }\" = add i32 0, 1, !x !7\n"
                "  call void @r() #2\n"
                "  call void @f.2(ptr @r), !y !{!5}\n"
                "  ret void\n"
                "}\n"
                "\n"
                "attributes #1 = { alwaysinline \"a\"=\"}\" }\n"
                "attributes #2 = { convergent }\n"
                "!5 = distinct !{!5, !6}\n"
                "!6 = !{!\"llvm.loop }\", !9}\n"
                "!7 = !DIExpression(1, 2)\n"
                "!9 = !{i32 1, !{!7}}\n");
  WS_CHECK_TEXT(language, "ir");
  body.variant = -1;
  WS_CHECK(!ws_region_text(arena, &candidate, module_text, 0, &language));
  ws_arena_destroy(arena);
}

/* Any text: no crash, and a function that is found ends with its brace. */
WS_TEST(mutated_modules) {
  ws_rng rng;
  ws_rng_init(&rng, 11);
  for (int i = 0; i < 1000; i++) {
    ws_arena *arena = ws_arena_create();
    char *text = ws_arena_strdup(arena, module_text);
    for (int k = 0; k < 8; k++)
      text[ws_rng_below(&rng, strlen(text))] =
          "{}()\"!#@;\n =x0"[ws_rng_below(&rng, 14)];
    const char *f = ws_ir_function_text(arena, text, "f", NULL);
    WS_CHECK(!f || (!strncmp(f, "define", 6) && f[strlen(f) - 1] == '}'));
    const ws_region region = {.function = "f"};
    const ws_template tmpl = {.regions = &region, .region_count = 1};
    ws_body body = {.variant = -1};
    const ws_candidate candidate = {.tmpl = &tmpl, .bodies = &body};
    const char *language;
    const char *whole = ws_region_text(arena, &candidate, text, 0, &language);
    WS_CHECK(!whole == !f);
    ws_arena_destroy(arena);
  }
}
