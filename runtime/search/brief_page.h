/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The parts of a brief. A page is one prompt in the making; a subject is a
 * candidate with its texts. Each ws__page_* makes one section, "" when there is
 * nothing to say; all texts live in the page's arena.
 */
#ifndef WAVESMITH_SEARCH_BRIEF_PAGE_H
#define WAVESMITH_SEARCH_BRIEF_PAGE_H

#include "brief.h"

typedef struct ws__subject {
  int result; /* -1: not one of this run */
  const ws_candidate *candidate;
  const char *template_text; /* IR */
  const char *written_text;  /* of the template; the same, or OpenCL C */
  bool has_build, has_row;
  ws_build_result build;
  ws_candidate_row row;
} ws__subject;

typedef struct ws__helper { /* a function that is no region */
  const char *name, *text;
  uint64_t calls; /* bit i: helper i, itself or through others */
} ws__helper;
enum { WS__MOST_HELPERS = 64 };

typedef struct ws__page {
  const ws__brief *brief;
  ws_arena *arena;
  const ws__request *request;
  ws_diag *diag;
  ws__subject parent;                   /* what the code is of */
  ws__subject second;                   /* candidate NULL: none */
  int regions[WS_TEMPLATE_MAX_REGIONS]; /* of the parent, by importance */
  int shown; /* of these, how many are shown with their code */
  ws__heat heat;
  const char *region_texts[WS_TEMPLATE_MAX_REGIONS]; /* of the parent */
  ws__helper helpers[WS__MOST_HELPERS];              /* likewise */
  int helper_count;
  bool whole;          /* the whole template's text is shown */
  bool grammar_needed; /* a whole template may well be the answer */
} ws__page;

/* ---- brief_subject.c ---- */
/* result -1, or one without a candidate: what the run begins with. */
ws_status ws__page_load(ws__page *page, int result,
                        ws__subject *out) WS_MUST_CHECK;
ws_status ws__page_second(ws__page *page, const char **out) WS_MUST_CHECK;
/* The subject's template as it was written, in a fence. */
void ws__page_put_written(const ws__subject *subject, ws_strbuf *out);
/* A line of a template or a body, without blanks around it; "" if there is
 * none. file: as compilers name it. */
const char *ws__page_quote(ws__page *page, const ws__subject *subject,
                           const char *file, int line);

/* text with the names of the run's template files cut to their last part: a
 * prompt must not depend on where files lie. */
const char *ws__page_without_folders(ws__page *page, const char *text);

/* ---- brief_code.c ---- */
/* Orders the parent's regions and decides what of its code is shown. */
ws_status ws__page_choose_code(ws__page *page) WS_MUST_CHECK;
const char *ws__page_code(ws__page *page);
/* Does text call or name the function, or another global? */
bool ws__page_names(const char *text, const char *function);
/* The request is for one region of the parent. */
bool ws__page_is_aimed(const ws__page *page);
/* Does a region of the parent call the function, through helpers or itself? */
bool ws__page_region_names(const ws__page *page, int region,
                           const char *function);
/* The regions for which a candidate has another body than the template. */
int ws__changed_regions(const ws_candidate *candidate, int *out_regions);

/* ---- brief_results.c ---- */
const char *ws__page_shapes(ws__page *page);
const char *ws__page_aim(ws__page *page);
ws_status ws__page_population(ws__page *page, const char **out) WS_MUST_CHECK;
/* "77c01b9e"; "(none)" */
const char *ws__page_name(const ws__page *page, int result);
/* The result that a result was made from, repairs left out; -1. */
int ws__page_origin(const ws__page *page, int result);
/* "1.0412 (95 %: 1.0350 to 1.0475)": speed-up of a over b; "" if they have no
 * shape in common. */
ws_status ws__page_ratio(ws__page *page, int a, int b,
                         const char **out) WS_MUST_CHECK;
const char *ws__page_shape(ws__page *page, const ws_shape *shape);

/* ---- brief_lineage.c ---- */
ws_status ws__page_lineage(ws__page *page, const char **out) WS_MUST_CHECK;
/* brief_why.c: a line on what a result waited for more than what it was made
 * from, on the shape where it lost most, or, where it failed after it was
 * built, what it would have cost; none where there is nothing to tell. */
ws_status ws__page_why(ws__page *page, int index, int against,
                       ws_strbuf *out) WS_MUST_CHECK;
/* brief_diff.c: what differs, as lines with "-" and "+"; at most `most`. */
void ws__page_diff(const char *before, const char *after, int most,
                   ws_strbuf *out);

/* ---- brief_facts.c ---- */
const char *ws__page_facts(ws__page *page, const ws__subject *subject);
const char *ws__page_estimate(ws__page *page);
/* brief_profile.c */
ws_status ws__page_profile(ws__page *page, const char **out) WS_MUST_CHECK;
/* From the parent's profile; a function that is no region counts for the
 * regions that name it, a launch by its time. */
ws_status ws__page_heat(ws__page *page, ws__heat *out) WS_MUST_CHECK;

/* ---- brief_template.c ---- */
const char *ws__page_template(ws__page *page);
const char *ws__page_contracts(ws__page *page);

/* ---- brief_repair.c ---- */
/* Of a repair: what the failed candidate changed, around its findings. */
ws_status ws__page_failed_code(ws__page *page, const char **out) WS_MUST_CHECK;

/* ---- brief_failure.c ---- */
ws_status ws__page_diagnostics(ws__page *page, const char **out) WS_MUST_CHECK;

/* The buffer's text in the page's arena; the buffer is gone. */
const char *ws__page_take(ws__page *page, ws_strbuf *text);

#endif
