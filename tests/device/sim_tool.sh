#!/usr/bin/env bash
# `wavesmith sim` on code objects of others: arguments, exit codes, messages.
# The emulator is mock_hip.c, put in the simulator's place.
set -euo pipefail
wavesmith=$1
export WAVESMITH_SIM_LIBRARY=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf 'code object' >"$work/x.co"
args=a,b,as,bs,c,m,n,k
expect() { # exit code, pattern, command...
  local want=$1 pattern=$2 code=0
  shift 2
  "$@" >"$work/out" 2>&1 || code=$?
  [ "$code" = "$want" ] || { echo "exit $code, want $want: $*"; cat "$work/out"; exit 1; }
  grep -q -- "$pattern" "$work/out" || { echo "no '$pattern': $*"; cat "$work/out"; exit 1; }
}
sim=("$wavesmith" sim "$work/x.co" --problem fp8_gemm_blockscale --shape 16,32,128)
launch=(--grid 'ceildiv(m,16),n/16' --block 64 --args "$args")

expect 0 '^run:   ok, 1024 elements compared' "${sim[@]}" --kernel gemm_ok "${launch[@]}"
grep -q '^time:  100.00 us' "$work/out"
grep -q 'sim:mock_hip:Mock' "$work/out"
expect 1 '^run:   wrong, on 16,32,128: 1 of 512' "${sim[@]}" --kernel gemm_wrong "${launch[@]}"
! grep -q '^time' "$work/out" # time of what?
expect 1 'lds-race: two waves write the same byte (stage, gemm.ll:120)' "${sim[@]}" --kernel gemm_race "${launch[@]}"
expect 1 'hipErrorNotFound' "${sim[@]}" --kernel nobody "${launch[@]}"
expect 1 'timeout' "${sim[@]}" --kernel gemm_hang "${launch[@]}" --seconds 0.5
expect 0 '^time:  100.00 us' "${sim[@]}" --kernel gemm_ok "${launch[@]}" --only time
# buffers and numbers in place of the problem's arguments: nothing to compare with
expect 0 'nothing to compare' "$wavesmith" sim "$work/x.co" --only run --kernel gemm_ok --grid 1 --block 64 \
  --args buf:2048:3,buf:4096:4,buf:64,buf:4,buf:1024,16,i32:32,128

expect 2 'needs --grid and --block' "${sim[@]}" --kernel gemm_ok
expect 2 'comes after its --kernel' "${sim[@]}" --grid 1
expect 2 'needs a --kernel' "${sim[@]}"
expect 2 "unknown" "${sim[@]}" --colour
expect 2 "is no shape m,n,k" "$wavesmith" sim "$work/x.co" --problem fp8_gemm_blockscale --shape 16x32 --kernel gemm_ok "${launch[@]}"
expect 1 "needs n % 16 == 0" "$wavesmith" sim "$work/x.co" --problem fp8_gemm_blockscale --shape 16,33,128 --kernel gemm_ok "${launch[@]}"
expect 1 'expected an integer' "${sim[@]}" --kernel gemm_ok --grid 'm +' --block 64 --args "$args"
expect 1 'nonexistent' "$wavesmith" sim /nonexistent.co --kernel gemm_ok --grid 1 --block 1

"${sim[@]}" --kernel gemm_race "${launch[@]}" --json >"$work/json" || true
python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
assert report["run"]["findings"][0]["id"] == "lds-race", report
assert report["run"]["report"][0]["kernel"] == "gemm_race", report
assert "time" not in report' "$work/json"
echo ok
