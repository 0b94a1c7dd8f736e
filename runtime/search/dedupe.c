/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * When two candidates are the same. Equal code is not enough: a parameter may
 * stand in the grid alone. So the key is the hash of the code together with
 * everything the runtime evaluates per shape, with the parameters bound; two
 * candidates of the same key take the same shapes and run the same way.
 */
#include "judge.h"

static void add_expr(ws_hasher *hasher, ws_arena *arena, const ws_expr *expr,
                     const ws_scope *scope) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_expr_print_c(ws_expr_bind(arena, expr, scope), &text);
  ws_hasher_update_text(hasher, text.data);
  ws_strbuf_deinit(&text);
}

const char *ws__twin_key(ws_arena *arena, const ws_candidate *candidate,
                         const char *build_hash) {
  if (!*build_hash)
    return "";
  const ws_template *tmpl = candidate->tmpl;
  ws_scope scope = ws_candidate_scope(arena, candidate, NULL, 0);
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, build_hash);
  for (int i = 0; i < tmpl->launch_count; i++) {
    const ws_launch *launch = &tmpl->launches[i];
    ws_hasher_update_text(hasher, launch->kernel);
    for (int axis = 0; axis < 3; axis++)
      add_expr(hasher, arena, launch->grid[axis], &scope);
    add_expr(hasher, arena, launch->threads, &scope);
    add_expr(hasher, arena, launch->condition, &scope);
  }
  if (tmpl->workspace)
    add_expr(hasher, arena, tmpl->workspace, &scope);
  for (int i = 0; i < tmpl->require_count; i++)
    if (tmpl->requires[i].uses_shape)
      add_expr(hasher, arena, tmpl->requires[i].expr, &scope);
  ws_hash key = ws_hasher_finish(hasher);
  return ws_arena_strdup(arena, key.hex);
}
