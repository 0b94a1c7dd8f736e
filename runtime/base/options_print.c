/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tables of options say, for people (--help, man) and for shells.
 */
#include "wavesmith/options.h"
#include "wavesmith/text.h"

#include <string.h>

enum { WIDTH = 80, MOST_INDENT = 24 };

/* ---- --help ---- */
/* "--name ARG" */
static int width_of(const ws_option *option) {
  return (int)(2 + strlen(option->name) +
               (option->argument ? 1 + strlen(option->argument) : 0));
}

/* Of the texts beside the names. */
static int indent_of(const ws_command *command) {
  int indent = 0;
  for (const ws_option *option = command->options; option->help; option++) {
    if (option->kind == WS_OPTION_GROUP)
      continue;
    int width = width_of(option) + 4;
    if (width > indent && width <= MOST_INDENT)
      indent = width;
  }
  return indent ? indent : MOST_INDENT;
}

static void print_option(const ws_option *option, int indent, FILE *out) {
  if (option->kind == WS_OPTION_GROUP) {
    fprintf(out, "%s\n", option->help);
    return;
  }
  int column = 2 + width_of(option);
  fprintf(out, "  --%s%s%s", option->name, option->argument ? " " : "",
          option->argument ? option->argument : "");
  if (column + 2 > indent)
    fprintf(out, "\n%*s", indent, "");
  else
    fprintf(out, "%*s", indent - column, "");
  ws_text_print_wrapped(out, WIDTH - 1, indent, indent, option->help);
}

static void print_usage(const ws_command *command, FILE *out) {
  const char *before = "usage:", *line = command->usage;
  while (*line) {
    int size = (int)strcspn(line, "\n");
    char form[512];
    int start = fprintf(out, "%s ", before);
    snprintf(form, sizeof form, "%s %.*s", command->program, size, line);
    if (start + (int)strlen(form) <= WIDTH)
      fprintf(out, "%s\n", form);
    else
      ws_text_print_wrapped(out, WIDTH - 1, start, start + 4, form);
    line += size + (line[size] == '\n');
    before = "      ";
  }
  if (!*command->usage)
    fprintf(out, "%s %s\n", before, command->program);
}

void ws_command_print_help(const ws_command *command, FILE *out) {
  int indent = indent_of(command);
  print_usage(command, out);
  fprintf(out, "\n%s\n\n", command->about);
  for (const ws_option *option = command->options; option->help; option++)
    print_option(option, indent, out);
  if (command->after)
    fprintf(out, "\n%s\n", command->after);
}

/* ---- man(7) ---- */
/* A backslash begins a request anywhere, a dot or a quote at a line's start; a
 * hyphen would become another sign. */
static void print_roff(FILE *out, const char *text) {
  for (const char *at = text; *at; at++) {
    if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\''))
      fputs("\\&", out);
    if (*at == '\\')
      fputs("\\e", out);
    else if (*at == '-')
      fputs("\\-", out);
    else
      fputc(*at, out);
  }
}

static void print_man_option(const ws_option *option, FILE *out) {
  if (option->kind == WS_OPTION_GROUP) {
    fputs(".PP\n", out);
    print_roff(out, option->help);
    fputc('\n', out);
    return;
  }
  fputs(".TP\n\\fB\\-\\-", out);
  print_roff(out, option->name);
  fputs("\\fR", out);
  if (option->argument) {
    fputs(" \\fI", out);
    print_roff(out, option->argument);
    fputs("\\fR", out);
  }
  fputc('\n', out);
  print_roff(out, option->help);
  fputc('\n', out);
}

static void print_man_usage(const ws_command *command, FILE *out) {
  const char *line = command->usage;
  do {
    int size = (int)strcspn(line, "\n");
    char form[512];
    snprintf(form, sizeof form, "%s %.*s", command->program, size, line);
    fputs(".B ", out);
    print_roff(out, form);
    fputs("\n.br\n", out);
    line += size + (line[size] == '\n');
  } while (*line);
}

static void print_man_command(const ws_command *command, FILE *out) {
  fprintf(out, ".SS %s\n", command->program);
  print_man_usage(command, out);
  fputs(".PP\n.nf\n", out);
  print_roff(out, command->about);
  fputs("\n.fi\n", out);
  for (const ws_option *option = command->options; option->help; option++)
    print_man_option(option, out);
  if (command->after) {
    fputs(".PP\n", out);
    print_roff(out, command->after);
    fputc('\n', out);
  }
}

