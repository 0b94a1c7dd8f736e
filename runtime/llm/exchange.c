/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * exchange:DIR. Each question is a file DIR/NNNNNN-KIND.prompt.md, its answer
 * DIR/NNNNNN-KIND.reply.md, so that a person or a program can be the model.
 *
 * A reply counts once nobody has it open for writing (the kernel says so by
 * granting a read lease, where the file system has leases) and it has not
 * changed for a second. So `program <prompt >reply` works, although a rename is
 * the better way. A reply from before is taken at once, if the prompt file
 * beside it is the question that is asked; otherwise it answers something else
 * and is put aside.
 */
#include "provider.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double settle_ms = 1000;

typedef struct open_question {
  struct open_question *next;
  ws_arena *arena; /* holds the paths and this struct */
  const char *reply_path;
  int64_t sequence, prompt_bytes;
  double asked_ms;
  double seen_ms; /* since when the reply is as in `seen`; 0: none there */
  struct stat seen;
} open_question;

typedef struct exchange {
  ws_arena *arena;
  const char *folder;
  int64_t reply_bytes;
  open_question *first, **last;
} exchange;

static const char readme[] =
    "# An exchange folder of wavesmith\n\n"
    "wavesmith asks here, and whoever likes to be the model answers: a person, "
    "a\ncoding agent, a script.\n\n"
    "- `NNNNNN-KIND.prompt.md` is a question. It says all that is needed, and "
    "the\n  form of the answer.\n"
    "- Write the answer to `NNNNNN-KIND.reply.md`, best under another name "
    "that is\n  then renamed (`mv answer.tmp 000001-exploit.reply.md`). A "
    "reply counts when\n  it has not changed for a second.\n"
    "- A question without a reply file is still open. wavesmith waits for "
    "ever;\n  several may be open at once and the order does not matter.\n"
    "- Nothing here is deleted. A run that is started again with this folder "
    "finds\n  the replies that are there, and asks nothing twice.\n";

/* ---- life ---- */
static ws_status write_readme(const char *folder, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  const char *path = ws_arena_printf(arena, "%s/README.md", folder);
  ws_status status = WS_OK;
  if (!ws_file_exists(path))
    status = ws_file_write_atomic(path, readme, sizeof readme - 1, diag);
  ws_arena_destroy(arena);
  return status;
}

static ws_status create(const ws__spec *spec, const ws_llm_options *options,
                        void **out_state, ws_diag *diag) {
  *out_state = NULL;
  WS_TRY(ws_make_directories(spec->path, diag));
  WS_TRY(write_readme(spec->path, diag));
  ws_arena *arena = ws_arena_create();
  exchange *state = ws_arena_alloc(arena, sizeof *state);
  state->arena = arena;
  state->folder = ws_arena_strdup(arena, spec->path);
  state->reply_bytes = options->reply_bytes;
  state->last = &state->first;
  *out_state = state;
  return WS_OK;
}

static void destroy(void *opaque) {
  exchange *state = opaque;
  if (!state)
    return;
  for (open_question *q = state->first, *next; q; q = next) {
    next = q->next;
    ws_arena_destroy(q->arena);
  }
  ws_arena_destroy(state->arena);
}

/* ---- asking ---- */
static char *prompt_text(ws_arena *arena, const ws_llm_question *question,
                         const char *reply_name) {
  return ws_arena_printf(
      arena,
      "<!-- wavesmith, question %lld, kind %s. The answer goes into %s. -->\n\n"
      "# System\n\n%s\n\n# Question\n\n%s\n",
      (long long)question->sequence, ws_request_text(question->kind),
      reply_name, question->system, question->user);
}

/* False also when there is no such file. */
static bool holds(ws_arena *arena, const char *path, const char *text) {
  char *data;
  size_t size;
  return ws_file_exists(path) &&
         ws_file_read(arena, path, &data, &size, NULL) == WS_OK &&
         size == strlen(text) && !memcmp(data, text, size);
}

/* The reply to another prompt keeps its text under another name. */
static ws_status put_aside(ws_arena *arena, const char *path, ws_diag *diag) {
  const char *aside = NULL;
  for (int number = 1; !aside || ws_file_exists(aside); number++)
    aside = ws_arena_printf(arena, "%s.old-%d", path, number);
  if (rename(path, aside) != 0)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "answers an earlier prompt and cannot be renamed: %s",
                   strerror(errno));
  ws_log(WS_LOG_WARN, "%s answers an earlier prompt; it is now %s", path,
         aside);
  return WS_OK;
}

static ws_status write_prompt(open_question *q, const char *path,
                              const char *text, ws_diag *diag) {
  if (holds(q->arena, path, text))
    return WS_OK;
  if (ws_file_exists(path) && ws_file_exists(q->reply_path))
    WS_TRY(put_aside(q->arena, q->reply_path, diag));
  return ws_file_write_atomic(path, text, strlen(text), diag);
}

