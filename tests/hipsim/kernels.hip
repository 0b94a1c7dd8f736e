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
