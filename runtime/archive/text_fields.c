/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the files of an export hold: the tables of their members, for export
 * and import.
 */
#include "text.h"

/* ---- templates and runs ---- */
static const ws_json_field template_fields[] = {
    {WS_JSON_TEXT(ws_archived_template, hash)},
    {WS_JSON_TEXT(ws_archived_template, name)},
    {WS_JSON_TEXT(ws_archived_template, version)},
    {WS_JSON_TEXT(ws_archived_template, problem)},
    {WS_JSON_TEXT(ws_archived_template, target)},
    {WS_JSON_TEXT(ws_archived_template, file)}};
const ws_json_struct ws__text_template_json =
    WS_JSON_STRUCT(ws_archived_template, template_fields);

static const ws_json_field run_fields[] = {
    {WS_JSON_TEXT(ws_run_row, problem)},
    {WS_JSON_TEXT(ws_run_row, layout)},
    {WS_JSON_TEXT(ws_run_row, target)},
    {WS_JSON_TEXT(ws_run_row, strategy)},
    {WS_JSON_TEXT(ws_run_row, shape_set)},
    {WS_JSON_TEXT_AS("settings", ws_run_row, settings_json)},
    {WS_JSON_SEED(ws_run_row, seed)}};
const ws_json_struct ws__text_run_json = WS_JSON_STRUCT(ws_run_row, run_fields);

/* ---- candidates ---- */
static const ws_json_field body_fields[] = {
    {WS_JSON_TEXT(ws__text_body, region)}, {WS_JSON_TEXT(ws__text_body, file)}};
static const ws_json_struct body_json =
    WS_JSON_STRUCT(ws__text_body, body_fields);

static const ws_json_field measurement_fields[] = {
    {WS_JSON_SHAPE(ws_measurement, shape)},
    {WS_JSON_DOUBLE(ws_measurement, us)},
    {WS_JSON_DOUBLE(ws_measurement, low_us), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_DOUBLE(ws_measurement, high_us), .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_TEXT(ws_measurement, bound)},
    {WS_JSON_TEXT(ws_measurement, provenance)}};

static ws_status check_measurement(const void *value, const char *what,
                                   ws_diag *diag) {
  const ws_measurement *item = value;
  if (!(item->us > 0) || !*item->provenance)
    return ws_fail(diag, WS_INPUT, what, 0,
                   "a measurement needs a time above 0 and a provenance");
  if (item->low_us == 0 && item->high_us == 0)
    return WS_OK;
  if (!(item->low_us > 0 && item->low_us <= item->us &&
        item->us <= item->high_us))
    return ws_fail(diag, WS_INPUT, what, 0,
                   "the interval %g to %g us does not hold the time %g us",
                   item->low_us, item->high_us, item->us);
  return WS_OK;
}

const ws_json_struct ws_measurement_json = {
    WS_JSON_FIELDS(ws_measurement, measurement_fields),
    .check = check_measurement};

/* What is left out was added later: what a search without models found is
 * written as it was before there were any. */
static const ws_json_field candidate_fields[] = {
#define ROW(text, member)                                                      \
  { WS_JSON_TEXT_AS(text, ws__text_candidate, row.member) }
#define LATER(text, member)                                                    \
  {                                                                            \
    WS_JSON_TEXT_AS(text, ws__text_candidate, row.member),                     \
        .presence = WS_JSON_LEFT_OUT                                           \
  }
    ROW("id", id),
    ROW("template", template_hash),
    ROW("template_name", template_name),
    ROW("layout", layout),
    ROW("assignments", assignments),
    ROW("variants", variants),
    ROW("proposer", proposer),
    ROW("parent", parent_id),
    ROW("move", move),
    {WS_JSON_TEXT(ws__text_candidate, run)},
    ROW("verdict", verdict),
    ROW("stage", stage),
    ROW("reason", reason),
    ROW("ir_hash", ir_hash),
    ROW("code_hash", code_hash),
    LATER("second_parent", second_parent_id),
    LATER("kind", kind),
    LATER("label", label),
    LATER("cell", cell),
#undef ROW
#undef LATER
    {WS_JSON_INT_AS("sequence", ws__text_candidate, row.sequence, INT64_MIN,
                    INT64_MAX)},
    {WS_JSON_INT_AS("island", ws__text_candidate, row.island, INT64_MIN,
                    INT64_MAX),
     .presence = WS_JSON_LEFT_OUT},
    {WS_JSON_ITEMS(ws__text_candidate, bodies, body_count, 0,
                   WS_TEMPLATE_MAX_REGIONS, body_json)},
    {WS_JSON_ITEMS(ws__text_candidate, measurements, measurement_count, 0,
                   INT32_MAX, ws_measurement_json)}};

static ws_status check_candidate(const void *value, const char *what,
                                 ws_diag *diag) {
  const ws__text_candidate *candidate = value;
  ws_verdict verdict;
  if (ws_verdict_parse(candidate->row.verdict, &verdict))
    return WS_OK;
  return ws_fail(diag, WS_INPUT, what, 0, "'%s' is not a verdict",
                 candidate->row.verdict);
}

const ws_json_struct ws__text_candidate_json = {
    WS_JSON_FIELDS(ws__text_candidate, candidate_fields),
    .check = check_candidate};
