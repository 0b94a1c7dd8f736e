# WavesmithMLIR.so, where MLIR of the same release is: templates in MLIR. Debian
# has the C API as archives over one library, and no CMake package that works
# (its link libMLIR.so dangles), so the pieces are looked for by name.
option(WAVESMITH_MLIR "Templates in MLIR, where it is installed" ON)
find_path(MLIR_C_INCLUDE_DIR mlir-c/IR.h HINTS ${LLVM_INCLUDE_DIRS} NO_DEFAULT_PATH)
find_library(MLIR_LIBRARY NAMES libMLIR.so.${LLVM_VERSION_MAJOR}.${LLVM_VERSION_MINOR} MLIR
             HINTS ${LLVM_LIBRARY_DIRS} ${LLVM_LIBRARY_DIRS}/../..)
set(mlir_found ${MLIR_C_INCLUDE_DIR} ${MLIR_LIBRARY})
set(mlir_archives)
foreach(part RegisterEverything Target TransformDialectTransforms Transforms IR)
  find_library(MLIR_CAPI_${part} MLIRCAPI${part} HINTS ${LLVM_LIBRARY_DIRS} NO_DEFAULT_PATH)
  list(APPEND mlir_archives ${MLIR_CAPI_${part}})
endforeach()
if(WAVESMITH_MLIR AND MLIR_C_INCLUDE_DIR AND MLIR_LIBRARY AND MLIR_CAPI_RegisterEverything)
  file(GLOB mlir_sources CONFIGURE_DEPENDS mlir/*.c mlir/plugin/*.c)
  add_library(WavesmithMLIR MODULE ${mlir_sources} mlir/plugin/shim.cpp)
  target_compile_options(WavesmithMLIR PRIVATE -fvisibility=hidden
    $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
  target_compile_definitions(WavesmithMLIR PRIVATE WAVESMITH_VERSION="${PROJECT_VERSION}")
  target_include_directories(WavesmithMLIR SYSTEM PRIVATE ${MLIR_C_INCLUDE_DIR})
  target_link_libraries(WavesmithMLIR PRIVATE ws_pass_front ${mlir_archives} ${MLIR_LIBRARY})
  target_link_options(WavesmithMLIR PRIVATE -Wl,--exclude-libs,ALL -Wl,--no-undefined)
  set_target_properties(WavesmithMLIR PROPERTIES PREFIX "" LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libexec/wavesmith)
  add_dependencies(wavesmith-compiler WavesmithMLIR)
  install(TARGETS WavesmithMLIR LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/wavesmith)
  message(STATUS "MLIR: ${MLIR_LIBRARY}")
else()
  message(STATUS "MLIR: not found; templates in MLIR will be refused")
endif()
