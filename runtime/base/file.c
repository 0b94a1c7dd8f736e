/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Files: read whole, write so that the old content survives any failure.
 *
 * A write goes to a new file beside the target, is flushed to the disk, and
 * takes the target's name in one step; then the folder is flushed too. Until
 * that step the target is untouched, whatever fails.
 */
#include "wavesmith/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Far above any template, code object or archive text; a mistaken path must
 * not fill the memory. */
enum { FILE_MAX = 1 << 30 };

static ws_status read_descriptor(int descriptor, ws_strbuf *out,
                                 const char *path, ws_diag *diag) {
  char chunk[65536];
  for (;;) {
    ssize_t got = read(descriptor, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return ws_fail(diag, WS_INPUT, path, 0, "cannot read: %s",
                     strerror(errno));
    if (got == 0)
      return WS_OK;
    if (out->size + (size_t)got > FILE_MAX)
      return ws_fail(diag, WS_INPUT, path, 0,
                     "larger than 1 GiB; is this the right file?");
    ws_strbuf_append(out, chunk, (size_t)got);
  }
}

ws_status ws_file_read(ws_arena *arena, const char *path, char **out_data,
                       size_t *out_size, ws_diag *diag) {
  *out_data = NULL;
  *out_size = 0;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return ws_fail(diag, WS_INPUT, path, 0, "cannot open: %s", strerror(errno));
  ws_strbuf content;
  ws_strbuf_init(&content);
  ws_status status = read_descriptor(descriptor, &content, path, diag);
  close(descriptor);
  if (status == WS_OK) {
    *out_data = ws_arena_alloc(arena, content.size + 1);
    memcpy(*out_data, content.data, content.size);
    *out_size = content.size;
  }
  ws_strbuf_deinit(&content);
  return status;
}

static bool write_all(int descriptor, const char *data, size_t size) {
  while (size > 0) {
    ssize_t written = write(descriptor, data, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return false;
    data += written;
    size -= (size_t)written;
  }
  return true;
}

/* The folder part of path as an arena string; "." when there is none. */
static char *folder_of(ws_arena *arena, const char *path) {
  const char *slash = strrchr(path, '/');
  if (!slash)
    return ws_arena_strdup(arena, ".");
  size_t size = slash == path ? 1 : (size_t)(slash - path);
  return ws_arena_strndup(arena, path, size);
}

/* Some file systems cannot flush a folder (EINVAL); there the rename is as
 * durable as it gets. */
static bool flush_folder(const char *folder) {
  int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return false;
  bool flushed = fsync(descriptor) == 0 || errno == EINVAL;
  close(descriptor);
  return flushed;
}

int ws_file_create_beside(ws_arena *arena, const char *path, char **out_name) {
  for (int attempt = 0; attempt < 100; attempt++) {
    *out_name =
        ws_arena_printf(arena, "%s.%ld-%d.tmp", path, (long)getpid(), attempt);
    int descriptor =
        open(*out_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST)
      return descriptor;
  }
  return -1;
}

/* replaced is the state of the file that stands there, or NULL. */
static ws_status write_and_rename(ws_arena *arena, const char *path,
                                  const struct stat *replaced, const void *data,
                                  size_t size, ws_diag *diag) {
  char *name = NULL;
  int descriptor = ws_file_create_beside(arena, path, &name);
  if (descriptor < 0)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "cannot create a file beside it: %s", strerror(errno));
  bool written =
      write_all(descriptor, data, size) &&
      (!replaced || fchmod(descriptor, replaced->st_mode & 07777) == 0) &&
      fsync(descriptor) == 0;
  int failure = errno;
  if (close(descriptor) != 0 && written) {
    written = false;
    failure = errno;
  }
  if (!written || rename(name, path) != 0) {
    failure = written ? errno : failure;
    unlink(name);
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "cannot write %zu bytes: %s; what was there is unchanged",
                   size, strerror(failure));
  }
  if (!flush_folder(folder_of(arena, path)))
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "written, but its folder cannot be flushed: %s",
                   strerror(errno));
  return WS_OK;
}

