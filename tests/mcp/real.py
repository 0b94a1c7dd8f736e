#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wavesmith mcp with the real compile server, as a client sees it.

usage: real.py WAVESMITH TEMPLATES FOLDER

Talks JSON-RPC over the program's pipes: reads the task, submits one good, one
broken and one unreadable reply, ends, and finds everything again in a second
session on the same archive. Expected values: the ids and verdicts must agree
between the calls; the broken body reads one row past the operand.
"""
import contextlib
import json
import pathlib
import sqlite3
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


def check_schema(value, schema, where="result"):
    """The part of JSON Schema that the tools use."""
    types = {"object": dict, "array": list, "string": str, "integer": int,
             "number": (int, float)}
    assert isinstance(value, types[schema["type"]]), (where, value, schema)
    for name in schema.get("required", []):
        assert name in value, (where, name)
    for name, item in value.items() if isinstance(value, dict) else []:
        known = schema.get("properties", {}).get(name) or schema["additionalProperties"]
        check_schema(item, known, where + "." + name)
    for item in value if isinstance(value, list) else []:
        check_schema(item, schema["items"], where + "[]")


def structured_and_listed(session, template):
    """Results by their schemas; prompts and documents as a client lists them."""
    tools = {tool["name"]: tool for tool in session.call("tools/list", {})["result"]["tools"]}
    first = session.call("tools/call", {"name": "candidates", "arguments": {}})["result"]
    identity = first["structuredContent"]["candidates"][0]["id"]
    assert identity[:12] in first["content"][0]["text"], first
    calls = {"check": {"kind": "exploit", "reply": "## parameters\ntile_m=64\n"},
             "candidates": {"verdict": "any"}, "times": {"id": identity},
             "submit": {"kind": "exploit", "reply": "nothing"}}
    assert {name for name in tools if "outputSchema" in tools[name]} == set(calls)
    for name, arguments in calls.items():
        result = session.call("tools/call", {"name": name, "arguments": arguments})["result"]
        check_schema(result["structuredContent"], tools[name]["outputSchema"])
        if name == "submit":
            assert result["structuredContent"]["verdict"] == "illegal", result
            assert result["structuredContent"]["candidate"] == "", result
        if name == "times":
            time = result["structuredContent"]["times"][0]
            assert time["us"] > 0 and set(time["shape"]) == {"m", "n", "k"}, result
    failed = session.call("tools/call", {"name": "times", "arguments": {"id": "zz"}})["result"]
    assert failed["isError"] and "structuredContent" not in failed, failed

    prompts = [each["name"] for each in session.call("prompts/list", {})["result"]["prompts"]]
    assert prompts == ["explore", "exploit", "crossover", "repair"], prompts
    got = session.call("prompts/get", {"name": "exploit", "arguments": {"parent": identity[:8]}})
    text = got["result"]["messages"][0]["content"]["text"]
    assert "## parameters" in text and "kind exploit" in text, text[-300:]
    assert session.call("prompts/get", {"name": "sing"})["error"]["code"] == -32602
    listed = session.call("resources/list", {})["result"]["resources"]
    assert [each["uri"] for each in listed] == ["wavesmith://task", "wavesmith://template"], listed
    read = session.call("resources/read", {"uri": "wavesmith://template"})["result"]["contents"]
    assert read[0]["text"] == template, read[0]["text"][:100]
    assert session.call("resources/read", {"uri": "wavesmith://x"})["error"]["code"] == -32002
    assert session.call("resources/templates/list", {})["result"]["resourceTemplates"] == []


def submit(session, reply):
    return session.tool("submit", kind="exploit", reply=reply)


def count_rows(archive):
    """Of every table, by another reader of SQLite."""
    with contextlib.closing(sqlite3.connect(archive)) as database:
        names = [row[0] for row in database.execute(
            "select name from sqlite_master where type='table'")]
        return {name: database.execute(f"select count(*) from {name}").fetchone() for name in names}


def check_then_submit(session, archive, reply):
    """What a check foresees comes true, and it leaves nothing behind."""
    arguments = {"kind": "exploit", "reply": reply}
    before = count_rows(archive)
    check, result = (
        session.call("tools/call", {"name": name, "arguments": arguments})["result"]
        for name in ("check", "check"))
    assert check == result and count_rows(archive) == before, (check, before)
    result = session.call("tools/call", {"name": "submit", "arguments": arguments})["result"]
    assert count_rows(archive) != before
    foreseen, seen = check["structuredContent"], result["structuredContent"]
    for key in ("verdict", "stage", "reason", "candidate"):
        assert foreseen[key] == seen[key], (key, foreseen, seen)
    return foreseen, result["content"][0]["text"]


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
    check, good = check_then_submit(session, archive, "## parameters\ntile_m=32\n")
    assert {"check", "sanitize", "lower"} <= set(check["stages"]), check
    assert check["estimates"][0]["us"] > 0 and not check["findings"], check
    assert "ok" in good, good
    broken = body.replace("ptr addrspace(1) %a,", "ptr addrspace(1) %a.given,", 1)
    broken = broken.replace(
        "entry:\n", "entry:\n  %a = getelementptr i8, ptr addrspace(1) %a.given, i64 1048576\n", 1)
    check, verdict = check_then_submit(
        session, archive, "## region dot (ir)\n```llvm\n" + broken + "```\n")
    assert check["verdict"] == "wrong" and "lower" not in check["stages"], check
    assert [each["id"] for each in check["findings"]] == ["oob-global-load"], check
    assert check["findings"][0]["code"] in broken, check
    assert "wrong" in verdict and "oob-global-load" in verdict, verdict
    check, verdict = check_then_submit(session, archive, "I have no idea.")
    assert "illegal" in verdict and check["stages"] == ["reply"], check
    check, verdict = check_then_submit(
        session, archive, "## template\n```llvm\n" + text.replace("@dot(", "@dots(") + "```\n")
    assert check["verdict"] == "illegal", check
    before = session.tool("candidates")
    structured_and_listed(session, text)
    session.end()

    session = Session(program, str(template), str(archive))
    assert session.tool("candidates") == before
    assert "ok" in submit(session, "## parameters\ntile_n=32\n")
    assert session.tool("candidates") != before
    session.end()
    print("ok")


main()
