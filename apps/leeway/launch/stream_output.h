// StreamOutput: stdout or stderr of one process of a job -> lines on the screen.
//
// A line that a script redraws with carriage returns (a progress bar) stays one line. On a terminal it is
// redrawn in its place; elsewhere its newest text is shown twice a second, and when it ends. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "terminal/line_splitter.h"
#include "terminal/screen.h"

namespace leeway::app {

struct StreamOptions {
  int fd = 1;          // of the launcher, that lines go to
  std::string prefix;  // before every line
  std::string key;     // of its place among the lines that are redrawn
  // Lines are shown this much later, and may be dropped until then: what a scheduler or server says may only
  // follow from the end of a worker, which says more.
  std::chrono::milliseconds delay{0};
  std::string last_words;  // a line that begins so is not shown, but kept
};

class StreamOutput {
 public:
  using Clock = std::chrono::steady_clock;

  StreamOutput(Screen& screen, StreamOptions options);
  StreamOutput(const StreamOutput&) = delete;
  StreamOutput& operator=(const StreamOutput&) = delete;

  void Add(std::string_view bytes, Clock::time_point now);
  // Shows lines that are due.
  void Tick(Clock::time_point now);
  // The stream has ended.
  void Finish(Clock::time_point now);
  // Release shows delayed lines, Drop drops them.
  void Release() { ShowDelayed(Clock::time_point::max()); }
  void Drop() { delayed_.clear(); }

  // The last lines, the oldest first.
  [[nodiscard]] const std::deque<std::string>& tail() const { return tail_; }
  // True if the screen has shown other lines after them.
  [[nodiscard]] bool IsCovered() const { return screen_.lines() != shown_line_; }
  // The text after StreamOptions::last_words in the last such line; empty: there was no such line.
  [[nodiscard]] const std::string& last_words() const { return last_words_; }

  static constexpr std::chrono::milliseconds kRedrawEvery{500};
  static constexpr std::size_t kTailLines = 60;

 private:
  void OnLine(std::string_view text);
  void OnRedrawn(std::string_view text);
  void ShowPending();
  void ShowDelayed(Clock::time_point until);
  void Show(std::string_view text);

  Screen& screen_;
  const StreamOptions options_;
  LineSplitter splitter_;
  Clock::time_point now_;
  std::deque<std::pair<Clock::time_point, std::string>> delayed_;
  std::optional<std::string> pending_;  // newest text of the redrawn line, not shown yet
  std::string redrawn_;                 // the text of it that was shown last
  Clock::time_point redraw_at_;         // not before
  std::deque<std::string> tail_;
  std::uint64_t shown_line_ = 0;
  std::string last_words_;
};

}  // namespace leeway::app
