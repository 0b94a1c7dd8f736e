/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every number of the cycle model, with unit, source and confidence, in one
 * table; docs/simulator.md shows it. "timing N" is section N of the project's
 * MI300X cycle facts (research page mi300_timing.md), the key in brackets the
 * source named there. Confidence: H measured on MI300X or read in AMD's or
 * LLVM's source, M measured on a sibling or one source, L inferred or assumed.
 * "clk" are engine clocks. All are integers, so that a simulation has the same
 * result everywhere.
 *
 *   X(name, value, unit, source, confidence, what)
 */
#ifndef WAVESMITH_SIM_CLOCK_CONSTANTS_H
#define WAVESMITH_SIM_CLOCK_CONSTANTS_H

#include <stdint.h>

/* clang-format off */
#define WS_CLOCK_CONSTANTS(X)                                                  \
  X(xcds, 8, "", "timing 1 [MT4G, SHARK, VCOPY]", "H",                         \
    "XCDs")                                                                    \
  X(cus_per_xcd, 38, "", "timing 1 [MT4G, SHARK, VCOPY]", "H",                 \
    "active CUs of an XCD")                                                    \
  X(simds, 4, "", "timing 1 [MT4G, SHARK]", "H",                               \
    "SIMDs of a CU")                                                           \
  X(waves_per_simd, 8, "", "timing 1 [VCOPY, RPC]", "H",                       \
    "wave slots of a SIMD")                                                    \
  X(vgpr_file, 512, "", "timing 1 [LLVM]", "H",                                \
    "VGPRs of a SIMD, per lane")                                               \
  X(vgpr_granule, 8, "", "timing 1 [LLVM]", "H",                               \
    "allocation granule of VGPRs")                                             \
  X(sgpr_file, 800, "", "timing 1 [LLVM]", "H",                                \
    "SGPRs of a SIMD")                                                         \
  X(sgpr_granule, 16, "", "timing 1 [LLVM]", "H",                              \
    "allocation granule of SGPRs")                                             \
  X(lds_bytes, 65536, "B", "timing 1 [LLVM]", "H",                             \
    "LDS of a CU")                                                             \
  X(lds_granule, 512, "B", "timing 1 [LLVM]", "H",                             \
    "allocation granule of LDS")                                               \
  X(visit, 4, "clk", "timing 2 [RPC]", "H",                                    \
    "a SIMD may issue every so many clocks")                                   \
  X(valu, 4, "clk", "timing 3 [LLVM, RPC]", "H",                               \
    "VALU instruction on its SIMD")                                            \
  X(trans, 16, "clk", "timing 3 [LLVM]", "M",                                  \
    "transcendental or conversion on its SIMD")                                \
  X(valu_more, 1, "clk", "micro [vector_cu]: 5.01 in place of 4.01", "H",      \
    "more for operands of one bank: f64 of several registers, a register "     \
    "three times")                                                             \
  X(valu_latency, 4, "clk",                                                    \
    "timing 3 [LLVM]; 8 seen by [GT] with loop overhead", "M",                 \
    "from a VALU instruction to the next of its wave")                         \
  X(mfma_flops, 1024, "FLOP/clk", "timing 4 [CALC]: 4096 of a CU", "H",        \
    "8-bit MFMA of a SIMD; 16-bit half, xf32 a quarter, f32 and f64 "          \
    "a sixteenth")                                                             \
  X(mfma_least, 8, "clk", "timing 4 [LLVM]: 2 passes", "H",                    \
    "shortest MFMA")                                                           \
  X(branch_taken, 16, "clk", "timing 3 [LLVM]: 16-20", "L",                    \
    "taken branch, to its fetch")                                              \
  X(fetch, 16, "clk", "timing 1 [VCOPY]", "H",                                 \
    "instruction fetch that hits L1I")                                         \
  X(fetch_first, 43, "clk", "timing 1 [VCOPY]: mean of a first launch", "M",   \
    "fetch of a line that the CU has not run yet")                             \
  X(fetch_line, 64, "B", "timing 1 [RPC]", "H",                                \
    "bytes of a fetch")                                                        \
  X(barrier, 12, "clk", "timing 3: not published, 8-16 proposed", "L",         \
    "from the last arrival to the release")                                    \
  X(sleep, 64, "clk", "CDNA3 ISA, s_sleep", "H",                               \
    "unit of s_sleep")                                                         \
  X(smem_hit, 48, "clk", "timing 5 [MT4G]", "H",                               \
    "s_load that hits the scalar cache")                                       \
  X(smem_l2, 172, "clk", "timing 5 [MT4G, GT]", "H",                           \
    "s_load that hits L2")                                                     \
  X(smem_mall, 418, "clk", "timing 5 [GT]", "M",                               \
    "s_load from the Infinity Cache")                                          \
  X(smem_line, 64, "B", "timing 1 [MT4G]", "H",                                \
    "line of the scalar cache")                                                \
  X(smem_lines, 256, "", "timing 1 [SHARK]: 16 KiB", "H",                      \
    "lines of the scalar cache")                                               \
  X(lds_latency, 52, "clk", "timing 6 [MT4G]", "H",                            \
    "ds_read_b32, address to register")                                        \
  X(lds_port_bytes, 64, "B/clk", "timing 6 [RPC]", "H",                        \
    "of the port of a pair of SIMDs, each direction")                          \
  X(lds_address, 4, "clk",                                                     \
    "timing 6 [RPC, SHARK]: 16 addresses per clk", "H",                        \
    "addresses of an LDS instruction on the port")                             \
  X(lds_queue, 32, "clk", "assumed: two b128 reads", "L",                      \
    "work that a port takes in advance")                                       \
  X(lds_banks, 32, "", "timing 6 [RPC, SHARK, CKDOC]", "H",                    \
    "banks of 4 bytes")                                                        \
  X(vmem_address, 4, "clk", "timing 7 [VCOPY]: 16 lanes per clk", "M",         \
    "addresses of a VMEM instruction")                                         \
  X(vmem_store, 2, "clk",                                                      \
    "micro [l2_stream]: about 17 clk a wave beyond 8 waves a CU, triad of 32 " \
    "waves 71 clk a wave; derived: 32 B/clk behind the addresses",             \
    "M", "of a 64-byte segment of a store, beyond its addresses")              \
  X(vmem_queue, 64, "clk", "assumed: four dwordx4 loads", "L",                 \
    "work that the address unit takes in advance")                             \
  X(line, 128, "B", "timing 7 [MT4G, SHARK]", "H",                             \
    "line of L1 and L2")                                                       \
  X(store_segment, 64, "B", "timing 7 [VCOPY]", "H",                           \
    "unit of a store to L2")                                                   \
  X(l1_sets, 4, "", "timing 7 [SHARK]", "H",                                   \
    "sets of L1; 64 ways, 32 KiB")                                             \
  X(l1_latency, 116, "clk", "timing 7 [BEN, MT4G]", "H",                       \
    "load that hits L1")                                                       \
  X(l1_bytes, 64, "B/clk", "timing 7 [BEN]: 61 measured", "H",                 \
    "L1 to registers")                                                         \
  X(l2_bytes, 4194304, "B", "timing 7 [VCOPY]", "H",                           \
    "L2 of an XCD")                                                            \
  X(l2_latency, 210, "clk", "timing 7 [BEN]; 288 by [MT4G]", "M",              \
    "load that hits L2")                                                       \
  X(l2_rate, 1640, "B/clk",                                                    \
    "micro [cache_read_shared]: 27-29 TB/s", "H", "reads from an XCD's L2")    \
  X(l2_write_rate, 1024, "B/clk",                                              \
    "derived: 16 channels, a segment a clk; micro [l2_stream]: at least 470",  \
    "L", "writes to an XCD's L2")                                              \
  X(l2_channels, 16, "", "timing 7 [VCOPY]", "H", "channels of an XCD's L2")   \
  X(l2_interleave, 256, "B", "timing 7 [RPC]: of MI200", "L",                  \
    "bytes in a row that are of one channel")                                  \
  X(cu_rate, 43, "B/clk",                                                      \
    "micro [cache_read_shared]: 43 a CU where all ask for the same lines; the "\
    "design's 64 [BEN] was never seen, not with few CUs either (foreign "      \
    "programs: atax)", "M",                                                    \
    "L2 to one CU")                                                            \
  X(tlb_miss, 100, "clk",                                                      \
    "micro [latency]: 16 ns more at 97 MB, 24 at 120 to 137, 34 at 200 to 237 "\
    "are 45 to 52 of each load that leaves 64 MB", "M",                        \
    "access to a page again that is not among the last 32 of 2 MB")            \
  X(mall_bytes, 268435456, "B", "timing 7 [FP8MM]", "H",                       \
    "Infinity Cache")                                                          \
  X(mall_extra, 117, "ns", "timing 9 [BEN]: (455 - 210) / 2.092", "H",         \
    "latency of the Infinity Cache beyond L2")                                 \
  X(mall_rate, 5300, "GB/s",                                                   \
    "micro [cache_read_blocks]: 5.0-5.1 TB/s from 22 to 400 MB; [l2_stream]: " \
    "5.4-5.9 from 24 MB on where an XCD does not meet its own lines again; "   \
    "timing 7 [MT4G]: 5.8",                                                    \
    "H", "Infinity Cache, whole device")                                       \
  X(hbm_extra, 272, "ns",                                                      \
    "micro [stream]: a stream at 2 waves; a chase's 318 [latency] less "       \
    "tlb_miss", "H", "latency of HBM beyond L2")                               \
  X(hbm_rate, 4100, "GB/s", "timing 7, 10 [BEN, FP8MM]", "H",                  \
    "HBM as achieved")                                                         \
  X(store_ack, 240, "clk",                                                     \
    "micro [l2_stream]: a workgroup that stores lives 607 clk, one that "      \
    "loads 585, one that does both 825; the same beyond L2",                   \
    "H", "from a store to its acknowledgement by L2")                          \
  X(atomic_extra, 100, "clk", "assumed", "L",                                  \
    "of a returning atomic beyond L2")                                         \
  X(dispatch_group, 8, "clk", "timing 9 [GT]", "H",                            \
    "dispatch of a workgroup, per XCD")                                        \
  X(dispatch_wave, 17, "1/16 clk",                                             \
    "micro [l2_stream]: 17.0-17.4 clk for 16 waves; timing 9 [GT]", "H",       \
    "dispatch of a wave, per XCD")                                             \
  X(group_start, 116, "clk",                                                   \
    "micro [l2_stream]: a workgroup's life of 585 clk less what it runs", "M", \
    "from dispatch to the first instruction")                                  \
  X(launch_ns, 2500, "ns",                                                     \
    "problem 4.1, timing 9 [FP8MM]: floor of trivial kernels", "M",            \
    "launch")                                                                  \
  X(behind_ns, 1000, "ns", "timing 9 [GT]: gap of about 1 us back to back",    \
    "L", "launch behind another one, with nothing between that waits or times")\
  X(clock_mhz, 2100, "MHz", "timing 9, 10 [BEN]: 2092 sustained", "H",         \
    "engine clock, light load")                                                \
  X(loaded_mhz, 1230, "MHz", "problem 4.1 [MAF]", "H",                         \
    "median clock under fp8 MFMA load")                                        \
  X(loaded_percent, 83, "%",                                                   \
    "problem 4.1 [MAF]: 1273 of 4096 x 304 x 1.23e9", "H",                     \
    "share of the peak at that clock")                                         \
  X(still_percent, 96, "%",                                                    \
    "micro [mfma_device]: 1952-2064 MHz of 2100 with 304 workgroups, mean "    \
    "2014", "H",                                                               \
    "of the clock is left at full matrix load whose A and B do not change")    \
  X(power_us, 1000, "us",                                                      \
    "timing 9: under 1 ms neither cap nor full boost", "L",                    \
    "a launch this long runs at the clock of its load; shorter ones "          \
    "fall in proportion")
/* clang-format on */

typedef struct ws__clock_constants {
#define WS_CLOCK_FIELD(name, value, unit, source, confidence, what)            \
  int64_t name;
  WS_CLOCK_CONSTANTS(WS_CLOCK_FIELD)
#undef WS_CLOCK_FIELD
} ws__clock_constants;

extern const ws__clock_constants ws__clock_mi300x;

typedef struct ws__clock_constant {
  const char *name;
  int64_t value;
  const char *unit, *source, *confidence, *what;
} ws__clock_constant;
extern const ws__clock_constant ws__clock_table[];
extern const int ws__clock_table_count;

#endif
