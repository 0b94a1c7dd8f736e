/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A template as the runtime sees it: what the metadata of an LLVM IR file
 * declares (grammar: ir-templates/README.md), without the IR.
 *
 * The compiler side (pass/template_ir.c) turns named metadata into *records*:
 * a kind ("template", "param", ...), its string operands and the line. One
 * reader, ws_template_from_records, serves both sides: the pass calls it
 * directly, the runtime gets the same records as JSON from the compile server
 * (ws_records_from_json). No LLVM here.
 *
 * Threads: a ws_template is immutable once read and may be shared; a
 * ws_candidate belongs to one thread at a time.
 */
#ifndef WAVESMITH_TEMPLATE_H
#define WAVESMITH_TEMPLATE_H

#include "wavesmith/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Operands per kind, in order (all are metadata strings):
 *   template   name, version, problem, target, purpose          (exactly one)
 *              the extractor appends the problem's dimensions, blank-separated,
 *              as a sixth operand
 *   param      name, global, allowed values "16 32 64", meaning
 *              the default is the global's initialiser: the extractor appends
 *              it as a fifth operand
 *   require    expression, reason
 *   lds        global, bytes expression
 *   launch     kernel function, grid x, grid y, grid z, threads, condition
 *              ("1": always); in launch order; the extractor appends the
 *              kernel's argument names, blank-separated, as a seventh operand
 *   workspace  bytes expression                                  (at most one)
 *   region     function, contract in words
 *   variant    region function, variant function, purpose: an alternative body
 *              that the template ships; same signature as the region
 *   allow      feature that is otherwise refused; known: "scratch"
 *   source     file, text, lines of the launched kernels: what the template
 *              was imported from                                 (at most one)
 *   occupancy  kernel, workgroups of a cluster, workgroups that one CU must
 *              hold at once; sm_90a only, expressions of parameters
 *   tensor_map name, argument, element ("u8" "bf16" "f32"), inner and outer
 *              extent (elements; the argument is [outer][inner], dense), box
 *              inner, box outer, swizzle bytes (0 32 64 128); sm_90a only. A
 *              kernel takes it as a 128-byte argument of that name.
 */
typedef struct ws_record {
  const char *kind;
  const char *const *operands;
  int operand_count;
  int line; /* 1-based line in the template file, 0 when unknown */
} ws_record;

typedef struct ws_records {
  const ws_record *items;
  int count;
} ws_records;

typedef struct ws_param {
  const char *name, *global, *meaning;
  const int64_t *values; /* strictly ascending, at least one */
  int value_count;
  int64_t default_value; /* one of values */
  int line;
} ws_param;

typedef struct ws_require {
  const ws_expr *expr;
  const char *reason;
  bool uses_shape; /* names a dimension */
  int line;
} ws_require;

typedef struct ws_lds {
  const char *global;
  const ws_expr *bytes;
  int line;
} ws_lds;

typedef struct ws_launch {
  const char *kernel;
  const ws_expr *grid[3];
  const ws_expr *threads; /* one-dimensional workgroups */
  const ws_expr *condition;
  const char *const *arguments; /* names, of the problem's argument table */
  int argument_count;
  int line;
  int source_line; /* of the kernel in what it was imported from; 0: none */
} ws_launch;

typedef struct ws_variant {
  const char *function, *purpose;
  int line;
} ws_variant;

typedef struct ws_region {
  const char *function, *contract;
  const ws_variant *variants; /* shipped alternatives; the default is none */
  int variant_count;
  int line;
} ws_region;

typedef struct ws_occupancy {
  const char *kernel;
  const ws_expr *cluster, *workgroups; /* parameters only; at least 1 */
  int line;
} ws_occupancy;

/* A TMA descriptor that the launcher makes for each shape. Extents may name
 * dimensions; box and swizzle parameters only. */
typedef enum ws_element {
  WS_ELEMENT_U8,
  WS_ELEMENT_BF16,
  WS_ELEMENT_F32
} ws_element;
int ws_element_bytes(ws_element element);
typedef struct ws_tensor_map {
  const char *name, *argument; /* argument: of the problem, a pointer */
  ws_element element;
  const ws_expr *inner, *outer, *box_inner, *box_outer, *swizzle;
  int line;
} ws_tensor_map;

