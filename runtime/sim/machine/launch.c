/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Plans and workgroups; launch.h says what they are. All bit positions are
 * those of LLVM's AMDGPUUsage: "Kernel Descriptor", "compute_pgm_rsrc1/2 for
 * GFX6-GFX12", "Initial Kernel Execution State", "Code Object V5 Metadata".
 */
#include "launch.h"
#include "clock_constants.h"
#include "lds_shadow.h"
#include "mfma_fp8.h"

#include <stdlib.h>

enum {
  MAX_THREADS = 1024, /* of a workgroup */
  MAX_USER_SGPRS = 16,
  DEFAULT_BUDGET_LOG2 = 31,
  PACKET_BYTES = 64, /* hsa_kernel_dispatch_packet_t */
  QUEUE_BYTES = 256, /* amd_queue_t, zeroes but for the apertures */
  QUEUE_SHARED_APERTURE = 0x40,
  QUEUE_PRIVATE_APERTURE = 0x44,
  /* What a kernel that calls through pointers gets as a stack per lane; its
   * code object cannot say. Our choice. */
  DYNAMIC_STACK_BYTES = 16384,
};

/* ---- checks ---------------------------------------------------------------
 */

static const char *kernel_name(const ws_sim_launch *launch) {
  return launch->kernel->info.name;
}

static ws_status check_block(const ws_sim_launch *launch, uint32_t *out_threads,
                             ws_diag *diag) {
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    if (launch->block[i] == 0 || launch->block[i] > MAX_THREADS)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "%s: block of %u x %u x %u threads; each extent must be "
                     "from 1 to %d",
                     kernel_name(launch), launch->block[0], launch->block[1],
                     launch->block[2], MAX_THREADS);
    threads *= launch->block[i];
  }
  const int32_t limit = launch->kernel->info.max_workgroup;
  const uint64_t most =
      limit > 0 && limit < MAX_THREADS ? (uint64_t)limit : MAX_THREADS;
  if (threads > most)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: %llu threads per workgroup, but the kernel was "
                   "compiled for at most %llu",
                   kernel_name(launch), (unsigned long long)threads,
                   (unsigned long long)most);
  *out_threads = (uint32_t)threads;
  return WS_OK;
}

/* The hardware counts work-items of a dimension in 32 bits. */
static ws_status check_grid(const ws_sim_launch *launch, uint64_t *out_count,
                            ws_diag *diag) {
  uint64_t count = 1;
  for (int i = 0; i < 3; i++) {
    const uint64_t items = (uint64_t)launch->grid[i] * launch->block[i];
    if (items == 0 || items > UINT32_MAX ||
        __builtin_mul_overflow(count, (uint64_t)launch->grid[i], &count))
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "%s: grid of %u x %u x %u workgroups; each extent must be "
                     "at least 1 and grid times block below 2^32",
                     kernel_name(launch), launch->grid[0], launch->grid[1],
                     launch->grid[2]);
  }
  *out_count = count;
  return WS_OK;
}

static ws_status check_lds(const ws_sim_launch *launch, uint32_t *out_bytes,
                           ws_diag *diag) {
  const uint64_t bytes =
      (uint64_t)launch->dynamic_lds + (uint32_t)launch->kernel->info.lds_bytes;
  if (bytes > WS_LDS_BYTES)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: %llu bytes of LDS (%d static, %u dynamic); a workgroup "
                   "can have %d",
                   kernel_name(launch), (unsigned long long)bytes,
                   launch->kernel->info.lds_bytes, launch->dynamic_lds,
                   WS_LDS_BYTES);
  *out_bytes = (uint32_t)bytes;
  return WS_OK;
}

static bool is_hidden(const ws_sim_argument *argument) {
  return argument->kind && !strncmp(argument->kind, "hidden_", 7);
}

