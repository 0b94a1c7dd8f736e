#!/usr/bin/env bash
# Installs into a fresh prefix, tunes a little, exports, and goes the way of a
# user: wavesmith build, then examples/gemm as a project of its own against the
# installation and against the build tree, then runs it without a device and on
# a HIP library that multiplies on the CPU.
#   package.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2 cpu_hip=$1/tests/cpu_hip.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

# shellcheck source=tests/package/expect.sh
source "$(dirname "$0")/expect.sh"

echo "# installation"
quietly cmake --install "$build" --prefix "$prefix"
for file in bin/wavesmith libexec/wavesmith/wavesmith-compiler libexec/wavesmith/wavesmith-device \
  include/wavesmith/rt.h 'lib*/libwavesmith_hipsim.so' 'lib*/libwavesmith_rt.a' 'lib*/wavesmith/WavesmithPass.so' 'lib*/cmake/wavesmith/wavesmithConfig.cmake' \
  'lib*/pkgconfig/wavesmith.pc' share/wavesmith/ir-templates/fp8_gemm_mfma.ll \
  share/wavesmith/kernels/{rmsnorm,softmax}/{gfx942.ll,naive.ll,problem.c,README.md} share/wavesmith/kernels/rmsnorm/sm90a.ll \
  share/wavesmith/kernels/gemm_bf16/gemm_bf16_mfma.ll share/wavesmith/ir-templates/fp8_gemm_mfma.mlir; do
  compgen -G "$prefix/$file" >/dev/null || compgen -G "$prefix/${file/lib\*/lib/*}" >/dev/null ||
    fail "$file is not installed"
done
PATH=$prefix/bin:$PATH
unset WAVESMITH_COMPILER # the installed one must be found
expect 0 '^ok +simulator .*times are sim:gfx942-model-[0-9]+:MI300X' wavesmith doctor
export PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name wavesmith.pc)")

echo "# templates of the other shipped problems"
for problem in rmsnorm softmax; do
  expect 0 'verdict +ok' wavesmith check "$prefix/share/wavesmith/kernels/$problem/gfx942.ll" --problem $problem --shape model
done

echo "# an archive of a few candidates"
templates=$prefix/share/wavesmith/ir-templates
quietly wavesmith tune "$templates/fp8_gemm_mfma.ll" --baseline "$templates/fp8_gemm_naive.ll" \
  --layout kmajor --shapes contest --strategy random --seed 7 --evaluations 12 --device estimate --archive "$work/tune.db"
quietly wavesmith dispatch "$work/tune.db" --layout kmajor --shapes contest --name fp8_gemm --out "$work/dispatch"
quietly wavesmith archive export "$work/tune.db" "$work/archive" --best 100 # all of them

echo "# build gives what dispatch gave, every time"
expect 0 'fp8_gemm: [0-9]+ kernels compiled' wavesmith build "$work/archive" --name fp8_gemm --out "$work/built"
diff -r "$work/dispatch" "$work/built" >/dev/null || fail "build and dispatch differ"
expect 0 'and checked' wavesmith build "$work/archive" --name fp8_gemm --out "$work/checked" --check
diff -r "$work/built" "$work/checked" >/dev/null || fail "--check changes the files"
expect 0 '"portfolio":\[\{"candidate":"[0-9a-f]{32}"' \
  wavesmith build "$work/archive" --name fp8_gemm --out "$work/one" --max-kernels 1 --json
[ "$(ls "$work/one"/*.co | wc -l)" = 1 ] || fail "--max-kernels 1 gives another number of code objects"

