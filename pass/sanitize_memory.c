/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Memory as the kernel sees it: argument buffers far apart from each other,
 * LDS at a fixed low address, and the hooks that the instrumented IR calls
 * before each access. A hook checks bounds by allocation, alignment, and the
 * shadow: per byte the key (sanitize_internal.h) of the last write and of the
 * last reads.
 *
 * Two accesses of one byte, at least one of them a write, by different lanes,
 * are ordered when a barrier of their workgroup lies between them, or when
 * both are of one wave and a wave operation lies between them. Everything
 * else is a race, also between lanes of one wave: nothing in the IR says that
 * they run in step.
 */
#include "sanitize_internal.h"

#include <string.h>
#include <sys/mman.h>

static ws_memory *const memory = &ws__sanitizer.memory;
static ws_lanes *const lanes = &ws__sanitizer.lanes;

/* ---- address space --------------------------------------------------- */

/* An output above this is of a run that writes but little of it. */
enum { PAGE = 4096, MOST_POPULATED = 4 << 20 };
/* Allocations start 16 GiB apart in an otherwise empty range, so an index that
 * runs off one buffer does not land in another. */
#define FIRST_ALLOCATION 0x200000000000ull
#define ALLOCATION_STRIDE (1ull << 34)
enum { MAX_ALLOCATIONS = 2048 };
static bool allocated[MAX_ALLOCATIONS];

/* Around size bytes that begin at or behind the start of a page. */
static char *first_page(const void *data) {
  return (char *)((uintptr_t)data / PAGE * PAGE);
}

static size_t whole_pages(const void *data, int64_t size) {
  size_t bytes = (uintptr_t)data % PAGE + (size_t)(size ? size : 1);
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

void *ws__memory_allocate(int64_t size, int64_t alignment) {
  for (size_t i = 0; i < MAX_ALLOCATIONS; i++) {
    if (allocated[i])
      continue;
    char *wanted =
        (char *)(uintptr_t)(FIRST_ALLOCATION + i * ALLOCATION_STRIDE);
    char *data = wanted + alignment;
    size_t bytes = whole_pages(data, size);
    void *at =
        mmap(wanted, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);
    allocated[i] = true;
    if (at == wanted)
      return data;
    if (at != MAP_FAILED)
      munmap(at, bytes);
  }
  WS_ASSERT(!"no memory for the sanitizer's buffers");
  return NULL;
}

void ws__memory_free(void *data, int64_t size) {
  munmap(first_page(data), whole_pages(data, size));
  allocated[((uintptr_t)data - FIRST_ALLOCATION) / ALLOCATION_STRIDE] = false;
}

void ws__memory_protect(void *data, int64_t size) {
  WS_ASSERT(!mprotect(first_page(data), whole_pages(data, size), PROT_READ));
}

/* populate: all of it will be written; cheaper at once than page by page. */
static void *zero_pages(size_t bytes, bool populate) {
  void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                      (populate ? MAP_POPULATE : 0),
                  -1, 0);
  WS_ASSERT(at != MAP_FAILED);
  return at;
}

static const uintptr_t lds_bases[] = {0x20000000, 0x28000000, 0x70000000};

void ws__memory_reserve(void) {
  if (memory->lds_base)
    return;
  /* Addresses of a module's LDS are constants in its code, and 32-bit. */
  for (size_t i = 0; i < sizeof lds_bases / sizeof *lds_bases; i++) {
    char *at =
        mmap((void *)(lds_bases[i] - PAGE), WS_LDS_MAX + 2 * PAGE, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at == MAP_FAILED)
      continue;
    WS_ASSERT(!mprotect(at + PAGE, WS_LDS_MAX, PROT_READ | PROT_WRITE));
    memory->lds_base = lds_bases[i];
    break;
  }
  WS_ASSERT(memory->lds_base);
  memory->lds_shadow = zero_pages(WS_LDS_MAX * sizeof(ws_cell), false);
  memory->lds_writers = zero_pages(WS_LDS_MAX * sizeof(uint16_t), false);
  memory->lds_readers = zero_pages(WS_LDS_MAX * sizeof(uint16_t), false);
  memory->private_state = zero_pages(
      (size_t)WS_MAX_LANES * (WS_STACK_BYTES + WS_STACK_GUARD), false);
  memory->moment = 1;
}

