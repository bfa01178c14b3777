// EndedLives: lives of workers that have ended, and what the blocks of the job hold of them.
//
// A life that ended without leaving is pending until every shard has said what its blocks hold of it. Only
// then the scheduler knows how far its pushes go, which of its batches are in the model, and which pushes
// only some blocks have. Afterwards, and after a leave, a life is kept until a checkpoint holds all of it.
// When a server dies, nobody else can say what its blocks have lost of the life. Pure state, told of events
// by its owner.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
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
  // A life has ended without leaving. It began with iteration `first`; as far as its worker had said, its
  // pushes below `settled` have their verdicts.
  void Add(MemberKey life, Iteration first, Iteration settled);
  // A life has left, with all of its verdicts: it did not do iteration `end`. True: it is pending, because a
  // shard that was replaced may lack pushes of it.
  bool Left(MemberKey life, Iteration first, Iteration end);
  // The shard was replaced. Returns the lives that it must be asked about again.
  [[nodiscard]] std::vector<MemberKey> OnReplaced(ShardId shard);
  // A checkpoint is begun: it will hold all lives that have ended by now. When it is whole, they are dropped.
  void OnCutBegun();
  void OnCutWhole();

  // Lives that shards are asked about.
  [[nodiscard]] std::vector<MemberKey> Pending() const;
  [[nodiscard]] bool IsPending(MemberKey life) const;
  // How far its pushes go is known, whether or not a replaced shard is asked again.
  [[nodiscard]] bool IsKnown(MemberKey life) const;
  // It was settled when the last checkpoint was begun: the pushes that blocks lack are counted already.
  [[nodiscard]] bool IsInCut(MemberKey life) const;
  struct Span {
    Iteration first, end;  // [first, end)
  };
  // The iterations that a life did, if it is kept and all its pushes are known.
  [[nodiscard]] std::optional<Span> SpanOf(MemberKey life) const;
  void Forget(MemberKey life) { lives_.erase(life); }
  // By life: its pushes below it have their verdicts, as far as is known.
  [[nodiscard]] std::map<MemberKey, Iteration> SettledBelow() const;
  void AddTo(wire::pb::Roster& roster) const;
  // An answer replaces an earlier one of the same shard: another process may have the shard now.
  void Take(ShardId shard, std::span<const wire::pb::Held* const> held);

  struct Settled {
    Iteration top;  // the last iteration that a block has of the life, or had
    HeldPushes::Lacking lacking;
    bool again = false;  // the life was settled before: only a replaced shard was asked
  };
  // Every shard has answered: the life is pending no more. REQUIRES: IsPending(life).
  [[nodiscard]] Settled Settle(MemberKey life);

  // The log: all lives, without the answers of shards, which are asked again.
  void AddTo(wire::pb::LoggedJob& job) const;
  void Apply(const wire::pb::LoggedJob& job);

 private:
  struct Life {
    Iteration first, settled;
    bool pending = false;
    bool known = false;          // all its pushes are below `settled`
    std::set<ShardId> replaced;  // of one that is known: whose answer counts
    bool in_cut = false;         // it had ended when the checkpoint under way was begun
    std::map<ShardId, std::vector<wire::pb::Held>> held;
  };
  std::map<MemberKey, Life> lives_;
  std::set<ShardId> replaced_;  // since the last checkpoint
};

}  // namespace leeway
