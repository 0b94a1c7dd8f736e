/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is read, and in how many forms: the examples of docs/llm.md, then one
 * test per leniency that is promised there.
 */
#include "replies.h"

static const char body_text[] = "define float @decode(i32 %byte) {\n"
                                "  ret float 0.0\n"
                                "}\n";
#define BODY                                                                   \
  "define float @decode(i32 %byte) {\n"                                        \
  "  ret float 0.0\n"                                                          \
  "}\n"

/* ---- the examples of the document ---------------------------------------- */

/* The next "~~~~markdown KIND" block of the document. */
static bool next_example(ws_arena *arena, const char **at,
                         ws_request_kind *out_kind, const char **out_text) {
  static const char sign[] = "\n~~~~markdown ";
  const char *begin = strstr(*at, sign);
  if (!begin)
    return false;
  begin += strlen(sign);
  size_t size = strcspn(begin, "\n");
  WS_CHECK(ws_request_parse(ws_arena_strndup(arena, begin, size), out_kind));
  begin += size + 1;
  const char *end = strstr(begin, "\n~~~~\n");
  WS_CHECK(end);
  *out_text = ws_arena_strndup(arena, begin, (size_t)(end - begin) + 1);
  *at = end;
  return true;
}

static void check_exploit_example(const ws_reply *reply) {
  WS_CHECK_TEXT(reply->name, "packed decode");
  WS_CHECK_TEXT(reply->reasoning,
                "The packed conversion issues as fast as the single one, and "
                "the loop may\nthen be vectorised.");
  WS_CHECK_INT(reply->claim_count, 3);
  check_claim(reply, 0, "speedup", 1.05, 1.20);
  check_claim(reply, 1, "vgpr", -4, 8);
  check_claim(reply, 2, "speedup 1024,1536,7168", 1.10, 1.30);
  WS_CHECK_TEXT(reply->parameters, "tile_m=32;tile_n=32");
  WS_CHECK_INT(reply->region_count, 2);
  const ws_reply_region *edited = &reply->regions[0];
  WS_CHECK_TEXT(edited->region, "decode");
  WS_CHECK_TEXT(edited->language, "ir");
  WS_CHECK(!edited->body);
  WS_CHECK_INT(edited->edit_count, 1);
  WS_CHECK_TEXT(edited->edits[0].search,
                "  %value = call float @llvm.amdgcn.cvt.f32.fp8(i32 %byte, i32 "
                "0)\n  ret float %value\n");
  WS_CHECK_CONTAINS(edited->edits[0].replace, "%pair, i32 0\n  ret");
  WS_CHECK_INT(edited->edits[0].line, 18);
  WS_CHECK_TEXT(reply->regions[1].region, "dot");
  WS_CHECK_TEXT(reply->regions[1].language, "opencl");
  WS_CHECK(!strncmp(reply->regions[1].body, "float decode(uint byte);\n", 25));
  WS_CHECK(!reply->template_code);
}

static void check_design_example(const ws_reply *reply) {
  WS_CHECK_INT(reply->avenue_count, 3);
  WS_CHECK_TEXT(reply->avenues[0], "fewer LDS reads for each MFMA");
  WS_CHECK_TEXT(reply->avenues[2], "loads two tiles ahead");
  WS_CHECK_INT(reply->experiment_count, 2);
  const ws_reply_experiment *e = reply->experiments;
  WS_CHECK_TEXT(e[0].title, "keep B's fragments");
  WS_CHECK_TEXT(e[0].description,
                "Read B's fragments once and go through A's row by row.\n"
                "  Registers fall by the size of one operand.");
  WS_CHECK_CONTAINS(e[0].rubric, "k = 7168.");
  WS_CHECK_NEAR(e[0].gain_low, 1.05, 1e-12);
  WS_CHECK_NEAR(e[0].gain_high, 1.30, 1e-12);
  WS_CHECK_NEAR(e[0].innovation, 40, 0);
  WS_CHECK_TEXT(e[1].title, "scalar scales");
  WS_CHECK_TEXT(e[1].rubric, "");
  WS_CHECK_NEAR(e[1].gain_low, 1.02, 1e-12);
  WS_CHECK_NEAR(e[1].gain_high, 1.05, 1e-12);
}

