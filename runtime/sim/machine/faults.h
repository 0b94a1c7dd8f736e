/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Everything the simulator reports about a kernel: id and what it means. The
 * ids are stable; docs/simulator.md shows this table.
 */
#ifndef WAVESMITH_SIM_FAULTS_H
#define WAVESMITH_SIM_FAULTS_H

#define WS_SIM_FAULT_MAP(X)                                                    \
  X("oob-global", "access outside every live allocation")                      \
  X("use-after-free", "access to memory that was freed")                       \
  X("write-to-code", "store into code or constants of a module")               \
  X("oob-lds", "LDS access beyond what the launch reserved")                   \
  X("oob-register", "indexed VGPR beyond the register file")                   \
  X("oob-scratch", "scratch access beyond the kernel's private segment")       \
  X("misaligned", "address not aligned as the instruction needs")              \
  X("uninitialised", "a value never written reaches a store, an address or a " \
                     "branch")                                                 \
  X("missing-wait", "register or LDS used before a wait covers its load")      \
  X("lds-race", "two waves touch the same LDS byte without a barrier between") \
  X("lds-same-value", "two waves write the same value to an LDS byte without " \
                      "a barrier between; benign, the run goes on")            \
  X("divergent-barrier", "waves of a workgroup do not meet at the barrier")    \
  X("infinite-loop", "instruction budget of a wave exceeded")                  \
  X("wild-branch", "jump to where no instruction starts")                      \
  X("trap", "s_trap or an aborting message")                                   \
  X("unsupported", "a mode or message that the simulator does not have")

#endif
