// A kernel that says nothing to wavesmith: two-dimensional ids from a
// one-dimensional workgroup, a grid-stride loop, dynamic LDS, a macro for the
// tile, an argument without a name, a helper and a table. Everything else is
// said by options (import.sh).
#include <hip/hip_bf16.h>
#include <hip/hip_fp8.h>
#include <hip/hip_runtime.h>

__constant__ const float twice_half[2] = {0.5f, 2.0f};

namespace mine {
template <class T> __device__ T product(T a, T b) { return a * b; }

__global__ __launch_bounds__(256) void
gemm(const __hip_fp8_e4m3_fnuz *A, const __hip_fp8_e4m3_fnuz *B,
     const float *scaleA, const float *scaleB, __hip_bfloat16 *C, int M, int N,
     int K, int sam, int sak, int sbn, int sbk, int) {
  extern __shared__ float row_scales[];
  const int columns = (N + TILE - 1) / TILE;
  for (int tile = blockIdx.x; tile < columns * M; tile += gridDim.x) {
    int row = tile / columns, first = tile % columns * TILE;
    for (int i = threadIdx.x; i < K / 128 && i < 1024; i += blockDim.x)
      row_scales[i] = scaleA[row * sam + i * sak];
    __syncthreads();
    for (int column = first + (int)threadIdx.x; column < first + TILE;
         column += blockDim.x) {
      if (column >= N)
        continue;
      float total = 0;
      for (int block = 0; block < K / 128; block++) {
        float sum = 0;
        for (int k = block * 128; k < block * 128 + 128; k++)
          sum += product<float>(A[(size_t)row * K + k],
                                B[(size_t)column * K + k]);
        total += sum *
                 (block < 1024 ? row_scales[block]
                               : scaleA[row * sam + block * sak]) *
                 scaleB[column / 128 * sbn + block * sbk] *
                 twice_half[block & 1] * twice_half[~block & 1];
      }
      C[(size_t)row * N + column] = __float2bfloat16(total);
    }
    __syncthreads();
  }
}
} // namespace mine

int main() {
  float *a;
  hipMalloc(&a, 16);
  return hipDeviceSynchronize();
}
