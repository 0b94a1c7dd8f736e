#!/usr/bin/env bash
# A kernel in place of a reference: `wavesmith new` without its C reference, a
# second template tuned against naive.ll, what the archive and the report say of
# it, and references that are refused. wavesmith ROOT
set -euo pipefail
wavesmith=$1 root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WAVESMITH_CACHE=$work/cache WAVESMITH_INCLUDE=$root/runtime/include
fail() { echo "reference: $*" >&2; [ ! -e "$work/out" ] || cat "$work/out" >&2; exit 1; }
# want CODE WORDS COMMAND...: its exit code and words of its output
want() {
  local code=0 wanted=$1 words=$2
  shift 2
  "$@" >"$work/out" 2>&1 || code=$?
  [ "$code" = "$wanted" ] || fail "exit $code, want $wanted: $*"
  grep -q -- "$words" "$work/out" || fail "no '$words': $*"
}
line() { # the same, and nothing else is said
  want "$@"
  [ "$(wc -l <"$work/out")" = 1 ] || fail "more than a line: ${*:3}"
}
# FROM TO, of naive.ll
changed() { sed "s|$1|$2|" naive.ll >"$3"; ! cmp -s naive.ll "$3" || fail "'$1' is not in naive.ll"; }

cd "$work"
"$wavesmith" new my_scale >/dev/null
cd my_scale
sed -i '/^\/\* Called for rows/,/^}/d; s/WS_PROBLEM_SET("common", common)},/WS_PROBLEM_SET("common", common)}};/; /\.reference = reference/d' my_scale.c
problem="--problem my_scale.c"
line 1 'has no reference to compare results with: .*--reference FILE' "$wavesmith" check naive.ll $problem

# ---- another template, tuned against it ----
# two elements a lane, of columns that are a multiple of 8
cat >pairs.py <<'PY'
import sys
text = open("naive.ll").read()
text = text.replace("my_scale_naive", "my_scale_pairs")
text = text.replace("%index = add i32 %first, %lane", "%half = add i32 %first, %lane\n  %index = shl i32 %half, 1")
text = text.replace("%column = urem i32 %index, %cols", "%column = urem i32 %index, %cols")
begin, end = text.index("  %short = load"), text.index("  br label %end\nend:")
body = text[begin:end]
second = body
for name in ("short", "value", "factor", "product", "rounded"):
    second = second.replace("%" + name, "%" + name + ".2")
for name in ("x", "scale", "y"):
    kind = "float" if name == "scale" else "bfloat"
    second = second.replace("%" + name + ".at", "%" + name + ".at.2")
    second = "  %%%s.at.2 = getelementptr %s, ptr addrspace(1) %%%s.at, i64 1\n" % (name, kind, name) + second
text = text[:end] + second + text[end:]
text = text.replace("ceildiv(rows * cols, threads)", "ceildiv(rows * cols, 2 * threads)")
open("pairs.ll", "w").write(text)
PY
python3 pairs.py
reference="--reference naive.ll"
want 0 '^verdict *ok' "$wavesmith" check pairs.ll $problem $reference
! grep -q warn "$work/out" || fail "another kernel is taken for the reference"
! grep -q '^not compared' "$work/out" || fail "something was not compared"
want 0 'proves nothing' "$wavesmith" check naive.ll $problem $reference
want 0 'ok, 16384 elements compared' "$wavesmith" sim --template pairs.ll $problem $reference --shape rows=16,cols=512
want 0 '^Results were compared with kernel naive.ll, sha256 ' "$wavesmith" tune pairs.ll $problem $reference \
  --shapes 'rows=1,cols=512;rows=16,cols=512' --archive a.db --seed 1 --evaluations 4 --minutes 0.5
