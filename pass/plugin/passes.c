/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The passes of WavesmithPass.so, as thin fronts of pass.h:
 *   wavesmith-check                    the static check
 *   wavesmith-specialize<param=value;variant:region=function;...>
 *                                      chooses values and shipped variants
 *   wavesmith-lower<cpu=gfx942;out=FILE>
 *                                      writes the code object
 * The template is read from the module's own metadata; what a pass before has
 * set is the default that the next one sees. They work on a template as it
 * was written: run them before any optimisation.
 */
#include "passes.h"
#include "../parse.h"
#include "../specialize.h"
#include "../template_ir.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What every pass needs; lives while it runs. */
typedef struct job {
  LLVMModuleRef module;
  const char *pass, *file;
  ws_arena *arena;
  ws_candidate *candidate;
  ws_findings findings;
} job;

/* ---- diagnostics --------------------------------------------------------- */

static void fail(const job *j, const char *text) {
  ws_plugin_error(LLVMGetModuleContext(j->module),
                  ws_arena_printf(j->arena, "%s: %s", j->pass, text));
}

/* All findings in one diagnostic, a line each: opt ends at the first. */
static void fail_with_findings(const job *j) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  for (int i = 0; i < j->findings.count; i++) {
    const ws_finding *f = &j->findings.items[i];
    ws_strbuf_puts(&text, i ? "\n  " : "");
    if (f->line)
      ws_strbuf_printf(&text, "%s:%d: ", f->file, f->line);
    if (*f->region)
      ws_strbuf_printf(&text, "region %s: ", f->region);
    ws_strbuf_printf(&text, "%s [%s]", f->text, f->id);
  }
  fail(j, text.data);
  ws_strbuf_deinit(&text);
}

/* ---- start and end of a pass --------------------------------------------- */

static bool open_template(job *j) {
  ws_records records;
  const ws_template *tmpl;
  ws_diag diag;
  size_t size;
  j->file = LLVMGetModuleIdentifier(j->module, &size);
  if (!ws__pass_is_template(j->module)) {
    fail(j, ws_arena_printf(
                j->arena,
                "%s carries no wavesmith.template metadata; give a template "
                "(ir-templates/README.md), before it is optimised",
                j->file));
    return false;
  }
  /* The text's hash is not known here and nothing here uses it. */
  if (ws_pass_read_records(j->module, NULL, j->file, j->arena, &records,
                           &diag) != WS_OK ||
      ws_template_from_records(j->arena, &records, j->file, (ws_hash){{0}},
                               &tmpl, &diag) != WS_OK) {
    fail(j, ws_arena_printf(j->arena,
                            "%s (wavesmith passes work on a template as "
                            "written, before any optimisation)",
                            diag.text));
    return false;
  }
  j->candidate = ws_candidate_create(j->arena, tmpl);
  return true;
}

static bool run_job(const char *name, LLVMModuleRef module,
                    const char *parameters,
                    bool (*work)(job *j, const char *parameters)) {
  job j = {.module = module, .pass = name, .arena = ws_arena_create()};
  ws_findings_init(&j.findings, j.arena);
  bool changed = open_template(&j) && work(&j, parameters);
  ws_arena_destroy(j.arena);
  return changed;
}

/* The next "key=value" of a ';'-separated list; NULL at its end. Key and value
 * are copies. */
static const char *next_setting(const job *j, const char *text,
                                const char **out_key, const char **out_value) {
  text += strspn(text, "; ");
  if (!*text)
    return NULL;
  size_t size = strcspn(text, ";");
  const char *equal = memchr(text, '=', size);
  size_t key_size = equal ? (size_t)(equal - text) : size;
  *out_key = ws_arena_strndup(j->arena, text, key_size);
  *out_value =
      equal ? ws_arena_strndup(j->arena, equal + 1, size - key_size - 1) : "";
  return text + size;
}

/* A copy whose instructions know their lines: the module's own debug info, or
 * else read off the file it came from, if that is text and still fits. */
