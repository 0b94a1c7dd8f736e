/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The assembler takes the files in as they are (.incbin); where they lie is
 * given by the build, one definition WS__ASSET_FILE_name each.
 */
#include "assets.h"

#define WS__QUOTE_(text) #text
#define WS__QUOTE(text) WS__QUOTE_(text)

/* clang-format off */
#define WS__ASSET_TAKE(name, text)                                             \
  __asm__(".pushsection .rodata\n"                                             \
          "ws__asset_begin_" #text ":\n"                                       \
          ".incbin " WS__QUOTE(WS__ASSET_FILE_##text) "\n"                     \
          "ws__asset_end_" #text ":\n"                                         \
          ".byte 0\n"                                                          \
          ".popsection\n");                                                    \
  extern const char ws__asset_begin_##text[]                                   \
      __attribute__((visibility("hidden")));                                   \
  extern const char ws__asset_end_##text[]                                     \
      __attribute__((visibility("hidden")));
WS__ASSET_MAP(WS__ASSET_TAKE)
/* clang-format on */

static const struct {
  const char *text, *begin, *end;
} assets[] = {
#define WS__ASSET_ENTRY(name, text)                                            \
  {#text, ws__asset_begin_##text, ws__asset_end_##text},
    WS__ASSET_MAP(WS__ASSET_ENTRY)
#undef WS__ASSET_ENTRY
};

ws__asset ws__report_asset(ws__asset_name name) {
  return (ws__asset){assets[name].begin,
                     (size_t)(assets[name].end - assets[name].begin)};
}

const char *ws__report_asset_text(ws__asset_name name) {
  return assets[name].text;
}
