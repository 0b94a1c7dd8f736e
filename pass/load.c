/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "load.h"
#include "parse.h"

#include <string.h>

/* The latest template; all of it lives in the arena and the context. */
static struct kept {
  ws_arena *arena;
  LLVMContextRef context;
  const char *text, *file;
  size_t size;
  LLVMModuleRef module; /* NULL: the text is no template */
  const ws_template *tmpl;
  ws_findings findings;
} kept;

static bool is_kept(const char *text, size_t size, const char *file) {
  return kept.arena && kept.size == size && !memcmp(kept.text, text, size) &&
         !strcmp(kept.file, file);
}

static bool read_template(LLVMContextRef context, const char *text, size_t size,
                          const char *file, ws_arena *arena,
                          LLVMModuleRef *out_module,
                          const ws_template **out_tmpl, ws_findings *findings) {
  ws_records records;
  ws_diag diag;
  *out_module = ws_pass_parse(context, text, size, file, findings);
  if (!*out_module)
    return false;
  if (ws_pass_read_records(*out_module, text, file, arena, &records, &diag) ==
          WS_OK &&
      ws_template_from_records(arena, &records, file, ws_hash_bytes(text, size),
                               out_tmpl, &diag) == WS_OK)
    return true;
  ws_findings_add(findings, "template", "", file, 0, "%s", diag.text);
  return false;
}

bool ws__load_template(const char *text, size_t size, const char *file,
                       ws_arena *arena, LLVMModuleRef *out_module,
                       const ws_template **out_tmpl, ws_findings *findings) {
  if (!is_kept(text, size, file) || !kept.module)
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
                    &module, &kept.tmpl, &kept.findings))
    kept.module = module;
}
