/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a strategy knows and does. A strategy makes *requests* (kind, parents,
 * aim); a proposer, built in or a model, answers each with at most one
 * candidate or with a document; the engine (tune.c) judges that and applies
 * results in the order of requests. So what a strategy does next depends on the
 * seed, the answers and the results alone, never on speed.
 */
#ifndef WAVESMITH_SEARCH_STRATEGY_H
#define WAVESMITH_SEARCH_STRATEGY_H

#include "grid.h"
#include "space.h"
#include "wavesmith/build.h"
#include "wavesmith/llm.h"

enum {
  /* Most requests that are open at once: request i is made from what the
   * results up to i - window tell. The built-in proposer has all of it, a model
   * what --in-flight says. */
  WS__WINDOW = 16,
  WS__MOST_ROUND = 2048, /* requests of a round, which stand open together */
  WS__TOP = 4            /* candidates remembered per shape */
};

typedef struct ws__request {
  ws_request_kind kind;
  int parents[2]; /* results; -1: none. repair: [0] is what failed */
  int target;     /* shape that it aims at, -1: all */
  int island;     /* evolve; else 0 */
  int region;     /* of the first parent's template; -1: any */
  bool guided;    /* the built-in proposer ranks what it draws (surrogate.h) */
  int climb;      /* that it is a small move of, from 1; 0: it is none */
  /* On a large set: 1 + the result whose candidate it is to time on further
   * shapes, no other being asked for; 0: none. And the shapes that it is timed
   * on; NULL: all. */
  int further;
  const struct ws__sample *sample;
  const char *plan;   /* write: the experiment, in words; else "" */
  const char *origin; /* "default", "random", "local", ...: the record's */
  int member;         /* who is asked; the engine fills it in */
} ws__request;

/* What became of a request. Its index in ws__knowledge.results is the request's
 * sequence in the run (ws_exchange_row.sequence). Lives as long as the session.
 */
typedef struct ws__result {
  ws__request request;
  /* NULL: a document, a reply without one, or one that failed and that no
   * repair is asked for */
  const ws_candidate *candidate;
  const ws_reply *reply; /* NULL: the built-in proposer */
  /* Of a template that could not be described and is to be repaired. */
  const char *template_text;
  ws_verdict verdict;         /* of the candidate or the reply */
  const char *stage, *reason; /* stage "reply": it held no candidate */
  const double *us;           /* by shape; INFINITY: no time (now) */
  /* Mean over the search's shapes of ln(reference us / us), the reference being
   * the first ranked result of the run; -INFINITY: not ranked (fails, or does
   * not take every shape that the reference takes). On a large set against
   * what the portfolio had when it came: ws__large_score. */
  double score;
  ws__cell cell;
  int repairs;    /* how many repairs led to it */
  const char *id; /* candidate's; "" for none */
} ws__result;

typedef struct ws__knowledge {
  ws_arena *arena;
  ws__space **spaces; /* of each template of the run; [0]: the task's */
  int space_count, space_capacity;
  ws__seen *seen; /* candidates proposed so far, in flight included */
  int shape_count;
  double noise; /* of ln us: differences below it mean nothing */
  int round;    /* requests that are made from the same results; 0: no rounds */
  const ws_candidate **starts; /* what the run begins with */
  int start_count;
  ws__result *results;
  int count, capacity;
  int (*best)[WS__TOP]; /* by shape: results, best first; -1 */
  int *stale;           /* by shape: requests aimed at it since it improved */
  int leader;           /* parent with the best score; -1: none */
  int reference;        /* first result with a time; -1: none */
  int repairs_open;     /* the engine's: repairs asked or to be asked */
  int moves_open;       /* likewise: small moves without result */
  bool blind; /* experiments of one design are written without each other's
                 results */
  const char *findings; /* the latest document of a distil request; "" */
  struct ws__surrogate *surrogate; /* NULL: the set is large */
  struct ws__large *large;         /* NULL: it is not */
} ws__knowledge;

void ws__knowledge_init(ws__knowledge *knowledge, ws_arena *arena,
                        ws__space *space, ws__seen *seen, int shape_count,
                        double noise, int round);
/* Before the first result: the set is large, and times are taken of samples
 * (ws__large_create). */
void ws__knowledge_set_large(ws__knowledge *knowledge, const ws_shape *shapes,
                             const double *limit_us);
/* The space of a template of the run; NULL: it is not one yet. */
ws__space *ws__knowledge_space(const ws__knowledge *knowledge,
                               const ws_template *tmpl);
/* After a whole-template reply. */
void ws__knowledge_add_space(ws__knowledge *knowledge, ws__space *space);
/* Computes score; copies nothing: what result points at must live as long as
 * the arena. Returns its index. */
int ws__knowledge_add(ws__knowledge *knowledge, const ws__result *result);
/* Has it times, and a template whose space is known? */
bool ws__knowledge_is_parent(const ws__knowledge *knowledge, int result);
/* The fastest result for shape, the baseline included; -1: none. */
int ws__knowledge_best(const ws__knowledge *knowledge, int shape);
/* What a result is measured against: its parent; of a repair, what that was
 * meant to improve. -1: nothing that has times. */
int ws__knowledge_compared(const ws__knowledge *knowledge, int result);
/* Geometric mean over the shapes of their best times; 0: none. Where a large
 * set's shape has none, of what near shapes suggest. */
double ws__knowledge_geomean(const ws__knowledge *knowledge);
/* Speed-up of a over b: exp of the mean of ln(b us / a us) over the shapes that
 * both have; 0: none. */
double ws__knowledge_speedup(const ws__knowledge *knowledge, int a, int b);

/* WS__DRAW_WAIT: nothing can be asked before more results are in. */
typedef struct ws__strategy {
  const char *name, *purpose;
  bool needs_model; /* some requests want a document */
  /* State, in the arena. */
  void *(*create)(ws_arena *arena, ws__knowledge *knowledge);
  ws__draw (*next)(void *state, ws__knowledge *knowledge, ws_rng *rng,
                   ws__request *out_request);
  /* A result was added; also of repairs, which the engine asks for itself. */
  void (*learn)(void *state, ws__knowledge *knowledge, int result);
  bool uses_cells; /* results of earlier runs need their cells too */
} ws__strategy;

/* NULL: none of that name; the diag then lists them. */
const ws__strategy *ws__strategy_find(const char *name, ws_diag *diag);

/* The built-in proposer: a candidate for a request that wants one, not seen
 * yet, in the arena. explore: a legal point drawn uniformly of the template of
 * parents[0] (the task's if none); exploit: a move of the parent, else as
 * explore; crossover: each choice from one of two parents of one template, else
 * as exploit. Regions that a parent has rewritten stay rewritten. A small move
 * stays around its parent: none, when all there was seen. *out_move: in words.
 */
ws__draw ws__builtin_propose(ws__knowledge *knowledge, ws_rng *rng,
                             ws_arena *arena, const ws__request *request,
                             ws_candidate **out_candidate,
                             const char **out_move);

#endif
