/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is refused, each with one line that says what and where; and what no
 * text may do: crash, take long, or be read half.
 */
#include "replies.h"

#include <time.h>

#define DECODE "define float @decode(i32 %b) {\n  ret float 0.0\n}\n"
#define EDIT "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n"
#define EXPERIMENT "## experiment 1\ntitle: t\ndescription: d\n"

WS_TEST(empty) {
  static const char *const texts[] = {"", " \n\t\r\n",
                                      "<think>\nwell\n</think>",
                                      "<think>cut off", "well</think>\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    refuse(texts[i], "the reply is empty");
}

WS_TEST(nothing_that_was_asked_for) {
  refuse("I cannot help with that.", "no parameters, region or template");
  refuse("## reasoning\nNothing to do.\n", "## region NAME");
  refuse("## parameters\nnone\n", "so it changes nothing");
  refuse_as(WS_REQUEST_SELECT, "## base\n3fa9\n", "no base and reference");
  refuse_as(WS_REQUEST_SELECT, "## base\n## reference\n77c0\n",
            "no base and reference");
  refuse_as(WS_REQUEST_DESIGN, "## avenues\n- one\n", "no experiment");
  refuse_as(WS_REQUEST_DISTIL, "It went well.\n", "no findings");
  refuse_as(WS_REQUEST_DISTIL, "## findings\n\n", "no findings");
  /* A section of another kind of request does not help. */
  refuse_as(WS_REQUEST_SELECT, "## parameters\na=1\n", "no base");
}

static const struct {
  const char *text, *words;
} two_candidates[] = {
    {"## name\na\n## parameters\na=1\n## name\nb\n",
     "reply:5: a second '## name' (the first is on line 1): two candidates"},
    {"## parameters\na=1\n## parameters\na=2\n", "reply:3: a second"},
    {"## expected\n## parameters\na=1\n## expected\n", "reply:4: a second"},
    {"# Candidate 1\n## parameters\na=1\n# Candidate 2\n",
     "reply:4: a second '## candidate'"},
    {"## template\n```\n" DECODE "```\n## template\n```\n" DECODE "```\n",
     "reply:7: a second '## template'"},
    {"## template\n```\n" DECODE "```\n```\n" DECODE "```\n",
     "reply:7: a second fenced block"},
    {"## region decode\n```\n" DECODE "```\n## region decode\n```\n" DECODE
     "```\n",
     "reply:7: a second body of region decode (the first is on line 1): two "
     "candidates"},
    {"## region decode\n```\n" DECODE "```\nor\n```\n" DECODE "```\n",
     "reply:8: a second fenced block in a section that began on line 1"},
};

WS_TEST(reply_with_two_candidates) {
  for (size_t i = 0; i < sizeof two_candidates / sizeof *two_candidates; i++)
    refuse(two_candidates[i].text, two_candidates[i].words);
  refuse_as(WS_REQUEST_SELECT, "## base\n3fa9\n## base\n77c0\n",
            "two candidates");
}

static const struct {
  const char *text, *words;
} contradictions[] = {
    {"## template\n" EDIT "```\n" DECODE "```\n",
     "reply:1: the template has both a whole body (line 1) and edits (line 2)"},
    {"## region decode\n" EDIT "```\n" DECODE "```\n",
     "reply:1: region decode has both a whole body (line 1) and edits (line "
     "2)"},
    {"## region decode\n" EDIT "## region decode\n```\n" DECODE "```\n",
     "both a whole body (line 7) and edits (line 2)"},
    {"## region decode\nSee above.\n",
     "reply:1: region decode has neither a body nor edits"},
    {"## region decode\n```\n\n```\n", "neither a body nor edits"},
    {"## region\n```\n" DECODE "```\n", "reply:1: the region has no name"},
    {"## template (hip)\n```\nWS_LAUNCH(f)\n```\n",
     "reply:1: a template is LLVM IR, MLIR or OpenCL C"},
    {"## template\nAs before.\n",
     "reply:1: the template has neither a body nor edits"},
};

WS_TEST(contradictory_sections) {
  for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++)
    refuse(contradictions[i].text, contradictions[i].words);
}

