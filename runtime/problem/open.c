/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From a definition to a problem: every member is looked at, each expression
 * parsed, what was left out filled in. A definition that says what cannot be is
 * refused with one line that names the member.
 */
#include "parts.h"
#include "wavesmith/text.h"

#include <pthread.h>
#include <stdlib.h>

enum { LEAST_TRIED = 1 << 14, STEPS_SEEN = 3 };

typedef struct opening {
  const ws_problem_definition *given;
  const char *file;
  ws_arena *arena;
  ws_problem *out;
  struct ws__problem_parts *parts;
  ws_diag *diag;
} opening;

#define REFUSE(o, ...)                                                         \
  ws_fail((o)->diag, WS_INPUT, *(o)->file ? (o)->file : NULL, 0, __VA_ARGS__)

static ws_status check_name(const opening *o, const char *what,
                            const char *name) {
  const char *fault = ws_name_fault(name);
  return fault ? REFUSE(o, "%s '%.80s' %s", what, name, fault) : WS_OK;
}

static ws_status check_head(const opening *o) {
  if (o->given->abi != WS_PROBLEM_ABI)
    return REFUSE(o,
                  "the problem was written for version %d of "
                  "define_problem.h, this wavesmith has %d: compile it against "
                  "its header (the first member is WS_PROBLEM_ABI)",
                  o->given->abi, WS_PROBLEM_ABI);
  if (!o->given->name)
    return REFUSE(o, "the problem has no name");
  WS_TRY(check_name(o, "problem", o->given->name));
  return WS_OK;
}

/* ---- expressions ---- */

static bool is_known(const opening *o, const char *name, bool with_layout) {
  return ws_dims_index(o->out->dims, name) >= 0 ||
         (with_layout && !strcmp(name, "layout"));
}

static ws_status parse(const opening *o, const char *what, const char *text,
                       bool with_layout, const ws_expr **out) {
  ws_expr *expr;
  ws_diag cause;
  *out = NULL;
  if (ws_expr_parse(o->arena, text, what, 0, &expr, &cause) != WS_OK)
    return REFUSE(o, "%s: %s", o->given->name, cause.text);
  for (int i = 0; i < ws_expr_name_count(expr); i++)
    if (!is_known(o, ws_expr_name(expr, i), with_layout))
      return REFUSE(o, "%s: '%s' in '%s' of %s is none of the dimensions %s%s",
                    o->given->name, ws_expr_name(expr, i), text, what,
                    ws_dims_text(o->out->dims),
                    with_layout ? " and not 'layout'" : "");
  *out = expr;
  return WS_OK;
}

static ws_status parse_optional(const opening *o, const char *what,
                                const char *text, const ws_expr **out) {
  *out = NULL;
  return text ? parse(o, what, text, true, out) : WS_OK;
}

/* ---- dimensions ---- */

static bool is_taken_word(const char *name) {
  return ws_expr_is_reserved(name) || !strcmp(name, "layout") ||
         !strcmp(name, "cu_count") || !strncmp(name, "ws_", 3);
}

static ws_status open_dims(opening *o) {
  const char *names[WS_MAX_DIMS];
  int count = 0;
  for (; count < WS_MAX_DIMS && o->given->dims[count].name; count++) {
    names[count] = o->given->dims[count].name;
    WS_TRY(check_name(o, "dimension", names[count]));
    if (is_taken_word(names[count]))
      return REFUSE(o, "%s: '%s' is a word of expressions, not a dimension",
                    o->given->name, names[count]);
    for (int i = 0; i < count; i++)
      if (!strcmp(names[i], names[count]))
        return REFUSE(o, "%s: two dimensions are called '%s'", o->given->name,
                      names[i]);
    if (o->given->dims[count].step < 0 || o->given->dims[count].block < 0)
      return REFUSE(o, "%s: the step and the block of '%s' are below 0",
                    o->given->name, names[count]);
  }
  if (!count)
    return REFUSE(o, "%s has no dimensions", o->given->name);
  o->out->dims = ws_dims_of(names, count);
  return WS_OK;
}

/* ---- arguments ---- */

static const char *describe(const opening *o, const ws_problem_arg *arg) {
  ws_strbuf text;
  if (arg->meaning)
    return arg->meaning;
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, arg->role == WS_ARG_WORKSPACE
                            ? "undefined bytes"
                            : ws_type_text(arg->type));
  for (int i = 0; i < WS_PROBLEM_MAX_EXTENTS && arg->extents[i]; i++)
    ws_strbuf_printf(&text, "%s[%s]", i ? "" : " ", arg->extents[i]);
  const char *out = ws_arena_strdup(o->arena, text.data);
  ws_strbuf_deinit(&text);
  return out;
}

