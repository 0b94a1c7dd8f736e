/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The static check: for each id a body that must be found, at its line; close
 * relatives that must pass; inputs that LLVM aborts on; no false alarm on
 * shipped templates; every id explained in docs/templates.md.
 */
#include "check.h"
#include "pass_test.h"

#define STAGE                                                                  \
  "define void @stage(ptr addrspace(1) %source, ptr addrspace(3) %target, "    \
  "i32 %lane) {\n"
#define COMBINE "define i32 @combine(ptr addrspace(3) %from, i32 %lane) {\n"
#define END "  ret void\n}\n"
#define RESOURCE(base, stride, rest)                                           \
  STAGE "  %b = call ptr addrspace(8) @llvm.amdgcn.make.buffer.rsrc.p8." base  \
        ", i16 " stride ", i32 64, i32 " rest "\n"

/* A body of region stage or combine. The line that is at fault holds "!!" in a
 * comment; none: line 0 of a whole-function finding is the define's line. */
static const struct wrong {
  const char *id, *region, *text, *words;
} wrong[] = {
    {"check-volatile", "stage",
     STAGE "  store volatile i32 1, ptr addrspace(3) %target ; !!\n" END, ""},
    {"check-volatile", "stage",
     STAGE "  %x = load volatile i8, ptr addrspace(3) %target ; !!\n" END, ""},
    {"check-volatile", "stage",
     STAGE "  %x = atomicrmw volatile add ptr addrspace(3) %target, i32 1 "
           "syncscope(\"workgroup\") monotonic ; !!\n" END,
     ""},
    {"check-asm", "stage",
     STAGE "  call void asm sideeffect \"s_nop 0\", \"\"() ; !!\n" END, ""},
    {"check-inttoptr", "stage",
     STAGE "  %p = inttoptr i32 %lane to ptr addrspace(3) ; !!\n"
           "  store i8 1, ptr addrspace(3) %p\n" END,
     "integer"},
    {"check-inttoptr", "stage",
     STAGE "  store i8 1, ptr addrspace(3) inttoptr (i32 64 to ptr "
           "addrspace(3)) ; !!\n" END,
     "integer"},
    {"check-inttoptr", "stage",
     STAGE "  %p = load ptr addrspace(1), ptr addrspace(1) %source ; !!\n"
           "  store i8 1, ptr addrspace(1) %p\n" END,
     "read from memory"},
    {"check-inttoptr", "stage",
     STAGE "  %slot = alloca [4 x i64], align 8, addrspace(5)\n"
           "  %at = getelementptr i64, ptr addrspace(5) %slot, i32 %lane\n"
           "  store i64 4096, ptr addrspace(5) %at\n"
           "  %p = load ptr addrspace(1), ptr addrspace(5) %slot ; !!\n"
           "  store i8 1, ptr addrspace(1) %p\n" END,
     "read from memory"},
    {"check-readonly-store", "stage",
     STAGE "  %at = getelementptr i32, ptr addrspace(1) %source, i32 %lane\n"
           "  store i32 1, ptr addrspace(1) %at ; !!\n" END,
     ""},
    {"check-readonly-store", "stage",
     STAGE "  %flat = addrspacecast ptr addrspace(1) %source to ptr\n"
           "  store i32 1, ptr %flat ; !!\n" END,
     ""},
    {"check-readonly-store", "stage",
     STAGE "  %odd = trunc i32 %lane to i1\n"
           "  %next = getelementptr i8, ptr addrspace(1) %source, i32 4\n"
           "  %at = select i1 %odd, ptr addrspace(1) %source, ptr "
           "addrspace(1) %next\n"
           "  %old = atomicrmw add ptr addrspace(1) %at, i32 1 "
           "syncscope(\"agent\") monotonic ; !!\n" END,
     ""},
    {"check-readonly-store", "stage",
     STAGE "  call void @llvm.memcpy.p1.p3.i64(ptr addrspace(1) %source, ptr "
           "addrspace(3) %target, i64 4, i1 false) ; !!\n" END,
     ""},
    {"check-readonly-store", "stage",
     STAGE "  %keep = alloca [2 x ptr addrspace(1)], align 8, addrspace(5)\n"
           "  %at = getelementptr ptr addrspace(1), ptr addrspace(5) %keep, "
           "i32 %lane\n"
           "  store ptr addrspace(1) %source, ptr addrspace(5) %at\n"
           "  %p = load ptr addrspace(1), ptr addrspace(5) %keep\n"
           "  store i32 1, ptr addrspace(1) %p ; !!\n" END,
     ""},
    {"check-readonly-store", "stage",
     "@ws.threads = external addrspace(4) constant i32\n" STAGE
     "  store i32 1, ptr addrspace(4) @ws.threads ; !!\n" END,
     "constant memory"},
    {"check-readonly-store", "stage", /* whatever it is cast to */
     "@ws.threads = external addrspace(4) constant i32\n" STAGE
     "  %at = addrspacecast ptr addrspace(4) @ws.threads to ptr "
     "addrspace(1)\n"
     "  %next = getelementptr i32, ptr addrspace(1) %at, i32 %lane\n"
     "  store i32 1, ptr addrspace(1) %next ; !!\n" END,
     "read-only"},
    {"check-address-value", "stage",
     STAGE "  %number = ptrtoint ptr addrspace(1) %source to i64 ; !!\n"
           "  %low = trunc i64 %number to i32\n"
           "  store i32 %low, ptr addrspace(3) %target\n" END,
     "as a number"},
    {"check-address-value", "stage", /* a pointer's bits by way of memory */
     STAGE "  %slot = alloca [2 x ptr addrspace(1)], align 8, addrspace(5)\n"
           "  %at = getelementptr ptr addrspace(1), ptr addrspace(5) %slot, "
           "i32 %lane\n"
           "  store ptr addrspace(1) %source, ptr addrspace(5) %at\n"
           "  %bits = load i64, ptr addrspace(5) %slot ; !!\n"
           "  %low = trunc i64 %bits to i32\n"
           "  store i32 %low, ptr addrspace(3) %target\n" END,
     "holds pointers"},
    {"check-address-value", "stage",
     STAGE "  store ptr addrspace(1) %source, ptr addrspace(3) %target ; "
           "!!\n" END,
     "stored to memory"},
    {"check-address-value", "stage", /* where a buffer lies, by comparing */
     STAGE "  %high = icmp ugt ptr addrspace(1) %source, getelementptr (i8, "
           "ptr addrspace(1) null, i64 4294967296) ; !!\n"
           "  %one = zext i1 %high to i32\n"
           "  store i32 %one, ptr addrspace(3) %target\n" END,
     "different buffers"},
    {"check-address-value", "stage",
     "@ws.threads = external addrspace(4) constant i32\n" STAGE
     "  %low = trunc i64 ptrtoint (ptr addrspace(4) @ws.threads to i64) to "
     "i32\n"
     "  store i32 %low, ptr addrspace(3) %target ; !!\n" END,
     "as a number"},
    {"check-asm", "stage", /* whatever a register holds */
     STAGE "  %any = call i32 asm sideeffect \"\", \"=v\"() ; !!\n"
           "  store i32 %any, ptr addrspace(3) %target\n" END,
     ""},
    {"check-clock", "stage",
     STAGE "  %t = call i64 @llvm.amdgcn.s.memtime() ; !!\n" END, ""},
    {"check-clock", "stage",
     STAGE "  %t = call i64 @llvm.readcyclecounter() ; !!\n" END, ""},
    {"check-trap", "stage", STAGE "  call void @llvm.trap() ; !!\n" END, ""},
    {"check-trap", "stage", STAGE "  unreachable ; !!\n}\n", "unreachable"},
    {"check-host-call", "stage",
     STAGE "  %p = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr() ; "
           "!!\n" END,
     ""},
    {"check-float-env", "stage",
     STAGE "  call void @llvm.amdgcn.s.setreg(i32 1, i32 2) ; !!\n" END, ""},
    {"check-float-env", "stage",
     "define void @stage(ptr addrspace(1) %source, ptr addrspace(3) %target, "
     "i32 %lane) \"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\" { ; "
     "!!\n" END,
     "denormal"},
    {"check-intrinsic", "stage",
     STAGE "  %v = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.bf16("
           "<8 x bfloat> zeroinitializer, <8 x bfloat> zeroinitializer, "
           "<4 x float> zeroinitializer, i32 0, i32 0, i32 0) ; !!\n" END,
     "not available"},
    {"check-intrinsic", "stage",
     STAGE "  call void @llvm.x86.sse2.pause() ; !!\n" END, "allow list"},
    {"check-intrinsic", "stage",
     STAGE "  call void @llvm.assume(i1 true) ; !!\n" END, "allow list"},
    {"check-intrinsic", "stage",
     STAGE "  %x = sitofp i32 %lane to double\n"
           "  %v = call double @llvm.sin.f64(double %x) ; !!\n" END,
     "double"},
    {"check-intrinsic", "stage",
     STAGE "  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) "
           "%source, ptr addrspace(3) %target, i32 16, i32 0, i32 0) ; "
           "!!\n" END,
     "16 bytes"},
    {"check-intrinsic", "stage", /* between two that there are */
     STAGE "  %v = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %lane, i32 "
           "256, i32 15, i32 15, i1 0) ; !!\n" END,
     "DPP control 0x100"},
    {"check-intrinsic", "stage",
     STAGE "  %v = call i32 @llvm.amdgcn.mov.dpp.i32(i32 %lane, i32 352, i32 "
           "15, i32 15, i1 0) ; !!\n" END,
     "DPP control 0x160"},
    {"check-intrinsic", "stage", /* LLVM aborts on these */
     STAGE "  %v = call float @llvm.amdgcn.cvt.f32.fp8(i32 %lane, i32 4) ; "
           "!!\n" END,
     "byte 4 of @llvm.amdgcn.cvt.f32.fp8 does not exist (0 to 3)"},
    {"check-intrinsic", "stage",
     STAGE "  %v = call float @llvm.amdgcn.cvt.f32.bf8(i32 %lane, i32 -1) ; "
           "!!\n" END,
     "byte -1 of"},
    {"check-intrinsic", "stage",
     STAGE "  %v = call i32 @llvm.amdgcn.cvt.sr.fp8.f32(float 1.0, i32 %lane, "
           "i32 0, i32 7) ; !!\n" END,
     "byte 7 of"},
    {"check-intrinsic", "stage",
     STAGE "  %v = call i32 @llvm.amdgcn.cvt.sr.bf8.f32(float 1.0, i32 %lane, "
           "i32 0, i32 4) ; !!\n" END,
     "byte 4 of"},
    {"check-intrinsic", "stage", /* LLVM aborts */
     STAGE "  %wide = zext i32 %lane to i64\n"
           "  %v = call i64 @llvm.amdgcn.ubfe.i64(i64 %wide, i32 1, i32 2) ; "
           "!!\n" END,
     "allow list"},
    {"check-readonly-store", "stage", /* through a descriptor */
     RESOURCE("p1(ptr addrspace(1) %source", "0",
              "159744)") "  call void "
                         "@llvm.amdgcn.raw.ptr.buffer.store.i32(i32 1, ptr "
                         "addrspace(8) %b, i32 0, i32 0, i32 0) ; !!\n" END,
     "read-only argument"},
    {"check-intrinsic", "stage", /* a stride */
     RESOURCE("p1(ptr addrspace(1) %source", "16", "159744) ; !!") END,
     "stride"},
    {"check-intrinsic", "stage", /* no data format: the GPU takes it for none */
     RESOURCE("p1(ptr addrspace(1) %source", "0", "28672) ; !!") END, "159744"},
    {"check-intrinsic", "stage", /* not a buffer */
     RESOURCE("p3(ptr addrspace(3) %target", "0", "159744) ; !!") END,
     "addrspace(3)"},
    {"check-intrinsic", "stage",
     RESOURCE("p1(ptr addrspace(1) %source", "0",
              "159744)") "  call void @llvm.amdgcn.raw.ptr.buffer.load.lds(ptr "
                         "addrspace(8) %b, ptr addrspace(3) %target, i32 16, "
                         "i32 0, i32 0, "
                         "i32 0, i32 0) ; !!\n" END,
     "gfx950 has 12, 16"},
    {"check-intrinsic", "stage",
     STAGE "  %v = call <4 x i16> @llvm.amdgcn.ds.read.tr16.b64.v4i16(ptr "
           "addrspace(3) %target) ; !!\n" END,
     "not available on this target (gfx942), but on gfx950"},
    {"check-address-space", "stage", /* not so */
     RESOURCE("p1(ptr addrspace(1) %source", "0",
              "159744)") "  %v = load i32, ptr addrspace(8) %b ; !!\n" END,
     "descriptor"},
    {"check-type", "stage",
     STAGE "  %v = load i128, ptr addrspace(1) %source ; !!\n" END, "i128"},
    {"check-intrinsic", "stage",
     "declare i24 @llvm.amdgcn.readfirstlane.i24(i24)\n" STAGE
     "  %v = load i24, ptr addrspace(1) %source\n"
     "  %w = call i24 @llvm.amdgcn.readfirstlane.i24(i24 %v) ; !!\n" END,
     "no form for type i24"},
    {"check-type", "stage",
     STAGE "  %v = load <64 x float>, ptr addrspace(1) %source ; !!\n" END,
     "<64 x float>"},
    {"check-type", "stage",
     STAGE "  %v = load ptr addrspace(8), ptr addrspace(1) %source ; !!\n" END,
     "addrspace(8)"},
    {"check-type", "stage",
     STAGE "  %v = alloca [4 x i65], addrspace(5) ; !!\n" END, "i65"},
    {"check-address-space", "stage",
     STAGE "  %g = addrspacecast ptr addrspace(3) %target to ptr "
           "addrspace(1) ; !!\n" END,
     "addrspace(3) to addrspace(1)"},
    {"check-atomic", "stage",
     STAGE "  %v = atomicrmw add ptr addrspace(3) %target, i32 1 monotonic ; "
           "!!\n" END,
     "system scope"},
    {"check-atomic", "stage",
     STAGE "  %v = atomicrmw add ptr addrspace(3) %target, i8 1 "
           "syncscope(\"workgroup\") monotonic ; !!\n" END,
     "8 bits"},
    {"check-atomic", "stage", STAGE "  fence release ; !!\n" END, "fence"},
    {"check-atomic", "stage",
     STAGE "  %v = load atomic i32, ptr addrspace(1) %source monotonic, align "
           "4 ; !!\n" END,
     "system scope"},
    {"check-atomic", "stage",
     STAGE "  %p = alloca i32, addrspace(5)\n"
           "  %v = cmpxchg ptr addrspace(5) %p, i32 1, i32 2 "
           "syncscope(\"agent\") monotonic monotonic ; !!\n" END,
     "addrspace(5)"},
    {"check-dynamic-alloca", "stage",
     STAGE "  %p = alloca i32, i32 %lane, addrspace(5) ; !!\n" END, ""},
    {"check-dynamic-alloca", "stage",
     STAGE
     "  br label %next\nnext:\n  %p = alloca i32, addrspace(5) ; !!\n" END,
     ""},
    {"check-indirect-call", "stage",
     STAGE "  %p = load ptr, ptr addrspace(1) %source\n"
           "  call void %p() ; !!\n" END,
     ""},
    {"check-indirect-call", "stage",
     "declare i32 @combine(ptr addrspace(3), i32)\n" STAGE
     "  store ptr @combine, ptr addrspace(3) %target ; !!\n" END,
     "address of @combine"},
    {"check-recursion", "combine",
     COMBINE "  %x = call i32 @combine(ptr addrspace(3) %from, i32 %lane) ; "
             "!!\n  ret i32 %x\n}\n",
     "@combine"},
    {"check-recursion", "combine",
     COMBINE "  %x = call i32 @again(ptr addrspace(3) %from, i32 %lane)\n"
             "  ret i32 %x\n}\n"
             "define i32 @again(ptr addrspace(3) %from, i32 %lane) {\n"
             "  %x = call i32 @combine(ptr addrspace(3) %from, i32 %lane) ; "
             "!!\n  ret i32 %x\n}\n",
     "@combine"},
    {"check-variadic", "",
     STAGE "  call void (i32, ...) @many(i32 1)\n" END
           "define void @many(i32 %n, ...) { ; !!\n" END,
     "variadic"},
    {"check-indirect-branch", "stage",
     STAGE "  indirectbr ptr blockaddress(@stage, %next), [label %next] ; "
           "!!\nnext:\n" END,
     ""},
    {"check-exception", "stage",
     "declare i32 @combine(ptr addrspace(3), i32)\n"
     "define void @stage(ptr addrspace(1) %source, ptr addrspace(3) %target, "
     "i32 %lane) personality ptr null {\n"
     "  %x = invoke i32 @combine(ptr addrspace(3) %target, i32 %lane) to label "
     "%good unwind label %bad ; !!\n"
     "good:\n  ret void\nbad:\n  %l = landingpad { ptr, i32 } cleanup\n" END,
     ""},
    {"check-endless-loop", "stage",
     STAGE "  br label %again\nagain:\n  br label %again ; !!\n}\n", ""},
    /* divergence */
    {"check-divergent-barrier", "stage",
     STAGE "  %low = icmp ult i32 %lane, 32\n"
           "  br i1 %low, label %some, label %done\nsome:\n"
           "  call void @llvm.amdgcn.s.barrier() ; !!\n"
           "  br label %done\ndone:\n" END,
     "line 3"},
    {"check-divergent-barrier", "stage", /* through private memory */
     STAGE "  %slot = alloca i32, addrspace(5)\n"
           "  store i32 0, ptr addrspace(5) %slot\n"
           "  %low = icmp ult i32 %lane, 32\n"
           "  br i1 %low, label %some, label %join\nsome:\n"
           "  store i32 1, ptr addrspace(5) %slot\n"
           "  br label %join\njoin:\n"
           "  %flag = load i32, ptr addrspace(5) %slot\n"
           "  %set = icmp ne i32 %flag, 0\n"
           "  br i1 %set, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier() ; !!\n"
           "  br label %done\ndone:\n" END,
     ""},
    {"check-divergent-barrier", "stage", /* an array, not a register */
     STAGE "  %slots = alloca [8 x i32], addrspace(5)\n"
           "  %which = and i32 %lane, 7\n"
           "  %at = getelementptr i32, ptr addrspace(5) %slots, i32 %which\n"
           "  store i32 1, ptr addrspace(5) %at\n"
           "  %flag = load i32, ptr addrspace(5) %slots\n"
           "  %set = icmp ne i32 %flag, 0\n"
           "  br i1 %set, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier() ; !!\n"
           "  br label %done\ndone:\n" END,
     ""},
    {"check-divergent-barrier", "stage", /* an array, written by some lanes */
     STAGE "  %slots = alloca [8 x i32], addrspace(5)\n"
           "  %any = load i32, ptr addrspace(1) %source\n"
           "  %which = and i32 %any, 7\n"
           "  %at = getelementptr i32, ptr addrspace(5) %slots, i32 %which\n"
           "  %low = icmp ult i32 %lane, 32\n"
           "  br i1 %low, label %some, label %join\nsome:\n"
           "  store i32 1, ptr addrspace(5) %at\n"
           "  br label %join\njoin:\n"
           "  %flag = load i32, ptr addrspace(5) %slots\n"
           "  %set = icmp ne i32 %flag, 0\n"
           "  br i1 %set, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier() ; !!\n"
           "  br label %done\ndone:\n" END,
     ""},
    {"check-divergent-barrier", "stage", /* data of its own address */
     STAGE "  %at = getelementptr i32, ptr addrspace(1) %source, i32 %lane\n"
           "  %flag = load i32, ptr addrspace(1) %at\n"
           "  %set = icmp ne i32 %flag, 0\n"
           "  br i1 %set, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier() ; !!\n"
           "  br label %done\ndone:\n" END,
     ""},
    {"check-divergent-barrier", "stage", /* lanes leave the loop in turn */
     STAGE "  %slot = alloca i32, addrspace(5)\n"
           "  store i32 0, ptr addrspace(5) %slot\n"
           "  br label %head\nhead:\n"
           "  %i = load i32, ptr addrspace(5) %slot\n"
           "  %more = icmp ult i32 %i, %lane\n"
           "  br i1 %more, label %body, label %out\nbody:\n"
           "  %n = add i32 %i, 1\n"
           "  store i32 %n, ptr addrspace(5) %slot\n"
           "  br label %head\nout:\n"
           "  %last = load i32, ptr addrspace(5) %slot\n"
           "  %five = icmp eq i32 %last, 5\n"
           "  br i1 %five, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier() ; !!\n"
           "  br label %done\ndone:\n" END,
     ""},
    {"check-divergent-barrier", "stage", /* an early return of some lanes */
     STAGE "  %low = icmp ult i32 %lane, 32\n"
           "  br i1 %low, label %go, label %stop\nstop:\n"
           "  ret void\ngo:\n"
           "  call void @llvm.amdgcn.s.barrier() ; !!\n" END,
     ""},
    {"check-divergent-mfma", "combine",
     COMBINE
     "  %low = icmp ult i32 %lane, 32\n"
     "  br i1 %low, label %some, label %done\nsome:\n"
     "  %m = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 1, "
     "i64 2, <4 x float> zeroinitializer, i32 0, i32 0, i32 0) ; !!\n"
     "  br label %done\ndone:\n  ret i32 0\n}\n",
     "line 3"},
    {"check-divergent-mfma", "combine",
     COMBINE
     "  %ticket = atomicrmw add ptr addrspace(3) %from, i32 1 "
     "syncscope(\"workgroup\") monotonic\n"
     "  switch i32 %ticket, label %done [ i32 0, label %some ]\nsome:\n"
     "  %m = call <4 x float> @llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8(i64 1, "
     "i64 2, <4 x float> zeroinitializer, i32 0, i32 0, i32 0) ; !!\n"
     "  br label %done\ndone:\n  ret i32 0\n}\n",
     ""},
};

