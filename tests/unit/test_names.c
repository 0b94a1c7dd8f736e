/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Names and texts of others: the rule of names by itself and in every place of
 * a template, what a terminal gets, and the guard in front of stdout.
 */
#include "hostile_names.h"
#include "wavesmith/text.h"
#include "ws_test_template.h"

#include <fcntl.h>

/* ---- the rule ---- */
WS_TEST(names) {
  static const char *const good[] = {"a",   "_",      "_a",           "tile_m",
                                     "A9",  "kernel", "default_tile", "whiles",
                                     "x_t", "_9"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    if (ws_name_fault(good[i]))
      WS_FAIL("'%s' %s", good[i], ws_name_fault(good[i]));
  for (size_t i = 0; i < HOSTILE_NAMES; i++)
    if (!ws_name_fault(hostile_name(i)))
      WS_FAIL("'%.40s' is taken", hostile_name(i));
  char name[66];
  memset(name, 'a', sizeof name);
  name[63] = '\0';
  WS_CHECK(!ws_name_fault(name));
  strcpy(name + 63, "a");
  WS_CHECK(ws_name_fault(name) != NULL);
}

WS_TEST(dotted_names) {
  static const char *const good[] = {"ws.tile_m", "a", "1.2.3", "10", "v1.0"};
  static const char *const bad[] = {"",      ".",     "a.", ".a",     "a..b",
                                    "a.b-c", "a.int", "1a", "a.\x1b", "a b.c"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++)
    WS_CHECK(!ws_dotted_name_fault(good[i]));
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    WS_CHECK(ws_dotted_name_fault(bad[i]) != NULL);
}

/* ---- in a template ---- */
typedef struct operand {
  const char *kind;
  int index;
} operand;
/* Every operand of a record that is a name, by the grammar of
 * ir-templates/README.md. */
static const operand name_operands[] = {
    {"template", 0},  {"template", 1},  {"template", 2},   {"template", 3},
    {"param", 0},     {"param", 1},     {"lds", 0},        {"launch", 0},
    {"launch", 6},    {"region", 0},    {"variant", 0},    {"variant", 1},
    {"allow", 0},     {"occupancy", 0}, {"tensor_map", 0}, {"tensor_map", 1},
    {"tensor_map", 2}};

static const char whole_template[] =
    "template|gemm|1|fp8_gemm_blockscale|sm_90a|for tests\n"
    "param|tile|ws.tile|16 32|rows|16\n"
    "lds|ws.lds|4096\n"
    "region|scale|scales\n"
    "variant|scale|scale_twice|twice\n"
    "launch|run|1|1|1|64|1|a_map c m\n"
    "allow|scratch\n"
    "occupancy|run|1|1\n"
    "tensor_map|a_map|a|u8|k|m|64|64|0\n";

static void refuse(const operand *where, const char *name) {
  ws_arena *arena = ws_arena_create();
  ws_records records = ws_test_records(arena, whole_template);
  const ws_template *tmpl;
  ws_diag diag = {""};
  bool found = false;
  for (int i = 0; i < records.count && !found; i++)
    if (!strcmp(records.items[i].kind, where->kind)) {
      ((const char **)records.items[i].operands)[where->index] = name;
      found = true;
    }
  WS_CHECK(found);
  if (ws_template_from_records(arena, &records, "t.ll", ws_hash_bytes("x", 1),
                               &tmpl, &diag) != WS_INPUT)
    WS_FAIL("%s, operand %d: '%.40s' is taken", where->kind, where->index,
            name);
  WS_CHECK(!strncmp(diag.text, "t.ll:", 5));
  for (const char *c = diag.text; *c; c++)
    WS_CHECK((unsigned char)*c >= ' ' && *c != 0x7f);
  WS_CHECK(!strstr(diag.text, "\u202e"));
  ws_arena_destroy(arena);
}

WS_TEST(no_template_holds_a_hostile_name) {
  ws_arena *arena = ws_arena_create();
  ws_test_template(arena, whole_template); /* is a good one */
  ws_arena_destroy(arena);
  for (size_t w = 0; w < sizeof name_operands / sizeof *name_operands; w++)
    for (size_t i = 0; i < HOSTILE_NAMES; i++) {
      const operand *where = &name_operands[w];
      /* Versions are words and numbers; a list of no arguments is one. */
      if (!strcmp(where->kind, "launch") && where->index == 6 &&
          !*hostile_name(i))
        continue;
      if (!strcmp(where->kind, "template") && where->index == 1 &&
          !ws_dotted_name_fault(hostile_name(i)))
        continue;
      refuse(where, hostile_name(i));
    }
}

/* ---- text ---- */
static const struct {
  const char *text, *lines, *one_line;
} shown[] = {
    {"plain", "plain", "plain"},
    {"a\nb\tc", "a\nb\tc", "a b c"},
    {"a\rb", "a\\u000db", "a b"},
    {"\x1b[2Jx", "\\u001b[2Jx", "\\u001b[2Jx"},
    {"\x07\x7f", "\\u0007\\u007f", "\\u0007\\u007f"},
    {"\xc2\x9b"
     "31m",
     "\\u009b31m", "\\u009b31m"}, /* C1: CSI */
    {"\x9b"
     "31m",
     "\xef\xbf\xbd"
     "31m",
     "\xef\xbf\xbd"
     "31m"}, /* its byte */
    {"a\xe2\x80\xae"
     "b",
     "a\\u202eb", "a\\u202eb"}, /* RLO */
    {"a\xe2\x81\xa6"
     "b",
     "a\\u2066b", "a\\u2066b"}, /* LRI */
    {"a\xe2\x80\x8b"
     "b",
     "a\\u200bb", "a\\u200bb"}, /* zero width space */
    {"a\xe2\x80\xa8"
     "b",
     "a\\u2028b", "a\\u2028b"}, /* line separator */
    {"\xf3\xa0\x81\x81", "\\udb40\\udc41", "\\udb40\\udc41"}, /* tag A */
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
     "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
     "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
     "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
};

WS_TEST(text_is_shown) {
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
    for (int one_line = 0; one_line < 2; one_line++) {
      ws_strbuf out;
      ws_strbuf_init(&out);
      ws_text_show(&out, shown[i].text, strlen(shown[i].text), one_line);
      WS_CHECK_TEXT(out.data, one_line ? shown[i].one_line : shown[i].lines);
      ws_strbuf_deinit(&out);
    }
}

/* What is shown is shown as it is. */
WS_TEST(showing_twice_is_showing_once) {
  ws_rng rng;
  ws_rng_init(&rng, 7);
  for (int i = 0; i < 20000; i++) {
    char text[24];
    ws_strbuf once, twice;
    size_t size = ws_rng_below(&rng, sizeof text);
    for (size_t k = 0; k < size; k++)
      text[k] = (char)ws_rng_below(&rng, 256);
    ws_strbuf_init(&once);
    ws_strbuf_init(&twice);
    ws_text_show(&once, text, size, i % 2);
    ws_text_show(&twice, once.data, once.size, i % 2);
    WS_CHECK_TEXT(twice.data, once.data);
    WS_CHECK(ws_text_is_utf8(once.data, once.size));
    for (const char *c = once.data; *c; c++)
      WS_CHECK((unsigned char)*c >= ' ' ||
               (i % 2 == 0 && (*c == '\n' || *c == '\t')));
    ws_strbuf_deinit(&once);
    ws_strbuf_deinit(&twice);
  }
}

WS_TEST(a_cut_leaves_no_half_character) {
  const char *text = "a\xe2\x82\xac"
                     "b";
  static const size_t want[] = {0, 1, 1, 1, 4, 5, 5};
  for (size_t limit = 0; limit < sizeof want / sizeof *want; limit++)
    WS_CHECK_INT(ws_text_cut(text, strlen(text), limit), want[limit]);
}

/* ---- the guard ---- */
/* What print() writes to stdout and stderr behind the guard, in that order. */
static char *guarded(void (*print)(void)) {
  static char text[4096];
  char path[] = "/tmp/wavesmith-test-XXXXXX";
  int file = mkstemp(path);
  WS_CHECK(file >= 0);
  unlink(path);
  pid_t pid = fork();
  if (pid == 0) {
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    ws_terminal_guard();
    print();
    fflush(stdout);
    fflush(stderr);
    _exit(0);
  }
  waitpid(pid, NULL, 0);
  ssize_t size = pread(file, text, sizeof text - 1, 0);
  WS_CHECK(size >= 0);
  text[size] = '\0';
  close(file);
  return text;
}

static void print_all_ways(void) {
  printf("%s|", "\x1b[1m");
  fputs("\xe2\x80\xae|", stdout);
  for (const char *c = "\xe2\x82\xac|"; *c; c++)
    fputc(*c, stdout);
  puts("\xff");
  fflush(stdout);
  fprintf(stderr, "e\x1b%c", '\xc2');
  fputc('\x9b', stderr);
  fputs("\n", stderr);
}

WS_TEST(nothing_passes_the_guard) {
  WS_CHECK_TEXT(guarded(print_all_ways),
                "\\u001b[1m|\\u202e|\xe2\x82\xac|\xef\xbf\xbd\n"
                "e\\u001b\\u009b\n");
}

static void print_much(void) {
  for (int i = 0; i < 700; i++) /* a character on each side of a buffer's end */
    fputs("\xe2\x82\xac", stdout);
}
WS_TEST(the_guard_keeps_characters_whole) {
  char *text = guarded(print_much);
  WS_CHECK_INT(strlen(text), 2100);
  WS_CHECK(ws_text_is_utf8(text, strlen(text)));
  WS_CHECK(!strstr(text, "\xef\xbf\xbd"));
}

static void print_progress(void) {
  ws_terminal_progress("one\x1b[2J\ntwo", false);
  ws_terminal_progress("three", true);
}
WS_TEST(progress_elsewhere_than_on_a_terminal) {
  WS_CHECK_TEXT(guarded(print_progress), "one\\u001b[2J two\nthree\n");
}

WS_TEST(a_full_device_shows) {
  pid_t pid = fork();
  if (pid == 0) {
    int full = open("/dev/full", O_WRONLY);
    dup2(full, STDOUT_FILENO);
    ws_terminal_guard();
    printf("x");
    _exit(fflush(stdout) && ferror(stdout) ? 0 : 1);
  }
  int state = 1;
  waitpid(pid, &state, 0);
  WS_CHECK_INT(state, 0);
}

/* ---- one line each ---- */
WS_TEST(diagnostics_and_logs) {
  ws_diag diag;
  (void)ws_fail(&diag, WS_INPUT, "a\x1b.ll", 3, "\xe2\x80\xae%s", "\n\xff");
  WS_CHECK_TEXT(diag.text, "a\\u001b.ll:3: \\u202e \xef\xbf\xbd");
}

/* Lines of at most 10 columns, the first from column 4 on, further ones behind
 * 2 blanks: by hand. */
WS_TEST(text_is_wrapped_at_blanks) {
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"", "\n"},
      {"ab cd", "ab cd\n"},
      {"abc def", "abc\n  def\n"},
      {"ab  cd ef", "ab  cd\n  ef\n"},
      {"\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4", /* 6 columns, 11 bytes */
       "\xc3\xa4\xc3\xa4 \xc3\xa4\xc3\xa4\xc3\xa4\n"},
      {"ab cdefghijklm no", "ab\n  cdefghijklm\n  no\n"},
      {"a\x1b[2Jb c", "\n  a\\u001b[2Jb\n  c\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    WS_CHECK(out != NULL);
    ws_text_print_wrapped(out, 10, 4, 2, cases[i].text);
    WS_CHECK_INT(fclose(out), 0);
    WS_CHECK_TEXT(text, cases[i].want);
    free(text);
  }
}