ws_buffer *ws__memory_add_buffer(const char *name, ws_arg_role role, void *data,
                                 int64_t size) {
  ws_buffer *buffer = &memory->buffers[memory->buffer_count++];
  *buffer = (ws_buffer){
      .name = name, .role = role, .begin = (uintptr_t)data, .size = size};
  if (role != WS_ARG_INPUT) {
    bool populate = role == WS_ARG_OUTPUT && size <= MOST_POPULATED;
    buffer->shadow = zero_pages(((size_t)size + 1) * sizeof(ws_cell), populate);
  }
  return buffer;
}

void ws__memory_drop_buffers(void) {
  for (int i = 0; i < memory->buffer_count; i++) {
    ws_buffer *buffer = &memory->buffers[i];
    if (!buffer->shadow)
      continue;
    munmap(buffer->shadow, ((size_t)buffer->size + 1) * sizeof(ws_cell));
    ws__memory_free((void *)buffer->begin, buffer->size);
  }
  memory->buffer_count = 0;
}

/* ---- time ------------------------------------------------------------ */

static uint32_t next_moment(void) { return ++memory->moment << WS_KEY_BITS; }

static uint32_t writer_of(ws_cell cell) { return (uint32_t)cell; }
static uint32_t reader_of(ws_cell cell) { return (uint32_t)(cell >> 32); }
static ws_cell make_cell(uint32_t writer, uint32_t reader) {
  return writer | (ws_cell)reader << 32;
}

/* What a key can still decide after renumbering: this launch, this run, or
 * before. */
static uint32_t renumbered(uint32_t key) {
  return key >= memory->launch_key ? 3u << WS_KEY_BITS
         : key >= memory->run_key  ? 2u << WS_KEY_BITS
                                   : 0;
}

/* Moments are about to run out: start counting again. */
static void renumber(void) {
  for (int b = 0; b < memory->buffer_count; b++) {
    ws_buffer *buffer = &memory->buffers[b];
    for (int64_t i = 0; buffer->shadow && i < buffer->size; i++)
      buffer->shadow[i] = make_cell(renumbered(writer_of(buffer->shadow[i])),
                                    renumbered(reader_of(buffer->shadow[i])));
  }
  memset(memory->lds_shadow, 0, WS_LDS_MAX * sizeof(ws_cell));
  memory->run_key = 2u << WS_KEY_BITS;
  memory->launch_key = 3u << WS_KEY_BITS;
  memory->moment = 3;
}

void ws__memory_begin_run(void) { memory->run_key = next_moment(); }
void ws__memory_give(ws_buffer *buffer) {
  for (int64_t i = 0; i < buffer->size; i++)
    buffer->shadow[i] = make_cell(memory->run_key, 0);
}

void ws__memory_begin_launch(void) { memory->launch_key = next_moment(); }

void ws__memory_begin_workgroup(void) {
  if (memory->moment > 1u << (31 - WS_KEY_BITS))
    renumber();
  memory->workgroup_key = memory->barrier_key = next_moment();
  memory->acquired = false;
  ws__buffers_begin_workgroup();
  ws__to_lds_begin_workgroup();
  /* fp8 NaN: what is read without having been written poisons the result. */
  memset((char *)memory->lds_base + memory->lds_begin, 0x80,
         memory->lds_end - memory->lds_begin);
}

/* A workgroup starts below the middle of the range, so this many barriers and
 * wave operations are its share; the tuned shapes need some ten thousand. */
static void check_moments(void) {
  if (memory->moment >> (32 - WS_KEY_BITS))
    ws__fault(WS_FAULT_INFINITE_LOOP, lanes->lane[lanes->current].site,
              "workgroup (%d,%d,%d) executed more than %u barriers and wave "
              "operations",
              lanes->workgroup_id[0], lanes->workgroup_id[1],
              lanes->workgroup_id[2], 1u << (31 - WS_KEY_BITS));
}

