/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Threads of a kernel as fibers: one scheduler lets one at a time go on.
 * ucontext gives a fiber its stack; after that setjmp and longjmp change
 * between them, for each swapcontext is a system call.
 */
#ifndef WAVESMITH_HOST_FIBER_H
#define WAVESMITH_HOST_FIBER_H

#include <setjmp.h>
#include <stdbool.h>
#include <ucontext.h>

typedef struct fiber {
  ucontext_t start;
  jmp_buf at;
  bool started;
} fiber;

static jmp_buf fiber_scheduler;

/* Will run body, which must not return, on the stack. */
static inline void fiber_make(fiber *f, void (*body)(void), char *stack,
                              size_t stack_bytes) {
  f->started = false;
  getcontext(&f->start);
  f->start.uc_stack.ss_sp = stack;
  f->start.uc_stack.ss_size = stack_bytes;
  makecontext(&f->start, body, 0);
}

/* The scheduler's: returns when the fiber yields. */
static inline void fiber_go_on(fiber *f) {
  if (_setjmp(fiber_scheduler))
    return;
  if (f->started)
    _longjmp(f->at, 1);
  f->started = true;
  setcontext(&f->start);
}

/* The fiber's own: returns when the scheduler lets it go on. */
static inline void fiber_yield(fiber *f) {
  if (!_setjmp(f->at))
    _longjmp(fiber_scheduler, 1);
}

#endif