WS_TEST(examples_of_the_document) {
  ws_arena *arena = ws_arena_create();
  const char *at = read_source(arena, "docs/llm.md"), *text;
  int seen[WS_REQUEST_COUNT] = {0};
  for (ws_request_kind kind; next_example(arena, &at, &kind, &text);) {
    ws_reply reply = parse_as(arena, kind, text);
    seen[kind]++;
    if (kind == WS_REQUEST_EXPLOIT)
      check_exploit_example(&reply);
    if (kind == WS_REQUEST_DESIGN)
      check_design_example(&reply);
    if (kind == WS_REQUEST_WRITE && reply.template_code->body)
      WS_CHECK_CONTAINS(reply.template_code->body,
                        "@two_columns() {\n  ret void\n}");
    if (kind == WS_REQUEST_SELECT) {
      WS_CHECK_TEXT(reply.base, "3fa9c1d2");
      WS_CHECK_TEXT(reply.reference, "77c0");
      WS_CHECK_CONTAINS(reply.reasoning, "without conflicts");
    }
    if (kind == WS_REQUEST_DISTIL)
      WS_CHECK_CONTAINS(reply.findings, "costs 6 to 9 %");
  }
  WS_CHECK(seen[WS_REQUEST_EXPLOIT] && seen[WS_REQUEST_WRITE] &&
           seen[WS_REQUEST_SELECT] && seen[WS_REQUEST_DESIGN] &&
           seen[WS_REQUEST_DISTIL]);
  ws_arena_destroy(arena);
}

/* And the one that every prompt shows. */
WS_TEST(example_of_the_prompts) {
  static const char sign[] = "\n~~~~markdown\n";
  ws_arena *arena = ws_arena_create();
  const char *at =
      strstr(read_source(arena, "runtime/llm/prompts/reply_format.txt"), sign);
  WS_CHECK(at);
  at += strlen(sign);
  const char *end = strstr(at, "\n~~~~\n");
  WS_CHECK(end);
  ws_reply reply =
      parse(arena, ws_arena_strndup(arena, at, (size_t)(end - at) + 1));
  WS_CHECK(*reply.name && *reply.reasoning && *reply.parameters);
  WS_CHECK(reply.claim_count > 0);
  WS_CHECK_INT(reply.region_count, 2);
  WS_CHECK_INT(reply.regions[0].edit_count, 1);
  WS_CHECK_TEXT(reply.regions[1].language, "opencl");
  ws_arena_destroy(arena);
}

/* ---- headings ------------------------------------------------------------ */

WS_TEST(headings_of_a_region) {
  static const char *const headings[] = {
      "## region decode (ir)",
      "# REGION decode",
      "###### Region `decode`:",
      "## Region @decode (LLVM IR)",
      "**Region decode**",
      "**Region `decode` (ir):**",
      "__Region decode__",
      "  ## region decode - ir ##",
      "## 3. Region decode",
      "## Region: decode",
      "## **Region** `decode` (ir, whole body)",
      "## region \"decode\"",
      "##\tregion\tdecode\t(IR)"};
  for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply = parse(arena, ws_arena_printf(arena, "%s\n```\n%s```",
                                                  headings[i], body_text));
    WS_CHECK_INT(reply.region_count, 1);
    WS_CHECK_TEXT(reply.regions[0].region, "decode");
    WS_CHECK_TEXT(reply.regions[0].body, body_text);
    ws_arena_destroy(arena);
  }
}

WS_TEST(values_behind_the_heading) {
  ws_arena *arena = ws_arena_create();
  ws_reply reply = parse(arena, "**Name:** *wide* loads\n"
                                "**Reasoning**: fewer instructions\n"
                                "## Parameters: `tile_m=32`\n"
                                "## Expected effects: speedup 1.1 1.2\n");
  WS_CHECK_TEXT(reply.name, "wide* loads");
  WS_CHECK_TEXT(reply.reasoning, "fewer instructions");
  WS_CHECK_TEXT(reply.parameters, "tile_m=32");
  check_claim(&reply, 0, "speedup", 1.1, 1.2);
  ws_arena_destroy(arena);
}