void ws__memory_barrier(void) {
  memory->barrier_key = next_moment();
  ws__to_lds_barrier();
  check_moments();
}

void ws__memory_rendezvous(ws_wave *wave) {
  wave->rendezvous_key = next_moment();
  check_moments();
}

/* ---- order of accesses ----------------------------------------------- */

/* An access of the current lane. Small, to be passed in registers. */
typedef struct access_key {
  uint32_t key;
  uint32_t floor; /* below: written before this run, or never */
  uint32_t scope; /* from here on: may be concurrent */
  bool atomic;
} access_key;

static inline access_key key_now(uint32_t floor, uint32_t scope, bool atomic) {
  uint32_t lane = (uint32_t)lanes->current;
  return (access_key){.key = memory->moment << WS_KEY_BITS |
                             (atomic ? WS_KEY_ATOMIC : lane),
                      .floor = floor,
                      .scope = scope,
                      .atomic = atomic};
}

static access_key lds_key(const ws_site *site) {
  return key_now(memory->workgroup_key, memory->workgroup_key, site->atomic);
}

static access_key global_key(const ws_site *site) {
  return key_now(memory->run_key, memory->launch_key, site->atomic);
}

/* Is an access with key `other` (>= scope) ordered before the one at hand? */
static inline bool ordered(uint32_t other, access_key now) {
  if (other < memory->workgroup_key)
    return memory->acquired ||
           (now.atomic && ws__key_who(other) == WS_KEY_ATOMIC);
  if (other < memory->barrier_key)
    return true;
  uint32_t other_lane = ws__key_who(other);
  if (other_lane == WS_KEY_ATOMIC)
    return now.atomic;
  if (other_lane == (uint32_t)lanes->current)
    return true;
  return ws__key_of_this_wave(other) &&
         other < lanes->wave[lanes->current_wave].rendezvous_key;
}

/* The reader key after this lane reads a byte that `old` last read. */
static inline uint32_t merged_reader(uint32_t old, access_key now) {
  if (old >= now.scope && old < memory->workgroup_key)
    return old; /* another workgroup: no barrier will ever order it */
  if (old < memory->barrier_key || ws__key_who(old) == ws__key_who(now.key))
    return now.key;
  uint32_t lane = ws__key_of_this_wave(old)
                      ? WS_KEY_WAVE + (uint32_t)lanes->current_wave
                      : WS_KEY_SEVERAL;
  return (now.key & ~((1u << WS_KEY_BITS) - 1)) | lane;
}

/* ---- reports --------------------------------------------------------- */

typedef struct place {
  ws_cell *cells;          /* of the first byte accessed */
  const ws_buffer *buffer; /* NULL: LDS */
} place;

static uint32_t lds_offset_of(place at) {
  return (uint32_t)(at.cells - memory->lds_shadow);
}

/* Of a byte of the access, in its buffer or in the kernel's LDS. */
static unsigned long long offset_of(place at, uint32_t byte) {
  const ws_cell *begin =
      at.buffer ? at.buffer->shadow : memory->lds_shadow + memory->lds_begin;
  return (unsigned long long)(at.cells - begin) + byte;
}

static __attribute__((noinline)) void
report_uninitialised(ws_site *site, place at, uint32_t byte) {
  if (at.buffer)
    ws__fault(WS_FAULT_UNINIT_GLOBAL, site,
              "lane %d loads byte %llu of %s, which no launch has written",
              lanes->current, offset_of(at, byte), at.buffer->name);
  else
    ws__fault(WS_FAULT_UNINIT_LDS, site,
              "lane %d loads LDS byte %llu, which this workgroup has not "
              "written",
              lanes->current, offset_of(at, byte));
}

