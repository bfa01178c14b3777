# leeway_openblas: OpenBLAS without threads, linked into the program (docs/decisions/0020-eigen-over-openblas.md). Debian's flavours
# share one soname and an alternative picks one of them when a program starts, so a shared library would be the one with threads.
find_library(LEEWAY_OPENBLAS NAMES openblas-serial/libopenblas.a
             DOC "The archive of an OpenBLAS that was built without threads (Debian: libopenblas-serial-dev)")
if(NOT LEEWAY_OPENBLAS)
  message(FATAL_ERROR "OpenBLAS: got no openblas-serial/libopenblas.a, wanted the one of Debian's libopenblas-serial-dev "
                      "(tools/deps.sh installs it), or -DLEEWAY_OPENBLAS=... with the path of another one without threads")
endif()
add_library(leeway_openblas INTERFACE)
target_link_libraries(leeway_openblas INTERFACE ${LEEWAY_OPENBLAS} m)
