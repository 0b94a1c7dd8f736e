/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Deletes each s_waitcnt and each s_barrier of shipped kernels in turn, by
 * writing s_nop over it in the code object. Every deletion must be reported,
 * except those that are harmless: a run of the whole kernel watches what each
 * wait covers, and a wait may survive its deletion only where that says why.
 */
#include "../gemm_shape.h"
#include "launch.h"
#include "shipped.h"
#include "sim_internal.h"
#include "step.h"

#include <elf.h>

/* What the waits of the original do, summed over all waves. */
typedef struct wait_record {
  int64_t reached, loads, stores;
} wait_record;

typedef struct candidate {
  const char *assignments;
  const ws_shape *shapes;
  int shape_count;
  ws_arena *arena;
  void *image;
  size_t size;
  wait_record *watched; /* by instruction */
  uint32_t count;
} candidate;

/* ---- the original ---------------------------------------------------------
 */

static int loads_under_way(const ws_wave *wave, int *stores) {
  int loads = (wave->pending_scalars[0] | wave->pending_scalars[1]) != 0;
  *stores = 0;
  for (int i = 0; i < wave->pending_count; i++)
    if (wave->pending[i].count)
      loads++;
    else
      (*stores)++;
  return loads;
}

static bool step_watched(ws_wave *wave, wait_record *all) {
  const uint32_t pc = wave->pc;
  int stores_before, stores_after;
  const int before = loads_under_way(wave, &stores_before);
  const bool goes_on = ws__step(wave, true);
  const int after = loads_under_way(wave, &stores_after);
  all[pc].reached++;
  if (wave->group->text->items[pc].class_ == WS_CLASS_WAIT) {
    all[pc].loads += before - after;
    all[pc].stores += stores_before - stores_after;
  }
  return goes_on;
}

static void watch_group(ws_group *group, wait_record *all) {
  do
    for (int w = 0; w < group->wave_count; w++)
      while (group->waves[w].state == WS_WAVE_READY &&
             step_watched(&group->waves[w], all))
        ;
  while (!group->fault.id && ws__release_barrier(group));
  WS_CHECK(group->fault.id == NULL);
}

static void watch_launch(const shipped *self, const char *name, uint32_t x,
                         uint32_t y, uint32_t threads, wait_record *all) {
  uint8_t kernarg[512] = {0};
  ws_diag diag;
  ws_plan plan;
  const ws_sim_launch launch = {ws_sim_kernel_find(self->module, name),
                                {x, y, 1},
                                {threads, 1, 1},
                                0,
                                kernarg,
                                sizeof kernarg,
                                0,
                                0};
  shipped_pack(self, ws_sim_kernel_info_of(launch.kernel), kernarg);
  WS_CHECK(ws__plan_create(self->sim->memory, &launch, 0, &plan, &diag) ==
           WS_OK);
  ws_group *group = ws__group_create(&plan, true, false);
  for (uint64_t i = 0; i < plan.group_count; i++) {
    ws__group_reset(group, &plan, i);
    watch_group(group, all);
  }
  ws__group_destroy(group);
  ws__plan_release(&plan);
}

static void watch(candidate *subject) {
  const char *a = subject->assignments;
  for (int s = 0; s < subject->shape_count; s++) {
    const ws_shape *shape = &subject->shapes[s];
    shipped self;
    shipped_open(&self, a, subject->image, subject->size, NULL);
    shipped_inputs(&self, shape);
    if (!subject->watched) {
      subject->count = self.module->text.count;
      subject->watched =
          ws_arena_alloc(subject->arena, subject->count * sizeof(wait_record));
    }
    const int64_t slices = shipped_value(a, "split_k");
    watch_launch(&self, "fp8_gemm_mfma",
                 (uint32_t)(shipped_ceil(shape->size[DIM_M],
                                         shipped_value(a, "tile_m")) *
                            shipped_ceil(shape->size[DIM_N],
                                         shipped_value(a, "tile_n"))),
                 (uint32_t)slices,
                 (uint32_t)(64 * shipped_value(a, "waves_m") *
                            shipped_value(a, "waves_n")),
                 subject->watched);
    if (slices > 1)
      watch_launch(
          &self, "fp8_gemm_reduce",
          (uint32_t)shipped_ceil(shape->size[DIM_M] * shape->size[DIM_N], 1024),
          1, 256, subject->watched);
    shipped_close(&self);
  }
}

/* ---- mutants --------------------------------------------------------------
 */