/* other: the key of the access that this one is not ordered after. */
static __attribute__((noinline)) void report_race(ws_site *site, place at,
                                                  uint32_t byte, uint32_t other,
                                                  bool site_writes,
                                                  bool other_wrote) {
  uint32_t reader = reader_of(at.cells[byte]);
  ws__race_report(
      &(ws_race){.site = site,
                 .buffer = at.buffer,
                 .offset = offset_of(at, byte),
                 .lds_offset = at.buffer ? 0 : lds_offset_of(at) + byte,
                 .other = other,
                 .site_writes = site_writes,
                 .other_wrote = other_wrote,
                 .unread = reader >> WS_KEY_BITS < other >> WS_KEY_BITS});
}

/* ---- one access ------------------------------------------------------ */

typedef ws_cell cell_pair __attribute__((vector_size(16), aligned(8)));

/* Are they all the same? Most often, for one store wrote them. count is a
 * constant where it matters. */
static inline bool uniform(const ws_cell *cells, uint32_t count) {
  ws_cell first = cells[0];
  if (count % 2) {
    for (uint32_t i = 1; i < count; i++)
      if (cells[i] != first)
        return false;
    return true;
  }
  cell_pair all = {first, first}, difference = {0, 0};
  for (uint32_t i = 0; i < count; i += 2)
    difference |= *(const cell_pair *)(cells + i) ^ all;
  return !(difference[0] | difference[1]);
}

static inline void fill(ws_cell *cells, uint32_t count, ws_cell cell) {
  cell_pair all = {cell, cell};
  uint32_t i = 0;
  for (; i + 2 <= count; i += 2)
    *(cell_pair *)(cells + i) = all;
  if (i < count)
    cells[i] = cell;
}

/* Checks byte `byte` and returns the cell it gets. */
static inline ws_cell read_byte(ws_site *site, place at, uint32_t byte,
                                access_key now) {
  uint32_t writer = writer_of(at.cells[byte]);
  uint32_t reader = reader_of(at.cells[byte]);
  if (writer < now.floor)
    report_uninitialised(site, at, byte);
  else if (writer >= now.scope && !ordered(writer, now))
    report_race(site, at, byte, writer, false, true);
  return make_cell(writer, merged_reader(reader, now));
}

static inline void write_byte(ws_site *site, place at, uint32_t byte,
                              access_key now) {
  uint32_t writer = writer_of(at.cells[byte]);
  uint32_t reader = reader_of(at.cells[byte]);
  if (writer >= now.scope && !ordered(writer, now))
    report_race(site, at, byte, writer, true, true);
  else if (reader >= now.scope && !ordered(reader, now))
    report_race(site, at, byte, reader, true, false);
}

static inline __attribute__((always_inline)) void
read_cells(ws_site *site, place at, uint32_t size, access_key now) {
  if (uniform(at.cells, size)) {
    ws_cell cell = read_byte(site, at, 0, now);
    if (cell != at.cells[0])
      fill(at.cells, size, cell);
    return;
  }
  for (uint32_t i = 0; i < size; i++)
    at.cells[i] = read_byte(site, at, i, now);
}

static inline __attribute__((always_inline)) void
write_cells(ws_site *site, place at, uint32_t size, access_key now) {
  if (uniform(at.cells, size)) {
    write_byte(site, at, 0, now);
    fill(at.cells, size, make_cell(now.key, reader_of(at.cells[0])));
    return;
  }
  for (uint32_t i = 0; i < size; i++) {
    write_byte(site, at, i, now);
    at.cells[i] = make_cell(now.key, reader_of(at.cells[i]));
  }
}

/* The loops of the usual sizes unroll. */
static void read_shadow(ws_site *site, place at, uint64_t size,
                        access_key now) {
  switch (size) {
  case 4:
    read_cells(site, at, 4, now);
    break;
  case 8:
    read_cells(site, at, 8, now);
    break;
  case 16:
    read_cells(site, at, 16, now);
    break;
  default:
    read_cells(site, at, (uint32_t)size, now);
  }
}

