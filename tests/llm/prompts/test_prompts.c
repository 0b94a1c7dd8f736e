/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Prompts: which blocks are left out, what is cut and how that is said, what a
 * folder may replace, which texts are refused. Expected texts are written out
 * by hand.
 */
#include "wavesmith/llm.h"
#include "ws_test_directory.h"

typedef struct setting {
  ws_arena *arena;
  ws_diag diag;
  const ws_prompts *prompts;
  ws_prompt prompt;
} setting;

static setting setting_create(void) {
  return (setting){.arena = ws_arena_create()};
}

static void put(setting *s, const char *name, const char *text) {
  const char *path =
      ws_arena_printf(s->arena, "%s/%s", ws_test_directory(), name);
  WS_CHECK(ws_file_write_atomic(path, text, strlen(text), NULL) == WS_OK);
}

static ws_status open_folder(setting *s) {
  return ws_prompts_open(s->arena, ws_test_directory(), "", "", &s->prompts,
                         &s->diag);
}

/* A folder with a short system and the text as explore.txt. */
static void use(setting *s, const char *text) {
  put(s, "system.txt", "# version 2\nSYSTEM\n");
  put(s, "explore.txt", text);
  if (open_folder(s) != WS_OK)
    WS_FAIL("%s", s->diag.text);
}

static ws_status render(setting *s, const ws_prompt_section *sections,
                        int count, size_t budget) {
  return ws_prompt_render(s->arena, s->prompts, WS_REQUEST_EXPLORE, sections,
                          count, budget, &s->prompt, &s->diag);
}

static void must_render(setting *s, const ws_prompt_section *sections,
                        int count, size_t budget) {
  if (render(s, sections, count, budget) != WS_OK)
    WS_FAIL("%s", s->diag.text);
}

static void refuse(const char *file, const char *text, const char *why) {
  setting s = setting_create();
  put(&s, file, text);
  WS_CHECK_INT(open_folder(&s), WS_INPUT);
  WS_CHECK_CONTAINS(s.diag.text, why);
  WS_CHECK_CONTAINS(s.diag.text, file);
  WS_CHECK(!s.prompts);
  ws_arena_destroy(s.arena);
}

/* ---- filling in -------------------------------------------------------------
 */

WS_TEST(sections_stand_where_they_are_named) {
  setting s = setting_create();
  use(&s, "# version 7\nfirst\n## Plan\nit is\n  {{plan}}  \nafter\n");
  const ws_prompt_section sections[] = {{"plan", "one\ntwo", 0}};
  must_render(&s, sections, 1, 1000);
  WS_CHECK_TEXT(s.prompt.system, "SYSTEM\n");
  WS_CHECK_TEXT(s.prompt.user, "first\n## Plan\nit is\none\ntwo\nafter\n");
  WS_CHECK_TEXT(s.prompt.version, "explore 7, system 2");
  WS_CHECK_TEXT(s.prompt.cut, "");
  ws_arena_destroy(s.arena);
}

WS_TEST(headings_of_empty_sections_vanish) {
  setting s = setting_create();
  use(&s, "# version 1\nalways\n## A\n{{plan}}\nabout the plan\n"
          "## B\n{{facts}}\n{{findings}}\n## C\nno section\n### D\n{{code}}\n");
  const ws_prompt_section sections[] = {{"facts", "", 0},
                                        {"findings", "F\n", 0}};
  must_render(&s, sections, 2, 1000);
  WS_CHECK_TEXT(s.prompt.user, "always\n## B\nF\n## C\nno section\n");
  ws_arena_destroy(s.arena);
}

WS_TEST(sections_are_not_filled_in_twice) {
  setting s = setting_create();
  use(&s, "# version 1\n{{plan}}\n{{facts}}\n");
  const ws_prompt_section sections[] = {{"plan", "{{facts}}\n## H\n", 0},
                                        {"facts", "x", 0}};
  must_render(&s, sections, 2, 1000);
  WS_CHECK_TEXT(s.prompt.user, "{{facts}}\n## H\nx\n");
  ws_arena_destroy(s.arena);
}

