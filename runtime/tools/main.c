/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith COMMAND ...`: the table of commands and the way to them, and
 * `wavesmith help`. Each command's own file holds the table of its options.
 */
#include "reference_option.h"
#include "tools.h"
#include "wavesmith/reference.h"
#include "wavesmith/text.h"

#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifndef WAVESMITH_VERSION
#define WAVESMITH_VERSION "0.1.0"
#endif

enum { LARGE_BYTES = 128 << 10 };

static const struct entry {
  int (*run)(int argc, char **argv);
  const ws_command *command;
  bool judges; /* compares results, so that a problem needs a reference */
} entries[] = {
    {tool_new, &new_command, false},
    {tool_tune, &tune_command, true},
    {tool_mcp, &mcp_command, true},
    {tool_check, &check_command, true},
    {tool_import, &import_command, false},
    {tool_build, &build_command, true},
    {tool_archive, &archive_command, false},
    {tool_batch, &batch_command, true},
    {tool_prompt, &prompt_command, false},
    {tool_report, &report_command, false},
    {tool_dispatch, &dispatch_command, true},
    {tool_evolve, &evolve_command, false},
    {tool_iree, &iree_command, false},
    {tool_sim, &sim_command, true},
    {tool_bench, &bench_command, true},
    {tool_calibrate, &calibrate_command, false},
    {tool_doctor, &doctor_command, false},
    {tool_help_of, &help_command, false},
};
enum { ENTRIES = sizeof entries / sizeof entries[0] };

/* "tune" of "wavesmith tune". */
static const char *name_of(const struct entry *entry) {
  return strchr(entry->command->program, ' ') + 1;
}

static const struct entry *find(const char *name) {
  for (int i = 0; i < ENTRIES; i++)
    if (!strcmp(name, name_of(&entries[i])))
      return &entries[i];
  return NULL;
}

static void print_usage(FILE *out) {
  fputs("usage: wavesmith COMMAND [OPTION ...]\n\n", out);
  for (int i = 0; i < ENTRIES; i++)
    fprintf(out, "  %-9s %s\n", name_of(&entries[i]),
            entries[i].command->purpose);
  fputs(
      "\nEvery command takes --problem FILE, the C file (or built library) of "
      "a problem of\nyours; several may be given. For one without a reference: "
      "--reference FILE, a\nkernel (.ll, .mlir or .hip) that its results are "
      "compared with, and --tolerance\nREL[,ABS] (docs/your-own-kernel.md).\n"
      "`wavesmith COMMAND --help` shows the options of a command.\n"
      "Exit codes: 0 done, 1 a candidate or input is at fault, 2 wrong "
      "usage,\n3 the environment is at fault, 128 and the signal's number: "
      "interrupted.\n",
      out);
}

static int unknown(const char *name) {
  const char *names[ENTRIES];
  for (int i = 0; i < ENTRIES; i++)
    names[i] = name_of(&entries[i]);
  const char *nearest = ws_nearest_name(name, names, ENTRIES);
  if (nearest)
    fprintf(stderr,
            "wavesmith: unknown command '%s'; is '%s' meant? `wavesmith "
            "--help` lists them\n",
            name, nearest);
  else
    fprintf(stderr,
            "wavesmith: unknown command '%s'; `wavesmith --help` lists them\n",
            name);
  return ws_status_exit_code(WS_USAGE);
}

/* ---- help ---- */
typedef struct help_options {
  bool man;
  const char *completion;
} help_options;

static const ws_option help_rows[] = {
    {"man", NULL, "the man page, of all commands", WS_OPTION_FLAG,
     .offset = offsetof(help_options, man)},
    {"completion", "SHELL", "a script for bash or zsh, to be sourced",
     WS_OPTION_TEXT, .offset = offsetof(help_options, completion),
     .choices = "bash zsh"},
    WS_OPTIONS_END};

const ws_command help_command = {
    .program = "wavesmith help",
    .purpose = "options of a command, a man page, completion",
    .usage = "[COMMAND]\n--man\n--completion bash|zsh",
    .about = "Prints what the commands are, the options of one, or what a "
             "system wants\nto know of them.",
    .options = help_rows};

static ws_status print_for_system(const help_options *options, ws_diag *diag) {
  const ws_command *commands[ENTRIES];
  for (int i = 0; i < ENTRIES; i++)
    commands[i] = entries[i].command;
  const ws_program program = {
      .name = "wavesmith",
      .version = WAVESMITH_VERSION,
      .purpose = "compiler-integrated kernel autotuner",
      .about = "Kernels are LLVM IR templates. A search explores their space, "
               "with or without a language model; each candidate is checked, "
               "compiled, verified and timed; an archive keeps all that was "
               "learned, and a dispatch is emitted as C.",
      .commands = commands,
      .command_count = ENTRIES};
  if (options->man)
    ws_program_print_man(&program, stdout);
  else if (!strcmp(options->completion, "bash"))
    ws_program_print_bash(&program, stdout);
  else if (!strcmp(options->completion, "zsh"))
    ws_program_print_zsh(&program, stdout);
  else
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--completion is for bash or zsh, not '%s'",
                   options->completion);
  return WS_OK;
}

int tool_help_of(int argc, char **argv) {
  help_options options = {.man = false};
  ws_words words;
  ws_diag diag = {""};
  ws_status status =
      ws_options_parse(&help_command, argc, argv, &options, &words, &diag);
  if (status == WS_OK && words.help)
    return tool_help(&help_command);
  if (status == WS_OK && (options.man || options.completion))
    status = print_for_system(&options, &diag);
  else if (status == WS_OK && words.count) {
    const struct entry *entry = find(words.items[0]);
    return entry ? tool_help(entry->command) : unknown(words.items[0]);
  } else if (status == WS_OK)
    print_usage(stdout);
  return status == WS_OK ? 0 : tool_fail("help", status, &diag);
}

