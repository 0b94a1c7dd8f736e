#!/usr/bin/env bash
# Templates and bodies in MLIR, from the command line: what is right passes,
# what is wrong is said with the line of the .mlir text.
set -euo pipefail
wavesmith=$1 source=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$wavesmith" doctor | grep -q '^ok *MLIR' || { echo "no MLIR in this build"; exit 77; }
pairs=$source/tests/pass/Inputs/pairs.mlir problem=$source/tests/pass/Inputs/pairs.c
cd "$work"
expect() { # exit code, pattern, command...
  local want=$1 pattern=$2 code=0
  shift 2
  "$@" >out 2>&1 || code=$?
  [ "$code" = "$want" ] || { echo "exit $code, want $want: $*"; cat out; exit 1; }
  grep -q -- "$pattern" out || { echo "no '$pattern': $*"; cat out; exit 1; }
}
check() { expect "$1" "$2" "$wavesmith" check "$3" --problem "$problem" --shape 1000 "${@:4}"; }
line() { grep -n -F -- "$2" "$1" | head -1 | cut -d: -f1; } # of a text in a file
mutant() { # sed expression, pattern (AT: the place of ...), a text of that line, options...
  sed -e "$1" "$pairs" >mutant.mlir
  ! cmp -s mutant.mlir "$pairs" || { echo "no mutant: $1"; exit 1; }
  check 1 "${2/AT/mutant.mlir:$(line mutant.mlir "$3"):[0-9]*}" mutant.mlir "${@:4}"
}

# ---- debug info that LLVM refuses --------------------------------------------
file='#llvm.di_file<"x.c" in "/">'
place="fused<#llvm.di_lexical_block<scope = $file, file = $file, line = 1>>[\"q.mlir\":7:2]"
sed "s|^ *memref.store %sum, %out.*|& loc($place)|" "$pairs" >fused.mlir
check 1 'q.mlir:7:2: LLVM refuses the debug info' fused.mlir

# ---- what is right -----------------------------------------------------------
for threads in 64 128 256; do
  check 0 '^verdict *ok' "$pairs" --set "threads=$threads;each=1"
  check 0 " $((4 * threads * 2)) bytes of LDS" "$pairs" --set "threads=$threads;each=2" --variant combine=combine_turned
done
check 1 'a test of a constraint' "$pairs" --set 'threads=256;each=4'

# A table of constants.
sed -e 's/^gpu.module @pairs {/&\n  memref.global "private" constant @ones : memref<2xf32, 4> = dense<[1.0, 1.0]>/' \
  -e 's/^  *%sum = arith.addf %own, %other : f32/    %z = arith.constant 1 : index\n    %t = memref.get_global @ones : memref<2xf32, 4>\n    %f = memref.load %t[%z] : memref<2xf32, 4>\n    %scaled = arith.mulf %own, %f : f32\n    %sum = arith.addf %scaled, %other : f32/' \
  "$pairs" >table.mlir
grep -q 'mulf %own, %f' table.mlir
check 0 '^verdict *ok' table.mlir

# A region's body in MLIR, LLVM IR and OpenCL C; helpers of its own.
cat >body.mlir <<'END'
func.func private @twice(%x: f32) -> f32 {
  %sum = arith.addf %x, %x : f32
  return %sum : f32
}
func.func private @combine(%own: f32, %other: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %sum = arith.addf %own, %other : f32
  %two = func.call @twice(%sum) : (f32) -> f32
  %one = arith.mulf %two, %half : f32
  return %one : f32
}
END
# A variable of the body's own, read and written outside of it: neither changes
# the result.
cat >private.mlir <<'END'
func.func private @combine(%own: f32, %other: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %start = arith.constant START : i32
  %bits = arith.bitcast %own : f32 to i32
  %none = arith.andi %bits, %c0 : i32
  %at = arith.addi %none, %start : i32
  %i = arith.index_cast %at : i32 to index
  %t = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  memref.store %own, %t[%i] : memref<4xf32, #gpu.address_space<private>>
  %z = memref.load %t[%i] : memref<4xf32, #gpu.address_space<private>>
  %sum = arith.addf %z, %other : f32
  return %sum : f32
}
END
for at in 4 8 40 100 20000 -1 -2 -200; do
  sed "s/START/$at/" private.mlir >wrong.mlir
  check 1 'oob-private in combine at combine.mlir:9:3' "$pairs" --body combine=wrong.mlir
  sed "s/%t\[%i\]/%t[%c]/; s/ *%c0 = .*/&\n%c = arith.constant $at : index/; s/START/0/" private.mlir >wrong.mlir
  check 1 'oob-private in combine at combine.mlir:10:3' "$pairs" --body combine=wrong.mlir
