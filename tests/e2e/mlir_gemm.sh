#!/usr/bin/env bash
# Faults put into the block-scaled GEMM in MLIR: each is found, with the line of
# the .mlir text. Wrong results name the kernel's launch; races, LDS that nothing
# wrote and accesses out of bounds name the access.
set -euo pipefail
wavesmith=$1 template=$2/ir-templates/fp8_gemm_mfma.mlir work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$wavesmith" doctor | grep -q '^ok *MLIR' || { echo "no MLIR in this build"; exit 77; }
cd "$work"
count=0 failed=0
line() { grep -n -F -- "$1" mutant.mlir | head -1 | cut -d: -f1; } # of a text
mutant() { # sed expression, finding (AT: file and line of the text), text, options...
  local pattern found
  count=$((count + 1))
  sed -e "$1" "$template" >mutant.mlir
  ! cmp -s mutant.mlir "$template" || { echo "no mutant: $1"; exit 1; }
  found=$(line "$3")
  [ -n "$found" ] || { echo "no '$3' in: $1"; exit 1; }
  pattern=${2/%AT/AT(:|\$)}
  pattern=${pattern/AT/mutant.mlir:$found}
  if "$wavesmith" check mutant.mlir --stage sanitize "${@:4}" >out 2>&1 ||
    ! grep -q -E -- "$pattern" out; then
    echo "not found, '$pattern': $1"
    grep -E -A1 '^verdict|^finding|^wavesmith' out || cat out
    failed=$((failed + 1))
  fi
}
launch='wavesmith.launch = ["ceildiv(m, tile_m)' last_launch='wavesmith.launch = ["ceildiv(m * n'
wrong() { mutant "$1" '^finding *wrong-result at AT' "$launch" "${@:2}"; }

# Points of the space: small, and each with what its mutants need.
small='tile_m=16;tile_n=32;waves_m=1;waves_n=2'
k=(--layout kmajor --set "$small")
k2=(--layout kmajor --set "$small;prefetch=2;lds_buffers=2;lds_pad=16")
split=(--layout kmajor --set "$small;split_k=4")
idle=(--layout kmajor --set 'tile_m=16;tile_n=64;waves_m=1;waves_n=4') # threads without a piece of A
deep=(--layout kmajor --set 'tile_m=32;tile_n=32;tile_k=32;mfma=32;waves_m=1;waves_n=1')
mn=(--layout mnmajor --set "$small")

# The text as it is has no fault at these points.
for options in k k2 split idle deep mn; do
  declare -n these=$options
  "$wavesmith" check "$template" --stage sanitize "${these[@]}" >out || { cat out; exit 1; }
done

# ---- which memory: the access has the line ---------------------------------------
load16='vector.load %x[%at] : !fp8, vector<16x' load4='vector.load %x[%at] : !fp8, vector<4x'
to_lds='memref.store %value, %tiles[' from_lds='memref.load %tiles['
load_scale='memref.load %x[%at] : !f32' to_c='memref.store %bits, %c[' to_sums='memref.store %sum, %sums['
oob_load='^finding *oob-global-load in load_tile at AT'
race='^finding *lds-race in store_tile at AT' overlap='^finding *lds-overlap in store_tile at AT'
unset='^finding *uninit-lds in multiply at AT'
mutant 's/floordiv c, x - 1 - y)/floordiv c, x - y)/' "$oob_load" "$load16" "${k[@]}"
mutant 's/arith.minui %deep32, %last/arith.maxui %deep32, %deep32/' \
  '^finding *oob-global-load in steps at AT' "$load_scale" "${k[@]}"
mutant 's/(y \* k + o)>/(y * k + o + 16)>/' "$oob_load" "$load16" "${k[@]}"
mutant 's/(x - 1) floordiv 4 \* 4 - y/x floordiv 4 * 4 - y/' "$oob_load" "$load4" "${mn[@]}"
mutant 's/select %moves, %over, %zero/select %moves, %zero, %zero/' "$oob_load" "$load4" "${mn[@]}"
mutant 's/%p = affine.min #inside(%i)\[%threads, %thread, %total\]/%p = affine.apply #number(%i)[%threads, %thread]/' \
  "$oob_load" "$load4" --layout mnmajor --set 'tile_m=16;tile_n=64;waves_m=1;waves_n=4'
mutant 's/(y + i, m - 1)/(y + i, m)/' \
  '^finding *oob-global-load in steps at AT' "$load_scale" "${k[@]}"
