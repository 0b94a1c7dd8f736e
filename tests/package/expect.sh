# Sourced by the scripts of this folder; $work and $build are theirs.
fail() { echo "FAILED: $*" >&2; exit 1; }
# expect CODE PATTERN COMMAND...: exit code, and a line of its output.
expect() {
  local want=$1 pattern=$2 got=0; shift 2
  "$@" >"$work/output" 2>&1 || got=$?
  [ "$got" = "$want" ] || { cat "$work/output" >&2; fail "exit $got, want $want: $*"; }
  grep -qE -- "$pattern" "$work/output" || { cat "$work/output" >&2; fail "no '$pattern' in the output of: $*"; }
  local shown=${*//$work\//}
  echo "ok: ${shown//$build\//} -> $got"
}
quietly() { "$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$*"; }; }

