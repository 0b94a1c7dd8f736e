/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith COMMAND ...`: the table of commands and the way to them. Each
 * command's own file holds its options and help.
 */
#include "tools.h"
#include "wavesmith/text.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#ifndef WAVESMITH_VERSION
#define WAVESMITH_VERSION "0.1.0"
#endif

enum { LARGE_BYTES = 128 << 10 };

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *purpose;
} commands[] = {
    {"tune", tool_tune, "search a template's space and keep what was learned"},
    {"mcp", tool_mcp,
     "let a coding agent propose: a server on stdin and stdout"},
    {"check", tool_check, "judge one candidate: check, sanitize, lower"},
    {"build", tool_build, "code objects and dispatch from a text archive"},
    {"archive", tool_archive,
     "list, show, export, import what an archive holds"},
    {"batch", tool_batch, "measure on another machine: jobs out, answers in"},
    {"prompt", tool_prompt, "what a model is asked"},
    {"report", tool_report, "one HTML page of what an archive holds"},
    {"dispatch", tool_dispatch, "emit code objects and a C selection function"},
    {"sim", tool_sim,
     "run a code object on a simulated MI300X: proof, time, why"},
    {"bench", tool_bench,
     "time a candidate, a template or a dispatch; compare two"},
    {"doctor", tool_doctor,
     "what is installed, what is missing, how to get it"},
};

static void print_usage(FILE *out) {
  fputs("usage: wavesmith COMMAND [OPTION ...]\n\n", out);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].purpose);
  fputs("\n`wavesmith COMMAND --help` shows the options of a command.\n"
        "Exit codes: 0 done, 1 a candidate or input is at fault, 2 wrong "
        "usage,\n3 the environment is at fault.\n",
        out);
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
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
    print_usage(stdout);
    return 0;
  }
  if (!strcmp(argv[1], "--version")) {
    puts("wavesmith " WAVESMITH_VERSION);
    return 0;
  }
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
    if (!strcmp(argv[1], commands[i].name))
      return commands[i].run(argc - 1, argv + 1);
  fprintf(stderr,
          "wavesmith: unknown command '%s'; `wavesmith --help` lists them\n",
          argv[1]);
  return ws_status_exit_code(WS_USAGE);
}

int main(int argc, char **argv) {
  ws_streams_begin();
  ws_terminal_guard();
  /* What a large reply took goes back at once; the default keeps more and more
   * of it, in pieces. */
  mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
  return ws_streams_end("wavesmith", run_command(argc, argv));
}
