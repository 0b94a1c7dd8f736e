/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of classes and stages that ends a run over mutants.
 */
#include "mutant.h"

#include <stdio.h>
#include <string.h>

static int index_in(const char **list, int *count, int most, const char *text) {
  for (int i = 0; i < *count; i++)
    if (!strcmp(list[i], text))
      return i;
  if (*count == most)
    return most - 1;
  list[*count] = text;
  return (*count)++;
}

void table_note(table *t, const char *kind, const char *stage) {
  int row = index_in(t->kinds, &t->kind_count, MAX_ROWS, kind);
  int column = index_in(t->stages, &t->stage_count, MAX_STAGES, stage);
  t->counts[row][column]++;
}

void table_print(const table *t) {
  printf("# %-16s", "class");
  for (int s = 0; s < t->stage_count; s++)
    printf(" %9s", t->stages[s]);
  for (int k = 0; k < t->kind_count; k++) {
    printf("\n# %-16s", t->kinds[k]);
    for (int s = 0; s < t->stage_count; s++)
      printf(" %9d", t->counts[k][s]);
  }
  printf("\n");
}
