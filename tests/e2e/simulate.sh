#!/usr/bin/env bash
# Where there is no card: a tuning run whose kernels are checked and timed on
# the simulated MI300X, dispatch from these times, and the simulator's own
# command. The numbers are not judged here (tests/sim does that).
set -euo pipefail
wavesmith=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
templates=$source/ir-templates
db=$work/tune.db

"$wavesmith" tune "$templates/fp8_gemm_mfma.ll" --strategy random --evaluations 3 --device sim \
  --shapes '128,576,512;64,4096,256' --archive "$db" --json >"$work/tune.json" 2>"$work/log" ||
  { cat "$work/log"; exit 1; }
python3 - "$work/tune.json" <<'CHECK'
import json, sys
result = [json.loads(line) for line in open(sys.argv[1])][-1]
assert result["device"]["refuted"] == 0, result
assert result["device"]["timed"] >= 2, result
for row in result["shapes"]:
    assert row["provenance"].startswith("sim:gfx942-model-"), row
    assert 1 < row["best_us"] < 1000, row
CHECK
best=$(python3 -c 'import json,sys; print(json.loads(open(sys.argv[1]).readlines()[-1])["shapes"][0]["candidate"])' \
  "$work/tune.json")

# The same candidate by hand: the clock is deterministic.
for i in 1 2; do
  "$wavesmith" sim --archive "$db" "$best" --shape 128,576,512 --only time --json >"$work/time$i"
done
python3 - "$work/tune.json" "$work/time1" "$work/time2" <<'CHECK'
import json, sys
row = json.loads(open(sys.argv[1]).readlines()[-1])["shapes"][0]
times = [json.load(open(path)) for path in sys.argv[2:]]
assert times[0]["time"]["us"] == times[1]["time"]["us"], times
# Buffers lie elsewhere in the server's process: other channels of L2.
assert abs(times[0]["time"]["us"] / row["best_us"] - 1) < 0.01, (times[0]["time"]["us"], row)
assert times[0]["provenance"] == row["provenance"], row
(launch, *_) = times[0]["time"]["report"]
profile = launch["profile"]
functions = profile["functions"]
assert abs(sum(functions.values()) - 1) < 1e-9, functions
for line in profile["lines"]:
    assert functions[line["region"]] > line["share"] - 1e-12, (line, functions)
CHECK

# A template by name, with the explanation that a proposer gets.
"$wavesmith" sim --template "$templates/fp8_gemm_naive.ll" --shape 16,32,128 >"$work/naive"
grep -q '^run:   ok, 1024 elements compared' "$work/naive"
grep -q '^bound by ' "$work/naive"
grep -q 'fp8_gemm_naive.ll:[0-9]*:[0-9]* in ' "$work/naive"
echo ok