static ws_status check_arguments(const ws_sim_launch *launch, ws_diag *diag) {
  const ws_sim_kernel_info *info = &launch->kernel->info;
  int64_t needed = 0;
  for (int i = 0; i < info->arg_count; i++) {
    const ws_sim_argument *argument = &info->args[i];
    const int64_t end = (int64_t)argument->offset + argument->size;
    if (argument->offset < 0 || argument->size < 0 || end > info->kernarg_bytes)
      return ws_fail(diag, WS_INPUT, NULL, 0,
                     "%s: argument %d lies at bytes %d to %lld of a kernarg "
                     "segment of %d",
                     info->name, i, argument->offset, (long long)end,
                     info->kernarg_bytes);
    if (!is_hidden(argument) && end > needed)
      needed = end;
  }
  if (!launch->kernarg && needed > 0)
    return ws_fail(diag, WS_INPUT, NULL, 0, "%s: no arguments given",
                   info->name);
  if (launch->kernarg_size < (uint64_t)needed)
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "%s: %llu bytes of arguments given, the kernel takes %lld",
                   info->name, (unsigned long long)launch->kernarg_size,
                   (long long)needed);
  return WS_OK;
}

/* ---- kernarg segment and dispatch packet ----------------------------------
 */

typedef enum hidden_value {
  HIDDEN_BLOCK_COUNT,
  HIDDEN_GROUP_SIZE,
  HIDDEN_REMAINDER,
  HIDDEN_GRID_DIMENSIONS,
  HIDDEN_DYNAMIC_LDS,
  HIDDEN_QUEUE
} hidden_value;

/* All others (offsets, printf, heap, host calls, ...) are 0. */
static const struct hidden_argument {
  const char *kind;
  hidden_value value;
  int axis;
} hidden_arguments[] = {
    {"hidden_block_count_x", HIDDEN_BLOCK_COUNT, 0},
    {"hidden_block_count_y", HIDDEN_BLOCK_COUNT, 1},
    {"hidden_block_count_z", HIDDEN_BLOCK_COUNT, 2},
    {"hidden_group_size_x", HIDDEN_GROUP_SIZE, 0},
    {"hidden_group_size_y", HIDDEN_GROUP_SIZE, 1},
    {"hidden_group_size_z", HIDDEN_GROUP_SIZE, 2},
    {"hidden_remainder_x", HIDDEN_REMAINDER, 0},
    {"hidden_remainder_y", HIDDEN_REMAINDER, 1},
    {"hidden_remainder_z", HIDDEN_REMAINDER, 2},
    {"hidden_grid_dims", HIDDEN_GRID_DIMENSIONS, 0},
    {"hidden_dynamic_lds_size", HIDDEN_DYNAMIC_LDS, 0},
    {"hidden_queue_ptr", HIDDEN_QUEUE, 0},
};

static uint32_t grid_dimensions(const ws_sim_launch *launch) {
  const uint64_t y = (uint64_t)launch->grid[1] * launch->block[1];
  const uint64_t z = (uint64_t)launch->grid[2] * launch->block[2];
  return z > 1 ? 3 : y > 1 ? 2 : 1;
}

static uint64_t hidden_argument_value(const struct hidden_argument *hidden,
                                      const ws_sim_launch *launch,
                                      uint64_t queue) {
  switch (hidden->value) {
  case HIDDEN_BLOCK_COUNT:
    return launch->grid[hidden->axis];
  case HIDDEN_GROUP_SIZE:
    return launch->block[hidden->axis];
  case HIDDEN_REMAINDER: /* grids are whole workgroups */
    return 0;
  case HIDDEN_GRID_DIMENSIONS:
    return grid_dimensions(launch);
  case HIDDEN_DYNAMIC_LDS:
    return launch->dynamic_lds;
  case HIDDEN_QUEUE:
    return queue;
  }
  return 0;
}

