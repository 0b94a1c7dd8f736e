/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Cuts functions out of the text of an LLVM IR module, without LLVM: names are
 * followed over comments, strings and brackets. A region's text brings the
 * attribute groups and metadata that it refers to, so that it reads as a body
 * (pass/splice.c) as it stands; the template's functions and globals need no
 * declaration there.
 */
#include "reply.h"
#include "wavesmith/ir_text.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ----------------------------------------------------------- */

/* Behind "define": finds the name, then the end of the body. */
static bool read_definition(const char **at, ws_ir_token *out_name,
                            ws_ir_token *out_end) {
  ws_ir_token t;
  out_name->begin = NULL;
  while (ws_ir_next_token(at, &t)) {
    if (*t.begin == '{' && out_name->begin) {
      *at = t.begin;
      return ws_ir_skip_balanced(at, out_end);
    }
    if (*t.begin == '@' && !out_name->begin)
      *out_name = t;
    if (strchr("([{", *t.begin)) {
      *at = t.begin;
      if (!ws_ir_skip_balanced(at, &t))
        return false;
    }
  }
  return false;
}

static bool find_function(const char *module_text, const char *function,
                          ws_ir_token *out_whole) {
  const char *at = module_text;
  ws_ir_token t, name, end;
  while (ws_ir_skip_balanced(&at, &t)) {
    if (!ws_ir_is_word(&t, "define"))
      continue;
    if (!read_definition(&at, &name, &end) || *end.begin != '}')
      return false;
    if (ws_ir_is_symbol(&name, function)) {
      *out_whole = (ws_ir_token){t.begin, end.end};
      return true;
    }
  }
  return false;
}

char *ws_ir_function_text(ws_arena *arena, const char *module_text,
                          const char *function, int *out_line) {
  ws_ir_token whole;
  if (!find_function(module_text, function, &whole))
    return NULL;
  if (out_line) {
    *out_line = 1;
    for (const char *c = module_text; c < whole.begin; c++)
      *out_line += *c == '\n';
  }
  return ws_arena_strndup(arena, whole.begin,
                          (size_t)(whole.end - whole.begin));
}

/* All uses of @from as @to. */
static char *rename_symbol(ws_arena *arena, const char *text, const char *from,
                           const char *to) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  const char *at = text, *copied = text;
  ws_ir_token t;
  while (ws_ir_next_token(&at, &t)) {
    if (!ws_ir_is_symbol(&t, from))
      continue;
    ws_strbuf_append(&out, copied, (size_t)(t.begin - copied));
    ws_strbuf_printf(&out, "@%s", to);
    copied = t.end;
  }
  ws_strbuf_puts(&out, copied);
  char *renamed = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return renamed;
}

/* ---- attribute groups and metadata --------------------------------------- */

/* `attributes #1 = { ... }` or `!1 = ...`. */
typedef struct definition {
  char sign; /* '#' or '!' */
  long number;
  ws_ir_token text;
  bool used;
} definition;

typedef struct definitions {
  definition *items;
  int count, capacity;
} definitions;

/* #12 or !12. */
static bool is_numbered(const ws_ir_token *t, char *out_sign,
                        long *out_number) {
  size_t size = (size_t)(t->end - t->begin);
  if ((*t->begin != '#' && *t->begin != '!') || size < 2 || size > 10 ||
      strspn(t->begin + 1, "0123456789") < size - 1)
    return false;
  *out_sign = *t->begin;
  *out_number = strtol(t->begin + 1, NULL, 10);
  return true;
}

/* The cursor stands behind `#1 =` or `!1 =`: to behind the value, which is
 * `distinct !{..}`, `!DIName(..)` or `{..}`. */
static bool skip_value(const char **at, ws_ir_token *out_last) {
  do
    if (!ws_ir_skip_balanced(at, out_last))
      return false;
  while (ws_ir_is_word(out_last, "distinct") || *out_last->begin == '!');
  return true;
}

static definition *append_definition(definitions *list) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 64;
    list->items =
        realloc(list->items, (size_t)list->capacity * sizeof *list->items);
    WS_ASSERT(list->items);
  }
  return &list->items[list->count++];
}

