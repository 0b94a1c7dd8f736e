/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive ACTION DB ...`: what an archive holds, for people and as
 * JSON; to text and back. The actions and the options; each action is in a file
 * of its own.
 */
#include "tool_archive.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: wavesmith archive ls        DB [OPTION ...]\n"
    "       wavesmith archive show      DB ID\n"
    "       wavesmith archive lineage   DB ID\n"
    "       wavesmith archive diff      DB ID [OTHER]\n"
    "       wavesmith archive grid      DB\n"
    "       wavesmith archive findings  DB [--run N] [--all]\n"
    "       wavesmith archive prompts   DB [--run N] [--sequence N]\n"
    "       wavesmith archive claims    DB [--run N]\n"
    "       wavesmith archive recording DB --run N --out FILE"
    " [--with-prompts]\n"
    "       wavesmith archive export    DB FOLDER [ID ...] [OPTION ...]\n"
    "       wavesmith archive export    DB --jsonl FILE [--run N]"
    " [--license TEXT]\n"
    "       wavesmith archive import    DB FOLDER\n\n"
    "ls         candidates by score: those that take most shapes first, then\n"
    "           by the geometric mean of their times\n"
    "show       one candidate in depth; ID may be the first digits\n"
    "lineage    its ancestors and descendants, with speed-ups over parents\n"
    "diff       what differs from its parent, or from OTHER: parameters, and\n"
    "           texts of regions or templates\n"
    "grid       the cells of the search's grid that are used, the best of "
    "each\n"
    "findings   the latest document that a model wrote of what it learned\n"
    "prompts    questions to models and what came of them; with --sequence "
    "one\n"
    "           in full\n"
    "claims     what models expected, against what was found\n"
    "recording  a run's answers as a file for --model replay:FILE\n"
    "export     candidates as a folder of text that can be committed; without\n"
    "           ID the fastest --best of every shape; with --jsonl the\n"
    "           exchanges, to train models on\n"
    "import     such a folder into an archive, all or nothing\n\n"
    "  --layout L --template NAME --verdict V --target T --problem P --run N\n"
    "                  only those (ls, export, grid)\n"
    "  --provenance P  times of this provenance, or the beginning of one, "
    "\"sim\"\n"
    "                  (ls, lineage, diff, grid, export)\n"
    "  --limit N       at most N lines (ls; default: 20, 0: all)\n"
    "  --best N        of every shape the N fastest (export; default: 4)\n"
    "  --json          the result as JSON on stdout\n";

static const struct action {
  const char *name;
  ws_status (*run)(archive_call *call);
  int min_words, max_words; /* after the archive's name */
  bool create;
} actions[] = {
    {"ls", archive_run_ls, 0, 0, false},
    {"show", archive_run_show, 1, 1, false},
    {"lineage", archive_run_lineage, 1, 1, false},
    {"diff", archive_run_diff, 1, 2, false},
    {"grid", archive_run_grid, 0, 0, false},
    {"findings", archive_run_findings, 0, 0, false},
    {"prompts", archive_run_prompts, 0, 0, false},
    {"claims", archive_run_claims, 0, 0, false},
    {"recording", archive_run_recording, 0, 0, false},
    {"export", archive_run_export, 0, 1 << 20, false},
    {"import", archive_run_import, 1, 1, true},
};

/* ---- options ---- */
typedef enum option_kind { TEXT, COUNT, FLAG } option_kind;

static const struct option_row {
  const char *name;
  option_kind kind;
  size_t offset;  /* of const char *, int64_t or bool */
  int64_t lowest; /* of a COUNT */
} option_rows[] = {
    {"layout", TEXT, offsetof(archive_arguments, filter.layout), 0},
    {"template", TEXT, offsetof(archive_arguments, filter.template_name), 0},
    {"verdict", TEXT, offsetof(archive_arguments, filter.verdict), 0},
    {"target", TEXT, offsetof(archive_arguments, filter.target), 0},
    {"problem", TEXT, offsetof(archive_arguments, filter.problem), 0},
    {"provenance", TEXT, offsetof(archive_arguments, filter.provenance), 0},
    {"jsonl", TEXT, offsetof(archive_arguments, jsonl), 0},
    {"license", TEXT, offsetof(archive_arguments, license), 0},
    {"out", TEXT, offsetof(archive_arguments, out), 0},
    {"run", COUNT, offsetof(archive_arguments, filter.run_id), 1},
    {"limit", COUNT, offsetof(archive_arguments, limit), 0},
    {"best", COUNT, offsetof(archive_arguments, best), 1},
    {"sequence", COUNT, offsetof(archive_arguments, sequence), 0},
    {"json", FLAG, offsetof(archive_arguments, json), 0},
    {"all", FLAG, offsetof(archive_arguments, all), 0},
    {"with-prompts", FLAG, offsetof(archive_arguments, with_prompts), 0},
    {"help", FLAG, offsetof(archive_arguments, help), 0},
};
enum { OPTION_COUNT = sizeof option_rows / sizeof option_rows[0] };

static ws_status read_count(const struct option_row *row, int64_t *out,
                            ws_diag *diag) {
  char *end;
  *out = strtoll(optarg, &end, 10);
  if (end == optarg || *end || *out < row->lowest || *out > 1000000)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--%s '%s' is not a number from %lld to 1000000", row->name,
                   optarg, (long long)row->lowest);
  return WS_OK;
}

static ws_status read_option(const struct option_row *row,
                             archive_arguments *out, ws_diag *diag) {
  void *place = (char *)out + row->offset;
  switch (row->kind) {
  case TEXT:
    *(const char **)place = optarg;
    return WS_OK;
  case COUNT:
    return read_count(row, place, diag);
  default:
    *(bool *)place = true;
    return WS_OK;
  }
}

static ws_status check_verdict(const archive_arguments *arguments,
                               ws_diag *diag) {
  ws_verdict verdict;
  const char *text = arguments->filter.verdict;
  if (!text || ws_verdict_parse(text, &verdict))
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "'%s' is not a verdict; there are: ok illegal no_compile "
                 "crash timeout wrong unstable slow duplicate",
                 text);
}

static ws_status read_arguments(int argc, char **argv, archive_arguments *out,
                                ws_diag *diag) {
  struct option table[OPTION_COUNT + 1] = {{0}};
  for (int i = 0; i < OPTION_COUNT; i++)
    table[i] = (struct option){
        option_rows[i].name,
        option_rows[i].kind == FLAG ? no_argument : required_argument, NULL, i};
  *out = (archive_arguments){.limit = 20, .best = 4, .sequence = -1};
  opterr = 0;
  int option;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0) {
    if (option == '?' || option == ':')
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is unknown or lacks its value; `wavesmith archive "
                     "--help` lists the options",
                     argv[optind - 1]);
    WS_TRY(read_option(&option_rows[option], out, diag));
  }
  out->filter.limit = (int)out->limit;
  out->words = argv + optind;
  out->word_count = argc - optind;
  return check_verdict(out, diag);
}

