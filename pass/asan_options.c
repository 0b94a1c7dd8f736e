/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Only in builds with AddressSanitizer, in every program that links LLVM and
 * comgr: both keep memory until the process ends, and a compile child ends
 * without tidying up. The runtime's programs keep the leak check.
 */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
