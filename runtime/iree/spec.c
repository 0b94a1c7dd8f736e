/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The text of a tuning spec, as IREE's documentation has it: a matcher for
 * each shape, which yields the operation and its configuration, one action
 * that writes the configuration to the operation, and the entry point that
 * pairs them. The configuration is that of the pipeline TileAndFuse, which is
 * IREE's own choice for matrix products on this target: `workgroup` counts
 * elements, `subgroup` and `reduction` matrix instructions, `padding` is for
 * shapes that tiles do not divide.
 */
#include "wavesmith/iree.h"
#include "wavesmith/text.h"

#include <string.h>

#ifndef WAVESMITH_VERSION
#define WAVESMITH_VERSION "unknown"
#endif

typedef struct matcher {
  const ws_iree_contraction *contraction;
  const ws_iree_choice *choice;
  ws_iree_config config;
  int64_t m, n, k;
} matcher;

static void put_name(const matcher *x, ws_strbuf *out) {
  ws_strbuf_printf(out, "@match_%lldx%lldx%lld", (long long)x->m,
                   (long long)x->n, (long long)x->k);
}

/* ---- what a reader wants to know ---- */

/* Names in it come from templates and archives. */
static void put_comment(ws_strbuf *out, const char *text) {
  ws_strbuf_puts(out, "// ");
  ws_text_show(out, text, strlen(text), true);
  ws_strbuf_puts(out, "\n");
}

static void put_origin(ws_arena *arena, const matcher *x, ws_strbuf *out) {
  const ws_iree_choice *choice = x->choice;
  const char *kernel = ws_arena_printf(
      arena, "%s: candidate %.8s of %s", ws_shape_named(arena, &choice->shape),
      choice->candidate->id.hex, choice->candidate->tmpl->name);
  if (choice->us > 0)
    put_comment(out, ws_arena_printf(arena, "%s, %.2f us there (%s).", kernel,
                                     choice->us, choice->provenance));
  else
    put_comment(
        out, ws_arena_printf(arena,
                             "%s, not timed there: the dispatch chose it (%s).",
                             kernel, choice->provenance));
  if (choice->us > 0 && choice->fastest != choice->candidate)
    put_comment(out,
                ws_arena_printf(arena,
                                "The fastest there, %.8s with %.2f us, "
                                "has no counterpart in IREE.",
                                choice->fastest->id.hex, choice->fastest_us));
  const char *rest = ws_iree_left_out(arena, choice->candidate);
  if (*rest)
    put_comment(out, ws_arena_printf(arena, "Not carried over: %s", rest));
}

/* ---- the matcher ---- */

static void put_match(const matcher *x, ws_strbuf *out) {
  const ws_iree_contraction *c = x->contraction;
  ws_strbuf_printf(
      out,
      "  %%batch, %%m, %%n, %%k = transform.iree.match.contraction %%op,\n"
      "    lhs_type = %s, rhs_type = %s, output_type = f32,\n"
      "    indexing_maps = [affine_map<(d0, d1, d2) -> %s>,\n"
      "                     affine_map<(d0, d1, d2) -> %s>,\n"
      "                     affine_map<(d0, d1, d2) -> (d0, d1)>]\n"
      "    : !transform.any_op -> !transform.param<i64>\n"
      "  transform.iree.match.dims_equal %%batch, [] : "
      "!transform.param<i64>\n",
      c->element, c->element, c->lhs, c->rhs);
  const struct {
    char name;
    int64_t size;
  } dims[] = {{'m', x->m}, {'n', x->n}, {'k', x->k}};
  for (int i = 0; i < 3; i++)
    ws_strbuf_printf(out,
                     "  transform.iree.match.dims_equal %%%c, [%lld] : "
                     "!transform.param<i64>\n",
                     dims[i].name, (long long)dims[i].size);
}

