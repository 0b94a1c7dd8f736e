/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * See sim_options.h. Arguments of a foreign kernel are laid out as C lays out a
 * struct of them, which is what HIP and OpenCL compilers do: each at the next
 * multiple of its size.
 */
#include "sim_options.h"
#include "tools.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */
static ws_status read_kernel(const ws_option *option, const char *value,
                             void *out, ws_diag *diag) {
  sim_options *options = out;
  (void)option;
  if (options->kernel_count == SIM_MAX_KERNELS)
    return ws_fail(diag, WS_USAGE, NULL, 0, "at most %d kernels are run",
                   SIM_MAX_KERNELS);
  options->kernels[options->kernel_count++] = (sim_kernel){.name = value};
  return WS_OK;
}

/* A text of the last --kernel. */
static ws_status read_of_kernel(const ws_option *option, const char *value,
                                void *out, ws_diag *diag) {
  sim_options *options = out;
  if (!options->kernel_count)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--%s comes after its --kernel",
                   option->name);
  memcpy((char *)&options->kernels[options->kernel_count - 1] + option->offset,
         &value, sizeof value);
  return WS_OK;
}

#define AT(member) .offset = offsetof(sim_options, member)
#define OF_KERNEL(member)                                                      \
  WS_OPTION_READ, .read = read_of_kernel, .offset = offsetof(sim_kernel, member)
static const ws_option rows[] = {
    {"problem", "P",
     "problem that arguments and result belong to, a name or the path of its "
     "C file",
     WS_OPTION_TEXT, AT(problem)},
    TOOL_REFERENCE_ROWS,
    {"layout", "L", "the problem's layout (default: its first)", WS_OPTION_TEXT,
     AT(layout)},
    {"shape", "A,B", "the problem's shape: sizes, or dimension=size,...",
     WS_OPTION_TEXT, AT(shape)},
    {"only", "run|time", "do only that (default: both)", WS_OPTION_TEXT,
     AT(only), .choices = "run time"},
    {"device", "D",
     "sim (default), sim:CARD, sim:FILE.json, a profile of your own, or hip",
     WS_OPTION_TEXT, AT(device),
     .choices = "sim sim:mi300a sim:mi308x sim:mi325x hip"},
    {"seed", "N", "of the inputs (default: 1)", WS_OPTION_TEXT, AT(seed)},
    {"seconds", "N",
     "a run or timing that takes longer is ended (default: 600)",
     WS_OPTION_TEXT, AT(seconds)},
    {"json", NULL, "everything as JSON on stdout", WS_OPTION_FLAG, AT(json)},
    {.help = "Of a code object:"},
    {"kernel", "K", "begins a launch; several are run in turn", WS_OPTION_READ,
     .read = read_kernel},
    {"grid", "X,Y,Z", "workgroups; expressions over m, n, k and cu_count",
     OF_KERNEL(grid)},
    {"block", "N", "threads of a workgroup", OF_KERNEL(block)},
    {"lds", "BYTES", "dynamic LDS", OF_KERNEL(lds)},
    {"workspace", "BYTES", "size of the problem's argument \"workspace\"",
     WS_OPTION_TEXT, AT(workspace)},
    {"args", "A,B,...",
     "explicit arguments in order: the name of an argument of the problem; "
     "buf:BYTES[:SEED], a buffer of random bytes; i32:X, i64:X or X, an "
     "integer; f32:X, a number",
     OF_KERNEL(args)},
    {.help = "Of a template or an archive:"},
    {"template", "FILE", "the template", WS_OPTION_TEXT, AT(template_file)},
    {"archive", "DB", "the archive that holds the candidate", WS_OPTION_TEXT,
     AT(archive)},
    {"set", "a=1;b=2", "as for `wavesmith check`", WS_OPTION_TEXT, AT(set)},
    {"variant", "r=v", "as for `wavesmith check`", WS_OPTION_TEXT,
     AT(variants)},
    {.help = "Of times that were measured:"},
    {"compare", "FILE.csv",
     "simulates every row, and says how well the times agree: ranks, regret, "
     "error, residual by feature (docs/compare.md)",
     WS_OPTION_TEXT, AT(compare)},
    {"check-correction", NULL,
     "of --compare: what a correction learned from the rows would be worth on "
     "parts and families that it has not seen",
     WS_OPTION_FLAG, AT(check_correction)},
    {"fit-correction", "OUT.json",
     "the same; and if it helps, one learned from all rows, as a profile that "
     "stands on --device's card",
     WS_OPTION_TEXT, AT(fit_correction)},
    {.help = "Cards:"},
    {"profiles", NULL, "lists the cards that are simulated", WS_OPTION_FLAG,
     AT(profiles)},
    {"print-profile", "CARD",
     "prints a card's profile with the sources of its numbers, as JSON: to "
     "start one of your own from",
     WS_OPTION_TEXT, AT(profile), .choices = "mi300x mi300a mi308x mi325x"},
    WS_OPTIONS_END};

