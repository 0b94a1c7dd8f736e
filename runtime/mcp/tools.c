/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The table of tools. Schemas that clients see and the check of what they send
 * both follow from it.
 */
#include "tools.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

static const char *const kinds[] = {
#define KIND(name, text) text,
    WS_REQUEST_MAP(KIND)
#undef KIND
        NULL};
static const char *const verdicts[] = {
#define VERDICT(name, text) text,
    WS_VERDICT_MAP(VERDICT)
#undef VERDICT
        "any",
    NULL};

#define ID_FIELD                                                               \
  {                                                                            \
    .name = "id", .type = WS__MCP_TEXT, .required = true,                      \
    .meaning = "The candidate: its id, or the first digits of it."             \
  }
#define KIND_FIELD(text)                                                       \
  {                                                                            \
    .name = "kind", .type = WS__MCP_CHOICE, .required = true,                  \
    .choices = kinds, .meaning = text                                          \
  }
#define PARENTS_FIELD(text)                                                    \
  { .name = "parents", .type = WS__MCP_TEXTS, .high = 2, .meaning = text }

/* Schemas of structured results (JSON Schema). */
#define REPLY_FIELD                                                            \
  {                                                                            \
    .name = "reply", .type = WS__MCP_TEXT, .required = true,                   \
    .meaning =                                                                 \
        "The whole reply in the grammar that the prompt describes: Markdown "  \
        "with sections such as \"## name\", \"## reasoning\", "                \
        "\"## expected\", \"## parameters\", \"## region NAME (ir)\" with a "  \
        "whole body or SEARCH/REPLACE edits, or \"## template\"."              \
  }
#define TEXT_OR_NONE "{\"type\":\"string\"}"
#define TIME_FIELDS                                                            \
  "\"shape\":{\"type\":\"object\",\"additionalProperties\":"                   \
  "{\"type\":\"integer\"}},\"us\":{\"type\":\"number\"},"                      \
  "\"low_us\":{\"type\":\"number\"},\"high_us\":{\"type\":\"number\"},"        \
  "\"bound\":{\"type\":\"string\"},\"provenance\":{\"type\":\"string\"}"
