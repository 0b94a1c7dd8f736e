/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Shapes far from all that were tuned, in a table of fixed size that threads
 * fill without waiting: an entry is free, claimed by one thread, then ready
 * for all. A shape that two threads enter at once may have two entries; their
 * counts are added by who reads the log, as are those of several processes.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* secure_getenv */
#endif
#include "misses.h"
#include "cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  ENTRIES = 1024, /* a power of two */
  PROBES = 32,    /* entries that a shape may have, from its hash on */
  LINE_BYTES = 4096
};

enum { FREE, CLAIMED, READY };

typedef struct entry {
  _Atomic int state;
  atomic_ullong count; /* launches */
  long long nearest;   /* index of a tuned shape; -1: none was tuned */
  double factor;
} entry;

struct ws__misses {
  const ws_rt_dispatch *dispatch;
  int file;
  _Atomic int spoilt; /* nothing more is written */
  entry entries[ENTRIES];
  long long sizes[]; /* [ENTRIES][dimension_count] */
};

/* One line, whoever comes first. */
static void warn(const char *format, ...) {
  static atomic_flag warned = ATOMIC_FLAG_INIT;
  char text[512];
  if (atomic_flag_test_and_set(&warned))
    return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "wavesmith: WAVESMITH_RT_MISSES: %s\n", text);
}

/* ---- distance ---- */

/* Half an octave: sizes are tuned at powers of two, and what lies between two
 * of them is this near to one. */
static const double near_factor = 1.4142135623730951;

/* The largest factor between a size of one and of the other. */
static double factor_between(const long long *a, const long long *b,
                             uint32_t count) {
  double largest = 1;
  for (uint32_t i = 0; i < count; i++) {
    double ratio = (double)a[i] / (double)b[i];
    ratio = ratio < 1 ? 1 / ratio : ratio;
    largest = ratio > largest ? ratio : largest;
  }
  return largest;
}

static double find_nearest(const ws_rt_dispatch *dispatch,
                           const long long *shape, long long *out_index) {
  const uint32_t count = dispatch->dimension_count;
  double nearest = 0;
  *out_index = -1;
  for (uint32_t i = 0; i < dispatch->tuned_count; i++) {
    double factor =
        factor_between(shape, dispatch->tuned + (size_t)i * count, count);
    if (*out_index < 0 || factor < nearest) {
      nearest = factor;
      *out_index = i;
    }
  }
  return nearest;
}

/* ---- lines ---- */

typedef struct line {
  char text[LINE_BYTES];
  size_t length; /* from LINE_BYTES on: it does not fit */
} line;

static void put(line *out, const char *format, ...) {
  if (out->length >= sizeof out->text)
    return;
  va_list arguments;
  va_start(arguments, format);
  out->length +=
      (size_t)vsnprintf(out->text + out->length, sizeof out->text - out->length,
                        format, arguments);
  va_end(arguments);
}

static void put_text(line *out, const char *text) {
  put(out, "\"");
  for (; *text; text++)
    if ((unsigned char)*text < ' ')
      put(out, "\\u%04x", (unsigned)(unsigned char)*text);
    else
      put(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
  put(out, "\"");
}

static void put_member(line *out, const char *key, const char *text) {
  put(out, ",\"%s\":", key);
  put_text(out, text);
}

static void put_shape(line *out, const char *key,
                      const ws_rt_dispatch *dispatch, const long long *sizes) {
  put(out, ",\"%s\":{", key);
  for (uint32_t i = 0; i < dispatch->dimension_count; i++) {
    put(out, i ? "," : "");
    put_text(out, dispatch->dimensions[i]);
    put(out, ":%lld", sizes[i]);
  }
  put(out, "}");
}

/* Whether the limit on the size of files, which ends a process by SIGXFSZ,
 * leaves room. */
static int has_room(int file, size_t length) {
  struct stat now;
  struct rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) || fstat(file, &now) ||
         limit.rlim_cur == RLIM_INFINITY ||
         (rlim_t)now.st_size + length <= limit.rlim_cur;
}

/* One write, so that lines of several threads and processes do not mix. What is
 * written in part spoils the next line, so that is the last. */
static void write_line(ws__misses *misses, const line *text) {
  if (text->length >= sizeof text->text || atomic_load(&misses->spoilt))
    return;
  const int before = errno;
  errno = EFBIG;
  ssize_t written = has_room(misses->file, text->length)
                        ? write(misses->file, text->text, text->length)
                        : -1;
  if (written != (ssize_t)text->length) {
    atomic_store(&misses->spoilt, 1);
    warn("%s; no more shapes are logged",
         written < 0 ? strerror(errno) : "a line was written in part");
  }
  errno = before;
}

