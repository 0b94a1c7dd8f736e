# Toolchain of the preset `fuzz`: a clang that has libFuzzer.
find_program(CMAKE_C_COMPILER NAMES clang-14 clang clang-21 clang-19 REQUIRED)
find_program(CMAKE_CXX_COMPILER NAMES clang++-14 clang++ clang++-21 clang++-19 REQUIRED)
