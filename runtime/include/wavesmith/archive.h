/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The archive: one SQLite file (WAL) with everything a project learned.
 * Every call that changes state is one transaction, so a killed process loses
 * at most what it had not recorded; two processes may share one file (busy
 * time-out 10 s). A full disk or a lock that does not clear is WS_ENVIRONMENT,
 * a file that is no archive, corrupt, or of a newer version is WS_INPUT. An
 * archive of an older version, from 2 on, becomes one of version 6 when it is
 * opened.
 * Results are copied into the caller's arena.
 *
 * ":memory:" opens an archive that lives in this process only.
 *
 * Invariants; the schema holds them, also against other programs:
 *   Facts about a candidate, for ever: what it is (template, layout, values,
 *   variants, bodies), its build, its hashes, its times by provenance and
 * shape. Neither is written twice or changed. Its verdict changes at most once,
 * from ok to what a device found (ws_archive_refute). None of them says whose
 *   machine it was: an answer that is to be blamed on the machinery is no
 *   verdict (ws_blame), and is not taken.
 *   Facts about a run: what it was given, what it drew in which order, what it
 *   asked (with the parents it asked from), what was answered. They refer to
 *   candidates, which may be other runs'. A candidate's row also says which
 *   request brought it first: that is history, and nothing else follows from
 *   it.
 *
 * Text export: a folder that can be committed (sorted, diffable, no times of
 * day, no absolute paths), see docs/archive.md. Import is all or nothing and
 * checks every hash, the template's version and the target.
 *
 * Threads: a ws_archive belongs to one thread at a time; two handles on one
 * file may be used from two threads or processes.
 */
#ifndef WAVESMITH_ARCHIVE_H
#define WAVESMITH_ARCHIVE_H

#include "wavesmith/bound_model.h"
#include "wavesmith/build.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WS_ARCHIVE_VERSION = 9 };

typedef struct ws_archive ws_archive;
/* Creates the file when create is set and it does not exist. */
ws_status ws_archive_open(const char *path, bool create,
                          ws_archive **out_archive,
                          ws_diag *diag) WS_MUST_CHECK;
void ws_archive_close(ws_archive *archive);
/* What is called between the two is one transaction: all of it, or nothing
 * when status is not WS_OK. Returns what became of it; a failed status keeps
 * its own diag. */
ws_status ws_archive_begin(ws_archive *archive, ws_diag *diag) WS_MUST_CHECK;
ws_status ws_archive_end(ws_archive *archive, ws_status status,
                         ws_diag *diag) WS_MUST_CHECK;

/* ---- templates ---- */
typedef struct ws_archived_template {
  const char *hash, *name, *version, *problem, *target, *file, *text;
  const char *records_json; /* so that no compiler is needed to read it back */
} ws_archived_template;
/* tmpl->hash must be the hash of text. records_json NULL: written from tmpl. */
ws_status ws_archive_put_template(ws_archive *archive, const ws_template *tmpl,
                                  const char *text, const char *records_json,
                                  ws_diag *diag) WS_MUST_CHECK;
/* hash may be a unique prefix. WS_INPUT when there is none. */
ws_status ws_archive_get_template(ws_archive *archive, ws_arena *arena,
                                  const char *hash, const ws_template **out,
                                  ws_archived_template *out_row,
                                  ws_diag *diag) WS_MUST_CHECK;

/* ---- runs of the tuner ---- */
typedef struct ws_run_row {
  int64_t id;
  const char *problem, *layout, *target, *strategy, *shape_set;
  const char *settings_json; /* everything else that makes it repeatable */
  uint64_t seed;
  int64_t started_unix_ms;
} ws_run_row;
/* "kernel naive.ll, sha256 ..., tolerance ..." of a run whose results were
 * compared with a kernel, in the arena; "": with the problem's own reference.
 */
const char *ws_run_compared_text(ws_arena *arena, const ws_run_row *run);
/* What ws_archive_begin_run looks at too, for who has work to do before. Of the
 * run its problem and settings are read. WS_INPUT: results of the problem that
 * are there were compared with something else. */