static const char submit_output[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"verdict\":{\"type\":\"string\"},\"stage\":" TEXT_OR_NONE
    ",\"reason\":" TEXT_OR_NONE ",\"candidate\":{\"type\":\"string\","
    "\"description\":\"its id; empty when the reply held none\"},"
    "\"speedup_over_parent\":{\"type\":\"number\"},"
    "\"speedup_over_reference\":{\"type\":\"number\"},"
    "\"provenance\":{\"type\":\"string\",\"description\":\"of the times\"}},"
    "\"required\":[\"verdict\",\"stage\",\"reason\",\"candidate\","
    "\"provenance\"]}";
static const char check_output[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"verdict\":{\"type\":\"string\"},\"stage\":" TEXT_OR_NONE
    ",\"reason\":" TEXT_OR_NONE ",\"candidate\":{\"type\":\"string\","
    "\"description\":\"the id that a submit would give it; empty when the "
    "reply held none\"},"
    "\"stages\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
    "\"description\":\"that were run\"},"
    "\"findings\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"properties\":{\"id\":{\"type\":\"string\"},"
    "\"region\":" TEXT_OR_NONE ",\"file\":{\"type\":\"string\"},"
    "\"line\":{\"type\":\"integer\"},\"text\":{\"type\":\"string\"},"
    "\"code\":{\"type\":\"string\",\"description\":\"that line's\"}},"
    "\"required\":[\"id\",\"text\"]}},"
    "\"estimate_geomean_us\":{\"type\":\"number\"},"
    "\"estimates\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"properties\":{" TIME_FIELDS "},"
    "\"required\":[\"shape\",\"us\",\"provenance\"]},"
    "\"description\":\"of the bound model: no time was taken\"}},"
    "\"required\":[\"verdict\",\"stage\",\"reason\",\"candidate\","
    "\"stages\",\"findings\",\"estimates\"]}";
static const char candidates_output[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"reference\":{\"type\":\"string\"},"
    "\"provenance\":{\"type\":\"string\"},"
    "\"candidates\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"properties\":{\"id\":{\"type\":\"string\"},"
    "\"verdict\":{\"type\":\"string\"},\"parent\":{\"type\":\"string\"},"
    "\"run\":{\"type\":\"integer\"},"
    "\"geomean_us\":{\"type\":\"number\"},"
    "\"shapes\":{\"type\":\"integer\"},"
    "\"speedup\":{\"type\":\"number\",\"description\":\"over the "
    "reference\"}},\"required\":[\"id\",\"verdict\",\"parent\",\"run\","
    "\"shapes\"]}}},"
    "\"required\":[\"reference\",\"provenance\",\"candidates\"]}";
static const char times_output[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"candidate\":{\"type\":\"string\"},"
    "\"times\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
    "\"properties\":{" TIME_FIELDS "},"
    "\"required\":[\"shape\",\"us\",\"provenance\"]}}},"
    "\"required\":[\"candidate\",\"times\"]}";

static const ws__mcp_tool tools[] = {
    {.name = "task",
     .title = "The task",
     .purpose =
         "What is to be made faster and within which rules: the problem with "
         "its arguments and tolerance, the shapes, the template with "
         "parameters, constraints, regions and their contracts, what times "
         "candidates, and how far the search has come. Call it first.",
     .run = ws__mcp_task},
    {.name = "prompt",
     .title = "The prompt of a request",
     .purpose =
         "The very prompt that a language model would get for a request of "
         "this kind: target facts, contracts, the parent's code, compile "
         "facts, profile with hot lines, lineage with what was tried and what "
         "it gained, and the exact grammar of the reply. Answer it with "
         "submit, with the same kind and parents.",
     .run = ws__mcp_prompt,
     .fields =
         {KIND_FIELD("What is asked: explore (something new), exploit (one "
                     "improvement of a parent), crossover (the best of two "
                     "parents), repair (mend a failed parent), write "
                     "(implement an experiment); select, design and distil "
                     "ask for documents."),
          PARENTS_FIELD("Ids of at most two candidates to start from. Without "
                        "it the leader of the search.")}},
    {.name = "candidates",
     .title = "List candidates",
     .purpose =
         "Candidates of the archive for this task, best first: id, speed-up "
         "over the run's reference, time, verdict, and what was changed.",
     .run = ws__mcp_candidates,
     .output = candidates_output,
     .fields = {{.name = "verdict",
                 .type = WS__MCP_CHOICE,
                 .choices = verdicts,
                 .meaning = "Only those with this verdict (default: ok)."},
                {.name = "limit",
                 .type = WS__MCP_COUNT,
                 .low = 1,
                 .high = 500,
                 .meaning = "At most so many (default: 20)."},
                {.name = "this_run",
                 .type = WS__MCP_FLAG,
                 .meaning = "Only those of this session's run."}}},
    {.name = "show",
     .title = "Show a candidate",
     .purpose =
         "One candidate in depth: verdict, parameters, code of its regions as "
         "edits apply to it, compile facts (registers, LDS, spills, occupancy, "
         "instruction mix), lineage with gains, claims against outcome.",
     .run = ws__mcp_show,
     .fields = {ID_FIELD,
                {.name = "regions",
                 .type = WS__MCP_TEXTS,
                 .high = WS_TEMPLATE_MAX_REGIONS,
                 .meaning = "Only the code of these regions (default: all)."},
                {.name = "template",
                 .type = WS__MCP_FLAG,
                 .meaning = "The whole text of its template too."}}},
    {.name = "check",
     .title = "Check a reply",
     .purpose =
         "Says what submit would say of the same arguments, up to its timing: "
         "the reply is read, built, checked, run by the sanitizer, lowered, "
         "compared with what is known and, where the session times on a "
         "device, verified there against the reference. Returns verdict, "
         "stage, findings with lines and how to mend them, which stages were "
         "run, and the bound model's estimate where there is one. Nothing "
         "enters the run or the archive: no draw, no exchange, no candidate. "
         "What is ok here can only be slow, or wrong in a timed launch. Takes "
         "seconds.",
     .run = ws__mcp_check,
     .output = check_output,
     .fields = {KIND_FIELD("The kind of request that the reply answers, as for "
                           "prompt."),
                PARENTS_FIELD("Ids of the candidates that the reply starts "
                              "from, as for submit."),
                REPLY_FIELD}},
    {.name = "submit",
     .title = "Submit a reply",
     .purpose =
         "Judges a reply: it is read, built, checked, run by the sanitizer, "
         "verified against the reference, timed and recorded. Returns verdict, "
         "stage, findings with lines and how to mend them, speed-up over the "
         "parent and the times of all shapes. A failed candidate may be mended "
         "by a submit of kind repair with its id as the parent. Takes seconds "
         "to minutes.",
     .run = ws__mcp_submit,
     .output = submit_output,
     .changes = true,
     .fields = {KIND_FIELD("The kind of request that the reply answers, as for "
                           "prompt."),
                PARENTS_FIELD(
                    "Ids of the candidates that the reply starts from, as "
                    "given to prompt. Edits and parameters apply to the "
                    "first. Without it the leader of the search."),
                REPLY_FIELD}},
    {.name = "findings",
     .title = "Findings of a candidate",
     .purpose =
         "Everything that the check, the sanitizer and the simulator found "
         "wrong with a candidate: id of the finding, region, line with its "
         "text, and how to mend it.",
     .run = ws__mcp_findings,
     .fields = {ID_FIELD}},
    {.name = "profile",
     .title = "Profile of a candidate",
     .purpose =
         "Why a candidate takes its time: what bounds each launch, how busy "
         "the units are, what waves wait for, occupancy and its limiter, "
         "memory traffic, and the hottest lines of code.",
     .run = ws__mcp_profile,
     .fields = {ID_FIELD}},
    {.name = "times",
     .title = "Times of a candidate",
     .purpose = "The candidate's time on every shape, with its interval, bound "
                "and provenance; with `against`, ratios to another one.",
     .run = ws__mcp_times,
     .output = times_output,
     .fields = {ID_FIELD,
                {.name = "against",
                 .type = WS__MCP_TEXT,
                 .meaning = "Another candidate to compare with."}}},
};
enum { TOOLS = sizeof tools / sizeof tools[0] };

const ws__mcp_tool *ws__mcp_tool_find(const char *name) {
  for (int i = 0; i < TOOLS; i++)
    if (!strcmp(tools[i].name, name))
      return &tools[i];
  return NULL;
}

/* ---- schemas ---- */
static const char *const type_names[] = {[WS__MCP_TEXT] = "string",
                                         [WS__MCP_CHOICE] = "string",
                                         [WS__MCP_TEXTS] = "array",
                                         [WS__MCP_COUNT] = "integer",
                                         [WS__MCP_FLAG] = "boolean"};

static cJSON *field_json(const ws__mcp_field *field) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "type", type_names[field->type]);
  cJSON_AddStringToObject(json, "description", field->meaning);
  if (field->choices) {
    cJSON *choices = cJSON_AddArrayToObject(json, "enum");
    for (int i = 0; field->choices[i]; i++)
      cJSON_AddItemToArray(choices, cJSON_CreateString(field->choices[i]));
  }
  if (field->type == WS__MCP_TEXTS) {
    cJSON *items = cJSON_AddObjectToObject(json, "items");
    cJSON_AddStringToObject(items, "type", "string");
    cJSON_AddNumberToObject(json, "maxItems", field->high);
  }
  if (field->type == WS__MCP_COUNT) {
    cJSON_AddNumberToObject(json, "minimum", field->low);
    cJSON_AddNumberToObject(json, "maximum", field->high);
  }
  return json;
}

static cJSON *schema_json(const ws__mcp_tool *tool) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "type", "object");
  cJSON *properties = cJSON_AddObjectToObject(json, "properties");
  cJSON *required = cJSON_AddArrayToObject(json, "required");
  for (int i = 0; i < WS__MCP_MAX_FIELDS && tool->fields[i].name; i++) {
    const ws__mcp_field *field = &tool->fields[i];
    cJSON_AddItemToObject(properties, field->name, field_json(field));
    if (field->required)
      cJSON_AddItemToArray(required, cJSON_CreateString(field->name));
  }
  cJSON_AddBoolToObject(json, "additionalProperties", false);
  return json;
}