static void write_shadow(ws_site *site, place at, uint64_t size,
                         access_key now) {
  switch (size) {
  case 2:
    write_cells(site, at, 2, now);
    break;
  case 4:
    write_cells(site, at, 4, now);
    break;
  case 16:
    write_cells(site, at, 16, now);
    break;
  default:
    write_cells(site, at, (uint32_t)size, now);
  }
}

static __attribute__((noinline)) void report_misaligned(ws_site *site,
                                                        uintptr_t address) {
  ws__fault(WS_FAULT_MISALIGNED, site,
            "lane %d accesses an address that is %llu modulo %u, but the IR "
            "says align %u",
            lanes->current, (unsigned long long)(address % site->alignment),
            site->alignment, site->alignment);
}

/* ---- LDS ------------------------------------------------------------- */

static __attribute__((noinline)) void
report_oob_lds(ws_site *site, uintptr_t address, uint64_t size) {
  ws__fault(WS_FAULT_OOB_LDS, site,
            "lane %d accesses %llu bytes at LDS offset %lld; the kernel has "
            "%u bytes of LDS",
            lanes->current, (unsigned long long)size,
            (long long)(address - memory->lds_base - memory->lds_begin),
            memory->lds_end - memory->lds_begin);
}

static inline bool lds_place(ws_site *site, uintptr_t address, uint64_t size,
                             place *out) {
  lanes->lane[lanes->current].site = site;
  uintptr_t offset = address - memory->lds_base;
  if (offset < memory->lds_begin || offset > memory->lds_end ||
      size > memory->lds_end - offset) {
    report_oob_lds(site, address, size);
    return false;
  }
  if (address & (site->alignment - 1))
    report_misaligned(site, address);
  *out = (place){.cells = memory->lds_shadow + offset};
  return true;
}

/* Notes the site of the latest access of each byte. */
static inline void note_site(uint16_t *numbers, uint64_t size,
                             const ws_site *site) {
  uint16_t number = (uint16_t)site->number;
  uint64_t four = number * 0x0001000100010001ull, i = 0;
  for (; i + 4 <= size; i += 4)
    memcpy(numbers + i, &four, sizeof four);
  for (; i < size; i++)
    numbers[i] = number;
}

static inline void lds_read(ws_site *site, place at, uint64_t size) {
  read_shadow(site, at, size, lds_key(site));
  note_site(memory->lds_readers + lds_offset_of(at), size, site);
}

static inline void lds_write(ws_site *site, place at, uint64_t size) {
  write_shadow(site, at, size, lds_key(site));
  note_site(memory->lds_writers + lds_offset_of(at), size, site);
}

void ws__hook_lds_load(ws_site *site, uintptr_t address) {
  place at;
  if (!lds_place(site, address, site->size, &at))
    return;
  ws__record_lds(site, (uint32_t)(address - memory->lds_base), site->size);
  lds_read(site, at, site->size);
}

void ws__hook_lds_store(ws_site *site, uintptr_t address) {
  place at;
  if (!lds_place(site, address, site->size, &at))
    return;
  ws__record_lds(site, (uint32_t)(address - memory->lds_base), site->size);
  lds_write(site, at, site->size);
}

void ws__memory_writes_now(int lane, uint32_t offset) {
  ws_cell *cells = memory->lds_shadow + offset;
  uint32_t key = memory->moment << WS_KEY_BITS | (uint32_t)lane;
  for (int i = 0; i < 4; i++)
    cells[i] = make_cell(key, reader_of(cells[i]));
}

/* ---- global memory --------------------------------------------------- */

static bool inside(const ws_buffer *buffer, uintptr_t address, uint64_t size) {
  uintptr_t offset = address - buffer->begin;
  return offset <= (uint64_t)buffer->size &&
         size <= (uint64_t)buffer->size - offset;
}

/* The buffer that an address off every buffer most likely was meant for. */
static const ws_buffer *nearest_buffer(uintptr_t address) {
  const ws_buffer *nearest = NULL;
  uintptr_t best = ALLOCATION_STRIDE;
  for (int i = 0; i < memory->buffer_count; i++) {
    const ws_buffer *buffer = &memory->buffers[i];
    uintptr_t distance = address >= buffer->begin ? address - buffer->begin
                                                  : buffer->begin - address;
    if (distance < best) {
      best = distance;
      nearest = buffer;
    }
  }
  return nearest;
}

