/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a client of the device server keeps for measure_all.c.
 */
#ifndef WAVESMITH_EVAL_DEVICE_CLIENT_H
#define WAVESMITH_EVAL_DEVICE_CLIENT_H

#include "wavesmith/measure.h"

/* Beside its own; each of a simulator may keep 1 GiB of inputs. */
enum { WS__MOST_OTHERS = 3 };
/* Another client of the same device, started when it is first asked for; it is
 * renewed and stopped with this one. */
ws_status ws__device_client_other(ws_device_client *client, int index,
                                  ws_device_client **out_other,
                                  ws_diag *diag) WS_MUST_CHECK;

#endif
