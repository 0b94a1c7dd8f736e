/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See bench_options.h.
 */
#include "bench_options.h"
#include "tools.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(member) WS_OPTION_TEXT, .offset = offsetof(bench_options, member)
static const ws_option rows[] = {
    TOOL_PROBLEM_ROW,
    TOOL_REFERENCE_ROWS,
    {"against", "SUBJECT",
     "another one, timed in turn with it: ratio, interval, and faster, slower "
     "or same by the noise of this session",
     TEXT(against)},
    {"archive", "DB", "of SUBJECT", TEXT(archive)},
    {"against-archive", "DB", "of the other", TEXT(against_archive)},
    {"set", "a=1;b=2", "parameters", TEXT(set)},
    {"against-set", "a=1", "parameters of the other", TEXT(against_set)},
    {"variant", "r=v", "variants of regions", TEXT(variants)},
    {"against-variant", "r=v", "variants of the other", TEXT(against_variants)},
    {"layout", "L", "of a template (default: its target's first)",
     TEXT(layout)},
    {"shapes", "S",
     "shape set or A,B;A,B or a=A,b=B;... or a log of shapes (default: the "
     "problem's first set)",
     TEXT(shapes)},
    {"device", "D",
     "cuda, cuda:1, hip, sim, sim:mi300a (default: the target's kind)",
     TEXT(device), .choices = "cuda hip sim sim:mi300a sim:mi308x sim:mi325x"},
    {"width", "P",
     "sample until the 95 % interval is P percent wide (default: 1, with "
     "--against 0.3)",
     TEXT(width)},
    {"samples", "N", "at most (default: 1000)", TEXT(samples)},
    {"seconds", "S", "limit of one timing (default: 60)", TEXT(seconds)},
    {"seed", "N", "of the inputs (default: 1)", TEXT(seed)},
    {"json", NULL, "everything as JSON on stdout", WS_OPTION_FLAG,
     .offset = offsetof(bench_options, json)},
    WS_OPTIONS_END};

const ws_command bench_command = {
    .program = "wavesmith bench",
    .purpose = "time a candidate, a template or a dispatch; compare two",
    .usage = "SUBJECT [--against SUBJECT] [OPTION ...]",
    .about =
        "Times a subject on a shape set. A subject is\n"
        "  DB:ID          a candidate of an archive (or ID, with --archive "
        "DB); "
        "a\n"
        "                 unique beginning of the id will do\n"
        "  FOLDER/candidates/ID.json  a candidate of a text archive, built "
        "anew\n"
        "  FILE.ll        a template, with --set and --variant\n"
        "  NAME.json      an emitted dispatch, with --archive DB, the archive "
        "that it\n"
        "                 came out of; code objects lie beside it\n"
        "DB is an archive, or the folder of a text archive.",
    .options = rows,
    .after =
        "Exit code 1: a shape is refused, a result is wrong, or the input is."};

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
  ws_words words;
  *out = (bench_options){.set = "",
                         .variants = "",
                         .against_set = "",
                         .against_variants = "",
                         .samples = "1000",
                         .seconds = "60",
                         .seed = "1"};
  WS_TRY(ws_options_parse(&bench_command, argc, argv, out, &words, diag));
  out->help = words.help;
  if (out->help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "one subject is wanted, not %d; `wavesmith bench --help` "
                   "shows what it may be",
                   words.count);
  out->subject = words.items[0];
  return read_numbers(out, diag);
}

/* ---- shapes ---- */

ws_status bench_read_shapes(bench_job *job, ws_diag *diag) {
  const ws_problem *problem = job->subject.problem;
  const char *text = job->options.shapes;
  ws_shape_set set;
  WS_TRY(ws_problem_read_shapes(
      problem, problem->layouts[job->subject.layout].name, job->arena,
      text ? text : problem->shape_sets[0].name, &set, diag));
  job->shapes = set.shapes;
  job->shape_count = set.count;
  return WS_OK;
}
