# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code objects chosen by hand, for peers_h200.py: reads a template's metadata
(ir-templates/README.md), evaluates its expressions, and launches the kernels
through the driver.
"""
import ctypes
import os
import re

try:
    import torch
except ImportError:
    torch = None

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))


def ceildiv(a, b):
    return -(-a // b)


def read_text(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class PeerError(Exception):
    """A peer cannot do a shape; the message says why."""



class Slots:
    """Arguments in the order of the problem's table, and their addresses.

    p.inputs: names to tensors, those in front of the outputs; p.scalars: names
    to values, those behind workspace, which a problem has if it says so."""

    def __init__(self, p, workspace_bytes):
        outputs = p.outputs()
        self.result = tuple(outputs.values())
        if len(outputs) == 1:
            self.result = self.result[0]
        self.workspace = torch.empty(max(workspace_bytes, 16),
                                     dtype=torch.uint8, device="cuda")
        tensors = {**p.inputs, **outputs}
        if p.has_workspace:
            tensors["workspace"] = self.workspace
        self.names = [*tensors, *p.scalars]
        self.values = [ctypes.c_void_p(t.data_ptr()) for t in tensors.values()]
        self.values += [(ctypes.c_float if isinstance(v, float) else
                         ctypes.c_int32)(v) for v in p.scalars.values()]
        self.pointers = {name: value.value for name, value in
                         zip(tensors, self.values)}
        self.array = (ctypes.c_void_p * len(self.values))(
            *[ctypes.addressof(v) for v in self.values])


def current_stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


TOKEN = re.compile(r"\s*(\d+|\w+|&&|\|\||[<>=!]=|[-+*/%<>()!?:,])")
LEVELS = [["||"], ["&&"], ["==", "!="], ["<", "<=", ">", ">="], ["+", "-"],
          ["*", "/", "%"]]
FUNCTIONS = {"min": min, "max": max, "ceildiv": ceildiv}


def divide(a, b):  # towards zero
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATORS = {
    "||": lambda a, b: int(bool(a or b)), "&&": lambda a, b: int(bool(a and b)),
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
    "/": divide, "%": lambda a, b: a - b * divide(a, b)}


class Expression:
    """A template's expression (ir-templates/README.md) as a function of the
    names in it: each method returns a closure over the scope."""

    def __init__(self, text):
        self.tokens, at, text = [], 0, text.strip()
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise ValueError(f"'{text}' at '{text[at:]}'")
            self.tokens.append(match.group(1))
            at = match.end()
        self.value = self.conditional()
        if self.tokens:
            raise ValueError(f"'{text}': '{self.tokens[0]}' is left over")

    def take(self, *wanted):
        if self.tokens and self.tokens[0] in wanted:
            return self.tokens.pop(0)
        return None

    def expect(self, token):
        if not self.take(token):
            raise ValueError(f"'{token}' expected before {self.tokens[:1]}")

    def conditional(self):
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        first = self.conditional()
        self.expect(":")
        second = self.conditional()
        return lambda s: first(s) if condition(s) else second(s)

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while operator := self.take(*LEVELS[level]):
            left = self.combined(operator, left, self.binary(level + 1))
        return left

    @staticmethod
    def combined(operator, left, right):
        if operator == "||":
            return lambda s: int(bool(left(s) or right(s)))
        if operator == "&&":
            return lambda s: int(bool(left(s) and right(s)))
        return lambda s: OPERATORS[operator](left(s), right(s))

    def unary(self):
        if self.take("-"):
            inner = self.unary()
            return lambda s: -inner(s)
        if self.take("!"):
            inner = self.unary()
            return lambda s: int(not inner(s))
        if self.take("("):
            inner = self.conditional()
            self.expect(")")
            return inner
        token = self.tokens.pop(0)
        if token.isdigit():
            return lambda s: int(token)
        if token in FUNCTIONS:
            self.expect("(")
            first = self.conditional()
            self.expect(",")
            second = self.conditional()
            self.expect(")")
            return lambda s: FUNCTIONS[token](first(s), second(s))
        return lambda s: s[token]


class Template:
    """What a launcher needs of a template's metadata."""

    def __init__(self, path):
        self.text = read_text(path)
        self.nodes = dict(re.findall(r"(?m)^(!\d+) = !\{(.*)\}$", self.text))
        self.defaults = {}
        for name, symbol, *_ in self.records("param"):
            value = re.search(rf"(?m)^@{re.escape(symbol)} = .*? i32 (-?\d+)",
                              self.text)
            self.defaults[name] = int(value.group(1))

    def records(self, kind):
        lists = re.findall(rf"(?m)^!wavesmith\.{kind} += !\{{(.*)\}}$",
                           self.text)
        for entry in ", ".join(lists).split(", "):
            if entry:
                yield re.findall(r'!"((?:[^"\\]|\\.)*)"', self.nodes[entry])

    def arguments(self, kernel):
        line = re.search(rf"(?m)^define ptx_kernel void @{kernel}\((.*)\)",
                         self.text).group(1)
        return re.findall(r"%([\w.]+)\s*(?:,|$)", line)

    def scope(self, assignments):
        values = dict(self.defaults)
        for item in filter(None, assignments.split(";")):
            name, value = item.split("=")
            if name not in values:
                raise ValueError(f"no parameter '{name}'")
            values[name] = int(value)
        return values


