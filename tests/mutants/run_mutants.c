/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Mutants of the shipped templates along the whole path of a candidate: none
 * may come out of it as right.
 *   run_mutants [--list | --prove] [--quick] [--share I/N] FILE... [-- NAME...]
 * --list reads the files, so each mutant's edit is known to fit its template.
 * --prove runs nothing but the call that a mutant is said to be wrong on, in
 * full, lowered without any check: each must be wrong there, so that none is a
 * mutant by name only. --quick takes those marked so. A table by class and
 * stage ends the output; exit code 1: there are survivors.
 *   run_mutants --stage FOLDER FILE... [-- NAME...], run_mutants --judge FOLDER
 * The same for a card that `wavesmith-device run FOLDER` has: batch.c. --brief
 * leaves out the coverage that a winner must pass.
 */
#include "mutant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct options {
  bool list, prove, quick, brief;
  const char *stage, *judge; /* folders */
  int share, shares;
  const char *const *names;
  int name_count;
} options;

/* The names of stages outlive the arena of one mutant: they are literals, or
 * the compile server's. */
static bool try_one(cheat_path *path, const options *o, const mutant *m,
                    ws_arena *names, table *t) {
  ws_arena *arena = ws_arena_create();
  outcome out =
      o->prove ? cheat_judge_on(path, arena, &m->tried, &m->wrong, m->striding)
               : cheat_try(path, arena, &m->tried, NULL);
  bool caught = strcmp(out.stage, "ok") != 0;
  printf("%sok - %s [%s]: %s %s, %.0f ms\n", caught ? "" : "not ",
         m->tried.name, m->kind, out.stage, out.verdict, out.ms);
  if (caught)
    printf("#   %s %.200s\n", out.finding_count ? out.findings[0].id : "",
           out.reason);
  fflush(stdout);
  table_note(t, m->kind, ws_arena_strdup(names, out.stage));
  ws_arena_destroy(arena);
  return caught;
}

static bool is_wanted(const options *o, const mutant *m) {
  if (o->quick && !m->tried.quick)
    return false;
  for (int i = 0; i < o->name_count; i++)
    if (!strncmp(m->tried.name, o->names[i], strlen(o->names[i])))
      return true;
  return o->name_count == 0;
}

static int run(const options *o, const mutant *mutants, int count,
               ws_arena *arena) {
  cheat_path path = {.thorough = true};
  table t = {.kind_count = 0};
  int survivors = 0;
  cheat_path_start(&path);
  for (int i = 0; i < count; i++)
    survivors += !try_one(&path, o, &mutants[i], arena, &t);
  cheat_path_stop(&path);
  table_print(&t);
  printf("# %d of %d %s\n", survivors, count,
         o->prove ? "are not wrong where they are said to be" : "survive");
  return survivors || !count;
}

static int list(const mutant *mutants, int count) {
  for (int i = 0; i < count; i++) {
    char shape[WS_SHAPE_TEXT];
    printf("%s [%s] wrong on %s%s\n", mutants[i].tried.name, mutants[i].kind,
           ws_shape_print(&mutants[i].wrong, shape),
           mutants[i].striding ? " with other strides" : "");
  }
  printf("# %d mutants\n", count);
  return count == 0;
}

/* Those that are wanted, moved together. */
static int pick(const options *o, mutant *mutants, int count) {
  int kept = 0;
  for (int i = 0; i < count; i++)
    if (is_wanted(o, &mutants[i]) && i % o->shares == o->share)
      mutants[kept++] = mutants[i];
  return kept;
}

int main(int argc, char **argv) {
  options o = {.shares = 1};
  const char *root = getenv("WS_SOURCE_DIR");
  ws_arena *arena = ws_arena_create();
  mutant *mutants = ws_arena_alloc(arena, MUTANTS_MAX * sizeof *mutants);
  int count = 0, i = 1;
  for (; i < argc && !strncmp(argv[i], "--", 2) && argv[i][2]; i++) {
    o.list |= !strcmp(argv[i], "--list");
    o.prove |= !strcmp(argv[i], "--prove");
    o.quick |= !strcmp(argv[i], "--quick");
    o.brief |= !strcmp(argv[i], "--brief");
    if (!strcmp(argv[i], "--share") && i + 1 < argc)
      sscanf(argv[++i], "%d/%d", &o.share, &o.shares);
    else if (!strcmp(argv[i], "--stage") && i + 1 < argc)
      o.stage = argv[++i];
    else if (!strcmp(argv[i], "--judge") && i + 1 < argc)
      o.judge = argv[++i];
  }
  for (; i < argc && strcmp(argv[i], "--"); i++)
    mutants_read(arena, root ? root : ".", argv[i], mutants, &count);
  if (i < argc) {
    o.names = (const char *const *)argv + i + 1;
    o.name_count = argc - i - 1;
  }
  int result;
  if (o.judge) {
    result = mutants_judge(o.judge);
  } else if (o.list) {
    result = list(mutants, count);
  } else {
    count = pick(&o, mutants, count);
    result = o.stage ? mutants_stage(o.stage, mutants, count, !o.brief)
                     : run(&o, mutants, count, arena);
  }
  ws_arena_destroy(arena);
  return result;
}
