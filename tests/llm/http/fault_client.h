/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Starts the fault server and asks providers in it.
 */
#ifndef WAVESMITH_TESTS_FAULT_CLIENT_H
#define WAVESMITH_TESTS_FAULT_CLIENT_H

#include "llm/provider.h"

#define TEST_KEY "test-key-123456"

typedef struct fault_server {
  int port, tls_good_port, tls_wrong_port; /* 0: no openssl here */
  char folder[256];                        /* of the certificates */
} fault_server;

/* It ends with the test's process. */
fault_server start_fault_server(bool with_tls);

typedef struct asked { /* one question to a provider of its own */
  const ws__provider *provider;
  void *state;
  bool answered;
  ws_llm_answer answer;
} asked;

/* url is copied. Fails the test when the provider cannot be made. */
asked ask_at(const ws__provider *provider, const char *url, bool stream,
             const ws_llm_options *options);
/* Moves all on until each has its answer; frees the providers. */
void await(asked *all, int count, ws_arena *arena);
/* Asks the server's case over plain HTTP, alone. */
ws_llm_answer answer_of(const fault_server *server, const char *name,
                        ws_arena *arena);

#endif
