/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * libwavesmith_rt: what a program needs beside the emitted NAME.h and NAME.c
 * to run tuned kernels. It opens a HIP library at run time, loads code objects
 * and launches on the caller's stream. No allocation and no synchronisation on
 * the launch path, so launches can be captured into a HIP graph.
 *
 * The HIP library is, in this order: what the environment variable
 * WAVESMITH_HIP_LIBRARY names (any library with HIP's ABI), the one that the
 * process has loaded already, libamdhip64.so.7, .so.6, .so.
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

#define WS_RT_ABI_VERSION 1

/* Argument slots of a problem call, in the order of the problem's argument
 * table (for fp8_gemm_blockscale see problem.h and the emitted header). */
#define WS_RT_MAX_ARGS 24

typedef struct ws_rt_kernarg {
  uint16_t slot;   /* index into the call's argument slots */
  uint16_t offset; /* bytes into the kernarg segment */
  uint16_t size;   /* 4: i32, 8: pointer */
} ws_rt_kernarg;

/* One kernel launch of a candidate. The functions are emitted C: grid and
 * condition as functions of the shape. */
typedef struct ws_rt_launch {
  const char *kernel;
  uint32_t threads;
  uint32_t kernarg_bytes; /* explicit part */
  const ws_rt_kernarg *args;
  uint32_t arg_count;
  int (*condition)(long long m, long long n, long long k, long long cu_count);
  void (*grid)(long long m, long long n, long long k, long long cu_count,
               long long out_grid[3]);
} ws_rt_launch;

typedef struct ws_rt_candidate {
  const char *id;         /* candidate hash */
  const char *parameters; /* "tile_m=128;..." for logs */
  const unsigned char *code_object;
  size_t code_object_size;
  const ws_rt_launch *launches;
  uint32_t launch_count;
  long long (*workspace_bytes)(long long m, long long n, long long k,
                               long long cu_count);
  int (*accepts)(long long m, long long n, long long k);
} ws_rt_candidate;

typedef struct ws_rt_dispatch {
  uint32_t abi_version;
  const char *name, *problem, *layout, *target, *provenance;
  const ws_rt_candidate *candidates;
  uint32_t candidate_count;
  uint32_t arg_count;            /* slots used */
  int (*select)(long long m, long long n, long long k); /* -1: illegal shape */
} ws_rt_dispatch;

/* Results. */
enum {
  WS_RT_OK = 0,
  WS_RT_NO_HIP = 1,     /* no HIP library, or no device in it */
  WS_RT_BAD_SHAPE = 2,  /* the shape is not legal for the problem */
  WS_RT_BAD_ABI = 3,    /* emitted for another WS_RT_ABI_VERSION */
  WS_RT_WRONG_ARCH = 4, /* the device is not the dispatch's target */
  WS_RT_HIP_ERROR = 5,
  WS_RT_WORKSPACE = 6,  /* the workspace given is too small */
  WS_RT_ARGUMENT = 7    /* an argument slot that a kernel reads is NULL */
};
/* One line of words, never NULL. */
const char *ws_rt_result_text(int result);

typedef struct ws_rt_context ws_rt_context;

/* Opens HIP, checks the device's architecture and loads all code objects.
 * On failure *out_context is NULL and message (capacity message_size; NULL
 * and 0 drop it) holds one line. The dispatch is borrowed until ws_rt_close.
 * The caller's current HIP device is left as it was. The context may then be
 * used from any thread. */
int ws_rt_open(const ws_rt_dispatch *dispatch, int device,
               ws_rt_context **out_context, char *message,
               size_t message_size);
/* Unloads. Launches must have ended. NULL is allowed. */
void ws_rt_close(ws_rt_context *context);

/* The candidate that ws_rt_run launches for this shape; NULL: the shape is not
 * legal for the problem. */
const ws_rt_candidate *ws_rt_pick(const ws_rt_context *context, long long m,
                                  long long n, long long k);

/* A function of the HIP library that the context uses, so that a program that
 * does not link HIP can allocate and copy through the very same library. NULL
 * when the library lacks it. */
void *ws_rt_hip_symbol(const ws_rt_context *context, const char *name);

/* Bytes that ws_rt_run needs for this shape; 0 when none or not legal. */
size_t ws_rt_workspace_bytes(const ws_rt_context *context, long long m,
                             long long n, long long k);

/* Picks a candidate and launches it on stream (a hipStream_t, NULL: default).
 * slots[i] points at the value of argument i: a device pointer (void *) or an
 * int32_t; slots that the candidate's kernels do not read may be NULL.
 * workspace_bytes is the size of what the workspace argument points at.
 * Thread-safe; the calling thread's current HIP device is left as it was. */
int ws_rt_run(const ws_rt_context *context, long long m, long long n,
              long long k, const void *const *slots, size_t workspace_bytes,
              void *stream, char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
#endif
