/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A candidate as a request to the compile server.
 */
#include "wavesmith/build.h"

#include <string.h>

static int fill_bodies(ws_arena *arena, const ws_candidate *candidate,
                       struct ws_request_body *out) {
  const ws_template *tmpl = candidate->tmpl;
  int count = 0;
  for (int i = 0; i < tmpl->region_count; i++) {
    const ws_body *body = &candidate->bodies[i];
    if (!body->text)
      continue;
    const char *region = tmpl->regions[i].function;
    const char *extension = ws_language_ending(body->language);
    out[count++] = (struct ws_request_body){
        .region = region,
        .language = body->language,
        .text = body->text,
        .file = ws_arena_printf(arena, "%s.%s", region,
                                extension ? extension : "ll")};
  }
  return count;
}

ws_build_request ws_build_request_of(ws_arena *arena,
                                     const ws_candidate *candidate,
                                     const char *text, size_t size) {
  struct ws_request_body *bodies = ws_arena_alloc(
      arena, sizeof *bodies * (size_t)candidate->tmpl->region_count);
  return (ws_build_request){
      .template_file = candidate->tmpl->file,
      .template_text = text,
      .template_size = size,
      .target = candidate->tmpl->target,
      .assignments = ws_candidate_values_text(arena, candidate),
      .variants = ws_candidate_variants_text(arena, candidate),
      .bodies = bodies,
      .body_count = fill_bodies(arena, candidate, bodies),
      .limits = ws_limits_default};
}
