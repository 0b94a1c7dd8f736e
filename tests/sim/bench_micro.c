/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The cycle model against micro benchmarks that were measured on an MI300X
 * (micro/README.md): each row's kernel is written again, timed in the
 * simulator, and its quantity printed beside the measured one. Figures only;
 * skipped without the data.
 */
#include "micro/sets.h"
#include "wavesmith/options.h"

#include <math.h>

enum { MOST_CURVES = 256, MOST_POINTS = 1024 };

typedef struct settings {
  const char *only, *row, *set, *csv, *compare;
} settings;

typedef struct curve {
  const char *name;
  double errors[MOST_POINTS]; /* ln(simulated / measured) */
  int count;
} curve;

typedef struct bench {
  settings settings;
  machine machine;
  ws_arena *arena;
  FILE *csv, *compare; /* NULL: none is wanted */
  int compared;        /* rows there */
  curve curves[MOST_CURVES];
  int curve_count; /* of the set */
} bench;

/* ---- names ------------------------------------------------------------------
 */

/* "block=64,blocks_per_cu=1" */
static const char *place_text(ws_arena *arena, const csv_row *row,
                              const char *columns) {
  char *copy = ws_arena_strdup(arena, columns), *rest = NULL;
  const char *text = "";
  for (char *column = strtok_r(copy, ",", &rest); column;
       column = strtok_r(NULL, ",", &rest))
    text = ws_arena_printf(arena, "%s%s%s=%s", text, *text ? "," : "", column,
                           csv_text(row, column));
  return text;
}

static const char *joined(ws_arena *arena, const char *a, const char *b) {
  return ws_arena_printf(arena, "%s%s%s", a, *a && *b ? "," : "", b);
}

/* ---- agreement --------------------------------------------------------------
 */

static curve *curve_named(bench *b, const char *name) {
  int i = 0;
  while (i < b->curve_count && strcmp(b->curves[i].name, name))
    i++;
  WS_ASSERT(i < MOST_CURVES);
  if (i == b->curve_count)
    b->curves[b->curve_count++] = (curve){.name = name};
  return &b->curves[i];
}

static int compare(const void *a, const void *b) {
  const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
  return (x > y) - (x < y);
}

typedef struct agreement {
  double median, worst; /* |ln ratio| in per cent */
  double mean;          /* ln ratio in per cent, with its sign */
} agreement;

static agreement agreement_of(double *errors, int count) {
  agreement a = {0, 0, 0};
  qsort(errors, (size_t)count, sizeof *errors, compare);
  for (int i = 0; i < count; i++)
    a.mean += 100 * errors[i] / count;
  a.median = 50 * (fabs(errors[(count - 1) / 2]) + fabs(errors[count / 2]));
  a.worst = 100 * fabs(errors[count - 1]);
  return a;
}

static void print_agreement(const char *set, const char *what, double *errors,
                            int count) {
  const agreement a = agreement_of(errors, count);
  printf("%s %s: %d rows, |ln ratio| median %.1f%%, worst %.1f%%, mean ln "
         "%+.1f%%\n",
         set, what, count, a.median, a.worst, a.mean);
}

static void print_curves(bench *b, const micro_set *set, double seconds) {
  static double all[MOST_CURVES * MOST_POINTS];
  int count = 0;
  for (int i = 0; i < b->curve_count; i++) {
    curve *c = &b->curves[i];
    memcpy(all + count, c->errors, (size_t)c->count * sizeof *all);
    count += c->count;
    print_agreement(set->name, ws_arena_printf(b->arena, "curve %s", c->name),
                    c->errors, c->count);
  }
  if (count)
    print_agreement(set->name,
                    ws_arena_printf(b->arena, "summary (%.1f CPU s)", seconds),
                    all, count);
}

/* ---- rows -------------------------------------------------------------------
 */

