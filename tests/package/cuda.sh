#!/usr/bin/env bash
# sm_90a as its users meet it, without the card: an archive with times of one,
# wavesmith dispatch and build, PTX and (with ptxas) cubin, the kernels in
# examples/gemm through CMake and by one command, run on a driver that multiplies
# on the CPU. What is shipped: shipped.sh.
#   cuda.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2 cpu_cuda=$1/tests/cpu_cuda.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/package/expect.sh
source "$(dirname "$0")/expect.sh"
# shellcheck source=tests/package/ptx.sh
source "$(dirname "$0")/ptx.sh"
PATH=$build/bin:$PATH
wavesmith=$build/bin/wavesmith
unset WAVESMITH_CUDA_LIBRARY WAVESMITH_PTXAS

run=(env WAVESMITH_CUDA_LIBRARY="$cpu_cuda")

echo "# an archive of a card's times: dispatch, export, build"
naive=$source/ir-templates/fp8_gemm_naive_sm90a.ll
make_archive() { "$build/tests/make_archive" "$@"; }
quietly make_archive "$work/tune.db" kmajor-ocp 'cuda:NVIDIA H200' \
  "$naive" threads=64 "$naive" threads=128 "$naive" threads=256
expect 0 'kernels of 3 candidates, .* times are cuda:NVIDIA H200' "$wavesmith" dispatch "$work/tune.db" --name fp8_gemm --out "$work/dispatch"
# Each candidate is the best on six of the 18 shapes: all are found.
expect 0 'training +cuda +18 +1.000 +1.000 ' "$wavesmith" dispatch "$work/tune.db" --name fp8_gemm --out "$work/dispatch"
expect 0 '^contest +cuda +18 +1.000' "$wavesmith" dispatch "$work/tune.db" --name fp8_gemm --out "$work/dispatch"
quietly "$wavesmith" archive export "$work/tune.db" "$work/archive" --best 100
expect 0 '3 kernels compiled .* 3 chosen' "$wavesmith" build "$work/archive" --name fp8_gemm --out "$work/built"
diff -r "$work/dispatch" "$work/built" >/dev/null || fail "build and dispatch differ"
expect 0 'compiled' with_ptx "$wavesmith" build "$work/archive" --name fp8_gemm --out "$work/ptx"
expect 0 'compiled' with_ptx "$wavesmith" build "$work/archive" --name fp8_gemm --out "$work/ptx-again"
diff -r "$work/ptx" "$work/ptx-again" >/dev/null || fail "PTX differs from build to build"

compare_code "$work/ptx" "$work/built"
[ "$(ls "$work/ptx"/*.ptx | wc -l)" = 3 ] || fail "no three PTX files"
! ls "$work/ptx"/*.co "$work/ptx"/*.cubin >/dev/null 2>&1 || fail "WAVESMITH_PTXAS=none still makes machine code"

echo "# several targets, wrong input"
mfma=$source/ir-templates/fp8_gemm_naive.ll
quietly make_archive "$work/mixed.db" kmajor-ocp 'cuda:NVIDIA H200' "$naive" threads=128
quietly make_archive "$work/mixed.db" kmajor 'hip:AMD Instinct MI300X' "$mfma" ''
expect 2 'kernels for gfx942 and for sm_90a: --target chooses' "$wavesmith" dispatch "$work/mixed.db" --out "$work/x"
[ ! -e "$work/x" ] || fail "a failed dispatch left files"
expect 0 'cuda:NVIDIA H200' "$wavesmith" dispatch "$work/mixed.db" --target sm_90a --name fp8_gemm --out "$work/mixed-cuda"
expect 0 'cuda:NVIDIA H200' "$wavesmith" dispatch "$work/mixed.db" --layout kmajor-ocp --name fp8_gemm --out "$work/mixed-ocp"
expect 2 'there are gfx942' "$wavesmith" dispatch "$work/mixed.db" --target sm_91 --out "$work/x"
expect 1 "provenance 'sim'" "$wavesmith" dispatch "$work/tune.db" --provenance sim --out "$work/x"
expect 1 'no model that estimates those of sm_90a' "$wavesmith" dispatch "$work/tune.db" --provenance estimate --out "$work/x"
expect 1 'no model that estimates .* --device cuda' "$wavesmith" dispatch "$work/tune.db" --shapes decode --out "$work/x"
expect 2 'check: kernels for sm_90a cannot be run on a CPU' "$wavesmith" build "$work/archive" --check --out "$work/x"
edit() { # SED_SCRIPT: changes a candidate and its hash in the manifest
  local file old
  file=$(ls "$work"/altered/candidates/*.json | head -1)
  old=$(sha256sum "$file" | cut -c1-32)
  sed -i "$1" "$file"
  sed -i "s/$old/$(sha256sum "$file" | cut -c1-32)/" "$work/altered/manifest.json"
}
if [ -n "$ptxas" ]; then
  quietly "$wavesmith" archive export "$work/tune.db" "$work/altered" --best 100
  edit 's/"object_hash": "[0-9a-f]*"/"object_hash": "00000000000000000000000000000000"/'
  expect 1 'ptxas .* makes another code object .* of the same PTX' "$wavesmith" build "$work/altered" --out "$work/x"
  expect 0 'compiled' with_ptx "$wavesmith" build "$work/altered" --name fp8_gemm --out "$work/altered-ptx"
  rm -r "$work/altered"
fi
quietly "$wavesmith" archive export "$work/tune.db" "$work/altered" --best 100
edit 's/"code_hash": "[0-9a-f]*"/"code_hash": "00000000000000000000000000000000"/'
expect 1 'compiles to other code .* by the same compiler' "$wavesmith" build "$work/altered" --out "$work/x"
edit 's/, \(no ptxas\|ptxas [0-9.]*\)"/, ptxas 1.2"/' # which PTX does not depend on
expect 1 'compiles to other code .* by the same compiler' "$wavesmith" build "$work/altered" --out "$work/x"
edit 's/LLVM [0-9.]*/LLVM 0.0.0/'
expect 0 '1 of 3 kernels compile to other code' "$wavesmith" build "$work/altered" --name fp8_gemm --out "$work/foreign"
diff -r "$work/built" "$work/foreign" >/dev/null || fail "the recorded hashes leak into the files"

