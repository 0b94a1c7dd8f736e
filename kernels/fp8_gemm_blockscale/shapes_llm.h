/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The set llm: first m, n, k, and the layers that are so (/T: split over T
 * devices). Written by tests/kernels/llm_shapes.py from docs/shapes.md, which
 * says where the sizes are from and which m a pair takes.
 */
/* clang-format off */
LLM(1, 352, 4096) /* GLM-4.5-Air expert gate_up/8 */
LLM(2, 384, 2048) /* Qwen3 30B-A3B expert gate_up/4 */
LLM(4, 384, 4096) /* Qwen3 235B-A22B expert gate_up/8 */
LLM(1, 384, 5120) /* GLM-4.5 expert gate_up/8 */
LLM(2, 512, 7168) /* DeepSeek-V3 expert gate_up/8 */
LLM(4, 576, 7168) /* DeepSeek-V3 kv_a */
LLM(1, 640, 6144) /* Qwen3-Coder 480B-A35B expert gate_up/8 */
LLM(2, 704, 4096) /* GLM-4.5-Air expert gate_up/4 */
LLM(4, 896, 5120) /* Llama 4 Scout qkv/8 */
LLM(1, 1280, 2048) /* Qwen3 30B-A3B qkv/4 */
LLM(2, 1280, 4096) /* Qwen3 235B-A22B qkv/8 */
LLM(4, 1280, 5120) /* Qwen3 32B qkv/8 */
LLM(1, 1280, 6144) /* Qwen3-Coder 480B-A35B expert gate_up/4 */
LLM(2, 1280, 8192) /* Llama 3.1 70B qkv/8 */
LLM(4, 1536, 2048) /* Qwen3 30B-A3B expert gate_up */
LLM(1, 1536, 7168) /* DeepSeek-V3 q_a */
LLM(2, 1792, 4096) /* GLM-4.5-Air qkv/8 */
LLM(4, 1792, 5120) /* GLM-4.5 qkv/8; Llama 4 Scout qkv/4; Qwen3 14B qkv/4 */
LLM(1, 1792, 6144) /* Qwen3-Coder 480B-A35B qkv/8 */
LLM(2, 2048, 768) /* Qwen3 30B-A3B expert down */
LLM(4, 2048, 1024) /* Qwen3 30B-A3B o/4 */
LLM(1, 2048, 4096) /* Qwen3 30B-A3B o */
LLM(2, 2048, 5120) /* Llama 4 Scout expert gate_up/8 */
LLM(4, 2304, 4096) /* Qwen3 235B-A22B qkv/4 */
LLM(1, 2304, 16384) /* Llama 3.1 405B qkv/8 */
LLM(2, 2560, 4096) /* Qwen3 4B o */
LLM(4, 2560, 5120) /* Qwen3 32B qkv/4 */
LLM(1, 2560, 8192) /* Llama 3.1 70B qkv/4 */
LLM(2, 2560, 9728) /* Qwen3 4B down */
LLM(4, 2736, 4096) /* GLM-4.5-Air gate_up/8 */
LLM(1, 2816, 4096) /* GLM-4.5-Air expert gate_up */
LLM(2, 3072, 1536) /* DeepSeek-V3 q_b/8 */
LLM(4, 3072, 4096) /* Qwen3 235B-A22B expert gate_up */
LLM(1, 3072, 5120) /* GLM-4.5 expert gate_up, gate_up/8 */
LLM(2, 3584, 6144) /* Qwen3-Coder 480B-A35B qkv/4 */
LLM(4, 4096, 384) /* Qwen3 235B-A22B expert down/4 */
LLM(1, 4096, 512) /* DeepSeek-V3 kv_b/8 */
LLM(2, 4096, 1408) /* GLM-4.5-Air expert down */
LLM(4, 4096, 1536) /* GLM-4.5-Air o/8; Qwen3 235B-A22B expert down */
LLM(1, 4096, 2048) /* Qwen3 235B-A22B o/4 */
LLM(2, 4096, 3072) /* GLM-4.5-Air o/4 */
LLM(4, 4096, 5120) /* Llama 4 Scout expert gate_up/4, gate_up/8 */
LLM(1, 4096, 8192) /* Qwen3 235B-A22B o */
LLM(2, 4096, 12288) /* GLM-4.5-Air o; Qwen3 8B down */
LLM(4, 4608, 7168) /* DeepSeek-V3 gate_up/8 */
LLM(1, 4608, 16384) /* Llama 3.1 405B qkv/4 */
LLM(2, 5120, 384) /* GLM-4.5 expert down/4 */
LLM(4, 5120, 640) /* Llama 4 Scout o/8 */
LLM(1, 5120, 1280) /* Llama 4 Scout o/4; Qwen3 14B o/4 */
LLM(2, 5120, 1536) /* GLM-4.5 expert down, o/8, down/8 */
LLM(4, 5120, 2048) /* Llama 4 Scout expert down/4, down/8; Qwen3 32B o/4; Qwen3 30B-A3B qkv */
LLM(1, 5120, 3072) /* GLM-4.5 o/4, down/4 */
LLM(2, 5120, 3200) /* Qwen3 32B down/8 */
LLM(4, 5120, 4352) /* Qwen3 14B down/4 */
LLM(1, 5120, 5120) /* Llama 4 Scout o; Qwen3 14B o */
LLM(2, 5120, 6144) /* Qwen3-Coder 480B-A35B expert gate_up */
LLM(4, 5120, 6400) /* Qwen3 32B down/4 */
LLM(1, 5120, 12288) /* GLM-4.5 o, down */
LLM(2, 5120, 16384) /* Llama 4 Scout down */
LLM(4, 5120, 17408) /* Qwen3 14B down */
LLM(1, 5120, 25600) /* Qwen3 32B down */
LLM(2, 5472, 4096) /* GLM-4.5-Air gate_up/4 */
LLM(4, 6144, 640) /* Qwen3-Coder 480B-A35B expert down/4 */
LLM(1, 6144, 2560) /* Qwen3 4B qkv; Qwen3-Coder 480B-A35B expert down */
LLM(2, 6144, 3072) /* Qwen3-Coder 480B-A35B o/4 */
LLM(4, 6144, 5760) /* GLM-4 32B down/4 */
LLM(1, 6144, 12288) /* Qwen3-Coder 480B-A35B o */
LLM(2, 6144, 23040) /* GLM-4 32B down */
LLM(4, 6400, 5120) /* Qwen3 32B gate_up/8 */
LLM(1, 7168, 256) /* DeepSeek-V3 expert down/8 */
LLM(2, 7168, 2048) /* DeepSeek-V3 expert down, o/8 */
LLM(4, 7168, 2304) /* DeepSeek-V3 down/8 */
LLM(1, 8192, 512) /* DeepSeek-V3 kv_b/4 */
LLM(2, 8192, 1024) /* Llama 3.1 70B o/8 */
LLM(4, 8192, 2048) /* Llama 3.1 70B o/4 */
LLM(1, 8192, 3584) /* Llama 3.1 70B down/8 */
LLM(2, 8192, 7168) /* Llama 3.1 70B down/4 */
LLM(4, 8192, 8192) /* Llama 3.1 70B o */
LLM(1, 8192, 28672) /* Llama 3.1 70B down */
LLM(2, 8704, 5120) /* Qwen3 14B gate_up/4 */
LLM(4, 9216, 4096) /* Qwen3 235B-A22B qkv */
LLM(1, 10240, 5120) /* Qwen3 32B qkv */
LLM(2, 10240, 8192) /* Llama 3.1 70B qkv */
LLM(4, 11520, 6144) /* GLM-4 32B gate_up/4 */
LLM(1, 12800, 5120) /* Qwen3 32B gate_up/4 */
LLM(2, 13312, 16384) /* Llama 3.1 405B gate_up/8 */
LLM(4, 14336, 4096) /* GLM-4.5-Air qkv */
LLM(1, 14336, 5120) /* GLM-4.5 qkv */
LLM(2, 14336, 6144) /* Qwen3-Coder 480B-A35B qkv */
LLM(4, 14336, 8192) /* Llama 3.1 70B gate_up/4 */
LLM(1, 16384, 2048) /* Llama 3.1 405B o/8 */
LLM(2, 16384, 4096) /* Llama 3.1 405B o/4 */
LLM(4, 16384, 6656) /* Llama 3.1 405B down/8 */
LLM(1, 16384, 13312) /* Llama 3.1 405B down/4 */
LLM(2, 19456, 2560) /* Qwen3 4B gate_up */
LLM(4, 21888, 4096) /* GLM-4.5-Air gate_up */
LLM(1, 24576, 4096) /* Qwen3 8B gate_up */
LLM(2, 24576, 5120) /* GLM-4.5 gate_up */
LLM(4, 26624, 16384) /* Llama 3.1 405B gate_up/4 */
LLM(1, 32768, 5120) /* Llama 4 Scout gate_up */
LLM(2, 34816, 5120) /* Qwen3 14B gate_up */
LLM(4, 46080, 6144) /* GLM-4 32B gate_up */
LLM(1, 51200, 5120) /* Qwen3 32B gate_up */
LLM(2, 57344, 8192) /* Llama 3.1 70B gate_up */
