/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the Linux kernel's amdgpu driver says of a card in /sys: its version,
 * and clocks, temperature and power as they are now. It only reads. What is not
 * there is 0 or "".
 */
#ifndef WAVESMITH_AMDGPU_H
#define WAVESMITH_AMDGPU_H

#include "wavesmith/device.h"

typedef struct ws__amdgpu ws__amdgpu;

/* The card by its place on the bus, "0000:05:00.0"; NULL: not found. */
ws__amdgpu *ws__amdgpu_open(const char *bus_id);
void ws__amdgpu_close(ws__amdgpu *card); /* NULL is allowed */
const char *ws__amdgpu_driver(ws_arena *arena);
ws_device_clocks
ws__amdgpu_clocks(const ws__amdgpu *card); /* NULL is allowed */

#endif
