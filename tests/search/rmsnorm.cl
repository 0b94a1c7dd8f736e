// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// rmsnorm with one lane a row: the simplest whole kernel of a reply.
WS_TEMPLATE(rmsnorm_cl, "1", rmsnorm, "one lane a row")
WS_PARAM(lanes, 64, "64 128 256", "lanes of a workgroup")
WS_PARAM(wide, 2, "1 2 8", "elements per round")
WS_LAUNCH(rmsnorm, ceildiv(rows, lanes), 1, 1, lanes, 1)

WS_REGION("Returns the scale of a row: 1 / sqrt(squares / cols + eps).")
float scale(float squares, int cols, float eps) {
  return 1.0f / __builtin_sqrtf(squares / (float)cols + eps);
}

kernel void rmsnorm(global const __bf16 *restrict x,
                    global const __bf16 *restrict residual,
                    global const __bf16 *restrict weight,
                    global __bf16 *restrict sum, global __bf16 *restrict y,
                    int rows, int cols, float eps) {
  int row = __builtin_amdgcn_workgroup_id_x() * lanes +
            __builtin_amdgcn_workitem_id_x();
  if (row >= rows)
    return;
  long base = (long)row * cols;
  float squares[WS_MOST(wide)];
#pragma unroll
  for (int i = 0; i < wide; i++)
    squares[i] = 0.0f;
  for (int c = 0; c < cols; c += wide)
#pragma unroll
    for (int i = 0; i < wide; i++) {
      float value = (float)x[base + c + i] + (float)residual[base + c + i];
      sum[base + c + i] = (__bf16)value;
      squares[i] += value * value;
    }
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < wide; i++)
    total += squares[i];
  float factor = scale(total, cols, eps);
  for (int c = 0; c < cols; c++) {
    float value = (float)x[base + c] + (float)residual[base + c];
    y[base + c] = (__bf16)(value * factor * (float)weight[c]);
  }
}
