// Screen: what the launcher shows. Forwarded lines scroll by; a footer stays below them when stderr is a
// terminal: the launcher's bar, and lines that scripts redraw.
//
// A reader that is slow is waited for, one that went away is not: what cannot be written is dropped. A reader
// that is stuck never keeps the launcher from its end. A terminal that takes nothing (Ctrl-S) costs pictures
// of the footer and no time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "terminal/footer.h"
#include "transport/system/descriptor.h"

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
  // The width of a bar.
  static std::size_t BarColumns();
  // The width of a table on stdout: 80 columns, or more if stdout is a wider terminal, or if `said` (the
  // variable COLUMNS) is a larger number.
  static std::size_t TableColumns(std::string_view said);
  // Rows of the terminal on stdout, at least 10; 24 where stdout is not a terminal.
  static std::size_t PageRows();
  [[nodiscard]] bool terminal() const { return terminal_; }
  // One line to stdout (fd 1) or stderr (fd 2), above the bar, written at once.
  void Line(int fd, std::string_view prefix, std::string_view text);
  // How many lines there were.
  [[nodiscard]] std::uint64_t lines() const { return lines_; }
  // Redraws the bar, cut to the width of the terminal. Nothing without a terminal.
  void Bar(const std::string& text);
  // Whether a line that is meant for this fd can be redrawn in its place.
  [[nodiscard]] bool CanRedraw(int fd) const;
  // Redraws a line by its key. REQUIRES: CanRedraw.
  void Redraw(const std::string& key, std::string text);
  void EndRedraw(const std::string& key);
  void ClearBar();
  // The end has begun: from now on readers are waited for this long, all in all.
  void Hurry(std::chrono::milliseconds limit = kHurry) {
    patient_until_ = std::chrono::steady_clock::now() + limit;
  }

  static constexpr std::chrono::milliseconds kHurry{500};

 private:
  void Draw();
  // Whether the terminal has taken all of the picture that was drawn last.
  [[nodiscard]] bool SendPicture();
  void Write(int fd, std::string_view bytes);
  // False: the caller drops the rest. `refused`: fd said that it had room and then took nothing.
  [[nodiscard]] bool AwaitRoom(int fd, bool refused) const;

  const bool terminal_;
  const int stop_fd_;
  const Descriptor out_;  // stdout and stderr once more, non-blocking; only of terminals
  const Descriptor err_;
  std::optional<std::chrono::steady_clock::time_point> patient_until_;
  Footer footer_;
  std::string unsent_;  // of the picture of the footer that was drawn last
  std::uint64_t lines_ = 0;
};

}  // namespace leeway::app
