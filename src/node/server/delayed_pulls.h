// DelayedPulls: the DPR count of a shard. One worker's pulls of one iteration count once, however many of its
// blocks made them wait; a pull asked again after a reconnect is no new one.
#pragma once

#include <cstdint>
#include <map>

#include "block/block.h"
#include "leeway/ids.h"

namespace leeway {

class DelayedPulls {
 public:
  void Note(MemberKey who, Iteration progress) {
    const auto [found, first] = newest_.try_emplace(who, progress);
    if (!first && progress <= found->second) return;
    found->second = progress;
    ++count_;
    ++by_worker_[who.worker];
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Over all lives of a rank.
  [[nodiscard]] const std::map<WorkerId, std::uint64_t>& by_worker() const { return by_worker_; }

 private:
  std::map<MemberKey, Iteration> newest_;
  std::map<WorkerId, std::uint64_t> by_worker_;
  std::uint64_t count_ = 0;
};

}  // namespace leeway
