/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A profile's learned correction: what it makes of a time, worked out by hand,
 * and what can be wrong with one.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* of the fixture */
#include "sim_fixture.h"

#include "card.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* Scale 2 and a difference of 2 in one of the features: d^2 = 1 / 14; at reach
 * 0.5 K is 3 exp(-1 / 14 / 0.5) = 3 exp(-1/7) = 2.600638, so that with doubt
 * 0.5 0.4 counts 2.600638 / 3.100638 = 0.8387428. A second row is far. */
static const ws_sim_correction_row two[] = {{3, 0.4, {1, 1, 1}},
                                            {5, -0.6, {1, 1, 1e6}}};

static ws_sim_correction of_two(void) {
  ws_sim_correction c = {two, 2, 0.5, 0.5, {0}, ""};
  for (int f = 0; f < WS_SIM_FEATURES; f++)
    c.scale[f] = 2;
  return c;
}

WS_TEST(factor_is_of_launches_like_it) {
  ws_sim_correction c = of_two();
  const double features[WS_SIM_FEATURES] = {1, 3, 1};
  WS_CHECK_NEAR(ws_sim_correction_factor(&c, features), exp(0.4 * 0.8387428),
                1e-6);
  c.count = 0;
  WS_CHECK_NEAR(ws_sim_correction_factor(&c, features), 1, 0);
}

WS_TEST(factor_is_1_where_nothing_is_like_it) {
  const ws_sim_correction c = of_two();
  const double features[WS_SIM_FEATURES] = {1000, 1000, 1000};
  WS_CHECK_NEAR(ws_sim_correction_factor(&c, features), 1, 1e-12);
}

WS_TEST(factor_is_held_to_two) {
  const double features[WS_SIM_FEATURES] = {0};
  const ws_sim_correction_row up = {1e9, 5, {0}}, down = {1e9, -5, {0}};
  ws_sim_correction c = of_two();
  c.rows = &up, c.count = 1;
  WS_CHECK_NEAR(ws_sim_correction_factor(&c, features), 2, 1e-12);
  c.rows = &down;
  WS_CHECK_NEAR(ws_sim_correction_factor(&c, features), 0.5, 1e-12);
}

/* ---- in a file ---- */

static ws_status read_profile(ws_arena *arena, const char *text,
                              const ws_sim_card **out, ws_diag *diag) {
  char path[] = "/tmp/wavesmith-correction-XXXXXX.json";
  const int file = mkstemps(path, 5);
  WS_CHECK(file >= 0 && write(file, text, strlen(text)) > 0);
  close(file);
  const ws_status status = ws_sim_card_find(path, arena, out, diag);
  unlink(path);
  return status;
}

