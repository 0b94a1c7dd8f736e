/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * wavesmith's own functions for sm_90a: PTX instructions whose number of
 * operands depends on a parameter, which no text with a fixed number can hold.
 * A call becomes inline assembly with one operand per register; the results go
 * to memory, from which SROA takes them again.
 *
 *   ws.wgmma.e4m3.k128(ptr sums, i64 a, i64 b, i32 columns)
 *   ws.wgmma.bf16.k64(ptr sums, i64 a, i64 b, i32 columns)
 *     fence, four wgmma m64n{columns} over rows of 128 bytes (descriptors
 *     advance by 32 bytes: 2), commit. The first ignores the sums, so nothing
 *     is zeroed. sums[0 .. columns/2) are there after a wait only.
 *   ws.wgmma.e4m3.k128.onto(ptr sums, i64 a, i64 b, i32 columns,
 *                           i32 accumulate), ws.wgmma.bf16.k64.onto
 *     the same, but the sums go in too, and the first adds to them unless
 *     accumulate is 0. With a 0 that ptxas cannot see through, this keeps the
 *     sums in one set of registers: it may not let the last use of the old ones
 *     drift behind the next wgmma, which costs a second set.
 *   ws.wgmma.wait(ptr sums, i32 columns, i32 pending)
 *     waits until at most `pending` commits are under way. The sums pass
 *     through, so that neither LLVM nor ptxas moves a use in front of it.
 *
 * Shapes and forms: PTX ISA, "Asynchronous Warpgroup Level Matrix".
 */
#include "nvptx_expand.h"
#include "parse.h"

#include <string.h>

enum { MAX_COLUMNS = 256, COLUMN_STEP = 8, MAX_SUMS = MAX_COLUMNS / 2 };

/* A matrix instruction over 32 bytes of k. */
typedef struct wgmma_kind {
  const char *shape; /* behind the columns */
  const char *flags; /* behind the predicate: signs, and for 16-bit elements
                        that k is contiguous in both */
} wgmma_kind;

static const wgmma_kind e4m3 = {"k32.f32.e4m3.e4m3", "1, 1"};
static const wgmma_kind bf16 = {"k16.f32.bf16.bf16", "1, 1, 0, 0"};

typedef struct expansion {
  LLVMContextRef context;
  LLVMBuilderRef builder;
  LLVMValueRef call;
  const struct own_function *own;
  ws_findings *findings;
  ws_strbuf text, constraints;
} expansion;

struct own_function {
  const char *name, *type;
  bool (*expand)(expansion *e);
  const wgmma_kind *kind; /* NULL: a wait */
  bool onto;
};

/* ---- operands ------------------------------------------------------------ */

/* A constant operand in [low, high] and a multiple of step. */
static bool read_constant(const expansion *e, unsigned index, const char *name,
                          int low, int high, int step, int *out) {
  LLVMValueRef operand = LLVMGetOperand(e->call, index);
  const char *file;
  int line = ws_pass_line(e->call, &file);
  size_t size;
  const char *callee = LLVMGetValueName2(LLVMGetCalledValue(e->call), &size);
  long long value =
      LLVMIsAConstantInt(operand) ? LLVMConstIntGetSExtValue(operand) : -1;
  *out = (int)value;
  if (LLVMIsAConstantInt(operand) && value >= low && value <= high &&
      value % step == 0)
    return true;
  const char *region = ws_pass_region_of(e->call);
  if (!LLVMIsAConstantInt(operand))
    ws_findings_add(e->findings, "wgmma-shape", region, file, line,
                    "@%s: %s must be known once the parameters are; make it a "
                    "constant or a parameter's value",
                    callee, name);
  else
    ws_findings_add(e->findings, "wgmma-shape", region, file, line,
                    "@%s: %s is %lld, must be a multiple of %d from %d to %d; "
                    "mend the parameter's values or add a constraint",
                    callee, name, value, step, low, high);
  return false;
}

/* The address of sums[i]. */
static LLVMValueRef sum_at(const expansion *e, LLVMValueRef sums, int i) {
  LLVMTypeRef type = LLVMFloatTypeInContext(e->context);
  LLVMValueRef index =
      LLVMConstInt(LLVMInt32TypeInContext(e->context), (unsigned)i, false);
  return LLVMBuildGEP2(e->builder, type, sums, &index, 1, "");
}

