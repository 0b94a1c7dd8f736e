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
  X(lds, 80, 1.24, 0.30)                                           \
  X(valu, 0, 1.00, 0.00)                                           \
  X(vmem, 22, 0.97, 0.08)                                          \
  X(l2, 15, 1.26, 0.30)                                            \
  X(mall, 10, 1.18, 0.26)                                          \
  X(hbm, 11, 0.88, 0.23)                                           \
  X(latency, 934, 1.01, 0.19)                                      \
  X(dispatch, 13, 1.10, 0.14)                                      \
  X(launch, 54, 1.06, 0.10)                                        \
  X(all, 1139, 1.03, 0.20)
/* low, high, pairs, right, left_out */
#define WS_MODEL_ERROR_PAIRS(X)                                    \
  X(0, 0.02, 1301, 674, 704)                                       \
  X(0.02, 0.05, 2002, 1073, 888)                                   \
  X(0.05, 0.1, 3054, 1854, 1187)                                   \
  X(0.1, 0.2, 5348, 3820, 1606)                                    \
  X(0.2, 0.5, 10459, 8999, 2066)                                   \
  X(0.5, 1, 6516, 6265, 448)                                       \
  X(1, INFINITY, 2298, 2290, 43)
/* clang-format on */

#endif
