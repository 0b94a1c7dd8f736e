/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C++ side of WavesmithPass.so: registers the passes of passes.c with
 * LLVM's pass builder and emits their diagnostics and remarks. No logic. Builds
 * against LLVM 20 to 22 (22 moved the plugin header and raised the plugin API to
 * 2).
 */
#include "passes.h"

#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Remarks/RemarkStreamer.h"

using namespace llvm;

namespace {

struct WavesmithPass : PassInfoMixin<WavesmithPass> {
  const ws_plugin_pass *Pass;
  std::string Parameters;
  bool ByName;

  WavesmithPass(const ws_plugin_pass *Pass, StringRef Parameters, bool ByName)
      : Pass(Pass), Parameters(Parameters.str()), ByName(ByName) {}

  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    bool Changed = Pass->run(wrap(&M), Parameters.c_str(), ByName);
    return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
  static bool isRequired() { return true; } // also under optnone

  void printPipeline(raw_ostream &OS, function_ref<StringRef(StringRef)>) {
    OS << Pass->name;
    if (!Parameters.empty())
      OS << '<' << Parameters << '>';
  }
};

bool parsePass(StringRef Name, ModulePassManager &Manager) {
  for (int I = 0; I < ws_plugin_pass_count; I++) {
    StringRef Rest = Name;
    if (!Rest.consume_front(ws_plugin_passes[I].name))
      continue;
    if (!Rest.empty() && !(Rest.consume_front("<") && Rest.consume_back(">")))
      continue;
    Manager.addPass(WavesmithPass(&ws_plugin_passes[I], Rest, true));
    return true;
  }
  return false;
}

void registerPasses(PassBuilder &Builder) {
  Builder.registerPipelineParsingCallback(
      [](StringRef Name, ModulePassManager &Manager,
         ArrayRef<PassBuilder::PipelineElement>) {
        return parsePass(Name, Manager);
      });
  Builder.registerPipelineStartEPCallback(
      [](ModulePassManager &Manager, OptimizationLevel) {
        for (int I = 0; I < ws_plugin_pass_count; I++)
          if (ws_plugin_passes[I].at_start)
            Manager.addPass(WavesmithPass(&ws_plugin_passes[I], "", false));
      });
}

} // namespace

void ws_plugin_error(LLVMContextRef Context, const char *Text) {
  // opt exits below and writes what remarks it still holds no more.
  if (auto *Remarks = unwrap(Context)->getMainRemarkStreamer())
    Remarks->getSerializer().OS.flush();
  unwrap(Context)->diagnose(DiagnosticInfoGeneric(Text, DS_Error));
}

void ws_plugin_remark(LLVMValueRef Place, ws_remark_kind Kind, const char *Pass,
                      const char *Name, const ws_remark_part *Parts,
                      int Count) {
  auto *At = dyn_cast<Instruction>(unwrap(Place));
  auto *Where = At ? At->getFunction() : cast<Function>(unwrap(Place));
  auto Location = At ? DiagnosticLocation(At->getDebugLoc())
                     : DiagnosticLocation(Where->getSubprogram());
  auto Emit = [&](auto Remark) {
    for (int I = 0; I < Count; I++)
      if (Parts[I].key)
        Remark << DiagnosticInfoOptimizationBase::Argument(
            Parts[I].key, StringRef(Parts[I].text));
      else
        Remark << StringRef(Parts[I].text);
    Where->getContext().diagnose(Remark);
  };
  auto *Block = &Where->getEntryBlock();
  if (Kind == WS_REMARK_PASSED)
    Emit(OptimizationRemark(Pass, Name, Location, Block));
  else if (Kind == WS_REMARK_MISSED)
    Emit(OptimizationRemarkMissed(Pass, Name, Location, Block));
  else
    Emit(OptimizationRemarkAnalysis(Pass, Name, Location, Block));
}

// The build hides symbols by default; LLVM must find this one.
extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
llvmGetPassPluginInfo() {
  PassPluginLibraryInfo Info = {};
  Info.APIVersion = LLVM_PLUGIN_API_VERSION;
  Info.PluginName = "wavesmith";
  Info.PluginVersion = WAVESMITH_VERSION;
  Info.RegisterPassBuilderCallbacks = registerPasses;
  return Info;
}
