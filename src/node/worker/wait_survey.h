// WaitSurvey: the answer to the scheduler's question which workers this one waits for, while it is put
// together.
//
// The user of a worker is in one call at a time, but the node does not know which of the open ones that is.
// So the survey lists them all. Shards name the workers that a block misses; the scheduler itself knows those
// that a barrier misses. Pure state; thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "leeway/ids.h"
#include "wire/control.pb.h"

namespace leeway {

class WaitSurvey {
 public:
  // Waits in one survey. If there are more, one wait for nobody known stands for the rest: it rules out a
  // standstill. The scheduler takes 256 waits at the most.
  static constexpr std::size_t kWaitsMax = 64;

  // Drops what was open.
  void Begin(std::uint64_t round);
  // A wait that no shard has to be asked about. Left out if there are too many.
  void Add(const wire::pb::OpenWait& wait) {
    if (TakeRoom()) *reply_.add_open() = wait;
  }

  // A question to a shard about a block that `what` waits for.
  struct Question {
    std::string what;
    // Of a pull: nothing. Of a push that the shard has sent back as too early: its iteration.
    std::optional<Iteration> held{};
  };
  // False: there are too many waits, and the shard is not to be asked.
  [[nodiscard]] bool Ask(std::uint64_t request, Question question);
  // The answer of a shard. False: this survey has not asked for it.
  bool Take(const wire::pb::WhyReply& answer);
  [[nodiscard]] bool IsAnswered() const { return questions_.empty(); }

  // Ends the survey. A question without an answer becomes a wait for nobody known.
  [[nodiscard]] wire::pb::WhyReply End();

 private:
  // Whether one more wait may be listed. The first that may not is listed as one for nobody known.
  [[nodiscard]] bool TakeRoom();

  std::size_t waits_ = 0;  // listed or asked about; kWaitsMax + 1: some are left out
  wire::pb::WhyReply reply_;
  std::map<std::uint64_t, Question> questions_;  // without an answer, by request
};

}  // namespace leeway
