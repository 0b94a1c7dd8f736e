/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A request is waiting for its next attempt, running, or done. Each take
 * starts what is due, lets libcurl move (which never waits), and settles what
 * ended. Time-outs are judged after libcurl has read, not by libcurl: a reply
 * that lies in the socket counts even when the caller was busy for long.
 *
 * Retried: 408, 409, 425, 429, 5xx, lost or refused connections, time-outs.
 * The wait is Retry-After where the server gives one, else 0.5 s, doubled each
 * time up to 60 s; there is no jitter, so a run repeats. A wait that would end
 * after the question's time ends the question at once.
 *
 * TLS is always verified; redirects are not followed, so a key in a header
 * goes to the named host alone. Proxies come from the environment as libcurl
 * reads it; CAs from CURL_CA_BUNDLE, SSL_CERT_FILE, SSL_CERT_DIR or the system.
 */
#include "transport.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FIRST_WAIT_MS = 500, LONGEST_WAIT_MS = 60e3,
                    CONNECT_MS = 30e3;

typedef enum request_state { WAITING, RUNNING, DONE } request_state;

typedef struct request {
  struct request *next;
  request_state state;
  ws__http_tag tag;
  CURL *easy;
  struct curl_slist *headers;
  char *sent_body;
  ws_strbuf body;
  size_t body_limit;
  bool too_large;
  char curl_error[CURL_ERROR_SIZE];
  char error[CURL_ERROR_SIZE + 64], gave_up[160];
  int attempts;
  double posted_ms, attempt_ms, due_ms, done_ms;
} request;

struct ws__transport {
  CURLM *multi;
  ws__http_limits limits;
  request *requests; /* in order of post */
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static void start_curl(void) {
  WS_ASSERT(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
}

ws_status ws__transport_create(const ws__http_limits *limits,
                               ws__transport **out_transport, ws_diag *diag) {
  *out_transport = NULL;
  pthread_once(&curl_once, start_curl);
  CURLM *multi = curl_multi_init();
  if (!multi)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "libcurl cannot start");
  ws__transport *transport = calloc(1, sizeof *transport);
  WS_ASSERT(transport && "out of memory");
  transport->multi = multi;
  transport->limits = *limits;
  *out_transport = transport;
  return WS_OK;
}

static void destroy_request(request *owned) {
  curl_easy_cleanup(owned->easy);
  for (struct curl_slist *header = owned->headers; header;
       header = header->next)
    explicit_bzero(header->data, strlen(header->data));
  curl_slist_free_all(owned->headers);
  free(owned->sent_body);
  ws_strbuf_deinit(&owned->body);
  free(owned);
}

void ws__transport_destroy(ws__transport *transport) {
  if (!transport)
    return;
  for (request *next, *each = transport->requests; each; each = next) {
    next = each->next;
    if (each->state == RUNNING)
      curl_multi_remove_handle(transport->multi, each->easy);
    destroy_request(each);
  }
  curl_multi_cleanup(transport->multi);
  free(transport);
}

/* ---- what is sent -------------------------------------------------------- */

static size_t receive(char *data, size_t unit, size_t count, void *context) {
  request *self = context;
  size_t size = unit * count;
  if (size > self->body_limit - self->body.size) {
    self->too_large = true;
    return CURL_WRITEFUNC_ERROR;
  }
  ws_strbuf_append(&self->body, data, size);
  return size;
}

static void set_certificates(CURL *easy) {
  const char *bundle = getenv("CURL_CA_BUNDLE");
  if (!bundle || !*bundle)
    bundle = getenv("SSL_CERT_FILE");
  const char *folder = getenv("SSL_CERT_DIR");
  if (bundle && *bundle)
    curl_easy_setopt(easy, CURLOPT_CAINFO, bundle);
  if (folder && *folder)
    curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
}

static void set_options(request *self, const ws__http_request *wanted) {
  CURL *easy = self->easy;
  curl_easy_setopt(easy, CURLOPT_PRIVATE, self);
  curl_easy_setopt(easy, CURLOPT_URL, wanted->url);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, self->sent_body);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                   (curl_off_t)strlen(self->sent_body));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, self->headers);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "wavesmith");
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, self);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, self->curl_error);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  if (wanted->direct)
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
  set_certificates(easy);
}