static LLVMModuleRef copy_with_lines(const job *j) {
  LLVMModuleRef copy = LLVMCloneModule(j->module);
  size_t name_size = strlen(j->file), size;
  char *text;
  ws_diag ignored;
  if (name_size > 3 && !strcmp(j->file + name_size - 3, ".ll") &&
      ws_file_read(j->arena, j->file, &text, &size, &ignored) == WS_OK)
    ws__pass_attach_text(copy, j->arena, text, size, j->file);
  return copy;
}

/* ---- check --------------------------------------------------------------- */

static bool check(job *j, const char *parameters) {
  if (*parameters) {
    fail(j, "takes no parameters");
    return false;
  }
  LLVMModuleRef copy = copy_with_lines(j);
  if (!ws_pass_check(copy, j->candidate, j->candidate->tmpl->target,
                     &j->findings))
    fail_with_findings(j);
  LLVMDisposeModule(copy);
  return false;
}

static bool run_check(LLVMModuleRef module, const char *parameters,
                      bool by_name) {
  if (!by_name && !ws__pass_is_template(module))
    return false;
  return run_job("wavesmith-check", module, parameters, check);
}

/* ---- specialize ---------------------------------------------------------- */

static bool specialize(job *j, const char *parameters) {
  static const char prefix[] = "variant:";
  const char *key, *value, *values = "", *variants = "";
  ws_diag diag;
  for (const char *at = next_setting(j, parameters, &key, &value); at;
       at = next_setting(j, at, &key, &value)) {
    bool variant = !strncmp(key, prefix, sizeof prefix - 1);
    const char **list = variant ? &variants : &values;
    *list = ws_arena_printf(j->arena, "%s%s%s=%s", *list, **list ? ";" : "",
                            variant ? key + sizeof prefix - 1 : key, value);
  }
  if (ws_candidate_set(j->candidate, values, &diag) != WS_OK ||
      ws_candidate_set_variants(j->candidate, variants, &diag) != WS_OK) {
    fail(j, diag.text);
    return false;
  }
  if (!ws__pass_specialize(j->module, j->candidate, &j->findings))
    fail_with_findings(j);
  return true;
}

static bool run_specialize(LLVMModuleRef module, const char *parameters,
                           bool by_name) {
  (void)by_name;
  return run_job("wavesmith-specialize", module, parameters, specialize);
}

/* ---- lower --------------------------------------------------------------- */

/* The compile server stands at a fixed place from this plugin, in the build
 * folder as when installed. */
static void locate_server(const job *j) {
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

static void report_result(job *j, const ws_build_result *result) {
  for (int i = 0; i < result->finding_count; i++) {
    const ws_finding *f = &result->findings[i];
    ws_findings_add(&j->findings, f->id, f->region, f->file, f->line, "%s",
                    f->text);
  }
  if (!result->finding_count)
    ws_findings_add(&j->findings, ws_verdict_text(result->verdict), "", NULL, 0,
                    "%s", result->reason);
  fail_with_findings(j);
}

/* In the compile server and not here: comgr brings a second copy of clang's
 * options, which ends any LLVM tool that loads it, and a death of the code
 * generator should be a diagnostic. */
static void write_code_object(job *j, const char *cpu, const char *out) {
  ws_compiler *compiler;
  ws_build_result result;
  ws_diag diag;
  locate_server(j);
  LLVMModuleRef copy = copy_with_lines(j);
  char *text = LLVMPrintModuleToString(copy);
  LLVMDisposeModule(copy);
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
  if (status != WS_OK)
    fail(j, diag.text);
}

static bool lower(job *j, const char *parameters) {
  const char *key, *value, *cpu = j->candidate->tmpl->target, *out = "";
  for (const char *at = next_setting(j, parameters, &key, &value); at;
       at = next_setting(j, at, &key, &value)) {
    if (!strcmp(key, "cpu")) {
      cpu = value;
    } else if (!strcmp(key, "out")) {
      out = value;
    } else {
      fail(j, ws_arena_printf(j->arena,
                              "no parameter %s; write "
                              "wavesmith-lower<cpu=%s;out=FILE>",
                              key, cpu));
      return false;
    }
  }
  if (*out)
    write_code_object(j, cpu, out);
  else
    fail(j, "needs the file to write: wavesmith-lower<out=FILE>");
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
