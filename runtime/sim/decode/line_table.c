/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The line table through comgr's symbolizer, which answers in words:
 *   read8 at /tmp/kernel.hip:32:18
 *    (inlined by) gemm at /tmp/kernel.hip:60:16
 * The first line is the innermost inlined function. About a microsecond per
 * address, so all are asked for at once.
 *
 * LLVM's DWARF reader dies of some malformed tables, and says on stderr what
 * it finds wrong with others. So a child process asks, and answers through a
 * pipe with one line of text per instruction: line and column, tab, region,
 * tab, file; "=" for the same again. A child that dies means: no line table.
 */
#include "line_table.h"

#include <amd_comgr/amd_comgr.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_SECONDS = 20 };

/* ---- in the child ----------------------------------------------------------
 */

typedef struct reader {
  ws_strbuf answer, line, before;
} reader;

/* Last place of " at ": a demangled name may have another. */
static const char *find_place(const char *text, const char *end) {
  for (const char *at = end - 4; at > text; at--)
    if (!memcmp(at, " at ", 4))
      return at;
  return NULL;
}

/* The text up to its last colon; the number behind it goes to *out. */
static const char *cut_number(const char *text, const char *end, int *out) {
  const char *colon = end;
  while (colon > text && *--colon != ':')
    ;
  *out = colon > text ? (int)strtol(colon + 1, NULL, 10) : 0;
  return colon;
}

static void read_line(const char *text, void *user_data) {
  reader *in = user_data;
  const char *end = text + strcspn(text, "\n");
  const char *at = end - text >= 4 ? find_place(text, end) : NULL;
  int column, number;
  if (!at || !strncmp(text, "??", 2))
    return;
  const char *file = at + strlen(" at ");
  end = cut_number(file, end, &column);
  end = cut_number(file, end, &number);
  if (!strncmp(file, "??", 2))
    end = file;
  in->line.size = 0;
  ws_strbuf_printf(&in->line, "%d %d\t%.*s\t%.*s", number, column,
                   (int)(at - text), text, (int)(end - file), file);
}

static void append_answer(reader *in) {
  if (!strcmp(in->line.data, in->before.data))
    ws_strbuf_puts(&in->answer, "=\n");
  else
    ws_strbuf_printf(&in->answer, "%s\n", in->line.data);
  in->before.size = 0;
  ws_strbuf_puts(&in->before, in->line.data);
}

static bool ask_all(const ws_line_source *source, reader *in) {
  amd_comgr_data_t data;
  amd_comgr_symbolizer_info_t info;
  if (amd_comgr_create_data(AMD_COMGR_DATA_KIND_EXECUTABLE, &data) ||
      amd_comgr_set_data(data, source->size, source->image) ||
      amd_comgr_create_symbolizer_info(data, read_line, &info))
    return false;
  for (uint32_t i = 0; i < source->text->count; i++) {
    uint32_t offset = source->text->items[i].offset;
    in->line.size = 0;
    ws_strbuf_puts(&in->line, "0 0\t\t");
    if (offset < source->text->size)
      (void)!amd_comgr_symbolize(info, source->text_address + offset, true, in);
    append_answer(in);
  }
  return true;
}

static void write_all(int pipe_end, const char *data, size_t size) {
  while (size) {
    ssize_t done = write(pipe_end, data, size);
    if (done < 0 && errno != EINTR)
      _exit(1);
    data += done > 0 ? done : 0;
    size -= done > 0 ? (size_t)done : 0;
  }
}

/* The host's handlers are not for this child's death. */
static void be_quiet(void) {
  static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGILL,
                              SIGFPE,  SIGPIPE, SIGALRM};
  int nowhere = open("/dev/null", O_WRONLY);
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    signal(fatal[i], SIG_DFL);
  if (nowhere >= 0)
    dup2(nowhere, STDERR_FILENO);
  alarm(CHILD_SECONDS);
}

static void run_child(const ws_line_source *source, int pipe_end) {
  reader in;
  be_quiet();
  ws_strbuf_init(&in.answer);
  ws_strbuf_init(&in.line);
  ws_strbuf_init(&in.before);
  if (!ask_all(source, &in))
    _exit(1);
  write_all(pipe_end, in.answer.data, in.answer.size);
  _exit(0);
}

/* ---- in the parent ---------------------------------------------------------
 */

static bool ask_child(const ws_line_source *source, ws_strbuf *answer) {
  int ends[2], status = 0;
  char bytes[4096];
  if (pipe2(ends, O_CLOEXEC))
    return false;
  pid_t child = fork();
  if (child == 0)
    run_child(source, ends[1]);
  close(ends[1]);
  for (ssize_t got = 1; child > 0 && got;) {
    got = read(ends[0], bytes, sizeof bytes);
    if (got > 0)
      ws_strbuf_append(answer, bytes, (size_t)got);
    else if (got < 0 && errno != EINTR)
      break;
  }
  close(ends[0]);
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* One line of the answer: "=" or line and column, region, file. */
static ws_line read_answer(ws_arena *arena, const char *text, size_t size,
                           ws_line before) {
  if (size == 1 && *text == '=')
    return before;
  const char *end = text + size;
  const char *region = memchr(text, '\t', size);
  const char *file =
      region ? memchr(region + 1, '\t', (size_t)(end - region - 1)) : NULL;
  if (!file)
    return (ws_line){"", "", 0, 0};
  char *column;
  const int line = (int)strtol(text, &column, 10);
  return (ws_line){
      ws_arena_strndup(arena, region + 1, (size_t)(file - region - 1)),
      ws_arena_strndup(arena, file + 1, (size_t)(end - file - 1)), line,
      (int)strtol(column, NULL, 10)};
}

ws_line *ws__read_lines(ws_arena *arena, const ws_line_source *source) {
  ws_strbuf answer;
  ws_line *lines = NULL, before = {"", "", 0, 0};
  ws_strbuf_init(&answer);
  if (ask_child(source, &answer)) {
    const char *at = answer.data;
    lines = ws_arena_alloc(arena, source->text->count * sizeof *lines);
    for (uint32_t i = 0; i < source->text->count; i++) {
      size_t size = strcspn(at, "\n");
      lines[i] = before = read_answer(arena, at, size, before);
      at += size + (at[size] == '\n');
    }
  } else {
    ws_log(WS_LOG_WARN, "the code object's line table cannot be read");
  }
  ws_strbuf_deinit(&answer);
  return lines;
}