done
for at in 0 3; do
  sed "s/START/$at/" private.mlir >body.private.mlir
  check 0 '^verdict *ok' "$pairs" --body combine=body.private.mlir
done
echo 'float combine(float own, float other) { return own + other; }' >body.cl
echo 'define internal float @combine(float %a, float %b) { %c = fadd float %a, %b ret float %c }' >body.ll
for body in body.mlir body.cl body.ll; do
  check 0 '^verdict *ok' "$pairs" --body combine=$body
done
sed 's/ %one : f32$/ %sum : f32/; s/addf %own, %other/addf %own, %own/' body.mlir >wrong.mlir
check 1 'wrong-result' "$pairs" --body combine=wrong.mlir
sed 's/@twice/@stage/' body.mlir >wrong.mlir
check 1 'splice-redefined in combine at combine.mlir:1:' "$pairs" --body combine=wrong.mlir
sed 's/%own: f32/%own: f64/; s/%own, %other : f32/%other, %other : f32/' body.mlir >wrong.mlir
check 1 'splice-signature in combine at combine.mlir:5:' "$pairs" --body combine=wrong.mlir
sed 's/@combine/@combined/' body.mlir >wrong.mlir
check 1 'splice-undefined in combine' "$pairs" --body combine=wrong.mlir
sed 's/%half = .*/%half = arith.constant 0.5 : f64/' body.mlir >wrong.mlir
check 1 'mlir in combine at combine.mlir:9:' "$pairs" --body combine=wrong.mlir
# Its workgroup memory is not the template's, which stands behind it.
cat >wrong.mlir <<'END'
func.func private @combine(%own: f32, %other: f32) -> f32 {
  %tile = memref.alloc() {wavesmith.lds = "tile"} : memref<128xf32, #gpu.address_space<workgroup>>
  %sum = arith.addf %own, %other : f32
  return %sum : f32
}
END
check 1 'mlir-lds in combine at combine.mlir:2:' "$pairs" --body combine=wrong.mlir

# Helpers behind what calls them, and behind each other; attributes of functions
# are dropped.
cat >behind.mlir <<'END'
func.func private @combine(%own: f32, %other: f32) -> f32 attributes {personality = @x, passthrough = ["noinline"]} {
  %sum = func.call @first(%own, %other) : (f32, f32) -> f32
  return %sum : f32
}
func.func private @first(%a: f32, %b: f32) -> f32 {
  %sum = func.call @second(%a, %b) : (f32, f32) -> f32
  return %sum : f32
}
func.func private @second(%a: f32 {llvm.noundef}, %b: f32) -> f32 {
  %sum = arith.addf %a, %b : f32
  return %sum : f32
}
END
check 0 '^verdict *ok' "$pairs" --body combine=behind.mlir
# Places are those of the text from the first line to the last.
sed '1s/%own: f32/%own: g32/' behind.mlir >wrong.mlir
check 1 'mlir in combine at combine.mlir:1:33$' "$pairs" --body combine=wrong.mlir
sed '$d' behind.mlir >wrong.mlir
check 1 'mlir in combine at combine.mlir:11:20$' "$pairs" --body combine=wrong.mlir
# It is functions and nothing else, wherever in them something else stands.
refused() { # the body's text with what is given for COPY, pattern
  sed "s|^  %sum = arith.*|  $1\n&|" behind.mlir >wrong.mlir
  check 1 "$2" "$pairs" --body combine=wrong.mlir
}
nested='builtin.module attributes {transform.with_named_sequence}'
refused "$nested { transform.named_sequence @__transform_main(%m: !transform.any_op) { transform.yield } }" \
  'splice-metadata in combine at combine.mlir:10:3$'
