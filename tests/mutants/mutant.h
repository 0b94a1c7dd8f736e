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
  ws_shape wrong;   /* a legal call that shows it */
  int striding;     /* of the scales there */
} mutant;

enum { MUTANTS_MAX = 512 };
/* Appends the file's mutants to out, which holds *count. Ends the program with
 * a sentence when the file is not as it should be. */
void mutants_read(ws_arena *arena, const char *root, const char *path,
                  mutant out[MUTANTS_MAX], int *count);

#endif
