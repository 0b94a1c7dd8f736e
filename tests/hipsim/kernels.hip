// Device code of the tests, compiled by comgr for gfx942 (compile_kernels.c).
// C linkage: names as they are.
typedef unsigned int uint;
#define KERNEL extern "C" __attribute__((global))
#define DEVICE __attribute__((device))
#define CONSTANT __attribute__((constant))
#define SHARED __attribute__((shared))

extern "C" DEVICE uint counter = 7;
extern "C" CONSTANT float table[4] = {1.0f, 2.0f, 4.0f, 8.0f};

static DEVICE uint thread_x() { return __builtin_amdgcn_workitem_id_x(); }
static DEVICE uint group_x() { return __builtin_amdgcn_workgroup_id_x(); }

// y = a x + y over n elements, 256 threads a block.
KERNEL void saxpy(float a, const float *x, float *y, uint n) {
  uint i = group_x() * 256 + thread_x();
  if (i < n)
    y[i] = a * x[i] + y[i];
}

// Loads past the end of x where n is too large.
KERNEL void copy_words(const uint *x, uint *y, uint n) {
  uint i = group_x() * 64 + thread_x();
  if (i < n)
    y[i] = x[i];
}

// As many rounds as it is told: its time grows with them.
KERNEL void spin(uint rounds, uint *out) {
  uint value = thread_x();
  for (uint i = 0; i < rounds; i++)
    value = value * 1664525u + 1013904223u;
  out[group_x() * 64 + thread_x()] = value;
}

KERNEL void spin_forever(volatile uint *flag) {
  while (*flag == 0)
    ;
}

KERNEL void clear_words(uint *x, uint n) {
  uint i = group_x() * 64 + thread_x();
  if (i < n)
    x[i] = 0;
}

// Group 0 waits for group 1, if it finds a 0.
KERNEL void wait_for_other(uint *flag) {
  if (group_x() == 1)
    __hip_atomic_store(flag, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  else
    while (!__hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT))
      __builtin_amdgcn_s_sleep(1);
}

KERNEL void stop_here(uint *out) {
  out[0] = 1;
  __builtin_trap();
}

// Reverses 256 words of a block through dynamic LDS.
extern SHARED uint dynamic_words[];
KERNEL void reverse(uint *data) {
  uint t = thread_x();
  dynamic_words[t] = data[group_x() * 256 + t];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  data[group_x() * 256 + t] = dynamic_words[255 - t];
}

KERNEL void bump(uint *out, const float *unused) {
  if (thread_x() == 0) {
    counter += 1;
    out[0] = counter;
    out[1] = (uint)table[3];
  }
}

KERNEL __attribute__((amdgpu_flat_work_group_size(1, 128))) void
small_block(uint *out) {
  out[thread_x()] = thread_x();
}

// As many VGPRs as the name says.
#define REGISTERS(count, last)                                                 \
  KERNEL __attribute__((amdgpu_flat_work_group_size(1, 256))) void             \
  registers_##count(uint *out) {                                               \
    asm volatile("" ::: last);                                                 \
    out[thread_x()] = 1;                                                       \
  }
REGISTERS(64, "v63")
REGISTERS(72, "v71")
REGISTERS(80, "v79")
REGISTERS(96, "v95")
REGISTERS(128, "v127")
REGISTERS(168, "v167")
REGISTERS(256, "v255")

// Streams for chains: 256 threads a block, 16 x 16 bytes a thread.
typedef uint uint4_ __attribute__((ext_vector_type(4)));
KERNEL void stream_write(uint4_ *out, uint value) {
  for (uint i = 0; i < 16; i++)
    out[(group_x() * 16 + i) * 256 + thread_x()] = value;
}

// Four bytes are written for 256 that are read.
KERNEL void stream_read(const uint4_ *in, uint *out) {
  uint4_ sum = 0;
  for (uint i = 0; i < 16; i++)
    sum ^= in[(group_x() * 16 + i) * 256 + thread_x()];
  out[group_x() * 256 + thread_x()] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}

// n x n floats, tiles of 64 x 64 by 256 threads.
KERNEL void transpose(const float *in, float *out, uint n) {
  SHARED static float tile[64][65];
  uint tiles = n / 64, row = group_x() / tiles * 64;
  uint column = group_x() % tiles * 64, x = thread_x() % 64;
  for (uint y = thread_x() / 64; y < 64; y += 4)
    tile[y][x] = in[(row + y) * n + column + x];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  for (uint y = thread_x() / 64; y < 64; y += 4)
    out[(column + y) * n + row + x] = tile[x][y];
}

// A slice of c = a b of four: a is n x n, b n x 16 of floats, a split of k each
// block of 256 rows; column-major, so that lanes read side by side.
KERNEL void gemm_slice(const float *a, const float *b, float *partial, uint n) {
  uint blocks = n / 256, slice = group_x() / blocks;
  uint row = group_x() % blocks * 256 + thread_x();
  float sum[16] = {};
  for (uint k = slice * n / 16; k < (slice + 1) * n / 16; k++)
    for (uint j = 0; j < 16; j++)
      sum[j] += a[k * n + row] * b[k * 16 + j];
  for (uint j = 0; j < 16; j++)
    partial[(slice * 16 + j) * n + row] = sum[j];
}

KERNEL void reduce_slices(const float *partial, float *c, uint n) {
  uint at = group_x() * 256 + thread_x();
  float sum = 0;
  for (uint slice = 0; slice < 16; slice++)
    sum += partial[slice * 16 * n + at];
  c[at] = sum;
}
