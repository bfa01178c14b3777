// Screen: what the launcher shows. Forwarded lines scroll by; one bar stays below them when stderr is a
// terminal.
//
// A reader that is slow is waited for, one that went away is not: what cannot be written is dropped. A reader
// that is stuck never keeps the launcher from its end.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "launch/descriptor.h"

namespace leeway::app {

class Screen {
 public:
  // `terminal`: whether stderr can show a bar. `stop_fd`: readable while someone asks to stop and was not
  // heard yet; what has no room then is dropped. -1: nobody asks.
  explicit Screen(bool terminal, int stop_fd = -1);
  ~Screen() { ClearBar(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  static bool StderrIsTerminal();
  // What a bar may have.
  static std::size_t BarColumns();
  [[nodiscard]] bool terminal() const { return terminal_; }
  // One line to stdout (fd 1) or stderr (fd 2), above the bar, written at once.
  void Line(int fd, std::string_view prefix, std::string_view text);
  // Redraws the bar, cut to the width of the terminal. Nothing without a terminal.
  void Bar(const std::string& text);
  void ClearBar();
  // The end has begun: from now on readers are waited for this long, all in all.
  void Hurry() { patient_until_ = std::chrono::steady_clock::now() + kHurry; }

  static constexpr std::chrono::milliseconds kHurry{500};

 private:
  void Write(int fd, std::string_view bytes);
  // False: what is left is to be dropped. `refused`: fd said that it had room and then took nothing.
  [[nodiscard]] bool AwaitRoom(int fd, bool refused) const;

  const bool terminal_;
  const int stop_fd_;
  const Descriptor out_;  // stdout and stderr once more, non-blocking; only of terminals
  const Descriptor err_;
  std::optional<std::chrono::steady_clock::time_point> patient_until_;
  std::string bar_;
};

}  // namespace leeway::app
