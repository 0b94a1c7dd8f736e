/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The innermost loop that took longest, as machine code. A loop is what lies
 * between the target of a backward branch and the branch; several branches to
 * one target are one loop, which ends at the last. Its turns are counted at its
 * first instruction. Of long loops the rows that take least are left out, but
 * for waits, barriers and loads, which hold a loop together and count four
 * times.
 */
#include "clock.h"

#include <stdlib.h>

typedef struct range {
  uint32_t first, last; /* instructions, both inside */
} range;

static bool is_inside(range inner, range outer) {
  return inner.first >= outer.first && inner.last <= outer.last &&
         (inner.first != outer.first || inner.last != outer.last);
}

/* ---- which loop -------------------------------------------------------------
 */

/* Branches by register have no target and would be loops to the first
 * instruction. */
static bool closes_loop(const ws_instruction *in, uint32_t index) {
  return in->class_ == WS_CLASS_BRANCH && in->src_count &&
         in->src[in->src_count - 1].kind == WS_OPERAND_CONSTANT &&
         in->target <= index;
}

static int find_loops(const ws_text *text, range *out) {
  int count = 0;
  for (uint32_t i = 0; i < text->count; i++) {
    if (!closes_loop(&text->items[i], i))
      continue;
    int known = 0;
    while (known < count && out[known].first != text->items[i].target)
      known++;
    out[known] = (range){text->items[i].target, i};
    count += known == count;
  }
  return count;
}

static bool is_innermost(const range *loops, int count, range loop) {
  for (int i = 0; i < count; i++)
    if (is_inside(loops[i], loop))
      return false;
  return true;
}

static int64_t clocks_of(const ws_stalls *stalls) {
  int64_t sum = 0;
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
    sum += stalls->clocks[s];
  return sum;
}

static int64_t clocks_between(const ws_stalls *stalls, range of) {
  int64_t sum = 0;
  for (uint32_t i = of.first; i <= of.last; i++)
    sum += clocks_of(&stalls[i]);
  return sum;
}

/* false: none ran. */
static bool hottest(const ws_loop_source *source, ws_arena *arena, range *out) {
  const ws_text *text = &source->module->text;
  range *loops = ws_arena_alloc(arena, (text->count + 1) * sizeof *loops);
  const int count = find_loops(text, loops);
  int64_t most = 0;
  for (int i = 0; i < count; i++) {
    const int64_t clocks = clocks_between(source->stalls, loops[i]);
    if (clocks > most && source->stalls[loops[i].first].issued &&
        is_innermost(loops, count, loops[i])) {
      most = clocks;
      *out = loops[i];
    }
  }
  return most > 0;
}

/* ---- its rows ---------------------------------------------------------------
 */

typedef struct row {
  uint32_t first;
  int count;
  bool holds; /* a wait, a barrier, a load of global memory */
  bool shown;
  ws_stalls stalls;
} row;

static bool holds(const ws_instruction *in, const ws_stalls *stalls) {
  return in->class_ == WS_CLASS_WAIT || in->class_ == WS_CLASS_BARRIER ||
         ((in->class_ == WS_CLASS_VMEM || in->class_ == WS_CLASS_FLAT) &&
          stalls->latency);
}

static bool same_line(const ws_sim_module *module, uint32_t a, uint32_t b) {
  const ws_line *lines = module->lines;
  return !lines || (lines[a].line == lines[b].line &&
                    !strcmp(lines[a].file, lines[b].file) &&
                    !strcmp(lines[a].region, lines[b].region));
}

static void add(row *to, const row *from) {
  to->count += from->count;
  to->holds |= from->holds;
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
    to->stalls.clocks[s] += from->stalls.clocks[s];
  to->stalls.issued += from->stalls.issued;
  to->stalls.latency += from->stalls.latency;
}

/* Waits stay alone: what they wait for stands in their operand. */
static int make_rows(const ws_loop_source *source, range loop, row *rows) {
  const ws_instruction *items = source->module->text.items;
  int count = 0;
  for (uint32_t i = loop.first; i <= loop.last; i++) {
    const row one = {.first = i,
                     .count = 1,
                     .holds = holds(&items[i], &source->stalls[i]),
                     .stalls = source->stalls[i]};
    row *last = count ? &rows[count - 1] : NULL;
    if (last && items[last->first].op == items[i].op &&
        items[i].class_ != WS_CLASS_WAIT &&
        same_line(source->module, last->first, i))
      add(last, &one);
    else
      rows[count++] = one;
  }
  return count;
}

