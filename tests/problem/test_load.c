/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Problems from files: compiled, kept, loaded, tried before use, and inherited
 * by processes that are started later. What is wrong with a file is said in one
 * line. Compiler and cache are the environment's.
 */
#include "wavesmith/base.h"
#include "wavesmith/problem.h"
#include "ws_test.h"

#include <dirent.h>
#include <sys/stat.h>

/* ---- files ---- */

static char folder[64]; /* this test's own, with its cache */

static const char *in_folder(const char *name) {
  static char path[4][128];
  static int next;
  char *out = path[next++ % 4];
  snprintf(out, sizeof path[0], "%s/%s", folder, name);
  return out;
}

static void clean(void) {
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  (void)!system(command);
}

static void open_folder(void) {
  strcpy(folder, "/tmp/wavesmith-problem-XXXXXX");
  WS_CHECK(mkdtemp(folder));
  atexit(clean);
  setenv("WAVESMITH_CACHE", in_folder("deep/cache"), 1);
  unsetenv("WAVESMITH_PROBLEMS");
  unsetenv("WAVESMITH_INCLUDE");
  unsetenv("CC");
}

static void write_text(const char *name, const char *text) {
  FILE *file = fopen(in_folder(name), "w");
  WS_CHECK(file && fputs(text, file) >= 0 && !fclose(file));
}

/* A file with a problem y = f(x) of n elements: its reference's body, and the
 * name. */
static const char *write_problem(const char *name, const char *problem,
                                 const char *abi, const char *body) {
  char text[2048];
  const int size = snprintf(
      text, sizeof text,
      "#include <wavesmith/define_problem.h>\n"
      "#include <stdlib.h>\n"
      "enum { X, Y };\n"
      "static void reference(const ws_reference_call *call) {\n"
      "%s\n"
      "}\n"
      "static const int64_t sizes[][1] = {{1000}};\n"
      "static const ws_problem_definition mine = {%s, .name = \"%s\",\n"
      "  .dims = {{\"n\"}},\n"
      "  .args = {{\"x\", WS_ARG_INPUT, WS_F32, {\"n\"}},\n"
      "           {\"y\", WS_ARG_OUTPUT, WS_F32, {\"n\"}}},\n"
      "  .legal = \"n %% 100 == 0\",\n"
      "  .sets = {WS_PROBLEM_SET(\"one\", sizes)}, .reference = reference};\n"
      "WS_PROBLEM(mine)\n",
      body, abi, problem);
  WS_CHECK(size > 0 && (size_t)size < sizeof text);
  write_text(name, text);
  return in_folder(name);
}

#define RIGHT                                                                  \
  "  for (int64_t i = call->begin; i < call->end; i++)\n"                      \
  "    ws_put(call, Y, i, 3 * ws_get(call, X, i));"

static const char *write_right(const char *name, const char *problem) {
  return write_problem(name, problem, "WS_PROBLEM_ABI", RIGHT);
}

