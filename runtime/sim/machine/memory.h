/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Device memory: allocations, the check of an access, the private overlay of
 * timed runs. Device addresses are host pointers.
 *
 * Threads: allocating and freeing is the owner's; checks and reads may run on
 * all cores meanwhile (no launch is under way when memory is allocated).
 */
#ifndef WAVESMITH_SIM_MEMORY_H
#define WAVESMITH_SIM_MEMORY_H

#include "held.h"
#include "machine.h"

typedef struct ws_memory ws_memory;

ws_memory *ws__memory_create(void);
void ws__memory_destroy(ws_memory *memory);
void *ws__memory_allocate(ws_memory *memory, size_t bytes);
bool ws__memory_release(ws_memory *memory, void *address);
/* Code and constants of a module: readable; a store is a fault
 * ("write-to-code"). */
void *ws__memory_allocate_code(ws_memory *memory, size_t bytes);
/* The variables of a module: from offset on, this code may be stored to. */
void ws__memory_allow_stores(ws_memory *memory, const void *code,
                             size_t offset);
bool ws__memory_find(const ws_memory *memory, uint64_t address,
                     uint64_t *out_begin, uint64_t *out_bytes);
size_t ws__memory_bytes_in_use(const ws_memory *memory);

/* NULL when bytes from address lie in one live allocation (and may be stored
 * to, for a store); else a sentence for the report, in a buffer of the calling
 * thread. *out_id: "oob-global", "use-after-free", "write-to-code". */
const char *ws__memory_problem(const ws_memory *memory, uint64_t address,
                               uint32_t bytes, bool store, const char **out_id);

/* Fast yes: address is in the allocation that the last yes of *cache was about.
 * cache: two words, zeroed by the caller, of one thread. */
bool ws__memory_allows(const ws_memory *memory, uint64_t cache[2],
                       uint64_t address, uint32_t bytes, bool store);

/* ---- what was stored --------------------------------------------------------
 * Which bytes of the allocation around an address kernels store is noted from
 * the call of watch on; a second call begins anew. False: there is none. */
bool ws__memory_watch(ws_memory *memory, const void *address);
/* How many bytes from address on were not stored since, and the first of them.
 * All of them where nothing was watched. */
size_t ws__memory_unstored(const ws_memory *memory, const void *address,
                           size_t bytes, size_t *out_first);
bool ws__memory_is_watched(const ws_memory *memory); /* any of it */
/* Of a store that was allowed, by the cache of ws__memory_allows. On all
 * cores. */
void ws__memory_note_store(const ws_memory *memory, const uint64_t cache[2],
                           uint64_t address, uint32_t bytes);

/* What the allocation around address holds is not what a kernel would find
 * there, because launches were timed and not run, but for the bytes that are
 * noted as stored. false: there is none. */
bool ws__memory_set_unknown(ws_memory *memory, uint64_t address, bool unknown);
bool ws__memory_is_unknown(const ws_memory *memory, uint64_t address);
bool ws__memory_any_unknown(const ws_memory *memory);
/* Of an unknown allocation: these bytes are known (0: none further; stores are
 * noted from now on); none is any more. false: there is none. */
bool ws__memory_set_known(ws_memory *memory, uint64_t address, uint64_t bytes);
bool ws__memory_forget_known(ws_memory *memory, uint64_t address);
/* Of the allocation that the last yes of ws__memory_allows was about. */
bool ws__memory_allowed_unknown(const ws_memory *memory,
                                const uint64_t cache[2]);

/* What the Infinity Cache holds of it. Freed memory is in no cache. */
ws_held *ws__memory_held(ws_memory *memory);

/* ---- overlay ----------------------------------------------------------------
 * While an overlay is open, stores of groups with `timing` go to copies of the
 * pages; only such groups see them. */
void ws__overlay_open(ws_memory *memory);
void ws__overlay_close(ws_memory *memory); /* forgets what was stored */
void ws__overlay_free(ws_memory *memory);  /* and gives its room back */
/* No page has a copy: loads may go to memory itself. */
bool ws__overlay_is_empty(const ws_memory *memory);
/* A timed group has stored what is known there. */
void ws__overlay_set_known(ws_memory *memory, uint64_t address, uint32_t bytes);
/* What the group would read there is not known: the memory, and no timed group
 * of this launch has stored to it since. */
bool ws__is_unknown_to(const ws_group *group, uint64_t address);
/* Where a timed group reads or writes address: the copy, or the memory itself.
 * An access may not cross a 4 KiB page; the callers split. */
void *ws__overlay_place(ws_memory *memory, uint64_t address, bool store);

#endif
