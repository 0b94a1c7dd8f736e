#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs a command while a real model server answers on loopback:
#
#   with_server.sh COMMAND [ARGUMENT ...]
#
# The command finds the server's address in LLAMA_URL, as in
#   with_server.sh sh -c 'wavesmith tune ... --model "openai:$LLAMA_URL#noise"'
# The model is noise (make_gguf.py), the server llama.cpp's llama-server. Exits
# with the command's status; 77 where there is no llama-server, 3 when it does
# not start. LLAMA_SECONDS bounds the server's life (default 600).
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if ! command -v llama-server >/dev/null; then
  echo "skipped: no llama-server here (Debian testing: llama.cpp-tools)"
  exit 77
fi
folder=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM

python3 "$here/make_gguf.py" "$folder/noise.gguf" || exit 3
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
answers() { # the server's health page says ok
  python3 - "$1" 2>/dev/null <<'PYTHON'
import sys, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
opener.open(f"http://127.0.0.1:{sys.argv[1]}/health", timeout=2).read()
PYTHON
}
# Another process may take the port in between; so it is tried thrice.
for attempt in 1 2 3; do
  port=$(free_port)
  timeout --kill-after 5 "${LLAMA_SECONDS:-600}" llama-server --model "$folder/noise.gguf" --alias noise \
    --host 127.0.0.1 --port "$port" --threads 1 --parallel 4 --offline \
    >"$folder/log" 2>&1 </dev/null &
  server=$!
  for _ in $(seq 150); do
    kill -0 "$server" 2>/dev/null || break
    if answers "$port"; then
      LLAMA_URL=http://127.0.0.1:$port/v1 "$@"
      exit
    fi
    sleep 0.2
  done
  kill "$server" 2>/dev/null
  wait "$server" 2>/dev/null
  server=
  echo "llama-server did not start (attempt $attempt):" >&2
  tail -n 5 "$folder/log" >&2
done
exit 3