static ws_status open_scalar(const opening *o, const ws_problem_arg *arg,
                             ws__argument *parts) {
  const char *value = arg->value;
  if (arg->type != WS_I32 && arg->type != WS_I64 && arg->type != WS_F32)
    return REFUSE(o,
                  "%s: the scalar '%s' is of type %s; scalars are i32, i64 "
                  "or f32",
                  o->given->name, arg->name, ws_type_text(arg->type));
  if (arg->type == WS_F32)
    return WS_OK;
  if (!value && ws_dims_index(o->out->dims, arg->name) >= 0)
    value = arg->name;
  if (!value && o->given->arg_scalar)
    return WS_OK;
  if (!value)
    return REFUSE(o,
                  "%s: the scalar '%s' has no value: give .value, an "
                  "expression of %s",
                  o->given->name, arg->name, ws_dims_text(o->out->dims));
  return parse(o, arg->name, value, true, &parts->value);
}

/* Types of layouts' own are known where every layout names them. */
static ws_status check_type(const opening *o, const ws_problem_arg *arg) {
  for (int l = 0; l < o->out->layout_count; l++) {
    const ws_problem_layout *layout = &o->out->layouts[l];
    if ((arg->type == WS_FP8 && layout->fp8 != WS_E4M3 &&
         layout->fp8 != WS_E4M3_FNUZ) ||
        (arg->type == WS_BF8 && layout->bf8 != WS_E5M2 &&
         layout->bf8 != WS_E5M2_FNUZ))
      return REFUSE(o,
                    "%s: '%s' is %s, but the layout '%s' does not say which "
                    "format that is (.fp8, .bf8)",
                    o->given->name, arg->name, ws_type_text(arg->type),
                    layout->name);
  }
  return (unsigned)arg->type < WS_TYPE_COUNT
             ? WS_OK
             : REFUSE(o, "%s: '%s' has no element type", o->given->name,
                      arg->name);
}

static ws_status open_pointer(const opening *o, const ws_problem_arg *arg,
                              ws__argument *parts) {
  WS_TRY(check_type(o, arg));
  for (int i = 0; i < WS_PROBLEM_MAX_EXTENTS && arg->extents[i]; i++) {
    WS_TRY(parse(o, arg->name, arg->extents[i], true, &parts->extents[i]));
    parts->extent_count++;
  }
  if (!parts->extent_count && arg->role != WS_ARG_WORKSPACE)
    return REFUSE(o, "%s: '%s' has no extents", o->given->name, arg->name);
  WS_TRY(parse_optional(o, arg->name, arg->low, &parts->low));
  return parse_optional(o, arg->name, arg->high, &parts->high);
}

/* An integer scalar of a dimension's name is that dimension. */
static bool misuses_dimension(const opening *o, const ws_problem_arg *arg) {
  return ws_dims_index(o->out->dims, arg->name) >= 0 &&
         (arg->role != WS_ARG_SCALAR || arg->type == WS_F32 ||
          (arg->value && strcmp(arg->value, arg->name)));
}

static ws_status open_arg(opening *o, ws_problem_arg *arg, int index) {
  WS_TRY(check_name(o, "argument", arg->name));
  if (misuses_dimension(o, arg))
    return REFUSE(o,
                  "%s: '%s' is a dimension, so an argument of its name is an "
                  "integer scalar with its size",
                  o->given->name, arg->name);
  for (int i = 0; i < index; i++)
    if (!strcmp(o->out->args[i].name, arg->name))
      return REFUSE(o, "%s: two arguments are called '%s'", o->given->name,
                    arg->name);
  if ((unsigned)arg->role > WS_ARG_SCALAR)
    return REFUSE(o, "%s: '%s' has no role", o->given->name, arg->name);
  ws__argument *parts = &o->parts->args[index];
  WS_TRY(
      (arg->role == WS_ARG_SCALAR ? open_scalar : open_pointer)(o, arg, parts));
  arg->meaning = describe(o, arg);
  if (ws_arg_is_result(arg->role))
    o->out->outputs[o->out->output_count++] = index;
  return WS_OK;
}

