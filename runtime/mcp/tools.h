/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The tools: what they are called, which arguments they take, what they write.
 * A tool writes text for a reader (Markdown); its failure is a status with a
 * sentence.
 */
#ifndef WAVESMITH_MCP_TOOLS_H
#define WAVESMITH_MCP_TOOLS_H

#include "wavesmith/search.h"

struct cJSON;

typedef struct ws__mcp_call {
  ws_session *session;
  ws_archive *archive; /* the session's */
  const ws_tune_options *options;
  const char *template_hash;     /* of the session's template */
  const struct cJSON *arguments; /* checked against the tool's fields */
  ws_arena *arena;
  ws_strbuf *out;
  struct cJSON *structured; /* an object by the tool's schema; NULL: it has
                             * none */
  ws_diag *diag;
} ws__mcp_call;

typedef enum ws__mcp_type {
  WS__MCP_TEXT,
  WS__MCP_CHOICE, /* one of choices */
  WS__MCP_TEXTS,  /* a list of at most `high` texts */
  WS__MCP_COUNT,  /* an integer in [low, high] */
  WS__MCP_FLAG
} ws__mcp_type;

typedef struct ws__mcp_field {
  const char *name, *meaning;
  ws__mcp_type type;
  bool required;
  int low, high;
  const char *const *choices; /* ends with NULL */
} ws__mcp_field;

enum { WS__MCP_MAX_FIELDS = 4 };
typedef struct ws__mcp_tool {
  const char *name, *title, *purpose;
  ws_status (*run)(ws__mcp_call *call);
  bool changes;       /* the archive */
  const char *output; /* schema of what it also says as JSON; NULL: nothing */
  ws__mcp_field fields[WS__MCP_MAX_FIELDS]; /* those with a name */
} ws__mcp_tool;

const ws__mcp_tool *ws__mcp_tool_find(const char *name); /* NULL: none */
/* As tools/list has it. */
struct cJSON *ws__mcp_tools_json(void);
/* WS_USAGE: an unknown argument, one that is missing, or of a wrong type.
 * arguments NULL: none given. */
ws_status ws__mcp_tool_check(const ws__mcp_tool *tool,
                             const struct cJSON *arguments,
                             ws_diag *diag) WS_MUST_CHECK;

/* ---- arguments, when checked ---- */
const char *ws__mcp_text(const ws__mcp_call *call, const char *name,
                         const char *otherwise);
int ws__mcp_count(const ws__mcp_call *call, const char *name, int otherwise);
bool ws__mcp_flag(const ws__mcp_call *call, const char *name);
int ws__mcp_texts(const ws__mcp_call *call, const char *name,
                  const char *const **out_texts);
ws_request_kind ws__mcp_kind(const ws__mcp_call *call);

/* ---- prompts and resources (library.c) ---- */
struct cJSON *ws__mcp_prompts_json(void);
/* prompts/get: the prompt of the kind `name`; WS_USAGE: there is none. */
ws_status ws__mcp_prompt_get(ws__mcp_call *call, const char *name,
                             const char *const *parents, int parent_count,
                             struct cJSON **out_result) WS_MUST_CHECK;
ws_status ws__mcp_resources_list(ws__mcp_call *call,
                                 struct cJSON **out_result) WS_MUST_CHECK;
ws_status ws__mcp_resource_read(ws__mcp_call *call, const char *uri,
                                struct cJSON **out_result) WS_MUST_CHECK;

/* ---- the tools ---- */
ws_status ws__mcp_task(ws__mcp_call *call);
ws_status ws__mcp_prompt(ws__mcp_call *call);
ws_status ws__mcp_candidates(ws__mcp_call *call);
ws_status ws__mcp_show(ws__mcp_call *call);
ws_status ws__mcp_check(ws__mcp_call *call);
ws_status ws__mcp_submit(ws__mcp_call *call);
ws_status ws__mcp_findings(ws__mcp_call *call);
ws_status ws__mcp_profile(ws__mcp_call *call);
ws_status ws__mcp_times(ws__mcp_call *call);

#endif
