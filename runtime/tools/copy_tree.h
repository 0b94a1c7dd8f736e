/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The sources of wavesmith-device, as they lie beside the program, copied to
 * where they are to be built.
 */
#ifndef WAVESMITH_COPY_TREE_H
#define WAVESMITH_COPY_TREE_H

#include "wavesmith/base.h"

/* Into FOLDER/src. WS_ENVIRONMENT: they are not there, or cannot be written. */
ws_status copy_device_source(ws_arena *arena, const char *folder,
                             ws_diag *diag) WS_MUST_CHECK;

#endif
