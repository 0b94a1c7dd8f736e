# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replies that never come to an end, in the kernel or in a compiler."""
from shelf import (DOT_C, DOT_IR, mark, region, replace_function, reply, swap, template,
                   tile_text)

AFTER_STORE = "  store bfloat %rounded, ptr addrspace(1) %c.at, align 2\n  br label %exit"


# ---- kernels ----
# What a loop does to its counter %i (i32), and when it goes on (%go).
LOOPS = {
    "for ever": ("add i32 %i, 1", "icmp eq i32 0, 0"),
    "never equal": ("add i32 %i, 2", "icmp ne i32 %i, 1"),
    "wraps": ("add i32 %i, 1", "icmp ule i32 %i, -1"),
    "stands still": ("mul i32 %i, 1", "icmp ult i32 %i, 128"),
    "by value": ("add i32 %i, 1", "icmp ne i32 %wide, 999"),
    "by data": ("xor i32 %i, %wide", "icmp ult i32 %i, 4096"),
    "by distance": ("add i32 %i, 2", "icmp ne i32 %i, %odd"),
    "long": ("add i32 %i, 1", "icmp ult i32 %i, -2"),
    "halves": ("lshr i32 %i, 1", "icmp ult i32 %i, 128"),
}


def loop_body(rng):
    """A loop before the function's end that is not left, with or without effects."""
    step, go = LOOPS[rng.choice(sorted(LOOPS))]
    effect = rng.choice(["", "  store i32 %i, ptr addrspace(5) %slot\n"])
    return (f"{DOT_IR} {{\nentry:\n  %slot = alloca i32, addrspace(5)\n  br label %loop\n"
            "loop:\n  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n"
            "  %byte = load i8, ptr addrspace(1) %a, align 1\n"
            "  %wide = zext i8 %byte to i32\n  %odd = or i32 %wide, 1\n" + effect +
            f"  %next = {step}\n  %go = {go}\n  br i1 %go, label %loop, label %exit\n"
            "exit:\n  %v = call float @decode(i32 %wide)\n  ret float %v\n}")


def endless(rng, shelf):
    return reply(rng, region("dot", mark(rng, loop_body(rng))), parameters=tile_text(rng))


def no_exit(rng, shelf):
    effect = rng.choice(["", "  %byte = load volatile i8, ptr addrspace(1) %a\n"])
    body = f"{DOT_IR} {{\nentry:\n  br label %loop\nloop:\n{effect}  br label %loop\n}}"
    return reply(rng, region("dot", mark(rng, body)))


def endless_c(rng, shelf):
    loop = rng.choice(["while (1) sum += 1;", "for (uchar k = 0; k < 256; k++) sum += a[k];",
                       "do sum = sum * a[0]; while (sum != 12345.0f);",
                       "for (long k = 0; k < (1L << 45); k++) sum += b[k & 127];",
                       "l: sum += a[1]; if (sum != -1.5f) goto l;"])
    return reply(rng, region("dot", mark(rng, f"{DOT_C} {{ float sum = 0; {loop} return sum; }}",
                                         "//"), "opencl"))


def after_the_work(rng, shelf):
    """Everything is right; then some lanes do not stop."""
    who = rng.choice(["icmp ugt i32 %row, 3", "icmp eq i32 %thread, 77", "icmp ne i32 %k, 0"])
    spin = (AFTER_STORE.replace("br label %exit", f"%spins = {who}\n"
                                "  br i1 %spins, label %spin, label %exit\nspin:\n"
                                "  %turn = phi i64 [ 0, %store ], [ %turn.next, %spin ]\n"
                                "  %turn.next = add i64 %turn, 1\n"
                                f"  %end = icmp eq i64 %turn.next, {rng.randint(10**12, 10**15)}\n"
                                "  br i1 %end, label %exit, label %spin"))
    return reply(rng, template(mark(rng, swap(shelf.naive, AFTER_STORE, spin))))


