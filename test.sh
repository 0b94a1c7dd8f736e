#!/usr/bin/env bash
# Sets up, builds and tests wavesmith on this machine.
#
#   ./test.sh [--yes] [--quick | --deep] [--asan]
#
# --quick runs only the fast tier (ctest -L quick); --deep also what takes long,
# sweeps of mutants, cheats, seeds and points, and the fuzz targets, as CI does;
# --asan builds with AddressSanitizer and UBSan in a folder of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

setup_options=() tier=full preset=release
for option in "$@"; do
  case $option in
  --yes | -y) setup_options+=(--yes) ;;
  --quick) tier=quick ;;
  --deep) tier=deep ;;
  --asan) preset=asan ;;
  *) echo "test.sh: unknown option '$option'; options: --yes, --quick, --deep, --asan" >&2; exit 2 ;;
  esac
done

./setup.sh --for test "${setup_options[@]}"
clang=.cache/clang-21/usr/lib/llvm-21/bin/clang
[ -x "$clang" ] && export WAVESMITH_CLANG=$PWD/$clang

# Tests on: demo.sh builds in the same folder without them.
cmake --preset "$preset" -DWAVESMITH_TESTS=ON >build-configure.log 2>&1 || { cat build-configure.log >&2; exit 3; }
rm -f build-configure.log
cmake --build --preset "$preset"
# Fuzz targets need clang; they are a build of their own, of a few files.
if [ "$preset" = release ] && [ "$tier" = deep ]; then
  cmake --preset fuzz >/dev/null && cmake --build --preset fuzz --target fuzz
  ctest --test-dir build/fuzz -L fuzz --no-tests=error --output-on-failure -j "$(nproc)"
fi
case $tier in
quick) tests=(-L quick) ;;
full) tests=(-LE "bench|deep") ;;
deep) tests=(-LE bench) ;;
esac
ctest --test-dir "build/$preset" "${tests[@]}" --no-tests=error --output-on-failure -j "$(nproc)"
