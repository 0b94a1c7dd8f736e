/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith build`: code objects and dispatch from a text archive. It imports
 * the folder into an archive in memory, compiles its kernels again, and goes on
 * as `wavesmith dispatch` does, so that the same candidates give the same
 * files. No network, GPU or model; this is what wavesmith_add_kernels() runs.
 */
#include "emit_options.h"
#include "tools.h"

#include <cjson/cJSON.h>
#include <stdio.h>

static const ws_option option_rows[] = {
    EMIT_OPTION_ROWS,
    TOOL_REFERENCE_ROWS,
    {"check", NULL, "run every kernel through the IR sanitizer again",
     WS_OPTION_FLAG, .offset = offsetof(emit_options, check)},
    WS_OPTIONS_END};

const ws_command build_command = {
    .program = "wavesmith build",
    .purpose = "code objects and dispatch from a text archive",
    .usage = "FOLDER [OPTION ...]",
    .about = "Compiles the kernels of a text archive (`wavesmith archive "
             "export`) and\n"
             "writes NAME.h, NAME.c, NAME.json and the code objects.",
    .options = option_rows};

typedef struct build {
  emit_options options;
  ws_arena *arena;
  ws_archive *archive;
  ws_compiler *compiler;
  int kernel_count; /* that the archive has */
  ws_rebuild_report rebuilt;
  ws_matrix matrix;
  ws_dispatch_entry *entries;
  ws_dispatch_report emitted;
} build;

static ws_status load(build *b, int *out_count, ws_diag *diag) {
  const emit_options *options = &b->options;
  int imported;
  WS_TRY(ws_archive_open(":memory:", true, &b->archive, diag));
  WS_TRY(ws_archive_import(b->archive, options->source, &imported, diag));
  WS_TRY(emit_options_settle(&b->options, b->archive, b->arena, diag));
  WS_TRY(ws_dispatch_load_recorded(b->archive, b->arena, options->problem,
                                   options->layout, options->target,
                                   &b->entries, out_count, diag));
  b->kernel_count = *out_count;
  WS_TRY(ws_compiler_start(&b->compiler, diag));
  return ws_dispatch_rebuild(b->archive, b->compiler, b->arena, options->target,
                             options->check, b->entries, out_count, &b->rebuilt,
                             diag);
}

static ws_status run(build *b, ws_diag *diag) {
  int count;
  WS_TRY(load(b, &count, diag));
  /* Recorded times are of other code; where there is no model they are still
   * the best that is known. */
  if (b->rebuilt.changed && b->options.for_target->has_host_model)
    b->options.provenance = "estimate";
  return emit_entries(&b->options, b->archive, b->arena, b->entries, &count,
                      &b->matrix, &b->emitted, diag);
}

/* ---- result ----------------------------------------------------------- */

static void warn(const build *b) {
  const ws_rebuild_report *rebuilt = &b->rebuilt;
  if (rebuilt->changed)
    ws_log(WS_LOG_WARN,
           "%d of %d kernels compile to other code with %s than with %s, which "
           "recorded them; the choice among them is made anew",
           rebuilt->changed, b->kernel_count, rebuilt->compiler,
           rebuilt->recorded_compiler);
  if (rebuilt->dropped)
    ws_log(WS_LOG_WARN, "%d of %d kernels were left out, the first because: %s",
           rebuilt->dropped, b->kernel_count, rebuilt->dropped_reason);
}

static void print_text(const build *b) {
  const ws_dispatch_report *emitted = &b->emitted;
  printf("%s: %d kernels compiled with %s%s, %d chosen, %d rules\n",
         b->options.name, b->kernel_count - b->rebuilt.dropped,
         b->rebuilt.compiler, b->options.check ? " and checked" : "",
         emitted->portfolio_count, emitted->leaf_count);
  printf("loss on %d training shapes: %.3fx, at worst %.3fx (%s)\n",
         b->matrix.shape_count, emitted->train_geomean_regret,
         emitted->train_max_regret, b->matrix.provenance);
  for (int i = 0; i < emitted->file_count; i++)
    printf("  %s\n", emitted->files[i]);
}

static cJSON *portfolio_json(const build *b) {
  cJSON *array = cJSON_CreateArray();
  for (int i = 0; i < b->emitted.portfolio_count; i++) {
    const ws_dispatch_entry *entry = &b->entries[b->emitted.portfolio[i]];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "candidate", entry->candidate->id.hex);
    cJSON_AddStringToObject(
        item, "parameters",
        ws_candidate_values_text(b->arena, entry->candidate));
    cJSON_AddStringToObject(item, "code_hash", entry->result->code_hash);
    cJSON_AddItemToArray(array, item);
  }
  return array;
}

static void print_json(const build *b) {
  const ws_dispatch_report *emitted = &b->emitted;
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", b->options.name);
  cJSON_AddStringToObject(json, "compiler", b->rebuilt.compiler);
  cJSON_AddNumberToObject(json, "kernels", b->kernel_count);
  cJSON_AddNumberToObject(json, "changed", b->rebuilt.changed);
  cJSON_AddNumberToObject(json, "dropped", b->rebuilt.dropped);
  cJSON_AddBoolToObject(json, "checked", b->options.check);
  cJSON_AddItemToObject(json, "portfolio", portfolio_json(b));
  cJSON_AddNumberToObject(json, "rules", emitted->leaf_count);
  cJSON_AddNumberToObject(json, "training_shapes", b->matrix.shape_count);
  cJSON_AddNumberToObject(json, "training_geomean_regret",
                          emitted->train_geomean_regret);
  cJSON_AddNumberToObject(json, "training_max_regret",
                          emitted->train_max_regret);
  cJSON_AddStringToObject(json, "provenance", b->matrix.provenance);
  cJSON_AddItemToObject(
      json, "files",
      cJSON_CreateStringArray(emitted->files, emitted->file_count));
  char *text = cJSON_PrintUnformatted(json);
  WS_ASSERT(text);
  puts(text);
  cJSON_free(text);
  cJSON_Delete(json);
}

int tool_build(int argc, char **argv) {
  ws_diag diag = {""};
  build b = {.arena = NULL};
  ws_status status =
      emit_options_parse(&build_command, "folder with a text archive", argc,
                         argv, &b.options, &diag);
  if (status != WS_OK)
    return tool_fail("build", status, &diag);
  if (b.options.help)
    return tool_help(&build_command);
  b.arena = ws_arena_create();
  status = run(&b, &diag);
  if (status == WS_OK) {
    warn(&b);
    (b.options.json ? print_json : print_text)(&b);
  }
  ws_compiler_stop(b.compiler);
  ws_archive_close(b.archive);
  ws_arena_destroy(b.arena);
  return status == WS_OK ? 0 : tool_fail("build", status, &diag);
}
