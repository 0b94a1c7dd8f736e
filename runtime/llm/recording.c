/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Recordings: a header line, then one line of JSON per question, in order of
 * sequence. Reading is strict, because a run is only repeated exactly if
 * nothing is guessed: no unknown key, no missing one, no value out of range,
 * no sequence twice. Every refusal names file and line.
 */
#include "recording.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBER_MAX = 256, VERSION = 1 };

/* One line, and where it stands. */
typedef struct line_reading {
  ws_arena *arena;
  const char *file;
  int line;
  char where[512]; /* "file:line", for the getters */
  ws_diag *diag;
} line_reading;

#define FAIL(reading, ...)                                                     \
  ws_fail((reading)->diag, WS_INPUT, (reading)->file, (reading)->line,         \
          __VA_ARGS__)

static const char *const header_keys[] = {"wavesmith_recording", "members",
                                          NULL};
static const char *const member_keys[] = {"name", "weight", "usd_in", "usd_out",
                                          NULL};
static const char *const item_keys[] = {
    "sequence", "kind",    "member",        "prompt_hash",
    "reply",    "error",   "prompt_tokens", "reply_tokens",
    "usd",      "seconds", "system",        "user",
    NULL};

/* Each key is known and there once. */
static ws_status check_keys(line_reading *r, const cJSON *object,
                            const char *const *known) {
  unsigned seen = 0;
  const cJSON *member;
  cJSON_ArrayForEach(member, object) {
    int i = 0;
    while (known[i] && strcmp(known[i], member->string))
      i++;
    if (!known[i])
      return FAIL(r, "unknown key '%.60s'", member->string);
    if (seen & 1u << i)
      return FAIL(r, "'%s' is there twice", known[i]);
    seen |= 1u << i;
  }
  return WS_OK;
}

/* ---- values ---- */
static ws_status get_text(line_reading *r, const cJSON *object, const char *key,
                          const char **out) {
  WS_TRY(ws_json_get_string(object, key, r->where, out, r->diag));
  *out = ws_arena_strdup(r->arena, *out);
  return WS_OK;
}

/* NULL when it is left out. */
static ws_status get_optional_text(line_reading *r, const cJSON *object,
                                   const char *key, const char **out) {
  *out = NULL;
  return cJSON_HasObjectItem(object, key) ? get_text(r, object, key, out)
                                          : WS_OK;
}

static ws_status get_count(line_reading *r, const cJSON *object,
                           const char *key, int64_t *out) {
  WS_TRY(ws_json_get_int(object, key, r->where, out, r->diag));
  return *out < 0 ? FAIL(r, "'%s' must not be negative", key) : WS_OK;
}

static ws_status get_amount(line_reading *r, const cJSON *object,
                            const char *key, double *out) {
  WS_TRY(ws_json_get_double(object, key, r->where, out, r->diag));
  return *out < 0 ? FAIL(r, "'%s' must not be negative", key) : WS_OK;
}

/* ---- header ---- */
static ws_status get_price(line_reading *r, const cJSON *object,
                           const char *key, double *out) {
  *out = -1;
  return cJSON_HasObjectItem(object, key) ? get_amount(r, object, key, out)
                                          : WS_OK;
}

static ws_status read_member(line_reading *r, const cJSON *json,
                             ws_llm_member *out) {
  if (!cJSON_IsObject(json))
    return FAIL(r, "a member must be an object");
  WS_TRY(check_keys(r, json, member_keys));
  WS_TRY(get_text(r, json, "name", &out->name));
  if (!*out->name)
    return FAIL(r, "a member's name is empty");
  WS_TRY(ws_json_get_double(json, "weight", r->where, &out->weight, r->diag));
  if (!(out->weight > 0))
    return FAIL(r, "the weight of '%s' must be above 0", out->name);
  WS_TRY(get_price(r, json, "usd_in", &out->usd_in));
  return get_price(r, json, "usd_out", &out->usd_out);
}

static ws_status read_header(line_reading *r, const cJSON *json,
                             ws_recording *out) {
  int64_t version;
  const cJSON *array, *entry;
  if (!cJSON_HasObjectItem(json, header_keys[0]))
    return FAIL(r, "not a recording of wavesmith: the first line lacks "
                   "\"wavesmith_recording\":1");
  WS_TRY(check_keys(r, json, header_keys));
  WS_TRY(ws_json_get_int(json, header_keys[0], r->where, &version, r->diag));
  if (version != VERSION)
    return FAIL(r, "a recording of version %lld; this program reads version %d",
                (long long)version, VERSION);
  WS_TRY(ws_json_get_array(json, "members", r->where, &array, r->diag));
  int count = cJSON_GetArraySize(array);
  if (count < 1 || count > MEMBER_MAX)
    return FAIL(r, "%d members; a recording has 1 to %d", count, MEMBER_MAX);
  ws_llm_member *members =
      ws_arena_alloc(r->arena, sizeof *members * (size_t)count);
  out->members = members;
  cJSON_ArrayForEach(entry, array)
      WS_TRY(read_member(r, entry, &members[out->member_count++]));
  return WS_OK;
}

