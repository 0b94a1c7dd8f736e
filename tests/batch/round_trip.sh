#!/usr/bin/env bash
# From an archive to a card and back, with the simulated MI300X for the card:
# export, a run that is killed half-way and taken up again, import. Each time
# must be the one that `wavesmith sim` finds for that candidate and shape: the
# clock is deterministic, and that command knows nothing of batches.
#   round_trip.sh WAVESMITH WAVESMITH_DEVICE SOURCES
set -euo pipefail
wavesmith=$1 device=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "not ok: $*" >&2; exit 1; }
expect() { # exit code, pattern, command...
  local want=$1 pattern=$2 code=0
  shift 2
  "$@" >out 2>&1 || code=$?
  [ "$code" = "$want" ] || { cat out; fail "exit $code, want $want: $*"; }
  grep -q -- "$pattern" out || { cat out; fail "no '$pattern': $*"; }
}
query() { # database, statement: rows with blanks between
  python3 - "$@" <<'QUERY'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
for row in database.execute(sys.argv[2]):
    print(*row)
database.commit()
QUERY
}
lines() { if [ -e b/results.jsonl ]; then wc -l <b/results.jsonl; else echo 0; fi; }

"$wavesmith" tune "$source/ir-templates/fp8_gemm_mfma.ll" --strategy random --device estimate --evaluations 6 \
  --shapes '64,576,512;128,256,1024' --archive a.db >tune.log 2>&1 || { cat tune.log; fail tune; }
cp a.db other.db
expect 0 'b: [1-6] jobs for gfx942, [1-6] of them new' \
  "$wavesmith" batch export a.db b --all --shapes '64,576,512;128,256,1024' --device sim --with-source
jobs=$(wc -l <b/jobs.jsonl)
expect 0 "b: $jobs jobs for gfx942, 0 of them new" \
  "$wavesmith" batch export a.db b --shapes '64,576,512;128,256,1024' --device sim
[ -e b/src/CMakeLists.txt ] && [ -e b/src/runtime/device/cuda.c ] || fail "no sources in the folder"
expect 0 "$jobs jobs, 0 answered, $jobs open" "$wavesmith" batch status b
expect 0 "0 answers to $jobs jobs: 0 times are new" "$wavesmith" batch import a.db b
echo "ok 1 - $jobs jobs are written once"

# Killed as soon as something is there; what it was writing is cut off.
"$device" run b --device sim >run.log 2>&1 &
run=$!
for _ in $(seq 2000); do [ "$(lines)" -ge 1 ] && break; sleep 0.01; done
kill -9 $run 2>/dev/null || true
wait $run 2>/dev/null || true
half=$(lines)
[ "$half" -ge 1 ] || { cat run.log; fail "nothing was answered in 20 s"; }
printf '{"id":"cut o' >>b/results.jsonl
expect 0 "b: $jobs jobs, $jobs answered, 0 open" "$device" run b
[ "$(lines)" = "$jobs" ] || fail "$(lines) answers to $jobs jobs"
expect 0 "$jobs ok" "$wavesmith" batch status b
grep -q "on sim:gfx942-model-[0-9]*:MI300X: $jobs" out || fail "status does not name the card"
echo "ok 2 - killed after $half answers, taken up again"

expect 0 "$jobs answers to $jobs jobs: $((2 * jobs)) times are new, 0 candidates fail" \
  "$wavesmith" batch import a.db b
expect 0 "$jobs answers to $jobs jobs: 0 times are new, 0 candidates fail" "$wavesmith" batch import a.db b
query a.db "SELECT candidate_id,shape,us FROM measurement
  WHERE provenance LIKE 'sim:%' ORDER BY 1,2" >times
[ "$(wc -l <times)" = $((2 * jobs)) ] || { cat times; fail "times are missing"; }
while read -r id shape us; do
  "$wavesmith" sim --archive a.db "$id" --shape "$shape" --only time --json >one.json
  python3 - "$us" <<'CHECK'
import json, sys
got, want = float(sys.argv[1]), json.load(open("one.json"))["time"]["us"]
assert abs(got - want) < 1e-9 * want, (got, want)
CHECK
done <times
echo "ok 3 - the times are those of wavesmith sim"

# An archive that lacks a candidate takes nothing at all.
query other.db "DROP TRIGGER candidate_stays"
query other.db "DELETE FROM candidate WHERE number=(SELECT max(number) FROM candidate)"
expect 1 'which the archive does not have' "$wavesmith" batch import other.db b
[ "$(query other.db "SELECT count(*) FROM measurement WHERE provenance LIKE 'sim:%'")" = 0 ] || fail "written in part"
expect 1 'no batch: there is no manifest.json' "$wavesmith" batch import a.db nowhere
expect 1 'a batch for device sim, not for hip' "$wavesmith" tune "$source/ir-templates/fp8_gemm_mfma.ll" --device batch:b \
  --evaluations 1 --archive a.db
expect 2 'wanted is export' "$wavesmith" batch frob
expect 2 "'--frob' is unknown" "$wavesmith" batch export a.db b --frob
expect 2 'wanted is one of' "$wavesmith" batch export a.db b --all --best 3
expect 1 "no candidate 'feed'" "$wavesmith" batch export a.db b feed
echo "ok 4 - what is wrong is one line"

# A text archive holds no code: export compiles what its candidates are, again.
"$wavesmith" archive export a.db text >archive.log 2>&1 || { cat archive.log; fail "archive export"; }
"$wavesmith" archive import text.db text >archive.log 2>&1 || { cat archive.log; fail "archive import"; }
[ "$(query text.db "SELECT count(*) FROM code_object")" = 0 ] || fail "a text archive with code"
expect 0 'c: [1-6] jobs for gfx942, [1-6] of them new' \
  "$wavesmith" batch export text.db c --all --shapes '64,576,512;128,256,1024' --device sim
for code in c/code/*; do
  cmp "$code" "b/code/$(basename "$code")" || fail "$code is not what was compiled at first"
done
expect 0 'answered, 0 open' "$device" run c --device sim
expect 0 '0 candidates fail' "$wavesmith" batch import text.db c
echo "ok 5 - a text archive's candidates are compiled for a batch"
