// Block::Core: the parts of a block, and the rules between them.
//
// block_push.cc has what becomes of a push, block_pull.cc who is answered when, block_advance.cc when an
// iteration is over and what is applied then, block_why.cc what waits for whom, for people; block.cc the
// rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "block/block.h"
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
        sync_(sync),
        events_(events),
        aggregate_(options.apply.kind == ApplyMode::Kind::kAggregate),
        late_(sync.late.value_or(aggregate_ ? Late::kDrop : Late::kApply)),
        values_(options.elements, optimizer, pool),
        sums_(options.apply.ordered, pool) {}

  void OnInit(MemberKey from, Term term, BufferRef values, TimePoint now);
  void OnPush(const PushEvent& push, BufferRef gradient, TimePoint now);
  void OnAbsent(const AbsentEvent& absent, TimePoint now);
  void OnPull(const PullEvent& pull, TimePoint now);
  void OnMembers(Epoch epoch, std::span<const MemberState> members, TimePoint now);
  void OnTimer(TimePoint now);
  void OnDisconnected(MemberKey who);
  std::string WhyWaiting() const;
  BlockState Save() const;
  void Load(const BlockState& state);
  void NotifyAt(Iteration iteration);

  const BlockOptions& options() const { return options_; }
  const Progress& progress() const { return progress_; }
  const Values& values() const { return values_; }
  const BlockCounters& counters() const { return counters_; }
  std::size_t waiting() const { return pulls_.size(); }

 private:
  // Whether this push is the next of its life here; if not, says what it is instead.
  bool Admits(MemberKey from, Term term, Seq seq);
  // Whether the push is within the open iterations; if not, notes it and says so.
  bool FitsWindow(const PushEvent& push, TimePoint now);
  void Resume(const AbsentEvent& where, TimePoint now);
  BlockVerdict Take(const PushEvent& push, BufferRef gradient);
  bool IsRefused(const PushEvent& push, const Buffer& gradient, bool late) const;
  // Stores and says the verdict, and does what it frees. The pusher hears of its push before anyone hears of
  // the values.
  void Conclude(MemberKey from, Seq seq, BlockVerdict verdict, TimePoint now);
  void CountVerdict(BlockVerdict verdict);

  void AdvanceWhilePossible(TimePoint now);
  void Fold(Iteration iteration);
  void NotifyIfReached();
  void Release();
  void ReleaseBlocked(TimePoint now);
  void AnswerOrWait(const PullEvent& pull, TimePoint now);
  // Every member has gone. Initial values that are not here by now never come: an observer that waits for
  // them is told that there are none (version 0).
  bool IsDeserted() const { return epoch_ > Epoch(0) && progress_.MembersAt(kIterationEnd) == 0; }
  void Answer(const PullEvent& pull);
  void Say(MemberKey to, Seq seq, BlockVerdict verdict) {
    events_.OnVerdict(options_.id, options_.term, to, seq, verdict, progress_.v_train());
  }
  SyncView View(TimePoint now) const {
    return {.now = now, .v_train = progress_.v_train(), .progress = progress_};
  }

  const BlockOptions options_;
  const SyncPolicy& sync_;
  BlockEvents& events_;
  const bool aggregate_;
  const Late late_;
  Values values_;
  OpenSums sums_;
  Ledger ledger_;
  Progress progress_;
  WaitingPulls pulls_;
  WindowNotes notes_;
  Memory memory_;
  Epoch epoch_{0};
  bool advanced_ = false;  // since the last Release
  Iteration notify_at_ = kIterationMax;
  BlockCounters counters_;
};

}  // namespace leeway
