/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a text may be made of. Most of MLIR's dialects have no way to a GPU's
 * code here, and would fail late and without a word of sense.
 */
#include "mlir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

/* llvm: what has no other way. What of it may be in a kernel, the check of the
 * LLVM module says (check.c). */
static const char *const allowed[] = {
    "affine",    "amdgpu", "arith", "bufferization", "builtin", "cf",
    "func",      "gpu",    "index", "linalg",        "llvm",    "math",
    "memref",    "nvgpu",  "nvvm",  "rocdl",         "scf",     "tensor",
    "transform", "ub",     "vector"};

static bool is_allowed(MlirStringRef name) {
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
    const size_t size = strlen(allowed[i]);
    if (name.length > size && name.data[size] == '.' &&
        !memcmp(name.data, allowed[i], size))
      return true;
  }
  return false;
}

/* Bytes that stand outside of the text, or nowhere: MLIR reads past them. */
static bool has_resource(MlirOperation op) {
  MlirAttribute value =
      mlirOperationGetAttributeByName(op, ws__mlir_ref("value"));
  return !mlirAttributeIsNull(value) &&
         mlirAttributeIsADenseResourceElements(value);
}

static const char of_kernels[] =
    "a template has kernels and their functions only; leave it out";
static const char nobody[] = "a kernel has nobody to tell; leave it out";

/* Operations of these dialects, by the start of their names, that no kernel
 * here can have: mlir-dialect, what says how others are linked, loaded or
 * started. */
static const struct {
  const char *name, *id, *why;
} refused[] = {
    {"amdgpu.fat_raw_buffer_cast", "mlir-lower",
     "write amdgpu.raw_buffer_load and amdgpu.raw_buffer_store on the memref"},
    {"cf.assert", "mlir-lower", nobody},
    {"gpu.all_reduce", "mlir-lower",
     "write gpu.subgroup_reduce, and workgroup memory of wavesmith.lds from "
     "wave to wave"},
    {"gpu.binary", "mlir-dialect", of_kernels},
    {"gpu.grid_dim", "mlir-lower",
     "a kernel is not told how many workgroups there are; pass what "
     "wavesmith.launch computes it from"},
    {"gpu.launch", "mlir-lower", "what is launched says wavesmith.launch"},
    {"gpu.printf", "mlir-lower", nobody},
    {"llvm.linker_options", "mlir-dialect", of_kernels},
    {"llvm.mlir.global_ctors", "mlir-dialect", of_kernels},
    {"llvm.mlir.global_dtors", "mlir-dialect", of_kernels},
    {"llvm.module_flags", "mlir-dialect", of_kernels},
    {"vector.print", "mlir-lower", nobody},
};

static bool refuse_known(ws_mlir *m, MlirOperation op) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (ws__mlir_begins(op, refused[i].name)) {
      MlirStringRef name = ws__mlir_name(op);
      ws__mlir_refuse(m, op, refused[i].id, "%.*s: %s", (int)name.length,
                      name.data, refused[i].why);
      return false;
    }
  return true;
}

static bool check(ws_mlir *m, MlirOperation op) {
  MlirStringRef name = ws__mlir_name(op);
  if (has_resource(op)) {
    ws__mlir_refuse(m, op, "mlir", "write the values, no dense_resource");
    return false;
  }
  if (is_allowed(name))
    return refuse_known(m, op);
  ws_strbuf known;
  ws_strbuf_init(&known);
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
    ws_strbuf_printf(&known, " %s", allowed[i]);
  ws__mlir_refuse(m, op, "mlir-dialect",
                  "%.*s: this dialect is not taken; there is%s",
                  (int)name.length, name.data, known.data);
  ws_strbuf_deinit(&known);
  return false;
}

bool ws__mlir_check_dialects(ws_mlir *m, MlirOperation root) {
  return ws__mlir_walk(m, root, check);
}