static cJSON *tool_json(const ws__mcp_tool *tool) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", tool->name);
  cJSON_AddStringToObject(json, "title", tool->title);
  cJSON_AddStringToObject(json, "description", tool->purpose);
  cJSON_AddItemToObject(json, "inputSchema", schema_json(tool));
  if (tool->output)
    cJSON_AddRawToObject(json, "outputSchema", tool->output);
  cJSON *hints = cJSON_AddObjectToObject(json, "annotations");
  cJSON_AddStringToObject(hints, "title", tool->title);
  cJSON_AddBoolToObject(hints, "readOnlyHint", !tool->changes);
  cJSON_AddBoolToObject(hints, "destructiveHint", false);
  cJSON_AddBoolToObject(hints, "openWorldHint", false);
  return json;
}

cJSON *ws__mcp_tools_json(void) {
  cJSON *list = cJSON_CreateArray();
  for (int i = 0; i < TOOLS; i++)
    cJSON_AddItemToArray(list, tool_json(&tools[i]));
  return list;
}

/* ---- the check ---- */
static const ws__mcp_field *find_field(const ws__mcp_tool *tool,
                                       const char *name) {
  for (int i = 0; i < WS__MCP_MAX_FIELDS && tool->fields[i].name; i++)
    if (!strcmp(tool->fields[i].name, name))
      return &tool->fields[i];
  return NULL;
}

static bool is_choice(const ws__mcp_field *field, const char *text) {
  for (int i = 0; field->choices[i]; i++)
    if (!strcmp(field->choices[i], text))
      return true;
  return false;
}

