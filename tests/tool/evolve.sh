#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# `wavesmith evolve` and --terms on a shipped archive with estimated times: the
# same seed gives the same terms, the report has its parts, what cannot be read
# is one line and the documented code.
set -u
wavesmith=$1 source=$2
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
archive=$source/kernels/fp8_gemm_blockscale/tuned/gfx942/kmajor
fail() { echo "evolve.sh: $*" >&2; exit 1; }
evolve() { "$wavesmith" evolve "$archive" --provenance estimate --evaluations 15 "$@"; }

# refused CODE PART ARGUMENT ... : one line that has PART
refused() {
  local want=$1 part=$2 code
  shift 2
  evolve "$@" >"$work/out" 2>"$work/err"
  code=$?
  [ $code -eq "$want" ] || fail "$*: exit code $code, want $want"
  [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: not one line: $(cat "$work/err")"
  grep -qF -- "$part" "$work/err" || fail "$*: $(cat "$work/err") lacks $part"
}

evolve --out "$work/a.txt" >"$work/a" || fail "a run fails"
evolve --out "$work/b.txt" >"$work/b" || fail "a second run fails"
cmp -s "$work/a.txt" "$work/b.txt" || fail "the same seed gives other terms"
for part in "nearest shape" "tree" "terms before" "terms evolved" "best kept kernel" "never seen"; do
  grep -qF "$part" "$work/a" || fail "the report lacks $part"
done
[ "$(wc -l <"$work/a.txt")" -le 32 ] || fail "more than 32 terms"
evolve --terms "$work/a.txt" --out "$work/c.txt" --json >"$work/c.json" || fail "its own terms are refused"
grep -q '"unseen"' "$work/c.json" || fail "JSON lacks unseen"

printf '1\nD +\n' >"$work/bad.txt"
refused 1 "$work/bad.txt:2: " --terms "$work/bad.txt"
printf '# nothing\n\n' >"$work/none.txt"
refused 1 "no term applies" --terms "$work/none.txt"
refused 1 "$work/missing.txt" --terms "$work/missing.txt"
head -c 100 /dev/zero >"$work/zero.txt"
refused 1 "it is no text" --terms "$work/zero.txt"
refused 2 "--evaluations" --evaluations 0
refused 2 "--model builtin" --model builtin
refused 2 "unknown provider" --model oracle:x
refused 3 "$work/none/x" --out "$work/none/x"
printf '1\nD / (A - 128)\nA * D\n' >"$work/zero-division.txt"
evolve --terms "$work/zero-division.txt" --out "$work/d.txt" >/dev/null 2>"$work/err" ||
  fail "a term that may divide by zero ends the run"
grep -q "is left out: it may divide by zero" "$work/err" || fail "nothing is said of it"

# A model that is a person: an answer that is none, and one that is.
mkdir "$work/exchange"
evolve --model "exchange:$work/exchange" --questions 2 --out "$work/e.txt" >"$work/e" 2>&1 &
run=$!
for question in 000001 000002; do
  for _ in $(seq 200); do
    [ -e "$work/exchange/$question-exploit.prompt.md" ] && break
    sleep 0.1
  done
  case $question in
  000001) printf 'I cannot +' ;;
  *) printf 'These:\n```\n1\nworkgroups * D\nceildiv(workgroups, cu_count) * D\n```\n' ;;
  esac >"$work/exchange/reply.tmp"
  mv "$work/exchange/reply.tmp" "$work/exchange/$question-exploit.reply.md"
done
wait $run || fail "a run with answers fails: $(cat "$work/e")"
grep -q "2 answers, 1 could not be read, the last: answer 1:1: " "$work/e" || fail "$(cat "$work/e")"
for part in "## Present terms" "ceildiv" "chosen:" "Names: A B D cu_count workgroups"; do
  grep -qF "$part" "$work/exchange/000001-exploit.prompt.md" || fail "the question lacks $part"
done
