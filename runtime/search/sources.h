/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The templates of a run with their texts: the task's first, its baseline,
 * those of what it starts from, those that replies bring.
 */
#ifndef WAVESMITH_SEARCH_SOURCES_H
#define WAVESMITH_SEARCH_SOURCES_H

#include "task.h"

/* One object per template. Written when the session begins, and by apply.c. */
typedef struct ws__sources {
  const ws__source **items;
  int count, capacity;
} ws__sources;

/* source must live as long as the arena. */
void ws__sources_add(ws__sources *sources, ws_arena *arena,
                     const ws__source *source);
/* The one with this template's hash; NULL: it is not of the run. */
const ws__source *ws__sources_find(const ws__sources *sources,
                                   const ws_template *tmpl);

#endif
