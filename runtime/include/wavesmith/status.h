/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How wavesmith's own code reports that it could not do its work.
 *
 * A status owns no memory. The sentence for the user goes into a ws_diag that
 * the caller provides (NULL is allowed and drops the text). What became of a
 * *candidate* is never a status: that is a ws_verdict (build.h), which is data.
 *
 * Threads: a ws_diag belongs to its caller; the rest is pure.
 */
#ifndef WAVESMITH_STATUS_H
#define WAVESMITH_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(name, exit code of a program that ends with it, text) */
#define WS_STATUS_MAP(X)                                                       \
  X(OK, 0, "ok")                                                               \
  X(INPUT, 1, "an input or candidate is at fault")                             \
  X(REFERENCE, 1, "what a problem is compared with is at fault")               \
  X(USAGE, 2, "wrong usage")                                                   \
  X(ENVIRONMENT, 3, "the environment is at fault")                             \
  X(INTERRUPTED, 3, "interrupted")

typedef enum ws_status {
#define WS_STATUS_ENUM(name, exit_code, text) WS_##name,
  WS_STATUS_MAP(WS_STATUS_ENUM)
#undef WS_STATUS_ENUM
} ws_status;

const char *ws_status_text(ws_status status);
int ws_status_exit_code(ws_status status);

/* One line for the user: what, where, how to mend. */
typedef struct ws_diag {
  char text[1024];
} ws_diag;

/* Writes "file:line: message" (file and line are left out when NULL or 0)
 * into diag and returns status, so that callers write
 * `return ws_fail(diag, WS_INPUT, file, line, "...", ...)`. */
ws_status ws_fail(ws_diag *diag, ws_status status, const char *file, int line,
                  const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#define WS_MUST_CHECK __attribute__((warn_unused_result))

/* Returns from the calling function when expr is not WS_OK. Use it only where
 * nothing is held that must be released. */
#define WS_TRY(expr)                                                           \
  do {                                                                         \
    ws_status ws_try_status_ = (expr);                                         \
    if (ws_try_status_ != WS_OK)                                               \
      return ws_try_status_;                                                   \
  } while (0)

/* For errors of the programmer only; stays in release builds. */
#define WS_ASSERT(condition)                                                   \
  ((condition) ? (void)0 : ws_assert_failed(#condition, __FILE__, __LINE__))
void ws_assert_failed(const char *condition, const char *file, int line)
    __attribute__((noreturn));

#ifdef __cplusplus
}
#endif
#endif
