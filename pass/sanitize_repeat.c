/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Operands that are too large to exist: one piece of a few megabytes is mapped
 * again and again, read-only, so that several gigabytes cost the memory of the
 * piece. Reference and kernel read the same addresses. The piece is a prime
 * number of pages long: an offset that lost its upper bits at 2^31 or 2^32 does
 * not find the same contents by chance.
 */
#include "sanitize_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 1021 * PAGE };

/* A shape of which the argument has a piece's bytes at least. */
static ws_shape shape_of_piece(const ws_problem *problem, int arg, int layout) {
  ws_shape shape = problem->block;
  while (ws_problem_arg_bytes(problem, arg, &shape, layout) < PIECE)
    for (int i = 0; i < shape.dims->count; i++)
      shape.size[i] *= 2;
  return shape;
}

/* A file in memory that holds the piece; -1: the host has none. */
static int make_piece(const ws_problem *problem, int arg, int layout,
                      uint64_t seed) {
  ws_shape shape = shape_of_piece(problem, arg, layout);
  char *contents =
      malloc((size_t)ws_problem_arg_bytes(problem, arg, &shape, layout));
  int file = memfd_create("operand", MFD_CLOEXEC);
  WS_ASSERT(contents);
  ws_problem_generate(problem, arg, &shape, layout, seed, contents);
  errno = 0;
  if (file >= 0 && write(file, contents, PIECE) != PIECE) {
    fprintf(stderr, "fatal error: no room for an operand: %s\n",
            strerror(errno ? errno : EFBIG)); /* a limit cuts a write short */
    close(file);
    file = -1;
  }
  free(contents);
  return file;
}

void *ws__memory_repeat(const ws_problem *problem, int arg, int layout,
                        uint64_t seed, int64_t size) {
  int file = make_piece(problem, arg, layout, seed);
  char *data = ws__memory_allocate(size, problem->alignment);
  char *begin = (char *)((uintptr_t)data / PAGE * PAGE);
  size_t bytes = (size_t)(data - begin) + (size_t)size;
  WS_ASSERT(file >= 0);
  for (size_t at = 0; at < bytes; at += PIECE) {
    size_t left = bytes - at;
    void *mapped = mmap(begin + at, left < PIECE ? left : PIECE, PROT_READ,
                        MAP_SHARED | MAP_FIXED, file, 0);
    WS_ASSERT(mapped == begin + at);
  }
  close(file);
  return data;
}
