/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See calibrate.h. Sizes: what must stay in a cache is a quarter of it at most
 * (half in l2_rate, whose waves must not meet their lines in L1 again; three
 * quarters of the Infinity Cache, for a longer time), what must not is twice as
 * large at least. Streams beyond L2 pass their data once: lines that come again
 * within what the model runs first look to it like lines that CUs share.
 * Counts: differences of 50 us, and of 20 at least, so that a card's events can
 * tell them.
 */
#include "calibrate.h"

#include <stddef.h>

/* In this order: each row's time depends on the constants of those above. */
const calibrate_benchmark calibrate_benchmarks[] = {
    {"clock_mhz", "dependent additions", .timed = {"additions", 1, 64, "count"},
     .most = 600, .least = 100, .not_below = "loaded_mhz"},
    {"launch_ns", "empty kernel", .timed = {"empty", 1, 64, ""}},
    {"behind_ns", "two empty kernels", .first = {"empty", 1, 64, ""},
     .timed = {"empty", 1, 64, ""}},
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
    {"tlb_miss", "chase, each time another page",
     .timed = {"chase", 1, 1, "buffer,count,2113664,134217727,0"},
     .buffer_bytes = 134217728, .most = 4000, .least = 1000},
    {"cu_rate", "one CU streams 1 MiB",
     .timed = {"stream", 1, 1024, "buffer,countM,groups,1024,1048575,10"},
     .buffer_bytes = 1048576, .most = 10, .least = 2},
    {"mall_extra", "chase, each line new, in Infinity Cache",
     .first = {"stream", -4, 512, "buffer,64M,groups,512,67108863,10"},
     .timed = {"chase", 1, 1, "buffer,count,16512,33554431,0"},
     .buffer_bytes = 67108864, .most = 4000, .least = 1000},
    {"mall_rate", "stream from Infinity Cache",
     .first = {"stream", -4, 512, "buffer,192M,groups,512,268435455,10"},
     .timed = {"stream", -4, 512, "buffer,countM,groups,512,268435455,10"},
     .buffer_bytes = 211812352, .most = 190, .least = 40},
    {"hbm_rate", "stream from HBM",
     .timed = {"stream", -4, 512, "buffer,countM,groups,512,268435455,10"},
     .buffer_bytes = 268435456, .most = 240, .least = 72},
    {"l2_rate", "all CUs stream from a quarter of L2's channels",
     .timed = {"stream", -1, 1024, "buffer,countM,1,1024,2097151,12"},
     .buffer_bytes = 2097152, .most = 760, .least = 152},
    {"store_ack", "stores, one after the other",
     .timed = {"stores_waited", 1, 1, "buffer,count"}, .buffer_bytes = 4096,
     .most = 4000, .least = 1000},
    {"atomic_extra", "atomics, one after the other",
     .timed = {"atomics_waited", 1, 1, "buffer,count"}, .buffer_bytes = 4096,
     .most = 4000, .least = 1000},
    {"vmem_store", "one CU stores",
     .timed = {"stores", 1, 1024, "buffer,count"}, .buffer_bytes = 4096,
     .most = 800, .least = 200},
    {"barrier", "barriers of 4 waves", .timed = {"barriers", 1, 256, "count"},
     .most = 400, .least = 100},
    {"smem_hit", "scalar chase over 4 KiB",
     .timed = {"scalar_chase", 1, 64, "buffer,count,64,4095,0"},
     .buffer_bytes = 4096, .most = 4000, .least = 1000},
    {"smem_l2", "scalar chase over 256 KiB",
     .timed = {"scalar_chase", 1, 64, "buffer,count,64,262143,0"},
     .buffer_bytes = 262144, .most = 8192, .least = 4096},
    {"smem_mall", "scalar chase, each line new, in Infinity Cache",
     .first = {"stream", -4, 512, "buffer,64M,groups,512,67108863,10"},
     .timed = {"scalar_chase", 1, 64, "buffer,count,16512,33554431,0"},
     .buffer_bytes = 67108864, .most = 4000, .least = 1000},
    {"fetch_first", "64 KiB of code, once", .timed = {"code", 1, 64, "count"},
     .most = 128, .least = 16},
};
const int calibrate_benchmark_count =
    sizeof calibrate_benchmarks / sizeof calibrate_benchmarks[0];