ws_status ws_archive_check_compared(ws_archive *archive, const ws_run_row *run,
                                    ws_diag *diag) WS_MUST_CHECK;
/* *out_id: of the run that is alike in all but the time of its start; 0: there
 * is none. */
ws_status ws_archive_find_run(ws_archive *archive, const ws_run_row *run,
                              int64_t *out_id, ws_diag *diag) WS_MUST_CHECK;
/* A run that is alike in all but the time of its start is the same run resumed:
 * its id is given again. WS_INPUT: ws_archive_check_compared. */
ws_status ws_archive_begin_run(ws_archive *archive, const ws_run_row *run,
                               int64_t *out_id, ws_diag *diag) WS_MUST_CHECK;

/* ---- candidates ---- */
typedef struct ws_candidate_row {
  const char *id, *template_hash, *template_name;
  const char *layout;           /* "kmajor" */
  const char *assignments;      /* all parameters, declaration order */
  const char *variants;         /* as ws_candidate_variants_text */
  const char *proposer;         /* "builtin", "default", ... */
  const char *parent_id;        /* "" for none */
  const char *second_parent_id; /* of a crossover or an experiment; "" */
  const char *kind;             /* of the request, "exploit"; "" of old runs */
  const char *label; /* a name of a few words that a model gave; "" */
  const char *cell;  /* of the grid, "lds=2 regs=1 ..."; "" */
  int64_t island;
  const char *move;         /* what was changed, in words */
  int64_t run_id, sequence; /* order of proposal within the run */
  const char *verdict, *stage, *reason;
  const char *result_json; /* ws_build_result_to_json; "" for no build */
  /* For finding duplicates; "" when not lowered. The tuner stores the build's
   * hashes mixed with the launch rules and shape constraints, parameters bound
   * (search/dedupe.c): two candidates with the same code but another grid are
   * not twins. result_json holds the build's own. */
  const char *ir_hash, *code_hash;
} ws_candidate_row;

typedef struct ws_measurement {
  ws_shape shape;
  double us;
  const char *bound;
  const char *provenance;
  /* 95 % interval of the median; us itself where a model computed it: how far a
   * simulator is off follows from provenance and bound (ws_sim_error_of) */
  double low_us, high_us;
} ws_measurement;
/* As JSON; an interval of 0 to 0 is left out. */
extern const ws_json_struct ws_measurement_json;

/* ---- builds ---- */
/* Records what the compile server answered, with the code object, in one
 * transaction, as soon as it is known: the candidate itself may come later, or
 * never. A build that is there stays; *out_added is false then. */
ws_status ws_archive_put_build(ws_archive *archive, const char *candidate_id,
                               const ws_build_result *result, bool *out_added,
                               ws_diag *diag) WS_MUST_CHECK;
ws_status ws_archive_get_build(ws_archive *archive, ws_arena *arena,
                               const char *candidate_id, bool *out_found,
                               ws_build_result *out_result,
                               ws_diag *diag) WS_MUST_CHECK;

/* Records a finished candidate with its bodies and measurements, in one
 * transaction; result_json and code object (may be NULL) too, unless its build
 * is recorded already. Recording an id that exists is not an error and changes
 * nothing. */
ws_status
ws_archive_put_candidate(ws_archive *archive, const ws_candidate_row *row,
                         const ws_candidate *candidate, const void *code_object,
                         size_t code_size, const ws_measurement *measurements,
                         int measurement_count, ws_diag *diag) WS_MUST_CHECK;
/* *out_found tells whether there is one. id may be a unique prefix; one that
 * fits several is WS_INPUT. */
ws_status ws_archive_get_candidate(ws_archive *archive, ws_arena *arena,
                                   const char *id, bool *out_found,
                                   ws_candidate_row *out_row,
                                   ws_diag *diag) WS_MUST_CHECK;
/* Builds the candidate back on its template (with bodies). */
ws_status ws_archive_load_candidate(ws_archive *archive, ws_arena *arena,
                                    const ws_candidate_row *row,
                                    const ws_template *tmpl,
                                    ws_candidate **out_candidate,
                                    ws_diag *diag) WS_MUST_CHECK;
