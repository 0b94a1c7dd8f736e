# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replies that hold no usable candidate: bad form, bad names, bad code, bugs."""
import re

import valid
from shelf import (DOT_C, DOT_IR, edit, mark, region, reply, swap,
                   talk, template, tile_text)

DECODE_IR = "define float @decode(i32 %byte)"


def dot(rng):
    return valid.Dot(rng).text()


# ---- form ----
def empty(rng, shelf):
    return rng.choice(["", " ", "\n" * 50, "\t \r\n"])


def words(rng, shelf):
    return "\n".join(talk(rng) for _ in range(rng.randint(1, 40)))


def noise(rng, shelf):
    """Any characters, control characters and far planes included."""
    ranges = [(1, 32), (32, 127), (127, 0x800), (0x4E00, 0x4F00), (0x1F300, 0x1F400)]
    return "".join(chr(rng.randrange(*rng.choice(ranges))) for _ in range(rng.randint(1, 3000)))


def headings(rng, shelf):
    names = ["name", "expected", "parameters", "region", "region dot", "region decode (ir)",
             "template", "reasoning", "findings", "base"]
    return "\n".join("#" * rng.randint(1, 6) + " " + rng.choice(names)
                     for _ in range(rng.randint(1, 60)))


def huge(rng, shelf):
    return talk(rng) * rng.randint(1000, 20000)


def open_fence(rng, shelf):
    return reply(rng, f"## region dot (ir)\n```llvm\n{dot(rng)[:300]}")


