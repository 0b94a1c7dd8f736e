/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Made-up GEMM kernels on a made-up card, for searches over many shapes: the
 * points of LANDSCAPE, their times worked out from waves of workgroups, the
 * depth of a slice, what a tile reads, and how well the other parameters suit
 * the shape. As on a card, a kernel that is good on one shape is mostly good on
 * near ones, and steps at the edges of waves and tiles make exceptions.
 */
#ifndef WAVESMITH_TESTS_SEARCH_GEMM_ORACLE_H
#define WAVESMITH_TESTS_SEARCH_GEMM_ORACLE_H

#include "../gemm_shape.h"
#include "landscape.h"

#include <math.h>
#include <string.h>

static const double oracle_units = 304, oracle_launch_us = 3,
                    oracle_unit_flops_us = 6e6, /* of a tile without end */
    oracle_bytes_us = 3e6;

static double oracle_value(const ws_candidate *candidate, const char *name) {
  return (double)
      candidate->values[ws_template_param_index(candidate->tmpl, name)];
}

/* 1 where value is the best one, more the further off it is. */
static double oracle_off(double value, double best, double weight) {
  return 1 + weight * fabs(value - best);
}

static double oracle_limit_us(const ws_shape *shape) {
  double m = (double)shape->size[0], n = (double)shape->size[1],
         k = (double)shape->size[2];
  return fmax(2 * m * n * k / (oracle_units * oracle_unit_flops_us),
              (m * k + n * k + 2 * m * n) / oracle_bytes_us);
}

static double oracle_us(const ws_candidate *candidate, const ws_shape *shape) {
  double m = (double)shape->size[0], n = (double)shape->size[1],
         k = (double)shape->size[2];
  double tile_m = oracle_value(candidate, "tile_m"),
         tile_n = oracle_value(candidate, "tile_n"),
         split = oracle_value(candidate, "split"),
         depth = oracle_value(candidate, "depth"),
         waves = oracle_value(candidate, "waves");
  double tiles = ceil(m / tile_m) * ceil(n / tile_n);
  double blocks = ceil(k / 128 / split);
  double rounds = ceil(tiles * split / oracle_units);
  /* small tiles read more for each product; few blocks fill no pipeline */
  double intensity = tile_m * tile_n / (tile_m + tile_n);
  double block_us =
      2 * tile_m * tile_n * 128 / oracle_unit_flops_us * (1 + 20 / intensity) +
      0.25 / (1 + depth);
  double us = rounds * (blocks * block_us + 0.4 * (1 + depth));
  us = fmax(us, oracle_limit_us(shape));
  us += oracle_launch_us + (split > 1 ? 1.5 + m * n * split * 4 / 2e6 : 0);
  us *= oracle_off(log2(waves), log2(tile_m * tile_n / 2048) / 1.5, 0.08);
  us *= oracle_off(log2(oracle_value(candidate, "unroll")),
                   fmin(3, log2(k / 512) / 2), 0.05);
  us *= oracle_off(oracle_value(candidate, "order"),
                   fmin(5, log2(1 + m * n / 1e6)), 0.02);
  us *= oracle_off(oracle_value(candidate, "pad") / 4, 2, 0.03);
  for (int i = 0; i < candidate->tmpl->region_count; i++)
    us *= 1 + 0.1 * ((candidate->bodies[i].variant + 1 + i) % 3);
  return us;
}

#endif
