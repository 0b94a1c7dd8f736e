# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What replies are made of: sections, shipped templates, changes of their text."""
import re

DOT_IR = ("define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, "
          "i64 %b_step)")
DOT_C = "float dot(global const uchar *a, long a_step, global const uchar *b, long b_step)"
TILES = [(16, 16), (16, 32), (16, 64), (32, 16), (32, 32)]  # of at most 1024 threads
WORDS = """the kernel loads one byte per lane so wider loads of both rows keep the loop
fed and the conversion moves out of it while sums stay in registers which costs a few
more of them but no LDS""".split()


class Shelf:
    """The texts that makers start from."""

    def __init__(self, source, suite, base="fp8_gemm_naive"):
        self.source, self.suite, self.base = source, suite, base
        self.naive = self.template("fp8_gemm_naive")

    def template(self, name):
        with open(f"{self.source}/ir-templates/{name}.ll", encoding="utf-8") as file:
            return file.read()


def talk(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(5, 30))) + "."


def tile_text(rng):
    return "tile_m={};tile_n={}".format(*rng.choice(TILES))


def fence(language, text):
    return f"```{language}\n{text.strip(chr(10))}\n```\n"


def region(name, body, language="ir"):
    heading = f"## region {name} ({language})\n"
    return heading + fence("c" if language == "opencl" else "llvm", body)


def template(text):
    return "## template\n" + fence("llvm", text)


def edit(name, *pairs):
    blocks = [f"<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n" for old, new in pairs]
    return f"## region {name} (ir)\n" + "".join(blocks)


def reply(rng, *sections, parameters=None):
    """A reply in the grammar, with talk, and a label that nothing else has."""
    parts = [f"## name\n{rng.choice(WORDS)} {rng.getrandbits(32):08x}\n"]
    if rng.random() < 0.7:
        parts.append(f"## reasoning\n{talk(rng)}\n")
    if rng.random() < 0.5:
        low = rng.uniform(0.9, 1.2)
        parts.append(f"## expected\nspeedup {low:.2f} {low + 0.1:.2f}\n")
    if parameters:
        parts.append(f"## parameters\n{parameters}\n")
    return "\n".join(parts + list(sections))


def mark(rng, text, comment=";"):
    """The same code under another hash, so that it has to be judged anew."""
    return f"{comment} {rng.getrandbits(64):016x}\n{text}"


def replace_function(text, name, body):
    """A template with another body of one of its functions."""
    if not body.startswith("define internal"):
        body = re.sub(r"^define ", "define internal ", body, flags=re.M)
    body = re.sub(r"^(define [^\n]*\))\s*(#\d+\s*)?\{", r"\1 #1 {", body, flags=re.M)
    pattern = rf"define internal [^\n]*@{name}\(.*?\n}}\n"
    new, count = re.subn(pattern, lambda _: body.strip("\n") + "\n", text, count=1, flags=re.S)
    assert count == 1, name
    return new


def swap(text, old, new):
    assert text.count(old) == 1, (old, text.count(old))
    return text.replace(old, new)
