/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Reads a base address with libcurl's own parser, so that both see the same
 * host. "This machine" is localhost, *.localhost, 127/8 and ::1; libcurl
 * resolves the names to loopback without asking anybody.
 */
#include "endpoint.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <string.h>
#include <strings.h>

static bool is_loopback(const char *host) {
  static const char suffix[] = ".localhost";
  size_t length = strlen(host), suffix_length = strlen(suffix);
  struct in_addr v4;
  if (inet_pton(AF_INET, host, &v4) == 1)
    return ntohl(v4.s_addr) >> 24 == 127;
  return !strcasecmp(host, "localhost") || !strcmp(host, "[::1]") ||
         (length > suffix_length &&
          !strcasecmp(host + length - suffix_length, suffix));
}

/* A part of the address in the arena; NULL: it has none. */
static char *part(ws_arena *arena, CURLU *url, CURLUPart what) {
  char *text = NULL;
  if (curl_url_get(url, what, &text, 0) != CURLUE_OK)
    return NULL;
  char *copy = ws_arena_strdup(arena, text);
  curl_free(text);
  return copy;
}

static ws_status read_parts(ws_arena *arena, CURLU *url, const char *text,
                            ws__endpoint *out, ws_diag *diag) {
  if (curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK)
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "this is not an address of a server; it must be like "
                   "http://127.0.0.1:8080/v1");
  const char *scheme = part(arena, url, CURLUPART_SCHEME);
  out->encrypted = scheme && !strcasecmp(scheme, "https");
  if (!out->encrypted && (!scheme || strcasecmp(scheme, "http")))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "a server's address begins with http:// or https://, not "
                   "with %.40s://",
                   scheme ? scheme : "");
  if (part(arena, url, CURLUPART_USER) ||
      part(arena, url, CURLUPART_PASSWORD) ||
      part(arena, url, CURLUPART_QUERY) || part(arena, url, CURLUPART_FRAGMENT))
    return ws_fail(diag, WS_USAGE, NULL, 0,
                   "a server's address holds no user, password, '?' or '#'; "
                   "give a key by ;key=VARIABLE or ;key-file=PATH");
  out->host = part(arena, url, CURLUPART_HOST);
  out->loopback = out->host && is_loopback(out->host);
  return WS_OK;
}

ws_status ws__endpoint_parse(ws_arena *arena, const char *text,
                             ws__endpoint *out_endpoint, ws_diag *diag) {
  *out_endpoint = (ws__endpoint){0};
  CURLU *url = curl_url();
  WS_ASSERT(url && "out of memory");
  ws_status status = read_parts(arena, url, text, out_endpoint, diag);
  curl_url_cleanup(url);
  size_t length = strlen(text);
  while (length && text[length - 1] == '/')
    length--;
  out_endpoint->base = ws_arena_strndup(arena, text, length);
  return status;
}
