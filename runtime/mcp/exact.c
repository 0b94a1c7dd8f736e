/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Ids and progress tokens come back as they were sent, and cJSON holds numbers
 * as doubles: 2^53 + 1 would come back as 2^53, to no question of the client's.
 * So each number keeps its text in its valuestring, which cJSON copies and
 * frees with the node. Numbers stand in the text in the order of the nodes.
 */
#include "wire.h"

#include <cjson/cJSON.h>
#include <string.h>

static const char *end_of_string(const char *at) {
  for (at++; *at != '"'; at++)
    at += *at == '\\';
  return at + 1;
}

/* The next number at or behind *at, which moves behind it. The text is JSON: a
 * digit or a sign outside of strings begins one. */
static const char *next_number(const char **at, size_t *out_size) {
  static const char parts[] = "0123456789+-.eE";
  const char *from = *at;
  while (!strchr("-0123456789", *from))
    from = *from == '"' ? end_of_string(from) : from + 1;
  *out_size = strspn(from, parts);
  *at = from + *out_size;
  return from;
}

static char *copy_text(const char *text, size_t size) {
  char *copy = cJSON_malloc(size + 1);
  WS_ASSERT(copy && "out of memory");
  memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}

static void keep(cJSON *item, const char **at) {
  for (; item; item = item->next) {
    size_t size;
    if (cJSON_IsNumber(item)) {
      const char *number = next_number(at, &size);
      item->valuestring = copy_text(number, size);
    }
    keep(item->child, at);
  }
}

void ws__mcp_keep_numbers(cJSON *message, const char *text, size_t size) {
  char *line = copy_text(text, size);
  const char *at = line;
  keep(message, &at);
  cJSON_free(line);
}

/* By RFC 8259; cJSON reads more, "01" for one. */
static bool is_number(const char *text) {
  static const char digits[] = "0123456789";
  text += *text == '-';
  size_t whole = strspn(text, digits);
  if (!whole || (whole > 1 && *text == '0'))
    return false;
  text += whole;
  if (*text == '.') {
    size_t part = strspn(++text, digits);
    if (!part)
      return false;
    text += part;
  }
  if (*text == 'e' || *text == 'E') {
    text++;
    text += *text == '+' || *text == '-';
    size_t exponent = strspn(text, digits);
    if (!exponent)
      return false;
    text += exponent;
  }
  return !*text;
}

bool ws__mcp_is_token(const cJSON *item) {
  return cJSON_IsString(item) ||
         (cJSON_IsNumber(item) && is_number(item->valuestring));
}

cJSON *ws__mcp_echo(const cJSON *item) {
  cJSON *echo = !item                  ? cJSON_CreateNull()
                : cJSON_IsNumber(item) ? cJSON_CreateRaw(item->valuestring)
                                       : cJSON_Duplicate(item, true);
  WS_ASSERT(echo && "out of memory");
  return echo;
}
