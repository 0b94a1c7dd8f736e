#!/usr/bin/env bash
# `wavesmith sim --compare`: measured times that are the simulated ones agree
# wholly; those turned round not at all; rows that do not run are named and left
# out; each way to write the file wrongly is one line that names where.
#   compare.sh WAVESMITH SOURCES
set -euo pipefail
wavesmith=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "not ok: $*" >&2; cat out >&2; exit 1; }
template=$source/ir-templates/fp8_gemm_mfma.ll

# A row: tile_m and tile_n, its time, its family.
row() { echo "$template,kmajor,\"tile_m=$1;tile_n=$2;tile_k=128\",\"256,256,512\",$3,$4"; }
head=template,layout,set,shape,us,family,remark
for tile in 32:32 64:32 64:64; do
  "$wavesmith" sim --template "$template" --layout kmajor --shape 256,256,512 --only time --json \
    --set "tile_m=${tile%:*};tile_n=${tile#*:};tile_k=128" >one.json
  python3 -c 'import json; print(json.load(open("one.json"))["time"]["us"])'
done >us
mapfile -t us <us
{ echo $head; row 32 32 "${us[0]}" small,; row 64 32 "${us[1]}" small,; row 64 64 "${us[2]}" "large,\"a, b\""; } >same.csv
"$wavesmith" sim --compare same.csv >out 2>&1 || fail "same.csv"
grep -q "median 1.000, worst 1.000 over 1 groups" out || fail "ranks of the same times"
grep -q "measured / simulated: 1.00; mean error 0.0%" out || fail "error of the same times"
grep -Eq "^small +2 " out && grep -Eq "^large +1 " out || fail "families"

# Reciprocals stand in the opposite order; the one that is picked is the worst.
invert() { python3 -c "print(1 / $1)"; }
{ echo $head; row 32 32 "$(invert "${us[0]}")" x,; row 64 32 "$(invert "${us[1]}")" x,; row 64 64 "$(invert "${us[2]}")" x,; row 7 64 1 x,; } >turned.csv
"$wavesmith" sim --compare turned.csv --json >out 2>err || fail "turned.csv"
python3 - <<'CHECK' || fail "turned.csv"
import json
got = json.load(open("out"))
us = [float(line) for line in open("us")]
assert abs(got["median_spearman"] + 1) < 1e-9, got["median_spearman"]
assert abs(got["worst_regret"] - max(us) / min(us)) < 1e-6, got["worst_regret"]
assert got["left_out"] == 1 and len(got["each"]) == 3
assert sum(p["pairs"] for p in got["pairs"]) == 3 and all(p["right"] == 0 for p in got["pairs"])
CHECK
grep -q "^turned.csv:5: left out: .*tile_m" err || { cp err out; fail "the row left out"; }

# Warm is faster than cold, row by row.
{ echo $head,residency; row 64 64 1 "x,,cold"; row 64 64 1 "x,,warm"; } >places.csv
sed -i 's/,x,,,/,x,,/' places.csv
"$wavesmith" sim --compare places.csv --json >out 2>err || { cat err out; fail "places.csv"; }
python3 -c 'import json
cold, warm = (row["simulated_us"] for row in json.load(open("out"))["each"])
assert warm < 0.97 * cold, (cold, warm)' || fail "residency"

# A row that names no residency has the usual one, whatever stood before it.
{ echo $head,residency; row 64 64 1 "x,,warm"; row 64 64 1 "x,,"; row 64 64 1 "x,,cold"; } >usual.csv
"$wavesmith" sim --compare usual.csv --json >out 2>err || { cat err out; fail "usual.csv"; }
python3 -c 'import json
warm, usual, cold = (row["simulated_us"] for row in json.load(open("out"))["each"])
assert usual == cold != warm, (warm, usual, cold)' || fail "the usual residency"

# Another card in one row alone.
{ echo $head,device; row 64 64 1 "x,,sim:mi300a"; row 64 64 1 "x,,"; } >cards.csv
"$wavesmith" sim --compare cards.csv --json >out 2>err || { cat err out; fail "cards.csv"; }
python3 -c 'import json
got = json.load(open("out"))
mi300a, mi300x = (row["simulated_us"] for row in got["each"])
assert mi300a != mi300x, mi300a
assert got["provenance"] == "sim:gfx942-model-2:MI300A, sim:gfx942-model-2:MI300X", got["provenance"]' || fail "the cards of rows"

