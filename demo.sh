#!/usr/bin/env bash
# From a fresh machine to tuned MI300X kernels: set-up, build, a tuning run over
# the contest's 18 shapes from the naive template to the best of fp8_gemm_mfma,
# then code objects and a C dispatch. Without a card its best kernels are run,
# checked and timed on the simulated MI300X.
#
#   ./demo.sh [--yes] [--minutes N] [--layout kmajor|mnmajor] [--seed N]
#             [--device auto|hip|sim|estimate]
#
# Run again, it goes on from the archive it left.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

setup_options=() minutes=4 layout=kmajor seed=1 device=auto
while [ $# -gt 0 ]; do
  case $1 in
  --yes | -y) setup_options+=(--yes) ;;
  --minutes) minutes=${2:?--minutes needs a number}; shift ;;
  --layout) layout=${2:?--layout needs kmajor or mnmajor}; shift ;;
  --seed) seed=${2:?--seed needs a number}; shift ;;
  --device) device=${2:?--device needs auto, hip, sim or estimate}; shift ;;
  *) echo "demo.sh: unknown option '$1'; options: --yes, --minutes N, --layout L, --seed N, --device D" >&2; exit 2 ;;
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
  --device "$device" --archive "$out/fp8_gemm.db"

echo
"$wavesmith" dispatch "$out/fp8_gemm.db" --layout "$layout" --shapes contest \
  --name "fp8_gemm_$layout" --out "$out/dispatch"
"$wavesmith" report "$out/fp8_gemm.db" --layout "$layout" --out "$out/report.html"

cat <<NEXT

How to go on
  more tuning (the archive resumes):   ./demo.sh --minutes 30
  what was learned:                    $out/report.html (one page, no network), or
                                       $wavesmith archive ls $out/fp8_gemm.db
  let a model rewrite kernels:         docs/llm.md (any endpoint, or no key at all)
  one kernel in depth:                 $wavesmith archive show $out/fp8_gemm.db ID
  where a kernel's time goes:          $wavesmith sim --archive $out/fp8_gemm.db ID --shape 1024,1536,7168
  use it in a program:                 examples/gemm (CMake, one call per GEMM)
Only times of provenance hip are measured: sim is the simulated MI300X
(docs/simulator.md), estimate the bound model (docs/bound-model.md).
NEXT
