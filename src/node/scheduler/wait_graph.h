// WaitGraph: which workers wait for which others, and which make no progress.
//
// Reports say whether a worker's user is in a call that waits, and count its calls. The scheduler asks
// workers that have waited for long which workers they wait for. It asks in rounds: a round begins when the
// one before has all its answers. The answers show two things.
//
// Idle workers: others wait for them, they beat, and make no call. They are named once a minute, and given up
// after a limit if the user has set one.
//
// A standstill: every member waits for another one. Three rounds must agree. An answer of the second round
// was begun after every member had said in the first one that it waits and has nothing under way. If each has
// made no call since, nothing is left that could end a wait. So a late report or a slow link is never taken
// for a standstill, however late it is (decision 32).
//
// Pure state, told of events by the scheduler node. Lives as long as that.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/ids.h"

namespace leeway {

class WaitGraph {
 public:
  static constexpr int kRoundsAlike = 3;

  // Rounds are about as long as a beat.
  explicit WaitGraph(Duration beat) : ask_after_(3 * beat), round_limit_(5 * beat) {}

  // A worker that is connected.
  struct Worker {
    WorkerId rank;
    std::uint64_t life = 0;
    bool counted = true;  // others wait for it in blocks and at barriers
    Duration limit = {};  // how long it may make no call while others wait; 0: as long as it beats
  };
  // One thing that a worker waits for, and the workers that could end the wait; empty: not known.
  struct Open {
    std::string what;
    Iteration v_train{};
    std::vector<WorkerId> missing;
  };
  // The waits of a worker, as it says.
  struct Answer {
    std::uint64_t acts = 0;
    bool waits = false;
    bool settled = false;
    std::vector<Open> open;
  };

  void OnReport(WorkerId rank, std::uint64_t life, bool waits, std::uint64_t acts, TimePoint now);
  void OnAnswer(WorkerId rank, std::uint64_t life, std::uint64_t round, Answer answer);
  // The scheduler stood still for so long: nobody was idle meanwhile.
  void DiscountPause(Duration pause);

  // Begins a round, if no round is open and a worker has waited for long. Returns its number, and the workers
  // to ask.
  struct Round {
    std::uint64_t number = 0;
    std::vector<WorkerId> asked;
  };
  [[nodiscard]] std::optional<Round> BeginRound(std::span<const Worker> workers, TimePoint now);
  // Ends the round if all have answered. If the job stands still, returns in words which worker waits for
  // what. `workers` are all that are counted, and connected ones that are not. `all_here`: no member is away.
  // `epoch` counts changes of membership.
  [[nodiscard]] std::optional<std::string> EndRound(std::span<const Worker> workers, bool all_here,
                                                    Epoch epoch, TimePoint now);

  // A worker that beats, is in no call that waits, and is waited for.
  struct Idle {
    WorkerId rank;
    Duration idle;                  // since its last call
    Duration waited;                // by the one that has waited for it longest
    std::vector<WorkerId> waiters;  // by rank
    Duration limit;
  };
  [[nodiscard]] std::vector<Idle> IdleOnes(std::span<const Worker> workers, TimePoint now) const;
  // True once in each `every` that the worker is waited for.
  [[nodiscard]] bool IsReminderDue(const Idle& who, Duration every, TimePoint now);
  // How long the worker has made no call; nothing if it is in one that waits, or has not reported.
  [[nodiscard]] std::optional<Duration> IdleFor(WorkerId rank, TimePoint now) const;

 private:
  struct State {
    std::uint64_t life = 0;
    bool waits = false;
    std::uint64_t acts = 0;
    TimePoint since;               // when it was first seen like this
    std::optional<Answer> answer;  // the last one that it gave like this
    TimePoint reminded;
  };
  // The waits of every member; empty if one member is not held up by members alone.
  [[nodiscard]] std::string Picture(std::span<const Worker> workers, Epoch epoch) const;
  [[nodiscard]] std::string Describe(std::span<const Worker> workers) const;
  [[nodiscard]] const State* Find(const Worker& worker) const;

  const Duration ask_after_, round_limit_;
  std::map<WorkerId, State> states_;
  std::uint64_t round_ = 0;
  bool open_ = false;
  TimePoint began_;
  std::map<WorkerId, std::optional<Answer>> answers_;  // of the round, by worker that was asked
  std::string picture_;                                // of the round before
  int alike_ = 0;                                      // rounds
};

}  // namespace leeway
