/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Server-sent events, as all three vendors stream replies.
 */
#ifndef WAVESMITH_LLM_SSE_H
#define WAVESMITH_LLM_SSE_H

#include <stdbool.h>
#include <stddef.h>

/* Calls visit with the data of each whole event until it returns false. An
 * event that its blank line does not end is dropped, as the standard says. */
void ws__sse_each(const char *stream, size_t size,
                  bool (*visit)(const char *data, size_t size, void *context),
                  void *context);

#endif
