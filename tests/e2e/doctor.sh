#!/usr/bin/env bash
# `wavesmith doctor`: 0 and all required parts where the build works, 3 and a
# cure where the compile server cannot run; its JSON is JSON.
set -euo pipefail
wavesmith=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

unset WAVESMITH_COMPILER
"$wavesmith" doctor >"$work/out"
grep -q '^ok  *compile server' "$work/out"
grep -qE '^ok  *LLVM  *(20|21|22)\.' "$work/out"
grep -qE '^ok  *comgr  *[3-9]\.' "$work/out"
! grep -q MISSING "$work/out"
# What machines may lack is one line, and a second one with the cure.
for part in 'ptxas' 'AMD card' 'NVIDIA card'; do
  grep -qE "^(ok|absent)  *$part  *[^ ]" "$work/out"
done
"$wavesmith" doctor --json | python3 -c '
import json, sys
parts = {part["name"]: part for part in json.load(sys.stdin)}
assert parts["compile server"]["present"] and parts["LLVM"]["required"], parts'

code=0
WAVESMITH_COMPILER=/nonexistent "$wavesmith" doctor >"$work/out" || code=$?
[ "$code" = 3 ]
grep -q '^MISSING  *compile server  */nonexistent' "$work/out"
grep -q -- '-> .*WAVESMITH_COMPILER' "$work/out"
echo ok
