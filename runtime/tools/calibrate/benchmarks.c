/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See calibrate.h. Sizes: what must stay in a cache is a quarter of it at most,
 * what must not is twice as large at least. Counts: differences of 50 us and
 * more, so that a card's events can tell them.
 */
#include "calibrate.h"

#include <stddef.h>

/* In this order: each row's time depends on the constants of those above. */
const calibrate_benchmark calibrate_benchmarks[] = {
    {"clock_mhz", "dependent additions", .timed = {"additions", 1, 64, "count"},
     .most = 600, .least = 100, .not_below = "loaded_mhz"},
    {"launch_ns", "empty kernel", .timed = {"empty", 1, 64, ""}},
    {"dispatch_wave", "empty workgroups of 16 waves",
     .timed = {"empty", 0, 1024, ""}, .most = 60000, .least = 20000},
    {"dispatch_group", "empty workgroups of one wave",
     .timed = {"empty", 0, 64, ""}, .most = 400000, .least = 100000},
    {"lds_latency", "chase in LDS", .timed = {"lds_chase", 1, 1, "count,0"},
     .most = 4000, .least = 1000},
    {"l1_latency", "chase over 8 KiB",
     .timed = {"chase", 1, 1, "buffer,count,128,8191,0"}, .buffer_bytes = 8192,
     .most = 4000, .least = 1000},
    {"l2_latency", "chase over 256 KiB",
     .timed = {"chase", 1, 1, "buffer,count,128,262143,0"},
     .buffer_bytes = 262144, .most = 8192, .least = 4096},
    {"hbm_extra", "chase, each line new",
     .timed = {"chase", 1, 1, "buffer,count,16512,67108863,0"},
     .buffer_bytes = 67108864, .most = 4000, .least = 1000},
    {"cu_rate", "one CU streams 1 MiB",
     .timed = {"stream", 1, 1024, "buffer,count,1,1024,1048575,0"},
     .buffer_bytes = 1048576, .most = 640, .least = 128},
    {"hbm_rate", "stream of 256 MiB",
     .timed = {"stream", 1216, 512, "buffer,count,1216,512,268435455,0"},
     .buffer_bytes = 268435456, .most = 26, .least = 8},
};
const int calibrate_benchmark_count =
    sizeof calibrate_benchmarks / sizeof calibrate_benchmarks[0];
