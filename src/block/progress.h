// Progress: the members of a block, how far each is, and the iteration the block is still collecting.
//
// A member is one life of one worker and counts for iterations in [first, last). While it lives it has no
// last; when it is gone, last = 1 + the highest iteration it sent, so that what it gave counts in both count
// and N. A dead one counts up to v_train at least: as absent from iterations that did not wait for it.
//
// Conditions ask for MembersAt, steps are divided by StepMembersAt. They differ in members that have finished
// (left because their data had ended): nobody waits for them any more, but the steps of the other members
// must not grow. docs/decisions/0025 has the measurements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "block/block_events.h"
#include "block/block_state.h"
#include "block/iteration_multiset.h"
#include "block/rank_table.h"
#include "leeway/sync_model.h"

namespace leeway {

class Progress final : public ProgressView {
 public:
  enum class Standing : std::uint8_t {
    kMember,
    kGone,      // was one; may pull as an observer
    kReplaced,  // a newer life of this worker is known
    kUnknown,   // not heard of (yet)
  };

  // The whole roster. A life missing from it is gone. Returns the lives that this ended.
  std::vector<MemberKey> SetMembers(std::span<const MemberState> roster);
  // The member has sent iteration i, and with it every one before. Lower ones than it sent before change
  // nothing. REQUIRES: standing of the worker's newest life is kMember.
  void Sent(WorkerId worker, Iteration i, TimePoint now);
  // The member's pull waited here for so long. That is not its own pace, if it waits for its pulls.
  void Held(WorkerId worker, Duration held);
  // The member sends while its pull waits: it computes meanwhile (partial pull, a table that it does not
  // use). From now on the waits of its pulls say nothing of its pace.
  void GoesOn(WorkerId worker);
  // The member will send nothing up to i any more, since it has tried a later one. REQUIRES as Sent.
  void Skipped(WorkerId worker, Iteration i);

  // Whether v_train may rise by 1. Some member has sent v_train or a later iteration, or live members have
  // sent nothing and all of them begin after v_train. Never when nobody is live and no member that is gone
  // counts from v_train on.
  [[nodiscard]] bool MayPass() const;
  // The next iteration above v_train whose counts can differ from those at v_train. REQUIRES: MayPass().
  [[nodiscard]] Iteration StrideEnd() const;
  // REQUIRES: v_train < i <= StrideEnd().
  void AdvanceTo(Iteration i);

  [[nodiscard]] ProgressState Save() const;
  // REQUIRES: nobody was a member yet.
  void Load(const ProgressState& state);

  [[nodiscard]] Iteration v_train() const { return v_train_; }
  // Whether all live members count from the same iteration on.
  [[nodiscard]] bool BeganTogether() const {
    return firsts_.empty() || firsts_.lowest() == firsts_.highest();
  }
  // Whether this worker's newest life counts from a later iteration on than another live member. REQUIRES:
  // the worker is known.
  [[nodiscard]] bool BeganLater(WorkerId worker) const {
    return !firsts_.empty() && FirstOf(worker) > firsts_.lowest();
  }
  // Whether anyone is left who could still send something.
  [[nodiscard]] bool any_live() const { return !progress_.empty(); }
  [[nodiscard]] Standing StandingOf(MemberKey life) const;
  // The first iteration that the worker's newest life counts for. REQUIRES: the worker is known.
  [[nodiscard]] Iteration FirstOf(WorkerId worker) const;
  // The pushes of a life that are here. Nothing for a life that others have followed here: all of its pushes
  // are in the block.
  [[nodiscard]] std::optional<HeldLife> HeldOf(MemberKey life) const;
  // The N of lr/N and d/N for a gradient of iteration i: the members of i, and those that finished before i.
  // Exact for every i that a member can still send.
  [[nodiscard]] std::uint32_t StepMembersAt(Iteration i) const;
  // Members that iteration v_train waits for, by rank.
  [[nodiscard]] std::vector<WorkerId> Missing() const;

  std::uint32_t CountAt(Iteration i) const override;
  std::uint32_t MembersAt(Iteration i) const override;
  std::optional<Iteration> ProgressOf(WorkerId worker) const override;
  Iteration Fastest() const override;
  Iteration Slowest() const override;
  std::optional<Duration> PushInterval(WorkerId worker) const override;
  std::optional<WorkerId> LastSlowest() const override { return IfLive(last_slowest_); }
  std::optional<WorkerId> LastFastest() const override { return IfLive(last_fastest_); }
  std::uint32_t TakenSinceAdvance() const override { return taken_; }

 private:
  // One line of memory: every push and pull looks at that of another worker.
  struct alignas(64) Life {
    Incarnation incarnation{};
    bool live : 1 = false;
    bool silent : 1 = true;     // has sent nothing
    bool goes_on : 1 = false;   // while its pulls are held
    bool saved : 1 = false;     // came with a saved state
    bool loaded : 1 = false;    // ... and has said nothing since
    bool finished : 1 = false;  // left because its data had ended
    Iteration first{};
    Iteration progress{};  // first - 1 before the first
    std::optional<TimePoint> last_push{};
    std::optional<Duration> push_interval{};
    Duration held{};  // since the last push
  };
  static_assert(sizeof(Life) == 64);

  // The end of a life that another one follows.
  struct Former {
    Incarnation incarnation{};
    HeldLife held;
  };

  void Begin(const MemberState& member);
  [[nodiscard]] static HeldLife Held(const Life& life);
  void Count(const Life& life);
  void End(Life& life, bool finished);
  void Finish(Life& life);
  // No member can send a lower iteration than this, nor is a lower one open.
  [[nodiscard]] Iteration Floor() const;
  [[nodiscard]] Life& Member(WorkerId worker);
  void Raise(Life& life, Iteration i);
  [[nodiscard]] Iteration Limit() const;
  [[nodiscard]] std::optional<WorkerId> IfLive(std::optional<WorkerId> worker) const;
  [[nodiscard]] std::uint32_t EndedAt(Iteration i) const;
  void CountVTrain();

  Iteration v_train_{0};
  Iteration highest_sent_{-1};
  bool untouched_ = true;               // nobody has sent anything, and nothing has advanced
  bool loaded_ = false;                 // the block began with a saved state
  RankTable<Life> lives_;               // the newest of each worker
  std::map<WorkerId, Former> former_;   // the last one before the newest, where there was one
  IterationMultiset progress_;          // of live members
  IterationMultiset firsts_;            // of live members
  IterationMultiset silent_firsts_;     // of live members that have sent nothing
  IterationMultiset ended_firsts_;      // of gone members that still count somewhere from Floor() on,
  IterationMultiset ended_lasts_;       //   and their lasts
  IterationMultiset finished_;          // of finished members: the iteration after the last that they sent
  std::uint32_t count_at_v_train_ = 0;  // asked on every push, so kept
  std::uint32_t members_at_v_train_ = 0;
  std::optional<WorkerId> last_sender_, last_slowest_, last_fastest_;
  std::uint32_t taken_ = 0;  // since the last advance, late ones not counted
};

}  // namespace leeway
