// Footer: the lines that stay at the bottom of a terminal while others scroll by above them: one for each
// stream that redraws itself (a script's progress bar), and the launcher's own bar below them.
//
// Pure text: says which bytes erase it and which draw it. Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace leeway::app {

class Footer {
 public:
  // A stream's line, by a key of its own; those with the lowest keys are on top.
  void SetLine(const std::string& key, std::string text) { lines_[key] = std::move(text); }
  void EndLine(const std::string& key) { lines_.erase(key); }
  void SetBar(std::string text) { bar_ = std::move(text); }
  void Clear();

  // Removes what Draw drew last. Empty: nothing is drawn.
  [[nodiscard]] std::string Erase();
  // The bytes that draw it on a terminal of so many columns and rows. Lines are cut, not wrapped. They take
  // at most half of the rows; the first lines are shown.
  [[nodiscard]] std::string Draw(std::size_t columns, std::size_t rows);

 private:
  std::map<std::string, std::string> lines_;
  std::string bar_;
  std::size_t drawn_ = 0;  // rows
};

// The first so many columns, where every code point of UTF-8 takes one.
[[nodiscard]] std::string_view FirstColumns(std::string_view text, std::size_t columns);

}  // namespace leeway::app
