/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sections of prompts that follow from a problem, a template and a candidate
 * alone: definition and arguments, parameters and constraints, contracts, code.
 */
#include "wavesmith/llm.h"

#include <string.h>

/* A buffer's text moved into the arena. */
static char *finish(ws_arena *arena, ws_strbuf *text) {
  char *result = ws_arena_strndup(arena, text->data, text->size);
  ws_strbuf_deinit(text);
  return result;
}

/* ---- problem ---------------------------------------------------------------
 */

static const char *const role_texts[] = {
    [WS_ARG_INPUT] = "input, read only",
    [WS_ARG_OUTPUT] = "output, every element must be written",
    [WS_ARG_INOUT] = "read and written",
    [WS_ARG_WORKSPACE] = "workspace",
};

static const char *role_text(const ws_problem *problem, int arg, int layout) {
  ws_arg_role role = ws_problem_arg_role(problem, arg, layout);
  return role == WS_ARG_SCALAR ? ws_type_text(problem->args[arg].type)
                               : role_texts[role];
}

char *ws_describe_advice(ws_arena *arena, const ws_problem *problem,
                         const char *target) {
  const char *advice = ws_problem_advice(problem, target);
  return *advice ? ws_arena_printf(arena, "On %s. %s", target, advice)
                 : ws_arena_strdup(arena, "");
}

char *ws_describe_problem(ws_arena *arena, const ws_problem *problem,
                          int layout) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_printf(&out, "%s: %s.\n%s", problem->name, problem->purpose,
                   problem->definition);
  ws_strbuf_printf(&out,
                   "Arguments of kernels, by name (layout here: %d, %s):\n",
                   layout, problem->layouts[layout].name);
  for (int i = 0; i < problem->arg_count; i++)
    ws_strbuf_printf(&out, "- %s (%s): %s\n", problem->args[i].name,
                     role_text(problem, i, layout), problem->args[i].meaning);
  return finish(arena, &out);
}

/* ---- template --------------------------------------------------------------
 */

static void put_params(const ws_candidate *candidate, ws_strbuf *out) {
  const ws_template *tmpl = candidate->tmpl;
  if (tmpl->param_count)
    ws_strbuf_puts(out, "Parameters: value here (allowed values): meaning\n");
  for (int i = 0; i < tmpl->param_count; i++) {
    const ws_param *param = &tmpl->params[i];
    ws_strbuf_printf(out, "- %s = %lld (", param->name,
                     (long long)candidate->values[i]);
    for (int v = 0; v < param->value_count; v++)
      ws_strbuf_printf(out, "%s%lld", v ? " " : "",
                       (long long)param->values[v]);
    ws_strbuf_printf(out, "): %s%s\n", param->meaning,
                     strcmp(param->name, "layout") ? ""
                                                   : "; fixed by the task");
  }
}

static void put_requires(const ws_template *tmpl, ws_strbuf *out) {
  if (tmpl->require_count)
    ws_strbuf_puts(out, "Constraints:\n");
  for (int i = 0; i < tmpl->require_count; i++)
    ws_strbuf_printf(out, "- %s (%s)\n", ws_expr_text(tmpl->requires[i].expr),
                     tmpl->requires[i].reason);
}

static void put_launches(const ws_template *tmpl, ws_strbuf *out) {
  ws_strbuf_puts(out, "Launches, in order (grid in workgroups):\n");
  for (int i = 0; i < tmpl->launch_count; i++) {
    const ws_launch *launch = &tmpl->launches[i];
    const char *condition = ws_expr_text(launch->condition);
    ws_strbuf_printf(
        out, "- %s: grid x %s, y %s, z %s; %s threads", launch->kernel,
        ws_expr_text(launch->grid[0]), ws_expr_text(launch->grid[1]),
        ws_expr_text(launch->grid[2]), ws_expr_text(launch->threads));
    if (strcmp(condition, "1"))
      ws_strbuf_printf(out, "; only if %s", condition);
    ws_strbuf_puts(out, "\n");
  }
  for (int i = 0; i < tmpl->lds_count; i++)
    ws_strbuf_printf(out, "LDS @%s: %s bytes\n", tmpl->lds[i].global,
                     ws_expr_text(tmpl->lds[i].bytes));
  if (tmpl->workspace)
    ws_strbuf_printf(out, "Workspace: %s bytes\n",
                     ws_expr_text(tmpl->workspace));
}

char *ws_describe_template(ws_arena *arena, const ws_candidate *candidate) {
  const ws_template *tmpl = candidate->tmpl;
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_printf(&out, "%s (version %s, %s): %s\n", tmpl->name, tmpl->version,
                   tmpl->target, tmpl->purpose);
  put_params(candidate, &out);
  put_requires(tmpl, &out);
  put_launches(tmpl, &out);
  return finish(arena, &out);
}

/* ---- regions ---------------------------------------------------------------
 */

/* What a candidate has for a region: "its own body", a variant, or "". */
static const char *body_text(const ws_candidate *candidate, int region) {
  const ws_body *body = &candidate->bodies[region];
  if (body->text)
    return "rewritten";
  return body->variant < 0 ? ""
                           : candidate->tmpl->regions[region]
                                 .variants[body->variant]
                                 .function;
}

char *ws_describe_regions(ws_arena *arena, const ws_candidate *candidate,
                          const int *regions, int count) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (int i = 0; i < count; i++) {
    const ws_region *region = &candidate->tmpl->regions[regions[i]];
    const char *body = body_text(candidate, regions[i]);
    ws_strbuf_printf(&out, "- **%s**: %s", region->function, region->contract);
    for (int v = 0; v < region->variant_count; v++)
      ws_strbuf_printf(&out, "%s%s (%s)", v ? "; " : " Shipped variants: ",
                       region->variants[v].function,
                       region->variants[v].purpose);
    if (region->variant_count)
      ws_strbuf_puts(&out, ".");
    if (*body)
      ws_strbuf_printf(&out, " Here: %s.", body);
    ws_strbuf_puts(&out, "\n");
  }
  return finish(arena, &out);
}

/* The longest run of back quotes. */
static size_t longest_run(const char *text) {
  size_t longest = 0;
  while ((text = strchr(text, '`'))) {
    const size_t run = strspn(text, "`");
    longest = run > longest ? run : longest;
    text += run;
  }
  return longest;
}

static void put_fence(ws_strbuf *out, size_t size) {
  for (size_t i = 0; i < size; i++)
    ws_strbuf_puts(out, "`");
}

void ws_describe_fenced(ws_strbuf *out, const char *language,
                        const char *text) {
  const size_t size = strlen(text), run = longest_run(text);
  const size_t fence = run < 3 ? 3 : run + 1;
  put_fence(out, fence);
  ws_strbuf_printf(out, "%s\n%s%s", language, text,
                   size && text[size - 1] == '\n' ? "" : "\n");
  put_fence(out, fence);
  ws_strbuf_puts(out, "\n");
}

char *ws_describe_code(ws_arena *arena, const ws_candidate *candidate,
                       const char *template_text, const int *regions,
                       int count) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (int i = 0; i < count; i++) {
    const char *language;
    const char *text =
        ws_region_text(arena, candidate, template_text, regions[i], &language);
    if (!text)
      continue;
    ws_strbuf_printf(&out, "Region %s (%s):\n",
                     candidate->tmpl->regions[regions[i]].function, language);
    ws_describe_fenced(&out, ws_language_fence(language), text);
  }
  return finish(arena, &out);
}