static void write_count(ws__misses *misses, int32_t miss,
                        unsigned long long count) {
  const ws_rt_dispatch *dispatch = misses->dispatch;
  const uint32_t dims = dispatch->dimension_count;
  const entry *of = &misses->entries[miss];
  line text = {.length = 0};
  put(&text, "{\"dispatch\":");
  put_text(&text, dispatch->name);
  put_member(&text, "problem", dispatch->problem);
  put_member(&text, "layout", dispatch->layout);
  put_member(&text, "target", dispatch->target);
  put_shape(&text, "shape", dispatch, misses->sizes + (size_t)miss * dims);
  put(&text, ",\"count\":%llu", count);
  if (of->nearest >= 0) {
    put_shape(&text, "nearest", dispatch,
              dispatch->tuned + (size_t)of->nearest * dims);
    put(&text, ",\"factor\":%.4g", of->factor);
  }
  put(&text, "}\n");
  write_line(misses, &text);
}

/* ---- the table ---- */

/* A pipe might block, or end the process. */
static int open_file(const char *path) {
  int file =
      open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  struct stat found;
  if (file < 0 || (!fstat(file, &found) && S_ISREG(found.st_mode)))
    return file;
  close(file);
  errno = EINVAL;
  return -1;
}

ws__misses *ws__misses_open(const ws_rt_dispatch *dispatch) {
  /* A program with raised privileges writes no files for its user. */
  const char *path = secure_getenv("WAVESMITH_RT_MISSES");
  if (!path || !path[0])
    return NULL;
  int file = open_file(path);
  if (file < 0) {
    warn("%s: %s; no shapes are logged", path,
         errno == EINVAL ? "not a regular file" : strerror(errno));
    return NULL;
  }
  ws__misses *misses =
      calloc(1, sizeof *misses + (size_t)ENTRIES * dispatch->dimension_count *
                                     sizeof misses->sizes[0]);
  if (!misses) {
    warn("out of memory; no shapes are logged");
    close(file);
    return NULL;
  }
  misses->dispatch = dispatch;
  misses->file = file;
  return misses;
}

static unsigned long long largest_power(unsigned long long count) {
  while (count & (count - 1))
    count &= count - 1;
  return count;
}

void ws__misses_close(ws__misses *misses) {
  if (!misses)
    return;
  for (int32_t i = 0; i < ENTRIES; i++) {
    unsigned long long count = atomic_load(&misses->entries[i].count);
    if (count > largest_power(count))
      write_count(misses, i, count - largest_power(count));
  }
  close(misses->file);
  free(misses);
}

int32_t ws__misses_find(ws__misses *misses, const long long *shape) {
  if (!misses)
    return -1;
  const ws_rt_dispatch *dispatch = misses->dispatch;
  const uint32_t dims = dispatch->dimension_count;
  long long nearest;
  double factor = find_nearest(dispatch, shape, &nearest);
  if (nearest >= 0 && factor <= near_factor)
    return -1;
  const uint64_t hash = ws__shape_hash(shape, dims);
  for (uint64_t probe = 0; probe < PROBES; probe++) {
    int32_t index = (int32_t)((hash + probe) % ENTRIES);
    entry *at = &misses->entries[index];
    long long *sizes = misses->sizes + (size_t)index * dims;
    int state = atomic_load_explicit(&at->state, memory_order_acquire);
    if (state == FREE &&
        atomic_compare_exchange_strong(&at->state, &state, CLAIMED)) {
      memcpy(sizes, shape, dims * sizeof *sizes);
      at->nearest = nearest;
      at->factor = factor;
      atomic_store_explicit(&at->state, READY, memory_order_release);
      return index;
    }
    if (state == READY && !memcmp(sizes, shape, dims * sizeof *sizes))
      return index;
  }
  warn("more shapes than the table holds; some are not logged");
  return -1;
}

/* At 1, 2, 4, 8, ... launches, so that a process that is killed has told half
 * of them at least, and one that serves for days writes little. */
void ws__misses_count(ws__misses *misses, int32_t miss) {
  if (!misses || miss < 0)
    return;
  unsigned long long count =
      1 + atomic_fetch_add(&misses->entries[miss].count, 1);
  if (count == largest_power(count))
    write_count(misses, miss, count - count / 2);
}