mutant 's/(n - 1) floordiv 128)/n floordiv 128 + 1)/' '^finding *oob-global-load in steps at AT' "$load_scale" \
  --layout kmajor --set 'tile_m=16;tile_n=256;waves_m=1;waves_n=4' # two blocks of columns
mutant 's/cmpi ult, %r, %m/cmpi ule, %r, %m/' \
  '^finding *oob-global-store in fp8_gemm_mfma at AT' "$to_c" "${k[@]}"
mutant 's/cmpi ult, %r, %m/cmpi ule, %r, %m/' \
  '^finding *oob-global-store in fp8_gemm_mfma at AT' "$to_sums" "${split[@]}"
mutant 's/cmpi ult, %block, %n/cmpi ule, %block, %n/' \
  '^finding *oob-global-store in fp8_gemm_mfma at AT' "$to_c" "${k[@]}"
mutant 's/(z \* count + x)/((z + 1) * count + x)/' '^finding *oob-global-load in fp8_gemm_reduce at AT' \
  'vector.load %sums[' "${split[@]}"
mutant 's/cmpi ult, %first, %count/cmpi ule, %first, %count/' '^finding *oob-global-load in fp8_gemm_reduce at AT' \
  'vector.load %sums[' "${split[@]}"
mutant 's/%one_buffer { gpu.barrier }/%one_buffer { }/' "$race" "$to_lds" "${k[@]}"
mutant '/gpu.barrier \/\/ tile is in LDS/d' "$unset" "$from_lds" "${k[@]}"
mutant 's/%buffer = arith.remui %i, %buffers/%buffer = arith.remui %i, %c1/' \
  "$race" "$to_lds" "${k2[@]}"
mutant 's/%placed = arith.xori %chunk/%placed = arith.ori %chunk/' "$overlap" "$to_lds" "${k[@]}"
mutant 's/"(tile_k + lds_pad) \/ 16"/"tile_k \/ 16 - 1"/' "$overlap" "$to_lds" "${k2[@]}"
mutant 's/"(tile_k + lds_pad) \/ 16"/"(tile_k + lds_pad) \/ 16 + 1"/' \
  '^finding *oob-lds.* in store_tile at AT' "$to_lds" "${k[@]}"
mutant 's/cmpi ult, %p, %total/cmpi ule, %p, %total/' "$overlap" "$to_lds" "${idle[@]}"
mutant 's/-> (y + q \* e + r)/-> (q * e + r)/' "$unset" "$from_lds" "${k[@]}"
mutant 's/-> (y + q \* e + r)/-> (y + q * e)/' "$unset" "$from_lds" "${mn[@]}"
mutant 's/-> (y + x - i \* d)/-> (y + x + i * d)/' \
  '(uninit|oob)-lds.* in multiply at AT' "$from_lds" "${k[@]}"
mutant 's/lds_pad) \/ 16"} 2048/lds_pad) \/ 16 - 8"} 2048/; s/\["tiles", "lds_buffers \* (tile_m + tile_n) \* (tile_k + lds_pad)"/["tiles", "lds_buffers * ((tile_m + tile_n) * (tile_k + lds_pad) - 128)"/' \
  '^finding *oob-lds.* in store_tile at AT' "$to_lds" "${k[@]}"

# ---- which result: the kernel's launch has the line -------------------------------
wrong 's/(row \* k + p mod c \* 16)/(row * k + p mod c * 8)/' "${k[@]}"
wrong 's/-> ((from + i) \* tile)/-> ((from + i + 1) * tile)/' "${k[@]}"
wrong 's/%set = arith.remui %i, %ahead/%set = arith.remui %i, %c1/' "${k2[@]}"
wrong 's/%odd = arith.cmpi ne, %whole, %limit/%odd = arith.cmpi ugt, %whole, %limit/' "${k2[@]}"
for fault in 's/z floordiv slices \*/z floordiv 2 */' 's/%next = arith.addi %slice, %c1/%next = arith.addi %slice, %c0/'; do
  mutant "$fault" '^finding *wrong-result at AT' "$last_launch" "${split[@]}"