/* The names of a layout's .inout, each an output. */
static ws_status open_inout(opening *o, int layout) {
  const char *at = o->out->layouts[layout].inout;
  const ws_problem *out = o->out;
  for (size_t size; at && *(at += strspn(at, " ")); at += size) {
    size = strcspn(at, " ");
    int arg = 0;
    while (arg < out->arg_count && (strncmp(out->args[arg].name, at, size) ||
                                    out->args[arg].name[size]))
      arg++;
    if (arg == out->arg_count || out->args[arg].role != WS_ARG_OUTPUT)
      return REFUSE(o, "%s: '%.*s' in .inout of the layout '%s' is no output",
                    o->given->name, (int)size, at, out->layouts[layout].name);
    o->parts->args[arg].inout |= 1U << layout;
  }
  return WS_OK;
}

static ws_status open_args(opening *o) {
  ws_problem_arg *args =
      ws_arena_alloc(o->arena, sizeof *args * WS_PROBLEM_MAX_ARGS);
  o->out->args = args;
  for (; o->out->arg_count < WS_PROBLEM_MAX_ARGS &&
         o->given->args[o->out->arg_count].name;
       o->out->arg_count++) {
    args[o->out->arg_count] = o->given->args[o->out->arg_count];
    WS_TRY(open_arg(o, &args[o->out->arg_count], o->out->arg_count));
  }
  for (int i = 0; i < o->out->layout_count; i++)
    WS_TRY(open_inout(o, i));
  if (!o->out->output_count)
    return REFUSE(o, "%s has no output", o->given->name);
  if (o->given->slices && o->out->output_count > 1)
    return REFUSE(o, "%s: .slices is for problems of one output",
                  o->given->name);
  o->parts->shares_extent = true;
  for (int i = 0; i < o->out->output_count; i++)
    o->parts->shares_extent &= !strcmp(args[o->out->outputs[i]].extents[0],
                                       args[o->out->outputs[0]].extents[0]);
  return WS_OK;
}

/* ---- layouts ---- */

static ws_status open_layouts(opening *o) {
  static const ws_problem_layout plain[] = {{.name = "plain"}};
  static const char *const dense[] = {"dense"};
  ws_problem *out = o->out;
  while (out->layout_count < WS_PROBLEM_MAX_LAYOUTS &&
         o->given->layouts[out->layout_count].name)
    out->layout_count++;
  out->layouts = out->layout_count ? o->given->layouts : plain;
  out->layout_count += !out->layout_count;
  while (out->striding_count < WS_PROBLEM_MAX_STRIDINGS &&
         o->given->stridings[out->striding_count])
    out->striding_count++;
  out->stridings = out->striding_count ? o->given->stridings : dense;
  out->striding_count += !out->striding_count;
  out->alignment = o->given->alignment ? o->given->alignment : 16;
  if (out->alignment < 16 || (out->alignment & (out->alignment - 1)))
    return REFUSE(o, "%s: an alignment of %lld is no power of two from 16",
                  o->given->name, (long long)out->alignment);
  return WS_OK;
}

/* ---- shapes ---- */

static ws_status open_set(const opening *o, const ws_problem_set *from,
                          ws_shape_set *out) {
  ws_shape *shapes =
      ws_arena_alloc(o->arena, sizeof *shapes * (size_t)(from->count + 1));
  for (int i = 0; i < from->count; i++) {
    ws_diag cause;
    shapes[i] = ws_shape_of(o->out->dims,
                            from->sizes + i * (int64_t)o->out->dims->count);
    if (ws_problem_check_shape(o->out, &shapes[i], &cause) != WS_OK)
      return REFUSE(o, "shape %d of the set '%s' is not legal: %s", i + 1,
                    from->name, cause.text);
  }
  *out = (ws_shape_set){from->name, shapes, from->count};
  return WS_OK;
}

static ws_status open_sets(opening *o) {
  ws_shape_set *sets =
      ws_arena_alloc(o->arena, sizeof *sets * WS_PROBLEM_MAX_SETS);
  ws_problem *out = o->out;
  out->shape_sets = sets;
  for (; out->shape_set_count < WS_PROBLEM_MAX_SETS &&
         o->given->sets[out->shape_set_count].name;
       out->shape_set_count++)
    WS_TRY(open_set(o, &o->given->sets[out->shape_set_count],
                    &sets[out->shape_set_count]));
  if (!out->shape_set_count || !sets[0].count)
    return REFUSE(o, "%s has no shapes: give .sets a legal one at least",
                  o->given->name);
  out->samples = sets[0];
  return o->given->samples.name ? open_set(o, &o->given->samples, &out->samples)
                                : WS_OK;
}

