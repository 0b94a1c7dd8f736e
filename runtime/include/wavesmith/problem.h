/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A problem as the rest of wavesmith sees it: a definition (define_problem.h)
 * that was checked, with its expressions parsed and its defaults filled in.
 * Problems come with wavesmith (kernels/) or from files of the user's; one
 * table has them all.
 *
 * Results of a problem are its output elements. They are looked at in *slices*:
 * of the first extent that all outputs share (a single slice where they share
 * none). What is asked of slices [begin, end) lies output after output, and in
 * each slice after slice.
 *
 * Threads: a ws_problem does not change; its functions are pure and
 * thread-safe. Adding to the table is for one thread, before others begin.
 */
#ifndef WAVESMITH_PROBLEM_H
#define WAVESMITH_PROBLEM_H

#include "wavesmith/define_problem.h"
#include "wavesmith/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_shape_set {
  const char *name; /* "contest", "contest-test", "decode", "held-out" */
  const ws_shape *shapes;
  int count;
} ws_shape_set;

/* A kernel whose results are the reference of a problem that has none: an
 * element passes when
 *   |got - want| <= half a unit in the last place of its type, for each of the
 *                   two, + error + the type's smallest step at zero
 * error: relative |want| + absolute, of an integer 0 where neither is stated.
 * Where want is not finite, got must be the same (at an infinity the type's
 * largest will do). What runs it: wavesmith/reference.h. */
typedef struct ws_reference_kernel {
  const char *file; /* as it was named */
  ws_hash hash;     /* of the template's text */
  /* The user's; absolute and relative < 0: none is stated, the problem's
   * .arithmetic and .terms make it, twice. */
  double relative, absolute;
} ws_reference_kernel;

typedef struct ws_problem {
  const char *name, *purpose, *definition;
  const ws_problem_definition *given;
  const ws_dims *dims;
  const ws_problem_arg *args; /* meaning is never NULL */
  int arg_count;
  const ws_problem_layout *layouts;
  int layout_count; /* at least 1 */
  const char *const *stridings;
  int striding_count; /* at least 1 */
  const ws_shape_set *shape_sets;
  int shape_set_count; /* at least 1 */
  ws_shape_set samples;
  int64_t alignment;
  /* Legal sizes are multiples of step; least is a small legal shape; block: see
   * ws_dim. */
  ws_shape step, least, block;
  bool is_depth[WS_MAX_DIMS];
  const ws_expr *legal; /* over dims; constant 1 where all shapes are */
  int outputs[WS_PROBLEM_MAX_ARGS], output_count; /* arguments to compare */
  /* The file that it came from, "" of one that is built in, and the hash of
   * what was loaded. */
  const char *file;
  const ws_reference_kernel *kernel;     /* NULL: none was named */
  const struct ws__problem_parts *parts; /* of runtime/problem */
} ws_problem;

/* ---- the table ------------------------------------------------------------
 */
const ws_problem *ws_problem_find(const char *name); /* NULL: none */
const ws_problem *const *ws_problems(int *out_count);
/* Adds the problem of a C file, which the system's compiler (CC, else cc)
 * makes a library of that is kept by the hash of its text, or of a library; its
 * name must be new, or its contents those of before. Processes that are started
 * from here on know it too (they find its library in WAVESMITH_PROBLEMS).
 * WS_INPUT with one line for one that does not compile, has another ABI version
 * or says what cannot be. */
ws_status ws_problem_add_file(const char *path, const ws_problem **out_problem,
                              ws_diag *diag) WS_MUST_CHECK;
/* The C text of a problem that a file added, with all that it includes, for
 * machines that have not got them: another file to add. WS_INPUT: it was added
 * as a library; WS_ENVIRONMENT: it cannot be read any more. */
ws_status ws_problem_source(const ws_problem *problem, ws_arena *arena,
                            char **out_text, size_t *out_size,
                            ws_diag *diag) WS_MUST_CHECK;
/* A folder of this name below $WAVESMITH_CACHE, made if it can be. */
const char *ws_problem_cache_folder(ws_arena *arena, const char *name);
/* Adds what the environment names; a program's first act. */
ws_status ws_problems_inherit(ws_diag *diag) WS_MUST_CHECK;
/* --problem: a name, or the path of a file. */
ws_status ws_problem_get(const char *name_or_path,
                         const ws_problem **out_problem,
                         ws_diag *diag) WS_MUST_CHECK;
/* Problems that were named, so that nothing of another is meant; none: of any
 * problem. */