echo "# the example"
for kind in ptx built; do # C99 for the emitted file, C++ too
  quietly ${CC:-cc} -std=c99 -Wall -Wextra -pedantic -Werror -I"$source/runtime/include" -c "$work/$kind/fp8_gemm.c" -o "$work/c99.o"
  quietly ${CXX:-c++} -x c++ -std=c++11 -Wall -Wextra -pedantic -Werror -I"$source/runtime/include" -c "$work/$kind/fp8_gemm.c" -o "$work/cxx.o"
  quietly ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -I"$work/$kind" -I"$source/runtime/include" \
    "$source"/examples/gemm/*.c "$work/$kind/fp8_gemm.c" "$source"/runtime/rt/*.c -ldl -lm -lpthread -o "$work/gemm-$kind"
  expect 0 '^512 of 512 sampled elements agree' "${run[@]}" CPU_GEMM_SHAPE='96 576 512' "$work/gemm-$kind" 96 576 512
done
gemm=$work/gemm-ptx
expect 0 '^200.00 us, .* mean of 10 calls' "${run[@]}" CPU_GEMM_SHAPE='16 272 128' "$gemm" --device cuda --time 10 16 272 128
expect 1 'c\[0\]\[0\] is wrong' "${run[@]}" CPU_GEMM_SHAPE='96 576 512' CPU_GEMM_BREAK=1 "$gemm" 96 576 512
expect 1 'not a legal shape' "${run[@]}" CPU_GEMM_SHAPE='17 577 512' "$gemm" 17 577 512
expect 2 'are for sm_90a, that is device cuda' "$gemm" --device hip
expect 3 'WAVESMITH_CUDA_LIBRARY: /nonexistent' env WAVESMITH_CUDA_LIBRARY=/nonexistent.so "$gemm"
if [ ! -e /dev/nvidiactl ]; then
  expect 3 'no CUDA driver|finds no device' "$gemm"
fi
quietly cmake -S "$source/examples/gemm" -B "$work/example" -G Ninja -DGEMM_ARCHIVE="$work/archive" \
  -Dwavesmith_DIR="$build/package" -DCMAKE_C_FLAGS='-Werror -Wpedantic'
quietly cmake --build "$work/example"
diff "$work/built/fp8_gemm.c" "$work/example/wavesmith/fp8_gemm/fp8_gemm.c" >/dev/null || fail "wavesmith_add_kernels and build differ"
expect 0 '^512 of 512' "${run[@]}" CPU_GEMM_SHAPE='96 576 512' "$work/example/gemm" 96 576 512
ldd "$work/example/gemm" | grep -qiE 'llvm|comgr|hip|cuda' && fail "the example links LLVM, HIP or CUDA"

echo "# kernels that take their operands through tensor maps"
quietly make_archive "$work/tma.db" kmajor-ocp 'cuda:NVIDIA H200' \
  "$source/ir-templates/fp8_gemm_wgmma.ll" '' "$source/ir-templates/fp8_gemm_wgmma.ll" 'tile_m=64;warpgroups=1;a_scales=1'
quietly "$wavesmith" archive export "$work/tma.db" "$work/tma-archive" --best 100
expect 0 '2 kernels compiled' with_ptx "$wavesmith" build "$work/tma-archive" --name fp8_gemm --out "$work/tma"
grep -q '^static const ws_rt_tensor_map tensor_maps_0' "$work/tma/fp8_gemm.c" || fail "no tensor maps"
quietly ${CXX:-c++} -x c++ -std=c++11 -Wall -Wextra -pedantic -Werror -I"$source/runtime/include" -c "$work/tma/fp8_gemm.c" -o "$work/cxx.o"
quietly ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -I"$work/tma" -I"$source/runtime/include" \
  "$source"/examples/gemm/*.c "$work/tma/fp8_gemm.c" "$source"/runtime/rt/*.c -ldl -lm -lpthread -o "$work/gemm-tma"
for shape in '96 576 512' '1024 1536 128'; do
  # shellcheck disable=SC2086
  expect 0 '^512 of 512 sampled elements agree' "${run[@]}" CPU_GEMM_SHAPE="$shape" "$work/gemm-tma" $shape
done

echo "# one command makes a library, which needs nothing (docs/build-integration.md)"
quietly ${CC:-cc} -O2 -shared -fPIC -I"$source/runtime/include" -o "$work/libfp8_gemm.so" \
  "$work/ptx/fp8_gemm.c" "$source"/runtime/rt/*.c -ldl -lpthread
for symbol in fp8_gemm fp8_gemm_select fp8_gemm_explain ws_rt_open ws_rt_workspace_bytes ws_rt_run ws_rt_close; do
  nm -D --defined-only "$work/libfp8_gemm.so" | grep " $symbol\$" >/dev/null || fail "the library does not export $symbol"
done

echo "cuda: all as expected"
