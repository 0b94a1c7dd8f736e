/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "load.h"
#include "job_place.h"
#include "mlir/front.h"
#include "parse.h"
#include "template_ir.h"

#include <string.h>

/* The latest template; all of it lives in the arena and the context. */
static struct kept {
  ws_arena *arena;
  LLVMContextRef context;
  const char *text, *file;
  size_t size;
  LLVMModuleRef module;    /* NULL: in MLIR, or no template */
  const ws_template *tmpl; /* NULL: the text is none */
  ws_findings findings;
} kept;

static bool is_kept(const char *text, size_t size, const char *file) {
  return kept.arena && kept.size == size && !memcmp(kept.text, text, size) &&
         !strcmp(kept.file, file);
}

bool ws__is_mlir(const char *text, const char *file) {
  const char *dot = strrchr(file, '.');
  return (dot && !strcmp(dot, ".mlir")) ||
         !strcmp(ws_template_language(text), "mlir");
}

/* What is in the module is the candidate's no longer. */
static int take_bodies(ws_candidate *candidate, ws_arena *arena,
                       ws_mlir_body *out) {
  int count = 0;
  for (int i = 0; i < candidate->tmpl->region_count; i++) {
    ws_body *body = &candidate->bodies[i];
    if (!body->text || strcmp(body->language, "mlir"))
      continue;
    const char *region = candidate->tmpl->regions[i].function;
    out[count++] = (ws_mlir_body){
        region, ws_arena_printf(arena, "%s.mlir", region), body->text};
    *body = (ws_body){.variant = -1};
  }
  return count;
}

static LLVMModuleRef lower_mlir(LLVMContextRef context,
                                const ws_mlir_request *request,
                                ws_findings *findings) {
  ws__pass_collect_diagnostics(context, findings);
  ws__job_place_enter(request->file);
  LLVMModuleRef module = ws__mlir_front(context, request, findings);
  ws__job_place_leave();
  return module;
}

LLVMModuleRef ws__load_candidate(const char *text, size_t size,
                                 ws_candidate *candidate,
                                 ws_findings *findings) {
  const ws_scope values =
      ws_candidate_scope(findings->arena, candidate, NULL, 0);
  ws_mlir_body bodies[WS_TEMPLATE_MAX_REGIONS];
  const ws_mlir_request request = {
      .text = text,
      .size = size,
      .file = candidate->tmpl->file,
      .values = &values,
      .place = ws__job_place(),
      .bodies = bodies,
      .body_count = take_bodies(candidate, findings->arena, bodies)};
  return lower_mlir(LLVMContextCreate(), &request, findings);
}

/* A text in MLIR is lowered with its defaults. */
static LLVMModuleRef read_module(LLVMContextRef context, const char *text,
                                 size_t size, const char *file,
                                 ws_findings *findings) {
  if (!ws__is_mlir(text, file))
    return ws_pass_parse(context, text, size, file, findings);
  const ws_mlir_request request = {
      .text = text, .size = size, .file = file, .place = ws__job_place()};
  return lower_mlir(context, &request, findings);
}

static ws_status read_declared(LLVMModuleRef module, const char *text,
                               const char *file, ws_arena *arena,
                               ws_records *out, ws_diag *diag) {
  return ws__is_mlir(text, file)
             ? ws__pass_read_records(module, file, ws__mlir_record_line,
                                     (void *)(uintptr_t)text, arena, out, diag)
             : ws_pass_read_records(module, text, file, arena, out, diag);
}

bool ws__load_records(LLVMContextRef context, const char *text, size_t size,
                      const char *file, ws_arena *arena,
                      LLVMModuleRef *out_module, ws_records *out_records,
                      ws_findings *findings) {
  ws_diag diag;
  *out_module = read_module(context, text, size, file, findings);
  if (!*out_module)
    return false;
  if (read_declared(*out_module, text, file, arena, out_records, &diag) ==
      WS_OK)
    return true;
  ws_findings_add(findings, "template", "", file, 0, "%s", diag.text);
  return false;
}

static bool read_template(LLVMContextRef context, const char *text, size_t size,
                          const char *file, ws_arena *arena,
                          LLVMModuleRef *out_module,
                          const ws_template **out_tmpl, ws_findings *findings) {
  ws_records records;
  ws_diag diag;
  if (!ws__load_records(context, text, size, file, arena, out_module, &records,
                        findings))
    return false;
  if (ws_template_from_records(arena, &records, file, ws_hash_bytes(text, size),
                               out_tmpl, &diag) == WS_OK)
    return true;
  ws_findings_add(findings, "template", "", file, 0, "%s", diag.text);
  return false;
}

bool ws__load_template(const char *text, size_t size, const char *file,
                       ws_arena *arena, LLVMModuleRef *out_module,
                       const ws_template **out_tmpl, ws_findings *findings) {
  if (!is_kept(text, size, file) || !kept.tmpl)
    return read_template(LLVMContextCreate(), text, size, file, arena,
                         out_module, out_tmpl, findings);
  *out_module = kept.module;
  *out_tmpl = kept.tmpl;
  ws__pass_collect_diagnostics(kept.context, findings);
  return true;
}

void ws__load_keep(const char *text, size_t size, const char *file) {
  if (is_kept(text, size, file))
    return;
  if (kept.arena) {
    if (kept.module)
      LLVMDisposeModule(kept.module);
    LLVMContextDispose(kept.context);
    ws_arena_destroy(kept.arena);
  }
  kept = (struct kept){
      .arena = ws_arena_create(), .context = LLVMContextCreate(), .size = size};
  kept.text = ws_arena_strndup(kept.arena, text, size);
  kept.file = ws_arena_strdup(kept.arena, file);
  ws_findings_init(&kept.findings, kept.arena);
  LLVMModuleRef module;
  if (read_template(kept.context, kept.text, size, kept.file, kept.arena,
                    &module, &kept.tmpl, &kept.findings) &&
      !ws__is_mlir(kept.text, kept.file))
    kept.module = module;
}
