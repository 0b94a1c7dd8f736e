/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Host code from the instrumented module: code generation without
 * optimisation through a target machine, then the object through ORC's LLJIT.
 * (Giving LLJIT the IR would need the module in a context that the JIT owns;
 * an object has no context.) Target machine and JIT are made once per process
 * and inherited by forks.
 */
#include "sanitize_internal.h"

#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/TargetMachine.h>
#include <string.h>

/* Once per process, see above. */
static struct {
  LLVMTargetMachineRef machine;
  char *layout;
  LLVMOrcLLJITRef jit;
} host;

/* bfloat in and out of libgcc's helpers is in the low bits of an SSE register,
 * as a float would be. The most frequent call of a GEMM's last part. */
static float truncate_to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = value == value ? (bits + 0x7fff + (bits >> 16 & 1)) >> 16
                        : bits >> 16 | 0x40;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* Rounds once: to odd in float first, so that the second rounding is exact. */
static float truncate_double_to_bf16(double value) {
  float nearest = (float)value;
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  if ((double)nearest != value && value == value && !(bits & 1)) {
    bool away = (double)nearest > value ? value > 0 : value < 0;
    bits += away ? (uint32_t)-1 : 1;
    memcpy(&nearest, &bits, sizeof nearest);
  }
  return truncate_to_bf16(nearest);
}

static const struct {
  const char *name;
  uintptr_t address;
} symbols[] = {
#define HOOK(name)                                                             \
  { #name, (uintptr_t)name }
    HOOK(ws__hook_lds_load),
    HOOK(ws__hook_lds_store),
    HOOK(ws__hook_global_load),
    HOOK(ws__hook_global_store),
    HOOK(ws__hook_access),
    HOOK(ws__hook_range),
    HOOK(ws__hook_fence),
    HOOK(ws__hook_private),
    HOOK(ws__hook_variable),
    HOOK(ws__hook_alloca),
    HOOK(ws__hook_operation),
#undef HOOK
    {"__truncsfbf2", (uintptr_t)truncate_to_bf16},
    {"__truncdfbf2", (uintptr_t)truncate_double_to_bf16},
};

enum { SYMBOL_COUNT = sizeof symbols / sizeof *symbols };

static char *message_of(LLVMErrorRef error) {
  static char text[256];
  char *message = LLVMGetErrorMessage(error);
  strncpy(text, message, sizeof text - 1);
  LLVMDisposeErrorMessage(message);
  return text;
}

static bool define_symbols(void) {
  LLVMOrcCSymbolMapPair pairs[SYMBOL_COUNT];
  for (int i = 0; i < SYMBOL_COUNT; i++)
    pairs[i] = (LLVMOrcCSymbolMapPair){
        LLVMOrcLLJITMangleAndIntern(host.jit, symbols[i].name),
        {symbols[i].address,
         {LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable,
          0}}};
  LLVMErrorRef error =
      LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(host.jit),
                            LLVMOrcAbsoluteSymbols(pairs, SYMBOL_COUNT));
  if (error)
    ws_log(WS_LOG_ERROR, "sanitizer: %s", message_of(error));
  return !error;
}

LLVMTargetMachineRef ws__jit_machine(const char **out_layout) {
  if (!host.machine) {
    char *triple = LLVMGetDefaultTargetTriple(), *message = NULL;
    LLVMTargetRef target;
    WS_ASSERT(!LLVMGetTargetFromTriple(triple, &target, &message));
    /* For fast instruction selection: a plain processor has fewer ways to
     * select each instruction, and calls in the large code model, which is the
     * default for JITs, are not selected fast at all. */
    host.machine =
        LLVMCreateTargetMachine(target, triple, "", "", LLVMCodeGenLevelNone,
                                LLVMRelocPIC, LLVMCodeModelSmall);
    LLVMTargetDataRef data = LLVMCreateTargetDataLayout(host.machine);
    host.layout = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&host.jit, NULL);
    if (error)
      ws_log(WS_LOG_ERROR, "sanitizer: %s", message_of(error));
    WS_ASSERT(!error && define_symbols());
    LLVMDisposeMessage(triple);
  }
  *out_layout = host.layout;
  return host.machine;
}

