#!/usr/bin/env bash
# The report's page in headless Chromium, without a network: every part must be
# drawn, in light and dark, on a desktop's and a phone's width; no error, no
# text too small or too pale, nothing that a model wrote come alive. Leaves
# screenshots to be looked at in OUT.
#
#   page.sh WAVESMITH FILL_REPORT PROBE.js OUT CHARTS(0|1)
#
# Exit 77 (skipped) without a browser.
set -euo pipefail
wavesmith=$1 fill=$2 probe=$3 out=$4 charts=$5

browser=
for name in chromium chromium-browser google-chrome; do
  if command -v "$name" >/dev/null 2>&1; then browser=$name; break; fi
done
if [ -z "$browser" ]; then
  echo "skipped: no chromium on this machine (./setup.sh --for test installs it)"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# scheme 0: dark, 1: light; then the size; then what to do
browse() {
  timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
    --user-data-dir="$work/profile" --no-first-run --disable-background-networking \
    --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 \
    --blink-settings=preferredColorScheme="$1" --window-size="$2" --virtual-time-budget=8000 \
    "${@:3}" 2>"$work/log"
  if grep 'CONSOLE' "$work/log" >&2; then
    echo "the page wrote to the console, see above" >&2
    return 1
  fi
}

# The probe goes in front of the page's own scripts, with the page's nonce.
with_probe() {
  local nonce
  nonce=$(sed -n 's/^<script nonce="\([0-9a-f]*\)">.*/\1/p' "$1" | head -1)
  { sed '/^<title>/,$d' "$1"; echo "<script nonce=\"$nonce\">"; cat "$probe"; echo '</script>'
    sed -n '/^<title>/,$p' "$1"; } >"$2"
}

# name scheme size theme expected-parts...
check() {
  local name=$1 scheme=$2 size=$3 theme=$4 found
  shift 4
  with_probe "$work/page.html" "$work/probed.html"
  browse "$scheme" "$size" --dump-dom "file://$work/probed.html" >"$work/dom"
  sed -n '/<pre id="ws-result">/,/^end/p' "$work/dom" |
    sed 's/.*<pre id="ws-result">//' >"$work/result"
  grep -q '^end' "$work/result" || { echo "$name: the probe did not end"; exit 1; }
  if grep '^FAULT' "$work/result"; then echo "$name: faults above"; exit 1; fi
  for found in "theme $theme" "$@"; do
    grep -qx "$found" "$work/result" && continue
    echo "$name: lacks '$found'"
    cat "$work/result"
    exit 1
  done
  browse "$scheme" "${size%,*},6500" --screenshot="$out/$name.png" "file://$work/page.html"
  [ -s "$out/$name.png" ] || { echo "$name: no screenshot"; exit 1; }
  echo "ok: $name"
}

drawn=chart
[ "$charts" = 1 ] || drawn=table
full=(head\ text {progress,shapes,lineage,grid,flow,cost,claims}\ $drawn
  {hot,confirmations,findings,best}\ text)
"$fill" "$work/full.db" 400
"$wavesmith" report "$work/full.db" --out "$work/page.html"
check desktop-light 1 1280,900 light "${full[@]}"
check desktop-dark 0 1280,900 dark "${full[@]}"
check phone-light 1 500,900 light "${full[@]}"
check phone-dark 0 500,900 dark "${full[@]}"

# A run of the built-in moves alone: the models' parts say why they are empty.
"$wavesmith" report "$work/full.db" --run 2 --out "$work/page.html"
check built-in 1 1280,900 light "progress $drawn" "lineage $drawn" "cost empty" "claims empty" \
  "findings empty" "grid empty" "confirmations empty"

# An archive without runs.
"$fill" "$work/empty.db" 0
"$wavesmith" report "$work/empty.db" --out "$work/page.html"
check empty 0 1280,900 dark "progress empty" "shapes empty" "flow empty" "best empty"
echo "screenshots: $out"