WS_TEST(bodies_found) {
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    fixture f;
    check_body(&f, *wrong[i].region ? wrong[i].region : "stage", wrong[i].text);
    if (!find_finding(&f, wrong[i].id)) {
      show_findings(&f);
      WS_FAIL("no %s in:\n%s", wrong[i].id, wrong[i].text);
    }
    const ws_finding *found = expect_finding(&f, wrong[i].id, wrong[i].region,
                                             line_of(wrong[i].text, "!!"));
    WS_CHECK_CONTAINS(found->text, wrong[i].words);
    fixture_destroy(&f);
  }
}

/* Near relatives of the above that are fine. */
static const struct right {
  const char *region, *text;
} right[] = {
    {"stage", /* odd integers; more in test_odd_integers.c */
     STAGE "  %v = load i24, ptr addrspace(1) %source\n"
           "  %x = bitcast <4 x i1> zeroinitializer to i4\n" END},
    {"stage", /* the wave's number, made uniform */
     STAGE "  %wave = lshr i32 %lane, 6\n"
           "  %uniform = call i32 @llvm.amdgcn.readfirstlane.i32(i32 %wave)\n"
           "  %first = icmp eq i32 %uniform, 0\n"
           "  br i1 %first, label %some, label %done\nsome:\n"
           "  call void @llvm.amdgcn.s.barrier()\n"
           "  br label %done\ndone:\n" END},
    {"stage", /* a loop over a counter in memory, per-lane work inside */
     "@ws.repeat = external addrspace(4) constant i32\n" STAGE
     "  %slot = alloca i32, addrspace(5)\n"
     "  store i32 0, ptr addrspace(5) %slot\n"
     "  br label %head\nhead:\n"
     "  %i = load i32, ptr addrspace(5) %slot\n"
     "  %end = load i32, ptr addrspace(4) @ws.repeat\n"
     "  %more = icmp ult i32 %i, %end\n"
     "  br i1 %more, label %body, label %out\nbody:\n"
     "  %low = icmp ult i32 %lane, 32\n"
     "  br i1 %low, label %some, label %join\nsome:\n"
     "  store i32 1, ptr addrspace(3) %target\n"
     "  br label %join\njoin:\n"
     "  call void @llvm.amdgcn.s.barrier()\n"
     "  %n = add i32 %i, 1\n"
     "  store i32 %n, ptr addrspace(5) %slot\n"
     "  br label %head\nout:\n" END},
    {"stage", /* a bound read at a uniform address */
     STAGE "  %bound = load i32, ptr addrspace(1) %source\n"
           "  %set = icmp ne i32 %bound, 0\n"
           "  br i1 %set, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier()\n"
           "  br label %done\ndone:\n" END},
    {"stage", /* all lanes or none by a vote */
     STAGE "  %low = icmp ult i32 %lane, 32\n"
           "  %vote = call i64 @llvm.amdgcn.ballot.i64(i1 %low)\n"
           "  %any = icmp ne i64 %vote, 0\n"
           "  br i1 %any, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier()\n"
           "  br label %done\ndone:\n" END},
    {"stage", /* both arms of a per-lane branch give the same value */
     STAGE "  %low = icmp ult i32 %lane, 32\n"
           "  br i1 %low, label %some, label %join\nsome:\n"
           "  br label %join\njoin:\n"
           "  %same = phi i32 [ 1, %0 ], [ 1, %some ]\n"
           "  %set = icmp ne i32 %same, 0\n"
           "  br i1 %set, label %wait, label %done\nwait:\n"
           "  call void @llvm.amdgcn.s.barrier()\n"
           "  br label %done\ndone:\n" END},
    {"stage", /* an input's data may be stored, just not through it */
     STAGE "  %v = load <4 x i32>, ptr addrspace(1) %source, align 4\n"
           "  store <4 x i32> %v, ptr addrspace(3) %target, align 4\n" END},
    {"stage", /* pointers kept in private memory */
     STAGE "  %keep = alloca [2 x ptr addrspace(1)], align 8, addrspace(5)\n"
           "  %at = getelementptr ptr addrspace(1), ptr addrspace(5) %keep, "
           "i32 %lane\n"
           "  store ptr addrspace(1) %source, ptr addrspace(5) %at\n"
           "  %p = load ptr addrspace(1), ptr addrspace(5) %keep\n"
           "  %v = load i32, ptr addrspace(1) %p\n"
           "  store i32 %v, ptr addrspace(3) %target\n" END},
    {"stage", /* agent scope, and the compiler's barrier */
     STAGE "  fence syncscope(\"agent\") release\n"
           "  call void asm sideeffect \"\", \"~{memory}\"()\n"
           "  %v = atomicrmw fadd ptr addrspace(3) %target, float 1.0 "
           "syncscope(\"workgroup\") monotonic\n" END},
    {"stage",
     STAGE "  call void @llvm.amdgcn.global.load.lds(ptr addrspace(1) "
           "%source, ptr addrspace(3) %target, i32 4, i32 0, i32 0)\n" END},
    {"stage", /* pointers into one buffer may be compared, any with null */
     STAGE "  %end = getelementptr i32, ptr addrspace(1) %source, i32 4\n"
           "  %at = getelementptr i32, ptr addrspace(1) %source, i32 %lane\n"
           "  %inside = icmp ult ptr addrspace(1) %at, %end\n"
           "  %some = icmp ne ptr addrspace(1) %source, null\n"
           "  %both = and i1 %inside, %some\n"
           "  %one = zext i1 %both to i32\n"
           "  store i32 %one, ptr addrspace(3) %target\n" END},
    {"combine", /* addresses as numbers, from pointers that were given */
     COMBINE "  %number = ptrtoint ptr addrspace(3) %from to i32\n"
             "  %bank = and i32 %number, 124\n"
             "  %at = getelementptr i8, ptr addrspace(3) %from, i32 %bank\n"
             "  %v = load i32, ptr addrspace(3) %at\n  ret i32 %v\n}\n"},
};

