# Sourced by the scripts of this folder, after expect.sh: ptxas, if there is one.
ptxas=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null || true)
[ -n "$ptxas" ] || echo "# no ptxas here: PTX only"
with_ptx() { WAVESMITH_PTXAS=none "$@"; }

# The same candidates either way; what ptxas makes of the PTX by hand is the
# cubin (its options are written into it).
compare_code() { # PTX_FOLDER CUBIN_FOLDER
  local ptx id
  for ptx in "$1"/*.ptx; do
    id=${ptx##*-} id=${id%.ptx}
    [ "$(tail -c 1 "$ptx" | od -An -tu1 | tr -d ' ')" = 10 ] || fail "$ptx does not end with a line"
    [ -n "$ptxas" ] || continue
    quietly "$ptxas" -v -arch=sm_90a -o "$work/by-hand.cubin" "$ptx"
    cmp -s "$work/by-hand.cubin" "$2"/*-"$id".cubin || fail "$id: the cubin is not what ptxas makes of the PTX"
  done
}