/* More words than the section takes, another kind's section, no space. */
WS_TEST(headings_that_are_text) {
  ws_arena *arena = ws_arena_create();
  ws_reply reply = parse(arena, "## reasoning\n"
                                "### Parameters I left alone\n"
                                "### Region decode needs care\n"
                                "### Nameless\n"
                                "####### name\n"
                                "#name\n"
                                "## findings\n"
                                "## experiment 1\n"
                                "**Name** is a word\n"
                                "## parameters\n"
                                "tile_m=32\n");
  WS_CHECK_TEXT(reply.parameters, "tile_m=32");
  WS_CHECK_INT(reply.region_count, 0);
  WS_CHECK_CONTAINS(reply.reasoning, "left alone");
  WS_CHECK_CONTAINS(reply.reasoning, "**Name** is a word");
  ws_arena_destroy(arena);
}

/* ---- the whole ----------------------------------------------------------- */

WS_TEST(forms_of_the_whole) {
  static const char *const forms[] = {
      "## parameters\ntile_m=32\n## region decode\n```llvm\n" BODY "```\n",
      /* without blank or final lines, and with many */
      "##  Parameters\n\n\n tile_m = 32\n\n## region decode\n\n\n```\n" BODY
      "```",
      /* CRLF and lone CR are tried below */
      "I think so.\n\n## parameters\n- tile_m: 32 (was 16)\n## region decode\n"
      "Here it is:\n~~~ll\n" BODY "~~~\nHope this helps!\n",
      /* one fence around it all */
      "```markdown\n## parameters\ntile_m=32\n## region decode\n```llvm\n" BODY
      "```\n```\n",
      "````\n## parameters\ntile_m=32\n## region decode\n```llvm\n" BODY
      "```\n````\nThat is all.\n",
      "Sure:\n\n```md\n## parameters\ntile_m=32\n## region "
      "decode\n```llvm\n" BODY "```\n```\nThat is all.\n",
      /* thinking, also with sections in it, also without its opening */
      "<think>\n## parameters\ntile_m=16\n```\n</think>\n## parameters\ntile_m"
      "=32\n## region decode\n```\n" BODY "```\n",
      "  <thinking>hm\n## region x\n</thinking>\n## parameters\ntile_m=32\n"
      "## region decode\n```\n" BODY "```\n",
      "hm\n## region x\n</think>\n## parameters\ntile_m=32\n## region decode\n"
      "```\n" BODY "```\n",
      /* fences within fences */
      "## reasoning\n```\n## parameters\ntile_m=16\n```\n## parameters\n```\n"
      "tile_m=32\n```\n## region decode\n`````llvm\n" BODY "`````\n",
      "## reasoning\n````\n```\n## parameters\ntile_m=16\n```\n````\n"
      "## parameters\ntile_m=32\n## region decode\n```\n" BODY "```\n",
      /* no fence around the body */
      "## parameters\ntile_m=32\n## region decode\n" BODY};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply = parse(arena, forms[i]);
    WS_CHECK_TEXT(reply.parameters, "tile_m=32");
    WS_CHECK_INT(reply.region_count, 1);
    WS_CHECK_TEXT(reply.regions[0].body, body_text);
    WS_CHECK_TEXT(reply.regions[0].language, "ir");
    ws_arena_destroy(arena);
  }
}

static char *with_line_ends(ws_arena *arena, const char *text,
                            const char *end) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (; *text; text++)
    if (*text == '\n')
      ws_strbuf_puts(&out, end);
    else
      ws_strbuf_append(&out, text, 1);
  char *copy = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return copy;
}

WS_TEST(line_ends) {
  static const char *const ends[] = {"\r\n", "\r", "\n"};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply =
        parse(arena, with_line_ends(arena,
                                    "\xEF\xBB\xBF## region decode\n"
                                    "<<<<<<< SEARCH\na\n=======\nb\n"
                                    ">>>>>>> REPLACE\n",
                                    ends[i]));
    WS_CHECK_TEXT(reply.regions[0].edits[0].search, "a\n");
    WS_CHECK_TEXT(reply.regions[0].edits[0].replace, "b\n");
    WS_CHECK_INT(reply.regions[0].edits[0].line, 2);
    ws_arena_destroy(arena);
  }
}