typedef struct ws_template {
  const char *file; /* as given by the user */
  const char *name, *version, *problem, *target, *purpose;
  const ws_dims *dims; /* of the problem */
  ws_hash hash;        /* of the template's text */
  const ws_param *params;
  int param_count;
  const ws_require *requires;
  int require_count;
  const ws_lds *lds;
  int lds_count;
  const ws_launch *launches;
  int launch_count;
  const ws_expr *workspace; /* NULL: none */
  const ws_region *regions;
  int region_count;
  bool allow_scratch;
  const char *source_file, *source_text; /* imported from; NULL: written */
  const ws_occupancy *occupancies;
  int occupancy_count;
  const ws_tensor_map *tensor_maps;
  int tensor_map_count;
} ws_template;

/* Expressions may name parameters, the problem's dimensions and cu_count. An
 * `lds` or `threads` expression may name parameters only, a `require`
 * parameters and dimensions. Parameters must not be named as these or as a
 * function. Every other name, a duplicate, a value list that is not ascending
 * integers, a default outside the list, a count above the limits below:
 * WS_INPUT with file:line. The result and all it points to live in the arena.
 */
enum {
  WS_TEMPLATE_MAX_PARAMS = 64,
  WS_TEMPLATE_MAX_VALUES = 64,
  WS_TEMPLATE_MAX_REGIONS = 64,
  WS_TEMPLATE_MAX_VARIANTS = 16, /* of one region */
  WS_TEMPLATE_MAX_REQUIRES = 128,
  WS_TEMPLATE_MAX_LDS = 16,
  WS_TEMPLATE_MAX_LAUNCHES = 16,
  WS_TEMPLATE_MAX_TENSOR_MAPS = 8,
  WS_TEMPLATE_MAX_ARGUMENTS = 24 /* of one kernel */
};
ws_status ws_template_from_records(ws_arena *arena, const ws_records *records,
                                   const char *file, ws_hash hash,
                                   const ws_template **out_template,
                                   ws_diag *diag) WS_MUST_CHECK;

/* [{"kind":"param","line":12,"operands":["tile_m",...]}, ...] */
struct cJSON;
struct cJSON *ws_records_to_json(const ws_records *records);
ws_status ws_records_from_json(ws_arena *arena, const struct cJSON *json,
                               ws_records *out_records,
                               ws_diag *diag) WS_MUST_CHECK;

/* A template's declarations back as that text, in the arena. */
char *ws_template_records_json(ws_arena *arena, const ws_template *tmpl);

/* "ll", "cl", "hip", "mlir" of "ir", "opencl", "hip", "mlir", and back; NULL: no
 * such. */
const char *ws_language_ending(const char *language);
const char *ws_language_of_ending(const char *ending);

/* What a fenced block of it, or of a template's text, is called in Markdown. */
const char *ws_language_fence(const char *language);
const char *ws_template_fence(const char *text);

/* A template as its author wrote it, which edits are of and prompts show: the
 * OpenCL C that it was imported from, else template_text, its IR. */
const char *ws_template_written_text(const ws_template *tmpl,
                                     const char *template_text);
/* Of such a text: "mlir" if it begins like one, "opencl" if it has its words and
 * IR's define is not there, else "ir". */
const char *ws_template_language(const char *written_text);

/* NULL / -1 when there is none of that name. */
int ws_template_param_index(const ws_template *tmpl, const char *name);
int ws_template_region_index(const ws_template *tmpl, const char *function);

/* ---- a point of the space ------------------------------------------------ */

/* The body of one region of a candidate. text == NULL: a shipped body, either
 * the default (variant < 0) or variants[variant]. */
typedef struct ws_body {
  int variant;
  const char *language; /* "ir", "opencl", "hip" or "mlir"; NULL for a shipped
                         * body */
  const char *text;
} ws_body;

