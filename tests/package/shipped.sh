#!/usr/bin/env bash
# Every archive that is shipped builds, and is of the target and layout that its
# folder says: code objects for gfx942, PTX and (with ptxas) cubin for sm_90a.
#   shipped.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/package/expect.sh
source "$(dirname "$0")/expect.sh"
# shellcheck source=tests/package/ptx.sh
source "$(dirname "$0")/ptx.sh"
wavesmith=$build/bin/wavesmith
unset WAVESMITH_PTXAS

is_of_its_folder() { # HEADER LAYOUT TARGET
  grep -q "layout $2, target $3" "$1" || fail "the kernels of $folder are for another layout or target"
}

for folder in "$source"/kernels/*/tuned/*/*/; do
  target=$(basename "$(dirname "$folder")") layout=$(basename "$folder")
  problem=${folder%/tuned/*} problem=${problem##*/}
  out=$work/$problem-$target-$layout
  if [ "$target" != sm_90a ]; then
    expect 0 'kernels compiled' "$wavesmith" build "$folder" --out "$out"
    is_of_its_folder "$out/$problem.h" "$layout" "$target"
    continue
  fi
  expect 0 'kernels compiled' with_ptx "$wavesmith" build "$folder" --out "$out"
  is_of_its_folder "$out/$problem.h" "$layout" "$target"
  grep -q 'cuda:' "$out/$problem.h" || fail "the times of $folder are not a card's"
  if [ "$problem" = rmsnorm ]; then # few kernels
    expect 0 'kernels compiled' with_ptx "$wavesmith" build "$folder" --out "$out-again"
    diff -r "$out" "$out-again" >/dev/null || fail "PTX differs from build to build"
  fi
  if [ -n "$ptxas" ]; then
    expect 0 'kernels compiled' "$wavesmith" build "$folder" --out "$out-cubin"
    compare_code "$out" "$out-cubin"
  fi
done
echo "shipped: all as expected"
