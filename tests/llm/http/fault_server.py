#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model server with faults, on loopback, for the tests of the providers.

  fault_server.py [--tls]

The first part of a request's path chooses what happens (see CASES); what
follows it is the provider's own. Prints one line, "PORT GOOD WRONG FOLDER": the
port of plain HTTP and, with --tls, of HTTPS with a certificate for 127.0.0.1
(FOLDER/good.pem) and with one for another host (FOLDER/wrong.pem); 0 where
there is no openssl. Ends when stdin closes, or after two minutes.
"""
import json
import os
import random
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LIFETIME_S = 120
MEGABYTE = b" " * (1 << 20)
seen = Counter()  # requests per case
seen_lock = threading.Lock()


def count(case):
    with seen_lock:
        seen[case] += 1
        return seen[case]


# ---- well-formed replies, as each vendor documents them ---------------------


def openai(text, finish="stop", usage=True):
    reply = {
        "id": "x", "object": "chat.completion", "model": "tiny",
        "choices": [{"index": 0, "finish_reason": finish,
                     "message": {"role": "assistant", "content": text}}],
    }
    if usage:
        reply["usage"] = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    return reply


def openai_events():
    def chunk(delta, finish=None):
        return {"object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    usage = {"object": "chat.completion.chunk", "choices": [],
             "usage": {"prompt_tokens": 11, "completion_tokens": 7}}
    return [chunk({"role": "assistant", "content": ""}), chunk({"content": "hel"}),
            chunk({"content": "lo"}), chunk({}, "stop"), usage, "[DONE]"]


def anthropic_reply():
    return {"id": "m", "type": "message", "role": "assistant", "model": "tiny",
            "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
                        {"type": "text", "text": "hel"}, {"type": "text", "text": "lo"},
                        {"type": "other", "text": "not for us"}],
            "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 5, "cache_read_input_tokens": 6, "output_tokens": 7}}


def anthropic_events():
    message = {"id": "m", "type": "message", "role": "assistant", "content": [],
               "stop_reason": None, "usage": {"input_tokens": 11, "output_tokens": 1}}
    return [{"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0,
             "content_block": {"type": "text", "text": ""}},
            {"type": "ping"},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": "hel"}},
            {"type": "content_block_delta", "index": 0,
             "delta": {"type": "text_delta", "text": "lo"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"},
             "usage": {"output_tokens": 7}},
            {"type": "message_stop"}]


def gemini_part(parts, finish=None):
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate],
            "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 4,
                              "thoughtsTokenCount": 3, "totalTokenCount": 18}}


def gemini_reply():
    return gemini_part([{"text": "a thought", "thought": True}, {"text": "hello"}], "STOP")


def gemini_events():
    return [gemini_part([{"text": "hel"}]), gemini_part([{"text": "lo"}], "STOP")]


# ---- is the request what the vendor documents? --------------------------------


def fault_of_request(path, headers, body):
    """None, or what a strict server would refuse."""
    if headers.get("Content-Type") != "application/json":
        return "content type"
    if path == "/v1/chat/completions":
        want = {"model": "tiny", "max_tokens": 64, "temperature": 0.5, "messages": [
            {"role": "system", "content": "be brief"}, {"role": "user", "content": "say \"hi\"\n"}]}
        if body.pop("stream", False):
            want["stream_options"] = {"include_usage": True}
        key = headers.get("Authorization") == "Bearer test-key-123456"
    elif path == "/v1/messages":
        want = {"model": "tiny", "max_tokens": 64, "temperature": 0.5, "system": "be brief",
                "messages": [{"role": "user", "content": "say \"hi\"\n"}]}
        body.pop("stream", False)
        key = (headers.get("x-api-key") == "test-key-123456"
               and headers.get("anthropic-version") == "2023-06-01")
    elif path in ("/models/tiny:generateContent", "/models/tiny:streamGenerateContent?alt=sse"):
        want = {"systemInstruction": {"parts": [{"text": "be brief"}]},
                "contents": [{"role": "user", "parts": [{"text": "say \"hi\"\n"}]}],
                "generationConfig": {"maxOutputTokens": 64, "temperature": 0.5}}
        key = headers.get("x-goog-api-key") == "test-key-123456"
    else:
        return f"path {path}"
    if body != want:
        return f"body {json.dumps(body)}"
    return None if key else "key"


# ---- one request -----------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def head(self, code=200, kind="application/json", size=None, **more):
        self.send_response(code)
        if kind:
            self.send_header("Content-Type", kind)
        for name, value in more.items():
            self.send_header(name.replace("_", "-"), value)
        if size is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(size))
        self.end_headers()

    def whole(self, data, code=200, kind="application/json", **more):
        if not isinstance(data, bytes):
            data = json.dumps(data).encode()
        self.head(code, kind, len(data), **more)
        self.wfile.write(data)

    def refuse(self, code, message, **more):
        self.whole({"error": {"message": message, "type": "x"}}, code, **more)

    def events(self, events):
        """Without a length; the end of the connection ends it."""
        self.head(kind="text/event-stream")
        for event in events:
            self.wfile.write(event_bytes(event))
            self.wfile.flush()

    def reset(self):
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                   struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def do_POST(self):
        path = self.path
        if path.startswith("http://"):  # as a proxy gets it
            path = path[path.index("/", 7):]
            count("proxied")
        case, _, rest = path[1:].partition("/")
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.rest, self.body, self.number = "/" + rest, json.loads(raw), count(case)
        try:
            CASES[case](self)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True


def event_bytes(event):
    text = event if isinstance(event, str) else json.dumps(event)
    return b"data: " + text.encode() + b"\n\n"


def good_reply(self):
    """The vendor's content type and body for a request that is right."""
    vendor = ("openai" if "chat" in self.rest else
              "anthropic" if "messages" in self.rest else "gemini")
    whole, events = {"openai": (lambda: openai("hello"), openai_events),
                     "anthropic": (anthropic_reply, anthropic_events),
                     "gemini": (gemini_reply, gemini_events)}[vendor]
    if self.body.get("stream") or "stream" in self.rest:
        return "text/event-stream", b"".join(map(event_bytes, events()))
    return "application/json", json.dumps(whole()).encode()


