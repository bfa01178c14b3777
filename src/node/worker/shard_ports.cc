#include "node/worker/shard_ports.h"

#include <algorithm>
#include <string>
#include <utility>

namespace leeway {

ShardPorts::ShardPorts(const WorkerIdentity& self, WorkerCounters& counters, Communication& communication,
                       const WorkerOptions& options)
    : counters_(counters),
      share_{self, counters, communication, options.push_bytes_in_flight_max,
             options.link.frame_payload_bytes} {}

void ShardPorts::Add(std::unique_ptr<Link> link, std::uint32_t server) {
  const ShardId shard(static_cast<std::uint32_t>(ports_.size()));
  ports_.push_back(std::make_unique<ShardPort>(shard, std::move(link), share_));
  servers_.push_back(server);
  was_up_.push_back(false);
}

bool ShardPorts::AllUp() const {
  const auto is_up = [](const std::unique_ptr<ShardPort>& port) { return port->link().up(); };
  return !ports_.empty() && std::ranges::all_of(ports_, is_up);
}

void ShardPorts::OnUp(std::size_t shard) {
  if (was_up_[shard]) ++counters_.reconnects;
  was_up_[shard] = true;
  ++counters_.connected_over[std::string(ports_[shard]->link().carrier())];
  ports_[shard]->OnUp();
}

void ShardPorts::Stop(const Status& why) {
  for (const std::unique_ptr<ShardPort>& port : ports_) port->link().Stop(why);
}

void ShardPorts::Push(WorkerTable& table, std::shared_ptr<LentPush> lent) {
  unsettled_ += table.blocks.size();
  const Iteration iteration = lent->iteration;
  const bool own_clock = table.IsOwnClock();
  for (WorkerBlock& block : table.blocks) {
    Of(block).ChangeQueue(block, [&](PushQueue& queue) {
      // A table with its own clock has no version in use: what it is pulled into is the user's.
      const Version base = own_clock ? Version(0) : table.landing.InUse(block.index);
      // The last block gets the reference held here: for a table of one block no count is touched.
      queue.Append(iteration, &block == &table.blocks.back() ? std::move(lent) : lent, base, block.bytes());
    });
  }
}

void ShardPorts::MarkAbsent(WorkerTable& table, Iteration iteration, bool idle) {
  for (WorkerBlock& block : table.blocks) MarkAbsent(block, iteration, idle);
}

void ShardPorts::MarkAbsent(WorkerBlock& block, Iteration iteration, bool idle) {
  ++unsettled_;
  Of(block).ChangeQueue(block, [&](PushQueue& queue) { queue.AppendAbsent(iteration, idle); });
}

void ShardPorts::Pull(WorkerTable& table, Iteration progress, TimePoint now) {
  for (WorkerBlock& block : table.blocks) Pull(block, progress, now);
}

void ShardPorts::Pull(WorkerBlock& block, Iteration progress, TimePoint now) {
  block.pull.Ask(progress, now);
  Of(block).Touch(block);
}

Result<std::optional<QueuedPush>> ShardPorts::Settle(ShardPort& port, WorkerBlock& block, Seq seq) {
  Result<std::optional<QueuedPush>> settled = port.Settle(block, seq);
  if (settled.ok() && settled->has_value()) --unsettled_;
  return settled;
}

void ShardPorts::EndCalls() {
  batching_ = false;
  if (std::exchange(flush_due_, false)) Flush();
}

void ShardPorts::Flush() {
  if (batching_) {
    flush_due_ = true;
    return;
  }
  for (const std::unique_ptr<ShardPort>& port : ports_) port->Flush();
}

}  // namespace leeway
