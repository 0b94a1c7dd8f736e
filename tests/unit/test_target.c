/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of targets against what is said of it elsewhere.
 */
#include "wavesmith/target.h"
#include "ws_test.h"

WS_TEST(the_list_names_every_target_once) {
  int count;
  const ws_target *const *targets = ws_targets(&count);
  const char *at = ws_target_list();
  WS_CHECK(count > 2);
  for (int i = 0; i < count; i++) {
    const char *after = i < count - 2 ? ", " : i < count - 1 ? " and " : "";
    size_t size = strlen(targets[i]->name);
    WS_CHECK(ws_target_find(targets[i]->name) == targets[i]);
    WS_CHECK(!strncmp(at, targets[i]->name, size));
    WS_CHECK(!strncmp(at + size, after, strlen(after)));
    at += size + strlen(after);
  }
  WS_CHECK_TEXT(at, "");
}
