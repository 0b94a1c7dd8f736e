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
model=$(sed -n 's/^#define WS_SIM_MODEL_VERSION //p' "$source/runtime/include/wavesmith/sim.h")
export model

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
assert [p.split(":")[-1] for p in got["provenance"].split(", ")] == ["MI300A", "MI300X"], got["provenance"]' || fail "the cards of rows"

# What was simulated before comes in by its report: the sum of its launches, or
# what the row says; the figures are of the longest launch.
launch() { # us VALU_busy [us_uncorrected]
  echo "{\"model\": $model, \"us\": $1, \"profile\": {\"us\": $1, \"us_uncorrected\": ${3:-$1}, \"bound\": \"valu\", \"features\": {\"VALU busy\": $2}}}"
}
{ launch 3 0.25; launch 4 0.5; echo "{\"model\": $model, \"us\": 1}"; launch 2 0.75; } >four.json
printf 'us,report,simulated_us\n20,four.json,\n30,four.json,5\n' >reports.csv
"$wavesmith" sim --compare reports.csv --json >out 2>err || { cat err out; fail "reports.csv"; }
python3 - <<'CHECK' || fail "reports.csv"
import json
first, second = json.load(open("out"))["each"]
assert first["simulated_us"] == 10 and second["simulated_us"] == 5
assert first["VALU busy"] == 0.5 and first["bound"] == "valu" and first["measured_us"] == 20
CHECK
model=1 launch 3 0.25 >old.json
echo "{\"model\": $model, \"us\": 1}" >known.json
echo 'no JSON' >text.json
launch 4 0.5 2 >corrected.json
printf 'us,report\n1,four.json\n1,old.json\n1,known.json\n1,text.json\n1,gone.json\n1,corrected.json\n' >bad.csv
"$wavesmith" sim --compare bad.csv --check-correction --json >out 2>err || { cat err out; fail "bad.csv"; }
for line in "3: left out: its report is none of .*this model" "4: left out: its report has no profile" \
    "5: left out: its report is none of" "6: left out: .*gone.json" "7: left out: its time has a correction already"; do
  grep -q "^bad.csv:$line" err || { cp err out; fail "no $line"; }
done
[ "$(wc -l <err)" = 5 ] || { cp err out; fail "lines for bad.csv"; }

# A correction: families 2, 2 and 4 times slower than simulated. One factor for
# all, learned of the others, is (2 4)^(1/2), held at 2, and 2 of the last: what
# is left is 1, 1 and 2, a mean of exp|e| - 1 of 1/3. One part cannot be left
# out. No help on what was not seen is said so.
times() { python3 -c "print($1 * $2)"; }
{ echo $head; row 32 32 "$(times "${us[0]}" 2)" a,; row 64 32 "$(times "${us[1]}" 2)" b,; row 64 64 "$(times "${us[2]}" 4)" c,; } >slow.csv
"$wavesmith" sim --compare slow.csv --check-correction --json >out 2>&1 || fail "--check-correction --json"
python3 - <<'CHECK' || fail "--check-correction"
import json
got = json.load(open("out"))
by = {(c["correction"], c["left_out"]): c["found"] for c in got["corrections"]}
assert by["one factor", "each part"] is None and by["learned", "each part"] is None
assert abs(by["uncorrected", ""]["error"] - 5 / 3) < 1e-6
assert abs(by["one factor", "each family"]["error"] - 1 / 3) < 1e-6
assert got["correction_helps"] is False
CHECK
"$wavesmith" sim --compare slow.csv --fit-correction no.json >out 2>&1 || fail "--fit-correction of no use"
grep -q "does not help on what it has not seen" out || fail "what it says of no help"
grep -q "no.json is not written" out && [ ! -e no.json ] || fail "--fit-correction of no use"
"$wavesmith" sim --check-correction >out 2>&1 && fail "--check-correction alone"
grep -q "needs --compare" out || fail "--check-correction alone"

# Three families, each with the figures of the same twelve launches, in which
# tiles take exp(-0.2), 1, exp(0.2) of what is simulated: a correction helps, is
# written, and gives these ratios. With ratios of 0.05 eight families say the
# same and a ninth the opposite: there is less error in all and no rank lost, but
# the ninth is harmed, so it does not help.
grid() {
  echo $head
  for shape in 64,64,128 128,256,512 256,256,1024 256,512,2048; do
    for tile in 32:32 64:32 64:64; do
      echo "$template,kmajor,\"tile_m=${tile%:*};tile_n=${tile#*:};tile_k=128\",\"$shape\",1,$tile,"
    done
  done
}
grid >ones.csv
"$wavesmith" sim --compare ones.csv --json >before 2>&1 || fail "ones.csv"
python3 - <<'MAKE'
import csv, json, math, os
rows = json.load(open("before"))["each"]
ratio = {"32:32": -0.2, "64:32": 0, "64:64": 0.2}
def write(name, families):
    out = csv.writer(open(name, "w"))
    out.writerow(["us", "report", "family", "group"])
    for family, size in families:
        for i, row in enumerate(rows):
            us = row["simulated_us"] * math.exp(size * ratio[row["family"]])
            out.writerow([us, f"row{i}.json", family, family + row["group"]])
