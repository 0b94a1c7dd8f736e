/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A profile's learned correction: what it makes of a time, worked out by hand,
 * and what can be wrong with one.
 */
#pragma GCC diagnostic ignored "-Wunused-function" /* of the fixture */
#include "sim_fixture.h"

#include "card.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static int index_of(const char *name) {
  int f = 0;
  while (strcmp(ws_sim_feature_names[f], name))
    f++;
  return f;
}

/* exp(0.1 + 0.3 (0.7 - 0.5) / 0.2) = exp(0.4); others have no weight. */
WS_TEST(factor_is_of_standardised_features) {
  ws_sim_correction c = {.is_there = true, .offset = 0.1};
  double features[WS_SIM_FEATURES] = {0};
  const int f = index_of("L2 hits");
  c.mean[f] = 0.5, c.scale[f] = 0.2, c.weight[f] = 0.3;
  features[f] = 0.7;
  WS_CHECK_NEAR(ws_sim_correction_factor(&c, features), exp(0.4), 1e-12);
  c.is_there = false;
  WS_CHECK_NEAR(ws_sim_correction_factor(&c, features), 1, 1e-12);
}

WS_TEST(factor_is_held_to_two) {
  const double features[WS_SIM_FEATURES] = {0};
  WS_CHECK_NEAR(ws_sim_correction_factor(
                    &(ws_sim_correction){true, 5, {0}, {0}, {0}}, features),
                2, 1e-12);
  WS_CHECK_NEAR(ws_sim_correction_factor(
                    &(ws_sim_correction){true, -5, {0}, {0}, {0}}, features),
                0.5, 1e-12);
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

static double us_of(const ws_sim_card *card, double *out_uncorrected) {
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
  const double us = profile.us;
  ws_sim_destroy(sim);
  ws_arena_destroy(arena);
  return us;
}

/* Offset ln 1.25, and 0.5 x (ln us - ln us) = 0. */
WS_TEST(profile_corrects_times) {
  ws_arena *arena = ws_arena_create();
  const ws_sim_card *plain, *corrected;
  ws_diag diag;
  double uncorrected, same;
  if (read_profile(arena, "{\"name\": \"x\"}", &plain, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const double us = us_of(plain, &same);
  WS_CHECK_NEAR(us, same, 1e-12);
  if (read_profile(arena,
                   ws_arena_printf(
                       arena,
                       "{\"name\": \"x\", \"correction\": {\"offset\": %.17g, "
                       "\"features\": {\"ln time\": {\"mean\": %.17g, "
                       "\"scale\": 2, \"weight\": 1}}}}",
                       log(1.25), log(us)),
                   &corrected, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_NEAR(us_of(corrected, &uncorrected), 1.25 * us, 1e-6);
  WS_CHECK_NEAR(uncorrected, us, 1e-12);
  WS_CHECK(strcmp(plain->title, corrected->title));
  WS_CHECK_CONTAINS(ws_sim_card_differs(corrected, arena),
                    "learned correction");
  ws_arena_destroy(arena);
}

WS_TEST(wrong_corrections_are_one_line) {
  static const struct {
    const char *text, *said;
  } cases[] = {
      {"3", "\"correction\" is no object"},
      {"{}", "\"offset\" is no number"},
      {"{\"offset\": \"1\"}", "\"offset\" is no number"},
      {"{\"offset\": 1, \"featurs\": {}}", "did you mean \"features\""},
      {"{\"offset\": 1, \"features\": {\"L2 hit\": {}}}",
       "did you mean \"L2 hits\""},
      {"{\"offset\": 1, \"features\": {\"L2 hits\": {\"mean\": 0}}}",
       "\"scale\" is no number"},
      {"{\"offset\": 1, \"features\": {\"L2 hits\": {\"mean\": 0, \"scale\": 0,"
       " \"weight\": 1}}}",
       "\"scale\" is not above 0"}};
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
