# The sources of wavesmith-device alone, relative to the root: what the
# stand-alone build compiles, and what goes with a batch (stage_source.cmake).
get_filename_component(WAVESMITH_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)

set(WAVESMITH_DEVICE_SOURCES third_party/cjson/cJSON.c
  kernels/shipped.c)
# Each shipped problem has the same entry point: kernels/CMakeLists.txt.
file(STRINGS ${WAVESMITH_ROOT}/kernels/shipped.def lines REGEX "^SHIPPED")
foreach(line ${lines})
  string(REGEX REPLACE "^SHIPPED\\(([a-z0-9_]+)\\).*" "\\1" name "${line}")
  list(APPEND WAVESMITH_SHIPPED ${name})
  list(APPEND WAVESMITH_DEVICE_SOURCES kernels/${name}/problem.c)
endforeach()
foreach(name arena clock environment expr expr_parse expr_print file json json_fields log message name options options_print process rng shape status strbuf streams
        terminal text)
  list(APPEND WAVESMITH_DEVICE_SOURCES runtime/base/${name}.c)
endforeach()
list(APPEND WAVESMITH_DEVICE_SOURCES runtime/candidate/build.c)
foreach(name bench device_client inputs measure_json reference reference_run result sampling server_client statistics time verify)
  list(APPEND WAVESMITH_DEVICE_SOURCES runtime/eval/${name}.c)
endforeach()
foreach(name index job_json lines manifest problems)
  list(APPEND WAVESMITH_DEVICE_SOURCES runtime/batch/${name}.c)
endforeach()
list(APPEND WAVESMITH_DEVICE_SOURCES runtime/rt/library.c)
file(GLOB found RELATIVE ${WAVESMITH_ROOT} ${WAVESMITH_ROOT}/runtime/problem/*.c)
list(APPEND WAVESMITH_DEVICE_SOURCES ${found})
file(GLOB found RELATIVE ${WAVESMITH_ROOT} ${WAVESMITH_ROOT}/runtime/device/*.c
  ${WAVESMITH_ROOT}/runtime/device_server/*.c)
list(APPEND WAVESMITH_DEVICE_SOURCES ${found})


# What goes along when they are copied.
set(WAVESMITH_DEVICE_EXTRAS LICENSE third_party/cjson/cJSON.h third_party/cjson/LICENSE
  third_party/cjson/README.md runtime/device_server/CMakeLists.txt runtime/device_server/device_sources.cmake
  runtime/device_server/standalone.cmake kernels/shipped.def)
file(GLOB found RELATIVE ${WAVESMITH_ROOT} ${WAVESMITH_ROOT}/kernels/*/*.h)
list(APPEND WAVESMITH_DEVICE_EXTRAS ${found})
file(GLOB found RELATIVE ${WAVESMITH_ROOT} ${WAVESMITH_ROOT}/runtime/include/wavesmith/*.h
  ${WAVESMITH_ROOT}/runtime/base/*.h ${WAVESMITH_ROOT}/runtime/batch/*.h ${WAVESMITH_ROOT}/runtime/eval/*.h
  ${WAVESMITH_ROOT}/runtime/rt/*.h ${WAVESMITH_ROOT}/runtime/problem/*.h ${WAVESMITH_ROOT}/runtime/device/*.h
  ${WAVESMITH_ROOT}/runtime/device_server/*.h)
list(APPEND WAVESMITH_DEVICE_EXTRAS ${found})
