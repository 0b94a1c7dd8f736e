/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Bytes between L1, L2 and the Infinity Cache. The L1 saves repeated lines of a
 * block only when the block's lines of all resident workgroups fit it. The L2
 * of an XCD saves what its resident workgroups share: how many tile rows and
 * columns these span follows from the order of tiles. Workgroup i runs on XCD
 * i mod 8, so a plain row-major order gives every XCD nearly every column; an
 * order that hands each XCD a contiguous run, or groups rows, spans fewer.
 */
#include "model_internal.h"

#include <math.h>
#include <string.h>

/* ---- the order of tiles
 * ------------------------------------------------------- Templates say it by a
 * parameter "group_m" (rows of tiles walked together) or "xcd" (1: contiguous
 * run per XCD), or by the name of the variant chosen for a region "tile_order":
 * ..._grouped, ..._xcd. */
typedef struct tile_order {
  double group; /* rows of tiles walked together; 1: row-major */
  bool contiguous_per_xcd;
} tile_order;

enum { DEFAULT_GROUP = 8 };

static const char *variant_of(const ws_candidate *candidate,
                              const char *region) {
  int index = ws_template_region_index(candidate->tmpl, region);
  if (index < 0 || candidate->bodies[index].variant < 0)
    return "";
  return candidate->tmpl->regions[index]
      .variants[candidate->bodies[index].variant]
      .function;
}

static tile_order order_of(const ws_candidate *candidate) {
  const char *variant = variant_of(candidate, "tile_order");
  tile_order order;
  order.contiguous_per_xcd = strstr(variant, "xcd") != NULL ||
                             ws__model_parameter(candidate, "xcd", 0) != 0;
  int64_t group = strstr(variant, "group") ? DEFAULT_GROUP : 1;
  order.group = (double)ws__model_parameter(candidate, "group_m", group);
  order.group = fmax(1, order.group);
  return order;
}

/* ---- what workgroups share
 * ------------------------------------------------------
 */

typedef struct tiling {
  double tile_m, tile_n;   /* extents of a workgroup's output */
  double tiles_m, tiles_n; /* of the shape */
} tiling;

/* Without parameters tile_m and tile_n a workgroup's output is taken to be a
 * square of as many elements as run 0 had per workgroup. */
static tiling tiling_of(const ws_candidate *candidate,
                        const ws__launch_work *work, const ws_shape *shape) {
  double elements =
      work->run_m * work->run_n * work->slices / fmax(1, work->run_workgroups);
  double side = fmax(1, sqrt(elements));
  tiling t;
  t.tile_m = (double)ws__model_parameter(candidate, "tile_m", (int64_t)side);
  t.tile_n = (double)ws__model_parameter(candidate, "tile_n", (int64_t)side);
  t.tiles_m = ceil((double)shape->m / t.tile_m);
  t.tiles_n = ceil((double)shape->n / t.tile_n);
  return t;
}

/* Bytes of distinct lines that a workgroup touches per block of k: one line per
 * row where k is contiguous, else 128 rows of k, each a run along the tile. */
static double distinct_bytes(const tiling *t, bool k_contiguous) {
  const double line = ws__model.line_bytes;
  if (k_contiguous)
    return (t->tile_m + t->tile_n) * line;
  return 128 * line * (ceil(t->tile_m / line) + ceil(t->tile_n / line));
}

/* Elements of k rows that an XCD's resident workgroups need for one block of
 * k, rows of A and B together; every one is 128 bytes. */
static double rows_per_xcd(const tiling *t, const tile_order *order,
                           double resident, double xcds) {
  double run = order->contiguous_per_xcd ? resident : resident * xcds;
  double rows = fmin(t->tiles_m, order->group);
  double columns = fmin(t->tiles_n, ceil(run / rows));
  if (columns == t->tiles_n) /* the run is longer than a group of rows */
    rows = fmin(t->tiles_m, fmax(rows, ceil(run / t->tiles_n)));
  /* an XCD has one workgroup in eight of a run that is not its own */
  rows = fmin(rows, resident);
  columns = fmin(columns, resident);
  return rows * t->tile_m + columns * t->tile_n;
}

ws__traffic ws__model_traffic(const ws_device_model *device,
                              const ws_problem *problem,
                              const ws_candidate *candidate,
                              const ws__launch_work *work,
                              const ws__spread *spread, const ws_shape *shape) {
  const double line = ws__model.line_bytes;
  const double stores = work->once.store_bytes * spread->work_scale;
  const double once_bytes = work->once.load_lines * spread->work_scale * line;
  ws__traffic traffic = {spread->workgroups * (once_bytes + stores),
                         spread->workgroups * (once_bytes + stores)};
  if (!work->follows_k)
    return traffic;

  const tiling t = tiling_of(candidate, work, shape);
  int layout = ws_problem_layout_index(problem, "mnmajor");
  bool k_contiguous = ws__model_parameter(candidate, "layout", 0) != layout;
  double distinct = distinct_bytes(&t, k_contiguous);
  double asked = work->block.load_lines * spread->work_scale * line;
  if (distinct * spread->resident <= ws__model.l1_bytes)
    asked = fmin(asked, distinct);
  double l2 = spread->workgroups * spread->blocks * asked;

  const double xcds = device->xcd_count;
  const tile_order order = order_of(candidate);
  double resident = fmin(ceil(spread->workgroups / xcds),
                         device->cu_count / xcds * spread->resident);
  double tiles = fmax(1, resident / work->slices);
  double per_block = rows_per_xcd(&t, &order, tiles, xcds) * 128 *
                     fmin(resident, work->slices);
  double waves_of_tiles = spread->workgroups / (xcds * resident);
  traffic.l2_bytes += l2;
  traffic.mall_bytes +=
      fmin(l2, xcds * waves_of_tiles * spread->blocks * per_block);
  return traffic;
}
