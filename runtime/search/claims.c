/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a reply claimed of its candidate against its parent, with what was
 * measured afterwards: "speedup" (geometric mean over the shapes that both
 * have), "speedup A,B,..." on a shape, and changes: of a fact, "vgpr", "agpr",
 * "sgpr" (registers of a lane), "lds" (bytes of a workgroup), "scratch" (bytes
 * of a lane), of several kernels of the one that uses most; of "occupancy"
 * (waves per SIMD), of the kernel with least; and where the simulator profiled
 * both, of "lds_conflict" (clocks of LDS / those without conflicts) and of
 * "share REGION" (per cent of the wave clocks), means over a side's profiled
 * shapes. What cannot be told is kept unmeasured.
 */
#include "occupancy.h"
#include "session.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int vgpr_of(const ws_kernel_facts *facts) { return facts->vgpr; }
static int agpr_of(const ws_kernel_facts *facts) { return facts->agpr; }
static int sgpr_of(const ws_kernel_facts *facts) { return facts->sgpr; }
static int scratch_of(const ws_kernel_facts *facts) {
  return facts->scratch_bytes;
}

static const struct fact {
  const char *name;
  int (*of)(const ws_kernel_facts *facts);
} facts[] = {
    {"vgpr", vgpr_of},      {"agpr", agpr_of},       {"sgpr", sgpr_of},
    {"lds", ws__lds_bytes}, {"scratch", scratch_of},
};

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

/* What a claim can be held against, of one side. */
typedef struct side {
  const ws__result *result;
  const ws_build_result *build;
  ws__heat heat;
} side;

/* NAN: not known. */
static double least_occupancy(const ws_session *s, const side *of) {
  double least = NAN;
  for (int i = 0; of->result->candidate && i < of->build->kernel_count; i++) {
    const ws_kernel_facts *kernel = &of->build->kernels[i];
    const int threads = ws__threads_of(of->result->candidate, kernel->name);
    if (threads > 0 && kernel->vgpr > 0) /* 0: nothing has assembled it */
      least = fmin(least, ws__waves_per_simd(s->task.target, kernel, threads));
  }
  return least;
}

static double share_of(const side *of, const char *region) {
  const int i =
      of->heat.known ? ws_template_region_index(of->heat.tmpl, region) : -1;
  return i < 0 ? NAN : 100 * of->heat.shares[i];
}

static double lds_conflict_of(const side *of) {
  return of->heat.lds_conflict > 0 ? of->heat.lds_conflict : NAN;
}

/* NAN: not measured. */
static double measured(const ws_session *s, const char *what, const side *now,
                       const side *before) {
  static const char speedup[] = "speedup ", share[] = "share ";
  if (!strcmp(what, "speedup"))
    return isinf(now->result->score) || isinf(before->result->score)
               ? NAN
               : exp(now->result->score - before->result->score);
  if (!strncmp(what, speedup, sizeof speedup - 1))
    return shape_speedup(s, what + sizeof speedup - 1, now->result,
                         before->result);
  if (!strncmp(what, share, sizeof share - 1))
    return share_of(now, what + sizeof share - 1) -
           share_of(before, what + sizeof share - 1);
  if (!strcmp(what, "lds_conflict"))
    return lds_conflict_of(now) - lds_conflict_of(before);
  if (!now->build->kernel_count || !before->build->kernel_count)
    return NAN;
  if (!strcmp(what, "occupancy"))
    return least_occupancy(s, now) - least_occupancy(s, before);
  for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
    if (!strcmp(what, facts[i].name))
      return most(now->build, &facts[i]) - most(before->build, &facts[i]);
  return NAN;
}

static ws_status read_heat(ws_session *s, ws_arena *arena, side *of) {
  const ws__brief brief = ws__session_brief(s);
  const ws__request request = {
      .kind = WS_REQUEST_EXPLOIT,
      .parents = {(int)(of->result - s->knowledge.results), -1},
      .target = -1,
      .region = -1,
      .plan = ""};
  return *of->result->id && of->result->candidate
             ? ws__brief_heat(&brief, arena, &request, &of->heat, s->diag)
             : WS_OK;
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
  side now = {.result = result, .build = &job->result},
       then = {.result = parent, .build = &before};
  WS_TRY(read_heat(s, arena, &now));
  if (parent)
    WS_TRY(read_heat(s, arena, &then));
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < job->reply->claim_count; i++) {
    const ws_reply_claim *claim = &job->reply->claims[i];
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "what", claim->what);
    cJSON_AddNumberToObject(item, "low", claim->low);
    cJSON_AddNumberToObject(item, "high", claim->high);
    double value = parent ? measured(s, claim->what, &now, &then) : NAN;
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
