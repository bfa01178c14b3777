// PartialPull: when an iteration may begin without the blocks that have not come (PSP-SGD, section III-B):
// a share b of all blocks of the model is here, and tau has passed since.
//
// Says when; the node has the timer, and knows which blocks are here. Thread rule: the node's.
#pragma once

#include <cstddef>

#include "sync/pull_policy.h"

namespace leeway {

class PartialPull {
 public:
  PartialPull() = default;
  explicit PartialPull(const PullPolicy& policy) : policy_(policy) {}

  [[nodiscard]] const PullPolicy& policy() const { return policy_; }
  [[nodiscard]] bool enabled() const { return policy_.partial; }

  // Another iteration is waited for.
  void Begin() { reached_ = open_ = false; }
  // `here` of `all` blocks have come. True if that reaches the share for the first time: it opens tau later.
  [[nodiscard]] bool Reaches(std::size_t here, std::size_t all) {
    if (!policy_.partial || reached_ || all == 0) return false;
    reached_ = static_cast<double>(here) >= policy_.share_min * static_cast<double>(all);
    return reached_;
  }
  [[nodiscard]] bool reached() const { return reached_; }
  void Open() { open_ = reached_; }
  [[nodiscard]] bool open() const { return open_; }

 private:
  PullPolicy policy_;
  bool reached_ = false;
  bool open_ = false;
};

}  // namespace leeway
