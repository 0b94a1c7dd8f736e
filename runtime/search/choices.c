/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Choices as numbers. A body is a number of its own, so that two are 1 apart.
 */
#include "choices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int ws__choices_count(const ws__space *space) {
  int count = space->tmpl->region_count;
  for (int d = 0; d < space->count; d++)
    count += space->dimensions[d].param >= 0;
  return count;
}

int ws__choices_of(const ws__space *space, const ws_candidate *candidate,
                   double out_choices[WS__MOST_CHOICES]) {
  int point[WS__MOST_CHOICES], count = 0; /* of parameters, then regions */
  ws__space_point_of(space, candidate, point);
  for (int d = 0; d < space->count; d++)
    if (space->dimensions[d].param >= 0)
      out_choices[count++] = point[d] / (double)(space->dimensions[d].size - 1);
  for (int r = 0; r < space->tmpl->region_count; r++) {
    const ws_body *body = &candidate->bodies[r];
    char digits[9] = "";
    if (body->text)
      memcpy(digits, ws_hash_bytes(body->text, strlen(body->text)).hex, 8);
    out_choices[count++] = body->text
                               ? 1000.0 + (double)strtoul(digits, NULL, 16)
                               : 2.0 + body->variant;
  }
  return count;
}

double ws__choices_distance(const double *reach, const double *a,
                            const double *b, int count) {
  double sum = 0;
  for (int i = 0; i < count; i++)
    sum += reach[i] * (fabs(a[i] - b[i]) < 1 ? fabs(a[i] - b[i]) : 1);
  return sum;
}
