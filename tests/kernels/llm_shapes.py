#!/usr/bin/env python3
"""The pairs (n, k) of the shape set llm, derived from the tables of models in
docs/shapes.md.

  llm_shapes.py ROOT             shapes_llm.h holds these pairs, no other
  llm_shapes.py ROOT --write     writes it
  llm_shapes.py ROOT --left-out  what is left out for judging, as text
"""
import re
import sys
from pathlib import Path

FOLDER = "kernels/fp8_gemm_blockscale"
HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The set llm: first m, n, k, and the layers that are so (/T: split over T
 * devices). Written by tests/kernels/llm_shapes.py from docs/shapes.md, which
 * says where the sizes are from and which m a pair takes.
 */
/* clang-format off */
"""


def number(cell):
    return 0 if cell == "-" else int(cell)


def models(text, heading):
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 8 or not cells[2].isdigit():
            continue
        yield {
            "name": cells[0].split(",")[0],
            "splits": [int(split) for split in cells[1].split()],
            "hidden": int(cells[2]),
            "dense": number(cells[3]),
            "expert": number(cells[4]),
            "heads": [int(part) for part in re.split("[/x]", cells[5])],
            "latent": [int(part) for part in re.split("[ +]", cells[6])
                       if part != "-"],
        }


def attention(model, split):
    hidden, heads = model["hidden"], model["heads"][0]
    if model["latent"]:
        q_rank, kv_rank, nope, rope, value = model["latent"]
        if split == 1:
            yield "q_a", q_rank, hidden
            yield "kv_a", kv_rank + rope, hidden
            yield "q_a+kv_a", q_rank + kv_rank + rope, hidden
        yield "q_b", heads * (nope + rope) / split, q_rank
        yield "kv_b", heads * (nope + value) / split, kv_rank
        yield "o", hidden, heads * value / split
    else:
        _, kv_heads, size = model["heads"]
        yield "qkv", (heads + 2 * max(split, kv_heads)) * size / split, hidden
        yield "o", hidden, heads * size / split


def layers(model):
    for split in model["splits"]:
        found = [] if model["heads"][0] % split else [*attention(model, split)]
        for kind in "dense", "expert":
            inner = model[kind] / split
            found += [(f"{kind} gate_up", 2 * inner, model["hidden"]),
                      (f"{kind} down", model["hidden"], inner)]
        for layer, n, k in found:
            if n and k and n % 16 == 0 and k % 128 == 0:
                name = layer.replace("dense ", "")
                yield (int(n), int(k)), name + (f"/{split}" if split > 1 else "")


def by_pair(rows):
    pairs = {}
    for model in rows:
        mine = {}
        for pair, layer in layers(model):
            mine.setdefault(pair, []).append(layer)
        for pair, names in mine.items():
            text = f"{model['name']} {', '.join(names)}"
            pairs.setdefault(pair, []).append(text)
    return pairs


def given(problem, macro):
    """The pairs (n, k) of a set in problem.c."""
    body = re.search(rf"int64_t {macro}\[\]\[3\] = {{(.*?)}};", problem, re.S)[1]
    return {(int(n), int(k)) for n, k in re.findall(r"(\d+), (\d+)[)}]", body)}


def main(root, mode):
    text = (root / "docs/shapes.md").read_text()
    problem = (root / FOLDER / "problem.c").read_text()
    known = by_pair(models(text, "Models"))
    out = given(problem, "held_out") | \
        by_pair(models(text, "Left out")).keys() - given(problem, "contest")
    if mode == "--left-out":
        for pair in sorted(out & known.keys()):
            print(pair, "; ".join(known[pair]))
        return
    lines = [f"LLM({2 ** (i % 3)}, {n}, {k}) /* {'; '.join(known[n, k])} */"
             for i, (n, k) in enumerate(sorted(known.keys() - out))]
    wanted = HEAD + "\n".join(lines) + "\n"
    header = root / FOLDER / "shapes_llm.h"
    if mode == "--write":
        header.write_text(wanted)
    elif header.read_text() != wanted:
        sys.exit(f"{header}: differs from what docs/shapes.md says; write it "
                 f"with tests/kernels/llm_shapes.py . --write")
    print(f"{len(lines)} pairs")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "")
