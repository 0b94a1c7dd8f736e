/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The allow list of intrinsics, looked up by name. Names carry type suffixes
 * (llvm.fma.v4f32), so the longest listed name that ends at a '.' wins. By
 * name and not by LLVM's number: those change with LLVM's version, and with
 * the build that a name is unknown to.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { GFX942 = 1, GFX950 = 2, SM_90A = 4, AMD = 3, ALL = 7 };
enum {
  LANE = WS_INTRINSIC_LANE,
  UNIFORM = WS_INTRINSIC_UNIFORM,
  BARRIER = WS_INTRINSIC_BARRIER,
  MFMA = WS_INTRINSIC_MFMA,
  NARROW = WS_INTRINSIC_NARROW,
  WRITES = WS_INTRINSIC_WRITES,
  COPIES = WS_INTRINSIC_COPIES,
  CLOCK = WS_INTRINSIC_CLOCK,
  TRAP = WS_INTRINSIC_TRAP,
  HOST = WS_INTRINSIC_HOST,
  FPENV = WS_INTRINSIC_FPENV,
  SENDS = WS_INTRINSIC_SENDS,
  POINTS = WS_INTRINSIC_POINTS,
  DPP = WS_INTRINSIC_DPP,
  BYTE = WS_INTRINSIC_BYTE
};

static const struct intrinsic {
  const char *name;
  int targets;
  unsigned traits;
} intrinsics[] = {
#define X(name, targets, traits) {name, targets, traits},
#include "check_intrinsics.def"
#undef X
};

static const struct target_bit {
  const char *name;
  int bit;
} target_bits[] = {{"gfx942", GFX942}, {"gfx950", GFX950}, {"sm_90a", SM_90A}};

static int bit_of(const ws_target *target) {
  for (size_t i = 0; i < sizeof target_bits / sizeof *target_bits; i++)
    if (!strcmp(target_bits[i].name, target->name))
      return target_bits[i].bit;
  return 0;
}

/* Whether what follows a listed name is LLVM's type suffix only: parts like
 * ".v4f32", ".i32", ".p1", ".nxv..." and not a longer name. */
static bool is_type_suffix(const char *suffix) {
  while (*suffix == '.') {
    size_t size = strcspn(++suffix, ".");
    size_t letters = strspn(suffix, "abcdefghijklmnopqrstuvwxyz");
    if (letters == 0 || letters > 4 || letters == size)
      return false;
    suffix += size;
  }
  return *suffix == '\0';
}

static const struct intrinsic *find(const char *name) {
  const struct intrinsic *best = NULL;
  size_t best_size = 0;
  for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++) {
    size_t size = strlen(intrinsics[i].name);
    if (size > best_size && !strncmp(name, intrinsics[i].name, size) &&
        is_type_suffix(name + size)) {
      best = &intrinsics[i];
      best_size = size;
    }
  }
  return best;
}

unsigned ws__intrinsic_traits(const char *name, const ws_target *target) {
  const struct intrinsic *best = find(name);
  if (!best)
    return WS_INTRINSIC_UNLISTED;
  if (!(best->targets & bit_of(target)))
    return WS_INTRINSIC_OTHER_TARGET;
  return best->traits;
}

const char *ws__intrinsic_owner(const char *name) {
  const struct intrinsic *known = find(name);
  for (size_t i = 0; known && i < sizeof target_bits / sizeof *target_bits; i++)
    if (known->targets & target_bits[i].bit)
      return target_bits[i].name;
  return "no target";
}
