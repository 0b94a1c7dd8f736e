__device__ float decode(unsigned byte) { return __builtin_amdgcn_cvt_f32_fp8(byte, 0); }
