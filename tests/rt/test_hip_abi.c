/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * runtime/rt/hip_abi.h against HIP's headers.
 */
#include "../../runtime/rt/hip_abi.h"
#include "ws_test.h"

#define HIP_ROWS our_rows
#include "hip_abi_rows.h"
extern const struct hip_row their_rows[];

WS_TEST(numbers_are_those_of_hip) {
  for (int i = 0; our_rows[i].name; i++) {
    WS_CHECK_TEXT(our_rows[i].name, their_rows[i].name);
    if (our_rows[i].value != their_rows[i].value)
      WS_FAIL("%s is %lld, in HIP %lld", our_rows[i].name, our_rows[i].value,
              their_rows[i].value);
  }
}
