/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The options of `wavesmith sim`, and the launches that they describe.
 */
#ifndef WAVESMITH_SIM_OPTIONS_H
#define WAVESMITH_SIM_OPTIONS_H

#include "wavesmith/measure.h"

/* One --kernel with what follows it; texts as given. */
typedef struct sim_kernel {
  const char *name, *grid, *block, *args, *lds;
} sim_kernel;
enum { SIM_MAX_KERNELS = 8 };

typedef struct sim_options {
  const char *file; /* code object; NULL: a candidate */
  const char *template_file, *archive, *candidate_id;
  const char *set, *variants;
  const char *problem, *layout, *shape, *workspace, *device, *only;
  const char *seed, *seconds;
  sim_kernel kernels[SIM_MAX_KERNELS];
  int kernel_count;
  const char *profile; /* to be printed; NULL: none */
  bool check_correction;
  const char *fit_correction; /* the profile to write; NULL: none */
  const char *compare;        /* CSV of measured times; NULL: none */
  bool json, profiles, help;
} sim_options;

ws_status sim_options_parse(int argc, char **argv, sim_options *out,
                            ws_diag *diag) WS_MUST_CHECK;

/* One code object, template or candidate of an archive, with what it needs. */
ws_status sim_options_check(const sim_options *options,
                            ws_diag *diag) WS_MUST_CHECK;

/* --profiles and --print-profile: the cards that the simulator knows, a line
 * each; one in full as JSON. */
void sim_list_profiles(void);
ws_status sim_print_profile(const char *name, ws_diag *diag) WS_MUST_CHECK;

/* The workload of --kernel, --grid, ... on shape. problem may be NULL. */
ws_status sim_read_workload(const sim_options *options, ws_arena *arena,
                            const ws_problem *problem, int layout,
                            const ws_shape *shape, int cu_count,
                            ws_workload *out, ws_diag *diag) WS_MUST_CHECK;

#endif
