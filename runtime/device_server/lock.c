/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One server a card: two would disturb each other's times. The lock is a file
 * of the machine's, named after the card, that is locked as long as the process
 * lives, however it dies; inside stands who has it.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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

/* Another user's file may be read-only to us; that is enough for a lock. */
static int open_file(const char *path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0)
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  return file < 0 ? open(path, O_RDONLY | O_CLOEXEC) : file;
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
  owner[size > 0 ? strcspn(owner, "\n") : 0] = 0;
  close(file);
  return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                 "%s (%s) is in use by process %s, which holds %s; wait until "
                 "it has ended, or take another card (--device %s:1)",
                 info->name, info->lock, *owner ? owner : "unknown", path,
                 info->kind);
}

ws_status ws__device_lock(const ws_device_info *info, ws_diag *diag) {
  char path[MAX_PATH];
  if (!info->lock || !*info->lock)
    return WS_OK;
  name_file(info->lock, path);
  int file = open_file(path);
  if (file < 0)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "cannot open the card's lock: %s; WAVESMITH_LOCK_FOLDER "
                   "names another folder",
                   strerror(errno));
  double end_ms = ws_clock_ms() + PATIENCE_MS;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (ws_clock_ms() > end_ms)
      return refuse(file, path, info, diag);
    nanosleep(&(struct timespec){.tv_nsec = POLL_MS * 1000000L}, NULL);
  }
  write_owner(file);
  return WS_OK; /* the file stays open: with it the lock */
}
