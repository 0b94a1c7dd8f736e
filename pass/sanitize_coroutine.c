/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The register switch. The layout that ws__coroutine_prepare writes is the one
 * that the switch pops: six callee-saved registers, then the return address.
 */
#include "sanitize_coroutine.h"

#include <stdint.h>

#ifdef __x86_64__

void ws__coroutine_registers(void **save, void *resume);
__asm__(".text\n"
        ".p2align 4\n"
        ".globl ws__coroutine_registers\n"
        ".hidden ws__coroutine_registers\n"
        ".type ws__coroutine_registers, @function\n"
        "ws__coroutine_registers:\n"
        "  push %rbp\n"
        "  push %rbx\n"
        "  push %r12\n"
        "  push %r13\n"
        "  push %r14\n"
        "  push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15\n"
        "  pop %r14\n"
        "  pop %r13\n"
        "  pop %r12\n"
        "  pop %rbx\n"
        "  pop %rbp\n"
        "  ret\n"
        ".size ws__coroutine_registers, . - ws__coroutine_registers\n");

void ws__coroutine_prepare(ws_coroutine *coroutine, char *stack, size_t size,
                           void (*entry)(void)) {
  void **top = (void **)((uintptr_t)(stack + size) & ~(uintptr_t)15);
  *--top = NULL; /* entry's return address; keeps the call alignment */
  *--top = (void *)(uintptr_t)entry;
  for (int i = 0; i < 6; i++)
    *--top = NULL;
  coroutine->stack_pointer = top;
}

void ws__coroutine_switch(ws_coroutine *from, const ws_coroutine *to) {
  ws__coroutine_registers(&from->stack_pointer, to->stack_pointer);
}

#else

void ws__coroutine_prepare(ws_coroutine *coroutine, char *stack, size_t size,
                           void (*entry)(void)) {
  getcontext(&coroutine->context);
  coroutine->context.uc_stack.ss_sp = stack;
  coroutine->context.uc_stack.ss_size = size;
  coroutine->context.uc_link = NULL;
  makecontext(&coroutine->context, entry, 0);
}

void ws__coroutine_switch(ws_coroutine *from, const ws_coroutine *to) {
  swapcontext(&from->context, &to->context);
}

#endif