ws_status ws_archive_get_code_object(ws_archive *archive, ws_arena *arena,
                                     const char *candidate_id,
                                     const void **out_data, size_t *out_size,
                                     ws_diag *diag) WS_MUST_CHECK;
/* Gives a recorded build its code object (an import has none). */
ws_status ws_archive_put_code_object(ws_archive *archive,
                                     const char *candidate_id, const void *data,
                                     size_t size, ws_diag *diag) WS_MUST_CHECK;
/* The first candidate, itself no duplicate, whose ir_hash (by_code: code_hash)
 * is this; found == false when there is none or hash is "". */
ws_status ws_archive_find_twin(ws_archive *archive, ws_arena *arena,
                               const char *hash, bool by_code, bool *out_found,
                               ws_candidate_row *out_row,
                               ws_diag *diag) WS_MUST_CHECK;
ws_status ws_archive_get_measurements(ws_archive *archive, ws_arena *arena,
                                      const char *candidate_id,
                                      ws_measurement **out_items,
                                      int *out_count,
                                      ws_diag *diag) WS_MUST_CHECK;
/* Adds measurements of a recorded candidate; those of a shape and provenance
 * that it has already are left as they are. */
ws_status ws_archive_put_measurements(ws_archive *archive,
                                      const char *candidate_id,
                                      const ws_measurement *items, int count,
                                      ws_diag *diag) WS_MUST_CHECK;

/* ---- timings: what stands behind a time that was measured ---------------- */
typedef struct ws_timing_row {
  const char *candidate_id, *provenance;
  ws_shape shape;
  const double *samples_us; /* kept to the nanosecond */
  int sample_count;
  int low_mhz, high_mhz, memory_mhz; /* as in ws_measured */
  int dropped;
  const char *throttle;
  const char *device_json; /* ws_device_info_to_json */
} ws_timing_row;
/* That of a candidate, provenance and shape that is there stays. */
ws_status ws_archive_put_timing(ws_archive *archive, const ws_timing_row *row,
                                ws_diag *diag) WS_MUST_CHECK;
ws_status ws_archive_list_timings(ws_archive *archive, ws_arena *arena,
                                  const char *candidate_id,
                                  ws_timing_row **out_items, int *out_count,
                                  ws_diag *diag) WS_MUST_CHECK;

/* An ok candidate fails on a device: it gets that verdict and reason, and the
 * stage "device". Its estimates stay. */
#define WS_STAGE_OF_DEVICE "device"
ws_status ws_archive_refute(ws_archive *archive, const char *candidate_id,
                            const char *verdict, const char *reason,
                            ws_diag *diag) WS_MUST_CHECK;

/* ---- questions to models ----------------------------------------------------
 * One per request of a run that a model answered, whatever came of it. */
typedef struct ws_exchange_row {
  int64_t run_id, sequence;  /* together the key */
  const char *kind, *member; /* "exploit", "openai:qwen3" */
  /* Ids that the request started from, "" for none. NULL on reading: an archive
   * of version 4 did not say. (A candidate's row has the parents of the request
   * that brought it first, which may be of another run.) */
  const char *parent_id, *second_parent_id;
  const char *prompt_version, *prompt_hash, *prompt_cut;
  const char *system, *prompt, *reply, *error; /* texts are kept once */
  int64_t prompt_tokens, reply_tokens;
  double usd, seconds;
  int64_t unix_ms;
  /* The outcome, set when the request is done. */
  const char *candidate_id;             /* "" when the reply held none */
  const char *verdict, *stage, *reason; /* verdict "": a document, or open */
  const char *claims_json; /* [{"what":"speedup","low":1.05,"high":1.2,
                            *   "measured":1.07}]; measured only if known */
  double reward;           /* ln of the speed-up over the parent; 0 if none */
  /* On reading only: of system and prompt together, of the reply. */
  int64_t prompt_bytes, reply_bytes;
} ws_exchange_row;
/* Recording a (run, sequence) that is there changes nothing. */
ws_status ws_archive_put_exchange(ws_archive *archive,
                                  const ws_exchange_row *row,
                                  ws_diag *diag) WS_MUST_CHECK;
