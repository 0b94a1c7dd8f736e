/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See bench_options.h.
 */
#include "bench_options.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char bench_usage[] =
    "usage: wavesmith bench SUBJECT [--against SUBJECT] [OPTION ...]\n"
    "Times a subject on a shape set. A subject is\n"
    "  DB:ID          a candidate of an archive (or ID, with --archive DB); a\n"
    "                 unique beginning of the id will do\n"
    "  FOLDER/candidates/ID.json  a candidate of a text archive, built anew\n"
    "  FILE.ll        a template, with --set and --variant\n"
    "  NAME.json      an emitted dispatch, with --archive DB, the archive that "
    "it\n"
    "                 came out of; code objects lie beside it\n"
    "DB is an archive, or the folder of a text archive.\n\n"
    "  --against SUBJECT  another one, timed in turn with it: ratio, interval, "
    "and\n"
    "                     faster, slower or same by the noise of this session\n"
    "  --archive DB       of SUBJECT; --against-archive DB of the other\n"
    "  --set a=1;b=2      parameters; --against-set of the other\n"
    "  --variant r=v      variants of regions; --against-variant of the other\n"
    "  --layout L         of a template (default: its target's first)\n"
    "  --shapes S         shape set or m,n,k;m,n,k (default: contest)\n"
    "  --device D         cuda, cuda:1, hip, sim (default: the target's kind)\n"
    "  --width P          sample until the 95 % interval is P percent wide\n"
    "                     (default: 1, with --against 0.3)\n"
    "  --samples N        at most (default: 1000)\n"
    "  --seconds S        limit of one timing (default: 60)\n"
    "  --seed N           of the inputs (default: 1)\n"
    "  --json             everything as JSON on stdout\n"
    "Exit code 1: a shape is refused, a result is wrong, or the input is.\n";

enum { OPTION_JSON = 256, OPTION_HELP };

static const struct {
  const char *name;
  size_t offset;
} texts[] = {
    {"against", offsetof(bench_options, against)},
    {"archive", offsetof(bench_options, archive)},
    {"against-archive", offsetof(bench_options, against_archive)},
    {"set", offsetof(bench_options, set)},
    {"against-set", offsetof(bench_options, against_set)},
    {"variant", offsetof(bench_options, variants)},
    {"against-variant", offsetof(bench_options, against_variants)},
    {"layout", offsetof(bench_options, layout)},
    {"shapes", offsetof(bench_options, shapes)},
    {"device", offsetof(bench_options, device)},
    {"width", offsetof(bench_options, width)},
    {"samples", offsetof(bench_options, samples)},
    {"seconds", offsetof(bench_options, seconds)},
    {"seed", offsetof(bench_options, seed)},
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

static void fill_table(struct option table[TEXTS + 3]) {
  for (int i = 0; i < TEXTS; i++)
    table[i] = (struct option){texts[i].name, required_argument, NULL, i};
  table[TEXTS] = (struct option){"json", no_argument, NULL, OPTION_JSON};
  table[TEXTS + 1] = (struct option){"help", no_argument, NULL, OPTION_HELP};
  table[TEXTS + 2] = (struct option){0};
}

static ws_status read_number(const char *option, const char *text, double low,
                             double high, double *out, ws_diag *diag) {
  char *end;
  *out = strtod(text, &end);
  if (end != text && !*end && *out >= low && *out <= high)
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "--%s is a number from %g to %g, not '%s'", option, low, high,
                 text);
}

static ws_status read_numbers(bench_options *out, ws_diag *diag) {
  double samples, seed;
  const char *width = out->width ? out->width : out->against ? "0.3" : "1";
  WS_TRY(read_number("width", width, 0, 100, &out->width_value, diag));
  WS_TRY(read_number("samples", out->samples, 1, 65536, &samples, diag));
  WS_TRY(read_number("seconds", out->seconds, 0.1, 3600, &out->seconds_value,
                     diag));
  WS_TRY(read_number("seed", out->seed, 0, 9007199254740991.0, &seed, diag));
  /* the least number of samples is the protocol's */
  int least = ws_measure_settings_default.min_samples;
  out->samples_value = samples < least ? least : (int)samples;
  out->seed_value = (uint64_t)seed;
  return WS_OK;
}

ws_status bench_options_parse(int argc, char **argv, bench_options *out,
                              ws_diag *diag) {
  struct option table[TEXTS + 3];
  int option;
  fill_table(table);
  *out = (bench_options){.set = "",
                         .variants = "",
                         .against_set = "",
                         .against_variants = "",
                         .shapes = "contest",
                         .samples = "1000",
                         .seconds = "60",
                         .seed = "1"};
  opterr = 0;
  while ((option = getopt_long(argc, argv, ":", table, NULL)) >= 0) {
    if (option == '?' || option == ':')
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is unknown or lacks its value; `wavesmith bench "
                     "--help` lists the options",
                     argv[optind - 1]);
    if (option < TEXTS)
      memcpy((char *)out + texts[option].offset, &optarg, sizeof optarg);
    out->json |= option == OPTION_JSON;
    out->help |= option == OPTION_HELP;
  }
  if (out->help)
    return WS_OK;
  if (argc - optind != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "one subject is wanted, not %d; `wavesmith bench --help` "
                   "shows what it may be",
                   argc - optind);
  out->subject = argv[optind];
  return read_numbers(out, diag);
}

/* ---- shapes ---- */

static bool read_shape(const char **at, ws_shape *out) {
  int64_t *const members[] = {&out->m, &out->n, &out->k};
  for (int i = 0; i < 3; i++) {
    char *end;
    *members[i] = strtoll(*at, &end, 10);
    if (end == *at || (i < 2 ? *end != ',' : *end && *end != ';'))
      return false;
    *at = end + (*end != 0);
  }
  return true;
}

ws_status bench_read_shapes(bench_job *job, ws_diag *diag) {
  const ws_problem *problem = job->subject.problem;
  const char *text = job->options.shapes;
  const ws_shape_set *set = ws_problem_shape_set(problem, text);
  if (set) {
    job->shapes = set->shapes;
    job->shape_count = set->count;
    return WS_OK;
  }
  ws_shape *shapes =
      ws_arena_alloc(job->arena, sizeof *shapes * (strlen(text) / 5 + 1));
  for (const char *at = text; *at;) {
    ws_shape *shape = &shapes[job->shape_count];
    if (!read_shape(&at, shape))
      return ws_fail(diag, WS_USAGE, NULL, 0,
                     "'%s' is neither a shape set of %s nor a list "
                     "m,n,k;m,n,k",
                     text, problem->name);
    WS_TRY(problem->check_shape(shape, diag));
    job->shape_count++;
  }
  job->shapes = shapes;
  return job->shape_count
             ? WS_OK
             : ws_fail(diag, WS_USAGE, NULL, 0, "--shapes is empty");
}
