/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Innermost natural loops of machine code. The code generator lays blocks that
 * it takes for rare behind the kernel and jumps back from them, so that the
 * addresses between a backward branch and its target are neither all of a loop
 * nor only a loop: loops are found in the flow graph. A back edge goes to a
 * block that dominates it; the loop is what reaches the edge without passing
 * that block. Dominators: Cooper, Harvey and Kennedy, "A simple, fast dominance
 * algorithm" (2001).
 */
#include "machine_code.h"

#include <string.h>

typedef struct block {
  int begin, end; /* instructions */
  int successors[2];
  int successor_count;
  int order;     /* position in reverse post-order; -1: never reached */
  int dominator; /* the immediate one, as a position in that order */
  bool is_head, seen;
} block;

typedef struct graph {
  block *blocks;
  int count;
  int *by_order; /* reached blocks in reverse post-order */
  int reached;
} graph;

/* ---- blocks
 * ------------------------------------------------------------------ */

/* block_of[i] becomes the block of instruction i. */
static void cut_blocks(const machine_code *code, ws_arena *arena, int *block_of,
                       graph *out) {
  bool *begins = ws_arena_alloc(arena, (size_t)code->count * sizeof *begins);
  begins[0] = true;
  for (int i = 0; i < code->count; i++) {
    const machine_instruction *item = &code->items[i];
    if (item->target >= 0)
      begins[item->target] = true;
    if ((item->target >= 0 || !item->goes_on) && i + 1 < code->count)
      begins[i + 1] = true;
  }
  for (int i = 0; i < code->count; i++) {
    if (begins[i])
      out->blocks[out->count++] = (block){.begin = i, .order = -1};
    out->blocks[out->count - 1].end = i + 1;
    block_of[i] = out->count - 1;
  }
}

static void link_blocks(const machine_code *code, const int *block_of,
                        graph *g) {
  for (int b = 0; b < g->count; b++) {
    block *from = &g->blocks[b];
    const machine_instruction *last = &code->items[from->end - 1];
    if (last->target >= 0)
      from->successors[from->successor_count++] = block_of[last->target];
    if (last->goes_on && from->end < code->count)
      from->successors[from->successor_count++] = b + 1;
  }
}

/* Depth first from the entry, with a stack of its own: post-order from the
 * back of by_order, so that what stands in it is the reverse. */
static void number_blocks(graph *g, int *stack, int *next_edge) {
  int depth = 0, place = g->count;
  stack[depth] = 0;
  g->blocks[0].seen = true;
  memset(next_edge, 0, (size_t)g->count * sizeof *next_edge);
  while (depth >= 0) {
    int b = stack[depth];
    if (next_edge[b] == g->blocks[b].successor_count) {
      g->by_order[--place] = b;
      depth--;
      continue;
    }
    int to = g->blocks[b].successors[next_edge[b]++];
    if (!g->blocks[to].seen) {
      g->blocks[to].seen = true;
      stack[++depth] = to;
    }
  }
  g->reached = g->count - place;
  memmove(g->by_order, g->by_order + place,
          (size_t)g->reached * sizeof *g->by_order);
  for (int i = 0; i < g->reached; i++)
    g->blocks[g->by_order[i]].order = i;
}

/* ---- dominators
 * ---------------------------------------------------------------- */

static block *at(const graph *g, int order) {
  return &g->blocks[g->by_order[order]];
}

static int common_dominator(const graph *g, int a, int b) {
  while (a != b) {
    while (a > b)
      a = at(g, a)->dominator;
    while (b > a)
      b = at(g, b)->dominator;
  }
  return a;
}

static void find_dominators(graph *g) {
  for (int i = 0; i < g->reached; i++)
    at(g, i)->dominator = -1;
  at(g, 0)->dominator = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < g->reached; i++)
      for (int s = 0; s < at(g, i)->successor_count; s++) {
        block *to = &g->blocks[at(g, i)->successors[s]];
        if (to->order == 0 || at(g, i)->dominator < 0)
          continue;
        int now = to->dominator < 0 ? i : common_dominator(g, to->dominator, i);
        changed |= now != to->dominator;
        to->dominator = now;
      }
  }
}

static bool dominates(const graph *g, int a, int b) {
  while (b > a)
    b = at(g, b)->dominator;
  return a == b;
}

/* ---- loops
 * ---------------------------------------------------------------------- */

static bool has_edge(const block *from, int to) {
  for (int s = 0; s < from->successor_count; s++)
    if (from->successors[s] == to)
      return true;
  return false;
}

static void mark_heads(graph *g) {
  for (int i = 0; i < g->reached; i++)
    for (int s = 0; s < at(g, i)->successor_count; s++) {
      block *to = &g->blocks[at(g, i)->successors[s]];
      if (dominates(g, to->order, i))
        to->is_head = true;
    }
}

/* Marks (seen) the blocks of the loop with this head: those from which a latch
 * is reached without passing the head. Predecessors are looked for by passing
 * over all blocks until nothing is added. false: another loop lies within. */
static bool mark_loop(graph *g, int head) {
  for (int i = 0; i < g->reached; i++)
    at(g, i)->seen = false;
  at(g, head)->seen = true;
  for (int i = head; i < g->reached; i++)
    if (has_edge(at(g, i), g->by_order[head]) && dominates(g, head, i))
      at(g, i)->seen = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = g->reached - 1; i > head; i--) {
      block *from = at(g, i);
      for (int s = 0; s < from->successor_count && !from->seen; s++) {
        const block *to = &g->blocks[from->successors[s]];
        from->seen = to->seen && to->order != head && dominates(g, head, i);
        changed |= from->seen;
      }
    }
  }
  for (int i = head + 1; i < g->reached; i++)
    if (at(g, i)->seen && at(g, i)->is_head)
      return false;
  return true;
}

static machine_loop collect(const graph *g, ws_arena *arena) {
  machine_loop loop = {NULL, 0};
  for (int i = 0; i < g->reached; i++)
    if (at(g, i)->seen)
      loop.count += at(g, i)->end - at(g, i)->begin;
  loop.items = ws_arena_alloc(arena, (size_t)loop.count * sizeof *loop.items);
  loop.count = 0;
  for (int i = 0; i < g->reached; i++)
    for (int at_item = at(g, i)->begin;
         at(g, i)->seen && at_item < at(g, i)->end; at_item++)
      loop.items[loop.count++] = at_item;
  return loop;
}

int ws_machine_loops(const machine_code *code, ws_arena *arena,
                     machine_loop **out_loops) {
  *out_loops = NULL;
  if (code->count == 0)
    return 0;
  const size_t most = (size_t)code->count;
  int *block_of = ws_arena_alloc(arena, most * sizeof *block_of);
  graph g = {.blocks = ws_arena_alloc(arena, most * sizeof *g.blocks)};
  cut_blocks(code, arena, block_of, &g);
  link_blocks(code, block_of, &g);
  int *stack = ws_arena_alloc(arena, 2 * (size_t)g.count * sizeof *stack);
  g.by_order = ws_arena_alloc(arena, (size_t)g.count * sizeof *g.by_order);
  number_blocks(&g, stack, stack + g.count);
  find_dominators(&g);
  mark_heads(&g);

  *out_loops = ws_arena_alloc(arena, (size_t)g.count * sizeof **out_loops);
  int count = 0;
  for (int b = 0; b < g.count; b++)
    if (g.blocks[b].is_head && mark_loop(&g, g.blocks[b].order))
      (*out_loops)[count++] = collect(&g, arena);
  return count;
}