/* Only the key and the fields of the outcome are read. The last outcome counts.
 * WS_INPUT when there is no such exchange. */
ws_status ws_archive_set_outcome(ws_archive *archive,
                                 const ws_exchange_row *row,
                                 ws_diag *diag) WS_MUST_CHECK;
ws_status ws_archive_get_exchange(ws_archive *archive, ws_arena *arena,
                                  int64_t run_id, int64_t sequence,
                                  bool *out_found, ws_exchange_row *out_row,
                                  ws_diag *diag) WS_MUST_CHECK;
/* The same without its system, prompt and reply, which are "" (they may be
 * hundreds of kilobytes). */
ws_status ws_archive_get_outcome(ws_archive *archive, ws_arena *arena,
                                 int64_t run_id, int64_t sequence,
                                 bool *out_found, ws_exchange_row *out_row,
                                 ws_diag *diag) WS_MUST_CHECK;
/* The exchange that a candidate came from. */
ws_status ws_archive_get_origin(ws_archive *archive, ws_arena *arena,
                                const char *candidate_id, bool *out_found,
                                ws_exchange_row *out_row,
                                ws_diag *diag) WS_MUST_CHECK;
/* In order of run and sequence; run_id 0: all runs. Their system, prompt and
 * reply are "" here, since a run may have gigabytes of them: get_exchange reads
 * those of one. */
ws_status ws_archive_list_exchanges(ws_archive *archive, ws_arena *arena,
                                    int64_t run_id, ws_exchange_row **out_items,
                                    int *out_count,
                                    ws_diag *diag) WS_MUST_CHECK;

/* ---- findings: a document per run that grows -------------------- */
typedef struct ws_findings_row {
  int64_t run_id, sequence; /* of the request that wrote it */
  const char *text;
} ws_findings_row;
ws_status ws_archive_put_findings(ws_archive *archive,
                                  const ws_findings_row *row,
                                  ws_diag *diag) WS_MUST_CHECK;
/* In order of run and sequence; run_id 0: all runs. */
ws_status ws_archive_list_findings(ws_archive *archive, ws_arena *arena,
                                   int64_t run_id, ws_findings_row **out_items,
                                   int *out_count, ws_diag *diag) WS_MUST_CHECK;

/* ---- confirmations: a winner checked again ----------------------------------
 * In a fresh process, with fresh seeds, on the search's and on held-out shapes,
 * against the incumbent. The latest of a candidate and provenance counts. */
/* The verdict of a winner whose check time did not suffice for: it is reported
 * and not stored. */
#define WS_CONFIRMATION_OPEN "open"
typedef struct ws_confirmation_row {
  const char *candidate_id, *against_id, *provenance;
  int64_t run_id;
  const char *verdict, *reason; /* "ok", or why it does not stand */
  /* Geometric means of against / candidate over the shapes; 0: none. */
  double search_speedup, held_out_speedup;
  double worst_speedup; /* of one shape of those, or without them of any */
  double noise;         /* of an A/A run: |ln ratio|, 95 % */
  /* Over those of the search's shapes that it is chosen for, so many; 0: none,
   * or confirmed before version 7. */
  double chosen_speedup;
  int chosen_shapes;
} ws_confirmation_row;
ws_status ws_archive_put_confirmation(ws_archive *archive,
                                      const ws_confirmation_row *row,
                                      ws_diag *diag) WS_MUST_CHECK;
/* Those that count, oldest first; candidate_id NULL: of all candidates. */
ws_status ws_archive_list_confirmations(ws_archive *archive, ws_arena *arena,
                                        const char *candidate_id,
                                        ws_confirmation_row **out_items,
                                        int *out_count,
                                        ws_diag *diag) WS_MUST_CHECK;

/* ---- coverage: the shapes that a candidate was verified on before it could
 * win (wavesmith/coverage.h). One per candidate and provenance: a later one
 * replaces it. Seed and candidate give the shapes again. */
