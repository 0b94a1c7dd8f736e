/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From faults to findings: one per site and kind, with the cure, and the
 * signals that a kernel's code can raise (a wild private pointer, a division
 * by zero, no end). A signal handler leaves the lane by a jump to the
 * scheduler, so it does nothing that could be under way in it; the finding is
 * made after the jump.
 */
#include "sanitize_internal.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static const struct {
  const char *id, *cure;
  bool stops;
} faults[] = {
#define WS_FAULT_ROW(name, id, stops, cure) {id, cure, stops},
    WS_FAULT_MAP(WS_FAULT_ROW)
#undef WS_FAULT_ROW
};

/* Not to be left by a jump: the arena may be half way through an allocation. */
static volatile sig_atomic_t reporting;

static void add_finding(ws_fault fault, const ws_site *site, const char *text) {
  const ws_sanitizer *sanitizer = &ws__sanitizer;
  const ws_launch *launch = sanitizer->launch;
  bool imported = launch && launch->source_line;
  int launch_line = imported ? launch->source_line : launch ? launch->line : 0;
  ws_finding *added = ws_findings_add(
      sanitizer->findings, faults[fault].id, site ? site->region : "",
      site       ? site->file
      : imported ? sanitizer->tmpl->source_file
                 : sanitizer->tmpl->file,
      site ? site->line : launch_line, "%s; %s", text, faults[fault].cure);
  if (added && site)
    added->column = site->column;
}

void ws__fault(ws_fault fault, ws_site *site, const char *format, ...) {
  bool known = site && (site->reported >> fault & 1);
  if (!known) {
    char text[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reporting = 1;
    add_finding(fault, site, text);
    reporting = 0;
    if (site)
      site->reported |= 1u << fault;
  }
  if (faults[fault].stops)
    ws__lanes_stop();
}

/* ---- signals --------------------------------------------------------- */

/* CPU time that one workgroup may take. The largest tile at k = 7168 takes a
 * tenth of a second on a Xeon of 2019 at 2.5 GHz. */
enum { TICK_MS = 250, WORKGROUP_TICKS = 8 };

/* A handler has no argument for its state. */
static struct {
  sigjmp_buf *escape;
  int signal;
  uintptr_t address;
  volatile sig_atomic_t ticks;
  struct sigaction old[5], old_timer;
  stack_t old_stack;
  struct itimerval old_interval;
} trap;

static const int trapped[5] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
static char handler_stack[64 << 10] __attribute__((aligned(16)));

static void leave(int signal, uintptr_t address) {
  trap.signal = signal;
  trap.address = address;
  siglongjmp(*trap.escape, 1);
}

static void on_trap(int signal, siginfo_t *info, void *context) {
  (void)context;
  if (ws__sanitizer.lanes.in_lane && !reporting)
    leave(signal, (uintptr_t)info->si_addr);
  /* A fault of our own, or of a problem's reference: it comes again, and does
   * what it would have done. */
  for (int i = 0; i < 5; i++)
    if (trapped[i] == signal)
      sigaction(signal, &trap.old[i], NULL);
}

static void on_tick(int signal) {
  if (++trap.ticks > WORKGROUP_TICKS && ws__sanitizer.lanes.in_lane &&
      !reporting)
    leave(signal, 0);
}

void ws__fault_signals_install(void) {
  sigaltstack(
      &(stack_t){.ss_sp = handler_stack, .ss_size = sizeof handler_stack},
      &trap.old_stack);
  struct sigaction action = {.sa_sigaction = on_trap,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK};
  for (int i = 0; i < 5; i++)
    sigaction(trapped[i], &action, &trap.old[i]);
  action = (struct sigaction){.sa_handler = on_tick,
                              .sa_flags = SA_ONSTACK | SA_RESTART};
  sigaction(SIGVTALRM, &action, &trap.old_timer);
  struct itimerval interval = {.it_interval.tv_usec = TICK_MS * 1000,
                               .it_value.tv_usec = TICK_MS * 1000};
  setitimer(ITIMER_VIRTUAL, &interval, &trap.old_interval);
}

void ws__fault_signals_restore(void) {
  setitimer(ITIMER_VIRTUAL, &trap.old_interval, NULL);
  sigaction(SIGVTALRM, &trap.old_timer, NULL);
  for (int i = 0; i < 5; i++)
    sigaction(trapped[i], &trap.old[i], NULL);
  sigaltstack(&trap.old_stack, NULL);
}

void ws__fault_arm(sigjmp_buf *escape) {
  trap.escape = escape;
  trap.ticks = 0;
}

static void report_bad_address(ws_site *site) {
  const ws_sanitizer *sanitizer = &ws__sanitizer;
  int lane = sanitizer->lanes.current;
  for (int i = 0; i < sanitizer->memory.buffer_count; i++) {
    const ws_buffer *buffer = &sanitizer->memory.buffers[i];
    if (trap.address - buffer->begin < (uint64_t)buffer->size) {
      ws__fault(WS_FAULT_INPUT_MODIFIED, site, "lane %d stores to input %s",
                lane, buffer->name);
      return;
    }
  }
  uintptr_t bottom = (uintptr_t)ws__lanes_stack(lane);
  if (bottom - trap.address <= WS_STACK_GUARD)
    ws__fault(WS_FAULT_STACK_OVERFLOW, site,
              "lane %d uses more than %d KiB of private memory", lane,
              WS_STACK_BYTES >> 10);
  else
    ws__fault(WS_FAULT_OOB_PRIVATE, site,
              "lane %d touches address 0x%llx, which is not its own", lane,
              (unsigned long long)trap.address);
}

void ws__fault_from_signal(void) {
  ws_lanes *lanes = &ws__sanitizer.lanes;
  ws_site *site = lanes->lane[lanes->current].site;
  lanes->in_lane = false;
  if (trap.signal == SIGVTALRM)
    ws__fault(WS_FAULT_INFINITE_LOOP, site,
              "workgroup (%d,%d,%d) takes more than %d s; lane %d was last "
              "seen here",
              lanes->workgroup_id[0], lanes->workgroup_id[1],
              lanes->workgroup_id[2], TICK_MS * WORKGROUP_TICKS / 1000,
              lanes->current);
  else if (trap.signal == SIGFPE)
    ws__fault(WS_FAULT_DIVISION_BY_ZERO, site,
              "lane %d divides by zero (or overflows a division) after this "
              "line",
              lanes->current);
  else if (trap.signal == SIGSEGV || trap.signal == SIGBUS)
    report_bad_address(site);
  else
    ws__fault(WS_FAULT_TRAP, site, "lane %d traps after this line",
              lanes->current);
}
