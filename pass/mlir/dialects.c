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

/* What of these says how others are linked, loaded or started. */
static bool is_of_hosts(MlirOperation op) {
  static const char *const names[] = {
      "gpu.binary", "llvm.linker_options", "llvm.mlir.global_ctors",
      "llvm.mlir.global_dtors", "llvm.module_flags"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ws__mlir_is(op, names[i]))
      return true;
  return false;
}

/* Operations of these dialects, by the start of their names, that no kernel
 * here can have. */
static const struct {
  const char *name, *why;
} refused[] = {
    {"amdgpu.fat_raw_buffer_cast",
     "write amdgpu.raw_buffer_load and amdgpu.raw_buffer_store on the memref"},
    {"cf.assert", "a kernel has nobody to tell; leave it out"},
    {"gpu.all_reduce",
     "write gpu.subgroup_reduce, and workgroup memory of wavesmith.lds from "
     "wave to wave"},
    {"gpu.grid_dim", "a kernel is not told how many workgroups there are; pass "
                     "what wavesmith.launch computes it from"},
    {"gpu.launch", "what is launched says wavesmith.launch"},
    {"gpu.printf", "a kernel has nobody to tell; leave it out"},
    {"vector.print", "a kernel has nobody to tell; leave it out"},
};

static bool refuse_known(ws_mlir *m, MlirOperation op) {
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (ws__mlir_begins(op, refused[i].name)) {
      MlirStringRef name = ws__mlir_name(op);
      ws__mlir_refuse(m, op, "mlir-lower", "%.*s: %s", (int)name.length,
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
  if (is_of_hosts(op)) {
    ws__mlir_refuse(m, op, "mlir-dialect",
                    "%.*s: a template has kernels and their functions only; "
                    "leave it out",
                    (int)name.length, name.data);
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