typedef struct ws_coverage_row {
  const char *candidate_id, *provenance;
  int64_t run_id;
  uint64_t seed;
  int verified, planned; /* all were right if these are equal */
  const char *text;      /* what they cover, or where it failed */
} ws_coverage_row;
ws_status ws_archive_put_coverage(ws_archive *archive,
                                  const ws_coverage_row *row,
                                  ws_diag *diag) WS_MUST_CHECK;
/* In the order of provenances. */
ws_status ws_archive_list_coverage(ws_archive *archive, ws_arena *arena,
                                   const char *candidate_id,
                                   ws_coverage_row **out_items, int *out_count,
                                   ws_diag *diag) WS_MUST_CHECK;

/* ---- profiles: what a simulator said of a timed shape -----------------------
 * report: JSON objects, one a line, as ws_measured has it. One per candidate,
 * provenance and shape: a later one replaces it. */
typedef struct ws_profile_row {
  const char *provenance;
  ws_shape shape;
  double us; /* the archive's time for it; 0: none */
  const char *report;
} ws_profile_row;
ws_status ws_archive_put_profile(ws_archive *archive, const char *candidate_id,
                                 const char *provenance, const ws_shape *shape,
                                 const char *report,
                                 ws_diag *diag) WS_MUST_CHECK;
/* provenance NULL: all. By provenance, and the slowest shape first. */
ws_status ws_archive_list_profiles(ws_archive *archive, ws_arena *arena,
                                   const char *candidate_id,
                                   const char *provenance,
                                   ws_profile_row **out_items, int *out_count,
                                   ws_diag *diag) WS_MUST_CHECK;
/* The first of these. */
ws_status ws_archive_get_profile(ws_archive *archive, ws_arena *arena,
                                 const char *candidate_id,
                                 const char *provenance, bool *out_found,
                                 ws_shape *out_shape, const char **out_report,
                                 ws_diag *diag) WS_MUST_CHECK;

/* All runs, in order. */
ws_status ws_archive_list_runs(ws_archive *archive, ws_arena *arena,
                               ws_run_row **out_items, int *out_count,
                               ws_diag *diag) WS_MUST_CHECK;
/* WS_INPUT when there is none of that id. */
ws_status ws_archive_get_run(ws_archive *archive, ws_arena *arena, int64_t id,
                             ws_run_row *out_run, ws_diag *diag) WS_MUST_CHECK;

/* ---- comparisons ------------------------------------------------------------
 * Always within one provenance. Provenances rank by how near they are to a
 * card: "hip:...", "table:...", "sim:...", others, "estimate:...". */
typedef struct ws_speedup {
  double value;     /* geometric mean of over / id, of the shapes both have; 0:
                     * they have none in common */
  double low, high; /* 95 %, from the intervals of the times, whose errors are
                     * taken as independent; value where times have none */
  double worst;     /* of one shape */
  int shapes;
  const char *provenance; /* "": none */
} ws_speedup;
/* provenance NULL: the highest in rank that both have. */
ws_status ws_archive_speedup(ws_archive *archive, ws_arena *arena,
                             const char *id, const char *over_id,
                             const char *provenance, ws_speedup *out_speedup,
                             ws_diag *diag) WS_MUST_CHECK;

/* Candidates whose parent or second parent is id, in the order of recording;
 * result_json is NULL. */
ws_status ws_archive_list_children(ws_archive *archive, ws_arena *arena,
                                   const char *id, ws_candidate_row **out_items,
                                   int *out_count, ws_diag *diag) WS_MUST_CHECK;

/* A run draws a candidate that the archive has already, so that the run's
 * progress shows it. Candidates that are new are drawn by being put. A
 * (run, sequence) that is there stays. */
ws_status ws_archive_put_draw(ws_archive *archive, int64_t run_id,
                              int64_t sequence, const char *candidate_id,
                              ws_diag *diag) WS_MUST_CHECK;
/* One per draw of a run, in order of sequence. The reference is the run's first
 * candidate that is ok and has times of the provenance; one that lacks a time
 * of a shape that the reference has, or is not ok, has speed-up 0. */
