// The parts of a report's page, from the folder report/; cmake/report_parts.cmake embeds them.
#pragma once

#include <string_view>

namespace leeway::app {

struct ReportParts {
  std::string_view page;      // the template, with {{style}}, {{document}}, {{chart_js}} and {{script}}
  std::string_view style;     // report.css
  std::string_view chart_js;  // Chart.js
  std::string_view script;    // all scripts of report/
};
[[nodiscard]] ReportParts EmbeddedReportParts();

}  // namespace leeway::app
