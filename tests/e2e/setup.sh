#!/usr/bin/env bash
# setup.sh: nothing to do where the tests run; says what it would install, and
# leaves with 3, where a library is hidden; wrong usage is 2.
set -euo pipefail
cd "$1"
[ -z "$(./setup.sh --check --for test)" ]

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=0
PKG_CONFIG_LIBDIR=$work ./setup.sh --check >"$work/out" || code=$?
[ "$code" = 3 ]
grep -q 'libsqlite3-dev .*archive' "$work/out"
code=0
./setup.sh --frobnicate 2>"$work/out" || code=$?
[ "$code" = 2 ] && grep -q "unknown option '--frobnicate'" "$work/out"
mirror=$(./setup.sh --mirror) # of the system's own sources, or none
[ -z "$mirror" ] || grep -rqxE "(URIs:|deb( \[.*\])?) *$mirror( .*)?" /etc/apt/sources.list*
echo ok
