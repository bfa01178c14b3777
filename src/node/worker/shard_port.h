// ShardPort: a worker's side of one shard. Groups what its blocks have to send into frames, within the push
// credit, and sends it again when a new connection is up.
//
// Order on the link: initial values, then pushes of each block in sequence, then its pull: a pull never
// overtakes the push or absent of its iteration. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/transport.h"
#include "leeway/worker.h"
#include "node/link.h"
#include "node/worker/table.h"
#include "wire/messages.h"

namespace leeway {

// Who this worker is and how it pulls now; owned by the node, read by all its ports.
struct Stance {
  WorkerId worker;
  Incarnation incarnation;
  bool observer = false;
  Epoch epoch_min;
};

class ShardPort {
 public:
  // Borrows everything for its life. `link` reports to the node.
  ShardPort(ShardId shard, std::unique_ptr<Link> link, const Stance& stance,
            std::uint64_t push_bytes_in_flight_max, std::uint64_t frame_payload_bytes,
            WorkerCounters& counters);

  [[nodiscard]] Link& link() { return *link_; }
  [[nodiscard]] const Link& link() const { return *link_; }
  [[nodiscard]] ShardId shard() const { return shard_; }

  void AddBlock(WorkerBlock& block) { blocks_.push_back(&block); }
  void RemoveBlock(WorkerBlock& block);
  // The block may have something to send at the next Flush.
  void Touch(WorkerBlock& block);
  // Changes the block's queue of pushes, keeping the push credit right.
  template <typename Change>
  auto ChangeQueue(WorkerBlock& block, Change change) {
    CreditGuard guard(*this, block.pushes);
    Touch(block);
    return change(block.pushes);
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
  // What is known to be late, and would be dropped, becomes absent.
  void WithholdLate(const std::vector<WorkerBlock*>& blocks);
  // One push or absent of every block that has one; false if nobody had.
  bool SendPushRound(std::span<WorkerBlock* const> blocks);
  void SendPulls(std::span<WorkerBlock* const> blocks);
  [[nodiscard]] bool HasCredit(std::uint64_t bytes) const;
  void SendInitFrame();
  void SendPushFrame(const LentPush& lent);
  void SendAbsentFrame();
  void SendPullFrame();
  void Send(wire::Kind kind);

  const ShardId shard_;
  const std::unique_ptr<Link> link_;
  const Stance& stance_;
  const std::uint64_t push_bytes_in_flight_max_, frame_payload_bytes_;
  WorkerCounters& counters_;

  std::vector<WorkerBlock*> blocks_;
  std::vector<WorkerBlock*> touched_;
  std::vector<WorkerBlock*> flushing_;  // of Flush; kept to reuse its memory
  std::uint64_t bytes_in_flight_ = 0;   // of pushes without a verdict

  // The frame being built; kept to reuse its memory.
  wire::Init init_;
  wire::Push push_;
  wire::Absent absent_;
  wire::Pull pull_;
  std::vector<std::byte> body_;
  std::vector<Pinned> payload_;
  std::uint64_t payload_bytes_ = 0;
};

}  // namespace leeway