refused 'builtin.module { llvm.func @f() }' 'splice-metadata in combine at combine.mlir:10:3$'
refused '%x = arith.constant dense_resource<r> : vector<4xf32>' 'mlir in combine at combine.mlir:10:8$'
refused '%x = arith.constant 1 : i32 loc("pairs.mlir":3:7)' 'mlir in combine at combine.mlir:10:31$'
{ cat behind.mlir; echo '} module {'; } >wrong.mlir
check 1 'mlir in combine at combine.mlir:13:1$' "$pairs" --body combine=wrong.mlir

# The branch that a barrier is under may be in another file.
sed 's/%sum = .*/&\n  gpu.barrier/' body.mlir >wrong.mlir
check 1 "barrier under the branch of line [0-9]* of $pairs, whose" "$pairs" --body combine=wrong.mlir

# What it calls of the template it may declare or not; memory may be made behind
# a loop.
cat >calls.mlir <<'END'
func.func private @combine(%own: f32, %other: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %c1 step %c1 iter_args(%x = %zero) -> f32 {
    %one = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
    memref.store %own, %one[%i] : memref<1xf32, #gpu.address_space<private>>
    %y = memref.load %one[%i] : memref<1xf32, #gpu.address_space<private>>
    scf.yield %y : f32
  }
  %kept = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
  memref.store %other, %kept[%c0] : memref<1xf32, #gpu.address_space<private>>
  %z = memref.load %kept[%c0] : memref<1xf32, #gpu.address_space<private>>
  %both = func.call @combine_turned(%sum, %z) : (f32, f32) -> f32
  return %both : f32
}
END
check 0 '^verdict *ok' "$pairs" --body combine=calls.mlir
{ echo 'func.func private @combine_turned(f32, f32) -> f32'; cat calls.mlir; } >declared.mlir
check 0 '^verdict *ok' "$pairs" --body combine=declared.mlir
sed 's/@combine_turned(%sum/@combine_twice(%sum/' calls.mlir >wrong.mlir
check 1 'mlir in combine at combine.mlir:14:' "$pairs" --body combine=wrong.mlir

# ... and a body in MLIR for a template in LLVM IR.
cat >tile_order.mlir <<'END'
func.func private @tile_order(%group: i32, %tiles_m: i32, %tiles_n: i32) -> vector<2xi32> {
  %row = arith.divui %group, %tiles_n : i32
  %column = arith.remui %group, %tiles_n : i32
  %tile = vector.from_elements %row, %column : vector<2xi32>
  return %tile : vector<2xi32>
}
END
gemm() { expect "$1" "$2" "$wavesmith" check "$source/ir-templates/fp8_gemm_mfma.ll" --stage sanitize --body tile_order=tile_order.mlir; }
gemm 0 '^verdict *ok'
sed -i 's/remui %group, %tiles_n/remui %group, %tiles_m/' tile_order.mlir
gemm 1 '^verdict *wrong'
cp tile_order.mlir kept.mlir
echo '} llvm.module_flags [] module {' >>tile_order.mlir
gemm 1 'mlir in tile_order at tile_order.mlir:7:1$'
mv kept.mlir tile_order.mlir
sed -i 's/%tiles_m: i32/%tiles_m: i64/; s/remui %group, %tiles_m/remui %group, %tiles_n/' tile_order.mlir
gemm 1 'splice-signature in tile_order at tile_order.mlir:1'

# ---- what is wrong with what is computed ---------------------------------------
launch='wavesmith.launch' # a kernel as a whole has its line, without a column
mutant 's/ gpu.barrier/ /' 'uninit-lds in pairs at AT$' '%other = memref.load'
mutant 's/ gpu.barrier/ /' 'lds-race in stage at AT$' 'memref.store %value, %to'
mutant 's/xori %place, %one/addi %place, %one/' 'uninit-lds in pairs at AT$' '%other = memref.load'
mutant 's/%one = arith.constant 1 : i32/%one = arith.constant 4096 : i32/' 'oob-lds.* in pairs at AT$' '%other = memref.load'
mutant 's/%inside = arith.cmpi ult, %at, %count/%inside = arith.cmpi ule, %at, %count/' \
  'oob-global-load in stage at AT$' '%value = memref.load'
mutant 's/strides: \[1\]/strides: [2]/; s/strided<\[1\]>/strided<[2]>/' \
  'oob-global-load in stage at AT$' '%value = memref.load'
mutant 's/%at = arith.addi %first, %place : i32$/%at = arith.addi %count, %place : i32/' \
  'unwritten-output at mutant.mlir:' "$launch"
