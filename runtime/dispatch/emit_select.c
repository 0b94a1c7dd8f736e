/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of NAME.c that selects: the table of tuned shapes as a hash table,
 * the rules as nested ifs, the time models as sums, one function a band. What
 * is printed is what ws_selection_pick evaluates, in the same order, so that
 * both pick the same kernel. (A compiler that fuses multiply and add may round
 * a sum differently; that can only tell between kernels whose times by the
 * models agree to 1e-15.)
 */
#include "dispatch_internal.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Chains, each once, one behind the other, -1 behind each. */
typedef struct chain_list {
  short *items;
  int count;
} chain_list;

static int add_chain(chain_list *list, const int *chain, int length) {
  for (int at = 0; at < list->count;) {
    int end = at;
    while (list->items[end] >= 0)
      end++;
    bool same = end - at == length;
    for (int i = 0; same && i < length; i++)
      same = list->items[at + i] == chain[i];
    if (same)
      return at;
    at = end + 1;
  }
  const int at = list->count;
  for (int i = 0; i < length; i++)
    list->items[list->count++] = (short)chain[i];
  list->items[list->count++] = -1;
  return at;
}

static chain_list open_chains(ws_arena *arena, const ws_selection *s) {
  size_t room = 1;
  for (int i = 0; i < s->rules->leaf_count; i++)
    room += (size_t)s->rules->leaves[i].chain_length + 1;
  for (int r = 0; r < s->table.count; r++)
    for (int i = 0; i < s->table.rows[r].span_count; i++)
      room += (size_t)s->table.rows[r].spans[i].chain_length + 1;
  return (chain_list){ws_arena_alloc(arena, room * sizeof(short)), 0};
}

static void emit_chains(const chain_list *list, ws_strbuf *out) {
  ws_strbuf_puts(out, "/* Kernels in the order in which they are tried, the "
                      "last of which accepts\n * every legal shape; -1. */\n"
                      "static const short chains[] = {");
  for (int i = 0; i < list->count; i++)
    ws_strbuf_printf(out, "%s%d,", i % 18 ? " " : "\n  ", list->items[i]);
  ws_strbuf_puts(out, "\n};\n\n");
}

/* ---- rules ---- */

static void emit_leaf_table(const ws_rules *rules, chain_list *chains,
                            ws_strbuf *out) {
  ws_strbuf_puts(
      out, "/* Rules; what the first kernel of the chain loses on the shapes "
           "the rule was\n * fitted on, as a ratio to the best kernel known. "
           "*/\n"
           "static const struct rule {\n  const char *text;\n  double "
           "geomean_regret, max_regret;\n  int shapes, chain;\n} rules[] = "
           "{\n");
  for (int i = 0; i < rules->leaf_count; i++) {
    const ws__leaf *leaf = &rules->leaves[i];
    ws_strbuf_puts(out, "  {");
    ws__put_literal(out, leaf->rule);
    ws_strbuf_printf(out, ",\n   %.4f, %.4f, %d, %d},\n",
                     ws__finite(leaf->geomean_regret),
                     ws__finite(leaf->max_regret), leaf->shape_count,
                     add_chain(chains, leaf->chain, leaf->chain_length));
  }
  ws_strbuf_puts(out, "};\n\n");
}

static void emit_node(const ws_rules *rules, int index, int depth,
                      ws_strbuf *out) {
  const ws__node *node = &rules->nodes[index];
  const int indent = 2 + 2 * depth;
  if (node->feature < 0) {
    const ws__leaf *leaf = &rules->leaves[node->leaf];
    ws_strbuf_printf(
        out, "%*sreturn %d; /* kernel %d; %.3fx over %d shapes, max %.3fx */\n",
        indent, "", node->leaf, leaf->chain[0],
        ws__finite(leaf->geomean_regret), leaf->shape_count,
        ws__finite(leaf->max_regret));
    return;
  }
  ws_strbuf_printf(out, "%*sif (", indent, "");
  ws_expr_print_c(rules->features[node->feature].expr, out);
  ws_strbuf_printf(out, " <= %lldLL) { /* %s */\n", (long long)node->threshold,
                   rules->features[node->feature].name);
  emit_node(rules, node->low, depth + 1, out);
  ws_strbuf_printf(out, "%*s}\n", indent, "");
  emit_node(rules, node->high, depth, out);
}

/* ---- the table of tuned shapes ---- */

