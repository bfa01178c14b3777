// EndedLives: lives of workers that ended without leaving, until every shard has said what its blocks hold of
// them.
//
// Only then is it known which batches of such a life are in the model and how many of its pushes are lost.
// Pure state, told of events by the scheduler node.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "block/block_events.h"
#include "leeway/ids.h"
#include "node/scheduler/held_pushes.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class EndedLives {
 public:
  // The life began with iteration `first`; as far as its worker had reported, its pushes below `settled` have
  // their verdicts.
  void Add(MemberKey life, Iteration first, Iteration settled);
  [[nodiscard]] bool empty() const { return lives_.empty(); }
  [[nodiscard]] bool contains(MemberKey life) const { return lives_.contains(life); }
  [[nodiscard]] std::vector<MemberKey> all() const;
  // Asks the shards.
  void AddTo(wire::pb::Roster& roster) const;
  // The log: all of them, and back. What shards have answered is asked again.
  void AddTo(wire::pb::LoggedJob& job) const;
  void Apply(const wire::pb::LoggedJob& job);
  // An answer. It takes the place of an earlier one of the shard: another process may have it now.
  void Take(ShardId shard, std::span<const wire::pb::Held* const> held);

  struct Settled {
    Iteration top;  // the last iteration that a block has of the life, or had
    HeldPushes::Lacking lacking;
  };
  // Every shard has answered: forgets the life. REQUIRES: contains(life).
  [[nodiscard]] Settled Settle(MemberKey life);

 private:
  struct Life {
    Iteration first, settled;
    std::map<ShardId, std::vector<wire::pb::Held>> held;
  };
  std::map<MemberKey, Life> lives_;
};

}  // namespace leeway
