/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernel metadata through comgr. comgr's nodes are handles: whoever looks one
 * up destroys it.
 */
#include "metadata.h"

#include <amd_comgr/amd_comgr.h>
#include <stdlib.h>
#include <string.h>

/* The text of a scalar; NULL: there is no such key. */
static const char *read_text(ws_arena *arena, amd_comgr_metadata_node_t map,
                             const char *key) {
  amd_comgr_metadata_node_t node;
  amd_comgr_metadata_kind_t kind;
  size_t size = 0; /* counts the NUL */
  char *text = NULL;
  if (amd_comgr_metadata_lookup(map, key, &node))
    return NULL;
  if (!amd_comgr_get_metadata_kind(node, &kind) &&
      kind == AMD_COMGR_METADATA_KIND_STRING &&
      !amd_comgr_get_metadata_string(node, &size, NULL)) {
    text = ws_arena_alloc(arena, size + 1);
    if (amd_comgr_get_metadata_string(node, &size, text))
      text = NULL;
  }
  amd_comgr_destroy_metadata(node);
  return text;
}

static const char *read_word(ws_arena *arena, amd_comgr_metadata_node_t map,
                             const char *key) {
  const char *text = read_text(arena, map, key);
  return text ? text : "";
}

/* Negative and huge numbers become 0 and the largest. */
static int32_t read_count(ws_arena *arena, amd_comgr_metadata_node_t map,
                          const char *key) {
  long long value = strtoll(read_word(arena, map, key), NULL, 0);
  return value < 0 ? 0 : value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* Calls visit for each entry of the list map[key]. */
typedef void (*visit_entry)(ws_arena *arena, amd_comgr_metadata_node_t entry,
                            void *context);
static size_t for_each(ws_arena *arena, amd_comgr_metadata_node_t map,
                       const char *key, visit_entry visit, void *context) {
  amd_comgr_metadata_node_t list, entry;
  size_t count = 0;
  if (amd_comgr_metadata_lookup(map, key, &list))
    return 0;
  if (amd_comgr_get_metadata_list_size(list, &count))
    count = 0;
  for (size_t i = 0; i < count && visit; i++)
    if (!amd_comgr_index_list_metadata(list, i, &entry)) {
      visit(arena, entry, context);
      amd_comgr_destroy_metadata(entry);
    }
  amd_comgr_destroy_metadata(list);
  return count;
}

typedef struct argument_list {
  ws_sim_argument *items;
  int count;
} argument_list;

static void read_argument(ws_arena *arena, amd_comgr_metadata_node_t entry,
                          void *context) {
  argument_list *list = context;
  list->items[list->count++] =
      (ws_sim_argument){.name = read_word(arena, entry, ".name"),
                        .kind = read_word(arena, entry, ".value_kind"),
                        .offset = read_count(arena, entry, ".offset"),
                        .size = read_count(arena, entry, ".size")};
}

typedef struct kernel_list {
  ws_kernel_metadata *items;
  int count;
} kernel_list;

static void read_kernel(ws_arena *arena, amd_comgr_metadata_node_t entry,
                        void *context) {
  kernel_list *list = context;
  ws_kernel_metadata *kernel = &list->items[list->count++];
  ws_sim_kernel_info *info = &kernel->info;
  const struct {
    const char *key;
    int32_t *field;
  } numbers[] = {{".vgpr_count", &info->vgpr},
                 {".agpr_count", &info->agpr},
                 {".sgpr_count", &info->sgpr},
                 {".group_segment_fixed_size", &info->lds_bytes},
                 {".private_segment_fixed_size", &info->scratch_bytes},
                 {".kernarg_segment_size", &info->kernarg_bytes},
                 {".max_flat_workgroup_size", &info->max_workgroup}};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    *numbers[i].field = read_count(arena, entry, numbers[i].key);
  const char *dynamic = read_word(arena, entry, ".uses_dynamic_stack");
  info->dynamic_stack = !strcmp(dynamic, "true") || !strcmp(dynamic, "1");
  info->name = read_word(arena, entry, ".name");
  kernel->symbol = read_word(arena, entry, ".symbol");
  argument_list args = {0};
  size_t count = for_each(arena, entry, ".args", NULL, NULL);
  args.items = ws_arena_alloc(arena, count * sizeof *args.items);
  for_each(arena, entry, ".args", read_argument, &args);
  info->args = args.items;
  info->arg_count = args.count;
}

ws_status ws__read_metadata(ws_arena *arena, const ws_elf *elf,
                            ws_kernel_metadata **out_kernels, int *out_count,
                            ws_diag *diag) {
  amd_comgr_data_t data;
  amd_comgr_metadata_node_t root;
  kernel_list list = {0};
  if (!ws__is_metadata_plain(elf))
    return ws_fail(diag, WS_INPUT, NULL, 0,
                   "the code object's kernel metadata is malformed");
  if (amd_comgr_create_data(AMD_COMGR_DATA_KIND_EXECUTABLE, &data))
    return ws_fail(diag, WS_ENVIRONMENT, NULL, 0, "comgr has no memory");
  if (!amd_comgr_set_data(data, elf->size, (const char *)elf->image) &&
      !amd_comgr_get_data_metadata(data, &root)) {
    size_t count = for_each(arena, root, "amdhsa.kernels", NULL, NULL);
    list.items = ws_arena_alloc(arena, count * sizeof *list.items);
    for_each(arena, root, "amdhsa.kernels", read_kernel, &list);
    amd_comgr_destroy_metadata(root);
  }
  amd_comgr_release_data(data);
  *out_kernels = list.items;
  *out_count = list.count;
  return WS_OK;
}