/* ---- assembly ------------------------------------------------------------ */

/* "{$0, $1, ...}" */
static void put_registers(expansion *e, int count) {
  for (int i = 0; i < count; i++)
    ws_strbuf_printf(&e->text, "%s$%d", i ? ", " : "{", i);
  ws_strbuf_puts(&e->text, "}");
}

static void put_outputs(expansion *e, int count) {
  for (int i = 0; i < count; i++)
    ws_strbuf_puts(&e->constraints, i ? ",=f" : "=f");
}

/* The assembly with these inputs; its results are stored to sums. */
static void build_call(expansion *e, LLVMValueRef sums, int count,
                       LLVMTypeRef *types, LLVMValueRef *inputs,
                       unsigned input_count) {
  LLVMTypeRef floats[MAX_SUMS];
  for (int i = 0; i < count; i++)
    floats[i] = LLVMFloatTypeInContext(e->context);
  LLVMTypeRef result =
      LLVMStructTypeInContext(e->context, floats, (unsigned)count, false);
  LLVMTypeRef type = LLVMFunctionType(result, types, input_count, false);
  LLVMValueRef assembly = LLVMGetInlineAsm(
      type, e->text.data, e->text.size, e->constraints.data,
      e->constraints.size, true, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call =
      LLVMBuildCall2(e->builder, type, assembly, inputs, input_count, "");
  static const char *const attributes[] = {"convergent", "nounwind"};
  for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
    LLVMAddCallSiteAttribute(
        call, LLVMAttributeFunctionIndex,
        LLVMCreateEnumAttribute(e->context,
                                LLVMGetEnumAttributeKindForName(
                                    attributes[i], strlen(attributes[i])),
                                0));
  for (int i = 0; i < count; i++)
    LLVMBuildStore(e->builder,
                   LLVMBuildExtractValue(e->builder, call, (unsigned)i, ""),
                   sum_at(e, sums, i));
}

/* Loads sums[0 .. count) as inputs that are tied to the outputs. */
static void put_sums_in(expansion *e, LLVMValueRef sums, int count,
                        LLVMTypeRef *types, LLVMValueRef *inputs) {
  for (int i = 0; i < count; i++) {
    types[i] = LLVMFloatTypeInContext(e->context);
    inputs[i] = LLVMBuildLoad2(e->builder, types[i], sum_at(e, sums, i), "");
    ws_strbuf_printf(&e->constraints, ",%d", i);
  }
}

/* The text; operand number a is A's descriptor, a + 1 B's, a + 2 accumulate. */
static void put_wgmma(expansion *e, int columns, int a) {
  enum { STEPS = 4, STEP_BYTES_16 = 2 }; /* of 32 bytes, in units of 16 */
  const wgmma_kind *kind = e->own->kind;
  ws_strbuf_puts(&e->text, "{\n.reg .pred first, more;\n.reg .b64 a, b;\n");
  if (e->own->onto)
    ws_strbuf_printf(&e->text, "setp.ne.b32 first, $%d, 0;\n", a + 2);
  else
    ws_strbuf_puts(&e->text, "setp.ne.b32 first, 0, 0;\n");
  ws_strbuf_puts(&e->text,
                 "setp.eq.b32 more, 0, 0;\nwgmma.fence.sync.aligned;\n");
  for (int step = 0; step < STEPS; step++) {
    ws_strbuf_printf(&e->text,
                     "add.s64 a, $%d, %d;\nadd.s64 b, $%d, %d;\n"
                     "wgmma.mma_async.sync.aligned.m64n%d%s ",
                     a, step * STEP_BYTES_16, a + 1, step * STEP_BYTES_16,
                     columns, kind->shape);
    put_registers(e, columns / 2);
    ws_strbuf_printf(&e->text, ", a, b, %s, %s;\n", step ? "more" : "first",
                     kind->flags);
  }
  ws_strbuf_puts(&e->text, "wgmma.commit_group.sync.aligned;\n}");
}

static bool expand_wgmma(expansion *e) {
  const bool onto = e->own->onto;
  LLVMValueRef sums = LLVMGetOperand(e->call, 0), inputs[MAX_SUMS + 3];
  LLVMTypeRef types[MAX_SUMS + 3];
  int columns;
  if (!read_constant(e, 3, "columns", COLUMN_STEP, MAX_COLUMNS, COLUMN_STEP,
                     &columns))
    return false;
  int count = columns / 2, in = onto ? count : 0;
  put_outputs(e, count);
  if (onto)
    put_sums_in(e, sums, count, types, inputs);
  put_wgmma(e, columns, count + in);
  for (unsigned i = 1; i <= 2; i++)
    inputs[in++] = LLVMGetOperand(e->call, i);
  if (onto)
    inputs[in++] = LLVMGetOperand(e->call, 4);
  for (int i = onto ? count : 0; i < in; i++)
    types[i] = LLVMTypeOf(inputs[i]);
  ws_strbuf_puts(&e->constraints, onto ? ",l,l,r,~{memory}" : ",l,l,~{memory}");
  build_call(e, sums, count, types, inputs, (unsigned)in);
  return true;
}

static bool expand_wait(expansion *e) {
  LLVMValueRef sums = LLVMGetOperand(e->call, 0), inputs[MAX_SUMS];
  LLVMTypeRef types[MAX_SUMS];
  int columns, pending;
  if (!read_constant(e, 1, "columns", COLUMN_STEP, MAX_COLUMNS, COLUMN_STEP,
                     &columns) ||
      !read_constant(e, 2, "pending", 0, 7, 1, &pending))
    return false;
  int count = columns / 2;
  put_outputs(e, count);
  put_sums_in(e, sums, count, types, inputs);
  ws_strbuf_printf(&e->text, "wgmma.wait_group.sync.aligned %d;", pending);
  ws_strbuf_puts(&e->constraints, ",~{memory}");
  build_call(e, sums, count, types, inputs, (unsigned)count);
  return true;
}

/* ---- all of them --------------------------------------------------------- */

static const struct own_function own_functions[] = {
    {"ws.wgmma.e4m3.k128", "void (ptr, i64, i64, i32)", expand_wgmma, &e4m3,
     false},
    {"ws.wgmma.e4m3.k128.onto", "void (ptr, i64, i64, i32, i32)", expand_wgmma,
     &e4m3, true},
    {"ws.wgmma.bf16.k64", "void (ptr, i64, i64, i32)", expand_wgmma, &bf16,
     false},
    {"ws.wgmma.bf16.k64.onto", "void (ptr, i64, i64, i32, i32)", expand_wgmma,
     &bf16, true},
    {"ws.wgmma.wait", "void (ptr, i32, i32)", expand_wait, NULL, false},
};
enum { OWN_FUNCTIONS = sizeof own_functions / sizeof own_functions[0] };

bool ws__nvptx_is_own(LLVMValueRef function) {
  size_t size;
  const char *name = LLVMGetValueName2(function, &size);
  char *type = LLVMPrintTypeToString(LLVMGlobalGetValueType(function));
  bool own = false;
  for (int i = 0; i < OWN_FUNCTIONS; i++)
    own |= !strcmp(name, own_functions[i].name) &&
           !strcmp(type, own_functions[i].type);
  LLVMDisposeMessage(type);
  return own;
}

static bool expand_call(LLVMModuleRef module, LLVMValueRef call,
                        const struct own_function *own, ws_findings *findings) {
  expansion e = {.context = LLVMGetModuleContext(module),
                 .call = call,
                 .own = own,
                 .findings = findings};
  e.builder = LLVMCreateBuilderInContext(e.context);
  LLVMPositionBuilderBefore(e.builder, call);
  ws_strbuf_init(&e.text);
  ws_strbuf_init(&e.constraints);
  bool done = own->expand(&e);
  if (done)
    LLVMInstructionEraseFromParent(call);
  ws_strbuf_deinit(&e.constraints);
  ws_strbuf_deinit(&e.text);
  LLVMDisposeBuilder(e.builder);
  return done;
}

bool ws__nvptx_expand(LLVMModuleRef module, ws_findings *findings) {
  bool done = true;
  for (int i = 0; i < OWN_FUNCTIONS; i++) {
    LLVMValueRef function = LLVMGetNamedFunction(module, own_functions[i].name);
    bool own = function && ws__nvptx_is_own(function);
    LLVMUseRef use = own ? LLVMGetFirstUse(function) : NULL;
    while (use) {
      LLVMValueRef call = LLVMGetUser(use);
      use = LLVMGetNextUse(use);
      done &= expand_call(module, call, &own_functions[i], findings);
    }
    if (done && own)
      LLVMDeleteFunction(function);
  }
  return done;
}
