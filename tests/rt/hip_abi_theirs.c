/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * HIP's own numbers, for test_hip_abi. Our prototypes come second: where they
 * do not agree with HIP's, this does not compile.
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include "../../runtime/rt/hip_abi.h"

#define HIP_ROWS their_rows
#include "hip_abi_rows.h"
