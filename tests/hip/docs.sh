#!/usr/bin/env bash
# The commands of docs/hip.md, as they stand there.
set -euo pipefail
wavesmith=$(realpath "$1") root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root/examples/hip/fp8_gemm.hip" "$root/examples/opencl/gemm_bf16.cl" "$root/tests/hip/plain.hip" "$root/tests/hip/bodies/multiply.hip" "$work"
cd "$work"
wavesmith() { "$wavesmith" "$@"; }
count=0
while IFS= read -r command; do
  count=$((count + 1))
  eval "$command" >out 2>&1 </dev/null || { echo "$command"; cat out; exit 1; }
done < <(sed -n 's/^\$ //p' "$root/docs/hip.md")
[ "$count" = 9 ] || { echo "$count commands in docs/hip.md, want 9"; exit 1; }
sed '/nobody reads them/d' fp8_gemm.hip >mutant.hip # what the page says of it
wavesmith import mutant.hip >/dev/null
! wavesmith check mutant.ll >out || exit 1
grep -q 'lds-race in stage at mutant.hip:38' out || { cat out; exit 1; }
