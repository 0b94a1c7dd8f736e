/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith archive ACTION DB ...`: what an archive holds, for people and as
 * JSON; to text and back. The actions and the options; each action is in a file
 * of its own.
 */
#include "tool_archive.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#define AT(member) .offset = offsetof(archive_arguments, member)
#define COUNT(member, lowest)                                                  \
  WS_OPTION_INT64, AT(member), .low = (lowest), .high = 1000000
static const ws_option rows[] = {
    {.help = "Which (ls, export, grid; --run also findings, prompts, claims):"},
    {"layout", "L", "only those of this layout", WS_OPTION_TEXT,
     AT(filter.layout)},
    {"template", "NAME", "only those of this template", WS_OPTION_TEXT,
     AT(filter.template_name)},
    {"verdict", "V", "only those with this verdict", WS_OPTION_TEXT,
     AT(filter.verdict),
     .choices = "ok illegal no_compile crash timeout wrong unstable slow "
                "duplicate"},
    {"target", "T", "only those for this target", WS_OPTION_TEXT,
     AT(filter.target), .choices = "gfx942 sm_90a"},
    {"problem", "P", "only those of this problem", WS_OPTION_TEXT,
     AT(filter.problem)},
    {"run", "N", "only those of this run", COUNT(filter.run_id, 1)},
    {.help = "How much, and what with:"},
    {"provenance", "P",
     "times of this provenance, or the beginning of one, \"sim\" (ls, lineage, "
     "diff, grid, export)",
     WS_OPTION_TEXT, AT(filter.provenance), .choices = "hip cuda sim estimate"},
    {"limit", "N", "at most N lines (ls; default: 20, 0: all)",
     COUNT(limit, 0)},
    {"best", "N", "of every shape the N fastest (export; default: 4)",
     COUNT(best, 1)},
    {"sequence", "N", "this question in full (prompts)", COUNT(sequence, 0)},
    {"all", NULL, "every document, not the latest alone (findings)",
     WS_OPTION_FLAG, AT(all)},
    {"jsonl", "FILE", "the exchanges, to train models on (export)",
     WS_OPTION_TEXT, AT(jsonl)},
    {"license", "TEXT", "under which they may be used (export --jsonl)",
     WS_OPTION_TEXT, AT(license)},
    {"out", "FILE", "the recording (recording)", WS_OPTION_TEXT, AT(out)},
    {"with-prompts", NULL, "prompts, too (recording)", WS_OPTION_FLAG,
     AT(with_prompts)},
    {"json", NULL, "the result as JSON on stdout", WS_OPTION_FLAG, AT(json)},
    WS_OPTIONS_END};

const ws_command archive_command = {
    .program = "wavesmith archive",
    .purpose = "list, show, export, import what an archive holds",
    .usage = "ls        DB [OPTION ...]\n"
             "show      DB ID\n"
             "lineage   DB ID\n"
             "diff      DB ID [OTHER]\n"
             "grid      DB\n"
             "findings  DB [--run N] [--all]\n"
             "prompts   DB [--run N] [--sequence N]\n"
             "claims    DB [--run N]\n"
             "recording DB --run N --out FILE [--with-prompts]\n"
             "export    DB FOLDER [ID ...] [OPTION ...]\n"
             "export    DB --jsonl FILE [--run N] [--license TEXT]\n"
             "import    DB FOLDER",
    .about =
        "ls         candidates by score: those that take most shapes first, "
        "then\n"
        "           by the geometric mean of their times\n"
        "show       one candidate in depth; ID may be the first digits\n"
        "lineage    its ancestors and descendants, with speed-ups over "
        "parents\n"
        "diff       what differs from its parent, or from OTHER: parameters, "
        "and\n"
        "           texts of regions or templates\n"
        "grid       the cells of the search's grid that are used, the best of "
        "each\n"
        "findings   the latest document that a model wrote of what it learned\n"
        "prompts    questions to models and what came of them; with "
        "--sequence one\n"
        "           in full\n"
        "claims     what models expected, against what was found\n"
        "recording  a run's answers as a file for --model replay:FILE\n"
        "export     candidates as a folder of text that can be committed; "
        "without\n"
        "           ID the fastest --best of every shape; with --jsonl the\n"
        "           exchanges, to train models on\n"
        "import     such a folder into an archive, all or nothing",
    .options = rows};

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
  ws_words words;
  *out = (archive_arguments){.limit = 20, .best = 4, .sequence = -1};
  WS_TRY(ws_options_parse(&archive_command, argc, argv, out, &words, diag));
  out->help = words.help;
  out->filter.limit = (int)out->limit;
  out->words = words.items;
  out->word_count = words.count;
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
  if (status == WS_OK && arguments.help)
    return tool_help(&archive_command);
  if (status == WS_OK)
    status = find_action(&arguments, &action, &diag);
  if (status == WS_OK)
    status = run_action(action, &arguments, &diag);
  return status == WS_OK ? 0 : tool_fail("archive", status, &diag);
}
