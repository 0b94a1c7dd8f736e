/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The static checks that follow values. They run on a copy of the module with
 * everything inlined and counters in registers, so each kernel is one function
 * in SSA form and no analysis across calls is needed; lines and regions come
 * from the debug locations, which survive these steps. Code that the parameter
 * values never reach is folded away first and not judged.
 *
 * Every value carries flags, joined until nothing changes:
 *   DIVERGENT  may differ between the lanes of a wave: from the lane's number,
 *              through operands, through addresses of loads, through private
 *              memory, and through joins behind a divergent branch
 *   INPUT      an address within a read-only argument
 *   LOADED     an address that was read from private memory
 *   POINTER    of private memory: a pointer was stored
 *   NOT_A_POINTER  likewise: something else was
 * and every pointer the set of arguments that it may point into, so that two of
 * different ones are not compared: where buffers lie tells a sanitizer from a
 * device, and one launch from the next.
 * What stays uniform: arguments, workgroup numbers, parameters, readfirstlane,
 * loads at a uniform address. A barrier in a branch on such a value is not
 * reported here even if waves differ; the sanitizer sees that.
 */
#include "check.h"
#include "control_flow.h"
#include "parse.h"
#include "template_ir.h"

#include <llvm-c/Error.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#define REPORT ws__check_report

enum { DIVERGENT = 1, INPUT = 2, NOT_A_POINTER = 4, POINTER = 8, LOADED = 16 };

/* One kernel. Values are its arguments, then its instructions. */
typedef struct flow {
  const ws_checker *checker;
  ws_cfg *cfg;
  ws_index index;
  LLVMValueRef *values;
  int *block_of;    /* -1 for arguments */
  unsigned *traits; /* of calls to intrinsics */
  int **operands;   /* numbers of the operands that are values here */
  int *operand_count;
  unsigned char *flags;
  uint32_t *bases;             /* of pointers: bit by argument */
  unsigned char *content;      /* of allocas: flags of what was stored */
  unsigned char any_content;   /* stored through pointers to some alloca */
  LLVMValueRef *controlled_by; /* by block: a divergent branch, or NULL */
  bool *join;                  /* by block: paths of a divergent branch meet */
  int argument_count;
  uint32_t maps;      /* arguments that are tensor maps, as bases */
  uint32_t inputs;    /* likewise: that are not written */
  unsigned invariant; /* kind of metadata */
} flow;

/* ---- building ------------------------------------------------------------ */

static const ws_tensor_map *find_map(const ws_checker *checker,
                                     const char *name) {
  const ws_template *tmpl =
      checker->candidate ? checker->candidate->tmpl : NULL;
  for (int i = 0; tmpl && i < tmpl->tensor_map_count; i++)
    if (!strcmp(tmpl->tensor_maps[i].name, name))
      return &tmpl->tensor_maps[i];
  return NULL;
}

static bool is_input(const ws_checker *checker, LLVMValueRef kernel,
                     unsigned argument) {
  unsigned readonly = LLVMGetEnumAttributeKindForName("readonly", 8);
  if (LLVMGetEnumAttributeAtIndex(kernel, argument + 1, readonly))
    return true;
  const ws_problem *problem =
      checker->candidate ? ws_problem_find(checker->candidate->tmpl->problem)
                         : NULL;
  size_t size;
  const char *name = LLVMGetValueName2(LLVMGetParam(kernel, argument), &size);
  const ws_tensor_map *map = find_map(checker, name);
  int index =
      problem ? ws_problem_arg_index(problem, map ? map->argument : name) : -1;
  return index >= 0 && problem->args[index].role == WS_ARG_INPUT;
}

static void find_operands(flow *f, ws_arena *arena, int value) {
  LLVMValueRef instruction = f->values[value];
  bool phi = LLVMIsAPHINode(instruction) != NULL;
  int count = phi ? (int)LLVMCountIncoming(instruction)
                  : LLVMGetNumOperands(instruction);
  f->operands[value] = ws_arena_alloc(arena, (size_t)count * sizeof(int));
  for (int i = 0; i < count; i++) {
    LLVMValueRef operand = phi ? LLVMGetIncomingValue(instruction, (unsigned)i)
                               : LLVMGetOperand(instruction, (unsigned)i);
    int number = ws__index_find(&f->index, operand);
    if (number >= 0)
      f->operands[value][f->operand_count[value]++] = number;
  }
}

