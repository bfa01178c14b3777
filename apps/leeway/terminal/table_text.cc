#include "terminal/table_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace leeway::app {
namespace {

constexpr std::size_t kLastColumnsMin = 16;

// One column each, as fmt counts them; the other bytes of a character go on with it.
std::size_t Characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

}  // namespace

void TableText::Row(std::vector<std::string> cells) {
  LW_CHECK(cells.size() <= rows_.front().size());
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string TableText::Print(std::size_t columns) const {
  std::vector<std::size_t> widths(rows_.front().size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Characters(row[i]));
  }
  const std::size_t last_at =
      2 + std::accumulate(widths.begin(), widths.end() - 1, std::size_t{0}) + 2 * (widths.size() - 1);
  // Too narrow a rest is no column: sentences of one word a line help nobody.
  const std::size_t room = std::max(columns, last_at + kLastColumnsMin) - last_at;
  const std::size_t wide = last_at + (last_ == Last::kRight ? widths.back() : std::min(widths.back(), room));
  std::string text;
  for (const auto& row : rows_) {
    std::string line = "  ";
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      line += i == 0 ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("{:>{}}", row[i], widths[i]);
      line += "  ";
    }
    switch (last_) {
      case Last::kRight:
        line += fmt::format("{:>{}}", row.back(), widths.back());
        break;
      case Last::kLeft:
        line += Wrapped(row.back(), last_at, last_at, last_at + room);
        break;
      case Last::kLeftCut:
        line += Cut(row.back(), room);
        break;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
    if (&row == &rows_.front()) text += "  " + std::string(wide - 2, '-') + "\n";
  }
  return text;
}

}  // namespace leeway::app
