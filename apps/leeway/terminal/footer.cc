#include "terminal/footer.h"

#include <algorithm>
#include <utility>

namespace leeway::app {
namespace {

constexpr std::string_view kEraseRow = "\r\x1b[K";
constexpr std::string_view kRowUp = "\x1b[A";

bool ContinuesCodePoint(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string_view FirstColumns(std::string_view text, std::size_t columns) {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!ContinuesCodePoint(text[i]) && taken++ == columns) return text.substr(0, i);
  }
  return text;
}

void Footer::Clear() {
  lines_.clear();
  bar_.clear();
}

std::string Footer::Erase() {
  std::string bytes;
  for (std::size_t row = 0; row < drawn_; ++row) bytes.append(row > 0 ? kRowUp : "").append(kEraseRow);
  drawn_ = 0;
  return bytes;
}

std::string Footer::Draw(std::size_t columns, std::size_t rows) {
  const std::size_t width =
      std::max<std::size_t>(columns, 2) - 1;  // one column is left, or some terminals wrap
  std::string bytes = Erase();
  const auto add = [&](std::string_view text) {
    bytes.append(drawn_++ > 0 ? "\n" : "").append(kEraseRow).append(FirstColumns(text, width));
  };
  for (const auto& [key, text] : lines_) {
    if (drawn_ >= std::max<std::size_t>(rows / 2, 1)) break;
    add(text);
  }
  if (!bar_.empty()) add(bar_);
  return bytes;
}

}  // namespace leeway::app
