/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith import KERNEL.hip`: an ordinary HIP kernel becomes a template.
 * What a template may not have is said here, one line each with the line of
 * the HIP, and then nothing is written.
 */
#include "import_source.h"
#include "tools.h"
#include "wavesmith/build.h"
#include "wavesmith/text.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef struct import_job {
  import_options options;
  ws_arena *arena;
  ws_compiler *compiler;
  const char *file;
  char *own;
} import_job;

/* ---- options ---- */

static ws_status read_item(const ws_option *option, const char *value,
                           void *out, ws_diag *diag) {
  import_list *list = (void *)((char *)out + option->offset);
  if (list->count == IMPORT_MOST)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--%s is given more than %d times",
                   option->name, IMPORT_MOST);
  list->items[list->count++] = value;
  return WS_OK;
}

#define AT(member) .offset = offsetof(import_options, member)
static const ws_option rows[] = {
    {"out", "FILE", "the template; also -o (default: KERNEL.ll)",
     WS_OPTION_TEXT, AT(out)},
    {"define", "MACRO",
     "also -D; NAME=DEFAULT:VALUE,VALUE makes the macro a parameter, NAME or "
     "NAME=TEXT is a macro as usual; may be repeated",
     WS_OPTION_READ, AT(defines), .read = read_item},
    {"include", "FOLDER", "also -I; for #include, may be repeated",
     WS_OPTION_READ, AT(includes), .read = read_item},
    {"target", "T", "gfx942 (default) or gfx950", WS_OPTION_TEXT, AT(target),
     .choices = "gfx942 gfx950"},
    {.help = "What the file does not say itself (WS_... of wavesmith/hip.h):"},
    {"name", "NAME", "of the template (default: the file's)", WS_OPTION_TEXT,
     AT(name)},
    {"problem", "P", "what it computes, by name or by the problem's C file",
     WS_OPTION_TEXT, AT(problem)},
    {"launch", "L", "KERNEL;X;Y;Z;THREADS[;CONDITION], may be repeated",
     WS_OPTION_READ, AT(launches), .read = read_item},
    {"lds", "ARRAY=BYTES", "size of an extern __shared__ array, an expression",
     WS_OPTION_READ, AT(lds), .read = read_item},
    {"arguments", "KERNEL=NAMES",
     "the kernel's arguments by the problem's names, in the kernel's order",
     WS_OPTION_READ, AT(arguments), .read = read_item},
    {.help = "Which compiler:"},
    {"clang", "PROGRAM",
     "a clang 18 or newer, or hipcc; auto: the first that is found (default: "
     "the clang in AMD's comgr, which needs no other)",
     WS_OPTION_TEXT, AT(clang)},
    WS_OPTIONS_END};

const ws_command import_command = {
    .program = "wavesmith import",
    .purpose = "make a template of a HIP kernel",
    .usage = "KERNEL.hip [-o KERNEL.ll] [OPTION ...]",
    .about = "Compiles a HIP kernel to a template: parameters, regions and the "
             "launch are said\nin the file (wavesmith/hip.h) or by options. "
             "docs/hip.md has an example.",
    .options = rows};

/* "-o", "-D", "-I" as compilers have them. */
static char **long_options(ws_arena *arena, int *argc, char **argv) {
  static const struct {
    char letter;
    const char *name;
  } shorts[] = {{'o', "--out"}, {'D', "--define"}, {'I', "--include"}};
  char **out = ws_arena_alloc(arena, (size_t)(2 * *argc + 1) * sizeof *out);
  int count = 0;
  for (int i = 0; i < *argc; i++) {
    const char *name = NULL;
    for (size_t k = 0; k < sizeof shorts / sizeof *shorts; k++)
      if (argv[i][0] == '-' && argv[i][1] == shorts[k].letter)
        name = shorts[k].name;
    out[count++] = name ? ws_arena_strdup(arena, name) : argv[i];
    if (name && argv[i][2])
      out[count++] = argv[i] + 2;
  }
  *argc = count;
  return out;
}

/* ---- the work ---- */

static int print_findings(const ws_finding *findings, int count) {
  for (int i = 0; i < count; i++)
    if (findings[i].line > 0)
      fprintf(stderr, "wavesmith import: %s:%d: %s\n", findings[i].file,
              findings[i].line, findings[i].text);
    else
      fprintf(stderr, "wavesmith import: %s%s%s\n", findings[i].file,
              *findings[i].file ? ": " : "", findings[i].text);
  return count;
}

/* "gemm" of "a/gemm.hip". */
static const char *stem(ws_arena *arena, const char *file) {
  const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
  return ws_arena_strndup(arena, name, strcspn(name, "."));
}

/* A name that a template may have: "my-gemm" is my_gemm. */
static const char *name_from(ws_arena *arena, const char *stem) {
  char *name = ws_arena_strdup(arena, stem);
  for (char *at = name; *at; at++)
    if (!isalnum((unsigned char)*at))
      *at = '_';
  return ws_name_fault(name) ? ws_arena_printf(arena, "hip_%s", name) : name;
}

static bool is_opencl(const char *file) {
  const char *ending = strrchr(file, '.');
  const char *language = ending ? ws_language_of_ending(ending + 1) : NULL;
  return language && !strcmp(language, "opencl");
}

/* OpenCL C is taken as models write it: the file says everything. */
static ws_status refuse_options(const import_options *options, char *own,
                                char **out_text, import_list *out_options,
                                ws_diag *diag) {
  *out_text = own;
  *out_options = (import_list){.count = 0};
  if (!options->defines.count && !options->includes.count &&
      !options->launches.count && !options->lds.count &&
      !options->arguments.count && !options->clang)
    return WS_OK;
  return ws_fail(diag, WS_USAGE, NULL, 0,
                 "-D, -I, --launch, --lds, --arguments and --clang are for "
                 "HIP; OpenCL C says them itself (docs/hip.md)");
}

static ws_status import(import_job *job, const char **out_text, bool *out_good,
                        ws_diag *diag) {
  const import_options *options = &job->options;
  import_list clang_options;
  char *text;
  const ws_finding *findings = NULL;
  int count = 0;
  if (is_opencl(job->file))
    WS_TRY(refuse_options(options, job->own, &text, &clang_options, diag));
  else
    WS_TRY(import_compose(job->arena, options, job->file, job->own, &text,
                          &clang_options, diag));
  if (options->clang)
    WS_TRY(import_run_clang(job->arena, options, text, &clang_options, &text,
                            diag));
  const ws_import request = {.file = job->file,
                             .target = options->target,
                             .own = job->own,
                             .text = text,
                             .language = is_opencl(job->file) ? "opencl"
                                         : options->clang     ? "ir"
                                                              : "hip",
                             .options = clang_options.items,
                             .option_count = clang_options.count,
                             .name = options->name,
                             .problem = options->problem};
  WS_TRY(ws_compiler_import(job->compiler, job->arena, &request, out_text,
                            &findings, &count, diag));
  *out_good = print_findings(findings, count) == 0 && **out_text;
  return WS_OK;
}

/* The static check, at the defaults: what a template may not have. */
static ws_status check(import_job *job, const char *text, bool *out_good,
                       const ws_template **out_template, ws_diag *diag) {
  ws_build_result result;
  size_t size = strlen(text);
  WS_TRY(ws_compiler_describe(job->compiler, job->arena, job->options.out, text,
                              size, out_template, diag));
  ws_candidate *candidate = ws_candidate_create(job->arena, *out_template);
  ws_build_request request =
      ws_build_request_of(job->arena, candidate, text, size);
  request.stages = WS_STAGE_CHECK;
  WS_TRY(ws_compiler_build(job->compiler, job->arena, &request, &result, diag));
  *out_good = result.verdict == WS_VERDICT_OK;
  if (!*out_good && !print_findings(result.findings, result.finding_count))
    fprintf(stderr, "wavesmith import: %s: %s\n", job->file, result.reason);
  return WS_OK;
}

static void print_summary(const import_job *job, const ws_template *tmpl) {
  printf("%s: template %s of %s for %s: %d parameters, %d regions, %d launch%s"
         "\nnext: wavesmith check %s\n",
         job->options.out, tmpl->name, job->file, tmpl->target,
         tmpl->param_count, tmpl->region_count, tmpl->launch_count,
         tmpl->launch_count == 1 ? "" : "es", job->options.out);
}

static ws_status run(import_job *job, bool *out_good, ws_diag *diag) {
  const char *text;
  size_t size;
  const ws_template *tmpl;
  WS_TRY(ws_file_read(job->arena, job->file, &job->own, &size, diag));
  if (!size || strlen(job->own) != size)
    return ws_fail(diag, WS_INPUT, job->file, 0, "this is no text");
  if (!*job->options.problem && !strstr(job->own, "WS_TEMPLATE"))
    return ws_fail(diag, WS_USAGE, job->file, 0,
                   "it does not say what it computes: name the problem with "
                   "--problem, or by WS_TEMPLATE");
  WS_TRY(ws_compiler_start(&job->compiler, diag));
  WS_TRY(import(job, &text, out_good, diag));
  if (!*out_good)
    return WS_OK;
  WS_TRY(check(job, text, out_good, &tmpl, diag));
  if (!*out_good)
    return WS_OK;
  WS_TRY(ws_problem_list_check(tool_named_problems(), job->file, tmpl->problem,
                               diag));
  WS_TRY(ws_file_write_atomic(job->options.out, text, strlen(text), diag));
  print_summary(job, tmpl);
  return WS_OK;
}

static ws_status read_arguments(import_job *job, int argc, char **argv,
                                bool *out_help, ws_diag *diag) {
  ws_words words;
  argv = long_options(job->arena, &argc, argv);
  WS_TRY(ws_options_parse(&import_command, argc, argv, &job->options, &words,
                          diag));
  *out_help = words.help;
  if (words.help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one file: wavesmith import KERNEL.hip -o "
                   "KERNEL.ll");
  job->file = words.items[0];
  const char *name = stem(job->arena, job->file);
  if (!job->options.name)
    job->options.name = name_from(job->arena, name);
  if (!job->options.out)
    job->options.out = ws_arena_printf(job->arena, "%s.ll", name);
  return WS_OK;
}

int tool_import(int argc, char **argv) {
  import_job job = {.options = {.target = "gfx942", .problem = ""},
                    .arena = ws_arena_create()};
  bool help = false, good = false;
  ws_diag diag = {""};
  ws_status status = read_arguments(&job, argc, argv, &help, &diag);
  if (status == WS_OK && help)
    tool_help(&import_command);
  else if (status == WS_OK)
    status = run(&job, &good, &diag);
  int code = status != WS_OK ? tool_fail("import", status, &diag)
             : help || good  ? 0
                             : ws_status_exit_code(WS_INPUT);
  ws_compiler_stop(job.compiler);
  ws_arena_destroy(job.arena);
  return code;
}
