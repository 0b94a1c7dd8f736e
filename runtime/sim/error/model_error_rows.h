/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The error of the cycle model, from its validation. Written by
 * tests/bench/model_error.py, which says what the figures are.
 */
#ifndef WS_MODEL_ERROR_ROWS_H
#define WS_MODEL_ERROR_ROWS_H

/* clang-format off */
#define WS_MODEL_ERROR_VERSION 5
#define WS_MODEL_ERROR_NOISE 0.053
/* bound, rows, median, within */
#define WS_MODEL_ERROR_BOUNDS(X)                                   \
  X(mfma, 0, 1.00, 0.00)                                           \
  X(lds, 99, 1.27, 0.34)                                           \
  X(valu, 0, 1.00, 0.00)                                           \
  X(vmem, 26, 1.03, 0.15)                                          \
  X(l2, 38, 1.27, 0.30)                                            \
  X(mall, 13, 1.16, 0.22)                                          \
  X(hbm, 11, 0.88, 0.23)                                           \
  X(latency, 886, 1.03, 0.19)                                      \
  X(dispatch, 13, 1.10, 0.14)                                      \
  X(launch, 53, 1.07, 0.10)                                        \
  X(all, 1139, 1.06, 0.20)
/* low, high, pairs, right, left_out */
#define WS_MODEL_ERROR_PAIRS(X)                                    \
  X(0, 0.02, 1437, 745, 742)                                       \
  X(0.02, 0.05, 2048, 1147, 880)                                   \
  X(0.05, 0.1, 3263, 2084, 1276)                                   \
  X(0.1, 0.2, 5601, 3998, 1642)                                    \
  X(0.2, 0.5, 10644, 9165, 1970)                                   \
  X(0.5, 1, 5952, 5717, 386)                                       \
  X(1, INFINITY, 2032, 2025, 47)
/* clang-format on */

#endif
