/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What NVIDIA's management library knows of a card besides what CUDA says:
 * the driver's version and, while it runs, clocks, temperature, power, and what
 * holds the clock down. It only reads. Without the library, or where a card
 * does not answer a question, the answer is 0 or "".
 */
#ifndef WAVESMITH_NVML_H
#define WAVESMITH_NVML_H

#include "wavesmith/device.h"

typedef struct ws__nvml ws__nvml;

/* The card by its UUID ("GPU-..."); NULL when the library or the card is not
 * found, which is no error. */
ws__nvml *ws__nvml_open(const char *uuid);
void ws__nvml_close(ws__nvml *nvml); /* NULL is allowed */
/* In the arena; "" where it is not known or nvml is NULL. */
const char *ws__nvml_driver(const ws__nvml *nvml, ws_arena *arena);
ws_device_clocks ws__nvml_clocks(const ws__nvml *nvml);

#endif
