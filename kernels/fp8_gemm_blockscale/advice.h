/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What pays in the block-scaled fp8 GEMM, for a model that tunes it: facts of
 * this operation on a card, measured or published.
 */
#ifndef WAVESMITH_FP8_GEMM_ADVICE_H
#define WAVESMITH_FP8_GEMM_ADVICE_H

static const char advice_gfx942[] =
    "Sources: measured on MI300X, published kernels.\n"
    "- Matrix instructions on tiles staged in LDS: an order of magnitude or"
    " more over scalar code. 16-byte global loads, 8- or 16-byte LDS "
    "accesses without bank conflicts.\n"
    "- The tile of C per wave decides LDS traffic. Per 128 of k, a "
    "workgroup tile of 128x128 needs 1024 MFMA clocks of a CU; with 2x2 "
    "waves (64x64 each) LDS reads and writes need 768 clocks, with 4x4 "
    "waves (32x32 each) 1280: bound by LDS. 256x128 with 4x2 waves: 2048 to"
    " 1408.\n"
    "- Scaling costs one FMA per element of C per 128 of k: a quarter of "
    "the MFMA time with plain FMAs, an eighth with packed ones, hidden in "
    "the shadow of the MFMAs when there are enough waves or independent "
    "accumulators. Multiply the two scales first where a lane's elements "
    "share them. Partial sums of one k block go to an accumulator of their "
    "own that starts at zero.\n"
    "- Loads of the next tile of k into registers before the matrix "
    "instructions of this one (1 or 2 steps ahead), stored to LDS after "
    "them. Two LDS buffers save one of two barriers per step.\n"
    "- Split k over workgroups when m x n gives fewer tiles than CUs and k "
    "is long: fp32 partial sums in the workspace, a second kernel adds them"
    " (its launch and traffic cost 3 us or more). In the layout kmajor-add "
    "each slice adds its rounded sums to C by packed bf16 atomics instead: "
    "simulated, not measured, 0.75 to 1 of that time.\n"
    "- Tiles of 128x128x64 to 128x128x128 with 256 threads for large "
    "shapes, 64x64 to 64x128 for small n; small m wants small tiles or "
    "split k.\n"
    "- An order of workgroups in which those of one XCD (equal id mod 8) "
    "share rows of A or columns of B in its L2.\n"
    "- Shapes with short k are bound by writing C: bf16 stores of full "
    "128-byte lines.\n";

static const char advice_sm_90a[] =
    "Sources: measured, k-major, 18 shapes of m 1024 and 6144.\n"
    "- One producer warp with TMA, two or three consumer warpgroups, a ring"
    " of stages, a persistent grid of min(tiles, 132 x workgroups per SM): "
    "without persistence 69 us in place of 35 at k = 256, 182 in place of "
    "158 at k = 2048.\n"
    "- Tile and pipeline by shape: no single point is good. Large shapes: "
    "192x128 with three consumer warpgroups, each step scaled before the "
    "next (other warpgroups keep the tensor core busy), 4 stages: 278 to "
    "281 us on 6144,4608,7168 (tensor pipe active 90 % of the time), "
    "128x128 with two warpgroups and two sets of partial sums in turn 294 "
    "to 298, without the second set 333 to 343. 256x128 with two warpgroups"
    " spills.\n"
    "- m = 1024: tiles that fill 132 SMs once: 128x96 for n = 1536 (24 us; "
    "128x128 leaves 36 SMs idle), 64x96 for n = 576 (16 us), 128x112 for n "
    "= 7168 at k of 2048. Stages beyond 5 change little there (26.1, 23.9, "
    "23.4 us with 4, 5, 7).\n"
    "- B's scales from shared memory or registers, copied once a tile, at "
    "long k (309 to 279 us); from global memory is as good at k = 256.\n"
    "- Sharing B's loads in a cluster of two: within 2 % either way. "
    "Splitting k over a cluster with sums through distributed shared "
    "memory: right, and no gain at n = 576 (16.7 to 16.0 us).\n"
    "- A turn order of warpgroups by named barriers did not help 128x128 or"
    " 128x192 and helped 256x128 only.\n"
    "- Not tried so far, so worth an experiment: stream-K, split k with a "
    "reduce-scatter, multicast of A, the next launch's prologue under this "
    "one's tail (griddepcontrol), cp.async in place of TMA, other orders of"
    " tiles for the L2.\n"
    "- cuBLASLt needs 47 us in the geometric mean of these shapes, DeepGEMM"
    " 41.6, 37 points of a hand-made kernel like this 38.7; the roofline is"
    " 17.9.\n";

#endif