/* ---- steps ---- */

/* The least size of a dimension from `begin` that is legal beside the other
 * sizes (0: none), and what divides the first few that are. */
static int64_t look_from(const opening *o, int dim, int64_t begin,
                         int64_t *divisor) {
  const int64_t apart = o->given->dims[dim].step ? o->given->dims[dim].step : 1;
  int64_t least = 0;
  int seen = 0;
  ws_shape shape = o->out->least;
  for (int64_t i = 0; i < LEAST_TRIED && seen < STEPS_SEEN; i++) {
    shape.size[dim] = begin + i * apart;
    if (!ws_problem_is_legal(o->out, &shape))
      continue;
    if (!seen++)
      least = shape.size[dim];
    *divisor = ws_common_divisor(shape.size[dim], *divisor);
  }
  return least;
}

/* The known size, halved as long as that is legal. */
static int64_t halved(const opening *o, int dim) {
  ws_shape shape = o->out->least;
  int64_t least = shape.size[dim];
  while (shape.size[dim] % 2 == 0 && ws_problem_is_legal(o->out, &shape)) {
    least = shape.size[dim];
    shape.size[dim] /= 2;
  }
  return ws_problem_is_legal(o->out, &shape) ? shape.size[dim] : least;
}

/* What divides the sizes of all shapes that are given. */
static int64_t divisor_of_sets(const opening *o, int dim) {
  const ws_problem *out = o->out;
  int64_t divisor = 0;
  for (int set = 0; set <= out->shape_set_count; set++) {
    const ws_shape_set *of =
        set < out->shape_set_count ? &out->shape_sets[set] : &out->samples;
    for (int i = 0; i < of->count; i++)
      divisor = ws_common_divisor(of->shapes[i].size[dim], divisor);
  }
  return divisor;
}

/* Upwards from the first; where nothing is legal so low, from the known one. */
static void find_step(opening *o, int dim) {
  const int64_t given = o->given->dims[dim].step;
  int64_t divisor = divisor_of_sets(o, dim);
  int64_t least = look_from(o, dim, given ? given : 1, &divisor);
  if (!least)
    least = look_from(o, dim, halved(o, dim), &divisor);
  o->out->least.size[dim] = least;
  o->out->step.size[dim] = given ? given : divisor;
}

static ws_status open_steps(opening *o) {
  ws_problem *out = o->out;
  out->least = out->shape_sets[0].shapes[0];
  out->step = out->block = out->least;
  /* twice: what the sizes after a dimension became may allow it less */
  for (int i = 0; i < 2 * out->dims->count; i++)
    find_step(o, i % out->dims->count);
  for (int i = 0; i < out->dims->count; i++) {
    const ws_dim *dim = &o->given->dims[i];
    out->is_depth[i] = dim->depth;
    out->block.size[i] = dim->block ? dim->block : out->step.size[i];
    if (divisor_of_sets(o, i) % out->step.size[i])
      return REFUSE(o, "%s: a shape's '%s' is no multiple of its step %lld",
                    o->given->name, dim->name, (long long)out->step.size[i]);
    if (out->block.size[i] % out->step.size[i])
      return REFUSE(o,
                    "%s: blocks of %lld in '%s' are no multiple of the step "
                    "%lld",
                    o->given->name, (long long)out->block.size[i], dim->name,
                    (long long)out->step.size[i]);
  }
  return WS_OK;
}

/* ---- what every shape needs, in the words of the legality ---- */

/* Whether `legal` leaves the dimension this size, the others being the least.
 */
static bool allows(const opening *o, const ws_expr *legal, int dim,
                   int64_t size) {
  ws_shape shape = o->out->least;
  ws_binding bindings[WS_MAX_DIMS];
  char ignored[8];
  shape.size[dim] = size;
  const ws_scope scope = {bindings, ws_shape_bindings(&shape, bindings)};
  return ws_expr_holds(legal, &scope, ignored, sizeof ignored);
}

static bool is_passed_as_i32(const opening *o, const char *dim) {
  const int arg = ws_problem_arg_index(o->out, dim);
  return arg >= 0 && o->out->args[arg].type == WS_I32;
}

/* Sizes are from 1, and an i32 holds those that are passed as one: what the
 * definition does not say already is added, so that one text serves the check
 * and emitted code. */
