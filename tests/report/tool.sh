#!/usr/bin/env bash
# `wavesmith report` as a user meets it: exit codes, one line for an error, the
# page and the JSON; a page of 5,000 candidates stays small and quick.
#
#   tool.sh WAVESMITH FILL_REPORT
set -euo pipefail
wavesmith=$1 fill=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# fails CODE PART ARGUMENT...: one line on stderr that has this part.
fails() {
  local code=0
  "$wavesmith" report "${@:3}" >out 2>err || code=$?
  [ "$code" = "$1" ] || { echo "report ${*:3}: exit $code, want $1"; cat err; exit 1; }
  [ "$(wc -l <err)" = 1 ] && grep -q "^wavesmith report: .*$2" err ||
    { echo "report ${*:3}: want one line with '$2'"; cat err; exit 1; }
}

"$fill" a.db 100
fails 2 "one archive"
fails 2 "one archive" a.db b.db --json
fails 2 "either --out" a.db
fails 2 "either --out" a.db --json --out x.html
fails 2 "unknown" a.db --frobnicate
fails 2 "not a run" a.db --run x --json
fails 1 "no run 9" a.db --run 9 --json
fails 1 "layout 'no'" a.db --layout no --json
fails 1 "provenance 'hip'" a.db --provenance hip --json
echo "no archive" >text.db
fails 1 "not a wavesmith archive" text.db --json
fails 1 "no such archive" missing.db --json
fails 3 "" a.db --out no/such/folder/page.html

"$wavesmith" report --help | grep -- --provenance >/dev/null
"$wavesmith" report a.db --json | python3 -c 'import json, sys
data = json.load(sys.stdin)
assert data["wavesmith_report"] == 1 and len(data["runs"]) == 5, data["runs"]'
"$wavesmith" report a.db --out page.html >said
grep -q '^wrote page.html' said
cp page.html first.html
"$wavesmith" report a.db --out page.html >said
cmp page.html first.html

"$fill" big.db 5000
start=$(date +%s%N)
"$wavesmith" report big.db --out big.html >said
took_ms=$((($(date +%s%N) - start) / 1000000))
data_bytes=$("$wavesmith" report big.db --json | wc -c)
echo "5000 candidates: $took_ms ms, $data_bytes bytes of data, $(wc -c <big.html) of page"
[ "$data_bytes" -lt 3000000 ] && [ "$took_ms" -lt 10000 ]
echo ok