static void put_config(const matcher *x, ws_strbuf *out) {
  const ws_iree_config *c = &x->config;
  ws_strbuf_printf(
      out,
      "  %%config = transform.param.constant #iree_codegen.compilation_info<\n"
      "    lowering_config = #iree_gpu.lowering_config<{\n"
      "      mma_kind = #iree_gpu.mma_layout<%s>,\n"
      "      promote_operands = [0, 1],\n",
      c->mma_kind);
  if (x->m % c->tile_m || x->n % c->tile_n || x->k % c->tile_k)
    ws_strbuf_printf(out, "      padding = [%lld, %lld, %lld],\n",
                     (long long)c->tile_m, (long long)c->tile_n,
                     (long long)c->tile_k);
  ws_strbuf_printf(out,
                   "      reduction = [0, 0, %lld],\n"
                   "      subgroup = [%lld, %lld, 0],\n"
                   "      workgroup = [%lld, %lld, 0]}>,\n"
                   "    translation_info = #iree_codegen.translation_info<\n"
                   "      pipeline = #iree_gpu.pipeline<TileAndFuse>\n"
                   "      workgroup_size = [%lld, 1, 1] subgroup_size = 64,\n"
                   "      {gpu_pipeline_options = "
                   "#iree_gpu.pipeline_options<prefetch_num_stages = %lld>}>>\n"
                   "    -> !transform.any_param\n",
                   (long long)c->steps_k, (long long)c->subgroup_m,
                   (long long)c->subgroup_n, (long long)c->tile_m,
                   (long long)c->tile_n, (long long)c->threads,
                   (long long)c->prefetch_stages);
}

static void put_matcher(ws_arena *arena, const matcher *x, ws_strbuf *out) {
  put_origin(arena, x, out);
  ws_strbuf_puts(out, "transform.named_sequence ");
  put_name(x, out);
  ws_strbuf_puts(out, "(%op: !transform.any_op {transform.readonly})\n"
                      "    -> (!transform.any_op, !transform.any_param) {\n");
  put_match(x, out);
  put_config(x, out);
  ws_strbuf_puts(out, "  transform.yield %op, %config : !transform.any_op, "
                      "!transform.any_param\n"
                      "}\n\n");
}

/* ---- the module ---- */

static void put_head(const ws_iree_contraction *contraction, ws_strbuf *out) {
  ws_strbuf_printf(
      out,
      "// A tuning spec of the IREE compiler for gfx942, from kernels of %s, "
      "layout %s.\n"
      "// Made by `wavesmith iree`, version %s; docs/iree.md says what it "
      "holds.\n"
      "// Times are those of wavesmith's kernels, not of what IREE makes of "
      "this.\n"
      "module @wavesmith_%s attributes {\n"
      "  iree_codegen.tuning_spec_with_default_entrypoint, "
      "transform.with_named_sequence} {\n\n"
      "transform.named_sequence @apply_op_config(\n"
      "    %%op: !transform.any_op {transform.readonly},\n"
      "    %%config: !transform.any_param {transform.readonly}) {\n"
      "  transform.annotate %%op \"compilation_info\" = %%config\n"
      "    : !transform.any_op, !transform.any_param\n"
      "  transform.yield\n"
      "}\n\n",
      contraction->problem->name, contraction->layout, WAVESMITH_VERSION,
      contraction->problem->name);
}

static void put_entry_point(const matcher *matchers, int count,
                            ws_strbuf *out) {
  ws_strbuf_puts(out, "transform.named_sequence @__kernel_config(\n"
                      "    %variant: !transform.any_op {transform.consumed})\n"
                      "    -> !transform.any_op attributes "
                      "{iree_codegen.tuning_spec_entrypoint} {\n"
                      "  %result = transform.foreach_match in %variant\n");
  for (int i = 0; i < count; i++) {
    ws_strbuf_puts(out, "    ");
    put_name(&matchers[i], out);
    ws_strbuf_puts(out, " -> @apply_op_config");
    ws_strbuf_puts(out, i + 1 < count ? ",\n" : "\n");
  }
  ws_strbuf_puts(out, "    : (!transform.any_op) -> !transform.any_op\n"
                      "  transform.yield %result : !transform.any_op\n"
                      "}\n}\n");
}

ws_status ws_iree_spec_print(ws_arena *arena,
                             const ws_iree_contraction *contraction,
                             const ws_iree_choice *choices, int count,
                             ws_strbuf *out, ws_diag *diag) {
  matcher *matchers = ws_arena_alloc(arena, (size_t)count * sizeof *matchers);
  put_head(contraction, out);
  for (int i = 0; i < count; i++) {
    const int64_t *size = choices[i].shape.size;
    matchers[i] = (matcher){.contraction = contraction,
                            .choice = &choices[i],
                            .m = size[contraction->m],
                            .n = size[contraction->n],
                            .k = size[contraction->k]};
    WS_TRY(ws_iree_config_of(contraction, choices[i].candidate,
                             &matchers[i].config, diag));
    put_matcher(arena, &matchers[i], out);
  }
  put_entry_point(matchers, count, out);
  return WS_OK;
}
