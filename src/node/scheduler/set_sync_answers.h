// SetSyncAnswers: the answers to rules that were set lately, by the life that asked.
//
// A life that has set a rule and lost its connection before the answer asks again. By then another life may
// have set another rule, which the first must not undo. So the answer comes from here, and the rule is not
// set again. The requests of a life rise. Bounded: forgets the lives that asked longest ago. Pure state; not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "leeway/status.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class SetSyncAnswers {
 public:
  static constexpr std::size_t kLivesMax = 1024;
  static constexpr std::size_t kAnswersMax = 4;  // of a life

  struct Answer {
    Status status;
    std::uint32_t tables = 0;
  };

  // The answer to this request; nothing if it is new. An error for a request whose answer is forgotten.
  [[nodiscard]] std::optional<Answer> Find(std::uint64_t life, std::uint64_t request) const;
  // REQUIRES: Find knows nothing of it.
  void Note(std::uint64_t life, std::uint64_t request, Answer answer);

  // The log: what was noted since the last call, and whether anything was; all; and back.
  bool AddChanges(wire::pb::LogRecord& record);
  void AddAll(wire::pb::LogRecord& record) const;
  void Apply(const wire::pb::LogRecord& record);

 private:
  struct Life {
    std::uint64_t life = 0;
    std::deque<std::pair<std::uint64_t, Answer>> answers;  // the newest last
    std::uint64_t logged = 0;                              // requests up to this are in the log
  };
  std::list<Life> lives_;  // the one that asked last is last
  std::map<std::uint64_t, std::list<Life>::iterator> by_life_;
  bool changed_ = false;  // since the last AddChanges
};

}  // namespace leeway
