/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a list of shapes leaves out, by name and line: counted from the shapes
 * alone.
 */
#include "coverage_internal.h"

#include <string.h>

static const ws_json_field gap_fields[] = {
    {WS_JSON_TEXT(ws_gap, text)},
    {WS_JSON_TEXT(ws_gap, region)},
    {WS_JSON_TEXT(ws_gap, file)},
    {WS_JSON_INT(ws_gap, line, 0, INT32_MAX)}};
const ws_json_struct ws_gap_json = WS_JSON_STRUCT(ws_gap, gap_fields);

typedef struct gaps {
  ws_arena *arena;
  const ws_coverage_subject *subject;
  const ws_tried *tried;
  int tried_count;
  ws_gap *items;
  int count;
} gaps;

static void add(gaps *g, const ws_branch *branch, const char *text) {
  g->items[g->count++] = (ws_gap){.text = text,
                                  .region = branch ? branch->region : "",
                                  .file = branch ? branch->file : "",
                                  .line = branch ? branch->line : 0};
}

/* ---- sizes ---- */

int64_t ws__coverage_largest_of_set(const ws_problem *problem, int dimension) {
  const ws_shape_set *set = &problem->shape_sets[0];
  int64_t largest = 0;
  for (int i = 0; i < set->count; i++)
    if (set->shapes[i].size[dimension] > largest)
      largest = set->shapes[i].size[dimension];
  return largest;
}

/* Along a dimension from a shape, by doubling and halving; the shape's own
 * where none is taken beyond. */
static int64_t stretch(const ws_coverage_subject *subject, ws_shape shape,
                       int dimension) {
  const ws_problem *problem = subject->problem;
  int64_t step = problem->step.size[dimension];
  int64_t taken = shape.size[dimension] / step, beyond = 2;
  while (beyond <= taken)
    beyond *= 2;
  for (; beyond <= INT32_MAX / step + 1; beyond *= 2) {
    shape.size[dimension] = beyond * step;
    if (!ws__coverage_takes(problem, subject->candidate, &shape))
      break;
    taken = beyond;
  }
  while (beyond - taken > 1) {
    int64_t middle = (taken + beyond) / 2;
    shape.size[dimension] = middle * step;
    bool is_taken = ws__coverage_takes(problem, subject->candidate, &shape);
    *(is_taken ? &taken : &beyond) = middle;
  }
  return taken * step;
}

int64_t ws__coverage_largest(const ws_coverage_subject *subject,
                             int dimension) {
  return stretch(subject, subject->problem->least, dimension);
}

static int64_t largest_tried(const gaps *g, int dimension) {
  int64_t largest = 0;
  for (int i = 0; i < g->tried_count; i++)
    if (g->tried[i].shape.size[dimension] > largest)
      largest = g->tried[i].shape.size[dimension];
  return largest;
}

/* "cols > 16384 (set model has 32768, legal are 65536)" */
static void add_sizes(gaps *g) {
  const ws_problem *problem = g->subject->problem;
  for (int d = 0; d < problem->dims->count; d++) {
    int64_t tried = largest_tried(g, d);
    int64_t legal = ws__coverage_largest(g->subject, d);
    int64_t set = ws__coverage_largest_of_set(problem, d);
    const char *of_set =
        set > tried
            ? ws_arena_printf(g->arena, ", the set '%s' to %lld",
                              problem->shape_sets[0].name, (long long)set)
            : "";
    if (legal > tried)
      add(g, NULL,
          ws_arena_printf(g->arena, "%s > %lld (legal to %lld%s)",
                          problem->dims->names[d], (long long)tried,
                          (long long)legal, of_set));
  }
}

/* ---- offsets ---- */

static int64_t elements_of(const gaps *g, int arg, const ws_shape *shape) {
  const ws_problem *problem = g->subject->problem;
  return ws_problem_arg_bytes(problem, arg, shape, g->subject->layout) /
         ws_type_bytes(problem->args[arg].type);
}

/* The most elements of an argument that some shape has, as far as stretching
 * the dimensions in turn tells. */
static int64_t most_elements(const gaps *g, int arg) {
  const ws_problem *problem = g->subject->problem;
  int64_t most = 0;
  for (int first = 0; first < problem->dims->count; first++) {
    ws_shape shape = problem->least;
    for (int i = 0; i < problem->dims->count; i++) {
      int d = (first + i) % problem->dims->count;
      shape.size[d] = stretch(g->subject, shape, d);
    }
    int64_t elements = elements_of(g, arg, &shape);
    most = elements > most ? elements : most;
  }
  return most;
}

static int64_t most_tried(const gaps *g, int arg) {
  int64_t most = 0;
  for (int i = 0; i < g->tried_count; i++) {
    int64_t elements = elements_of(g, arg, &g->tried[i].shape);
    most = elements > most ? elements : most;
  }
  return most;
}

/* An index of 32 bits does for what was tried. */
static void add_offsets(gaps *g) {
  const int64_t far = INT64_C(1) << 31;
  const ws_problem *problem = g->subject->problem;
  ws_strbuf names;
  ws_strbuf_init(&names);
  for (int i = 0; i < problem->arg_count; i++)
    if (ws_arg_is_pointer(problem->args[i].role) &&
        problem->args[i].role != WS_ARG_WORKSPACE && most_tried(g, i) <= far &&
        most_elements(g, i) > far)
      ws_strbuf_printf(&names, "%s%s", names.size ? ", " : "",
                       problem->args[i].name);
  if (names.size)
    add(g, NULL,
        ws_arena_printf(g->arena, "offsets of 2^31 elements and more in %s",
                        names.data));
  ws_strbuf_deinit(&names);
}

