#!/usr/bin/env bash
# Schedules of templates in MLIR: what they leave is right, lowered without help,
# and what is wrong with them is said at their line, within a bounded time.
set -euo pipefail
wavesmith=$1 source=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$wavesmith" doctor | grep -q '^ok *MLIR' || { echo "no MLIR in this build"; exit 77; }
cd "$work"
expect() { # exit code, pattern, command...
  local want=$1 pattern=$2 code=0
  shift 2
  "$@" >out 2>&1 || code=$?
  [ "$code" = "$want" ] || { echo "exit $code, want $want: $*"; cat out; exit 1; }
  grep -q -- "$pattern" out || { echo "no '$pattern': $*"; cat out; exit 1; }
}
check() { expect "$1" "$2" "$wavesmith" check "${@:3}"; }
line() { grep -n -F -- "$2" "$1" | head -1 | cut -d: -f1; } # of a text in a file
rmsnorm=$source/kernels/rmsnorm/scheduled.mlir softmax=$source/kernels/softmax/scheduled.mlir
base=$rmsnorm
edit() { # sed expression
  sed -E -e "$1" "$base" >mutant.mlir
  ! cmp -s mutant.mlir "$base" || { echo "no mutant: $1"; exit 1; }
}
mutant() { # sed expression, pattern (AT: the place of ...), a text of that line
  edit "$1"
  check 1 "${2/AT/mutant.mlir:$(line mutant.mlir "$3"):[0-9]*}" mutant.mlir --stage check
}

# ---- what is right: compared with the reference on shapes of the sanitizer ------
for values in 'threads=64;keep=1;vector=4' 'threads=256;keep=3;vector=8;fuse=1;nontemporal=1' \
  'threads=1024;keep=2;vector=1'; do
  check 0 '^verdict *ok' "$rmsnorm" --set "$values" --stage sanitize
  check 0 '^verdict *ok' "$softmax" --set "$values" --stage sanitize
done
# The parameters reach the code: a vector of 8 is one load of 16 bytes a step.
check 0 ' 2 loads, ' "$softmax" --set 'threads=128;keep=2;vector=8'
check 0 ' 4 loads, ' "$softmax" --set 'threads=128;keep=4;vector=8'

# What vectorisation leaves is lowered without the schedule's help: transfers,
# reductions and broadcasts; masks of odd ends; transposed and contracted tiles.
vectorize='transform.structured.vectorize %whole'
clean='/^  transform.apply_patterns to %kernel \{$/,/^  transform.apply_patterns to %kernel .*lower_broadcast/d'
edit "$clean"
check 0 '^verdict *ok' mutant.mlir --stage sanitize
edit "$clean; s/$vectorize/$vectorize vector_sizes [16]/"
check 0 '^verdict *ok' mutant.mlir --stage sanitize
cp "$source"/tests/pass/Inputs/squares.{mlir,c} .
check 0 '^verdict *ok' squares.mlir --problem squares.c
sed 's/permutation = \[1, 0\]/permutation = [0, 1]/' squares.mlir >wrong.mlir
check 1 'wrong-result' wrong.mlir --problem squares.c

# Canonicalisation makes sizes static; workgroup memory keeps its name.
sed "s/^module attributes {/& transform.with_named_sequence,/; \$d" "$source/tests/pass/Inputs/pairs.mlir" >canonical.mlir
cat >>canonical.mlir <<'END'
transform.named_sequence @__transform_main(%module: !transform.any_op) {
  %gpu = transform.structured.match ops{["gpu.module"]} in %module : (!transform.any_op) -> !transform.any_op
  %all = transform.apply_registered_pass "canonicalize" to %gpu : (!transform.any_op) -> !transform.any_op
  transform.yield
}
}
END
check 0 ' 2048 bytes of LDS' canonical.mlir --problem "$source/tests/pass/Inputs/pairs.c" --shape 1000 --set 'threads=128;each=4'

# ---- what may not be in one ------------------------------------------------------
insert() { echo "s/^(  $vectorize : .*)/$1\\n\\1/"; } # before it is vectorized
append() { echo "s/^(  $vectorize : .*)/\\1\\n$1/"; } # after that
mutant "$(insert '  transform.print %module : !transform.any_op')" \
  'AT: a schedule may not have transform.print' transform.print