mutant 's/%sum = arith.addf %own, %other/%sum = arith.subf %own, %other/' \
  'wrong-result at mutant.mlir:' "$launch"
mutant 's/%size = arith.constant {wavesmith.value = "threads \* each"}/%size = arith.constant {wavesmith.value = "threads"}/' \
  'AT: memref<.* has 256 bytes, .* 512$' 'wavesmith.lds = "tile"'

# ---- what is wrong with the text ------------------------------------------------
mutant 's/arith.xori %place, %one : i32/arith.xori %place, %one : i64/' 'AT: use of value' 'arith.xori'
mutant 's/arith.xori %place, %one : i32/arith.nothing %place, %one : i32/' "AT: custom op 'arith.nothing'" 'arith.nothing'
mutant 's/    gpu.barrier/    async.execute { async.yield }/' 'AT: async.execute: this dialect' 'async.execute'
mutant 's/"threads \* each"} 128 : index/"threads * fold"} 128 : index/' "AT: 'fold' has no value" 'threads * fold'
mutant 's/"threads \* each"} 128 : index/"threads \/ (each - 2)"} 128 : index/' 'AT: division by zero' 'threads / (each'
mutant 's/%size = arith.constant .*/%size = arith.index_castui %count : i32 to index/' \
  'AT: a size of memref<?xf32, ' 'wavesmith.lds = "tile"'
mutant 's/{wavesmith.lds = "tile"}/ /' 'AT: write {wavesmith.lds = "NAME"}' '%tile = memref.alloc'
sed 's/#gpu.address_space<workgroup>/3/' "$pairs" >mutant.mlir # LLVM's number of it
check 0 ' 512 bytes of LDS' mutant.mlir
global='memref.global "private" @more : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized'
mutant "s/^gpu.module.*/&\n$global/" 'AT: workgroup memory is memref.alloc() {wavesmith.lds' @more
mutant 's/"count"}) kernel/"count"}) workgroup(%more: memref<64xf32, 3>) kernel/' 'AT: workgroup memory is memref.alloc() {' %more
mutant "s/^gpu.module.*/func.func private @out() {\n%more = memref.alloc() {wavesmith.lds = \"tile\"} : memref<128xf32, 3>\nreturn\n}\n&/" \
  'AT: workgroup memory is made in functions of the gpu.module' %more
mutant 's/^    %tile = .*/&\n%more = memref.alloc(%size) {wavesmith.lds = "tile"} : !tile/' "AT: another memref.alloc is 'tile' already" %more
mutant 's/"threads \* each"} 128 : index/"-threads"} 128 : index/' 'AT: a size of memref<?xf32, .* is -64$' 'wavesmith.lds = "tile"'
mutant 's/memref<1xf32/memref<?xf32/' "mutant.mlir:[0-9]*:19: a kernel's pointer is a memref of static type" '!values'
for other in 'llvm.module_flags [#llvm.mlir.module_flag<override, "amdhsa_code_object_version", 400 : i32>]' \
  'gpu.binary @b [#gpu.object<#rocdl.target, "abc">]' 'llvm.linker_options ["\/DEFAULTLIB:", "libcmt"]'; do
  mutant "s/^gpu.module.*/$other\n&/" 'AT: .*: a template has kernels and their functions only' "${other%% *}"
done
mutant 's/wavesmith.lds = "tile"/wavesmith.lds = "til"/' "AT: wavesmith.lds has no 'til'" '%tile = memref.alloc'
mutant 's/%one = arith.constant 1 : i32/%one = arith.constant {wavesmith.width = "each"} 1 : i32/' \
  "AT: wavesmith.width: 'arith.constant' has no integer" wavesmith.width
mutant 's/%one = arith.constant 1 : i32/%one = arith.constant {wavesmith.value = "each + 4294967295"} 1 : i32/' \
  'AT: wavesmith.value is 4294967297, which does not fit into i32' 'each + 42'
mutant 's/%one = arith.constant 1 : i32/%four = arith.constant {wavesmith.value = "threads + 1"} 1 : i4\n%one = arith.extui %four : i4 to i32/' \
  'AT: wavesmith.value is 65, which does not fit into i4' 'threads + 1'
