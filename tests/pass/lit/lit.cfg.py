# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The plugin under opt, and under clang where there is one of LLVM's version:
# WAVESMITH_CLANG, or clang-21 on the path. Parameters come from
# ../CMakeLists.txt.
import os
import shutil

import lit.formats

config.name = "wavesmith"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".test"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = lit_config.params["out"]

tools = lit_config.params["tools"]
plugin = lit_config.params["plugin"]
source = os.path.abspath(os.path.join(config.test_source_root, "..", "..", ".."))

for name in ("HOME", "TMPDIR", "WAVESMITH_COMPILER"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def tool(name):
    return os.path.join(tools, name)


config.substitutions += [
    ("%opt", tool("opt") + " -load-pass-plugin=" + plugin),
    ("%tiny", os.path.join(source, "tests", "pass", "Inputs", "tiny.ll")),
    ("%templates", os.path.join(source, "ir-templates")),
    ("%plugin", plugin),
    ("%readobj", tool("llvm-readobj")),
    ("%objdump", tool("llvm-objdump")),
    ("FileCheck", lit_config.params["filecheck"]),
    (r"\bnot\b", tool("not")),
]

clang = os.environ.get("WAVESMITH_CLANG") or shutil.which("clang-21")
if clang:
    config.available_features.add("clang")
    config.substitutions.append(("%clang", clang))
