#!/usr/bin/env bash
# The commands of docs/your-own-kernel.md, in their order, and what is wrong with
# a problem's file: one line each. wavesmith ROOT
set -euo pipefail
wavesmith=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WAVESMITH_CACHE=$work/cache WAVESMITH_INCLUDE=$root/runtime/include
fail() { echo "own_kernel: $*" >&2; [ ! -e "$work/out" ] || cat "$work/out" >&2; exit 1; }

# ---- the page ----
mkdir "$work/bin"
ln -s "$wavesmith" "$work/bin/wavesmith"
PATH=$work/bin:$PATH
cd "$work"
count=0
while IFS= read -r line; do
  eval "$line" >"$work/out" 2>&1 || fail "exit $?: $line"
  count=$((count + 1))
done < <(sed -n 's/^\$ //p' "$root/docs/your-own-kernel.md")
[ "$count" = 7 ] || fail "the page has $count commands, not 7"
nm my_scale.o | grep -q ' T my_scale_select$' || fail "no my_scale_select"

# ---- what is wrong: FROM TO, exit code, words ----
want() {
  local code=0
  sed "s|$1|$2|" my_scale.c >changed.c
  ! cmp -s my_scale.c changed.c || fail "'$1' is not in the problem"
  "$wavesmith" check naive.ll --problem ./changed.c >"$work/out" 2>&1 || code=$?
  [ "$code" = "$3" ] || fail "exit $code, want $3: $1 -> $2"
  [ "$(wc -l <"$work/out")" = 1 ] || fail "more than a line: $1 -> $2"
  grep -q -- "$4" "$work/out" || fail "no '$4': $1 -> $2"
}
want 'const int64_t cols = call' 'const int64_t cols = cal' 1 "changed.c:.*error: 'cal' undeclared"
want 'WS_PROBLEM_ABI' '99' 1 'written for version 99 of define_problem.h'
want 'WS_PROBLEM(definition)' 'const void *unused = \&definition;' 1 'there is no problem in it'
want '"cols % 8 == 0 ' '"cols % 8 == 1 ' 1 "shape 1 of the set 'common' is not legal"
want '"cols % 8 == 0 ' '"columns % 8 == 0 ' 1 "'columns' in .* is none of the dimensions rows,cols"
want '"rows"}, {"cols"' '"rows"}, {"rows"' 1 "two dimensions are called 'rows'"
want '"rows"}, {"cols"' '"min"}, {"cols"' 1 "'min' is a word of expressions"
want 'WS_ARG_OUTPUT, WS_BF16' 'WS_ARG_INPUT, WS_BF16' 1 'has no output'
want '"y", WS_ARG_OUTPUT, WS_BF16' '"y", WS_ARG_OUTPUT, WS_FP8' 1 'does not say which format'
want 'ws_put(call, Y, r \* cols + c,' 'if (c != 5) ws_put(call, Y, r * cols + c,' 1 'no number for element 5'
want 'ws_get(call, SCALE, c)' 'ws_get(call, SCALE, c + 100000)' 1 'crashed on rows=1'
want 'ws_put(call, Y, r \* cols + c,' '*(short *)call->args[X] = 1, ws_put(call, Y, r * cols + c,' 1 'wrote to an input'
want 'for (int64_t r = call->begin' 'for (volatile int spin = 1; spin;) ; for (int64_t r = call->begin' 1 'not done after'
CC=/nowhere/cc "$wavesmith" check naive.ll --problem my_scale.c >/dev/null || fail "a kept library was compiled again"
code=0
CC=/nowhere/cc WAVESMITH_CACHE=$work/other "$wavesmith" check naive.ll --problem my_scale.c >"$work/out" 2>&1 || code=$?
[ "$code" = 3 ] && grep -q "the C compiler '.nowhere.cc' cannot be run" "$work/out" || fail "no compiler: exit $code"
code=0
"$wavesmith" check naive.ll >"$work/out" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q "problem 'my_scale' is not known; name its file with --problem" "$work/out" || fail "no problem: exit $code"
# a kernel of another problem than those that are named
# here, for the words below are split at blanks
other=other-naive.ll
cp "$root/kernels/rmsnorm/naive.ll" $other
cp -r "$root/examples/hip" other-hip
for command in "check $other" "tune $other --device estimate --evaluations 1 --archive other.db" \
  "sim --template $other --shape 2,512" "bench $other --device sim --shapes 2,512" \
  "prompt --template $other --kind explore" "import other-hip/fp8_gemm.hip -o other.ll"; do
  code=0
  # shellcheck disable=SC2086
  "$wavesmith" $command --problem my_scale.c --problem softmax >"$work/out" 2>&1 || code=$?
  [ "$code" = 1 ] && [ "$(wc -l <"$work/out")" = 1 ] || fail "exit $code: $command"
  grep -q "\.\(ll\|hip\): it is a kernel of problem .*, and --problem names my_scale, softmax; name" "$work/out" ||
    fail "another problem's: $command"
done
[ ! -e other.ll ] && [ ! -e other.db ] || fail "something was made of another problem's kernel"
"$wavesmith" check naive.ll --problem my_scale.c --problem softmax >/dev/null || fail "one of two that are named"
"$wavesmith" check --raw "$other" --problem my_scale.c >/dev/null || fail "a module is of no problem"
# two arguments in one: an archive says what it needs
code=0
"$wavesmith" dispatch my_scale.db --out x >"$work/out" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q -- "--problem" "$work/out" || fail "an archive of an unknown problem: exit $code"
"$wavesmith" archive ls my_scale.db >"$work/out" 2>&1 || fail "an archive of an unknown problem is not listed"

id=$("$wavesmith" archive ls my_scale.db | awk 'NR == 2 { print $1 }') code=0
"$wavesmith" check --archive my_scale.db "$id" --problem softmax --problem my_scale.c >/dev/null || fail "an archived candidate"
"$wavesmith" check --archive my_scale.db "$id" --problem softmax >"$work/out" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q "names softmax" "$work/out" || fail "an archived candidate of another problem: exit $code"

# where no shape set is named, the line names the problem's first
code=0
"$wavesmith" dispatch my_scale.db --problem my_scale.c --provenance hip --out x >"$work/out" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q "do not suffice for common: " "$work/out" || fail "times that there are not: exit $code"
# a provenance that is none of the kinds and not in the archive
for given in table si sim:other; do
  code=0
  "$wavesmith" dispatch my_scale.db --problem my_scale.c --provenance "$given" --out x >"$work/out" 2>&1 || code=$?
  [ "$code" = 2 ] && grep -q -- "--provenance $given: .* hip, cuda, sim, estimate" "$work/out" || fail "provenance $given: exit $code"
done

# ---- a wrong kernel is refused ----
sed 's/fmul float %value, %factor/fadd float %value, %factor/' naive.ll >wrong.ll
code=0
"$wavesmith" check wrong.ll --problem my_scale.c >"$work/out" 2>&1 || code=$?
[ "$code" = 1 ] && grep -q "rows=.*elements are wrong, the first at \[" "$work/out" || fail "a wrong kernel: exit $code"
echo ok
