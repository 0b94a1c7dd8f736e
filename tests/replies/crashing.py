# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replies that fault when they run, and code that makes compilers abort."""
from shelf import DOT_C, DOT_IR, mark, region, reply, swap, template, tile_text

RETURN = "  ret float 0.0\n"


def dot(rng, code, before="", after="", parameters=None):
    body = f"{before}{DOT_IR} {{\n{code}\n{RETURN}}}\n{after}"
    return reply(rng, region("dot", mark(rng, body)), parameters=parameters)


# ---- faults ----
def wild_load(rng, shelf):
    """Somewhere else than in the operand."""
    distance = rng.choice([-1, -(1 << 20), 1 << 20, 1 << 31, 1 << 40, (1 << 62) + 5, -(1 << 63)])
    space = rng.choice(["a", "b"])
    return dot(rng, f"  %at = getelementptr i8, ptr addrspace(1) %{space}, i64 {distance}\n"
               f"  %x = load i8, ptr addrspace(1) %at\n"
               "  %w = zext i8 %x to i32\n  %v = call float @decode(i32 %w)\n  ret float %v",
               parameters=tile_text(rng))


def wild_store(rng, shelf):
    distance = rng.choice([0, 1, 64, -64, 1 << 30, 1 << 45])
    return dot(rng, f"  %at = getelementptr i8, ptr addrspace(1) %a, i64 {distance}\n"
               "  store i8 1, ptr addrspace(1) %at", parameters=tile_text(rng))


def no_pointer(rng, shelf):
    kind, space = rng.choice([("null", 1), ("null", 0), ("undef", 1), ("poison", 1), ("null", 3),
                              ("undef", 3), ("null", 5), ("null", 4)])
    what = rng.choice(["  %x = load i32, ptr addrspace({1}) {0}\n  %v = bitcast i32 %x to float\n"
                       "  ret float %v",
                       "  store i32 7, ptr addrspace({1}) {0}",
                       "  %x = atomicrmw add ptr addrspace({1}) {0}, i32 1 syncscope(\"agent\") "
                       "monotonic"])
    return dot(rng, what.format(kind, space))


def made_pointer(rng, shelf):
    address = rng.choice([0, 8, 0xDEADBEEF, 1 << 47, -1])
    space = rng.choice([0, 1, 3, 5, 7, 8])
    return dot(rng, f"  %at = inttoptr i64 {address} to ptr addrspace({space})\n"
               f"  store i32 1, ptr addrspace({space}) %at")


def wild_c(rng, shelf):
    code = rng.choice(["return *(global const float *)0;", "return a[1L << 40];",
                       "return *(const float *)(long)a_step;",
                       "((global uchar *)a)[3] = 1; return 0;",
                       "local float *p = 0; return p[100000];", "int z[4]; return z[a_step + 9];",
                       "return ((float (*)(int))(long)a_step)(1);", "__builtin_trap(); return 0;",
                       "__builtin_unreachable();", "return 1 / (int)(a_step - a_step);",
                       "static float x; return x++;", "asm(\"s_endpgm\"); return 0;"])
    return reply(rng, region("dot", mark(rng, f"{DOT_C} {{ {code} }}", "//"), "opencl"))


def undefined(rng, shelf):
    return dot(rng, rng.choice([
        "  unreachable", "  call void @llvm.trap()\n  unreachable",
        "  %x = sdiv i64 -9223372036854775808, -1\n  %v = sitofp i64 %x to float\n  ret float %v",
        "  %z = sub i64 %a_step, %a_step\n  %x = udiv i64 1, %z\n  %v = uitofp i64 %x to float\n"
        "  ret float %v",
        "  %x = shl i32 1, 77\n  %v = sitofp i32 %x to float\n  ret float %v",
        "  ret float poison", "  ret float undef",
        "  br i1 undef, label %one, label %two\none:\n  ret float 1.0\ntwo:\n  ret float 2.0",
        "  call void @llvm.assume(i1 false)",
        "  %f = load float, ptr addrspace(1) %a, align 1048576\n  ret float %f",
        "  %s = alloca [20000 x i32], addrspace(5)\n  store i32 1, ptr addrspace(5) %s",
        "  %p = alloca i32, addrspace(5)\n  %q = getelementptr i32, ptr addrspace(5) %p, i32 99\n"
        "  store i32 1, ptr addrspace(5) %q",
    ]))


