#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds every #include "..." of the shipped sources against runtime/layers.txt.

Prints each breach as file:line: what, exits 1 when there is any.
    layers.py ROOT
"""
import pathlib
import re
import sys


def read_table(path):
    """-> {part: parts it may include}, {public header: part}, breaches"""
    may, owner, breaches = {}, {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        part, allowed, headers = (column.split() for column in line.split(":"))
        for lower in allowed:
            if lower not in may:
                breaches.append(f"{path}:{number}: {part[0]} names {lower}, which is not above it")
        may[part[0]] = set(allowed)
        owner.update({header: part[0] for header in headers})
    return may, owner, breaches


def part_of(path, owner):
    """The part that a file under the root belongs to."""
    if path.parts[:2] == ("runtime", "include"):
        return owner.get(path.stem)
    return path.parts[1] if path.parts[0] == "runtime" else path.parts[0]


def find_included(root, path, name, owner):
    """The part that an include leads to; None: no file of ours has that name."""
    if name.startswith("wavesmith/"):
        return owner.get(pathlib.Path(name).stem)
    beside = (root / path.parent / name).resolve()
    if beside.exists():
        return part_of(beside.relative_to(root), owner)
    found = {part_of(other.relative_to(root), owner)
             for top in ("runtime", "pass", "kernels") for other in (root / top).rglob(pathlib.Path(name).name)}
    return found.pop() if len(found) == 1 else None


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    may, owner, breaches = read_table(root / "runtime" / "layers.txt")
    sources = [p.relative_to(root) for top in ("runtime", "pass", "kernels")
               for p in sorted((root / top).rglob("*")) if p.suffix in (".c", ".h", ".inc", ".def", ".cpp")]
    for path in sources:
        part = part_of(path, owner)
        for number, line in enumerate((root / path).read_text().splitlines(), 1):
            match = re.match(r'#\s*include "([^"]+)"', line)
            if not match or match[1].startswith(("llvm/", "mlir/")):
                continue  # who may include LLVM's own is lint.sh's business
            other = find_included(root, path, match[1], owner)
            if part not in may or other is None:
                breaches.append(f"{path}:{number}: {match[1]}: a part that runtime/layers.txt does not have")
            elif other != part and other not in may[part]:
                breaches.append(f"{path}:{number}: {part} may not include {match[1]} of {other} (runtime/layers.txt)")
    print("\n".join(breaches) or f"ok: {len(sources)} sources")
    return 1 if breaches or len(sources) < 100 else 0


sys.exit(main())
