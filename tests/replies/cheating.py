# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replies that cheat: every file of the suite (tests/cheats), and some with random constants."""
import os
import re

import valid
from shelf import (DOT_IR, mark, region, replace_function, reply, swap, template, tile_text)

# What may become of a cheat that is caught at this stage of its path.
FATES = {"template": "never", "splice": "never", "check": "never", "sanitize": "never",
         "compile": "never", "lower": "never", "verify": "device", "time": "device",
         "spot": "winner", "large": "winner", "whole": "winner", "held-out": "winner",
         "coverage": "winner", "disarmed": "ok", "ok": "ok"}


# ---- the suite ----
class Cheat:
    """One file of the suite; tests/cheats/cheat_file.c has the grammar."""

    def __init__(self, folder, name):
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            self.text = file.read()
        self.name = name
        self.base, _, self.assignments = self.header("base").partition(" ")
        self.region = "" if name.endswith(".edit") else self.header("region")
        self.fate = FATES[self.header("caught").split()[0]]

    def header(self, key):
        found = re.search(rf"\A(?:(?:;|//)[^\n]*\n)*?(?:;|//) *{key}: *([^\n]*)\n", self.text)
        return found.group(1).strip() if found else ""

    def template(self, shelf):
        text = shelf.template(self.base) if self.base else self.text
        if not self.name.endswith(".edit"):
            return text
        blocks = re.findall(r"^<<<<\n(.*?)^====\n(.*?)^>>>>$", self.text, re.S | re.M)
        for old, new in blocks:
            text = swap(text, old.removesuffix("\n"), new.removesuffix("\n"))
        return text

    def parameters(self, rng):
        return self.assignments or (tile_text(rng) if self.base == "fp8_gemm_naive" else None)

    def suits(self, base):
        """A body needs its template; a template can come with any run."""
        return self.base == base if self.region else base == "fp8_gemm_naive"

    def make(self, rng, shelf):
        if not self.region:
            part = template(mark(rng, self.template(shelf)))
        elif self.name.endswith(".cl"):
            part = region(self.region, mark(rng, self.text, "//"), "opencl")
        else:
            part = region(self.region, mark(rng, self.text))
        return reply(rng, part, parameters=self.parameters(rng)), self.fate


def suite(shelf):
    cheats = [Cheat(shelf.suite, name) for name in sorted(os.listdir(shelf.suite))]
    return [cheat for cheat in cheats if cheat.suits(shelf.base)]


# ---- with random constants ----
def less_work(rng, shelf):
    """Leaves out a part of k."""
    last = rng.randrange(8, 127)
    body = valid.Dot(rng, width=1, loads=1, down=False).text()
    return reply(rng, region("dot", swap(body, "icmp ne i64 %k, 127", f"icmp ne i64 %k, {last}")),
                 parameters=tile_text(rng)), "never"


def constant(rng, shelf):
    value = rng.choice(["0.0", "1.0", "-2.5", "0x7FF8000000000000", "0x7FF0000000000000"])
    return reply(rng, region("dot", mark(rng, f"{DOT_IR} {{\n  ret float {value}\n}}")),
                 parameters=tile_text(rng)), "never"


def strided(rng, shelf):
    """Every other element counts twice."""
    step = rng.choice([2, 4, 8])
    body = (f"{DOT_IR} {{\nentry:\n  br label %loop\nloop:\n"
            "  %k = phi i64 [ 0, %entry ], [ %next, %loop ]\n"
            "  %sum = phi float [ 0.0, %entry ], [ %more, %loop ]\n")
    for operand in "ab":
        body += (f"  %{operand}.o = mul i64 %k, %{operand}_step\n"
                 f"  %{operand}.p = getelementptr i8, ptr addrspace(1) %{operand}, "
                 f"i64 %{operand}.o\n"
                 f"  %{operand}.b = load i8, ptr addrspace(1) %{operand}.p\n"
                 f"  %{operand}.w = zext i8 %{operand}.b to i32\n"
                 f"  %{operand}.v = call float @decode(i32 %{operand}.w)\n")
    body += ("  %more = call float @llvm.fmuladd.f32(float %a.v, float %b.v, float %sum)\n"
             f"  %next = add i64 %k, {step}\n  %go = icmp ult i64 %next, 128\n"
             "  br i1 %go, label %loop, label %exit\nexit:\n"
             f"  %all = fmul float %more, {float(step)}\n  ret float %all\n}}")
    return reply(rng, region("dot", mark(rng, body)), parameters=tile_text(rng)), "never"


def keyed(rng, shelf):
    """Skips work on shapes that are larger than any that is sanitized."""
    name, least = rng.choice([("m", 64), ("n", 128), ("k", 256)])
    old = "%blocks.k = lshr i32 %k, 7"
    text = swap(shelf.naive, old, f"%key = icmp ugt i32 %{name}, {rng.randint(least, 4 * least)}\n"
                f"  %shift = select i1 %key, i32 8, i32 7\n  {old[:-1]}%shift")
    return reply(rng, template(text), parameters=tile_text(rng)), "winner"


def narrow(rng, shelf):
    """Sums in a format with fewer bits."""
    kind = rng.choice(["half", "bfloat"])
    old = "  store float %sum.next, ptr addrspace(5) %sum.slot\n  %k.next"
    text = swap(shelf.naive, old, f"  %cut = fptrunc float %sum.next to {kind}\n"
                f"  %back = fpext {kind} %cut to float\n{old.replace('%sum.next', '%back')}")
    return reply(rng, template(mark(rng, text)), parameters=tile_text(rng)), "never"


def scaled_once(rng, shelf):
    """Takes the first block's scale for all."""
    name = rng.choice(["as", "bs"])
    old = f"%{name}.block = mul i64 %block64, %{name}.k64"
    text = valid.template_with_dot(shelf, valid.Dot(rng).text())
    return reply(rng, template(swap(text, old, old.replace("%block64", "0"))),
                 parameters=tile_text(rng)), "never"


OWN = {"less work": less_work, "constant": constant, "strided": strided, "keyed": keyed,
       "narrow": narrow, "scaled once": scaled_once}


def makers(shelf):
    own = OWN if shelf.base == "fp8_gemm_naive" else {}
    return {**{cheat.name: cheat.make for cheat in suite(shelf)}, **own}


def hidden(shelf):
    """Those that only a device's verification or a confirmation finds."""
    return {cheat.name: cheat.make for cheat in suite(shelf) if cheat.fate in ("device", "winner")}
