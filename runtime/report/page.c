/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Puts the page together: page.html with a file of the page, the charts'
 * library, its licences or the data in place of each {{name}}. The data is JSON
 * in which every "<" is written as \u003c, so that whatever a model wrote, it
 * ends no element and begins none. A policy in the page's head allows scripts
 * with the nonce alone, which is the data's hash, and no network at all.
 */
#include "assets.h"
#include "wavesmith/report.h"

#include <cjson/cJSON.h>
#include <string.h>

typedef struct piece {
  const char *name;
  const char *text;
  size_t size;
} piece;

static void append_escaped(ws_strbuf *out, const char *json) {
  for (size_t run; *json; json += run) {
    run = strcspn(json, "<");
    ws_strbuf_append(out, json, run);
    for (; json[run] == '<'; run++)
      ws_strbuf_puts(out, "\\u003c");
  }
}

bool ws_report_has_charts(void) {
  return ws__report_asset(WS__ASSET_LIBRARY).size > 0;
}

static const piece *find_piece(const piece *pieces, int count, const char *name,
                               size_t size) {
  for (int i = 0; i < count; i++)
    if (strlen(pieces[i].name) == size && !memcmp(pieces[i].name, name, size))
      return &pieces[i];
  ws_assert_failed("known {{name}} in page.html", __FILE__, __LINE__);
}

static void fill_in(ws_strbuf *out, ws__asset frame, const piece *pieces,
                    int count) {
  const char *at = frame.data, *end = frame.data + frame.size;
  while (at < end) {
    const char *open = memmem(at, (size_t)(end - at), "{{", 2);
    const char *close =
        open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
    ws_strbuf_append(out, at, (size_t)((close ? open : end) - at));
    if (!close)
      return;
    const piece *found =
        find_piece(pieces, count, open + 2, (size_t)(close - open - 2));
    ws_strbuf_append(out, found->text, found->size);
    at = close + 2;
  }
}

void ws_report_page(const struct cJSON *data, ws_strbuf *out_page) {
  char *json = cJSON_PrintUnformatted(data);
  WS_ASSERT(json);
  ws_strbuf escaped;
  ws_strbuf_init(&escaped);
  append_escaped(&escaped, json);
  cJSON_free(json);
  ws_hash nonce = ws_hash_bytes(escaped.data, escaped.size);
  piece pieces[WS__ASSET_COUNT + 2];
  int count = 0;
  for (; count < WS__ASSET_COUNT; count++) {
    ws__asset asset = ws__report_asset((ws__asset_name)count);
    pieces[count] = (piece){ws__report_asset_text((ws__asset_name)count),
                            asset.data, asset.size};
  }
  pieces[count++] = (piece){"data", escaped.data, escaped.size};
  pieces[count++] = (piece){"nonce", nonce.hex, strlen(nonce.hex)};
  fill_in(out_page, ws__report_asset(WS__ASSET_PAGE), pieces, count);
  ws_strbuf_deinit(&escaped);
}