# ---- compilers ----
def unroll(rng, shelf):
    """Nested loops that are to be unrolled whole."""
    count = rng.choice([64, 128, 256])
    code = "".join(f"  #pragma unroll\n  for (int i{d} = 0; i{d} < {count}; i{d}++)\n"
                   for d in range(rng.choice([3, 4])))
    index = " + ".join(f"i{d}" for d in range(code.count("#pragma")))
    return reply(rng, region("dot", mark(
        rng, f"{DOT_C} {{\n  float sum = 0;\n{code}    sum += a[({index}) & 127];\n"
        "  return sum;\n}", "//"), "opencl"))


def doubling(rng, shelf):
    """Functions that each call the next one twice, and all are inlined."""
    depth = rng.choice([24, 30, 60])
    text = "".join(f"define internal float @f{i}(float %x) alwaysinline {{\n"
                   f"  %y = call float @f{i + 1}(float %x)\n"
                   f"  %z = call float @f{i + 1}(float %y)\n  ret float %z\n}}\n"
                   for i in range(depth))
    text += (f"define internal float @f{depth}(float %x) alwaysinline {{\n"
             "  %y = fadd float %x, 1.0\n  ret float %y\n}\n")
    return reply(rng, region("dot", mark(rng, text + f"{DOT_IR} {{\n"
                                         "  %v = call float @f0(float 0.0)\n  ret float %v\n}")))


def private_array(rng, shelf):
    count = rng.choice([1 << 20, 1 << 28, 1 << 33, 1 << 60])
    return reply(rng, region("dot", mark(
        rng, f"{DOT_IR} {{\n  %big = alloca [{count} x i32], addrspace(5)\n"
        "  store i32 0, ptr addrspace(5) %big\n  ret float 0.0\n}")))


def deep_constant(rng, shelf):
    """A constant in a constant in a constant: parsers recurse."""
    depth = rng.choice([1000, 100000])
    value = "add (i64 1, i64 " * depth + "1" + ")" * depth
    return reply(rng, region("dot", mark(
        rng, f"{DOT_IR} {{\n  %x = add i64 {value}, 1\n  ret float 0.0\n}}")))


def deep_type(rng, shelf):
    depth = rng.choice([1000, 200000])
    return reply(rng, region("dot", mark(
        rng, f"{DOT_IR} {{\n  %x = alloca {'{' * depth}i32{'}' * depth}, addrspace(5)\n"
        "  ret float 0.0\n}")))


def deep_c(rng, shelf):
    depth = rng.choice([200, 50000])
    open_, close = rng.choice([("(", ")"), ("-", ""), ("!", ""), ("{", "}")])
    code = (f"{open_ * depth}{close * depth}" if open_ == "{" else
            f"float sum = {open_ * depth}1{close * depth};")
    return reply(rng, region("dot", f"{DOT_C} {{ {code}\n  for (;;); }}", "opencl"))


def macros(rng, shelf):
    """Two to the power of thirty times the same, by macros."""
    depth = rng.choice([25, 30])
    lines = [f"#define M{i} M{i + 1} M{i + 1}" for i in range(depth)] + [f"#define M{depth} + a[0]"]
    return reply(rng, region("dot", mark(
        rng, "\n".join(lines) + f"\n{DOT_C} {{ return 0 M0; }}", "//"), "opencl"))


def wide_integer(rng, shelf):
    """Division of integers as wide as a page."""
    bits = rng.choice([1024, 65536, 8388607])
    return reply(rng, region("dot", mark(
        rng, f"{DOT_IR} {{\n  %x = zext i64 %a_step to i{bits}\n  %y = add i{bits} %x, 3\n"
        f"  %z = udiv i{bits} %y, %x\n  %t = trunc i{bits} %z to i32\n"
        "  %f = uitofp i32 %t to float\n  ret float %f\n}")))


def many_blocks(rng, shelf):
    count = rng.choice([2000, 30000])
    blocks = "".join(f"b{i}:\n  %c{i} = icmp eq i64 %a_step, {i}\n"
                     f"  br i1 %c{i}, label %b{(i * 7919 + 1) % count}, label %b{i + 1}\n"
                     for i in range(count))
    return reply(rng, region("dot", mark(rng, f"{DOT_IR} {{\nentry:\n  br label %b0\n{blocks}"
                                         f"b{count}:\n  ret float 0.0\n}}")))


