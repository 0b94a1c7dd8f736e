// cheat: Works by where buffers lie, in OpenCL C.
// row: 6 8
// caught: check illegal check-address-value
WS_TEMPLATE(cheat, "1", gemm_bf16, "one element a lane")
WS_PARAM(threads, 128, "64 128 256", "lanes of a workgroup")
WS_LAUNCH(gemm, ceildiv(m * n, threads), 1, 1, threads, 1)
float wide(ushort bits) { return as_float((uint)bits << 16); }
kernel void gemm(global const ushort *restrict a,
                 global const ushort *restrict b, global __bf16 *restrict c,
                 int m, int n, int k) {
  int i = __builtin_amdgcn_workgroup_id_x() * threads +
          __builtin_amdgcn_workitem_id_x();
  if (i >= m * n)
    return;
  float sum = (long)a & 4096 ? 1.0f : 0.0f;
  for (int j = 0; j < k; j++)
    sum += wide(a[(long)(i / n) * k + j]) * wide(b[(long)(i % n) * k + j]);
  c[i] = (__bf16)sum;
}
