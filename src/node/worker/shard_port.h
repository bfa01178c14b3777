// ShardPort: a worker's side of one shard. Groups what its blocks have to send into frames, within the push
// credit, and sends it again when a new connection is up.
//
// Order on the link: initial values, then pushes of each block in sequence, then its pull: a pull never
// overtakes the push or absent of its iteration. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "leeway/ids.h"
#include "node/link.h"
#include "node/worker/port_share.h"
#include "node/worker/table.h"
#include "node/worker/touched_blocks.h"
#include "wire/kind.h"

namespace leeway {

class alignas(64) ShardPort {
 public:
  // Borrows `share` for its life. `link` reports to the node.
  ShardPort(ShardId shard, std::unique_ptr<Link> link, PortShare& share)
      : link_(std::move(link)), share_(share), shard_(shard) {}

  [[nodiscard]] Link& link() { return *link_; }
  [[nodiscard]] const Link& link() const { return *link_; }
  [[nodiscard]] ShardId shard() const { return shard_; }

  void AddBlock(WorkerBlock& block) { blocks_.push_back(&block); }
  void RemoveBlock(WorkerBlock& block);
  // The block may have something to send at the next Flush.
  void Touch(WorkerBlock& block) { touched_.Add(block); }
  // Changes the block's queue of pushes, keeping the push credit right.
  template <typename Change>
  auto ChangeQueue(WorkerBlock& block, Change change) {
    CreditGuard guard(*this, block.pushes);
    Touch(block);
    return change(block.pushes);
  }
  // A verdict that consumes `seq`, as in PushQueue. A block that has sent all it has is not touched: the next
  // Flush would find nothing.
  [[nodiscard]] Result<std::optional<QueuedPush>> Settle(WorkerBlock& block, Seq seq) {
    CreditGuard guard(*this, block.pushes);
    if (!block.pushes.all_sent()) Touch(block);
    return block.pushes.Settle(seq);
  }
  // Sends what may be sent.
  void Flush();
  // Welcomed: everything without an answer is sent again.
  void OnUp();
  [[nodiscard]] std::uint64_t bytes_in_flight() const { return bytes_in_flight_; }

 private:
  // Brings the port's bytes in flight up to date with what happened to one queue.
  class CreditGuard {
   public:
    CreditGuard(ShardPort& port, const PushQueue& queue)
        : port_(port), queue_(queue), before_(queue.bytes_in_flight()) {}
    ~CreditGuard() { port_.bytes_in_flight_ += queue_.bytes_in_flight() - before_; }
    CreditGuard(const CreditGuard&) = delete;
    CreditGuard& operator=(const CreditGuard&) = delete;

   private:
    ShardPort& port_;
    const PushQueue& queue_;
    const std::uint64_t before_;
  };

  void SendInits(const std::vector<WorkerBlock*>& blocks);
  void SendResumes(const std::vector<WorkerBlock*>& blocks);
  // A push that is known to be late, and would be dropped, becomes absent.
  void WithholdLate(const std::vector<WorkerBlock*>& blocks);
  // One push or absent of every block that has one; false if nobody had.
  bool SendPushRound(std::span<WorkerBlock* const> blocks);
  void SendPulls(std::span<WorkerBlock* const> blocks);
  [[nodiscard]] bool HasCredit(std::uint64_t bytes) const;
  // Encodes a message of the draft in this worker's name, sends it and empties it.
  template <typename Message>
  void SendDraft(wire::Kind kind, Message& message);
  // The frame that is being built names this block.
  void Name(const WorkerBlock& block);
  void SendInitFrame();
  void SendPushFrame(const LentPush& lent);
  void SendAbsentFrame();
  void SendAssign(WorkerBlock& block, const QueuedPush& next);
  void SendPullFrame();
  void Send(wire::Kind kind);

  const std::unique_ptr<Link> link_;
  PortShare& share_;
  TouchedBlocks touched_;
  std::uint64_t bytes_in_flight_ = 0;  // of pushes without a verdict
  const ShardId shard_;
  std::vector<WorkerBlock*> blocks_;
};

}  // namespace leeway
