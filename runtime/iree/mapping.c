/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Our words and IREE's, as tables: layouts and indexing maps, element types
 * with their matrix instructions, parameters and the fields of a
 * configuration. What stands in none of them is refused, or named as left out.
 */
#include "wavesmith/iree.h"

#include <stddef.h>
#include <string.h>

/* ---- the contraction ----------------------------------------------------- */

static const struct operands {
  const char *layout, *lhs, *rhs;
} layouts[] = {{"kmajor", "(d0, d2)", "(d1, d2)"},
               {"mnmajor", "(d2, d0)", "(d2, d1)"}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* IREE's name of the instruction with mfma rows and columns. */
static const struct kind {
  ws_type type;
  int64_t mfma, k;
  const char *element, *name;
} kinds[] = {
    {WS_E4M3_FNUZ, 16, 32, "f8E4M3FNUZ", "MFMA_F32_16x16x32_F8E4M3FNUZ"},
    {WS_E4M3_FNUZ, 32, 16, "f8E4M3FNUZ", "MFMA_F32_32x32x16_F8E4M3FNUZ"},
    {WS_BF16, 16, 16, "bf16", "MFMA_F32_16x16x16_BF16"},
    {WS_BF16, 32, 8, "bf16", "MFMA_F32_32x32x8_BF16"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* mfma 0: any of the type. */
static const struct kind *find_kind(ws_type type, int64_t mfma) {
  for (int i = 0; i < KINDS; i++)
    if (kinds[i].type == type && (!mfma || kinds[i].mfma == mfma))
      return &kinds[i];
  return NULL;
}

static const struct operands *find_operands(const char *layout) {
  for (int i = 0; i < LAYOUTS; i++)
    if (!strcmp(layouts[i].layout, layout))
      return &layouts[i];
  return NULL;
}

/* Inputs a and b, an output c, sizes m, n and k, whatever there is besides. */
static bool is_product(const ws_problem *problem) {
  static const struct {
    const char *name;
    ws_arg_role role;
  } args[] = {{"a", WS_ARG_INPUT}, {"b", WS_ARG_INPUT}, {"c", WS_ARG_OUTPUT}};
  static const char *const dims[] = {"m", "n", "k"};
  for (int i = 0; i < 3; i++) {
    const int arg = ws_problem_arg_index(problem, args[i].name);
    if (arg < 0 || problem->args[arg].role != args[i].role ||
        ws_dims_index(problem->dims, dims[i]) < 0)
      return false;
  }
  return problem->dims->count == 3 && problem->output_count == 1;
}

static ws_status fill_types(int layout, ws_iree_contraction *out,
                            ws_diag *diag) {
  const ws_problem *problem = out->problem;
  const ws_type a =
      ws_problem_arg_type(problem, ws_problem_arg_index(problem, "a"), layout);
  const ws_type b =
      ws_problem_arg_type(problem, ws_problem_arg_index(problem, "b"), layout);
  const struct kind *kind = a == b ? find_kind(a, 0) : NULL;
  if (!kind)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s, layout %s: for products of %s and %s no matrix "
                   "instruction of IREE's is known here",
                   problem->name, out->layout, ws_type_text(a),
                   ws_type_text(b));
  out->type = a;
  out->element = kind->element;
  return WS_OK;
}

ws_status ws_iree_contraction_of(const ws_problem *problem, const char *layout,
                                 const ws_target *target,
                                 ws_iree_contraction *out, ws_diag *diag) {
  if (strcmp(target->name, "gfx942"))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "target %s: tuning specs for IREE are made for gfx942 only",
                   target->name);
  if (!is_product(problem))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s is no product that IREE could match: wanted is a "
                   "problem with dimensions m, n, k, inputs a, b and the one "
                   "output c",
                   problem->name);
  const struct operands *operands = find_operands(layout);
  if (!operands)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s, layout %s: a contraction of IREE's reads operands as "
                   "they lie in the layouts kmajor and mnmajor, and writes "
                   "its result anew",
                   problem->name, layout);
  *out = (ws_iree_contraction){.problem = problem,
                               .layout = layout,
                               .lhs = operands->lhs,
                               .rhs = operands->rhs,
                               .m = ws_dims_index(problem->dims, "m"),
                               .n = ws_dims_index(problem->dims, "n"),
                               .k = ws_dims_index(problem->dims, "k")};
  return fill_types(ws_problem_layout_index(problem, layout), out, diag);
}

/* ---- the configuration --------------------------------------------------- */

