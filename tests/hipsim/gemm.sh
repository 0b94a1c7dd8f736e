#!/usr/bin/env bash
# examples/gemm with the shipped kernels, as a user builds it from an installed
# wavesmith, on the simulator: real code objects, checked against fp64.
#   gemm.sh BUILD_DIR SOURCE_DIR
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }
# expect CODE PATTERN COMMAND...
expect() {
  local want=$1 pattern=$2 got=0; shift 2
  "$@" >"$work/output" 2>&1 || got=$?
  [ "$got" = "$want" ] || { cat "$work/output" >&2; fail "exit $got, want $want: $*"; }
  grep -qE -- "$pattern" "$work/output" || { cat "$work/output" >&2; fail "no '$pattern' in the output of: $*"; }
  echo "ok: ${*//$work\//} -> $got"
}

quietly cmake --install "$build" --prefix "$work/prefix"
library=$(find "$work/prefix" -name libwavesmith_hipsim.so)
stand_in=$(dirname "$(find "$work/prefix" -name libamdhip64.so.6)")
[ -e "$library" ] || fail "the library is not installed"
for name in libamdhip64.so libamdhip64.so.6 libamdhip64.so.7; do
  [ -e "$stand_in/$name" ] || fail "$name leads nowhere"
done

unset WAVESMITH_COMPILER # the installed one must be found
quietly cmake -S "$source/examples/gemm" -B "$work/gemm" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix"
quietly cmake --build "$work/gemm"
gemm=$work/gemm/gemm
sim=(env WAVESMITH_HIP_LIBRARY="$library" WAVESMITH_SIM_REPORT="$work/report")

# Whole tiles, edges, small m, and more than one rule's worth of shapes.
for shape in '64 576 512' '16 272 128' '96 576 1536' '256 1536 512' '1024 1536 256'; do
  # shellcheck disable=SC2086
  expect 0 '^512 of 512 sampled elements agree' "${sim[@]}" "$gemm" $shape
done
# Sixty random shapes, every second m beside a multiple of 16: sizes up to limits
# that are drawn first, so that small and large ones are as likely.
state=16
below() { state=$(((state * 1103515245 + 12345) % 2147483648)); drawn=$((state / 65536 % $1)); }
size() { below "$1"; below $((1 << drawn)); drawn=$((drawn + 1)); }
for ((i = 0; i < 60; i++)); do
  size 11; m=$drawn; size 8; n=$((16 * drawn)); size 5; k=$((128 * drawn))
  ((i % 2)) || m=$(((m + 15) / 16 * 16))
  expect 0 '^[0-9]+ of [0-9]+ sampled elements agree' "${sim[@]}" "$gemm" $m $n $k
done
grep -q '"kernel":"fp8_gemm_mfma"' "$work/report" || fail "the report lacks the kernel"
grep -q '"bound":"' "$work/report" || fail "the report lacks the profile"
# Without the run nothing is written: the example's check must see it.
expect 1 'is wrong' "${sim[@]}" WAVESMITH_SIM_MODE=time "$gemm" 64 576 512
expect 0 '^512 of 512' env LD_LIBRARY_PATH="$stand_in" "$gemm" 64 576 512
echo "gemm: all as expected"