/* ---- actions ---- */
static ws_status find_action(archive_arguments *arguments,
                             const struct action **out, ws_diag *diag) {
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    const struct action *action = &actions[i];
    int words = arguments->word_count - 2;
    if (arguments->word_count < 2 || strcmp(arguments->words[0], action->name))
      continue;
    if (words < action->min_words || words > action->max_words)
      break;
    *out = action;
    return WS_OK;
  }
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "wanted is ls DB, show DB ID, lineage DB ID, diff DB ID "
                 "[OTHER], grid DB, findings DB, prompts DB, claims DB, "
                 "recording DB, export DB FOLDER [ID ...] or import DB FOLDER; "
                 "`wavesmith archive --help` shows more");
}

/* "sim" stands for the one provenance that begins so. */
static ws_status complete_provenance(archive_call *call,
                                     archive_arguments *arguments) {
  const char *given = arguments->filter.provenance, *found = NULL;
  const char *const *names;
  int count, fits = 0;
  if (!given)
    return WS_OK;
  WS_TRY(ws_archive_list_provenances(call->archive, call->arena, &names, &count,
                                     call->diag));
  for (int i = 0; i < count; i++) {
    if (!strcmp(names[i], given))
      return WS_OK;
    if (!strncmp(names[i], given, strlen(given))) {
      found = names[i];
      fits++;
    }
  }
  arguments->filter.provenance = found;
  if (fits == 1)
    return WS_OK;
  return ws_fail(call->diag, WS_INPUT, NULL, 0,
                 fits ? "several provenances begin with '%s'; give more of it"
                      : "the archive has no times of provenance '%s'",
                 given);
}

static ws_status run_action(const struct action *action,
                            archive_arguments *arguments, ws_diag *diag) {
  archive_call call = {.arguments = arguments, .diag = diag};
  WS_TRY(ws_archive_open(arguments->words[1], action->create, &call.archive,
                         diag));
  arguments->words += 2;
  arguments->word_count -= 2;
  call.arena = ws_arena_create();
  ws_status status = complete_provenance(&call, arguments);
  if (status == WS_OK)
    status = action->run(&call);
  ws_arena_destroy(call.arena);
  ws_archive_close(call.archive);
  return status;
}

int tool_archive(int argc, char **argv) {
  ws_diag diag = {""};
  archive_arguments arguments;
  const struct action *action = NULL;
  ws_status status = read_arguments(argc, argv, &arguments, &diag);
  if (status == WS_OK && arguments.help) {
    fputs(usage, stdout);
    return 0;
  }
  if (status == WS_OK)
    status = find_action(&arguments, &action, &diag);
  if (status == WS_OK)
    status = run_action(action, &arguments, &diag);
  return status == WS_OK ? 0 : tool_fail("archive", status, &diag);
}