def divergent(rng, shelf):
    """Cross-lane work where not all lanes are."""
    operation = rng.choice(["call void @llvm.amdgcn.s.barrier()",
                            "call void @llvm.amdgcn.s.endpgm()",
                            "call void @llvm.amdgcn.wave.barrier()\n  call void "
                            "@llvm.amdgcn.s.barrier()"])
    return dot(rng, "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n"
               f"  %odd = trunc i32 %t to i1\n  br i1 %odd, label %one, label %two\n"
               f"one:\n  {operation}\n  br label %two\ntwo:")


# ---- compilers: types, intrinsics and features that back ends give up on ----
CODE = [
    "  %x = atomicrmw add ptr addrspace(1) %a, i24 1 seq_cst",
    "  %x = atomicrmw fadd ptr addrspace(1) %a, fp128 0xL00000000000000000000000000000000 seq_cst",
    "  %x = atomicrmw nand ptr addrspace(1) %a, i128 1 seq_cst",
    "  %x = cmpxchg ptr addrspace(1) %a, i256 0, i256 1 seq_cst seq_cst",
    "  %x = load atomic i24, ptr addrspace(1) %a seq_cst, align 4",
    "  %x = load <65536 x i32>, ptr addrspace(1) %a\n  store <65536 x i32> %x, ptr addrspace(1) %b",
    "  %x = load <vscale x 4 x i32>, ptr addrspace(1) %a",
    "  %x = load x86_amx, ptr addrspace(1) %a",
    "  %x = alloca x86_fp80, addrspace(5)\n  %y = load x86_fp80, ptr addrspace(5) %x\n"
    "  %z = fadd x86_fp80 %y, %y\n  store x86_fp80 %z, ptr addrspace(5) %x",
    "  %x = alloca ppc_fp128, addrspace(5)\n  %y = load ppc_fp128, ptr addrspace(5) %x\n"
    "  %z = fdiv ppc_fp128 %y, %y\n  store ppc_fp128 %z, ptr addrspace(5) %x",
    "  %x = alloca target(\"spirv.Image\"), addrspace(5)",
    "  %x = alloca i32, align 4294967296, addrspace(5)",
    "  %x = alloca i32, i64 %a_step, addrspace(5)\n  store i32 1, ptr addrspace(5) %x",
    "  %x = alloca i32\n  store i32 1, ptr %x",
    "  %x = addrspacecast ptr addrspace(1) %a to ptr addrspace(999)\n"
    "  store i32 1, ptr addrspace(999) %x",
    "  %x = addrspacecast ptr addrspace(1) %a to ptr addrspace(3)\n"
    "  store i32 1, ptr addrspace(3) %x",
    "  call void asm sideeffect \"s_nop 99999\", \"\"()",
    "  call void asm sideeffect \"\", \"~{nothing},={v[300:999]}\"()",
    "  call void asm sideeffect \".include \\22/etc/passwd\\22\", \"\"()",
    "  %x = call i64 asm \"v_mov $0\", \"=v\"()",
    "  invoke void @llvm.donothing() to label %ok unwind label %bad\nbad:\n"
    "  %l = landingpad { ptr, i32 } cleanup\n  unreachable\nok:",
    "  indirectbr ptr blockaddress(@dot, %l), [label %l]\nl:",
    "  callbr void asm \"\", \"!i\"() to label %l [label %l]\nl:",
    "  %x = musttail call float @dot(ptr addrspace(1) %a, i64 %a_step, ptr addrspace(1) %b, "
    "i64 %b_step)\n  ret float %x",
    "  %x = call cc 9999 float @decode(i32 1)",
    "  %x = call amdgpu_kernel float @decode(i32 1)",
    "  %p = load ptr, ptr addrspace(1) %a\n  %x = call float %p(i32 1)\n  ret float %x",
    "  fence syncscope(\"nowhere\") seq_cst",
    "  %x = freeze <1000 x i1> undef\n  %y = bitcast <1000 x i1> %x to i1000\n"
    "  %z = call i1000 @llvm.ctpop.i1000(i1000 %y)",
    "  %x = select i1 undef, token none, token none",
    "  %x = va_arg ptr %a, i32",
]
INTRINSICS = """
void @llvm.amdgcn.s.sleep(i32 %t)
i64 @llvm.amdgcn.s.memtime()
i64 @llvm.readcyclecounter()
void @llvm.amdgcn.s.sendmsg(i32 999, i32 0)
void @llvm.amdgcn.s.sethalt(i32 1)
i32 @llvm.amdgcn.s.getreg(i32 9999999)
void @llvm.amdgcn.s.setreg(i32 1, i32 1)
i32 @llvm.amdgcn.ds.swizzle(i32 1, i32 %t)
float @llvm.amdgcn.cvt.f32.fp8(i32 1, i32 9)
float @llvm.amdgcn.cvt.f32.fp8(i32 1, i32 %t)
i32 @llvm.amdgcn.update.dpp.i32(i32 1, i32 1, i32 9999, i32 15, i32 15, i1 false)
i32 @llvm.amdgcn.mov.dpp.i32(i32 1, i32 -1, i32 0, i32 99, i1 true)
void @llvm.amdgcn.exp.f32(i32 99, i32 99, float 0.0, float 0.0, float 0.0, float 0.0, i1 true, i1 \
true)
float @llvm.amdgcn.interp.p1(float 1.0, i32 9, i32 9, i32 1)
<4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 1, i64 1, <4 x float> undef, i32 9, i32 9, \
i32 9)
i32 @llvm.amdgcn.image.load.1d.i32.i32(i32 1, i32 1, <8 x i32> undef, i32 0, i32 0)
i32 @llvm.amdgcn.raw.buffer.load.i32(<4 x i32> undef, i32 0, i32 0, i32 77)
void @llvm.amdgcn.global.load.lds(ptr addrspace(1) %a, ptr addrspace(3) null, i32 3, i32 0, i32 0)
void @llvm.amdgcn.init.exec(i64 0)
void @llvm.amdgcn.kill(i1 false)
ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
ptr addrspace(4) @llvm.amdgcn.queue.ptr()
i32 @llvm.x86.rdtsc()
<4 x i32> @llvm.x86.aesni.aesenc(<4 x i32> undef, <4 x i32> undef)
ptr @llvm.stacksave.p0()
ptr @llvm.returnaddress(i32 0)
ptr @llvm.frameaddress.p0(i32 9)
void @llvm.eh.sjlj.longjmp(ptr null)
i32 @llvm.eh.typeid.for.p0(ptr null)
token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
i1 @llvm.coro.done(ptr null)
ptr @llvm.thread.pointer.p0()
void @llvm.localescape()
void @llvm.va_start.p0(ptr null)
void @llvm.clear_cache(ptr null, ptr null)
void @llvm.debugtrap()
void @llvm.ubsantrap(i8 1)
void @llvm.write_register.i32(metadata !{!"sp"}, i32 0)
i32 @llvm.get.rounding()
void @llvm.set.rounding(i32 1)
void @llvm.instrprof.increment(ptr null, i64 0, i32 1, i32 0)
void @llvm.gcwrite.p0(ptr null, ptr null, ptr null)
void @llvm.experimental.deoptimize()
void @llvm.experimental.guard(i1 false)
ptr @llvm.adjust.trampoline(ptr null)
i32 @llvm.nothing.at.all(i32 1)
void @llvm.memcpy.p1.p1.i64(ptr addrspace(1) %a, ptr addrspace(1) %b, i64 99999999999, i1 false)
void @llvm.memset.p1.i64(ptr addrspace(1) %a, i8 0, i64 %a_step, i1 true)
void @llvm.lifetime.start.p5(i64 8, ptr addrspace(5) undef)
void @llvm.prefetch.p1(ptr addrspace(1) %a, i32 9, i32 9, i32 9)
float @llvm.sqrt.f32(float undef)
<1024 x float> @llvm.sin.v1024f32(<1024 x float> undef)
""".strip().split("\n")
AROUND = [
    ("module asm \".globl dot\"\n", ""), ("", "!0 = !{!0}\n!llvm.dbg.cu = !{!0}\n"),
    ("@f = alias float (i32), ptr @decode\n", ""), ("@f = ifunc float (i32), ptr @decode\n", ""),
    ("@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } "
     "{ i32 1, ptr @decode, ptr null }]\n", ""),
    ("@llvm.used = appending global [1 x ptr] [ptr @decode]\n", ""),
    ("@x = internal addrspace(3) global [100000 x i32] poison\n", ""),
    ("@x = thread_local global i32 0\n", ""), ("$c = comdat any\n", ""),
    ("@x = external addrspace(1) global i32\n", ""),
    ("@x = internal addrspace(4) constant i64 ptrtoint (ptr @decode to i64)\n", ""),
    ("@x = internal addrspace(4) constant [1000000000 x i8] zeroinitializer\n", ""),
    ("", "define amdgpu_kernel void @another() {\n  ret void\n}\n"),
    ("", "declare void @exit(i32)\n"),
    ("", "uselistorder_bb @dot, %0, { 1, 0 }\n"), ("%t = type { %t }\n", ""),
    ("%t = type opaque\n@x = internal addrspace(4) constant %t undef\n", ""),
    ("", "attributes #99 = { \"amdgpu-num-vgpr\"=\"banana\" }\n"),
    ("", "define internal void @f() gc \"statepoint-example\" personality ptr null prefix i32 1 "
     "prologue i32 2 {\n  ret void\n}\n"),
]
ATTRIBUTES = """
"target-cpu"="gfx90a"
"target-features"="+nothing,-wavefrontsize64"
"amdgpu-waves-per-eu"="0,0"
"amdgpu-flat-work-group-size"="banana"
"amdgpu-num-sgpr"="1"
"amdgpu-lds-size"="999999"
naked
optnone noinline
"target-cpu"="pentium"
alignstack(1024)
"amdgpu-num-vgpr"="1"
sanitize_address
presplitcoroutine
"split-stack"
ssp
""".strip().split("\n")