done
wrong 's/16x16x32.fp8.fp8 %x, %y, %old/16x16x32.fp8.fp8 %y, %x, %old/' "${k[@]}"
wrong 's/32x32x16.fp8.fp8 %x, %y, %old/32x32x16.fp8.fp8 %y, %x, %old/' "${deep[@]}"
wrong 's/"tile_k \* mfma \/ 1024"/"tile_k * mfma \/ 2048"/' "${k[@]}"
wrong 's/mod 64 floordiv d \* 4)>$/mod 64 floordiv d * 2)>/' "${k[@]}"
wrong 's/+ g \* 2 + t mod/+ g + t mod/' "${deep[@]}"
wrong 's/(y + i, m - 1)/(y + i + 1, m - 1)/' "${k[@]}"
wrong 's/(x floordiv 128 + i - y, /(x floordiv 256 + i - y, /' "${k[@]}"
wrong 's/affine.vector_store %none, %partial\[%i, %j, %g\]/affine.vector_store %new, %partial[%i, %j, %g]/' \
  "${k[@]}"
wrong 's/((i + 1) \* tile mod 128)>(%i)/(i * tile mod 128)>(%i)/' "${deep[@]}"
wrong 's/%half = arith.constant 32767/%half = arith.constant 0/' "${k[@]}"
wrong 's/\[0, 2, 1, 3, 4, 6, 5, 7\]/[0, 1, 2, 3, 4, 6, 5, 7]/; s/          0, 4, 1, 5, 8/          4, 0, 1, 5, 8/' \
  "${mn[@]}"
wrong 's/(back \* 8)/(back * 4)/' "${mn[@]}"
mutant 's/(l \* x + r - b)/(l * x + r)/' "$oob_load" "$load4" "${mn[@]}"
wrong 's/+ x + w + t mod d)/+ x + t mod d)/' "${k[@]}"
mutant 's/floordiv 64 mod n \* x/floordiv 128 mod n * x/' \
  '^finding *unwritten-output at AT' "$launch" "${k[@]}"
mutant 's/%row = arith.divui %group, %tiles_n/%row = arith.divui %group, %tiles_m/' \
  '^finding *global-race in fp8_gemm_mfma at AT' "$to_c" "${k[@]}"
mutant 's/\["ceildiv(m, tile_m) \* ceildiv/["(m \/ tile_m) * ceildiv/' \
  '^finding *bad-launch at AT' 'wavesmith.launch = ["(m' "${k[@]}"

# ---- what the text says -----------------------------------------------------------
at='AT:[0-9]+'
mutant 's/#inside(%i)/#outside(%i)/' "$at: undefined" '#outside' "${k[@]}"
mutant 's/arith.addi %own32, %depth : i32/arith.addi %own32, %depth : i64/' \
  "$at: use of value" '%deep = arith.addi' "${k[@]}"
mutant 's/arith.xori %chunk/arith.nothing %chunk/' \
  "$at: custom op 'arith.nothing'" 'arith.nothing' "${k[@]}"
mutant 's/gpu.barrier \/\/ tile is in LDS/async.execute { async.yield }/' \
  "$at: async.execute: this dialect" 'async.execute' "${k[@]}"
mutant 's/!tiles = memref<?x?xvector<4xi32>, #local>/!tiles = memref<?x?xvector<4xi32>, #global>/' \
  'AT: lds: there is no global @tiles' 'wavesmith.lds = [["tiles"' "${k[@]}"
mutant 's/%factors = arith.constant {wavesmith.value = "tile_m + 4"} 132 : index/%factors = arith.index_castui %m32 : i32 to index/' \
  "$at: a size of memref" 'wavesmith.lds = "scales"' "${k[@]}"
mutant 's/(4 \* tile_m + 16)"\]\]/4 * tile_m"]]/' \
  "$at: memref<.* bytes, wavesmith.lds gives" 'wavesmith.lds = "scales"' "${k[@]}"
mutant 's/wavesmith.lds = "scales"/wavesmith.lds = "factors"/' \
  "$at: wavesmith.lds has no 'factors'" 'wavesmith.lds = "factors"' "${k[@]}"
mutant 's/"tile_k - 16"/"tile_q - 16"/' "$at: 'tile_q' has no value" 'tile_q' "${k[@]}"
mutant 's/"128 \/ tile_k"/"128 \/ (tile_k - 128)"/' \
  "$at: division by zero" '(tile_k - 128)' "${k[@]}"
mutant 's/nontemporal = false, wavesmith.nontemporal/wavesmith.temporal/' "$at: wavesmith.temporal: .* no integer" \
  'wavesmith.temporal' "${k[@]}"
mutant 's/wavesmith.name = "as_stride_k"/wavesmith.name = "as_stride_q"/' \
  "AT:.*'as_stride_q' is no argument" '"as_stride_q"' "${k[@]}"

[ "$failed" = 0 ] || { echo "$failed of $count mutants not found"; exit 1; }
echo "ok: $count mutants"
