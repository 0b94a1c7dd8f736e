#!/usr/bin/env bash
# Installs what wavesmith needs and is missing. Says what and why first, asks
# on a terminal unless --yes, and does nothing when all is there.
#
#   ./setup.sh [--yes] [--for demo|test] [--check | --mirror]
#
# --check only reports: exit 0 when nothing is missing, 3 otherwise. --mirror
# prints the Debian mirror of the system's own sources, if it has one.
# demo.sh and test.sh call this; there is no need to run it by hand.
set -euo pipefail

assume_yes=0 purpose=demo check_only=0 mirror_only=0
while [ $# -gt 0 ]; do
  case $1 in
  --yes | -y) assume_yes=1 ;;
  --for) purpose=${2:?--for needs demo or test}; shift ;;
  --check) check_only=1 ;;
  --mirror) mirror_only=1 ;;
  *) echo "setup.sh: unknown option '$1'; options: --yes, --for demo|test, --check, --mirror" >&2; exit 2 ;;
  esac
  shift
done
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# ---- what is there --------------------------------------------------------

have() { command -v "$1" >/dev/null 2>&1; }
have_pkg() { have pkg-config && pkg-config --exists "$1"; }

# Major version of the newest usable LLVM development files, or nothing.
llvm_major() {
  local major
  for major in 21 22 20; do
    if [ -e "/usr/lib/llvm-$major/lib/cmake/llvm/LLVMConfig.cmake" ]; then
      echo "$major"; return
    fi
  done
  if [ -e /opt/rocm/llvm/lib/cmake/llvm/LLVMConfigVersion.cmake ]; then
    major=$(sed -n 's/^set(PACKAGE_VERSION "\([0-9]*\)\..*/\1/p' \
      /opt/rocm/llvm/lib/cmake/llvm/LLVMConfigVersion.cmake | head -1)
    case $major in 20 | 21 | 22) echo "$major" ;; esac
  fi
}
have_comgr() { # header and a library of version 3 (knows gfx942)
  local dir
  for dir in /usr/include /opt/rocm/include; do
    [ -e "$dir/amd_comgr/amd_comgr.h" ] || continue
    compgen -G "$dir/../lib*/libamd_comgr.so.3*" >/dev/null && return 0
    compgen -G "$dir/../lib/*/libamd_comgr.so.3*" >/dev/null && return 0
  done
  return 1
}
have_hip_headers() {
  [ -e /usr/include/hip/hip_runtime_api.h ] || [ -e /opt/rocm/include/hip/hip_runtime_api.h ]
}
have_lld() { have ld.lld-21 || have ld.lld-22 || have ld.lld-20 || [ -x /opt/rocm/llvm/bin/ld.lld ]; }
have_filecheck() {
  compgen -G "/usr/lib/llvm-2[012]/bin/FileCheck" >/dev/null && compgen -G "/usr/lib/llvm-2[012]/bin/lit" >/dev/null
}
have_mlir() { compgen -G "/usr/lib/llvm-2[012]/lib/libMLIRCAPIIR.a" >/dev/null; }
have_mlir_opt() { compgen -G "/usr/lib/llvm-2[012]/bin/mlir-opt" >/dev/null; }
have_fuzzer() {
  local clang
  for clang in clang-14 clang clang-19 clang-21; do
    have "$clang" || continue
    compgen -G "$("$clang" -print-resource-dir 2>/dev/null)/lib/*/libclang_rt.fuzzer*.a" >/dev/null && return 0
  done
  return 1
}

have_certificates() { # Debian and most others; Fedora; openSUSE
  [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/pki/tls/certs/ca-bundle.crt ] || [ -e /etc/ssl/ca-bundle.pem ]
}
have_browser() { have chromium || have chromium-browser || have google-chrome; }

