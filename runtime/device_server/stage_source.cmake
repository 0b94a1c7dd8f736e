# cmake -DTO=FOLDER -P stage_source.cmake: wavesmith-device's sources
# as a tree of their own.
include(${CMAKE_CURRENT_LIST_DIR}/device_sources.cmake)
file(REMOVE_RECURSE ${TO})
foreach(file ${WAVESMITH_DEVICE_SOURCES} ${WAVESMITH_DEVICE_EXTRAS})
  get_filename_component(folder ${file} DIRECTORY)
  file(COPY ${WAVESMITH_ROOT}/${file} DESTINATION ${TO}/${folder})
endforeach()
file(WRITE ${TO}/CMakeLists.txt "# cmake -S . -B build && cmake --build build\n"
  "cmake_minimum_required(VERSION 3.16)\n"
  "project(wavesmith-device C)\n"
  "include(runtime/device_server/standalone.cmake)\n")