mutant "$(insert '  transform.alternatives %kernel : !transform.any_op {\n^bb0(%k: !transform.any_op):\n}')" \
  'AT: a schedule may not have transform.alternatives' transform.alternatives
mutant "$(insert '  %p = transform.apply_registered_pass "inline" to %kernel : (!transform.any_op) -> !transform.any_op')" \
  'AT: a schedule may not run the pass inline; there is canonicalize' '"inline"'
mutant "$(insert '  transform.annotate %whole "indexing_maps" = %keep : !transform.any_op, !transform.param<i64>')" \
  "AT: indexing_maps: an annotation's name has a dot" '"indexing_maps"'
mutant 's/@__transform_main/@main/' 'mutant.mlir:[0-9]*:1: no sequence is named @__transform_main' x
for i in $(seq 70); do echo "transform.named_sequence @s$i(%m: !transform.any_op {transform.readonly}) { transform.yield }"; done >many
more='/^transform.named_sequence @loop_of/{r many
N}'
edit "$more"
check 1 'mutant.mlir:[0-9]*:1: there may be 64 sequences' mutant.mlir
for i in $(seq 12); do
  echo "transform.named_sequence @s$i(%m: !transform.any_op {transform.readonly}) {"
  for _ in 1 2 3; do [ "$i" = 12 ] || echo "transform.include @s$((i + 1)) failures(propagate) (%m) : (!transform.any_op) -> ()"; done
  echo "transform.yield }"
done >many
edit "$more"
check 1 'mutant.mlir:[0-9]*:1: with what it includes this has more than 10000 steps' mutant.mlir


# Names are of one module: in others there could be the same ones again.
beside() { echo "s/^transform.named_sequence @loop_of/$1\\n&/"; }
sequence='transform.named_sequence @loop_of(%m: !transform.any_op {transform.readonly})'
mutant "$(beside "module @lib attributes {transform.with_named_sequence} { $sequence { transform.yield } }")" \
  "AT: sequences stand in the template's own module" 'module @lib'
mutant "$(beside 'transform.named_sequence private @other(!transform.any_op {transform.readonly})')" \
  'AT: this sequence has no body' '@other'

# A handle doubled again and again would be the end of the job's memory.
merge='  %h0 = transform.merge_handles %whole, %whole : !transform.any_op\n'
for i in $(seq 40); do merge="$merge  %h$i = transform.merge_handles %h$((i - 1)), %h$((i - 1)) : !transform.any_op\n"; done
mutant "$(insert "$merge")" 'AT: a handle may name one operation up to 8192 times here' '%h10 = '
mutant "$(insert '  %h = transform.include @more failures(propagate) (%whole) : (!transform.any_op) -> !transform.any_op'); $(beside 'transform.named_sequence @more(%h: !transform.any_op {transform.readonly}) -> !transform.any_op {\n%h0 = transform.replicate num(%h) %h : !transform.any_op, !transform.any_op\n%h1 = transform.replicate num(%h0) %h0 : !transform.any_op, !transform.any_op\n%h2 = transform.replicate num(%h1) %h1 : !transform.any_op, !transform.any_op\n%h3 = transform.replicate num(%h2) %h2 : !transform.any_op, !transform.any_op\ntransform.yield %h3 : !transform.any_op\n}')" \
  'AT: a handle may name one operation up to' '%h3 = '

# ---- numbers -----------------------------------------------------------------------
vector='transform.param.constant 8 : i64 \{wavesmith.value = "vector"\}'
for number in 0 -1 65537 4611686018427387904; do
  mutant "s/$vector/transform.param.constant $number : i64/" "AT: $number: sizes here are 1 to 65536" tile_using_forall
done
mutant 's/tile_sizes \[%vector\]/tile_sizes [-8]/; s/\(!transform.any_op, !transform.param<i64>\) -> \(!transform.any_op, !transform.any_op\)$/(!transform.any_op) -> (!transform.any_op, !transform.any_op)/' \
  'AT: -8: sizes here are 0 to 65536' tile_using_forall
tile='  %t, %l = transform.structured.tile_using_for %whole tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)\n'
mutant "$(insert "$tile  transform.loop.unroll %l {factor = 1073741824} : !transform.any_op")" \
  'AT: 1073741824: sizes here are 1 to 1024' '{factor'