# Each line: test, Debian package, suite, purpose in words.
needs() {
  cat <<'TABLE'
have gcc|gcc|stable|C compiler
have g++|g++|stable|C++ compiler for the two plugin registration files
have cmake|cmake|stable|build
have ninja|ninja-build|stable|build
have pkg-config|pkg-config|stable|finds the libraries below
have python3|python3|stable|runs lit in the tests, fetches the report's chart library
have_certificates|ca-certificates|stable|HTTPS: language models, the report's chart library
have_pkg sqlite3|libsqlite3-dev|stable|the archive
have_pkg libmd|libmd-dev|stable|SHA-256
test -n "$(llvm_major)"|llvm-21-dev|testing|LLVM 20-22 with its C API
have_comgr|libamd-comgr-dev|testing|comgr 3: code objects for gfx942
have_hip_headers|libamdhip64-dev|testing|HIP headers (types only; the library is opened at run time)
have_lld|lld-21|testing|linker for AMD code objects
have_pkg libcurl|libcurl4-openssl-dev|testing|HTTP to language models (the LLVM above brings the library itself from testing)
TABLE
  if [ "$purpose" = test ]; then
    cat <<'TABLE'
have_filecheck|llvm-21-tools|testing|opt, FileCheck and lit for the plugin tests
have_mlir|libmlir-21-dev|testing|templates in MLIR (optional elsewhere)
have_mlir_opt|mlir-21-tools|testing|mlir-opt, for the tests of templates in MLIR
have_browser|chromium|stable|looks at the report's page
have_fuzzer|clang-14|stable|libFuzzer tests (compiler)
have_fuzzer|libclang-rt-14-dev|stable|libFuzzer tests (runtime)
have make|make|stable|builds wavesmith-device by itself, as on a GPU box
have openssl|openssl|stable|makes certificates for the tests of TLS
have llama-server|llama.cpp-tools|testing|a real model server for the tests
TABLE
  fi
}

debian_mirror() {
  sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\?\(http[^ ]*\) .*/\2/p' \
    /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list 2>/dev/null |
    grep -v security | sed -n 1p || true
}

missing_stable=() missing_testing=() reasons=()
find_missing() {
  missing_stable=() missing_testing=() reasons=()
  local probe package suite why
  while IFS='|' read -r probe package suite why; do
    eval "$probe" && continue
    if [ "$suite" = testing ]; then missing_testing+=("$package"); else missing_stable+=("$package"); fi
    reasons+=("$(printf '  %-20s %s' "$package" "$why")")
  done < <(needs)
}

# ---- the plugin test under clang needs a clang of LLVM 21's own version -----
# Installing clang-21 would pull in gcc 16's headers, which an older clang on
# the machine then prefers. So it is only unpacked, into the ignored .cache.
clang_dir=$root/.cache/clang-21
unpack_clang() {
  [ "$purpose" = test ] || return 0
  have clang-21 && return 0
  [ -x "$clang_dir/usr/lib/llvm-21/bin/clang" ] && return 0
  have apt-get && [ "$(llvm_major)" = 21 ] || return 0
  [ "$check_only" = 1 ] && return 0
  echo "setup: unpacking clang-21 into .cache (for the test of -fpass-plugin; not installed)"
  local work
  work=$(mktemp -d)
  if (cd "$work" && chmod 755 . && apt-get -qq download clang-21 >/dev/null 2>&1 &&
    mkdir -p "$clang_dir" && dpkg-deb -x clang-21_*.deb "$clang_dir"); then :; else
    echo "setup: clang-21 could not be fetched; the -fpass-plugin test will be skipped"
  fi
  rm -rf "$work"
}

# ---- the library that draws the report's charts ------------------------------
# Apache ECharts from the npm registry, into the ignored .cache. The build goes
# on without it; `wavesmith report` then writes tables.
charts_version=6.1.0
charts_sha256=681aff88cc1038c3fa941a3a53d1b177a52250b05335efc607d6105ae13be481
charts_dir=$root/.cache/echarts-$charts_version
download_charts() { # into the folder at hand
  local name=echarts-$charts_version.tgz
  { have npm && npm pack --silent "echarts@$charts_version" >/dev/null 2>&1; } ||
    python3 -c 'import sys, urllib.request as r; sys.stdout.buffer.write(r.urlopen(sys.argv[1], timeout=120).read())' \
      "https://registry.npmjs.org/echarts/-/$name" >"$name" 2>/dev/null || return 1
  echo "$charts_sha256  $name" | sha256sum --check --status && tar -xzf "$name"
}
fetch_charts() {
  [ -e "$charts_dir/echarts.min.js" ] && return 0
  [ "$check_only" = 1 ] && return 0
  echo "setup: fetching Apache ECharts $charts_version into .cache (charts of wavesmith report)"
  local work
  work=$(mktemp -d)
  if (cd "$work" && download_charts); then
    mkdir -p "$charts_dir"
    (cd "$work/package" && cat NOTICE LICENSE licenses/LICENSE-d3) >"$charts_dir/LICENCES"
    cp "$work/package/dist/echarts.min.js" "$charts_dir/"
  else
    echo "setup: ECharts could not be fetched or is not the expected file; wavesmith report will have tables"
  fi
  rm -rf "$work"
}

