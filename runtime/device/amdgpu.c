/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * /sys/bus/pci/devices/BUS_ID/hwmon/hwmonN of the kernel's documentation,
 * "GPU Power/Thermal Controls and Monitoring" of amdgpu: what rocm-smi reads
 * too. WAVESMITH_SYSFS names another folder than /sys, for the tests. Why a
 * clock is low is not said there in a documented form.
 */
#include "amdgpu.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ws__amdgpu {
  char folder[512]; /* of the sensors */
};

static const char *root(void) {
  const char *wanted = secure_getenv("WAVESMITH_SYSFS");
  return wanted && wanted[0] ? wanted : "/sys";
}

ws__amdgpu *ws__amdgpu_open(const char *bus_id) {
  char pattern[512];
  glob_t found;
  snprintf(pattern, sizeof pattern, "%s/bus/pci/devices/%s/hwmon/hwmon*",
           root(), bus_id);
  if (glob(pattern, 0, NULL, &found) != 0) {
    ws_log(WS_LOG_INFO, "clocks are not read: no %s", pattern);
    return NULL;
  }
  ws__amdgpu *card = calloc(1, sizeof *card);
  WS_ASSERT(card && "out of memory");
  snprintf(card->folder, sizeof card->folder, "%s", found.gl_pathv[0]);
  globfree(&found);
  return card;
}

void ws__amdgpu_close(ws__amdgpu *card) { free(card); }

/* The first line of a file; false: there is none. */
static bool read_line(const char *folder, const char *name, char *out,
                      int bytes) {
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "re");
  if (!file)
    return false;
  bool got = fgets(out, bytes, file) != NULL;
  fclose(file);
  if (got)
    out[strcspn(out, "\n")] = 0;
  return got;
}

/* Of the first of the files that is there, which ends with NULL. */
static double read_number(const char *folder, const char *const *names) {
  char text[64];
  for (; *names; names++)
    if (read_line(folder, *names, text, sizeof text))
      return strtod(text, NULL);
  return 0;
}

const char *ws__amdgpu_driver(ws_arena *arena) {
  char text[128] = "", folder[512];
  snprintf(folder, sizeof folder, "%s/module/amdgpu", root());
  if (!read_line(folder, "version", text, sizeof text))
    return "";
  return ws_arena_strdup(arena, text);
}

/* Hertz, thousandths of a degree (of the junction, which every card has that
 * has no edge), millionths of a watt. */
ws_device_clocks ws__amdgpu_clocks(const ws__amdgpu *card) {
  static const char *const clock[] = {"freq1_input", NULL};
  static const char *const memory[] = {"freq2_input", NULL};
  static const char *const heat[] = {"temp2_input", "temp1_input", NULL};
  static const char *const power[] = {"power1_input", "power1_average", NULL};
  ws_device_clocks clocks = {.throttle = ""};
  if (!card)
    return clocks;
  clocks.mhz = (int)(read_number(card->folder, clock) / 1e6);
  clocks.memory_mhz = (int)(read_number(card->folder, memory) / 1e6);
  clocks.celsius = (int)(read_number(card->folder, heat) / 1e3);
  clocks.watts = read_number(card->folder, power) / 1e6;
  return clocks;
}
