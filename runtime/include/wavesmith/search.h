/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Tuning: strategies propose candidates, the evaluator judges them, the
 * archive keeps all of it.
 */
#ifndef WAVESMITH_SEARCH_H
#define WAVESMITH_SEARCH_H

#include "wavesmith/archive.h"
#include "wavesmith/bound_model.h"
#include "wavesmith/llm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_tune_options {
  const char *template_file; /* the space */
  ws_problem_list problems;  /* which it may be of */
  const char *baseline_file; /* measured first as "naive"; NULL: none */
  const char *archive_path;
  const char *layout;    /* "kmajor"; NULL: the target's first */
  const char *shape_set; /* "contest", or shapes; NULL: the first set */
  const char *strategy;  /* docs/search.md */
  uint64_t seed;
  double minutes;      /* <= 0: no time limit */
  int64_t evaluations; /* <= 0: no limit on candidates */
  int workers;         /* compile servers; <= 0: one per core */
  /* "hip", "cuda", "sim", "auto" (the target's card, else, where there is one,
   * its simulator), "cuda:1", "cuda:all" (every card), "sim:mi300a" (another
   * card than the MI300X is simulated), "estimate" or NULL: no
   * device, the bound model alone; "batch:FOLDER": asked here, answered where
   * `wavesmith-device run FOLDER` is run (wavesmith/batch.h) */
  const char *device;
  /* What proposals follow from: "estimate" (the bound model; the device is
   * asked beside the search), "device" (every candidate is verified and timed
   * there before its result counts), or NULL: device with a model, a table, a
   * batch or a target without bound model, else estimate. */
  const char *rank;
  /* Requests made from the same results, so that a device can be asked for all
   * of them at once. 0: none, or with a batch 64 */
  int round;
  const char *held_out; /* shape set of confirmations; NULL: "held-out" */
  /* Points of the template to begin with, "tile_m=128;stages=4": what is not
   * named has its default. */
  const char *const *points;
  int point_count;
  const char *const *start; /* ids of candidates in the archive to begin with */
  int start_count;
  int repairs; /* of one failed candidate by a model; < 0: 1 */
  /* By the built-in proposer around each template or body that a model brought
   * and that was accepted: of a wave, and as many again around what gains, up
   * to three waves. Not counted by `evaluations`. <= 0: none */
  int small_moves;
  /* scientist: a design's experiments are written without seeing each other's
   * results, side by side. In rounds they are anyway. */
  bool blind_siblings;

  /* Models: none is the built-in proposer alone (wavesmith/llm.h). */
  const char *const *models; /* specs */
  int model_count;
  const char *prompts; /* folder in place of the program's own; NULL */
  size_t prompt_bytes; /* budget of one; 0: WS_PROMPT_BYTES */
  int in_flight;       /* requests open at once; <= 0: 4 */
  double request_seconds, total_seconds; /* ws_llm_options */
  int64_t token_budget;                  /* < 0: none */
  double usd_budget;                     /* < 0: none */

  bool json; /* progress as JSON lines on stdout, not as text on stderr */
} ws_tune_options;

/* One shape of the task. The best is that of the whole archive for the task's
 * problem, layout and target: by time on the run's device where there is one,
 * else by estimate; provenance says which. The baseline's time has the same
 * provenance. Times are 0 and texts "" where there is none. */
typedef struct ws_tune_row {
  ws_shape shape;
  double baseline_us, best_us;
  const char *best_id, *parameters, *variants, *bound, *provenance;
  double model_error; /* of best_us: ws_sim_error_of; 0: none */
  int64_t equal; /* other candidates that the model cannot tell from the best
                  * (ws_sim_error_equal); 0 where times are measured */
  /* In words: what differs from the template's defaults, without the layout. */
  const char *changes;
} ws_tune_row;

/* The rows of a large set (more than 32 shapes) whose first size lies in a
 * band, those with times of geomean_provenance. */
typedef struct ws_tune_band {
  int64_t first, last; /* sizes, both included */
  int shapes, timed;
  double best_us, baseline_us; /* geometric means; 0: none has one */
  /* What the dispatch's selection takes on a shape when all shapes that share
   * its sizes but the first are left out, as a ratio to the best that is known
   * there; on the shapes where that kernel was timed. */
  int left_out;
  double left_out_geomean, left_out_worst; /* 0: there is none */
} ws_tune_band;
enum { WS_TUNE_BANDS_MOST = 32 };

/* How well the bound model's estimates agree with times of the device, over
 * all pairs of candidate and shape in the archive that have both. */
typedef struct ws_tune_agreement {
  int64_t pairs;
  int shapes; /* with at least WS_AGREEMENT_LEAST candidates */
  double median_spearman, worst_spearman; /* over these shapes */
  double median_ratio; /* device / estimate, over all pairs */
  int same_best;       /* of these shapes: the best by estimate is the best */
  double worst_regret; /* of the best by estimate: its time / the best time */
} ws_tune_agreement;
enum { WS_AGREEMENT_LEAST = 4 };

/* A geometric mean of ratios of recorded times, of the shapes that have both.
 */
typedef struct ws_tune_gain {
  double speedup; /* 0: no shape has */
  int shapes;
} ws_tune_gain;

/* One kernel of what a dispatch ships, looked at where its rules take it. */
typedef struct ws_tune_kernel {
  const char *id;
  ws_shape *chosen; /* of the task */
  int chosen_count;
  ws_tune_gain over_start, over_baseline; /* on these shapes */
  ws_tune_gain
      held_out; /* over start, on held-out shapes that it is taken on */
  const char *verdict, *reason; /* of its confirmation; "": there is none */
} ws_tune_kernel;

