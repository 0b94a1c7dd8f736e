# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replies that hold a candidate which is right: parameters, rewritten regions, templates."""
import re
import struct

from shelf import (DOT_C, DOT_IR, mark, region, replace_function, reply, swap, template,
                   tile_text)

DECLARED = """declare <2 x float> @llvm.amdgcn.cvt.pk.f32.fp8(i32, i1 immarg)
declare float @llvm.fma.f32(float, float, float)
"""


# ---- decode ----
def fnuz_value(byte):
    """One e4m3fnuz byte as C or IR can write it."""
    exponent, fraction = byte >> 3 & 15, byte & 7
    magnitude = (exponent > 0) + fraction / 8
    magnitude *= 2.0**(max(exponent, 1) - 8)
    return -magnitude if byte & 128 else magnitude


def power_of_two(exponent):
    return f"0x{1023 + exponent:03X}0000000000000"


def decode_cvt(rng):
    lane = rng.randrange(4)
    shift = f"  %word = shl i32 %byte, {8 * lane}\n"
    return ("define float @decode(i32 %byte) {\n" + shift +
            f"  %v = call float @llvm.amdgcn.cvt.f32.fp8(i32 %word, i32 {lane})\n"
            "  ret float %v\n}")


def decode_integer(rng):
    """By two multiplications in place of the variant's one."""
    first = rng.randint(20, 100)
    order = ["  %scaled = fmul float %small, {}\n  %absolute = fmul float %scaled, {}\n",
             "  %scaled = fmul float {}, %small\n  %absolute = fmul float {}, %scaled\n"]
    return ("define float @decode(i32 %byte) {\n"
            "  %magnitude = and i32 %byte, 127\n"
            "  %placed = shl i32 %magnitude, 20\n"
            "  %small = bitcast i32 %placed to float\n" +
            rng.choice(order).format(power_of_two(first), power_of_two(119 - first)) +
            "  %bits = bitcast float %absolute to i32\n"
            "  %sign = and i32 %byte, 128\n"
            "  %sign.placed = shl i32 %sign, 24\n"
            "  %signed = or i32 %bits, %sign.placed\n"
            "  %finite = bitcast i32 %signed to float\n"
            "  %nan = icmp eq i32 %byte, 128\n"
            "  %v = select i1 %nan, float 0x7FF8000000000000, float %finite\n"
            "  ret float %v\n}")


def decode_table(rng):
    values = []
    for byte in range(256):
        double = struct.unpack("<Q", struct.pack("<d", fnuz_value(byte)))[0]
        values.append("float 0x7FF8000000000000" if byte == 128 else f"float 0x{double:016X}")
    name = f"values.{rng.randrange(1000)}"
    return (f"@{name} = internal addrspace(4) constant [256 x float] [{', '.join(values)}]\n"
            "define float @decode(i32 %byte) {\n"
            f"  %at = getelementptr [256 x float], ptr addrspace(4) @{name}, i32 0, i32 %byte\n"
            "  %v = load float, ptr addrspace(4) %at, align 4\n"
            "  ret float %v\n}")


DECODES = [decode_cvt, decode_integer, decode_integer, decode_table]