static const struct {
  const char *text, *words;
} broken_edits[] = {
    {"<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n",
     "reply:2: the edit has no '======"},
    {"<<<<<<< SEARCH\na\n=======\nb\n", "reply:2: the edit is not closed"},
    {"<<<<<<< SEARCH\na\n", "reply:2: the edit is not closed"},
    {"<<<<<<< SEARCH\na\n<<<<<<< SEARCH\n", "reply:2: another edit begins"},
    {"<<<<<<< SEARCH\na\n=======\nb\n=======\nc\n>>>>>>> REPLACE\n",
     "a second '=======' on line 6"},
    {"a\n=======\nb\n", "reply:3: '=======' without a '<<<<<<< SEARCH'"},
    {">>>>>>> REPLACE\n", "reply:2: '>>>>>>>' without"},
    {"<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n", "search text is empty"},
    {"<<<<<<< SEARCH\n\n \n=======\nb\n>>>>>>> REPLACE\n", "text is empty"},
    {"<<<<<<< SEARCH\na\n=======\na\n>>>>>>> REPLACE\n", "changes nothing"},
    {"<<<<<<< LINES\na\n=======\nb\n>>>>>>> REPLACE\n",
     "reply:2: the edit's lines cannot be read; write '<<<<<<< LINES"},
    {"<<<<<<< LINES 0 1\na\n=======\nb\n>>>>>>> REPLACE\n", "cannot be read"},
    {"<<<<<<< LINES 3 2\na\n=======\nb\n>>>>>>> REPLACE\n", "cannot be read"},
    {"<<<<<<< LINES 1.5\na\n=======\nb\n>>>>>>> REPLACE\n", "cannot be read"},
    {"<<<<<<< LINES 1e9\na\n=======\nb\n>>>>>>> REPLACE\n", "cannot be read"},
    {"<<<<<<< LINES 1 2 3\na\n=======\nb\n>>>>>>> REPLACE\n", "cannot be read"},
    {"<<<<<<< LINES all\na\n=======\nb\n>>>>>>> REPLACE\n", "cannot be read"},
    {"<<<<<<< LINES 3 4\n\n=======\nb\n>>>>>>> REPLACE\n",
     "the edit does not repeat line 3"},
};

WS_TEST(edits_that_are_not_whole) {
  for (size_t i = 0; i < sizeof broken_edits / sizeof *broken_edits; i++) {
    ws_arena *arena = ws_arena_create();
    refuse(ws_arena_printf(arena, "## region dot\n%s", broken_edits[i].text),
           broken_edits[i].words);
    ws_arena_destroy(arena);
  }
}

WS_TEST(replies_that_are_cut_off) {
  refuse("## region decode\n```llvm\n" DECODE, "reply:2: the fence is not cl");
  refuse("## region decode\n```llvm\n" DECODE "~~~\n", "not closed");
  refuse("````markdown\n## region decode\n```llvm\n" DECODE, "not closed");
  /* The next section's fence is not the end of this one. */
  refuse("## region decode\n```llvm\n" DECODE "## region dot\n```llvm\n" DECODE
         "```\n",
         "reply:2: the fence is not closed before the one on line 7");
}

static const char *const bad_claims[] = {"speedup",
                                         "speedup large",
                                         "speedup 1.2 to 1.1",
                                         "speedup 5 % to 1.2",
                                         "speedup 0 1",
                                         "speedup -1 2",
                                         "speedup nan",
                                         "speedup inf 1",
                                         "speedup 0x10 2",
                                         "speedup 1.1 1.2 1.3",
                                         "speedup > 1.1",
                                         "speedup 1e999 2",
                                         "speedup 1.2-",
                                         "speedup 1024,1536,7168",
                                         "speedup rows=16,cols=1024",
                                         "speedup rows 1.1 1.2",
                                         "share 5 10",
                                         "share mma",
                                         "vgpr 5 %",
                                         "vgpr 0 -10",
                                         "vgpr -",
                                         "lds 1024,1536,7168 1 2",
                                         "speedup 5 -- 10"};

WS_TEST(claims_without_a_range) {
  for (size_t i = 0; i < sizeof bad_claims / sizeof *bad_claims; i++) {
    ws_arena *arena = ws_arena_create();
    refuse(ws_arena_printf(arena, "## expected\n%s\n## parameters\na=1\n",
                           bad_claims[i]),
           "reply:2: '");
    ws_arena_destroy(arena);
  }
}

WS_TEST(assignments_that_are_none) {
  static const char *const lines[] = {
      "tile_m=",   "=32",        "tile_m=large tile", "With tile_m=32 it fits",
      "tile m=32", "tile_m==32", "tile_m=32;x="};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    ws_arena *arena = ws_arena_create();
    refuse(ws_arena_printf(arena, "## parameters\n%s\n", lines[i]),
           "is not an assignment; write parameter=value");
    ws_arena_destroy(arena);
  }
}

