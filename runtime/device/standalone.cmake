# wavesmith-device alone, with a C compiler and CMake: for machines that have a
# GPU and little else. What it is made of is WAVESMITH_DEVICE_SOURCES; neither
# LLVM, SQLite, libcurl, libmd nor a GPU maker's headers are among its needs.
# Paths are relative to this file; `wavesmith batch export --with-source` copies
# the same files.
get_filename_component(WAVESMITH_ROOT ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)

set(WAVESMITH_DEVICE_SOURCES third_party/cjson/cJSON.c
  kernels/problems.c kernels/fp8_gemm_blockscale/problem.c)
foreach(name arena clock file json log message process rng status strbuf)
  list(APPEND WAVESMITH_DEVICE_SOURCES runtime/base/${name}.c)
endforeach()
list(APPEND WAVESMITH_DEVICE_SOURCES runtime/model/build.c)
foreach(name bench device_client inputs measure_json request_json sampling statistics time verify)
  list(APPEND WAVESMITH_DEVICE_SOURCES runtime/eval/${name}.c)
endforeach()
foreach(name index job_json lines manifest)
  list(APPEND WAVESMITH_DEVICE_SOURCES runtime/batch/${name}.c)
endforeach()
list(APPEND WAVESMITH_DEVICE_SOURCES runtime/rt/library.c)
file(GLOB found RELATIVE ${WAVESMITH_ROOT} ${WAVESMITH_ROOT}/runtime/device/*.c
  ${WAVESMITH_ROOT}/runtime/device/server/*.c)
list(APPEND WAVESMITH_DEVICE_SOURCES ${found})

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(sources ${WAVESMITH_DEVICE_SOURCES})
list(TRANSFORM sources PREPEND ${WAVESMITH_ROOT}/)
add_executable(wavesmith-device ${sources})
target_compile_definitions(wavesmith-device PRIVATE _GNU_SOURCE WAVESMITH_LIBDIR="lib")
target_include_directories(wavesmith-device PRIVATE ${WAVESMITH_ROOT}/third_party
  ${WAVESMITH_ROOT}/runtime/include ${WAVESMITH_ROOT}/runtime/batch)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(wavesmith-device PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