def back_end(rng, shelf):
    return dot(rng, rng.choice(CODE))


def intrinsic(rng, shelf):
    call = rng.choice(INTRINSICS)
    result = "" if call.startswith("void") else "%x = "
    return dot(rng, f"  %t = call i32 @llvm.amdgcn.workitem.id.x()\n  {result}call {call}")


def around(rng, shelf):
    before, after = rng.choice(AROUND)
    return dot(rng, "  %x = fadd float 0.0, 0.0", before, after)


def attribute(rng, shelf):
    """In a template, whose attributes count."""
    old = rng.choice(["attributes #0 = { ", "attributes #1 = { alwaysinline "])
    body = swap(shelf.naive, old, old + rng.choice(ATTRIBUTES) + " ")
    return reply(rng, template(mark(rng, body))), "ok"


def strange_kernel(rng, shelf):
    """Kernels that code generation has no way for."""
    old, new = rng.choice([
        ("target triple = \"amdgcn-amd-amdhsa\"", "target triple = \"nvptx64-nvidia-cuda\""),
        ("target datalayout = \"e-p:64:64", "target datalayout = \"E-p:16:16"),
        ("define amdgpu_kernel void", "define spir_kernel void"),
        ("define amdgpu_kernel void", "define void"),
        ("define amdgpu_kernel void", "define amdgpu_cs void"),
        ("i32 %bs_stride_k) #0", "i32 %bs_stride_k, ...) #0"),
        ("noalias %c", "byval([4096 x i64]) %c"),
        ("noalias %c", "sret(i32) noalias writeonly %c"),
        ("!\"amdhsa_code_object_version\", i32 500", "!\"amdhsa_code_object_version\", i32 100"),
        ("!{i32 1, !\"amdhsa", "!{i32 99, !\"amdhsa"),
        ("store bfloat %rounded, ptr addrspace(1) %c.at, align 2",
         "store bfloat %rounded, ptr addrspace(1) %c.at, align 2, !nontemporal !{i32 7}"),
    ])
    return reply(rng, template(mark(rng, swap(shelf.naive, old, new)))), "ok"


MAKERS = {
    "wild load": wild_load, "wild store": wild_store, "no pointer": no_pointer,
    "made pointer": made_pointer, "wild C": wild_c, "undefined": undefined, "divergent": divergent,
    "back end": back_end, "back end again": back_end, "intrinsic": intrinsic,
    "intrinsic again": intrinsic, "around": around, "attribute": attribute,
    "strange kernel": strange_kernel,
}
