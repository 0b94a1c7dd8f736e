/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * sm_90a from splice to code object: expansion of ws.wgmma.*, PTX, ptxas and
 * its report, facts. What needs a real ptxas is skipped without; its errors
 * come from scripts in its place.
 */
#include "lower.h"
#include "nvptx_expand.h"
#include "pass_test.h"

#include <sys/stat.h>

typedef struct lowered {
  fixture f;
  ws_build_result result;
  bool good;
} lowered;

static char *read_tiny_sm90(ws_arena *arena) {
  return read_source(arena, "tests/pass/Inputs/tiny_sm90.ll");
}

static lowered lower_text(const char *text, const char *assignments,
                          bool lines) {
  lowered l = {.f = open_template(text)};
  fixture *f = &l.f;
  ws_diag diag;
  l.result = (ws_build_result){.ir_hash = "", .code_hash = "", .compiler = ""};
  if (ws_candidate_set(f->candidate, assignments, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  l.good = ws_pass_splice(f->module, f->candidate, &f->findings) &&
           ws_pass_lower(f->module, f->candidate, "sm_90a",
                         lines ? WS_STAGE_LINES : 0, f->arena, &l.result,
                         &f->findings);
  return l;
}

static lowered lower_changed(const char *from, const char *to,
                             const char *assignments) {
  ws_arena *arena = ws_arena_create();
  char *text = replace(arena, read_tiny_sm90(arena), from, to);
  lowered l = lower_text(text, assignments, false);
  ws_arena_destroy(arena);
  return l;
}

static void check_good(const lowered *l) {
  if (l->good)
    return;
  show_findings(&l->f);
  WS_FAIL("does not lower");
}

static int count_parts(const char *text, const char *part) {
  int count = 0;
  for (; (text = strstr(text, part)); text += strlen(part))
    count++;
  return count;
}

/* "add.s64 a, %rd18, 2;" and the same for b. */
static int count_steps(const char *ptx, int step) {
  int count = 0, own, end;
  for (; (ptx = strstr(ptx, "add.s64 ")); ptx++)
    if ((!strncmp(ptx, "add.s64 a, ", 11) ||
         !strncmp(ptx, "add.s64 b, ", 11)) &&
        sscanf(ptx + 11, "%%rd%*d, %d;%n", &own, &end) == 1)
      count += own == step;
  return count;
}

/* ---- PTX ----------------------------------------------------------------- */

WS_TEST(ptx_without_ptxas) {
  setenv("WAVESMITH_PTXAS", "none", 1);
  lowered l = lower_changed("@", "@", "columns=96;sets=2");
  check_good(&l);
  const char *ptx = l.result.code_object;
  WS_CHECK_INT(ptx[l.result.code_object_size - 1], '\0');
  WS_CHECK_INT(strlen(ptx) + 1, l.result.code_object_size);
  WS_CHECK_CONTAINS(ptx, ".target sm_90a\n");
  WS_CHECK_CONTAINS(ptx, ".reqntid 128");
  WS_CHECK_CONTAINS(ptx, ".minnctapersm 1");
  WS_CHECK_CONTAINS(ptx, ".extern .shared .align 1024 .b8 ws_lds[]");
  WS_CHECK_CONTAINS(ptx, "cvta.param.u64"); /* maps are not copied */
  WS_CHECK(!strstr(ptx, ".local"));
  /* three calls in the text, four steps each, with 96 columns */
  WS_CHECK_INT(count_parts(ptx, "wgmma.mma_async.sync.aligned.m64n96k32"), 12);
  /* each call starts anew, then adds; the descriptors go on by 32 bytes */
  WS_CHECK_INT(count_parts(ptx, ", a, b, first, 1, 1;\n"), 3);
  WS_CHECK_INT(count_parts(ptx, ", a, b, more, 1, 1;\n"), 9);
  for (int step = 2; step <= 6; step += 2)
    WS_CHECK_INT(count_steps(ptx, step), 2 * 3);
  WS_CHECK_INT(count_parts(ptx, "wgmma.fence"), 3);
  WS_CHECK_INT(count_parts(ptx, "wgmma.commit_group"), 3);
  WS_CHECK_INT(count_parts(ptx, "wgmma.wait_group.sync.aligned 1;"), 2);
  WS_CHECK_INT(count_parts(ptx, "wgmma.wait_group.sync.aligned 0;"), 2);
  WS_CHECK_INT(count_parts(ptx, "fma.rn.f32"), 4 * 48);
  WS_CHECK_INT(l.result.kernels[0].vgpr, 0);
  WS_CHECK_INT(l.result.kernels[0].code_bytes, 0);
  WS_CHECK_CONTAINS(l.result.compiler, "no ptxas");
  fixture_destroy(&l.f);
}

/* Offsets by hand: two maps of 128, two pointers of 8, two i32. */
WS_TEST(arguments_lie_where_ptx_puts_them) {
  static const struct {
    const char *name;
    int offset, size;
  } want[] = {{"a_map", 0, 128}, {"b_map", 128, 128}, {"as", 256, 8},
              {"c", 264, 8},     {"m", 272, 4},       {"k", 276, 4}};
  setenv("WAVESMITH_PTXAS", "none", 1);
  lowered l = lower_changed("@", "@", "columns=32");
  check_good(&l);
  WS_CHECK_INT(l.result.kernel_count, 1);
  const ws_kernel_facts *kernel = &l.result.kernels[0];
  WS_CHECK_TEXT(kernel->name, "tiny");
  WS_CHECK_INT(kernel->arg_count, 6);
  for (int i = 0; i < 6; i++) {
    WS_CHECK_TEXT(kernel->args[i].name, want[i].name);
    WS_CHECK_INT(kernel->args[i].offset, want[i].offset);
    WS_CHECK_INT(kernel->args[i].size, want[i].size);
  }
  WS_CHECK_INT(kernel->kernarg_bytes, 280);
  WS_CHECK_INT(kernel->max_workgroup, 128);
  WS_CHECK_INT(kernel->dynamic_lds, 49152 + 64);
  fixture_destroy(&l.f);
}

/* i32 in front of a pointer and of a map: 4 and 60 bytes are left out. */
WS_TEST(arguments_are_aligned) {
  setenv("WAVESMITH_PTXAS", "none", 1);
  lowered l = lower_changed(
      "ptr byval([128 x i8]) align 64 %a_map, ptr byval([128 x i8]) align 64 "
      "%b_map, ptr addrspace(1) noalias readonly %as, ptr addrspace(1) noalias "
      "%c, i32 %m, i32 %k)",
      "i32 %m, ptr addrspace(1) noalias readonly %as, i32 %k, ptr byval([128 "
      "x i8]) align 64 %a_map, ptr byval([128 x i8]) align 64 %b_map, ptr "
      "addrspace(1) noalias %c)",
      "columns=32");
  static const int offsets[] = {0, 8, 16, 64, 192, 320};
  check_good(&l);
  const ws_kernel_facts *kernel = &l.result.kernels[0];
  for (int i = 0; i < 6; i++)
    WS_CHECK_INT(kernel->args[i].offset, offsets[i]);
  WS_CHECK_INT(kernel->kernarg_bytes, 328);
  fixture_destroy(&l.f);
}

static void check_hash(const char *what, const lowered *one,
                       const lowered *other, bool same) {
  if (!strcmp(one->result.code_hash, other->result.code_hash) != same)
    WS_FAIL("%s: %s and %s", what, one->result.code_hash,
            other->result.code_hash);
}

WS_TEST(the_hash_is_of_the_code) {
  ws_arena *arena = ws_arena_create();
  char *text = read_tiny_sm90(arena);
  setenv("WAVESMITH_PTXAS", "none", 1);
  lowered plain = lower_text(text, "columns=64", false);
  lowered again =
      lower_text(replace(arena, text, "; region: sums", "; region:\n; sums"),
                 "columns=64", false);
  lowered lines = lower_text(text, "columns=64", true);
  lowered wider = lower_text(text, "columns=96", false);
  lowered more =
      lower_text(replace(arena, text, "!\"49152 + 64\"", "!\"49152 + 128\""),
                 "columns=64", false);
  check_good(&plain), check_good(&again), check_good(&lines);
  check_good(&wider), check_good(&more);
  WS_CHECK_CONTAINS((const char *)lines.result.code_object, ".loc");
  WS_CHECK(!strstr(plain.result.code_object, ".loc"));
  check_hash("comments", &plain, &again, true);
  check_hash("lines", &plain, &lines, true);
  check_hash("columns", &plain, &wider, false);
  check_hash("dynamic shared memory", &plain, &more, false);
  WS_CHECK_TEXT(plain.result.ir_hash, lines.result.ir_hash);
  ws_arena_destroy(arena);
}

/* The scale of the first step is the call's last operand. */
WS_TEST(sums_onto_sums) {
  ws_arena *arena = ws_arena_create();
  char *text = replace(
      arena, read_tiny_sm90(arena),
      "  call void @ws.wgmma.e4m3.k128(ptr %even, i64 %a.desc, i64 %b.desc, "
      "i32 %columns)\n  call void @ws.wgmma.wait(ptr %even, i32 %columns, i32 "
      "0)\n",
      "  call void @ws.wgmma.e4m3.k128.onto(ptr %even, i64 %a.desc, i64 "
      "%b.desc, i32 %columns, i32 %s)\n  call void @ws.wgmma.wait(ptr %even, "
      "i32 %columns, i32 0)\n");
  text = replace(arena, text, "declare void @ws.wgmma.wait(ptr, i32, i32)",
                 "declare void @ws.wgmma.wait(ptr, i32, i32)\n"
                 "declare void @ws.wgmma.e4m3.k128.onto(ptr, i64, i64, i32, "
                 "i32)");
  setenv("WAVESMITH_PTXAS", "none", 1);
  lowered l = lower_text(text, "columns=64;sets=1", false);
  check_good(&l);
  const char *ptx = l.result.code_object, *first;
  WS_CHECK(!strstr(ptx, ".local"));
  WS_CHECK_INT(count_parts(ptx, "m64n64k32"), 4);
  first = strstr(ptx, "setp.ne.b32 first, ");
  WS_CHECK(first && strncmp(first, "setp.ne.b32 first, 0, 0;", 24));
  WS_CHECK_INT(count_parts(ptx, ", a, b, first, 1, 1;\n"), 1);
  WS_CHECK_INT(count_steps(ptx, 6), 2);
  unsetenv("WAVESMITH_PTXAS");
  fixture_destroy(&l.f);
  ws_arena_destroy(arena);
}

/* Four steps of 16 in k, the operands' rows again 32 bytes apart; 16-bit ones
 * say that k is contiguous in both. */
WS_TEST(bf16_has_its_own_instruction) {
  ws_arena *arena = ws_arena_create();
  char *text = replace(
      arena, read_tiny_sm90(arena),
      "  call void @ws.wgmma.e4m3.k128(ptr %even, i64 %a.desc, i64 %b.desc, "
      "i32 %columns)\n",
      "  call void @ws.wgmma.bf16.k64(ptr %even, i64 %a.desc, i64 %b.desc, "
      "i32 %columns)\n"
      "  call void @ws.wgmma.bf16.k64.onto(ptr %even, i64 %a.desc, i64 "
      "%b.desc, i32 %columns, i32 %s)\n");
  text = replace(arena, text, "declare void @ws.wgmma.wait(ptr, i32, i32)",
                 "declare void @ws.wgmma.wait(ptr, i32, i32)\n"
                 "declare void @ws.wgmma.bf16.k64(ptr, i64, i64, i32)\n"
                 "declare void @ws.wgmma.bf16.k64.onto(ptr, i64, i64, i32, "
                 "i32)");
  setenv("WAVESMITH_PTXAS", "none", 1);
  lowered l = lower_text(text, "columns=64;sets=1", false);
  check_good(&l);
  const char *ptx = l.result.code_object;
  WS_CHECK_INT(count_parts(ptx, "m64n64k16.f32.bf16.bf16 {"), 8);
  WS_CHECK_INT(count_parts(ptx, ", a, b, first, 1, 1, 0, 0;\n"), 2);
  WS_CHECK_INT(count_parts(ptx, ", a, b, more, 1, 1, 0, 0;\n"), 6);
  WS_CHECK_INT(count_parts(ptx, "setp.ne.b32 first, 0, 0;"), 1);
  for (int step = 2; step <= 6; step += 2)
    WS_CHECK_INT(count_steps(ptx, step), 2 * 2);
  unsetenv("WAVESMITH_PTXAS");
  fixture_destroy(&l.f);
  ws_arena_destroy(arena);
}

/* In a plugin TMPDIR may be unset: what lies in /tmp under a name that can be
 * guessed is anybody's to prepare. */
WS_TEST(files_lie_in_a_folder_of_our_own) {
  static const char script[] =
      "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n"
      "folder=${4%/*}; echo \"$folder\" >\"$0.said\"\n"
      "stat -c '%a %u' \"$folder\" >>\"$0.said\"; exit 1\n";
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  size_t size;
  char path[] = "/tmp/wavesmith-test-XXXXXX", *said;
  int file = mkstemp(path);
  WS_CHECK(file >= 0 && write(file, script, sizeof script - 1) > 0);
  WS_CHECK(fchmod(file, 0700) == 0 && close(file) == 0);
  setenv("WAVESMITH_PTXAS", path, 1);
  unsetenv("TMPDIR");
  lowered l = lower_changed("@", "@", "columns=32");
  WS_CHECK(!l.good);
  const char *record = ws_arena_printf(arena, "%s.said", path);
  WS_CHECK_INT(ws_file_read(arena, record, &said, &size, &diag), WS_OK);
  char *folder = strtok(said, "\n");
  WS_CHECK_TEXT(strtok(NULL, "\n"),
                ws_arena_printf(arena, "700 %d", (int)geteuid()));
  WS_CHECK(!strstr(folder, ws_arena_printf(arena, "%ld", (long)getpid())));
  WS_CHECK(!ws_file_exists(folder));
  unlink(record);
  unlink(path);
  fixture_destroy(&l.f);
  ws_arena_destroy(arena);
}

/* ---- expansion ----------------------------------------------------------- */

static void check_shape(const char *from, const char *to, const char *words,
                        int findings) {
  setenv("WAVESMITH_PTXAS", "none", 1);
  lowered l = lower_changed(from, to, "sets=1");
  WS_CHECK(!l.good);
  WS_CHECK_INT(l.f.findings.count, findings);
  const ws_finding *found = find_finding(&l.f, "wgmma-shape");
  WS_CHECK(found);
  WS_CHECK_CONTAINS(found->text, words);
  WS_CHECK(found->line > 0);
  fixture_destroy(&l.f);
}

WS_TEST(shapes_that_there_are_not) {
  static const char call[] =
      "  call void @ws.wgmma.wait(ptr %even, i32 %columns, i32 0)\n";
  check_shape(call, "  call void @ws.wgmma.wait(ptr %even, i32 12, i32 0)\n",
              "@ws.wgmma.wait: columns is 12, must be a multiple of 8 from 8 "
              "to 256",
              1);
  check_shape(call, "  call void @ws.wgmma.wait(ptr %even, i32 264, i32 0)\n",
              "columns is 264", 1);
  check_shape(call, "  call void @ws.wgmma.wait(ptr %even, i32 0, i32 0)\n",
              "columns is 0", 1);
  check_shape(call, "  call void @ws.wgmma.wait(ptr %even, i32 %m, i32 0)\n",
              "columns must be known", 1);
  check_shape(call, "  call void @ws.wgmma.wait(ptr %even, i32 64, i32 %s)\n",
              "pending must be known", 1);
  check_shape(call, "  call void @ws.wgmma.wait(ptr %even, i32 64, i32 -1)\n",
              "pending is -1", 1);
}

/* ---- ptxas --------------------------------------------------------------- */

static void need_ptxas(void) {
  if (!*ws__ptxas_path())
    WS_SKIP("there is no ptxas");
}

/* Sums and partial sums all in registers: 3 x 64 and what else there is. */
WS_TEST(sums_end_in_registers) {
  static const struct {
    const char *assignments;
    int low, high;
  } cases[] = {{"columns=32;sets=1", 32, 80},
               {"columns=128;sets=1", 128, 168},
               {"columns=64;sets=2", 96, 128},
               {"columns=128;sets=2", 192, 232}};
  need_ptxas();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    lowered l = lower_changed("@", "@", cases[i].assignments);
    check_good(&l);
    const ws_kernel_facts *kernel = &l.result.kernels[0];
    if (kernel->vgpr < cases[i].low || kernel->vgpr > cases[i].high)
      WS_FAIL("%s takes %d registers", cases[i].assignments, kernel->vgpr);
    WS_CHECK_INT(kernel->vgpr_spills, 0);
    WS_CHECK_INT(kernel->scratch_bytes, 0);
    WS_CHECK_INT(kernel->lds_bytes, 0);
    WS_CHECK(kernel->code_bytes > 0);
    WS_CHECK(!memcmp(l.result.code_object, "\177ELF", 4));
    WS_CHECK_CONTAINS(l.result.compiler, "ptxas ");
    fixture_destroy(&l.f);
  }
}

/* Four workgroups of 128 threads leave 128 registers each. */
WS_TEST(spills_are_refused) {
  need_ptxas();
  lowered l =
      lower_changed("!6 = !{!\"tiny\", !\"1\", !\"1\"}",
                    "!6 = !{!\"tiny\", !\"1\", !\"4\"}", "columns=128;sets=2");
  WS_CHECK(!l.good);
  const ws_finding *found = find_finding(&l.f, "scratch");
  if (!found) /* it may find that it must serialise */
    found = find_finding(&l.f, "ptxas-serialized");
  show_findings(&l.f);
  WS_CHECK(found);
  fixture_destroy(&l.f);
}

/* The partial sums are read while their wgmma is under way. */
WS_TEST(serialized_wgmma_is_refused) {
  need_ptxas();
  lowered l = lower_changed(
      "  call void @ws.wgmma.wait(ptr %even, i32 %columns, i32 0)\n  call void "
      "@accumulate(ptr %sums, ptr %even, float %s.scale)\n",
      "  call void @accumulate(ptr %sums, ptr %even, float %s.scale)\n",
      "sets=1");
  show_findings(&l.f);
  WS_CHECK(!l.good);
  WS_CHECK_CONTAINS(find_finding(&l.f, "ptxas-serialized")->text, "(C75");
  fixture_destroy(&l.f);
}

WS_TEST(ptxas_names_the_line) {
  need_ptxas();
  lowered l = lower_changed("mbarrier.init.shared::cta.b64 [$0], 1;",
                            "mbarrier.begin.shared::cta.b64 [$0], 1;", "");
  WS_CHECK(!l.good);
  const ws_finding *found = find_finding(&l.f, "ptxas");
  WS_CHECK(found);
  WS_CHECK_CONTAINS(found->text, "in the PTX \"mbarrier.begin.shared");
  fixture_destroy(&l.f);
}

WS_TEST(static_shared_memory_is_a_fact) {
  ws_arena *arena = ws_arena_create();
  need_ptxas();
  char *text =
      replace(arena, read_tiny_sm90(arena), "declare float @llvm.fma",
              "@fixed = internal addrspace(3) global [256 x float] poison, "
              "align 16\ndeclare float @llvm.fma");
  text = replace(arena, text, "  %sets = load i32",
                 "  %fixed.at = getelementptr float, ptr addrspace(3) @fixed, "
                 "i32 %item\n"
                 "  store float 1.0, ptr addrspace(3) %fixed.at\n"
                 "  %sets = load i32");
  text = replace(arena, text, "  %row = mul i32 %group, 64",
                 "  %other = xor i32 %item, 1\n"
                 "  %other.at = getelementptr float, ptr addrspace(3) @fixed, "
                 "i32 %other\n"
                 "  %read = load float, ptr addrspace(3) %other.at\n"
                 "  store float %read, ptr %sums\n"
                 "  %row = mul i32 %group, 64");
  lowered l = lower_text(text, "columns=32;sets=1", false);
  check_good(&l);
  WS_CHECK_INT(l.result.kernels[0].lds_bytes, 1024);
  WS_CHECK_INT(l.result.kernels[0].dynamic_lds, 49216);
  ws_arena_destroy(arena);
}

/* ---- scripts in its place ------------------------------------------------ */

static char folder[] = "/tmp/wavesmith-ptxas-XXXXXX";

/* From here on `ptxas` is a script that answers --version and then this. */
static void become_ptxas(const char *script) {
  char path[256];
  WS_CHECK(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/ptxas", folder);
  FILE *file = fopen(path, "w");
  WS_CHECK(file);
  fprintf(file,
          "#!/bin/sh\nif [ \"$1\" = --version ]; then\n"
          "  echo 'Cuda compilation tools, release 9.1, V9.1.85'; exit 0\n"
          "fi\n"
          "while [ $# -gt 1 ]; do\n"
          "  [ \"$1\" = -o ] && out=$2\n  shift\ndone\nin=$1\n%s\n",
          script);
  fclose(file);
  chmod(path, 0700);
  setenv("WAVESMITH_PTXAS", path, 1);
  setenv("TMPDIR", folder, 1);
}

/* Nothing but the script is left in TMPDIR. */
static void remove_ptxas(void) {
  char path[256];
  snprintf(path, sizeof path, "%s/ptxas", folder);
  unlink(path);
  WS_CHECK_INT(rmdir(folder), 0);
}

static lowered lower_with(const char *script) {
  become_ptxas(script);
  lowered l = lower_changed("@", "@", "columns=32");
  remove_ptxas();
  return l;
}

#define REPORT                                                                 \
  "echo \"ptxas info    : Compiling entry function 'tiny' for 'sm_90a'\"\n"    \
  "echo 'ptxas info    : Function properties for tiny'\n"

WS_TEST(a_report_becomes_facts) {
  lowered l = lower_with(
      REPORT "echo '    0 bytes stack frame, 0 bytes spill stores, 0 bytes "
             "spill loads'\n"
             "echo 'ptxas info    : Used 77 registers, used 1 barriers, 12 "
             "bytes smem, 536 bytes cmem[0]'\nprintf CUBIN > \"$out\"");
  check_good(&l);
  WS_CHECK_INT(l.result.kernels[0].vgpr, 77);
  WS_CHECK_INT(l.result.kernels[0].lds_bytes, 12);
  WS_CHECK_INT(l.result.kernels[0].scratch_bytes, 0);
  WS_CHECK_INT(l.result.code_object_size, 5);
  WS_CHECK(!memcmp(l.result.code_object, "CUBIN", 5));
  WS_CHECK_CONTAINS(l.result.compiler, "ptxas 9.1.85");
}

WS_TEST(a_report_of_spills_is_a_finding) {
  lowered l = lower_with(
      REPORT "echo '    24 bytes stack frame, 20 bytes spill stores, 28 bytes "
             "spill loads'\n"
             "echo 'ptxas info    : Used 128 registers'\n"
             "printf CUBIN > \"$out\"");
  WS_CHECK(!l.good);
  WS_CHECK_CONTAINS(find_finding(&l.f, "scratch")->text,
                    "24 bytes of stack per thread (5 registers spilled)");
}

WS_TEST(a_warning_of_serialisation_is_a_finding) {
  lowered l = lower_with(
      REPORT "echo \"ptxas info    : (C7510) Potential Performance Loss: "
             "wgmma.mma_async instructions are serialized due to X in function "
             "'tiny'\"\n"
             "printf CUBIN > \"$out\"");
  WS_CHECK(!l.good);
  WS_CHECK_CONTAINS(find_finding(&l.f, "ptxas-serialized")->text,
                    "(C7510) Potential Performance Loss");
}

WS_TEST(an_error_comes_with_its_line) {
  lowered l = lower_with(
      "line=$(grep -n tid.x \"$in\" | cut -d: -f1)\n"
      "echo \"ptxas $in, line $line; error   : Unknown symbol 'x'\"\n"
      "echo 'ptxas fatal   : Ptx assembly aborted due to errors'\nexit 255");
  WS_CHECK(!l.good);
  WS_CHECK_INT(l.f.findings.count, 1);
  WS_CHECK_INT(l.result.kernel_count, 0);
  WS_CHECK_CONTAINS(l.f.findings.items[0].text,
                    "ptxas: Unknown symbol 'x'; in the PTX \"mov.u32");
  WS_CHECK_CONTAINS(l.f.findings.items[0].text, "%tid.x");
}

WS_TEST(a_fatal_error_without_a_line) {
  lowered l =
      lower_with("echo 'ptxas fatal   : Value of SM is not sane'\nexit 1");
  WS_CHECK(!l.good);
  WS_CHECK_TEXT(find_finding(&l.f, "ptxas")->text,
                "ptxas: Value of SM is not sane");
}

WS_TEST(no_output_at_all) {
  lowered l = lower_with("exit 0");
  WS_CHECK(!l.good);
  WS_CHECK_CONTAINS(find_finding(&l.f, "ptxas")->text, "kernels.cubin");
}

WS_TEST(a_ptxas_that_dies) {
  lowered l = lower_with("echo dying; kill -9 $$");
  WS_CHECK(!l.good);
  WS_CHECK_CONTAINS(find_finding(&l.f, "ptxas")->text, "dying");
}

/* A path that cannot be run is as none. */
WS_TEST(a_ptxas_that_is_not_there) {
  setenv("WAVESMITH_PTXAS", "/nonexistent/ptxas", 1);
  WS_CHECK_TEXT(ws__ptxas_path(), "");
  WS_CHECK_TEXT(ws__ptxas_version(), "");
}

/* Found on PATH; lines of the table are asked for. */
WS_TEST(options_of_ptxas) {
  become_ptxas("echo \"$0\" > \"$out\"");
  unsetenv("WAVESMITH_PTXAS");
  setenv("PATH",
         ws_arena_printf(ws_arena_create(), "%s:%s", folder, getenv("PATH")),
         1);
  WS_CHECK_CONTAINS(ws__ptxas_path(), folder);
  remove_ptxas();
}

/* ---- targets ------------------------------------------------------------- */

/* By hand from the limits of compute capability 9.0: registers, threads, shared
 * memory (228 KB, 1 KB of the system's own each), 32 at most. */
WS_TEST(workgroups_of_a_cu) {
  static const struct {
    int registers, threads, lds, want;
  } cases[] = {
      {168, 384, 199272, 1}, /* shared memory */
      {168, 384, 0, 1},      /* 65536 / 5376 = 12 warps, 12 a workgroup */
      {128, 512, 100000, 1}, /* 16 warps of 4096 registers */
      {128, 256, 100000, 2}, {128, 128, 115712, 2}, /* exactly two */
      {128, 128, 115713, 1},                        /* one byte more */
      {32, 1024, 0, 2},                             /* 64 warps */
      {32, 256, 0, 8},       {16, 32, 0, 32},
      {255, 128, 0, 2}, /* 8 warps of 8192 */
      {255, 512, 0, 0}, /* does not fit at all */
      {0, 128, 0, 0},   /* not known */
  };
  const ws_target *target = ws_target_find("sm_90a");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int got = ws_target_workgroups(target, cases[i].registers, cases[i].threads,
                                   cases[i].lds);
    if (got != cases[i].want)
      WS_FAIL("%d registers, %d threads, %d bytes: %d, want %d",
              cases[i].registers, cases[i].threads, cases[i].lds, got,
              cases[i].want);
  }
  WS_CHECK_INT(ws_target_workgroups(ws_target_find("gfx942"), 64, 256, 0), 0);
}
