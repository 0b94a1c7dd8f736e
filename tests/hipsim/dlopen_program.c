/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program that links neither HIP nor LLVM and opens a HIP library itself, as
 * the evaluator's device does. dlopen_program LIBRARY KERNELS.co
 */
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS(X)                                                           \
  X(hipInit)                                                                   \
  X(hipMalloc)                                                                 \
  X(hipMemcpy)                                                                 \
  X(hipModuleLoad)                                                             \
  X(hipModuleGetFunction)                                                      \
  X(hipModuleLaunchKernel)                                                     \
  X(hipDeviceSynchronize)
#define POINTER(name) static __typeof__(name) *p_##name;
FUNCTIONS(POINTER)

static int find_all(void *library) {
#define FIND(name)                                                             \
  do {                                                                         \
    void *found = dlsym(library, #name);                                       \
    if (!found)                                                                \
      return 0;                                                                \
    memcpy(&p_##name, &found, sizeof found);                                   \
  } while (0);
  FUNCTIONS(FIND)
  return 1;
}

int main(int argc, char **argv) {
  enum { N = 256 };
  unsigned words[N], got[N];
  void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (!library || !find_all(library)) {
    fprintf(stderr, "dlopen_program: %s\n", argc == 3 ? dlerror() : "usage");
    return 3;
  }
  for (unsigned i = 0; i < N; i++)
    words[i] = i * i;
  void *data = NULL;
  hipModule_t module = NULL;
  hipFunction_t reverse = NULL;
  void *params[] = {&data};
  int failed = p_hipInit(0) || p_hipMalloc(&data, sizeof words) ||
               p_hipMemcpy(data, words, sizeof words, hipMemcpyDefault) ||
               p_hipModuleLoad(&module, argv[2]) ||
               p_hipModuleGetFunction(&reverse, module, "reverse") ||
               p_hipModuleLaunchKernel(reverse, 1, 1, 1, N, 1, 1, sizeof words,
                                       NULL, params, NULL) ||
               p_hipDeviceSynchronize() ||
               p_hipMemcpy(got, data, sizeof got, hipMemcpyDefault);
  for (unsigned i = 0; i < N && !failed; i++)
    failed = got[i] != (N - 1 - i) * (N - 1 - i);
  puts(failed ? "failed" : "dlopen program: all as expected");
  return failed;
}
