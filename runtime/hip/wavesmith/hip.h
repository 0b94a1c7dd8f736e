/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a HIP kernel says to wavesmith (docs/hip.md). `wavesmith import` reads
 * it; under any other compiler the same words are plain C++: a parameter is a
 * constexpr of its default value, a region is a function, the rest is nothing.
 * Include it after <hip/hip_runtime.h>.
 *
 * A template in OpenCL C says the same with the same words (docs/hip.md); the
 * compile server puts this file in front of it.
 */
#ifndef WAVESMITH_HIP_H
#define WAVESMITH_HIP_H

#ifdef __OPENCL_C_VERSION__

/* C has no constexpr functions: the last number of "32 64 128", at most five
 * digits of it, by its characters. */
#define WS__DIGIT(text, i) (("     " text)[sizeof("     " text) - 2 - (i)])
#define WS__TAKE(text, i, unit, rest)                                          \
  (WS__DIGIT(text, i) == ' ' ? 0 : (unit) * (WS__DIGIT(text, i) - '0') + (rest))
#define WS__LAST_VALUE(text)                                                   \
  WS__TAKE(text, 0, 1,                                                         \
           WS__TAKE(text, 1, 10,                                               \
                    WS__TAKE(text, 2, 100,                                     \
                             WS__TAKE(text, 3, 1000,                           \
                                      WS__TAKE(text, 4, 10000, 0)))))

#define WS__RECORD_STORAGE static constant
#define WS__SHARED_STORAGE local
/* clang folds a constant that it sees the value of: code has another name. */
#define WS__PARAM(name, value, note)                                           \
  extern constant int name;                                                    \
  note constant int ws__param_##name = value;

#else

/* The last number of "32 64 128". */
constexpr int ws_last_value(const char *text) {
  int value = 0;
  for (; *text; text++)
    value = *text == ' ' ? 0 : 10 * value + (*text - '0');
  return value;
}

/* For launch expressions in host code, too. */
constexpr int ceildiv(int a, int b) { return (a + b - 1) / b; }

#define WS__RECORD_STORAGE __attribute__((device)) static
#define WS__LAST_VALUE(text) ws_last_value(text)
#define WS__SHARED_STORAGE __attribute__((shared))
#define WS__PARAM(name, value, note)                                           \
  extern "C" __attribute__((device, constant)) note int name = value;

#endif

#ifdef __WAVESMITH_IMPORT__

#define WS__NOTE(kind, text)                                                   \
  __attribute__((annotate("wavesmith." kind "\n" text)))
#define WS__JOIN2(a, b) a##b
#define WS__JOIN(a, b) WS__JOIN2(a, b)
#define WS__RECORD(kind, text)                                                 \
  WS__RECORD_STORAGE __attribute__((used))                                     \
  WS__NOTE(kind, text) char WS__JOIN(ws__record_, __COUNTER__) = 0;

#define WS_PARAM(name, value, values, meaning)                                 \
  WS__PARAM(name, value, WS__NOTE("param", #name "\n" values "\n" meaning))    \
  enum { ws__most_##name = WS__LAST_VALUE(values) };
#define WS_MOST(name) (ws__most_##name)
#define WS_REGION(contract) WS__NOTE("region", contract)
#define WS_VARIANT(region, purpose) WS__NOTE("variant", #region "\n" purpose)
#define WS_SHARED(type, name, elements)                                        \
  WS__SHARED_STORAGE WS__NOTE("shared", #elements "\n" #type) type name[1]
#define WS_LDS(name, bytes) WS__RECORD("lds", #name "\n" #bytes)
#define WS_TEMPLATE(name, version, problem, purpose)                           \
  WS__RECORD("template", #name "\n" version "\n" #problem "\n" purpose)
#define WS_REQUIRE(condition, reason)                                          \
  WS__RECORD("require", #condition "\n" reason)
#define WS_LAUNCH(kernel, grid_x, grid_y, grid_z, threads, condition)          \
  WS__RECORD("launch", #kernel "\n" #grid_x "\n" #grid_y "\n" #grid_z          \
                               "\n" #threads "\n" #condition)
#define WS_WORKSPACE(bytes) WS__RECORD("workspace", #bytes)
#define WS_ARGUMENTS(kernel, names) WS__RECORD("arguments", #kernel "\n" names)
#define WS_ALLOW(feature) WS__RECORD("allow", #feature)

#else

#define WS_PARAM(name, value, values, meaning)                                 \
  static constexpr int name = value;                                           \
  enum { ws__most_##name = ws_last_value(values) };
#define WS_MOST(name) (ws__most_##name)
#define WS_REGION(contract)
#define WS_VARIANT(region, purpose) __attribute__((unused))
#define WS_SHARED(type, name, elements)                                        \
  __attribute__((shared)) type name[elements]
#define WS__NOTHING static_assert(true, "");
#define WS_LDS(name, bytes) WS__NOTHING
#define WS_TEMPLATE(name, version, problem, purpose) WS__NOTHING
#define WS_REQUIRE(condition, reason) WS__NOTHING
#define WS_LAUNCH(kernel, grid_x, grid_y, grid_z, threads, condition)          \
  WS__NOTHING
#define WS_WORKSPACE(bytes) WS__NOTHING
#define WS_ARGUMENTS(kernel, names) WS__NOTHING
#define WS_ALLOW(feature) WS__NOTHING

#endif
#endif