typedef struct ws_tune_result {
  int64_t run_id;
  const char *problem, *layout, *target;
  const char *compared;       /* ws_run_compared_text */
  int64_t evaluated;          /* new in this run */
  int64_t replayed;           /* found in the archive */
  int64_t further;            /* known kernels timed on further shapes */
  int64_t archive_candidates; /* of this problem, layout and target, all runs */
  int64_t verdicts[WS_VERDICT_COUNT];
  double seconds;
  int interrupted; /* the signal that ended it; 0: none */
  bool exhausted;  /* no legal point is left */
  const ws_tune_row *rows;
  int row_count;
  /* Geometric means over the shapes that have both, of one provenance; 0:
   * none. */
  double baseline_geomean_us, best_geomean_us;
  int geomean_shapes;
  const char *geomean_provenance;
  const ws_tune_band *bands; /* of a large set, without those of no shape */
  int band_count;
  ws_tune_band all_bands;
  const char *provenance;           /* of the device; "": none */
  int64_t timed, verified, refuted; /* there, in this run */
  /* Pairs of candidate and shape that were run there and not compared: the
   * kernel that is the reference does not take the shape, or takes too long. */
  int64_t uncompared;
  ws_tune_agreement agreement;
  const char *ranking; /* why candidates were ranked as they were; "": as asked
                        * or usual */
  /* Models; all 0 without. */
  int64_t questions, prompt_tokens, reply_tokens;
  double usd;
  int64_t documents; /* answers that are no candidates and were not to be */
  int64_t moves;     /* small moves: of evaluated and replayed */
  int64_t refused;   /* replies that held none: verdict illegal, too */
  const char *stop;  /* "" or why it ended before its limits, in words */
  int64_t awaited;   /* jobs of a batch that have no answer yet */
  /* What a dispatch of the archive would ship unasked, those that gain most
   * first; none: it has nothing to ship. Gains are by times of shipped_by. */
  const ws_tune_kernel *kernels;
  int kernel_count;
  ws_tune_kernel portfolio; /* all of them, each where it is chosen */
  const char *shipped_by;   /* provenance of the times that it was chosen by */
  const char *start_id;     /* what the run began with; "": no such */
  /* Winners that were checked again in this run (docs/search.md). */
  const ws_confirmation_row *confirmations;
  int confirmation_count;
} ws_tune_result;

/* Deterministic from the seed: the sequence of proposals does not depend on
 * workers or speed; limits only cut it. A run with the same settings on an
 * archive that holds part of the sequence replays that part without building.
 * Times of a device do not enter proposals (search/trials.c).
 * Ctrl-C (SIGINT, SIGTERM) ends it cleanly with everything kept; that is
 * WS_OK with interrupted set. The result lives in the arena. */
ws_status ws_tune(const ws_tune_options *options, ws_arena *arena,
                  ws_tune_result *out_result, ws_diag *diag) WS_MUST_CHECK;

/* ---- a session step by step, for who proposes from outside (MCP)
 * ------------- Options as for ws_tune; strategy, models and limits are not
 * used. One thread; calls wait until their work is done. */
typedef struct ws_session ws_session;
ws_status ws_session_open(const ws_tune_options *options,
                          ws_session **out_session,
                          ws_diag *diag) WS_MUST_CHECK;
void ws_session_close(ws_session *session); /* NULL is allowed */
ws_archive *ws_session_archive(ws_session *session);
int64_t ws_session_run(const ws_session *session);
const char *ws_session_provenance(const ws_session *session); /* of its times */

/* The prompt that a model would get. parents: ids, or their first digits, of
 * candidates that this session has judged, at most two; none: the leader. */
ws_status ws_session_prompt(ws_session *session, ws_arena *arena,
                            ws_request_kind kind, const char *const *parents,
                            int parent_count, ws_prompt *out_prompt,
                            ws_diag *diag) WS_MUST_CHECK;

typedef struct ws_session_result {
  int64_t sequence;
  const char *candidate_id; /* "": the reply held none */
  ws_verdict verdict;
  const char *stage, *reason;
  double speedup_over_parent, speedup_over_reference; /* 0: not known */
} ws_session_result;
/* Judges a reply as that to a request of this kind: built, checked, verified,
 * timed, recorded. What is wrong with the reply is a verdict. */
ws_status ws_session_submit(ws_session *session, ws_arena *arena,
                            ws_request_kind kind, const char *const *parents,
                            int parent_count, const char *reply,
                            ws_session_result *out_result,
                            ws_diag *diag) WS_MUST_CHECK;

typedef struct ws_session_check {
  const char *candidate_id; /* that a submit would give it; "": the reply held
                             * none */
  ws_verdict verdict;
  const char *stage, *reason;
  const char *const *stages; /* that were run, in order; what the archive knows
                              * of the same build counts as run */
  int stage_count;
  const ws_finding *findings;
  int finding_count;
  const ws_candidate *candidate;   /* with candidate_id */
  const char *template_text;       /* likewise */
  const ws_measurement *estimates; /* of the bound model, where it was built */
  int estimate_count;
} ws_session_check;
/* What a submit of the same would say, up to its timing: read, built, checked,
 * run by the sanitizer, lowered, compared with what is known, and, where the
 * session times on a device, verified there. So a candidate that is ok here can
 * only be slow, or wrong in a launch that is timed. Nothing enters the run or
 * the archive: no candidate, no exchange, no draw, no build. The result lives
 * in the arena. WS_USAGE: the session's device is a table. */
ws_status ws_session_check_reply(ws_session *session, ws_arena *arena,
                                 ws_request_kind kind,
                                 const char *const *parents, int parent_count,
                                 const char *reply, ws_session_check *out_check,
                                 ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
