/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A key file is judged by its open descriptor, so that what was checked is
 * what is read: a regular file of the user, with no permission for others. A
 * key is one word of printable ASCII: anything else could forge a header.
 */
#include "keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_BYTES = 4096 };

/* Cuts white space off both ends; moves the rest to the front. */
static void trim(char *text) {
  static const char blank[] = " \t\r\n";
  size_t start = strspn(text, blank), size = strlen(text + start);
  memmove(text, text + start, size + 1);
  while (size && strchr(blank, text[size - 1]))
    text[--size] = '\0';
}

static ws_status check(const char *secret, const char *source, ws_diag *diag) {
  if (!*secret)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "the key in %s is empty",
                   source);
  for (const char *c = secret; *c; c++)
    if (*c <= ' ' || *c > '~')
      return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                     "the key in %s is not one word of printable ASCII",
                     source);
  return WS_OK;
}

static ws_status check_file(int file, const char *path, ws_diag *diag) {
  struct stat facts;
  if (fstat(file, &facts) != 0)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0, "%s", strerror(errno));
  if (!S_ISREG(facts.st_mode))
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "a key file must be a regular file");
  if (facts.st_uid != geteuid())
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "the key file belongs to another user");
  if (facts.st_mode & 077)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "others may read the key file (mode %03o); chmod 600 it",
                   (unsigned)facts.st_mode & 0777);
  if (facts.st_size >= KEY_BYTES)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "too large for a key file; it holds the key alone");
  return WS_OK;
}

static ws_status read_open_file(int file, const char *path, char *buffer,
                                ws_diag *diag) {
  WS_TRY(check_file(file, path, diag));
  size_t size = 0;
  for (ssize_t got = 1; got && size < KEY_BYTES - 1;) {
    got = read(file, buffer + size, KEY_BYTES - 1 - size);
    if (got < 0 && errno != EINTR)
      return ws_fail(diag, WS_ENVIRONMENT, path, 0, "%s", strerror(errno));
    size += got > 0 ? (size_t)got : 0;
  }
  buffer[size] = '\0';
  return WS_OK;
}

static ws_status read_file(const char *path, char *buffer, ws_diag *diag) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0)
    return ws_fail(diag, WS_ENVIRONMENT, path, 0,
                   "the key file cannot be read: %s", strerror(errno));
  ws_status status = read_open_file(file, path, buffer, diag);
  close(file);
  return status;
}

static ws_status read_variable(const char *name, char *buffer, ws_diag *diag) {
  const char *value = getenv(name);
  if (!value)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "no key: the environment variable %s is not set", name);
  if (strlen(value) >= KEY_BYTES)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "the key in %s is too long",
                   name);
  memcpy(buffer, value, strlen(value) + 1);
  ws_process_hide(name); /* compile and device servers have no use for it */
  return WS_OK;
}

ws_status ws__key_read(const char *variable, const char *file,
                       const char *default_variable, ws__key *out_key,
                       ws_diag *diag) {
  *out_key = (ws__key){NULL, file       ? file
                             : variable ? variable
                                        : default_variable};
  if (!file && !variable && !getenv(default_variable))
    return WS_OK;
  char buffer[KEY_BYTES] = "";
  ws_status status = file ? read_file(file, buffer, diag)
                          : read_variable(out_key->source, buffer, diag);
  if (status == WS_OK) {
    trim(buffer);
    status = check(buffer, out_key->source, diag);
  }
  if (status == WS_OK) {
    out_key->secret = strdup(buffer);
    WS_ASSERT(out_key->secret && "out of memory");
  }
  explicit_bzero(buffer, sizeof buffer);
  return status;
}

void ws__key_wipe(ws__key *key) {
  if (key->secret)
    explicit_bzero(key->secret, strlen(key->secret));
  free(key->secret);
  key->secret = NULL;
}
