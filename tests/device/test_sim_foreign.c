/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * `wavesmith sim` on kernels of others: HIP sources of tests/sim/foreign,
 * compiled by clang through comgr, and files and command lines that are wrong.
 * Each ends with the documented exit code and says what is wrong in one line.
 */
#include "../sim/foreign_compile.h"

#include <sys/stat.h>

static ws_arena *arena;
static char folder[] = "/tmp/wavesmith-foreign-XXXXXX";

static const char *path_of(const char *name) {
  return ws_arena_printf(arena, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *data, size_t size) {
  FILE *file = fopen(path_of(name), "wb");
  WS_CHECK(file && fwrite(data, 1, size, file) == size);
  WS_CHECK(fclose(file) == 0);
}

/* The code object of a source as a file of that name; its bytes. */
static uint8_t *compile(const char *source, const char *name,
                        size_t *out_size) {
  arena = ws_arena_create();
  WS_CHECK(mkdtemp(folder));
  uint8_t *image = foreign_compile(arena, source, "-O3", out_size);
  write_file(name, image, *out_size);
  return image;
}

static void clean_up(void) {
  if (system(ws_arena_printf(arena, "rm -rf '%s'", folder)))
    WS_FAIL("%s stays", folder);
  ws_arena_destroy(arena);
}

/* Standard output and error of `wavesmith sim ARGUMENTS`, its exit code. */
static char *run(const char *arguments, int *out_code) {
  enum { ROOM = 1 << 16 };
  char *text = ws_arena_alloc(arena, ROOM + 1);
  FILE *pipe = popen(ws_arena_printf(arena, "cd '%s' && '%s' sim %s 2>&1",
                                     folder, WS_TOOL, arguments),
                     "r");
  WS_CHECK(pipe);
  size_t got = fread(text, 1, ROOM, pipe);
  int status = pclose(pipe);
  if (!WIFEXITED(status))
    WS_FAIL("sim %s: ended by a signal", arguments);
  text[got] = 0;
  *out_code = WEXITSTATUS(status);
  return text;
}

static void check_run(const char *arguments, int want,
                      const char *const *parts) {
  int code;
  char *text = run(arguments, &code);
  if (code != want)
    WS_FAIL("sim %s: exit code %d, want %d\n%s", arguments, code, want, text);
  for (; *parts; parts++)
    WS_CHECK_CONTAINS(text, *parts);
}

#define PROBLEM                                                                \
  "--problem fp8_gemm_blockscale --layout kmajor --shape 64,96,256"
#define GRID " --grid 'ceildiv(n,32),ceildiv(m,32)'"
#define ARGS " --args a,b,as,bs,c,m,n,k"
#define GEMM " " PROBLEM " --kernel gemm --block 64"

WS_TEST(result_time_and_source_lines) {
  size_t size;
  compile("wave_tile.hip", "gemm.co", &size);
  /* 64 * 96 elements; the lines of the hot loop are the source's */
  const char *const want[] = {"run:   ok, 12288 elements compared",
                              "\ntime:  ", "\nbound by ",
                              "wave_tile.hip:", NULL};
  check_run("gemm.co" GEMM GRID ARGS, 0, want);
  clean_up();
}

WS_TEST(a_workspace_that_is_not_zero) {
  size_t size;
  compile("lds_split.hip", "gemm.co", &size);
  /* Its counters must be zero at the start, and a workspace never is. */
  const char *const want[] = {"run:   wrong, on 64,96,256", NULL};
  check_run("gemm.co " PROBLEM " --kernel gemm --block 256 --args "
            "a,b,as,bs,c,workspace,m,n,k,2 "
            "--grid 'ceildiv(n,64),ceildiv(m,64),2' --workspace 'm*n*4+16'",
            1, want);
  clean_up();
}

/* ---- what is wrong in a file ----------------------------------------------
 */

static uint8_t *copy_of(const uint8_t *image, size_t size) {
  uint8_t *copy = ws_arena_alloc(arena, size);
  memcpy(copy, image, size);
  return copy;
}

/* Offsets of the ELF header: e_machine 18, the low byte of e_flags 48, which
 * holds the GPU (0x4c gfx942, 0x3f gfx90a). */
static void write_bad_files(const uint8_t *image, size_t size) {
  uint8_t *other;
  write_file("text.co", "hello\n", 6);
  write_file("empty.co", "", 0);
  write_file("header.co", image, 40);
  write_file("half.co", image, size / 2);
  other = copy_of(image, size);
  WS_CHECK_INT(other[48], 0x4c);
  other[48] = 0x3f;
  write_file("gfx90a.co", other, size);
  other = copy_of(image, size);
  other[18] = 62; /* x86-64 */
  write_file("x86.co", other, size);
}

WS_TEST(bad_files) {
  static const struct {
    const char *file, *message;
  } cases[] = {{"text.co", "neither an ELF"},
               {"empty.co", "neither an ELF"},
               {"header.co", "error: "},
               {"half.co", "error: "},
               {"gfx90a.co", "another GPU than gfx942"},
               {"x86.co", "another machine than AMDGPU"}};
  size_t size;
  uint8_t *image = compile("wave_tile.hip", "gemm.co", &size);
  write_bad_files(image, size);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const want[] = {cases[i].message, "\nrun:   crash, on ", NULL};
    check_run(ws_arena_printf(arena, "%s" GEMM GRID ARGS, cases[i].file), 1,
              want);
  }
  clean_up();
}