static int count_values(LLVMValueRef kernel) {
  int count = (int)LLVMCountParams(kernel);
  WS_FOR_EACH_INSTRUCTION(kernel, block, instruction)
  count++;
  return count;
}

static void number_values(flow *f, LLVMValueRef kernel) {
  unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5);
  f->argument_count = (int)LLVMCountParams(kernel);
  f->invariant = LLVMGetMDKindIDInContext(
      LLVMGetModuleContext(f->checker->module), "invariant.load", 14);
  for (int i = 0; i < f->argument_count; i++) {
    int number = ws__index_add(&f->index, LLVMGetParam(kernel, (unsigned)i));
    f->values[number] = LLVMGetParam(kernel, (unsigned)i);
    f->block_of[number] = -1;
    f->bases[number] = 1u << i % 32;
    if (is_input(f->checker, kernel, (unsigned)i)) {
      f->flags[number] = INPUT;
      f->inputs |= f->bases[number];
    }
    if (LLVMGetEnumAttributeAtIndex(kernel, (unsigned)i + 1, byval))
      f->maps |= f->bases[number];
  }
  for (int b = 0; b < f->cfg->count; b++)
    for (LLVMValueRef i = LLVMGetFirstInstruction(f->cfg->blocks[b]); i;
         i = LLVMGetNextInstruction(i)) {
      int number = ws__index_add(&f->index, i);
      f->values[number] = i;
      f->block_of[number] = b;
      f->traits[number] = ws__call_traits(f->checker, i);
    }
}

static void build(flow *f, LLVMValueRef kernel) {
  ws_arena *arena = f->checker->findings->arena;
  size_t values = (size_t)count_values(kernel), blocks = (size_t)f->cfg->count;
  ws__index_init(&f->index, arena, (int)values);
  f->values = ws_arena_alloc(arena, values * sizeof *f->values);
  f->block_of = ws_arena_alloc(arena, values * sizeof *f->block_of);
  f->traits = ws_arena_alloc(arena, values * sizeof *f->traits);
  f->operands = ws_arena_alloc(arena, values * sizeof *f->operands);
  f->operand_count = ws_arena_alloc(arena, values * sizeof *f->operand_count);
  f->flags = ws_arena_alloc(arena, values);
  f->bases = ws_arena_alloc(arena, values * sizeof *f->bases);
  f->content = ws_arena_alloc(arena, values);
  f->controlled_by = ws_arena_alloc(arena, blocks * sizeof *f->controlled_by);
  f->join = ws_arena_alloc(arena, blocks);
  number_values(f, kernel);
  for (int i = f->argument_count; i < f->index.count; i++)
    find_operands(f, arena, i);
}

/* ---- private memory ------------------------------------------------------ */

enum { SOME_ALLOCA = -1, NOT_PRIVATE = -2 };

/* The alloca that a pointer points into. */
static int private_base(const flow *f, LLVMValueRef pointer) {
  for (;;) {
    if (LLVMIsAAllocaInst(pointer))
      return ws__index_find(&f->index, pointer);
    if (!LLVMIsAGetElementPtrInst(pointer) &&
        !LLVMIsAAddrSpaceCastInst(pointer) && !LLVMIsABitCastInst(pointer))
      break;
    pointer = LLVMGetOperand(pointer, 0);
  }
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
  return space == WS_SPACE_PRIVATE ? SOME_ALLOCA : NOT_PRIVATE;
}

static unsigned char content_of(const flow *f, int base) {
  if (base == NOT_PRIVATE)
    return 0;
  if (base >= 0)
    return f->content[base] | f->any_content;
  unsigned char all = f->any_content;
  for (int i = 0; i < f->index.count; i++)
    all |= f->content[i];
  return all;
}

