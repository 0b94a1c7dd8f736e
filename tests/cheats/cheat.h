/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A cheat: a candidate that tries to be called good without doing the work. It
 * is one file in suite/, whose first lines say what it tries and who must catch
 * it (grammar: cheat_file.c); cheat_path.c sends it along a tuner's whole path.
 */
#ifndef WS_TESTS_CHEAT_H
#define WS_TESTS_CHEAT_H

#include "wavesmith/bound_model.h"
#include "wavesmith/measure.h"

/* Who catches it: a stage and a verdict, and what the reason or a finding's id
 * must hold ("": anything). */
typedef struct expectation {
  const char *stage, *verdict, *detail;
} expectation;

typedef struct cheat {
  const char *name;  /* of the file */
  const char *tries; /* one sentence */
  const char *rows;  /* of the list in docs/cheats.md */
  const char *assignments, *variants;
  int layout; /* of the problem; the assignments say the same */
  /* Stage "ok": an honest one, for comparison. "disarmed": what it cheats with
   * is taken off before anything runs, and what is left is right. */
  expectation caught;
  expectation then; /* with that guard off; stage "": it cannot be off */
  /* What is sent: a template, and perhaps a body for a region of it. */
  const char *template_file, *template_text;
  bool opencl;           /* template_text is OpenCL C, else IR */
  const char *base_text; /* that template_text was edited out of; or NULL */
  const char *region, *language, *body; /* region NULL: none */
  bool quick;
} cheat;

/* The text of ir-templates/NAME.ll under root; of NAME.ll there when NAME has a
 * folder. */
char *cheat_base(ws_arena *arena, const char *root, const char *name);

/* Ends the program with a sentence when the file is not as it should be. */
const cheat *cheat_read(ws_arena *arena, const char *root, const char *folder,
                        const char *name);

/* The cheat as a model's reply brings it: edits of the template by line
 * numbers, or all of it, and the body of its region beside. What is sent is
 * what was read out of that reply. */
cheat cheat_through_reply(ws_arena *arena, const cheat *tried);

/* Likewise: cheat `name` is not as it should be. */
void cheat_quit(const char *name, const char *what, const char *detail);

/* What a card is to be asked, in order, and of which stage each is. */
enum { CHEAT_STEPS_MAX = 256 };
typedef struct cheat_steps {
  const char *stages[CHEAT_STEPS_MAX];
  ws_measure_request requests[CHEAT_STEPS_MAX];
  int count;
  const void *code;
  size_t code_size;
} cheat_steps;

/* Servers, kept from cheat to cheat. */
typedef struct cheat_path {
  ws_compiler *compiler;
  ws_device_client *device;
  bool thorough; /* and the coverage that a winner must pass */
  /* NULL: the simulator is asked. Else no device is: the steps are put here,
   * in the arena of the call, and "ok" is who reached the path's end. */
  cheat_steps *steps;
} cheat_path;
void cheat_path_start(cheat_path *path);
void cheat_path_stop(cheat_path *path);

typedef struct outcome {
  const char *stage, *verdict; /* "ok", "ok": nobody caught it */
  const char *reason;
  const ws_finding *findings;
  int finding_count;
  double ms;
} outcome;
/* skipped: a stage that is left out; NULL: none. */
outcome cheat_try(cheat_path *path, ws_arena *arena, const cheat *tried,
                  const char *skipped);
/* Lowered without any check and verified in full on this one call, with scales
 * that lie as the problem's striding says. */
outcome cheat_judge_on(cheat_path *path, ws_arena *arena, const cheat *tried,
                       const ws_shape *shape, int striding);

#endif
