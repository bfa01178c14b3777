# leeway_model_files(target files...): adds to target a source that holds the texts of the layer files (src/problem/layer_file.h),
# so that a program knows them wherever it runs. Written anew whenever one of them changes.
set(LEEWAY_MODEL_FILES_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(leeway_model_files target)
  set(output ${PROJECT_BINARY_DIR}/generated/model_files.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DOUTPUT=${output} -P ${LEEWAY_MODEL_FILES_SCRIPT}
    DEPENDS ${ARGN} ${LEEWAY_MODEL_FILES_SCRIPT}
    COMMENT "Writing the models' layers into model_files.cc"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

# As a script (cmake -P) this file is the writer.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(rows "")
  foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME_WLE)
    file(READ ${file} text)
    string(APPEND rows "    {\"${name}\", R\"layers(${text})layers\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Written by cmake/model_files.cmake.
#include \"problem/layer_file.h\"

namespace leeway::problem {
namespace {
constexpr ModelFile kModelFiles[] = {
${rows}};
}  // namespace

std::span<const ModelFile> ModelFiles() { return kModelFiles; }

}  // namespace leeway::problem
")
endif()
