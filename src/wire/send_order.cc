#include "wire/send_order.h"

namespace leeway::wire {

SendOrder::Rank SendOrder::Next(const FrameOrder& order, std::uint64_t bytes) {
  const std::uint64_t place = bytes_;
  bytes_ += bytes;
  Rank rank{.era = era_, .key = 0, .count = count_++};
  switch (order.kind) {
    case FrameOrder::Kind::kInOrder:
      rank.era = ++era_;
      ++era_;
      return rank;
    case FrameOrder::Kind::kControl:
      return rank;
    case FrameOrder::Kind::kVerdicts:
      rank.key = 1;
      break;
    case FrameOrder::Kind::kByPriority:
      rank.key = 2 + place + order.priority * kBytesPerPriority;
      break;
  }
  for (const BlockId block : order.blocks) {
    const auto before = named_.find(block);
    if (before != named_.end() && before->second.era == rank.era)
      rank.key = std::max(rank.key, before->second.key);
  }
  for (const BlockId block : order.blocks) named_[block] = {rank.era, rank.key};
  return rank;
}

}  // namespace leeway::wire