ws_status ws_file_write_atomic(const char *path, const void *data, size_t size,
                               ws_diag *diag) {
  struct stat target;
  bool exists = stat(path, &target) == 0;
  if (exists && !S_ISREG(target.st_mode))
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "not a regular file; it will not be replaced");
  /* Through a symbolic link, the file is replaced and not the link. */
  char *resolved = exists ? realpath(path, NULL) : NULL;
  ws_arena *arena = ws_arena_create();
  ws_status status =
      write_and_rename(arena, resolved ? resolved : path,
                       exists ? &target : NULL, data, size, diag);
  ws_arena_destroy(arena);
  free(resolved);
  return status;
}

/* ---- locks ---- */
enum {
  LOCK_FLAGS = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
  LOCK_MODE = 0644 /* others lock it, and may not write it */
};

/* Without O_CREAT first: a folder that is shared may forbid that on another
 * user's file (fs.protected_regular). That file may be read-only to us, which
 * is enough for a lock. */
static int open_lock(const char *path) {
  int file = open(path, O_RDWR | LOCK_FLAGS);
  if (file < 0 && errno == ENOENT) {
    file = open(path, O_RDWR | O_CREAT | O_EXCL | LOCK_FLAGS, LOCK_MODE);
    if (file >= 0)
      fchmod(file, LOCK_MODE); /* whatever the umask is */
    else if (errno == EEXIST)  /* another was faster */
      file = open(path, O_RDWR | LOCK_FLAGS);
  }
  if (file < 0 && (errno == EACCES || errno == EROFS))
    file = open(path, O_RDONLY | LOCK_FLAGS);
  return file;
}

/* What must not be there by that name; NULL: a file that will do. */
static const char *not_a_lock(int file, struct stat *out_state) {
  if (file < 0)
    return errno == ELOOP    ? "is a symbolic link, which is not followed"
           : errno == EISDIR ? "is a folder"
           : errno == ENXIO  ? "is a socket or a device"
                             : NULL;
  if (fstat(file, out_state) != 0)
    return "cannot be looked at";
  return S_ISREG(out_state->st_mode) ? NULL : "is not a regular file";
}

ws_status ws_file_open_lock(const char *path, int *out_descriptor,
                            bool *out_own, ws_diag *diag) {
  struct stat state;
  int file = open_lock(path);
  int failure = errno;
  const char *what = not_a_lock(file, &state);
  *out_descriptor = -1;
  *out_own = false;
  if (what && file >= 0)
    close(file);
  if (what)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "the place of a lock %s; remove it", what);
  if (file < 0)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0, "cannot open the lock: %s",
                   strerror(failure));
  *out_descriptor = file;
  /* A second name may have been given to it where it is dear. */
  *out_own = state.st_uid == geteuid() && state.st_nlink == 1 &&
             (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDWR;
  return WS_OK;
}

ws_status ws_make_directories(const char *path, ws_diag *diag) {
  ws_arena *arena = ws_arena_create();
  char *partial = ws_arena_strdup(arena, path);
  ws_status status = WS_OK;
  for (char *end = partial + (*partial == '/');; end++) {
    if (*end != '/' && *end != '\0')
      continue;
    char kept = *end;
    *end = '\0';
    struct stat state;
    if (*partial && mkdir(partial, 0777) != 0) {
      int failure = errno;
      if (stat(partial, &state) != 0 || !S_ISDIR(state.st_mode)) {
        status = ws_fail(diag, WS_ENVIRONMENT, path, 0,
                         "cannot create folder '%s': %s", partial,
                         strerror(failure));
        break;
      }
    }
    *end = kept;
    if (!kept)
      break;
  }
  ws_arena_destroy(arena);
  return status;
}

bool ws_file_exists(const char *path) { return access(path, F_OK) == 0; }

ws_status ws_program_directory(ws_arena *arena, char **out_path,
                               ws_diag *diag) {
  char path[PATH_MAX];
  *out_path = NULL;
  ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
  if (size < 0)
    return ws_fail(diag, WS_ENVIRONMENT, "/proc/self/exe", 0,
                   "cannot read the link: %s; is /proc mounted?",
                   strerror(errno));
  path[size] = '\0';
  *out_path = folder_of(arena, path);
  return WS_OK;
}
