#!/usr/bin/env bash
# A kernel that the sanitizer cannot run: `wavesmith check` runs it on the
# simulator instead and says so; in `wavesmith tune` nothing counts that no
# device has verified.
#   unmodelled.sh WAVESMITH SOURCES
set -euo pipefail
wavesmith=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
fail() { echo "not ok: $*" >&2; cat out >&2; exit 1; }

# The naive template, a sum of absolute differences (which is 0) added to where
# it stores: right; one off; past the end of the output.
python3 - "$source" <<'MAKE'
import pathlib, sys
text = (pathlib.Path(sys.argv[1]) / "ir-templates/fp8_gemm_naive.ll").read_text()
store = "  store bfloat %rounded, ptr addrspace(1) %c.at, align 2\n"
declare = "declare float @llvm.fmuladd.f32"
assert store in text and declare in text
text = text.replace(store, """\
  %sums = call <4 x i32> @llvm.amdgcn.mqsad.u32.u8(i64 %c.offset, i32 0, <4 x i32> zeroinitializer)
  %nothing = extractelement <4 x i32> %sums, i32 0
  %further = zext i32 %nothing to i64
  %c.where = getelementptr bfloat, ptr addrspace(1) %c.at, i64 %further
  store bfloat %rounded, ptr addrspace(1) %c.where, align 2
""")
text = text.replace(declare, """\
declare <4 x i32> @llvm.amdgcn.mqsad.u32.u8(i64, i32, <4 x i32>)
""" + declare, 1)
pathlib.Path("right.ll").write_text(text)
rounded = "  %rounded = fptrunc float %total to"
assert rounded in text
pathlib.Path("wrong.ll").write_text(text.replace(
    rounded, "  %one.off = fadd float %total, 1.0\n  %rounded = fptrunc float %one.off to"))
further = "%c.at, i64 %further\n"
assert further in text
pathlib.Path("far.ll").write_text(text.replace(further, "%c.at, i64 99999999\n"))
MAKE

check() { # FILE EXIT_CODE OPTION ...: output in out
  local file=$1 wanted=$2 code=0
  shift 2
  "$wavesmith" check "$file" "$@" >out 2>&1 || code=$?
  [ "$code" = "$wanted" ] || fail "check $file: exit code $code, not $wanted"
}
says() { grep -qE "$1" out || fail "nothing says '$1'"; }

check right.ll 0
says '^verdict    ok'
says '^sanitizer  ran nothing: right.ll:[0-9]+:[0-9]+: .*mqsad.u32.u8'
says 'verified instead: 3 of 3 standard runs are right on sim$'
check wrong.ll 1
says '^verdict    wrong \(device\)'
says 'NOT VERIFIED: 0 of 3'
check far.ll 1
says '^finding    oob-global'
check right.ll 1 --stage sanitize
says 'NOT VERIFIED: only all stages'
check right.ll 1 --device cuda
says 'NOT VERIFIED: '
check right.ll 0 --json
says '"verified_instead":[[:space:]]*true'
echo "ok 1 - check runs it on the simulator instead"

tune() { # FILE OPTION ...: measurements and verdicts in out
  local file=$1
  shift
  rm -f t.db
  "$wavesmith" tune "$file" --shapes 64,64,256 --held-out 64,128,256 --evaluations 1 --workers 1 \
    --archive t.db "$@" >log 2>&1 || { cp log out; fail "tune $file $*"; }
  python3 - >out <<'QUERY'
import sqlite3
database = sqlite3.connect("t.db")
for row in database.execute("SELECT verdict, stage, reason FROM candidate"):
    print("candidate", *row)
for row in database.execute("SELECT provenance FROM measurement"):
    print("time", *row)
QUERY
  cat log >>out
}
tune right.ll --device estimate
says '^candidate ok .*no device verified it: it does not count'
! grep -q '^time' out || fail "an estimate of what nothing has run"
tune right.ll --device sim
says '^time sim:'
says 'candidates are ranked on the device'
tune wrong.ll --device sim
says '^candidate wrong device '
! grep -q '^time' out || fail "a time of a wrong kernel"
echo "ok 2 - in tune only a device's word counts"