void ws__transport_post(ws__transport *transport,
                        const ws__http_request *wanted) {
  request *self = calloc(1, sizeof *self);
  WS_ASSERT(self && "out of memory");
  self->easy = curl_easy_init();
  self->sent_body = strdup(wanted->body);
  WS_ASSERT(self->easy && self->sent_body && "out of memory");
  for (int i = 0; i < wanted->header_count; i++) {
    struct curl_slist *longer =
        curl_slist_append(self->headers, wanted->headers[i]);
    WS_ASSERT(longer && "out of memory");
    self->headers = longer;
  }
  self->tag = wanted->tag;
  self->body_limit = transport->limits.body_bytes;
  ws_strbuf_init(&self->body);
  set_options(self, wanted);
  self->posted_ms = self->due_ms = ws_clock_ms();
  request **end = &transport->requests;
  while (*end)
    end = &(*end)->next;
  *end = self;
}

/* ---- how an attempt ended -------------------------------------------------
 */

static bool code_is_retryable(long code) {
  return code == 408 || code == 409 || code == 425 || code == 429 ||
         (code >= 500 && code <= 599);
}

static bool fault_is_retryable(CURLcode fault) {
  static const CURLcode faults[] = {CURLE_COULDNT_RESOLVE_PROXY,
                                    CURLE_COULDNT_RESOLVE_HOST,
                                    CURLE_COULDNT_CONNECT,
                                    CURLE_OPERATION_TIMEDOUT,
                                    CURLE_PARTIAL_FILE,
                                    CURLE_GOT_NOTHING,
                                    CURLE_SEND_ERROR,
                                    CURLE_RECV_ERROR,
                                    CURLE_HTTP2,
                                    CURLE_HTTP2_STREAM};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    if (faults[i] == fault)
      return true;
  return false;
}

static long response_code(const request *self) {
  long code = 0;
  curl_easy_getinfo(self->easy, CURLINFO_RESPONSE_CODE, &code);
  return code;
}

static double wait_ms(const request *self) {
  curl_off_t asked = 0; /* seconds; libcurl reads both forms */
  curl_easy_getinfo(self->easy, CURLINFO_RETRY_AFTER, &asked);
  if (asked > 0)
    return 1000.0 * (double)asked;
  double wait = FIRST_WAIT_MS;
  for (int i = 1; i < self->attempts && wait < LONGEST_WAIT_MS; i++)
    wait *= 2;
  return wait < LONGEST_WAIT_MS ? wait : LONGEST_WAIT_MS;
}

/* Another attempt, or the end. */
static void retry_or_end(const ws__transport *transport, request *self,
                         bool retryable) {
  const ws__http_limits *limits = &transport->limits;
  double now = ws_clock_ms(), wait = wait_ms(self);
  double end = self->posted_ms + 1000 * limits->total_seconds;
  self->state = DONE;
  self->done_ms = now;
  if (!retryable || limits->retries == 0)
    return;
  if (self->attempts > limits->retries) {
    snprintf(self->gave_up, sizeof self->gave_up, "%d attempts",
             self->attempts);
  } else if (now + wait >= end) {
    snprintf(self->gave_up, sizeof self->gave_up,
             "attempt %d; the next, after %.1f s, would be past the %.4g s "
             "that a question may take",
             self->attempts, wait / 1000, limits->total_seconds);
  } else {
    self->state = WAITING;
    self->due_ms = now + wait;
    ws_log(WS_LOG_INFO, "llm: question %lld: %s (HTTP %ld); again in %.1f s",
           (long long)self->tag.sequence,
           *self->error ? self->error : "refused", response_code(self),
           wait / 1000);
  }
}