/* The same in C and here; sizes behind the first are the key. */
static const char hash_text[] =
    "  unsigned long long ws_hash = 0;\n"
    "  int ws_i;\n"
    "  for (ws_i = 1; ws_i < %d; ws_i++)\n"
    "    ws_hash = (ws_hash ^ (unsigned long long)ws_sizes[ws_i]) * "
    "11400714819323198485ull;\n";

static unsigned long long hash_of(const int64_t *key, int count) {
  unsigned long long hash = 0;
  for (int i = 0; i < count; i++)
    hash = (hash ^ (unsigned long long)key[i]) * 11400714819323198485ull;
  return hash;
}

static void emit_slots(ws_arena *arena, const ws__table *table, int key_count,
                       int bits, ws_strbuf *out) {
  const unsigned mask = (1u << bits) - 1;
  int *slots = ws_arena_alloc(arena, (mask + 1) * sizeof *slots);
  for (unsigned i = 0; i <= mask; i++)
    slots[i] = -1;
  for (int r = 0; r < table->count; r++) {
    unsigned slot =
        (unsigned)(hash_of(table->rows[r].key, key_count) >> (64 - bits));
    while (slots[slot] >= 0)
      slot = (slot + 1) & mask;
    slots[slot] = r;
  }
  ws_strbuf_printf(out, "static const %s slots[%u] = {",
                   table->count > SHRT_MAX ? "int" : "short", mask + 1);
  for (unsigned i = 0; i <= mask; i++)
    ws_strbuf_printf(out, "%s%d,", i % 18 ? " " : "\n  ", slots[i]);
  ws_strbuf_puts(out, "\n};\n\n");
}

/* Twice as many slots as rows, at least. */
static int bits_of(int rows) {
  int bits = 2;
  while ((1 << bits) < 2 * rows)
    bits++;
  return bits;
}

static void emit_table(const ws__emission *emission, chain_list *chains,
                       ws_strbuf *out) {
  const ws__table *table = &emission->selection->table;
  const int dims = emission->problem->dims->count, bits = bits_of(table->count);
  int span = 0;
  ws_strbuf_puts(out, "/* Shapes that were tuned: of sizes but the first, up "
                      "to which first size which\n * chain is taken. */\n"
                      "static const struct span {\n  long long last;\n  int "
                      "chain;\n} spans[] = {\n");
  for (int r = 0; r < table->count; r++)
    for (int i = 0; i < table->rows[r].span_count; i++) {
      const ws__span *item = &table->rows[r].spans[i];
      ws_strbuf_printf(out, "  {%lldLL, %d},\n", (long long)item->last,
                       add_chain(chains, item->chain, item->chain_length));
    }
  ws_strbuf_printf(out,
                   "};\nstatic const struct row {\n  long long key[%d], "
                   "first;\n  int begin, end;\n} rows[] = {\n",
                   dims > 1 ? dims - 1 : 1);
  for (int r = 0; r < table->count; r++) {
    const ws__table_row *row = &table->rows[r];
    ws_strbuf_puts(out, "  {{");
    for (int i = 0; i + 1 < dims || !i; i++)
      ws_strbuf_printf(out, "%s%lldLL", i ? ", " : "", (long long)row->key[i]);
    ws_strbuf_printf(out, "}, %lldLL, %d, %d},\n", (long long)row->first, span,
                     span + row->span_count);
    span += row->span_count;
  }
  ws_strbuf_puts(out, "};\n");
  emit_slots(emission->arena, table, dims - 1, bits, out);
  ws_strbuf_puts(out, "/* A chain; -1: the shape is not near a tuned one. */\n"
                      "static int tuned_chain(const long long *ws_sizes) {\n");
  ws_strbuf_printf(out, hash_text, dims);
  ws_strbuf_printf(
      out,
      "  for (ws_hash >>= %d; slots[ws_hash] >= 0; ws_hash = (ws_hash + 1) & "
      "%u) {\n"
      "    const struct row *ws_row = &rows[slots[ws_hash]];\n"
      "    for (ws_i = 1; ws_i < %d && ws_sizes[ws_i] == ws_row->key[ws_i - "
      "1]; ws_i++)\n"
      "      ;\n"
      "    if (ws_i < %d)\n"
      "      continue;\n"
      "    if (ws_sizes[0] < ws_row->first)\n"
      "      return -1;\n"
      "    for (ws_i = ws_row->begin; ws_i < ws_row->end; ws_i++)\n"
      "      if (ws_sizes[0] <= spans[ws_i].last)\n"
      "        return spans[ws_i].chain;\n"
      "    return -1;\n"
      "  }\n"
      "  return -1;\n"
      "}\n\n",
      64 - bits, (1u << bits) - 1, dims, dims);
}

