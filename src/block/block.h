// Block: the unit of state. Values, optimizer state, push ledger, open sums, members, waiting pulls, model
// memory.
//
// A pure state machine: events in (OnPush, OnPull, ...), answers out through BlockEvents, during the call.
// Belongs to one shard and its thread.
//
// Each part has a file of its own and holds no other part. SyncState and Updater read Progress and
// IdleIterations, which the block gives them with each call. The block has the rules between the parts.
// block_pull.cc says which pulls are answered when, block.cc has all other rules.
#pragma once

#include <cstdint>
#include <map>
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
#include "block/idle_iterations.h"
#include "block/ledger.h"
#include "block/progress.h"
#include "block/sync_state.h"
#include "block/updater.h"
#include "block/waiting_pulls.h"
#include "block/window_notes.h"
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
  Version version{0};  // 0: the block has no values yet
  std::uint64_t steps = 0;
  ConstBufferRef values{};
  std::vector<ConstBufferRef> slots{};
};

class Block {
 public:
  // Borrows all references for its life.
  Block(const BlockOptions& options, const SyncPolicy& sync, const Optimizer& optimizer, BufferPool& pool,
        BlockEvents& events);

  // The first initial values count; later ones change nothing. Both answer kInitialized (seq 0) to `from`.
  // Values that are not finite, where the table refuses such, do not count: kRefused (seq 0), and the block
  // still has none.
  void OnInit(MemberKey from, Term term, Gradient values, TimePoint now);
  // Takes memory for the initial values and the optimizer's state before they come. False, and nothing is
  // taken, if there is not enough. REQUIRES: no initial values have come.
  [[nodiscard]] bool Reserve() { return updater_.Reserve(); }
  // The buffer that was reserved for initial values; null if nothing was, or it is in use.
  [[nodiscard]] const BufferRef& reserved() const { return updater_.values().reserved(); }
  // A buffer for initial values to land in: the reserved one, or one from the pool; null if there is no
  // memory.
  [[nodiscard]] BufferRef TakeFirst() { return updater_.TakeFirst(); }
  // `gradient` has elements() floats. The block keeps it only if it must (reduce=ordered), and then a copy of
  // one that is lent.
  void OnPush(const PushEvent& push, Gradient gradient, TimePoint now);
  // Takes a sequence number as a push does, so that it counts once, and says kApplied; kLateDropped if the
  // optimizer has run since the version that the worker reads, whose gradients it would undo; kRefused if it
  // does not fit. The worker's progress stays as it is.
  void OnAssign(const AssignEvent& assign, Gradient array);
  // A worker that goes on under a new term says which iteration it will send next. It is absent from all
  // before, and is told the last seq that was taken from it.
  void OnResume(const ResumeEvent& resume, TimePoint now);
  void OnAbsent(const AbsentEvent& absent, TimePoint now);
  void OnPull(const PullEvent& pull, TimePoint now);
  // The members as of `epoch`, whole. Older epochs are ignored.
  void OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now);
  void OnTimer(TimePoint now);
  // From now on the block follows `sync` and `apply`. Each waiting pull is asked about again, and is the same
  // DPR. Another model forgets what the one before remembered. Open sums are applied with their d/N when the
  // block no longer aggregates. Borrows `sync` until the next switch, or for the block's life.
  // REQUIRES: MakeApplyMode made `apply` for this model; `coin_seed` is as in BlockOptions; the policy before
  // is still there.
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

  [[nodiscard]] BlockId id() const { return place_.id; }
  [[nodiscard]] Term term() const { return place_.term; }
  [[nodiscard]] TableId table() const { return place_.table; }
  [[nodiscard]] std::uint64_t offset() const { return place_.offset; }
  [[nodiscard]] std::size_t elements() const { return updater_.values().elements(); }
  // Steps once an iteration (apply mode aggregate): the values at an iteration's beginning are the same for
  // all.
  [[nodiscard]] bool aggregates() const { return updater_.aggregates(); }
  [[nodiscard]] Iteration v_train() const { return progress_.v_train(); }
  [[nodiscard]] Version version() const { return updater_.values().version(); }
  [[nodiscard]] bool initialized() const { return updater_.values().initialized(); }
  // Empty before the initial values.
  [[nodiscard]] std::span<const float> values() const {
    return initialized() ? updater_.values().current()->floats() : std::span<const float>{};
  }
  [[nodiscard]] const BlockCounters& counters() const { return counters_; }
  [[nodiscard]] const SyncPolicy& sync() const { return sync_.policy(); }  // that it follows now
  [[nodiscard]] const ProgressView& progress() const { return progress_; }
  [[nodiscard]] std::size_t waiting() const { return pulls_.size(); }  // pulls waiting now
  // For people; see ExplainWaits. Empty when nobody waits.
  [[nodiscard]] std::string WhyWaiting() const;
  // The first iteration that the newest life of this worker counts for. REQUIRES: the roster named the
  // worker.
  [[nodiscard]] Iteration FirstOf(WorkerId worker) const { return progress_.FirstOf(worker); }
  // The pushes of a life that the block holds. Nothing for a life that others have followed here: all of its
  // pushes are in the block.
  [[nodiscard]] std::optional<HeldLife> HeldOf(MemberKey life) const { return progress_.HeldOf(life); }
  // Whether the block counts this life now.
  [[nodiscard]] bool HasMember(MemberKey life) const {
    return progress_.StandingOf(life) == Progress::Standing::kMember;
  }
  // Whether a pull of this worker waits for the block to advance.
  [[nodiscard]] bool IsDelayed(WorkerId worker) const { return pulls_.IsDelayed(worker); }
  // Whether the block may advance by itself when a time has passed.
  [[nodiscard]] bool IsTimed() const { return wake_at_.has_value(); }
  // Members that iteration v_train still waits for.
  [[nodiscard]] std::vector<WorkerId> Missing() const { return progress_.Missing(); }

 private:
  // Whether this push is the next of its life here; if not, says what it is instead.
  bool Admits(MemberKey from, Term term, Seq seq);
  // Whether the push is within the open iterations; if not, notes it and says so.
  bool FitsWindow(const PushEvent& push, TimePoint now);
  // Nothing if the gradient was taken back by its owner while it was read: then there was no push.
  std::optional<Verdict> Take(const PushEvent& push, Gradient gradient);
  // The worker's contribution to `iteration` is here, or its absence.
  void NoteSent(WorkerId worker, Iteration iteration, TimePoint now);
  // The N of an iteration, without newcomers.
  [[nodiscard]] std::uint32_t StepMembersAt(Iteration iteration);
  // Stores and says the verdict, and does what it frees. The pusher hears of its push before anyone hears of
  // the values.
  void Conclude(MemberKey from, Seq seq, Verdict verdict, TimePoint now);

  void AdvanceWhilePossible(TimePoint now);
  void NotifyIfReached();

  void AnswerOrWait(const PullEvent& pull, TimePoint now);
  void Answer(const PullEvent& pull, WorkerId held_for = kNoWorker, Duration held = {});
  // Asks the model again about a pull that was delayed: answers it, or lets it wait on as the same DPR.
  // Returns how long the pull had waited if it is answered.
  Duration AskAgain(const WaitingPull& waiting, WorkerId held_for, TimePoint now);
  // Counts how long a delayed pull has waited, answers it, and returns it.
  Duration AnswerDelayed(const WaitingPull& waiting, WorkerId held_for, TimePoint now);
  // If the block has advanced: answers the pulls that this releases, and opens the window. They have waited
  // for `held_for`.
  void Release(std::optional<WorkerId> held_for, TimePoint now);
  // Answers the delayed pulls of a progress below this, which have waited for `held_for`.
  void ReleaseBelow(Iteration progress, WorkerId held_for, TimePoint now);
  // The worker says that an iteration is idle. That may release pulls, and open the window, without an
  // advance.
  void ReleaseIdle(MemberKey from, TimePoint now);
  void ReleaseUnready(TimePoint now);
  // Says OPEN to the workers whose push fits now.
  void OpenWindow();
  // Every member has gone. Initial values that are not here by now never come. An observer that waits for
  // them gets version 0, without values.
  [[nodiscard]] bool HasNoMembers() const {
    return epoch_ > Epoch(0) && progress_.MembersAt(kIterationEnd) == 0;
  }
  void Say(MemberKey to, Seq seq, Verdict verdict) {
    events_.OnVerdict(place_.id, place_.term, to, seq, verdict, progress_.v_train());
  }
  void SayMoved(MemberKey to, Seq seq) {
    ++counters_.moved;
    Say(to, seq, Verdict::kMoved);
  }
  void SayFenced(MemberKey to, Seq seq) {
    ++counters_.fenced;
    Say(to, seq, Verdict::kFenced);
  }

  // No job gets here; a peer that says so is refused before its arithmetic overflows ours.
  static constexpr Iteration kIterationEnd{std::int64_t{1} << 62};

  // No switch changes these.
  struct Place {
    BlockId id;
    TableId table;
    Term term;
    std::uint64_t offset;
  };
  const Place place_;
  BlockEvents& events_;
  Updater updater_;
  SyncState sync_;
  Ledger ledger_;
  Progress progress_;
  IdleIterations idle_;  // from v_train on
  // Relay: by iteration, the members that began in it, later than others, and gave nothing: they fetch the
  // parameters meanwhile.
  std::map<Iteration, std::uint32_t> newcomers_;
  WaitingPulls pulls_;
  WindowNotes notes_;
  Epoch epoch_{0};
  std::optional<TimePoint> wake_at_;  // asked for and not come
  Iteration notify_at_ = kIterationMax;
  BlockCounters counters_;
};

}  // namespace leeway
