/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a region's body may be written in, and how its file's name ends.
 */
#include "wavesmith/template.h"

#include <string.h>

static const struct language {
  const char *name, *ending;
} languages[] = {{"ir", "ll"}, {"opencl", "cl"}, {"hip", "hip"}};
enum { LANGUAGES = sizeof languages / sizeof languages[0] };

const char *ws_language_ending(const char *language) {
  for (int i = 0; i < LANGUAGES; i++)
    if (!strcmp(languages[i].name, language))
      return languages[i].ending;
  return NULL;
}

const char *ws_language_of_ending(const char *ending) {
  for (int i = 0; i < LANGUAGES; i++)
    if (!strcmp(languages[i].ending, ending))
      return languages[i].name;
  return NULL;
}
