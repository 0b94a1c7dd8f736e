/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef WAVESMITH_PASS_OPENCL_NAMES_H
#define WAVESMITH_PASS_OPENCL_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The name that a function has in the source, of a symbol as the OpenCL
 * compiler writes it ("_Z3fmafff": "fma"). False: it is no such symbol, or its
 * name is longer than fits. */
bool ws__opencl_name(const char *symbol, char *out_name, size_t size);
/* What stands in its place in a body, which has no library; NULL: nothing is
 * known. */
const char *ws__opencl_instead(const char *name);

#endif
