/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One server a card: two would disturb each other's times. The lock is a file
 * of the machine's, named after the card, that is locked as long as the process
 * lives, however it dies; inside stands who has it, if the file is ours.
 */
#include "serve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A server that was killed on a hanging card takes a moment to be gone. */
enum { PATIENCE_MS = 2000, POLL_MS = 50, MAX_PATH = 512 };

/* /run/lock is there on most machines; containers may lack it. */
static const char *folder_of_locks(void) {
  const char *named = getenv("WAVESMITH_LOCK_FOLDER");
  ws_diag diag;
  if (!named || !*named)
    return access("/run/lock", W_OK) == 0 ? "/run/lock" : "/tmp";
  if (ws_make_directories(named, &diag) != WS_OK)
    ws_log(WS_LOG_DEBUG, "%s", diag.text); /* opening the file says it all */
  return named;
}

static void name_file(const char *card, char path[MAX_PATH]) {
  char name[128];
  snprintf(name, sizeof name, "%s", card);
  for (char *at = name; *at; at++)
    if (!strchr("0123456789abcdefghijklmnopqrstuvwxyz"
                "ABCDEFGHIJKLMNOPQRSTUVWXYZ-.",
                *at))
      *at = '_';
  snprintf(path, MAX_PATH, "%s/wavesmith-%s.lock", folder_of_locks(), name);
}

static void write_owner(int file) {
  char text[32];
  int size = snprintf(text, sizeof text, "%d\n", (int)getpid());
  if (ftruncate(file, 0) == 0 && pwrite(file, text, (size_t)size, 0) < 0)
    ws_log(WS_LOG_DEBUG, "lock: %s", strerror(errno));
}

static ws_status refuse(int file, const char *path, const ws_device_info *info,
                        ws_diag *diag) {
  char owner[32] = "";
  ssize_t size = pread(file, owner, sizeof owner - 1, 0);
  /* another user's file may say anything */
  owner[size > 0 ? strspn(owner, "0123456789") : 0] = 0;
  close(file);
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "%s (%s) is in use by process %s, which holds %s; wait until "
                 "it has ended, or take another card (--device %s:1)",
                 info->name, info->lock, *owner ? owner : "unknown", path,
                 info->kind);
}

/* Who cleans up the folder may have removed the file after it was opened; a
 * lock on it then keeps nobody out. */
static bool is_still_there(int file, const char *path) {
  struct stat opened, named;
  return fstat(file, &opened) == 0 && lstat(path, &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

static ws_status open_file(const char *path, int *out_file, bool *out_own,
                           ws_diag *diag) {
  ws_diag why;
  ws_status status = ws_file_open_lock(path, out_file, out_own, &why);
  return status == WS_OK
             ? WS_OK
             : ws_fail(diag, status, NULL, 0,
                       "%s; WAVESMITH_LOCK_FOLDER names another folder",
                       why.text);
}

ws_status ws__device_lock(const ws_device_info *info, ws_diag *diag) {
  char path[MAX_PATH];
  int file;
  bool own;
  if (!info->lock || !*info->lock)
    return WS_OK;
  name_file(info->lock, path);
  double end_ms = ws_clock_ms() + PATIENCE_MS;
  for (;;) {
    WS_TRY(open_file(path, &file, &own, diag));
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
      if (ws_clock_ms() > end_ms)
        return refuse(file, path, info, diag);
      nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
    }
    if (is_still_there(file, path))
      break;
    close(file);
  }
  if (own)
    write_owner(file);
  return WS_OK; /* the file stays open: with it the lock */
}