static const ws_problem *add(const char *path) {
  const ws_problem *problem = NULL;
  ws_diag diag = {""};
  if (ws_problem_add_file(path, &problem, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK(problem);
  return problem;
}

/* One line, which has both parts; nothing is added. */
static void refuse(const char *path, ws_status status, const char *part,
                   const char *other) {
  const ws_problem *problem = NULL;
  ws_diag diag = {""};
  int before, after;
  (void)ws_problems(&before);
  WS_CHECK_INT(ws_problem_add_file(path, &problem, &diag), status);
  (void)ws_problems(&after);
  WS_CHECK(!problem);
  WS_CHECK_INT(after, before);
  WS_CHECK(!strchr(diag.text, '\n'));
  WS_CHECK_CONTAINS(diag.text, part);
  WS_CHECK_CONTAINS(diag.text, other);
  WS_CHECK(!getenv("WAVESMITH_PROBLEMS"));
}

static int count_libraries(void) {
  DIR *at = opendir(in_folder("deep/cache/problems"));
  int count = 0;
  if (!at)
    return 0;
  for (struct dirent *one; (one = readdir(at));) {
    const char *dot = strrchr(one->d_name, '.');
    count += dot && !strcmp(dot, ".so");
    WS_CHECK(!strstr(one->d_name, ".log")); /* nothing half made stays */
  }
  closedir(at);
  return count;
}

/* In a process of its own, whose table is still the shipped one. */
static void apart(void (*act)(void)) {
  int status;
  fflush(NULL);
  const pid_t child = fork();
  WS_CHECK(child >= 0);
  if (!child) {
    act();
    _exit(0); /* the folder stays */
  }
  WS_CHECK(waitpid(child, &status, 0) == child);
  WS_CHECK_INT(status, 0);
}

/* ---- right files ---- */

WS_TEST(a_file_becomes_a_problem) {
  open_folder();
  const char *path = write_right("mine.c", "triple");
  const ws_problem *problem = add(path);
  static const int64_t sizes[] = {200};
  const ws_shape shape = ws_shape_of(problem->dims, sizes);
  float x[200] = {[7] = 5};
  const void *buffers[WS_PROBLEM_MAX_ARGS] = {x};
  double value[200], error[200];
  ws_diag diag = {""};
  const ws_problem *again = NULL;
  WS_CHECK_TEXT(problem->name, "triple");
  WS_CHECK_TEXT(problem->file, path);
  WS_CHECK_INT(problem->least.size[0], 100);
  ws_problem_reference(problem, &shape, 0, buffers, 0, 200, value, error);
  WS_CHECK_NEAR(value[7], 15, 0);
  WS_CHECK(ws_problem_find("triple") == problem);
  WS_CHECK_INT(ws_problem_get("triple", &again, &diag), WS_OK);
  WS_CHECK(again == problem);
  WS_CHECK(add(path) == problem); /* named twice */
}

WS_TEST(names_that_are_none_are_listed) {
  open_folder();
  const ws_problem *problem = NULL;
  ws_diag diag = {""};
  WS_CHECK_INT(ws_problem_get("triple", &problem, &diag), WS_INPUT);
  WS_CHECK(!problem && !strchr(diag.text, '\n'));
  WS_CHECK_CONTAINS(diag.text, "'triple'");
  WS_CHECK_CONTAINS(diag.text, "fp8_gemm_blockscale");
  WS_CHECK_CONTAINS(diag.text, "--problem ./triple.c");
}

/* ---- the cache ---- */

static void add_mine(void) { (void)add(in_folder("mine.c")); }

static void need_a_compiler(void) {
  refuse(in_folder("mine.c"), WS_INPUT, "does not compile", "mine.c");
}

WS_TEST(a_file_is_compiled_once) {
  open_folder();
  (void)write_right("mine.c", "triple");
  setenv("CC", "/bin/false", 1);
  apart(need_a_compiler);
  WS_CHECK_INT(count_libraries(), 0);
  unsetenv("CC");
  apart(add_mine);
  WS_CHECK_INT(count_libraries(), 1);
  setenv("CC", "/bin/false", 1);
  apart(add_mine);
  (void)write_right("mine.c", "tripled");
  apart(need_a_compiler);
  (void)write_right("mine.c", "triple");
  apart(add_mine);
  setenv("WAVESMITH_CACHE", in_folder("other"), 1);
  apart(need_a_compiler);
}

WS_TEST(what_a_file_includes_counts) {
  open_folder();
  write_text("factor.h", "#define FACTOR 3\n");
  (void)write_problem("mine.c", "scaled", "WS_PROBLEM_ABI",
                      "#include \"factor.h\"\n"
                      "  for (int64_t i = call->begin; i < call->end; i++)\n"
                      "    ws_put(call, Y, i, FACTOR * ws_get(call, X, i));");
  apart(add_mine);
  setenv("CC", "/bin/false", 1);
  apart(add_mine);
  write_text("factor.h", "#define FACTOR 4\n");
  apart(need_a_compiler);
  unsetenv("CC");
  apart(add_mine);
  WS_CHECK_INT(count_libraries(), 2);
}

WS_TEST(a_compiler_that_is_none_is_named) {
  open_folder();
  setenv("CC", "/nonexistent/cc", 1);
  refuse(write_right("mine.c", "triple"), WS_ENVIRONMENT, "/nonexistent/cc",
         "cannot be run");
}

WS_TEST(a_cache_that_cannot_be_written_is_no_crash) {
  open_folder();
  write_text("file", "");
  setenv("WAVESMITH_CACHE", in_folder("file"), 1);
  const ws_problem *problem = NULL;
  ws_diag diag = {""};
  WS_CHECK(ws_problem_add_file(write_right("mine.c", "triple"), &problem,
                               &diag) != WS_OK);
  WS_CHECK(!problem && *diag.text && !strchr(diag.text, '\n'));
}

/* ---- who is started later ---- */

static int inherited; /* a pipe */

static void add_and_tell(void) {
  add_mine();
  const char *list = getenv("WAVESMITH_PROBLEMS");
  WS_CHECK(list);
  WS_CHECK(write(inherited, list, strlen(list)) == (ssize_t)strlen(list));
}

static void check_inherited(const char *cache) {
  int ends[2];
  char list[1024] = "";
  ws_diag diag = {""};
  open_folder();
  setenv("WAVESMITH_CACHE", in_folder(cache), 1);
  (void)write_right("mine.c", "triple");
  WS_CHECK(!pipe(ends));
  inherited = ends[1];
  apart(add_and_tell);
  close(ends[1]);
  WS_CHECK(read(ends[0], list, sizeof list - 1) > 0);
  setenv("WAVESMITH_PROBLEMS", list, 1);
  setenv("CC", "/bin/false", 1);
  WS_CHECK(!ws_problem_find("triple"));
  if (ws_problems_inherit(&diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  const ws_problem *problem = ws_problem_find("triple");
  WS_CHECK(problem);
  WS_CHECK_INT(ws_problems_inherit(&diag), WS_OK); /* twice */
  WS_CHECK(add(in_folder("mine.c")) == problem);   /* its contents */
  WS_CHECK_TEXT(getenv("WAVESMITH_PROBLEMS"), list);
}

WS_TEST(later_processes_know_it) { check_inherited("cache"); }

WS_TEST(the_cache_may_lie_anywhere) { check_inherited("a:b\\c d"); }

WS_TEST(a_library_can_be_named) {
  char command[512];
  open_folder();
  (void)write_right("mine.c", "triple");
  snprintf(command, sizeof command,
           "cc -std=gnu11 -fPIC -shared -I'%s/runtime/include' -o %s %s -lm",
           getenv("WS_SOURCE_DIR") ? getenv("WS_SOURCE_DIR") : ".",
           in_folder("mine.so"), in_folder("mine.c"));
  WS_CHECK(!system(command));
  setenv("CC", "/bin/false", 1);
  WS_CHECK_TEXT(add(in_folder("mine.so"))->name, "triple");
}

/* ---- files that are wrong ---- */

WS_TEST(compile_errors_are_the_compilers_words) {
  open_folder();
  refuse(write_problem("mine.c", "triple", "WS_PROBLEM_ABI",
                       "  int64_t i = nothing_of_that_name;"),
         WS_INPUT, "mine.c:5:", "nothing_of_that_name");
  refuse(write_problem("mine.c", "triple", "WS_PROBLEM_ABI",
                       "  void nowhere(void);\n  nowhere();"),
         WS_INPUT, "undefined reference", "nowhere");
  WS_CHECK_INT(count_libraries(), 0);
}

WS_TEST(files_that_are_no_problem_are_refused) {
  open_folder();
  refuse(in_folder("missing.c"), WS_INPUT, "missing.c", "cannot be read");
  refuse(write_problem("mine.c", "triple", "WS_PROBLEM_ABI + 1", RIGHT),
         WS_INPUT, "mine.c", "version 3 of ");
  write_text("empty.c", "#include <wavesmith/define_problem.h>\n");
  refuse(in_folder("empty.c"), WS_INPUT, "empty.c", "WS_PROBLEM(");
  write_text("null.c",
             "const void *wavesmith_problem(void) { return (void *)0; }\n");
  refuse(in_folder("null.c"), WS_INPUT, "null.c", "no problem");
  write_text("text.so", "not a library\n");
  refuse(in_folder("text.so"), WS_INPUT, "text.so", "cannot be loaded");
  refuse(write_problem("mine.c", "3d", "WS_PROBLEM_ABI", RIGHT), WS_INPUT,
         "mine.c", "'3d' begins with a digit");
}

WS_TEST(a_name_is_one_problems) {
  open_folder();
  refuse(write_right("mine.c", "fp8_gemm_blockscale"), WS_INPUT, "mine.c",
         "comes with wavesmith");
  (void)add(write_right("first.c", "triple"));
  unsetenv("WAVESMITH_PROBLEMS");
  refuse(write_problem("second.c", "triple", "WS_PROBLEM_ABI", RIGHT "\n;"),
         WS_INPUT, "second.c", "first.c");
}

/* ---- references that are wrong ---- */

static const struct {
  const char *body, *part;
} faults[] = {
    {"  *(volatile int *)0 = (int)call->begin;", "crashed"},
    {"  abort();", "crashed"},
    {"  exit(7);", "exit code 7"},
    {"  exit(0);", "ended the process"},
    /* beyond the input, into it, beyond the values */
    {RIGHT "\n  ws_put(call, Y, 0, ws_get(call, X, call->dims[0]));",
     "crashed"},
    {RIGHT "\n  ((float *)call->args[X])[0] = 1;", "crashed"},
    {RIGHT "\n  call->values[Y][call->count[Y]] = 1;", "crashed"},
    {RIGHT "\n  call->values[Y][0] = NAN;", "element 0"},
    {"  for (int64_t i = 0; i < call->end - 1; i++)\n"
     "    ws_put(call, Y, i, 1);",
     "element 99 of its outputs on n=100"},
    {"  for (int64_t i = 0; i < call->end; i++)\n"
     "    ws_put(call, Y, i, i == 42 ? INFINITY : 1);",
     "element 42"},
    {"  static int times;\n" RIGHT "\n  ws_put(call, Y, 17, times++);",
     "element 17 another value"},
    {"  static int times;\n" RIGHT "\n  ws_put_sum(call, Y, 17, 1, times++);",
     "element 17 another"}};

WS_TEST(references_are_tried) {
  open_folder();
  for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
    fprintf(stderr, "# %s\n", faults[i].part);
    refuse(write_problem("mine.c", "triple", "WS_PROBLEM_ABI", faults[i].body),
           WS_INPUT, faults[i].part, "triple");
  }
}