bool ws_body_same(const ws_body *a, const ws_body *b);

typedef struct ws_candidate {
  const ws_template *tmpl;
  int64_t *values; /* by parameter index */
  ws_body *bodies; /* by region index */
  ws_hash id;      /* of template hash, name=value sorted by name, and bodies */
} ws_candidate;

/* All defaults; id is set. */
ws_candidate *ws_candidate_create(ws_arena *arena, const ws_template *tmpl);
ws_candidate *ws_candidate_copy(ws_arena *arena, const ws_candidate *from);
/* Call after changing values or bodies. */
void ws_candidate_update_id(ws_candidate *candidate);
/* "tile_m=128;tile_n=64": sets those, leaves the others. Unknown name, value
 * not in the list (the message shows the list), bad syntax: WS_INPUT. Does not
 * check constraints. Updates the id. */
ws_status ws_candidate_set(ws_candidate *candidate, const char *assignments,
                           ws_diag *diag) WS_MUST_CHECK;
/* "region=variant function;...", "region=default". */
ws_status ws_candidate_set_variants(ws_candidate *candidate, const char *text,
                                    ws_diag *diag) WS_MUST_CHECK;
/* All parameters as "a=1;b=2" in declaration order, in the arena. */
char *ws_candidate_values_text(ws_arena *arena, const ws_candidate *candidate);
/* The shipped variants chosen, as ws_candidate_set_variants takes them; ""
 * when all are default. A body with text of its own is left out. */
char *ws_candidate_variants_text(ws_arena *arena,
                                 const ws_candidate *candidate);

/* Two candidates of the same key are the same: they take the same shapes, run
 * the same code in the same way and so have the same times. build_hash is that
 * of the IR or of the machine code of the candidate's build; the key adds
 * problem, target and layout, launch rules with the kernels' arguments, tensor
 * maps, LDS (dynamic LDS decides how many workgroups one CU holds and is in
 * neither hash), workspace, occupancies and shape constraints, parameters
 * bound. Keys of the two hashes are never compared with each other. In the
 * arena; "" for "". The id above says who a candidate is; this, who is like
 * it. */
const char *ws_candidate_twin_key(ws_arena *arena,
                                  const ws_candidate *candidate,
                                  const char *build_hash);

/* The candidate's parameters as a scope for expressions; with shape != NULL
 * also its sizes, with cu_count > 0 also cu_count. Lives in the arena. */
ws_scope ws_candidate_scope(ws_arena *arena, const ws_candidate *candidate,
                            const ws_shape *shape, int64_t cu_count);

/* Does one of the launches of a kernel have a condition that may hold for some
 * shape, the candidate's parameters being what they are? Kernels of which none
 * does get no code. */
bool ws_candidate_may_launch(const ws_candidate *candidate, const char *kernel);

/* The text that a finding or a profile means by `file`: files named after a
 * region with a body of its own are that body, the one that the template was
 * imported from is that one; any other is the template's, if template_file is
 * NULL or its last part. NULL: none of them. */
const char *ws_candidate_source_text(const ws_candidate *candidate,
                                     const char *template_text,
                                     const char *template_file,
                                     const char *file);
/* Its line `line`, without blanks at its ends, at most 200 bytes, in the arena;
 * "" when there is none. */
const char *ws_candidate_source_line(ws_arena *arena,
                                     const ws_candidate *candidate,
                                     const char *template_text,
                                     const char *template_file,
                                     const char *file, int line);

/* Evaluates the constraints. shape == NULL: only those that do not depend on
 * the shape. Returns -1 when all hold, else the index of the first that fails
 * (an expression that cannot be evaluated counts as failed; the diag then says
 * why, otherwise it says "file:line: reason (expression)"). */
int ws_candidate_broken_require(const ws_candidate *candidate,
                                const ws_shape *shape, ws_diag *diag);

/* The same of a candidate whose other constraints hold, several times faster: do
 * those that depend on the shape? */
bool ws_candidate_takes(const ws_candidate *candidate, const ws_shape *shape);

#ifdef __cplusplus
}
#endif
#endif
