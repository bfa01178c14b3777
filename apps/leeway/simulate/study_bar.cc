#include "simulate/study_bar.h"

#include <fmt/format.h>

#include <utility>

#include "terminal/quantity.h"

namespace leeway::app {

StudyBar::StudyBar(std::string what)
    : what_(std::move(what)),
      screen_(Screen::StderrIsTerminal()),
      begin_(std::chrono::steady_clock::now()),
      shown_(begin_) {}

void StudyBar::Show(const scenario::StudyProgress& progress) {
  constexpr std::size_t kColumns = 24;
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(screen_.terminal() ? 100 : 5'000)) return;
  shown_ = now;
  const double s = std::chrono::duration<double>(now - begin_).count();
  const auto filled = static_cast<std::size_t>(progress.share * kColumns);
  const std::string left = progress.share > 0.01 ? ShortTime(s * (1 - progress.share) / progress.share) : "?";
  const std::string text = fmt::format(
      "{} [{}{}] {} of {} runs  {} simulated in {}  {} messages/s  {} left", what_, std::string(filled, '='),
      std::string(kColumns - filled, ' '), progress.runs_done, progress.runs, ShortTime(progress.simulated_s),
      ShortTime(s), ShortCount(static_cast<double>(progress.messages) / s), left);
  if (screen_.terminal()) {
    screen_.Bar(text);
  } else {
    screen_.Line(2, "leeway: ", text);
  }
}

}  // namespace leeway::app
