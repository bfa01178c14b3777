// Screen: what the launcher shows. Forwarded lines scroll by; one bar stays below them when stderr is a
// terminal.
#pragma once

#include <string>
#include <string_view>

namespace leeway::app {

class Screen {
 public:
  // `terminal`: whether stderr can show a bar.
  explicit Screen(bool terminal) : terminal_(terminal) {}
  ~Screen() { ClearBar(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static bool StderrIsTerminal();
  [[nodiscard]] bool terminal() const { return terminal_; }
  // One line to stdout (fd 1) or stderr (fd 2), above the bar, written at once.
  void Line(int fd, std::string_view prefix, std::string_view text);
  // Redraws the bar, cut to the width of the terminal. Nothing without a terminal.
  void Bar(const std::string& text);
  void ClearBar();

 private:
  const bool terminal_;
  std::string bar_;
};

}  // namespace leeway::app