def good(self):
    kind, body = good_reply(self)
    fault = fault_of_request(self.rest, self.headers, self.body)
    if fault:
        self.refuse(400, "test server: wrong " + fault)
    else:
        self.whole(body, kind=kind)


def mutated(self):
    """A good reply with a few bytes changed, from the request's number among those
    of its kind: questions are under way at once, and come in any order."""
    kind, body = good_reply(self)
    number = count(f"mutated {self.rest} {kind}")
    generator, body = random.Random(number), bytearray(body)
    for _ in range(generator.randrange(1, 6)):
        at = generator.randrange(len(body) + 1)
        length = min(generator.randrange(1, 30), len(body) - at)
        piece = generator.choice((b"", b'"', b"{", b"null", b"-1e999", b"\xff", b"\n\n", b"\0",
                                  b"[]", b"\\ud800", bytes(body[at:at + 40]), b"data: "))
        body[at:at + generator.choice((0, 1, length))] = piece
    self.whole(bytes(body), kind=kind)


def then_good(times, fault):
    def case(self):
        if self.number <= times:
            fault(self)
        else:
            self.whole(openai("hello"))
    return case


def hold(self, seconds=10):
    """Says nothing more until the client hangs up."""
    self.connection.settimeout(seconds)
    try:
        self.connection.recv(1)
    except OSError:
        pass
    self.close_connection = True


def stalled_stream(self):
    self.events(openai_events()[:2])
    hold(self)


def slow_drip(self):
    self.head(size=100000)
    for _ in range(200):
        self.wfile.write(b" ")
        self.wfile.flush()
        time.sleep(0.05)


def huge(self, size=None):
    self.head(size=size)
    for _ in range(100):
        self.wfile.write(MEGABYTE)
    count("huge-was-read")


def partial(self):
    self.head(size=1000)
    self.wfile.write(b'{"choices": [')
    self.close_connection = True


def echo(self):
    self.whole(openai(json.dumps({"path": self.rest, "headers": dict(self.headers)})))


def key_of(self):
    return self.headers.get("Authorization", "Bearer none")[7:]


