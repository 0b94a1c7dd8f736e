/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * From answer to candidate: the reply is read; its edits are applied to the
 * parent, or its template is described by a compile server first. What is wrong
 * with a reply is its own fault and becomes the job's reason.
 */
#include "session.h"

#include <string.h>

static void refuse(ws__job *job, const char *why) {
  job->refused = ws_arena_strdup(job->arena, *why ? why : "no reason given");
  job->state = WS__JOB_DONE;
}

/* The layout is the run's, which shapes and times are for. */
static void accept(ws_session *s, ws__job *job, ws_candidate *candidate,
                   const ws__source *source) {
  int index = ws_template_param_index(candidate->tmpl, "layout");
  int layout = ws_problem_layout_index(s->task.problem, s->task.layout);
  if (index >= 0 && candidate->values[index] != layout)
    refuse(job, ws_arena_printf(job->arena,
                                "layout=%lld is not this run's, which is %d "
                                "(%s); leave it out",
                                (long long)candidate->values[index], layout,
                                s->task.layout));
  else
    ws__job_set_candidate(job, candidate, source);
}

/* What a reply's changes are changes of. */
static const ws_candidate *base_of(ws_session *s, ws__job *job) {
  const ws_candidate *base = ws__request_base(&s->knowledge, &job->request);
  if (!base && s->starts.count > 0)
    base = s->starts.items[0].candidate;
  return base ? base : ws__task_default(&s->task, job->arena);
}

/* ---- templates ---- */

/* The base template, as it was written. */
static const char *written_base(ws_session *s, ws__job *job) {
  const ws_template *tmpl = base_of(s, job)->tmpl;
  return ws_template_written_text(tmpl,
                                  ws__sources_find(&s->sources, tmpl)->text);
}

/* The text that edits of the template are of: the base's; in a repair of a
 * template that could not be described, what its author wrote. */
static const char *text_of_base(ws_session *s, ws__job *job) {
  int parent = job->request.parents[0];
  for (; parent >= 0 && !s->knowledge.results[parent].candidate;
       parent = s->knowledge.results[parent].request.parents[0])
    if (s->knowledge.results[parent].template_text)
      return s->knowledge.results[parent].template_text;
  return written_base(s, job);
}

/* "template.cl:7: what; line 9: what": so many of what the compiler said as a
 * repair can use. */
static ws_status tell_findings(const ws_finding *findings, int count,
                               ws_diag *why) {
  enum { MOST_TOLD = 5 };
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_puts(&text, findings[0].text);
  for (int i = 1; i < count && i < MOST_TOLD; i++)
    ws_strbuf_printf(&text, "; line %d: %s", findings[i].line,
                     findings[i].text);
  const ws_status status = ws_fail(why, WS_INPUT, findings[0].file,
                                   findings[0].line, "%s", text.data);
  ws_strbuf_deinit(&text);
  return status;
}

/* OpenCL C to the template's IR. The file's name is always the same: it is a
 * part of the IR, by whose hash templates are told apart. */
static ws_status translate(ws_session *s, ws__job *job, ws_compiler *compiler,
                           const char **out_text, ws_diag *why) {
  const ws_import import = {.file = "template.cl",
                            .target = s->task.source.tmpl->target,
                            .own = job->template_text,
                            .text = job->template_text,
                            .language = "opencl",
                            .name = "reply",
                            .problem = s->task.problem->name};
  const ws_finding *findings;
  int count;
  WS_TRY(ws_compiler_import(compiler, job->keep, &import, out_text, &findings,
                            &count, why));
  return count ? tell_findings(findings, count, why) : WS_OK;
}

static ws_status read_template(ws_session *s, ws__job *job,
                               ws_compiler *compiler, ws__source *source,
                               ws_diag *why) {
  const char *language;
  WS_TRY(ws_reply_template_text(job->keep, job->reply, text_of_base(s, job),
                                &job->template_text, &language, why));
  const bool opencl = !strcmp(language, "opencl");
  const char *file =
      ws_arena_printf(job->keep, "reply-%lld.%s", (long long)job->sequence,
                      opencl ? "ll" : ws_language_ending(language));
  source->text = job->template_text;
  if (opencl)
    WS_TRY(translate(s, job, compiler, &source->text, why));
  source->size = strlen(source->text);
  return ws_compiler_describe(compiler, job->keep, file, source->text,
                              source->size, &source->tmpl, why);
}

