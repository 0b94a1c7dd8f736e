/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of problems: those that come with wavesmith, opened when the table
 * is first looked at, and those that files added.
 */
#include "table.h"
#include "wavesmith/shipped.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_PROBLEMS = 64 };
static const ws_problem *problems[MAX_PROBLEMS];
static int problem_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_shipped(void) {
  for (int i = 0; ws_shipped_problems[i]; i++) {
    ws_diag diag = {0};
    ws_status status = ws_problem_open(ws_shipped_problems[i](), "",
                                       &problems[problem_count], &diag);
    if (status != WS_OK)
      fprintf(stderr, "fatal error: %s\n", diag.text);
    WS_ASSERT(status == WS_OK);
    problem_count++;
  }
}

const ws_problem *const *ws_problems(int *out_count) {
  pthread_once(&once, open_shipped);
  *out_count = problem_count;
  return problems;
}

const ws_problem *ws_problem_find(const char *name) {
  pthread_once(&once, open_shipped);
  for (int i = 0; i < problem_count; i++)
    if (!strcmp(problems[i]->name, name))
      return problems[i];
  return NULL;
}

ws_status ws__problem_keep(const ws_problem *problem, ws_diag *diag) {
  const ws_problem *known = ws_problem_find(problem->name);
  if (known && !*known->file)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "a problem '%s' comes with wavesmith; give this one another "
                   "name",
                   problem->name);
  if (known)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "the problem '%s' was read from %s already", problem->name,
                   known->file);
  if (problem_count == MAX_PROBLEMS)
    return ws_fail(diag, WS_INPUT, problem->file, 0,
                   "more than %d problems are too many", MAX_PROBLEMS);
  problems[problem_count++] = problem;
  return WS_OK;
}

ws_status ws_problem_get(const char *name_or_path,
                         const ws_problem **out_problem, ws_diag *diag) {
  ws_strbuf known;
  *out_problem = NULL;
  if (strchr(name_or_path, '/') || strchr(name_or_path, '.'))
    return ws_problem_add_file(name_or_path, out_problem, diag);
  *out_problem = ws_problem_find(name_or_path);
  if (*out_problem)
    return WS_OK;
  ws_strbuf_init(&known);
  for (int i = 0; i < problem_count; i++)
    ws_strbuf_printf(&known, " %s", problems[i]->name);
  ws_status status = ws_fail(
      diag, WS_INPUT, NULL, 0,
      "there is no problem '%s'; known are:%s; for one of yours give the path "
      "of its C file (--problem ./%s.c)",
      name_or_path, known.data, name_or_path);
  ws_strbuf_deinit(&known);
  return status;
}

ws_status ws_problem_list_check(const ws_problem_list *named, const char *file,
                                const char *problem, ws_diag *diag) {
  ws_strbuf names;
  bool found = named->count == 0;
  ws_strbuf_init(&names);
  for (int i = 0; i < named->count; i++) {
    found |= !strcmp(named->items[i]->name, problem);
    ws_strbuf_printf(&names, "%s%s", i ? ", " : "", named->items[i]->name);
  }
  ws_status status =
      found ? WS_OK
            : ws_fail(diag, WS_INPUT, file, 0,
                      "it is a kernel of problem %s, and --problem names %s; "
                      "name %s, or change what the kernel says it computes",
                      problem, names.data, problem);
  ws_strbuf_deinit(&names);
  return status;
}

/* ---- names within a problem ---- */

int ws_problem_arg_index(const ws_problem *problem, const char *name) {
  for (int i = 0; i < problem->arg_count; i++)
    if (!strcmp(problem->args[i].name, name))
      return i;
  return -1;
}

int ws_problem_layout_index(const ws_problem *problem, const char *name) {
  for (int i = 0; i < problem->layout_count; i++)
    if (!strcmp(problem->layouts[i].name, name))
      return i;
  return -1;
}

/* Whether a blank-separated list has the word. */
static bool has_word(const char *list, const char *word) {
  size_t size = strlen(word);
  for (const char *at = list; (at = strstr(at, word)); at += size)
    if ((at == list || at[-1] == ' ') && (!at[size] || at[size] == ' '))
      return true;
  return false;
}

bool ws_problem_layout_suits(const ws_problem *problem, int layout,
                             const char *target) {
  const char *targets = problem->layouts[layout].targets;
  return !targets || !*targets || has_word(targets, target);
}

const char *ws_problem_default_layout(const ws_problem *problem,
                                      const char *target) {
  for (int i = 0; i < problem->layout_count; i++)
    if (ws_problem_layout_suits(problem, i, target))
      return problem->layouts[i].name;
  return NULL;
}

const char *ws_problem_advice(const ws_problem *problem, const char *target) {
  for (int i = 0; i < WS_PROBLEM_MAX_ADVICE; i++) {
    const char *of = problem->given->advice[i].target;
    if (problem->given->advice[i].text && (!of || !*of || !strcmp(of, target)))
      return problem->given->advice[i].text;
  }
  return "";
}

int ws_problem_form(const ws_problem *problem, int layout, int striding) {
  return layout + striding * problem->layout_count;
}

const ws_shape_set *ws_problem_shape_set(const ws_problem *problem,
                                         const char *name) {
  for (int i = 0; i < problem->shape_set_count; i++)
    if (!strcmp(problem->shape_sets[i].name, name))
      return &problem->shape_sets[i];
  return NULL;
}
