/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The kinds of requests, by name.
 */
#include "wavesmith/llm.h"

#include <string.h>

static const char *const texts[] = {
#define WS_REQUEST_TEXT(name, text) text,
    WS_REQUEST_MAP(WS_REQUEST_TEXT)
#undef WS_REQUEST_TEXT
};

const char *ws_request_text(ws_request_kind kind) { return texts[kind]; }

bool ws_request_parse(const char *text, ws_request_kind *out_kind) {
  for (int i = 0; i < WS_REQUEST_COUNT; i++)
    if (!strcmp(texts[i], text)) {
      *out_kind = (ws_request_kind)i;
      return true;
    }
  return false;
}

bool ws_request_is_document(ws_request_kind kind) {
  return kind == WS_REQUEST_SELECT || kind == WS_REQUEST_DESIGN ||
         kind == WS_REQUEST_DISTIL;
}
