// CutAnswer: what this worker tells the scheduler of its part in a checkpoint, until it may be told.
//
// A state knows of all pushes before it. Servers that cut at once must have these before they do, so the
// answer waits for their verdicts. Thread rule: the node's.
#pragma once

#include <optional>
#include <utility>

#include "leeway/ids.h"
#include "wire/control.pb.h"

namespace leeway {

class CutAnswer {
 public:
  // A checkpoint takes blocks as they are in iteration `at`; 0: as they are now.
  void OnCut(Iteration at) { at_once_ = at == Iteration(0); }
  void Hold(const wire::pb::RankState& answer) { answer_ = answer; }
  // The answer, once: if there is one and it may be told. Every push below `settled` has its verdict.
  [[nodiscard]] std::optional<wire::pb::RankState> Take(Iteration settled) {
    const bool waits = answer_ && at_once_ && !answer_->file().empty();
    if (waits && settled < Iteration(answer_->iteration())) return std::nullopt;
    return std::exchange(answer_, std::nullopt);
  }
  [[nodiscard]] bool holds() const { return answer_.has_value(); }

 private:
  std::optional<wire::pb::RankState> answer_;
  bool at_once_ = false;  // the last cut takes blocks as they are
};

}  // namespace leeway
