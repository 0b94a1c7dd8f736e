#!/usr/bin/env bash
# Operations of templates in MLIR one by one, in an elementwise kernel: what is
# lowered gives what the reference in C does, the rest is said at its line.
set -euo pipefail
wavesmith=$1 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$wavesmith" doctor | grep -q '^ok *MLIR' || { echo "no MLIR in this build"; exit 77; }
cd "$work"
global='#gpu.address_space<global>' lds='memref<64xf32, #gpu.address_space<workgroup>>'
row="memref<?xf32, strided<[1]>, $global>"

# The result %r of lines on %v, the element, %i, its index, and %lane; functions.
template() { # lines, functions
  cat >t.mlir <<END
module attributes {
  wavesmith.template = ["each_t", "1", "each", "gfx942", "an operation for each element"],
  wavesmith.param = [["threads", "64", "64 128", "lanes"]], wavesmith.lds = [["t", "256"]]
} {
gpu.module @m {
  ${2-}
  gpu.func @each(%x: memref<1xf32, $global> {wavesmith.name = "x"}, %y: memref<1xf32, $global> {wavesmith.name = "y"},
      %count: i32 {wavesmith.name = "count"}) kernel attributes {wavesmith.launch = ["count / threads", "1", "1", "threads", "1"]} {
    %threads = arith.constant {wavesmith.value = "threads"} 64 : index
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %lane = gpu.thread_id x
    %group = gpu.block_id x
    %i = affine.apply affine_map<()[g, t, l] -> (g * t + l)>()[%group, %threads, %lane]
    %n = arith.index_castui %count : i32 to index
    %xs = memref.reinterpret_cast %x to offset: [0], sizes: [%n], strides: [1] : memref<1xf32, $global> to $row
    %ys = memref.reinterpret_cast %y to offset: [0], sizes: [%n], strides: [1] : memref<1xf32, $global> to $row
    %v = memref.load %xs[%i] : $row
    %tile = memref.alloc() {wavesmith.lds = "t"} : $lds
    memref.store %v, %tile[%lane] : $lds
    gpu.barrier
$1
    memref.store %r, %ys[%i] : $row
    gpu.return
  }
}
}
END
}
problem() { # w of x, G(j) and i; what the error may grow with
  cat >t.c <<END
#include <wavesmith/define_problem.h>
enum { X, Y, COUNT };
#define G(j) ws_get(call, X, (j))
static void reference(const ws_reference_call *call) {
  for (int64_t i = call->begin; i < call->end; i++) {
    const double x = G(i); double w = 0;
    w += fabs(x) * 0;
    $1;
    ws_put_sum(call, Y, i, w, $2);
  }
}
static const int64_t common[][1] = {{1024}};
static const ws_problem_definition definition = {
    WS_PROBLEM_ABI, .name = "each", .purpose = "elementwise", .dims = {{"count"}},
    .args = {[X] = {"x", WS_ARG_INPUT, WS_F32, {"count"}}, [Y] = {"y", WS_ARG_OUTPUT, WS_F32, {"count"}},
             [COUNT] = {"count", WS_ARG_SCALAR, WS_I32}},
    .legal = "count % 64 == 0 && count <= 1048576", .terms = "64",
    .sets = {WS_PROBLEM_SET("common", common)}, .reference = reference};
WS_PROBLEM(definition)
END
}
expect() { # exit code, pattern
  local code=0
  "$wavesmith" check t.mlir --problem t.c --stage sanitize >out 2>&1 || code=$?
  [ "$code" = "$1" ] && grep -q -- "$2" out || { echo "exit $code, want $1 and '$2':"; cat t.mlir out; exit 1; }
}
right() { # lines, w, error, functions
  template "$1" "${4-}"
  problem "$2" "${3:-fabs(w) * 4 + 1e-3}"
  expect 0 '^verdict *ok'
}
wrong() { # lines, pattern (AT: the place of ...), a text of that line, functions
  local own=$'\n    %r = arith.addf %v, %one : f32'
  [[ $1 = *'%r ='* ]] && own=
  template "$1$own" "${4-}"
  problem 'w = x' 1
  expect 1 "${2/AT/t.mlir:$(grep -n -F -- "$3" t.mlir | head -1 | cut -d: -f1):[0-9]*}"
}
scheduled() { # the same with a schedule that does nothing
  sed -i '0,/module attributes {/s//module attributes { transform.with_named_sequence,/; $d' t.mlir
  printf 'transform.named_sequence @__transform_main(%%m: !transform.any_op) { transform.yield }\n}\n' >>t.mlir
  expect 0 '^verdict *ok'
}