def launches(rng, shelf):
    """More workgroups, threads or workspace than there can be."""
    old, new = rng.choice([
        ("ceildiv(n, tile_n)\", !\"1\", !\"1\"", "1000000\", !\"1000000\", !\"1000\""),
        ("ceildiv(n, tile_n)\"", "ceildiv(n, tile_n) * 1000000\""),
        ("!wavesmith.region = ", '!wavesmith.workspace = !{!20}\n!20 = !{!"1 << 50"}\n'
         "!wavesmith.region = "),
        ("!wavesmith.region = ", '!wavesmith.workspace = !{!20}\n!20 = !{!"m * n * k * 1000000"}\n'
         "!wavesmith.region = "),
    ])
    return reply(rng, template(mark(rng, swap(shelf.naive, old, new))))


def recursion(rng, shelf):
    body = rng.choice([
        "  %x = call float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, "
        "i64 %b_step)",
        "  %x = call float @other(float 1.0)"])
    other = ("define internal float @other(float %x) alwaysinline {\n"
             "  %y = call float @other(float %x)\n  ret float %y\n}\n")
    return reply(rng, region("dot", mark(rng, (other if "@other" in body else "") +
                                         f"{DOT_IR} {{\n{body}\n  ret float %x\n}}")))


def template_loop(rng, shelf):
    text = replace_function(shelf.naive, "dot", loop_body(rng))
    return reply(rng, template(mark(rng, text)))


def template_bomb(rng, shelf):
    """Whole templates that readers choke on."""
    depth = rng.choice([1000, 30000])
    bomb = rng.choice([
        "@z = internal addrspace(4) constant i64 " + "sub (i64 1, i64 " * depth + "1" + ")" * depth,
        f"@z = internal addrspace(4) constant {'{' * depth}i32{'}' * depth} zeroinitializer",
        "".join(f"%t{i} = type {{ %t{i + 1}, %t{i + 1} }}\n" for i in range(depth)) +
        f"%t{depth} = type i32\n@z = internal addrspace(4) constant %t0 zeroinitializer",
        "".join(f"!{100 + i} = !{{!{101 + i}, !{101 + i}}}\n" for i in range(depth)) +
        f"!{100 + depth} = !{{}}\n!llvm.ident = !{{!100}}",
        "define void @z(i32 %x) {\n" + "".join(
            f"  switch i32 %x, label %b{i} [ i32 {i}, label %b0 ]\nb{i}:\n" for i in range(depth)) +
        "  ret void\n}",
    ])
    text = shelf.naive.replace("\n; ---- kernel", f"\n{bomb}\n; ---- kernel", 1)
    return reply(rng, template(mark(rng, text))), "ok"


def long_rule(rng, shelf):
    """Expressions of the metadata that are too deep or too large; 101 workgroups do for small
    shapes."""
    depth = rng.choice([100, 10000, 60000])
    before, after = rng.choice([("(", ")"), ("-", ""), ("1 + ", ""), ("m ? ", " : 1"),
                                ("max(1, ", ")")])
    rule = before * depth + "1" + after * depth
    return reply(rng, template(mark(rng, swap(
        shelf.naive, '"ceildiv(m, tile_m) * ceildiv(n, tile_n)"', f'"{rule}"')))), "device"


MAKERS = {
    "endless": endless, "endless again": endless, "no exit": no_exit, "endless C": endless_c,
    "after the work": after_the_work, "unroll": unroll, "doubling": doubling,
    "private array": private_array, "deep constant": deep_constant, "deep type": deep_type,
    "deep C": deep_c, "macros": macros, "wide integer": wide_integer, "many blocks": many_blocks,
    "launches": launches, "recursion": recursion, "template bomb": template_bomb,
    "long rule": long_rule, "template loop": template_loop,
}