const ws_buffer *ws__memory_buffer_at(uintptr_t address) {
  for (int i = 0; i < memory->buffer_count; i++)
    if (inside(&memory->buffers[i], address, 0))
      return &memory->buffers[i];
  return NULL;
}

static void report_out_of_bounds(ws_site *site, uintptr_t address,
                                 uint64_t size) {
  ws_fault fault =
      site->writes ? WS_FAULT_OOB_GLOBAL_STORE : WS_FAULT_OOB_GLOBAL_LOAD;
  const char *verb = site->writes ? "stores" : "loads";
  const ws_buffer *buffer = nearest_buffer(address);
  if (buffer)
    ws__fault(fault, site,
              "lane %d of workgroup (%d,%d,%d) %s %llu bytes at %s %+lld, "
              "which has %lld bytes",
              lanes->current, lanes->workgroup_id[0], lanes->workgroup_id[1],
              lanes->workgroup_id[2], verb, (unsigned long long)size,
              buffer->name, (long long)(address - buffer->begin),
              (long long)buffer->size);
  else
    ws__fault(fault, site, "lane %d %s %llu bytes at 0x%llx, in no argument",
              lanes->current, verb, (unsigned long long)size,
              (unsigned long long)address);
}

static __attribute__((noinline)) const ws_buffer *
search_buffer(ws_site *site, uintptr_t address, uint64_t size) {
  for (int i = 0; i < memory->buffer_count; i++)
    if (inside(&memory->buffers[i], address, size)) {
      site->buffer = i;
      return &memory->buffers[i];
    }
  report_out_of_bounds(site, address, size);
  return NULL;
}

static inline const ws_buffer *global_buffer(ws_site *site, uintptr_t address,
                                             uint64_t size) {
  lanes->lane[lanes->current].site = site;
  const ws_buffer *buffer = &memory->buffers[site->buffer];
  if (!inside(buffer, address, size))
    buffer = search_buffer(site, address, size);
  if (buffer && (address & (site->alignment - 1)))
    report_misaligned(site, address);
  return buffer;
}

static place global_place(const ws_buffer *buffer, uintptr_t address) {
  return (place){.cells = buffer->shadow + (address - buffer->begin),
                 .buffer = buffer};
}

static void global_read(ws_site *site, const ws_buffer *buffer,
                        uintptr_t address, uint64_t size) {
  if (buffer->shadow)
    read_shadow(site, global_place(buffer, address), size, global_key(site));
}

static void global_write(ws_site *site, const ws_buffer *buffer,
                         uintptr_t address, uint64_t size) {
  if (buffer->shadow)
    write_shadow(site, global_place(buffer, address), size, global_key(site));
  else
    ws__fault(WS_FAULT_READONLY_STORE, site, "lane %d stores to input %s",
              lanes->current, buffer->name);
}

/* The model counts lines of buffers that begin one, as a user's do. */
static inline void record_global(const ws_site *site, const ws_buffer *buffer,
                                 uintptr_t address) {
  ws__record_global(site, address - buffer->begin % PAGE, site->size);
}

void ws__hook_global_load(ws_site *site, uintptr_t address) {
  const ws_buffer *buffer = global_buffer(site, address, site->size);
  if (!buffer)
    return;
  if (site->space != WS_SPACE_CONSTANT)
    record_global(site, buffer, address);
  global_read(site, buffer, address, site->size);
}

void ws__hook_global_store(ws_site *site, uintptr_t address) {
  const ws_buffer *buffer = global_buffer(site, address, site->size);
  if (!buffer)
    return;
  record_global(site, buffer, address);
  global_write(site, buffer, address, site->size);
}

/* ---- the rarer accesses ---------------------------------------------- */

