/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith COMMAND ...`: the table of commands and the way to them, and
 * `wavesmith help`. Each command's own file holds the table of its options.
 */
#include "tools.h"
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
} entries[] = {
    {tool_tune, &tune_command},         {tool_mcp, &mcp_command},
    {tool_check, &check_command},       {tool_build, &build_command},
    {tool_archive, &archive_command},   {tool_batch, &batch_command},
    {tool_prompt, &prompt_command},     {tool_report, &report_command},
    {tool_dispatch, &dispatch_command}, {tool_sim, &sim_command},
    {tool_bench, &bench_command},       {tool_doctor, &doctor_command},
    {tool_help_of, &help_command},
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
  fputs("\n`wavesmith COMMAND --help` shows the options of a command.\n"
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
  return entry ? entry->run(argc - 1, argv + 1) : unknown(argv[1]);
}

int main(int argc, char **argv) {
  ws_streams_begin();
  ws_terminal_guard();
  /* What a large reply took goes back at once; the default keeps more and more
   * of it, in pieces. */
  mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
  return ws_streams_end("wavesmith", run_command(argc, argv));
}
