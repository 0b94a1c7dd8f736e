/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Every cheat of the folder along the whole path: it must be caught, where its
 * header says. And once more with that guard off: the header says who is next.
 *   test_cheats FOLDER [--first] [--quick] [--table] [NAME ...]
 * --first leaves out the second go, --quick takes the cheats of tier quick,
 * --table prints the headers as rows for docs/cheats.md instead. Half of the
 * cheats go to a second process with servers of its own.
 */
#include "cheat.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_CHEATS = 256, PROCESSES = 2 };

typedef struct options {
  const char *folder;
  bool first_only, quick, table;
  const char *const *names;
  int name_count;
} options;

static bool has_detail(const outcome *out, const char *detail) {
  if (strstr(out->reason, detail))
    return true;
  for (int i = 0; i < out->finding_count; i++)
    if (!strcmp(out->findings[i].id, detail))
      return true;
  return false;
}

static bool is_as_expected(const outcome *out, const expectation *wanted) {
  if (!strcmp(wanted->stage, "ok") || !strcmp(wanted->stage, "disarmed"))
    return !strcmp(out->stage, "ok");
  return !strcmp(out->stage, wanted->stage) &&
         !strcmp(out->verdict, wanted->verdict) &&
         has_detail(out, wanted->detail);
}

static bool report(const cheat *tried, const char *guard, const outcome *out,
                   const expectation *wanted) {
  if (has_detail(out, "mlir-missing")) {
    printf("ok - %s # SKIP no MLIR in this build\n", tried->name);
    return true;
  }
  bool good = is_as_expected(out, wanted);
  printf("%sok - %s%s: %s %s, %.0f ms\n", good ? "" : "not ", tried->name,
         guard, out->stage, out->verdict, out->ms);
  if (!good)
    printf("# wanted %s %s %s\n# got %s: %s\n", wanted->stage, wanted->verdict,
           wanted->detail, out->finding_count ? out->findings[0].id : "",
           out->reason);
  return good;
}

static bool try_one(cheat_path *path, const options *o, const cheat *tried) {
  ws_arena *arena = ws_arena_create();
  const cheat replied = cheat_through_reply(arena, tried);
  outcome out = cheat_try(path, arena, &replied, NULL);
  bool good = report(tried, "", &out, &tried->caught);
  if (*tried->then.stage && !o->first_only) {
    out = cheat_try(path, arena, tried, tried->caught.stage);
    const char *guard =
        ws_arena_printf(arena, ", without %s", tried->caught.stage);
    good &= report(tried, guard, &out, &tried->then);
  }
  fflush(stdout);
  ws_arena_destroy(arena);
  return good;
}

static bool is_wanted(const options *o, const cheat *tried) {
  if (o->quick && !tried->quick)
    return false;
  for (int i = 0; i < o->name_count; i++)
    if (!strcmp(o->names[i], tried->name))
      return true;
  return o->name_count == 0;
}

static int select_cheat(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

static int read_all(ws_arena *arena, const options *o, const cheat **out) {
  const char *root = getenv("WS_SOURCE_DIR");
  struct dirent **entries;
  int count = 0, found = scandir(o->folder, &entries, select_cheat, alphasort);
  for (int i = 0; i < found; i++) {
    const cheat *read =
        cheat_read(arena, root ? root : ".", o->folder, entries[i]->d_name);
    if (count < MAX_CHEATS && is_wanted(o, read))
      out[count++] = read;
    free(entries[i]);
  }
  if (found >= 0)
    free(entries);
  return count;
}

/* Every PROCESSES-th cheat. */
static int try_share(const options *o, const cheat *const *cheats, int count,
                     int share) {
  cheat_path path = {.thorough = false};
  int failed = 0;
  cheat_path_start(&path);
  for (int i = share; i < count; i += PROCESSES)
    failed += !try_one(&path, o, cheats[i]);
  cheat_path_stop(&path);
  return failed ? 1 : 0;
}

static void print_expectation(const expectation *wanted) {
  const char *detail = *wanted->detail ? wanted->detail : wanted->verdict;
  if (*detail && strcmp(detail, wanted->stage))
    printf(" %s: %s |", wanted->stage, detail);
  else
    printf(" %s |", *wanted->stage ? wanted->stage : "-");
}

static void print_row(const cheat *tried) {
  printf("| %s | `%s` | %s |", tried->rows, tried->name, tried->tries);
  print_expectation(&tried->caught);
  print_expectation(&tried->then);
  printf("\n");
}

static options read_options(int argc, char **argv) {
  options o = {.folder = argv[1]};
  int i = 2;
  for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
    o.first_only |= !strcmp(argv[i], "--first");
    o.quick |= !strcmp(argv[i], "--quick");
    o.table |= !strcmp(argv[i], "--table");
  }
  o.names = (const char *const *)argv + i;
  o.name_count = argc - i;
  return o;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  options o = read_options(argc, argv);
  ws_arena *arena = ws_arena_create();
  const cheat **cheats = ws_arena_alloc(arena, MAX_CHEATS * sizeof *cheats);
  int count = read_all(arena, &o, cheats), status, failed = 0;
  for (int i = 0; i < count && o.table; i++)
    print_row(cheats[i]);
  if (o.table)
    return 0;
  for (int share = 0; share < PROCESSES; share++)
    if (fork() == 0) {
      int failures = try_share(&o, cheats, count, share);
      fflush(NULL);
      _exit(failures); /* the arena is the parent's */
    }
  while (wait(&status) > 0)
    failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  printf("%d cheats, %s\n", count,
         failed ? "NOT all as expected"
                : "all as "
                  "expected");
  ws_arena_destroy(arena);
  return failed || count == 0;
}
