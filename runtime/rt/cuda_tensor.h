/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How a template's tensor map becomes a TMA descriptor: once for the device
 * layer, which times kernels, and for runtime/rt, which ships them.
 */
#ifndef WAVESMITH_DEVICE_CUDA_TENSOR_H
#define WAVESMITH_DEVICE_CUDA_TENSOR_H

#include "cuda_abi.h"

/* A dense row-major matrix [outer][inner]; box and swizzle as in
 * ws_device_tensor and ws_rt_tensor_map. */
typedef struct ws__cu_matrix {
  void *address;
  unsigned element_bytes;
  uint64_t inner, outer;
  uint32_t box_inner, box_outer, swizzle;
} ws__cu_matrix;

/* -1: there is none. */
static inline int ws__cu_data_type(unsigned element_bytes) {
  return element_bytes == 1   ? WS_CU_TENSOR_MAP_DATA_TYPE_UINT8
         : element_bytes == 2 ? WS_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
         : element_bytes == 4 ? WS_CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                              : -1;
}

static inline int ws__cu_swizzle(uint32_t bytes) {
  return bytes == 0     ? WS_CU_TENSOR_MAP_SWIZZLE_NONE
         : bytes == 32  ? WS_CU_TENSOR_MAP_SWIZZLE_32B
         : bytes == 64  ? WS_CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 128 ? WS_CU_TENSOR_MAP_SWIZZLE_128B
                        : -1;
}

#define WS__CU_TYPE(name, parameters)                                          \
  typedef ws_cu_result ws__##name parameters;
WS_CU_OPTIONAL_FUNCTIONS(WS__CU_TYPE)
#undef WS__CU_TYPE

/* Of a matrix of one row, which has none, what the driver takes. */
static inline uint64_t ws__cu_row_stride(const ws__cu_matrix *matrix) {
  const uint64_t bytes = matrix->inner * matrix->element_bytes;
  return matrix->outer == 1 ? (bytes + 15) / 16 * 16 : bytes;
}

/* encode is the driver's function. */
static inline ws_cu_result ws__cu_encode(ws__cuTensorMapEncodeTiled *encode,
                                         const ws__cu_matrix *matrix,
                                         ws_cu_tensor_map *out_map) {
  const uint64_t sizes[] = {matrix->inner, matrix->outer};
  const uint64_t strides[] = {ws__cu_row_stride(matrix)};
  const uint32_t box[] = {matrix->box_inner, matrix->box_outer};
  const uint32_t element_strides[] = {1, 1};
  return encode(out_map, (unsigned)ws__cu_data_type(matrix->element_bytes), 2,
                matrix->address, sizes, strides, box, element_strides,
                WS_CU_TENSOR_MAP_INTERLEAVE_NONE,
                (unsigned)ws__cu_swizzle(matrix->swizzle),
                WS_CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                WS_CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

#endif