/* ---- items ---- */
static ws_status check_hash(line_reading *r, const char *hash) {
  size_t digits = strspn(hash, "0123456789abcdef");
  if (digits != sizeof(ws_hash) - 1 || hash[digits])
    return FAIL(r, "'prompt_hash' must be %zu lower-case hexadecimal digits",
                sizeof(ws_hash) - 1);
  return WS_OK;
}

static ws_status read_usage(line_reading *r, const cJSON *json,
                            ws_recorded *out) {
  WS_TRY(get_count(r, json, "prompt_tokens", &out->prompt_tokens));
  WS_TRY(get_count(r, json, "reply_tokens", &out->reply_tokens));
  WS_TRY(get_amount(r, json, "usd", &out->usd));
  return get_amount(r, json, "seconds", &out->seconds);
}

static ws_status read_item(line_reading *r, const cJSON *json,
                           const ws_recording *recording, ws_recorded *out) {
  ws_request_kind kind;
  int64_t member;
  WS_TRY(check_keys(r, json, item_keys));
  WS_TRY(get_count(r, json, "sequence", &out->sequence));
  WS_TRY(get_text(r, json, "kind", &out->kind));
  if (!ws_request_parse(out->kind, &kind))
    return FAIL(r, "unknown kind '%.40s'", out->kind);
  WS_TRY(get_count(r, json, "member", &member));
  if (member >= recording->member_count)
    return FAIL(r, "member %lld, but the first line names %d, from 0",
                (long long)member, recording->member_count);
  out->member = (int)member;
  WS_TRY(get_text(r, json, "prompt_hash", &out->prompt_hash));
  WS_TRY(check_hash(r, out->prompt_hash));
  WS_TRY(get_text(r, json, "reply", &out->reply));
  WS_TRY(get_text(r, json, "error", &out->error));
  WS_TRY(get_optional_text(r, json, "system", &out->system));
  WS_TRY(get_optional_text(r, json, "user", &out->user));
  return read_usage(r, json, out);
}

static ws_status check_order(line_reading *r, const ws_recording *recording,
                             const ws_recorded *item) {
  if (recording->count == 0)
    return WS_OK;
  int64_t before = recording->items[recording->count - 1].sequence;
  if (item->sequence <= before)
    return FAIL(r, "sequence %lld after %lld; they must ascend",
                (long long)item->sequence, (long long)before);
  return WS_OK;
}

/* ---- lines ---- */
static ws_status read_object(line_reading *r, ws_recording *recording,
                             ws_recorded *items, const cJSON *json) {
  if (!cJSON_IsObject(json))
    return FAIL(r, "not a JSON object");
  if (r->line == 1)
    return read_header(r, json, recording);
  ws_recorded *item = &items[recording->count];
  WS_TRY(read_item(r, json, recording, item));
  WS_TRY(check_order(r, recording, item));
  recording->count++;
  return WS_OK;
}

static ws_status read_line(line_reading *r, ws_recording *recording,
                           ws_recorded *items, const char *text, size_t size) {
  ws_diag fault;
  snprintf(r->where, sizeof r->where, "%s:%d", r->file, r->line);
  cJSON *json = ws_json_parse(text, size, r->where, &fault);
  if (!json)
    return FAIL(r, "not one JSON object");
  ws_status status = read_object(r, recording, items, json);
  cJSON_Delete(json);
  return status;
}

static int count_lines(const char *text, size_t size) {
  int lines = 0;
  for (const char *end = text + size; text < end; lines++) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    text = newline ? newline + 1 : end;
  }
  return lines;
}

ws_status ws__recording_parse(ws_arena *arena, const char *text, size_t size,
                              const char *name, ws_recording *out_recording,
                              ws_diag *diag) {
  line_reading r = {.arena = arena, .file = name, .line = 1, .diag = diag};
  *out_recording = (ws_recording){0};
  int lines = count_lines(text, size);
  if (lines == 0)
    return FAIL(&r, "an empty file is no recording");
  ws_recorded *items = ws_arena_alloc(arena, sizeof *items * (size_t)lines);
  out_recording->items = items;
  for (const char *end = text + size; text < end; r.line++) {
    const char *newline = memchr(text, '\n', (size_t)(end - text));
    const char *stop = newline ? newline : end;
    WS_TRY(read_line(&r, out_recording, items, text, (size_t)(stop - text)));
    text = newline ? newline + 1 : end;
  }
  return WS_OK;
}

