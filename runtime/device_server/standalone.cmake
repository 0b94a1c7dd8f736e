# wavesmith-device alone, with a C compiler and CMake: for machines that have a
# GPU and little else. Neither LLVM, SQLite, libcurl, libmd nor a GPU maker's
# headers are among its needs.
include(${CMAKE_CURRENT_LIST_DIR}/device_sources.cmake)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS ON)
set(sources ${WAVESMITH_DEVICE_SOURCES})
list(TRANSFORM sources PREPEND ${WAVESMITH_ROOT}/)
add_executable(wavesmith-device ${sources})
foreach(name ${WAVESMITH_SHIPPED})
  set_source_files_properties(${WAVESMITH_ROOT}/kernels/${name}/problem.c PROPERTIES
    COMPILE_DEFINITIONS wavesmith_problem=wavesmith_problem_${name})
endforeach()
target_compile_definitions(wavesmith-device PRIVATE _GNU_SOURCE WAVESMITH_LIBDIR="lib"
  WAVESMITH_INCLUDE_DIR="${WAVESMITH_ROOT}/runtime/include")
target_include_directories(wavesmith-device PRIVATE ${WAVESMITH_ROOT}/third_party
  ${WAVESMITH_ROOT}/runtime/include ${WAVESMITH_ROOT}/runtime/batch
  ${WAVESMITH_ROOT}/kernels)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
target_link_libraries(wavesmith-device PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
