/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "job_place.h"

#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>

static struct rlimit before;

ws_job_place *ws__job_place(void) {
  static ws_job_place *shared;
  if (shared)
    return shared;
  void *memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory != MAP_FAILED)
    shared = memory;
  return shared;
}

void ws__job_place_enter(const char *file) {
  ws_job_place *place = ws__job_place();
  struct rusage used;
  if (!place || getrlimit(RLIMIT_CPU, &before) != 0 ||
      getrusage(RUSAGE_SELF, &used) != 0)
    return;
  ws__job_place_begin(place, file);
  const rlim_t end = (rlim_t)used.ru_utime.tv_sec +
                     (rlim_t)used.ru_stime.tv_sec + WS_JOB_PLACE_SECONDS + 1;
  if (before.rlim_cur != RLIM_INFINITY && end < before.rlim_cur)
    setrlimit(RLIMIT_CPU, &(struct rlimit){end, before.rlim_max});
}

void ws__job_place_leave(void) {
  ws_job_place *place = ws__job_place();
  if (!place || !place->line)
    return;
  place->line = 0;
  setrlimit(RLIMIT_CPU, &before);
}