# ---- ids: what the launch says ---------------------------------------------------
id() { right "    %l = $1
    %l2 = arith.index_cast %l : index to i32
    %r = arith.sitofp %l2 : i32 to f32" "w = $2"; }
id 'gpu.global_id x' i
id 'gpu.global_id y' 0
id 'gpu.block_dim x' 64
id 'gpu.block_dim y' 1
id 'gpu.lane_id' 'i % 64'
id 'gpu.subgroup_id : index' 0
id 'gpu.num_subgroups : index' 1
id 'gpu.subgroup_size : index' 64
wrong '    %l = gpu.grid_dim x' 'AT: gpu.grid_dim: a kernel is not told' gpu.grid_dim
wave='for (int64_t k = 0; k < 64; k++) w'
right '    %r = gpu.subgroup_reduce add %v : (f32) -> f32' "$wave += G(i / 64 * 64 + k)" 256
right '    %r = gpu.subgroup_reduce add %v cluster(size = 4, stride = 16) : (f32) -> f32' \
  'for (int64_t k = 0; k < 64; k += 16) w += G(i / 64 * 64 + i % 16 + k)' 256
right '    %h = arith.truncf %v : f32 to f16
    %q = gpu.subgroup_reduce maximumf %h : (f16) -> f16
    %r = arith.extf %q : f16 to f32' "w = -1e9; $wave = fmax(w, G(i / 64 * 64 + k))" 99999
wrong '    %r = gpu.all_reduce add %v uniform {} : (f32) -> f32' 'AT: gpu.all_reduce: write' gpu.all_reduce

# ---- memrefs of sizes of run time through functions ------------------------------
right '    %r = func.call @get(%xs, %i) : ('"$row"', index) -> f32' 'w = x' '' \
  "func.func private @get(%a: $row, %i: index) -> f32 {
    %b = func.call @same(%a) : ($row) -> $row
    %r = memref.load %b[%i] : $row
    return %r : f32
  }
  func.func private @same(%a: $row) -> $row { return %a : $row }"
wrong '    %r = func.call @get(%xs, %i) : ('"$row"', index) -> f32' 'AT: .* of a region' '@get(%a' \
  "func.func private @get(%a: $row, %i: index) -> f32 attributes {wavesmith.region = \"Loads.\"} {
    %r = memref.load %a[%i] : $row
    return %r : f32
  }"

# ---- fp8, buffers, copies ----------------------------------------------------------
right '    %q = arith.truncf %v : f32 to f8E4M3FNUZ
    %r = arith.extf %q : f8E4M3FNUZ to f32' 'w = x' 'fabs(x) * 999999 + 9999'
right "    %i32 = arith.index_castui %i : index to i32
    %r = amdgpu.raw_buffer_load {boundsCheck = true} %xs[%i32] : $row, i32 -> f32" 'w = x'
right "    amdgpu.gather_to_lds %xs[%i], %tile[%c0] : f32, $row, $lds
    rocdl.s.waitcnt 0
    gpu.barrier
    %r = memref.load %tile[%lane] : $lds" 'w = x'
wrong "    %f = amdgpu.fat_raw_buffer_cast %xs : $row to memref<?xf32, strided<[1]>, #amdgpu.address_space<fat_raw_buffer>>" \
  'AT: amdgpu.fat_raw_buffer_cast: write' fat_raw
own='#gpu.address_space<private>'
right "    %a = memref.alloca() : memref<4x4xf32, $own>
    linalg.fill ins(%v : f32) outs(%a : memref<4x4xf32, $own>)
    %b = memref.alloca() : memref<2x2xf32, $own>
    %s = memref.subview %a[1, 1][2, 2][1, 1] : memref<4x4xf32, $own> to memref<2x2xf32, strided<[4, 1], offset: 5>, $own>
    memref.copy %s, %b : memref<2x2xf32, strided<[4, 1], offset: 5>, $own> to memref<2x2xf32, $own>
    %r = memref.load %b[%c0, %c0] : memref<2x2xf32, $own>
    memref.dealloc %tile : $lds" 'w = x'

