/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The device server's loop. Protocol: wavesmith/measure.h.
 */
#ifndef WAVESMITH_DEVICE_SERVE_H
#define WAVESMITH_DEVICE_SERVE_H

#include "wavesmith/device.h"

/* Locks the card for as long as this process lives. WS_ENVIRONMENT: another
 * has it. Nothing to do for a simulator. */
ws_status ws__device_lock(const ws_device_info *info,
                          ws_diag *diag) WS_MUST_CHECK;
/* Says that it is ready, then serves until the stream ends or a kernel has
 * faulted: what a fault leaves of a device is not to be trusted. */
void ws__device_serve(int socket, ws_device *device);
/* Says why there is no device. */
void ws__device_refuse(int socket, const char *text);

#endif
