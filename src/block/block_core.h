// Block::Core: the parts of a block, and the rules between them.
//
// block_push.cc has what becomes of a push, block_assign.cc of an array that is set, block_pull.cc who is
// answered when, block_advance.cc when an iteration is over and what is applied then, block_switch.cc what
// another model changes, block_why.cc what waits for whom, for people; block.cc the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "block/block.h"
#include "block/idle_iterations.h"
#include "block/kept_versions.h"
#include "block/ledger.h"
#include "block/open_sums.h"
#include "block/progress.h"
#include "block/values.h"
#include "block/waiting_pulls.h"
#include "block/window_notes.h"

namespace leeway {

// No job gets here; a peer that says so is refused before its arithmetic overflows ours.
inline constexpr Iteration kIterationEnd{std::int64_t{1} << 62};

class Block::Core {
 public:
  Core(const BlockOptions& options, const SyncPolicy& sync, const Optimizer& optimizer, BufferPool& pool,
       BlockEvents& events)
      : options_(options),
        events_(events),
        pool_(pool),
        values_(options.elements, optimizer, pool),
        sums_(options.apply.ordered, pool) {
    Follow(sync, options.apply, options.coin_seed);
  }

  void OnInit(MemberKey from, Term term, Gradient values, TimePoint now);
  void OnPush(const PushEvent& push, Gradient gradient, TimePoint now);
  void OnAssign(const AssignEvent& assign, Gradient array);
  void OnAbsent(const AbsentEvent& absent, TimePoint now);
  void OnPull(const PullEvent& pull, TimePoint now);
  void OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now);
  void OnTimer(TimePoint now);
  void Switch(const SyncPolicy& sync, const ApplyMode& apply, std::uint64_t coin_seed, TimePoint now);
  void OnDisconnected(MemberKey who);
  std::string WhyWaiting() const;
  [[nodiscard]] bool IsDelayed(WorkerId worker) const { return pulls_.IsDelayed(worker); }
  [[nodiscard]] bool IsTimed() const { return wake_at_.has_value(); }
  BlockState Save() const;
  void Load(const BlockState& state);
  void NotifyAt(Iteration iteration);

  const BlockOptions& options() const { return options_; }
  const SyncPolicy& sync() const { return *sync_; }
  const Progress& progress() const { return progress_; }
  const Values& values() const { return values_; }
  Values& values() { return values_; }
  const BlockCounters& counters() const { return counters_; }
  std::size_t waiting() const { return pulls_.size(); }

 private:
  // Whether this push is the next of its life here; if not, says what it is instead.
  bool Admits(MemberKey from, Term term, Seq seq);
  // Whether the push is within the open iterations; if not, notes it and says so.
  bool FitsWindow(const PushEvent& push, TimePoint now);
  void Resume(const AbsentEvent& where, TimePoint now);
  // The worker's contribution to `iteration` is here, or its absence.
  void NoteSent(WorkerId worker, Iteration iteration, TimePoint now);
  // Idle marks hold only while all members step in the same order. A member that began later than others, and
  // models that leave iterations out, shift it.
  [[nodiscard]] bool KeepsOrder() const;
  // The worker says that an iteration is idle: what that frees without an advance.
  void ReleaseIdle(MemberKey from, TimePoint now);
  // Nothing if the gradient was taken back by its owner while it was read: then there was no push.
  std::optional<BlockVerdict> Take(const PushEvent& push, Gradient gradient);
  [[nodiscard]] std::optional<std::uint64_t> StalenessOf(const PushEvent& push, Iteration into) const;
  Values::Outcome Apply(const PushEvent& push, const Gradient& gradient);
  // The gradient as it would be at the values of now; null if it is to be stepped on as it is.
  BufferRef Compensated(const PushEvent& push, const Gradient& gradient);
  bool IsRefused(const PushEvent& push, const Gradient& gradient, bool late) const;
  // Nothing if the array was taken back by its owner while it was read.
  std::optional<BlockVerdict> Set(const AssignEvent& assign, Gradient array);
  // Stores and says the verdict, and does what it frees. The pusher hears of its push before anyone hears of
  // the values.
  void Conclude(MemberKey from, Seq seq, BlockVerdict verdict, TimePoint now);
  void CountVerdict(BlockVerdict verdict);

  void AdvanceWhilePossible(TimePoint now);
  // How far v_train may leap at once: `end`, or less.
  [[nodiscard]] Iteration StrideWithin(Iteration end, TimePoint now) const;
  void WakeAt(TimePoint when);
  // Applies what was summed for `iteration`, as d of so many members gave it.
  void Fold(Iteration iteration, std::uint32_t members);
  void FoldAll(std::uint32_t members_at_least);
  void NotifyIfReached();
  // What an advance has freed. The pulls among it have waited for `whom`.
  void Release(std::optional<WorkerId> whom, TimePoint now);
  // Answers the delayed pulls of a progress below this, which have waited for `whom`.
  void ReleaseBelow(Iteration progress, WorkerId whom, TimePoint now);
  void ReleaseBlocked(TimePoint now);
  // Says OPEN to those whose push fits now.
  void OpenWindow();
  // From here on pushes are beyond the open iterations.
  [[nodiscard]] Iteration WindowEnd() const;
  void AnswerOrWait(const PullEvent& pull, TimePoint now);
  // Whether the model lets this pull be answered now.
  bool Lets(const PullEvent& pull, TimePoint now);
  // Counts how long a delayed pull has waited, and returns it.
  Duration Settle(const WaitingPull& waiting, TimePoint now);
  // Takes the policies over; what is open, waiting or remembered stays as it is.
  void Follow(const SyncPolicy& sync, const ApplyMode& apply, std::uint64_t coin_seed);
  // Every member has gone. Initial values that are not here by now never come: an observer that waits for
  // them is told that there are none (version 0).
  bool IsDeserted() const { return epoch_ > Epoch(0) && progress_.MembersAt(kIterationEnd) == 0; }
  void Answer(const PullEvent& pull, WorkerId held_for = kNoWorker);
  void Say(MemberKey to, Seq seq, BlockVerdict verdict) {
    events_.OnVerdict(options_.id, options_.term, to, seq, verdict, progress_.v_train());
  }
  SyncView View(TimePoint now) const {
    return {.now = now, .v_train = progress_.v_train(), .advanced_at = advanced_at_, .progress = progress_};
  }

  BlockOptions options_;  // apply and coin_seed change with a switch
  const SyncPolicy* sync_ = nullptr;
  BlockEvents& events_;
  BufferPool& pool_;
  bool aggregate_ = false;
  bool sums_ahead_ = false;
  Late late_ = Late::kDrop;
  Values values_;
  OpenSums sums_;
  Ledger ledger_;
  Progress progress_;
  IdleIterations idle_;  // from v_train on
  WaitingPulls pulls_;
  WindowNotes notes_;
  KeptVersions kept_;
  Memory memory_;
  Epoch epoch_{0};
  bool advanced_ = false;      // since the last Release
  bool advanced_own_ = false;  // ... past an iteration that was not idle
  TimePoint advanced_at_;
  std::optional<TimePoint> wake_at_;  // asked for and not come
  Iteration notify_at_ = kIterationMax;
  BlockCounters counters_;
};

}  // namespace leeway
