/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How two orders of the same things agree.
 */
#ifndef WAVESMITH_SEARCH_STATISTICS_H
#define WAVESMITH_SEARCH_STATISTICS_H

/* Spearman's: the correlation of ranks; 0 when one side is constant. */
double ws__spearman(const double *a, const double *b, int count);

#endif
