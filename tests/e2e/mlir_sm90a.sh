#!/usr/bin/env bash
# Templates in MLIR for sm_90a, from the command line: kernels pass at points of
# their space, what is wrong is said with its place in the .mlir text. What they
# compute is judged by tests/sm90a_host, of wgmma.mlir by a card.
set -euo pipefail
wavesmith=$1 source=$2 work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$wavesmith" doctor >"$work/doctor" || true
grep -q '^ok *MLIR' "$work/doctor" || { echo "no MLIR in this build"; exit 77; }
ptxas=$(grep -c '^ok *ptxas' "$work/doctor" || true)
cd "$work"
gemm=$source/kernels/gemm_bf16/mma_sync.mlir rmsnorm=$source/kernels/rmsnorm/sm90a.mlir
wgmma=$source/kernels/gemm_bf16/wgmma.mlir
check() { # exit code, pattern, arguments of check...
  local want=$1 pattern=$2 code=0
  shift 2
  "$wavesmith" check "$@" >out 2>&1 || code=$?
  [ "$code" = "$want" ] || { echo "exit $code, want $want: check $*"; cat out; exit 1; }
  grep -q -- "$pattern" out || { echo "no '$pattern': check $*"; cat out; exit 1; }
}
line() { grep -n -F -- "$2" "$1" | head -1 | cut -d: -f1; } # of a text in a file
mutant() { # sed expression, pattern (AT: the place of ...), a text of that line, the template
  local of=${4:-$gemm}
  sed -e "$1" "$of" >mutant.mlir
  ! cmp -s mutant.mlir "$of" || { echo "no mutant: $1"; exit 1; }
  check 1 "${2/AT/mutant.mlir:$(line mutant.mlir "$3"):[0-9]*}" mutant.mlir
}

# ---- what is right -----------------------------------------------------------
# Shared memory is what the record says; arrays have become registers (or the
# verdict is illegal: scratch).
for point in '' 'tile_m=16;tile_n=256;tile_k=16;warps_m=1;warps_n=8;stages=3' \
  'tile_m=256;tile_n=128;tile_k=64;warps_m=4;warps_n=4;stages=4' \
  'tile_m=64;tile_n=32;tile_k=128;warps_m=4;warps_n=1;stages=2;pad=16;resident=2' 'cut_k=0;group_m=1'; do
  check 0 '^verdict *ok' "$gemm" --set "$point"
done
check 0 ' 55296 bytes of shared memory' "$gemm" --set 'tile_m=64;tile_n=64;tile_k=64;stages=3;pad=16'
for point in '' 'keep=4' 'threads=128;keep=8;early=0' 'threads=1024;keep=1' 'threads=32;keep=8;group_rows=8'; do
  check 0 '^verdict *ok' "$rmsnorm" --set "$point"
done
check 0 '^verdict *ok' "$rmsnorm" --variant inverse_root=inverse_root_approximate
check 1 'a multiprocessor has 228 KiB' "$gemm" --set 'tile_k=128;stages=8'
for point in '' 'tile_m=256;tile_n=144;box=16' 'group_m=4;cluster_m=2' \
  'tile_m=256;tile_n=192;stages=3;pipeline=0;cluster_n=2' 'tile_m=192;tile_n=192;warpgroups=3;stages=3;pipeline=0' \
  'tile_m=64;tile_n=16;box=16;warpgroups=1;stages=12;cluster_m=2' \
  'tile_m=256;tile_n=80;box=16;warpgroups=4;stages=5;cluster_n=4' \
  'tile_m=64;tile_n=96;box=32;warpgroups=1;stages=5;resident=2'; do
  check 0 '^verdict *ok' "$wgmma" --set "$point"
done
check 0 ' 213056 bytes of shared memory' "$wgmma" --set 'tile_m=256;tile_n=144;box=16'
check 1 'whole boxes' "$wgmma" --set 'tile_n=144'

# Functions of the math dialect: what the card has.
kernel() { # operations on %x : f32 that make %y
  cat >math.mlir <<MLIR
module attributes {wavesmith.template = ["m", "1", "rmsnorm", "sm_90a", "math"],
  wavesmith.param = [["threads", "32", "32", "threads"]]} {
gpu.module @k {
gpu.func @f(%values: memref<1xf32, #gpu.address_space<global>> {wavesmith.name = "y"},
            %x: f32 {wavesmith.name = "eps"}) kernel attributes {wavesmith.launch = ["1", "1", "1", "threads", "1"]} {
  %zero = arith.constant 0 : index
  $1
  memref.store %y, %values[%zero] : memref<1xf32, #gpu.address_space<global>>
  gpu.return
}
}
}
MLIR
}
ptx() { WAVESMITH_PTXAS=none check 0 '^verdict *ok' math.mlir --emit math.ptx; grep -aq -- "$1" math.ptx; }
kernel '%y = math.exp2 %x : f32'; ptx 'ex2.approx'
kernel '%y = math.exp %x fastmath<afn> : f32'; ptx '0f3FB8AA3B' # log2(e)
kernel '%y = math.log %x fastmath<afn> : f32'; ptx '0f3F317218' # ln(2)
kernel '%y = math.rsqrt %x : f32'; ptx 'rsqrt.approx'
kernel '%y = math.sqrt %x : f32'; ptx 'sqrt.rn'
kernel '%y = math.fma %x, %x, %x : f32'; ptx 'fma.rn'
kernel '%y = math.floor %x : f32'; ptx 'cvt.rmi'
kernel '%y = math.exp %x : f32'
check 1 'math.mlir:7:[0-9]*: sm_90a has no intrinsic for __nv_expf' math.mlir
kernel '%y = math.tanh %x : f32'
check 1 'math.mlir:7:[0-9]*: sm_90a has no intrinsic for __nv_tanhf' math.mlir

