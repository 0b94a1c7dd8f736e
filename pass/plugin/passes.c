/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The passes of WavesmithPass.so, as thin fronts of pass.h:
 *   wavesmith-check                    the static check
 *   wavesmith-specialize<param=value;variant:region=function;...>
 *                                      chooses values and shipped variants
 *   wavesmith-lower<cpu=gfx942;out=FILE>
 *                                      writes the code object
 * and all of them problem=FILE, a problem of one's own that the template is of.
 * The template is read from the module's own metadata; what a pass before has
 * set is the default that the next one sees. They work on a template as it
 * was written: run them before any optimisation.
 */
#include "passes.h"
#include "../parse.h"
#include "../specialize.h"
#include "../template_ir.h"
#include "job.h"
#include "wavesmith/problem.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- start and end of a pass --------------------------------------------- */

/* The next "key=value" of a ';'-separated list, as copies; NULL at its end. */
static const char *next_setting(const ws_plugin_job *j, const char *text,
                                ws_plugin_setting *out) {
  text += strspn(text, "; ");
  if (!*text)
    return NULL;
  const size_t size = strcspn(text, ";");
  const char *equal = memchr(text, '=', size);
  const size_t key_size = equal ? (size_t)(equal - text) : size;
  *out = (ws_plugin_setting){
      ws_arena_strndup(j->arena, text, key_size),
      equal ? ws_arena_strndup(j->arena, equal + 1, size - key_size - 1) : ""};
  return text + size;
}

/* All of them but problem=FILE, which every pass takes and adds. */
static bool read_settings(ws_plugin_job *j, const char *text) {
  const ws_problem *problem;
  ws_plugin_setting next;
  ws_diag diag;
  j->settings =
      ws_arena_alloc(j->arena, (strlen(text) + 1) * sizeof *j->settings);
  for (const char *at = next_setting(j, text, &next); at;
       at = next_setting(j, at, &next)) {
    if (strcmp(next.key, "problem")) {
      j->settings[j->setting_count++] = next;
    } else if (ws_problem_add_file(next.value, &problem, &diag) != WS_OK) {
      ws__plugin_fail(j, "%s", diag.text);
      return false;
    }
  }
  return true;
}

/* A copy whose instructions know their places: the module's own debug info, or
 * else read off the file it came from, if that is text and still fits. */
static void place_copy(ws_plugin_job *j) {
  const size_t name_size = strlen(j->file);
  char *text;
  ws_diag ignored;
  if (name_size > 3 && !strcmp(j->file + name_size - 3, ".ll") &&
      ws_file_read(j->arena, j->file, &text, &j->text_size, &ignored) == WS_OK)
    j->text = text;
  j->placed = LLVMCloneModule(j->module);
  if (j->text)
    ws__pass_attach_text(j->placed, j->arena, j->text, j->text_size, j->file);
}

static bool open_template(ws_plugin_job *j) {
  ws_records records;
  const ws_template *tmpl;
  ws_diag diag;
  size_t size;
  j->file = LLVMGetModuleIdentifier(j->module, &size);
  if (!ws__pass_is_template(j->module)) {
    ws__plugin_fail(j,
                    "%s carries no wavesmith.template metadata; give a "
                    "template (ir-templates/README.md), before it is optimised",
                    j->file);
    return false;
  }
  place_copy(j);
  /* The text's hash is not known here and nothing here uses it. */
  if (ws_pass_read_records(j->module, j->text, j->file, j->arena, &records,
                           &diag) == WS_OK &&
      ws_template_from_records(j->arena, &records, j->file, (ws_hash){{0}},
                               &tmpl, &diag) == WS_OK) {
    j->candidate = ws_candidate_create(j->arena, tmpl);
    return true;
  }
  ws_diag_name_pass_options(&diag);
  strncat(diag.text,
          " (wavesmith passes work on a template as written, before any "
          "optimisation)",
          sizeof diag.text - strlen(diag.text) - 1);
  ws_findings_add_diag(&j->findings, "template", j->file, &diag);
  ws__plugin_fail_with_findings(j);
  return false;
}

static bool run_job(const char *name, LLVMModuleRef module,
                    const char *parameters, bool (*work)(ws_plugin_job *j)) {
  ws_plugin_job j = {
      .module = module, .pass = name, .arena = ws_arena_create()};
  ws_findings_init(&j.findings, j.arena);
  const bool changed =
      read_settings(&j, parameters) && open_template(&j) && work(&j);
  if (j.placed)
    LLVMDisposeModule(j.placed);
  ws_arena_destroy(j.arena);
  return changed;
}

/* ---- check --------------------------------------------------------------- */

static bool check(ws_plugin_job *j) {
  if (j->setting_count)
    ws__plugin_fail(j,
                    "no parameter %s; write wavesmith-check or "
                    "wavesmith-check<problem=FILE>",
                    j->settings[0].key);
  else if (ws_pass_check(j->placed, j->candidate, j->candidate->tmpl->target,
                         &j->findings))
    ws__plugin_remark_accepted(j);
  else
    ws__plugin_fail_with_findings(j);
  return false;
}

static bool run_check(LLVMModuleRef module, const char *parameters,
                      bool by_name) {
  if (!by_name && !ws__pass_is_template(module))
    return false;
  return run_job("wavesmith-check", module, parameters, check);
}

/* ---- specialize ---------------------------------------------------------- */

