/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Replays: a strict one finds questions by their sequence and compares kind,
 * member and the prompt's hash, and says in one line where the run has left the
 * recording: if the recording holds the prompts too, the first line that
 * differs.
 */
#include "replay.h"
#include "recording.h"

#include <string.h>

struct ws__replay {
  const char *path;
  ws_recording recording;
  bool strict;
};

ws_status ws__replay_open(ws_arena *arena, const char *path, bool strict,
                          ws__replay **out_replay, ws_diag *diag) {
  ws__replay *replay = ws_arena_alloc(arena, sizeof *replay);
  *replay =
      (ws__replay){.path = ws_arena_strdup(arena, path), .strict = strict};
  *out_replay = NULL;
  WS_TRY(ws_recording_read(arena, path, &replay->recording, diag));
  *out_replay = replay;
  return WS_OK;
}

const ws_recording *ws__replay_recording(const ws__replay *replay) {
  return &replay->recording;
}

/* ---- what differs ---- */
typedef struct difference {
  int line;
  const char *recorded, *now; /* the lines from their beginning */
  int recorded_size, now_size;
} difference;

enum { SHOWN_BYTES = 80 };

static int line_size(const char *text) { return (int)strcspn(text, "\n"); }

static int shown_size(int size) {
  return size < SHOWN_BYTES ? size : SHOWN_BYTES;
}

/* False when the texts are equal. */
static bool first_difference(const char *recorded, const char *now,
                             difference *out) {
  for (int line = 1;; line++) {
    int recorded_size = line_size(recorded), now_size = line_size(now);
    if (recorded_size != now_size || memcmp(recorded, now, (size_t)now_size) ||
        recorded[recorded_size] != now[now_size]) {
      *out = (difference){line, recorded, now, recorded_size, now_size};
      return true;
    }
    if (!now[now_size])
      return false;
    recorded += recorded_size + 1;
    now += now_size + 1;
  }
}

/* Shows the lines from a little before the first byte that differs. */
static ws_status fail_line(const ws__replay *replay,
                           const ws_llm_question *question, const char *part,
                           difference d, ws_diag *diag) {
  int same = 0;
  while (same < d.recorded_size && same < d.now_size &&
         d.recorded[same] == d.now[same])
    same++;
  int skipped = same > SHOWN_BYTES / 2 ? same - SHOWN_BYTES / 4 : 0;
  const char *dots = skipped ? "..." : "";
  return ws_fail(diag, WS_INPUT, replay->path, 0,
                 "sequence %lld (%s): the %s part of the prompt differs from "
                 "the recorded one, first in line %d: recorded \"%s%.*s\", now "
                 "\"%s%.*s\"",
                 (long long)question->sequence, ws_request_text(question->kind),
                 part, d.line, dots, shown_size(d.recorded_size - skipped),
                 d.recorded + skipped, dots, shown_size(d.now_size - skipped),
                 d.now + skipped);
}

static ws_status fail_prompt(const ws__replay *replay,
                             const ws_llm_question *question,
                             const ws_recorded *item, ws_diag *diag) {
  difference d;
  if (item->system && first_difference(item->system, question->system, &d))
    return fail_line(replay, question, "system", d, diag);
  if (item->user && first_difference(item->user, question->user, &d))
    return fail_line(replay, question, "user", d, diag);
  return ws_fail(diag, WS_INPUT, replay->path, 0,
                 "sequence %lld (%s): the prompt is not the recorded one (hash "
                 "%.8s); other settings or another version? replay-any: takes "
                 "it as it is",
                 (long long)question->sequence, ws_request_text(question->kind),
                 item->prompt_hash);
}

/* ---- answers ---- */
static const char *name_of(const ws__replay *replay, int member) {
  return replay->recording.members[member].name;
}

static ws_status check_same(const ws__replay *replay, int member,
                            const ws_llm_question *question,
                            const ws_recorded *item, ws_diag *diag) {
  const char *kind = ws_request_text(question->kind);
  long long sequence = (long long)question->sequence;
  if (strcmp(kind, item->kind))
    return ws_fail(diag, WS_INPUT, replay->path, 0,
                   "sequence %lld: recorded is a question of kind %s, asked is "
                   "%s; the run has left the recording",
                   sequence, item->kind, kind);
  if (member != item->member)
    return ws_fail(diag, WS_INPUT, replay->path, 0,
                   "sequence %lld (%s): recorded is an answer of %s, asked is "
                   "%s; the run has left the recording",
                   sequence, kind, name_of(replay, item->member),
                   name_of(replay, member));
  ws_hash hash = ws_llm_prompt_hash(question->system, question->user);
  return strcmp(hash.hex, item->prompt_hash)
             ? fail_prompt(replay, question, item, diag)
             : WS_OK;
}

/* Why there is no such question, in one line. */
static ws_status fail_missing(const ws__replay *replay, ws_request_kind kind,
                              int64_t sequence, ws_diag *diag) {
  const ws_recording *recording = &replay->recording;
  if (!replay->strict)
    return ws_fail(
        diag, WS_INPUT, replay->path, 0,
        "the recording ends after answer %d; sequence %lld (%s) was asked",
        recording->count, (long long)sequence, ws_request_text(kind));
  const char *text = ws_request_text(kind);
  if (recording->count == 0)
    return ws_fail(
        diag, WS_INPUT, replay->path, 0,
        "the recording holds no answer; sequence %lld (%s) was asked",
        (long long)sequence, text);
  int64_t last = recording->items[recording->count - 1].sequence;
  if (sequence > last)
    return ws_fail(diag, WS_INPUT, replay->path, 0,
                   "the recording ends at %lld; sequence %lld (%s) was asked",
                   (long long)last, (long long)sequence, text);
  return ws_fail(diag, WS_INPUT, replay->path, 0,
                 "sequence %lld (%s) is not in the recording",
                 (long long)sequence, text);
}

ws_status ws__replay_check(const ws__replay *replay, int member,
                           const ws_llm_question *question, ws_diag *diag) {
  if (!replay->strict)
    return WS_OK;
  const ws_recorded *item =
      ws__recording_find(&replay->recording, question->sequence);
  return item ? check_same(replay, member, question, item, diag)
              : fail_missing(replay, question->kind, question->sequence, diag);
}

ws_llm_answer ws__replay_answer(const ws__replay *replay, ws_arena *arena,
                                ws_request_kind kind, int64_t sequence,
                                int64_t ordinal) {
  const ws_recording *recording = &replay->recording;
  const ws_recorded *item =
      replay->strict               ? ws__recording_find(recording, sequence)
      : ordinal < recording->count ? &recording->items[ordinal]
                                   : NULL;
  if (!item) {
    ws_diag missing = {""};
    (void)!fail_missing(replay, kind, sequence, &missing);
    return (ws_llm_answer){.text = "",
                           .error = ws_arena_strdup(arena, missing.text)};
  }
  return (ws_llm_answer){.text = ws_arena_strdup(arena, item->reply),
                         .error = ws_arena_strdup(arena, item->error),
                         .prompt_tokens = item->prompt_tokens,
                         .reply_tokens = item->reply_tokens,
                         .usd = item->usd,
                         .seconds = item->seconds,
                         .attempts = 1};
}
