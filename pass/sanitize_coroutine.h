/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Coroutines on stacks of the caller: a lane of a wave is one. On x86-64 a
 * switch saves the callee-saved registers only (swapcontext costs about twenty
 * times as much: two system calls for the signal mask; research/emulation.md
 * section 3); elsewhere ucontext does it.
 */
#ifndef WAVESMITH_SANITIZE_COROUTINE_H
#define WAVESMITH_SANITIZE_COROUTINE_H

#include <stddef.h>

#ifdef __x86_64__
typedef struct ws_coroutine {
  void *stack_pointer;
} ws_coroutine;
#else
#include <ucontext.h>
typedef struct ws_coroutine {
  ucontext_t context;
} ws_coroutine;
#endif

/* entry must not return; it switches away for good. */
void ws__coroutine_prepare(ws_coroutine *coroutine, char *stack, size_t size,
                           void (*entry)(void));
void ws__coroutine_switch(ws_coroutine *from, const ws_coroutine *to);

#endif
