/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The server's stdin is a pipe that only this process holds, so it ends when
 * this process does, however that comes.
 */
#include "fault_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void run_server(int in, int out, bool with_tls) {
  char script[4096];
  const char *source = getenv("WS_SOURCE_DIR");
  snprintf(script, sizeof script, "%s/tests/llm/http/fault_server.py",
           source ? source : ".");
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  execlp("python3", "python3", script, with_tls ? "--tls" : (char *)NULL,
         (char *)NULL);
  _exit(127);
}

fault_server start_fault_server(bool with_tls) {
  fault_server server = {0};
  int in[2], out[2];
  WS_ASSERT(!pipe2(in, O_CLOEXEC) && !pipe2(out, O_CLOEXEC));
  if (fork() == 0)
    run_server(in[0], out[1], with_tls);
  close(in[0]);
  close(out[1]);
  FILE *said = fdopen(out[0], "r");
  WS_ASSERT(said &&
            fscanf(said, "%d %d %d %255s", &server.port, &server.tls_good_port,
                   &server.tls_wrong_port, server.folder) == 4);
  fclose(said);
  return server;
}

asked ask_at(const ws__provider *provider, const char *url, bool stream,
             const ws_llm_options *options) {
  ws__spec spec = {.provider = provider->name,
                   .url = url,
                   .model = "tiny",
                   .path = "",
                   .weight = 1,
                   .usd_in = 2,
                   .usd_out = 10,
                   .key_variable = "WS_TEST_KEY",
                   .stream = stream,
                   .max_reply_tokens = 64,
                   .temperature = 0.5};
  ws_llm_question question = {WS_REQUEST_EXPLOIT, 42, "be brief",
                              "say \"hi\"\n", 0};
  asked one = {.provider = provider};
  ws_diag diag;
  setenv("WS_TEST_KEY", TEST_KEY, 1);
  if (provider->create(&spec, options, &one.state, &diag) != WS_OK ||
      provider->ask(one.state, &question, &diag) != WS_OK) {
    fprintf(stderr, "# %s: %s\n", url, diag.text);
    _exit(1);
  }
  return one;
}

void await(asked *all, int count, ws_arena *arena) {
  ws_diag diag;
  for (int waiting = count; waiting;) {
    waiting = 0;
    for (int i = 0; i < count; i++) {
      asked *one = &all[i];
      if (!one->answered)
        WS_ASSERT(one->provider->take(one->state, arena, &one->answered,
                                      &one->answer, &diag) == WS_OK);
      waiting += !one->answered;
    }
    usleep(1000);
  }
  for (int i = 0; i < count; i++)
    all[i].provider->destroy(all[i].state);
}

ws_llm_answer answer_of(const fault_server *server, const char *name,
                        ws_arena *arena) {
  ws_llm_options options = {.request_seconds = 3, .total_seconds = 4};
  asked one = ask_at(
      &ws__provider_openai,
      ws_arena_printf(arena, "http://127.0.0.1:%d/%s/v1", server->port, name),
      false, &options);
  await(&one, 1, arena);
  return one.answer;
}
