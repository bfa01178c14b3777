#include "simulate/report_page.h"

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "simulate/report_parts.h"

namespace leeway::app {
namespace {

// As the content of a script element: "</script>" in a name would end it.
std::string EmbeddedJson(const nlohmann::ordered_json& document) {
  const std::string json = document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace

std::string PageHtml(const nlohmann::ordered_json& document) {
  const ReportParts parts = EmbeddedReportParts();
  const std::string json = EmbeddedJson(document);
  const std::map<std::string_view, std::string_view> texts = {
      {"style", parts.style}, {"document", json}, {"chart_js", parts.chart_js}, {"script", parts.script}};
  std::string html;
  std::string_view rest = parts.page;
  for (std::size_t at = rest.find("{{"); at != std::string_view::npos; at = rest.find("{{")) {
    const std::size_t end = rest.find("}}", at);
    html += rest.substr(0, at);
    html += texts.at(rest.substr(at + 2, end - at - 2));
    rest.remove_prefix(end + 2);
  }
  return html.append(rest);
}

}  // namespace leeway::app