/* A new template: described, of this problem and target, with a legal point.
 * What is wrong with it is the reply's fault; that it could not be read for
 * reasons of ours is not. */
static ws_status describe(ws_session *s, ws__job *job, ws_compiler *compiler) {
  ws_diag why = {""};
  ws__source *source = ws_arena_alloc(job->keep, sizeof *source);
  ws_status status = read_template(s, job, compiler, source, &why);
  if (status == WS_OK)
    job->source = source;
  else if (status == WS_INPUT)
    refuse(job, why.text);
  else if (!ws__signals_interrupted()) /* whose sender ended the server too */
    return ws_fail(s->diag, status, NULL, 0, "%s", why.text);
  return WS_OK;
}

static void check_template(ws_session *s, ws__job *job) {
  const ws__source *known = ws__sources_find(&s->sources, job->source->tmpl);
  if (known)
    job->source = known; /* one object per template */
  const ws_template *tmpl = job->source->tmpl;
  ws_diag why = {""};
  ws__space space;
  if (strcmp(tmpl->problem, s->task.problem->name) ||
      strcmp(tmpl->target, s->task.source.tmpl->target)) {
    refuse(job,
           ws_arena_printf(job->arena,
                           "the template is for %s on %s; wanted is %s on "
                           "%s",
                           tmpl->problem, tmpl->target, s->task.problem->name,
                           s->task.source.tmpl->target));
    return;
  }
  int layout = ws_problem_layout_index(s->task.problem, s->task.layout);
  if (ws__space_init(&space, job->arena, tmpl, layout, s->task.layout,
                     s->task.shapes, s->task.shape_count, &why) != WS_OK) {
    refuse(job, why.text);
    return;
  }
  const ws_candidate *base = base_of(s, job);
  ws_candidate *parent = ws_reply_template_parent(
      job->keep, job->reply, base, written_base(s, job), tmpl,
      ws_template_written_text(tmpl, job->source->text));
  ws_candidate *candidate;
  const char *own = ws_template_param_index(tmpl, "layout") >= 0
                        ? ws_arena_printf(job->arena, "layout=%d", layout)
                        : "";
  if (ws_candidate_set(parent, own, &why) != WS_OK ||
      ws_reply_apply(job->keep, job->reply, parent, job->source->text,
                     &candidate, &why) != WS_OK)
    refuse(job, why.text);
  else
    accept(s, job, candidate, job->source);
}

/* ---- parameters and regions ---- */

static void apply_reply(ws_session *s, ws__job *job) {
  ws_diag why = {""};
  ws_candidate *candidate;
  const ws_candidate *parent = base_of(s, job);
  const ws__source *source = ws__sources_find(&s->sources, parent->tmpl);
  if (ws_reply_apply(job->arena, job->reply, parent, source->text, &candidate,
                     &why) != WS_OK)
    refuse(job, why.text);
  else
    accept(s, job, candidate, source);
}

static void parse(ws__job *job) {
  ws_diag why = {""};
  ws_arena *arena =
      ws_request_is_document(job->request.kind) ? job->keep : job->arena;
  ws_reply *reply = ws_arena_alloc(arena, sizeof *reply);
  if (*job->answer.error) {
    refuse(job, job->answer.error);
  } else if (ws_reply_parse(arena, job->answer.text, job->request.kind, reply,
                            &why) != WS_OK) {
    refuse(job, why.text);
  } else {
    job->reply = reply;
    if (ws_request_is_document(job->request.kind))
      job->state = WS__JOB_DONE;
  }
}

ws_status ws__read_answer(ws_session *s, ws__job *job) {
  if (!job->reply)
    parse(job);
  if (job->state != WS__JOB_ANSWERED)
    return WS_OK;
  if (!job->reply->template_code) {
    apply_reply(s, job);
    return WS_OK;
  }
  ws_compiler *compiler;
  WS_TRY(ws__pool_idle_compiler(&s->pool, &compiler, s->diag));
  if (!compiler)
    return WS_OK;
  WS_TRY(describe(s, job, compiler));
  if (job->state == WS__JOB_ANSWERED && job->source)
    check_template(s, job);
  return WS_OK;
}