static ws_status ask(void *opaque, const ws_llm_question *question,
                     ws_diag *diag) {
  exchange *state = opaque;
  ws_arena *arena = ws_arena_create();
  open_question *q = ws_arena_alloc(arena, sizeof *q);
  const char *name =
      ws_arena_printf(arena, "%06lld-%s", (long long)question->sequence,
                      ws_request_text(question->kind));
  const char *reply_name = ws_arena_printf(arena, "%s.reply.md", name);
  *q = (open_question){
      .arena = arena,
      .reply_path = ws_arena_printf(arena, "%s/%s", state->folder, reply_name),
      .sequence = question->sequence,
      .prompt_bytes =
          (int64_t)(strlen(question->system) + strlen(question->user)),
      .asked_ms = ws_clock_ms()};
  ws_status status = write_prompt(
      q, ws_arena_printf(arena, "%s/%s.prompt.md", state->folder, name),
      prompt_text(arena, question, reply_name), diag);
  if (status != WS_OK) {
    ws_arena_destroy(arena);
    return status;
  }
  *state->last = q;
  state->last = &q->next;
  return WS_OK;
}

/* ---- answers ---- */
/* Whether someone has the file open for writing. Where leases do not work it
 * says no. Should a writer come while we hold the lease, the signal is one that
 * is ignored unless asked for. */
static bool is_being_written(int descriptor) {
  if (fcntl(descriptor, F_SETSIG, SIGURG) != 0)
    return false;
  if (fcntl(descriptor, F_SETLEASE, F_RDLCK) != 0)
    return errno == EAGAIN;
  fcntl(descriptor, F_SETLEASE, F_UNLCK);
  return false;
}

static bool same_state(const struct stat *a, const struct stat *b) {
  return a->st_ino == b->st_ino && a->st_size == b->st_size &&
         a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
         a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* How long ago the file changed by its own time; clocks may differ. */
static double age_ms(const struct stat *state) {
  return (double)ws_clock_unix_ms() - (double)state->st_mtim.tv_sec * 1e3 -
         (double)state->st_mtim.tv_nsec / 1e6;
}

static bool has_settled(open_question *q, const struct stat *state) {
  double now = ws_clock_ms();
  if (!q->seen_ms || !same_state(&q->seen, state)) {
    q->seen = *state;
    q->seen_ms = now;
  }
  return now - q->seen_ms >= settle_ms || age_ms(state) >= settle_ms;
}

/* The text, or NULL with *out_error set. */
static char *read_text(ws_arena *arena, int descriptor, size_t size,
                       const char **out_error) {
  char *text = ws_arena_alloc(arena, size + 1);
  size_t used = 0;
  ssize_t got = 1;
  while (used < size && got > 0) {
    got = read(descriptor, text + used, size - used);
    if (got < 0 && errno == EINTR)
      got = 1;
    else if (got > 0)
      used += (size_t)got;
  }
  if (got < 0)
    *out_error = ws_arena_printf(arena, "cannot read the reply file: %s",
                                 strerror(errno));
  else if (memchr(text, '\0', used))
    *out_error = "the reply file holds a NUL byte; it must be text";
  return **out_error ? NULL : text;
}

static bool is_blank(const char *text) {
  return !text[strspn(text, " \t\r\n")];
}

static char *judge_file(const exchange *state, ws_arena *arena, int descriptor,
                        const struct stat *file, const char **out_error) {
  if (file->st_size > state->reply_bytes) {
    *out_error = ws_arena_printf(
        arena, "the reply file has %lld bytes; the limit is %lld",
        (long long)file->st_size, (long long)state->reply_bytes);
    return NULL;
  }
  char *text = read_text(arena, descriptor, (size_t)file->st_size, out_error);
  if (text && is_blank(text))
    *out_error = "empty reply";
  return **out_error ? NULL : text;
}

static void fill_answer(const open_question *q, const char *text,
                        const char *error, ws_llm_answer *out) {
  *out = (ws_llm_answer){.sequence = q->sequence,
                         .text = text ? text : "",
                         .error = error,
                         .prompt_tokens = q->prompt_bytes / 4,
                         .reply_tokens = text ? (int64_t)strlen(text) / 4 : 0,
                         .seconds = (ws_clock_ms() - q->asked_ms) / 1e3,
                         .attempts = 1};
}

/* True when the question is answered. */
static bool look_for_reply(const exchange *state, open_question *q,
                           ws_arena *arena, ws_llm_answer *out) {
  struct stat file;
  const char *error = "";
  char *text = NULL;
  int descriptor = open(q->reply_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0 && errno == ENOENT)
    return false;
  if (descriptor < 0) {
    error = ws_arena_printf(arena, "cannot open the reply file: %s",
                            strerror(errno));
  } else if (fstat(descriptor, &file) != 0 || !S_ISREG(file.st_mode)) {
    error = "the reply is not a regular file";
  } else if (!has_settled(q, &file) || is_being_written(descriptor)) {
    close(descriptor);
    return false;
  } else {
    text = judge_file(state, arena, descriptor, &file, &error);
  }
  if (descriptor >= 0)
    close(descriptor);
  fill_answer(q, text, error, out);
  return true;
}

static ws_status take(void *opaque, ws_arena *arena, bool *out_found,
                      ws_llm_answer *out_answer, ws_diag *diag) {
  exchange *state = opaque;
  (void)diag;
  *out_found = false;
  for (open_question **link = &state->first; *link; link = &(*link)->next) {
    open_question *q = *link;
    if (!look_for_reply(state, q, arena, out_answer))
      continue;
    *link = q->next;
    if (state->last == &q->next)
      state->last = link;
    ws_arena_destroy(q->arena);
    *out_found = true;
    return WS_OK;
  }
  return WS_OK;
}

const ws__provider ws__provider_exchange = {
    .name = "exchange",
    .purpose = "each prompt is a file in a folder, the answer is a file",
    .create = create,
    .destroy = destroy,
    .ask = ask,
    .take = take};
