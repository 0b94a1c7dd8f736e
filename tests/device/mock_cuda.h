/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What tests ask of mock_cuda.c, by dlsym.
 */
#ifndef WS_MOCK_CUDA_H
#define WS_MOCK_CUDA_H

/* Calls since the last mock_cuda_clear, one a line with their arguments;
 * handles are numbers in the order of creation, "m1" the first module. */
const char *mock_cuda_log(void);
void mock_cuda_clear(void);
/* Memory, modules, streams, events, graphs and contexts that are still held. */
int mock_cuda_live(void);

#endif
