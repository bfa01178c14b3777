// PullState: what a worker has asked of one block and not been answered. A newer question replaces the older.
#pragma once

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

class PullState {
 public:
  void Ask(Iteration progress, TimePoint now) {
    progress_ = progress;
    since_ = now;
    open_ = true;
    sent_ = false;
  }
  // To be sent again: the connection was lost, or the question is put differently now.
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
  [[nodiscard]] TimePoint since() const { return since_; }

 private:
  Iteration progress_{-1};
  TimePoint since_;
  bool open_ = false;
  bool sent_ = false;
};

}  // namespace leeway