/* Where in the image the byte at this address lies. */
static size_t file_offset(const candidate *subject, uint64_t address) {
  Elf64_Ehdr header;
  memcpy(&header, subject->image, sizeof header);
  for (int i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    memcpy(&segment,
           (char *)subject->image + header.e_phoff + (size_t)i * sizeof segment,
           sizeof segment);
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address < segment.p_vaddr + segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  }
  WS_FAIL("address 0x%llx is in no segment", (unsigned long long)address);
}

/* True: some shape gives a finding. */
static bool is_reported(const candidate *subject, char *out_id) {
  for (int s = 0; s < subject->shape_count; s++) {
    shipped self;
    shipped_open(&self, subject->assignments, subject->image, subject->size,
                 &(ws_sim_options){.budget = 1 << 20});
    shipped_inputs(&self, &subject->shapes[s]);
    const bool clean = shipped_run(&self);
    if (!clean)
      snprintf(out_id, 32, "%s", self.report.findings[0].id);
    shipped_close(&self);
    if (!clean)
      return true;
  }
  return false;
}

/* NULL: nothing excuses that the deletion was not reported. */
static const char *excuse(const wait_record *wait, bool is_wait) {
  if (!is_wait)
    return NULL;
  if (!wait->loads && !wait->stores)
    return "nothing is under way that it covers";
  if (!wait->loads)
    return "it covers stores only, which this kernel does not read back";
  return "a later wait covers its loads before their first use";
}

typedef struct outcome {
  int reported, harmless, unreached, missed;
} outcome;

static void try_mutant(candidate *subject, const ws_text *text, uint64_t base,
                       uint32_t index, outcome *tally) {
  static const uint32_t s_nop = 0xbf800000;
  const bool is_wait = text->items[index].class_ == WS_CLASS_WAIT;
  char *place = (char *)subject->image +
                file_offset(subject, base + text->items[index].offset);
  uint32_t original;
  char id[32] = "";
  if (!subject->watched[index].reached) {
    tally->unreached++;
    return;
  }
  memcpy(&original, place, 4);
  memcpy(place, &s_nop, 4);
  const bool reported = is_reported(subject, id);
  memcpy(place, &original, 4);
  const char *reason = excuse(&subject->watched[index], is_wait);
  if (reported)
    tally->reported++;
  else if (reason)
    tally->harmless++;
  else
    tally->missed++;
  if (!reported)
    printf("# 0x%04x %-28s %s\n", text->items[index].offset, text->lines[index],
           reason ? reason : "MISSED");
}

static void mutate(const char *assignments, const ws_shape *shapes, int count) {
  candidate subject = {.assignments = assignments,
                       .shapes = shapes,
                       .shape_count = count,
                       .arena = ws_arena_create()};
  alarm(120);
  subject.image = shipped_build(subject.arena, assignments, &subject.size);
  watch(&subject);
  shipped self;
  shipped_open(&self, assignments, subject.image, subject.size, NULL);
  const ws_text *text = &self.module->text;
  outcome tally = {0};
  for (uint32_t i = 0; i < text->count; i++)
    if (text->items[i].class_ == WS_CLASS_WAIT ||
        text->items[i].class_ == WS_CLASS_BARRIER)
      try_mutant(&subject, text, text->address - (uintptr_t)self.module->base,
                 i, &tally);
  printf("# %s\n# %d deletions reported, %d harmless, %d never reached, %d "
         "missed\n",
         assignments, tally.reported, tally.harmless, tally.unreached,
         tally.missed);
  shipped_close(&self);
  ws_arena_destroy(subject.arena);
  WS_CHECK_INT(tally.missed + tally.unreached, 0);
  WS_CHECK(tally.reported > 10);
}

/* Whole tiles and tails, several steps of k in every slice. */
WS_TEST(one_buffer) {
  const ws_shape shapes[] = {gemm_shape(256, 128, 512),
                             gemm_shape(96, 144, 256)};
  mutate(shipped_candidates[0], shapes, 2);
}
WS_TEST(split_in_four) {
  const ws_shape shapes[] = {gemm_shape(128, 64, 1024),
                             gemm_shape(48, 80, 512)};
  mutate(shipped_candidates[1], shapes, 2);
}
WS_TEST(two_buffers) {
  const ws_shape shapes[] = {gemm_shape(128, 128, 2048),
                             gemm_shape(48, 80, 1024)};
  mutate(shipped_candidates[2], shapes, 2);
}