/* Cut at every 61st byte: whatever is missing, an answer and no signal. */
WS_TEST(cut_files) {
  size_t size;
  uint8_t *image = compile("wave_tile.hip", "gemm.co", &size);
  for (size_t cut = 61; cut < size / 3; cut += 61 * 4) {
    int code;
    write_file("cut.co", image, cut);
    run("cut.co" GEMM GRID ARGS " --only run", &code);
    WS_CHECK_INT(code, 1);
  }
  clean_up();
}

/* ---- what is wrong in a launch --------------------------------------------
 */

WS_TEST(bad_launches) {
  static const struct {
    const char *arguments;
    int code;
    const char *message;
  } cases[] = {
      {PROBLEM " --kernel gemm2 --block 64" GRID ARGS, 1, "hipErrorNotFound"},
      {GEMM GRID " --args a,b,as", 1, "arguments are missing or too short"},
      {GEMM GRID, 1, "arguments are missing or too short"},
      {GEMM ARGS " --grid 2147483647,2147483647,2147483647", 1,
       "grid or block is too large"},
      {GEMM ARGS " --grid 4294967296", 2, "workgroups are not possible"},
      {GEMM ARGS " --grid 0", 2, "workgroups are not possible"},
      {GEMM GRID ARGS " --lds 65537", 2, "dynamic LDS (to 65536)"},
      {PROBLEM " --kernel gemm --block 128" GRID ARGS, 1,
       "more threads in the block than the kernel was built for"},
      {PROBLEM " --kernel gemm --block 1025" GRID ARGS, 2,
       "1025 threads (1 to 1024)"},
      {GEMM GRID " --args b,b,b,b,c,m,n,k", 1, "run:   wrong"},
      {GEMM GRID " --args i64:64,b,as,bs,c,m,n,k", 1, "wave_tile.hip:"},
  };
  size_t size;
  compile("wave_tile.hip", "gemm.co", &size);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *const want[] = {cases[i].message, NULL};
    check_run(ws_arena_printf(arena, "gemm.co %s", cases[i].arguments),
              cases[i].code, want);
  }
  clean_up();
}

/* Static LDS of lds_split and 64 KiB on top. */
WS_TEST(more_lds_than_there_is) {
  size_t size;
  compile("lds_split.hip", "gemm.co", &size);
  const char *const want[] = {"LDS", NULL};
  check_run("gemm.co " PROBLEM " --kernel gemm --block 256 --lds 65536 --args "
            "a,b,as,bs,c,workspace,m,n,k,2 --grid 2 --workspace 'm*n*4+16'",
            1, want);
  clean_up();
}