static void fill_hidden(const ws_sim_launch *launch, uint64_t queue,
                        uint8_t *kernarg) {
  const ws_sim_kernel_info *info = &launch->kernel->info;
  const int count = (int)(sizeof hidden_arguments / sizeof *hidden_arguments);
  for (int i = 0; i < info->arg_count; i++)
    for (int h = 0; is_hidden(&info->args[i]) && h < count; h++) {
      if (strcmp(info->args[i].kind, hidden_arguments[h].kind))
        continue;
      const uint64_t value =
          hidden_argument_value(&hidden_arguments[h], launch, queue);
      const size_t size = (size_t)info->args[i].size;
      memcpy(kernarg + info->args[i].offset, &value, size < 8 ? size : 8);
    }
}

/* hsa_kernel_dispatch_packet_t of the HSA runtime specification, 2.9.6. */
static void fill_packet(const ws_plan *plan, const ws_sim_launch *launch,
                        uint8_t *packet) {
  struct {
    uint16_t header, setup, workgroup[3], reserved;
    uint32_t grid[3], private_bytes, group_bytes;
    uint64_t kernel, kernarg, reserved_2, signal;
  } dispatch = {.header = 2, /* HSA_PACKET_TYPE_KERNEL_DISPATCH */
                .setup = (uint16_t)grid_dimensions(launch),
                .private_bytes = plan->scratch_bytes,
                .group_bytes = plan->lds_bytes,
                .kernarg = (uintptr_t)plan->kernarg};
  _Static_assert(sizeof dispatch == PACKET_BYTES, "layout of the packet");
  for (int i = 0; i < 3; i++) {
    dispatch.workgroup[i] = (uint16_t)plan->block[i];
    dispatch.grid[i] = plan->grid[i] * plan->block[i];
  }
  memcpy(packet, &dispatch, sizeof dispatch);
}

static void fill_queue(uint8_t *queue) {
  const uint32_t shared = WS_SHARED_APERTURE, private = WS_PRIVATE_APERTURE;
  memcpy(queue + QUEUE_SHARED_APERTURE, &shared, sizeof shared);
  memcpy(queue + QUEUE_PRIVATE_APERTURE, &private, sizeof private);
}

static ws_status make_kernarg(const ws_sim_launch *launch, ws_plan *plan,
                              ws_diag *diag) {
  const uint32_t bytes =
      ((uint32_t)launch->kernel->info.kernarg_bytes + 63) & ~63u;
  plan->kernarg =
      ws__memory_allocate(plan->memory, bytes + PACKET_BYTES + QUEUE_BYTES);
  if (!plan->kernarg)
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0,
                   "%s: no memory for the arguments", kernel_name(launch));
  plan->kernarg_bytes = bytes;
  memset(plan->kernarg, 0, bytes + PACKET_BYTES + QUEUE_BYTES);
  const size_t given =
      launch->kernarg_size < bytes ? launch->kernarg_size : (size_t)bytes;
  if (given)
    memcpy(plan->kernarg, launch->kernarg, given);
  fill_hidden(launch, (uintptr_t)plan->kernarg + bytes + PACKET_BYTES,
              plan->kernarg);
  fill_packet(plan, launch, plan->kernarg + bytes);
  fill_queue(plan->kernarg + bytes + PACKET_BYTES);
  return WS_OK;
}

/* ---- user SGPRs -----------------------------------------------------------
 */

enum {
  PROPERTY_PRIVATE_SEGMENT_BUFFER = 1 << 0,
  PROPERTY_DISPATCH_PTR = 1 << 1,
  PROPERTY_QUEUE_PTR = 1 << 2,
  PROPERTY_KERNARG_SEGMENT_PTR = 1 << 3,
  PROPERTY_DISPATCH_ID = 1 << 4,
  PROPERTY_FLAT_SCRATCH_INIT = 1 << 5,
  PROPERTY_PRIVATE_SEGMENT_SIZE = 1 << 6
};

static int push_sgprs(ws_plan *plan, int at, const void *words, int count) {
  for (int i = 0; i < count && at < MAX_USER_SGPRS; i++, at++)
    memcpy(&plan->sgpr[at], (const char *)words + 4 * i, 4);
  return at;
}

