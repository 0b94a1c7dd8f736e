/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The library's one state: settings, the simulator, the lock, errors, and the
 * table of handles.
 */
#include "hipsim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

ws_hipsim ws__hip_device = {.lock = PTHREAD_MUTEX_INITIALIZER,
                            .null_stream = {.blocking = true}};
static _Thread_local hipError_t last_error;

/* ---- settings --------------------------------------------------------------
 */

/* The index of the variable's value in names; 0 when unset or unknown. */
static int choice(const char *variable, const char *const *names) {
  const char *text = getenv(variable);
  if (!text || !text[0])
    return 0;
  for (int i = 0; names[i]; i++)
    if (!strcmp(text, names[i]))
      return i;
  ws_log(WS_LOG_WARN, "%s=%s is unknown; %s is used", variable, text, names[0]);
  return 0;
}

static int64_t number(const char *variable, int64_t highest) {
  const char *text = getenv(variable);
  if (!text || !text[0])
    return 0;
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (*end == 0 && !errno && value > 0 && value <= highest)
    return value;
  ws_log(WS_LOG_WARN, "%s=%s is no number from 1 to %lld; it is ignored",
         variable, text, (long long)highest);
  return 0;
}

static void read_settings(ws_settings *out) {
  static const char *const modes[] = {"full", "run", "time", NULL};
  static const char *const residencies[] = {"cold", "warm", "flushed", NULL};
  static const ws_sim_residency found[] = {WS_SIM_CHAIN, WS_SIM_WARM,
                                           WS_SIM_COLD};
  static const char *const switches[] = {"on", "off", NULL};
  static const char *const timings[] = {"once", "each", NULL};
  const char *report = getenv("WAVESMITH_SIM_REPORT");
  *out = (ws_settings){
      .mode = (ws_hipsim_mode)choice("WAVESMITH_SIM_MODE", modes),
      .residency = found[choice("WAVESMITH_SIM_RESIDENCY", residencies)],
      .sim = {.threads = (int)number("WAVESMITH_SIM_THREADS", 256),
              .budget = number("WAVESMITH_SIM_BUDGET", INT64_MAX),
              .unchecked = choice("WAVESMITH_SIM_CHECKS", switches) == 1,
              .card = ws__hip_card()},
      .time_each = choice("WAVESMITH_SIM_TIMING", timings) == 1,
      .report = report && report[0] ? strdup(report) : NULL,
  };
}

/* Read once; with an error the card is the MI300X, and nothing works. */
static struct {
  ws_arena *arena; /* of the card and the text, as long as the library */
  const ws_sim_card *card;
  wavesmith_sim_card_text text;
} chosen;

static void choose_card(void) {
  if (chosen.card)
    return;
  ws_arena *arena = chosen.arena = ws_arena_create();
  ws_diag diag = {{0}};
  if (ws_sim_card_find(getenv("WAVESMITH_SIM_CARD"), arena, &chosen.card,
                       &diag) != WS_OK) {
    chosen.text.error = ws_arena_strdup(arena, diag.text);
    ws_status status = ws_sim_card_find(NULL, arena, &chosen.card, &diag);
    WS_ASSERT(status == WS_OK);
  }
  chosen.text.title = ws_sim_card_title(chosen.card);
  chosen.text.differs = ws_sim_card_differs(chosen.card, arena);
}

const wavesmith_sim_card_text *wavesmith_sim_card(void) {
  ws__hip_enter();
  choose_card();
  ws__hip_leave(hipSuccess);
  return &chosen.text;
}

int wavesmith_sim_model(void) { return WS_SIM_MODEL_VERSION; }

const ws_sim_card *ws__hip_card(void) {
  choose_card();
  return chosen.card;
}

hipError_t ws__hip_card_error(void) {
  static bool said;
  choose_card();
  if (!chosen.text.error)
    return hipSuccess;
  if (!said)
    ws_log(WS_LOG_ERROR, "WAVESMITH_SIM_CARD: %s", chosen.text.error);
  said = true;
  return hipErrorNotInitialized;
}

uint64_t ws__hip_sample_seed(void) {
  return (uint64_t)number("WAVESMITH_SIM_SEED", INT64_MAX);
}

ws_sim *ws__hip_simulator(void) {
  static bool settings_are_read;
  if (ws__hip_device.sim)
    return ws__hip_device.sim;
  ws_diag diag = {0};
  if (ws__hip_card_error())
    return NULL;
  if (!settings_are_read)
    read_settings(&ws__hip_device.settings);
  settings_are_read = true;
  if (ws_sim_create(&ws__hip_device.settings.sim, &ws__hip_device.sim, &diag) ==
      WS_OK)
    return ws__hip_device.sim;
  ws_log(WS_LOG_ERROR, "%s", diag.text);
  ws__hip_device.sim = NULL;
  return NULL;
}