static bool in_private(uintptr_t address) {
  return address - (uintptr_t)lanes->stacks <
         (size_t)WS_MAX_LANES * (WS_STACK_BYTES + WS_STACK_GUARD);
}

static bool in_lds(uintptr_t address) {
  return address - (memory->lds_base - PAGE) < WS_LDS_MAX + 2 * PAGE;
}

/* Atomics, and accesses through flat pointers. */
void ws__hook_access(ws_site *site, uintptr_t address) {
  ws__hook_range(site, address, site->size);
  if (in_lds(address))
    ws__record_lds(site, (uint32_t)(address - memory->lds_base), site->size);
  else if (!in_private(address))
    record_global(site, &memory->buffers[site->buffer], address);
}

/* memcpy and the like: size bytes, not recorded as instructions. */
void ws__hook_range(ws_site *site, uintptr_t address, uint64_t size) {
  if (size == 0)
    return;
  if (in_private(address)) {
    if (ws__sanitizer.diagnosing)
      ws__hook_private(site, address);
    return;
  }
  if (in_lds(address)) {
    place at;
    if (!lds_place(site, address, size, &at))
      return;
    if (site->reads)
      lds_read(site, at, size);
    if (site->writes)
      lds_write(site, at, size);
    return;
  }
  const ws_buffer *buffer = global_buffer(site, address, size);
  if (!buffer)
    return;
  if (site->reads)
    global_read(site, buffer, address, size);
  if (site->writes)
    global_write(site, buffer, address, size);
}

void ws__hook_fence(ws_site *site) {
  lanes->lane[lanes->current].site = site;
  memory->acquired = true;
}

/* ---- private variables ------------------------------------------------- */

static __attribute__((noinline)) void
report_oob_variable(ws_site *site, int64_t offset, uint64_t size) {
  ws__fault(WS_FAULT_OOB_PRIVATE, site,
            "lane %d accesses %llu bytes at byte %lld of a private variable of "
            "%lld bytes",
            lanes->current, (unsigned long long)size,
            (long long)(offset - site->begin),
            (long long)(site->end - site->begin));
}

/* Only where the IR does not show that the access is inside. */
void ws__hook_variable(ws_site *site, uintptr_t address, uint64_t size,
                       uintptr_t base) {
  const int64_t offset = (int64_t)(address - base);
  if (size && (offset < site->begin || offset > site->end ||
               size > (uint64_t)(site->end - offset))) {
    lanes->lane[lanes->current].site = site;
    report_oob_variable(site, offset, size);
  }
}

/* ---- private memory, in the diagnosis run ---------------------------- */

enum { PRIVATE_NONE, PRIVATE_UNSET, PRIVATE_SET };

void ws__hook_alloca(ws_site *site, uintptr_t address, uint64_t size) {
  lanes->lane[lanes->current].site = site;
  memset(memory->private_state + (address - (uintptr_t)lanes->stacks),
         PRIVATE_UNSET, size);
}

void ws__hook_private(ws_site *site, uintptr_t address) {
  lanes->lane[lanes->current].site = site;
  if (!in_private(address) || !in_private(address + site->size)) {
    ws__fault(WS_FAULT_OOB_PRIVATE, site,
              "lane %d accesses %u bytes outside its private memory",
              lanes->current, site->size);
    return;
  }
  uint8_t *state = memory->private_state + (address - (uintptr_t)lanes->stacks);
  for (uint32_t i = 0; i < site->size; i++) {
    if (state[i] == PRIVATE_NONE) {
      ws__fault(WS_FAULT_OOB_PRIVATE, site,
                "lane %d accesses %u bytes, of which byte %u is in no alloca",
                lanes->current, site->size, i);
      return;
    }
    if (site->reads && state[i] == PRIVATE_UNSET)
      ws__fault(WS_FAULT_UNINIT_PRIVATE, site,
                "lane %d loads %u bytes of private memory, of which byte %u "
                "was never stored",
                lanes->current, site->size, i);
  }
  if (site->writes)
    memset(state, PRIVATE_SET, site->size);
}