static bool add_content(flow *f, int base, unsigned char flags) {
  if (base == NOT_PRIVATE)
    return false;
  unsigned char *content = base >= 0 ? &f->content[base] : &f->any_content;
  bool changed = (*content | flags) != *content;
  *content |= flags;
  return changed;
}

static unsigned char flags_of(const flow *f, LLVMValueRef value) {
  int number = ws__index_find(&f->index, value);
  return number < 0 ? 0 : f->flags[number];
}

static bool is_pointer(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
    type = LLVMGetElementType(type);
  return LLVMGetTypeKind(type) == LLVMPointerTypeKind;
}

/* What a store or a copy puts into private memory. */
static bool store_effect(flow *f, int number) {
  LLVMValueRef instruction = f->values[number];
  unsigned char flags = f->controlled_by[f->block_of[number]] ? DIVERGENT : 0;
  LLVMValueRef target;
  if (LLVMIsAStoreInst(instruction)) {
    LLVMValueRef value = LLVMGetOperand(instruction, 0);
    target = LLVMGetOperand(instruction, 1);
    flags |= flags_of(f, value);
    if (is_pointer(LLVMTypeOf(value)))
      flags |= POINTER;
    else if (!LLVMIsNull(value))
      flags |= NOT_A_POINTER;
  } else if (f->traits[number] & WS_INTRINSIC_WRITES) {
    LLVMValueRef source = LLVMGetOperand(instruction, 1);
    target = LLVMGetOperand(instruction, 0);
    int base =
        is_pointer(LLVMTypeOf(source)) ? private_base(f, source) : NOT_PRIVATE;
    flags |= (flags_of(f, source) & DIVERGENT) | content_of(f, base);
    if (base == NOT_PRIVATE)
      flags |= NOT_A_POINTER;
  } else {
    return false;
  }
  flags |= flags_of(f, target) & DIVERGENT;
  return add_content(f, private_base(f, target), flags);
}

/* Tables lie in memory that is only read, whatever space they are cast to. */
static bool is_constant_address(LLVMValueRef pointer) {
  return LLVMIsAConstant(pointer) && ws__points_outside(LLVMTypeOf(pointer)) &&
         !LLVMIsNull(pointer);
}

/* ---- propagation --------------------------------------------------------- */

static bool incoming_differ(LLVMValueRef phi) {
  for (unsigned i = 1; i < LLVMCountIncoming(phi); i++)
    if (LLVMGetIncomingValue(phi, i) != LLVMGetIncomingValue(phi, 0))
      return true;
  return false;
}

static unsigned char result_flags(const flow *f, int number) {
  LLVMValueRef instruction = f->values[number];
  unsigned traits = f->traits[number];
  unsigned char from_operands = 0;
  for (int i = 0; i < f->operand_count[number]; i++)
    from_operands |= f->flags[f->operands[number][i]];
  if (traits & WS_INTRINSIC_UNIFORM)
    return 0;
  if (traits & WS_INTRINSIC_LANE)
    return DIVERGENT;
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    return DIVERGENT;
  case LLVMLoad: {
    int base = private_base(f, LLVMGetOperand(instruction, 0));
    return (from_operands & DIVERGENT) |
           (content_of(f, base) & (DIVERGENT | INPUT)) |
           (is_pointer(LLVMTypeOf(instruction)) ? LOADED : 0);
  }
  case LLVMAddrSpaceCast:
  case LLVMGetElementPtr:
    if (is_constant_address(LLVMGetOperand(instruction, 0)))
      from_operands |= INPUT;
    return from_operands;
  case LLVMCall:
    if (!(traits & WS_INTRINSIC_POINTS))
      return from_operands & DIVERGENT;
    if (is_constant_address(LLVMGetOperand(instruction, 0)))
      from_operands |= INPUT;
    return from_operands;
  case LLVMPHI:
    if (f->join[f->block_of[number]] && incoming_differ(instruction))
      from_operands |= DIVERGENT;
    return from_operands;
  default:
    return from_operands;
  }
}

/* Marks the blocks between a divergent branch and where its paths have met.
 * Within, and where they meet, every phi may differ between lanes; a loop that
 * lanes leave at different times is the case where the branch's own block is
 * among them. */