WS_TEST(parts_come_from_the_folder_or_the_caller) {
  setting s = setting_create();
  put(&s, "reply_format.txt", "# version 5\nshort\n");
  use(&s, "# version 1\n{{reply_format}}\n");
  must_render(&s, NULL, 0, 1000);
  WS_CHECK_TEXT(s.prompt.user, "short\n");
  WS_CHECK_TEXT(s.prompt.version, "explore 1, system 2, reply_format 5");
  const ws_prompt_section own[] = {{"reply_format", NULL, 3}};
  must_render(&s, own, 1, 1000);
  WS_CHECK_TEXT(s.prompt.user, "short\n");
  const ws_prompt_section other[] = {{"reply_format", "other", 0}};
  must_render(&s, other, 1, 1000);
  WS_CHECK_TEXT(s.prompt.user, "other\n");
  WS_CHECK_TEXT(s.prompt.version, "explore 1, system 2");
  const ws_prompt_section unknown[] = {{"weather", "rain", 0}};
  WS_CHECK_INT(render(&s, unknown, 1, 1000), WS_INPUT);
  WS_CHECK_CONTAINS(s.diag.text, "weather");
  ws_arena_destroy(s.arena);
}

/* ---- cutting ---------------------------------------------------------------
 */

/* Lines of ten bytes, "000000000\n" and on. */
static const char *lines(setting *s, int count) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < count; i++)
    ws_strbuf_printf(&text, "%09d\n", i);
  const char *result = ws_arena_strdup(s->arena, text.data);
  ws_strbuf_deinit(&text);
  return result;
}

static const char cut_prompt[] =
    "# version 1\n# P\n{{plan}}\n# F\n{{facts}}\n# L\n{{lineage}}\n";

/* 7 of system, 12 of headings, 400 + 500 + 1000 of sections: 1919. */
WS_TEST(what_fits_is_left_alone) {
  setting s = setting_create();
  use(&s, cut_prompt);
  const ws_prompt_section sections[] = {{"plan", lines(&s, 40), 0},
                                        {"facts", lines(&s, 50), 1},
                                        {"lineage", lines(&s, 100), 2}};
  must_render(&s, sections, 3, 1919);
  WS_CHECK_TEXT(s.prompt.cut, "");
  WS_CHECK_INT(strlen(s.prompt.user), 1912);
  must_render(&s, sections, 3, 1918);
  WS_CHECK_CONTAINS(s.prompt.cut, "lineage ");
  WS_CHECK(!strstr(s.prompt.cut, "facts"));
  ws_arena_destroy(s.arena);
}

/* 219 too many, and 100 for the sentence: of lineage's 1000 bytes 681 may
 * stay, 680 at a line's end; 320 go. */
WS_TEST(the_most_expendable_is_cut_at_the_end_of_a_line) {
  setting s = setting_create();
  use(&s, cut_prompt);
  const ws_prompt_section sections[] = {{"plan", lines(&s, 40), 0},
                                        {"facts", lines(&s, 50), 1},
                                        {"lineage", lines(&s, 100), 2}};
  must_render(&s, sections, 3, 1700);
  WS_CHECK_TEXT(s.prompt.cut, "lineage 320 bytes");
  WS_CHECK_CONTAINS(s.prompt.user,
                    "000000067\n[320 more bytes left out: the prompt is too "
                    "long]\n");
  WS_CHECK(strlen(s.prompt.user) + strlen(s.prompt.system) <= 1700);
  /* all of plan and facts is there */
  WS_CHECK_CONTAINS(s.prompt.user,
                    ws_arena_printf(s.arena, "# F\n%s# L\n", sections[1].text));
  ws_arena_destroy(s.arena);
}

WS_TEST(then_the_next_is_cut) {
  setting s = setting_create();
  use(&s, cut_prompt);
  const ws_prompt_section sections[] = {{"lineage", lines(&s, 100), 2},
                                        {"plan", lines(&s, 40), 0},
                                        {"facts", lines(&s, 50), 1}};
  must_render(&s, sections, 3, 800);
  WS_CHECK_CONTAINS(s.prompt.user, "[all 1000 bytes left out");
  WS_CHECK_CONTAINS(s.prompt.cut, "facts ");
  WS_CHECK_CONTAINS(s.prompt.cut, "; lineage 1000 bytes");
  WS_CHECK_CONTAINS(s.prompt.user, sections[1].text);
  WS_CHECK(strlen(s.prompt.user) + strlen(s.prompt.system) <= 800);
  /* plan is never cut: it has 400 bytes */
  WS_CHECK_INT(render(&s, sections, 3, 400), WS_INPUT);
  WS_CHECK_CONTAINS(s.diag.text, "kind explore");
  WS_CHECK_CONTAINS(s.diag.text, "the budget is 400");
  ws_arena_destroy(s.arena);
}

