/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/sim_correction.h.
 */
#include "wavesmith/sim_correction.h"

#include <cjson/cJSON.h>
#include <math.h>

const char *const ws_sim_feature_names[WS_SIM_FEATURES] = {
#define NAME(name, value) name,
    WS_SIM_FEATURE_MAP(NAME)
#undef NAME
};

double ws_sim_correction_factor(const ws_sim_correction *c,
                                const double features[WS_SIM_FEATURES]) {
  if (!c->is_there)
    return 1;
  double sum = c->offset;
  for (int f = 0; f < WS_SIM_FEATURES; f++)
    if (c->weight[f] != 0)
      sum += c->weight[f] * (features[f] - c->mean[f]) / c->scale[f];
  return exp(fmax(-log(2), fmin(log(2), sum)));
}

cJSON *ws_sim_correction_to_json(const ws_sim_correction *c) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "offset", c->offset);
  cJSON *features = cJSON_AddObjectToObject(json, "features");
  for (int f = 0; f < WS_SIM_FEATURES; f++) {
    if (c->weight[f] == 0)
      continue;
    cJSON *item = cJSON_AddObjectToObject(features, ws_sim_feature_names[f]);
    cJSON_AddNumberToObject(item, "mean", c->mean[f]);
    cJSON_AddNumberToObject(item, "scale", c->scale[f]);
    cJSON_AddNumberToObject(item, "weight", c->weight[f]);
  }
  return json;
}