void ws_program_print_man(const ws_program *program, FILE *out) {
  fprintf(out, ".TH WAVESMITH 1 \"\" \"%s %s\" \"User Commands\"\n",
          program->name, program->version);
  fprintf(out, ".SH NAME\n%s \\- ", program->name);
  print_roff(out, program->purpose);
  fprintf(out, "\n.SH SYNOPSIS\n.B %s\n.I COMMAND\n[\\fIOPTION\\fR ...]\n",
          program->name);
  fputs(".SH DESCRIPTION\n", out);
  print_roff(out, program->about);
  fputs("\n.SH COMMANDS\n", out);
  for (int i = 0; i < program->command_count; i++)
    print_man_command(program->commands[i], out);
  fputs(".SH EXIT STATUS\n.TP\n0\ndone\n.TP\n1\na candidate or input is at "
        "fault\n.TP\n2\nwrong usage\n.TP\n3\nthe environment is at fault\n"
        ".TP\n130, 143\ninterrupted by Ctrl-C or SIGTERM\n",
        out);
}

/* ---- shells ---- */
static const char *short_name(const ws_command *command) {
  const char *space = strrchr(command->program, ' ');
  return space ? space + 1 : command->program;
}

void ws_program_print_bash(const ws_program *program, FILE *out) {
  fprintf(
      out,
      "# bash completion of %s, written by it (help --completion bash)\n"
      "_%s() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD"
      "-1]} options=\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    COMPREPLY=($(compgen -W \"help --help --version",
      program->name, program->name);
  for (int i = 0; i < program->command_count; i++)
    fprintf(out, " %s", short_name(program->commands[i]));
  fputs("\" -- \"$word\"))\n    return\n  fi\n"
        "  case ${COMP_WORDS[1]} in\n",
        out);
  for (int i = 0; i < program->command_count; i++) {
    const ws_command *command = program->commands[i];
    fprintf(out, "  %s)\n    options=\"--help", short_name(command));
    for (const ws_option *option = command->options; option->help; option++)
      if (option->kind != WS_OPTION_GROUP)
        fprintf(out, " --%s", option->name);
    fputs("\"\n    case $before in\n", out);
    for (const ws_option *option = command->options; option->help; option++)
      if (option->choices)
        fprintf(out,
                "    --%s) COMPREPLY=($(compgen -W \"%s\" -- \"$word\")); "
                "return ;;\n",
                option->name, option->choices);
    fputs("    esac\n    ;;\n", out);
  }
  fprintf(out,
          "  esac\n"
          "  case $word in\n"
          "  -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
          "  *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
          "  esac\n"
          "}\n"
          "complete -o filenames -F _%s %s\n",
          program->name, program->name);
}

/* Inside a text in single quotes that _arguments takes apart. */
static void print_zsh(FILE *out, const char *text) {
  for (; *text; text++) {
    if (*text == '\'')
      fputs("'\\''", out);
    else if (strchr("[]:\\", *text))
      fprintf(out, "\\%c", *text);
    else
      fputc(*text, out);
  }
}

static void print_zsh_option(const ws_option *option, FILE *out) {
  if (option->kind == WS_OPTION_GROUP)
    return;
  fprintf(out, " \\\n      '*--%s[", option->name);
  print_zsh(out, option->help);
  fputs("]", out);
  if (option->argument) {
    fputs(":", out);
    print_zsh(out, option->argument);
    if (option->choices)
      fprintf(out, ":(%s)", option->choices);
    else
      fputs(":_files", out);
  }
  fputs("'", out);
}

void ws_program_print_zsh(const ws_program *program, FILE *out) {
  fprintf(out,
          "#compdef %s\n"
          "# zsh completion of %s, written by it (help --completion zsh)\n"
          "_%s() {\n"
          "  if ((CURRENT == 2)); then\n"
          "    local -a commands=(\n",
          program->name, program->name, program->name);
  for (int i = 0; i < program->command_count; i++) {
    fprintf(out, "      '%s:", short_name(program->commands[i]));
    print_zsh(out, program->commands[i]->purpose);
    fputs("'\n", out);
  }
  fputs("    )\n    _describe command commands\n    return\n  fi\n"
        "  local command=$words[2]\n  shift words\n  ((CURRENT--))\n"
        "  case $command in\n",
        out);
  for (int i = 0; i < program->command_count; i++) {
    const ws_command *command = program->commands[i];
    fprintf(out, "  %s)\n    _arguments '--help[shows the options]'",
            short_name(command));
    for (const ws_option *option = command->options; option->help; option++)
      print_zsh_option(option, out);
    fputs(" '*:file:_files' ;;\n", out);
  }
  fprintf(out, "  esac\n}\n_%s \"$@\"\n", program->name);
}
