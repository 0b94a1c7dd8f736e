/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith new NAME`: a folder with a problem, a naive template and the
 * commands to run, to be changed into one's own. Nothing that is there is
 * overwritten.
 */
#include "tools.h"
#include "wavesmith/text.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct new_options {
  const char *out;
} new_options;

static const ws_option rows[] = {
    {"out", "DIR", "where the folder goes (default: .)", WS_OPTION_TEXT,
     .offset = offsetof(new_options, out)},
    WS_OPTIONS_END};

const ws_command new_command = {
    .program = "wavesmith new",
    .purpose = "begin a problem of your own",
    .usage = "NAME [--out DIR]",
    .about = "Writes NAME/NAME.c (the problem), NAME/naive.ll (a template for "
             "gfx942\nthat is right and slow) and NAME/README.md (the commands "
             "to run).\ndocs/your-own-kernel.md goes on from there.",
    .options = rows};

/* NAME stands for the name. */
static const char problem_text[] =
    "/* NAME: y[r][c] = x[r][c] * scale[c]. Change it into your operation: "
    "dims,\n * arguments, which shapes are legal, shapes that matter, and the "
    "reference. What\n * each member means and what may be left out: "
    "wavesmith/define_problem.h. */\n"
    "#include <wavesmith/define_problem.h>\n"
    "\n"
    "enum { X, SCALE, Y, ROWS, COLS };\n"
    "\n"
    "/* Called for rows begin to end of the outputs; in double, as plainly as "
    "can be. */\n"
    "static void reference(const ws_reference_call *call) {\n"
    "  const int64_t cols = call->dims[1];\n"
    "  for (int64_t r = call->begin; r < call->end; r++)\n"
    "    for (int64_t c = 0; c < cols; c++)\n"
    "      ws_put(call, Y, r * cols + c,\n"
    "             ws_get(call, X, r * cols + c) * ws_get(call, SCALE, c));\n"
    "}\n"
    "\n"
    "static const int64_t common[][2] = {{1, 4096}, {64, 4096}, {1024, "
    "8192}};\n"
    "\n"
    "static const ws_problem_definition definition = {\n"
    "    WS_PROBLEM_ABI,\n"
    "    .name = \"NAME\",\n"
    "    .purpose = \"columns scaled\",\n"
    "    .dims = {{\"rows\"}, {\"cols\"}},\n"
    "    .args = {[X] = {\"x\", WS_ARG_INPUT, WS_BF16, {\"rows\", \"cols\"}},\n"
    "             [SCALE] = {\"scale\", WS_ARG_INPUT, WS_F32, {\"cols\"}},\n"
    "             [Y] = {\"y\", WS_ARG_OUTPUT, WS_BF16, {\"rows\", "
    "\"cols\"}},\n"
    "             [ROWS] = {\"rows\", WS_ARG_SCALAR, WS_I32},\n"
    "             [COLS] = {\"cols\", WS_ARG_SCALAR, WS_I32}},\n"
    "    .legal = \"cols % 8 == 0 && rows * cols <= 1073741824\",\n"
    "    .sets = {WS_PROBLEM_SET(\"common\", common)},\n"
    "    .reference = reference};\n"
    "\n"
    "WS_PROBLEM(definition)\n";

static const char template_text[] =
    "; NAME, the starting point: one lane an element.\n"
    "\n"
    "target datalayout = "
    "\"e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:"
    "256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:"
    "32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-"
    "S32-A5-G1-ni:7:8:9\"\n"
    "target triple = \"amdgcn-amd-amdhsa\"\n"
    "\n"
    "@ws.threads = internal addrspace(4) constant i32 256\n"
    "\n"
    "define amdgpu_kernel void @NAME(ptr addrspace(1) %x, ptr addrspace(1) "
    "%scale, ptr addrspace(1) %y, i32 %rows, i32 %cols) {\n"
    "entry:\n"
    "  %lane = call i32 @llvm.amdgcn.workitem.id.x()\n"
    "  %group = call i32 @llvm.amdgcn.workgroup.id.x()\n"
    "  %threads = load i32, ptr addrspace(4) @ws.threads\n"
    "  %first = mul i32 %group, %threads\n"
    "  %index = add i32 %first, %lane\n"
    "  %count = mul i32 %rows, %cols\n"
    "  %inside = icmp ult i32 %index, %count\n"
    "  br i1 %inside, label %scale.one, label %end\n"
    "scale.one:\n"
    "  %column = urem i32 %index, %cols\n"
    "  %index.wide = zext i32 %index to i64\n"
    "  %column.wide = zext i32 %column to i64\n"
    "  %x.at = getelementptr bfloat, ptr addrspace(1) %x, i64 %index.wide\n"
    "  %scale.at = getelementptr float, ptr addrspace(1) %scale, i64 "
    "%column.wide\n"
    "  %y.at = getelementptr bfloat, ptr addrspace(1) %y, i64 %index.wide\n"
    "  %short = load bfloat, ptr addrspace(1) %x.at, align 2\n"
    "  %value = fpext bfloat %short to float\n"
    "  %factor = load float, ptr addrspace(1) %scale.at, align 4\n"
    "  %product = fmul float %value, %factor\n"
    "  %rounded = fptrunc float %product to bfloat\n"
    "  store bfloat %rounded, ptr addrspace(1) %y.at, align 2\n"
    "  br label %end\n"
    "end:\n"
    "  ret void\n"
    "}\n"
    "\n"
    "declare i32 @llvm.amdgcn.workitem.id.x()\n"
    "declare i32 @llvm.amdgcn.workgroup.id.x()\n"
    "\n"
    "!wavesmith.template = !{!0}\n"
    "!wavesmith.param    = !{!1}\n"
    "!wavesmith.launch   = !{!2}\n"
    "!llvm.module.flags  = !{!3}\n"
    "!0 = !{!\"NAME_naive\", !\"1\", !\"NAME\", !\"gfx942\", !\"one lane an "
    "element\"}\n"
    "!1 = !{!\"threads\", !\"ws.threads\", !\"64 128 256 512 1024\", !\"lanes "
    "of "
    "a workgroup\"}\n"
    "!2 = !{!\"NAME\", !\"ceildiv(rows * cols, threads)\", !\"1\", !\"1\", "
    "!\"threads\", !\"1\"}\n"
    "!3 = !{i32 1, !\"amdhsa_code_object_version\", i32 500}\n";

static const char readme_text[] =
    "# NAME\n"
    "In this folder:\n"
    "```\n"
    "wavesmith check naive.ll --problem NAME.c --shape common\n"
    "wavesmith sim --template naive.ll --problem NAME.c --shape "
    "rows=16,cols=512\n"
    "wavesmith tune naive.ll --problem NAME.c --archive NAME.db --minutes 1\n"
    "wavesmith dispatch NAME.db --problem NAME.c --out dispatch\n"
    "cc -std=c99 -c dispatch/NAME.c -I \"$WAVESMITH/include\"\n"
    "```\n"
    "`NAME.c` says what is computed, `naive.ll` is one way to compute it: give "
    "it\nparameters, regions and variants (docs/templates.md), or write the "
    "kernel in HIP\nand `wavesmith import` it (docs/hip.md).\n";