void ws__hip_reset(void) {
  ws__hip_stream_forget();
  ws__hip_graph_forget();
  ws__hip_launch_forget();
  ws__hip_registered_forget();
  ws__hip_module_forget();
  ws__hip_memory_forget();
  ws_sim_destroy(ws__hip_device.sim);
  ws__hip_device.sim = NULL;
  ws__hip_device.sticky = hipSuccess;
  ws__hip_device.host_us = ws__hip_device.latest_us =
      ws__hip_device.blocking_us = 0;
  ws__hip_device.compute_us = ws__hip_device.link_us = 0;
  ws__hip_device.is_following = false;
}

/* ---- errors ----------------------------------------------------------------
 */

void ws__hip_enter(void) { pthread_mutex_lock(&ws__hip_device.lock); }

hipError_t ws__hip_leave(hipError_t error) {
  if (error != hipSuccess && error != hipErrorNotReady)
    last_error = error;
  pthread_mutex_unlock(&ws__hip_device.lock);
  return error;
}

/* A kernel's fault is everybody's last error. */
static hipError_t thread_error(bool clear) {
  ws__hip_enter();
  hipError_t error = ws__hip_device.sticky ? ws__hip_device.sticky : last_error;
  if (clear)
    last_error = hipSuccess;
  pthread_mutex_unlock(&ws__hip_device.lock);
  return error;
}

hipError_t hipGetLastError(void) { return thread_error(true); }
hipError_t hipExtGetLastError(void) { return thread_error(true); }
hipError_t hipPeekAtLastError(void) { return thread_error(false); }

/* ---- handles ----------------------------------------------------------------
 * magic:16 generation:20 index:24 kind:4. The magic makes them addresses that
 * x86-64 does not have.
 */

enum { INDEX_BITS = 24, KIND_BITS = 4, GENERATION_BITS = 20 };
static const uint64_t handle_magic = (uint64_t)0x5753 << 48;

static struct slot {
  void *object; /* NULL: free */
  uint32_t generation;
  uint8_t kind;
  uint32_t next_free; /* index + 1; 0: none */
} * slots;
static uint32_t slot_count, slot_capacity, first_free;

static uint64_t low_bits(uint64_t value, int bits) {
  return value & (((uint64_t)1 << bits) - 1);
}

static void *handle_of(uint32_t index) {
  uint64_t generation = low_bits(slots[index].generation, GENERATION_BITS);
  uint64_t value = handle_magic | generation << (INDEX_BITS + KIND_BITS) |
                   (uint64_t)index << KIND_BITS | slots[index].kind;
  return (void *)(uintptr_t)value;
}

static bool grow(void) {
  if (slot_count < slot_capacity)
    return true;
  if (slot_capacity >> INDEX_BITS)
    return false;
  uint32_t wanted = slot_capacity ? slot_capacity * 2 : 256;
  struct slot *larger = realloc(slots, wanted * sizeof *slots);
  if (!larger)
    return false;
  slots = larger;
  slot_capacity = wanted;
  return true;
}

void *ws__hip_handle_create(ws_handle_kind kind, void *object) {
  uint32_t index = first_free - 1;
  if (first_free) {
    first_free = slots[index].next_free;
  } else {
    if (!grow())
      return NULL;
    index = slot_count++;
    slots[index].generation = 0;
  }
  slots[index].object = object;
  slots[index].kind = (uint8_t)kind;
  slots[index].generation++;
  return handle_of(index);
}

static struct slot *slot_of(const void *handle, ws_handle_kind kind) {
  uint64_t value = (uint64_t)(uintptr_t)handle;
  uint64_t index = low_bits(value >> KIND_BITS, INDEX_BITS);
  if (index >= slot_count || !slots[index].object ||
      slots[index].kind != kind || handle_of((uint32_t)index) != handle)
    return NULL;
  return &slots[index];
}

void *ws__hip_handle_object(const void *handle, ws_handle_kind kind) {
  struct slot *slot = slot_of(handle, kind);
  return slot ? slot->object : NULL;
}

void *ws__hip_handle_destroy(const void *handle, ws_handle_kind kind) {
  struct slot *slot = slot_of(handle, kind);
  if (!slot)
    return NULL;
  void *object = slot->object;
  slot->object = NULL;
  slot->next_free = first_free;
  first_free = (uint32_t)(slot - slots) + 1;
  return object;
}

void *ws__hip_handle_next(ws_handle_kind kind, uint32_t *cursor) {
  for (; *cursor < slot_count; ++*cursor)
    if (slots[*cursor].object && slots[*cursor].kind == kind)
      return handle_of((*cursor)++);
  return NULL;
}
