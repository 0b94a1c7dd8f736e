/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith prompt`: what a model is asked. The texts as they are, or filled
 * in with what a template or a candidate of an archive says of itself; what a
 * run adds (times, lineage, profiles, findings) is in its recorded prompts.
 */
#include "tools.h"
#include "wavesmith/archive.h"
#include "wavesmith/llm.h"
#include "wavesmith/target.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct job {
  const char *kind_name, *template_file, *set, *archive_path, *candidate_id;
  const char *layout, *folder, *bytes;
  bool raw, help;
  ws_arena *arena;
  const ws_prompts *prompts;
  ws_request_kind kind;
  const ws_candidate *candidate; /* NULL: no parent is named */
  const char *template_text;
} job;

/* ---- options ---------------------------------------------------------------
 */

#define TEXT(member) WS_OPTION_TEXT, .offset = offsetof(job, member)
static const ws_option rows[] = {
    TOOL_PROBLEM_ROW,
    {"kind", "K", "explore exploit crossover repair write select design distil",
     TEXT(kind_name),
     .choices = "explore exploit crossover repair write select design distil"},
    {"template", "FILE", "the parent is this template with its defaults",
     TEXT(template_file)},
    {"set", "\"a=1;...\"", "other parameters than these", TEXT(set)},
    {"archive", "DB", "with --candidate: the parent is one of this archive",
     TEXT(archive_path)},
    {"candidate", "ID", "this one; may be its first digits",
     TEXT(candidate_id)},
    {"layout", "L",
     "the problem's layout (default: the candidate's, or the target's first)",
     TEXT(layout)},
    {"prompts", "DIR", "a folder with texts in place of the program's own",
     TEXT(folder)},
    {"bytes", "N", "budget of a prompt (default: 131072)", TEXT(bytes)},
    {"raw", NULL, "the texts as they are", WS_OPTION_FLAG,
     .offset = offsetof(job, raw)},
    WS_OPTIONS_END};

const ws_command prompt_command = {
    .program = "wavesmith prompt",
    .purpose = "what a model is asked",
    .usage = "[--kind K] [OPTION ...]\n"
             "--kind K --template FILE [OPTION ...]\n"
             "--kind K --archive DB --candidate ID [OPTION ...]",
    .about = "Without --kind: the prompts there are. With --kind alone: the "
             "texts of that\n"
             "kind, as they are. With a template or a candidate: filled in "
             "with what follows\n"
             "from it. The prompts that a run sent are in its archive.",
    .options = rows};

static ws_status parse(int argc, char **argv, job *j, ws_diag *diag) {
  ws_words words;
  WS_TRY(ws_options_parse(&prompt_command, argc, argv, j, &words, diag));
  j->help = words.help;
  return words.help || !words.count
             ? WS_OK
             : ws_fail(diag, WS_USAGE, NULL, 0,
                       "'%s' is not expected; `wavesmith prompt --help` lists "
                       "the options",
                       words.items[0]);
}

static ws_status check(job *j, ws_diag *diag) {
  if (j->kind_name && !ws_request_parse(j->kind_name, &j->kind))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "there is no kind '%s'; `wavesmith prompt` lists them",
                   j->kind_name);
  if (!j->archive_path != !j->candidate_id)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--archive and --candidate belong together");
  if (j->archive_path && j->template_file)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "give either --template or --archive, not both");
  if (!j->kind_name && (j->archive_path || j->template_file))
    return ws_fail(diag, WS_USAGE, NULL, 0, "give a --kind, too");
  return WS_OK;
}

/* ---- the parent ------------------------------------------------------------
 */

static int layout_of(const job *j, const ws_template *tmpl) {
  const ws_problem *problem = ws_problem_find(tmpl->problem);
  int layout;
  if (!problem)
    return 0;
  return ws_problem_choose_layout(problem, tmpl->target, j->layout, &layout,
                                  NULL) == WS_OK
             ? layout
             : -1;
}

static ws_status set_values(job *j, ws_candidate *candidate, ws_diag *diag) {
  const ws_problem *problem = ws_problem_find(candidate->tmpl->problem);
  const int layout = layout_of(j, candidate->tmpl);
  WS_TRY(ws_problem_list_check(tool_named_problems(), candidate->tmpl->file,
                               candidate->tmpl->problem, diag));
  if (layout < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0, "problem %s has no layout '%s'",
                   problem->name, j->layout);
  if (ws_template_param_index(candidate->tmpl, "layout") >= 0)
    WS_TRY(ws_candidate_set(
        candidate, ws_arena_printf(j->arena, "layout=%d", layout), diag));
  if (j->set)
    WS_TRY(ws_candidate_set(candidate, j->set, diag));
  j->candidate = candidate;
  return WS_OK;
}

static ws_status open_template(job *j, ws_diag *diag) {
  char *text;
  size_t size;
  const ws_template *tmpl;
  ws_compiler *compiler;
  WS_TRY(ws_file_read(j->arena, j->template_file, &text, &size, diag));
  WS_TRY(ws_compiler_start(&compiler, diag));
  ws_status status = ws_compiler_describe(compiler, j->arena, j->template_file,
                                          text, size, &tmpl, diag);
  ws_compiler_stop(compiler);
  if (status != WS_OK)
    return status;
  j->template_text = text;
  return set_values(j, ws_candidate_create(j->arena, tmpl), diag);
}

static ws_status read_archived(job *j, ws_archive *archive, ws_diag *diag) {
  bool found;
  ws_candidate_row row;
  ws_archived_template text;
  const ws_template *tmpl;
  ws_candidate *candidate;
  WS_TRY(ws_archive_get_candidate(archive, j->arena, j->candidate_id, &found,
                                  &row, diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, j->archive_path, 0,
                   "there is no candidate '%s'", j->candidate_id);
  WS_TRY(ws_archive_get_template(archive, j->arena, row.template_hash, &tmpl,
                                 &text, diag));
  WS_TRY(ws_archive_load_candidate(archive, j->arena, &row, tmpl, &candidate,
                                   diag));
  j->template_text = text.text;
  j->layout = row.layout;
  return set_values(j, candidate, diag);
}

static ws_status open_archived(job *j, ws_diag *diag) {
  ws_archive *archive;
  WS_TRY(ws_archive_open(j->archive_path, false, &archive, diag));
  ws_status status = read_archived(j, archive, diag);
  ws_archive_close(archive);
  return status;
}

/* ---- what is printed -------------------------------------------------------
 */

static void print_list(const job *j) {
  const ws_prompt_text *text;
  for (int i = 0; (text = ws_prompts_at(j->prompts, i)); i++)
    printf("%-17s version %d, %6zu bytes\n", text->name, text->version,
           strlen(text->text));
}

static void print_raw(const job *j) {
  const ws_prompt_text *text;
  for (int i = 0; (text = ws_prompts_at(j->prompts, i)); i++)
    if (!j->kind_name || i == 0 || !strcmp(text->name, j->kind_name))
      printf("---- %s, version %d, %zu bytes\n%s", text->name, text->version,
             strlen(text->text), text->text);
}

static ws_status print_filled(const job *j, ws_diag *diag) {
  const ws_template *tmpl = j->candidate->tmpl;
  const ws_problem *problem = ws_problem_find(tmpl->problem);
  int regions[WS_TEMPLATE_MAX_REGIONS];
  const int layout = layout_of(j, tmpl);
  for (int i = 0; i < tmpl->region_count; i++)
    regions[i] = i;
  const ws_prompt_section sections[] = {
      {"problem", problem ? ws_describe_problem(j->arena, problem, layout) : "",
       0},
      {"advice",
       problem ? ws_describe_advice(j->arena, problem, tmpl->target) : "", 0},
      {"template", ws_describe_template(j->arena, j->candidate), 2},
      {"regions",
       ws_describe_regions(j->arena, j->candidate, regions, tmpl->region_count),
       3},
      {"code",
       ws_describe_code(j->arena, j->candidate, j->template_text, regions,
                        tmpl->region_count),
       4}};
  const size_t budget =
      j->bytes ? strtoul(j->bytes, NULL, 10) : (size_t)WS_PROMPT_BYTES;
  ws_prompt prompt;
  WS_TRY(ws_prompt_render(j->arena, j->prompts, j->kind, sections,
                          sizeof sections / sizeof *sections, budget, &prompt,
                          diag));
  printf("---- system, %zu bytes\n%s---- user, %zu bytes\n%s",
         strlen(prompt.system), prompt.system, strlen(prompt.user),
         prompt.user);
  fprintf(stderr, "versions: %s\ncut: %s\n", prompt.version,
          *prompt.cut ? prompt.cut : "nothing");
  return WS_OK;
}

static ws_status work(job *j, ws_diag *diag) {
  WS_TRY(check(j, diag));
  if (j->template_file)
    WS_TRY(open_template(j, diag));
  else if (j->archive_path)
    WS_TRY(open_archived(j, diag));
  const char *target = j->candidate ? j->candidate->tmpl->target : "";
  const char *language =
      j->candidate ? ws_template_language(j->template_text) : "";
  WS_TRY(ws_prompts_open(j->arena, j->folder, target, language, &j->prompts,
                         diag));
  if (j->candidate && !j->raw)
    return print_filled(j, diag);
  (j->kind_name || j->raw ? print_raw : print_list)(j);
  return WS_OK;
}

int tool_prompt(int argc, char **argv) {
  ws_diag diag = {""};
  job j = {.arena = NULL};
  ws_status status = parse(argc, argv, &j, &diag);
  if (status == WS_OK && j.help)
    return tool_help(&prompt_command);
  j.arena = ws_arena_create();
  if (status == WS_OK)
    status = work(&j, &diag);
  ws_arena_destroy(j.arena);
  return status == WS_OK ? 0 : tool_fail("prompt", status, &diag);
}