static int64_t weight(const row *r) {
  return clocks_of(&r->stalls) * (r->holds ? 4 : 1) + r->holds;
}

/* Neighbours that are not shown become one row. */
static int join_hidden(row *rows, int count) {
  int joined = 0;
  for (int i = 0; i < count; i++)
    if (joined && !rows[i].shown && !rows[joined - 1].shown)
      add(&rows[joined - 1], &rows[i]);
    else
      rows[joined++] = rows[i];
  return joined;
}

static int count_joined(const row *rows, int count) {
  int joined = 0;
  for (int i = 0; i < count; i++)
    joined += rows[i].shown || !i || rows[i - 1].shown;
  return joined;
}

static row *lightest_shown(row *rows, int count) {
  row *lightest = NULL;
  for (int i = 0; i < count; i++)
    if (rows[i].shown && (!lightest || weight(&rows[i]) < weight(lightest)))
      lightest = &rows[i];
  return lightest;
}

/* Hides the lightest until they fit. One of a single opcode stays shown when
 * it would be a row of its own either way, which the last step sees to. */
static int cut_rows(row *rows, int count) {
  for (int i = 0; i < count; i++)
    rows[i].shown = true;
  while (count_joined(rows, count) > WS_SIM_LOOP_ROWS)
    lightest_shown(rows, count)->shown = false;
  for (int i = 0; i < count; i++)
    rows[i].shown |=
        (!i || rows[i - 1].shown) && (i + 1 == count || rows[i + 1].shown);
  return join_hidden(rows, count);
}

/* ---- what is told -----------------------------------------------------------
 */

static const char *text_of(const ws_loop_source *source, const row *r,
                           ws_arena *arena) {
  const char *text = source->module->text.lines[r->first];
  if (!r->shown)
    return "";
  while (*text == ' ' || *text == '\t')
    text++;
  return ws_arena_printf(
      arena, "%.*s",
      (int)(r->count > 1 ? strcspn(text, " \t") : strcspn(text, "\n")), text);
}

static void tell_row(const ws_loop_source *source, const row *r, double turns,
                     ws_arena *arena, ws_sim_loop_row *out) {
  const ws_line *lines = r->shown ? source->module->lines : NULL;
  const ws_line line = lines ? lines[r->first] : (ws_line){"", "", 0, 0};
  const double clocks = (double)clocks_of(&r->stalls);
  const int64_t issued = r->stalls.issued;
  *out = (ws_sim_loop_row){
      .text = text_of(source, r, arena),
      .count = r->count,
      .region = ws_arena_strdup(arena, line.region ? line.region : ""),
      .file = ws_arena_strdup(arena, line.file ? line.file : ""),
      .line = line.line,
      .column = line.column,
      .clocks = clocks / turns,
      .latency =
          r->shown && issued ? (double)r->stalls.latency / (double)issued : 0};
  for (int s = 0; s < WS_SIM_STALL_COUNT; s++)
    out->stalls[s] = clocks > 0 ? (double)r->stalls.clocks[s] / clocks : 0;
}

void ws__hottest_loop(const ws_loop_source *source, ws_arena *arena,
                      ws_sim_loop *out) {
  const ws_text *text = &source->module->text;
  ws_arena *scratch = ws_arena_create();
  range loop;
  *out = (ws_sim_loop){0};
  if (hottest(source, scratch, &loop)) {
    const int64_t all =
        clocks_between(source->stalls, (range){0, text->count - 1});
    const int64_t clocks = clocks_between(source->stalls, loop);
    const double turns = (double)source->stalls[loop.first].issued;
    row *rows = ws_arena_alloc(scratch, text->count * sizeof *rows);
    out->share = (double)clocks / (double)all;
    out->clocks = (double)clocks / turns;
    out->iterations = turns / (double)source->waves;
    out->instructions = (int)(loop.last - loop.first) + 1;
    out->row_count = cut_rows(rows, make_rows(source, loop, rows));
    for (int i = 0; i < out->row_count; i++)
      tell_row(source, &rows[i], turns, arena, &out->rows[i]);
  }
  ws_arena_destroy(scratch);
}