hash=$(sha256sum naive.ll | cut -c1-32)
grep -q "sha256 $hash" "$work/out" || fail "not the hash of naive.ll"
grep -q 'verdicts: ok' "$work/out" || fail "no candidate was right"
! grep -q '^Not compared' "$work/out" || fail "something was not compared"
grep -q -- "--problem my_scale.c --reference naive.ll" "$work/out" || fail "the line 'Use:' names no reference"
id=$("$wavesmith" archive ls a.db | awk 'NR == 2 { print $1 }')
want 0 "^compared *with kernel naive.ll, sha256 $hash, tolerance 2 (1 / 8 + 32) 2^-24 |want|" "$wavesmith" archive show a.db "$id"
want 0 "wrote" "$wavesmith" report a.db $problem --out report.html
grep -q "kernel naive.ll, sha256 $hash" report.html || fail "the report does not name it"
want 0 "candidates" "$wavesmith" archive export a.db text --best 1
grep -rq "$hash" text/runs || fail "the export does not name it"
want 0 "kernel" "$wavesmith" dispatch a.db $problem $reference --out dispatch
# other tasks are for other archives: said before a device is asked, which
# would say how candidates are ranked first
line 1 'were compared with kernel naive.ll.*take another archive' "$wavesmith" tune pairs.ll $problem $reference --tolerance 0.01 \
  --device sim --archive a.db --evaluations 2
sed 's/; my_scale, the starting point/; my_scale, a comment/' naive.ll >commented.ll
line 1 'were compared with kernel naive.ll.*with kernel commented.ll' "$wavesmith" tune pairs.ll $problem --reference commented.ll \
  --device estimate --archive a.db --evaluations 2

# ---- wrong candidates ----
sed 's/fmul float %value.2, %factor.2/fadd float %value.2, %factor.2/' pairs.ll >wrong.ll
want 1 'elements are wrong, the first at \[' "$wavesmith" check wrong.ll $problem $reference
want 0 'verdicts: wrong 2' "$wavesmith" tune wrong.ll $problem $reference --device estimate --archive b.db --evaluations 2
want 1 'run: *wrong, .* elements are wrong' "$wavesmith" sim --template wrong.ll $problem $reference --shape rows=16,cols=512
# 1 in 100 off: within what is stated, or not
sed 's/%product.2 = fmul float %value.2, %factor.2/%exact = fmul float %value.2, %factor.2\n  %product.2 = fmul float %exact, 0x3FF0147AE0000000/' pairs.ll >near.ll
want 1 'are wrong' "$wavesmith" check near.ll $problem $reference
want 1 'are wrong' "$wavesmith" check near.ll $problem $reference --tolerance 0.001
want 0 'verdict *ok' "$wavesmith" check near.ll $problem $reference --tolerance 0.01

# ---- references that are refused, one line each ----
refuse() { line 1 "$2" "$wavesmith" check pairs.ll $problem --reference "$1"; }
changed 'icmp ult i32 %index, %count' 'icmp ule i32 %index, %count' beyond.ll
refuse beyond.ll 'beyond.ll: it cannot be a reference: oob-global'
changed 'store bfloat %rounded, ptr addrspace(1) %y.at, align 2' '%odd = icmp eq i32 %index, 5\n  br i1 %odd, label %end, label %put\nput:\n  store bfloat %rounded, ptr addrspace(1) %y.at, align 2' parts.ll
refuse parts.ll 'parts.ll: it cannot be a reference: unwritten-output'
changed '%column = urem i32 %index, %cols' 'br label %spin\nspin:\n  %spun = phi i32 [ 0, %scale.one ], [ %more, %spin ]\n  %more = add i32 %spun, 1\n  %never = icmp eq i32 %more, %lane\n  %over = and i1 %never, %inside\n  %stop = icmp ugt i32 %spun, 4294967290\n  br i1 %stop, label %go, label %spin\ngo:\n  %column = urem i32 %index, %cols' hangs.ll
refuse hangs.ll 'hangs.ll: it cannot be a reference: infinite-loop'
changed 'store bfloat %rounded, ptr addrspace(1) %y.at, align 2' 'store bfloat %rounded, ptr addrspace(1) %y.at, align 2\n  %lane.short = uitofp i32 %lane to bfloat\n  store bfloat %lane.short, ptr addrspace(1) %y, align 2' races.ll
refuse races.ll 'races.ll: it cannot be a reference: global-race'
# the first two elements are those of the lane that comes last: no race, but
# another result with the waves in the other order
changed 'store bfloat %rounded, ptr addrspace(1) %y.at, align 2' '%of.all = or i32 %lane, 1065369472\n  store atomic i32 %of.all, ptr addrspace(1) %y syncscope("agent") monotonic, align 4\n  %first.two = icmp ult i32 %index, 2\n  br i1 %first.two, label %end, label %put\nput:\n  store bfloat %rounded, ptr addrspace(1) %y.at, align 2' last.ll
refuse last.ll 'last.ll: it cannot be a reference: wrong-result.*waves up and waves down leave different results'
line 1 'has a reference of its own' "$wavesmith" check pairs.ll --reference "$root/ir-templates/fp8_gemm_naive.ll"
line 2 "it is REL or REL,ABS" "$wavesmith" check pairs.ll $problem $reference --tolerance ten
line 2 "for a kernel that is the reference" "$wavesmith" check pairs.ll --tolerance 0.1
line 2 "it is a template" "$wavesmith" check pairs.ll $problem --reference my_scale.c

