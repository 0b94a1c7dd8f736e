#!/usr/bin/env bash
# wavesmith-device by itself: built as on a GPU box, with a C compiler and CMake
# and nothing else, out of a batch's own copy of the sources.
#   standalone.sh SOURCES MOCK_HIP
set -euo pipefail
source=$1 mock=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "not ok: $*" >&2; exit 1; }

# No environment, no package folders, and only these programs in PATH.
mkdir "$work/bin"
for program in cc gcc as ld ar ranlib make cmake uname; do
  path=$(command -v "$program") || fail "$program is missing"
  ln -s "$(readlink -f "$path")" "$work/bin/$program"
done
clean() { env -i PATH="$work/bin" HOME="$work" "$@"; }
begin=$(date +%s)
clean cmake -G "Unix Makefiles" -S "$source" -B "$work/build" -DCMAKE_PREFIX_PATH= -DCMAKE_C_FLAGS=-MD \
  >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; fail "it does not configure"; }
clean cmake --build "$work/build" -j 2 >"$work/build.log" 2>&1 || { cat "$work/build.log"; fail "it does not build"; }
echo "ok 1 - builds in $(($(date +%s) - begin)) s"
grep -i 'warning' "$work/build.log" && fail "warnings"

# Every header is ours, the compiler's or the C library's.
foreign=$(find "$work/build" -name '*.d' -exec cat {} + | tr ' \\' '\n\n' | grep '^/' | sort -u |
  grep -v -e "^$(readlink -f "$source")/" -e "^$source/" -e "^$work/" -e '^/usr/lib/gcc/' -e '^/usr/lib/llvm-' |
  grep -iE 'cuda|hip|rocm|llvm|curl|sqlite|sha2|libmd|cjson|amd_comgr|/opt/|/usr/local/' || true)
[ -z "$foreign" ] || fail "foreign headers: $foreign"
[ -n "$(find "$work/build" -name '*.d' -print -quit)" ] || fail "no lists of headers"
echo "ok 2 - includes nothing foreign"

program=$work/build/wavesmith-device
needed=$(LC_ALL=C readelf -d "$program" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
for library in $needed; do
  case $library in
  libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | ld-linux* | libmvec.so.*) ;;
  *) fail "links $library" ;;
  esac
done
echo "ok 3 - links $needed"

clean "$program" run --help | grep '^usage: wavesmith-device run FOLDER' >/dev/null || fail "no help"
mkdir "$work/batch"
echo '{"format":1,"target":"gfx942","device":"hip"}' >"$work/batch/manifest.json"
clean "$program" run "$work/batch" | grep '0 jobs, 0 answered, 0 open' >/dev/null || fail "an empty batch is not done"
echo '{"id":"00","candidate":"c"}' >"$work/batch/jobs.jsonl"
message=$(clean WAVESMITH_HIP_LIBRARY="$mock" "$program" run "$work/batch" 2>&1) && fail "a broken job is done"
case $message in *jobs.jsonl:1:*) ;; *) fail "'$message' does not name the line" ;; esac
echo "ok 4 - runs"
