#include "simulate/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "simulate/report_parts.h"

namespace leeway::app {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Read(const std::string& name) {
  std::ifstream file(std::string(LEEWAY_SOURCE_FOLDER) + "/report/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Without Chart.js, whose head names its home page in a comment.
std::string OwnParts(std::string html) {
  const std::string_view chart_js = EmbeddedReportParts().chart_js;
  const std::size_t at = html.find(chart_js);
  return at == std::string::npos ? "" : html.erase(at, chart_js.size());
}

TEST(ReportPageTest, HoldsEveryPart) {
  const std::string html = PageHtml({{"title", "uneven"}, {"sections", nlohmann::ordered_json::array()}});
  for (const char* part : {"report.css", "report.js", "lines_and_bars.js", "grids.js", "timeline.js"}) {
    ASSERT_FALSE(Read(part).empty()) << part;
    EXPECT_THAT(html, HasSubstr(Read(part)));
  }
  EXPECT_THAT(html, HasSubstr("Chart.js v3"));
  EXPECT_THAT(html, HasSubstr(R"({"title":"uneven","sections":[]})"));
  EXPECT_THAT(OwnParts(html), Not(HasSubstr("{{")));
}

TEST(ReportPageTest, FetchesNothing) {
  const std::string html = PageHtml({{"title", "uneven"}});
  EXPECT_THAT(html, HasSubstr("default-src 'none'")) << "the browser keeps to it";
  ASSERT_FALSE(OwnParts(html).empty());
  for (const char* address : {"http://", "https://", "src=", "href=", "@import", "url("})
    EXPECT_THAT(OwnParts(html), Not(HasSubstr(address)));
}

TEST(ReportPageTest, NoTextEndsTheScriptThatHoldsIt) {
  const std::string html = PageHtml({{"title", "a</script><b> {{style}} caf\xE9"}});
  EXPECT_THAT(html, HasSubstr("a\\u003c/script>\\u003cb> {{style}} caf\uFFFD"));
}

}  // namespace
}  // namespace leeway::app
