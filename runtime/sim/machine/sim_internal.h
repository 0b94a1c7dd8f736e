/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The simulator object, for the files that implement its public functions.
 */
#ifndef WAVESMITH_SIM_INTERNAL_H
#define WAVESMITH_SIM_INTERNAL_H

#include "card.h"
#include "code_object.h"

struct ws_sim {
  ws_memory *memory;
  ws_sim_options options; /* defaults resolved, but for the card */
  const ws__clock_constants *constants; /* the card's */
  ws_sim_module **modules;
  int module_count, module_capacity;
};

#endif
