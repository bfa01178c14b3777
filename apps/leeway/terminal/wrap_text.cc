#include "terminal/wrap_text.h"

#include <algorithm>

#include "base/check.h"

namespace leeway::app {
namespace {

bool IsNumber(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

std::string Wrapped(std::string_view text, std::size_t at, std::size_t indent, std::size_t columns) {
  std::string lines;
  std::size_t column = at;
  bool first_word = true;
  while (!text.empty()) {
    std::size_t end = text.find(' ');
    if (IsNumber(text.substr(0, end)) && end != std::string_view::npos) end = text.find(' ', end + 1);
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!first_word && column + 1 + word.size() > columns) {
      lines += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (!first_word) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
    first_word = false;
  }
  return lines;
}

std::string WrappedLines(std::string_view text, std::size_t columns) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const bool of_table = line.find("  ") != std::string_view::npos;
    lines += of_table || line.size() <= columns ? std::string(line) : Wrapped(line, 0, 2, columns);
    if (end < text.size()) lines += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string Cut(std::string_view text, std::size_t columns) {
  if (text.size() <= columns) return std::string(text);
  if (columns <= 3) return std::string(text.substr(0, columns));
  return std::string(text.substr(0, columns - 3)) + "...";
}

std::string CutMiddle(std::string_view text, std::size_t columns) {
  LW_CHECK(columns >= 8, "got {} columns", columns);
  if (text.size() <= columns) return std::string(text);
  const std::size_t tail = (columns - 3) * 2 / 3;
  return std::string(text.substr(0, columns - 3 - tail)) + "..." +
         std::string(text.substr(text.size() - tail));
}

}  // namespace leeway::app
