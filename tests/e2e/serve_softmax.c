/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A server as far as misses.sh needs one: launches softmax on the shapes of its
 * arguments, ROWS,COLS,TIMES each, through an emitted dispatch.
 */
#include "softmax.h" /* emitted */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(int ok, const char *what) {
  if (!ok) {
    fprintf(stderr, "serve: %s\n", what);
    exit(3);
  }
}

static void launch(const ws_rt_context *context, int32_t rows, int32_t cols,
                   int times) {
  char message[256];
  int (*allocate)(void **, size_t);
  int (*release)(void *);
  void *x, *y, *function = ws_rt_symbol(context, "hipMalloc");
  memcpy(&allocate, &function, sizeof function);
  function = ws_rt_symbol(context, "hipFree");
  memcpy(&release, &function, sizeof function);
  const size_t bytes = (size_t)rows * (size_t)cols * 2;
  need(!allocate(&x, bytes) && !allocate(&y, bytes), "no memory");
  const long long shape[] = {rows, cols};
  const void *const slots[SOFTMAX_ARG_COUNT] = {[SOFTMAX_ARG_X] = &x,
                                                [SOFTMAX_ARG_Y] = &y,
                                                [SOFTMAX_ARG_ROWS] = &rows,
                                                [SOFTMAX_ARG_COLS] = &cols};
  need(ws_rt_workspace_bytes(context, shape) == 0, "it wants a workspace");
  for (int i = 0; i < times; i++)
    need(!ws_rt_run(context, shape, slots, 0, NULL, message, sizeof message),
         message);
  need(!release(x) && !release(y), "memory is lost");
}

int main(int argc, char **argv) {
  char message[256];
  ws_rt_context *context;
  need(!ws_rt_open(&softmax, 0, &context, message, sizeof message), message);
  for (int i = 1; i < argc; i++) {
    int rows, cols, times;
    need(sscanf(argv[i], "%d,%d,%d", &rows, &cols, &times) == 3,
         "wanted are ROWS,COLS,TIMES");
    launch(context, rows, cols, times);
  }
  ws_rt_close(context);
  return 0;
}
