/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C++ side of WavesmithPass.so: registers the passes of passes.c with
 * LLVM's pass builder and emits their diagnostics. No logic. Builds against
 * LLVM 20 to 22 (22 moved the plugin header and raised the plugin API to 2).
 */
#include "passes.h"

#if __has_include("llvm/Plugins/PassPlugin.h")
#include "llvm/Plugins/PassPlugin.h"
#else
#include "llvm/Passes/PassPlugin.h"
#endif
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"

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
  unwrap(Context)->diagnose(DiagnosticInfoGeneric(Text, DS_Error));
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
