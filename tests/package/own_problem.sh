#!/usr/bin/env bash
# A problem of the user's in a user's build: its archive committed as text, a
# CMake project that knows the problem's C file, and a program that runs the
# dispatch, here on the simulator, and compares by itself.
#   own_problem.sh BUILD_DIR
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/package/expect.sh
source "$(dirname "$0")/expect.sh"
export WAVESMITH_CACHE=$work/cache
PATH=$build/bin:$PATH
cd "$work"
quietly wavesmith new row_scale
quietly wavesmith tune row_scale/naive.ll --problem row_scale/row_scale.c --device estimate \
  --evaluations 4 --seed 2 --archive tune.db
quietly wavesmith archive export tune.db project/archive --best 2
expect 1 "there is no problem 'row_scale'; name its file with --problem" wavesmith archive import other.db project/archive
cp row_scale/row_scale.c project/
cat >project/CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.20)
project(own LANGUAGES C)
find_package(wavesmith CONFIG REQUIRED)
wavesmith_add_kernels(NAME row_scale ARCHIVE archive PROBLEM row_scale.c)
add_executable(own main.c)
target_link_libraries(own PRIVATE row_scale)
CMAKE
cat >project/main.c <<'C'
#include "row_scale.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint16_t bf16(float value) { /* of values that it holds */
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

int main(void) {
  enum { ROWS = 3, COLS = 264, COUNT = ROWS * COLS };
  static uint16_t x[COUNT], y[COUNT];
  static float scale[COLS];
  const long long shape[] = {ROWS, COLS}, illegal[] = {ROWS, COLS + 1};
  const int rows = ROWS, cols = COLS;
  char message[256] = "";
  ws_rt_context *context;
  int (*allocate)(void **, size_t), (*copy)(void *, const void *, size_t, int);
  int wrong = 0;
  if (ws_rt_open(&row_scale, 0, &context, message, sizeof message) != WS_RT_OK)
    return fprintf(stderr, "%s\n", message), 3;
  void *symbols[] = {ws_rt_symbol(context, "hipMalloc"), ws_rt_symbol(context, "hipMemcpy")};
  memcpy(&allocate, &symbols[0], sizeof allocate);
  memcpy(&copy, &symbols[1], sizeof copy);
  for (int i = 0; i < COUNT; i++)
    x[i] = bf16((float)(i % 61 - 30));
  for (int i = 0; i < COLS; i++)
    scale[i] = i % 2 ? 0.5f : -2;
  void *dx, *dy, *dscale;
  if (allocate(&dx, sizeof x) || allocate(&dy, sizeof y) || allocate(&dscale, sizeof scale) ||
      copy(dx, x, sizeof x, 1) || copy(dscale, scale, sizeof scale, 1))
    return 3;
  const void *slots[ROW_SCALE_ARG_COUNT] = {[ROW_SCALE_ARG_X] = &dx,       [ROW_SCALE_ARG_Y] = &dy,
                                            [ROW_SCALE_ARG_SCALE] = &dscale, [ROW_SCALE_ARG_ROWS] = &rows,
                                            [ROW_SCALE_ARG_COLS] = &cols};
  if (ws_rt_run(context, shape, slots, 0, NULL, message, sizeof message) != WS_RT_OK)
    return fprintf(stderr, "%s\n", message), 1;
  if (copy(y, dy, sizeof y, 2))
    return 3;
  for (int i = 0; i < COUNT; i++)
    wrong += y[i] != bf16((float)(i % 61 - 30) * scale[i % COLS]);
  if (row_scale_select(ROWS, COLS + 1) != -1 || ws_rt_pick(context, illegal))
    return fprintf(stderr, "an illegal shape has a kernel\n"), 1;
  printf("%d of %d wrong\n", wrong, (int)COUNT);
  return wrong != 0;
}
C
quietly cmake -S project -B made -G Ninja -Dwavesmith_DIR="$build/package"
quietly cmake --build made
export WAVESMITH_HIP_LIBRARY
WAVESMITH_HIP_LIBRARY=$(find "$build" -name libwavesmith_hipsim.so | head -1)
expect 0 '^0 of 792 wrong' made/own
# the problem's file is an input of the build
sed -i 's/cols % 8 == 0/cols % 16 == 0/' project/row_scale.c
quietly cmake --build made
expect 1 'rows=3 cols=264 is not a legal shape of row_scale' made/own