/* Whatever the budget: within it or refused, and nothing but whole lines. */
WS_TEST(every_budget) {
  setting s = setting_create();
  use(&s, cut_prompt);
  const ws_prompt_section sections[] = {{"plan", lines(&s, 30), 3},
                                        {"facts", lines(&s, 50), 1},
                                        {"lineage", lines(&s, 100), 2}};
  int refused = 0;
  for (size_t budget = 0; budget < 1900; budget++) {
    if (render(&s, sections, 3, budget) != WS_OK) {
      refused++;
      continue;
    }
    WS_CHECK(strlen(s.prompt.user) + strlen(s.prompt.system) <= budget);
    for (const char *line = s.prompt.user; *line;) {
      const size_t size = strcspn(line, "\n");
      WS_CHECK(size == 9 || *line == '[' || *line == '#');
      line += size + 1;
    }
  }
  WS_CHECK(refused > 19 && refused < 300);
  ws_arena_destroy(s.arena);
}

/* ---- folders ---------------------------------------------------------------
 */

WS_TEST(refused_texts) {
  refuse("explore.txt", "Do it.\n", "# version 1");
  refuse("explore.txt", "", "# version 1");
  refuse("explore.txt", "# version 0\n", "# version 1");
  refuse("explore.txt", "# version 1b\n", "# version 1");
}

WS_TEST(refused_sections) {
  refuse("explore.txt", "# version 1\n\n{{weather}}\n", "explore.txt:3");
  refuse("explore.txt", "# version 1\nthe {{plan}} is\n", "explore.txt:2");
}

WS_TEST(refused_parts) {
  refuse("target.txt", "# version 1\n{{target}}\n", "target.txt:2");
}

WS_TEST(refused_names) {
  refuse("explroe.txt", "# version 1\n", "is no prompt of wavesmith");
}

WS_TEST(refused_bytes) {
  setting s = setting_create();
  const char *path =
      ws_arena_printf(s.arena, "%s/explore.txt", ws_test_directory());
  WS_CHECK(ws_file_write_atomic(path, "# version 1\n\0x", 14, NULL) == WS_OK);
  WS_CHECK_INT(open_folder(&s), WS_INPUT);
  WS_CHECK_CONTAINS(s.diag.text, "NUL");
  WS_CHECK_INT(
      ws_prompts_open(s.arena, "/nonexistent", "", "", &s.prompts, &s.diag),
      WS_INPUT);
  WS_CHECK_CONTAINS(s.diag.text, "/nonexistent");
  ws_arena_destroy(s.arena);
}

WS_TEST(files_replace_one_by_one) {
  setting s = setting_create();
  put(&s, "exploit.txt", "# version 90\r\nmine\r\n\r\n{{plan}}\r\n");
  put(&s, "notes.md", "not a prompt");
  WS_CHECK_INT(open_folder(&s), WS_OK);
  const ws_prompt_section sections[] = {{"plan", "P", 0}};
  WS_CHECK_INT(ws_prompt_render(s.arena, s.prompts, WS_REQUEST_EXPLOIT,
                                sections, 1, 99999, &s.prompt, NULL),
               WS_OK);
  WS_CHECK_TEXT(s.prompt.user, "mine\r\n\r\nP\n");
  WS_CHECK_CONTAINS(s.prompt.version, "exploit 90, system 4");
  WS_CHECK_CONTAINS(s.prompt.system, "gfx942");
  ws_arena_destroy(s.arena);
}

/* Any bytes: read or refused. */
WS_TEST(random_texts) {
  static const char *const pieces[] = {
      "# version 1\n", "{{",   "}}",  "{{plan}}", "\n",  "#",
      "{{facts}}\n",   "word", "\r",  "{{}}\n",   " ",   "## H\n",
      "{{target}}\n",  "\xff", "{{{", "\n\n",     "}}\n"};
  setting s = setting_create();
  ws_rng rng;
  ws_rng_init(&rng, 5);
  int read = 0;
  for (int round = 0; round < 400; round++) {
    ws_strbuf text;
    ws_strbuf_init(&text);
    ws_strbuf_puts(&text, ws_rng_below(&rng, 8) ? "# version 1\n" : "");
    for (uint64_t n = ws_rng_below(&rng, 12); n; n--)
      ws_strbuf_puts(
          &text, pieces[ws_rng_below(&rng, sizeof pieces / sizeof *pieces)]);
    put(&s, "explore.txt", text.data);
    ws_strbuf_deinit(&text);
    if (open_folder(&s) != WS_OK)
      continue;
    read++;
    const ws_prompt_section sections[] = {{"plan", "P\nQ\n", 1},
                                          {"facts", "", 0}};
    const ws_status status =
        render(&s, sections, 2, 8000 + ws_rng_below(&rng, 8000));
    WS_CHECK(status == WS_OK || status == WS_INPUT);
  }
  WS_CHECK(read > 20);
  ws_arena_destroy(s.arena);
}