/* ---- time models ---- */

/* Distinct terms of a band, by their text in C. */
typedef struct term_names {
  const char **texts;
  int count;
} term_names;

static int term_index(const ws__emission *emission, term_names *names,
                      const ws_expr *expr) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_expr_print_c(expr, &text);
  int i = 0;
  while (i < names->count && strcmp(names->texts[i], text.data))
    i++;
  if (i == names->count)
    names->texts[names->count++] = ws_arena_strdup(emission->arena, text.data);
  ws_strbuf_deinit(&text);
  return i;
}

static void emit_sum(const ws__emission *emission, int band, int index,
                     term_names *names, ws_strbuf *out) {
  const ws_time_models *models = emission->selection->by_band[band];
  const int position = emission->selection->shortlists[band].positions[index];
  const ws__time_model *model = &models->models[position];
  const char *plus = "";
  ws_strbuf_printf(out, "  ws_us[%d] = ", index);
  if (ws__is_constrained(emission->portfolio[position]->candidate))
    ws_strbuf_printf(out, "!accepts_%d(ws_sizes) ? ws_refused : ", position);
  for (int t = 0; t < models->terms->count; t++)
    if (model->us[t] > 0 && model->terms[t]) {
      ws_strbuf_printf(out, "%s%.17g * ws_t%d", plus, ws__finite(model->us[t]),
                       term_index(emission, names, model->terms[t]));
      plus = " + ";
    }
  ws_strbuf_puts(out, *plus ? ";\n" : "0;\n");
}

static void emit_band(const ws__emission *emission, int band, ws_strbuf *out) {
  const ws__shortlist *list = &emission->selection->shortlists[band];
  const ws_dims *dims = emission->problem->dims;
  term_names names = {
      ws_arena_alloc(emission->arena, sizeof(char *) * WS_TIME_TERMS_MOST *
                                          (size_t)list->count),
      0};
  ws_strbuf sums;
  ws_strbuf_init(&sums);
  for (int i = 0; i < list->count; i++)
    emit_sum(emission, band, i, &names, &sums);
  ws_strbuf_printf(out, "static const short listed_%d[%d] = {", band,
                   list->count);
  for (int i = 0; i < list->count; i++)
    ws_strbuf_printf(out, "%s%d", i ? ", " : "", list->positions[i]);
  ws_strbuf_printf(
      out, "};\nstatic int modelled_%d(const long long *ws_sizes) {\n", band);
  for (int i = 0; i < dims->count; i++)
    ws_strbuf_printf(out,
                     "  const long long %s = ws_sizes[%d] < %dLL ? ws_sizes[%d] "
                     ": %dLL;\n",
                     dims->names[i], i, WS__MODEL_LARGEST, i,
                     WS__MODEL_LARGEST);
  for (int i = 0; i < names.count; i++)
    ws_strbuf_printf(out, "  const double ws_t%d = (double)(%s);\n", i,
                     names.texts[i]);
  ws_strbuf_printf(out, "  double ws_us[%d];\n", list->count);
  ws_strbuf_printf(out, "  %s;\n", ws__list_sizes(emission, "(void)%s"));
  ws_strbuf_puts(out, sums.data);
  ws_strbuf_printf(
      out, "  return least_time(ws_us, listed_%d, %d, %d);\n}\n\n",
      band, list->count, list->fallback);
  ws_strbuf_deinit(&sums);
}

/* The least time first, then where it is: the first needs no branch, and
 * branches on times are foretold badly. */
static const char least_time[] =
    "/* The kernel with the least time; fallback where all refuse the shape. */\n"
    "static const double ws_refused = 1e300;\n"
    "static int least_time(const double *us, const short *kernels, int count,\n"
    "                      int fallback) {\n"
    "  double least = us[0];\n"
    "  int i;\n"
    "  for (i = 1; i < count; i++)\n"
    "    least = us[i] < least ? us[i] : least;\n"
    "  if (least >= ws_refused)\n"
    "    return fallback;\n"
    "  for (i = 0; us[i] > least; i++)\n"
    "    ;\n"
    "  return kernels[i];\n"
    "}\n\n";

static bool has_models(const ws_selection *s) {
  for (int b = 0; b < s->band_count; b++)
    if (s->bands[b].form == WS_FORM_MODELS)
      return true;
  return false;
}

