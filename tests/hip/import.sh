#!/usr/bin/env bash
# `wavesmith import`: HIP that becomes templates, which check and simulator then
# judge against the problem's fp64 reference; HIP that does not, by the line that
# each file in bad/ names; and mutants of the example. By comgr's clang, or with
# a second argument by another one.
set -euo pipefail
wavesmith=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd) clang=${2:-}
root=$here/../..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
how=()
if [ -n "$clang" ]; then
  how=(--clang "$clang")
fi
fail() { echo "$*"; cat "$work/out"; exit 1; }
expect() { # exit code, pattern, command...
  local want=$1 pattern=$2 code=0
  shift 2
  "$@" >"$work/out" 2>&1 || code=$?
  [ "$code" = "$want" ] || fail "exit $code, want $want: $*"
  grep -q -- "$pattern" "$work/out" || fail "no '$pattern': $*"
}
import() { "$wavesmith" import --problem fp8_gemm_blockscale "$@" "${how[@]}"; }

# ---- the example ----
cd "$root/examples/hip"
expect 0 'template fp8_gemm_hip of fp8_gemm.hip for gfx942: 4 parameters, 2 regions, 1 launch' \
  import fp8_gemm.hip -o "$work/gemm.ll"
import fp8_gemm.hip -o "$work/again.ll" >/dev/null
cmp "$work/gemm.ll" "$work/again.ll" # the same HIP is the same template
expect 0 '^verdict    ok' "$wavesmith" check "$work/gemm.ll"
expect 0 '^verdict    ok' "$wavesmith" check "$work/gemm.ll" --set 'tile_m=32;tile_n=128;tile_k=64;pad=2'
expect 0 '^run:   ok, ' "$wavesmith" sim --template "$work/gemm.ll" --shape 48,128,256
# the inner product is line 52 or 53, and no pointer is left without its memory
grep -Eq ' fp8_gemm.hip:5[23]:[0-9]+ in multiply' "$work/out" || fail "no hot line of the HIP"
! grep -E '(load|store) .*, ptr %' "$work/gemm.ll" || fail "a flat access"
grep -q 'define internal void @multiply(ptr addrspace(5) %sums, ptr addrspace(3) %a, ptr addrspace(3) %b' "$work/gemm.ll"

# ---- mutants: each is one change, refused at its line ----
mutant() { # sed command, pattern
  sed "$1" fp8_gemm.hip >"$work/mutant.hip"
  ! cmp -s fp8_gemm.hip "$work/mutant.hip" || fail "no change: $1"
  (cd "$work" && import mutant.hip -o mutant.ll >/dev/null)
  expect 1 "$2" "$wavesmith" check "$work/mutant.ll"
}
line() { grep -n -- "$1" fp8_gemm.hip | cut -d: -f1; }
mutant '/the tiles are there/d' "lds-race in .* at mutant.hip:"
mutant '/nobody reads them/d' "lds-race in .* at mutant.hip:"
mutant 's/a\[(y + i) \* (tile_k + pad) + k\]/a[(y + i) * (tile_k + pad) + k + 65536]/' \
  "oob-lds in multiply at mutant.hip:$(line 'a\[(y + i)')"
mutant 's/c\[(size_t)(row + y + i) \* n/c[(size_t)(row + y + i + m) * n/' \
  "oob-.* in fp8_gemm_hip at mutant.hip:$(line 'c\[(size_t)(row')"
mutant 's/sums\[i \* 4 + j\] \*$/total[i * 4 + j] */' \
  "wrong-result at mutant.hip:$(line '^__global__')"

# ---- bodies in HIP C++, of imported and of written templates ----
body() { # exit code, pattern, region, sed command
  sed "$4" "$here/bodies/$3.hip" >"$work/body.hip"
  [ -z "$4" ] || ! cmp -s "$here/bodies/$3.hip" "$work/body.hip" || fail "no change: $4"
  expect "$1" "$2" "$wavesmith" check "$work/gemm.ll" --body "$3=$work/body.hip"
}
body 0 '^verdict    ok' multiply ''
body 0 '^verdict    ok' stage '' # blockDim of the launch's rule
body 1 '^verdict    wrong (sanitize)' multiply 's/right\[j\]/right[i]/'
body 1 'oob-lds in multiply at multiply.hip:2' multiply 's/y + i, k)/y + i, k + 65536)/'
body 1 "hip in multiply at multiply.hip:6" multiply 's/k < tile_k/k < tile_q/'
body 1 'splice-signature in multiply at multiply.hip:4' multiply 's/int x)/long x)/'
body 1 'check-include in multiply' multiply '1i#include "/etc/passwd"'
body 1 'splice-unknown-symbol in stage at stage.hip:5' stage 's/0.0f;/more();/; 1i__device__ float more();'
body 1 'check-divergent-barrier in stage at stage.hip:3' stage 's/^  for/  if (threadIdx.x) __syncthreads();\n  for/; 1i//'
expect 0 '^verdict    ok' "$wavesmith" check "$root/ir-templates/fp8_gemm_naive.ll" --body "decode=$here/bodies/decode.hip"

# ---- a kernel that knows nothing of wavesmith ----
cd "$here"
names='gemm=a b as bs c m n k as_stride_m as_stride_k bs_stride_n bs_stride_k'
plain=(--problem fp8_gemm_blockscale -D TILE=64:64,128 --launch 'gemm;min(ceildiv(n, TILE) * m, 4096);1;1;TILE')
expect 0 'template plain of plain.hip' import plain.hip -o "$work/plain.ll" "${plain[@]}" \
  --lds 'row_scales=4 * 1024' --arguments "$names -"