/* ---- the program's own ------------------------------------------------------
 */

static void check_own_prompts(const char *target, const char *language) {
  setting s = setting_create();
  WS_CHECK_INT(
      ws_prompts_open(s.arena, NULL, target, language, &s.prompts, &s.diag),
      WS_OK);
  static const char *const names[] = {
      "aim",     "code",   "diagnostics", "estimate", "facts",
      "lineage", "plan",   "population",  "problem",  "profile",
      "regions", "second", "shapes",      "template", "findings"};
  enum { COUNT = sizeof names / sizeof *names };
  ws_prompt_section sections[COUNT];
  for (int i = 0; i < COUNT; i++)
    sections[i] = (ws_prompt_section){
        names[i], ws_arena_printf(s.arena, "<%s>", names[i]), 0};
  for (int k = 0; k < WS_REQUEST_COUNT; k++) {
    ws_prompt again;
    const ws_request_kind kind = (ws_request_kind)k;
    for (int i = 0; i < 2; i++)
      WS_CHECK_INT(ws_prompt_render(s.arena, s.prompts, kind, sections, COUNT,
                                    WS_PROMPT_BYTES, i ? &again : &s.prompt,
                                    &s.diag),
                   WS_OK);
    WS_CHECK_TEXT(again.user, s.prompt.user);
    WS_CHECK_TEXT(again.version, s.prompt.version);
    WS_CHECK_TEXT(s.prompt.cut, "");
    WS_CHECK(!strstr(s.prompt.user, "{{") && !strstr(s.prompt.system, "{{"));
    WS_CHECK_CONTAINS(s.prompt.version, ws_request_text(kind));
    WS_CHECK_CONTAINS(s.prompt.user, "<problem>");
    WS_CHECK_CONTAINS(s.prompt.user, "## How to reply");
    /* half of the budget is left for what changes */
    WS_CHECK(strlen(s.prompt.user) + strlen(s.prompt.system) <
             WS_PROMPT_BYTES / 2);
    WS_CHECK(!strstr(s.prompt.user, "## region") ==
             ws_request_is_document(kind));
    WS_CHECK(ws_request_is_document(kind) ||
             !strstr(s.prompt.user, "(mlir)") == !!strcmp(language, "mlir"));
  }
  ws_arena_destroy(s.arena);
}

WS_TEST(own_prompts_are_whole_and_repeatable) {
  check_own_prompts("", "");
  check_own_prompts("gfx942", "ir");
  check_own_prompts("gfx942", "mlir");
  check_own_prompts("sm_90a", "ir");
  check_own_prompts("sm_90a", "mlir");
}

WS_TEST(texts_of_a_language_go_before_those_of_a_target) {
  setting s = setting_create();
  static const struct {
    const char *target, *language, *text;
  } cases[] = {{"gfx942", "ir", "reply_format"},
               {"sm_90a", "ir", "reply_format_sm_90a"},
               {"sm_90a", "mlir", "reply_format_mlir"},
               {"gfx942", "mlir", "system_gfx942_mlir"},
               {"sm_90a", "mlir", "system_sm_90a"},
               {"", "mlir", "template_grammar_mlir"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool found = false;
    WS_CHECK_INT(ws_prompts_open(s.arena, NULL, cases[i].target,
                                 cases[i].language, &s.prompts, &s.diag),
                 WS_OK);
    const ws_prompt_text *text;
    for (int k = 0; (text = ws_prompts_at(s.prompts, k)); k++)
      found |= !strcmp(text->name, cases[i].text);
    WS_CHECK(found);
  }
  ws_arena_destroy(s.arena);
}

WS_TEST(a_fence_is_longer_than_what_it_holds) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_describe_fenced(&out, "c", "int x; // ````\n");
  WS_CHECK_TEXT(out.data, "`````c\nint x; // ````\n`````\n");
  ws_strbuf_deinit(&out);
}

WS_TEST(the_problem_says_what_c_is_in_the_layout) {
  ws_arena *arena = ws_arena_create();
  const ws_problem *problem = ws_problem_find("fp8_gemm_blockscale");
  const int adds = ws_problem_layout_index(problem, "kmajor-add");
  WS_CHECK_CONTAINS(ws_describe_problem(arena, problem, 0),
                    "- c (output, every element must be written):");
  WS_CHECK_CONTAINS(ws_describe_problem(arena, problem, adds),
                    "- c (read and written):");
  ws_arena_destroy(arena);
}