static bool control_effect(flow *f, int block, LLVMValueRef branch) {
  ws_cfg *cfg = f->cfg;
  int end = cfg->postdominator[block], depth = 0;
  int *stack = ws_arena_alloc(f->checker->findings->arena,
                              (size_t)cfg->count * sizeof *stack);
  bool changed = false;
  bool *met = ws_arena_alloc(f->checker->findings->arena, (size_t)cfg->count);
  if (end < cfg->count) {
    changed |= !f->join[end];
    f->join[end] = true;
  }
  stack[depth++] = block;
  while (depth) {
    int from = stack[--depth];
    for (int i = 0; i < cfg->successor_count[from]; i++) {
      int to = cfg->successors[from][i];
      if (to == end || met[to])
        continue;
      met[to] = true;
      changed |= !f->controlled_by[to] || !f->join[to];
      f->join[to] = true;
      if (!f->controlled_by[to])
        f->controlled_by[to] = branch;
      stack[depth++] = to;
    }
  }
  return changed;
}

static bool branch_effect(flow *f, int number) {
  LLVMValueRef branch = f->values[number];
  int block = f->block_of[number];
  if (!LLVMIsATerminatorInst(branch) || !(f->flags[number] & DIVERGENT) ||
      f->cfg->successor_count[block] < 2)
    return false;
  return control_effect(f, block, branch);
}

/* What a pointer may point into. From private memory it comes without. */
static bool base_effect(flow *f, int number) {
  uint32_t before = f->bases[number];
  if (!is_pointer(LLVMTypeOf(f->values[number])))
    return false;
  for (int i = 0; i < f->operand_count[number]; i++)
    f->bases[number] |= f->bases[f->operands[number][i]];
  return f->bases[number] != before;
}

static void propagate(flow *f) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = f->argument_count; i < f->index.count; i++) {
      unsigned char flags = f->flags[i] | result_flags(f, i);
      bool fresh = flags != f->flags[i];
      f->flags[i] = flags;
      changed |= fresh | store_effect(f, i) | base_effect(f, i);
      if (fresh)
        changed |= branch_effect(f, i);
    }
  }
}

/* ---- findings ------------------------------------------------------------ */

static void report_divergent(const flow *f, int number) {
  LLVMValueRef branch = f->controlled_by[f->block_of[number]];
  unsigned traits = f->traits[number];
  if (!branch || !(traits & (WS_INTRINSIC_BARRIER | WS_INTRINSIC_MFMA)))
    return;
  bool barrier = traits & WS_INTRINSIC_BARRIER;
  const char *own_file = NULL, *file = NULL;
  (void)ws_pass_line(f->values[number], &own_file);
  const int line = ws_pass_line(branch, &file);
  const bool elsewhere = file && own_file && strcmp(file, own_file) != 0;
  REPORT(f->checker,
         barrier ? WS_CHECK_DIVERGENT_BARRIER : WS_CHECK_DIVERGENT_MFMA,
         f->values[number],
         "%s under the branch of line %d%s%s, whose condition differs between "
         "lanes",
         barrier ? "barrier" : "MFMA", line, elsewhere ? " of " : "",
         elsewhere ? file : "");
}

/* Operands that an instruction writes through, as bits; *out_sends: as tensor
 * maps, or as descriptors of buffers. */
static uint32_t written_operands(const flow *f, int number, bool *out_sends) {
  LLVMValueRef instruction = f->values[number];
  *out_sends = f->traits[number] & WS_INTRINSIC_SENDS;
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMStore:
    return 1u << 1;
  case LLVMAtomicRMW:
  case LLVMAtomicCmpXchg:
    return 1u << 0;
  case LLVMCall:
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(instruction)))
      return ws__asm_written(f->checker, instruction, out_sends);
    return f->traits[number] & WS_INTRINSIC_WRITES ? 1u << 0
           : *out_sends                            ? 1u << 1
                                                   : 0;
  default:
    return 0;
  }
}

static uint32_t bases_of(const flow *f, LLVMValueRef pointer) {
  int number = ws__index_find(&f->index, pointer);
  return number < 0 ? 0 : f->bases[number];
}

