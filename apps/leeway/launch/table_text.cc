#include "launch/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace leeway::app {

void TableText::Row(std::vector<std::string> cells) {
  LW_CHECK(cells.size() <= rows_.front().size());
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TableText::Print() const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = "  ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = i == 0 || (i + 1 == row.size() && last_ == Last::kLeft);
      if (i > 0) line += "  ";
      line += left ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (&row == &rows_.front()) {
      const std::size_t wide =
          std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + 2 * (widths.size() - 1);
      text += "  " + std::string(wide, '-') + "\n";
    }
  }
  return text;
}

}  // namespace leeway::app
