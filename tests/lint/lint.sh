#!/usr/bin/env bash
# The rules of CONTRIBUTING.md that a script can check. Prints each breach as
# file:line: rule, exits 1 when there is any.
set -euo pipefail
cd "$1"
fail=0
breach() { echo "$1" >&2; fail=1; }

# Tracked files in a checkout, all files elsewhere (a source archive). What
# others wrote (third_party) is theirs to style.
files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@"
  else
    find . -path ./build -prune -o -type f \( -name '*.c' -o -name '*.h' -o -name '*.cpp' \) -print
  fi | sed 's,^\./,,' | grep -v '^third_party/' | while read -r f; do [ -f "$f" ] && echo "$f"; done
}
mapfile -t sources < <(files '*.c' '*.h' '*.cpp')
[ "${#sources[@]}" -gt 10 ] || breach "lint: found only ${#sources[@]} sources"

mapfile -t shipped < <(printf '%s\n' "${sources[@]}" | grep -v '^tests/')

for file in "${sources[@]}"; do
  [ -s "$file" ] || breach "$file:1: empty"
done
# One process for all files: a handful for each would take most of a minute.
of_each_file='
function end_file() {
  if (!licensed) print file ":1: no SPDX line"
  if (lines > 800) print file ":" lines ": more than 800 lines"
}
FNR == 1 {
  if (file) end_file()
  file = FILENAME; licensed = 0
  free = file ~ /^(pass|tests)\//
  llvm = free ? "" : file ~ /^runtime\/sim\// ? "llvm|mlir" : "llvm|mlir|amd_comgr"
  where = file ~ /^runtime\/sim\// ? "LLVM header outside pass/" : "LLVM or comgr header outside pass/ and runtime/sim/"
  if (file ~ /\.cpp$/ && file !~ /^pass\/(mlir\/)?plugin\//) print file ": C++ outside the plugins"
}
FNR <= 2 && /SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception/ { licensed = 1 }
llvm && $0 ~ "#include [<\"](" llvm ")" { print file ":" FNR ": " where }
{ lines = FNR }
END { end_file() }'
hits=$(awk "$of_each_file" "${sources[@]}")
[ -z "$hits" ] || breach "$hits"

# Breaches are lines on stdin; read in this shell, so that $fail is kept.
report() { # rule
  local hits
  hits=$(cat)
  [ -z "$hits" ] || breach "$hits
  ^ $1"
}
code() { grep -nE "$1" "${@:2}" | grep -vE '^[^:]+:[0-9]+: *(\*|//|/\*)' || true; }
report 'banned function (use the bounded or reentrant one)' < <(code \
  '\b(strcpy|strcat|sprintf|vsprintf|atoi|strtok|gets|system)\(|[^_a-z]rand\(' "${shipped[@]}")
report 'dead code or a note without an issue' < <(code '^#if 0|\bTODO\b|\bFIXME\b' "${sources[@]}")
report 'line over 100 columns' < <(grep -nE '.{101,}' "${sources[@]}" | cut -c1-120)

[ "$fail" = 0 ] && echo "ok: ${#sources[@]} sources"
exit "$fail"
