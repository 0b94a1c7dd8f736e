#!/usr/bin/env bash
# A tuning run in rounds, timed by `wavesmith-device run` on the simulated
# MI300X, has the same candidates, verdicts and times in its archive as a run
# that asks the simulator itself. And for sm_90a, without a card: a round is
# asked for, and asking again adds nothing.
#   rounds_on_sim.sh WAVESMITH WAVESMITH_DEVICE SOURCES
set -euo pipefail
wavesmith=$1 device=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "not ok: $*" >&2; exit 1; }
dump() { # database: candidates and their times on the search's shapes
  python3 - "$1" <<'QUERY'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
for row in database.execute(
    "SELECT sequence, id, proposer, move, verdict, stage, reason"
    " FROM candidate ORDER BY sequence"):
    print(*row)
for row in database.execute(
    "SELECT candidate_id, shape, us, provenance, bound FROM measurement"
    " WHERE shape IN ('rows=16,cols=1024', 'rows=64,cols=2048')"
    " ORDER BY 1, 2, 4"):
    print(*row)
QUERY
}
options=(--shapes '16,1024;64,2048' --strategy local --seed 1 --round 5
  --evaluations 10)
tune() { "$wavesmith" tune "$source/kernels/softmax/gfx942.ll" "${options[@]}" "$@" >out 2>&1; }

tune --device sim --rank device --archive direct.db || { cat out; fail tune; }
rounds=0
while tune --device batch:b --archive rounds.db && grep -q '^round ' out; do
  rounds=$((rounds + 1))
  [ "$rounds" -le 5 ] || fail "it never ends"
  grep -q "^round $rounds: [0-9]* jobs in b; run \`wavesmith-device run b\`" out || { cat out; fail "round $rounds"; }
  "$device" run b --device sim >run.log 2>&1 || { cat run.log; fail "run of round $rounds"; }
done
grep -qE '^[0-9a-f]{8}  (ok|slow) ' out || { cat out; fail "winners are not confirmed"; }
[ "$rounds" = 3 ] || fail "$rounds rounds: wanted are 2 of the search and one of winners"
dump direct.db >direct.txt
dump rounds.db >rounds.txt
diff direct.txt rounds.txt >&2 || fail "the archives differ"
[ "$(wc -l <direct.txt)" -gt 20 ] || fail "there is nothing to compare"
echo "ok 1 - $rounds rounds give what the device gives at once"

nvidia() {
  "$wavesmith" tune "$source/ir-templates/fp8_gemm_naive_sm90a.ll" --shapes contest \
    --round 3 --device batch:n --archive n.db "$@" >out 2>&1 || { cat out; fail "tune for sm_90a"; }
}
nvidia
grep -q '^round 1: [1-3] jobs in n; ' out || { cat out; fail "no round for sm_90a"; }
jobs=$(wc -l <n/jobs.jsonl)
nvidia
[ "$(wc -l <n/jobs.jsonl)" = "$jobs" ] || fail "asking again adds jobs"
echo "ok 2 - a round for sm_90a"
