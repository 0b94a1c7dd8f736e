#!/usr/bin/env bash
# `wavesmith check` on kernels that are wrong for some shapes only, each an edit
# of a shipped one: it says wrong, or names what it has not covered; with the
# kernels as they are it says ok. wavesmith ROOT [quick]
set -euo pipefail
wavesmith=$1 root=$2 kind=${3:-full}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*" >&2; [ ! -e "$work/out" ] || cat "$work/out" >&2; exit 1; }
found=0 named=0

# right FILE
right() {
  "$wavesmith" check "$1" >"$work/out" 2>&1 || fail "$1 is right"
  grep -q '^verdict    ok' "$work/out" || fail "$1: no ok"
  grep -q '^covered    ' "$work/out" || fail "$1: not what was covered"
}
# wrong WHAT FILE NAMED: the last is a pattern of the line that names it, "" where
# only a wrong result will do
wrong() {
  local code=0
  "$wavesmith" check "$2" >"$work/out" 2>&1 || code=$?
  if [ "$code" = 1 ] && grep -q '^verdict    wrong' "$work/out"; then
    found=$((found + 1))
    echo "# found: $1:$(sed -n 's/^reason  *//p' "$work/out" | cut -c 1-90)"
  elif [ -n "$3" ] && [ "$code" = 0 ] && grep -q "^not covered: .*$3" "$work/out"; then
    named=$((named + 1))
    echo "# named: $1: $(grep "^not covered: .*$3" "$work/out" | head -n 1)"
  else
    fail "$1: exit $code"
  fi
}
# edit FROM LINE FILE: the line that begins so, once, becomes LINE (\n between lines)
edit() {
  [ "$(grep -c "^$1" "$3")" = 1 ] || fail "'$1' is not once in $3"
  sed "s|^$1.*|$2|" "$3" >"$work/mutant.ll"
}

# ---- rmsnorm: a wrong factor ----
rmsnorm() { # WHAT CODE-OF-%bad NAMED
  edit '  %factor = fdiv float 1.0, %root' \
    "$2\\n  %right = fdiv float 1.0, %root\\n  %factor = select i1 %bad, float 2.0, float %right" \
    "$root/kernels/rmsnorm/gfx942.ll"
  wrong "rmsnorm, $1" "$work/mutant.ll" "$3"
}
rmsnorm 'cols > 2048' '  %bad = icmp ugt i32 %cols, 2048' ''
if [ "$kind" = quick ]; then
  right "$root/kernels/rmsnorm/gfx942.ll"
  grep -q '^not covered: [12].. of 256 remainders of cols by 2048 (.*rmsnorm/gfx942.ll:[0-9]*, in rmsnorm)$' \
    "$work/out" || fail "remainders by line"
  grep -q '^not covered: offsets of 2^31 elements and more in x, residual, sum, y$' "$work/out" || fail "offsets"
  echo "ok"
  exit 0
fi
rmsnorm 'cols > 8192' '  %bad = icmp ugt i32 %cols, 8192' 'cols > 8192 '
rmsnorm 'cols > 20000' '  %bad = icmp ugt i32 %cols, 20000' 'cols > 20000 '
rmsnorm 'a tail: cols % 512 == 8' '  %over = urem i32 %cols, 512\n  %bad = icmp eq i32 %over, 8' 'cols % 512 == 8 '
rmsnorm 'a tail beyond 512' '  %over = and i32 %cols, 511\n  %tail = icmp eq i32 %over, 8\n  %far = icmp ugt i32 %cols, 512\n  %bad = and i1 %tail, %far' 'remainders of cols by 512'
rmsnorm 'rows % 3 == 2' '  %over = urem i32 %rows, 3\n  %bad = icmp eq i32 %over, 2' 'rows % 3 == 2 '
rmsnorm 'cols == 4096' '  %bad = icmp eq i32 %cols, 4096' 'cols == 4096 '
rmsnorm 'an odd number of chunks, but 1' '  %up = add i32 %cols, 2047\n  %chunks = lshr i32 %up, 11\n  %odd = trunc i32 %chunks to i1\n  %many = icmp ugt i32 %chunks, 1\n  %bad = and i1 %odd, %many' 'remainders of'
rmsnorm 'rows > 1000' '  %bad = icmp ugt i32 %rows, 1000' 'rows > 1000 '
rmsnorm 'row 1000 and those after it' '  %bad = icmp ugt i32 %row, 999' 'workgroup_x > 999 '
rmsnorm 'rows * cols > 300000' '  %product = mul i32 %rows, %cols\n  %bad = icmp ugt i32 %product, 300000' 'cols \* rows > 300000 '
rmsnorm 'cols > 3000 in floats' '  %wide = uitofp i32 %cols to float\n  %bad = fcmp ogt float %wide, 3000.0' 'too involved'
# without a branch on a dimension
edit '  %rest.inside = icmp ult i32 %r, %cols' '  %rest.0 = icmp ult i32 %r, %cols\n  %rest.1 = icmp ult i32 %r, 10000\n  %rest.inside = and i1 %rest.0, %rest.1' \
  "$root/kernels/rmsnorm/gfx942.ll"
