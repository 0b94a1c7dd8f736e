#!/usr/bin/env bash
# The line in which a run says what ranks, on the simulator: the small shapes
# alone, one that is large, and what it follows from. wavesmith ROOT
set -euo pipefail
wavesmith=$1 template=$2/kernels/rmsnorm/gfx942.ll
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "ranking: $*" >&2; cat "$work/out" >&2; exit 1; }

# The line for shapes; what it says is what its own figures say.
look() {
  "$wavesmith" tune "$template" --shapes "$1" --seed 1 --evaluations 1 --minutes 5 \
    --archive "$work/$2.db" >"$work/out" 2>&1 || fail "exit $?"
  line=$(grep '^Ranking: ' "$work/out") || fail "no line"
  local low
  low=$(grep -oE -- '-?[0-9]\.[0-9]+' <<<"$line" | sort -g | head -n 1)
  if awk "BEGIN { exit !($low < 0.395) }"; then
    grep -q 'ranked on the device$' <<<"$line" || fail "$low is poor"
  elif awk "BEGIN { exit !($low > 0.405) }"; then
    grep -q 'ranked by estimate$' <<<"$line" || fail "$low is enough"
  fi
}

# a row or a few: a launch is all, and estimates know that
look "1,4096;16,4096" small
grep -q 'device 0\.[0-9]*, so candidates are ranked by estimate$' <<<"$line" || fail "small: $line"
# 1024 rows: not the device's order
look "1,4096;16,4096;1024,8192" large
grep -q 'on small shapes, -\?0\.[0-9]* on 1024,8192, so candidates are ranked on the device$' <<<"$line" ||
  fail "large: $line"
# who says --rank is not asked
"$wavesmith" tune "$template" --shapes "1,4096" --rank estimate --evaluations 1 --archive "$work/said.db" \
  >"$work/out" 2>&1 || fail "exit $?"
! grep -q '^Ranking: ' "$work/out" || fail "it looked though --rank was given"
echo ok