ws_status ws_recording_read(ws_arena *arena, const char *path,
                            ws_recording *out_recording, ws_diag *diag) {
  ws_arena *scratch = ws_arena_create();
  char *text;
  size_t size;
  *out_recording = (ws_recording){0};
  ws_status status = ws_file_read(scratch, path, &text, &size, diag);
  if (status == WS_OK)
    status = ws__recording_parse(arena, text, size, path, out_recording, diag);
  ws_arena_destroy(scratch);
  return status;
}

const ws_recorded *ws__recording_find(const ws_recording *recording,
                                      int64_t sequence) {
  int low = 0, high = recording->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (recording->items[middle].sequence < sequence)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == recording->count || recording->items[low].sequence != sequence)
    return NULL;
  return &recording->items[low];
}

/* ---- writing ---- */
/* The shortest digits that read back as the same number; cJSON's own may lose
 * the last bit. */
static void add_number(cJSON *object, const char *key, double value) {
  char text[40];
  int digits = 14;
  do
    snprintf(text, sizeof text, "%.*g", ++digits, value);
  while (digits < 17 && strtod(text, NULL) != value);
  cJSON_AddRawToObject(object, key, text);
}

static void print_object(ws_strbuf *out, cJSON *owned_json) {
  char *text = cJSON_PrintUnformatted(owned_json);
  WS_ASSERT(text);
  ws_strbuf_puts(out, text);
  ws_strbuf_puts(out, "\n");
  cJSON_free(text);
  cJSON_Delete(owned_json);
}

static cJSON *header_json(const ws_recording *recording) {
  cJSON *json = cJSON_CreateObject();
  add_number(json, header_keys[0], VERSION);
  cJSON *members = cJSON_AddArrayToObject(json, "members");
  for (int i = 0; i < recording->member_count; i++) {
    const ws_llm_member *member = &recording->members[i];
    cJSON *entry = cJSON_CreateObject();
    cJSON_AddStringToObject(entry, "name", member->name);
    add_number(entry, "weight", member->weight);
    if (member->usd_in >= 0)
      add_number(entry, "usd_in", member->usd_in);
    if (member->usd_out >= 0)
      add_number(entry, "usd_out", member->usd_out);
    cJSON_AddItemToArray(members, entry);
  }
  return json;
}

static cJSON *item_json(const ws_recorded *item) {
  cJSON *json = cJSON_CreateObject();
  add_number(json, "sequence", (double)item->sequence);
  cJSON_AddStringToObject(json, "kind", item->kind);
  add_number(json, "member", item->member);
  cJSON_AddStringToObject(json, "prompt_hash", item->prompt_hash);
  if (item->system)
    cJSON_AddStringToObject(json, "system", item->system);
  if (item->user)
    cJSON_AddStringToObject(json, "user", item->user);
  cJSON_AddStringToObject(json, "reply", item->reply);
  cJSON_AddStringToObject(json, "error", item->error);
  add_number(json, "prompt_tokens", (double)item->prompt_tokens);
  add_number(json, "reply_tokens", (double)item->reply_tokens);
  add_number(json, "usd", item->usd);
  add_number(json, "seconds", item->seconds);
  return json;
}

ws_status ws__recording_print(ws_strbuf *out, const ws_recording *recording,
                              ws_diag *diag) {
  print_object(out, header_json(recording));
  for (int i = 0; i < recording->count; i++) {
    const ws_recorded *item = &recording->items[i];
    if (i > 0 && item->sequence <= item[-1].sequence)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "a recording needs ascending sequences, but %lld comes "
                     "after %lld; is it of one run?",
                     (long long)item->sequence, (long long)item[-1].sequence);
    print_object(out, item_json(item));
  }
  return WS_OK;
}

ws_status ws_recording_write(const char *path, const ws_recording *recording,
                             ws_diag *diag) {
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_status status = ws__recording_print(&text, recording, diag);
  if (status == WS_OK)
    status = ws_file_write_atomic(path, text.data, text.size, diag);
  ws_strbuf_deinit(&text);
  return status;
}

ws_hash ws_llm_prompt_hash(const char *system, const char *user) {
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update_text(hasher, system);
  ws_hasher_update_text(hasher, user);
  return ws_hasher_finish(hasher);
}