echo "# wrong input"
expect 2 "'--nonsense' is unknown" wavesmith build "$work/archive" --nonsense
expect 2 'one folder' wavesmith build
expect 2 'max-kernels' wavesmith build "$work/archive" --max-kernels 0
expect 2 'C identifier' wavesmith build "$work/archive" --name 1x --out "$work/x"
expect 2 'layout' wavesmith build "$work/archive" --layout diagonal
expect 1 'no-such-folder' wavesmith build "$work/no-such-folder"
expect 1 'mnmajor' wavesmith build "$work/archive" --layout mnmajor --out "$work/x"
touch "$work/a-file"
expect 3 'a-file' wavesmith build "$work/archive" --name fp8_gemm --out "$work/a-file"
cp -r "$work/archive" "$work/altered"
altered=$(ls "$work"/altered/templates/*.ll | head -1)
echo '; a comment more' >>"$altered"
expect 1 "$(basename "$altered")" wavesmith build "$work/altered" --out "$work/x"
[ ! -e "$work/x" ] || fail "a failed build left files"

echo "# another compiler, other code"
cp -r "$work/archive" "$work/foreign"
edit() { # SED_SCRIPT: changes a candidate and its hash in the manifest
  local file old
  file=$(ls "$work"/foreign/candidates/*.json | head -1)
  old=$(sha256sum "$file" | cut -c1-32)
  sed -i "$1" "$file"
  sed -i "s/$old/$(sha256sum "$file" | cut -c1-32)/" "$work/foreign/manifest.json"
}
edit 's/"code_hash": "[0-9a-f]*"/"code_hash": "00000000000000000000000000000000"/'
expect 1 'compiles to other code .* by the same compiler' wavesmith build "$work/foreign" --name fp8_gemm --out "$work/x"
edit 's/\("compiler": .*\)LLVM [0-9.]*/\1LLVM 0.0.0/'
expect 0 '1 of [0-9]+ kernels compile to other code' wavesmith build "$work/foreign" --name fp8_gemm --out "$work/foreign-built"
diff -r "$work/built" "$work/foreign-built" >/dev/null || fail "the recorded hashes leak into the files"

echo "# the archives that are shipped are installed, and one builds (shipped.sh: all)"
for folder in "$source"/kernels/*/tuned; do
  problem=$(basename "$(dirname "$folder")")
  diff -r "$folder" "$prefix/share/wavesmith/kernels/$problem/tuned" >/dev/null || fail "what is installed of $folder differs"
done
expect 0 'kernels compiled' wavesmith build "$prefix/share/wavesmith/kernels/softmax/tuned/gfx942/plain" --out "$work/shipped"
grep -q 'layout plain, target gfx942' "$work/shipped/softmax.h" || fail "the kernels of softmax are for another layout or target"

echo "# the example against the installation"
make_example() { # FOLDER OPTION...
  quietly cmake -S "$source/examples/gemm" -B "$1" -G Ninja -DGEMM_ARCHIVE="$work/archive" \
    -DCMAKE_C_FLAGS='-Werror -Wpedantic' "${@:2}"
  quietly cmake --build "$1"
}
make_example "$work/example" -DCMAKE_PREFIX_PATH="$prefix"
diff "$work/built/fp8_gemm.c" "$work/example/wavesmith/fp8_gemm/fp8_gemm.c" >/dev/null || fail "wavesmith_add_kernels and build differ"
ldd "$work/example/gemm" | grep -qiE 'llvm|comgr|hip' && fail "the example links LLVM or HIP"
expect 0 'no work to do' cmake --build "$work/example"
touch "$work/archive/manifest.json"
expect 0 'Building kernels fp8_gemm' cmake --build "$work/example"

echo "# the shapes that rules are fitted on"
mkdir "$work/shaped"
cat >"$work/shaped/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(shaped C)
find_package(wavesmith REQUIRED)
wavesmith_add_kernels(NAME fp8_gemm ARCHIVE "$work/archive" SHAPES "16,576,512;8,7168,2048" PROVENANCE estimate)
EOF
quietly cmake -S "$work/shaped" -B "$work/shaped/build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$work/shaped/build"
quietly wavesmith build "$work/archive" --name fp8_gemm --out "$work/by-shapes" --shapes '16,576,512;8,7168,2048' --provenance estimate
diff "$work/by-shapes/fp8_gemm.c" "$work/shaped/build/wavesmith/fp8_gemm/fp8_gemm.c" >/dev/null || fail "SHAPES and --shapes differ"
cmp -s "$work/by-shapes/fp8_gemm.c" "$work/built/fp8_gemm.c" && fail "--shapes changes nothing"

gemm=$work/example/gemm
expect 3 'nonexistent' env WAVESMITH_HIP_LIBRARY=/nonexistent.so "$gemm"
if [ ! -e /dev/kfd ]; then
  expect 3 'no device|no HIP library' "$gemm"
fi
cpu=(env WAVESMITH_HIP_LIBRARY="$cpu_hip")
expect 0 '^512 of 512 sampled elements agree' "${cpu[@]}" CPU_GEMM_SHAPE='96 576 512' "$gemm" 96 576 512
expect 0 'estimate' "${cpu[@]}" CPU_GEMM_SHAPE='16 272 128' "$gemm" 16 272 128
expect 1 'c\[0\]\[0\] is wrong' "${cpu[@]}" CPU_GEMM_SHAPE='96 576 512' CPU_GEMM_BREAK=1 "$gemm" 96 576 512
expect 1 'not a legal shape' "${cpu[@]}" CPU_GEMM_SHAPE='17 577 512' "$gemm" 17 577 512
expect 2 usage "$gemm" 96 576
expect 2 usage "$gemm" --time 0
expect 2 'are for gfx942, that is device hip' "$gemm" --device cuda
expect 0 '^200.00 us, .* mean of 10 calls' "${cpu[@]}" CPU_GEMM_SHAPE='96 576 512' "$gemm" --device hip --time 10 96 576 512

echo "# the example against the build tree"
make_example "$work/example2" -Dwavesmith_DIR="$build/package"
expect 0 'agree' "${cpu[@]}" CPU_GEMM_SHAPE='96 576 512' "$work/example2/gemm" 96 576 512

echo "# by hand, with pkg-config"
quietly ${CC:-cc} -std=c11 -Wall -Wextra -Werror -I"$work/built" "$source"/examples/gemm/*.c "$work/built/fp8_gemm.c" \
  $(pkg-config --cflags --libs --static wavesmith) -lm -o "$work/by-hand"
expect 0 'agree' "${cpu[@]}" CPU_GEMM_SHAPE='96 576 512' "$work/by-hand" 96 576 512

echo "# wrong arguments of wavesmith_add_kernels"
bad_call() { # PATTERN ARGUMENT...
  local pattern=$1; shift
  mkdir -p "$work/bad"
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(bad C)\nfind_package(wavesmith REQUIRED)\nwavesmith_add_kernels(%s)\n' "$*" >"$work/bad/CMakeLists.txt"
  expect 1 "$pattern" cmake -G Ninja -S "$work/bad" -B "$work/bad/build" -DCMAKE_PREFIX_PATH="$prefix"
}
bad_call 'C identifier' NAME a-b ARCHIVE "$work/archive"
bad_call 'is no folder' NAME a ARCHIVE "$work/none"
bad_call 'SHAPE' NAME a ARCHIVE "$work/archive" SHAPE x
echo "package: all as expected"
