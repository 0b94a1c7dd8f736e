/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Text export and import: the round trip is byte-identical, a folder that was
 * tampered with is refused as a whole. Hashes are checked with sha256sum.
 */
#include "../gemm_shape.h"
#include "fixture.h"

#include <cjson/cJSON.h>
#include <dirent.h>

typedef struct source {
  ws_arena *arena;
  ws_archive *archive;
  const ws_template *tmpl;
  const char *ids[8];
  char *folder; /* not made yet */
} source;

enum { CANDIDATES = 4 };

static ws_archive *open_memory(void) {
  ws_archive *archive;
  MUST(ws_archive_open(":memory:", true, &archive, diag));
  return archive;
}

static source make_source(void) {
  source s = {.arena = ws_arena_create(), .archive = open_memory()};
  s.tmpl = fixture_template(s.arena);
  s.folder = fixture_path(s.arena, "text");
  MUST(ws_archive_put_template(s.archive, s.tmpl, template_text, NULL, diag));
  for (int i = 0; i < CANDIDATES; i++) {
    int64_t run = fixture_run(s.archive, s.tmpl, UINT64_MAX - (i & 1));
    ws_candidate *candidate = fixture_candidate(s.arena, s.tmpl, i);
    if (i == 1) /* one without a body of its own */
      candidate->bodies[0] = (ws_body){.variant = 1};
    if (i == 2)
      candidate->bodies[0].language = "opencl";
    ws_candidate_update_id(candidate);
    ws_candidate_row row = fixture_row(s.arena, candidate, run, i);
    row.reason = "a \"quoted\" word, a \\ and a \n newline";
    row.result_json = "{\"lower_ms\":12.25,\"check_ms\":0.125,\"reason\":\"\","
                      "\"findings\":[{\"file\":\"/home/me/t.ll\",\"line\":3}],"
                      "\"kernels\":[{\"vgpr\":128,\"name\":\"k\"}]}";
    ws_measurement times[] = {
        {gemm_shape(1024, 1536, 7168), 1.0 / 3, "mfma", "estimate:a", 0, 0},
        {gemm_shape(16, 16, 128), 123456.789012345678, "lds", "estimate:a", 0,
         0}};
    MUST(ws_archive_put_candidate(s.archive, &row, candidate, "code", 4, times,
                                  2, diag));
    s.ids[i] = candidate->id.hex;
  }
  return s;
}

static void free_source(source *s) {
  fixture_remove(s->arena, s->folder);
  ws_archive_close(s->archive);
  ws_arena_destroy(s->arena);
}

static char *path_in(source *s, const char *name) {
  return ws_arena_printf(s->arena, "%s/%s", s->folder, name);
}

/* Exit status of a shell command. */
static int shell(const char *command) {
  FILE *pipe = popen(command, "r");
  WS_CHECK(pipe);
  return pclose(pipe);
}

static bool same_trees(ws_arena *arena, const char *a, const char *b) {
  return shell(ws_arena_printf(arena, "diff -r '%s' '%s' >&2", a, b)) == 0;
}

static char *read_text(ws_arena *arena, const char *path) {
  char *data;
  size_t size;
  MUST(ws_file_read(arena, path, &data, &size, diag));
  return ws_arena_strdup(arena, data);
}

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  WS_CHECK(file && fputs(text, file) >= 0);
  fclose(file);
}

WS_TEST(round_trip_is_identical) {
  source s = make_source();
  MUST(ws_archive_export(s.archive, s.folder, s.ids, CANDIDATES, diag));
  ws_archive *back = open_memory();
  int imported;
  MUST(ws_archive_import(back, s.folder, &imported, diag));
  WS_CHECK_INT(imported, CANDIDATES);
  char *again = fixture_path(s.arena, "again");
  const char *reversed[] = {s.ids[3], s.ids[2], s.ids[1], s.ids[0]};
  MUST(ws_archive_export(back, again, reversed, CANDIDATES, diag));
  WS_CHECK(same_trees(s.arena, s.folder, again));
  /* Importing once more adds nothing. */
  MUST(ws_archive_import(back, again, &imported, diag));
  WS_CHECK_INT(imported, 0);
  ws_archive_close(back);
  fixture_remove(s.arena, again);
  free_source(&s);
}

static cJSON *read_json(ws_arena *arena, const char *folder, const char *id) {
  cJSON *json = cJSON_Parse(read_text(
      arena, ws_arena_printf(arena, "%s/candidates/%s.json", folder, id)));
  WS_CHECK(json);
  return json;
}

