/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Keys of model servers: read from the environment or a private file, kept out
 * of every text, wiped after use.
 */
#ifndef WAVESMITH_LLM_KEYS_H
#define WAVESMITH_LLM_KEYS_H

#include "wavesmith/base.h"

typedef struct ws__key {
  char *secret;       /* NULL: none */
  const char *source; /* the variable or file, for messages; borrowed */
} ws__key;

/* file, else variable, else default_variable; the last may be unset, which
 * gives no key. WS_ENVIRONMENT: unset, empty, unreadable, or a file that is
 * not the user's own or that others may read. */
ws_status ws__key_read(const char *variable, const char *file,
                       const char *default_variable, ws__key *out_key,
                       ws_diag *diag) WS_MUST_CHECK;
void ws__key_wipe(ws__key *key);
/* The text with "[key]" where the key was, as it is or encoded (key_scrub.c
 * says how); a key of less than 8 characters is looked for as it is only. */
const char *ws__key_scrub(const ws__key *key, ws_arena *arena,
                          const char *text);

#endif
