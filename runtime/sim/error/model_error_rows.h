/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The error of the cycle model, from its validation. Written by
 * tests/bench/model_error.py, which says what the figures are.
 */
#ifndef WS_MODEL_ERROR_ROWS_H
#define WS_MODEL_ERROR_ROWS_H

/* clang-format off */
#define WS_MODEL_ERROR_VERSION 2
#define WS_MODEL_ERROR_NOISE 0.053
/* bound, rows, median, within */
#define WS_MODEL_ERROR_BOUNDS(X)                                   \
  X(mfma, 0, 1.00, 0.00)                                           \
  X(lds, 77, 1.25, 0.33)                                           \
  X(valu, 0, 1.00, 0.00)                                           \
  X(vmem, 22, 1.03, 0.13)                                          \
  X(l2, 12, 1.22, 0.25)                                            \
  X(mall, 10, 1.18, 0.26)                                          \
  X(hbm, 11, 0.88, 0.23)                                           \
  X(latency, 940, 1.02, 0.19)                                      \
  X(dispatch, 13, 1.10, 0.14)                                      \
  X(launch, 54, 1.06, 0.10)                                        \
  X(all, 1139, 1.04, 0.20)
/* low, high, pairs, right, left_out */
#define WS_MODEL_ERROR_PAIRS(X)                                    \
  X(0, 0.02, 1379, 686, 697)                                       \
  X(0.02, 0.05, 1997, 1084, 913)                                   \
  X(0.05, 0.1, 3119, 1939, 1155)                                   \
  X(0.1, 0.2, 5509, 3860, 1639)                                    \
  X(0.2, 0.5, 10380, 8952, 2047)                                   \
  X(0.5, 1, 6448, 6187, 441)                                       \
  X(1, INFINITY, 2145, 2136, 51)
/* clang-format on */

#endif