/* A list has a candidate once for each provenance of its times. */
static int distinct(const ws_candidate_summary *items, int count,
                    const char **out_ids) {
  int found = 0;
  for (int i = 0; i < count; i++) {
    int at = 0;
    while (at < found && strcmp(out_ids[at], items[i].row.id))
      at++;
    if (at == found)
      out_ids[found++] = items[i].row.id;
  }
  return found;
}

/* A shipped export comes out as it is. */
WS_TEST(committed_export_is_reproduced) {
  const char *tree = getenv("WS_SOURCE_DIR");
  if (!tree)
    WS_SKIP("WS_SOURCE_DIR is not set");
  ws_arena *arena = ws_arena_create();
  char *folder = ws_arena_printf(
      arena, "%s/kernels/fp8_gemm_blockscale/tuned/sm_90a/kmajor-ocp", tree);
  ws_archive *archive = open_memory(), *second = open_memory();
  ws_candidate_summary *items;
  int imported, count;
  MUST(ws_archive_import(archive, folder, &imported, diag));
  MUST(ws_archive_list(archive, arena, NULL, &items, &count, diag));
  WS_CHECK(imported > 0);
  const char **ids = ws_arena_alloc(arena, sizeof *ids * (size_t)count);
  count = distinct(items, count, ids);
  WS_CHECK_INT(count, imported);
  char *again = fixture_path(arena, "again");
  char *third = fixture_path(arena, "third");
  MUST(ws_archive_export(archive, again, ids, count, diag));
  for (int i = 0; i < count; i++) {
    cJSON *old = read_json(arena, folder, ids[i]);
    cJSON *new = read_json(arena, again, ids[i]);
    WS_CHECK(cJSON_Compare(old, new, true));
    cJSON_Delete(old);
    cJSON_Delete(new);
  }
  MUST(ws_archive_import(second, again, &imported, diag));
  WS_CHECK_INT(imported, count);
  MUST(ws_archive_export(second, third, ids, count, diag));
  WS_CHECK(same_trees(arena, again, third));
  ws_archive_close(archive);
  ws_archive_close(second);
  fixture_remove(arena, again);
  fixture_remove(arena, third);
  ws_arena_destroy(arena);
}

WS_TEST(contents_survive) {
  source s = make_source();
  MUST(ws_archive_export(s.archive, s.folder, s.ids, CANDIDATES, diag));
  ws_archive *back = open_memory();
  int imported, count;
  MUST(ws_archive_import(back, s.folder, &imported, diag));
  for (int i = 0; i < CANDIDATES; i++) {
    bool found;
    ws_candidate_row old, new;
    ws_candidate *candidate;
    const ws_template *tmpl;
    ws_measurement *times;
    MUST(ws_archive_get_candidate(s.archive, s.arena, s.ids[i], &found, &old,
                                  diag));
    MUST(ws_archive_get_candidate(back, s.arena, s.ids[i], &found, &new, diag));
    WS_CHECK(found);
    WS_CHECK_TEXT(new.reason, old.reason);
    WS_CHECK_TEXT(new.assignments, old.assignments);
    WS_CHECK_TEXT(new.variants, old.variants);
    WS_CHECK_INT(new.sequence, old.sequence);
    MUST(ws_archive_get_template(back, s.arena, new.template_hash, &tmpl, NULL,
                                 diag));
    MUST(
        ws_archive_load_candidate(back, s.arena, &new, tmpl, &candidate, diag));
    WS_CHECK_TEXT(candidate->id.hex, s.ids[i]);
    MUST(ws_archive_get_measurements(back, s.arena, s.ids[i], &times, &count,
                                     diag));
    WS_CHECK_INT(count, 2);
    WS_CHECK_NEAR(times[0].us, 123456.789012345678, 0);
    WS_CHECK_NEAR(times[1].us, 1.0 / 3, 0);
    WS_CHECK_TEXT(times[1].bound, "mfma");
  }
  ws_archive_close(back);
  free_source(&s);
}

WS_TEST(nothing_of_this_machine_is_in_it) {
  source s = make_source();
  MUST(ws_archive_export(s.archive, s.folder, s.ids, CANDIDATES, diag));
  char *find = ws_arena_printf(
      s.arena,
      "grep -rE '/home/me|some/where|12\\.25|0\\.125|1234[^5]' '%s' "
      ">&2",
      s.folder);
  WS_CHECK(shell(find) != 0);
  WS_CHECK(access(path_in(&s, ".new"), F_OK) != 0);
  free_source(&s);
}