static const struct {
  const char *file, *text;
} files[] = {{"NAME.c", problem_text},
             {"naive.ll", template_text},
             {"README.md", readme_text}};
enum { FILES = sizeof files / sizeof files[0] };

/* The text with the name for NAME. */
static const char *fill(ws_arena *arena, const char *text, const char *name) {
  ws_strbuf out;
  ws_strbuf_init(&out);
  for (const char *at; (at = strstr(text, "NAME")); text = at + 4) {
    ws_strbuf_append(&out, text, (size_t)(at - text));
    ws_strbuf_puts(&out, name);
  }
  ws_strbuf_puts(&out, text);
  const char *filled = ws_arena_strdup(arena, out.data);
  ws_strbuf_deinit(&out);
  return filled;
}

static ws_status write_all(ws_arena *arena, const char *folder,
                           const char *name, ws_diag *diag) {
  const char *paths[FILES];
  if (mkdir(folder, 0777) && errno != EEXIST)
    return ws_fail(diag, WS_ENVIRONMENT, folder, 0, "cannot be made: %s",
                   strerror(errno));
  for (int i = 0; i < FILES; i++) {
    paths[i] = ws_arena_printf(arena, "%s/%s", folder,
                               fill(arena, files[i].file, name));
    if (!access(paths[i], F_OK))
      return ws_fail(diag, WS_INPUT, paths[i], 0,
                     "it is there already; name another problem or folder");
  }
  for (int i = 0; i < FILES; i++) {
    const char *text = fill(arena, files[i].text, name);
    WS_TRY(ws_file_write_atomic(paths[i], text, strlen(text), diag));
    puts(paths[i]);
  }
  printf("next: cd %s && wavesmith check naive.ll --problem %s.c\n", folder,
         name);
  return WS_OK;
}

static ws_status run(ws_arena *arena, int argc, char **argv, bool *out_help,
                     ws_diag *diag) {
  new_options options = {.out = "."};
  ws_words words;
  WS_TRY(ws_options_parse(&new_command, argc, argv, &options, &words, diag));
  *out_help = words.help;
  if (words.help)
    return WS_OK;
  if (words.count != 1)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "wanted is one name: wavesmith new my_kernel");
  const char *name = words.items[0], *fault = ws_name_fault(name);
  if (fault)
    return ws_fail(diag, WS_USAGE, NULL, 0, "the name '%.80s' %s", name, fault);
  return write_all(arena, ws_arena_printf(arena, "%s/%s", options.out, name),
                   name, diag);
}

int tool_new(int argc, char **argv) {
  ws_diag diag = {""};
  ws_arena *arena = ws_arena_create();
  bool help = false;
  ws_status status = run(arena, argc, argv, &help, &diag);
  ws_arena_destroy(arena);
  if (status == WS_OK && help)
    return tool_help(&new_command);
  return status == WS_OK ? 0 : tool_fail("new", status, &diag);
}
