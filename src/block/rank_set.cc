#include "block/rank_set.h"

#include <algorithm>
#include <bit>

namespace leeway {

namespace {
constexpr std::size_t kWordBits = 64;
}  // namespace

void RankSet::Add(WorkerId worker) {
  if (worker.index() >= kBits) {
    size_ += far_.insert(worker).second ? 1 : 0;
    return;
  }
  const std::size_t at = worker.index() / kWordBits;
  const std::uint64_t bit = std::uint64_t{1} << (worker.index() % kWordBits);
  if (at >= words_.size()) words_.resize(at + 1);
  size_ += (words_[at] & bit) == 0 ? 1 : 0;
  words_[at] |= bit;
  low_ = std::min(low_, at);
}

void RankSet::Remove(WorkerId worker) {
  if (worker.index() >= kBits) {
    size_ -= far_.erase(worker);
    return;
  }
  const std::size_t at = worker.index() / kWordBits;
  const std::uint64_t bit = std::uint64_t{1} << (worker.index() % kWordBits);
  if (at >= words_.size() || (words_[at] & bit) == 0) return;
  words_[at] &= ~bit;
  --size_;
}

bool RankSet::Contains(WorkerId worker) const {
  if (worker.index() >= kBits) return far_.contains(worker);
  const std::size_t at = worker.index() / kWordBits;
  return at < words_.size() && ((words_[at] >> (worker.index() % kWordBits)) & 1U) != 0;
}

std::optional<WorkerId> RankSet::TakeLowest() {
  if (empty()) return std::nullopt;
  while (low_ < words_.size() && words_[low_] == 0) ++low_;
  WorkerId lowest{};
  if (low_ < words_.size()) {
    const auto bit = static_cast<std::size_t>(std::countr_zero(words_[low_]));
    lowest = WorkerId(static_cast<WorkerId::rep>(low_ * kWordBits + bit));
  } else {
    lowest = *far_.begin();
  }
  Remove(lowest);
  return lowest;
}

}  // namespace leeway