typedef struct ws_problem_list {
  const ws_problem *const *items;
  int count;
} ws_problem_list;
/* WS_INPUT where the kernel of a file says that it is of another problem than
 * those. */
ws_status ws_problem_list_check(const ws_problem_list *named, const char *file,
                                const char *problem,
                                ws_diag *diag) WS_MUST_CHECK;
/* Checks a definition and makes a problem of it, for as long as the process;
 * file is for messages. */
ws_status ws_problem_open(const ws_problem_definition *given, const char *file,
                          const ws_problem **out_problem,
                          ws_diag *diag) WS_MUST_CHECK;

/* ---- what results are compared with ----------------------------------------
 */
/* A reference of its own, or a kernel: without, nothing can be judged. */
bool ws_problem_is_comparable(const ws_problem *problem);
/* Its results are compared with those of this kernel from here on. requires: a
 * problem without a reference of its own; the kernel stays. */
void ws_problem_compare_with(const ws_problem *problem,
                             const ws_reference_kernel *kernel);
/* What arithmetic may be off by beside a kernel: "0.01 |want| + 0", or the
 * default's formula. In the arena. */
const char *ws_problem_tolerance_text(ws_arena *arena,
                                      const ws_problem *problem);

/* ---- crashes ---------------------------------------------------------------
 * A function of a problem from a file that crashes on some shape, does not end
 * or ends the process is nobody's fault but the file's: the process ends with
 * WS_REFERENCE's exit code once `say` had the problem and a sentence. It is
 * called in a handler, where another crash or two seconds end it too; whoever
 * reads pipes to the process sees no more. Without, a line goes to stderr. */
typedef void (*ws_problem_crash_function)(const ws_problem *problem,
                                          const char *text);
void ws_problem_on_crash(ws_problem_crash_function say);
/* To be said by a program, on stderr: "PROGRAM: FILE: TEXT". */
void ws_problem_print_crash(const char *program, const ws_problem *problem,
                            const char *text);
/* By a server: the frame {"error":TEXT,"status":"reference","problem":NAME},
 * which its client reads as WS_REFERENCE, with the file's name as it has it. */
void ws_problem_send_crash(int socket, const ws_problem *problem,
                           const char *text);

/* What pays on the target; "" where nothing is said. */
const char *ws_problem_advice(const ws_problem *problem, const char *target);

/* ---- names ----------------------------------------------------------------
 */
int ws_problem_arg_index(const ws_problem *problem, const char *name);
int ws_problem_layout_index(const ws_problem *problem, const char *name);
/* The layout that is meant on a target where none is named; NULL: none is of
 * use there. */
const char *ws_problem_default_layout(const ws_problem *problem,
                                      const char *target);
bool ws_problem_layout_suits(const ws_problem *problem, int layout,
                             const char *target);
/* By name, or the default with NULL, of those that suit the target. WS_USAGE
 * with a list of them. */
ws_status ws_problem_choose_layout(const ws_problem *problem,
                                   const char *target, const char *name,
                                   int *out_layout,
                                   ws_diag *diag) WS_MUST_CHECK;
/* A layout with a striding, both by index, as one number. */
int ws_problem_form(const ws_problem *problem, int layout, int striding);
/* A shape set by name (NULL: none). */
const ws_shape_set *ws_problem_shape_set(const ws_problem *problem,
                                         const char *name);
/* Names of sets, shapes (ws_shape_parse) and logs of WAVESMITH_RT_MISSES
 * (wavesmith/rt.h; paths with a '.' or '/'), with ';' between; each shape once,
 * all legal. Of a log those of the problem and the layout (NULL: any), most
 * launched first. The set's name is text, or where a log is in it, which may
 * grow, its shapes; all lives in the arena, or as long as text. WS_USAGE for
 * neither, WS_INPUT for a shape that is not legal or a log that is none. */
ws_status ws_problem_read_shapes(const ws_problem *problem, const char *layout,
                                 ws_arena *arena, const char *text,
                                 ws_shape_set *out_set,
                                 ws_diag *diag) WS_MUST_CHECK;
const char *ws_type_text(ws_type type);
int ws_type_bytes(ws_type type);

/* ---- shapes ---------------------------------------------------------------
 */
/* WS_INPUT with a sentence for an illegal shape: the condition that fails. */
ws_status ws_problem_check_shape(const ws_problem *problem,
                                 const ws_shape *shape,
                                 ws_diag *diag) WS_MUST_CHECK;
bool ws_problem_is_legal(const ws_problem *problem, const ws_shape *shape);
double ws_problem_flops(const ws_problem *problem, const ws_shape *shape);
/* Bytes moved at least, in the first layout; no other moves less. */
double ws_problem_least_bytes(const ws_problem *problem, const ws_shape *shape);

