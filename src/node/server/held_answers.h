// HeldAnswers: the answers to workers that want only the newest values of a block (late_pull=withdraw).
//
// Two frames at a time are on their way to such a worker, so that one is ready when the other has left. The
// answers behind them wait here, where the worker's next pull of the same block takes them back: a worker
// that asks anew has gone on without them. A transport drops the pins of a frame when its payload has left,
// and then the next frame follows. Thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "block/block_events.h"
#include "leeway/env.h"
#include "leeway/pinned.h"
#include "wire/messages.h"

namespace leeway {

class HeldAnswers {
 public:
  // Borrows `timers`. `more` is called when further frames may leave, never from inside a call.
  HeldAnswers(Timers& timers, std::function<void()> more) : timers_(timers), more_(std::move(more)) {}
  ~HeldAnswers() { timers_.Cancel(timer_); }
  HeldAnswers(const HeldAnswers&) = delete;
  HeldAnswers& operator=(const HeldAnswers&) = delete;

  // This life wants only the newest values, and asks anew: takes back the answer of an earlier pull.
  void OnPull(MemberKey from, BlockId block, Ask ask);
  // Whether answers to this life wait here.
  [[nodiscard]] bool IsFor(MemberKey to) const { return !lanes_.empty() && lanes_.contains(to); }
  // Takes an answer, in place of one for the same block. `values` null: unchanged. REQUIRES: IsFor.
  void Hold(MemberKey to, const wire::AnswerEntry& answer, ConstBufferRef values);
  // The lives whose next frame may leave.
  [[nodiscard]] std::vector<MemberKey> TakeReady();
  // Takes the entries of the next frame, and its payload of at most `bytes_max` or of one answer. False: none
  // may leave now.
  [[nodiscard]] bool TakeFrame(MemberKey to, std::uint64_t bytes_max, wire::Answers& answers,
                               std::vector<Pinned>& payload);
  // The connection of this life is gone: it asks again on the next one.
  void Forget(MemberKey who) { lanes_.erase(who); }
  // Answers that were taken back.
  [[nodiscard]] std::uint64_t withdrawn() const { return withdrawn_; }

 private:
  static constexpr int kUnderWayMax = 2;

  struct Held {
    wire::AnswerEntry answer;
    ConstBufferRef values;
  };
  // The answers to one life.
  struct Lane {
    MemberKey to;
    std::map<std::uint64_t, Held> waiting;  // in the order in which they came
    std::map<BlockId, std::uint64_t> place;
    std::uint64_t next = 0;
    int under_way = 0;  // frames that have not left yet
  };
  // The values of one frame. Ends with its last pin.
  struct Frame {
    ~Frame();
    std::vector<ConstBufferRef> values;
    std::weak_ptr<Lane> lane;
    HeldAnswers* owner = nullptr;  // lives while `lane` does
  };

  void Drop(Lane& lane, BlockId block);
  void OnLeft(Lane& lane);

  Timers& timers_;
  const std::function<void()> more_;
  std::map<MemberKey, std::shared_ptr<Lane>> lanes_;  // shared: a frame asks whether its lane is still there
  std::vector<MemberKey> ready_;
  TimerId timer_;
  std::uint64_t withdrawn_ = 0;
};

}  // namespace leeway
