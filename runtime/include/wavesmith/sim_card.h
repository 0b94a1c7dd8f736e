/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Which card the simulator simulates: MI300X and what is built of the same
 * dies, or a profile of the user's own. docs/simulator.md, "Cards", says which
 * there are and what a profile's file looks like.
 *
 * Threads: profiles are constants once found.
 */
#ifndef WAVESMITH_SIM_CARD_H
#define WAVESMITH_SIM_CARD_H

#include "wavesmith/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ws_sim_card ws_sim_card;

/* name: that of a card ("mi300a"), or a file, which has a '/' in it or ends in
 * ".json"; NULL or "": mi300x. The profile lives in the arena. WS_USAGE and one
 * line: there is no such card, or the file is none of a profile. Other codes:
 * the file cannot be read. */
ws_status ws_sim_card_find(const char *name, ws_arena *arena,
                           const ws_sim_card **out_card,
                           ws_diag *diag) WS_MUST_CHECK;
/* Of a profile that is to be written. WS_USAGE: a file may not call itself so;
 * the diag goes on after the name of what it was ("has no letters; ..."). */
ws_status ws_sim_card_check_name(const char *name, ws_diag *diag) WS_MUST_CHECK;
/* The names that are built in, by index from 0, mi300x first; NULL: no more. */
const char *ws_sim_card_name_at(int index);

/* The last part of provenances: "MI300A"; of a file its name and a hash of all
 * its numbers, "mine-0123abcd", so that two calibrations are never mixed. */
const char *ws_sim_card_title(const ws_sim_card *card);
/* "MI300A: 228 CUs on 6 XCDs, ..." */
void ws_sim_card_describe(const ws_sim_card *card, ws_strbuf *out);
/* Each number of the cycle model that is not MI300X's, in words; "": all are.
 * In the arena. */
const char *ws_sim_card_differs(const ws_sim_card *card, ws_arena *arena);
/* All of it, with sources; a file of this is a profile. Free with cJSON_Delete.
 */
struct cJSON *ws_sim_card_to_json(const ws_sim_card *card);

#ifdef __cplusplus
}
#endif
#endif
