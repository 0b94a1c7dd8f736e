/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See bench_subject.h. A dispatch is read from its NAME.json: the rules as
 * they stand there, code objects beside it; how its kernels are launched is
 * known to the archive that it came out of. An archive may be a text export:
 * it is imported into memory, and what it holds no code object of is compiled
 * again, as `wavesmith build` does it.
 */
#include "bench_subject.h"
#include "recompile.h"
#include "tools.h"
#include "wavesmith/dispatch.h"

#include <cjson/cJSON.h>
#include <string.h>

enum { SHORT_ID = 8 };

/* ---- one candidate ---- */

static ws_status refuse_build(const char *what, const bench_entry *entry,
                              ws_diag *diag) {
  return ws_fail(diag, WS_INPUT, what, 0, "%s: %s",
                 ws_verdict_text(entry->build.verdict), entry->build.reason);
}

static ws_status settle(bench_subject *out, const ws_template *tmpl,
                        const char *layout, ws_diag *diag) {
  WS_TRY(ws_problem_list_check(tool_named_problems(), tmpl->file, tmpl->problem,
                               diag));
  out->problem = ws_problem_find(tmpl->problem);
  out->target = ws_target_find(tmpl->target);
  if (!out->problem || !out->target)
    return ws_fail(diag, WS_INPUT, tmpl->file, 0,
                   "unknown problem '%s' or target '%s'", tmpl->problem,
                   tmpl->target);
  return ws_problem_choose_layout(out->problem, out->target->name, layout,
                                  &out->layout, diag);
}

static ws_status read_candidate(ws_archive *archive, ws_arena *arena,
                                const char *id, const char *path,
                                bench_subject *out, bench_entry *entry,
                                ws_diag *diag) {
  ws_candidate_row row;
  const ws_template *tmpl;
  bool found;
  WS_TRY(ws_archive_get_candidate(archive, arena, id, &found, &row, diag));
  if (!found)
    return ws_fail(diag, WS_INPUT, path, 0, "there is no candidate '%s'", id);
  WS_TRY(ws_archive_get_template(archive, arena, row.template_hash, &tmpl, NULL,
                                 diag));
  WS_TRY(ws_archive_load_candidate(archive, arena, &row, tmpl,
                                   &entry->candidate, diag));
  WS_TRY(settle(out, tmpl, row.layout, diag));
  WS_TRY(ws_archive_get_build(archive, arena, row.id, &found, &entry->build,
                              diag));
  entry->code_object = entry->build.code_object;
  entry->code_object_size = entry->build.code_object_size;
  if (!found)
    return ws_fail(diag, WS_INPUT, path, 0, "candidate %s was never built",
                   row.id);
  out->name = ws_arena_printf(arena, "%s %.*s", tmpl->name, SHORT_ID, row.id);
  return WS_OK;
}

static const char *manifest_of(ws_arena *arena, const char *folder) {
  return ws_arena_printf(arena, "%s/manifest.json", folder);
}

/* path: a file, or the folder of a text export. */
static ws_status open_archive(ws_arena *arena, const char *path,
                              ws_archive **out, ws_diag *diag) {
  if (!ws_file_exists(manifest_of(arena, path)))
    return ws_archive_open(path, false, out, diag);
  int ignored;
  WS_TRY(ws_archive_open(":memory:", true, out, diag));
  ws_status status = ws_archive_import(*out, path, &ignored, diag);
  if (status != WS_OK)
    ws_archive_close(*out);
  return status;
}

static ws_status rebuild(ws_arena *arena, ws_archive *archive,
                         ws_compiler **compiler, bench_entry *entry,
                         ws_diag *diag) {
  WS_TRY(recompile(archive, arena, compiler, entry->candidate, &entry->build,
                   diag));
  entry->code_object = entry->build.code_object;
  entry->code_object_size = entry->build.code_object_size;
  return WS_OK;
}

static ws_status open_archived(ws_arena *arena, const char *path,
                               const char *id, ws_compiler **compiler,
                               bench_subject *out, ws_diag *diag) {
  ws_archive *archive;
  bench_entry *entry = ws_arena_alloc(arena, sizeof *entry);
  out->entries = entry;
  out->entry_count = 1;
  WS_TRY(open_archive(arena, path, &archive, diag));
  ws_status status = read_candidate(archive, arena, id, path, out, entry, diag);
  if (status == WS_OK && !entry->code_object_size)
    status = entry->build.verdict == WS_VERDICT_OK
                 ? rebuild(arena, archive, compiler, entry, diag)
                 : refuse_build(id, entry, diag);
  ws_archive_close(archive);
  return status;
}

/* ---- a template ---- */

