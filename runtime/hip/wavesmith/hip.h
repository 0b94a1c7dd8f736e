/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What a HIP kernel says to wavesmith (docs/hip.md). `wavesmith import` reads
 * it; under any other compiler the same words are plain C++: a parameter is a
 * constexpr of its default value, a region is a function, the rest is nothing.
 * Include it after <hip/hip_runtime.h>.
 */
#ifndef WAVESMITH_HIP_H
#define WAVESMITH_HIP_H

/* The last number of "32 64 128". */
constexpr int ws_last_value(const char *text) {
  int value = 0;
  for (; *text; text++)
    value = *text == ' ' ? 0 : 10 * value + (*text - '0');
  return value;
}

/* For launch expressions in host code, too. */
constexpr int ceildiv(int a, int b) { return (a + b - 1) / b; }

#ifdef __WAVESMITH_IMPORT__

#define WS__NOTE(kind, text)                                                   \
  __attribute__((annotate("wavesmith." kind "\n" text)))
#define WS__JOIN2(a, b) a##b
#define WS__JOIN(a, b) WS__JOIN2(a, b)
#define WS__RECORD(kind, text)                                                 \
  __attribute__((device, used)) WS__NOTE(kind, text) static char WS__JOIN(     \
      ws__record_, __COUNTER__);

#define WS_PARAM(name, value, values, meaning)                                 \
  extern "C" __attribute__((device, constant))                                 \
      WS__NOTE("param", #name "\n" values "\n" meaning) int name = value;      \
  enum { ws__most_##name = ws_last_value(values) };
#define WS_MOST(name) (ws__most_##name)
#define WS_REGION(contract) WS__NOTE("region", contract)
#define WS_VARIANT(region, purpose) WS__NOTE("variant", #region "\n" purpose)
#define WS_SHARED(type, name, elements)                                        \
  __attribute__((shared))                                                      \
      WS__NOTE("shared", #elements "\n" #type) type name[1]
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