/* Text before the first section stands in for missing reasoning only. */
WS_TEST(reasoning) {
  ws_arena *arena = ws_arena_create();
  WS_CHECK_TEXT(parse(arena, " Wide loads. \n\n## parameters\na=1\n").reasoning,
                "Wide loads.");
  WS_CHECK_TEXT(parse(arena, "Talk.\n## reasoning\nOne.\n## parameters\na=1\n"
                             "## Rationale\nTwo.\n")
                    .reasoning,
                "One.\n\nTwo.");
  ws_arena_destroy(arena);
}

/* ---- code ---------------------------------------------------------------- */

WS_TEST(language_of_a_body) {
  static const struct {
    const char *heading, *info, *body, *want;
  } cases[] = {
      {"", "", BODY, "ir"},
      {"", "c", BODY, "ir"}, /* the text knows better */
      {" (opencl)", "", BODY, "ir"},
      {"", "", "float decode(uint b) { return b; }\n", "opencl"},
      {" (OpenCL C)", "llvm", "float decode(uint b) { return b; }\n", "opencl"},
      {" (ir)", "", "float decode(uint b) { return b; }\n", "ir"},
      {"", "llvm", "float decode(uint b) { return b; }\n", "ir"},
      {"", "cl", "#define X\nfloat decode(uint b) { return b; }\n", "opencl"},
      {" (spirv)", "python", "float decode(uint b) { return b; }\n", "opencl"},
      {" (MLIR)", "", "func.func private @decode(%b: i32) -> f32 {\n}\n",
       "mlir"},
      {" (ir)", "mlir", "func.func @decode() {\n}\n", "mlir"},
      {"", "mlir", "// nothing\n", "mlir"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply = parse(
        arena, ws_arena_printf(arena, "## region decode%s\n```%s\n%s```\n",
                               cases[i].heading, cases[i].info, cases[i].body));
    WS_CHECK_TEXT(reply.regions[0].language, cases[i].want);
    WS_CHECK_TEXT(reply.regions[0].body, cases[i].body);
    ws_arena_destroy(arena);
  }
}

WS_TEST(forms_of_edits) {
  static const char *const forms[] = {
      "<<<<<<< SEARCH\n  a\n=======\n  b\n>>>>>>> REPLACE\n",
      "```llvm\n<<<<<<< SEARCH\n  a\n=======\n  b\n>>>>>>> REPLACE\n```\n",
      "<<<<<\n  a\n=====\n  b\n>>>>>\n",
      "Text.\n  <<<<<<< search  \n  a\n=======  \n  b\n>>>>>>> "
      "Replace\nMore.\n",
      "<<<<<<< SEARCH\n```llvm\n  a\n```\n=======\n```llvm\n  b\n```\n"
      ">>>>>>> REPLACE\n"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply =
        parse(arena, ws_arena_printf(arena, "## region dot\n%s", forms[i]));
    WS_CHECK_INT(reply.regions[0].edit_count, 1);
    WS_CHECK_TEXT(reply.regions[0].edits[0].search, "  a\n");
    WS_CHECK_TEXT(reply.regions[0].edits[0].replace, "  b\n");
    WS_CHECK_TEXT(reply.regions[0].language, "");
    ws_arena_destroy(arena);
  }
}

/* Several in a fence, in several fences, in several sections; an empty
 * replacement; headings and fences inside are text. */
WS_TEST(many_edits) {
  ws_arena *arena = ws_arena_create();
  ws_reply reply = parse(arena, "## region dot\n"
                                "```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> "
                                "REPLACE\n\n<<<<<<< SEARCH\nc\n=======\n"
                                ">>>>>>> REPLACE\n```\n"
                                "## region decode\n<<<<<<< SEARCH\n"
                                "## name\n=======\n```\n>>>>>>> REPLACE\n"
                                "## region dot\n```\n<<<<<<< SEARCH\ne\n"
                                "=======\nf\n>>>>>>> REPLACE\n```\n");
  WS_CHECK_INT(reply.region_count, 2);
  WS_CHECK_INT(reply.regions[0].edit_count, 3);
  WS_CHECK_TEXT(reply.regions[0].edits[1].search, "c\n");
  WS_CHECK_TEXT(reply.regions[0].edits[1].replace, "");
  WS_CHECK_TEXT(reply.regions[0].edits[2].replace, "f\n");
  WS_CHECK_INT(reply.regions[1].edit_count, 1);
  WS_CHECK_TEXT(reply.regions[1].edits[0].search, "## name\n");
  ws_arena_destroy(arena);
}

WS_TEST(template_with_parameters) {
  ws_arena *arena = ws_arena_create();
  ws_reply reply = parse_as(arena, WS_REQUEST_WRITE,
                            "## Template (IR)\n```ll\n; t\n" BODY
                            "```\n## parameters\na=1\n");
  WS_CHECK_TEXT(reply.template_code->body, "; t\n" BODY);
  WS_CHECK_TEXT(reply.parameters, "a=1");
  ws_arena_destroy(arena);
}

/* ---- words and numbers --------------------------------------------------- */

WS_TEST(forms_of_claims) {
  static const struct {
    const char *line, *what;
    double low, high;
  } cases[] = {
      {"speedup 1.05 1.20", "speedup", 1.05, 1.20},
      {"speedup: 1.05..1.20", "speedup", 1.05, 1.20},
      {"- **Speed-up**: 1.05 to 1.20", "speedup", 1.05, 1.20},
      {"speedup = 1.05-1.20", "speedup", 1.05, 1.20},
      {"speedup 1.05 \xE2\x80\x93 1.20", "speedup", 1.05, 1.20},
      {"speedup 1.05x to 1.20x", "speedup", 1.05, 1.20},
      {"speedup 1.05\xC3\x97-1.20\xC3\x97 overall", "speedup", 1.05, 1.20},
      {"speedup [1.05, 1.20]", "speedup", 1.05, 1.20},
      {"speedup 5 % to 20 %", "speedup", 1.05, 1.20},
      {"speedup 5-20%", "speedup", 1.05, 1.20},
      {"speedup 5% 20%", "speedup", 1.05, 1.20},
      {"speedup +5 to +20 %", "speedup", 1.05, 1.20},
      {"speedup -5 % to 10 %", "speedup", 0.95, 1.10},
      {"speedup 1.1", "speedup", 1.1, 1.1},
      {"speedup 1.05, 1.2 (3 shapes)", "speedup", 1.05, 1.2},
      {"speedup 1024,1536,7168 1.1 1.3", "speedup 1024,1536,7168", 1.1, 1.3},
      {"speedup 16x512x7168: 1.1-1.3", "speedup 16,512,7168", 1.1, 1.3},
      {"1. vgpr -10 0", "vgpr", -10, 0},
      {"VGPRs: -10 to -5 registers", "vgpr", -10, -5},
      {"vgpr -10--5", "vgpr", -10, -5},
      {"vgpr \xE2\x88\x92"
       "10 .. 0",
       "vgpr", -10, 0},
      {"lds 0", "lds", 0, 0},
      {"lds 1e3 2.5e3 bytes", "lds", 1000, 2500},
      {"occupancy .5 1", "occupancy", 0.5, 1},
      {"agpr 1 2", "agpr", 1, 2},
      {"sgpr 1 2", "sgpr", 1, 2},
      {"scratch 0 0", "scratch", 0, 0},
      {"speedup 1024,8192 1.1 1.3", "speedup 1024,8192", 1.1, 1.3},
      {"speedup 16x4x2x2: 1.1", "speedup 16,4,2,2", 1.1, 1.1},
      {"speedup rows=16,cols=1024 5 to 10 %", "speedup rows=16,cols=1024", 1.05,
       1.1},
      {"speedup `n=4096`: 1.1 1.3", "speedup n=4096", 1.1, 1.3},
      {"speedup 1,2", "speedup", 1, 2},
      {"lds_conflict -0.5 -0.2", "lds_conflict", -0.5, -0.2},
      {"share mma -20 -10", "share mma", -20, -10},
      {"share of.it.8: -5 to 5 % of the clocks", "share of.it.8", -5, 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply =
        parse(arena, ws_arena_printf(arena,
                                     "## expected\nI expect this:\n%s\nwhich "
                                     "is much\n## parameters\na=1\n",
                                     cases[i].line));
    WS_CHECK_INT(reply.claim_count, 1);
    check_claim(&reply, 0, cases[i].what, cases[i].low, cases[i].high);
    ws_arena_destroy(arena);
  }
}

WS_TEST(forms_of_parameters) {
  static const struct {
    const char *lines, *want;
  } cases[] = {
      {"tile_m=32;tile_n=64", "tile_m=32;tile_n=64"},
      {"tile_m = 32\ntile_n = 64", "tile_m=32;tile_n=64"},
      {"tile_m=32, tile_n=64;", "tile_m=32;tile_n=64"},
      {"- `tile_m`: **32**\n* tile_n 64", "tile_m=32;tile_n=64"},
      {"1. tile_m=32 # wider\n2) tile_n=64 // too", "tile_m=32;tile_n=64"},
      {"tile_m: 16 -> 32\ntile_n = 16 \xE2\x86\x92 64 (best)",
       "tile_m=32;tile_n=64"},
      {"```\ntile_m=32\ntile_n=64\n```", "tile_m=32;tile_n=64"},
      {"shift=-8", "shift=-8"},
      {"decode=decode_integer\n@dot = default", "decode=decode_integer;dot="
                                                "default"},
      {"tile_m=32\nNote: keep LDS small\nThis is all.", "tile_m=32"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply = parse(
        arena, ws_arena_printf(arena, "## parameters\n%s\n", cases[i].lines));
    WS_CHECK_TEXT(reply.parameters, cases[i].want);
    ws_arena_destroy(arena);
  }
}

/* ---- documents ----------------------------------------------------------- */

WS_TEST(forms_of_selections) {
  static const char *const forms[] = {
      "## base\n3fa9c1\n## reference\n77c0\n",
      "## Base: `3fa9c1`\n## Reference\n\n**77c0** (reads without conflicts)\n",
      "**Base:** candidate 3fa9c1, the fastest\n**Reference:** 77c0\n",
      "## reference\n```\n77c0\n```\n## base\n- 3fa9c1\n"};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply = parse_as(arena, WS_REQUEST_SELECT, forms[i]);
    WS_CHECK_TEXT(reply.base, "3fa9c1");
    WS_CHECK_TEXT(reply.reference, "77c0");
    ws_arena_destroy(arena);
  }
}

WS_TEST(forms_of_designs) {
  ws_arena *arena = ws_arena_create();
  ws_reply reply = parse_as(arena, WS_REQUEST_DESIGN,
                            "### Avenues\nThese:\n- one,\n  going on\n- two\n"
                            "  - not three\n"
                            "### Experiment 1 - Wide loads\n"
                            "- **Description**: Load 16 bytes.\n\n"
                            "  Then more.\n"
                            "- **Gain:** 1.1x \xE2\x80\x93 1.2x\n"
                            "- **Innovation:** 70/100\n");
  WS_CHECK_INT(reply.avenue_count, 2);
  WS_CHECK_TEXT(reply.avenues[0], "one,\n  going on");
  WS_CHECK_TEXT(reply.avenues[1], "two\n  - not three");
  WS_CHECK_INT(reply.experiment_count, 1);
  const ws_reply_experiment *e = reply.experiments;
  WS_CHECK_TEXT(e->title, "Wide loads");
  WS_CHECK_TEXT(e->description, "Load 16 bytes.\n\n  Then more.");
  WS_CHECK_NEAR(e->gain_low, 1.1, 1e-12);
  WS_CHECK_NEAR(e->gain_high, 1.2, 1e-12);
  WS_CHECK_NEAR(e->innovation, 70, 0);
  reply = parse_as(arena, WS_REQUEST_DESIGN,
                   "## avenues\none\ntwo\n## experiment\ntitle: t\n"
                   "description: d\ngain: 1\ninnovation: 0\n");
  WS_CHECK_INT(reply.avenue_count, 2);
  WS_CHECK_TEXT(reply.avenues[1], "two");
  ws_arena_destroy(arena);
}

/* The document may have any headings and an open fence. */
WS_TEST(findings_go_to_the_end) {
  ws_arena *arena = ws_arena_create();
  ws_reply reply = parse_as(arena, WS_REQUEST_DISTIL,
                            "## Findings\n# Name\n## Findings\n```\nopen\n");
  WS_CHECK_TEXT(reply.findings, "# Name\n## Findings\n```\nopen");
  ws_arena_destroy(arena);
}
