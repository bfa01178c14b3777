# Finds the interpreter that imports torch and numpy: LEEWAY_PYTHON_EXECUTABLE if given (cache or environment), else the
# first of python3 on PATH and Debian's own. Sets LEEWAY_PYTHON_EXECUTABLE in the cache and says which one was taken.
function(leeway_find_python)
  set(candidates ${LEEWAY_PYTHON_EXECUTABLE} $ENV{LEEWAY_PYTHON_EXECUTABLE})
  if(NOT candidates)
    find_program(LEEWAY_PYTHON_ON_PATH python3)
    set(candidates ${LEEWAY_PYTHON_ON_PATH} /usr/bin/python3)
  endif()
  foreach(candidate IN LISTS candidates)
    execute_process(COMMAND ${candidate} -c "import numpy, torch; print(torch.__version__)"
                    RESULT_VARIABLE failed OUTPUT_VARIABLE version ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT failed)
      message(STATUS "Python: ${candidate} (torch ${version})")
      set(LEEWAY_PYTHON_EXECUTABLE ${candidate} CACHE FILEPATH "The interpreter that the binding is built for" FORCE)
      return()
    endif()
    message(STATUS "Python: ${candidate} does not import torch and numpy, passed over")
  endforeach()
  message(FATAL_ERROR "no Python with torch and numpy among: ${candidates}. Install them (Debian: apt-get install "
                      "python3-torch python3-numpy), or name one with -DLEEWAY_PYTHON_EXECUTABLE=..., or build without "
                      "the binding (-DLEEWAY_PYTHON=OFF).")
endfunction()

# leeway_pytest(name path... [LABELS labels...] [TIMEOUT seconds]): pytest over the files or folders, one ctest entry, against
# the package and the program in this build tree.
function(leeway_pytest name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS" ${ARGN})
  add_test(NAME ${name} COMMAND ${LEEWAY_PYTHON_EXECUTABLE} -m pytest -q -p no:cacheprovider --rootdir ${PROJECT_SOURCE_DIR}/tests
                                --durations=5 ${ARG_UNPARSED_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}" ENVIRONMENT
    "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;OMP_NUM_THREADS=1;LEEWAY_BUILD=${PROJECT_BINARY_DIR}")
endfunction()
