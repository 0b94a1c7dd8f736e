/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Files: whole reads, and writes that leave the old content when they fail or
 * are killed.
 */
#include "wavesmith/base.h"
#include "ws_test_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

static char path_text[256];
static const char *path_of(const char *name) {
  snprintf(path_text, sizeof path_text, "%s/%s", ws_test_directory(), name);
  return path_text;
}

static void check_content(const char *path, const char *want, size_t size) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag = {""};
  char *data;
  size_t got;
  if (ws_file_read(arena, path, &data, &got, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(got, size);
  WS_CHECK(!memcmp(data, want, size));
  WS_CHECK_INT(data[size], 0);
  ws_arena_destroy(arena);
}

static int count_entries(const char *path) {
  DIR *folder = opendir(path);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

WS_TEST(write_then_read) {
  const char *path = path_of("a");
  ws_diag diag = {""};
  WS_CHECK_INT(ws_file_write_atomic(path, "one\0two", 7, &diag), WS_OK);
  check_content(path, "one\0two", 7);
  WS_CHECK_INT(ws_file_write_atomic(path, "", 0, &diag), WS_OK);
  check_content(path, "", 0);
  WS_CHECK(ws_file_exists(path));
  WS_CHECK_INT(count_entries(ws_test_directory()), 1); /* no leftovers */
  static char large[1 << 20];
  memset(large, 'q', sizeof large);
  WS_CHECK_INT(ws_file_write_atomic(path, large, sizeof large, &diag), WS_OK);
  check_content(path, large, sizeof large);
}

WS_TEST(new_files_follow_the_umask) {
  ws_diag diag;
  struct stat state;
  umask(027);
  WS_CHECK_INT(ws_file_write_atomic(path_of("a"), "x", 1, &diag), WS_OK);
  WS_CHECK(stat(path_of("a"), &state) == 0);
  WS_CHECK_INT(state.st_mode & 0777, 0640);
}

WS_TEST(replaced_files_keep_their_mode) {
  ws_diag diag;
  struct stat state;
  WS_CHECK_INT(ws_file_write_atomic(path_of("a"), "x", 1, &diag), WS_OK);
  WS_CHECK(chmod(path_of("a"), 0600) == 0);
  WS_CHECK_INT(ws_file_write_atomic(path_of("a"), "y", 1, &diag), WS_OK);
  WS_CHECK(stat(path_of("a"), &state) == 0);
  WS_CHECK_INT(state.st_mode & 0777, 0600);
}

WS_TEST(relative_paths_work) {
  ws_diag diag;
  WS_CHECK(chdir(ws_test_directory()) == 0);
  WS_CHECK_INT(ws_file_write_atomic("plain", "x", 1, &diag), WS_OK);
  check_content(path_of("plain"), "x", 1);
}

WS_TEST(read_errors_name_path_and_reason) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  char *data;
  size_t size;
  const char *path = path_of("missing");
  WS_CHECK_INT(ws_file_read(arena, path, &data, &size, &diag), WS_INPUT);
  WS_CHECK(data == NULL);
  WS_CHECK_CONTAINS(diag.text, path);
  WS_CHECK_CONTAINS(diag.text, "No such file");
  WS_CHECK_INT(ws_file_read(arena, ws_test_directory(), &data, &size, &diag),
               WS_INPUT);
  WS_CHECK_CONTAINS(diag.text, "Is a directory");
  WS_CHECK(!ws_file_exists(path));
  ws_arena_destroy(arena);
}

/* /proc files say they have size 0. */
WS_TEST(reads_files_of_unknown_size) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  char *data;
  size_t size;
  WS_CHECK_INT(ws_file_read(arena, "/proc/self/status", &data, &size, &diag),
               WS_OK);
  WS_CHECK(size > 100 && !strncmp(data, "Name:", 5));
  ws_arena_destroy(arena);
}

