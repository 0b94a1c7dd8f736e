# Tuned kernels at build time, without network, GPU or model.
#
#   wavesmith_add_kernels(NAME name ARCHIVE folder [PROBLEM rmsnorm.c]
#                         [LAYOUT kmajor] [TARGET gfx942] [MAX_KERNELS 8]
#                         [SHAPES "llm;contest"] [PROVENANCE estimate])
#
# (LAYOUT and TARGET default to what the archive's kernels are for; PROBLEM is
# the file of a problem that does not come with wavesmith)
#
# makes the static library `name` from a text archive (`wavesmith archive
# export`, committed beside the sources): `wavesmith build` compiles the
# archive's kernels and writes name.h and name.c, code objects embedded. Link
# the library, include "name.h" and pass its table to ws_rt_open. It is made
# again when the archive, or wavesmith itself, changes.

function(wavesmith_add_kernels)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;ARCHIVE;PROBLEM;LAYOUT;TARGET;MAX_KERNELS;SHAPES;PROVENANCE" "")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "wavesmith_add_kernels: what is '${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}'? "
                        "It takes NAME, ARCHIVE, PROBLEM, LAYOUT, TARGET, MAX_KERNELS, SHAPES and PROVENANCE, each with a value.")
  endif()
  if(NOT arg_NAME MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "wavesmith_add_kernels: NAME '${arg_NAME}' must be a C identifier.")
  endif()
  get_filename_component(archive "${arg_ARCHIVE}" ABSOLUTE)
  if(NOT arg_ARCHIVE OR NOT IS_DIRECTORY "${archive}")
    message(FATAL_ERROR "wavesmith_add_kernels: ARCHIVE '${arg_ARCHIVE}' is no folder; "
                        "`wavesmith archive export` makes one.")
  endif()

  set(options)
  set(problem)
  if(DEFINED arg_PROBLEM)
    get_filename_component(problem "${arg_PROBLEM}" ABSOLUTE)
    if(NOT EXISTS "${problem}")
      message(FATAL_ERROR "wavesmith_add_kernels: PROBLEM '${arg_PROBLEM}' is no file.")
    endif()
    list(APPEND options --problem ${problem})
  endif()
  foreach(option LAYOUT TARGET MAX_KERNELS SHAPES PROVENANCE)
    if(DEFINED arg_${option})
      string(TOLOWER ${option} flag)
      string(REPLACE _ - flag ${flag})
      string(REPLACE ";" "$<SEMICOLON>" value "${arg_${option}}")
      list(APPEND options --${flag} ${value})
    endif()
  endforeach()

  set(out ${CMAKE_CURRENT_BINARY_DIR}/wavesmith/${arg_NAME})
  file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${archive}/*)
  add_custom_command(
    OUTPUT ${out}/${arg_NAME}.c ${out}/${arg_NAME}.h
    COMMAND wavesmith::wavesmith build ${archive} --name ${arg_NAME} --out ${out} ${options}
    DEPENDS ${inputs} ${problem} wavesmith::wavesmith wavesmith::wavesmith-compiler
    COMMENT "Building kernels ${arg_NAME}"
    VERBATIM)
  add_library(${arg_NAME} STATIC ${out}/${arg_NAME}.c ${out}/${arg_NAME}.h)
  target_include_directories(${arg_NAME} PUBLIC ${out})
  target_link_libraries(${arg_NAME} PUBLIC wavesmith::rt)
endfunction()
