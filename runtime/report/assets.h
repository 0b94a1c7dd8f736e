/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The files that are part of the program (page/, the charts' library).
 */
#ifndef WAVESMITH_REPORT_ASSETS_H
#define WAVESMITH_REPORT_ASSETS_H

#include <stddef.h>

/* X(name, as in {{name}} of page.html) */
#define WS__ASSET_MAP(X)                                                       \
  X(PAGE, page)                                                                \
  X(STYLE, style) X(SCRIPT, script) X(LIBRARY, library) X(LICENCES, licences)
typedef enum ws__asset_name {
#define WS__ASSET_ENUM(name, text) WS__ASSET_##name,
  WS__ASSET_MAP(WS__ASSET_ENUM)
#undef WS__ASSET_ENUM
      WS__ASSET_COUNT
} ws__asset_name;

typedef struct ws__asset {
  const char *data;
  size_t size;
} ws__asset;
ws__asset ws__report_asset(ws__asset_name name);
const char *ws__report_asset_text(ws__asset_name name);

#endif
