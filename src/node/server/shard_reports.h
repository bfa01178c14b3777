// ShardReports: counts what a shard does, and makes the report of it for the scheduler.
//
// One per shard. Thread rule: the node's.
#pragma once

#include <cstdint>

#include "leeway/env.h"
#include "leeway/transport.h"
#include "monitor/figures.h"
#include "node/server/block_store.h"
#include "node/server/delayed_pulls.h"
#include "node/server/staleness_counts.h"
#include "node/server/table_reports.h"
#include "wire/control.pb.h"

namespace leeway {

// Other parts of the shard count these.
struct ShardTraffic {
  std::uint64_t bytes_out = 0;
  std::uint64_t moved = 0;      // entries for blocks that are not here
  std::uint64_t no_memory = 0;  // entries that there was no memory to land
  // Answers that had not left when their worker asked for newer ones. Reported only if there are any.
  std::uint64_t answers_withdrawn = 0;
};

class ShardReports {
 public:
  // A worker sent this frame.
  void NoteFrame(const FrameHead& head);
  // A block holds up a pull.
  void NoteDelay(TableId table, MemberKey from, Iteration progress);
  // Delayed pull requests so far, one for each worker and iteration, as reports have them.
  [[nodiscard]] std::uint64_t dprs() const { return delayed_pulls_.count(); }
  void NoteStaleness(WorkerId from, std::uint64_t versions) { staleness_.Note(from, versions); }
  // The report of the next beat, which also names what the first block that holds somebody up waits for.
  [[nodiscard]] wire::pb::Report Make(const BlockStore& blocks, const ShardTraffic& traffic, Log& log);

 private:
  // Logs problems in blocks that nobody gets an error for, each kind once.
  void Warn(const BlockStore& blocks, Log& log);
  [[nodiscard]] Figures Count(const BlockStore& blocks, const ShardTraffic& traffic) const;

  std::uint64_t frames_in_ = 0;
  std::uint64_t bytes_in_ = 0;
  std::uint64_t reports_ = 0;
  DelayedPulls delayed_pulls_;
  StalenessCounts staleness_;
  TableReports table_reports_;
  bool mismatch_said_ = false;
  bool overflow_said_ = false;
  bool memory_said_ = false;
};

}  // namespace leeway
