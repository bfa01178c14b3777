// Text of a limited width. Columns are bytes: names and messages are printable ASCII where they are parsed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace leeway::app {

// The width of statuses and summaries: that of a terminal which nobody has resized.
inline constexpr std::size_t kTextColumns = 80;

// The words of `text` in lines of at most `columns`, every line but the first after `indent` spaces. The
// first begins at column `at`. A word that is longer than a line stays whole, and so does a number with its
// unit.
[[nodiscard]] std::string Wrapped(std::string_view text, std::size_t at, std::size_t indent,
                                  std::size_t columns = kTextColumns);
// The lines of `text`, the long ones wrapped. A line with two spaces side by side is of a table, and stays.
[[nodiscard]] std::string WrappedLines(std::string_view text, std::size_t columns = kTextColumns);
// At most `columns`: a longer text ends with "...".
[[nodiscard]] std::string Cut(std::string_view text, std::size_t columns);
// The same with the end kept, where names differ: "model.lay...q_proj.weight". REQUIRES: columns >= 8.
[[nodiscard]] std::string CutMiddle(std::string_view text, std::size_t columns);

}  // namespace leeway::app