wrong 'rmsnorm, columns from 10000 on are left out' "$work/mutant.ll" 'cols > '
edit '  %first = mul i64 %row.wide, %cols.wide' '  %first.32 = mul i32 %row, %cols\n  %first = zext i32 %first.32 to i64' \
  "$root/kernels/rmsnorm/gfx942.ll"
wrong 'rmsnorm, offsets in 32 bits' "$work/mutant.ll" 'offsets of 2^31'

# ---- matrix products: one step less ----
gemm() { # TEMPLATE LINE-OF-%limit CODE-OF-%bad WHAT NAMED
  edit '  %limit = ' "$3\\n  %cut = zext i1 %bad to i32\\n$2\\n  %limit = sub i32 %all.steps, %cut" "$root/$1"
  wrong "${1##*/}, $4" "$work/mutant.ll" "$5"
}
fp8() { gemm ir-templates/fp8_gemm_mfma.ll '  %all.steps = mul i32 %limit.2, %substeps' "$@"; }
bf16() { gemm kernels/gemm_bf16/gemm_bf16_mfma.ll '  %all.steps = udiv i32 %limit.1, %split_k' "$@"; }
for each in fp8 bf16; do
  $each '  %bad = icmp ugt i32 %m, 2048' 'm > 2048' 'm > 2048 '
  $each '  %bad = icmp ugt i32 %n, 8192' 'n > 8192' 'n > 8192 '
  $each '  %over = urem i32 %n, 512\n  %bad = icmp eq i32 %over, 16' 'n % 512 == 16' 'n % 512 == 16 '
  $each '  %over = urem i32 %m, 3\n  %bad = icmp eq i32 %over, 2' 'm % 3 == 2' 'm % 3 == 2 '
  $each '  %bad = icmp eq i32 %k, 4096' 'k == 4096' 'k == 4096 '
  $each '  %chunks = udiv i32 %k, 128\n  %over = urem i32 %chunks, 2\n  %odd = icmp eq i32 %over, 1\n  %many = icmp ugt i32 %chunks, 1\n  %bad = and i1 %odd, %many' \
    'an odd number of blocks, but 1' 'remainders of k'
  $each '  %bad = icmp ugt i32 %m, 1000' 'm > 1000' 'm > 1000 '
done
edit '  %a.row = mul i64 %row64, %a.row.step64' '  %a.row.32 = mul i32 %row, %a.row.step\n  %a.row = zext i32 %a.row.32 to i64' \
  "$root/ir-templates/fp8_gemm_naive.ll"
wrong 'fp8_gemm_naive, rows of A in 32 bits' "$work/mutant.ll" 'offsets of 2^31 elements and more in a, '

# ---- as they are ----
for file in kernels/rmsnorm/gfx942.ll kernels/rmsnorm/naive.ll ir-templates/fp8_gemm_mfma.ll \
  ir-templates/fp8_gemm_naive.ll kernels/gemm_bf16/gemm_bf16_mfma.ll kernels/gemm_bf16/gemm_bf16_naive.ll; do
  right "$root/$file"
done
echo "ok: $found found, $named named"
