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
