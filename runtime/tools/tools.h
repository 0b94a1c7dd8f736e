/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The subcommands of `wavesmith`. Each gets argv with its own name as argv[0]
 * and returns the exit code of DESIGN section 13: 0 done, 1 a candidate or
 * input is at fault, 2 wrong usage, 3 our environment is at fault. Errors are
 * one line on stderr, "wavesmith CMD: ...", results go to stdout.
 */
#ifndef WAVESMITH_TOOLS_H
#define WAVESMITH_TOOLS_H

#include "wavesmith/options.h"
#include "wavesmith/problem.h"

int tool_tune(int argc, char **argv);
int tool_mcp(int argc, char **argv);
int tool_check(int argc, char **argv);
int tool_import(int argc, char **argv);
int tool_build(int argc, char **argv);
int tool_archive(int argc, char **argv);
int tool_batch(int argc, char **argv);
int tool_prompt(int argc, char **argv);
int tool_report(int argc, char **argv);
int tool_dispatch(int argc, char **argv);
int tool_evolve(int argc, char **argv);
int tool_iree(int argc, char **argv);
int tool_sim(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_calibrate(int argc, char **argv);
int tool_new(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_help_of(int argc, char **argv); /* `wavesmith help` */

/* Their options and help, each in its own file. */
extern const ws_command tune_command, mcp_command, check_command,
    import_command, build_command, archive_command, batch_command,
    prompt_command, report_command, dispatch_command, evolve_command,
    iree_command, sim_command, bench_command, calibrate_command, doctor_command,
    new_command, help_command;

/* Of commands that take a user's problem: main.c reads it. */
#define TOOL_PROBLEM_ROW                                                       \
  {                                                                            \
    .name = "problem", .argument = "FILE", .kind = WS_OPTION_TAKEN,            \
    .help = "the C file, or the built library, of a problem of yours; may be " \
            "repeated"                                                         \
  }

/* Of commands that judge results: likewise. */
#define TOOL_REFERENCE_ROWS                                                    \
  {.name = "reference",                                                        \
   .argument = "FILE",                                                         \
   .kind = WS_OPTION_TAKEN,                                                    \
   .help =                                                                     \
       "a trusted kernel (.ll, .mlir or .hip) that results are compared "      \
       "with, of a problem without a reference"},                              \
  {                                                                            \
    .name = "tolerance", .argument = "REL[,ABS]", .kind = WS_OPTION_TAKEN,     \
    .help =                                                                    \
        "what arithmetic may be off by beside it (docs/your-own-kernel.md)"    \
  }

/* What --problem named, which commands that take a kernel hold it against. */
const ws_problem_list *tool_named_problems(void);
/* Prints a command's help on stdout; 0. */
int tool_help(const ws_command *command);
/* Prints "wavesmith CMD: diag" and returns the exit code of status. */
int tool_fail(const char *command, ws_status status, const ws_diag *diag);

#endif