static const struct {
  const char *text, *words;
} bad_experiments[] = {
    {"## experiment 1\ndescription: d\n", "no 'title:'"},
    {"## experiment 1\ntitle:\ndescription: d\n", "no 'title:'"},
    {"## experiment 1: t\ngain: 1\ninnovation: 1\n", "no 'description:'"},
    {EXPERIMENT "innovation: 1\n", "no 'gain:'"},
    {EXPERIMENT "gain: much\ninnovation: 1\n", "no 'gain:'"},
    {EXPERIMENT "gain: 1 2\n", "no 'innovation:'"},
    {EXPERIMENT "gain: 1 2\ninnovation: 101\n", "no 'innovation:'"},
    {EXPERIMENT "gain: 1 2\ninnovation: -1\n", "no 'innovation:'"},
    {EXPERIMENT "title: u\n", "reply:4: the experiment has a second 'title:'"},
};

WS_TEST(experiments_that_are_not_whole) {
  for (size_t i = 0; i < sizeof bad_experiments / sizeof *bad_experiments; i++)
    refuse_as(WS_REQUEST_DESIGN, bad_experiments[i].text,
              bad_experiments[i].words);
}

/* ---- limits -------------------------------------------------------------- */

static char *repeated(ws_arena *arena, const char *head, const char *part,
                      int times, const char *tail) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_puts(&out, head);
  for (int i = 0; i < times; i++)
    ws_strbuf_puts(&out, part);
  ws_strbuf_puts(&out, tail);
  char *text = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return text;
}

static const struct {
  const char *head, *part, *tail, *words;
  int good;
  ws_request_kind kind;
} limits[] = {
    {"## expected\n", "vgpr 0 1\n", "## parameters\na=1\n",
     "more than 64 claims", 64, WS_REQUEST_EXPLOIT},
    {"## region dot\n", EDIT, "", "more than 64 edits of region dot", 64,
     WS_REQUEST_EXPLOIT},
    {"## avenues\n", "- a\n", EXPERIMENT "gain: 1\ninnovation: 1\n",
     "more than 64 avenues", 64, WS_REQUEST_DESIGN},
    {"", EXPERIMENT "gain: 1\ninnovation: 1\n", "", "more than 64 experiments",
     64, WS_REQUEST_DESIGN},
    {"## template\n```\n", "0123456789abcde\n", "```\n",
     "more than 524288 bytes", 524288 / 16, WS_REQUEST_WRITE},
    {"## region dot\n```\n", "0123456789abcde\n", "```\n",
     "more than 524288 bytes", 524288 / 16, WS_REQUEST_WRITE},
    {"## parameters\na=1\n## reasoning\n", "0123456789abcde\n", "",
     "more than 4194304 bytes", 4194304 / 16 - 2, WS_REQUEST_WRITE},
};

WS_TEST(limits_of_a_reply) {
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    ws_arena *arena = ws_arena_create();
    parse_as(arena, limits[i].kind,
             repeated(arena, limits[i].head, limits[i].part, limits[i].good,
                      limits[i].tail));
    refuse_as(limits[i].kind,
              repeated(arena, limits[i].head, limits[i].part,
                       limits[i].good + 2, limits[i].tail),
              limits[i].words);
    ws_arena_destroy(arena);
  }
}

WS_TEST(too_many_regions) {
  ws_arena *arena = ws_arena_create();
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (int i = 0; i < 64; i++)
    ws_strbuf_printf(&out, "## region r%d\n" EDIT, i);
  WS_CHECK_INT(parse(arena, out.data).region_count, 64);
  ws_strbuf_puts(&out, "## region one_more\n" EDIT);
  refuse(out.data, "more than 64 regions");
  ws_strbuf_deinit(&out);
  ws_arena_destroy(arena);
}

/* ---- hostile texts ------------------------------------------------------- */

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Read as each kind; whatever comes of it, a refusal has its line. */
static void parse_any(const char *text) {
  for (int kind = 0; kind < WS_REQUEST_COUNT; kind++) {
    ws_arena *arena = ws_arena_create();
    ws_reply reply;
    ws_diag diag = {""};
    ws_status status =
        ws_reply_parse(arena, text, (ws_request_kind)kind, &reply, &diag);
    WS_CHECK(status == WS_OK || status == WS_INPUT);
    WS_CHECK(status == WS_OK || (diag.text[0] && !strchr(diag.text, '\n')));
    ws_arena_destroy(arena);
  }
}

