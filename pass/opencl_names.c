/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions of OpenCL's library by their names: what a body, which is linked
 * with none, writes instead. tests/pass/test_splice.c compiles them.
 */
#include "opencl_names.h"

#include <stdlib.h>
#include <string.h>

/* prefix: of names that go on; instead: as it is to be written. */
static const struct replacement {
  const char *name, *instead;
  bool prefix;
} replacements[] = {
    {"fma", "__builtin_fmaf (vectors: __builtin_elementwise_fma)", false},
    {"mad", "__builtin_fmaf (vectors: __builtin_elementwise_fma)", false},
    {"min", "__builtin_elementwise_min", false},
    {"max", "__builtin_elementwise_max", false},
    {"fmin", "__builtin_elementwise_min", false},
    {"fmax", "__builtin_elementwise_max", false},
    {"clamp", "__builtin_elementwise_max and __builtin_elementwise_min", false},
    {"abs", "__builtin_elementwise_abs", false},
    {"fabs", "__builtin_fabsf (vectors: __builtin_elementwise_abs)", false},
    {"exp2", "__builtin_amdgcn_exp2f", false},
    {"native_exp2", "__builtin_amdgcn_exp2f", false},
    {"exp", "__builtin_amdgcn_exp2f(1.44269504f * x)", false},
    {"native_exp", "__builtin_amdgcn_exp2f(1.44269504f * x)", false},
    {"log2", "__builtin_amdgcn_logf", false},
    {"native_log2", "__builtin_amdgcn_logf", false},
    {"sqrt", "__builtin_amdgcn_sqrtf", false},
    {"native_sqrt", "__builtin_amdgcn_sqrtf", false},
    {"rsqrt", "__builtin_amdgcn_rsqf", false},
    {"native_rsqrt", "__builtin_amdgcn_rsqf", false},
    {"native_recip", "__builtin_amdgcn_rcpf", false},
    {"rint", "__builtin_rintf", false},
    {"floor", "__builtin_floorf", false},
    {"ceil", "__builtin_ceilf", false},
    {"trunc", "__builtin_truncf", false},
    {"popcount", "__builtin_popcount", false},
    {"clz", "__builtin_clz", false},
    {"mul24", "the operator *", false},
    {"mad24", "the operators * and +", false},
    {"select", "the operator ?:", false},
    {"convert_", "a cast (vectors: __builtin_convertvector(x, float4))", true},
    {"vload", "*(global const float4 *)p, p aligned to it", true},
    {"vstore", "*(global float4 *)p = x, p aligned to it", true},
    {"get_local_id", "__builtin_amdgcn_workitem_id_x() (y, z)", false},
    {"get_group_id", "__builtin_amdgcn_workgroup_id_x() (y, z)", false},
    {"barrier",
     "__builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"), "
     "__builtin_amdgcn_s_barrier(), "
     "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\")",
     false},
    {"work_group_barrier",
     "__builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\"), "
     "__builtin_amdgcn_s_barrier(), "
     "__builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\")",
     false},
    {"sub_group_shuffle", "__builtin_amdgcn_ds_bpermute(4 * lane, x)", true},
};

bool ws__opencl_name(const char *symbol, char *out_name, size_t size) {
  char *name;
  if (strncmp(symbol, "_Z", 2))
    return false;
  const unsigned long length = strtoul(symbol + 2, &name, 10);
  if (!length || length >= size || strlen(name) < length)
    return false;
  memcpy(out_name, name, length);
  out_name[length] = '\0';
  return true;
}

const char *ws__opencl_instead(const char *name) {
  for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++) {
    const struct replacement *r = &replacements[i];
    if (r->prefix ? !strncmp(name, r->name, strlen(r->name))
                  : !strcmp(name, r->name))
      return r->instead;
  }
  return NULL;
}