static bool add_object(LLVMMemoryBufferRef owned_object, ws_program *program) {
  LLVMOrcResourceTrackerRef tracker = LLVMOrcJITDylibCreateResourceTracker(
      LLVMOrcLLJITGetMainJITDylib(host.jit));
  program->code = tracker;
  LLVMErrorRef error =
      LLVMOrcLLJITAddObjectFileWithRT(host.jit, tracker, owned_object);
  for (int i = 0; i < program->entry_count && !error; i++) {
    LLVMOrcExecutorAddress address = 0;
    if (!program->entries[i].symbol)
      continue;
    error = LLVMOrcLLJITLookup(host.jit, &address, program->entries[i].symbol);
    program->entries[i].call = (void (*)(void *))(uintptr_t)address;
  }
  if (error)
    ws__fault(WS_FAULT_NO_HOST_MODEL, NULL, "linking for the host failed: %s",
              message_of(error));
  return !error;
}

bool ws__jit_load(LLVMModuleRef owned_module, ws_program *program) {
  LLVMMemoryBufferRef object = NULL;
  char *message = NULL;
  bool failed = LLVMTargetMachineEmitToMemoryBuffer(
      host.machine, owned_module, LLVMObjectFile, &message, &object);
  LLVMDisposeModule(owned_module);
  if (failed) {
    ws__fault(WS_FAULT_NO_HOST_MODEL, NULL,
              "code generation for the host failed: %s", message);
    LLVMDisposeMessage(message);
    return false;
  }
  return add_object(object, program);
}

void ws__jit_unload(ws_program *program) {
  if (!program->code)
    return;
  LLVMErrorRef error = LLVMOrcResourceTrackerRemove(program->code);
  if (error)
    ws_log(WS_LOG_WARN, "sanitizer: %s", message_of(error));
  LLVMOrcReleaseResourceTracker(program->code);
  program->code = NULL;
}

/* The first compilation of a process fills LLVM's tables, the first link the
 * JIT's; better before the fork than after it. */
void ws__jit_warm_up(void) {
  static const char text[] =
      "declare float @llvm.fma.f32(float, float, float)\n"
      "define internal float @callee(ptr %at, i32 %i) {\n"
      "  %p = getelementptr float, ptr %at, i32 %i\n"
      "  %x = load float, ptr %p\n"
      "  %y = call float @llvm.fma.f32(float %x, float %x, float %x)\n"
      "  ret float %y\n"
      "}\n"
      "define void @ws.warm(ptr %at) {\n"
      "  %v = load <4 x float>, ptr %at\n"
      "  %w = fadd <4 x float> %v, %v\n"
      "  store <4 x float> %w, ptr %at\n"
      "  %x = call float @callee(ptr %at, i32 1)\n"
      "  %h = fptrunc float %x to bfloat\n"
      "  store bfloat %h, ptr %at\n"
      "  ret void\n"
      "}\n";
  if (host.machine)
    return;
  const char *layout;
  LLVMTargetMachineRef machine = ws__jit_machine(&layout);
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = NULL;
  char *message = NULL;
  WS_ASSERT(!LLVMParseIRInContext(
      context,
      LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof text - 1, "warm"),
      &module, &message));
  char *triple = LLVMGetTargetMachineTriple(machine);
  LLVMSetTarget(module, triple);
  LLVMDisposeMessage(triple);
  LLVMSetDataLayout(module, layout);
  ws_program program = {.entries = {{.symbol = "ws.warm"}}, .entry_count = 1};
  ws__jit_load(module, &program);
  ws__jit_unload(&program);
  LLVMContextDispose(context);
}