for value in 1 -15 8589934591; do # one bit pattern, and none
  sed "s/%one = arith.constant 1 : i32/%four = arith.constant {wavesmith.value = \"$value\"} 3 : i4\n%one = arith.extui %four : i4 to i32/" "$pairs" >fits.mlir
  [ "$value" = 1 ] && check 0 '^verdict *ok' fits.mlir || check 1 "$value, which does not fit into i4" fits.mlir
done
# Rounds and slots are numbers, or expressions.
lanes() { echo "s/^    gpu.barrier/    %q = arith.constant 4 : index\\nscf.forall (%i) in (%q) {%z = arith.constant 0.0 : f32\\nmemref.store %z, %tile[%i] : !tile} {mapping = [#gpu.thread<x>], wavesmith.steps = $1}\\n    gpu.barrier/"; }
for steps in 2 '"each"' '"threads \/ 32"'; do
  sed "$(lanes "$steps")" "$pairs" >lanes.mlir
  expect 0 '^verdict *ok' "$wavesmith" check lanes.mlir --problem "$problem" --stage check
done
mutant "$(lanes '"each - 2"')" 'AT: wavesmith.steps is a number from 1 to' 'scf.forall'
mutant "$(lanes '"fold"')" "AT: 'fold' has no value" 'scf.forall'
mutant 's/"gfx942", "sums/"gfx123", "sums/' 'AT: write module attributes' 'module attributes'
mutant 's/"count"}) kernel/"length"}) kernel/' "AT: kernel @pairs: 'length' is no argument of pairs" '"length"'
mutant 's/i32 {wavesmith.name = "count"}) kernel/i32) kernel/' 'AT: argument 3 of kernel @pairs has no name' '%count: i32) kernel'
mutant 's/\["each", "2", "1 2 4"/["threads", "2", "1 2 4"/' "AT: parameter 'threads' is declared twice" '["threads", "2"'
mutant 's/"64", "64 128 256"/"many", "64 128 256"/' "AT: the default of parameter 'threads' is an integer, not 'many'" '"many"'
mutant 's/"64 128 256"/"64 128 x"/' 'mutant.mlir:.*integers' '"threads"'
echo '// nothing' >nothing.mlir
expect 1 'nothing.mlir:1: write module attributes' "$wavesmith" check nothing.mlir --problem "$problem"

# ---- what is MLIR, whatever its file is called ----------------------------------
printf '\xef\xbb\xbf' | cat - "$pairs" >mark.txt
sed 's/$/\r/' "$pairs" | sed 's/^module attributes {\r/module\r\n attributes {\r/' >lines.txt
for text in mark.txt lines.txt; do check 0 '^verdict *ok' "$text"; done
echo 'gpu.module @m {}' >one.txt
check 1 'one.txt:1:1: write module attributes' one.txt
echo '"func.func"() <{function_type = () -> (), sym_name = "f"}> ({ "func.return"() : () -> () }) : () -> ()' >one.txt
check 1 'one.txt:1:1: write module attributes' one.txt
printf 'gpu.module @m {}\ngpu.module @n {}\n' >two.txt
check 1 'two.txt:1: write module attributes' two.txt
: >empty.mlir
check 1 'empty.mlir:1: write module attributes' empty.mlir
printf 'ML\xefR\rMLIR21' >bytecode
check 1 "bytecode:1: this is MLIR's bytecode" bytecode
cp bytecode bytecode.mlir
check 1 "mlir in combine at combine.mlir:1" "$pairs" --body combine=bytecode.mlir

# ---- texts that cannot be read to their end -------------------------------------
{ cat body.mlir; echo 'func.func private @deep() { %x = arith.constant 1 : i32'; seq 300000 | sed 's|.*|"scf.execute_region"() ({|'; } >deep.mlir
check 1 '^finding *mlir.* at combine.mlir:1:1$' "$pairs" --body combine=deep.mlir
grep -q 'did not get past the text' out
expect 1 '^finding *mlir.* at tile_order.mlir:1:1$' "$wavesmith" check "$source/ir-templates/fp8_gemm_mfma.ll" --stage sanitize --body tile_order=deep.mlir
sed 's/^gpu.module @pairs {/&\nfunc.func private @deep() {/' "$pairs" | sed '/@deep/r deep.mlir' >deep2.mlir
check 1 'deep2.mlir:1:1: the compiler did not get past the text' deep2.mlir