# Vectors of memory, and of rank 2 without it.
kernel '%v = vector.load %values[%zero] : memref<1xf32, #gpu.address_space<global>>, vector<2xf32>
  %w = vector.shape_cast %v : vector<2xf32> to vector<2x1xf32>
  %y = vector.extract %w[1, 0] : f32 from vector<2x1xf32>'
ptx 'ld.global.*+4'
# NVVM's operations that are assembly.
kernel 'nvvm.wgmma.fence.aligned
  nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  %y = arith.negf %x : f32'
ptx 'fence.proxy.async.shared::cta'

# ---- what is wrong with the text ----------------------------------------------
mutant 's/= memref.alloc(%size) .*/= memref.alloc(%size) : memref<?xi32, #global>/' \
  "mutant.mlir:.*'%tiles' expects different type" '%tiles'
mutant 's/%size = arith.constant .*/%size = arith.index_castui %m32 : i32 to index/' \
  'AT: a size of memref<?xi32, ' 'wavesmith.lds = "tiles"'
mutant 's/    gpu.barrier/    async.execute { async.yield }/' 'AT: async.execute: this dialect' async.execute
mutant 's/    gpu.barrier/    amdgpu.lds_barrier/' 'AT: nothing lowers amdgpu.lds_barrier here' lds_barrier
mutant 's/    gpu.barrier/    rocdl.s.barrier/' 'check-intrinsic at AT$' rocdl.s.barrier
mutant 's/    gpu.barrier/    %t = nvvm.read.ptx.sreg.clock : i32/' 'check-clock at AT$' sreg.clock
mutant 's/    gpu.barrier/    llvm.inline_asm has_side_effects "exit;", "" : () -> ()/' 'check-asm at AT$' '"exit;"'
mutant 's/ %sums = memref.alloca.*/&\n%more = memref.alloc() {wavesmith.lds = "tiles"} : memref<4xi8, #gpu.address_space<workgroup>>/' \
  'AT: sm_90a has one block of workgroup memory' '%more = memref.alloc'
mutant 's/^gpu.module.*/&\nmemref.global "private" @more : memref<4xf32, 3> = uninitialized/' \
  'AT: workgroup memory is memref.alloc() {wavesmith.lds' @more
mutant 's/\["tiles", "stages \*/["tiles", "2 * stages */' 'AT: memref<.* has 65536 bytes, .* 131072$' 'lds = "tiles"}'
mutant 's/wavesmith.n = /wavesmith.m = /' "AT: wavesmith.m: 'nvvm.cp.async.wait.group' has no integer" wait.group
mutant 's/"gemm_bf16_mma_sync", "1", "resident"/"gemm_bf16_mma", "1", "resident"/' \
  "mutant.mlir:[0-9]*: occupancy of 'gemm_bf16_mma'" wavesmith.occupancy
mutant 's/"gemm_bf16_mma_sync", "1", "resident"/"gemm_bf16_mma_sync", "1"/' 'write wavesmith.occupancy = ' module
mutant 's/k = 16>,/k = 12>,/' 'AT: .*unimplemented variant for MMA shape' nvvm.mma.sync
mutant 's/%to\[%slot\], 4, %words/%to[%slot], 3, %words/' 'AT: Requested copy elements is 3' device_async_copy
mutant 's/a0, %a1, %a2, %a3\] B/a0, %a1, %a2] B/' 'AT: .*nvvm.mma.sync' nvvm.mma.sync
# Tensor maps, and functions of wavesmith's.
mutant 's/^!map = !llvm.ptr$/!map = !llvm.ptr<1>/' "AT: the argument of the tensor map 'a_map' is an !llvm.ptr" \
  'gpu.func @' "$wgmma"
mutant 's/\["c_map", "c"/["d_map", "c"/' "'c_map' is no argument of gemm_bf16" '' "$wgmma"
mutant 's/\["c_map", "c"/["c_map", "d"/' "mutant.mlir:[0-9]*: tensor_map: 'd' is no buffer of gemm_bf16" '' "$wgmma"
mutant 's/"64", "tile_m /"64", "4 * tile_m /' 'box outer is 512' '' "$wgmma"
mutant 's/"k", "m", "64"/"k", "m", "128"/' 'tensor map a_map has a box of 256 bytes and a swizzle of 128;' '' "$wgmma"
mutant 's/"2 \* box"/"96"/' 'tensor map c_map has a box of 128 bytes and a swizzle of 96;' '' "$wgmma"
mutant 's/call @consume(%c_map/call @consume(%a_map/' 'check-readonly-store in store at AT$' tensor.global.shared.cta "$wgmma"
mutant 's/@ws.wgmma.wait(%own.sums, %columns/@ws.wgmma.wait(%own.sums, %lane/' \
  'wgmma-shape in accumulate at mutant.mlir' '' "$wgmma"
mutant 's/@ws.wgmma.wait(/@ws.wgmma.halt(/' 'check-unknown-call in accumulate at AT$' 'call @ws.wgmma.halt' "$wgmma"
if [ "$ptxas" = 1 ]; then
  mutant 's/ {loop_annotation = #unroll}//' 'scratch in gemm_bf16_mma_sync' module
fi