/* The time of an instruction, a load, a gigabyte; 0: none, of a clock. */
static double as_us(const char *unit, double quantity) {
  return !strcmp(unit, "clk")    ? quantity / ws__clock_mi300x.clock_mhz
         : !strcmp(unit, "ns")   ? quantity / 1e3
         : !strcmp(unit, "GB/s") ? 1e6 / quantity
                                 : 0;
}

/* The report of a row that `wavesmith sim --compare` is to read. */
static const char *open_report(bench *b) {
  const char *path = ws_arena_printf(b->arena, "%s.%d.json",
                                     b->settings.compare, ++b->compared);
  b->machine.report = fopen(path, "w");
  if (!b->machine.report) {
    perror(path);
    exit(1);
  }
  return path;
}

static void close_report(bench *b) {
  fclose(b->machine.report);
  b->machine.report = NULL;
}

static void run_column(bench *b, const micro_set *set, const csv_row *row,
                       const char *column) {
  const char *curve_place = place_text(b->arena, row, set->curve);
  const char *point = place_text(b->arena, row, set->point);
  const char *name =
      joined(b->arena, joined(b->arena, curve_place, point), column);
  if (b->settings.row && !strstr(name, b->settings.row))
    return;
  const bool compares = b->compare && as_us(set->unit, 1) > 0;
  const char *report = compares ? open_report(b) : "";
  const double measured = csv_number(row, column);
  const double simulated = set->simulate(&b->machine, row, column);
  if (compares) {
    close_report(b);
    fprintf(b->compare, "%s,\"%s %s\",%s,%.9g,%.9g\n", set->name, set->name,
            set->points_compete ? joined(b->arena, curve_place, column) : name,
            report, as_us(set->unit, measured), as_us(set->unit, simulated));
  }
  printf("%s %s %.6g %.6g %.3f\n", set->name, name, measured, simulated,
         simulated / measured);
  fflush(stdout);
  if (b->csv)
    fprintf(b->csv, "%s,\"%s\",\"%s\",%s,%s,%.6g,%.6g\n", set->name,
            curve_place, point, column, set->unit, measured, simulated);
  curve *c = curve_named(b, joined(b->arena, curve_place, column));
  WS_ASSERT(c->count < MOST_POINTS);
  c->errors[c->count++] = log(simulated / measured);
}

static void run_row(bench *b, const micro_set *set, const csv_row *row) {
  char *copy = ws_arena_strdup(b->arena, set->columns), *rest = NULL;
  for (char *column = strtok_r(copy, ",", &rest); column;
       column = strtok_r(NULL, ",", &rest))
    run_column(b, set, row, column);
}

/* false: the data is not there. */
static bool run_set(bench *b, const micro_set *set) {
  const char *shared = getenv("WS_SHARED_DIR");
  const char *path = ws_arena_printf(b->arena, "%s/data/mi300x_micro/%s.csv",
                                     shared ? shared : "../shared", set->name);
  char *text;
  size_t size;
  if (!ws_file_exists(path)) {
    printf("skipped: no %s\n", path);
    return false;
  }
  machine_must(&b->machine,
               ws_file_read(b->arena, path, &text, &size, &b->machine.diag));
  const csv *table = csv_parse(b->arena, text);
  const clock_t begin = clock();
  b->curve_count = 0;
  for (int i = 0; i < table->row_count; i++)
    if (set->takes(&table->rows[i]))
      run_row(b, set, &table->rows[i]);
  print_curves(b, set, (double)(clock() - begin) / CLOCKS_PER_SEC);
  return true;
}

/* ---- options ----------------------------------------------------------------
 */

