// ShardIntake: what the shards send of blocks: verdicts, answers, arrays, and that a block is elsewhere.
//
// Finds the block of every entry, and gives the entry to the part of Training that it concerns. Owns the
// reads of arrays and the blocks that have moved. Training comes with every call. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "leeway/env.h"
#include "leeway/options.h"
#include "leeway/transport.h"
#include "node/worker/answer_landings.h"
#include "node/worker/array_reads.h"
#include "node/worker/block_moves.h"
#include "node/worker/due_callbacks.h"
#include "node/worker/scheduler_requests.h"
#include "node/worker/training.h"
#include "node/worker/worker_identity.h"
#include "wire/messages.h"

namespace leeway {

class ShardIntake {
 public:
  struct Events {
    std::function<void(const Status&)> failed;  // this life is over, or a peer breaks the protocol
    std::function<void()> initialized;          // a block has its initial values, or has refused them
    std::function<void()> ask;                  // it is time to AskForPlaces
  };
  // Borrows all but `options` and `events` for its life.
  ShardIntake(Env& env, const LinkOptions& options, const WorkerIdentity& self, WorkerCounters& counters,
              DueCallbacks& due, Events events);
  ~ShardIntake() { timers_.Cancel(broken_timer_); }
  ShardIntake(const ShardIntake&) = delete;
  ShardIntake& operator=(const ShardIntake&) = delete;

  // A frame with a payload begins to come. After an error `failed` follows, from outside of this call.
  // REQUIRES: of kind Answers or Arrays.
  [[nodiscard]] Result<Landing> OnFrameStart(Training& training, const ShardPort& port, const FrameHead& head,
                                             std::span<const std::byte> body);
  // The rest of these frames is here, or the whole of one without a payload.
  [[nodiscard]] Status OnVerdicts(Training& training, ShardPort& port, std::span<const std::byte> body,
                                  std::uint64_t payload_bytes);
  [[nodiscard]] Status OnResumed(Training& training, ShardPort& port, std::span<const std::byte> body,
                                 std::uint64_t payload_bytes);
  [[nodiscard]] Status OnAnswers(Training& training, ShardPort& port, std::span<const std::byte> body,
                                 const Landing& landing);
  [[nodiscard]] Status OnArrays(Training& training, const ShardPort& port, std::span<const std::byte> body,
                                const Landing& landing);
  // The connection to the shard is up; another process has taken the shard over.
  void OnUp(Training& training, std::size_t shard);
  void OnReplaced(Training& training, std::size_t shard);
  // Asks the scheduler where blocks are that have moved. Both outlive its answer.
  void AskForPlaces(Training& training, SchedulerRequests& requests);

  [[nodiscard]] BlockMoves& moves() { return moves_; }
  [[nodiscard]] ArrayReads& reads() { return reads_; }
  [[nodiscard]] const ArrayReads& reads() const { return reads_; }

 private:
  [[nodiscard]] Status OnVerdict(Training& training, ShardPort& port, const wire::VerdictEntry& entry);
  void OnMoved(WorkerBlock& block, const ShardPorts& ports);
  [[nodiscard]] Status TakePlaces(Training& training, const std::vector<WorkerTable*>& tables,
                                  const wire::pb::TableMap& map);

  const WorkerIdentity& self_;
  Timers& timers_;
  DueCallbacks& due_;
  const Events events_;
  BlockMoves moves_;
  ArrayReads reads_;
  AnswerLandings landings_;
  TimerId broken_timer_;     // set: a shard has broken the protocol
  wire::Verdicts verdicts_;  // of the frame at hand; kept to reuse its memory
};

}  // namespace leeway
