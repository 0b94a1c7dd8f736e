/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A profile in a JSON file. Everything in it is doubted: the first thing that
 * is wrong is one line with the file, the key, and how to mend it.
 *
 *   {"name": "mine", "base": "mi300x", "constants": {"hbm_rate": 4200},
 *    "correction": {...}}
 *
 * A constant is an integer, or an object with "value", and "source" and
 * "confidence" if wanted, as card_print.c writes it. base is a card's name, or
 * a file beside this one.
 */
#include "card.h"
#include "wavesmith/options.h"
#include "wavesmith/sim.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

enum { DEEPEST = 8, LONGEST_NAME = 32, HASH_DIGITS = 8, MOST_BYTES = 1 << 20 };

typedef struct reader {
  const char *path;
  ws_arena *arena;
  ws_diag *diag;
} reader;

#define WRONG(in, ...) ws_fail((in)->diag, WS_USAGE, (in)->path, 0, __VA_ARGS__)

/* ---- keys ---- */

static ws_status check_keys(const reader *in, const cJSON *object,
                            const char *where, const char *const *known,
                            int count) {
  const cJSON *item;
  cJSON_ArrayForEach(item, object) {
    int i = 0;
    while (i < count && strcmp(known[i], item->string))
      i++;
    if (i < count)
      continue;
    const char *nearest = ws_nearest_name(item->string, known, count);
    return WRONG(in, "%s\"%.64s\" is unknown%s%s%s", where, item->string,
                 nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                 nearest ? "\"?" : "; leave it out");
  }
  return WS_OK;
}

static ws_status read_text(const reader *in, const cJSON *object,
                           const char *key, const char *otherwise,
                           const char **out) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
  *out = otherwise;
  if (!item)
    return WS_OK;
  if (!cJSON_IsString(item))
    return WRONG(in, "\"%s\" is no text; put it into quotes", key);
  *out = ws_arena_strdup(in->arena, item->valuestring);
  return WS_OK;
}

ws_status ws_sim_card_check_name(const char *name, ws_diag *diag) {
  const size_t size = strlen(name);
  for (const char *at = name; *at; at++)
    if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "becomes part of where times come from, so it takes "
                     "letters, digits, '.', '_' and '-' only");
  if (size < 1 || size > LONGEST_NAME)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "has %s; give the profile one of 1 to %d letters",
                   size ? "too many letters" : "no letters", LONGEST_NAME);
  return WS_OK;
}

static ws_status read_name(const reader *in, const cJSON *json,
                           const char **out) {
  ws_diag found;
  WS_TRY(read_text(in, json, "name", "", out));
  return ws_sim_card_check_name(*out, &found) == WS_OK
             ? WS_OK
             : WRONG(in, "\"name\" %s", found.text);
}

/* ---- values ---- */

static ws_status check_number(const reader *in, const ws__clock_constant *row,
                              const cJSON *item, int64_t low, int64_t high,
                              int64_t *out) {
  if (!cJSON_IsNumber(item))
    return WRONG(in,
                 "\"%s\" is no number; it takes an integer from %lld to "
                 "%lld, without quotes",
                 row->name, (long long)low, (long long)high);
  const double value = item->valuedouble;
  if (low == high && value != (double)low)
    return WRONG(in,
                 "\"%s\" is %lld on every card of this kind and built into the "
                 "model; leave it out",
                 row->name, (long long)low);
  if (!(value >= (double)low && value <= (double)high) ||
      value != (double)(int64_t)value)
    return WRONG(in, "\"%s\": %.10g is no integer from %lld to %lld%s%s (%s)",
                 row->name, value, (long long)low, (long long)high,
                 row->unit[0] ? " " : "", row->unit, row->what);
  *out = (int64_t)value;
  return WS_OK;
}

static ws_status read_value(const reader *in, const cJSON *item,
                            ws__card_value *out) {
  static const char *const keys[] = {"value", "source", "confidence", "unit",
                                     "what"};
  const ws__clock_constant *row = &ws__card_rows[out->row];
  const cJSON *number = item;
  int64_t low, high;
  ws__card_row_limits(out->row, &low, &high);
  out->source = ws_arena_printf(in->arena, "profile %s", in->path);
  out->confidence = "L";
  if (cJSON_IsObject(item)) {
    const char *where = ws_arena_printf(in->arena, "\"%s\": ", row->name);
    WS_TRY(check_keys(in, item, where, keys, sizeof keys / sizeof keys[0]));
    WS_TRY(read_text(in, item, "source", out->source, &out->source));
    WS_TRY(read_text(in, item, "confidence", "L", &out->confidence));
    number = cJSON_GetObjectItemCaseSensitive(item, "value");
  }
  return check_number(in, row, number, low, high, &out->value);
}