WS_TEST(write_into_a_missing_folder_fails) {
  ws_diag diag;
  const char *path = path_of("no/such");
  WS_CHECK_INT(ws_file_write_atomic(path, "x", 1, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, path);
  WS_CHECK_CONTAINS(diag.text, "No such file");
}

WS_TEST(write_into_a_read_only_folder_fails) {
  if (geteuid() == 0)
    WS_SKIP("root may write everywhere");
  ws_diag diag;
  WS_CHECK(chmod(ws_test_directory(), 0500) == 0);
  ws_status status = ws_file_write_atomic(path_of("a"), "x", 1, &diag);
  chmod(ws_test_directory(), 0700);
  WS_CHECK_INT(status, WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "Permission denied");
}

WS_TEST(write_refuses_what_is_no_regular_file) {
  ws_diag diag;
  const char *path = path_of("fifo");
  WS_CHECK(mkfifo(path, 0600) == 0);
  WS_CHECK_INT(ws_file_write_atomic(path, "x", 1, &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "not a regular file");
  WS_CHECK_INT(ws_file_write_atomic(ws_test_directory(), "x", 1, &diag),
               WS_ENVIRONMENT);
}

WS_TEST(write_through_a_link_keeps_the_link) {
  ws_diag diag;
  char link[300];
  snprintf(link, sizeof link, "%s/link", ws_test_directory());
  WS_CHECK_INT(ws_file_write_atomic(path_of("real"), "old", 3, &diag), WS_OK);
  WS_CHECK(symlink("real", link) == 0);
  WS_CHECK_INT(ws_file_write_atomic(link, "new!", 4, &diag), WS_OK);
  check_content(path_of("real"), "new!", 4);
  struct stat state;
  WS_CHECK(lstat(link, &state) == 0 && S_ISLNK(state.st_mode));
}

/* A write that is cut short: here by the file size limit. */
WS_TEST(a_failed_write_leaves_the_old_content) {
  static char large[100000];
  ws_diag diag;
  const char *path = path_of("a");
  WS_CHECK_INT(ws_file_write_atomic(path, "old", 3, &diag), WS_OK);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit limit = {4096, 4096};
  WS_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  WS_CHECK_INT(ws_file_write_atomic(path, large, sizeof large, &diag),
               WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "File too large");
  check_content(path, "old", 3);
  WS_CHECK_INT(count_entries(ws_test_directory()), 1);
}

WS_TEST(a_full_disk_leaves_the_old_content) {
  const char *mount_point = ws_test_directory();
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("tmpfs", mount_point, "tmpfs", 0, "size=64k") != 0)
    WS_SKIP("no private mount: %s", strerror(errno));
  static char large[1 << 20];
  ws_diag diag;
  const char *path = path_of("a");
  ws_status first = ws_file_write_atomic(path, "old", 3, &diag);
  ws_status second = ws_file_write_atomic(path, large, sizeof large, &diag);
  if (first == WS_OK && second == WS_ENVIRONMENT) {
    check_content(path, "old", 3);
    WS_CHECK_INT(count_entries(mount_point), 1);
  }
  umount2(mount_point, MNT_DETACH);
  WS_CHECK_INT(first, WS_OK);
  WS_CHECK_INT(second, WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "No space left");
}

/* Writers killed at random moments: a reader finds one version, whole. */
WS_TEST(a_killed_write_leaves_one_whole_version) {
  enum { SIZE = 300000 };
  static char versions[2][SIZE];
  memset(versions[0], 'a', SIZE);
  memset(versions[1], 'b', SIZE);
  ws_diag diag;
  const char *path = path_of("a");
  WS_CHECK_INT(ws_file_write_atomic(path, versions[0], SIZE, &diag), WS_OK);
  ws_arena *arena = ws_arena_create();
  for (int round = 0; round < 30; round++) {
    pid_t writer = fork();
    if (writer == 0)
      for (int i = 0;; i++)
        if (ws_file_write_atomic(path, versions[i & 1], SIZE, NULL) != WS_OK)
          _exit(1);
    usleep(500 + 977 * (unsigned)round);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    char *data;
    size_t size;
    WS_CHECK_INT(ws_file_read(arena, path, &data, &size, &diag), WS_OK);
    WS_CHECK_INT(size, SIZE);
    WS_CHECK(!memcmp(data, versions[data[0] == 'b'], SIZE));
  }
  ws_arena_destroy(arena);
}

WS_TEST(make_directories_like_mkdir_p) {
  ws_diag diag;
  struct stat state;
  WS_CHECK_INT(ws_make_directories(path_of("x/y//z/"), &diag), WS_OK);
  WS_CHECK(stat(path_of("x/y/z"), &state) == 0 && S_ISDIR(state.st_mode));
  WS_CHECK_INT(ws_make_directories(path_of("x/y"), &diag), WS_OK);
  WS_CHECK_INT(ws_make_directories("/", &diag), WS_OK);
  WS_CHECK_INT(ws_make_directories(".", &diag), WS_OK);
  WS_CHECK_INT(ws_file_write_atomic(path_of("file"), "x", 1, &diag), WS_OK);
  WS_CHECK_INT(ws_make_directories(path_of("file/sub"), &diag), WS_ENVIRONMENT);
  WS_CHECK_CONTAINS(diag.text, "file'");
  WS_CHECK_CONTAINS(diag.text, "File exists");
}

WS_TEST(program_directory_holds_this_program) {
  ws_arena *arena = ws_arena_create();
  ws_diag diag;
  char *folder;
  WS_CHECK_INT(ws_program_directory(arena, &folder, &diag), WS_OK);
  WS_CHECK_INT(folder[0], '/');
  WS_CHECK(ws_file_exists(ws_arena_printf(arena, "%s/test_file", folder)));
  ws_arena_destroy(arena);
}

/* ---- locks ---- */
static void lock_is_refused(const char *path, const char *part) {
  ws_diag diag = {""};
  int file;
  bool own;
  WS_CHECK_INT(ws_file_open_lock(path, &file, &own, &diag), WS_ENVIRONMENT);
  WS_CHECK_INT(file, -1);
  WS_CHECK(!own);
  WS_CHECK_CONTAINS(diag.text, path);
  WS_CHECK_CONTAINS(diag.text, part);
}

static int open_lock(const char *path, bool want_own) {
  ws_diag diag = {""};
  int file;
  bool own;
  if (ws_file_open_lock(path, &file, &own, &diag) != WS_OK)
    WS_FAIL("%s", diag.text);
  WS_CHECK_INT(own, want_own);
  WS_CHECK(fcntl(file, F_GETFD) & FD_CLOEXEC);
  return file;
}

WS_TEST(a_lock_is_for_all_users) {
  struct stat state;
  umask(0077);
  open_lock(path_of("lock"), true);
  WS_CHECK(stat(path_of("lock"), &state) == 0);
  WS_CHECK_INT(state.st_mode & 07777, 0644);
  open_lock(path_of("lock"), true); /* again: it is there */
}

/* What another user may have put in the lock's place. */
WS_TEST(a_lock_is_a_plain_file) {
  char target[256];
  snprintf(target, sizeof target, "%s", path_of("precious"));
  WS_CHECK(symlink(target, path_of("link")) == 0);
  lock_is_refused(path_of("link"), "is a symbolic link");
  WS_CHECK(!ws_file_exists(target));
  WS_CHECK(mkfifo(path_of("fifo"), 0666) == 0);
  lock_is_refused(path_of("fifo"), "is not a regular file");
  WS_CHECK(mkdir(path_of("folder"), 0777) == 0);
  lock_is_refused(path_of("folder"), "is a folder");
  lock_is_refused("/dev/null", "is not a regular file");
  lock_is_refused(path_of("no/lock"), "No such file");
}

WS_TEST(a_lock_with_two_names_is_not_written) {
  char target[256];
  ws_diag diag;
  snprintf(target, sizeof target, "%s", path_of("precious"));
  WS_CHECK_INT(ws_file_write_atomic(target, "text", 4, &diag), WS_OK);
  WS_CHECK(link(target, path_of("lock")) == 0);
  open_lock(path_of("lock"), false);
  check_content(target, "text", 4);
}

WS_TEST(another_users_lock_is_not_written) {
  char path[256];
  ws_diag diag;
  if (geteuid() != 0)
    WS_SKIP("needs root, to be two users");
  snprintf(path, sizeof path, "%s", path_of("lock"));
  WS_CHECK_INT(ws_file_write_atomic(path, "1\n", 2, &diag), WS_OK);
  WS_CHECK(chmod(path, 0644) == 0 && chmod(ws_test_directory(), 0777) == 0);
  WS_CHECK(setegid(65534) == 0 && seteuid(65534) == 0);
  int file = open_lock(path, false);
  WS_CHECK_INT(fcntl(file, F_GETFL) & O_ACCMODE, O_RDONLY);
  WS_CHECK_INT(flock(file, LOCK_EX | LOCK_NB), 0);
  WS_CHECK(seteuid(0) == 0);
}