static bool is_text_list(const cJSON *value, int most) {
  const cJSON *item;
  cJSON_ArrayForEach(item, value) {
    if (!cJSON_IsString(item) || most-- <= 0)
      return false;
  }
  return cJSON_IsArray(value);
}

static bool has_type(const ws__mcp_field *field, const cJSON *value) {
  double number = value->valuedouble;
  switch (field->type) {
  case WS__MCP_TEXT:
    return cJSON_IsString(value);
  case WS__MCP_CHOICE:
    return cJSON_IsString(value) && is_choice(field, value->valuestring);
  case WS__MCP_TEXTS:
    return is_text_list(value, field->high);
  case WS__MCP_COUNT:
    return cJSON_IsNumber(value) && number == trunc(number) &&
           number >= field->low && number <= field->high;
  case WS__MCP_FLAG:
    return cJSON_IsBool(value);
  }
  return false;
}

static ws_status fail_type(const ws__mcp_tool *tool, const ws__mcp_field *field,
                           ws_diag *diag) {
  ws_strbuf list;
  ws_strbuf_init(&list);
  for (int i = 0; field->choices && field->choices[i]; i++)
    ws_strbuf_printf(&list, "%s%s", i ? ", " : " of: ", field->choices[i]);
  if (field->type == WS__MCP_TEXTS)
    ws_strbuf_printf(&list, " of at most %d strings", field->high);
  if (field->type == WS__MCP_COUNT)
    ws_strbuf_printf(&list, " from %d to %d", field->low, field->high);
  ws_status status = ws_fail(
      diag, WS_USAGE, tool->name, 0, "argument '%s' must be %s%s%s",
      field->name, field->type == WS__MCP_CHOICE ? "one" : "of type ",
      field->type == WS__MCP_CHOICE ? "" : type_names[field->type], list.data);
  ws_strbuf_deinit(&list);
  return status;
}

static ws_status check_required(const ws__mcp_tool *tool,
                                const cJSON *arguments, ws_diag *diag) {
  for (int i = 0; i < WS__MCP_MAX_FIELDS && tool->fields[i].name; i++) {
    const ws__mcp_field *field = &tool->fields[i];
    if (field->required &&
        !cJSON_GetObjectItemCaseSensitive(arguments, field->name))
      return ws_fail(diag, WS_USAGE, tool->name, 0,
                     "argument '%s' is missing: %s", field->name,
                     field->meaning);
  }
  return WS_OK;
}

ws_status ws__mcp_tool_check(const ws__mcp_tool *tool, const cJSON *arguments,
                             ws_diag *diag) {
  const cJSON *value;
  if (arguments && !cJSON_IsObject(arguments))
    return ws_fail(diag, WS_USAGE, tool->name, 0,
                   "'arguments' must be an object");
  WS_TRY(check_required(tool, arguments, diag));
  cJSON_ArrayForEach(value, arguments) {
    const ws__mcp_field *field = find_field(tool, value->string);
    if (!field)
      return ws_fail(diag, WS_USAGE, tool->name, 0, "unknown argument '%.60s'",
                     value->string);
    if (!(cJSON_IsNull(value) && !field->required) && !has_type(field, value))
      return fail_type(tool, field, diag);
  }
  return WS_OK;
}

/* ---- arguments, when checked ---- */
static const cJSON *argument(const ws__mcp_call *call, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(call->arguments, name);
}

const char *ws__mcp_text(const ws__mcp_call *call, const char *name,
                         const char *otherwise) {
  const cJSON *value = argument(call, name);
  return cJSON_IsString(value) ? value->valuestring : otherwise;
}

int ws__mcp_count(const ws__mcp_call *call, const char *name, int otherwise) {
  const cJSON *value = argument(call, name);
  return cJSON_IsNumber(value) ? value->valueint : otherwise;
}

bool ws__mcp_flag(const ws__mcp_call *call, const char *name) {
  return cJSON_IsTrue(argument(call, name));
}

int ws__mcp_texts(const ws__mcp_call *call, const char *name,
                  const char *const **out_texts) {
  const cJSON *list = argument(call, name), *item;
  int count = 0;
  const char **texts = ws_arena_alloc(
      call->arena, sizeof *texts * (size_t)(cJSON_GetArraySize(list) + 1));
  cJSON_ArrayForEach(item, list) texts[count++] = item->valuestring;
  *out_texts = texts;
  return count;
}

ws_request_kind ws__mcp_kind(const ws__mcp_call *call) {
  ws_request_kind kind = WS_REQUEST_EXPLORE;
  bool known = ws_request_parse(ws__mcp_text(call, "kind", ""), &kind);
  WS_ASSERT(known);
  return kind;
}
