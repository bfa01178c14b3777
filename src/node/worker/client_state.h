// ClientState: the part of a checkpoint that is this worker's client's own. Asks for it, writes it into a
// file while training goes on, says what became of it; and reads the one that a job began from.
//
// The client is asked only if it keeps a state (WorkerOptions). It gives it between two iterations, when
// it is about to begin the one that the scheduler named (or a later one, unless the cut is exact). One
// checkpoint at a time: a new one ends the one under way. Thread rule: the node's; callbacks that come after
// its end find out by themselves.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/rank_file.h"
#include "leeway/env.h"
#include "leeway/ids.h"
#include "leeway/options.h"
#include "leeway/status.h"
#include "node/worker/cut_answer.h"
#include "node/worker/worker_identity.h"
#include "wire/control.pb.h"

namespace leeway {

class ClientState {
 public:
  struct Events {
    std::function<void(const wire::pb::RankState&)> answer;  // to the scheduler, once for every OnCut
    std::function<Iteration()> settled;                      // every push below it has its verdict now
    std::function<void()> decided;  // the answer is known, told or not: no state is being written
    // The state is wanted when the client is about to begin this iteration or a later one; kIterationMax: not
    // any more.
    std::function<void(Iteration from)> wanted;
  };
  ClientState(Env& env, const WorkerOptions& options, Events events);
  ~ClientState();

  // `now` is the iteration that the worker is in. It `lacks` gradients if some of before the cut did not
  // reach the blocks in time for it. Asked again, a checkpoint that is written is answered again, and one
  // under way goes on.
  void OnCut(const wire::pb::Cut& cut, const WorkerIdentity& self, Iteration now, bool lacks = false);
  [[nodiscard]] bool IsWanted(Iteration now) const;
  // Takes the state if it is wanted; else does nothing. An empty state means that the client has nothing.
  void Give(Iteration now, RankBytes state, bool lacks = false);
  // The client begins no further iteration. A cut that it has not reached hears that it has no state. A cut
  // that it has reached without giving its state hears that it is too late. A state that is being written is
  // answered when it is written.
  void Leave(Iteration now);
  // Tells the scheduler the answer, if there is one that was not told and may be told now.
  void AnswerIfSettled();
  // Since when a state is being written; nothing: none is.
  [[nodiscard]] std::optional<TimePoint> writing_since() const;
  // The worker does not finish yet, because its state is being written.
  [[nodiscard]] bool HoldsUpFinish() const;

  // Reads and checks the state that the rank gave to a checkpoint. An error names the file.
  void Read(const wire::pb::RankRestore& from, WorkerId rank, std::function<void(const Status&)> done);
  [[nodiscard]] bool reading() const { return reading_; }
  [[nodiscard]] const RankBytes& restored() const { return restored_; }  // null: none

 private:
  struct Writing;

  [[nodiscard]] bool IsPast(const wire::pb::Cut& cut, Iteration now) const;
  void Write(const std::shared_ptr<Writing>& writing);
  void Answer();
  void Tell();

  Env& env_;
  const Events events_;
  const std::string job_;
  const Duration give_up_after_;
  const bool keeps_;
  bool left_ = false;
  bool reading_ = false;
  RankFileHead head_;                  // of the last checkpoint
  std::optional<wire::pb::Cut> open_;  // the client has not given its state to it
  std::shared_ptr<Writing> writing_;   // shared with calls to Env that are under way
  wire::pb::RankState answer_;         // to the last checkpoint
  CutAnswer untold_;
  RankBytes restored_;
  std::shared_ptr<const char> alive_ = std::make_shared<const char>();  // watched by calls under way
};

}  // namespace leeway