/* ---- arguments: form is an index into layouts, or ws_problem_form() -------
 */
bool ws_arg_is_pointer(ws_arg_role role);
bool ws_arg_is_result(ws_arg_role role);  /* output or inout */
bool ws_arg_is_content(ws_arg_role role); /* input or inout */
/* What the argument is in that form. args[].role is what was declared: an
 * output may be inout in some layouts (and nothing else differs). */
ws_arg_role ws_problem_arg_role(const ws_problem *problem, int arg, int form);
/* Of the element, with WS_FP8 and WS_BF8 resolved. */
ws_type ws_problem_arg_type(const ws_problem *problem, int arg, int form);
/* 0 for workspace: the template says. */
int64_t ws_problem_arg_bytes(const ws_problem *problem, int arg,
                             const ws_shape *shape, int form);
/* Value of a scalar as it lies in memory, low bytes first. */
int64_t ws_problem_arg_scalar(const ws_problem *problem, int arg,
                              const ws_shape *shape, int form);
/* Whether the first input lies with the dimension contiguous. */
bool ws_problem_is_contiguous(const ws_problem *problem, int form, int dim);
/* Fills an input deterministically from the seed (WS_HARD_INPUTS). */
void ws_problem_generate(const ws_problem *problem, int arg,
                         const ws_shape *shape, int form, uint64_t seed,
                         void *out_bytes);

/* ---- results --------------------------------------------------------------
 */
int64_t ws_problem_slices(const ws_problem *problem, const ws_shape *shape);
/* Elements of a slice of an output; of all outputs with output -1. */
int64_t ws_problem_slice_elements(const ws_problem *problem, int output,
                                  const ws_shape *shape, int form);
int64_t ws_problem_result_elements(const ws_problem *problem,
                                   const ws_shape *shape, int form);

/* An element of an output: the argument and its place in memory. */
typedef struct ws_place {
  int arg;
  int64_t element;
} ws_place;
/* "[3][17]", with the argument's name before it where there are several
 * outputs. In the arena. */
const char *ws_problem_place_text(ws_arena *arena, const ws_problem *problem,
                                  const ws_shape *shape, int form,
                                  ws_place place);

/* What a comparison with the fp64 reference found. */
typedef struct ws_comparison {
  int64_t checked;
  int64_t wrong;      /* NaN counts as wrong, and infinity
                       * where the type can hold what is wanted */
  double worst_ratio; /* max |got - want| / bound */
  ws_place first; /* element WS_WHOLE_SLICE: a slice's projection is wrong */
  int64_t first_slice;
  double first_got, first_want, first_bound;
} ws_comparison;
enum { WS_WHOLE_SLICE = -1 };

/* fp64 reference of the slices [begin, end): values, and what a result's
 * arithmetic may be off by before it is rounded. buffers is indexed by argument
 * (only inputs are read). Where a kernel is the reference: buffers of results
 * hold what it left, and only they are read; likewise of the others below. */
void ws_problem_reference(const ws_problem *problem, const ws_shape *shape,
                          int form, const void *const *buffers, int64_t begin,
                          int64_t end, double *out_value, double *out_error);
/* Compares slices [begin, end) of the outputs, which are whole in buffers. */
void ws_problem_compare(const ws_problem *problem, const ws_shape *shape,
                        int form, const void *const *buffers, int64_t begin,
                        int64_t end, const double *value, const double *error,
                        ws_comparison *out);
/* Compares the elements at these places of results only; buffers has inputs. */
void ws_problem_compare_at(const ws_problem *problem, const ws_shape *shape,
                           int form, const void *const *buffers,
                           const void *const *results, const ws_place *places,
                           int count, ws_comparison *out);
/* Elements cost as little as a slice's share of it: places may lie anywhere.
 * Without, few slices should hold them. */
bool ws_problem_has_elements(const ws_problem *problem);
/* Projections of slices (define_problem.h). */
bool ws_problem_can_project(const ws_problem *problem);
void ws_problem_project(const ws_problem *problem, const ws_shape *shape,
                        int form, const void *const *buffers, uint64_t seed,
                        const int64_t *slices, int64_t count, double *out_value,
                        double *out_error);
void ws_problem_compare_projections(const ws_problem *problem,
                                    const ws_shape *shape, int form,
                                    const void *const *buffers, uint64_t seed,
                                    const int64_t *slices, int64_t count,
                                    const double *value, const double *error,
                                    ws_comparison *out);

#ifdef __cplusplus
}
#endif
#endif
