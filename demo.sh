#!/usr/bin/env bash
# From a fresh machine to tuned MI300X kernels: set-up, build, a tuning run over
# the contest's 18 shapes from the naive template to the best of fp8_gemm_mfma,
# then code objects and a C dispatch.
#
#   ./demo.sh [--yes] [--minutes N] [--layout kmajor|mnmajor] [--seed N]
#
# Run again, it goes on from the archive it left.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

setup_options=() minutes=3 layout=kmajor seed=1
while [ $# -gt 0 ]; do
  case $1 in
  --yes | -y) setup_options+=(--yes) ;;
  --minutes) minutes=${2:?--minutes needs a number}; shift ;;
  --layout) layout=${2:?--layout needs kmajor or mnmajor}; shift ;;
  --seed) seed=${2:?--seed needs a number}; shift ;;
  *) echo "demo.sh: unknown option '$1'; options: --yes, --minutes N, --layout L, --seed N" >&2; exit 2 ;;
  esac
  shift
done

./setup.sh --for demo "${setup_options[@]}"

echo "demo: building"
log=$(mktemp)
if ! { cmake --preset release -DWAVESMITH_TESTS=OFF && cmake --build --preset release; } >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "demo: the build failed; all of its output is in $log" >&2
  exit 3
fi
rm -f "$log"

out=build/demo/$layout
mkdir -p "$out"
wavesmith=build/release/bin/wavesmith

echo "demo: tuning fp8_gemm_blockscale for gfx942 ($layout), about $minutes minutes on $(nproc) core(s)"
"$wavesmith" tune ir-templates/fp8_gemm_mfma.ll --baseline ir-templates/fp8_gemm_naive.ll \
  --layout "$layout" --shapes contest --strategy local --seed "$seed" --minutes "$minutes" \
  --archive "$out/fp8_gemm.db"

echo
"$wavesmith" dispatch "$out/fp8_gemm.db" --layout "$layout" --shapes contest \
  --name "fp8_gemm_$layout" --out "$out/dispatch"

cat <<NEXT

How to go on
  more tuning (the archive resumes):   ./demo.sh --minutes 30
  what was learned:                    $wavesmith archive ls $out/fp8_gemm.db
  one kernel in depth:                 $wavesmith archive show $out/fp8_gemm.db ID
  use it in a program:                 examples/gemm (CMake, one call per GEMM)
Times above are estimates of a bound model (docs/model.md): no MI300X was used.
NEXT
