#include "node/scheduler/epoch_acks.h"

#include <algorithm>
#include <utility>

namespace leeway {

void EpochAcks::Ack(ShardId shard, Epoch epoch) {
  Epoch& acked = acked_.at(shard.index());
  acked = std::max(acked, epoch);
  const Epoch all = acked_by_all();
  std::vector<Waiting> due;
  std::erase_if(waiting_, [&](Waiting& entry) {
    if (entry.epoch > all) return false;
    due.push_back(std::move(entry));
    return true;
  });
  for (const Waiting& entry : due) entry.then();
}

void EpochAcks::When(Epoch epoch, ConnectionId whose, std::function<void()> then) {
  if (epoch <= acked_by_all()) {
    then();
  } else {
    waiting_.push_back({epoch, whose, std::move(then)});
  }
}

void EpochAcks::Forget(ConnectionId whose) {
  std::erase_if(waiting_, [whose](const Waiting& entry) { return entry.whose == whose; });
}

Epoch EpochAcks::acked_by_all() const { return *std::ranges::min_element(acked_); }

std::vector<ShardId> EpochAcks::Missing(Epoch epoch) const {
  std::vector<ShardId> missing;
  for (std::size_t i = 0; i < acked_.size(); ++i) {
    if (acked_[i] < epoch) missing.emplace_back(static_cast<std::uint32_t>(i));
  }
  return missing;
}

}  // namespace leeway