for i, row in enumerate(rows):
    us = row["simulated_us"]
    json.dump({"model": int(os.environ["model"]), "us": us, "profile": {"us": us, "us_uncorrected": us, "bound": "", "features": row}},
              open(f"row{i}.json", "w"))
write("law.csv", [("p", 1), ("q", 1), ("r", 1)])
write("other.csv", [(family, 0.25) for family in "pqrstuvw"] + [("x", -0.25)])
MAKE
"$wavesmith" sim --compare other.csv --fit-correction no.json >out 2>&1 || fail "other.csv"
grep -q "does not help on what it has not seen" out && [ ! -e no.json ] || fail "a family of another law"
"$wavesmith" sim --compare other.csv --check-correction --json >out 2>&1 || fail "other.csv"
python3 - <<'CHECK' || fail "a family that alone is harmed"
import json
found = {(c["correction"], c["left_out"]): c for c in json.load(open("out"))["corrections"]}
none, learned = found["uncorrected", ""], found["learned", "each family"]
assert learned["found"]["error"] < none["found"]["error"]
assert learned["found"]["median_spearman"] == none["found"]["median_spearman"]
assert learned["found"]["geomean_regret"] == none["found"]["geomean_regret"]
assert [l["error"] < n["error"] for l, n in zip(learned["families"], none["families"])] == 8 * [True] + [False]
CHECK
"$wavesmith" sim --compare law.csv --fit-correction fit.json >out 2>&1 || fail "law.csv"
grep -q "helps on what it has not seen" out && [ -e fit.json ] || fail "law.csv"
"$wavesmith" sim --compare ones.csv --json --device sim:fit.json >after 2>&1 || fail "after"
python3 - <<'CHECK' || fail "fit.json"
import json, math
before, after = (json.load(open(name)) for name in ("before", "after"))
ratio = {"32:32": -0.2, "64:32": 0, "64:64": 0.2}
for a, b in zip(before["each"], after["each"]):
    got = math.log(b["simulated_us"] / a["simulated_us"])
    assert abs(got - ratio[a["family"]]) < 0.05, (a["family"], a["group"], got)
assert after["provenance"].split(":")[-1].startswith("fit-"), after["provenance"]
CHECK
"$wavesmith" sim --compare law.csv --device sim:fit.json --fit-correction again.json >out 2>&1 && fail "a correction twice"
grep -q "has a correction already" out || fail "a correction twice"
# It holds for the constants that it was learned with.
echo '{"name": "below", "base": "fit.json"}' >below.json
for base in fit below; do
  "$wavesmith" calibrate --device sim --base $base.json --out found.json >out 2>&1 && fail "calibrate --base $base.json"
  [ $? = 2 ] && [ "$(wc -l <out)" = 1 ] && grep -q "has a learned correction" out && [ ! -e found.json ] ||
    fail "calibrate --base $base.json"
done

"$wavesmith" sim --compare law.csv --fit-correction gone/fit.json >out 2>&1 && fail "a folder that is not there"
grep -q "gone/ is no folder that can be written" out && [ "$(wc -l <out)" = 1 ] || fail "a folder that is not there"

# The profile that is shipped, where there is one for this model, corrects what
# it knows, and leaves a kernel alone that it does not.
ranks=$source/runtime/sim/profiles/mi300x-ranks.json
if [ -e "$ranks" ]; then
naive=$source/ir-templates/fp8_gemm_naive.ll
{ echo template,layout,set,shape,us,residency
  echo "$template,mnmajor,\"tile_m=64;tile_n=64;tile_k=64;mfma=16;prefetch=1;waves_m=2;waves_n=2;lds_pad=8\",\"1024,512,7168\",1,warm"
  echo "$naive,mnmajor,,\"64,128,256\",1,warm"; } >two.csv
"$wavesmith" sim --compare two.csv --json >before 2>&1 || { cp before out; fail "two.csv"; }
"$wavesmith" sim --compare two.csv --json --device "sim:$ranks" >after 2>&1 ||
  { cp after out; fail "mi300x-ranks.json"; }
python3 - <<'CHECK' || fail "mi300x-ranks.json"
import json
(gemm, naive), (gemm_after, naive_after) = ([row["simulated_us"] for row in json.load(open(name))["each"]] for name in ("before", "after"))
assert 0.001 < abs(gemm_after / gemm - 1) < 0.5, gemm_after / gemm
assert abs(naive_after / naive - 1) < 0.001, naive_after / naive
CHECK
fi

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
wrong "us,template,shape,report\n3,a.ll,1,a.json\n" "wrong.csv:2: a row has a report, or says what to run"
wrong "us,template,shape,simulated_us\n3,a.ll,1,2\n" "wrong.csv:2: 'simulated_us' needs its report"
wrong "us,report,simulated_us\n3,a.json,-2\n" "wrong.csv:2: 'simulated_us' is no time in microseconds: -2"
wrong "us\0\n3\n" "wrong.csv:1: "
"$wavesmith" sim --compare nowhere.csv >out 2>&1 && fail "a file that is not there"
grep -q "nowhere.csv" out || fail "a file that is not there"
echo ok
