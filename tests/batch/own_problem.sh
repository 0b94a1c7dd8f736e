#!/usr/bin/env bash
# A batch of a problem that does not come with wavesmith carries it: run where
# neither its file nor its header is, with another cache.
#   own_problem.sh WAVESMITH WAVESMITH_DEVICE
set -euo pipefail
wavesmith=$1 device=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "not ok: $*" >&2; exit 1; }
expect() { # code, pattern, command...: the exit code, and one line that has it
  local want=$1 pattern=$2 code=0
  shift 2
  "$@" >out 2>&1 || code=$?
  [ "$code" = "$want" ] || { cat out; fail "exit $code, want $want: $*"; }
  grep -q -- "$pattern" out || { cat out; fail "no '$pattern': $*"; }
}
export WAVESMITH_CACHE=$work/cache
"$wavesmith" new scale >/dev/null
mkdir scale/deep
printf '#define FACTOR 1\n' >scale/deep/factor.h # a header of the user's
sed -i '/^#include/a #include "deep/factor.h"\nstatic const double factor = FACTOR;' scale/scale.c
sed -i 's/\* ws_get(call, SCALE, c)/& * factor/' scale/scale.c
grep -q '\* factor' scale/scale.c || fail "the reference has no factor"
tune() {
  "$wavesmith" tune scale/naive.ll --problem scale/scale.c --device batch:b --evaluations 3 --seed 1 \
    --archive "$1"
}
expect 0 'run `wavesmith-device run b` where the card is' tune a.db
[ "$(ls b/problem | wc -l)" = 1 ] || fail "no problem in the folder"
cp -r b damaged
mkdir card
cp -r b card
mv scale away
(cd card && unset WAVESMITH_CACHE && HOME=$work/home expect 0 'answered, 0 open; in this run [1-9][0-9]* ok' \
  "$device" run b --device sim) || fail "it does not run elsewhere"
ls home/.cache/wavesmith/problems/*.so >/dev/null || fail "it was not compiled there"
mv away scale
cp card/b/results.jsonl b/
expect 0 '[1-9] candidates verified, 0 refuted' tune a.db
echo "ok 1 - answered by who has only the folder"

printf ' ' >>damaged/problem/"$(ls damaged/problem)"
expect 1 'not the file that was written' "$device" run damaged --device sim
sed -i 's/FACTOR 1/FACTOR 1.0/' scale/deep/factor.h
expect 1 "its jobs are of another problem 'scale'" tune other.db
sed -i 's/FACTOR 1.0/FACTOR 1/' scale/deep/factor.h
WAVESMITH_CACHE=$work/cache2 CC=/nonexistent/cc expect 3 'cannot be run' "$device" run b --device sim
echo "ok 2 - what is wrong is one line"

# where the reference crashes on a shape that only the card has
rm -rf b
sed -i 's/^  const int64_t cols = call.*/&\n  if (cols > 64 \&\& call->dims[0] > 1) __builtin_trap();/' scale/scale.c
expect 0 'run `wavesmith-device run b` where the card is' tune crash.db
expect 1 '^wavesmith-device run: b/problem/scale-.*\.c: the reference of scale crashed on rows=[0-9]*,cols=' \
  "$device" run b --device sim
! grep -q 'set aside' out || fail "a job is set aside"
! grep -q '"verdict":"\(crash\|timeout\)"' b/results.jsonl || fail "a candidate is condemned"
echo "ok 3 - a reference that crashes ends the run"