def cut_off(rng, shelf):
    """An answer that hit its limit: nothing after the first half of the code."""
    text = reply(rng, region("dot", dot(rng)))
    begin = text.index("define")
    return text[:rng.randint(begin + 10, begin + (len(text) - begin) // 2)]


def two_candidates(rng, shelf):
    return reply(rng, region("dot", dot(rng)), region("dot", dot(rng)))


def template_and_region(rng, shelf):
    return reply(rng, template(mark(rng, shelf.naive)), region("dot", dot(rng)))


def two_templates(rng, shelf):
    return reply(rng, template(shelf.naive), template(mark(rng, shelf.naive)))


# ---- names and values ----
def unknown_region(rng, shelf):
    name = rng.choice(["dots", "mma", "fp8_gemm_naive", "decode_integer", "Dot", "dot\x01",
                       "../dot"])
    return reply(rng, region(name, dot(rng)))


def unknown_parameter(rng, shelf):
    name = rng.choice(["tile_k=16", "tile_m", "=16", "tile_m==16", "ws.tile_m=16", "layout=2"])
    return reply(rng, parameters=name)


def bad_value(rng, shelf):
    value = rng.choice(["0", "-16", "17", "64", "1e3", "16.0", "9" * 40, "NaN", "16;tile_m=32"])
    return reply(rng, parameters=f"tile_m={value}")


def bad_variant(rng, shelf):
    return reply(rng, parameters="decode=" + rng.choice(["dot", "nothing", "decode", "1"]))


def broken_constraint(rng, shelf):
    return reply(rng, region("dot", dot(rng)), parameters="tile_m=32;tile_n=64")


def edit_of_nothing(rng, shelf):
    old = rng.choice(["  %k = load i64, ptr addrspace(5) %k.slot", "  ret void", "body"])
    return reply(rng, edit("dot", (old, "  ret float 0.0")))


def edit_twice(rng, shelf):
    return reply(rng, edit("dot", ("  br label %head", "  br label %exit")))


def half_edit(rng, shelf):
    text = reply(rng, edit("dot", ("  ret float %result", "  ret float %sum")))
    return text.replace(rng.choice(["=======\n", ">>>>>>> REPLACE\n"]), "")


# ---- code ----
def in_dot(line):
    return f"{DOT_IR} {{\n  {line}\n}}"


BAD_IR = {
    "no end": f"{DOT_IR} {{\nentry:\n",
    "no terminator": in_dot("%x = add i64 %a_step, 1"),
    "unknown value": in_dot("ret float %nothing"),
    "unknown label": in_dot("br label %nowhere"),
    "wrong type": in_dot("%x = fadd float %a_step, 1.0\n  ret float %x"),
    "returns nothing": in_dot("ret void"),
    "returns another": in_dot("ret double 0.0"),
    "typed pointers": DOT_IR.replace("ptr addrspace(1)", "i8 addrspace(1)*") +
                      " {\n  ret float 0.0\n}",
    "misses one": "define float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b) {\n"
                  "  ret float 0.0\n}",
    "another function": "define float @dote(i32 %x) {\n  ret float 0.0\n}",
    "before its value": in_dot("br label %l\nl:\n  %x = fadd float %y, 1.0\n"
                               "  %y = fadd float 1.0, 1.0\n  ret float %x"),
    "phi of nobody": in_dot("%x = phi float [ 0.0, %entry ]\n  ret float %x"),
    "phi too late": in_dot("br label %l\nl:\n  %y = fadd float 1.0, 1.0\n"
                           "  %x = phi float [ 0.0, %0 ]\n  ret float %x"),
    "calls nobody": in_dot("%x = call float @expf(float 1.0)\n  ret float %x"),
    "calls wrongly": in_dot("%x = call float @decode(i64 1)\n  ret float %x"),
    "declares itself": f"declare {DOT_IR[7:]}",
    "same name": in_dot("%x = fadd float 1.0, 1.0\n  %x = fadd float 1.0, 1.0\n  ret float %x"),
    "a global of its own": f"@g = global i32 0\n{in_dot('ret float 0.0')}",
    "the template's global": f"@ws.tile_m = internal addrspace(4) constant i32 1\n"
                             f"{in_dot('ret float 0.0')}",
    "metadata": in_dot("ret float 0.0") + "\n!wavesmith.param = !{}",
    "unknown metadata": in_dot("ret float 0.0, !nothing !7"),
    "python": "def dot(a, a_step, b, b_step):\n    return sum(x * y for x, y in zip(a, b))",
    "assembly": "dot:\n  v_mov_b32 v0, 0\n  s_setpc_b64 s[30:31]",
    "prose": "Here the loop stays as it is.",
}
BAD_C = {
    "no end": DOT_C + " {\n  float sum = 0;\n",
    "unknown name": DOT_C + " { return total; }",
    "wrong type": DOT_C + ' { return "sum"; }',
    "another signature": "int dot(int a) { return a; }",
    "library": DOT_C + " { return convert_float(vload4(0, a).x); }",
    "clash": DOT_C + " { return 0; }\n" + DOT_C + " { return 1; }",
    "include": "#include <math.h>\n" + DOT_C + " { return 0; }",
    "error": "#error no\n" + DOT_C + " { return 0; }",
    "c++": "template<int N> float sum();\n" + DOT_C + " { return sum<4>(); }",
}


def bad_ir(rng, shelf):
    return reply(rng, region("dot", mark(rng, BAD_IR[rng.choice(sorted(BAD_IR))])))


def bad_c(rng, shelf):
    return reply(rng, region("dot", mark(rng, BAD_C[rng.choice(sorted(BAD_C))], "//"), "opencl"))


def wrong_language(rng, shelf):
    return reply(rng, region("dot", mark(rng, valid.dot_c(rng), "//"), "ir"))


BAD_TEMPLATES = [
    lambda text: text[:len(text) // 2],
    lambda text: text.replace("!wavesmith.template", "!wavesmith.templates"),
    lambda text: text.replace('!"gfx942", !"One', '!"gfx90a", !"One'),
    lambda text: text.replace("fp8_gemm_blockscale", "sgemm"),
    lambda text: text.replace("!wavesmith.launch", "!wavesmith.launches"),
    lambda text: text.replace("ceildiv(m, tile_m)", "ceildiv(m, tile_q)"),
    lambda text: text.replace("ceildiv(m, tile_m)", "ceildiv(m, "),
    lambda text: text.replace("ceildiv(m, tile_m)", "ceildiv(m, 0)"),
    lambda text: text.replace("tile_m * tile_n <= 1024", "tile_m * tile_n < 0"),
    lambda text: text.replace('!"16 32",', '!"16 32 sixteen",'),
    lambda text: text.replace('!"ws.tile_m"', '!"ws.tile_o"'),
    lambda text: text.replace("i32 %m, i32 %n,", "i64 %m, i64 %n,"),
    lambda text: text.replace("!9 = ", "!8 = "),
    lambda text: "target triple = \"x86_64\"\n" + text,
    lambda text: "",
]


def bad_template(rng, shelf):
    return reply(rng, template(mark(rng, rng.choice(BAD_TEMPLATES)(shelf.naive))))


# ---- bugs: it runs, and is wrong ----
BUGS = [
    ("icmp ult i32 %k, 128", "icmp ult i32 %k, 127"),
    ("icmp ult i32 %k, 128", "icmp ult i32 %k, 64"),
    ("icmp ult i32 %k, 128", "icmp slt i32 %k, -128"),
    ("%a.offset = mul i64 %k64, %a_step", "%a.offset = mul i64 %k64, %b.offset"),
    ("store float 0.0, ptr addrspace(5) %sum.slot", ""),
    ("float %a.value, float %b.value, float %sum)", "float %a.value, float %a.value, float %sum)"),
    ("float %a.value, float %b.value, float %sum)", "float %a.value, float %b.value, float 0.0)"),
]
DECODE_BUGS = ["fmul float %v, 2.0", "fadd float %v, 1.0",
               "call float @llvm.fabs.f32(float %v)"]


def bug(rng, shelf):
    function = re.search(r"define internal float @dot\(.*?\n}\n", shelf.naive, re.S).group()
    old, new = rng.choice(BUGS)
    assert old in function, old
    return reply(rng, region("dot", mark(rng, function.replace(old, new).replace(" #1", ""))),
                 parameters=tile_text(rng))


def decode_bug(rng, shelf):
    body = (f"{DECODE_IR} {{\n  %v = call float @llvm.amdgcn.cvt.f32.fp8(i32 %byte, i32 0)\n"
            f"  %w = {rng.choice(DECODE_BUGS)}\n  ret float %w\n}}")
    return reply(rng, region("decode", mark(rng, body)), parameters=tile_text(rng))


def template_bug(rng, shelf):
    old, new = rng.choice([
        ("%scale = fmul float %as.value, %bs.value", "%scale = fadd float %as.value, %bs.value"),
        ("%blocks.k = lshr i32 %k, 7", "%blocks.k = lshr i32 %k, 8"),
        ("%column = add i32 %column.0, %column.1", "%column = sub i32 %column.0, %column.1"),
        ("%c.row = mul i64 %row64, %n64", "%c.row = mul i64 %column64, %n64"),
        ('!"tile_m * tile_n", !"1"}', '!"tile_m * tile_n / 2", !"1"}'),
    ])
    text = valid.template_with_dot(shelf, dot(rng))
    return reply(rng, template(swap(text, old, new)), parameters=tile_text(rng))


def scale_bug(rng, shelf):
    """Wrong from column 64 on, where the sanitizer does not come."""
    old = "%scale.column = lshr i64 %column64, 7"
    text = swap(valid.template_with_dot(shelf, dot(rng)), old, old[:-1] + "6")
    return reply(rng, template(text), parameters=tile_text(rng)), "device"


MAKERS = {
    "empty": empty, "words": words, "noise": noise, "headings": headings, "huge": huge,
    "open fence": open_fence, "cut off": cut_off, "two candidates": two_candidates,
    "template and region": template_and_region, "two templates": two_templates,
    "unknown region": unknown_region, "unknown parameter": unknown_parameter,
    "bad value": bad_value, "bad variant": bad_variant, "broken constraint": broken_constraint,
    "edit of nothing": edit_of_nothing, "edit twice": edit_twice, "half edit": half_edit,
    "bad IR": bad_ir, "bad IR again": bad_ir, "bad C": bad_c, "wrong language": wrong_language,
    "bad template": bad_template, "bug": bug, "bug again": bug, "decode bug": decode_bug,
    "template bug": template_bug, "scale bug": scale_bug,
}


# ---- mutants of valid replies: nobody knows what becomes of them ----
def change_characters(rng, text):
    characters = list(text)
    for _ in range(rng.choice([1, 1, 2, 5, 50])):
        at = rng.randrange(len(characters))
        characters[at] = rng.choice([chr(rng.randrange(32, 127)), "", characters[at] * 2])
    return "".join(characters)


def change_number(rng, text):
    places = list(re.finditer(r"\b\d+\b", text))
    place = rng.choice(places)
    new = rng.choice(["0", "1", "-1", "2147483648", "18446744073709551616", place.group() + "0",
                      str(int(place.group()) + 1)])
    return text[:place.start()] + new + text[place.end():]


def change_lines(rng, text):
    lines = text.split("\n")
    for _ in range(rng.choice([1, 1, 3])):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        change = rng.randrange(3)
        if change == 0:
            lines[at], lines[other] = lines[other], lines[at]
        elif change == 1:
            lines.insert(at, lines[other])
        elif len(lines) > 1:
            del lines[at]
    return "\n".join(lines)


def change_word(rng, text):
    words_of_ir = ["add", "sub", "mul", "fmul", "fadd", "float", "i32", "i64", "i8", "load",
                   "store", "ptr", "true", "false", "addrspace(1)", "addrspace(3)", "undef",
                   "poison", "volatile", "nsw", "double", "half", "i128", "<2 x float>"]
    places = list(re.finditer(r"\b[a-z]\w*\b", text))
    place = rng.choice(places)
    return text[:place.start()] + rng.choice(words_of_ir) + text[place.end():]


def mutant(change):
    def make(rng, shelf):
        makers = [valid.dot_body, valid.decode_body, valid.dot_opencl, valid.whole_template]
        return change(rng, rng.choice(makers)(rng, shelf))
    return make


MUTANTS = {"characters": mutant(change_characters), "number": mutant(change_number),
           "lines": mutant(change_lines), "word": mutant(change_word)}