static double us_of(const ws_sim_card *card, double *out_uncorrected,
                    double out_features[WS_SIM_FEATURES]) {
  const fixture_options options = {.threads = 64, .lds = -1};
  const ws_sim_options sim_options = {.unchecked = true, .card = card};
  const void *kernarg[2] = {NULL, NULL};
  ws_arena *arena = ws_arena_create();
  ws_sim *sim;
  ws_sim_module *module;
  ws_sim_profile profile;
  ws_diag diag;
  size_t size;
  const void *image = fixture_assemble(
      arena,
      fixture_kernel(arena, ".rept 4096\nv_add_u32 v1, v1, v2\n.endr",
                     &options),
      &size);
  if (ws_sim_create(&sim_options, &sim, &diag) != WS_OK ||
      ws_sim_load(sim, image, size, &module, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const ws_sim_launch launch = {.kernel = ws_sim_kernel_find(module, "probe"),
                                .grid = {1, 1, 1},
                                .block = {64, 1, 1},
                                .kernarg = kernarg,
                                .kernarg_size = sizeof kernarg};
  if (ws_sim_time(sim, &launch, WS_SIM_WARM, arena, &profile, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  *out_uncorrected = profile.us_uncorrected;
  memcpy(out_features, profile.features, sizeof profile.features);
  const double us = profile.us;
  ws_sim_destroy(sim);
  ws_arena_destroy(arena);
  return us;
}

#define NAME(name, value) "\"" name "\", "
#define ONE(name, value) "1, "
#define LESS(texts)                                                            \
  ws_arena_printf(arena, "%.*s", (int)strlen(texts) - 2, texts)

/* A file's correction; features and scale as they have to be where NULL. */
static const char *correction(ws_arena *arena, int model, const char *features,
                              const char *scale, const char *rows) {
  return ws_arena_printf(
      arena,
      "{\"name\": \"x\", \"correction\": {\"model\": %d, \"reach\": 1, "
      "\"doubt\": 1, \"features\": [%s], \"scale\": [%s], \"rows\": %s}}",
      model, features ? features : LESS(WS_SIM_FEATURE_MAP(NAME)),
      scale ? scale : LESS(WS_SIM_FEATURE_MAP(ONE)), rows);
}

/* A row of features. */
static const char *text_of(ws_arena *arena, double weight, double ln_ratio,
                           const double features[WS_SIM_FEATURES]) {
  const char *text = ws_arena_printf(arena, "%.17g, %.17g", weight, ln_ratio);
  for (int f = 0; f < WS_SIM_FEATURES; f++)
    text = ws_arena_printf(arena, "%s, %.17g", text, features[f]);
  return ws_arena_printf(arena, "[%s]", text);
}

/* The launch itself, of weight 1, beside a doubt of 1: half of 0.4. Written
 * and read again the profile does the same, but for the sixth digit. */
WS_TEST(profile_corrects_times) {
  ws_arena *arena = ws_arena_create();
  const ws_sim_card *plain, *corrected, *again;
  ws_diag diag;
  double uncorrected, same, features[WS_SIM_FEATURES];
  if (read_profile(arena, "{\"name\": \"x\"}", &plain, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const double us = us_of(plain, &same, features);
  WS_CHECK_NEAR(us, same, 1e-12);
  const char *rows =
      ws_arena_printf(arena, "[%s]", text_of(arena, 1, 0.4, features));
  if (read_profile(arena,
                   correction(arena, WS_SIM_MODEL_VERSION, NULL, NULL, rows),
                   &corrected, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_NEAR(us_of(corrected, &uncorrected, features), exp(0.2) * us, 1e-6);
  WS_CHECK_NEAR(uncorrected, us, 1e-12);
  WS_CHECK(strcmp(ws_sim_card_title(plain), ws_sim_card_title(corrected)));
  WS_CHECK_CONTAINS(ws_sim_card_differs(corrected, arena),
                    "learned correction");
  cJSON *json = ws_sim_card_to_json(corrected);
  char *text = cJSON_Print(json);
  if (read_profile(arena, text, &again, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_NEAR(us_of(again, &uncorrected, features) / us, exp(0.2), 1e-4);
  cJSON_free(text);
  cJSON_Delete(json);
  ws_arena_destroy(arena);
}

WS_TEST(two_corrections_are_two_provenances) {
  ws_arena *arena = ws_arena_create();
  const double features[WS_SIM_FEATURES] = {0};
  const ws_sim_card *cards[2];
  ws_diag diag;
  for (int i = 0; i < 2; i++)
    if (read_profile(arena,
                     correction(arena, WS_SIM_MODEL_VERSION, NULL, NULL,
                                ws_arena_printf(arena, "[%s]",
                                                text_of(arena, 1, i ? 0.4 : 0.3,
                                                        features))),
                     &cards[i], &diag) != WS_OK)
      WS_FAIL("%s", diag.text);
  WS_CHECK(strcmp(ws_sim_card_title(cards[0]), ws_sim_card_title(cards[1])));
  ws_arena_destroy(arena);
}

WS_TEST(a_correction_of_another_model_is_refused) {
  ws_arena *arena = ws_arena_create();
  const double none[WS_SIM_FEATURES] = {0};
  const char *row = text_of(arena, 1, 0.4, none), *short_row = "[1, 2, 3]";
  const struct {
    const char *text, *said;
  } cases[] = {
      {correction(arena, WS_SIM_MODEL_VERSION - 1, NULL, NULL, "[]"),
       "fit it anew"},
      {correction(arena, WS_SIM_MODEL_VERSION, "\"L2 hits\"", NULL, "[]"),
       "fit it anew"},
      {correction(arena, WS_SIM_MODEL_VERSION, NULL, "1, 1", "[]"),
       "\"scale\" is not 14 numbers above 0"},
      {correction(arena, WS_SIM_MODEL_VERSION, NULL, NULL, "[]"),
       "\"rows\" is no array of rows"},
      {correction(arena, WS_SIM_MODEL_VERSION, NULL, NULL, "7"),
       "\"rows\" is no array of rows"},
      {correction(arena, WS_SIM_MODEL_VERSION, NULL, NULL,
                  ws_arena_printf(arena, "[%s, %s]", row, short_row)),
       "row 2 is not 16 numbers, the first above 0"},
      {correction(arena, WS_SIM_MODEL_VERSION, NULL, NULL,
                  ws_arena_printf(arena, "[%s]", text_of(arena, 0, 1, none))),
       "row 1 is not 16 numbers, the first above 0"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const ws_sim_card *card;
    ws_diag diag;
    if (read_profile(arena, cases[i].text, &card, &diag) != WS_USAGE)
      WS_FAIL("taken: %s", cases[i].text);
    WS_CHECK_CONTAINS(diag.text, cases[i].said);
    WS_CHECK(!strchr(diag.text, '\n'));
  }
  ws_arena_destroy(arena);
}

WS_TEST(wrong_corrections_are_one_line) {
  static const struct {
    const char *text, *said;
  } cases[] = {{"3", "\"correction\" is no object"},
               {"{}", "\"model\" is no number above 0"},
               {"{\"model\": \"2\"}", "\"model\" is no number above 0"},
               {"{\"model\": 2, \"rech\": 1}", "did you mean \"reach\""}};
  ws_arena *arena = ws_arena_create();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const ws_sim_card *card;
    ws_diag diag;
    if (read_profile(arena,
                     ws_arena_printf(arena,
                                     "{\"name\": \"x\", \"correction\": %s}",
                                     cases[i].text),
                     &card, &diag) != WS_USAGE)
      WS_FAIL("taken: %s", cases[i].text);
    WS_CHECK_CONTAINS(diag.text, cases[i].said);
    WS_CHECK(!strchr(diag.text, '\n'));
  }
  ws_arena_destroy(arena);
}
