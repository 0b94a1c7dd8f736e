/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What every other part stands on: arena, string buffer, hash, random
 * numbers, clock, log, files, environment, subprocesses, JSON glue.
 *
 * Memory: the module's objects live in an arena and die with it. Allocation
 * failure ends the process with one line on stderr (WS_ASSERT); no function
 * here returns NULL for lack of memory.
 * Threads: nothing here has shared mutable state except the log level, which
 * is read once, the environment and the list of ws_process_hide. An arena,
 * buffer or generator belongs to one thread.
 */
#ifndef WAVESMITH_BASE_H
#define WAVESMITH_BASE_H

#include "wavesmith/status.h"
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arena: allocations that die together -------------------------------- */
typedef struct ws_arena ws_arena;
ws_arena *ws_arena_create(void);
void ws_arena_destroy(ws_arena *arena); /* NULL is allowed */
/* Zeroed, aligned to 16. size 0 gives a valid pointer. */
void *ws_arena_alloc(ws_arena *arena, size_t size);
/* Room for one more item of `size` bytes behind `count`: the array as it is, or
 * a copy twice as large, whose size is left in *capacity (0 at first). */
void *ws_arena_grow(ws_arena *arena, void *items, size_t size, int count,
                    int *capacity);
char *ws_arena_strdup(ws_arena *arena, const char *text); /* NULL -> NULL */
char *ws_arena_strndup(ws_arena *arena, const char *text, size_t size);
char *ws_arena_printf(ws_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- string buffer: grows, always NUL-terminated ------------------------- */
typedef struct ws_strbuf {
  char *data; /* never NULL after init */
  size_t size;
  size_t capacity;
} ws_strbuf;
void ws_strbuf_init(ws_strbuf *buffer);
void ws_strbuf_deinit(ws_strbuf *buffer);
void ws_strbuf_append(ws_strbuf *buffer, const void *data, size_t size);
void ws_strbuf_puts(ws_strbuf *buffer, const char *text);
void ws_strbuf_printf(ws_strbuf *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- hash: SHA-256 (libmd), shown as the first 32 hexadecimal digits ------
 */
typedef struct ws_hash {
  char hex[33]; /* 128 bits as lower-case hex, NUL-terminated */
} ws_hash;
ws_hash ws_hash_bytes(const void *data, size_t size);
typedef struct ws_hasher ws_hasher;
ws_hasher *ws_hasher_create(void);
void ws_hasher_update(ws_hasher *hasher, const void *data, size_t size);
/* Text with its terminating NUL, so that ("ab","c") and ("a","bc") differ. */
void ws_hasher_update_text(ws_hasher *hasher, const char *text);
ws_hash ws_hasher_finish(ws_hasher *owned_hasher); /* frees the hasher */

/* ---- random numbers: xoshiro256**, seeded through splitmix64 --------------
 */
typedef struct ws_rng {
  uint64_t state[4];
} ws_rng;
void ws_rng_init(ws_rng *rng, uint64_t seed);
uint64_t ws_rng_next(ws_rng *rng);
/* Uniform in [0, bound); bound > 0. Unbiased. */
uint64_t ws_rng_below(ws_rng *rng, uint64_t bound);
double ws_rng_double(ws_rng *rng); /* [0, 1) */
double ws_rng_normal(ws_rng *rng); /* mean 0, variance 1 */

/* ---- clock --------------------------------------------------------------- */
double ws_clock_ms(void);       /* monotonic */
int64_t ws_clock_unix_ms(void); /* wall clock; only for records */

/* A limit of time that runs only while we do: of the time between two looks at
 * most WS_LOOK_MS counts, so that whoever was stopped for a minute does not
 * take that for somebody else's silence. Look more often than that. */
enum { WS_LOOK_MS = 1000 };
typedef struct ws_patience {
  double left_ms, looked_ms;
} ws_patience;
ws_patience ws_patience_begin(double limit_ms);
double ws_patience_left(ws_patience *patience); /* <= 0: it is over */

/* ---- log: stderr; WAVESMITH_LOG=error|warn|info|debug (default warn) -------
 */
typedef enum ws_log_level {
  WS_LOG_ERROR,
  WS_LOG_WARN,
  WS_LOG_INFO,
  WS_LOG_DEBUG
} ws_log_level;
void ws_log(ws_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- files --------------------------------------------------------------- */
/* Reads a whole file into the arena, NUL-terminated (the NUL is not counted).
 * WS_INPUT when it cannot be read; the diag names path and reason. */
ws_status ws_file_read(ws_arena *arena, const char *path, char **out_data,
                       size_t *out_size, ws_diag *diag) WS_MUST_CHECK;
/* Writes through a temporary file in the same folder, fsync and rename, so
 * that the old content survives any failure (full disk included).
 * WS_ENVIRONMENT on failure. */
ws_status ws_file_write_atomic(const char *path, const void *data, size_t size,
                               ws_diag *diag) WS_MUST_CHECK;
/* mkdir -p. */
ws_status ws_make_directories(const char *path, ws_diag *diag) WS_MUST_CHECK;
bool ws_file_exists(const char *path);
/* Opens a new file beside path, with a name of its own in the arena, for a
 * write that ends with a rename. -1 and errno on failure. */
int ws_file_create_beside(ws_arena *arena, const char *path, char **out_name);
/* Opens the file of a lock, to be locked with flock; one that is not there is
 * made, open to other users for the same. In a folder that others write to,
 * something else may lie in its place: a link, a pipe, a folder or a device is
 * refused. *out_own: it is this user's alone, and may be written.
 * WS_ENVIRONMENT on failure. */
ws_status ws_file_open_lock(const char *path, int *out_descriptor,
                            bool *out_own, ws_diag *diag) WS_MUST_CHECK;
/* The folder that holds the running program, from /proc/self/exe. */
ws_status ws_program_directory(ws_arena *arena, char **out_path,
                               ws_diag *diag) WS_MUST_CHECK;

/* ---- lists of paths in the environment --------------------------------------
 * For programs that are started later: ':' between, a ':' or '\\' of a path
 * behind a '\\'. Adding is for one thread, before others begin. */
/* Unless it is listed. */
void ws_environment_add_path(const char *variable, const char *path);
/* In the order they were added; in the arena. */
const char *const *ws_environment_paths(ws_arena *arena, const char *variable,
                                        int *out_count);

/* ---- standard streams of a program ----------------------------------------
 * First in main(): 0, 1 and 2 where they are closed lead to /dev/null, so that
 * no file takes their number; a write beyond a file size limit becomes an error
 * of that write (SIGXFSZ would end the process). */
void ws_streams_begin(void);
/* Last: code, or WS_ENVIRONMENT's and a line on stderr where anything that was
 * written to stdout is lost. */
int ws_streams_end(const char *program, int code);

/* ---- subprocess with a socket to it ---------------------------------------
 */
typedef struct ws_process {
  pid_t pid;
  int socket; /* our end of a stream socketpair; the child's is its fd 3 */
} ws_process;
/* Starts argv[0] (a path); stdin is /dev/null, stdout goes to stderr, no other
 * descriptor is inherited. The child leads its own session (Ctrl-C does not
 * reach it) and gets SIGKILL when the thread that started it dies. */
ws_status ws_process_start(const char *const *argv, ws_process *out_process,
                           ws_diag *diag) WS_MUST_CHECK;
/* Children started from now on do not get this environment variable: a secret.
 * At most 32. */
void ws_process_hide(const char *variable);
/* Closes the socket, kills the child and all of its session, whatever groups
 * these made, and reaps the child. Safe on a zeroed struct. */
void ws_process_stop(ws_process *process);
/* CPU time used so far, and the state letter of /proc/PID/stat; 0 and 'X' when
 * there is no such process. */
double ws_process_cpu_ms(pid_t pid, char *out_state);
/* Of a process that is silent: it is stopped, or it could run and got less than
 * half of the elapsed time. What used cpu_ms before it was asked. */
bool ws_process_is_starved(pid_t pid, double cpu_ms, double elapsed_ms);

/* ---- messages over a stream socket ----------------------------------------
 * Frame: u32 json size, u32 blob size (little endian), JSON text, blob.
 * Both sizes are capped at WS_MESSAGE_MAX; a larger one is a fault. */
#define WS_MESSAGE_MAX (64u << 20)
ws_status ws_message_send(int socket, const char *json, const void *blob,
                          size_t blob_size, ws_diag *diag) WS_MUST_CHECK;
/* Waits at most timeout_ms of ws_patience (<0: for ever). The result lives in
 * the arena; the JSON is NUL-terminated. WS_ENVIRONMENT on time-out, end of
 * stream or a malformed frame. *out_eof (may be NULL) tells a clean end of
 * stream. */
ws_status ws_message_receive(int socket, int timeout_ms, ws_arena *arena,
                             char **out_json, void **out_blob,
                             size_t *out_blob_size, bool *out_eof,
                             ws_diag *diag) WS_MUST_CHECK;

/* ---- JSON (cJSON): strict reading of objects that others wrote -------------
 */
struct cJSON;
/* Parses text as one JSON value without trailing garbage. NULL and a diag on
 * failure. Free with cJSON_Delete. */
struct cJSON *ws_json_parse(const char *text, size_t size, const char *what,
                            ws_diag *diag);
/* Each getter fails with WS_INPUT and a sentence naming `what` and the key
 * when the key is missing or of another type. Strings are borrowed. */
ws_status ws_json_get_string(const struct cJSON *object, const char *key,
                             const char *what, const char **out,
                             ws_diag *diag) WS_MUST_CHECK;
ws_status ws_json_get_int(const struct cJSON *object, const char *key,
                          const char *what, int64_t *out,
                          ws_diag *diag) WS_MUST_CHECK;
ws_status ws_json_get_double(const struct cJSON *object, const char *key,
                             const char *what, double *out,
                             ws_diag *diag) WS_MUST_CHECK;
ws_status ws_json_get_array(const struct cJSON *object, const char *key,
                            const char *what, const struct cJSON **out,
                            ws_diag *diag) WS_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