static void report_write(const flow *f, int number, LLVMValueRef pointer,
                         bool sends) {
  LLVMTypeRef type = LLVMTypeOf(pointer);
  const char *what = NULL;
  if (is_constant_address(pointer))
    what = "store to constant memory";
  else if (bases_of(f, pointer) & f->maps && !sends)
    what = "store to a tensor map itself";
  else if (flags_of(f, pointer) & INPUT)
    what = "store through a read-only argument";
  else if (LLVMGetPointerAddressSpace(type) == WS_SPACE_CONSTANT)
    what = "store to constant memory";
  if (what)
    REPORT(f->checker, WS_CHECK_READONLY_STORE, f->values[number], "%s", what);
}

static void report_readonly(const flow *f, int number) {
  bool sends;
  uint32_t written = written_operands(f, number, &sends);
  for (unsigned i = 0; written >> i && i < 32; i++)
    if (written >> i & 1)
      report_write(f, number, LLVMGetOperand(f->values[number], i), sends);
}

/* Is it known to point into what no launch of this kernel writes: tables of the
 * module, or arguments that are only read? */
static bool points_to_constant(const flow *f, LLVMValueRef pointer) {
  uint32_t bases = bases_of(f, pointer);
  if (is_constant_address(pointer))
    return true;
  return flags_of(f, pointer) & INPUT && !(flags_of(f, pointer) & LOADED) &&
         !(bases & ~f->inputs);
}

/* Loads that the optimiser may take for the same before and after any store:
 * they say so, or their address space does. */
static void report_constant(const flow *f, int number) {
  LLVMValueRef instruction = f->values[number];
  bool copies = f->traits[number] & WS_INTRINSIC_WRITES &&
                LLVMGetNumArgOperands(instruction) > 1;
  if (!LLVMIsALoadInst(instruction) && !copies)
    return;
  LLVMValueRef from = LLVMGetOperand(instruction, copies ? 1 : 0);
  bool said = !copies && LLVMGetMetadata(instruction, f->invariant);
  if (!is_pointer(LLVMTypeOf(from)) ||
      (!said &&
       LLVMGetPointerAddressSpace(LLVMTypeOf(from)) != WS_SPACE_CONSTANT) ||
      points_to_constant(f, from))
    return;
  REPORT(f->checker, WS_CHECK_CONSTANT_MEMORY, instruction,
         "%s of memory that the kernel may write",
         said ? "an !invariant.load" : "a read as addrspace(4)");
}

/* A pointer may come from private memory only, where only pointers went. */
static void report_loaded_pointer(const flow *f, int number) {
  LLVMValueRef load = f->values[number];
  if (!LLVMIsALoadInst(load) || !is_pointer(LLVMTypeOf(load)))
    return;
  int base = private_base(f, LLVMGetOperand(load, 0));
  if (base == NOT_PRIVATE || content_of(f, base) & NOT_A_POINTER)
    REPORT(f->checker, WS_CHECK_INTTOPTR, load,
           "a pointer read from memory that holds other data");
}

/* ---- addresses as numbers ---- */

/* Two pointers within one argument, or a question about null. */
static bool may_compare(const flow *f, LLVMValueRef comparison) {
  LLVMValueRef left = LLVMGetOperand(comparison, 0);
  LLVMValueRef right = LLVMGetOperand(comparison, 1);
  LLVMIntPredicate predicate = LLVMGetICmpPredicate(comparison);
  uint32_t both = bases_of(f, left) | bases_of(f, right);
  bool of_null = LLVMIsNull(left) || LLVMIsNull(right);
  if (of_null)
    return predicate == LLVMIntEQ || predicate == LLVMIntNE;
  return bases_of(f, left) && bases_of(f, right) && !(both & (both - 1));
}

