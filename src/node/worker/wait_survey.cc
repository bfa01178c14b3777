#include "node/worker/wait_survey.h"

#include <fmt/format.h>

#include <utility>

namespace leeway {

void WaitSurvey::Begin(std::uint64_t round) {
  waits_ = 0;
  questions_.clear();
  reply_.Clear();
  reply_.set_request(round);
}

bool WaitSurvey::TakeRoom() {
  if (waits_ > kWaitsMax) return false;
  ++waits_;
  if (waits_ <= kWaitsMax) return true;
  reply_.add_open()->set_what(fmt::format("more than {} things", kWaitsMax));
  return false;
}

bool WaitSurvey::Ask(std::uint64_t request, Question question) {
  if (!TakeRoom()) return false;
  questions_[request] = std::move(question);
  return true;
}

bool WaitSurvey::Take(const wire::pb::WhyReply& answer) {
  const auto found = questions_.extract(answer.request());
  if (found.empty()) return false;
  const Question& question = found.mapped();
  wire::pb::OpenWait& wait = *reply_.add_open();
  wait.set_what(question.what);
  wait.set_v_train(answer.v_train());
  // A block that a timer moves on waits for time. A pull that does not wait there has its answer under way.
  if (!answer.known() || answer.timed()) return true;
  if (!answer.initialized()) {
    wait.set_anyone(true);
  } else if (question.held ? Iteration(answer.v_train()) < *question.held : answer.delayed()) {
    *wait.mutable_missing() = answer.missing();
  }
  return true;
}

wire::pb::WhyReply WaitSurvey::End() {
  for (auto& [request, question] : questions_) reply_.add_open()->set_what(question.what);
  questions_.clear();
  return std::move(reply_);
}

}  // namespace leeway
