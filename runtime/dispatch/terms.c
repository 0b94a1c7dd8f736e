/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The terms of time models: their text, and what they are for one kernel.
 */
#include "dispatch_internal.h"
#include "wavesmith/bound_model.h"

#include <string.h>

/* All of a cluster have a tile, also where the matrix ends before. */
#define TILES_M "ceildiv(A, tile_m * cluster_m) * cluster_m"
#define TILES_N "ceildiv(B, tile_n * cluster_n) * cluster_n"
#define TILES TILES_M " * " TILES_N

/* A slice's depth for each of these: its workgroups in rounds over the card. */
#define SLICES TILES " * split_k"
#define DEPTH "ceildiv(D, split_k)"
#define ROUNDS(RESIDENT) "ceildiv(" SLICES ", " RESIDENT "cu_count)"
#define ROUNDS_OF(RESIDENT) ROUNDS(RESIDENT) " * " DEPTH
/* The rounds behind the first: one workgroup more than fit at once waits for a
 * memory that is hardly asked by others. */
#define LATER_ROUNDS_OF(RESIDENT) "(" ROUNDS(RESIDENT) " - 1) * " DEPTH
/* Lines that many bytes apart meet on channels of a cache, the more so the
 * rounder the number, where more than one workgroup a CU asks for them. */
#define MEETING_ON(X)                                                          \
  "(" SLICES " > cu_count ? " SLICES " : 0) * " DEPTH " * (" X                 \
  " % 512 ? 0 : " X " % 1024 ? 1 : " X " % 2048 ? 4 : " X " % 4096 ? 8 : 16)"

/* Of a kernel for gfx942 that walks tiles without bands (order 0), along one side
 * of C or the other: workgroups go to the eight XCDs in turn, so that an XCD makes
 * an eighth of the columns (or rows) where there are a multiple of eight, and two,
 * four or eight times as many where not. Each of its L2s fetches what it makes. */
#define STRAYING(ALONG)                                                        \
  ROUNDS_OF("") " * (order ? 0 : " ALONG " % 8 == 0 ? 0 : " ALONG              \
                " % 4 == 0 ? 1 : " ALONG " % 2 == 0 ? 3 : 7)"

/* The rounds of a kernel whose workgroups come in clusters. One lies within a group
 * of 16 or 18 multiprocessors, so that some of these stay empty: of an H200's 132
 * eight or fewer with clusters of four (62 of 66 fit at two workgroups each, 64 do
 * not), about 18 with five to seven. Which ones a card has differs. */
#define IN_CLUSTER "(split_k * cluster_m * cluster_n)"
#define LEFT_EMPTY                                                             \
  "(" IN_CLUSTER " < 3 ? 0 : " IN_CLUSTER " < 5 ? 2 * " IN_CLUSTER             \
  " : 3 * " IN_CLUSTER ")"
#define ROUNDS_OF_CLUSTERS                                                     \
  "ceildiv(ceildiv(A, tile_m * cluster_m) * ceildiv(B, tile_n * cluster_n), "  \
  "resident * (cu_count - " LEFT_EMPTY ") / " IN_CLUSTER                       \
  " - idle_clusters) * " DEPTH

/* What decides how long a tiled kernel takes: launches and ends (1), rounds of
 * workgroups over the card, each as such (a prologue, an epilogue) and times its
 * depth, with one of them on a CU, two, four, eight, and as many as fit, clusters,
 * and those behind the first round; one alone in its slice, and all of them; lines that
 * meet; rows of tiles past the end; what must be read and written; lines along a
 * dimension that begin within a word or a cache line; tiles that several XCDs
 * fetch. A template without tiles has its workgroups. */
static const char default_terms[] =
    "1\n"
    "ceildiv(workgroups, cu_count)\n"
    "ceildiv(workgroups, cu_count) * D\n"
    "workgroups * D\n"
    "ceildiv(" TILES ", cu_count)\n"
    ROUNDS_OF("") "\n"
    ROUNDS_OF("2 * ") "\n"
    ROUNDS_OF("4 * ") "\n"
    ROUNDS_OF("8 * ") "\n"
    ROUNDS_OF("resident * ") "\n"
    ROUNDS_OF_CLUSTERS "\n"
    LATER_ROUNDS_OF("") "\n"
    LATER_ROUNDS_OF("resident * ") "\n"
    MEETING_ON("D") "\n"
    MEETING_ON("B") "\n"
    DEPTH "\n"
    TILES " * D\n"
    TILES_M " * B * D\n"
    "(" TILES_M " * tile_m - A) * ceildiv(B, tile_n) * D\n"
    "A * D\n"
    "B * D\n"
    "A * B\n"
    ROUNDS_OF("") " * (A % 4 ? 1 : 0)\n"
    ROUNDS_OF("") " * (B % 128 ? 1 : 0)\n"
    "B * D * (B % 128 ? 1 : 0)\n"
    STRAYING("(" TILES_N ")") "\n"
    STRAYING("(" TILES_M ")") "\n";

const char *ws_time_terms_default(void) { return default_terms; }

int ws_time_terms_count(const ws_time_terms *terms) { return terms->count; }

