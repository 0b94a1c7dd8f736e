/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Ctrl-C: the first asks the session to end, a second ends the process as ever.
 */
#include "session.h"

#include <signal.h>

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

static const int interrupt_signals[] = {SIGINT, SIGTERM};
enum { SIGNAL_COUNT = sizeof interrupt_signals / sizeof interrupt_signals[0] };
static struct sigaction before[SIGNAL_COUNT];

static void on_interrupt(int signal_number) {
  interrupted = signal_number;
}

void ws__signals_catch(void) {
  struct sigaction action = {.sa_handler = on_interrupt,
                             .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  interrupted = 0;
  for (int i = 0; i < SIGNAL_COUNT; i++)
    sigaction(interrupt_signals[i], &action, &before[i]);
}

void ws__signals_restore(void) {
  for (int i = 0; i < SIGNAL_COUNT; i++)
    sigaction(interrupt_signals[i], &before[i], NULL);
}

int ws__signals_interrupted(void) { return interrupted; }
