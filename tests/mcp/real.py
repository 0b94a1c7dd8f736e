#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wavesmith mcp with the real compile server, as a client sees it.

usage: real.py WAVESMITH TEMPLATES FOLDER

Talks JSON-RPC over the program's pipes: reads the task, submits one good, one
broken and one unreadable reply, ends, and finds everything again in a second
session on the same archive. Expected values: the ids and verdicts must agree
between the calls; the broken body reads one row past the operand.
"""
import json
import pathlib
import subprocess
import sys


class Session:
    def __init__(self, program, template, archive):
        self.process = subprocess.Popen(
            [program, "mcp", template, "--archive", archive, "--device",
             "estimate", "--shapes", "128,512,256"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.number = 0
        answer = self.call("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}})
        assert answer["result"]["protocolVersion"] == "2025-06-18", answer
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def call(self, method, params):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.number, answer
        return answer

    def tool(self, name, **arguments):
        result = self.call("tools/call", {"name": name, "arguments": arguments})["result"]
        return result["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


def submit(session, reply):
    return session.tool("submit", kind="exploit", reply=reply)


def main():
    program, templates, folder = sys.argv[1:]
    template = pathlib.Path(templates) / "fp8_gemm_naive.ll"
    archive = pathlib.Path(folder) / "mcp.db"
    for old in pathlib.Path(folder).glob("mcp.db*"):
        old.unlink()
    text = template.read_text()
    begin = text.index("define internal float @dot(")
    body = text[begin:text.index("\n}\n", begin) + 3]

    session = Session(program, str(template), str(archive))
    names = {tool["name"] for tool in session.call("tools/list", {})["result"]["tools"]}
    assert {"task", "prompt", "submit", "candidates", "show"} <= names, names
    assert "128" in session.tool("task") and "dot" in session.tool("task")
    good = submit(session, "## parameters\ntile_m=32\n")
    assert "ok" in good, good
    broken = body.replace("ptr addrspace(1) %a,", "ptr addrspace(1) %a.given,", 1)
    broken = broken.replace(
        "entry:\n", "entry:\n  %a = getelementptr i8, ptr addrspace(1) %a.given, i64 1048576\n", 1)
    verdict = submit(session, "## region dot (ir)\n```llvm\n" + broken + "```\n")
    assert "wrong" in verdict and "oob-global-load" in verdict, verdict
    assert "illegal" in submit(session, "I have no idea.")
    before = session.tool("candidates")
    session.end()

    session = Session(program, str(template), str(archive))
    assert session.tool("candidates") == before
    assert "ok" in submit(session, "## parameters\ntile_n=32\n")
    assert session.tool("candidates") != before
    session.end()
    print("ok")


main()