/* 64 KB of one thing: a quadratic step over bytes would take seconds. */
WS_TEST(much_of_one_thing) {
  static const char *const parts[] = {"\n",
                                      "#",
                                      "# ",
                                      "## name\n",
                                      "## reasoning\nx\n",
                                      "```\n",
                                      "```x\n",
                                      "~",
                                      "`",
                                      "**a**\n",
                                      "**",
                                      "<think>",
                                      "<think>\n",
                                      "</think>",
                                      "<",
                                      "=======\n",
                                      "<<<<<<<\n",
                                      "## region a\n",
                                      "\r",
                                      "a=1;",
                                      "## region a\n```\n{}\n```\n",
                                      "## region a\n" EDIT,
                                      "## experiment\n",
                                      "title:\n",
                                      "- ",
                                      "{",
                                      "## parameters\n",
                                      " ",
                                      "\xE2\x80\x93",
                                      "1 ",
                                      "## avenues\n- a\n"};
  static const char *const heads[] = {"",
                                      "## region a\n",
                                      "## expected\nvgpr ",
                                      "## parameters\n",
                                      "## avenues\n",
                                      "## experiment 1\n",
                                      "```\n## name\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (size_t k = 0; k < sizeof heads / sizeof *heads; k++) {
      ws_arena *arena = ws_arena_create();
      int times = (int)((1 << 16) / strlen(parts[i]));
      char *text = repeated(arena, heads[k], parts[i], times, "");
      double begin = cpu_seconds();
      ws_reply reply;
      ws_diag diag;
      ws_status status = ws_reply_parse(
          arena, text, k == 4 || k == 5 ? WS_REQUEST_DESIGN : WS_REQUEST_WRITE,
          &reply, &diag);
      (void)status;
      if (cpu_seconds() - begin > 1)
        WS_FAIL("%.1f s for head %zu, part %zu", cpu_seconds() - begin, k, i);
      ws_arena_destroy(arena);
    }
}

/* ---- mutations ----------------------------------------------------------- */

static const char *const seeds[] = {
    "Text.\n## name\nn\n## reasoning\nwhy\n## expected\nspeedup 1.05 1.20\n"
    "vgpr -4 8\n## parameters\ntile_m=32\n## region decode (ir)\n```llvm\n" EDIT
    "```\n## region dot (opencl)\n```c\nfloat dot() { return 0; }\n```\n",
    "<think>\nhm\n</think>\n```markdown\n## template\n~~~llvm\n" DECODE
    "~~~\n## parameters\na=1;b=2\n```\n",
    "## avenues\n1. one\n2. two\n" EXPERIMENT
    "rubric: r\ngain: 5 % to 20 %\ninnovation: 70\n",
    "## base\n3fa9\n## reference\n77c0\n", "## findings\n- one\n- two\n"};

static const char *const pieces[] = {"## ",
                                     "```",
                                     "~~~",
                                     "\n",
                                     "<<<<<<< SEARCH\n",
                                     "=======\n",
                                     ">>>>>>> REPLACE\n",
                                     "**",
                                     ":",
                                     "<think>",
                                     "</think>",
                                     "\r\n",
                                     "\xFF",
                                     "\x01",
                                     "1.05",
                                     "-",
                                     "=",
                                     ";",
                                     "{",
                                     "}",
                                     "\"",
                                     "%",
                                     "region ",
                                     "@"};

/* Cut, insert, copy, change one byte. */
static char *mutate(ws_arena *arena, ws_rng *rng, const char *seed) {
  char *text = ws_arena_strdup(arena, seed);
  for (uint64_t steps = 1 + ws_rng_below(rng, 4); steps; steps--) {
    size_t size = strlen(text), at = ws_rng_below(rng, size + 1);
    size_t to = at + ws_rng_below(rng, size - at + 1);
    const char *piece =
        pieces[ws_rng_below(rng, sizeof pieces / sizeof *pieces)];
    switch (ws_rng_below(rng, 4)) {
    case 0:
      text = ws_arena_printf(arena, "%.*s%s", (int)at, text, text + to);
      break;
    case 1:
      text =
          ws_arena_printf(arena, "%.*s%s%s", (int)at, text, piece, text + at);
      break;
    case 2:
      text = ws_arena_printf(arena, "%.*s%.*s%s", (int)at, text, (int)(to - at),
                             text + at, text + at);
      break;
    default:
      if (at < size)
        text[at] = (char)(1 + ws_rng_below(rng, 255));
    }
  }
  return text;
}

WS_TEST(thousand_mutations) {
  ws_rng rng;
  ws_rng_init(&rng, 4);
  for (int i = 0; i < 1000; i++) {
    ws_arena *arena = ws_arena_create();
    parse_any(mutate(arena, &rng,
                     seeds[ws_rng_below(&rng, sizeof seeds / sizeof *seeds)]));
    ws_arena_destroy(arena);
  }
}
