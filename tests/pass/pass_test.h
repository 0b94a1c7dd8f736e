/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the tests of pass/ share: texts of templates (the small one of Inputs,
 * shipped ones) with a change, and candidates made from them. A line that a
 * test expects is found in the text by what stands on it, not by our scanner.
 */
#ifndef WAVESMITH_PASS_TEST_H
#define WAVESMITH_PASS_TEST_H

#include "pass.h"
#include "ws_test.h"

/* Everything of one candidate; a test makes as many as it likes. */
typedef struct fixture {
  ws_arena *arena;
  ws_findings findings;
  LLVMContextRef context;
  const char *text;
  LLVMModuleRef module;
  ws_candidate *candidate;
} fixture;

/* Not inlined: gcc 12 would warn of a dangling pointer that there is not. */
static __attribute__((noinline, unused)) char *read_source(ws_arena *arena,
                                                           const char *path) {
  char *text;
  size_t size;
  ws_diag diag;
  const char *whole =
      ws_arena_printf(arena, "%s/%s", getenv("WS_SOURCE_DIR"), path);
  if (ws_file_read(arena, whole, &text, &size, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  return text;
}

static inline char *read_tiny(ws_arena *arena) {
  return read_source(arena, "tests/pass/Inputs/tiny.ll");
}

/* text with the first `from` replaced; it must be there. */
static inline char *replace(ws_arena *arena, const char *text, const char *from,
                            const char *to) {
  const char *at = strstr(text, from);
  if (!at)
    WS_FAIL("the text lacks \"%s\"", from);
  return ws_arena_printf(arena, "%.*s%s%s", (int)(at - text), text, to,
                         at + strlen(from));
}

/* 1-based line of the first occurrence. */
static inline int line_of(const char *text, const char *part) {
  const char *at = strstr(text, part);
  if (!at)
    WS_FAIL("the text lacks \"%s\"", part);
  int line = 1;
  for (; text < at; text++)
    line += *text == '\n';
  return line;
}

static inline fixture fixture_create(void) {
  fixture f = {.arena = ws_arena_create(), .context = LLVMContextCreate()};
  ws_findings_init(&f.findings, f.arena);
  return f;
}

static inline void fixture_destroy(fixture *f) {
  if (f->module)
    LLVMDisposeModule(f->module);
  LLVMContextDispose(f->context);
  ws_arena_destroy(f->arena);
}

static inline void show_findings(const fixture *f) {
  for (int i = 0; i < f->findings.count; i++) {
    const ws_finding *item = &f->findings.items[i];
    fprintf(stderr, "# %s [%s] %s:%d %s\n", item->id, item->region, item->file,
            item->line, item->text);
  }
}

/* Parses a template and makes its default candidate. */
static inline fixture open_template(const char *text) {
  fixture f = fixture_create();
  ws_records records;
  const ws_template *tmpl;
  ws_diag diag;
  f.text = ws_arena_strdup(f.arena, text);
  f.module =
      ws_pass_parse(f.context, f.text, strlen(f.text), "t.ll", &f.findings);
  if (!f.module) {
    show_findings(&f);
    WS_FAIL("the template does not parse");
  }
  if (ws_pass_read_records(f.module, f.text, "t.ll", f.arena, &records,
                           &diag) != WS_OK ||
      ws_template_from_records(f.arena, &records, "t.ll",
                               ws_hash_bytes(f.text, strlen(f.text)), &tmpl,
                               &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  f.candidate = ws_candidate_create(f.arena, tmpl);
  return f;
}

static inline fixture open_tiny(void) {
  ws_arena *arena = ws_arena_create();
  fixture f = open_template(read_tiny(arena));
  ws_arena_destroy(arena);
  return f;
}

static inline void set_body(fixture *f, const char *region,
                            const char *language, const char *text) {
  int index = ws_template_region_index(f->candidate->tmpl, region);
  WS_CHECK(index >= 0);
  f->candidate->bodies[index] =
      (ws_body){.variant = -1, .language = language, .text = text};
}

static inline const ws_finding *find_finding(const fixture *f, const char *id) {
  for (int i = 0; i < f->findings.count; i++)
    if (!strcmp(f->findings.items[i].id, id))
      return &f->findings.items[i];
  return NULL;
}

/* The finding must be there, at this region and line. */
static inline const ws_finding *expect_finding(const fixture *f, const char *id,
                                               const char *region, int line) {
  const ws_finding *found = find_finding(f, id);
  if (!found) {
    show_findings(f);
    WS_FAIL("no finding %s", id);
  }
  if (strcmp(found->region, region) || found->line != line) {
    show_findings(f);
    WS_FAIL("%s is at region \"%s\" line %d, want \"%s\" line %d", id,
            found->region, found->line, region, line);
  }
  return found;
}

static inline const char *check_body(fixture *f, const char *region,
                                     const char *text) {
  *f = open_tiny();
  set_body(f, region, "ir", text);
  if (!ws_pass_splice(f->module, f->candidate, &f->findings)) {
    show_findings(f);
    WS_FAIL("does not splice:\n%s", text);
  }
  ws_pass_check(f->module, f->candidate, "gfx942", &f->findings);
  return text;
}

#endif