mutant "s/$vectorize/$vectorize vector_sizes [65536]/" 'mutant.mlir:[0-9]*:[0-9]*: .*a vector of more than 4096 elements' x
mutant 's/"keep \* vector"/"keep - 8"/' 'AT: wavesmith.slots is a number from 1 to 1024' 'alloca(%n)'
for slots in 'keep * vector \/ 2' 'keep * vector - 1'; do
  mutant "s/\"keep \* vector\"/\"$slots\"/" 'AT: [0-9]* elements (wavesmith.slots), where 8 rounds (wavesmith.steps) index 64 at line [0-9]*$' '%added = memref.alloca(%n)'
done
mutant 's/wavesmith.value = "keep"/wavesmith.value = "keep * 1000"/' 'mutant.mlir:[0-9]*:[0-9]*: wavesmith.steps is a number from 1' x
mutant 's/"wavesmith.steps" = %keep : !transform.any_op, !transform.param<i64>/"wavesmith.steps" : !transform.any_op/' \
  'mutant.mlir:[0-9]*:[0-9]*: wavesmith.steps is a number from 1' x

# ---- schedules that fail half-way --------------------------------------------------
mutant "s/$vectorize/transform.structured.vectorize %steps/" 'AT: op uses a handle invalidated .*; invalidated by this .* at mutant.mlir:' \
  'vectorize %steps'
mutant 's/loop.fuse_sibling %a into %b/loop.fuse_sibling %a into %a/' 'mutant.mlir:[0-9]*:[0-9]*: ' x
mutant "s/%vector = transform.param.constant 8/%vector = transform.param.constant 16/; s/wavesmith.value = \"vector\"/wavesmith.value = \"2 * vector\"/" \
  "mutant.mlir:$(line "$base" "$vectorize"):3: Attempted to vectorize, but failed (transform.structured.vectorize of mutant.mlir:[0-9]*:5: linalg.generic)" x
mutant 's/ \(mapping = \[#gpu.thread<x>\]\)//' 'mutant.mlir:[0-9]*:5: an scf.forall is left that has no mapping' x
mutant "$(insert '  %t, %l = transform.structured.tile_using_forall %whole tile_sizes [2] (mapping = [#gpu.thread<x>]) : (!transform.any_op) -> (!transform.any_op, !transform.any_op)'); s/$vectorize/transform.structured.vectorize %t/" \
  'mutant.mlir:[0-9]*:5: lanes are given out within what lanes do' x

# One that would take years ends with the line of the step that it was at, and
# another of the same server is served. The innermost step takes so much more time
# than the loops around it that it is the one.
deep=''
for i in 1 2 3 4 5 6 7; do deep="$deep  transform.foreach %all : !transform.any_op {\n  ^bb0(%q$i: !transform.any_op):\n"; done
deep="  %all = transform.structured.match ops{[\"arith.constant\"]} in %module : (!transform.any_op) -> !transform.any_op\n$deep"
mutant "$(append "$deep  transform.apply_patterns  to %kernel { transform.apply_patterns.canonicalization } : !transform.any_op\n  } } } } } } }")" \
  'AT: the compiler did not get past transform.apply_patterns: ' 'transform.apply_patterns  to %kernel'

# ---- what has no lowering ----------------------------------------------------------
base=$source/tests/pass/Inputs/pairs.mlir
left() { # operations that make the f32 %q, pattern, a text of the line that it is at
  edit "s/^    %sum = arith.addf %own, %other : f32/    $1\\n    %sum = arith.addf %own, %q : f32/"
  check 1 "mutant.mlir:$(line mutant.mlir "$3"):[0-9]*: $2" mutant.mlir \
    --problem "$source/tests/pass/Inputs/pairs.c" --stage check
}
left '%t = gpu.thread_id x\n%e = tensor.empty() : tensor<4xf32>\n%q = tensor.extract %e[%t] : tensor<4xf32>' \
  'nothing lowers tensor.empty here' tensor.empty
left '%t = gpu.thread_id x\n%m = memref.alloca() : memref<4xf32, 7>\n%q = memref.load %m[%t] : memref<4xf32, 7>' \
  "a function's own memory is #gpu.address_space<private>" '= memref.alloca() : memref<4xf32, 7>'
