/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Where launches are only timed: what a launch may know of what others before
 * it have left. A kernel whose way depends on a flag is timed where somebody
 * has cleared it, and refused where nobody can say what it holds.
 */
#include "hipsim_test.h"

enum { WORDS = 1024 };

static void *fresh(void) {
  void *words;
  setenv("WAVESMITH_SIM_MODE", "time", 1);
  OK(hipMalloc(&words, WORDS * sizeof(unsigned)));
  return words;
}

static void clear_by_kernel(void *words) {
  unsigned n = WORDS;
  void *params[] = {&words, &n};
  OK(launch("clear_words", WORDS / 64, 64, 0, NULL, params));
}

static void copy_by_kernel(void *from, void *to) {
  unsigned n = WORDS;
  void *params[] = {&from, &to, &n};
  OK(launch("copy_words", WORDS / 64, 64, 0, NULL, params));
}

/* Four groups, `rounds` of some instructions each. */
static void spin_into(void *words, unsigned rounds) {
  void *params[] = {&rounds, &words};
  OK(launch("spin", 4, 64, 0, NULL, params));
}

static hipError_t wait_at(void *flag) {
  void *params[] = {&flag};
  (void)launch("wait_for_other", 2, 64, 0, NULL, params);
  return hipDeviceSynchronize();
}

WS_TEST(nobody_has_set_a_fresh_flag) {
  WS_CHECK_INT(wait_at(fresh()), hipErrorLaunchFailure);
}

WS_TEST(a_kernel_clears_a_flag) {
  void *words = fresh();
  clear_by_kernel(words);
  OK(wait_at(words));
}

WS_TEST(a_fill_clears_a_flag) {
  void *words = fresh();
  OK(hipMemset(words, 0, WORDS * sizeof(unsigned)));
  OK(wait_at(words));
}

WS_TEST(a_fill_beside_the_flag_does_not) {
  unsigned *words = fresh();
  OK(hipMemset(words + 1, 0, (WORDS - 1) * sizeof(unsigned)));
  WS_CHECK_INT(wait_at(words), hipErrorLaunchFailure);
}

/* What waited has set the flag, but was not run: it is cleared anew each time,
 * as on a card. */
WS_TEST(a_flag_is_cleared_before_each_launch) {
  void *words = fresh();
  for (int i = 0; i < 3; i++) {
    clear_by_kernel(words);
    OK(wait_at(words));
  }
}

/* 100,000 rounds of more than one instruction are too many to be run. */
WS_TEST(a_long_launch_leaves_nothing_known) {
  void *words = fresh();
  clear_by_kernel(words);
  spin_into(words, 100000);
  WS_CHECK_INT(wait_at(words), hipErrorLaunchFailure);
}

WS_TEST(a_copy_of_what_is_not_known_is_not_known) {
  void *from = fresh(), *to = fresh();
  clear_by_kernel(to);
  copy_by_kernel(from, to);
  WS_CHECK_INT(wait_at(to), hipErrorLaunchFailure);
}

WS_TEST(a_copy_of_what_is_known_is) {
  void *from = fresh(), *to = fresh();
  clear_by_kernel(from);
  copy_by_kernel(from, to);
  OK(wait_at(to));
}
