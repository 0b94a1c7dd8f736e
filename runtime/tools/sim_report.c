/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What --compare takes of launches that were simulated: lines of JSON, as
 * WAVESMITH_SIM_REPORT has them (docs/simulator.md).
 */
#include "sim_compare.h"
#include "wavesmith/sim.h"

#include <cjson/cJSON.h>
#include <string.h>

static double number(const cJSON *object, const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static void take_longest(ws_arena *arena, const cJSON *profile,
                         sim_launches *out) {
  const cJSON *features = cJSON_GetObjectItemCaseSensitive(profile, "features");
  const char *bound =
      cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(profile, "bound"));
  out->longest_us = number(profile, "us");
  out->bound = ws_arena_strdup(arena, bound ? bound : "");
  for (int f = 0; f < WS_SIM_FEATURES; f++)
    out->features[f] = number(features, ws_sim_feature_names[f]);
}

static void add_launch(ws_arena *arena, const cJSON *json, sim_launches *out) {
  const cJSON *profile = cJSON_GetObjectItemCaseSensitive(json, "profile");
  if (number(json, "model") != WS_SIM_MODEL_VERSION)
    out->wrong = "its report is none of WAVESMITH_SIM_REPORT and this model";
  out->us += number(json, "us");
  out->corrected |= number(profile, "us") != number(profile, "us_uncorrected");
  if (number(profile, "us") > out->longest_us)
    take_longest(arena, profile, out);
}

sim_launches sim_read_report(ws_arena *arena, const char *report) {
  sim_launches out = {.bound = ""};
  char *rest = ws_arena_strdup(arena, report), *line;
  while ((line = strsep(&rest, "\n"))) {
    cJSON *json = *line ? cJSON_Parse(line) : NULL;
    if (*line)
      add_launch(arena, json, &out);
    cJSON_Delete(json);
  }
  if (!out.wrong && !out.longest_us)
    out.wrong = "its report has no profile of a launch";
  return out;
}