expect 0 '^verdict    ok' "$wavesmith" check "$work/plain.ll" --set TILE=128
expect 0 '^run:   ok, ' "$wavesmith" sim --template "$work/plain.ll" --shape 32,192,256
expect 1 'kernel gemm has 13 arguments' import plain.hip -o "$work/x.ll" "${plain[@]}" \
  --lds 'row_scales=4 * 1024' --arguments "$names"
expect 1 "plain.hip:[0-9]*: dynamic LDS 'row_scales' has no size" import plain.hip -o "$work/x.ll" "${plain[@]}" \
  --arguments "$names -"
expect 1 "use of undeclared identifier 'TILE'" import plain.hip -o "$work/x.ll" --launch 'gemm;1;1;1;64'

# ---- assembly that has an intrinsic; a barrier of it is one to the check ----
cat >"$work/assembly.hip" <<'HIP'
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c, float *workspace, int m) {
  float value = workspace[threadIdx.x], result;
  asm volatile("s_waitcnt vmcnt(0)\n" ::: "memory");
  asm volatile("s_setprio 2");
  asm volatile("v_rcp_f32 %0, %1" : "=v"(result) : "v"(value));
  asm volatile("s_barrier" ::: "memory");
  c[threadIdx.x] = result;
}
HIP
expect 0 'template assembly' import "$work/assembly.hip" -o "$work/assembly.ll"
for call in 's.setprio(i16 2)' 's.barrier()' 'rcp.f32(float %'; do
  grep -Fq "call float @llvm.amdgcn.$call" "$work/assembly.ll" ||
    grep -Fq "call void @llvm.amdgcn.$call" "$work/assembly.ll" || fail "no $call"
done
! grep -q ' asm sideeffect ' "$work/assembly.ll" || fail "assembly is left"
sed 's/^  asm volatile("s_barrier/  if (threadIdx.x < 3) asm volatile("s_barrier/' "$work/assembly.hip" >"$work/diverge.hip"
expect 1 'diverge.hip:8: barrier under the branch' import "$work/diverge.hip" -o "$work/x.ll"

# ---- of a switch over all values LLVM calls the default unreachable, of a store
# through NULL the way to it: no fault of a body or file that does not come there
cat >"$work/decode.cl" <<'END'
float decode(uint byte) {
  uint bits = (byte & 127) << 20;
  if (byte == 128)
    return __builtin_nanf("");
  switch (byte >> 6 & 3) {
  case 0: return __builtin_astype(bits, float) * 0x1p119f;
  case 1: return __builtin_astype(bits + (119u << 23), float);
  case 2: return __builtin_astype(bits, float) * -0x1p119f;
  case 3: return __builtin_astype(bits + (375u << 23), float);
  default: return 1.0f;
  }
}
END
sed 's/^float/__device__ float/; s/uint/unsigned/g; s/__builtin_astype(\(.*\), float)/__builtin_bit_cast(float, \1)/' \
  "$work/decode.cl" >"$work/decode.hip"
naive=$root/ir-templates/fp8_gemm_naive.ll
for body in decode.cl decode.hip; do
  expect 0 '^verdict    ok' "$wavesmith" check "$naive" --body "decode=$work/$body"
done
sed -i 's/0x1p119f/0x1p118f/' "$work/decode.cl" # the first case, which the default takes
expect 1 '^verdict    wrong' "$wavesmith" check "$naive" --body "decode=$work/decode.cl"
cat >"$work/null.hip" <<'END'
#include <hip/hip_runtime.h>
#include <wavesmith/hip.h>
WS_LAUNCH(gemm, 1, 1, 1, 64, 1)
__global__ void gemm(float *c) {
  float *nowhere = nullptr;
  if (c[1] > 1)
    *nowhere = 1;
  c[threadIdx.x] = 1;
}
END
expect 0 'template null' import "$work/null.hip" -o "$work/null.ll"
! grep -q 'unreachable\|llvm.assume' "$work/null.ll" || fail "a way without an end"

# ---- what is refused: one line for each thing, with its line ----
cd "$here/bad"
for file in *.hip; do
  pattern=$(sed -n '1s,^// error: ,,p' "$file") options=$(sed -n 's,^// options: ,,p' "$file") code=0
  [ -n "$pattern" ] || fail "$file expects nothing"
  # shellcheck disable=SC2086
  import "$file" -o "$work/bad.ll" $options >"$work/out" 2>&1 || code=$?
  [ "$code" = 1 ] || fail "$file: exit $code"
  ! grep -qv "^wavesmith import: $file$pattern" "$work/out" || fail "$file: want '$file$pattern'"
  [ -s "$work/out" ] && [ ! -e "$work/bad.ll" ] || fail "$file: nothing said, or a file written"
done

# ---- usage ----
expect 2 'wanted is one file' import
expect 2 'KERNEL;X;Y;Z;THREADS' import syntax.hip --launch 'a;b'
expect 2 'NAME=DEFAULT:VALUE' import syntax.hip -D 'TILE=4:x'
expect 1 'cannot open' import nothing.hip
expect 3 'cannot be run' "$wavesmith" import syntax.hip --problem fp8_gemm_blockscale --clang /nowhere/clang
