# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What host_sm90a.py and host_wgmma.py share: a template at a point as text,
and a library of this machine's code made of it."""
import os
import re
import subprocess

HARD = 1 << 63  # WS_HARD_INPUTS


def at_point(text, scope, variants):
    """Parameters as constants, chosen variants in place of their regions."""
    for name, value in scope.items():
        text = re.sub(rf"(?m)^@ws\.{name} = .*$",
                      f"@ws.{name} = internal constant i32 {value}", text)
    for choice in variants.split():
        region, variant = choice.split("=")
        text = re.sub(rf"(call [^@\n]*)@{region}\(", rf"\1@{variant}(", text)
    return text


def replace_all(text, pairs):
    for pattern, replacement in pairs:
        text = re.sub(pattern, replacement, text)
    return text


def compile_library(tools, folder, text, level):
    def path(suffix):
        return os.path.join(folder, "kernel" + suffix)

    with open(path(".ll"), "w", encoding="utf-8") as out:
        out.write(text)
    for command in (
            [os.path.join(tools, "opt"), level, path(".ll"), "-o", path(".bc")],
            [os.path.join(tools, "llc"), level, "-filetype=obj",
             "-relocation-model=pic", path(".bc"), "-o", path(".o")],
            [os.environ.get("CC", "cc"), "-shared", path(".o"), "-o",
             path(".so")]):
        subprocess.run(command, check=True, capture_output=True)
    return path(".so")
