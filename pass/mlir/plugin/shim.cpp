/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The C++ side of WavesmithMLIR.so: registers the passes of passes.c with
 * mlir-opt. No logic.
 */
#include "passes.h"

#include "mlir/CAPI/Pass.h"
#include "mlir/CAPI/Wrap.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

using namespace mlir;

namespace {

struct PassOptions : PassPipelineOptions<PassOptions> {
  Option<std::string> Set{*this, "set", llvm::cl::desc("parameters: a=1;b=2")};
  Option<std::string> Problem{*this, "problem",
                              llvm::cl::desc("file of a problem of your own")};
};

void registerPasses() {
  for (int I = 0; I < ws_mlir_pass_count; I++) {
    const ws_mlir_pass *Pass = &ws_mlir_passes[I];
    registerPassPipeline(
        Pass->name, Pass->purpose,
        [Pass](OpPassManager &Manager, StringRef Text,
               function_ref<LogicalResult(const Twine &)> Fail) {
          PassOptions Given;
          if (failed(Given.parseFromString(Text)))
            return Fail(Twine(Pass->name) + ": set=\"a=1;b=2\" problem=FILE");
          const ws_mlir_options Options = {Given.Set.c_str(),
                                           Given.Problem.c_str()};
          Manager.addPass(std::unique_ptr<mlir::Pass>(
              unwrap(ws_mlir_pass_create(Pass, &Options))));
          return success();
        },
        [](function_ref<void(const detail::PassOptions &)> Show) {
          Show(PassOptions());
        });
  }
}

} // namespace

// The build hides symbols by default; mlir-opt must find this one.
extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "wavesmith", WAVESMITH_VERSION,
          registerPasses};
}