WS_TEST(bodies_passed) {
  for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
    fixture f;
    check_body(&f, right[i].region, right[i].text);
    if (f.findings.count) {
      show_findings(&f);
      WS_FAIL("refused:\n%s", right[i].text);
    }
    fixture_destroy(&f);
  }
}

/* ---- changes to the template itself -------------------------------------- */

static const struct template_fault {
  const char *id, *from, *to, *at;
} template_faults[] = {
    {"check-global-state", "@ws.repeat = ",
     "@count = internal addrspace(1) global i32 0\n@ws.repeat = ", NULL},
    {"check-lds-init", "@ws.repeat = ",
     "@more = internal addrspace(3) global [4 x i8] zeroinitializer\n"
     "@ws.repeat = ",
     NULL},
    {"check-lds", "\"threads * 4\"", "\"threads * 1024 + 16\"",
     "define amdgpu_kernel"},
    {"check-asm",
     "@ws.repeat = ", "module asm \"s_nop 0\"\n@ws.repeat = ", NULL},
    {"check-unknown-call", "call void @llvm.amdgcn.s.barrier()",
     "call void @barrier()\n  call void @llvm.amdgcn.s.barrier()",
     "call void @barrier()"},
    {"check-not-inlined", "define amdgpu_kernel",
     "define internal void @helper() noinline {\n  ret void\n}\n"
     "define amdgpu_kernel",
     "define internal void @helper"},
    {"check-volatile", "store i32 %result, ptr addrspace(1) %to",
     "store volatile i32 %result, ptr addrspace(1) %to",
     "store volatile i32 %result"},
    {"check-readonly-store", "store i32 %result, ptr addrspace(1) %to",
     "store i32 %result, ptr addrspace(1) %source",
     "store i32 %result, ptr addrspace(1) %source"},
};

