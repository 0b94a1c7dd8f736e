/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests of shipped templates share: a template with its text, points
 * of its space, and building a candidate in this process.
 */
#ifndef WAVESMITH_TEMPLATE_FIXTURE_H
#define WAVESMITH_TEMPLATE_FIXTURE_H

#include "pass.h"
#include "sanitize.h"
#include "wavesmith/bound_model.h"
#include "ws_test.h"

typedef struct shipped {
  ws_arena *arena;
  char *text;
  size_t size;
  const ws_template *tmpl;
} shipped;

static inline shipped open_text(ws_arena *arena, const char *name, char *text) {
  shipped s = {.arena = arena, .text = text, .size = strlen(text)};
  ws_findings findings;
  ws_records records;
  ws_diag diag;
  ws_pass_initialize();
  ws_findings_init(&findings, arena);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = ws_pass_parse(context, text, s.size, name, &findings);
  if (!module)
    WS_FAIL("%s does not parse: %s", name, findings.items[0].text);
  if (ws_pass_read_records(module, text, name, arena, &records, &diag) !=
          WS_OK ||
      ws_template_from_records(arena, &records, name,
                               ws_hash_bytes(text, s.size), &s.tmpl,
                               &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  return s;
}

/* name: of a file in ir-templates. */
static inline shipped open_shipped(const char *name) {
  ws_arena *arena = ws_arena_create();
  char *text;
  size_t size;
  ws_diag diag;
  const char *path = ws_arena_printf(arena, "%s/ir-templates/%s",
                                     getenv("WS_SOURCE_DIR"), name);
  if (ws_file_read(arena, path, &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return open_text(arena, name, text);
}

/* The same with the first `from` of the text replaced. */
static inline shipped open_mutant(const char *name, const char *from,
                                  const char *to) {
  shipped s = open_shipped(name);
  const char *at = strstr(s.text, from);
  if (!at)
    WS_FAIL("%s lacks \"%s\"", name, from);
  return open_text(s.arena, name,
                   ws_arena_printf(s.arena, "%.*s%s%s", (int)(at - s.text),
                                   s.text, to, at + strlen(from)));
}

static inline ws_build_result build(const shipped *s, const char *assignments,
                                    const char *variants, const ws_run *runs,
                                    int run_count, int stages) {
  ws_build_result result;
  ws_build_request request = {.template_file = s->tmpl->file,
                              .template_text = s->text,
                              .template_size = s->size,
                              .target = s->tmpl->target,
                              .assignments = assignments,
                              .variants = variants,
                              .runs = runs,
                              .run_count = run_count,
                              .stages = stages,
                              .limits = ws_limits_default};
  memset(&result, 0, sizeof result);
  ws_pass_build(&request, s->arena, &result);
  return result;
}

static inline void expect_ok(const ws_build_result *result,
                             const char *assignments, const char *variants) {
  if (result->verdict == WS_VERDICT_OK)
    return;
  for (int i = 0; i < result->finding_count; i++) {
    const ws_finding *item = &result->findings[i];
    fprintf(stderr, "# %s [%s] %s:%d %s\n", item->id, item->region, item->file,
            item->line, item->text);
  }
  WS_FAIL("[%s] [%s] is %s at %s: %s", assignments, variants,
          ws_verdict_text(result->verdict), result->stage, result->reason);
}

static inline int scratch_bytes(const ws_build_result *result) {
  int bytes = 0;
  for (int i = 0; i < result->kernel_count; i++)
    bytes += result->kernels[i].scratch_bytes;
  return bytes;
}

/* Draws values until all constraints that do not depend on the shape hold. */
static inline ws_candidate *random_point(const shipped *s, ws_rng *rng) {
  ws_candidate *candidate = ws_candidate_create(s->arena, s->tmpl);
  do
    for (int i = 0; i < s->tmpl->param_count; i++) {
      const ws_param *param = &s->tmpl->params[i];
      candidate->values[i] =
          param->values[ws_rng_below(rng, (uint64_t)param->value_count)];
    }
  while (ws_candidate_broken_require(candidate, NULL, NULL) >= 0);
  ws_candidate_update_id(candidate);
  return candidate;
}

/* Each region keeps its default half of the time. */
static inline void random_bodies(ws_candidate *candidate, ws_rng *rng) {
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    const ws_region *region = &candidate->tmpl->regions[i];
    if (region->variant_count && ws_rng_below(rng, 2))
      candidate->bodies[i].variant =
          (int)ws_rng_below(rng, (uint64_t)region->variant_count);
  }
  ws_candidate_update_id(candidate);
}

#endif
