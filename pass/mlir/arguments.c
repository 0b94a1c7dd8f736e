/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Names of arguments. Those of a kernel that is launched are the problem's, or
 * tensor maps; what is wrong with one is said at the argument. Types are looked
 * at once they are lowered (template_ir.c).
 */
#include "declare.h"
#include "wavesmith/problem.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* NULL: it has none. */
static const char *name_of(const ws_mlir *m, MlirOperation op, int index) {
  MlirAttribute list =
      mlirOperationGetInherentAttributeByName(op, ws__mlir_ref("arg_attrs"));
  if (mlirAttributeIsNull(list) || index >= mlirArrayAttrGetNumElements(list))
    return NULL;
  MlirAttribute name = mlirDictionaryAttrGetElementByName(
      mlirArrayAttrGetElement(list, index), ws__mlir_ref("wavesmith.name"));
  return !mlirAttributeIsNull(name) && mlirAttributeIsAString(name)
             ? ws__mlir_text(m->arena, mlirStringAttrGetValue(name))
             : NULL;
}

/* NULL: the template names none that is known, which is said of it later. */
static const ws_problem *problem_of(const ws_mlir *m) {
  MlirAttribute word = ws__mlir_word(m->module, "template");
  if (mlirAttributeIsNull(word) || !mlirAttributeIsAArray(word) ||
      mlirArrayAttrGetNumElements(word) < 3)
    return NULL;
  const char *name = ws__mlir_joined(m, mlirArrayAttrGetElement(word, 2));
  return name && m->find_problem ? m->find_problem(name) : NULL;
}

static bool refuse(const ws_mlir *m, MlirValue argument, const char *text) {
  ws__mlir_find(m, mlirValueGetLocation(argument), "template", "", text);
  return false;
}

static bool check(const ws_mlir *m, const ws_mlir_function *f, int index,
                  MlirValue argument) {
  const char *name = f->arguments[index];
  const ws_problem *problem = problem_of(m);
  if (!name)
    return refuse(
        m, argument,
        ws_arena_printf(m->arena,
                        "argument %d of kernel @%s has no name; write "
                        "{wavesmith.name = \"NAME\"}, as the "
                        "problem's argument table does",
                        index + 1, f->name));
  if (!problem || ws_problem_arg_index(problem, name) >= 0 ||
      !mlirAttributeIsNull(ws__mlir_word(m->module, "tensor_map")))
    return true;
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_strbuf_printf(
      &text, "kernel @%s: '%s' is no argument of %s; name its arguments from:",
      f->name, name, problem->name);
  for (int i = 0; i < problem->arg_count; i++)
    ws_strbuf_printf(&text, " %s", problem->args[i].name);
  refuse(m, argument, text.data);
  ws_strbuf_deinit(&text);
  return false;
}

bool ws__mlir_name_arguments(const ws_mlir *m, MlirOperation op,
                             ws_mlir_function *f) {
  MlirBlock entry = ws__mlir_body(op);
  if (mlirBlockIsNull(entry))
    return true;
  /* of the function itself: behind them come workgroup(...) and private(...) */
  f->argument_count = (int)mlirFunctionTypeGetNumInputs(
      mlirTypeAttrGetValue(mlirOperationGetInherentAttributeByName(
          op, ws__mlir_ref("function_type"))));
  f->arguments = ws_arena_alloc(m->arena, (size_t)f->argument_count *
                                              sizeof *f->arguments);
  bool ok = true;
  for (int i = 0; i < f->argument_count && ok; i++) {
    f->arguments[i] = name_of(m, op, i);
    ok = !f->is_kernel || mlirAttributeIsNull(f->launch) ||
         check(m, f, i, mlirBlockGetArgument(entry, i));
  }
  return ok;
}
