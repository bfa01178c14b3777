# Flags and helpers that hold for every target: warnings as errors, sanitizers, ccache and a fast linker where found.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(LEEWAY_WERROR)
  add_compile_options(-Werror)
endif()
# g++ 12 sees uninitialized strings in every optional<string> that is moved out of.
add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
# Fused multiply-add is used where the code says so and nowhere else: the same bits on every machine.
add_compile_options(-ffp-contract=off -fno-math-errno)

# Messages name source files from the project's folder on. ccache, below, gives the compiler names that begin at the build folder.
file(RELATIVE_PATH LEEWAY_FROM_BUILD ${CMAKE_BINARY_DIR} ${PROJECT_SOURCE_DIR})
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fmacro-prefix-map=${LEEWAY_FROM_BUILD}=)

# The objects are position-independent for the Python module's sake, and then g++ takes every function that is exported and not
# declared inline for one that another library may replace, and does not inline it. Nobody replaces any.
add_compile_options(-fno-semantic-interposition)

# Lines and names for backtraces; full debug information, which takes a fifth of the time to compile, is the preset dev's.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

if(LEEWAY_SANITIZE)
  add_compile_options(-fsanitize=${LEEWAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LEEWAY_SANITIZE})
  # The two fences are between processes that share memory (witness.h, shared_exchange.cc), which the sanitizer cannot see at all.
  if(LEEWAY_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
endif()

option(LEEWAY_FUZZ "Build the libFuzzer targets of tests/fuzz (needs clang)" OFF)
if(LEEWAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "LEEWAY_FUZZ: got the compiler ${CMAKE_CXX_COMPILER_ID}, wanted Clang (CXX=clang++)")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
endif()

# Unity builds (the presets of make build and make check: a third of the time) join files into one; a class in a .cc that
# uses the anonymous namespace of that same .cc is no header's mistake then.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-subobject-linkage)
endif()

find_program(LEEWAY_CCACHE ccache)
if(LEEWAY_CCACHE)
  # A copy of the tree finds its objects in the cache.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${LEEWAY_CCACHE})
endif()
find_program(LEEWAY_MOLD mold)
if(LEEWAY_MOLD)
  add_link_options(-fuse-ld=mold)
endif()