static bool has_tree(const ws_selection *s) {
  for (int b = 0; b < s->band_count; b++)
    if (s->bands[b].form == WS_FORM_TREE)
      return true;
  return false;
}

/* ---- the choice ---- */

static const char first_of_chain[] =
    "static int first_of(const short *chain, const long long *ws_sizes) {\n"
    "  for (; *chain >= 0; chain++)\n"
    "    if (candidates[*chain].accepts(ws_sizes))\n"
    "      return *chain;\n"
    "  return -1;\n"
    "}\n\n";

/* Constraints of universal kernels were tried, not proved: they are asked of
 * the shape at hand. */
static void emit_net(const ws__emission *emission, ws_strbuf *out) {
  ws_strbuf_printf(
      out,
      "/* The last of a chain has constraints, too: where they refuse the "
      "shape, any\n"
      " * kernel that accepts it. */\n"
      "static int select_kernel(const long long *ws_sizes) {\n"
      "  int ws_pick = preferred_kernel(ws_sizes);\n"
      "  if (!is_legal(ws_sizes))\n"
      "    return -1;\n"
      "  if (ws_pick >= 0 && candidates[ws_pick].accepts(ws_sizes))\n"
      "    return ws_pick;\n"
      "  for (ws_pick = 0; ws_pick < %d; ws_pick++)\n"
      "    if (candidates[ws_pick].accepts(ws_sizes))\n"
      "      return ws_pick;\n"
      "  return -1;\n"
      "}\n\n",
      emission->count);
}

static void emit_choice(const ws_selection *s, ws_strbuf *out) {
  ws_strbuf_printf(out, "static int %s(const long long *ws_sizes) {\n",
                   s->portfolio.is_proven ? "select_kernel"
                                          : "preferred_kernel");
  if (s->table.count)
    ws_strbuf_puts(out, "  int ws_chain;\n");
  ws_strbuf_puts(out, "  if (!is_legal(ws_sizes))\n    return -1;\n");
  if (s->table.count)
    ws_strbuf_puts(out, "  ws_chain = tuned_chain(ws_sizes);\n"
                        "  if (ws_chain >= 0)\n"
                        "    return first_of(chains + ws_chain, ws_sizes);\n");
  for (int b = 0; b < s->band_count; b++) {
    if (b + 1 < s->band_count)
      ws_strbuf_printf(out, "  if (ws_sizes[0] <= %lldLL)\n  ",
                       (long long)s->bands[b].last);
    if (s->bands[b].form == WS_FORM_MODELS)
      ws_strbuf_printf(out, "  return modelled_%d(ws_sizes);\n", b);
    else
      ws_strbuf_puts(out, "  return first_of(chains + "
                          "rules[rule_of(ws_sizes)].chain, ws_sizes);\n");
  }
  ws_strbuf_puts(out, "}\n\n");
}

static void put_shape(const ws__emission *emission, ws_strbuf *out) {
  const ws_dims *dims = emission->problem->dims;
  ws_strbuf_printf(out, "  long long ws_sizes[%d];\n", dims->count);
  for (int i = 0; i < dims->count; i++)
    ws_strbuf_printf(out, "  ws_sizes[%d] = %s;\n", i, dims->names[i]);
}

void ws__emit_select(const ws__emission *emission, ws_strbuf *out) {
  const ws_selection *s = emission->selection;
  chain_list chains = open_chains(emission->arena, s);
  ws_strbuf tables;
  ws_strbuf_init(&tables);
  if (has_tree(s))
    emit_leaf_table(s->rules, &chains, &tables);
  if (s->table.count)
    emit_table(emission, &chains, &tables);
  if (chains.count)
    emit_chains(&chains, out);
  ws_strbuf_append(out, tables.data, tables.size);
  ws_strbuf_deinit(&tables);
  ws__emit_truth(emission, "is_legal", "const long long *ws_sizes",
                 s->rules->legal, out);
  if (has_tree(s)) {
    ws_strbuf_puts(out, "static int rule_of(const long long *ws_sizes) {\n");
    ws__put_sizes(emission, out);
    emit_node(s->rules, 0, 0, out);
    ws_strbuf_puts(out, "}\n\n");
  }
  if (has_models(s))
    ws_strbuf_puts(out, least_time);
  if (chains.count)
    ws_strbuf_puts(out, first_of_chain);
  for (int b = 0; b < s->band_count; b++)
    if (s->bands[b].form == WS_FORM_MODELS)
      emit_band(emission, b, out);
  emit_choice(s, out);
  if (!s->portfolio.is_proven)
    emit_net(emission, out);
  ws_strbuf_printf(out, "int %s_select(%s) {\n", emission->name,
                   ws__size_parameters(emission));
  put_shape(emission, out);
  ws_strbuf_puts(out, "  return select_kernel(ws_sizes);\n}\n\n");
}

