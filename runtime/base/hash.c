/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * SHA-256 from libmd, cut to 128 bits: names of content, not a signature.
 */
#include "wavesmith/base.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

struct ws_hasher {
  SHA2_CTX context;
};

ws_hasher *ws_hasher_create(void) {
  ws_hasher *hasher = malloc(sizeof *hasher);
  WS_ASSERT(hasher && "out of memory");
  SHA256Init(&hasher->context);
  return hasher;
}

void ws_hasher_update(ws_hasher *hasher, const void *data, size_t size) {
  if (size)
    SHA256Update(&hasher->context, data, size);
}

void ws_hasher_update_text(ws_hasher *hasher, const char *text) {
  ws_hasher_update(hasher, text, strlen(text) + 1);
}

ws_hash ws_hasher_finish(ws_hasher *owned_hasher) {
  static const char digits[] = "0123456789abcdef";
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA256Final(digest, &owned_hasher->context);
  free(owned_hasher);
  ws_hash hash;
  for (size_t i = 0; i < (sizeof hash.hex - 1) / 2; i++) {
    hash.hex[2 * i] = digits[digest[i] >> 4];
    hash.hex[2 * i + 1] = digits[digest[i] & 15];
  }
  hash.hex[sizeof hash.hex - 1] = '\0';
  return hash;
}

ws_hash ws_hash_bytes(const void *data, size_t size) {
  ws_hasher *hasher = ws_hasher_create();
  ws_hasher_update(hasher, data, size);
  return ws_hasher_finish(hasher);
}