const char *ws_time_terms_text(const ws_time_terms *terms, int index) {
  return terms->texts[index];
}

/* The line without comment and blanks at its ends. */
static const char *clean_line(ws_arena *arena, const char *line, size_t size) {
  const char *comment = memchr(line, '#', size);
  if (comment)
    size = (size_t)(comment - line);
  while (size && strchr(" \t\r", *line))
    line++, size--;
  while (size && strchr(" \t\r", line[size - 1]))
    size--;
  return ws_arena_printf(arena, "%.*s", (int)size, line);
}

static ws_status add_line(ws_arena *arena, const ws_problem *problem,
                          const char *text, const char *file, int line,
                          const char **texts, const char **written, int *count,
                          ws_diag *diag) {
  ws_expr *expr;
  if (!*text)
    return WS_OK;
  WS_TRY(ws_expr_parse(arena, text, file, line, &expr, diag));
  if (*count == WS_TIME_TERMS_MOST)
    return ws_fail(diag, WS_INPUT, file, line, "more than %d terms",
                   WS_TIME_TERMS_MOST);
  const char *filled = ws__fill_letters(arena, problem, text);
  if (filled) {
    written[*count] = text;
    texts[(*count)++] = filled;
  }
  return WS_OK;
}

ws_status ws_time_terms_parse(ws_arena *arena, const ws_problem *problem,
                              const char *text, const char *file,
                              const ws_time_terms **out_terms, ws_diag *diag) {
  const char **texts =
      ws_arena_alloc(arena, sizeof *texts * WS_TIME_TERMS_MOST);
  const char **written =
      ws_arena_alloc(arena, sizeof *written * WS_TIME_TERMS_MOST);
  int count = 0, line = 1;
  for (const char *at = text; *at; line++) {
    const size_t size = strcspn(at, "\n");
    WS_TRY(add_line(arena, problem, clean_line(arena, at, size), file, line,
                    texts, written, &count, diag));
    at += size + (at[size] == '\n');
  }
  if (!count)
    return ws_fail(diag, WS_INPUT, file, 0,
                   "no term applies to %s; write one expression a line",
                   problem->name);
  ws_time_terms *terms = ws_arena_alloc(arena, sizeof *terms);
  *terms = (ws_time_terms){texts, written, count};
  *out_terms = terms;
  return WS_OK;
}

/* ---- for one kernel ---- */

/* Parameters that are 1 where a template has not got them. */
static const char *const counts[] = {"split_k", "cluster_m", "cluster_n"};

static bool is(const char *word, size_t size, const char *name) {
  return size == strlen(name) && !memcmp(word, name, size);
}

static bool is_lacking(const ws_template *tmpl, const char *word, size_t size) {
  bool count = false;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    count |= is(word, size, counts[i]);
  for (int i = 0; i < tmpl->param_count; i++)
    if (is(word, size, tmpl->params[i].name))
      return false;
  return count;
}

/* Workgroups of the first launch that a compute unit holds at once; 1 where the
 * facts do not say. */
static int resident(const ws_dispatch_entry *entry, const ws_target *target,
                    const ws_scope *scope) {
  const ws_launch *launch = &entry->candidate->tmpl->launches[0];
  const ws_kernel_facts *facts =
      entry->result ? ws_build_kernel_facts(entry->result, launch->kernel)
                    : NULL;
  int64_t threads;
  if (!facts || ws_expr_eval(launch->threads, scope, &threads, NULL) != WS_OK ||
      threads < 1 || threads > 1024)
    return 1;
  const int count = ws_resident_workgroups(target, facts, (int)threads);
  return count > 0 ? count : 1;
}

/* "workgroups" -> the product of the first launch's grid; "resident" -> how many
 * of them a compute unit holds; counts that there are none of -> 1. */
static const char *fill_words(ws_arena *arena, const char *text,
                              const ws_candidate *candidate, int held) {
  ws_strbuf filled;
  ws_strbuf_init(&filled);
  for (const char *c = text; *c;) {
    const size_t size = ws__word_size(c);
    if (is(c, size, "workgroups")) {
      const ws_launch *launch = &candidate->tmpl->launches[0];
      for (int axis = 0; axis < 3; axis++)
        ws_strbuf_printf(&filled, "%s(%s)", axis ? " * " : "(",
                         ws_expr_text(launch->grid[axis]));
      ws_strbuf_puts(&filled, ")");
    } else if (is(c, size, "resident")) {
      ws_strbuf_printf(&filled, "%d", held);
    } else if (is_lacking(candidate->tmpl, c, size)) {
      ws_strbuf_puts(&filled, "1");
    } else {
      ws_strbuf_append(&filled, c, size ? size : 1);
    }
    c += size ? size : 1;
  }
  const char *out = ws_arena_strdup(arena, filled.data);
  ws_strbuf_deinit(&filled);
  return out;
}

static bool names_only_sizes(const ws_expr *expr, const ws_dims *dims) {
  for (int i = 0; i < ws_expr_name_count(expr); i++) {
    int d = 0;
    while (d < dims->count && strcmp(ws_expr_name(expr, i), dims->names[d]))
      d++;
    if (d == dims->count)
      return false;
  }
  return true;
}

