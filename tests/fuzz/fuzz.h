/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What fuzz targets share. A target reads arbitrary bytes; crashes and
 * sanitizer reports are its findings, and so is a broken FUZZ_CHECK: a
 * property that must hold whatever the input is.
 */
#ifndef WAVESMITH_FUZZ_H
#define WAVESMITH_FUZZ_H

#include "wavesmith/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                  \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);  \
      abort();                                                                 \
    }                                                                          \
  } while (0)

/* A refusal must say why, in one line. */
#define FUZZ_CHECK_REFUSAL(status, diag)                                       \
  FUZZ_CHECK((status) == WS_OK ||                                              \
             ((diag).text[0] && !strchr((diag).text, '\n')))

#endif