static ws_status complete_legality(opening *o) {
  const ws_dims *dims = o->out->dims;
  const char *given = ws_expr_text(o->out->legal), *added = "";
  for (int i = 0; i < dims->count; i++) {
    if (allows(o, o->out->legal, i, 0) ||
        allows(o, o->out->legal, i, -o->out->step.size[i]))
      added = ws_arena_printf(o->arena, "%s%s >= 1 && ", added, dims->names[i]);
    int64_t beyond =
        ((INT64_C(1) << 31) / o->out->step.size[i] + 1) * o->out->step.size[i];
    if (is_passed_as_i32(o, dims->names[i]) &&
        allows(o, o->out->legal, i, beyond))
      added = ws_arena_printf(o->arena, "%s%s <= 2147483647 && ", added,
                              dims->names[i]);
  }
  if (!*added)
    return WS_OK;
  return parse(o, "legal", ws_arena_printf(o->arena, "%s(%s)", added, given),
               false, &o->out->legal);
}

/* ---- words ---- */

static void write_definition(opening *o) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(&text, "%s.\nDimensions: %s. Arguments:\n", o->out->purpose,
                   ws_dims_text(o->out->dims));
  for (int i = 0; i < o->out->arg_count; i++)
    ws_strbuf_printf(&text, "    %s  %s\n", o->out->args[i].name,
                     o->out->args[i].meaning);
  ws_strbuf_printf(&text, "Legal are shapes with %s.\n",
                   o->given->legal ? o->given->legal : "any sizes from 1");
  ws_strbuf_puts(&text,
                 "A result passes when |got - want| is at most half a unit in "
                 "the last place of its type, plus what the reference allows "
                 "for arithmetic; want is computed in fp64, or by a kernel "
                 "that is trusted.\n");
  o->out->definition = ws_arena_strdup(o->arena, text.data);
  ws_strbuf_deinit(&text);
}

static ws_status open_work(opening *o) {
  const ws_problem_definition *given = o->given;
  o->parts->arithmetic = given->arithmetic ? given->arithmetic : 0x1p-24;
  for (int i = 0; i < o->out->output_count && !given->arithmetic; i++)
    if (o->out->args[o->out->outputs[i]].type == WS_F64)
      o->parts->arithmetic = 0x1p-53;
  WS_TRY(parse(o, "terms", given->terms ? given->terms : "1", true,
               &o->parts->terms));
  WS_TRY(parse_optional(o, "flops", given->flops, &o->parts->flops));
  return parse_optional(o, "bytes", given->bytes, &o->parts->bytes);
}

static ws_status open_all(opening *o) {
  WS_TRY(check_head(o));
  o->out->name = o->given->name;
  o->out->purpose = o->given->purpose ? o->given->purpose : o->given->name;
  WS_TRY(open_dims(o));
  WS_TRY(open_layouts(o));
  WS_TRY(open_args(o));
  WS_TRY(open_work(o));
  WS_TRY(parse(o, "legal", o->given->legal ? o->given->legal : "1", false,
               &o->out->legal));
  WS_TRY(open_sets(o));
  WS_TRY(open_steps(o));
  WS_TRY(complete_legality(o));
  o->out->definition = o->given->definition;
  if (!o->out->definition)
    write_definition(o);
  return WS_OK;
}

/* A problem stays, whoever lets go of it: others hold its texts. */
static void remember(struct ws__problem_parts *parts) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static struct ws__problem_parts *opened;
  pthread_mutex_lock(&lock);
  parts->next = opened;
  opened = parts;
  pthread_mutex_unlock(&lock);
}

ws_status ws_problem_open(const ws_problem_definition *given, const char *file,
                          const ws_problem **out_problem, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  opening o = {.given = given,
               .file = ws_arena_strdup(arena, file),
               .arena = arena,
               .out = ws_arena_alloc(arena, sizeof *o.out),
               .parts = ws_arena_alloc(arena, sizeof *o.parts),
               .diag = diag};
  *o.out = (ws_problem){.given = given, .file = o.file, .parts = o.parts};
  *o.parts = (struct ws__problem_parts){.arena = arena};
  *out_problem = o.out;
  ws_status status = open_all(&o);
  if (status == WS_OK) {
    remember(o.parts);
    return WS_OK;
  }
  *out_problem = NULL;
  ws_arena_destroy(arena);
  return status;
}
