#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a recording of replies of mixed kind, and what is to become of each.

  generate.py SOURCE_DIR SUITE_DIR BASE SEED COUNT RECORDING KINDS [KIND=WEIGHT ...]

RECORDING is for `wavesmith tune BASE.ll --model replay-any:RECORDING` with
strategy best-of-n; BASE is fp8_gemm_naive, or fp8_gemm_mfma for those cheats
that are bodies of it. Sequence 0 is the template itself, replies are 1 to
COUNT. KINDS holds one line of JSON per reply: its sequence, its kind,
which of that kind, and what may become of it:
  ok        anything
  never     any verdict but ok
  device    ok only where no device verifies (the sanitizer cannot know)
  winner    ok, but never confirmed as a winner
"""
import json
import random
import sys

import broken
import cheating
import crashing
import hanging
import valid
from shelf import Shelf

# Shares of the replies, and what may become of those kinds that do not say so
# reply by reply.
KINDS = {
    "valid": (40, valid.MAKERS, "ok"),
    "mutant": (10, broken.MUTANTS, "ok"),
    "broken": (22, broken.MAKERS, "never"),
    "crashing": (10, crashing.MAKERS, "never"),
    "cheating": (13, cheating.makers, None),
    "hidden": (0, cheating.hidden, None),  # of the cheats
    "hanging": (5, hanging.MAKERS, "never"),
}


def make(rng, shelf, kind, makers, fate):
    """One reply: its text, its label, and what may become of it."""
    label = rng.choice(sorted(makers))
    made = makers[label](rng, shelf)
    return (made, label, fate) if isinstance(made, str) else (made[0], label, made[1])


def main():
    source, suite, base, seed, count, recording, kinds = sys.argv[1:8]
    weights = dict(pair.split("=") for pair in sys.argv[8:])
    rng = random.Random(int(seed))
    shelf = Shelf(source, suite, base)
    table = dict(KINDS)
    for kind in ("cheating", "hidden"):  # their makers are files
        table[kind] = (KINDS[kind][0], KINDS[kind][1](shelf), None)
    shares = [float(weights.get(kind, 0 if weights else row[0])) for kind, row in table.items()]
    with open(recording, "w", encoding="utf-8") as out, open(kinds, "w", encoding="utf-8") as side:
        header = {"wavesmith_recording": 1, "members": [{"name": "generated", "weight": 1}]}
        out.write(json.dumps(header) + "\n")
        for sequence in range(1, int(count) + 1):
            kind = rng.choices(list(table), shares)[0]
            text, label, fate = make(rng, shelf, kind, *table[kind][1:])
            out.write(json.dumps({
                "sequence": sequence, "kind": "explore", "member": 0, "prompt_hash": "0" * 32,
                "reply": text, "error": "", "prompt_tokens": 100,
                "reply_tokens": len(text) // 4, "usd": 0, "seconds": 0}) + "\n")
            side.write(json.dumps({"sequence": sequence, "kind": kind, "label": label,
                                   "fate": fate}) + "\n")


if __name__ == "__main__":
    main()
