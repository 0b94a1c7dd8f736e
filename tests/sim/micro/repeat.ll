; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; mfma_cu, vector_cu: one instruction again and again, without a loop, so that
; the difference of the two kernels is of that instruction alone. Registers are
; set once, by nobody; nothing is loaded or stored.
;
; @INSTRUCTION@  text of one iteration; it may use v0 to v9 and a0 to a7
; @SHORT@ @LONG@ iterations of the two kernels

target triple = "amdgcn-amd-amdhsa"

define amdgpu_kernel void @short() #0 {
  call void asm sideeffect ".rept @SHORT@\0A@INSTRUCTION@\0A.endr", "~{v[0:9]},~{a[0:7]}"()
  ret void
}

define amdgpu_kernel void @long() #0 {
  call void asm sideeffect ".rept @LONG@\0A@INSTRUCTION@\0A.endr", "~{v[0:9]},~{a[0:7]}"()
  ret void
}

attributes #0 = { "amdgpu-flat-work-group-size"="1,1024" "target-cpu"="gfx942" "uniform-work-group-size"="true" }
