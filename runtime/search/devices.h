/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The devices that a run asks at once: which there are for a target, and
 * whether one runs its code.
 */
#ifndef WAVESMITH_SEARCH_DEVICES_H
#define WAVESMITH_SEARCH_DEVICES_H

#include "wavesmith/measure.h"
#include "wavesmith/target.h"

enum { WS__MOST_DEVICES = 16 };
typedef struct ws__devices {
  ws_device_client *clients[WS__MOST_DEVICES];
  int count; /* 0: none, estimates alone */
} ws__devices;

/* kind: "hip", "cuda:1", "sim", "sim:mi300a"; "cuda:all": every card of that
 * kind, a server each; "auto": the target's card, else, where it simulates the
 * target, the simulator, else none; NULL or "estimate": none. WS_ENVIRONMENT:
 * it does not answer, or runs other code. WS_USAGE: no such kind. */
ws_status ws__devices_open(ws__devices *devices, const ws_target *target,
                           const char *kind, ws_diag *diag) WS_MUST_CHECK;
void ws__devices_close(ws__devices *devices);

/* WS_ENVIRONMENT: it does not run the target's code. */
ws_status ws__device_suits(const ws_device_info *info, const ws_target *target,
                           ws_diag *diag) WS_MUST_CHECK;

#endif
