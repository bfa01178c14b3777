#include "node/worker/final_values.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace leeway {

void FinalValues::Pull(const TableSet& tables, Iteration iteration, TimePoint now, ShardPorts& ports,
                       OwnPulls& own, std::function<void()> shown) {
  // Above every progress asked before, so that no earlier answer is taken for the final one.
  progress_ = iteration + 1;
  for (const std::unique_ptr<WorkerTable>& owned : tables.all()) {
    WorkerTable& table = *owned;
    if (table.state != WorkerTable::State::kPlaced) continue;
    if (!table.IsOwnClock()) {
      ports.Pull(table, progress_, now);
      continue;
    }
    ++left_;
    // Nothing of an own-clock table was published before: its back buffer is free.
    auto done = [this, &table, shown](const Status& status) {
      if (status.ok()) {
        table.pair.Publish(progress_);
      } else {
        table.pair.Extend(progress_);
      }
      --left_;
      shown();
    };
    // Above the progress of every earlier pull: the answer to one that was asked twice is not taken for this
    // one's.
    own.Begin(table, table.pair.Back(), table.pushed + 1, std::move(done), ports);
  }
  ports.Flush();
}

bool FinalValues::Have(const TableSet& tables) const {
  if (!asked() || left_ > 0) return false;
  return std::ranges::none_of(tables.all(), [this](const std::unique_ptr<WorkerTable>& table) {
    return table->state == WorkerTable::State::kPlaced && !table->IsOwnClock() &&
           table->landing.published() < progress_;
  });
}

}  // namespace leeway