static bool choose(ws_plugin_job *j) {
  static const char prefix[] = "variant:";
  const char *values = "", *variants = "";
  ws_diag diag;
  for (int i = 0; i < j->setting_count; i++) {
    const ws_plugin_setting *s = &j->settings[i];
    const bool variant = !strncmp(s->key, prefix, sizeof prefix - 1);
    const char **list = variant ? &variants : &values;
    *list = ws_arena_printf(j->arena, "%s%s%s=%s", *list, **list ? ";" : "",
                            variant ? s->key + sizeof prefix - 1 : s->key,
                            s->value);
  }
  if (ws_candidate_set(j->candidate, values, &diag) == WS_OK &&
      ws_candidate_set_variants(j->candidate, variants, &diag) == WS_OK)
    return true;
  ws_findings_add_diag(&j->findings, "candidate", j->file, &diag);
  return false;
}

static bool specialize(ws_plugin_job *j) {
  const bool chosen = choose(j);
  if (chosen && ws__pass_specialize(j->module, j->candidate, &j->findings))
    ws__plugin_remark_specialized(j);
  else
    ws__plugin_fail_with_findings(j);
  return chosen;
}

static bool run_specialize(LLVMModuleRef module, const char *parameters,
                           bool by_name) {
  (void)by_name;
  return run_job("wavesmith-specialize", module, parameters, specialize);
}

/* ---- lower --------------------------------------------------------------- */

/* The compile server stands at a fixed place from this plugin, in the build
 * folder as when installed. */
static void locate_server(const ws_plugin_job *j) {
  static const char *const places[] = {"../libexec", "../../libexec",
                                       "../../../libexec"};
  Dl_info self;
  const char *slash;
  if (getenv("WAVESMITH_COMPILER") || !dladdr(ws_plugin_passes, &self) ||
      !(slash = strrchr(self.dli_fname, '/')))
    return;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    const char *path = ws_arena_printf(
        j->arena, "%.*s/%s/wavesmith/wavesmith-compiler",
        (int)(slash - self.dli_fname), self.dli_fname, places[i]);
    if (ws_file_exists(path)) {
      setenv("WAVESMITH_COMPILER", path, 0);
      return;
    }
  }
}

static void report_result(ws_plugin_job *j, const ws_build_result *result) {
  for (int i = 0; i < result->finding_count; i++) {
    const ws_finding *f = &result->findings[i];
    ws_finding *added = ws_findings_add(&j->findings, f->id, f->region, f->file,
                                        f->line, "%s", f->text);
    if (added)
      added->column = f->column;
  }
  if (!result->finding_count)
    ws_findings_add(&j->findings, ws_verdict_text(result->verdict), "", NULL, 0,
                    "%s", result->reason);
  ws__plugin_fail_with_findings(j);
}

/* In the compile server and not here: comgr brings a second copy of clang's
 * options, which ends any LLVM tool that loads it, and a death of the code
 * generator should be a diagnostic. */
static void write_code_object(ws_plugin_job *j, const char *cpu,
                              const char *out) {
  ws_compiler *compiler;
  ws_build_result result;
  ws_diag diag;
  locate_server(j);
  char *text = LLVMPrintModuleToString(j->placed);
  ws_build_request request = {.template_file = j->file,
                              .template_text = text,
                              .template_size = strlen(text),
                              .target = cpu,
                              .assignments = "",
                              .variants = "",
                              .stages = WS_STAGE_LOWER,
                              .limits = ws_limits_default};
  ws_status status = ws_compiler_start(&compiler, &diag);
  if (status == WS_OK) {
    status = ws_compiler_build(compiler, j->arena, &request, &result, &diag);
    ws_compiler_stop(compiler);
  }
  LLVMDisposeMessage(text);
  if (status == WS_OK && result.verdict != WS_VERDICT_OK) {
    report_result(j, &result);
    return;
  }
  if (status == WS_OK)
    status = ws_file_write_atomic(out, result.code_object,
                                  result.code_object_size, &diag);
  if (status == WS_OK)
    ws__plugin_remark_code(j, cpu, out, &result);
  else
    ws__plugin_fail(j, "%s", diag.text);
}

static bool lower(ws_plugin_job *j) {
  const char *cpu = j->candidate->tmpl->target, *out = "";
  for (int i = 0; i < j->setting_count; i++) {
    const ws_plugin_setting *s = &j->settings[i];
    const bool known = !strcmp(s->key, "cpu") || !strcmp(s->key, "out");
    if (!known) {
      ws__plugin_fail(j,
                      "no parameter %s; write wavesmith-lower<cpu=%s;out=FILE>",
                      s->key, cpu);
      return false;
    }
    *(strcmp(s->key, "cpu") ? &out : &cpu) = s->value;
  }
  if (*out)
    write_code_object(j, cpu, out);
  else
    ws__plugin_fail(j, "needs the file to write: wavesmith-lower<out=FILE>");
  return false;
}

static bool run_lower(LLVMModuleRef module, const char *parameters,
                      bool by_name) {
  (void)by_name;
  return run_job("wavesmith-lower", module, parameters, lower);
}

const ws_plugin_pass ws_plugin_passes[] = {
    {"wavesmith-check", true, run_check},
    {"wavesmith-specialize", false, run_specialize},
    {"wavesmith-lower", false, run_lower},
};
const int ws_plugin_pass_count =
    sizeof ws_plugin_passes / sizeof *ws_plugin_passes;
