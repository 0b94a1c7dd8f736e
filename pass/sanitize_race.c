/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is said of two accesses of one byte that nothing orders. Most often a
 * barrier is missing. But when two lanes store to one byte of the LDS by the
 * same instruction, and nobody read the first value, then a barrier would only
 * settle which of the two is lost: the offsets are not one-to-one, and what
 * computes them is named.
 */
#include "sanitize_internal.h"

#include <string.h>

static ws_memory *const memory = &ws__sanitizer.memory;
static ws_lanes *const lanes = &ws__sanitizer.lanes;

/* NULL: there are more sites than numbers that are kept. */
static const ws_site *site_numbered(int number) {
  const ws_site *site = ws__sanitizer.sites;
  if (site && site->number > UINT16_MAX)
    return NULL;
  while (site && site->number != number)
    site = site->next;
  return site;
}

/* The other access; NULL: not known. */
static const ws_site *other_site(const ws_race *race) {
  if (race->buffer || race->other < memory->workgroup_key)
    return NULL;
  const uint16_t *numbers =
      race->other_wrote ? memory->lds_writers : memory->lds_readers;
  return site_numbered(numbers[race->lds_offset]);
}

static bool in_flight(const ws_race *race) {
  return !race->buffer &&
         ws__to_lds_in_flight(ws__key_who(race->other), race->lds_offset);
}

/* ---- in words -------------------------------------------------------- */

static void put_other(uint32_t other, ws_strbuf *out) {
  uint32_t lane = ws__key_who(other);
  if (other < memory->workgroup_key)
    ws_strbuf_puts(out, "another workgroup");
  else if (lane == WS_KEY_ATOMIC)
    ws_strbuf_puts(out, "an atomic of this workgroup");
  else if (lane == WS_KEY_SEVERAL)
    ws_strbuf_puts(out, "lanes of several waves");
  else if (lane >= WS_KEY_WAVE)
    ws_strbuf_printf(out, "several lanes of wave %u", lane - WS_KEY_WAVE);
  else
    ws_strbuf_printf(out, "lane %u (wave %u)", lane, lane / WS_WAVE_LANES);
}

static const char *what_is_missing(const ws_race *race) {
  bool in_group = race->other >= memory->workgroup_key;
  if (in_flight(race))
    return "no wait for that load to LDS (llvm.amdgcn.s.waitcnt with vmcnt 0, "
           "by the wave that loads) and then a barrier";
  return in_group && ws__key_of_this_wave(race->other)
             ? "neither a barrier nor a wave operation (lanes of a wave are "
               "not known to run in step)"
             : "no barrier";
}

static bool is_replaced(const char *region) {
  const ws_candidate *candidate = ws__sanitizer.candidate;
  for (int i = 0; i < candidate->tmpl->region_count; i++)
    if (!strcmp(candidate->tmpl->regions[i].function, region))
      return candidate->bodies[i].text != NULL;
  return false;
}

/* Where the address comes from, and what of that the candidate brought. */
static void put_origin(const ws_site *site, ws_strbuf *out) {
  const char *of = site->offset_region;
  if (of)
    ws_strbuf_printf(out, "; region %s returns the offset%s", of,
                     is_replaced(of) ? ", and this candidate replaces it" : "");
  if (is_replaced(site->region))
    ws_strbuf_printf(out, "; this candidate replaces region %s%s", site->region,
                     of && is_replaced(of) ? " as well" : "");
}

/* ---- findings -------------------------------------------------------- */

static void put_overlap(const ws_race *race, ws_strbuf *out) {
  put_other(race->other, out);
  ws_strbuf_printf(out,
                   " and lane %d (wave %d) store here to the same byte %llu of "
                   "the LDS, and what the first stored was never read",
                   lanes->current, lanes->current_wave, race->offset);
  put_origin(race->site, out);
}

static void put_race(const ws_race *race, const ws_site *other,
                     ws_strbuf *out) {
  ws_strbuf_printf(out, "lane %d (wave %d) %s byte %llu of %s that ",
                   lanes->current, lanes->current_wave,
                   race->site_writes ? "writes" : "reads", race->offset,
                   race->buffer ? race->buffer->name : "the LDS");
  put_other(race->other, out);
  ws_strbuf_puts(out, race->other_wrote ? " wrote" : " read");
  if (other == race->site)
    ws_strbuf_puts(out, " here");
  else if (other)
    ws_strbuf_printf(out, " in %s at %s:%d", other->region, other->file,
                     other->line);
  ws_strbuf_printf(out, ", with %s between", what_is_missing(race));
}

static bool is_overlap(const ws_race *race, const ws_site *other) {
  return other == race->site && race->site_writes && race->other_wrote &&
         race->unread && !in_flight(race);
}

void ws__race_report(const ws_race *race) {
  const ws_site *other = other_site(race);
  ws_strbuf text;
  ws_strbuf_init(&text);
  ws_fault fault = race->buffer ? WS_FAULT_GLOBAL_RACE : WS_FAULT_LDS_RACE;
  if (is_overlap(race, other)) {
    fault = WS_FAULT_LDS_OVERLAP;
    put_overlap(race, &text);
  } else {
    put_race(race, other, &text);
  }
  ws__fault(fault, race->site, "%s", text.data);
  ws_strbuf_deinit(&text);
}