CASES = {
    "good": good,
    "mutated": mutated,
    "echo": echo,
    "seen": lambda s: s.whole(openai(" ".join(f"{k}={seen[k]}" for k in (
        "stolen", "huge-was-read", "proxied")))),
    "no-usage": lambda s: s.whole(openai("x" * 40, usage=False)),
    "bad-usage": lambda s: s.whole({**openai("x" * 40), "usage": {
        "prompt_tokens": -5, "completion_tokens": 1e300}}),
    "length": lambda s: s.whole(openai("half a", "length")),
    "length-empty": lambda s: s.whole(openai("", "length")),
    "parts": lambda s: s.whole(openai([{"type": "text", "text": "hello"}])),
    "rate-seconds": then_good(1, lambda s: s.refuse(429, "slow down", Retry_After="1")),
    "rate-date": then_good(1, lambda s: s.refuse(
        429, "slow down", Retry_After=formatdate(time.time() + 2, usegmt=True))),
    "rate-hour": lambda s: s.refuse(429, "slow down", Retry_After="3600"),
    "fail-twice": then_good(2, lambda s: s.refuse(500, "oops")),
    "fail": lambda s: s.refuse(503, "oops"),
    "cut-json": lambda s: s.whole(json.dumps(openai("hello")).encode()[:-30]),
    "not-json": lambda s: s.whole(b"<html>"),
    "not-utf8": lambda s: s.whole(b'{"choices":[{"message":{"content":"\xff\xfe"}}]}'),
    "nul": lambda s: s.whole(b'{"choices":\0[]}'),
    "deep": lambda s: s.whole(b"[" * 90000),
    "wrong-types": lambda s: s.whole(
        {"choices": [{"message": 7, "finish_reason": []}], "usage": "much"}),
    "no-choices": lambda s: s.whole({"choices": [], "usage": {
        "prompt_tokens": 11, "completion_tokens": 0}}),
    "empty-text": lambda s: s.whole(openai("")),
    "null-text": lambda s: s.whole(openai(None)),
    "empty-body": lambda s: s.whole(b""),
    "html": lambda s: s.whole(b"<html>hello</html>", kind="text/html"),
    "no-type": lambda s: s.whole(b"{}", kind=None),
    "silent": hold,
    "stalled-stream": stalled_stream,
    "slow-drip": slow_drip,
    "huge": huge,
    "huge-known": lambda s: huge(s, 100 << 20),
    "huge-error": lambda s: (s.head(400), [s.wfile.write(MEGABYTE) for _ in range(100)]),
    "partial": partial,
    "partial-once": then_good(1, partial),
    "reset": Handler.reset,
    "reset-once": then_good(1, Handler.reset),
    "redirect": lambda s: s.whole(b"", 302, Location="/stolen/v1/chat/completions"),
    "stolen": lambda s: s.whole(openai("stolen")),
    "key-refused": lambda s: s.refuse(401, f"bad key {key_of(s)}, yes: '{key_of(s)}'\n2"),
    "key-at-cut": lambda s: s.refuse(401, "x" * 290 + key_of(s)),
    "key-in-event": lambda s: s.events([{"error": {"message": "x" * 495 + key_of(s)}}]),
    "key-in-text": lambda s: s.whole(openai(f"your key is {key_of(s)}!")),
    "no-model": lambda s: s.refuse(404, "model 'tiny' not found"),
    "bad-request": lambda s: s.whole({"detail": "no\x1b[31m such\r\nthing"}, 400),
    "plain-error": lambda s: s.whole(b"upstream is down", 400, "text/plain"),
    "stream-stops": lambda s: s.events(openai_events()[:3]),
    "stream-bad-event": lambda s: s.events(openai_events()[:2] + ['{"choices": [']),
    "stream-error": lambda s: s.events(openai_events()[:2] + [
        {"error": {"message": "overloaded", "type": "x"}}]),
    "blocked": lambda s: s.whole({"promptFeedback": {"blockReason": "SAFETY"}}),
    "gemini-array": lambda s: s.whole([{"error": {"code": 400, "message": "no such thing"}}], 400),
    "anthropic-length": lambda s: s.whole({**anthropic_reply(), "stop_reason": "max_tokens"}),
}


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, address):
        pass


def serve(context=None):
    server = Server(("127.0.0.1", 0), Handler)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True,
                                            do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def serve_tls(folder, name, subject):
    certificate, key = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    try:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", "/CN=wavesmith test", "-addext",
                        "subjectAltName=" + subject, "-keyout", key, "-out", certificate],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return 0
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return serve(context)


def end(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


def main():
    folder = tempfile.mkdtemp(prefix="ws-fault-server-")
    threading.Timer(LIFETIME_S, end, [folder]).start()
    ports = [serve(), 0, 0]
    if sys.argv[1:] == ["--tls"]:
        ports[1] = serve_tls(folder, "good", "IP:127.0.0.1")
        ports[2] = serve_tls(folder, "wrong", "DNS:elsewhere.example")
    print(*ports, folder, flush=True)
    sys.stdin.read()
    end(folder)


if __name__ == "__main__":
    main()