/* ---- branches ---- */

/* An expression without what it needs to wrap as the code does. */
static const char *readable(ws_arena *arena, const char *text) {
  static const char end[] = " % 4294967296 + 4294967296) % 4294967296";
  const char *at = strstr(text, end);
  if (!at)
    return text;
  const char *begin = at; /* "((x)" before it */
  for (int open = 0; begin > text; begin--) {
    open += *begin == ')';
    open -= *begin == '(';
    if (!open && begin < at)
      break;
  }
  begin = begin > text && begin[-1] == '(' ? begin - 1 : begin;
  bool all = begin == text && !at[strlen(end)];
  const char *inner = ws_arena_strndup(arena, begin + 1 + all,
                                       (size_t)(at - begin) - 1 - 2 * all);
  return readable(arena, ws_arena_printf(arena, "%.*s%s%s", (int)(begin - text),
                                         text, inner, at + strlen(end)));
}

static void add_comparison(gaps *g, const ws__decision *d,
                           const ws__aspects *seen) {
  static const char *const operators[] = {"<", "==", ">"};
  uint64_t missing = d->can.bits[0] & ~seen->bits[0];
  for (int bit = 0; bit < 3; bit++)
    if (missing >> bit & 1)
      add(g, d->branch,
          ws_arena_printf(g->arena, "%s %s %s",
                          readable(g->arena, d->branch->left), operators[bit],
                          readable(g->arena, d->branch->right)));
}

static int count_bits(const ws__aspects *aspects, int from) {
  int count = 0;
  for (int i = from; i < WS__ASPECT_WORDS; i++)
    count += __builtin_popcountll(aspects->bits[i]);
  return count;
}

static void add_trips(gaps *g, const ws__decision *d, const ws__aspects *seen) {
  uint64_t missing = d->can.bits[0] & ~seen->bits[0];
  const char *left = readable(g->arena, d->branch->left);
  for (int q = 0; q < 4; q++)
    if (missing >> (2 * q) & 3)
      add(g, d->branch,
          ws_arena_printf(g->arena, "(%s) / %lld %s %d%s", left,
                          (long long)d->branch->modulus, q < 3 ? "==" : ">=", q,
                          (missing >> (2 * q) & 3) == 1   ? ", nothing left"
                          : (missing >> (2 * q) & 3) == 2 ? ", something left"
                                                          : ""));
}

/* Where there are more than bits to tell them apart, those of each bit count
 * as one that occurred. */
static void add_remainders(gaps *g, const ws__decision *d,
                           const ws__aspects *seen) {
  int64_t all = d->branch->modulus / d->unit, some = count_bits(seen, 1);
  if (all <= 64 * (WS__ASPECT_WORDS - 1))
    all = count_bits(&d->can, 1);
  if (some < all)
    add(g, d->branch,
        ws_arena_printf(g->arena, "%lld of %lld remainders of %s by %lld",
                        (long long)(all - some), (long long)all,
                        readable(g->arena, d->branch->left),
                        (long long)d->branch->modulus));
}

static void add_decision(gaps *g, const ws__decision *d) {
  ws__aspects seen = {{0}};
  for (int i = 0; i < g->tried_count; i++)
    ws__decision_add(g->subject, d, &g->tried[i], &seen);
  for (int i = 0; i < WS__ASPECT_WORDS; i++)
    seen.bits[i] &= d->can.bits[i];
  if (!d->branch->modulus) {
    add_comparison(g, d, &seen);
    return;
  }
  add_trips(g, d, &seen);
  add_remainders(g, d, &seen);
}

/* Of those that cannot be evaluated nobody knows which sides were taken. */
static void add_involved(gaps *g) {
  const ws_build_result *build = g->subject->build;
  for (int i = 0; i < build->branch_count; i++)
    if (!*build->branches[i].left)
      add(g, &build->branches[i],
          "one side or the other of a comparison that is too involved to "
          "follow");
  if (build->branch_count == WS_MAX_BRANCHES)
    add(g, NULL,
        ws_arena_printf(g->arena,
                        "what the kernel decides beyond its first "
                        "%d comparisons and remainders",
                        WS_MAX_BRANCHES));
}

int ws_coverage_gaps(ws_arena *arena, const ws_coverage_subject *subject,
                     const ws_decisions *decisions, const ws_tried *tried,
                     int tried_count, const ws_gap **out_gaps) {
  enum { EACH = 5, OTHER = WS_MAX_DIMS + WS_MAX_BRANCHES + 2 };
  gaps g = {.arena = arena,
            .subject = subject,
            .tried = tried,
            .tried_count = tried_count};
  g.items = ws_arena_alloc(
      arena, sizeof *g.items * (size_t)(EACH * decisions->count + OTHER));
  for (int i = 0; i < decisions->count; i++)
    add_decision(&g, &decisions->items[i]);
  add_involved(&g);
  add_sizes(&g);
  add_offsets(&g);
  *out_gaps = g.items;
  return g.count;
}
