#!/usr/bin/env bash
# Serve, log, tune, ship: what a program launches beside the shapes that its
# kernels were tuned on is logged, tuned from the log, and near the next time.
#   misses.sh BUILD_DIR SOURCE_DIR CC PYTHON
set -euo pipefail
build=$1 source=$2 cc=$3 python=$4
wavesmith=$build/bin/wavesmith
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "FAILED: $*" >&2; exit 1; }
quietly() { "$@" >log 2>&1 || { cat log >&2; fail "$*"; }; }
# expect CODE PATTERN COMMAND...
expect() {
  local want=$1 pattern=$2 got=0; shift 2
  "$@" >output 2>&1 || got=$?
  [ "$got" = "$want" ] || { cat output >&2; fail "exit $got, want $want: $*"; }
  grep -qE -- "$pattern" output || { cat output >&2; fail "no '$pattern' in the output of: $*"; }
  echo "ok: $* -> $got"
}
template=$source/kernels/softmax/gfx942.ll
tune() { quietly "$wavesmith" tune "$template" --device sim --evaluations 2 --archive tune.db "$@"; }
ship() { # SHAPES
  quietly "$wavesmith" dispatch tune.db --problem softmax --shapes "$1" --provenance sim --out out
  quietly "$cc" -O1 -Wall -Wextra -Werror -I"$source/runtime/include" -Iout \
    "$source/tests/e2e/serve_softmax.c" out/softmax.c -o serve "$build"/lib*/libwavesmith_rt.a -ldl
}
serve() {
  env WAVESMITH_HIP_LIBRARY="$(find "$build" -name libwavesmith_hipsim.so | head -1)" \
    WAVESMITH_SIM_MODE=time WAVESMITH_RT_MISSES="$PWD/misses.jsonl" ./serve "$@"
}
has() { grep -qF -- "$1" misses.jsonl || { cat misses.jsonl >&2; fail "the log lacks $1"; }; }

tune --shapes '256,512'
ship '256,512'
serve 256,512,3 300,512,2 # tuned; near
[ ! -s misses.jsonl ] || fail "near shapes are in the log: $(cat misses.jsonl)"
serve 64,8192,1 256,2048,5 # 16 and 4 times as many columns
[ "$(wc -l <misses.jsonl)" = 5 ] || fail "1 + 4 lines are wanted: $(cat misses.jsonl)"
has '"problem":"softmax"'
has '"shape":{"rows":256,"cols":2048},"count":2,"nearest":{"rows":256,"cols":512},"factor":4}'

# A line that a killed process left, and one of another problem.
printf '%s\n' '{"problem":"gemm_bf16","layout":"nt","shape":{"m":8},"count":7}' >>misses.jsonl
printf '%s' '{"dispatch":"soft' >>misses.jsonl
tune --shapes misses.jsonl
grep -q 'misses.jsonl: 1 of 6 lines are of other problems' log || fail "no word of the other problem's line"
grep -q 'misses.jsonl:7: the last line is cut off' log || fail "no word of the cut line"
grep -qE '^ *256,2048 ' log && grep -qE '^ *64,8192 ' log || { cat log >&2; fail "these shapes were not tuned"; }
recorded=$("$python" -c 'import sqlite3; print(*sqlite3.connect("tune.db").execute(
  "SELECT shape_set FROM run ORDER BY id DESC LIMIT 1").fetchone())')
[ "$recorded" = '256,2048;64,8192' ] || fail "the run is of '$recorded', most launched first is wanted"

rm misses.jsonl # the next log begins anew
ship '256,512;256,2048;64,8192'
serve 256,512,3 64,8192,1 256,2048,5
[ ! -s misses.jsonl ] || fail "tuned shapes are in the log: $(cat misses.jsonl)"
serve 1,64,1
has '"shape":{"rows":1,"cols":64},"count":1,'

echo nonsense >bad.jsonl
expect 1 'bad.jsonl:1: not a logged shape' "$wavesmith" tune "$template" --shapes bad.jsonl --archive tune.db
expect 1 'no.jsonl: cannot open' "$wavesmith" tune "$template" --shapes no.jsonl --archive tune.db
echo "misses: all as expected"
