// ShardPorts: the ports of a worker to all shards, and the pushes that wait there for verdicts.
//
// Appends pushes, absences and pulls to the blocks of a table, each at the port of its shard, and sends what
// may be sent: at once, or at the end of a batch of calls. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "leeway/options.h"
#include "leeway/worker.h"
#include "node/worker/shard_port.h"

namespace leeway {

class ShardPorts {
 public:
  // Borrows all but `options` for its life.
  ShardPorts(const WorkerIdentity& self, WorkerCounters& counters, Communication& communication,
             const WorkerOptions& options);

  // Servers need not send an answer once a newer one was asked for.
  void TakeNewestOnly() { share_.pull_flags |= wire::Pull::kNewestOnly; }
  // As JobOptions::priorities.
  void UsePriorities() {
    share_.priorities = true;
    share_.pull_flags |= wire::Pull::kByPriority;
  }
  // As JobOptions::flush_bytes.
  void SetFlushBytes(std::uint32_t bytes) { share_.flush_bytes = bytes; }
  // Adds the port of the next shard.
  void Add(std::unique_ptr<Link> link, std::uint32_t server);
  [[nodiscard]] const std::vector<std::unique_ptr<ShardPort>>& all() const { return ports_; }
  [[nodiscard]] ShardPort& At(std::size_t shard) const { return *ports_[shard]; }
  [[nodiscard]] ShardPort& Of(const WorkerBlock& block) const { return *ports_[block.shard.index()]; }
  // The server of each shard.
  [[nodiscard]] const std::vector<std::uint32_t>& servers() const { return servers_; }
  [[nodiscard]] bool AllUp() const;
  // The connection to this shard is up: what has no answer is sent again.
  void OnUp(std::size_t shard);
  // Says goodbye to all shards.
  void Stop(const Status& why);

  // Appends to the queue of every block of the loan's table.
  void Push(WorkerTable& table, std::shared_ptr<LentPush> lent);
  void MarkAbsent(WorkerTable& table, Iteration iteration, bool idle = false);
  void MarkAbsent(WorkerBlock& block, Iteration iteration, bool idle = false);
  // Asks for the values after `progress`.
  void Pull(WorkerTable& table, Iteration progress, TimePoint now);
  void Pull(WorkerBlock& block, Iteration progress, TimePoint now);
  // As ShardPort::Settle.
  [[nodiscard]] Result<std::optional<QueuedPush>> Settle(ShardPort& port, WorkerBlock& block, Seq seq);
  // Pushes and absences without a verdict.
  [[nodiscard]] std::uint64_t unsettled() const { return unsettled_; }

  // Between these calls Flush sends nothing; what it would have sent goes out at the end, in the fewest
  // frames.
  void BeginCalls() { batching_ = true; }
  void EndCalls();
  // Sends what may be sent.
  void Flush();

 private:
  WorkerCounters& counters_;
  PortShare share_;
  std::vector<std::unique_ptr<ShardPort>> ports_;  // by ShardId
  std::vector<std::uint32_t> servers_;             // by ShardId
  std::vector<bool> was_up_;
  std::uint64_t unsettled_ = 0;
  bool batching_ = false;
  bool flush_due_ = false;
};

}  // namespace leeway
