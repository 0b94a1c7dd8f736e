#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# `wavesmith tune` with a model behind a real server that answers noise: fifty
# requests, and every reply is an exchange with a verdict; then a run that its
# token budget ends. Prompts are kept short, for a CPU has to read them. Exits
# with 77 where there is no llama-server.
#
#   llama_tune.sh WAVESMITH SOURCE_DIR [REQUESTS]
set -euo pipefail
wavesmith=$1 source=$2 requests=${3:-20}

if [ -z "${LLAMA_URL:-}" ]; then
  exec bash "$source/tests/llm/llama/with_server.sh" bash "$0" "$@"
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tune() { # NAME OPTION ...
  local name=$1
  shift
  "$wavesmith" tune "$source/kernels/rmsnorm/naive.ll" --device estimate \
    --strategy best-of-n --shapes 64,1024 --prompt-bytes 24000 --archive "$work/$name.db" \
    --model "openai:$LLAMA_URL#noise;max-reply-tokens=256" --json "$@" \
    >"$work/$name.json" 2>"$work/$name.log" ||
    { echo "$name: exit $?"; cat "$work/$name.log"; exit 1; }
}

tune noise --evaluations $((requests + 1)) --repairs 0
tune budget --token-budget 20000

python3 - "$work" "$requests" <<'CHECK'
import json, sqlite3, sys
work, requests = sys.argv[1], int(sys.argv[2])


def result(name):
    return json.loads(open(f"{work}/{name}.json").readlines()[-1])


def exchanges(name):
    return sqlite3.connect(f"{work}/{name}.db").execute(
        "SELECT sequence, verdict, stage, reason, error, reply_tokens FROM exchange").fetchall()


rows = exchanges("noise")
assert len(rows) == requests, len(rows)
for sequence, verdict, stage, reason, error, reply_tokens in rows:
    assert verdict not in ("", "crash"), (sequence, verdict, stage, reason)
    assert verdict == "ok" or (reason and "\n" not in reason), (sequence, reason)
    assert not error and reply_tokens > 0, (sequence, error)
noise = result("noise")
assert noise["models"]["questions"] == requests, noise["models"]
assert sum(noise["verdicts"].values()) == requests + 1, noise["verdicts"]

# It stops at the first question that its tokens do not pay for.
budget = result("budget")
spent = budget["models"]["prompt_tokens"] + budget["models"]["reply_tokens"]
assert "token" in budget["stop"], budget
assert 1 <= len(exchanges("budget")) < requests and spent >= 20000, budget
print(f"ok: {requests} requests: {noise['verdicts']} in {noise['seconds']:.0f} s;",
      f"budget: {budget['stop']} after {len(exchanges('budget'))}, {spent} tokens")
CHECK