/* Flat scratch is set up by hardware on gfx942 (architected flat scratch), so
 * buffer and init value are only place holders. */
static int push_properties(ws_plan *plan) {
  const uint64_t kernarg = (uintptr_t)plan->kernarg;
  const uint64_t packet = kernarg + plan->kernarg_bytes;
  const struct {
    int property, words;
    uint64_t value[2];
  } inputs[] = {
      {PROPERTY_PRIVATE_SEGMENT_BUFFER, 4, {0, 0}},
      {PROPERTY_DISPATCH_PTR, 2, {packet, 0}},
      {PROPERTY_QUEUE_PTR, 2, {packet + PACKET_BYTES, 0}},
      {PROPERTY_KERNARG_SEGMENT_PTR, 2, {kernarg, 0}},
      {PROPERTY_DISPATCH_ID, 2, {1, 0}},
      {PROPERTY_FLAT_SCRATCH_INIT, 2, {0, 0}},
      {PROPERTY_PRIVATE_SEGMENT_SIZE, 1, {plan->scratch_bytes, 0}},
  };
  int at = 0;
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (plan->kernel->properties & inputs[i].property)
      at = push_sgprs(plan, at, inputs[i].value, inputs[i].words);
  return at;
}

static void set_up_sgprs(ws_plan *plan) {
  const ws_sim_kernel *kernel = plan->kernel;
  int at = push_properties(plan);
  const uint32_t length = kernel->preload & 127, offset = kernel->preload >> 7;
  plan->entry = length ? kernel->entry_preload : kernel->entry;
  if (length && 4 * (length + offset) <= plan->kernarg_bytes)
    push_sgprs(plan, at, plan->kernarg + 4 * offset, (int)length);
  plan->user_sgprs = (int)(kernel->rsrc2 >> 1 & 31);
}

/* compute_pgm_rsrc1 -> MODE: round and denormal bits 0-7, DX10_CLAMP 8, IEEE 9,
 * FP16_OVFL 23. */
static uint32_t initial_mode(uint32_t rsrc1) {
  return (rsrc1 >> 12 & 0xff) | (rsrc1 >> 21 & 1) << 8 |
         (rsrc1 >> 23 & 1) << 9 | (rsrc1 >> 26 & 1) << 23;
}

ws_status ws__plan_create(ws_memory *memory, const ws_sim_launch *launch,
                          int64_t budget, ws_plan *out_plan, ws_diag *diag) {
  *out_plan = (ws_plan){.memory = memory,
                        .kernel = launch->kernel,
                        .constants = &ws__clock_mi300x};
  if (!launch->kernel)
    return ws_fail(diag, WS_INPUT, NULL, 0, "launch without a kernel");
  WS_TRY(check_block(launch, &out_plan->threads, diag));
  WS_TRY(check_grid(launch, &out_plan->group_count, diag));
  WS_TRY(check_lds(launch, &out_plan->lds_bytes, diag));
  WS_TRY(check_arguments(launch, diag));
  memcpy(out_plan->grid, launch->grid, sizeof out_plan->grid);
  memcpy(out_plan->block, launch->block, sizeof out_plan->block);
  out_plan->wave_count = (int)((out_plan->threads + WS_LANES - 1) / WS_LANES);
  const ws_sim_kernel_info *info = &launch->kernel->info;
  out_plan->scratch_bytes = (uint32_t)info->scratch_bytes;
  if (info->dynamic_stack && out_plan->scratch_bytes < DYNAMIC_STACK_BYTES)
    out_plan->scratch_bytes = DYNAMIC_STACK_BYTES;
  out_plan->mode = initial_mode(launch->kernel->rsrc1);
  out_plan->budget = budget > 0 ? budget : INT64_C(1) << DEFAULT_BUDGET_LOG2;
  WS_TRY(make_kernarg(launch, out_plan, diag));
  set_up_sgprs(out_plan);
  return WS_OK;
}

