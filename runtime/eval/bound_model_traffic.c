/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Bytes between L1, L2 and the Infinity Cache. The L1 saves repeated lines of a
 * block only when the block's lines of all resident workgroups fit it. The L2
 * of an XCD saves what its resident workgroups share: how many rows and columns
 * of tiles these span is counted along the order of tiles.
 */
#include "bound_model_internal.h"

#include <math.h>
#include <string.h>

/* ---- what workgroups share
 * ------------------------------------------------------
 */

typedef struct tiling {
  double tile_m, tile_n;   /* extents of a workgroup's output */
  double tiles_m, tiles_n; /* of the shape */
} tiling;

/* Where outputs have two dimensions beside the depth: those that tiles of them
 * share rows and columns along. Without parameters of tiles a workgroup's
 * output is taken to be a square of as many elements as run 0 had per
 * workgroup. */
static bool tiling_of(const ws_candidate *candidate,
                      const ws__launch_work *work, const ws_shape *shape,
                      tiling *t) {
  double elements =
      work->run_area * work->slices / fmax(1, work->run_workgroups);
  int64_t side = (int64_t)fmax(1, sqrt(elements));
  int dims[2], count = 0;
  for (int i = 0; i < shape->dims->count; i++)
    if (i != work->depth.dim && count++ < 2)
      dims[count - 1] = i;
  if (count != 2 || !work->depth.declared)
    return false;
  t->tile_m = (double)ws__model_tile_of(candidate, shape->dims, dims[0], side);
  t->tile_n = (double)ws__model_tile_of(candidate, shape->dims, dims[1], side);
  t->tiles_m = ceil((double)shape->size[dims[0]] / t->tile_m);
  t->tiles_n = ceil((double)shape->size[dims[1]] / t->tile_n);
  return true;
}

/* Bytes of distinct lines that a workgroup touches per block of the depth: one
 * line per row where it is contiguous, else its rows, each a run along the
 * tile. */
static double distinct_bytes(const tiling *t, double block, double element,
                             bool contiguous) {
  const double line = ws__model.line_bytes;
  if (contiguous)
    return (t->tile_m + t->tile_n) * line * ceil(block * element / line);
  return block * line *
         (ceil(t->tile_m * element / line) + ceil(t->tile_n * element / line));
}

/* ---- the order of tiles
 * ------------------------------------------------------- Templates say it by
 * the parameters "order" (0 row by row, 1 in bands of group_m rows, 2 so within
 * a contiguous run per XCD) and "group_m", and by a variant of the region
 * "tile_order" whose name ends in "columns" (bands of columns). Without these
 * it is row by row. */
typedef struct tile_order {
  int64_t band; /* rows (columns) walked together */
  bool by_columns, run_per_xcd;
} tile_order;

static tile_order order_of(const ws_candidate *candidate) {
  int index = ws_template_region_index(candidate->tmpl, "tile_order");
  int variant = index < 0 ? -1 : candidate->bodies[index].variant;
  tile_order order = {0};
  order.band = ws__model_parameter(candidate, "group_m", 1);
  order.run_per_xcd = ws__model_parameter(candidate, "order", 0) == 2;
  order.by_columns =
      variant >= 0 &&
      strstr(candidate->tmpl->regions[index].variants[variant].function,
             "columns") != NULL;
  return order;
}

typedef struct tile {
  int64_t row, column;
} tile;

/* The tile at a position of the walk. */
static tile tile_at(const tile_order *order, int64_t rows, int64_t columns,
                    int64_t position) {
  int64_t along = order->by_columns ? rows : columns;
  int64_t across = order->by_columns ? columns : rows;
  int64_t first = position / (order->band * along) * order->band;
  int64_t within = position % (order->band * along);
  int64_t width = across - first < order->band ? across - first : order->band;
  int64_t near = first + within % width, far = within / width;
  return order->by_columns ? (tile){far, near} : (tile){near, far};
}

/* Counts different numbers: open addressing, half full at most. */
enum { MOST_RESIDENT = 1024, SET_SIZE = 2 * MOST_RESIDENT };
typedef struct number_set {
  int64_t slots[SET_SIZE]; /* number + 1 */
  int count;
} number_set;

static void set_add(number_set *set, int64_t number) {
  uint64_t at = (uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> 32;
  while (set->slots[at % SET_SIZE] && set->slots[at % SET_SIZE] != number + 1)
    at++;
  if (!set->slots[at % SET_SIZE])
    set->count++;
  set->slots[at % SET_SIZE] = number + 1;
}

/* Rows of k that the workgroups resident on one XCD need for a block of k, of
 * A and B together; each is 128 bytes. Walks over them: workgroup i of the
 * grid, tiles first and then slices of k, is on XCD i mod 8. */
static double rows_per_xcd(const tiling *t, const tile_order *order,
                           int resident, int xcds) {
  const int64_t rows = (int64_t)t->tiles_m, columns = (int64_t)t->tiles_n;
  const int64_t tiles = rows * columns;
  number_set seen_rows = {{0}, 0}, seen_columns = {{0}, 0};
  for (int i = 0; i < resident; i++) {
    int64_t group = (int64_t)i * xcds;
    int64_t slice = group / tiles, position = group % tiles;
    if (order->run_per_xcd)
      position = position % xcds * (tiles / xcds) + position / xcds;
    const tile at = tile_at(order, rows, columns, position);
    set_add(&seen_rows, slice * rows + at.row);
    set_add(&seen_columns, slice * columns + at.column);
  }
  return seen_rows.count * t->tile_m + seen_columns.count * t->tile_n;
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
  if (!work->follows_depth)
    return traffic;

  tiling t;
  double asked = work->block.load_lines * spread->work_scale * line;
  if (!tiling_of(candidate, work, shape, &t)) { /* nothing is shared */
    double bytes = spread->workgroups * spread->blocks * asked;
    return (ws__traffic){traffic.l2_bytes + bytes, traffic.mall_bytes + bytes};
  }
  bool contiguous = ws_problem_is_contiguous(
      problem, (int)ws__model_parameter(candidate, "layout", 0),
      work->depth.dim);
  const double block = (double)work->depth.block;
  const double element = ws_type_bytes(problem->args[0].type);
  double distinct = distinct_bytes(&t, block, element, contiguous);
  if (distinct * spread->resident <= ws__model.l1_bytes)
    asked = fmin(asked, distinct);
  double l2 = spread->workgroups * spread->blocks * asked;

  const int xcds = device->xcd_count;
  const tile_order order = order_of(candidate);
  double resident = fmin(ceil(spread->workgroups / xcds),
                         device->cu_count / xcds * spread->resident);
  resident = fmin(resident, MOST_RESIDENT);
  double rows = rows_per_xcd(&t, &order, (int)resident, xcds);
  double turns = spread->workgroups / (xcds * resident);
  traffic.l2_bytes += l2;
  traffic.mall_bytes +=
      fmin(l2, turns * xcds * spread->blocks * rows * block * element);
  return traffic;
}
