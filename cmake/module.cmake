# leeway_module(name DIR dir DEPS libs... [PROTOS files...]): the static library leeway_<name> of all .cc files below
# dir, and, from its *_test.cc files, the test program leeway_<name>_test (one ctest entry).
# A module of headers only is an INTERFACE library.
function(leeway_module name)
  cmake_parse_arguments(ARG "" "DIR;TIMEOUT" "DEPS;PROTOS" ${ARGN})
  set(dir ${PROJECT_SOURCE_DIR}/${ARG_DIR})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  if(sources OR ARG_PROTOS)
    add_library(leeway_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(leeway_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(leeway_${name} ${scope} ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(leeway_${name} ${scope} cxx_std_20)
  target_link_libraries(leeway_${name} ${scope} ${ARG_DEPS})
  if(ARG_PROTOS)
    leeway_protos(leeway_${name} ${ARG_PROTOS})
  endif()

  if(LEEWAY_TESTS AND tests)
    leeway_test(leeway_${name}_test SOURCES ${tests} DEPS leeway_${name} TIMEOUT ${ARG_TIMEOUT})
  endif()
endfunction()

# leeway_protos(library files...): generates the messages of the files, to be included by their path below src/
# ("wire/control.pb.h"). An object library of its own, since generated code does not pass our warnings.
function(leeway_protos library)
  set(generated ${PROJECT_BINARY_DIR}/generated)
  file(MAKE_DIRECTORY ${generated}/src)
  add_library(${library}_proto OBJECT)
  target_link_libraries(${library}_proto PUBLIC protobuf::libprotobuf-lite)
  target_include_directories(${library}_proto SYSTEM PUBLIC ${generated} ${generated}/src)
  target_compile_options(${library}_proto PRIVATE -w)
  protobuf_generate(TARGET ${library}_proto PROTOS ${ARGN} PROTOC_OUT_DIR ${generated})
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_proto>)
  target_include_directories(${library} SYSTEM PUBLIC ${generated} ${generated}/src)
  add_dependencies(${library} ${library}_proto)
endfunction()

# leeway_test_limit(test seconds): when ctest ends a test that hangs. Sanitizers make everything several times slower.
function(leeway_test_limit test seconds)
  if(LEEWAY_SANITIZE)
    math(EXPR seconds "${seconds} * 5")
  endif()
  set_tests_properties(${test} PROPERTIES TIMEOUT ${seconds})
endfunction()

# leeway_test(target SOURCES files... DEPS libs... [TIMEOUT seconds]): one gtest program, one ctest entry, with the label
# `fast` (make test-fast). The limit ends a hang; it is no measure of speed.
function(leeway_test target)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} GTest::gmock GTest::gtest_main)
  # The libraries make the cost of a test; its own expectations take two thirds of the time that -O1 takes to compile, less than
  # -O0 with its larger objects.
  target_compile_options(${target} PRIVATE $<$<CONFIG:RelWithDebInfo>:-Og>)
  add_test(NAME ${target} COMMAND ${target} --gtest_brief=1)
  set_tests_properties(${target} PROPERTIES LABELS fast)
  leeway_test_limit(${target} ${ARG_TIMEOUT})
endfunction()

# leeway_plugin(target source [UNDEFINED]): a plug-in of one file, as somebody outside of this tree builds it: with our headers and no
# library. UNDEFINED leaves symbols open, for a test.
function(leeway_plugin target source)
  cmake_parse_arguments(ARG "UNDEFINED" "" "" ${ARGN})
  add_library(${target} MODULE ${source})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden)
  # Sanitizers leave their own symbols to the program that loads it.
  if(NOT LEEWAY_SANITIZE AND NOT LEEWAY_FUZZ AND NOT ARG_UNDEFINED)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
