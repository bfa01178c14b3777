# leeway_report_parts(target): adds to target a source that holds the parts of a report's page (report/, and Chart.js), so that the
# program writes whole pages wherever it runs. Written anew whenever one of them changes.
set(LEEWAY_REPORT_PARTS_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(leeway_report_parts target)
  find_file(LEEWAY_CHART_JS chart.js/chart.min.js PATHS /usr/share/javascript NO_DEFAULT_PATH DOC "Chart.js 3 (Debian: libjs-chart.js)")
  if(NOT LEEWAY_CHART_JS)
    message(FATAL_ERROR "Chart.js: got no /usr/share/javascript/chart.js/chart.min.js, wanted the one of Debian's libjs-chart.js "
                        "(tools/deps.sh installs it), or -DLEEWAY_CHART_JS=... with the path of another Chart.js 3")
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/report)
  # In this order, as in report/page.py: the last one draws.
  set(scripts ${folder}/lines_and_bars.js ${folder}/grids.js ${folder}/timeline.js ${folder}/report.js)
  set(files ${folder}/page.html ${folder}/report.css ${LEEWAY_CHART_JS} ${scripts})
  set(output ${PROJECT_BINARY_DIR}/generated/report_parts.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DTEMPLATE=${folder}/page.html" "-DSTYLE=${folder}/report.css" "-DCHART_JS=${LEEWAY_CHART_JS}"
            "-DSCRIPTS=${scripts}" -DOUTPUT=${output} -P ${LEEWAY_REPORT_PARTS_SCRIPT}
    DEPENDS ${files} ${LEEWAY_REPORT_PARTS_SCRIPT}
    COMMENT "Writing the parts of a report into report_parts.cc"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  set_source_files_properties(${output} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# As a script (cmake -P) this file is the writer.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(script "")
  foreach(file IN LISTS SCRIPTS)
    file(READ ${file} text)
    string(APPEND script "${text}")
  endforeach()
  file(READ ${TEMPLATE} template)
  file(READ ${STYLE} style)
  file(READ ${CHART_JS} chart_js)
  file(WRITE ${OUTPUT} "// Written by cmake/report_parts.cmake.
#include \"simulate/report_parts.h\"

namespace leeway::app {

ReportParts EmbeddedReportParts() {
  return {.page = R\"part(${template})part\",
          .style = R\"part(${style})part\",
          .chart_js = R\"part(${chart_js})part\",
          .script = R\"part(${script})part\"};
}

}  // namespace leeway::app
")
endif()
