/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A fresh directory for one test, removed when the test passes and kept for
 * inspection when it fails (WS_FAIL leaves by _exit).
 */
#ifndef WAVESMITH_WS_TEST_DIRECTORY_H
#define WAVESMITH_WS_TEST_DIRECTORY_H

#include "ws_test.h"

#include <ftw.h>

static char ws_test_directory_path[64];

static int ws_test_remove_entry(const char *path, const struct stat *state,
                                int type, struct FTW *level) {
  (void)state, (void)type, (void)level;
  return remove(path);
}

static void ws_test_remove_directory(void) {
  nftw(ws_test_directory_path, ws_test_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The same directory on every call within one test. */
static const char *ws_test_directory(void) {
  if (!ws_test_directory_path[0]) {
    strcpy(ws_test_directory_path, "/tmp/wavesmith-test-XXXXXX");
    if (!mkdtemp(ws_test_directory_path))
      WS_FAIL("cannot make %s", ws_test_directory_path);
    atexit(ws_test_remove_directory);
  }
  return ws_test_directory_path;
}

#endif
