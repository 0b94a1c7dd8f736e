/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * runtime/rt/cuda_abi.h was written from the documentation; here it is
 * compared with NVIDIA's own header: every constant, size and signature. The
 * compiler does most of it. Without that header there is nothing to compare.
 */
#if __has_include(<cuda.h>)
#include <cuda.h>
/* Handles by the driver's own names, so that signatures can be compared. */
#define ws_cu_context_of_driver CUctx_st
#define ws_cu_module_of_driver CUmod_st
#define ws_cu_function_of_driver CUfunc_st
#define ws_cu_stream_of_driver CUstream_st
#define ws_cu_event_of_driver CUevent_st
#define ws_cu_graph_of_driver CUgraph_st
#define ws_cu_graph_exec_of_driver CUgraphExec_st
#endif
#include "../../runtime/rt/cuda_abi.h"
#include "ws_test.h"

#ifdef CUDA_VERSION

_Static_assert(sizeof(ws_cu_uuid) == sizeof(CUuuid), "CUuuid");
_Static_assert(sizeof(ws_cu_tensor_map) == sizeof(CUtensorMap) &&
                   _Alignof(ws_cu_tensor_map) >= _Alignof(CUtensorMap),
               "CUtensorMap");
/* From here on in signatures. */
#define ws_cu_uuid CUuuid
#define ws_cu_tensor_map CUtensorMap

#define SAME_VALUE(name, value)                                                \
  _Static_assert((long long)name == (value), #name);
#define SAME_SIGNATURE(name, parameters)                                       \
  _Static_assert(                                                              \
      __builtin_types_compatible_p(__typeof__(name), ws_cu_result parameters), \
      #name);
WS_CU_ERRORS(SAME_VALUE)
WS_CU_CONSTANTS(SAME_VALUE)
WS_CU_FUNCTIONS(SAME_SIGNATURE)
WS_CU_OPTIONAL_FUNCTIONS(SAME_SIGNATURE)
WS_CU_CONTEXT_FUNCTIONS(SAME_SIGNATURE)

/* To get here is to pass. */
WS_TEST(same_as_cuda_h) {}

#else
WS_TEST(same_as_cuda_h) { WS_SKIP("cuda.h is not installed"); }
#endif