static ws_status build_template(ws_arena *arena, ws_compiler *compiler,
                                const char *file, const char *text, size_t size,
                                bench_entry *entry, ws_diag *diag) {
  const ws_build_request request = {
      .template_file = file,
      .template_text = text,
      .template_size = size,
      .target = entry->candidate->tmpl->target,
      .assignments = ws_candidate_values_text(arena, entry->candidate),
      .variants = ws_candidate_variants_text(arena, entry->candidate),
      .stages = WS_STAGE_CHECK | WS_STAGE_LOWER,
      .limits = ws_limits_default};
  WS_TRY(ws_compiler_build(compiler, arena, &request, &entry->build, diag));
  if (entry->build.verdict != WS_VERDICT_OK)
    return refuse_build(file, entry, diag);
  entry->code_object = entry->build.code_object;
  entry->code_object_size = entry->build.code_object_size;
  return WS_OK;
}

static ws_status open_template(ws_arena *arena, const bench_source *source,
                               ws_compiler **compiler, bench_subject *out,
                               ws_diag *diag) {
  const char *file = source->text;
  char *text;
  size_t size;
  const ws_template *tmpl;
  bench_entry *entry = ws_arena_alloc(arena, sizeof *entry);
  WS_TRY(ws_file_read(arena, file, &text, &size, diag));
  if (!*compiler)
    WS_TRY(ws_compiler_start(compiler, diag));
  WS_TRY(ws_compiler_describe(*compiler, arena, file, text, size, &tmpl, diag));
  WS_TRY(settle(out, tmpl, source->layout, diag));
  entry->candidate = ws_candidate_create(arena, tmpl);
  if (ws_template_param_index(tmpl, "layout") >= 0)
    WS_TRY(ws_candidate_set(entry->candidate,
                            ws_arena_printf(arena, "layout=%d", out->layout),
                            diag));
  WS_TRY(ws_candidate_set(entry->candidate, source->set, diag));
  WS_TRY(ws_candidate_set_variants(entry->candidate, source->variants, diag));
  out->entries = entry;
  out->entry_count = 1;
  out->name = ws_arena_printf(arena, "%s %.*s", tmpl->name, SHORT_ID,
                              entry->candidate->id.hex);
  return build_template(arena, *compiler, file, text, size, entry, diag);
}

/* ---- a dispatch ---- */

typedef struct rule_node {
  const ws_expr *feature; /* NULL: a leaf */
  int64_t threshold;
  int low, high, rule;
} rule_node;

typedef struct rule_chain {
  int *kernels;
  int count;
} rule_chain;

typedef struct bench_rules {
  rule_node *nodes;
  int node_count;
  rule_chain *chains;
  int chain_count;
} bench_rules;

typedef struct json_reader {
  ws_arena *arena;
  const char *path; /* for messages */
  const cJSON *json;
  bench_subject *subject;
  ws_diag *diag;
} json_reader;

static ws_status read_index(const json_reader *in, const cJSON *object,
                            const char *key, int limit, int *out) {
  int64_t value;
  WS_TRY(ws_json_get_int(object, key, in->path, &value, in->diag));
  if (value < 0 || value >= limit)
    return ws_fail(in->diag, WS_INPUT, in->path, 0, "'%s' is %lld of %d", key,
                   (long long)value, limit);
  *out = (int)value;
  return WS_OK;
}

static ws_status read_feature(const json_reader *in, const char *name,
                              const ws_expr **out) {
  const cJSON *features, *item;
  const char *text;
  ws_expr *expr;
  WS_TRY(
      ws_json_get_array(in->json, "features", in->path, &features, in->diag));
  cJSON_ArrayForEach(item, features) {
    const cJSON *own = cJSON_GetObjectItemCaseSensitive(item, "name");
    if (!cJSON_IsString(own) || strcmp(own->valuestring, name))
      continue;
    WS_TRY(ws_json_get_string(item, "expression", in->path, &text, in->diag));
    WS_TRY(ws_expr_parse(in->arena, text, in->path, 0, &expr, in->diag));
    *out = expr;
    return WS_OK;
  }
  return ws_fail(in->diag, WS_INPUT, in->path, 0, "no feature '%s'", name);
}

