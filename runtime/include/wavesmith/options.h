/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program's commands and their options, as tables: one row of an option says
 * its name, what it takes, where that goes and its line of help. From the same
 * rows come the parser, --help, the man page and the completion of shells, so
 * that none can say what another does not know.
 *
 * Names are taken exactly: "--eval" is not "--evaluations". Options and words
 * may stand in any order; "--" ends the options; "--name=value" is "--name
 * value". An option of a value that is given again replaces it.
 *
 * Tables are constants and live for ever. Nothing here is shared: any thread.
 */
#ifndef WAVESMITH_OPTIONS_H
#define WAVESMITH_OPTIONS_H

#include "wavesmith/base.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ws_option;
/* Reads a value into the command's struct. WS_USAGE with a sentence. */
typedef ws_status ws_option_reader(const struct ws_option *option,
                                   const char *value, void *out, ws_diag *diag);

typedef enum ws_option_kind {
  WS_OPTION_GROUP, /* no option: a heading before those that follow, `help` */
  WS_OPTION_FLAG,  /* bool */
  WS_OPTION_TEXT,  /* const char *, into argv */
  WS_OPTION_INT,   /* int, from low to high */
  WS_OPTION_INT64, /* int64_t, likewise */
  WS_OPTION_SEED,  /* uint64_t, any */
  WS_OPTION_REAL,  /* double, from low to high */
  WS_OPTION_READ,  /* by `read` */
  WS_OPTION_TAKEN  /* the program takes it before the command reads its own */
} ws_option_kind;

typedef struct ws_option {
  const char *name;     /* without "--" */
  const char *argument; /* as help shows it, "FILE"; NULL: it takes none */
  const char *help;     /* wrapped where it is printed */
  ws_option_kind kind;
  size_t offset; /* in the command's struct */
  double low, high;
  ws_option_reader *read;
  const char *choices; /* for completion, "kmajor mnmajor"; NULL: files */
} ws_option;

typedef struct ws_command {
  const char *program; /* "wavesmith tune" */
  const char *purpose; /* a few words */
  const char *usage;   /* what follows the program, a line each form */
  const char *about;   /* a paragraph, or lines of actions with their words */
  const ws_option *options; /* until WS_OPTIONS_END */
  const char *after;        /* a paragraph behind the options; NULL: none */
} ws_command;
/* Every row before it has a help. */
#define WS_OPTIONS_END                                                         \
  { .help = NULL }

typedef struct ws_words {
  char **items; /* in argv, which is rearranged; what is no option, in order */
  int count;
  bool help; /* --help was given; what comes after it was not read */
} ws_words;

/* argv[0] is the command's name. out holds the defaults. WS_USAGE with a
 * sentence: an option is unknown (the nearest is named), lacks its value, has
 * one that it does not take or one that is wrong. */
ws_status ws_options_parse(const ws_command *command, int argc, char **argv,
                           void *out, ws_words *out_words,
                           ws_diag *diag) WS_MUST_CHECK;

/* One value, as above, for who reads it with a reader of their own; out is
 * where it goes. */
ws_status ws_option_read(const ws_option *option, const char *value, void *out,
                         ws_diag *diag) WS_MUST_CHECK;

/* The one of names that differs least from text in what one mistypes; NULL:
 * none is near. */
const char *ws_nearest_name(const char *text, const char *const *names,
                            int count);

/* What --help prints. */
void ws_command_print_help(const ws_command *command, FILE *out);

/* A page of section 1 in man(7), of a program and all its commands. */
typedef struct ws_program {
  const char *name, *version, *purpose, *about; /* about: a paragraph */
  const ws_command *const *commands;
  int command_count;
} ws_program;
void ws_program_print_man(const ws_program *program, FILE *out);
void ws_program_print_bash(const ws_program *program, FILE *out);
void ws_program_print_zsh(const ws_program *program, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