# one whose fault shows on larger shapes alone: no verdict of the candidate
changed '%inside = icmp ult i32 %index, %count' '%large = icmp ugt i32 %count, 8000\n  %more = zext i1 %large to i32\n  %beyond = add i32 %count, %more\n  %inside = icmp ult i32 %index, %beyond' later.ll
want 3 'later.ll: the reference is at fault on 16,504: oob' "$wavesmith" sim --template pairs.ll $problem --reference later.ll --shape rows=16,cols=504
want 0 'ok, ' "$wavesmith" sim --template pairs.ll $problem --reference later.ll --shape rows=2,cols=504

# ---- too long on a simulator: said, not passed over ----
changed '%product = fmul float %value, %factor' 'br label %turn\nturn:\n  %turned = phi i32 [ 0, %scale.one ], [ %next, %turn ]\n  %mixed = phi i32 [ %index, %scale.one ], [ %mixed.2, %turn ]\n  %by = mul i32 %mixed, 1664525\n  %mixed.2 = xor i32 %by, %turned\n  %next = add i32 %turned, 1\n  %turns = mul i32 %rows, 64\n  %done = icmp uge i32 %next, %turns\n  br i1 %done, label %after, label %turn\nafter:\n  %odd = icmp eq i32 %mixed.2, 77\n  %added = select i1 %odd, float 0.0, float %factor\n  %product = fmul float %value, %added' long.ll
want 0 'ok, 1024 elements compared' "$wavesmith" sim --template pairs.ll $problem --reference long.ll --shape rows=16,cols=32
want 0 'nothing was compared' "$wavesmith" sim --template pairs.ll $problem --reference long.ll --shape rows=4096,cols=8

# ---- shapes that it does not take ----
sed 's/!wavesmith.launch .*/&\n!wavesmith.require = !{!9}/; $a !9 = !{!"rows <= 1024 \&\& cols <= 8192", !"more was not tried"}' naive.ll >limited.ll
want 0 '^not compared: [1-9][0-9]* of these runs; the reference, kernel limited.ll,' "$wavesmith" check pairs.ll $problem --reference limited.ll
want 0 '^Not compared: [1-9][0-9]* pairs of candidate and shape; the reference, kernel limited.ll,' "$wavesmith" tune pairs.ll $problem \
  --reference limited.ll --shapes rows=4096,cols=64 --archive limited.db --seed 1 --evaluations 1

# ---- HIP ----
cat >naive.hip <<'HIP'
WS_TEMPLATE(my_scale_hip, "1", my_scale, "one lane an element")
WS_LAUNCH(scale, ceildiv(rows * cols, 256), 1, 1, 256, 1)
WS_ARGUMENTS(scale, "x scale y rows cols")
__global__ void scale(const __hip_bfloat16 *x, const float *scale, __hip_bfloat16 *y, int rows, int cols) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i < rows * cols)
    y[i] = __float2bfloat16(__bfloat162float(x[i]) * scale[i % cols]);
}
HIP
sed -i '1i #include <hip/hip_bf16.h>' naive.hip
want 0 'verdict *ok' "$wavesmith" check pairs.ll $problem --reference naive.hip
want 1 'are wrong' "$wavesmith" check wrong.ll $problem --reference naive.hip
echo ok
