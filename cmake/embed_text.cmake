# Writes a file's text as C: cmake -DFILE=... -DNAME=... -DOUT=... -P this file.
# `const char NAME[]`, NUL-terminated; the header that declares it is the
# caller's.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "/* Made by embed_text.cmake; do not edit. */\n"
  "extern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")
