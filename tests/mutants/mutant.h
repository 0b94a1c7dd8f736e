/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A mutant: a shipped template with a mistake as people and models make them,
 * which shows on some legal calls only. Unlike a cheat it wants nothing; like
 * one it must not win, and goes the same way (tests/cheats/cheat_path.c).
 */
#ifndef WS_TESTS_MUTANT_H
#define WS_TESTS_MUTANT_H

#include "../cheats/cheat.h"

typedef struct mutant {
  cheat tried;
  const char *kind; /* what goes wrong: its class */
  const char *base; /* the template's text without the mistake */
  ws_shape wrong;   /* a legal call that shows it */
  int striding;     /* of the scales there */
} mutant;

enum { MUTANTS_MAX = 512 };
/* Appends the file's mutants to out, which holds *count. Ends the program with
 * a sentence when the file is not as it should be. */
void mutants_read(ws_arena *arena, const char *root, const char *path,
                  mutant out[MUTANTS_MAX], int *count);

/* How many of a class ended at a stage. */
enum { MAX_ROWS = 64, MAX_STAGES = 16 };
typedef struct table {
  const char *kinds[MAX_ROWS], *stages[MAX_STAGES];
  int counts[MAX_ROWS][MAX_STAGES];
  int kind_count, stage_count;
} table;
/* The texts must outlive the table. */
void table_note(table *t, const char *kind, const char *stage);
void table_print(const table *t);

/* For a card elsewhere (wavesmith/batch.h). stage: each mutant's way to the
 * device becomes a job, each proof another, and so does each point without a
 * mistake; those that are caught before are noted beside the jobs. thorough: as
 * of a cheat_path. judge: what the answers say; 1: survivors, a control that is
 * not ok, or answers that are missing. */
int mutants_stage(const char *folder, const mutant *mutants, int count,
                  bool thorough);
int mutants_judge(const char *folder);

#endif
