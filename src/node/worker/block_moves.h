// BlockMoves: blocks that are not where they were. Says when the scheduler is to be asked for new places,
// takes its answer, and finds out what a new owner has of this worker's pushes.
//
// The node asks the scheduler. Thread rule: the node's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/worker.h"
#include "node/worker/shard_ports.h"
#include "node/worker/table_set.h"
#include "wire/control.pb.h"

namespace leeway {

class BlockMoves {
 public:
  // Called for tests, when a block goes on under a new term: pushes above `last` went with the owner before.
  using Resumed = std::function<void(TableId, BlockId, Term, Seq last)>;

  // Borrows `env` and `counters`. `ask` is called when the scheduler is to be asked: by Question, Answered.
  BlockMoves(Env& env, const LinkOptions& options, WorkerCounters& counters, std::function<void()> ask);
  ~BlockMoves() { Stop(); }
  BlockMoves(const BlockMoves&) = delete;
  BlockMoves& operator=(const BlockMoves&) = delete;

  void SetObserver(Resumed observer) { observer_ = std::move(observer); }
  void Stop();

  // The owner says that the block is elsewhere.
  void OnMoved(WorkerBlock& block, const ShardPorts& ports);
  // The next question waits for long only if one after the other finds nothing: this one has found a block.
  void OnFound() { backoff_ = {}; }

  struct Asked {
    std::vector<WorkerTable*> tables;
    std::vector<TableSpec> specs;
    std::vector<wire::pb::SeenBlock> seen;  // blocks that this worker has set or read values of
  };
  // The tables with blocks whose place is not known.
  [[nodiscard]] Asked Question(const TableSet& tables);
  void Answered() { asked_ = false; }
  // The scheduler's answer for one of these tables.
  [[nodiscard]] static Status Replace(WorkerTable& table, const wire::pb::Table& map,
                                      const ShardPorts& ports);
  // All of the answer is taken. A block of another table may have moved while it was on its way.
  void AskForRest(const TableSet& tables);

  // Under a new term: its owner has everything of ours up to `last`, and nothing else. Pushes that are lost
  // count as such only where `counts`; TellLost says so in the log, once for all blocks since its last call.
  void OnResumed(WorkerBlock& block, Seq last, ShardPort& port, bool counts);
  void TellLost(const ShardPort& port);
  // Whether pushes were lost since the last call.
  [[nodiscard]] bool TakeLost() { return std::exchange(lost_, false); }

 private:
  struct Gone {
    std::uint64_t pushes = 0, arrays = 0, blocks = 0;
    std::string first;  // of the blocks
  };
  void Arm();

  Env& env_;
  const LinkOptions options_;
  WorkerCounters& counters_;
  const std::function<void()> ask_;
  Resumed observer_;
  bool asked_ = false;  // a question is under way, or its time is set
  bool lost_ = false;
  Gone gone_;  // since the last TellLost
  Duration backoff_{};
  TimerId timer_;
};

}  // namespace leeway
