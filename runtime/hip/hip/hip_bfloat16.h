/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include <hip/hip_bf16.h>
