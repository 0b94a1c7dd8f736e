/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The cards. All are of the same die (CDNA3, gfx942), so what a CU and an XCD
 * do is MI300X's (clock_constants.h); here stands what the card around them
 * does otherwise, and, for what belongs to the whole device, that it does not.
 *
 * Sources. [DS] AMD's data sheet of the card. [SPECS] ROCm documentation,
 * "AMD GPU specifications". [SPEC.YAML] ROCm/rocm-systems,
 * projects/rocprofiler-compute/src/utils/mi_gpu_spec.yaml. [BEN] as in
 * clock_constants.h. Where a card was not measured, a rate is MI300X's achieved
 * one times the ratio of the published peaks; confidence L.
 */
#include "card.h"

#define IS(row, value, source, confidence)                                     \
  { WS_CARD_##row, value, source, confidence }

/* An APU: 24 CPU cores share the memory. */
static const ws__card_value mi300a[] = {
    IS(xcds, 6, "[DS, SPECS]: 228 CUs; [SPEC.YAML]: 6", "H"),
    IS(cus_per_xcd, 38, "[DS, SPECS]: 228 = 6 x 38", "H"),
    IS(clock_mhz, 2100, "[DS]: peak engine clock", "H"),
    IS(loaded_mhz, 1230,
       "not published; as MI300X, at 2.4 W per CU (550 W, CPU cores included) "
       "instead of 2.5",
       "L"),
    IS(loaded_percent, 83, "not published; as MI300X", "L"),
    IS(l2_bytes, 4194304, "[SPECS]: 24 MiB on 6 XCDs", "H"),
    IS(mall_bytes, 268435456, "[DS, SPECS]: 256 MB", "H"),
    IS(mall_rate, 5300,
       "not measured; peak 17.2 TB/s [DS] as MI300X, so the same", "L"),
    IS(hbm_extra, 241,
       "[BEN] gpu-latency: 803-826 clk, (815 - 213) / 2.097 = 287 less the 46 "
       "that a chase waits for pages, as MI300X's 318 are 272",
       "M"),
    IS(hbm_rate, 2900,
       "[BEN] gpu-stream: mean of read 2.68, write 3.07, scale 2.96, triad "
       "3.03 TB/s, as 4100 is of MI300X's 4.1, 4.6, 4.0, 3.9; the peak of 5.3 "
       "TB/s [DS] is MI300X's",
       "M"),
    IS(launch_ns, 3550,
       "a small kernel between two events takes 4.2 to 5 us there (51 runs of "
       "each of ten programs), 0.65 of it its own here",
       "M"),
    IS(memory_bytes, INT64_C(128) << 30, "[DS, SPECS]: 128 GB of HBM3", "H"),
    IS(memory_bus_bits, 8192, "[DS]", "H"),
    IS(memory_clock_khz, 1300000, "[DS]: 5.3 TB/s, as MI300X", "H"),
    IS(power_watts, 550, "[DS]: 550 W, 760 W water cooled", "M"),
};

/* AMD publishes no data sheet of it. */
static const ws__card_value mi308x[] = {
    IS(xcds, 4, "[SPEC.YAML]: 4 in SPX mode", "M"),
    IS(cus_per_xcd, 20,
       "80 CUs: public programs that ask the driver (ROCm/mori, by PCI id "
       "74a2), on 4 XCDs",
       "M"),
    IS(clock_mhz, 1420,
       "not published by AMD; 465 TFLOP/s of fp8 in public tables of peaks "
       "= 4096 x 80 x 1.42e9",
       "L"),
    IS(loaded_mhz, 1420,
       "not published; 80 CUs at this clock are taken to stay below the limit",
       "L"),
    IS(loaded_percent, 83, "not published; without effect at this loaded_mhz",
       "L"),
    IS(smem_mall, 338, "172 + mall_extra at 1.42 GHz: 117 ns are 166 clk", "L"),
    IS(l2_bytes, 4194304, "not published; the die of MI300X", "L"),
    IS(mall_bytes, 268435456, "not published; 4 IODs [SPEC.YAML] as MI300X",
       "L"),
    IS(mall_rate, 5300, "not published; 4 IODs [SPEC.YAML] as MI300X", "L"),
    IS(hbm_extra, 272, "not published; as MI300X", "L"),
    IS(hbm_rate, 4100,
       "not measured; peak 5.3 TB/s (public tables of peaks) as MI300X, so "
       "the same",
       "L"),
    IS(memory_bytes, INT64_C(192) << 30,
       "not published by AMD; 192 GB in public reports of systems", "M"),
    IS(memory_bus_bits, 8192, "not published; as MI300X", "L"),
    IS(memory_clock_khz, 1300000, "not published; 5.3 TB/s as MI300X", "L"),
    IS(power_watts, 750, "not published; as MI300X", "L"),
};

/* MI300X with HBM3E. */
static const ws__card_value mi325x[] = {
    IS(xcds, 8, "[DS, SPECS]: 304 CUs, 38 per XCD; [SPEC.YAML]: 8", "H"),
    IS(cus_per_xcd, 38, "[DS, SPECS]: 38 per XCD", "H"),
    IS(clock_mhz, 2100, "[DS]: 2615 TFLOP/s of fp8 = 4096 x 304 x 2.1e9", "H"),
    IS(loaded_mhz, 1230,
       "not published; as MI300X, though the limit is 1000 W instead of 750: "
       "too slow if anything",
       "L"),
    IS(loaded_percent, 83, "not published; as MI300X", "L"),
    IS(l2_bytes, 4194304, "[SPECS]: 32 MiB, 4 per XCD", "H"),
    IS(mall_bytes, 268435456, "[DS, SPECS]: 256 MB", "H"),
    IS(mall_rate, 5300, "not measured; the IODs of MI300X, so the same", "L"),
    IS(hbm_extra, 272, "not measured; as MI300X", "L"),
    IS(hbm_rate, 4640,
       "not measured; 4100 x 6.0 / 5.3: peak 6 TB/s of HBM3E [DS]", "L"),
    IS(memory_bytes, INT64_C(256) << 30, "[DS, SPECS]: 256 GB of HBM3E", "H"),
    IS(memory_bus_bits, 8192, "[DS]", "H"),
    IS(memory_clock_khz, 1465000, "6 TB/s [DS] over 8192 bits, 4 per clock",
       "M"),
    IS(power_watts, 1000, "[DS]", "H"),
};

#define CARD(name, title)                                                      \
  { #name, title, name, sizeof(name) / sizeof(name)[0] }
const ws__card ws__cards[] = {{"mi300x", "MI300X", NULL, 0},
                              CARD(mi300a, "MI300A"),
                              CARD(mi308x, "MI308X"),
                              CARD(mi325x, "MI325X")};
const int ws__card_count = sizeof ws__cards / sizeof ws__cards[0];