static ws_status read_constants(const reader *in, const cJSON *constants,
                                ws_sim_card *card) {
  const char *names[WS_CARD_ROWS];
  for (int row = 0; row < WS_CARD_ROWS; row++)
    names[row] = ws__card_rows[row].name;
  if (constants && !cJSON_IsObject(constants))
    return WRONG(in, "\"constants\" is no object; write {\"hbm_rate\": 4200}");
  WS_TRY(check_keys(in, constants, "constant ", names, WS_CARD_ROWS));
  const cJSON *item;
  cJSON_ArrayForEach(item, constants) {
    ws__card_value value = {.row = ws__card_row_find(item->string)};
    WS_TRY(read_value(in, item, &value));
    ws__card_set(card, &value);
  }
  if (card->constants.loaded_mhz > card->constants.clock_mhz)
    return WRONG(in,
                 "\"loaded_mhz\": %lld is above clock_mhz, %lld; under load "
                 "the clock falls",
                 (long long)card->constants.loaded_mhz,
                 (long long)card->constants.clock_mhz);
  return WS_OK;
}

/* ---- a correction ---- */

#define CORRECTION "\"correction\": "

static ws_status read_above_0(const reader *in, const cJSON *json,
                              const char *key, double *out) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(json, key);
  *out = cJSON_GetNumberValue(item); /* NAN: is none */
  return *out > 0 && isfinite(*out)
             ? WS_OK
             : WRONG(in, CORRECTION "\"%s\" is no number above 0", key);
}

/* false: it is no array of count numbers. */
static bool take_numbers(const cJSON *array, int count, double *out) {
  const cJSON *item;
  int n = 0;
  cJSON_ArrayForEach(item, array) {
    if (n == count || !cJSON_IsNumber(item) || !isfinite(item->valuedouble))
      return false;
    out[n++] = item->valuedouble;
  }
  return cJSON_IsArray(array) && n == count;
}

static bool are_features(const cJSON *array) {
  bool same = cJSON_GetArraySize(array) == WS_SIM_FEATURES;
  for (int f = 0; f < WS_SIM_FEATURES && same; f++) {
    const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(array, f));
    same = name && !strcmp(name, ws_sim_feature_names[f]);
  }
  return same;
}

static ws_status read_scale(const reader *in, const cJSON *json,
                            ws_sim_correction *out) {
  const cJSON *scale = cJSON_GetObjectItemCaseSensitive(json, "scale");
  bool above = take_numbers(scale, WS_SIM_FEATURES, out->scale);
  for (int f = 0; f < WS_SIM_FEATURES && above; f++)
    above = out->scale[f] > 0;
  return above ? WS_OK
               : WRONG(in, CORRECTION "\"scale\" is not %d numbers above 0",
                       WS_SIM_FEATURES);
}

static ws_status read_correction_rows(const reader *in, const cJSON *json,
                                      ws_sim_correction *out) {
  const cJSON *array = cJSON_GetObjectItemCaseSensitive(json, "rows"), *item;
  const int count = cJSON_IsArray(array) ? cJSON_GetArraySize(array) : 0;
  if (!count)
    return WRONG(in, CORRECTION "\"rows\" is no array of rows");
  ws_sim_correction_row *rows =
      ws_arena_alloc(in->arena, sizeof *rows * (size_t)count);
  cJSON_ArrayForEach(item, array) {
    double numbers[2 + WS_SIM_FEATURES];
    ws_sim_correction_row *row = &rows[out->count++];
    if (!take_numbers(item, 2 + WS_SIM_FEATURES, numbers) || numbers[0] <= 0)
      return WRONG(in, CORRECTION "row %d is not %d numbers, the first above 0",
                   out->count, 2 + WS_SIM_FEATURES);
    row->weight = numbers[0];
    row->ln_ratio = numbers[1];
    memcpy(row->features, numbers + 2, sizeof row->features);
  }
  out->rows = rows;
  return WS_OK;
}

/* In place of the base's. */
static ws_status read_correction(const reader *in, const cJSON *json,
                                 ws_sim_correction *out) {
  static const char *const keys[] = {"model",    "source", "reach", "doubt",
                                     "features", "scale",  "rows"};
  double model;
  if (!json)
    return WS_OK;
  if (!cJSON_IsObject(json))
    return WRONG(in, "\"correction\" is no object; `wavesmith sim --compare "
                     "... --fit-correction FILE.json` writes one");
  *out = (ws_sim_correction){0};
  WS_TRY(
      check_keys(in, json, "correction ", keys, sizeof keys / sizeof keys[0]));
  WS_TRY(read_above_0(in, json, "model", &model));
  if (model != WS_SIM_MODEL_VERSION ||
      !are_features(cJSON_GetObjectItemCaseSensitive(json, "features")))
    return WRONG(in,
                 CORRECTION "it was learned of model %g and its figures, this "
                            "is model %d; fit it anew (docs/compare.md)",
                 model, WS_SIM_MODEL_VERSION);
  WS_TRY(read_text(in, json, "source", "", &out->source));
  WS_TRY(read_above_0(in, json, "reach", &out->reach));
  WS_TRY(read_above_0(in, json, "doubt", &out->doubt));
  WS_TRY(read_scale(in, json, out));
  return read_correction_rows(in, json, out);
}

