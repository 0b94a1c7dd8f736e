#!/usr/bin/env bash
# A large shape set on the simulator: rounds that `wavesmith-device run` answers
# have the candidates, samples and times of a run that asks the simulator
# itself; no candidate is timed on most shapes; a run that goes on has the
# sequence of one that was never cut; the table shows bands.
#   sets_on_sim.sh WAVESMITH WAVESMITH_DEVICE SOURCES
set -euo pipefail
wavesmith=$1 device=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "not ok: $*" >&2; exit 1; }
shapes=
for columns in 512 1024 1536 2048 2560 3072; do
  for rows in 1 4 16 64 80 128; do shapes+="$rows,$columns;"; done
done
dump() { # database: candidates in their order, and their simulated times
  python3 - "$1" <<'QUERY'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
for row in database.execute(
    "SELECT d.sequence, d.candidate_id, c.verdict FROM draw d"
    " JOIN candidate c ON c.id = d.candidate_id ORDER BY 1"):
    print(*row)
for row in database.execute(
    "SELECT candidate_id, shape, us FROM measurement"
    " WHERE provenance LIKE 'sim%' ORDER BY 1, 2"):
    print(*row)
QUERY
}
tune() { # archive, evaluations, ...: the search without confirmations
  "$wavesmith" tune "$source/kernels/softmax/gfx942.ll" --shapes "${shapes%;}" \
    --strategy local --seed 1 --round 6 --evaluations "$2" --archive "$1" "${@:3}" >out 2>&1
}

tune direct.db 12 --device sim --rank device || { cat out; fail tune; }
grep -qE '^rows +shapes +timed' out || { cat out; fail "no bands"; }
grep -qE '^1-16 +18 +[0-9]+ ' out || { cat out; fail "no first band"; }
tune parts.db 6 --device sim --rank device || { cat out; fail "first part"; }
tune parts.db 12 --device sim --rank device || { cat out; fail "second part"; }
rounds=0
while tune rounds.db 12 --device batch:b && grep -q '^round ' out; do
  rounds=$((rounds + 1))
  [ "$rounds" -le 5 ] || fail "it never ends"
  "$device" run b --device sim >run.log 2>&1 || { cat run.log; fail "run of round $rounds"; }
done
for name in direct parts rounds; do dump $name.db >$name.txt; done
head -12 direct.txt | diff - <(head -12 parts.txt) >&2 || fail "a run in parts has another sequence"
diff direct.txt rounds.txt >&2 || fail "the archives of device and batch differ"
echo "ok 1 - device, parts and $rounds rounds give the same"

python3 - b/jobs.jsonl <<'QUERY' || fail "samples"
import json, sys
jobs = [json.loads(line) for line in open(sys.argv[1])]
timed = [sum(step["op"] == "time" for step in job["steps"]) for job in jobs]
searched = [count for count in timed if count <= 12]
print(f"# times of the jobs: {timed}")
assert len(searched) >= 8, "samples are not small"
QUERY
echo "ok 2 - a job times a sample"