const ws_command sim_command = {
    .program = "wavesmith sim",
    .purpose = "run a code object on a simulated MI300X: proof, time, why",
    .usage = "FILE.co --kernel K --grid X,Y,Z --block N --args A [OPTION ...]\n"
             "--template FILE.ll [--set a=1;b=2] --shape M,N,K [OPTION ...]\n"
             "--archive DB CANDIDATE_ID --shape M,N,K [OPTION ...]\n"
             "--compare FILE.csv [--check-correction] [--json]\n"
             "--profiles\n"
             "--print-profile CARD",
    .about = "Runs a code object for gfx942 on a simulated MI300X: checks what "
             "it does,\n"
             "compares the result, and says how long it takes and why.",
    .options = rows,
    .after = "Exit code 1: the kernel is wrong, or the input is."};

ws_status sim_options_check(const sim_options *options, ws_diag *diag) {
  const int subjects = (options->file != NULL) +
                       (options->template_file != NULL) +
                       (options->archive != NULL);
  if (subjects != 1 || (options->archive && !options->candidate_id))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one code object, --template FILE, or --archive "
                   "DB and a candidate; `wavesmith sim --help` shows how");
  if (!options->file && !options->shape)
    return ws_fail(diag, WS_USAGE, NULL, 0, "a candidate needs a --shape");
  if (options->file ? !options->kernel_count : options->kernel_count)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   options->file ? "a code object needs a --kernel"
                                 : "--kernel is for code objects");
  if (options->only && strcmp(options->only, "run") &&
      strcmp(options->only, "time"))
    return ws_fail(diag, WS_USAGE, NULL, 0, "--only is run or time, not '%s'",
                   options->only);
  return WS_OK;
}

ws_status sim_options_parse(int argc, char **argv, sim_options *out,
                            ws_diag *diag) {
  ws_words words;
  *out = (sim_options){.set = "",
                       .variants = "",
                       .device = "sim",
                       .seed = "1",
                       .seconds = "600"};
  WS_TRY(ws_options_parse(&sim_command, argc, argv, out, &words, diag));
  out->help = words.help;
  if (out->help || out->profiles || out->profile)
    return WS_OK;
  if (words.count > 1)
    return ws_fail(diag, WS_USAGE, NULL, 0, "'%s' is one argument too many",
                   words.items[1]);
  out->check_correction |= out->fit_correction != NULL;
  if (out->check_correction && !out->compare)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "--check-correction needs --compare and its file");
  if (out->compare)
    return words.count ? ws_fail(diag, WS_USAGE, NULL, 0,
                                 "--compare takes what is to run from its file")
                       : WS_OK;
  if (words.count && out->archive)
    out->candidate_id = words.items[0];
  else if (words.count)
    out->file = words.items[0];
  return sim_options_check(out, diag);
}

/* ---- launches
 * ----------------------------------------------------------------
 */

typedef struct launch_reader {
  ws_arena *arena;
  const ws_problem *problem; /* NULL: none */
  ws_scope scope;            /* m n k cu_count */
  ws_diag *diag;
} launch_reader;

static ws_status read_number(const launch_reader *in, const char *text,
                             int64_t *out) {
  ws_expr *expr;
  WS_TRY(ws_expr_parse(in->arena, text, NULL, 0, &expr, in->diag));
  return ws_expr_eval(expr, &in->scope, out, in->diag);
}

/* Cuts the next item off *rest; commas inside parentheses do not separate.
 * NULL: there is none. */
static char *next_item(char **rest) {
  char *begin = *rest;
  int depth = 0;
  if (!begin)
    return NULL;
  for (char *at = begin; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (*at == ',' && depth == 0) {
      *at = 0;
      *rest = at + 1;
      return begin;
    }
  }
  *rest = NULL;
  return begin;
}

static ws_status read_grid(const launch_reader *in, const char *text,
                           uint32_t out[3]) {
  char *rest = ws_arena_strdup(in->arena, text), *item;
  int axis = 0;
  for (; axis < 3 && (item = next_item(&rest)); axis++) {
    int64_t value;
    WS_TRY(read_number(in, item, &value));
    if (value < 1 || value > INT32_MAX)
      return ws_fail(in->diag, WS_USAGE, NULL, 0,
                     "--grid %s: %lld workgroups are not possible", text,
                     (long long)value);
    out[axis] = (uint32_t)value;
  }
  for (; axis < 3; axis++)
    out[axis] = 1;
  return WS_OK;
}

static ws_status read_buffer(const launch_reader *in, char *text,
                             ws_operand *out) {
  char *seed = strchr(text, ':');
  if (seed)
    *seed++ = 0;
  out->kind = WS_OPERAND_BUFFER;
  out->size = 8;
  out->seed = seed ? strtoull(seed, NULL, 10) : 1;
  return read_number(in, text, &out->value);
}