# ---- main ---------------------------------------------------------------------
[ "$mirror_only" = 0 ] || { debian_mirror; exit; }
find_missing
count=$((${#missing_stable[@]} + ${#missing_testing[@]}))
if [ "$count" -eq 0 ]; then
  unpack_clang
  fetch_charts
  exit 0
fi

echo "setup: $count package(s) are missing:"
printf '%s\n' "${reasons[@]}"
[ "$check_only" = 1 ] && exit 3

list="${missing_stable[*]-} ${missing_testing[*]-}"
if ! have apt-get || ! grep -q '^ID=debian' /etc/os-release 2>/dev/null; then
  echo "setup: this is not Debian; install the above by your system's means" >&2
  echo "setup: (LLVM 20-22 with headers, comgr 3 as in ROCm 7, HIP headers), then run this again" >&2
  exit 3
fi
if [ "$(id -u)" -ne 0 ]; then
  echo "setup: not root; run as root:  $0 --yes --for $purpose" >&2
  exit 3
fi
if [ "${#missing_testing[@]}" -gt 0 ]; then
  echo "setup: ${missing_testing[*]} come from Debian testing: that suite is added at priority"
  echo "setup: 100 (/etc/apt/sources.list.d/wavesmith-testing.sources), so nothing else moves to it,"
  echo "setup: but libraries these packages need (libc6 and all that is built with it) are upgraded."
fi
if [ "$assume_yes" = 0 ] && [ -t 0 ]; then
  read -r -p "setup: install now? [y/N] " answer
  case $answer in y | Y | yes) ;; *) echo "setup: nothing was installed; needed: $list" >&2; exit 3 ;; esac
fi

export DEBIAN_FRONTEND=noninteractive
testing=/etc/apt/sources.list.d/wavesmith-testing.sources
if [ "${#missing_testing[@]}" -gt 0 ] && ! apt-cache policy 2>/dev/null | grep -q 'a=testing'; then
  # The same mirror and keyring as the system's own sources.
  mirror=$(debian_mirror)
  cat >"$testing" <<SOURCES
Types: deb
URIs: ${mirror:-http://deb.debian.org/debian}
Suites: testing
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
SOURCES
fi
# Testing at 100 is taken only where it is asked for. Once libc6 has come from it
# (the version apt would choose is at 100, too), so must what is tied to libc6's
# version and is installed later, such as the libc6-i386 that clang's runtime needs.
write_preferences() {
  local file=/etc/apt/preferences.d/wavesmith-testing
  printf 'Package: *\nPin: release a=testing\nPin-Priority: 100\n' >"$file"
  apt-cache policy libc6 | awk '/Candidate:/ { chosen = $2; next } chosen != "" && $(NF - 1) == chosen { print $NF }' |
    grep -qx 100 || return 0
  printf '\nPackage: src:glibc\nPin: release a=testing\nPin-Priority: 500\n' >>"$file"
}
log=$(mktemp)
run_apt() {
  if ! apt-get "$@" >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "setup: 'apt-get $*' failed; the last lines are above, all of it in $log" >&2
    exit 3
  fi
}
echo "setup: installing (about a minute) ..."
apt-get update -qq >>"$log" 2>&1 || echo "setup: some package lists could not be fetched; going on with the rest"
[ ! -e "$testing" ] || write_preferences
# Stable first: testing's libraries then upgrade what they must together with
# the -dev packages that are tied to them.
if [ "${#missing_stable[@]}" -gt 0 ]; then
  run_apt install -y --no-install-recommends "${missing_stable[@]}"
fi
find_missing # pkg-config is there now, so the list may be shorter
if [ "${#missing_testing[@]}" -gt 0 ]; then
  run_apt install -y --no-install-recommends -t testing "${missing_testing[@]}"
fi
find_missing
count=$((${#missing_stable[@]} + ${#missing_testing[@]}))
if [ "$count" -ne 0 ]; then
  echo "setup: still missing after the installation (log: $log):" >&2
  printf '%s\n' "${reasons[@]}" >&2
  exit 3
fi
rm -f "$log"
unpack_clang
fetch_charts
echo "setup: done"
