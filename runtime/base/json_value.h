/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Single JSON values that others wrote: what the getters of wavesmith/base.h
 * and the reader of wavesmith/json_fields.h share. member may be NULL: it is
 * missing. key NULL: the value has no name.
 */
#ifndef WAVESMITH_BASE_JSON_VALUE_H
#define WAVESMITH_BASE_JSON_VALUE_H

#include "wavesmith/base.h"

#include <cjson/cJSON.h>

/* Fails unless it is there and is_type() says so. */
ws_status ws__json_expect(const cJSON *member, const char *key,
                          const char *what,
                          cJSON_bool (*is_type)(const cJSON *),
                          const char *type_name, ws_diag *diag) WS_MUST_CHECK;
ws_status ws__json_string(const cJSON *member, const char *key,
                          const char *what, const char **out,
                          ws_diag *diag) WS_MUST_CHECK;
ws_status ws__json_int(const cJSON *member, const char *key, const char *what,
                       int64_t *out, ws_diag *diag) WS_MUST_CHECK;
ws_status ws__json_double(const cJSON *member, const char *key,
                          const char *what, double *out,
                          ws_diag *diag) WS_MUST_CHECK;

#endif