void ws__plan_release(ws_plan *plan) {
  if (plan->kernarg)
    ws__memory_release(plan->memory, plan->kernarg);
  plan->kernarg = NULL;
}

/* ---- storage of a workgroup -----------------------------------------------
 */

static void *allocate(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) & ~(size_t)63);
  WS_ASSERT(memory != NULL);
  return memory;
}

ws_group *ws__group_create(const ws_plan *plan, bool checked, bool timing) {
  ws_group *group = allocate(sizeof *group);
  const size_t waves = (size_t)plan->wave_count;
  *group = (ws_group){.text = &plan->kernel->module->text,
                      .memory = plan->memory,
                      .wave_count = plan->wave_count,
                      .lds_bytes = plan->lds_bytes,
                      .scratch_bytes = plan->scratch_bytes,
                      .checked = checked,
                      .timing = timing,
                      .may_be_unknown = ws__memory_any_unknown(plan->memory),
                      .budget = plan->budget,
                      .constants = plan->constants};
  group->waves = allocate(waves * sizeof *group->waves);
  memset(group->waves, 0, waves * sizeof *group->waves);
  ws_vector *registers = allocate(waves * WS_VECTORS * sizeof *registers);
  memset(registers, 0xa5, waves * WS_VECTORS * sizeof *registers);
  for (size_t w = 0; w < waves; w++)
    group->waves[w].vgpr = registers + w * WS_VECTORS;
  group->lds = allocate(WS_LDS_BYTES + WS_LDS_NOWHERE);
  const size_t scratch = waves * WS_LANES * plan->scratch_bytes;
  if (scratch)
    group->scratch = allocate(scratch);
  if (scratch && checked)
    group->scratch_poison = allocate(scratch);
  if (checked)
    group->shadow = ws__lds_shadow_create();
  group->fp8_cache = ws__fp8_cache_create();
  return group;
}

void ws__group_destroy(ws_group *group) {
  if (!group)
    return;
  ws__lds_shadow_destroy(group->shadow);
  free(group->fp8_cache);
  free(group->scratch_poison);
  free(group->scratch);
  free(group->lds);
  free(group->waves[0].vgpr);
  free(group->waves);
  free(group);
}

/* ---- initial state --------------------------------------------------------
 */

/* A NaN as a float and far out of range as an offset. */
static uint32_t garbage(uint32_t place) { return 0xffa50000u + place; }

static void fill_garbage(void *bytes, size_t count) {
  for (size_t i = 0; i + 4 <= count; i += 4) {
    const uint32_t value = garbage((uint32_t)i & 0xffffu);
    memcpy((char *)bytes + i, &value, 4);
  }
}

static void fill_vectors(ws_wave *wave, int first, int count) {
  for (int r = first; r < first + count && r < WS_VECTORS; r++)
    for (uint32_t lane = 0; lane < WS_LANES; lane++)
      wave->vgpr[r].u32[lane] = garbage((uint32_t)r * WS_LANES + lane);
}

/* v0 holds x in bits 9:0, y in 19:10, z in 29:20 (gfx90a and later). */
static void set_work_item_ids(ws_wave *wave, const ws_plan *plan) {
  const uint32_t dimensions = plan->kernel->rsrc2 >> 11 & 3;
  for (uint32_t lane = 0; lane < WS_LANES; lane++) {
    const uint32_t item = (uint32_t)wave->index * WS_LANES + lane;
    const uint32_t x = item % plan->block[0],
                   y = item / plan->block[0] % plan->block[1],
                   z = item / plan->block[0] / plan->block[1];
    wave->vgpr[0].u32[lane] =
        x | (dimensions > 0 ? y << 10 : 0) | (dimensions > 1 ? z << 20 : 0);
  }
  wave->vector_poison[0] = 0;
}

