/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See wavesmith/sim_correction.h.
 */
#include "wavesmith/sim.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>

const char *const ws_sim_feature_names[WS_SIM_FEATURES] = {
#define NAME(name, value) name,
    WS_SIM_FEATURE_MAP(NAME)
#undef NAME
};

double ws_sim_correction_distance(const double scale[WS_SIM_FEATURES],
                                  const double a[WS_SIM_FEATURES],
                                  const double b[WS_SIM_FEATURES]) {
  double sum = 0;
  for (int f = 0; f < WS_SIM_FEATURES; f++) {
    const double apart = (a[f] - b[f]) / scale[f];
    sum += apart * apart;
  }
  return sum / WS_SIM_FEATURES;
}

double ws_sim_correction_ln(double sum, double weight, double doubt) {
  return fmax(-log(2), fmin(log(2), sum / (weight + doubt)));
}

double ws_sim_correction_factor(const ws_sim_correction *c,
                                const double features[WS_SIM_FEATURES]) {
  double sum = 0, weight = 0;
  if (!c->count)
    return 1;
  for (int i = 0; i < c->count; i++) {
    const ws_sim_correction_row *row = &c->rows[i];
    const double apart =
        ws_sim_correction_distance(c->scale, features, row->features);
    const double k = row->weight * exp(-apart / (2 * c->reach * c->reach));
    sum += k * row->ln_ratio;
    weight += k;
  }
  return exp(ws_sim_correction_ln(sum, weight, c->doubt));
}

/* ---- JSON ------------------------------------------------------------------
 */

static cJSON *short_number(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.5g", value);
  return cJSON_CreateRaw(text);
}

static void add_numbers(cJSON *array, const double *values, int count) {
  for (int i = 0; i < count; i++)
    cJSON_AddItemToArray(array, short_number(values[i]));
}

cJSON *ws_sim_correction_to_json(const ws_sim_correction *c) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddNumberToObject(json, "model", WS_SIM_MODEL_VERSION);
  cJSON_AddStringToObject(json, "source", c->source);
  cJSON_AddItemToObject(json, "reach", short_number(c->reach));
  cJSON_AddItemToObject(json, "doubt", short_number(c->doubt));
  cJSON_AddItemToObject(
      json, "features",
      cJSON_CreateStringArray(ws_sim_feature_names, WS_SIM_FEATURES));
  add_numbers(cJSON_AddArrayToObject(json, "scale"), c->scale, WS_SIM_FEATURES);
  cJSON *rows = cJSON_AddArrayToObject(json, "rows");
  for (int i = 0; i < c->count; i++) {
    cJSON *row = cJSON_CreateArray();
    add_numbers(row, &c->rows[i].weight, 1);
    add_numbers(row, &c->rows[i].ln_ratio, 1);
    add_numbers(row, c->rows[i].features, WS_SIM_FEATURES);
    cJSON_AddItemToArray(rows, row);
  }
  return json;
}
