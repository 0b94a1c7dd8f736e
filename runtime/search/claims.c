/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a reply claimed of its candidate against its parent, with what was
 * measured afterwards: "speedup" (geometric mean over the shapes that both
 * have), "speedup A,B,..." on a shape, and the change of a fact: "vgpr"
 * (registers of a lane), "lds" (bytes of a workgroup), "scratch" (bytes of a
 * lane). Of several kernels the one that uses most counts. Other claims are
 * kept unmeasured.
 */
#include "occupancy.h"
#include "session.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int vgpr_of(const ws_kernel_facts *facts) { return facts->vgpr; }
static int scratch_of(const ws_kernel_facts *facts) {
  return facts->scratch_bytes;
}

static const struct fact {
  const char *name;
  int (*of)(const ws_kernel_facts *facts);
} facts[] = {
    {"vgpr", vgpr_of}, {"lds", ws__lds_bytes}, {"scratch", scratch_of}};

static int most(const ws_build_result *build, const struct fact *fact) {
  int value = 0;
  for (int i = 0; i < build->kernel_count; i++) {
    int one = fact->of(&build->kernels[i]);
    if (one > value)
      value = one;
  }
  return value;
}

static double shape_speedup(const ws_session *s, const char *text,
                            const ws__result *result,
                            const ws__result *parent) {
  for (int i = 0; i < s->task.shape_count; i++) {
    const ws_shape *shape = &s->task.shapes[i];
    char name[WS_SHAPE_TEXT];
    if (!strcmp(ws_shape_print(shape, name), text) ||
        !strcmp(ws_shape_print_named(shape, name), text))
      return parent->us[i] / result->us[i];
  }
  return NAN;
}

/* NAN: not measured. */
static double measured(const ws_session *s, const char *what,
                       const ws_build_result *build,
                       const ws_build_result *before, const ws__result *result,
                       const ws__result *parent) {
  static const char speedup[] = "speedup ";
  if (!strcmp(what, "speedup"))
    return isinf(result->score) || isinf(parent->score)
               ? NAN
               : exp(result->score - parent->score);
  if (!strncmp(what, speedup, sizeof speedup - 1))
    return shape_speedup(s, what + sizeof speedup - 1, result, parent);
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
    if (!strcmp(what, facts[i].name) && build->kernel_count &&
        before->kernel_count)
      return most(build, &facts[i]) - most(before, &facts[i]);
  return NAN;
}

ws_status ws__claims_json(ws_session *s, ws_arena *arena, const ws__job *job,
                          const ws__result *result, const ws__result *parent,
                          const char **out_json) {
  *out_json = "";
  if (job->reply->claim_count == 0)
    return WS_OK;
  ws_build_result before = {0};
  bool found = false;
  if (parent && *parent->id)
    WS_TRY(ws_archive_get_build(s->archive, arena, parent->id, &found, &before,
                                s->diag));
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < job->reply->claim_count; i++) {
    const ws_reply_claim *claim = &job->reply->claims[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "what", claim->what);
    cJSON_AddNumberToObject(item, "low", claim->low);
    cJSON_AddNumberToObject(item, "high", claim->high);
    double value =
        parent ? measured(s, claim->what, &job->result, &before, result, parent)
               : NAN;
    if (isfinite(value))
      cJSON_AddNumberToObject(item, "measured", value);
    cJSON_AddItemToArray(list, item);
  }
  char *text = cJSON_PrintUnformatted(list);
  cJSON_Delete(list);
  WS_ASSERT(text);
  *out_json = ws_arena_strdup(arena, text);
  cJSON_free(text);
  return WS_OK;
}
