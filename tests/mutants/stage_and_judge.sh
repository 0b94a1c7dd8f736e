#!/usr/bin/env bash
# Two mutants to a card elsewhere and back, with the simulated MI300X for the
# card and without the coverage: one is caught on the edge shapes, whichever its
# id draws (one of them has 8 to 20 blocks of k, of which 14 alone would hide it),
# one is wrong on larger shapes only and has to be reported as a survivor.
#   stage_and_judge.sh RUN_MUTANTS WAVESMITH_DEVICE NAIVE_MUTANTS
set -euo pipefail
mutants=$1 device=$2 file=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "not ok: $*" >&2; exit 1; }
judged() { # exit code, patterns of lines
  local want=$1 code=0 pattern
  shift
  "$mutants" --judge "$work/b" >"$work/out" || code=$?
  cat "$work/out"
  [ "$code" = "$want" ] || fail "exit $code, want $want"
  for pattern in "$@"; do
    grep -q -- "$pattern" "$work/out" || fail "no '$pattern'"
  done
}

early=naive-blocks-drop-7-above-7 late=naive-scale-column-in-6-bits
"$mutants" --stage "$work/b" --brief "$file" -- $early $late
judged 1 '^not ok - control .*: not answered' '5 without an answer'
"$device" run "$work/b" --device sim
judged 1 '^ok - control .*: ok ok' "^ok - proof $early .*: call wrong" \
  "^ok - path $early .*: verify wrong" "^ok - proof $late .*: call wrong" \
  "^not ok - path $late .*: ok ok" \
  '^# 1 of 2 survive; 0 are not proven wrong; 0 false alarms; 0 without an answer'

# The first alone does not survive, and a control that is
# caught is a false alarm.
grep -v "$late" "$work/b/trips.txt" >"$work/some"
cp "$work/some" "$work/b/trips.txt"
judged 0 '^# 0 of 1 survive'
{ cat "$work/some"; printf 'control\tfalse alarm\tcontrol\tcheck\tbecause\n'; } >"$work/b/trips.txt"
judged 1 '^not ok - control false alarm' '1 false alarms'