/* ---- NAME_explain ---- */

static void emit_explain_form(const ws__emission *emission,
                              const char *condition, const char *text,
                              ws_strbuf *out) {
  ws_strbuf_printf(out,
                   "%s\n"
                   "    snprintf(ws_buffer, ws_size, \"%s: %s: kernel %%d, %%s, "
                   "%%s (%%s)\",\n"
                   "             %s, ws_pick, candidates[ws_pick].id,\n"
                   "             candidates[ws_pick].parameters, "
                   "%s.provenance);\n",
                   condition, ws__size_format(emission), text,
                   ws__list_sizes(emission, "%s"), emission->name);
}

static void emit_explain_rule(const ws__emission *emission, ws_strbuf *out) {
  const char *sizes = ws__list_sizes(emission, "%s");
  ws_strbuf_printf(
      out,
      "  {\n"
      "    const int ws_rule = rule_of(ws_sizes);\n"
      "    snprintf(ws_buffer, ws_size,\n"
      "             \"%s: rule %%d of %d (%%s): kernel %%d, %%s, %%s; \"\n"
      "             \"%%.3fx of the best over %%d training shapes, at worst "
      "%%.3fx \"\n"
      "             \"(%%s)%%s\",\n"
      "             %s, ws_rule, rules[ws_rule].text, ws_pick, "
      "candidates[ws_pick].id,\n"
      "             candidates[ws_pick].parameters, "
      "rules[ws_rule].geomean_regret,\n"
      "             rules[ws_rule].shapes, rules[ws_rule].max_regret, "
      "%s.provenance,\n"
      "             ws_pick == chains[rules[ws_rule].chain] ? \"\"\n"
      "               : \"; the rule's first choice does not accept this "
      "shape\");\n"
      "  }\n",
      ws__size_format(emission), emission->selection->rules->leaf_count, sizes,
      emission->name);
}

/* What a form loses where groups were left out: "1.023x, at worst 1.2x". */
static const char *judged_text(const ws__emission *emission,
                               const ws_band *band) {
  if (!band->shape_count)
    return "not judged";
  return ws_arena_printf(emission->arena,
                         "%.3fx of the best on %d shapes left out, at worst "
                         "%.3fx",
                         ws__finite(exp(band->ln_loss[band->form])),
                         band->shape_count,
                         ws__finite(band->worst[band->form]));
}

void ws__emit_explain(const ws__emission *emission, ws_strbuf *out) {
  const ws_selection *s = emission->selection;
  const char *first = emission->problem->dims->names[0];
  ws_strbuf_printf(out,
                   "const char *%s_explain(%s,\n"
                   "                       char *ws_buffer, size_t ws_size) {\n"
                   "  int ws_pick;\n",
                   emission->name, ws__size_parameters(emission));
  put_shape(emission, out);
  ws_strbuf_printf(out,
                   "  ws_pick = select_kernel(ws_sizes);\n"
                   "  if (ws_pick < 0)\n"
                   "    snprintf(ws_buffer, ws_size, \"%s is not a legal "
                   "shape\", %s);\n",
                   ws__size_format(emission), ws__list_sizes(emission, "%s"));
  if (s->table.count)
    emit_explain_form(emission, "  else if (tuned_chain(ws_sizes) >= 0)",
                      "tuned at this shape or near it", out);
  for (int b = 0; b < s->band_count; b++) {
    const ws_band *band = &s->bands[b];
    const bool end = b + 1 == s->band_count;
    if (band->form != WS_FORM_MODELS)
      continue;
    emit_explain_form(
        emission,
        end && !has_tree(s)
            ? "  else"
            : ws_arena_printf(emission->arena,
                              "  else if (ws_sizes[0] >= %lldLL && ws_sizes[0] "
                              "<= %lldLL)",
                              (long long)band->first, (long long)band->last),
        ws_arena_printf(emission->arena, "time models of %s %lld.. (%s)", first,
                        (long long)band->first, judged_text(emission, band)),
        out);
  }
  if (has_tree(s)) {
    ws_strbuf_puts(out, "  else\n");
    emit_explain_rule(emission, out);
  }
  ws_strbuf_puts(out, "  return ws_buffer;\n}\n");
}
