/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Options by a table: exactly these names, in any order, and what is wrong is
 * one sentence.
 */
#include "wavesmith/options.h"
#include "ws_test.h"

#include <stddef.h>

typedef struct given {
  const char *text;
  bool flag;
  int small;
  int64_t large;
  uint64_t seed;
  double real;
  int reads;
} given;

static ws_status read_twice(const ws_option *option, const char *value,
                            void *out, ws_diag *diag) {
  (void)diag;
  WS_CHECK_TEXT(option->name, "read");
  WS_CHECK_TEXT(value, "v");
  ((given *)out)->reads++;
  return WS_OK;
}

#define AT(member) .offset = offsetof(given, member)
static const ws_option rows[] = {
    {"text", "T", "a text", WS_OPTION_TEXT, AT(text)},
    {.help = "Heading:"},
    {"textual", "T", "another", WS_OPTION_TEXT, AT(text)},
    {"flag", NULL, "a flag", WS_OPTION_FLAG, AT(flag)},
    {"small", "N", "1 to 9", WS_OPTION_INT, AT(small), .low = 1, .high = 9},
    {"large", "N", "from 0", WS_OPTION_INT64, AT(large)},
    {"seed", "N", "any", WS_OPTION_SEED, AT(seed)},
    {"real", "X", "from 0.5", WS_OPTION_REAL, AT(real), .low = 0.5},
    {"read", "V", "its own", WS_OPTION_READ, .read = read_twice},
    WS_OPTIONS_END};
static const ws_command command = {.program = "prog cmd",
                                   .purpose = "tests",
                                   .usage = "WORD",
                                   .about = "About.",
                                   .options = rows};

#define PARSE(...) parse((char *[]){"cmd", __VA_ARGS__, NULL})
static given got;
static ws_words words;
static ws_diag diag;

static ws_status parse(char **given_argv) {
  static char *argv[32]; /* words point into it */
  int argc = 0;
  while ((argv[argc] = given_argv[argc]))
    argc++;
  got = (given){.text = "default"};
  return ws_options_parse(&command, argc, argv, &got, &words, &diag);
}

static void refuses(ws_status status, const char *part) {
  WS_CHECK_INT(status, WS_USAGE);
  WS_CHECK_CONTAINS(diag.text, part);
}

WS_TEST(values_in_both_forms_and_any_order) {
  WS_CHECK_INT(PARSE("w1", "--text", "a b", "--small=9", "-", "--flag",
                     "--large", "5", "--seed=18446744073709551615", "--real",
                     "0.5", "--read", "v", "--read=v", "w2"),
               WS_OK);
  WS_CHECK_TEXT(got.text, "a b");
  WS_CHECK_INT(got.small, 9);
  WS_CHECK_INT(got.large, 5);
  WS_CHECK(got.seed == UINT64_MAX && got.flag && got.real == 0.5);
  WS_CHECK_INT(got.reads, 2);
  WS_CHECK_INT(words.count, 3);
  WS_CHECK_TEXT(words.items[0], "w1");
  WS_CHECK_TEXT(words.items[1], "-");
  WS_CHECK_TEXT(words.items[2], "w2");
}

WS_TEST(a_value_may_look_like_an_option) {
  WS_CHECK_INT(PARSE("--text", "--flag", "--textual="), WS_OK);
  WS_CHECK(!got.flag);
  WS_CHECK_TEXT(got.text, ""); /* the last counts */
}

WS_TEST(two_hyphens_end_the_options) {
  WS_CHECK_INT(PARSE("--", "--flag", "--", "-x"), WS_OK);
  WS_CHECK(!got.flag);
  WS_CHECK_INT(words.count, 3);
  WS_CHECK_TEXT(words.items[0], "--flag");
}

WS_TEST(help_is_read_before_what_follows) {
  WS_CHECK_INT(PARSE("--help", "--nonsense"), WS_OK);
  WS_CHECK(words.help);
  refuses(PARSE("--nonsense", "--help"), "'--nonsense' is unknown");
}

WS_TEST(a_beginning_is_no_name) {
  refuses(PARSE("--fla"), "'--fla' is unknown; is --flag meant?");
  refuses(PARSE("--tex", "x"), "is --text meant?");
  refuses(PARSE("--seeds=1"), "'--seeds' is unknown; is --seed meant?");
  refuses(PARSE("--lareg", "1"), "is --large meant?");
  refuses(PARSE("-flag"), "'-flag' is unknown; is --flag meant?");
  refuses(PARSE("-f"), "'-f' is unknown");
  refuses(PARSE("--hepl"), "is --help meant?");
  refuses(PARSE("--zzzzzz"), "'--zzzzzz' is unknown; `prog cmd --help`");
}

WS_TEST(values_that_are_wrong) {
  refuses(PARSE("--text"), "'--text' lacks its value");
  refuses(PARSE("--flag=1"), "'--flag' takes no value");
  refuses(PARSE("--small", "0"), "--small '0' is not an integer from 1 to 9");
  refuses(PARSE("--small", "10"), "--small '10'");
  refuses(PARSE("--small", "3x"), "--small '3x'");
  refuses(PARSE("--large", "99999999999999999999"), "--large '9999");
  refuses(PARSE("--large", ""), "--large ''");
  refuses(PARSE("--seed", "-1"), "--seed '-1' is not an integer from 0");
  refuses(PARSE("--real", "nan"), "--real 'nan' is not a number from 0.5");
  refuses(PARSE("--real", "0.4"), "--real '0.4'");
  refuses(PARSE("--real", "inf"), "--real 'inf'");
}

WS_TEST(names_that_are_near) {
  static const char *const names[] = {"archive", "batch", "bench", "build"};
  WS_CHECK_TEXT(ws_nearest_name("achive", names, 4), "archive");
  WS_CHECK_TEXT(ws_nearest_name("arch", names, 4), "archive");
  WS_CHECK_TEXT(ws_nearest_name("bnech", names, 4), "bench");
  WS_CHECK_TEXT(ws_nearest_name("biuld", names, 4), "build");
  WS_CHECK(!ws_nearest_name("report", names, 4));
  WS_CHECK(!ws_nearest_name("", names, 4));
}
