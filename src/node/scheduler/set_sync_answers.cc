#include "node/scheduler/set_sync_answers.h"

#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"

namespace leeway {
namespace {

// The bytes kept of a refusal: enough to name the error, few enough for a thousand of them.
constexpr std::size_t kErrorBytesMax = 400;

wire::pb::LoggedSetSync LoggedAnswer(std::uint64_t life, std::uint64_t request,
                                     const SetSyncAnswers::Answer& answer) {
  wire::pb::LoggedSetSync logged;
  logged.set_life(life);
  logged.set_request(request);
  logged.set_tables(answer.tables);
  logged.set_code(static_cast<std::uint32_t>(answer.status.code()));
  logged.set_message(answer.status.message());
  return logged;
}

}  // namespace

std::optional<SetSyncAnswers::Answer> SetSyncAnswers::Find(std::uint64_t life, std::uint64_t request) const {
  const auto found = by_life_.find(life);
  if (found == by_life_.end()) return std::nullopt;
  const auto& answers = found->second->answers;
  if (request > answers.back().first) return std::nullopt;
  const auto same = std::ranges::find(answers, request, &std::pair<std::uint64_t, Answer>::first);
  if (same != answers.end()) return same->second;
  return Answer{FailedPrecondition("request {} was answered before, and what it was is forgotten: the status "
                                   "of the job has the rules in force",
                                   request),
                0};
}

void SetSyncAnswers::Note(std::uint64_t life, std::uint64_t request, Answer answer) {
  if (answer.status.message().size() > kErrorBytesMax) {
    answer.status = Status(answer.status.code(), answer.status.message().substr(0, kErrorBytesMax) + "...");
  }
  const auto [known, is_new] = by_life_.try_emplace(life);
  if (is_new) {
    known->second = lives_.insert(lives_.end(), {life, {}, 0});
  } else {
    lives_.splice(lives_.end(), lives_, known->second);
  }
  changed_ = true;
  auto& answers = lives_.back().answers;
  answers.emplace_back(request, std::move(answer));
  if (answers.size() > kAnswersMax) answers.pop_front();
  if (lives_.size() > kLivesMax) {
    by_life_.erase(lives_.front().life);
    lives_.pop_front();
  }
}

bool SetSyncAnswers::AddChanges(wire::pb::LogRecord& record) {
  if (!std::exchange(changed_, false)) return false;
  for (Life& life : lives_) {
    for (const auto& [request, answer] : life.answers) {
      if (request > life.logged) *record.add_set_syncs() = LoggedAnswer(life.life, request, answer);
    }
    life.logged = life.answers.back().first;
  }
  return true;
}

void SetSyncAnswers::AddAll(wire::pb::LogRecord& record) const {
  for (const Life& life : lives_) {
    for (const auto& [request, answer] : life.answers)
      *record.add_set_syncs() = LoggedAnswer(life.life, request, answer);
  }
}

void SetSyncAnswers::Apply(const wire::pb::LogRecord& record) {
  for (const wire::pb::LoggedSetSync& logged : record.set_syncs()) {
    if (Find(logged.life(), logged.request())) continue;
    Note(logged.life(), logged.request(), {StatusFromWire(logged.code(), logged.message()), logged.tables()});
    lives_.back().logged = logged.request();
  }
  changed_ = false;
}

}  // namespace leeway
