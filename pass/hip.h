/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Inside pass/: from what clang makes of HIP to what wavesmith takes. import
 * makes a template of a file (hip_import.c); a region's body in HIP C++ uses
 * the same steps (splice.c). A template in OpenCL C goes the same way.
 *
 * What the author says of the kernel comes as annotations ("wavesmith.KIND" and
 * fields, one a line: runtime/hip/wavesmith/hip.h), with file and line.
 */
#ifndef WAVESMITH_PASS_HIP_H
#define WAVESMITH_PASS_HIP_H

#include "pass.h"

#include <llvm-c/TargetMachine.h>

enum { WS_HIP_FIELDS = 8, WS_HIP_NOTES = 512 };

/* A record is a variable that only carries its note. */
typedef enum ws_hip_subject {
  WS_HIP_RECORD,
  WS_HIP_VARIABLE,
  WS_HIP_FUNCTION
} ws_hip_subject;

typedef struct ws_hip_note {
  const char *kind; /* "param" */
  const char *fields[WS_HIP_FIELDS];
  int count, line;
  LLVMValueRef subject; /* what is annotated; NULL: a record */
  ws_hip_subject of;
} ws_hip_note;

/* One import: everything lives in findings->arena. */
typedef struct ws_hip {
  const char *file, *text; /* as the author wrote it */
  const char *language;    /* "hip" or "opencl" */
  const char *target;
  const ws_candidate *candidate; /* of a body; NULL while importing */
  LLVMModuleRef module;
  LLVMTargetMachineRef machine;
  ws_hip_note *notes;
  int note_count;
  struct ws_hip_line { /* of each record, in the order of the module */
    const char *kind;
    int line, kernel_line; /* kernel_line: of a launch */
  } * lines;
  int line_count;
  ws_findings *findings;
} ws_hip;

#define WS_HIP_REFUSE(h, line, ...)                                            \
  ws_findings_add((h)->findings, "hip", "", (h)->file, line, __VA_ARGS__)

typedef struct ws_hip_request {
  const char *file, *target;
  const char *language; /* of text: "hip", "opencl"; "ir": of another clang */
  const char *text;     /* what is compiled, with what the options add */
  const char *own;      /* the author's file */
  const char *const *options; /* for clang: -D, -I */
  int option_count;
  const char *name, *problem; /* where the file does not say */
} ws_hip_request;

/* The template's text, or NULL and findings, each with the line of the author's
 * file. OpenCL C is what a model wrote: it may not read files.
 * requires: ws_pass_initialize. */
const char *ws_hip_import(const ws_hip_request *request, ws_findings *findings);

/* A region's body in HIP C++ as a module with the template's signature; NULL
 * and findings. target: the template's module. */
LLVMModuleRef ws__hip_read_body(LLVMModuleRef target, const char *region,
                                const char *file, const char *text,
                                const ws_candidate *candidate,
                                ws_findings *findings);

/* The text as a module of the context: findings have h->file, options come
 * before those that every compilation has. NULL and findings. */
LLVMModuleRef ws__hip_compile(ws_hip *h, LLVMContextRef context,
                              const char *text, const char *const *options,
                              int option_count);
LLVMTargetMachineRef ws__hip_make_machine(const char *cpu);
/* Takes the annotations out of the module and into h->notes. */
void ws__hip_read_notes(ws_hip *h);
const ws_hip_note *ws__hip_find_note(const ws_hip *h, const char *kind,
                                     const char *field);
/* The first line of the author's text that has the word; 0: none. */
int ws__hip_line_of(const ws_hip *h, const char *word);

/* "gemm" of "_ZN3foo4gemmEPKfi"; the name itself when it is none of C++. */
const char *ws__hip_base_name(ws_arena *arena, const char *name);
/* Gives a function the types; 0 keeps an argument's, -1 drops an argument that
 * is not used, others are the address space of a flat pointer. Calls follow.
 * Returns the function that takes its place. */
LLVMValueRef ws__hip_retype(LLVMValueRef function, const int *spaces);
/* Pointers of functions that are not inlined get the address space that all
 * calls agree on; variants follow their region. */
void ws__hip_infer_spaces(ws_hip *h);
/* Every location becomes one of the function it stands in and of its file. */
void ws__hip_flatten_lines(LLVMModuleRef module);
/* Assembly that has an intrinsic becomes it (the table in hip_assembly.c). */
void ws__hip_replace_assembly(LLVMModuleRef module);
/* Runs passes with the target's cost model. */
bool ws__hip_run_passes(ws_hip *h, const char *passes);
/* Loads of workgroup and grid sizes become the launch's expressions. */
void ws__hip_fold_places(ws_hip *h);
/* One finding for each function that is called and not there. */
void ws__hip_refuse_calls(ws_hip *h);
void ws__hip_remove_attribute(LLVMValueRef function, const char *name);
void ws__hip_add_attribute(LLVMValueRef function, const char *name);
bool ws__hip_is_kernel(LLVMValueRef function);

#endif