static void report_address(const flow *f, int number) {
  LLVMValueRef instruction = f->values[number];
  switch (LLVMGetInstructionOpcode(instruction)) {
  case LLVMPtrToInt:
    if (ws__points_outside(LLVMTypeOf(LLVMGetOperand(instruction, 0))))
      REPORT(f->checker, WS_CHECK_ADDRESS_VALUE, instruction,
             "the address of a buffer as a number");
    break;
  case LLVMICmp:
    if (ws__points_outside(LLVMTypeOf(LLVMGetOperand(instruction, 0))) &&
        !may_compare(f, instruction))
      REPORT(f->checker, WS_CHECK_ADDRESS_VALUE, instruction,
             "a comparison of pointers into different buffers");
    break;
  case LLVMStore:
    if (ws__points_outside(LLVMTypeOf(LLVMGetOperand(instruction, 0))) &&
        private_base(f, LLVMGetOperand(instruction, 1)) == NOT_PRIVATE)
      REPORT(f->checker, WS_CHECK_ADDRESS_VALUE, instruction,
             "a pointer stored to memory");
    break;
  case LLVMLoad: {
    LLVMValueRef pointer = LLVMGetOperand(instruction, 0);
    int base = private_base(f, pointer);
    if (bases_of(f, pointer) & f->maps)
      REPORT(f->checker, WS_CHECK_ADDRESS_VALUE, instruction,
             "a tensor map read as data");
    if (!is_pointer(LLVMTypeOf(instruction)) && content_of(f, base) & POINTER)
      REPORT(f->checker, WS_CHECK_ADDRESS_VALUE, instruction,
             "a number read from memory that holds pointers");
    break;
  }
  case LLVMCall: /* memcpy and the like */
    if (f->traits[number] & WS_INTRINSIC_WRITES &&
        bases_of(f, LLVMGetOperand(instruction, 1)) & f->maps)
      REPORT(f->checker, WS_CHECK_ADDRESS_VALUE, instruction,
             "a tensor map copied as data");
    break;
  default:
    break;
  }
}

/* Blocks are numbered breadth first, so a loop has an edge to a number that is
 * not higher. */
static bool closes_loop(const ws_cfg *cfg, int block) {
  for (int i = 0; i < cfg->successor_count[block]; i++)
    if (cfg->successors[block][i] <= block)
      return true;
  return false;
}

/* Whether every block leads to a return; else a finding. */
static bool all_return(const flow *f) {
  for (int b = 0; b < f->cfg->count; b++)
    if (f->cfg->postdominator[b] < 0 && closes_loop(f->cfg, b)) {
      REPORT(f->checker, WS_CHECK_ENDLESS_LOOP,
             LLVMGetBasicBlockTerminator(f->cfg->blocks[b]),
             "no path from here leads to the kernel's return");
      return false;
    }
  return true;
}

static void check_kernel(const ws_checker *checker, LLVMValueRef kernel) {
  flow f = {.checker = checker};
  f.cfg = ws__cfg_create(checker->findings->arena, kernel);
  if (!f.cfg) {
    REPORT(checker, WS_CHECK_SIZE, kernel,
           "the kernel has more than %d blocks once inlined",
           WS_CFG_MAX_BLOCKS);
    return;
  }
  if (!all_return(&f))
    return;
  build(&f, kernel);
  propagate(&f);
  for (int i = f.argument_count; i < f.index.count; i++) {
    report_divergent(&f, i);
    report_readonly(&f, i);
    report_constant(&f, i);
    report_loaded_pointer(&f, i);
    report_address(&f, i);
  }
}

static LLVMModuleRef inlined_copy(LLVMModuleRef module) {
  LLVMModuleRef copy = LLVMCloneModule(module);
  size_t size;
  ws__pass_attach_file(copy, LLVMGetSourceFileName(copy, &size));
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMErrorRef error = LLVMRunPasses(
      copy, "function(sccp),always-inline,function(sroa<preserve-cfg>)", NULL,
      options);
  LLVMDisposePassBuilderOptions(options);
  /* The text above is fixed; only an LLVM we do not support refuses it. */
  WS_ASSERT(!error);
  return copy;
}

void ws__check_flow(const ws_checker *checker) {
  ws_checker copy = *checker;
  copy.module = inlined_copy(checker->module);
  for (LLVMValueRef f = LLVMGetFirstFunction(copy.module); f;
       f = LLVMGetNextFunction(f))
    if (ws__is_kernel(f))
      check_kernel(&copy, f);
  LLVMDisposeModule(copy.module);
}