static bool change_constant(ws__clock_constants *constants, const char *name,
                            int64_t value) {
#define CHANGE(field, ...)                                                     \
  if (!strcmp(name, #field))                                                   \
    return constants->field = value, true;
  WS_CLOCK_CONSTANTS(CHANGE)
#undef CHANGE
  return false;
}

static void change_constants(bench *b) {
  char *copy = ws_arena_strdup(b->arena, b->settings.set), *rest = NULL;
  for (char *one = strtok_r(copy, ",", &rest); one;
       one = strtok_r(NULL, ",", &rest)) {
    char *value = strchr(one, '=');
    if (value)
      *value++ = 0;
    if (!value || !change_constant(&b->machine.constants, one,
                                   strtoll(value, NULL, 10))) {
      fprintf(stderr, "--set: the clock has no constant '%s'\n", one);
      exit(2);
    }
  }
}

static const ws_option options[] = {
    {"only", "SET", "this data set alone", WS_OPTION_TEXT,
     offsetof(settings, only), .choices = ""},
    {"row", "SUBSTRING",
     "rows whose name contains it, with the profile of each launch",
     WS_OPTION_TEXT, offsetof(settings, row), .choices = ""},
    {"set", "NAME=VALUE[,...]", "other values for constants of the clock",
     WS_OPTION_TEXT, offsetof(settings, set), .choices = ""},
    {"csv", "FILE", "writes every row to FILE", WS_OPTION_TEXT,
     offsetof(settings, csv), .choices = NULL},
    {"compare", "FILE",
     "writes rows to FILE for `wavesmith sim --compare`, the reports of their "
     "launches to FILE.N.json; of engine clocks none",
     WS_OPTION_TEXT, offsetof(settings, compare), .choices = NULL},
    WS_OPTIONS_END};
static const ws_command command = {
    .program = "bench_sim_micro",
    .purpose = "the cycle model against measured micro benchmarks",
    .usage = "[options]",
    .about = "One line a row: data set, row, measured, simulated, their ratio.",
    .options = options};

static bool reads_options(bench *b, int argc, char **argv) {
  ws_words words;
  ws_diag diag;
  if (ws_options_parse(&command, argc, argv, &b->settings, &words, &diag) !=
      WS_OK) {
    fprintf(stderr, "%s\n", diag.text);
    exit(2);
  }
  if (words.help)
    ws_command_print_help(&command, stdout);
  return !words.help;
}

static void must_be_a_set(const char *name) {
  int i = 0;
  while (i < MICRO_SETS && strcmp(micro_sets[i].name, name))
    i++;
  if (i < MICRO_SETS)
    return;
  fprintf(stderr, "--only: there is no data set '%s'; there are", name);
  for (i = 0; i < MICRO_SETS; i++)
    fprintf(stderr, " %s", micro_sets[i].name);
  fputc('\n', stderr);
  exit(2);
}

/* NULL: is not wanted. */
static FILE *open_table(const char *path, const char *head) {
  FILE *file = path ? fopen(path, "w") : NULL;
  if (path && !file) {
    perror(path);
    exit(1);
  }
  if (file)
    fprintf(file, "%s\n", head);
  return file;
}

static void close_table(FILE *file) {
  if (file)
    fclose(file);
}

int main(int argc, char **argv) {
  static bench b;
  if (!reads_options(&b, argc, argv))
    return 0;
  if (b.settings.only)
    must_be_a_set(b.settings.only);
  b.arena = ws_arena_create();
  machine_open(&b.machine, b.arena);
  b.machine.explains = b.settings.row != NULL;
  if (b.settings.set)
    change_constants(&b);
  b.csv = open_table(b.settings.csv,
                     "set,curve,point,column,unit,measured,simulated");
  b.compare =
      open_table(b.settings.compare, "family,group,report,us,simulated_us");
  bool there = true;
  for (int i = 0; i < MICRO_SETS && there; i++)
    if (!b.settings.only || !strcmp(micro_sets[i].name, b.settings.only))
      there = run_set(&b, &micro_sets[i]);
  close_table(b.csv);
  close_table(b.compare);
  machine_close(&b.machine);
  ws_arena_destroy(b.arena);
  return 0;
}
