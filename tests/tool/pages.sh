#!/usr/bin/env bash
# Man page and completion come from the tables that --help comes from: each
# option of each command is in all of them, and shells accept them.
set -euo pipefail
wavesmith=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAIL: $*"; exit 1; }
"$wavesmith" help --man >"$work/man"
"$wavesmith" help --completion bash >"$work/bash"
"$wavesmith" help --completion zsh >"$work/zsh"

commands=$("$wavesmith" help | sed -n 's/^  \([a-z]*\)  *.*/\1/p')
[ "$(echo "$commands" | wc -w)" = 18 ] || fail "commands: $commands"
# complete WORD ...: what bash offers for the last of them
complete_words() {
  bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _wavesmith
    printf "%s\n" "${COMPREPLY[@]}"' - "$work/bash" "$@"
}
for command in $commands; do
  "$wavesmith" "$command" --help >"$work/help"
  diff "$work/help" <("$wavesmith" help "$command") || fail "help $command"
  awk 'length > 80' "$work/help" | grep . && fail "$command --help has more than 80 columns"
  head -n 1 "$work/help" | grep -q "^usage: wavesmith $command" || fail "$command: usage"
  options=$(sed -n 's/^  \(--[a-z-]*\).*/\1/p' "$work/help")
  offered=$(complete_words wavesmith "$command" --)
  for option in $options; do
    grep -qx -- "$option" <<<"$offered" || fail "bash: $command $option"
    grep -q -- "'\*$option\[" "$work/zsh" || fail "zsh: $command $option"
    grep -q -- "^.fB${option//-/.-}.fR" <<<"$(cat "$work/man")" || fail "man: $command $option"
  done
  # and nothing that is not there: each is known, by its beginning alone it is not
  for option in $options; do
    grep -qx -- "${option%?}" <<<"$options" && continue
    code=0
    "$wavesmith" "$command" "${option%?}" >"$work/out" 2>&1 </dev/null || code=$?
    [ "$code" = 2 ] || fail "$command ${option%?} gives $code"
    [ "$(wc -l <"$work/out")" = 1 ] || fail "$command ${option%?} says more than a line"
    grep -q -- "^wavesmith $command: '${option%?}' is unknown" "$work/out" || fail "$command ${option%?}"
  done
done
[ "$(complete_words wavesmith tune --rank d)" = device ] || fail "values are not offered"
[ "$(complete_words wavesmith di)" = dispatch ] || fail "commands are not offered"
bash -n "$work/bash"
! command -v zsh >/dev/null || zsh -n "$work/zsh"
if command -v man >/dev/null; then
  man -l --warnings "$work/man" 2>"$work/warnings" | grep 'wavesmith tune TEMPLATE' >/dev/null || fail "man"
  [ ! -s "$work/warnings" ] || { cat "$work/warnings"; fail "man warns"; }
fi
code=0
"$wavesmith" help --completion fish >/dev/null 2>"$work/out" || code=$?
[ "$code" = 2 ] && grep -q "bash or zsh, not 'fish'" "$work/out" || fail "fish"
"$wavesmith" help tunes >/dev/null 2>"$work/out" && fail "help of nothing"
grep -q "is 'tune' meant" "$work/out" || fail "help tunes"
echo ok