/* ---- the whole ---- */

static void hash_correction(ws_hasher *hasher, const ws_sim_correction *c) {
  if (!c->count)
    return;
  ws_hasher_update(hasher, &c->reach, sizeof c->reach);
  ws_hasher_update(hasher, &c->doubt, sizeof c->doubt);
  ws_hasher_update(hasher, c->scale, sizeof c->scale);
  ws_hasher_update(hasher, c->rows, sizeof *c->rows * (size_t)c->count);
}

/* "mine-0123abcd": two calibrations of one name are two provenances. */
static const char *title_of(const ws_sim_card *card, ws_arena *arena) {
  ws_hasher *hasher = ws_hasher_create();
  for (int row = 0; row < WS_CARD_ROWS; row++)
    ws_hasher_update_text(
        hasher, ws_arena_printf(arena, "%s=%lld", ws__card_rows[row].name,
                                (long long)card->rows[row].value));
  hash_correction(hasher, &card->correction);
  const ws_hash hash = ws_hasher_finish(hasher);
  return ws_arena_printf(arena, "%s-%.*s", card->name, HASH_DIGITS, hash.hex);
}

static ws_status find_base(const reader *in, const char *base, int depth,
                           const ws_sim_card **out) {
  ws_diag found;
  if (depth >= DEEPEST)
    return WRONG(in,
                 "\"base\": profiles stand on each other in a circle, or more "
                 "than %d deep; let one stand on a card as mi300x",
                 DEEPEST);
  const char *slash = strrchr(in->path, '/');
  const bool beside = slash && base[0] != '/' && strchr(base, '.');
  const char *name =
      beside ? ws_arena_printf(in->arena, "%.*s/%s", (int)(slash - in->path),
                               in->path, base)
             : base;
  if (ws__card_find(name, depth + 1, in->arena, out, &found) == WS_OK)
    return WS_OK;
  return depth ? ws_fail(in->diag, WS_USAGE, NULL, 0, "%s", found.text)
               : WRONG(in, "\"base\": %s", found.text);
}

static ws_status read_card(const reader *in, const cJSON *json, int depth,
                           const ws_sim_card **out_card) {
  static const char *const keys[] = {"name", "base", "constants", "correction"};
  const char *name, *base;
  const ws_sim_card *below;
  if (!cJSON_IsObject(json))
    return WRONG(in, "this is no JSON object; write {\"name\": \"mine\", "
                     "\"base\": \"mi300x\", \"constants\": {...}}");
  WS_TRY(check_keys(in, json, "", keys, sizeof keys / sizeof keys[0]));
  WS_TRY(read_name(in, json, &name));
  WS_TRY(read_text(in, json, "base", "mi300x", &base));
  WS_TRY(find_base(in, base, depth, &below));
  ws_sim_card *card = ws_arena_alloc(in->arena, sizeof *card);
  *card = *below;
  card->name = name;
  WS_TRY(read_constants(in, cJSON_GetObjectItemCaseSensitive(json, "constants"),
                        card));
  WS_TRY(read_correction(in,
                         cJSON_GetObjectItemCaseSensitive(json, "correction"),
                         &card->correction));
  card->title = title_of(card, in->arena);
  card->device = card->title;
  *out_card = card;
  return WS_OK;
}

ws_status ws__card_read(const char *path, int depth, ws_arena *arena,
                        const ws_sim_card **out_card, ws_diag *diag) {
  const reader in = {path, arena, diag};
  char *text;
  size_t size;
  WS_TRY(ws_file_read(arena, path, &text, &size, diag));
  if (size > MOST_BYTES || strlen(text) != size)
    return WRONG(&in, "this is no profile; `wavesmith sim --print-profile "
                      "mi300x` prints one");
  const char *end = NULL;
  cJSON *json = cJSON_ParseWithOpts(text, &end, true);
  ws_status status =
      json ? read_card(&in, json, depth, out_card)
           : WRONG(&in,
                   "this is not JSON from byte %lld on; `wavesmith sim "
                   "--print-profile mi300x` prints a profile",
                   (long long)(end ? end - text : 0));
  cJSON_Delete(json);
  return status;
}
