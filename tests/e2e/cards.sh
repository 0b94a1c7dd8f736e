#!/usr/bin/env bash
# Cards of the simulator, from the command line to the archive: times of two
# cards are two provenances, and dispatch decides by one of them.
set -euo pipefail
wavesmith=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
template=$source/ir-templates/fp8_gemm_mfma.ll db=$work/tune.db shape=64,576,512
expect() { # exit code, pattern, command...
  local want=$1 pattern=$2 code=0
  shift 2
  "$@" >"$work/out" 2>&1 || code=$?
  [ "$code" = "$want" ] || { echo "exit $code, want $want: $*"; cat "$work/out"; exit 1; }
  grep -q -- "$pattern" "$work/out" || { echo "no '$pattern': $*"; cat "$work/out"; exit 1; }
}

# One run a card, into one archive.
for card in sim sim:mi300a; do
  expect 0 . "$wavesmith" tune "$template" --strategy random --evaluations 2 --seed 1 --device $card \
    --shapes "$shape" --archive "$db" --json
  cp "$work/out" "$work/$card.json"
done
python3 - "$work/sim.json" "$work/sim:mi300a.json" "$db" <<'CHECK'
import json, sqlite3, sys
rows = [[json.loads(line) for line in open(path) if line.startswith("{")][-1] for path in sys.argv[1:3]]
provenances = [row["shapes"][0]["provenance"] for row in rows]
assert provenances == ["sim:gfx942-model-5:MI300X", "sim:gfx942-model-5:MI300A"], provenances
us = [row["shapes"][0]["best_us"] for row in rows]
assert us[0] != us[1], us
CHECK
for title in MI300X MI300A; do
  expect 0 sim "$wavesmith" archive ls "$db" --provenance "sim:gfx942-model-5:$title"
  cp "$work/out" "$work/ls-$title"
  expect 0 . "$wavesmith" dispatch "$db" --shapes "$shape" --out "$work/$title" \
    --provenance "sim:gfx942-model-5:$title"
  grep -q "\"provenance\":[[:space:]]*\"sim:gfx942-model-5:$title\"" "$work/$title/fp8_gemm_blockscale.json"
done
! cmp -s "$work/ls-MI300X" "$work/ls-MI300A"
expect 1 'several provenances begin' "$wavesmith" archive ls "$db" --provenance sim

# A profile of one's own starts from a card's; its numbers are in its provenance.
"$wavesmith" sim --print-profile mi300a >"$work/mine.json"
sim=("$wavesmith" sim --template "$source/ir-templates/fp8_gemm_naive.ll" --shape 16,32,128)
expect 0 ':mi300a-[0-9a-f]\{8\}' "${sim[@]}" --device "sim:$work/mine.json"
cp "$work/out" "$work/first"
sed -i '/"hbm_rate"/,/"value"/s/2900/2000/' "$work/mine.json"
expect 0 ':mi300a-[0-9a-f]\{8\}' "${sim[@]}" --device "sim:$work/mine.json"
[ "$(grep -o 'mi300a-[0-9a-f]*' "$work/first" | head -1)" != "$(grep -o 'mi300a-[0-9a-f]*' "$work/out" | head -1)" ]
expect 0 '^sim:mi308x *MI308X: 80 CUs on 4 XCDs' "$wavesmith" sim --profiles

# What is wrong is one line.
refused() { # pattern, command...
  expect 3 "$@"
  [ "$(wc -l <"$work/out")" = 1 ] || { echo "more than a line:"; cat "$work/out"; exit 1; }
}
refused "no card 'nonsense'; there are mi300x" "${sim[@]}" --device sim:nonsense
refused "no card 'nonsense'; there are mi300x" "$wavesmith" bench "$template" --device sim:nonsense --shapes "$shape"
refused "no card 'nonsense'; there are mi300x" "$wavesmith" tune "$template" --device sim:nonsense --archive "$work/x.db"
echo '{"name": "mine", "constants": {"hbm_rat": 5}}' >"$work/bad.json"
refused 'bad.json: constant "hbm_rat" is unknown; did you mean "hbm_rate"?' "${sim[@]}" --device "sim:$work/bad.json"
refused 'cannot open' "${sim[@]}" --device "sim:$work/none.json"
# A device server of a later start has to be of the same card.
python3 - "$(dirname "$wavesmith")/../libexec/wavesmith/wavesmith-device" <<'CHECK'
import os, socket, subprocess, sys
ours, theirs = socket.socketpair()
os.dup2(theirs.fileno(), 3)
done = subprocess.run([sys.argv[1], "sim:mi300a", "run", "sim:gfx942-model-5:MI300X"], pass_fds=[3], timeout=60)
assert done.returncode == 1, done
assert b"is sim:gfx942-model-5:MI300A now" in ours.recv(1 << 16)
CHECK
WAVESMITH_SIM_CARD=mi300a expect 0 ':MI300X' "${sim[@]}" --device sim # the kind decides
echo ok
