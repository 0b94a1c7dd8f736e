#!/usr/bin/env bash
# What cannot be written is exit 3 and one line, for every command; a closed
# stream is nobody's file; a file size limit is an error and not a signal.
set -euo pipefail
wavesmith=$1 device=$2 source=$4
export WAVESMITH_COMPILER=$3 WAVESMITH_DEVICE_SERVER=/nonexistent
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "FAIL: $*"; cat err; exit 1; }
expect() { # exit code, pattern of the one line on stderr, command...
  local want=$1 pattern=$2 code=0
  shift 2
  bash -c "$*" 2>err || code=$?
  [ "$code" = "$want" ] || fail "exit $code, want $want: $*"
  [ "$(grep -c "$pattern" err)" = 1 ] || fail "not one line '$pattern': $*"
  [ "$(wc -l <err)" = 1 ] || fail "more than a line: $*"
}
[ -c /dev/full ] || { echo "no /dev/full here"; exit 77; }

"$wavesmith" archive import a.db "$source/kernels/fp8_gemm_blockscale/tuned/gfx942/kmajor" >/dev/null
id=$("$wavesmith" archive ls a.db --json | grep -oE '"id":"[0-9a-f]+"' | head -n 1 | cut -d'"' -f4)
lost='^wavesmith: stdout cannot be written'

# Help of each command, then results: texts that fit a buffer and such that do
# not (there the write fails on the way, and not at the end).
for command in '' tune mcp check import build archive batch prompt report dispatch sim bench doctor; do
  expect 3 "$lost" "'$wavesmith' $command --help >/dev/full"
done
expect 3 "$lost" "'$wavesmith' --version >/dev/full"
for arguments in "archive ls a.db" "archive ls a.db --json" "archive show a.db $id --json" \
  "archive grid a.db" "archive lineage a.db $id" "prompt" "prompt --kind write" "prompt --raw" \
  "report a.db --json" "report a.db --out r.html" "archive export a.db --jsonl x.jsonl --license MIT"; do
  expect 3 "$lost" "'$wavesmith' $arguments >/dev/full"
  "$wavesmith" $arguments >out 2>/dev/null || fail "$arguments"
done
expect 3 "^wavesmith-device run: stdout" "'$device' run --help >/dev/full"

# A closed stdout: the archive is opened next, and must not become stdout.
sum=$(md5sum <a.db)
expect 3 "$lost" "'$wavesmith' archive ls a.db >&-"
[ "$sum" = "$(md5sum <a.db)" ] || fail "the archive has taken the place of stdout"
# A closed stdin and stderr trouble nobody.
"$wavesmith" archive ls a.db <&- 2>&- >out || fail "closed stdin and stderr"

# A file size limit (in blocks of 1024 bytes), as a full disk.
expect 3 'x.db' "ulimit -f 16; '$wavesmith' archive import x.db '$source/kernels/fp8_gemm_blockscale/tuned/gfx942/kmajor' >/dev/null"
expect 3 'r2.html.*cannot write' "ulimit -f 64; '$wavesmith' report a.db --out r2.html >/dev/null"
[ ! -e r2.html ] || fail "half a report"
expect 3 "$lost" "ulimit -f 1; '$wavesmith' prompt --raw >big"

echo ok