# ---- atomics ------------------------------------------------------------------------
right "    memref.store %one, %ys[%i] : $row
    %q = memref.atomic_rmw addf %v, %ys[%i] : (f32, $row) -> f32
    gpu.barrier
    %r = memref.load %ys[%i] : $row" 'w = x + 1' 'fabs(x) + 1'
atomic() { right "    %zero = arith.constant 0.0 : f32
    memref.store %zero, %tile[%lane] : $lds
    gpu.barrier
    %q = $1
    gpu.barrier
    %r = memref.load %tile[%c0] : $lds" "$wave $2" 256; }
atomic "memref.atomic_rmw addf %v, %tile[%c0] : (f32, $lds) -> f32" '+= G(i / 64 * 64 + k)'
atomic "memref.atomic_rmw maximumf %v, %tile[%c0] : (f32, $lds) -> f32" '= fmax(w, G(i / 64 * 64 + k))'
generic() { echo "memref.generic_atomic_rmw %tile[%c0] : $lds { ^bb0(%old : f32): %new = $1 %v, %old : f32
      memref.atomic_yield %new : f32 }"; }
atomic "$(generic arith.addf)" '+= G(i / 64 * 64 + k)'
wrong "    %q = $(generic arith.mulf)" 'AT: memref.generic_atomic_rmw of floats' generic

# ---- mathematics, with and without a schedule ----------------------------------------
math() { right "    %r = math.$1 %v : f32" "w = $2" "${3-}"; }
math tanh 'tanh(x)'
scheduled
math expm1 'expm1(x)'
scheduled
math erf 'erf(x)'
math sinh 'sinh(x)'
math cosh 'cosh(x)'
above='    %size = math.absf %v : f32
    %above = arith.addf %size, %one : f32'
right "    %size = math.absf %v : f32
    %r = math.log1p %size : f32" 'w = log1p(fabs(x))'
scheduled
right "$above
    %r = math.rsqrt %above : f32" 'w = 1 / sqrt(fabs(x) + 1)'
scheduled
right "$above
    %e = arith.constant -2.5 : f32
    %r = math.powf %above, %e : f32" 'w = pow(fabs(x) + 1, -2.5)'
scheduled
right '    %e = arith.constant 3 : i32
    %r = math.fpowi %v, %e : f32, i32' 'w = x * x * x'
right '    %s = vector.splat %v : vector<4xf32>
    %t = math.tanh %s fastmath<afn> : vector<4xf32>
    %r = vector.extract %t[2] : f32 from vector<4xf32>' 'w = tanh(x)'
for type in f16 bf16; do
  right "    %h = arith.truncf %v : f32 to $type
    %t = math.tanh %h : $type
    %r = arith.extf %t : $type to f32" 'w = tanh(x)' 999999
done
right '    %h = arith.truncf %v : f32 to bf16
    %t = math.exp %h : bf16
    %r = arith.extf %t : bf16 to f32' 'w = exp(x)' '(exp(x) + 1) * 9999999'
right '    %s = vector.splat %v : vector<4xf32>
    %r = vector.reduction <maximumf>, %s : vector<4xf32> into f32' 'w = x'
wrong '    %r = math.tan %v : f32' 'AT: gfx942 has no intrinsic for __ocml_tan_f32: write it out$' math.tan

# ---- what no kernel has -----------------------------------------------------------------
wrong '    %t = arith.cmpf oeq, %v, %v : f32
    cf.assert %t, "bad"
    %r = arith.addf %v, %one : f32' 'AT: cf.assert: ' cf.assert
wrong '    vector.print %v : f32
    %r = arith.addf %v, %one : f32' 'AT: vector.print: ' vector.print
wrong '    %a = tensor.from_elements %v, %v : tensor<2xf32>
    %r = tensor.extract %a[%lane] : tensor<2xf32>' 'AT: nothing lowers tensor.from_elements here: a tensor' from_elements
kernel() { # sed expression, pattern
  template '    %r = arith.addf %v, %one : f32'
  sed -i "$1" t.mlir
  expect 1 "$2"
}
kernel 's/kernel attributes {wavesmith.launch.*/kernel {/' 't.mlir:7:3: nothing is launched'
kernel 's/kernel attributes/attributes/' 't.mlir:7:3: a gpu.func is a kernel'
kernel 's/wavesmith.param =/wavesmith.params =/' 't.mlir:1:1: wavesmith.params: a module has no such word'