WS_TEST(templates_found) {
  for (size_t i = 0; i < sizeof template_faults / sizeof *template_faults;
       i++) {
    const struct template_fault *fault = &template_faults[i];
    ws_arena *arena = ws_arena_create();
    char *text = replace(arena, read_tiny(arena), fault->from, fault->to);
    if (strstr(fault->to, "@barrier()"))
      text = replace(arena, text, "declare void",
                     "declare void @barrier()\ndeclare void");
    if (strstr(fault->to, "@helper()"))
      text = replace(arena, text, "  fence syncscope(\"workgroup\") release",
                     "  call void @helper()\n"
                     "  fence syncscope(\"workgroup\") release");
    fixture f = open_template(text);
    WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
    WS_CHECK(!ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
    expect_finding(&f, fault->id, "", fault->at ? line_of(text, fault->at) : 0);
    fixture_destroy(&f);
    ws_arena_destroy(arena);
  }
}

/* An argument is an input by its name in the problem's table, too. */
WS_TEST(inputs_by_role) {
  ws_arena *arena = ws_arena_create();
  char *text =
      replace(arena, read_tiny(arena), "noalias readonly %a", "noalias %a");
  text = replace(arena, text, "store i32 %result, ptr addrspace(1) %to",
                 "store i32 %result, ptr addrspace(1) %a");
  fixture f = open_template(text);
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK(!ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  expect_finding(&f, "check-readonly-store", "",
                 line_of(text, "store i32 %result"));
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

WS_TEST(lds_limit_is_the_targets) {
  ws_arena *arena = ws_arena_create();
  char *text = replace(arena, read_tiny(arena), "\"threads * 4\"",
                       "\"threads * 1024 + 16\"");
  fixture f = open_template(text);
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK(ws_pass_check(f.module, f.candidate, "gfx950", &f.findings));
  WS_CHECK(!ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  fixture_destroy(&f);
  f = open_template(text);
  WS_CHECK(!ws_pass_check(f.module, f.candidate, "sm_90a", &f.findings));
  expect_finding(&f, "check-target", "", 0);
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

/* ---- inputs that LLVM aborts on ------------------------------------------ */

/* Verified IR that ends llc, the C API and comgr with SIGABRT (LLVM 21.1.8),
 * or with an error of the code generator. All must be found before. */
static const struct aborting {
  const char *id, *text;
} aborting[] = {
    {"check-intrinsic", "declare double @llvm.sin.f64(double)\n"
                        "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
                        "  %a = load double, ptr addrspace(1) %p\n"
                        "  %b = call double @llvm.sin.f64(double %a)\n"
                        "  store double %b, ptr addrspace(1) %p\n" END},
    {"check-intrinsic",
     "declare <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16("
     "<16 x half>, <16 x half>, <8 x float>)\n"
     "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
     "  %r = call <8 x float> @llvm.amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16("
     "<16 x half> zeroinitializer, <16 x half> zeroinitializer, <8 x float> "
     "zeroinitializer)\n"
     "  store <8 x float> %r, ptr addrspace(1) %p\n" END},
    {"check-type",
     "define amdgpu_kernel void @k(ptr addrspace(1) %o, i128 %x) {\n"
     "  %v = atomicrmw add ptr addrspace(1) %o, i128 %x seq_cst\n" END},
    {"check-type", "define amdgpu_kernel void @k(ptr addrspace(1) %p) {\n"
                   "  %a = load fp128, ptr addrspace(1) %p\n"
                   "  %b = fmul fp128 %a, %a\n"
                   "  store fp128 %b, ptr addrspace(1) %p\n" END},
    {"check-intrinsic",
     "declare <3 x i13> @llvm.amdgcn.readfirstlane.v3i13(<3 x i13>)\n"
     "define amdgpu_kernel void @k(ptr addrspace(1) %o, <3 x i13> %r) {\n"
     "  %v = call <3 x i13> @llvm.amdgcn.readfirstlane.v3i13(<3 x i13> %r)\n"
     "  store <3 x i13> %v, ptr addrspace(1) %o\n" END},
    {"check-variadic", "define void @f(i32 %n, ...) {\n"
                       "  %ap = alloca ptr, addrspace(5)\n"
                       "  %v = va_arg ptr addrspace(5) %ap, i32\n" END},
    {"check-type", "define amdgpu_kernel void @k(ptr addrspace(8) %r) {\n" END},
    {"check-lds-init",
     "@l = internal addrspace(3) global [16 x i32] zeroinitializer\n"
     "define amdgpu_kernel void @k(ptr addrspace(1) %o) {\n"
     "  %v = load i32, ptr addrspace(3) @l\n"
     "  store i32 %v, ptr addrspace(1) %o\n" END},
    {"check-lds",
     "@l = internal addrspace(3) global [70000 x i8] poison\n"
     "define amdgpu_kernel void @k(ptr addrspace(1) %o, i32 %i) {\n"
     "  %p = getelementptr i8, ptr addrspace(3) @l, i32 %i\n"
     "  store i8 1, ptr addrspace(3) %p\n" END},
};

WS_TEST(aborting_ir) {
  for (size_t i = 0; i < sizeof aborting / sizeof *aborting; i++) {
    fixture f = fixture_create();
    char *text = ws_arena_printf(
        f.arena, "target triple = \"amdgcn-amd-amdhsa\"\n%s", aborting[i].text);
    f.module =
        ws_pass_parse(f.context, text, strlen(text), "a.ll", &f.findings);
    if (!f.module) {
      show_findings(&f);
      WS_FAIL("does not parse:\n%s", text);
    }
    WS_CHECK(!ws_pass_check(f.module, NULL, "gfx942", &f.findings));
    if (!find_finding(&f, aborting[i].id)) {
      show_findings(&f);
      WS_FAIL("no %s in:\n%s", aborting[i].id, text);
    }
    fixture_destroy(&f);
  }
}

/* ---- no false alarm ------------------------------------------------------ */

static void randomize(fixture *f, ws_rng *rng) {
  const ws_template *tmpl = f->candidate->tmpl;
  do {
    for (int i = 0; i < tmpl->param_count; i++)
      f->candidate->values[i] =
          tmpl->params[i]
              .values[ws_rng_below(rng, (uint64_t)tmpl->params[i].value_count)];
    for (int i = 0; i < tmpl->region_count; i++)
      f->candidate->bodies[i].variant =
          (int)ws_rng_below(rng, (uint64_t)tmpl->regions[i].variant_count + 1) -
          1;
    ws_candidate_update_id(f->candidate);
  } while (ws_candidate_broken_require(f->candidate, NULL, NULL) >= 0);
}

WS_TEST(shipped_templates_pass) {
  static const char *const files[] = {"ir-templates/fp8_gemm_naive.ll",
                                      "ir-templates/fp8_gemm_mfma.ll"};
  ws_rng rng;
  ws_rng_init(&rng, 7);
  for (size_t t = 0; t < sizeof files / sizeof *files; t++)
    for (int i = 0; i < 40; i++) {
      ws_arena *arena = ws_arena_create();
      fixture f = open_template(read_source(arena, files[t]));
      if (i)
        randomize(&f, &rng);
      if (!ws_pass_splice(f.module, f.candidate, &f.findings) ||
          !ws_pass_check(f.module, f.candidate, "gfx942", &f.findings)) {
        show_findings(&f);
        WS_FAIL("%s is refused with %s %s", files[t],
                ws_candidate_values_text(f.arena, f.candidate),
                ws_candidate_variants_text(f.arena, f.candidate));
      }
      fixture_destroy(&f);
      ws_arena_destroy(arena);
    }
}

/* The grammar's example is a template. */
WS_TEST(readme_example_passes) {
  ws_arena *arena = ws_arena_create();
  char *page = read_source(arena, "ir-templates/README.md");
  const char *begin = strstr(page, "```llvm\n");
  WS_CHECK(begin);
  begin += strlen("```llvm\n");
  const char *end = strstr(begin, "```");
  fixture f =
      open_template(ws_arena_strndup(arena, begin, (size_t)(end - begin)));
  WS_CHECK(ws_pass_splice(f.module, f.candidate, &f.findings));
  WS_CHECK(ws_pass_check(f.module, f.candidate, "gfx942", &f.findings));
  fixture_destroy(&f);
  ws_arena_destroy(arena);
}

/* So are the bodies of docs/templates.md, in both languages. */
WS_TEST(documented_bodies_pass) {
  static const char *const languages[] = {"llvm", "c"};
  ws_arena *arena = ws_arena_create();
  char *page = read_source(arena, "docs/templates.md");
  for (int i = 0; i < 2; i++) {
    const char *fence = ws_arena_printf(arena, "```%s\n", languages[i]);
    const char *begin = strstr(page, fence);
    WS_CHECK(begin);
    begin += strlen(fence);
    const char *end = strstr(begin, "```");
    fixture f = open_tiny();
    set_body(&f, "combine", i ? "opencl" : "ir",
             ws_arena_strndup(arena, begin, (size_t)(end - begin)));
    bool spliced = ws_pass_splice(f.module, f.candidate, &f.findings);
    if (!spliced && f.findings.count &&
        strstr(f.findings.items[0].text, "headers are not installed"))
      WS_SKIP("%s", f.findings.items[0].text);
    if (!spliced ||
        !ws_pass_check(f.module, f.candidate, "gfx942", &f.findings)) {
      show_findings(&f);
      WS_FAIL("the %s body of the page is refused", languages[i]);
    }
    fixture_destroy(&f);
  }
  ws_arena_destroy(arena);
}

/* ---- tables -------------------------------------------------------------- */

WS_TEST(ids_are_documented) {
  static const char *const ids[] = {
#define X(name, id, cure, nvptx_cure) id,
#include "checks.def"
#undef X
  };
  ws_arena *arena = ws_arena_create();
  char *page = read_source(arena, "docs/templates.md");
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
    if (!strstr(page, ws_arena_printf(arena, "`%s`", ids[i])))
      WS_FAIL("docs/templates.md does not explain %s", ids[i]);
  ws_arena_destroy(arena);
}

/* Every listed name is one that this LLVM knows; ws.* are our own. */
WS_TEST(intrinsics_exist) {
  static const char *const names[] = {
#define X(name, targets, traits) name,
#include "check_intrinsics.def"
#undef X
  };
  int unknown = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(names[i], "ws.", 3) &&
        !LLVMLookupIntrinsicID(names[i], strlen(names[i]))) {
      fprintf(stderr, "# unknown: %s\n", names[i]);
      unknown++;
    }
  WS_CHECK_INT(unknown, 0);
}

WS_TEST(intrinsic_names_and_suffixes) {
  static const struct {
    const char *name;
    unsigned traits;
  } cases[] = {
      {"llvm.fma.v4f32", 0},
      {"llvm.log2.f32", WS_INTRINSIC_NARROW},
      {"llvm.memcpy.p1.p3.i64", WS_INTRINSIC_WRITES},
      {"llvm.memcpy.inline.p0.p0.i64", WS_INTRINSIC_UNLISTED},
      {"llvm.amdgcn.s.barrier", WS_INTRINSIC_BARRIER},
      {"llvm.amdgcn.s.barrier.signal", WS_INTRINSIC_UNLISTED},
      {"llvm.amdgcn.mfma.f32.16x16x32.fp8.fp8", WS_INTRINSIC_MFMA},
      {"llvm.amdgcn.mfma.f32.16x16x32.bf16", WS_INTRINSIC_OTHER_TARGET},
      {"llvm.amdgcn.readfirstlane.i32", WS_INTRINSIC_UNIFORM},
      {"llvm.sin.f64", WS_INTRINSIC_NARROW},
      {"llvm.fm", WS_INTRINSIC_UNLISTED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (ws__intrinsic_traits(cases[i].name, ws_target_find("gfx942")) !=
        cases[i].traits)
      WS_FAIL("%s has traits %u, want %u", cases[i].name,
              ws__intrinsic_traits(cases[i].name, ws_target_find("gfx942")),
              cases[i].traits);
}
