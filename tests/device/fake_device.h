/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A card in this process, whose clock, throttling and kernels a test sets. Time
 * passes only by what is put on it: a fill takes a microsecond, a launch what
 * its kernel takes.
 *
 * Kernels take a b as bs c m n k (fp8_gemm_blockscale, kmajor), those with
 * "map_" in front the tensor maps of a and b instead of their pointers:
 *   ok        right
 *   wrong     one element off
 *   late      right in its first fake.right launches, then one element off
 *   input     right, and sets the first eight bytes of a
 *   unseen    right, and sets eight bytes of row 20 of a
 *   stray     right, and adds 1 to the byte at fake.victim
 *   half      right, but stores the low bytes of row 9 only
 *   skip      right, but leaves the last element as it was
 *   token     wrong where c holds what its own launch before left
 *   add       right in kmajor-add: what c holds and the product, rounded twice
 *   other     of two rows one is off by much in every second launch
 *   guard     right, and writes behind c
 *   early     right, and writes behind c in its first fake.right launches
 *   fault     the next call that waits fails, and all after it
 */
#ifndef WS_FAKE_DEVICE_H
#define WS_FAKE_DEVICE_H

#include "device.h" /* runtime/device */

enum { FAKE_LOG = 1 << 16, FAKE_KERNELS = 8, FAKE_PLACES = 64 };

typedef struct fake_device {
  ws_device device; /* first: a ws_device * is a fake_device * */
  double now_us;
  double drift;     /* everything takes 1 + drift * now_us as long */
  double noise;     /* and up to so much more */
  double launch_ms; /* that the host is kept waiting for each launch */
  /* By kernel: what a launch takes; 100 otherwise. */
  struct {
    const char *kernel;
    double us;
  } costs[FAKE_KERNELS];
  /* Clock readings number begin to end say this, and everything takes twice as
   * long from one reading before that. */
  const char *throttle;
  int throttle_begin, throttle_end, readings;
  int right, launches, uploads, graph_starts, live;
  size_t most_bytes; /* of one allocation; larger ones fail */
  unsigned char *victim;
  bool faulted, capturing;
  const void *places[FAKE_PLACES]; /* outputs of launches so far */
  int place_count;
  /* One letter each: f fill, e event, g graph, l launch. */
  char log[FAKE_LOG];
  int logged;
  ws_rng rng;
} fake_device;

/* graphs, 64 KiB of cache, 1 GiB of memory */
void fake_open(fake_device *fake);
ws_device *fake_of(fake_device *fake);

#endif
