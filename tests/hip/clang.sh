#!/usr/bin/env bash
# import.sh by a clang that is not comgr's: on the path, or as setup.sh unpacked
# it; hipcc is not on the machines that test. Skipped without.
set -euo pipefail
wavesmith=$1 root=$2
unpacked=$root/.cache/clang-21/usr/lib/llvm-21/bin/clang
for clang in "${WAVESMITH_CLANG:-}" clang-21 "$unpacked" clang-20 clang-19 clang-18; do
  if [ -n "$clang" ] && "$clang" -dumpversion >/dev/null 2>&1; then
    exec bash "$(dirname "$0")/import.sh" "$wavesmith" "$clang"
  fi
done
echo "skipped: no clang 18 or newer besides comgr's"
exit 77