static void settle(ws__transport *transport, request *self, CURLcode fault) {
  curl_multi_remove_handle(transport->multi, self->easy);
  long code = response_code(self);
  if (self->too_large)
    snprintf(self->error, sizeof self->error,
             "the reply is larger than the %zu bytes allowed",
             self->body_limit);
  else if (fault != CURLE_OK)
    snprintf(self->error, sizeof self->error, "%s",
             *self->curl_error ? self->curl_error : curl_easy_strerror(fault));
  ws_log(WS_LOG_DEBUG, "llm: question %lld: attempt %d: HTTP %ld, %zu bytes %s",
         (long long)self->tag.sequence, self->attempts, code, self->body.size,
         self->error);
  retry_or_end(transport, self,
               fault == CURLE_OK ? code_is_retryable(code)
                                 : fault_is_retryable(fault));
}

/* Ends an attempt that has run for too long; libcurl has just read. */
static void check_time(ws__transport *transport, request *self) {
  double now = ws_clock_ms(), ran = now - self->attempt_ms;
  double limit = 1000 * transport->limits.attempt_seconds;
  double left = self->posted_ms + 1000 * transport->limits.total_seconds;
  curl_off_t connected_us = 0;
  curl_easy_getinfo(self->easy, CURLINFO_PRETRANSFER_TIME_T, &connected_us);
  if (!connected_us && ran >= CONNECT_MS)
    snprintf(self->curl_error, sizeof self->curl_error,
             "no connection within %.4g s", CONNECT_MS / 1000);
  else if (ran >= limit || now >= left)
    snprintf(self->curl_error, sizeof self->curl_error,
             "no complete reply within %.1f s%s", ran / 1000,
             self->body.size ? "; it had begun" : "");
  else
    return;
  settle(transport, self, CURLE_OPERATION_TIMEDOUT);
}

/* ---- moving on ------------------------------------------------------------
 */

static void start_attempt(ws__transport *transport, request *self) {
  self->state = RUNNING;
  self->attempts++;
  self->attempt_ms = ws_clock_ms();
  self->body.size = 0;
  self->body.data[0] = '\0';
  self->error[0] = self->curl_error[0] = '\0';
  WS_ASSERT(curl_multi_add_handle(transport->multi, self->easy) == CURLM_OK);
}

/* Until libcurl has nothing to do at once; bounded, for a fast sender. */
static void perform(CURLM *multi) {
  long wait = 0;
  for (int i = 0; i < 16 && wait == 0; i++) {
    int running;
    WS_ASSERT(curl_multi_perform(multi, &running) == CURLM_OK);
    curl_multi_timeout(multi, &wait);
  }
}

static void pump(ws__transport *transport) {
  double now = ws_clock_ms();
  for (request *each = transport->requests; each; each = each->next)
    if (each->state == WAITING && each->due_ms <= now)
      start_attempt(transport, each);
  perform(transport->multi);
  int left;
  for (CURLMsg *message;
       (message = curl_multi_info_read(transport->multi, &left));)
    if (message->msg == CURLMSG_DONE) {
      request *ended;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE,
                        (char **)&ended);
      settle(transport, ended, message->data.result);
    }
  for (request *each = transport->requests; each; each = each->next)
    if (each->state == RUNNING)
      check_time(transport, each);
}

static void give(const request *self, ws_arena *arena, ws__http_result *out) {
  const char *type = NULL;
  curl_easy_getinfo(self->easy, CURLINFO_CONTENT_TYPE, &type);
  char *body = ws_arena_alloc(arena, self->body.size + 1);
  memcpy(body, self->body.data, self->body.size);
  *out = (ws__http_result){.tag = self->tag,
                           .code = response_code(self),
                           .error = ws_arena_strdup(arena, self->error),
                           .content_type =
                               ws_arena_strdup(arena, type ? type : ""),
                           .body = body,
                           .size = self->body.size,
                           .gave_up = ws_arena_strdup(arena, self->gave_up),
                           .attempts = self->attempts,
                           .seconds = (self->done_ms - self->posted_ms) / 1000};
}

bool ws__transport_take(ws__transport *transport, ws_arena *arena,
                        ws__http_result *out_result) {
  pump(transport);
  for (request **link = &transport->requests; *link; link = &(*link)->next) {
    request *self = *link;
    if (self->state != DONE)
      continue;
    give(self, arena, out_result);
    *link = self->next;
    destroy_request(self);
    return true;
  }
  return false;
}
