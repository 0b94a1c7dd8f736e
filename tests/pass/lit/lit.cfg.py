# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The plugins under opt and mlir-opt, and under clang where there is one of LLVM's version:
# WAVESMITH_CLANG, or clang-21 on the path. Parameters come from
# ../CMakeLists.txt.
import os
import shutil

import lit.formats

config.name = "wavesmith"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["out"]

tools = lit_config.params["tools"]
plugin = lit_config.params["plugin"]
mlir_plugin = lit_config.params.get("mlir_plugin")
source = os.path.abspath(os.path.join(config.test_source_root, "..", "..", ".."))

for name in ("HOME", "TMPDIR", "WAVESMITH_COMPILER"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
config.environment["WAVESMITH_CACHE"] = os.path.join(config.test_exec_root, "cache")


def tool(name):
    return os.path.join(tools, name)


def quoted(path):
    return f'"{path}"'


config.substitutions += [
    ("%opt", tool("opt") + " -load-pass-plugin=" + quoted(plugin)),
    ("%tiny", quoted(os.path.join(source, "tests", "pass", "Inputs", "tiny.ll"))),
    ("%pairs", os.path.join(source, "tests", "pass", "Inputs", "pairs.c")),
    ("%templates", quoted(os.path.join(source, "ir-templates"))),
    ("%plugin", quoted(plugin)),
    ("%readobj", tool("llvm-readobj")),
    ("%objdump", tool("llvm-objdump")),
    ("%llc", tool("llc")),
    ("FileCheck", lit_config.params["filecheck"]),
    (r"\bnot\b", tool("not")),
]

config.available_features.add("llvm-" + lit_config.params["llvm"])
if mlir_plugin:
    config.available_features.add("mlir")
    config.substitutions += [
        ("%mlir-opt", tool("mlir-opt") + " --load-pass-plugin=" + quoted(mlir_plugin)),
        ("%mlir-translate", tool("mlir-translate")),
        ("%kernels", quoted(os.path.join(source, "kernels"))),
        ("%small-mlir", quoted(os.path.join(source, "tests", "pass", "Inputs", "pairs.mlir"))),
        ("%wgmma-mlir", quoted(os.path.join(source, "kernels", "gemm_bf16", "wgmma.mlir"))),
    ]
clang = os.environ.get("WAVESMITH_CLANG") or shutil.which("clang-21")
if clang:
    config.available_features.add("clang")
    config.substitutions.append(("%clang", quoted(clang)))

# lit's own names where they begin a word, since the path of a checkout may hold
# a blank. Last: the names above begin alike.
for name in ("%s", "%S", "%t"):
    config.substitutions.append((rf"(?<=\s){name}\b", quoted(name)))