int tool_help(const ws_command *command) {
  ws_command_print_help(command, stdout);
  return 0;
}

int tool_fail(const char *command, ws_status status, const ws_diag *diag) {
  fprintf(stderr, "wavesmith %s: %s\n", command,
          diag->text[0] ? diag->text : ws_status_text(status));
  return ws_status_exit_code(status);
}

/* ---- problems of the user's ---- */

/* Does it want to know which one, beside that there is one? */
static bool has_problem_option(const struct entry *entry) {
  for (const ws_option *row = entry->command->options; row->help; row++)
    if (row->name && !strcmp(row->name, "problem"))
      return row->kind != WS_OPTION_TAKEN;
  return false;
}

/* The value of "--NAME X" or "--NAME=X"; NULL: it is another word. *out_words:
 * how many it takes. */
static const char *value_of(const char *name, int argc, char **argv, int at,
                            int *out_words) {
  const size_t size = strlen(name);
  *out_words = 1;
  if (strncmp(argv[at], "--", 2) || strncmp(argv[at] + 2, name, size))
    return NULL;
  if (argv[at][size + 2] == '=')
    return argv[at] + size + 3;
  *out_words = 2;
  return !argv[at][size + 2] && at + 1 < argc ? argv[at + 1] : NULL;
}

static ws_problem_list named;

const ws_problem_list *tool_named_problems(void) { return &named; }

/* The words of the command line that every command takes. */
typedef struct common_words {
  const ws_problem *problem; /* the last that was named; NULL: none */
  reference_option reference;
} common_words;

/* Whether it was one of them; *out_words: how many it takes. */
static ws_status take_word(common_words *common, int argc, char **argv, int at,
                           int *out_words, bool *out_taken, ws_diag *diag) {
  const struct {
    const char *name, **out;
  } texts[] = {{"reference", &common->reference.file},
               {"tolerance", &common->reference.tolerance}};
  const char *problem = value_of("problem", argc, argv, at, out_words);
  *out_taken = true;
  if (problem)
    return ws_problem_get(problem, &common->problem, diag);
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *value = value_of(texts[i].name, argc, argv, at, out_words);
    if (!value)
      continue;
    *texts[i].out = value;
    return WS_OK;
  }
  *out_words = 1;
  *out_taken = false;
  return WS_OK;
}

/* Adds each problem that is given as a file and names it to the command, if
 * that wants to know of which problem it is, and the kernel that is to be its
 * reference; and what programs above us named. */
static ws_status take_problems(const struct entry *entry, ws_arena *arena,
                               int *argc, char **argv, ws_diag *diag) {
  bool asks = has_problem_option(entry), taken;
  common_words common = {.problem = NULL};
  int kept = 2;
  const ws_problem **problems =
      ws_arena_alloc(arena, (size_t)*argc * sizeof *problems);
  named.items = problems;
  WS_TRY(ws_problems_inherit(diag));
  WS_TRY(ws_references_inherit(diag));
  for (int at = 2, words; at < *argc; at += words) {
    const ws_problem *before = common.problem;
    WS_TRY(take_word(&common, *argc, argv, at, &words, &taken, diag));
    if (!taken)
      argv[kept++] = argv[at];
    if (common.problem == before)
      continue;
    problems[named.count++] = common.problem;
    if (asks)
      argv[kept++] =
          ws_arena_printf(arena, "--problem=%s", common.problem->name);
  }
  argv[kept] = NULL;
  *argc = kept;
  WS_TRY(reference_option_take(&common.reference, common.problem, diag));
  if (!common.problem || ws_problem_is_comparable(common.problem) ||
      !entry->judges)
    return WS_OK;
  return ws_fail(diag, WS_INPUT, common.problem->file, 0,
                 "problem %s has no reference to compare results with: give it "
                 "one (.reference), or name a kernel with --reference FILE",
                 common.problem->name);
}

static const char *command_name;
static void say_crash(const ws_problem *problem, const char *text) {
  char program[64];
  snprintf(program, sizeof program, "wavesmith %s", command_name);
  ws_problem_print_crash(program, problem, text);
}

static int run_command(int argc, char **argv) {
  if (argc < 2) {
    print_usage(stderr);
    return ws_status_exit_code(WS_USAGE);
  }
  if (!strcmp(argv[1], "--help")) {
    print_usage(stdout);
    return 0;
  }
  if (!strcmp(argv[1], "--version")) {
    puts("wavesmith " WAVESMITH_VERSION);
    return 0;
  }
  const struct entry *entry = find(argv[1]);
  if (!entry)
    return unknown(argv[1]);
  ws_diag diag = {""};
  command_name = argv[1];
  ws_problem_on_crash(say_crash);
  ws_arena *arena = ws_arena_create();
  ws_status status = take_problems(entry, arena, &argc, argv, &diag);
  int code = status == WS_OK ? entry->run(argc - 1, argv + 1)
                             : tool_fail(argv[1], status, &diag);
  ws_arena_destroy(arena);
  return code;
}

int main(int argc, char **argv) {
  ws_streams_begin();
  ws_terminal_guard();
  /* What a large reply took goes back at once; the default keeps more and more
   * of it, in pieces. */
  mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
  return ws_streams_end("wavesmith", run_command(argc, argv));
}
