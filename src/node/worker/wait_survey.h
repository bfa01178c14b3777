// WaitSurvey: the answer to the scheduler's question for whom this worker waits, while it is put together.
//
// The user of a worker is in one call at a time, but the node does not know which of the open ones that is.
// So the survey lists them all. Shards are asked who is missing in a block; the scheduler itself knows who is
// missing at a barrier. Pure state; thread rule: the node's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "leeway/ids.h"
#include "wire/control.pb.h"

namespace leeway {

class WaitSurvey {
 public:
  // Questions to shards in one survey. A worker that waits for more tables says so and is not analyzed.
  static constexpr std::size_t kQuestionsMax = 64;

  // Drops what was open.
  void Begin(std::uint64_t round);
  [[nodiscard]] bool IsOpen() const { return open_; }
  [[nodiscard]] bool IsFull() const { return questions_.size() >= kQuestionsMax; }
  // A wait that no shard has to be asked about.
  void Add(const wire::pb::OpenWait& wait) { *reply_.add_open() = wait; }

  // A question to a shard about a block that `what` waits for.
  struct Question {
    std::string what;
    // Of a pull: nothing. Of a push that the shard has sent back as too early: its iteration.
    std::optional<Iteration> held{};
  };
  void Ask(std::uint64_t request, Question question) { questions_[request] = std::move(question); }
  // The answer of a shard. False: this survey has not asked for it.
  bool Take(const wire::pb::WhyReply& answer);
  [[nodiscard]] bool IsAnswered() const { return questions_.empty(); }

  // Ends the survey. A question without an answer becomes a wait for nobody known.
  [[nodiscard]] wire::pb::WhyReply End();

 private:
  bool open_ = false;
  wire::pb::WhyReply reply_;
  std::map<std::uint64_t, Question> questions_;  // without an answer, by request
};

}  // namespace leeway