WS_TEST(hashes_are_sha256) {
  source s = make_source();
  MUST(ws_archive_export(s.archive, s.folder, s.ids, CANDIDATES, diag));
  char *text = read_text(s.arena, path_in(&s, "manifest.json"));
  cJSON *json = cJSON_Parse(text);
  const cJSON *item;
  int count = 0;
  cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "files")) {
    char got[65] = "";
    FILE *pipe = popen(
        ws_arena_printf(s.arena, "sha256sum '%s'", path_in(&s, item->string)),
        "r");
    WS_CHECK(pipe && fread(got, 1, 64, pipe) == 64);
    pclose(pipe);
    got[32] = '\0';
    WS_CHECK_TEXT(item->valuestring, got);
    count++;
  }
  /* template text and records, 2 runs, 3 bodies, 4 candidates */
  WS_CHECK_INT(count, 2 + 2 + 3 + 4);
  cJSON_Delete(json);
  free_source(&s);
}

WS_TEST(an_older_export_is_replaced) {
  source s = make_source();
  MUST(ws_archive_export(s.archive, s.folder, s.ids, CANDIDATES, diag));
  write_text(path_in(&s, "README.md"), "mine\n");
  MUST(ws_archive_export(s.archive, s.folder, s.ids, 1, diag));
  WS_CHECK_TEXT(read_text(s.arena, path_in(&s, "README.md")), "mine\n");
  WS_CHECK(access(ws_arena_printf(s.arena, "%s/candidates/%s.json", s.folder,
                                  s.ids[1]),
                  F_OK) != 0);
  ws_archive *back = open_memory();
  int imported;
  MUST(ws_archive_import(back, s.folder, &imported, diag));
  WS_CHECK_INT(imported, 1);
  ws_archive_close(back);
  free_source(&s);
}

WS_TEST(a_folder_of_others_is_left_alone) {
  source s = make_source();
  WS_CHECK(mkdir(s.folder, 0755) == 0);
  write_text(path_in(&s, "thesis.tex"), "mine\n");
  MUST_FAIL(ws_archive_export(s.archive, s.folder, s.ids, 1, diag), WS_INPUT,
            "something else");
  WS_CHECK_TEXT(read_text(s.arena, path_in(&s, "thesis.tex")), "mine\n");
  free_source(&s);
}

WS_TEST(export_of_an_unknown_candidate) {
  source s = make_source();
  const char *ids[] = {s.ids[0], "ffffffffffffffffffffffffffffffff"};
  MUST_FAIL(ws_archive_export(s.archive, s.folder, ids, 2, diag), WS_INPUT,
            "no candidate");
  WS_CHECK(access(s.folder, F_OK) != 0);
  free_source(&s);
}

/* Imports the folder into an empty archive: refused, and nothing came in. */
#define REFUSED(s, part)                                                       \
  do {                                                                         \
    ws_archive *refused_ = open_memory();                                      \
    int imported_, count_;                                                     \
    ws_candidate_summary *items_;                                              \
    MUST_FAIL(ws_archive_import(refused_, (s).folder, &imported_, diag),       \
              WS_INPUT, part);                                                 \
    WS_CHECK_INT(imported_, 0);                                                \
    MUST(ws_archive_list(refused_, (s).arena, NULL, &items_, &count_, diag));  \
    WS_CHECK_INT(count_, 0);                                                   \
    const ws_template *none_;                                                  \
    MUST_FAIL(                                                                 \
        ws_archive_get_template(refused_, (s).arena, "", &none_, NULL, diag),  \
        WS_INPUT, "no template");                                              \
    ws_archive_close(refused_);                                                \
  } while (0)

WS_TEST(any_changed_or_missing_file_is_refused) {
  source s = make_source();
  MUST(ws_archive_export(s.archive, s.folder, s.ids, CANDIDATES, diag));
  cJSON *json = cJSON_Parse(read_text(s.arena, path_in(&s, "manifest.json")));
  const cJSON *item;
  cJSON_ArrayForEach(item, cJSON_GetObjectItem(json, "files")) {
    char *path = path_in(&s, item->string);
    char *text = read_text(s.arena, path);
    write_text(path, ws_arena_printf(s.arena, "%s ", text));
    REFUSED(s, "was changed after the export");
    WS_CHECK(unlink(path) == 0);
    REFUSED(s, item->string);
    write_text(path, text);
  }
  cJSON_Delete(json);
  free_source(&s);
}

