// PullState: what a worker has asked of one block and not been answered. A newer question replaces the older.
//
// Questions are counted, and an answer names the number of its question. The answer to an older question may
// still come, and is of use: so the last few are remembered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

class PullState {
 public:
  void Ask(Iteration progress, TimePoint now) {
    const std::int64_t step = progress - progress_;
    for (std::size_t i = kEarlier; i-- > 0;)
      behind_[i] = Behind(i == 0 ? std::uint8_t{0} : behind_[i - 1], step);
    progress_ = progress;
    since_ = now;
    ++ask_;
    open_ = true;
    sent_ = false;
  }
  // To be sent again, as it is: the connection was lost, or the question is put differently now.
  void AskAgain() { sent_ = false; }
  void MarkSent() { sent_ = true; }
  // An answer for `progress` is here. Older ones do not settle the question.
  void Settle(Iteration progress) {
    if (progress >= progress_) open_ = false;
  }
  void Drop() { open_ = false; }

  [[nodiscard]] bool open() const { return open_; }
  [[nodiscard]] bool to_send() const { return open_ && !sent_; }
  [[nodiscard]] Iteration progress() const { return progress_; }
  [[nodiscard]] leeway::Ask ask() const { return ask_; }
  // The progress that this question was asked for; nothing for one that was never asked, or too long ago.
  [[nodiscard]] std::optional<Iteration> ProgressOf(leeway::Ask ask) const {
    if (ask == leeway::Ask(0) || ask > ask_ || ask_ - ask > kEarlier) return std::nullopt;
    if (ask == ask_) return progress_;
    const std::uint8_t behind = behind_[ask_ - ask - 1];
    if (behind == kUnknown) return std::nullopt;
    return progress_ - behind;
  }
  [[nodiscard]] TimePoint since() const { return since_; }

 private:
  static constexpr std::size_t kEarlier = 2;
  static constexpr std::uint8_t kUnknown = std::numeric_limits<std::uint8_t>::max();

  // Of a question that was `behind` the one which is now `step` behind.
  static std::uint8_t Behind(std::uint8_t behind, std::int64_t step) {
    if (behind == kUnknown || step < 0 || step >= kUnknown - behind) return kUnknown;
    return static_cast<std::uint8_t>(behind + step);
  }

  Iteration progress_{-1};
  TimePoint since_;
  leeway::Ask ask_{0};
  bool open_ = false;
  bool sent_ = false;
  std::array<std::uint8_t, kEarlier> behind_{};  // how far the questions before were, the last one first
};

}  // namespace leeway