typedef struct ws_progress_point {
  int64_t sequence;
  ws_candidate_row row; /* result_json is NULL; run and sequence are those of
                         * its recording */
  double geomean_us;    /* over the reference's shapes; 0: not ranked */
  double speedup;       /* over the reference; 0: not ranked */
  double best_speedup;  /* so far; 0: none yet */
  bool improves;        /* this draw is the best so far */
} ws_progress_point;
typedef struct ws_progress {
  const ws_progress_point *points;
  int count;
  const char *provenance;   /* "": the run has no times */
  const char *reference_id; /* "": none */
  int shapes;               /* of the reference */
} ws_progress;
/* provenance NULL: that which most draws have times of, of equals the highest
 * in rank. */
ws_status ws_archive_progress(ws_archive *archive, ws_arena *arena,
                              int64_t run_id, const char *provenance,
                              ws_progress *out_progress,
                              ws_diag *diag) WS_MUST_CHECK;
/* Whether a time of this provenance was taken on a card, looked up, simulated,
 * estimated: "measured", "recorded", "simulated", "estimated"; "other"
 * where it is none of these. */
const char *ws_provenance_word(const char *provenance);
/* Of all times in the archive, the highest in rank first. */
ws_status ws_archive_list_provenances(ws_archive *archive, ws_arena *arena,
                                      const char *const **out_items,
                                      int *out_count,
                                      ws_diag *diag) WS_MUST_CHECK;

typedef struct ws_archive_filter { /* NULL or 0 fields: any */
  const char *problem, *layout, *target, *verdict, *template_name;
  const char *provenance; /* of the measurements that are summed up */
  int64_t run_id;
  int limit;
  /* Those with most shapes first, then by geometric mean of us; else in the
   * order they were recorded. */
  bool order_by_score;
} ws_archive_filter;
/* One per candidate and provenance: times of two provenances are never mixed.
 * A candidate without measurements has one, with provenance "". */
typedef struct ws_candidate_summary {
  ws_candidate_row row; /* result_json is NULL here */
  double geomean_us;    /* over its measurements; 0: none */
  int measured_shapes;
  const char *provenance;
} ws_candidate_summary;
ws_status ws_archive_list(ws_archive *archive, ws_arena *arena,
                          const ws_archive_filter *filter,
                          ws_candidate_summary **out_items, int *out_count,
                          ws_diag *diag) WS_MUST_CHECK;
/* The ids of candidates worth shipping: of every shape and provenance the
 * per_shape fastest that are ok, and the per_shape first by score. */
ws_status ws_archive_best(ws_archive *archive, ws_arena *arena,
                          const ws_archive_filter *filter, int per_shape,
                          const char *const **out_ids, int *out_count,
                          ws_diag *diag) WS_MUST_CHECK;
/* How many of them that are ok have a time on the shape, of the filter's
 * provenance, below us. limit is ignored. */
ws_status ws_archive_count_below(ws_archive *archive, ws_arena *arena,
                                 const ws_archive_filter *filter,
                                 const ws_shape *shape, double us,
                                 int64_t *out_count,
                                 ws_diag *diag) WS_MUST_CHECK;
/* Counts by verdict, for progress and `archive ls`; limit is ignored. */
ws_status ws_archive_verdict_counts(ws_archive *archive,
                                    const ws_archive_filter *filter,
                                    int64_t out_counts[WS_VERDICT_COUNT],
                                    ws_diag *diag) WS_MUST_CHECK;

/* ---- text export ---- */
/* Writes the named candidates (ids or unique prefixes) with templates, runs,
 * bodies, facts and measurements, but no code objects: those are rebuilt. The
 * folder is made; one that holds something else than an export is WS_INPUT, an
 * older export in it is replaced. */
ws_status ws_archive_export(ws_archive *archive, const char *folder,
                            const char *const *ids, int id_count,
                            ws_diag *diag) WS_MUST_CHECK;
/* *out_candidates: how many were new. */
ws_status ws_archive_import(ws_archive *archive, const char *folder,
                            int *out_candidates, ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