/* A node points to later ones only, so that a walk ends. */
static ws_status read_node(const json_reader *in, const cJSON *item,
                           const bench_rules *rules, int index,
                           rule_node *out) {
  const char *feature;
  if (cJSON_GetObjectItemCaseSensitive(item, "rule"))
    return read_index(in, item, "rule", rules->chain_count, &out->rule);
  WS_TRY(ws_json_get_string(item, "feature", in->path, &feature, in->diag));
  WS_TRY(read_feature(in, feature, &out->feature));
  WS_TRY(
      ws_json_get_int(item, "threshold", in->path, &out->threshold, in->diag));
  WS_TRY(read_index(in, item, "low", rules->node_count, &out->low));
  WS_TRY(read_index(in, item, "high", rules->node_count, &out->high));
  if (out->low > index && out->high > index)
    return WS_OK;
  return ws_fail(in->diag, WS_INPUT, in->path, 0, "node %d points back", index);
}

static ws_status read_chain(const json_reader *in, const cJSON *item,
                            rule_chain *out) {
  const cJSON *array, *kernel;
  WS_TRY(ws_json_get_array(item, "kernels", in->path, &array, in->diag));
  out->kernels = ws_arena_alloc(
      in->arena, sizeof *out->kernels * (size_t)cJSON_GetArraySize(array));
  cJSON_ArrayForEach(kernel, array) {
    if (!cJSON_IsNumber(kernel) || kernel->valueint < 0 ||
        kernel->valueint >= in->subject->entry_count)
      return ws_fail(in->diag, WS_INPUT, in->path, 0,
                     "a rule names a kernel that is not there");
    out->kernels[out->count++] = kernel->valueint;
  }
  return WS_OK;
}

static ws_status read_rules(const json_reader *in) {
  bench_rules *rules = ws_arena_alloc(in->arena, sizeof *rules);
  const cJSON *chains, *nodes, *item;
  int index = 0;
  WS_TRY(ws_json_get_array(in->json, "rules", in->path, &chains, in->diag));
  WS_TRY(ws_json_get_array(in->json, "nodes", in->path, &nodes, in->diag));
  rules->chains = ws_arena_alloc(
      in->arena, sizeof *rules->chains * (size_t)cJSON_GetArraySize(chains));
  cJSON_ArrayForEach(item, chains)
      WS_TRY(read_chain(in, item, &rules->chains[rules->chain_count++]));
  rules->node_count = cJSON_GetArraySize(nodes);
  rules->nodes = ws_arena_alloc(in->arena, sizeof *rules->nodes *
                                               (size_t)rules->node_count);
  cJSON_ArrayForEach(item, nodes) {
    WS_TRY(read_node(in, item, rules, index, &rules->nodes[index]));
    index++;
  }
  if (!rules->node_count)
    return ws_fail(in->diag, WS_INPUT, in->path, 0, "it has no rules");
  in->subject->rules = rules;
  return WS_OK;
}

/* Code object NAME-ID.co of the folder that NAME.json lies in. */
static ws_status read_code(const json_reader *in, const cJSON *item,
                           bench_entry *entry) {
  const char *name, *slash = strrchr(in->path, '/');
  char *data;
  WS_TRY(ws_json_get_string(item, "code_object", in->path, &name, in->diag));
  if (strchr(name, '/'))
    return ws_fail(in->diag, WS_INPUT, in->path, 0,
                   "'%s' is no name of a code object", name);
  const char *path =
      ws_arena_printf(in->arena, "%.*s%s",
                      slash ? (int)(slash - in->path + 1) : 0, in->path, name);
  WS_TRY(
      ws_file_read(in->arena, path, &data, &entry->code_object_size, in->diag));
  entry->code_object = data;
  /* PTX is a text, and a driver wants its end. */
  entry->code_object_size += data[0] != 0x7f;
  return WS_OK;
}

static ws_status read_portfolio(const json_reader *in, ws_archive *archive) {
  const cJSON *portfolio, *item;
  const char *id;
  bench_subject *out = in->subject;
  WS_TRY(
      ws_json_get_array(in->json, "portfolio", in->path, &portfolio, in->diag));
  out->entries = ws_arena_alloc(
      in->arena, sizeof *out->entries * (size_t)cJSON_GetArraySize(portfolio));
  cJSON_ArrayForEach(item, portfolio) {
    bench_entry *entry = &out->entries[out->entry_count++];
    WS_TRY(ws_json_get_string(item, "candidate", in->path, &id, in->diag));
    WS_TRY(
        read_candidate(archive, in->arena, id, in->path, out, entry, in->diag));
    WS_TRY(read_code(in, item, entry));
  }
  return out->entry_count
             ? WS_OK
             : ws_fail(in->diag, WS_INPUT, in->path, 0, "it has no kernels");
}

static ws_status read_dispatch(const json_reader *in,
                               const char *archive_path) {
  ws_archive *archive;
  WS_TRY(open_archive(in->arena, archive_path, &archive, in->diag));
  ws_status status = read_portfolio(in, archive);
  ws_archive_close(archive);
  if (status == WS_OK)
    status = read_rules(in);
  const char *slash = strrchr(in->path, '/');
  in->subject->name = slash ? slash + 1 : in->path;
  return status;
}

