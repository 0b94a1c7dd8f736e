#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `wavesmith bench` as users call it: subjects of every kind on the simulator,
# comparisons that must agree with themselves, and what is wrong said in a line.
# bench_tool.sh WAVESMITH SOURCE_DIR
set -u
wavesmith=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  echo "not ok: $1"
  [ -f "$work/out" ] && sed 's/^/#   /' "$work/out"
  failures=$((failures + 1))
}

# expect CODE TEXT ARGUMENTS...: exit code, and what the output must hold
expect() {
  local code=$1 text=$2
  shift 2
  "$wavesmith" bench "$@" >"$work/out" 2>&1
  local got=$?
  [ $got = "$code" ] || fail "exit code $got, want $code: bench $*"
  grep -qe "$text" "$work/out" || fail "no '$text': bench $*"
}

mfma=$source/ir-templates/fp8_gemm_mfma.ll
naive=$source/ir-templates/fp8_gemm_naive.ll
shape='96,7168,256'

# two of the same are the same, and the faster one is so from either side
expect 0 ' 1\.0000  *[0-9]* % of [0-9]*  *[0-9]* %  same$' "$mfma" --against "$mfma" --device sim --shapes $shape
expect 0 ' faster' "$mfma" --against "$naive" --device sim --shapes $shape
expect 0 ' slower' "$naive" --against "$mfma" --device sim --shapes $shape
expect 0 '^simulated: ' "$mfma" --device sim --shapes $shape
expect 0 'of MI300X' "$mfma" --device sim --shapes $shape

# the time is that of `wavesmith sim`
sim=$("$wavesmith" sim --template "$mfma" --shape $shape --only time | sed -n 's/^time: *\([0-9.]*\) us.*/\1/p')
"$wavesmith" sim --template "$mfma" --shape $shape --only time --json >"$work/out" || fail 'sim --json'
grep -q '"model_error":[[:space:]]*[0-9.]*[1-9]' "$work/out" || fail 'the profile has no error of the model'
"$wavesmith" sim --template "$mfma" --shape $shape --only time >"$work/out" || fail sim
grep -q "^time: .* us +-[0-9]* % (the model's error), bound by " "$work/out" || fail 'the time has no error'
expect 0 " $sim  *+-[0-9]* %" "$mfma" --device sim --shapes $shape

# with the model's error, by which two are the same
expect 0 "model's error" "$mfma" --device sim --shapes $shape
expect 0 '% apart count as the same' "$mfma" --device sim --shapes $shape
expect 0 'the same within the model' "$mfma" --against "$mfma" --device sim --shapes $shape
expect 0 '"model_error":' "$mfma" --device sim --shapes $shape --json
expect 0 '"right":' "$mfma" --against "$mfma" --device sim --shapes $shape --json
expect 0 '"equal_below":' "$mfma" --device sim --shapes $shape --json

# a dispatch takes the time of the kernel that it picks
archive=$source/kernels/fp8_gemm_blockscale/tuned/gfx942/kmajor
"$wavesmith" archive import "$work/tuned.db" "$archive" >"$work/out" 2>&1 || fail import
"$wavesmith" build "$archive" --out "$work" --name gemm --max-kernels 2 >"$work/out" 2>&1 || fail build
expect 0 '^gemm.json on sim:' "$work/gemm.json" --archive "$work/tuned.db" --device sim --shapes "$shape;1024,576,7168"
picked=$(sed -n 's/.*"candidate":[[:space:]]*"\([0-9a-f]*\)".*/\1/p' "$work/gemm.json" | head -1)
expect 0 '^gemm.json on sim:' "$work/gemm.json" --archive "$archive" --device sim --shapes $shape
expect 2 'came out of: --archive' "$work/gemm.json" --device sim

# a candidate of a text archive is its template with its parameters, by whatever
# name it goes
file=$archive/candidates/$picked.json
set=$(sed -n 's/.*"assignments": *"\(.*\)",/\1/p' "$file")
variants=$(sed -n 's/.*"variants": *"\(.*\)",*/\1/p' "$file")
template=$(echo "$archive"/templates/fp8_gemm_mfma-*.ll)
for subject in "$file" "$archive:${picked:0:8}" "$work/tuned.db:$picked"; do
  expect 0 "^fp8_gemm_mfma ${picked:0:8} on sim:" "$subject" --device sim --shapes $shape
  expect 0 ' 1\.0000  *[0-9]* % of [0-9]*  *[0-9]* %  same$' "$subject" --against "$template" --against-set "$set" \
    --against-variant "$variants" --device sim --shapes $shape
done
cd "$archive/candidates" || exit 1
expect 0 "${picked:0:8} on sim:" "$picked.json" --device sim --shapes $shape
cd "$OLDPWD" || exit 1
mkdir "$work/alone"
cp "$file" "$work/alone"
expect 1 "no $work/alone/../manifest.json.*where it lies" "$work/alone/$picked.json" --device sim
cp -r "$archive" "$work/altered"
sed -i 's/"kind": "/&x/; s/"move": "/&x/' "$work/altered/candidates/$picked.json"
expect 1 'changed after the export' "$work/altered/candidates/$picked.json" --device sim
sed 's/"low":.*/"low": 0,/' "$work/gemm.json" >"$work/loop.json"
if ! cmp -s "$work/gemm.json" "$work/loop.json"; then
  expect 1 'points back' "$work/loop.json" --archive "$work/tuned.db" --device sim
fi
echo '{' >"$work/broken.json"
expect 1 'broken.json' "$work/broken.json" --archive "$work/tuned.db" --device sim

# what is wrong
expect 2 'neither a template' nothing --device sim
expect 2 'one subject is wanted' --device sim
expect 2 "has no shape set 'contst'" "$mfma" --device sim --shapes contst
expect 1 'it needs n % 16 == 0' "$mfma" --device sim --shapes 16,17,128
expect 2 '--width is a number' "$mfma" --width wide
expect 2 'for templates' "$work/tuned.db:$picked" --set a=1
expect 1 'nothing.ll' nothing.ll
expect 1 'no candidate' "$work/tuned.db:ffff" --device sim
WAVESMITH_HIP_LIBRARY=/nonexistent.so expect 3 'WAVESMITH_HIP_LIBRARY' "$mfma" --device hip

[ $failures = 0 ] && echo ok
exit $((failures > 0))
