#!/usr/bin/env bash
# A reference that is right on its least shape, where it is tried, and crashes on
# larger ones: one line that says so, exit code 1, nothing held against a
# candidate and nothing left behind, wherever it happens to run.
# wavesmith ROOT crash|hang
set -euo pipefail
wavesmith=$1 root=$2 part=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WAVESMITH_CACHE=$work/cache WAVESMITH_INCLUDE=$root/runtime/include
mkdir "$work/tmp"
export TMPDIR=$work/tmp
fail() { echo "crash: $*" >&2; [ ! -e "$work/out" ] || cat "$work/out" >&2; exit 1; }
cd "$work"
"$wavesmith" new my_scale >/dev/null
cd my_scale

# A statement at the reference's begin, and members of the definition.
write() {
  sed "s|^  const int64_t cols = call.*|&\n  $1|; s|^    .purpose|    ${2-}\n&|" my_scale.c >bad.c
}
# One line with these words, of a run the last; nothing stays in the temporary
# folder.
refuse() {
  local words=$1 code=0
  shift
  "$wavesmith" "$@" >"$work/out" 2>&1 || code=$?
  [ "$code" = 1 ] || fail "exit $code, want 1: $*"
  [ "$1" = tune ] || [ "$(wc -l <"$work/out")" = 1 ] || fail "not one line: $*"
  [ "$(grep -c "my_scale " "$work/out")" = 1 ] || fail "it is said more than once: $*"
  tail -n 1 "$work/out" | grep -q -- "^wavesmith $1: $PWD/bad.c: $words" || fail "no '$words': $*"
  for _ in 1 2 3 4 5 6 7 8 9 10; do # a server that is told to end takes a moment
    [ -n "$(ls "$TMPDIR")" ] || return 0
    sleep 0.2
  done
  fail "left behind: $(ls "$TMPDIR"): $*"
}
check="check naive.ll --problem $PWD/bad.c --shape common"
many='call->dims[0] > 1 \&\& '

if [ "$part" = hang ]; then
  # in the compile server's job, to which dear shapes are put off: 20 s
  write "volatile int64_t spin = call->dims[0]; while (spin > 1) ;" '.flops = "rows * cols * 1000000000",'
  refuse "the reference of my_scale was not done after [0-9]* s of CPU time on rows=[0-9]*,cols=" $check
  echo ok
  exit
fi

# ---- in the compile server, and in its job, which has the dear shapes ----
beyond="(Segmentation fault): it read or wrote beyond an argument, or wrote to an input"
for flops in "" '.flops = "rows * cols * 1000000000",'; do
  write "if (${many}ws_get(call, X, 1L << 40) < 0) return;" "$flops"
  refuse "the reference of my_scale crashed on rows=[0-9]*,cols=[0-9]* $beyond" $check
done
grep -q "rows=1," "$work/out" && fail "it does not crash there"
write "if (call->dims[0] > 1) *(short *)call->args[X] = 1;"
refuse "the reference of my_scale crashed on rows=.* $beyond" $check
write "volatile int none = 0; if (${many}cols / none) return;"
refuse "the reference of my_scale crashed on rows=.* (Floating point exception)" $check
write "if (call->dims[0] > 1) __builtin_trap();"
refuse "the reference of my_scale crashed on rows=.* (" $check
write "void abort(void); if (call->dims[0] > 1) abort();"
refuse "the reference of my_scale crashed on rows=.* (Aborted)" $check
write "void exit(int); if (call->dims[0] > 1) exit(0);"
refuse "the reference of my_scale ended the process on rows=.* (exit code 0)" $check
# no stack is left for a handler
write "volatile char room[call->dims[0] > 1 ? 1L << 30 : 1]; room[0] = 1;"
refuse "the reference of my_scale crashed on rows=.*than the stack holds" $check
# other functions of the definition
sed 's|^static const int64_t common|static int64_t bytes(int arg, const int64_t *dims, int form) {\
  if (dims[0] > 1) __builtin_trap();\
  return arg == SCALE ? 4 * dims[1] : 2 * dims[0] * dims[1];\
}\
&|; s|^    .purpose|    .arg_bytes = bytes,\n&|' my_scale.c >bad.c
refuse ".arg_bytes of my_scale crashed on rows=[0-9]*,cols=[0-9]* (" $check

# ---- where only a device comes: the sanitizer's shapes are smaller ----
write "if (cols > 1000 \&\& call->dims[0] > 1) __builtin_trap();"
refuse "the reference of my_scale crashed on rows=[0-9]*,cols=[1-9][0-9]\{3,\} (" $check --thorough --device sim

# ---- a run ends, and holds nothing against anybody: ARCHIVE CANDIDATES ----
tune="tune naive.ll --problem $PWD/bad.c --minutes 3"
check_archive() {
  "$wavesmith" archive ls "$1" >"$work/out" || fail "no archive"
  tail -n 1 "$work/out" | grep -q "^[0-9]* of $2" || fail "want $2"
}
write "if (${many}ws_get(call, X, 1L << 40) < 0) return;"
refuse "the reference of my_scale crashed on rows=.* $beyond" $tune --rank estimate --archive a.db
check_archive a.db "0 candidates:$"
write "if (cols > 1000 \&\& call->dims[0] > 1) __builtin_trap();"
refuse "the reference of my_scale crashed on rows=[0-9]*,cols=[1-9][0-9]\{3,\} (" $tune --device sim --archive b.db
check_archive b.db "[1-9] candidates: ok [1-9]$"

# ---- a crash of another's making is told as before ----
"$wavesmith" check naive.ll --problem my_scale.c --shape rows=2,cols=64 >"$work/out" 2>&1 || fail "a right one: exit $?"
echo ok