# A correction: families 2, 2 and 4 times slower than simulated. One factor for
# all, learned of the others, is (2 4)^(1/2), held at 2, and 2 of the last: what
# is left is 1, 1 and 2, a mean of exp|e| - 1 of 1/3. One shape cannot be left
# out. No help on what was not seen is said so.
times() { python3 -c "print($1 * $2)"; }
{ echo $head; row 32 32 "$(times "${us[0]}" 2)" a,; row 64 32 "$(times "${us[1]}" 2)" b,; row 64 64 "$(times "${us[2]}" 4)" c,; } >slow.csv
"$wavesmith" sim --compare slow.csv --check-correction --json >out 2>&1 || fail "--check-correction --json"
python3 - <<'CHECK' || fail "--check-correction"
import json
got = json.load(open("out"))
by = {(c["correction"], c["left_out"]): c["found"] for c in got["corrections"]}
assert by["one factor", "each part"] is None and by["by features", "each part"] is None
assert abs(by["uncorrected", ""]["error"] - 5 / 3) < 1e-6
assert abs(by["one factor", "each family"]["error"] - 1 / 3) < 1e-6
assert got["correction_helps"] is False
CHECK
"$wavesmith" sim --compare slow.csv --check-correction >out 2>&1 || fail "--check-correction"
grep -q "does not help on what it has not seen" out || fail "what it says of no help"
"$wavesmith" sim --check-correction >out 2>&1 && fail "--check-correction alone"
grep -q "needs --compare" out || fail "--check-correction alone"

# Nor is a profile written then. Where what is measured is the simulated time to
# the power of 1.3, one is, and with it the simulator is much nearer.
"$wavesmith" sim --compare slow.csv --fit-correction no.json >out 2>&1 || fail "--fit-correction of no use"
grep -q "no.json is not written" out && [ ! -e no.json ] || fail "--fit-correction of no use"
grid() { # a time for all, or the file of times
  echo $head
  i=0
  for shape in 64,64,128 128,256,512 256,256,1024 256,512,2048; do
    for tile in 32:32 64:32 64:64; do
      i=$((i + 1))
      us=1; [ $# = 0 ] || us=$(sed -n ${i}p "$1")
      echo "$template,kmajor,\"tile_m=${tile%:*};tile_n=${tile#*:};tile_k=128\",\"$shape\",$us,$tile,"
    done
  done
}
grid >ones.csv
"$wavesmith" sim --compare ones.csv --json >out 2>&1 || fail "ones.csv"
python3 -c 'import json
for row in json.load(open("out"))["each"]: print(row["simulated_us"] ** 1.3)' >powers
grid powers >powers.csv
"$wavesmith" sim --compare powers.csv --fit-correction fit.json >out 2>&1 || fail "powers.csv"
"$wavesmith" sim --compare powers.csv --json >before 2>&1 || fail "before"
"$wavesmith" sim --compare powers.csv --json --device sim:fit.json >after 2>&1 || fail "after"
python3 -c 'import json
before, after = (json.load(open(name)) for name in ("before", "after"))
assert after["error"] < 0.5 * before["error"], (before["error"], after["error"])
assert after["provenance"].startswith("sim:gfx942-model-2:corrected-"), after["provenance"]' || fail "fit.json"
"$wavesmith" sim --compare powers.csv --device sim:fit.json --fit-correction again.json >out 2>&1 && fail "a correction twice"
grep -q "has a correction already" out || fail "a correction twice"

# What is wrong with a file, and what is said of it.
wrong() { # text, pattern
  printf "$1" >wrong.csv
  code=0
  "$wavesmith" sim --compare wrong.csv >out 2>&1 || code=$?
  [ "$code" = 1 ] || fail "exit code $code for $2"
  [ "$(wc -l <out)" = 1 ] || fail "not one line for $2"
  grep -q "$2" out || fail "no $2"
}
wrong "" "wrong.csv:1: the first line names no column 'us'"
wrong "template,shape\nx,y\n" "wrong.csv:1: the first line names no column 'us'"
wrong "us,us\n" "wrong.csv:1: a column is there twice: us"
wrong "us,template\n" "wrong.csv:2: there is no row"
wrong "us,template,shape\nsoon,a.ll,1\n" "wrong.csv:2: 'us' is no time in microseconds: soon"
wrong "us,template,shape\n-3,a.ll,1\n" "wrong.csv:2: 'us' is no time"
wrong "us,template,shape\n\n3,a.ll\n" "wrong.csv:3: the line has not as many fields as the first"
wrong "us,template,shape\n3,a.ll,\"1,2\n" "wrong.csv:2: a quote has no end"
wrong "us,template,shape\n3,\"a\"b.ll,1\n" "wrong.csv:2: a field goes on after its quote"
wrong "us,shape\n3,1\n" "wrong.csv:2: wanted is one code object"
wrong "us,template\n3,a.ll\n" "wrong.csv:2: a candidate needs a --shape"
wrong "us,template,shape,residency\n3,a.ll,1,hot\n" "wrong.csv:2: .residency. is cold, warm or flushed: hot"
wrong "us\0\n3\n" "wrong.csv:1: "
"$wavesmith" sim --compare nowhere.csv >out 2>&1 && fail "a file that is not there"
grep -q "nowhere.csv" out || fail "a file that is not there"
echo ok
