#!/usr/bin/env bash
# `wavesmith` links neither LLVM, comgr nor a GPU driver (DESIGN section 7).
set -euo pipefail
libraries=$(ldd "$1")
if grep -E 'LLVM|clang|comgr|amdhip|libhsa|libcuda|MLIR' <<<"$libraries"; then
  echo "$1 links what only its servers may link" >&2
  exit 1
fi
grep -q libsqlite3 <<<"$libraries" # the list was read at all
echo "ok: $(wc -l <<<"$libraries") libraries, none of a compiler or driver"