static int compare_definitions(const void *a, const void *b) {
  const definition *x = a, *y = b;
  if (x->sign != y->sign)
    return x->sign < y->sign ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* Heap; sorted. */
static definitions find_definitions(const char *module_text) {
  definitions list = {0};
  const char *at = module_text, *begin = at;
  ws_ir_token t, equals;
  char sign;
  long number;
  while (ws_ir_skip_balanced(&at, &t)) {
    if (ws_ir_is_word(&t, "attributes")) {
      begin = t.begin;
      continue;
    }
    if (is_numbered(&t, &sign, &number)) {
      const char *behind = at;
      if (ws_ir_next_token(&behind, &equals) && *equals.begin == '=' &&
          skip_value(&behind, &equals)) {
        ws_ir_token text = {sign == '!' ? t.begin : begin, equals.end};
        *append_definition(&list) = (definition){sign, number, text, false};
        at = behind;
      }
    }
  }
  if (list.count)
    qsort(list.items, (size_t)list.count, sizeof *list.items,
          compare_definitions);
  return list;
}

/* Marks what the text refers to and, through a stack, what that refers to. */
static void mark_used(definitions *list, const char *text) {
  definition **stack =
      malloc((size_t)(list->count ? list->count : 1) * sizeof *stack);
  WS_ASSERT(stack);
  int depth = 0;
  const char *at = text, *end = text + strlen(text);
  ws_ir_token t;
  for (;;) {
    while (at < end && ws_ir_next_token(&at, &t) && t.begin < end) {
      definition key = {.sign = 0};
      if (!is_numbered(&t, &key.sign, &key.number))
        continue;
      definition *found = list->count
                              ? bsearch(&key, list->items, (size_t)list->count,
                                        sizeof key, compare_definitions)
                              : NULL;
      if (found && !found->used) {
        found->used = true;
        stack[depth++] = found;
      }
    }
    if (!depth)
      break;
    at = stack[--depth]->text.begin;
    end = stack[depth]->text.end;
  }
  free(stack);
}

/* The function's text with the definitions that it refers to. */
static const char *complete_text(ws_arena *arena, const char *function_text,
                                 const char *module_text) {
  definitions list = find_definitions(module_text);
  mark_used(&list, function_text);
  ws_strbuf out;
  ws_strbuf_init(&out);
  ws_strbuf_printf(&out, "%s\n", function_text);
  bool any = false;
  for (int sign = 0; sign < 2; sign++)
    for (int i = 0; i < list.count; i++) {
      const definition *d = &list.items[i];
      if (!d->used || d->sign != "#!"[sign])
        continue;
      ws_strbuf_puts(&out, any ? "" : "\n");
      ws_strbuf_append(&out, d->text.begin,
                       (size_t)(d->text.end - d->text.begin));
      ws_strbuf_puts(&out, "\n");
      any = true;
    }
  char *text = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  free(list.items);
  return text;
}

/* Without the lines of what it was imported from, which say nothing here. */
static char *without_lines(ws_arena *arena, const char *text) {
  static const char mark[] = " !dbg !";
  char *out = ws_arena_strdup(arena, text), *end = out;
  while (*text)
    if (strncmp(text, mark, sizeof mark - 1)) {
      *end++ = *text++;
    } else {
      end -= end > out && end[-1] == ',';
      text += sizeof mark - 1;
      text += strspn(text, "0123456789");
    }
  *end = '\0';
  return out;
}

const char *ws_region_text(ws_arena *arena, const ws_candidate *candidate,
                           const char *template_text, int region,
                           const char **out_language) {
  const ws_body *body = &candidate->bodies[region];
  const ws_region *shipped = &candidate->tmpl->regions[region];
  const bool mlir = !strcmp(ws_template_language(template_text), "mlir");
  *out_language = body->text && body->language ? body->language
                  : mlir                       ? "mlir"
                                               : "ir";
  if (body->text)
    return body->text;
  const char *function = body->variant < 0
                             ? shipped->function
                             : shipped->variants[body->variant].function;
  char *text = ws_function_text(arena, template_text, function, NULL);
  if (!text)
    return NULL;
  if (body->variant >= 0)
    text = rename_symbol(arena, text, function, shipped->function);
  if (candidate->tmpl->source_file)
    text = without_lines(arena, text);
  return mlir ? text : complete_text(arena, text, template_text);
}