static ws_status open_dispatch(const json_reader *in, const char *archive) {
  if (archive)
    return read_dispatch(in, archive);
  return ws_fail(in->diag, WS_USAGE, NULL, 0,
                 "%s: how its kernels are launched is known to the archive "
                 "that it came out of: --archive DB or FOLDER",
                 in->path);
}

/* ---- a candidate's file ---- */

/* FOLDER/candidates/ID.json of a text export, which has the template too. */
static ws_status open_candidate_file(const json_reader *in,
                                     ws_compiler **compiler) {
  const char *id, *slash = strrchr(in->path, '/');
  const char *folder = ws_arena_printf(
      in->arena, "%.*s..", slash ? (int)(slash - in->path + 1) : 0, in->path);
  WS_TRY(ws_json_get_string(in->json, "id", in->path, &id, in->diag));
  if (ws_file_exists(manifest_of(in->arena, folder)))
    return open_archived(in->arena, folder, id, compiler, in->subject,
                         in->diag);
  return ws_fail(in->diag, WS_INPUT, in->path, 0,
                 "there is no %s, so its template is not known; name the file "
                 "where it lies (FOLDER/candidates/ID.json), or FOLDER:%.*s",
                 manifest_of(in->arena, folder), SHORT_ID, id);
}

static ws_status open_json(ws_arena *arena, const bench_source *source,
                           ws_compiler **compiler, bench_subject *out,
                           ws_diag *diag) {
  char *text;
  size_t size;
  WS_TRY(ws_file_read(arena, source->text, &text, &size, diag));
  cJSON *json = ws_json_parse(text, size, source->text, diag);
  if (!json)
    return WS_INPUT;
  const json_reader in = {arena, source->text, json, out, diag};
  ws_status status = cJSON_GetObjectItemCaseSensitive(json, "assignments")
                         ? open_candidate_file(&in, compiler)
                         : open_dispatch(&in, source->archive);
  cJSON_Delete(json);
  return status;
}

/* ---- all of them ---- */

static bool ends_with(const char *text, const char *end) {
  size_t a = strlen(text), b = strlen(end);
  return a >= b && !strcmp(text + a - b, end);
}

ws_status bench_subject_open(ws_arena *arena, const bench_source *source,
                             ws_compiler **compiler, bench_subject *out,
                             ws_diag *diag) {
  const char *colon = strrchr(source->text, ':');
  *out = (bench_subject){0};
  if (ends_with(source->text, ".ll") || ends_with(source->text, ".mlir"))
    return open_template(arena, source, compiler, out, diag);
  if (*source->set || *source->variants)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--set and --variant are for templates, not for %s",
                   source->text);
  if (ends_with(source->text, ".json"))
    return open_json(arena, source, compiler, out, diag);
  if (colon)
    return open_archived(
        arena,
        ws_arena_strndup(arena, source->text, (size_t)(colon - source->text)),
        colon + 1, compiler, out, diag);
  if (source->archive)
    return open_archived(arena, source->archive, source->text, compiler, out,
                         diag);
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "'%s' is neither a template (.ll, .mlir), nor a dispatch or a "
                 "candidate (.json), nor DB:CANDIDATE; with --archive DB it "
                 "may be a candidate's id",
                 source->text);
}

static bool accepts(const bench_entry *entry, const ws_shape *shape,
                    ws_diag *diag) {
  return ws_candidate_broken_require(entry->candidate, shape, diag) < 0;
}

const bench_entry *bench_subject_pick(const bench_subject *subject,
                                      const ws_shape *shape, ws_diag *diag) {
  ws_binding bindings[WS_MAX_DIMS];
  const ws_scope scope = {bindings, ws_shape_bindings(shape, bindings)};
  if (!subject->rules)
    return accepts(&subject->entries[0], shape, diag) ? &subject->entries[0]
                                                      : NULL;
  const rule_node *node = subject->rules->nodes;
  while (node->feature) {
    int64_t value = 0;
    ws_diag ignored;
    if (ws_expr_eval(node->feature, &scope, &value, &ignored) != WS_OK)
      value = 0; /* as the emitted code has it */
    node = &subject->rules
                ->nodes[value <= node->threshold ? node->low : node->high];
  }
  const rule_chain *chain = &subject->rules->chains[node->rule];
  for (int i = 0; i < chain->count; i++)
    if (accepts(&subject->entries[chain->kernels[i]], shape, diag))
      return &subject->entries[chain->kernels[i]];
  return NULL;
}
