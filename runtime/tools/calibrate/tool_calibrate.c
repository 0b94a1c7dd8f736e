/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith calibrate`: times the benchmarks on a device, fits, writes a
 * profile.
 */
#include "../text_table.h"
#include "../tools.h"
#include "calibrate.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct calibrate_options {
  const char *device, *out, *name, *base, *only;
} calibrate_options;

#define AT(member) .offset = offsetof(calibrate_options, member)
static const ws_option rows[] = {
    {"device", "D", "hip (default), sim, sim:CARD, sim:FILE.json",
     WS_OPTION_TEXT, AT(device), .choices = "hip sim"},
    {"out", "FILE.json", "the profile that is written", WS_OPTION_TEXT,
     AT(out)},
    {"name", "NAME", "of the profile (default: calibrated)", WS_OPTION_TEXT,
     AT(name)},
    {"base", "CARD",
     "the card, or profile, whose numbers stay where nothing is fitted "
     "(default: mi300x)",
     WS_OPTION_TEXT, AT(base), .choices = "mi300x mi300a mi308x mi325x"},
    {"only", "A,B,...", "fit these constants alone", WS_OPTION_TEXT, AT(only)},
    WS_OPTIONS_END};

const ws_command calibrate_command = {
    .program = "wavesmith calibrate",
    .purpose = "fit the simulator's constants to a card",
    .usage = "--device hip --out FILE.json [OPTION ...]",
    .about =
        "Times micro-benchmarks on a card for gfx942, finds the constants of "
        "the\nsimulator's clock with which it takes these times, and writes "
        "them as a profile\nfor `--device sim:FILE.json` (docs/calibrate.md).",
    .options = rows,
    .after = "Exit code 1: --out cannot be used. 2: wrong usage, or --base has "
             "another number\nof CUs than the device, or a learned "
             "correction. 3: no such device, or one that\ngives no times."};

/* ---- which -----------------------------------------------------------------
 */

static bool is_named(const char *list, const char *name) {
  const size_t length = strlen(name);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
      return true;
  }
  return false;
}

static ws_status choose(const calibrate_options *options, ws_arena *arena,
                        calibrate_result **out, int *out_count, ws_diag *diag) {
  const char *all = "";
  *out =
      ws_arena_alloc(arena, sizeof **out * (size_t)calibrate_benchmark_count);
  for (int i = 0; i < calibrate_benchmark_count; i++) {
    const char *name = calibrate_benchmarks[i].constant;
    all = ws_arena_printf(arena, "%s%s%s", all, *all ? "," : "", name);
    if (!options->only || is_named(options->only, name))
      (*out)[(*out_count)++].benchmark = &calibrate_benchmarks[i];
  }
  char *rest = ws_arena_strdup(arena, options->only ? options->only : all);
  for (char *word; (word = strsep(&rest, ","));)
    if (!is_named(all, word))
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "--only: no benchmark tells '%s'; there are those of %s",
                     word, all);
  return WS_OK;
}

/* ---- doing it --------------------------------------------------------------
 */

/* Dispatch and shares of the memory go by CUs: with others the fit would be
 * good, and wrong. */
static ws_status check_device(const calibrate_options *options,
                              const ws_device_info *info, int64_t cu_count,
                              ws_diag *diag) {
  if (strncmp(info->arch, "gfx942", 6))
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "%s is %s; the simulator's clock is of gfx942",
                   options->device, info->arch);
  if (info->cu_count == cu_count)
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "%s has %d CUs, %s %lld; name with --base a card, or a "
                 "profile with its xcds and cus_per_xcd",
                 options->device, info->cu_count, options->base,
                 (long long)cu_count);
}

static ws_status measure_all(ws_device_client *client,
                             const calibrate_code *code,
                             calibrate_result *results, int count,
                             ws_diag *diag) {
  for (int i = 0; i < count; i++)
    WS_TRY(calibrate_measure(client, code, results[i].benchmark,
                             &results[i].measured_us, &results[i].noise, diag));
  return WS_OK;
}

static void print(ws_arena *arena, const calibrate_result *results, int count) {
  static const char *const headings[] = {"constant", "base",      "fitted",
                                         "from",     "time us",   "noise",
                                         "base off", "fitted off"};
  text_table table = text_table_create(arena, "lrrlrrrr", headings);
  for (int i = 0; i < count; i++) {
    const calibrate_result *r = &results[i];
    const char *cells[] = {
        r->benchmark->constant,
        ws_arena_printf(arena, "%lld", (long long)r->base),
        ws_arena_printf(arena, "%lld%s", (long long)r->fitted,
                        r->doubt ? " ?" : ""),
        r->benchmark->name,
        ws_arena_printf(arena, "%.2f", r->measured_us),
        ws_arena_printf(arena, "%.1f%%", 100 * r->noise),
        ws_arena_printf(arena, "%+.1f%%",
                        100 * (r->base_us / r->measured_us - 1)),
        ws_arena_printf(arena, "%+.1f%%",
                        100 * (r->fitted_us / r->measured_us - 1))};
    text_table_add(&table, cells);
  }
  text_table_print(&table);
}

static const char *today(ws_arena *arena) {
  char text[16] = "";
  const time_t now = time(NULL);
  struct tm day;
  if (localtime_r(&now, &day))
    strftime(text, sizeof text, "%Y-%m-%d", &day);
  return ws_arena_strdup(arena, text);
}

/* Before a card is asked for a minute. */
static ws_status check_out(const char *path, ws_arena *arena, ws_diag *diag) {
  char *folder = ws_arena_strdup(arena, path), *end = strrchr(folder, '/');
  if (end)
    end[end == folder] = 0;
  struct stat there;
  if (access(end ? folder : ".", W_OK))
    return ws_fail(diag, WS_INPUT, path, 0, "cannot be written: %s",
                   strerror(errno));
  if (!stat(path, &there) && !S_ISREG(there.st_mode))
    return ws_fail(diag, WS_INPUT, path, 0,
                   "is no file; name one that is to be written");
  return WS_OK;
}

/* A file is written down as a whole path: the profile may go elsewhere. */
static const char *whole_path(ws_arena *arena, const char *base) {
  char *path =
      strstr(base, ".json") || strchr(base, '/') ? realpath(base, NULL) : NULL;
  const char *whole = path ? ws_arena_strdup(arena, path) : base;
  free(path);
  return whole;
}

static ws_status check_name(const char *name, ws_diag *diag) {
  ws_diag found;
  return ws_sim_card_check_name(name, &found) == WS_OK
             ? WS_OK
             : ws_fail(diag, WS_USAGE, NULL, 0, "--name %s", found.text);
}

static ws_status calibrate(const calibrate_options *options, ws_arena *arena,
                           ws_diag *diag) {
  const char *base = whole_path(arena, options->base);
  calibrate_result *results;
  calibrate_code code;
  ws_device_client *client;
  int64_t cu_count;
  int count = 0;
  WS_TRY(check_name(options->name, diag));
  WS_TRY(choose(options, arena, &results, &count, diag));
  WS_TRY(check_out(options->out, arena, diag));
  WS_TRY(calibrate_read_base(arena, base, results, count, &cu_count, diag));
  WS_TRY(calibrate_compile(arena, &code, diag));
  WS_TRY(ws_device_client_start(options->device, &client, diag));
  ws_status status =
      check_device(options, ws_device_client_info(client), cu_count, diag);
  if (status == WS_OK)
    status = measure_all(client, &code, results, count, diag);
  const char *source =
      ws_arena_printf(arena, "calibrated %s on %s", today(arena),
                      ws_device_client_info(client)->provenance);
  ws_device_client_stop(client);
  WS_TRY(status);
  WS_TRY(calibrate_fit(arena, base, &code, results, count, diag));
  const char *profile =
      calibrate_profile(arena, options->name, base, results, count, source);
  WS_TRY(ws_file_write_atomic(options->out, profile, strlen(profile), diag));
  print(arena, results, count);
  printf("\n%s: %d constants, the others are %s's. Try it: wavesmith sim "
         "--device sim:%s ...\n",
         options->out, count, base, options->out);
  for (int i = 0; i < count; i++)
    if (results[i].doubt)
      printf("%s ?: %s\n", results[i].benchmark->constant, results[i].doubt);
  return WS_OK;
}

int tool_calibrate(int argc, char **argv) {
  ws_diag diag = {""};
  calibrate_options options = {
      .device = "hip", .name = "calibrated", .base = "mi300x"};
  ws_words words;
  ws_status status =
      ws_options_parse(&calibrate_command, argc, argv, &options, &words, &diag);
  if (status == WS_OK && words.help)
    return tool_help(&calibrate_command);
  if (status == WS_OK && words.count)
    status = ws_fail(&diag, WS_USAGE, NULL, 0, "'%s' is one argument too many",
                     words.items[0]);
  if (status == WS_OK && !options.out)
    status = ws_fail(&diag, WS_USAGE, NULL, 0,
                     "--out FILE.json, the profile to write, is missing");
  if (status != WS_OK)
    return tool_fail("calibrate", status, &diag);
  ws_arena *arena = ws_arena_create();
  status = calibrate(&options, arena, &diag);
  ws_arena_destroy(arena);
  return status == WS_OK ? 0 : tool_fail("calibrate", status, &diag);
}
