#include "node/worker/use_order.h"

#include <algorithm>
#include <utility>

namespace leeway {

void UseOrder::NoteUse(TableId table) {
  if (iterations_ >= kIterations && Knows(table)) return;
  if (std::ranges::find(used_, table) == used_.end()) used_.push_back(table);
}

bool UseOrder::EndIteration() {
  if (used_.empty()) return false;
  const std::vector<TableId> used = std::exchange(used_, {});
  const auto is_used = [&used](TableId table) { return std::ranges::find(used, table) != used.end(); };
  if (iterations_++ < kIterations && std::ranges::all_of(order_, is_used)) {
    order_ = used;
  } else {
    // A part of all tables tells nothing of their place among the others.
    std::ranges::copy_if(used, std::back_inserter(order_), [this](TableId table) { return !Knows(table); });
  }
  for (std::size_t i = 0; i < order_.size(); ++i) place_[order_[i]] = i;
  return true;
}

std::uint8_t UseOrder::PriorityOf(TableId table) const {
  const auto found = place_.find(table);
  if (found == place_.end() || order_.size() < 2) return 255;
  return static_cast<std::uint8_t>(found->second * 255 / (order_.size() - 1));
}

}  // namespace leeway