/* Replaces text in a file and mends the manifest's hash, as a careful forger
 * would. */
static void forge(source *s, const char *name, const char *from,
                  const char *to) {
  char *text = read_text(s->arena, path_in(s, name));
  ws_hash old = ws_hash_bytes(text, strlen(text));
  char *at = strstr(text, from);
  WS_CHECK(at);
  char *changed = ws_arena_printf(s->arena, "%.*s%s%s", (int)(at - text), text,
                                  to, at + strlen(from));
  write_text(path_in(s, name), changed);
  ws_hash new = ws_hash_bytes(changed, strlen(changed));
  char *manifest = read_text(s->arena, path_in(s, "manifest.json"));
  char *hash = strstr(manifest, old.hex); /* the last: names have it too */
  for (char *next; (next = strstr(hash + 1, old.hex));)
    hash = next;
  memcpy(hash, new.hex, 32);
  write_text(path_in(s, "manifest.json"), manifest);
}

WS_TEST(forged_files_are_refused) {
  source s = make_source();
  char *candidate = ws_arena_printf(s.arena, "candidates/%s.json", s.ids[1]);
  char *stem = ws_arena_printf(s.arena, "templates/small-%s", s.tmpl->hash.hex);
  char *records = ws_arena_printf(s.arena, "%s.json", stem);
  char *text = ws_arena_printf(s.arena, "%s.ll", stem);
  const struct {
    const char *file, *from, *to, *part;
  } cases[] = {
      {candidate, "tile_m=64", "tile_m=32", "template, parameters and bodies"},
      {candidate, "tile_m=64", "tile_m=65", "65"},
      {candidate, "\"ok\"", "\"good\"", "'good' is not a verdict"},
      {candidate, "\"kmajor\"", "\"xmajor\"", "no layout 'xmajor'"},
      {candidate, "\"sequence\"", "\"sequenze\"", "sequence"},
      {candidate, "\"us\": 0.3", "\"us\": -0.3", "time above 0"},
      {candidate, "\"estimate:a\"", "\"\"", "provenance"},
      {candidate, "{", "[", candidate},
      {records, "\"version\": \"3\"", "\"version\": \"4\"",
       "the version is '4', the template itself says '3'"},
      {records, "\"target\": \"gfx942\"", "\"target\": \"gfx950\"",
       "the target is 'gfx950'"},
      {records, "fp8_gemm_blockscale\"", "fp8_gemm_blockscala\"",
       "fp8_gemm_blockscal"},
      {text, "ret void", "ret  void", "the hash is"},
      {records, "\"kernel\"", "\"k\\\"*/\\u001b[2J\"", "rename it"},
      {records, "\"tile_m\"", "\"tile;m\"", "rename it"},
      {records, "\"stage_wide\"", "\"../../x\"", "rename it"},
      {records, "\"a b c\"", "\"a \\u202eb c\"", "rename it"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    MUST(ws_archive_export(s.archive, s.folder, s.ids, CANDIDATES, diag));
    forge(&s, cases[i].file, cases[i].from, cases[i].to);
    REFUSED(s, cases[i].part);
  }
  free_source(&s);
}

WS_TEST(bad_manifests) {
  source s = make_source();
  const struct {
    const char *text, *part;
  } cases[] = {
      {"", "manifest.json"},
      {"{}", "format"},
      {"{\"format\":\"x\",\"version\":1,\"files\":{}}", "the format is 'x'"},
      {"{\"format\":\"wavesmith-archive\",\"version\":2,\"files\":{}}",
       "version 2"},
      {"{\"format\":\"wavesmith-archive\",\"version\":1,\"files\":[]}",
       "not an object"},
      {"{\"format\":\"wavesmith-archive\",\"version\":1,\"files\":"
       "{\"../../etc/passwd\":\"00000000000000000000000000000000\"}}",
       "is not a path"},
      {"{\"format\":\"wavesmith-archive\",\"version\":1,\"files\":"
       "{\"/etc/passwd\":\"00000000000000000000000000000000\"}}",
       "is not a path"},
      {"{\"format\":\"wavesmith-archive\",\"version\":1,\"files\":"
       "{\"candidates/a.json\":\"0\"}}",
       "is not a path and hash"},
  };
  WS_CHECK(mkdir(s.folder, 0755) == 0);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    write_text(path_in(&s, "manifest.json"), cases[i].text);
    REFUSED(s, cases[i].part);
  }
  unlink(path_in(&s, "manifest.json"));
  REFUSED(s, "manifest.json");
  free_source(&s);
}
