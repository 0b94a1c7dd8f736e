/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libwavesmith_rt: what a program needs beside the emitted NAME.h and NAME.c
 * to run tuned kernels. It opens the driver at run time, HIP or CUDA as the
 * dispatch's target wants, loads code objects and launches on the caller's
 * stream. No allocation and no synchronisation on the launch path, so launches
 * can be captured into a graph.
 *
 * The library is, in this order: what the environment variable
 * WAVESMITH_HIP_LIBRARY (any library with HIP's ABI) or WAVESMITH_CUDA_LIBRARY
 * names, the one that the process has loaded already, then
 *   HIP   libamdhip64.so.7, .so.6, .so
 *   CUDA  libcuda.so.1, .so: the driver itself, without the CUDA runtime
 *
 * WAVESMITH_RT_MISSES=FILE logs the shapes that are launched and were not
 * tuned: no tuned shape is within a factor of 2^(1/2) in every dimension. Each
 * has a JSON object on a line,
 *   {"dispatch":"gemm","problem":"fp8_gemm_blockscale","layout":"kmajor",
 *    "target":"gfx942","shape":{"m":3,"n":576,"k":7168},"count":1,
 *    "nearest":{"m":16,"n":576,"k":7168},"factor":5.333}
 * at its launches number 1, 2, 4, 8, ... and at ws_rt_close. count: launches
 * since its last line, so the sum over lines, files and processes is what was
 * launched. nearest: the tuned shape with the least largest factor; a dispatch
 * from estimates has none, and logs all that it launches. A context keeps up to
 * 1024 shapes. Lines are appended by one write each; a file that cannot be
 * written is one warning on stderr, never an error of a call. Programs with
 * raised privileges do not look at the variable.
 *
 * C99 header; its layout is a schema: WS_RT_ABI_VERSION changes with it.
 */
#ifndef WAVESMITH_RT_H
#define WAVESMITH_RT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WS_RT_ABI_VERSION 4

/* Argument slots of a problem call, in the order of the problem's argument
 * table (the emitted header has its slots). */
#define WS_RT_MAX_ARGS 24
#define WS_RT_MAX_KERNEL_ARGS 64 /* of one kernel, tensor maps among them */

/* The explicit arguments of one launch, at most, in bytes. */
#define WS_RT_MAX_KERNARG_BYTES 2048

typedef struct ws_rt_kernarg {
  uint16_t slot;   /* index into the call's argument slots; of a tensor map:
                    * into the candidate's */
  uint16_t offset; /* bytes into the kernarg segment */
  uint16_t size;   /* 4: i32, 8: pointer, 128: tensor map */
} ws_rt_kernarg;

/* A shape is an array of the sizes of the problem's dimensions, in the order in
 * which the emitted header names them. */

/* A TMA descriptor (CUDA), made for each launch: row-major [outer][inner] at
 * the address in an argument slot, rows without gaps. */
#define WS_RT_TENSOR_MAP_BYTES 128
typedef struct ws_rt_tensor_map {
  uint16_t slot;          /* index into the call's argument slots, a pointer */
  uint16_t element_bytes; /* 1: u8, 2: bf16, 4: f32 */
  uint32_t box_inner, box_outer;
  uint32_t swizzle; /* bytes: 0 32 64 128 */
  /* Elements, inner first. */
  void (*extents)(const long long *shape, long long out_extents[2]);
} ws_rt_tensor_map;

/* One kernel launch of a candidate. The functions are emitted C: grid and
 * condition as functions of the shape. */
typedef struct ws_rt_launch {
  const char *kernel;
  uint32_t threads;
  uint32_t dynamic_lds;      /* bytes of shared memory given at launch */
  uint32_t kernarg_bytes;    /* explicit part */
  const ws_rt_kernarg *args; /* CUDA: all of them, in the kernel's order */
  uint32_t arg_count;
  int (*condition)(const long long *shape, long long cu_count);
  void (*grid)(const long long *shape, long long cu_count,
               long long out_grid[3]);
} ws_rt_launch;

typedef struct ws_rt_candidate {
  const char *id;                   /* candidate hash */
  const char *parameters;           /* "tile_m=128;..." for logs */
  const unsigned char *code_object; /* ELF, or PTX text that ends with NUL */
  size_t code_object_size;
  const ws_rt_tensor_map *tensor_maps;
  uint32_t tensor_map_count;
  const ws_rt_launch *launches;
  uint32_t launch_count;
  long long (*workspace_bytes)(const long long *shape, long long cu_count);
  int (*accepts)(const long long *shape);
} ws_rt_candidate;

/* The driver that runs a dispatch's target. */
enum { WS_RT_HIP = 1, WS_RT_CUDA = 2 };

typedef struct ws_rt_dispatch {
  uint32_t abi_version;
  uint32_t driver;
  const char *name, *problem, *layout, *target, *provenance;
  const ws_rt_candidate *candidates;
  uint32_t candidate_count;
  uint32_t arg_count;                    /* slots used */
  int (*select)(const long long *shape); /* -1: illegal shape */
  uint32_t dimension_count;
  const char *const *dimensions; /* names */
  const long long *tuned; /* [tuned_count][dimension_count]: the shapes with
                           * times that select was made from; NULL: none */
  uint32_t tuned_count;
} ws_rt_dispatch;

/* Results. */
enum {
  WS_RT_OK = 0,
  WS_RT_NO_DRIVER = 1,  /* no HIP or CUDA library, or no device in it */
  WS_RT_BAD_SHAPE = 2,  /* the shape is not legal for the problem */
  WS_RT_BAD_ABI = 3,    /* emitted for another WS_RT_ABI_VERSION */
  WS_RT_WRONG_ARCH = 4, /* the device is not the dispatch's target */
  WS_RT_DRIVER_ERROR = 5,
  WS_RT_WORKSPACE = 6, /* the workspace given is too small */
  WS_RT_ARGUMENT = 7,  /* an argument slot that a kernel reads is NULL, or the
                        * hardware takes no such tensor */
  WS_RT_OLD_DRIVER = 8 /* the kernels are PTX newer than the driver */
};
/* One line of words, never NULL. */
const char *ws_rt_result_text(int result);

typedef struct ws_rt_context ws_rt_context;

/* Opens the driver, checks the device's architecture and loads all code
 * objects (PTX is compiled now). On failure *out_context is NULL and message
 * (capacity message_size; NULL and 0 drop it) holds one line. The dispatch is
 * borrowed until ws_rt_close. The calling thread's current HIP device or CUDA
 * context is left as it was. CUDA: the kernels live in the thread's current
 * context if that is one of this device, which must then outlive ours, else in
 * the device's primary context. The context may then be used from any thread.
 */
int ws_rt_open(const ws_rt_dispatch *dispatch, int device,
               ws_rt_context **out_context, char *message, size_t message_size);
/* Unloads. Launches must have ended. NULL is allowed. */
void ws_rt_close(ws_rt_context *context);

/* The candidate that ws_rt_run launches for this shape; NULL: the shape is not
 * legal for the problem. */
const ws_rt_candidate *ws_rt_pick(const ws_rt_context *context,
                                  const long long *shape);

/* A function of the library that the context uses, so that a program that does
 * not link HIP or CUDA can allocate and copy through the very same library.
 * NULL when the library lacks it. */
void *ws_rt_symbol(const ws_rt_context *context, const char *name);

/* Bytes that ws_rt_run needs for this shape; 0 when none or not legal. */
size_t ws_rt_workspace_bytes(const ws_rt_context *context,
                             const long long *shape);

/* Picks a candidate and launches it on stream (a hipStream_t or CUstream, NULL:
 * default). slots[i] points at the value of argument i: a device pointer
 * (void *) or an int32_t; slots that the candidate's kernels do not read may be
 * NULL. workspace_bytes is the size of what the workspace argument points at.
 * Thread-safe; the calling thread's current HIP device or CUDA context is left
 * as it was. */
int ws_rt_run(const ws_rt_context *context, const long long *shape,
              const void *const *slots, size_t workspace_bytes, void *stream,
              char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
