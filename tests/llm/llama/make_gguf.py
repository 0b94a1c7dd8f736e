#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a language model that llama.cpp loads and that knows nothing.

  make_gguf.py FILE [SEED]

GGUF version 3, architecture llama, random weights from the seed, some hundred
kilobytes. The tokens are all bytes, and the words below with their beginnings,
so that a prompt of 48 KiB stays within the context. What it answers is noise
with words of code in it: what a search must be able to live with.
"""
import random
import struct
import sys

EMBEDDING, HEADS, LAYERS, FEED_FORWARD, CONTEXT = 32, 1, 1, 64, 65536
ALIGNMENT = 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # GGUF's value types
TENSOR_FLOAT32, TENSOR_FLOAT16 = 0, 1
UNKNOWN, NORMAL, CONTROL, BYTE = 2, 1, 3, 6  # token types: unknown, normal, ...

WORDS = """
the a of and to in is for with that are it be not or by one as on at from this
kernel kernels wave waves workgroup workgroups thread threads lane lanes tile
tiles block blocks shape shapes scale scales matrix register registers spill
memory global local load store stores barrier region regions template parameter
parameters candidate parent reply edit edits search replace constraint launch
speed faster slower time bound latency bandwidth occupancy unroll loop pipeline
prefetch vector bytes float double half char short int long void const return
while if else break struct define declare call internal alwaysinline private
addrspace alloca getelementptr fadd fmul fma add mul sub shl lshr and xor icmp
eq ne slt ult phi br label ret i1 i8 i16 i32 i64 ptr align range nounwind llvm
amdgcn mfma f32 16x16x32 fp8 bf16 intrinsic metadata wavesmith gemm blockscale
""".split()


def vocabulary():
    """Tokens with their types; all bytes, then words with all beginnings."""
    tokens = [("<unk>", UNKNOWN), ("<s>", CONTROL), ("</s>", CONTROL)]
    tokens += [(f"<0x{byte:02X}>", BYTE) for byte in range(256)]
    plain = dict.fromkeys(chr(c) for c in range(33, 127))
    plain["\u2581"] = None  # how the llama tokenizer writes a blank
    for word in WORDS:
        for text in (word, "\u2581" + word):
            plain.update(dict.fromkeys(text[:end] for end in range(1, len(text) + 1)))
    plain.update(dict.fromkeys("\u2581" * count for count in range(2, 9)))
    return tokens + [(text, NORMAL) for text in plain]


def packed_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


PACK = {UINT32: lambda v: struct.pack("<I", v), INT32: lambda v: struct.pack("<i", v),
        FLOAT32: lambda v: struct.pack("<f", v), BOOL: lambda v: struct.pack("<?", v),
        STRING: packed_string}


def packed_value(kind, value):
    if not isinstance(value, list):
        return struct.pack("<I", kind) + PACK[kind](value)
    return (struct.pack("<IIQ", ARRAY, kind, len(value))
            + b"".join(PACK[kind](item) for item in value))


def metadata(tokens):
    return {
        "general.architecture": (STRING, "llama"),
        "general.name": (STRING, "wavesmith-test-noise"),
        "general.alignment": (UINT32, ALIGNMENT),
        "llama.context_length": (UINT32, CONTEXT),
        "llama.embedding_length": (UINT32, EMBEDDING),
        "llama.block_count": (UINT32, LAYERS),
        "llama.feed_forward_length": (UINT32, FEED_FORWARD),
        "llama.attention.head_count": (UINT32, HEADS),
        "llama.attention.head_count_kv": (UINT32, HEADS),
        "llama.attention.layer_norm_rms_epsilon": (FLOAT32, 1e-5),
        "llama.rope.dimension_count": (UINT32, EMBEDDING // HEADS),
        "llama.vocab_size": (UINT32, len(tokens)),
        "tokenizer.ggml.model": (STRING, "llama"),
        "tokenizer.ggml.tokens": (STRING, [text for text, _ in tokens]),
        # Longer tokens merge first.
        "tokenizer.ggml.scores": (FLOAT32, [float(len(text)) for text, _ in tokens]),
        "tokenizer.ggml.token_type": (INT32, [kind for _, kind in tokens]),
        "tokenizer.ggml.bos_token_id": (UINT32, 1),
        "tokenizer.ggml.eos_token_id": (UINT32, 2),
        "tokenizer.ggml.unknown_token_id": (UINT32, 0),
        "tokenizer.ggml.add_bos_token": (BOOL, True),
        "tokenizer.chat_template": (STRING,
            "{% for message in messages %}{{ message.role }}: {{ message.content }}\n"
            "{% endfor %}assistant:"),
    }


def tensors(vocabulary_size):
    """Name, sizes (the contiguous one first), whether it is a norm."""
    yield "token_embd.weight", (EMBEDDING, vocabulary_size), False
    yield "output_norm.weight", (EMBEDDING,), True
    yield "output.weight", (EMBEDDING, vocabulary_size), False
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        for name in ("attn_norm", "ffn_norm"):
            yield f"{block}{name}.weight", (EMBEDDING,), True
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            yield f"{block}{name}.weight", (EMBEDDING, EMBEDDING), False
        yield f"{block}ffn_gate.weight", (EMBEDDING, FEED_FORWARD), False
        yield f"{block}ffn_up.weight", (EMBEDDING, FEED_FORWARD), False
        yield f"{block}ffn_down.weight", (FEED_FORWARD, EMBEDDING), False


def padded(data):
    return data + b"\0" * (-len(data) % ALIGNMENT)


def weights(sizes, is_norm, generator):
    count = sizes[0] * (sizes[1] if len(sizes) > 1 else 1)
    if is_norm:
        return TENSOR_FLOAT32, struct.pack(f"<{count}f", *[1.0] * count)
    spread = 2 / sizes[0] ** 0.5
    return TENSOR_FLOAT16, struct.pack(
        f"<{count}e", *(generator.gauss(0, spread) for _ in range(count)))


def model(seed):
    generator, tokens = random.Random(seed), vocabulary()
    head, data, infos = metadata(tokens), b"", b""
    listed = list(tensors(len(tokens)))
    for name, sizes, is_norm in listed:
        kind, values = weights(sizes, is_norm, generator)
        infos += packed_string(name) + struct.pack("<I", len(sizes))
        infos += struct.pack(f"<{len(sizes)}Q", *sizes)
        infos += struct.pack("<IQ", kind, len(data))
        data += padded(values)
    pairs = b"".join(packed_string(key) + packed_value(*value) for key, value in head.items())
    start = b"GGUF" + struct.pack("<IQQ", 3, len(listed), len(head))
    return padded(start + pairs + infos) + data


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1], "wb") as file:
        file.write(model(int(sys.argv[2]) if len(sys.argv) == 3 else 1))
