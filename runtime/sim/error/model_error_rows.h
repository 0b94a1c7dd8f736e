/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The error of the cycle model, from its validation. Written by
 * tests/bench/model_error.py, which says what the figures are.
 */
#ifndef WS_MODEL_ERROR_ROWS_H
#define WS_MODEL_ERROR_ROWS_H

/* clang-format off */
#define WS_MODEL_ERROR_VERSION 4
#define WS_MODEL_ERROR_NOISE 0.053
/* bound, rows, median, within */
#define WS_MODEL_ERROR_BOUNDS(X)                                   \
  X(mfma, 0, 1.00, 0.00)                                           \
  X(lds, 97, 1.26, 0.34)                                           \
  X(valu, 0, 1.00, 0.00)                                           \
  X(vmem, 26, 1.03, 0.15)                                          \
  X(l2, 22, 1.25, 0.28)                                            \
  X(mall, 10, 1.18, 0.26)                                          \
  X(hbm, 11, 0.88, 0.23)                                           \
  X(latency, 906, 1.03, 0.19)                                      \
  X(dispatch, 13, 1.10, 0.14)                                      \
  X(launch, 54, 1.06, 0.10)                                        \
  X(all, 1139, 1.05, 0.21)
/* low, high, pairs, right, left_out */
#define WS_MODEL_ERROR_PAIRS(X)                                    \
  X(0, 0.02, 1417, 734, 722)                                       \
  X(0.02, 0.05, 2021, 1106, 869)                                   \
  X(0.05, 0.1, 3282, 2036, 1254)                                   \
  X(0.1, 0.2, 5438, 3915, 1608)                                    \
  X(0.2, 0.5, 10581, 9069, 2040)                                   \
  X(0.5, 1, 6122, 5882, 404)                                       \
  X(1, INFINITY, 2114, 2107, 48)
/* clang-format on */

#endif