def evaluate(text, scope):
    return Expression(text).value(scope)


ELEMENTS = {"u8": (0, 1), "f32": (7, 4), "bf16": (9, 2)}  # CUDA's code, bytes
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


class Driver:
    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        torch.cuda.current_stream().synchronize()

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorString(result, ctypes.byref(text))
            raise PeerError(f"{name}: {(text.value or b'?').decode()}")

    def tensor_map(self, record, pointers, scope):
        """A 128-byte descriptor, aligned to 64."""
        _, argument, element, *rest = record
        inner, outer, box_inner, box_outer, swizzle = [
            evaluate(text, scope) for text in rest]
        code, size = ELEMENTS[element]
        row = inner * size  # of one row the stride is never used
        stride = row if outer > 1 else -(-row // 16) * 16
        store = ctypes.create_string_buffer(128 + 64)
        offset = -ctypes.addressof(store) % 64
        self.call("cuTensorMapEncodeTiled",
                  ctypes.c_void_p(ctypes.addressof(store) + offset),
                  code, 2, ctypes.c_void_p(pointers[argument]),
                  (ctypes.c_uint64 * 2)(inner, outer),
                  (ctypes.c_uint64 * 1)(stride),
                  (ctypes.c_uint32 * 2)(box_inner, box_outer),
                  (ctypes.c_uint32 * 2)(1, 1), 0, SWIZZLES[swizzle], 3, 0)
        return store, offset


class Plan:
    """Code objects chosen by hand: one column of the table."""

    def __init__(self, entries, folder):
        self.entries, self.folder, self.modules = entries, folder, {}
        self.driver = Driver()

    def path(self, name):
        for base in (self.folder, ROOT, "."):
            if os.path.exists(os.path.join(base, name)):
                return os.path.join(base, name)
        raise PeerError(f"{name}: no such file")

    def module(self, name):
        if name not in self.modules:
            with open(self.path(name), "rb") as file:
                image = file.read() + b"\0"  # as PTX must end
            module = ctypes.c_void_p()
            self.driver.call("cuModuleLoadData", ctypes.byref(module), image)
            self.modules[name] = module
        return self.modules[name]

    def make(self, p):
        shape = list(p.shape)
        for entry in self.entries:
            if shape in entry.get("shapes", [shape]):
                return self.prepare(entry, p)
        raise PeerError("no entry of the plan lists it")

    def prepare(self, entry, p):
        template = Template(self.path(entry["template"]))
        assignments = entry.get("set", "")
        scope = template.scope(assignments)
        sms = torch.cuda.get_device_properties(0).multi_processor_count
        scope.update(zip(p.dims, p.shape), cu_count=sms)
        for text, reason in template.records("require"):
            if not evaluate(text, scope):
                raise PeerError(f"{assignments}: {reason}")
        slots = Slots(p, sum(evaluate(record[0], scope)
                             for record in template.records("workspace")))
        records = {record[0]: record
                   for record in template.records("tensor_map")}
        lds = sum(evaluate(record[1], scope)
                  for record in template.records("lds"))
        launches = [self.launch(template, record, entry["code"], scope, slots,
                                records, lds)
                    for record in template.records("launch")
                    if evaluate(record[5], scope)]

        def call():
            for launch in launches:
                launch()
            return slots.result

        return call, f"{entry['code']} {assignments}"

    def launch(self, template, record, code, scope, slots, records, lds):
        kernel, *extents = record[:5]
        grid = [evaluate(text, scope) for text in extents[:3]]
        threads = evaluate(extents[3], scope)
        names = template.arguments(kernel)
        maps = {name: self.driver.tensor_map(records[name], slots.pointers,
                                             scope)
                for name in names if name in records}
        addresses = []
        for name in names:
            if name in maps:
                store, offset = maps[name]
                addresses.append(ctypes.addressof(store) + offset)
            else:
                addresses.append(slots.array[slots.names.index(name)])
        array = (ctypes.c_void_p * len(names))(*addresses)
        function = ctypes.c_void_p()
        self.driver.call("cuModuleGetFunction", ctypes.byref(function),
                         self.module(code), kernel.encode())
        uses_lds = "@ws.lds" in template.text and self.uses(template, kernel)
        dynamic = lds if uses_lds else 0
        self.driver.call("cuFuncSetAttribute", function, 8, dynamic)

        def run(held=(slots, maps, array)):
            self.driver.call("cuLaunchKernel", function, *grid, threads, 1, 1,
                             dynamic, current_stream(), array, None)

        return run

    @staticmethod
    def uses(template, kernel):
        """The kernel, or a function that it calls, names shared memory."""
        bodies = dict(re.findall(r"(?ms)^define [^@]*@(\w+)\((.*?)^\}",
                                 template.text))
        seen, queue = set(), [kernel]
        while queue:
            body = bodies.get(queue[0], "")
            seen.add(queue.pop(0))
            if "@ws.lds" in body:
                return True
            queue += [name for name in re.findall(r"@(\w+)\(", body)
                      if name in bodies and name not in seen]
        return False