/* ---- terms that no shape can make fail ---- */

/* What a part of an expression is, as far as dividing by it goes. */
typedef enum divisor { SOME_VALUE = 1, NOT_ZERO, FAILS } divisor;

static void *visit_integer(void *context, int64_t value) {
  (void)context;
  return (void *)(intptr_t)(value > 0 ? NOT_ZERO : SOME_VALUE);
}

static void *visit_name(void *context, const char *name) {
  (void)context, (void)name;
  return (void *)(intptr_t)NOT_ZERO; /* sizes are from 1 */
}

static int operands_of(const char *operator_) {
  if (!strcmp(operator_, "!") || !strcmp(operator_, "neg"))
    return 1;
  return strcmp(operator_, "?:") ? 2 : 3;
}

/* Products, sums, maxima and rounded quotients of what is above zero are. */
static void *visit_operation(void *context, const char *operator_,
                             void **operands) {
  static const char *const keep[] = {"*", "+", "min", "max", "ceildiv"};
  bool above = true, kept = false;
  (void)context;
  for (int i = 0; i < operands_of(operator_); i++) {
    if ((intptr_t)operands[i] == FAILS)
      return operands[i];
    above &= (intptr_t)operands[i] == NOT_ZERO;
  }
  if (strchr("/%", *operator_) || !strcmp(operator_, "ceildiv"))
    if ((intptr_t)operands[1] != NOT_ZERO)
      return (void *)(intptr_t)FAILS;
  for (size_t i = 0; i < sizeof keep / sizeof *keep; i++)
    kept |= !strcmp(operator_, keep[i]);
  return (void *)(intptr_t)(above && kept ? NOT_ZERO : SOME_VALUE);
}

/* Neither divides by zero nor overflows at the largest sizes. */
static bool is_safe(const ws_expr *expr, const ws_dims *dims) {
  static const ws_expr_visitor visitor = {visit_integer, visit_name,
                                          visit_operation};
  ws_binding sizes[WS_MAX_DIMS];
  const ws_scope scope = {sizes, dims->count};
  int64_t value;
  for (int i = 0; i < dims->count; i++)
    sizes[i] = (ws_binding){dims->names[i], WS__MODEL_LARGEST};
  return (intptr_t)ws_expr_visit(expr, &visitor, NULL) != FAILS &&
         ws_expr_eval(expr, &scope, &value, NULL) == WS_OK;
}

typedef enum applies { APPLIES, TOO_LONG, NOT_THERE, UNSAFE } applies;

/* A kernel's names. */
typedef struct binding {
  const ws_candidate *candidate;
  ws_scope scope;
  int resident;
} binding;

static binding binding_of(ws_arena *arena, const ws_dispatch_entry *entry,
                          const ws_target *target) {
  binding out = {entry->candidate,
                 ws_candidate_scope(arena, entry->candidate, NULL,
                                    target->cu_count),
                 1};
  out.resident = resident(entry, target, &out.scope);
  return out;
}

/* A term for a kernel: an expression over dimensions alone. */
static applies bind(ws_arena *arena, const char *text, const binding *names,
                    const ws_expr **out) {
  const ws_candidate *candidate = names->candidate;
  const ws_scope *scope = &names->scope;
  ws_expr *expr;
  ws_diag none;
  if (ws_expr_parse(arena, fill_words(arena, text, candidate, names->resident),
                    "term", 0, &expr, &none) != WS_OK)
    return TOO_LONG;
  *out = ws_expr_bind(arena, expr, scope);
  if (!names_only_sizes(*out, candidate->tmpl->dims))
    return NOT_THERE;
  return is_safe(*out, candidate->tmpl->dims) ? APPLIES : UNSAFE;
}

const ws_expr *const *ws__bind_terms(ws_arena *arena,
                                     const ws_time_terms *terms,
                                     const ws_dispatch_entry *entry,
                                     const ws_target *target) {
  const binding names = binding_of(arena, entry, target);
  const ws_expr **bound =
      ws_arena_alloc(arena, sizeof *bound * (size_t)terms->count);
  for (int t = 0; t < terms->count; t++) {
    const ws_expr *expr;
    if (bind(arena, terms->texts[t], &names, &expr) == APPLIES)
      bound[t] = expr;
  }
  return bound;
}

const char *ws_time_terms_left_out(ws_arena *arena, const ws_time_terms *terms,
                                   int index, const ws_dispatch_entry *entries,
                                   int count, const ws_target *target) {
  static const char *const reasons[] = {
      [TOO_LONG] = "with a kernel's grid in it it is too long",
      [NOT_THERE] = "it names what no kernel has",
      [UNSAFE] = "it may divide by zero, or overflow on large shapes"};
  applies found = NOT_THERE;
  for (int e = 0; e < count; e++) {
    const binding names = binding_of(arena, &entries[e], target);
    const ws_expr *expr;
    const applies here = bind(arena, terms->texts[index], &names, &expr);
    if (here == APPLIES)
      return NULL;
    if (here != NOT_THERE)
      found = here;
  }
  return reasons[found];
}
