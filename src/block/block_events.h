// BlockEvents: the events that a block takes and those that it raises, as plain structs.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

#include "block/buffer_pool.h"
#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/optimizer.h"
#include "leeway/verdict.h"

namespace leeway {

// One life of one worker.
struct MemberKey {
  WorkerId worker{};
  Incarnation incarnation{};
  friend auto operator<=>(const MemberKey&, const MemberKey&) = default;
};

struct MemberState {
  MemberKey key{};
  Iteration first{};
  bool gone = false;
  bool finished = false;  // gone because its data had ended: steps are still divided by it
};

// The pushes of one life that a block holds.
struct HeldLife {
  Iteration iteration{
      -1};             // the highest one; of a silent life the one before its first; -1: it is not known here
  bool silent = true;  // it has sent nothing
  bool patched = false;  // the block was taken back to a saved state, and the life has said nothing since
  friend bool operator==(const HeldLife&, const HeldLife&) = default;
};

struct PushEvent {
  MemberKey from{};
  Term term{};
  Seq seq{};
  Iteration iteration{};
  Version base_version{};
  std::uint32_t samples = 1;
  std::uint64_t steps = 0;
  Hyper hyper{};
};

struct AbsentEvent {
  MemberKey from{};
  Term term{};
  Seq seq{};
  Iteration iteration{};
  bool idle = false;  // another optimizer steps in this iteration: it counts in no lead (see IdleIterations)
};

// A worker goes on under a new term: pushes of iterations before `next` that the block lacks do not come.
struct ResumeEvent {
  MemberKey from{};
  Term term{};
  Iteration next{};
};

// Sets one array of the block: 0 is its values, 1 and on are those of its optimizer, which has run `steps`
// times then.
struct AssignEvent {
  MemberKey from{};
  Term term{};
  Seq seq{};
  Version base_version{};
  std::uint64_t steps = 0;
  std::uint8_t array = 0;
};

struct PullEvent {
  MemberKey from{};
  Term term{};
  Iteration progress{};
  Version cached_version{};
  Epoch epoch_min{};
  bool observer = false;
  float significance = 1.0F;
  Ask ask{};                               // comes back with the answer
  std::optional<std::uint8_t> priority{};  // so does this
};

struct BlockAnswer {
  Ask ask{};
  std::optional<std::uint8_t> priority{};  // of the pull
  Iteration v_train{};
  Version version{};
  ConstBufferRef values{};   // null: unchanged, the worker holds `version`, or no gradient
  Iteration mean{-1};        // relay: the iteration whose mean `version` is; -1: of none
  bool no_gradient = false;  // ... in which nobody gave a gradient
  // The worker whose contribution, or end, released the pull; kNoWorker: it was not held up for a worker.
  WorkerId held_for = kNoWorker;
  Duration held{};  // how long the model made the pull wait
};

// The events that a block raises, always during one of its own calls.
class BlockEvents {
 public:
  virtual ~BlockEvents() = default;
  // Of a push or absent push. Seq 0 concerns no push: kInitialized answers an Init; kMoved and kFenced with
  // seq 0 answer an Init, a pull or a resume. kGap carries the last seq taken, kOpen that of the push which
  // got kWindow.
  virtual void OnVerdict(BlockId block, Term term, MemberKey to, Seq seq, Verdict verdict,
                         Iteration v_train) = 0;
  virtual void OnAnswer(BlockId block, Term term, MemberKey to, const BlockAnswer& answer) = 0;
  // Answers OnResume: pushes of this life up to `last` have been taken.
  virtual void OnResumed(BlockId block, Term term, MemberKey to, Seq last, Iteration v_train) = 0;
  // A gradient was applied or summed. Its staleness: how many versions come between the one that it was
  // computed on and the one that it changes. Not called where the push names no version that is known here.
  // For statistics only: an implementation may ignore it.
  virtual void OnStaleness(WorkerId /*from*/, std::uint64_t /*versions*/) {}
  // Call OnTimer at `when`, or later; a new call replaces the one before.
  virtual void OnWakeAt(BlockId block, TimePoint when) = 0;
  // The block has reached the iteration that NotifyAt named, and is as it is before anything of that
  // iteration counts.
  virtual void OnReached(BlockId block) = 0;
};

}  // namespace leeway