/* Parameters that a configuration holds or rules out, by name. */
typedef struct known {
  int64_t tile_m, tile_n, tile_k, waves_m, waves_n, mfma, prefetch, split_k;
} known;

#define NEEDED (-1)
static const struct word {
  const char *name;
  size_t offset;
  int64_t otherwise; /* where a template has none; NEEDED: it must */
} words[] = {{"tile_m", offsetof(known, tile_m), NEEDED},
             {"tile_n", offsetof(known, tile_n), NEEDED},
             {"tile_k", offsetof(known, tile_k), NEEDED},
             {"waves_m", offsetof(known, waves_m), NEEDED},
             {"waves_n", offsetof(known, waves_n), NEEDED},
             {"mfma", offsetof(known, mfma), NEEDED},
             {"prefetch", offsetof(known, prefetch), 0},
             {"split_k", offsetof(known, split_k), 1}};
enum { WORDS = sizeof words / sizeof *words };

static ws_status read_words(const ws_candidate *candidate, known *out,
                            ws_diag *diag) {
  for (int i = 0; i < WORDS; i++) {
    const int param = ws_template_param_index(candidate->tmpl, words[i].name);
    const int64_t value =
        param < 0 ? words[i].otherwise : candidate->values[param];
    if (value == NEEDED)
      return ws_fail(diag, WS_INPUT, NULL, 0, "template %s has no parameter %s",
                     candidate->tmpl->name, words[i].name);
    memcpy((char *)out + words[i].offset, &value, sizeof value);
  }
  return WS_OK;
}

static ws_status check_words(const known *v, const struct kind *kind,
                             ws_diag *diag) {
  if (!kind)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "mfma=%lld is no matrix instruction of IREE's for its "
                   "operands",
                   (long long)v->mfma);
  if (v->split_k != 1)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "split_k=%lld, and IREE splits k before it looks at a "
                   "tuning spec",
                   (long long)v->split_k);
  if (v->waves_m < 1 || v->waves_n < 1 || v->tile_m % (v->waves_m * v->mfma) ||
      v->tile_n % (v->waves_n * v->mfma) || v->tile_k % kind->k)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "a tile of %lld x %lld x %lld is not whole matrix "
                   "instructions of %lld x %lld waves",
                   (long long)v->tile_m, (long long)v->tile_n,
                   (long long)v->tile_k, (long long)v->waves_m,
                   (long long)v->waves_n);
  return WS_OK;
}

ws_status ws_iree_config_of(const ws_iree_contraction *contraction,
                            const ws_candidate *candidate, ws_iree_config *out,
                            ws_diag *diag) {
  known v;
  WS_TRY(read_words(candidate, &v, diag));
  const struct kind *kind =
      v.mfma > 0 ? find_kind(contraction->type, v.mfma) : NULL;
  WS_TRY(check_words(&v, kind, diag));
  *out = (ws_iree_config){.mma_kind = kind->name,
                          .tile_m = v.tile_m,
                          .tile_n = v.tile_n,
                          .tile_k = v.tile_k,
                          .subgroup_m = v.tile_m / (v.waves_m * v.mfma),
                          .subgroup_n = v.tile_n / (v.waves_n * v.mfma),
                          .steps_k = v.tile_k / kind->k,
                          .threads = 64 * v.waves_m * v.waves_n,
                          .prefetch_stages = v.prefetch + 1};
  return WS_OK;
}

/* ---- the rest ------------------------------------------------------------ */

static bool is_word(const char *name) {
  for (int i = 0; i < WORDS; i++)
    if (!strcmp(words[i].name, name))
      return true;
  return !strcmp(name, "layout"); /* the indexing maps */
}

const char *ws_iree_left_out(ws_arena *arena, const ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  const char *text = "";
  for (int p = 0; p < tmpl->param_count; p++)
    if (!is_word(tmpl->params[p].name))
      text = ws_arena_printf(arena, "%s%s%s=%lld", text, *text ? " " : "",
                             tmpl->params[p].name,
                             (long long)candidate->values[p]);
  for (int r = 0; r < tmpl->region_count; r++) {
    const ws_region *region = &tmpl->regions[r];
    const ws_body *body = &candidate->bodies[r];
    const char *what = body->text ? "its own"
                       : body->variant < 0
                           ? NULL
                           : region->variants[body->variant].function;
    if (what)
      text = ws_arena_printf(arena, "%s%s%s=%s", text, *text ? " " : "",
                             region->function, what);
  }
  return text;
}