static ws_status read_float(const launch_reader *in, const char *text,
                            ws_operand *out) {
  char *end;
  float value = strtof(text, &end);
  uint32_t bits;
  if (end == text || *end)
    return ws_fail(in->diag, WS_USAGE, NULL, 0, "--args: '%s' is no number",
                   text);
  memcpy(&bits, &value, sizeof bits);
  out->value = bits;
  return WS_OK;
}

/* false: not the name of an argument of the problem. */
static bool read_problem_argument(const launch_reader *in, const char *text,
                                  ws_operand *out) {
  int arg = in->problem ? ws_problem_arg_index(in->problem, text) : -1;
  if (arg < 0)
    return false;
  *out = (ws_operand){.kind = WS_OPERAND_PROBLEM,
                      .name = in->problem->args[arg].name,
                      .size =
                          in->problem->args[arg].role == WS_ARG_SCALAR ? 4 : 8};
  return true;
}

static ws_status read_operand(const launch_reader *in, char *text,
                              ws_operand *out) {
  *out = (ws_operand){.kind = WS_OPERAND_INTEGER, .name = "", .size = 4};
  text += strspn(text, " ");
  if (read_problem_argument(in, text, out))
    return WS_OK;
  if (!strncmp(text, "buf:", 4))
    return read_buffer(in, text + 4, out);
  if (!strncmp(text, "f32:", 4))
    return read_float(in, text + 4, out);
  if (!strncmp(text, "i64:", 4))
    out->size = 8;
  if (!strncmp(text, "i64:", 4) || !strncmp(text, "i32:", 4))
    text += 4;
  return read_number(in, text, &out->value);
}

static ws_status read_operands(const launch_reader *in, const char *text,
                               ws_workload_launch *out) {
  char *rest = text && *text ? ws_arena_strdup(in->arena, text) : NULL, *item;
  ws_operand *operands =
      ws_arena_alloc(in->arena, sizeof *operands * WS_MAX_OPERANDS);
  int32_t offset = 0;
  out->operands = operands;
  while ((item = next_item(&rest))) {
    if (out->operand_count == WS_MAX_OPERANDS)
      return ws_fail(in->diag, WS_USAGE, NULL, 0,
                     "--args: at most %d arguments are possible",
                     WS_MAX_OPERANDS);
    ws_operand *operand = &operands[out->operand_count++];
    WS_TRY(read_operand(in, item, operand));
    offset = (offset + operand->size - 1) / operand->size * operand->size;
    operand->offset = offset;
    offset += operand->size;
  }
  return WS_OK;
}

static ws_status read_launch(const launch_reader *in, const sim_kernel *kernel,
                             ws_workload_launch *out) {
  int64_t block, lds = 0;
  *out = (ws_workload_launch){.kernel = kernel->name};
  if (!kernel->grid || !kernel->block)
    return ws_fail(in->diag, WS_USAGE, NULL, 0,
                   "kernel %s needs --grid and --block", kernel->name);
  WS_TRY(read_grid(in, kernel->grid, out->grid));
  WS_TRY(read_number(in, kernel->block, &block));
  if (kernel->lds)
    WS_TRY(read_number(in, kernel->lds, &lds));
  if (block < 1 || block > 1024 || lds < 0 || lds > 65536)
    return ws_fail(in->diag, WS_USAGE, NULL, 0,
                   "kernel %s: %lld threads (1 to 1024) and %lld bytes of "
                   "dynamic LDS (to 65536) are not possible",
                   kernel->name, (long long)block, (long long)lds);
  out->block = (uint32_t)block;
  out->dynamic_lds = (uint32_t)lds;
  return read_operands(in, kernel->args, out);
}

ws_status sim_read_workload(const sim_options *options, ws_arena *arena,
                            const ws_problem *problem, int layout,
                            const ws_shape *shape, int cu_count,
                            ws_workload *out, ws_diag *diag) {
  ws_binding bindings[WS_MAX_DIMS + 1];
  int count = ws_shape_bindings(shape, bindings);
  bindings[count++] = (ws_binding){"cu_count", cu_count};
  const launch_reader in = {arena, problem, {bindings, count}, diag};
  ws_workload_launch *launches =
      ws_arena_alloc(arena, sizeof *launches * SIM_MAX_KERNELS);
  *out = (ws_workload){.problem = problem ? problem->name : "",
                       .layout = layout,
                       .shape = *shape,
                       .launches = launches,
                       .launch_count = options->kernel_count};
  if (options->workspace)
    WS_TRY(read_number(&in, options->workspace, &out->workspace_bytes));
  if (out->workspace_bytes < 0)
    return ws_fail(diag, WS_USAGE, NULL, 0, "--workspace is negative");
  for (int i = 0; i < options->kernel_count; i++)
    WS_TRY(read_launch(&in, &options->kernels[i], &launches[i]));
  return WS_OK;
}
