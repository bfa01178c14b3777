// Block: the unit of state. Values, optimizer state, push ledger, open sums, members, waiting pulls, model
// memory.
//
// A pure state machine: events in (OnPush, OnPull, ...), answers out through BlockEvents, during the call.
// Belongs to one shard and its thread. Its parts are in files of their own (block_core.h lists them), and
// what it does with them in block_*.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "block/apply_mode.h"
#include "block/block_counters.h"
#include "block/block_events.h"
#include "block/block_state.h"
#include "block/buffer_pool.h"
#include "block/gradient.h"
#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/sync_model.h"
#include "leeway/table.h"
#include "sync/sync_policy.h"

namespace leeway {

struct BlockOptions {
  BlockId id;
  TableId table;
  Term term{1};
  std::uint64_t offset = 0;  // of its first element in the table
  std::size_t elements = 0;
  NonFinite nonfinite = NonFinite::kRefuse;
  ApplyMode apply;
  std::uint64_t coin_seed = 1;  // already mixed with the server when scope=server
};

// The values of a block and its optimizer's state, of one version; pinned.
struct BlockArrays {
  Version version{0};  // 0: there are none yet
  std::uint64_t steps = 0;
  ConstBufferRef values{};
  std::vector<ConstBufferRef> slots{};
};

class Block {
 public:
  // Borrows all references for its life.
  Block(const BlockOptions& options, const SyncPolicy& sync, const Optimizer& optimizer, BufferPool& pool,
        BlockEvents& events);
  ~Block();

  // The first initial values count; later ones change nothing. Both answer kInitialized (seq 0) to `from`.
  // Values that are not finite, where the table refuses such, do not count: kRefused (seq 0), and the block
  // still has none.
  void OnInit(MemberKey from, Term term, Gradient values, TimePoint now);
  // Takes memory for the initial values and the optimizer's state before they come. False, and nothing is
  // taken, if there is not enough. REQUIRES: no initial values have come.
  [[nodiscard]] bool Reserve();
  // What was reserved for initial values; null if nothing was, or it is in use.
  [[nodiscard]] const BufferRef& reserved() const;
  // A buffer for initial values to land in: what was reserved, or one from the pool; null if there is no
  // memory.
  [[nodiscard]] BufferRef TakeFirst();
  // `gradient` has elements() floats. The block keeps it only if it must (reduce=ordered), and then a copy of
  // one that is lent.
  void OnPush(const PushEvent& push, Gradient gradient, TimePoint now);
  // Takes a sequence number as a push does, so that it counts once, and says kApplied; kLateDropped if the
  // optimizer has run since the version that the worker reads, whose gradients it would undo; kRefused if it
  // does not fit. The worker's progress stays as it is.
  void OnAssign(const AssignEvent& assign, Gradient array);
  // With seq 0 it is no absent push: a worker that goes on under a new term says which iteration it will send
  // next (it is absent from all before), and is told the last seq that was taken from it (kGap).
  void OnAbsent(const AbsentEvent& absent, TimePoint now);
  void OnPull(const PullEvent& pull, TimePoint now);
  // The members as of `epoch`, whole. Older epochs are ignored.
  void OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now);
  void OnTimer(TimePoint now);
  // From now on the block follows `sync` and `apply`, also for pulls that wait: each is asked again, and is
  // the same DPR. What the model remembered is forgotten when it is another model. Open sums are applied with
  // their d/N when the block no longer aggregates. Borrows `sync` until the next switch, or for the block's
  // life. REQUIRES: MakeApplyMode made `apply` for this model; `coin_seed` is as in BlockOptions; the
  // policy before is still there.
  void Switch(const SyncPolicy& sync, const ApplyMode& apply, std::uint64_t coin_seed, TimePoint now);
  // Drops the waiting pulls of a life whose connection is gone; it pulls again when it is back.
  void OnDisconnected(MemberKey who);

  // All that the block is now. Cheap: large parts are pinned, not copied.
  [[nodiscard]] BlockState Save() const;
  [[nodiscard]] BlockArrays Arrays() const;
  // REQUIRES: no event has come yet; the state fits the block (elements, slots of the optimizer).
  void Load(const BlockState& state);
  // Says OnReached once when v_train becomes `iteration`, at once if it is. A later call replaces the one
  // before. REQUIRES: v_train is not beyond it.
  void NotifyAt(Iteration iteration);

  [[nodiscard]] BlockId id() const;
  [[nodiscard]] Term term() const;
  [[nodiscard]] TableId table() const;
  [[nodiscard]] std::uint64_t offset() const;
  [[nodiscard]] std::size_t elements() const;
  // Steps once an iteration (apply mode aggregate): what it is at an iteration's beginning is the same for
  // all.
  [[nodiscard]] bool aggregates() const;
  [[nodiscard]] Iteration v_train() const;
  [[nodiscard]] Version version() const;
  [[nodiscard]] bool initialized() const;
  [[nodiscard]] std::span<const float> values() const;  // empty before the initial values
  [[nodiscard]] const BlockCounters& counters() const;
  [[nodiscard]] const SyncPolicy& sync() const;  // what it follows now
  [[nodiscard]] const ProgressView& progress() const;
  [[nodiscard]] std::size_t waiting() const;  // pulls waiting now
  // For people: who waits, under which condition, for whom; a few of each and how many more. At most 512
  // bytes. Empty when nobody waits.
  [[nodiscard]] std::string WhyWaiting() const;
  // The first iteration that the newest life of this worker counts for. REQUIRES: the roster named the
  // worker.
  [[nodiscard]] Iteration FirstOf(WorkerId worker) const;
  // What is here of a life. Nothing for one that others have followed here: all of its pushes are in the
  // block.
  [[nodiscard]] std::optional<HeldLife> HeldOf(MemberKey life) const;
  // Whether the block counts this life now.
  [[nodiscard]] bool HasMember(MemberKey life) const;
  // Whether a pull of this worker waits for the block to advance.
  [[nodiscard]] bool IsDelayed(WorkerId worker) const;
  // Whether the block may advance by itself when a time has passed.
  [[nodiscard]] bool IsTimed() const;
  // Members that iteration v_train still waits for.
  [[nodiscard]] std::vector<WorkerId> Missing() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace leeway