# ---- dot, in IR ----
class Dot:
    """One way to write the loop over a scale block; choices may be given."""

    def __init__(self, rng, **given):
        self.width = given.get("width") or rng.choice([1, 4, 8, 16])  # bytes of one load
        self.loads = given.get("loads") or rng.choice([1, 2, 4] if self.width > 1 else
                                                      [1, 2, 4, 8, 16])
        self.sums = rng.choice([1, 2, 4])
        self.add = rng.choice(["fmuladd", "fma", "apart"])
        self.swap = rng.random() < 0.5
        self.down = given.get("down", rng.random() < 0.5)
        self.decode = rng.choice(["call", "cvt", "pair"] if self.width > 1 else ["call", "cvt"])
        self.slots = rng.random() < 0.3  # memory in place of phis
        self.lines, self.count = [], 0

    def emit(self, text):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def words(self, operand, k):
        """The dwords of one load."""
        if self.width == 1:
            offset = self.emit(f"mul i64 {k}, %{operand}_step")
            at = self.emit(f"getelementptr i8, ptr addrspace(1) %{operand}, i64 {offset}")
            byte = self.emit(f"load i8, ptr addrspace(1) {at}, align 1")
            return [self.emit(f"zext i8 {byte} to i32")]
        at = self.emit(f"getelementptr i8, ptr addrspace(1) %{operand}, i64 {k}")
        count = self.width // 4
        if count == 1:
            return [self.emit(f"load i32, ptr addrspace(1) {at}, align 4")]
        vector = self.emit(f"load <{count} x i32>, ptr addrspace(1) {at}, align {self.width}")
        return [self.emit(f"extractelement <{count} x i32> {vector}, i32 {i}")
                for i in range(count)]

    def values(self, word):
        """The floats in one dword."""
        if self.decode == "pair":
            pairs = [self.emit("call <2 x float> @llvm.amdgcn.cvt.pk.f32.fp8"
                               f"(i32 {word}, i1 {high})") for high in ("false", "true")]
            return [self.emit(f"extractelement <2 x float> {pair}, i32 {i}")
                    for pair in pairs for i in range(2)]
        values = []
        for byte in range(4 if self.width > 1 else 1):
            if self.decode == "cvt":
                values.append(self.emit(
                    f"call float @llvm.amdgcn.cvt.f32.fp8(i32 {word}, i32 {byte})"))
                continue
            shifted = self.emit(f"lshr i32 {word}, {8 * byte}")
            low = self.emit(f"and i32 {shifted}, 255")
            values.append(self.emit(f"call float @decode(i32 {low})"))
        return values

    def multiply_add(self, a, b, total):
        if self.swap:
            a, b = b, a
        if self.add != "apart":
            return self.emit(f"call float @llvm.{self.add}.f32(float {a}, float {b}, "
                             f"float {total})")
        return self.emit(f"fadd float {self.emit(f'fmul float {a}, {b}')}, {total}")

    def body(self, totals):
        step, products = self.width * self.loads, 0
        for load in range(self.loads):
            k = self.emit(f"add i64 %k, {load * self.width}")
            for a_word, b_word in zip(self.words("a", k), self.words("b", k)):
                for a, b in zip(self.values(a_word), self.values(b_word)):
                    i = products % self.sums
                    products += 1
                    totals[i] = self.multiply_add(a, b, totals[i])
        sign = "sub" if self.down else "add"
        self.lines.append(f"  %k.next = {sign} i64 %k, {step}")
        last = 0 if self.down else 128 - step
        self.lines.append(f"  %more = icmp ne i64 %k, {last}")
        return totals

    def with_phis(self, first):
        sums = range(self.sums)
        totals = self.body([f"%sum{i}" for i in sums])
        head = ["  br label %loop", "loop:",
                f"  %k = phi i64 [ {first}, %entry ], [ %k.next, %loop ]"]
        head += [f"  %sum{i} = phi float [ 0.0, %entry ], [ {totals[i]}, %loop ]" for i in sums]
        return head + self.lines + ["  br i1 %more, label %loop, label %exit", "exit:"], totals

    def with_slots(self, first):
        sums = range(self.sums)
        head = ["  %k.slot = alloca i64, addrspace(5)"]
        head += [f"  %slot{i} = alloca float, addrspace(5)" for i in sums]
        head += [f"  store i64 {first}, ptr addrspace(5) %k.slot"]
        head += [f"  store float 0.0, ptr addrspace(5) %slot{i}" for i in sums]
        head += ["  br label %loop", "loop:", "  %k = load i64, ptr addrspace(5) %k.slot"]
        head += [f"  %sum{i} = load float, ptr addrspace(5) %slot{i}" for i in sums]
        totals = self.body([f"%sum{i}" for i in sums])
        tail = [f"  store float {totals[i]}, ptr addrspace(5) %slot{i}" for i in sums]
        tail += ["  store i64 %k.next, ptr addrspace(5) %k.slot",
                 "  br i1 %more, label %loop, label %exit", "exit:"]
        return head + self.lines + tail, totals

    def text(self):
        first = 128 - self.width * self.loads if self.down else 0
        lines, totals = (self.with_slots if self.slots else self.with_phis)(first)
        self.lines = []
        while len(totals) > 1:
            totals = [self.emit(f"fadd float {a}, {b}") for a, b in zip(totals[::2], totals[1::2])]
        lines += self.lines + [f"  ret float {totals[0]}", "}"]
        return "\n".join([f"{DOT_IR} {{", "entry:"] + lines)


# ---- dot, in OpenCL C ----
def dot_c(rng):
    step = rng.choice([1, 2, 4, 8, 16])
    start = rng.choice(["0.0f", "0.f", "(float)0"])
    product = rng.choice(["x * y", "y * x"])
    add = rng.choice([f"sum{{i}} += {product};", "sum{i} = __builtin_fmaf(x, y, sum{i});"])
    sums = rng.choice([1, 2])
    lines = []
    for i in range(step):
        at = f"(k + {i})" if i else "k"
        lines += [f"    {{ float x = decode(a[{at} * a_step]), y = decode(b[{at} * b_step]);",
                  "      " + add.replace("{i}", str(i % sums)) + " }"]
    names = [f"sum{i}" for i in range(sums)]
    declared = ", ".join(f"{name} = {start}" for name in names)
    return "\n".join(["float decode(uint byte);", DOT_C + " {", f"  float {declared};",
                      f"  for (int k = 0; k < 128; k += {step}) {{"] + lines +
                     ["  }", f"  return {' + '.join(names)};", "}"])


# ---- replies ----
def parameters(rng, shelf):
    decode = rng.choice(["", ";decode=decode_integer", ";decode=default"])
    return reply(rng, parameters=tile_text(rng) + decode)


def decode_body(rng, shelf):
    return reply(rng, region("decode", mark(rng, rng.choice(DECODES)(rng))),
                 parameters=tile_text(rng))


def dot_body(rng, shelf):
    return reply(rng, region("dot", Dot(rng).text()), parameters=tile_text(rng))


def dot_opencl(rng, shelf):
    return reply(rng, region("dot", mark(rng, dot_c(rng), "//"), "opencl"),
                 parameters=tile_text(rng))


def both_bodies(rng, shelf):
    dot = region("dot", Dot(rng).text())
    return reply(rng, dot, region("decode", rng.choice(DECODES)(rng)),
                 parameters=tile_text(rng))


def template_with_dot(shelf, body):
    """The naive template with another loop, and the intrinsics that it may call."""
    text = replace_function(shelf.naive, "dot", body)
    return swap(text, "declare float @llvm.fmuladd", f"{DECLARED}declare float @llvm.fmuladd")


def whole_template(rng, shelf):
    """The naive template with another loop, other names and other tiles."""
    text = template_with_dot(shelf, Dot(rng).text())
    text = text.replace("fp8_gemm_naive", f"fp8_gemm_{rng.getrandbits(24):06x}")
    for name in rng.sample(["row", "column", "block", "scale", "thread", "partial"], 3):
        text = re.sub(rf"%{name}\b", f"%{name}.{rng.randrange(100)}", text)
    return reply(rng, template(text), parameters=tile_text(rng))


MAKERS = {"parameters": parameters, "decode": decode_body, "dot": dot_body, "dot twice": dot_body,
          "dot in C": dot_opencl, "both": both_bodies, "template": whole_template}