static int push_system_sgprs(ws_wave *wave, const ws_plan *plan) {
  enum { WORKGROUP_ID_X = 7, WORKGROUP_INFO = 10 };
  int at = plan->user_sgprs;
  for (int axis = 0; axis < 3; axis++)
    if (plan->kernel->rsrc2 >> (WORKGROUP_ID_X + axis) & 1)
      wave->sgpr[at++] = wave->group->id[axis];
  if (plan->kernel->rsrc2 >> WORKGROUP_INFO & 1)
    wave->sgpr[at++] = (uint32_t)plan->wave_count;
  return at;
}

static void set_defined(ws_wave *wave, int first, int count) {
  for (int i = first; i < first + count; i++)
    wave->scalar_poison[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static void set_up_scalars(ws_wave *wave, const ws_plan *plan) {
  for (uint32_t i = 0; i < WS_SGPRS; i++) {
    wave->sgpr[i] = garbage(i);
    wave->scalar_poison_bits[i] = UINT32_MAX;
  }
  memset(wave->scalar_poison, 0xff, sizeof wave->scalar_poison);
  memcpy(wave->sgpr, plan->sgpr, sizeof plan->sgpr);
  set_defined(wave, 0, push_system_sgprs(wave, plan));
  const uint32_t left =
      plan->threads - (uint32_t)wave->index * WS_LANES; /* at least 1 */
  ws_set_sgpr64(wave, WS_SGPR_EXEC,
                left >= WS_LANES ? UINT64_MAX : (UINT64_C(1) << left) - 1);
  set_defined(wave, WS_SGPR_EXEC, 2);
  ws_set_sgpr64(wave, WS_SGPR_FLAT_SCRATCH, 0);
  set_defined(wave, WS_SGPR_FLAT_SCRATCH, WS_SGPR_VCC - WS_SGPR_FLAT_SCRATCH);
  set_defined(wave, WS_SGPR_TTMP, 16); /* the trap handler's */
}

static void set_up_wave(ws_wave *wave, const ws_plan *plan) {
  const ws_sim_kernel *kernel = plan->kernel;
  wave->pc = plan->entry;
  wave->mode = plan->mode;
  wave->state = WS_WAVE_READY;
  wave->executed = 0;
  wave->scc = 0;
  wave->scc_poison = true;
  wave->pending_count = 0;
  wave->vector_queue[0] = wave->vector_queue[1] = wave->scalar_queue = 0;
  wave->absent_lanes = 0;
  wave->barriers = 0;
  wave->acted = false;
  memset(wave->pending_vectors, 0, sizeof wave->pending_vectors);
  memset(wave->pending_scalars, 0, sizeof wave->pending_scalars);
  memset(wave->vector_poison, 0xff, sizeof wave->vector_poison);
  memset(wave->partial, 0, sizeof wave->partial);
  wave->partial_count = 0;
  wave->access.mask = 0;
  set_up_scalars(wave, plan);
  wave->initial_exec = ws_exec(wave);
  fill_vectors(wave, 0, kernel->accum_offset);
  fill_vectors(wave, WS_ACC_BASE, kernel->info.vgpr - kernel->accum_offset);
  set_work_item_ids(wave, plan);
}

void ws__group_reset(ws_group *group, const ws_plan *plan, uint64_t index) {
  group->id[0] = (uint32_t)(index % plan->grid[0]);
  group->id[1] = (uint32_t)(index / plan->grid[0] % plan->grid[1]);
  group->id[2] = (uint32_t)(index / plan->grid[0] / plan->grid[1]);
  group->fault.id = group->note.id = NULL;
  group->read_unknown = false;
  fill_garbage(group->lds, ws_lds_reserved(group));
  if (group->shadow)
    ws__lds_shadow_begin_group(group->shadow, group->lds_bytes);
  if (group->scratch)
    fill_garbage(group->scratch,
                 (size_t)group->wave_count * WS_LANES * group->scratch_bytes);
  for (int w = 0; w < group->wave_count; w++) {
    group->waves[w].group = group;
    group->waves[w].index = w;
    set_up_wave(&group->waves[w], plan);
  }
}
