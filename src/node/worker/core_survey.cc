// The scheduler asks for whom this worker waits.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

// How long shards may take to say who is missing.
constexpr Duration kSurveyLimit = std::chrono::seconds(1);

}  // namespace

bool WorkerNode::Core::UserWaits() const {
  if (const std::optional<bool> said = events_.UserWaits()) return *said;
  return waits_.open() > 0 || requests_.AnyAwaited(step_.entered() ? 1 : 0) || phase_ == Phase::kLeaving ||
         phase_ == Phase::kFinishing;
}

bool WorkerNode::Core::IsSettled() const {
  if (events_.UserMayCompute() || inits_open_ > 0 || !reads_.empty()) return false;
  return tables_.FindBlockThat([](const WorkerBlock& block) {
    return block.moved || block.resuming || !block.pushes.is_idle();
  }) == nullptr;
}

void WorkerNode::Core::OnAsked(const wire::pb::Why& why) {
  env_.timers.Cancel(std::exchange(survey_timer_, {}));
  survey_.Begin(why.request());
  if (UserWaits()) SurveyWaits();
  if (survey_.IsAnswered()) return EndSurvey();
  survey_timer_ = env_.timers.After(kSurveyLimit, [this] {
    survey_timer_ = {};
    EndSurvey();
    due_.Run();
  });
}

void WorkerNode::Core::SurveyWaits() {
  for (const wire::pb::OpenWait& wait : requests_.Open()) survey_.Add(wait);
  if (phase_ == Phase::kFinishing && final_progress_ == kIterationMax) {
    wire::pb::OpenWait wait;
    wait.set_what("the other workers to leave the job");
    for (const std::uint32_t rank : roster_.present()) wait.add_missing(rank);
    survey_.Add(wait);
  }
  for (const std::unique_ptr<WorkerTable>& table : tables_.all()) {
    if (!table->waiters.empty() || !table->into.empty()) SurveyPull(*table);
    const auto held = std::ranges::find_if(
        table->blocks, [](const WorkerBlock& block) { return !block.pushes.empty() && block.pushes.held(); });
    if (held == table->blocks.end()) continue;
    const Iteration iteration = held->pushes.front().iteration;
    AskShard(*held, {fmt::format("table \"{}\" to take iteration {}", table->spec.name, iteration.value()),
                     iteration});
  }
}

void WorkerNode::Core::SurveyPull(const WorkerTable& table) {
  const auto open =
      std::ranges::find_if(table.blocks, [](const WorkerBlock& block) { return block.pull.open(); });
  // One block that lacks somebody holds the whole table up, unless parts of it may be left out.
  if (open == table.blocks.end() || partial_.partial().enabled()) {
    if (step_.entered()) return;  // it asks after the barrier
    wire::pb::OpenWait wait;
    wait.set_what(fmt::format("table \"{}\"", table.spec.name));
    return survey_.Add(wait);
  }
  const std::int64_t next = open->pull.progress().value() + 1;
  AskShard(*open, {table.IsOwnClock()
                       ? fmt::format("the values of table \"{}\" after its push {}", table.spec.name, next)
                       : fmt::format("the values of table \"{}\" for iteration {}", table.spec.name, next)});
}

void WorkerNode::Core::AskShard(const WorkerBlock& block, WaitSurvey::Question question) {
  Link& link = ports_.Of(block).link();
  if (!link.up()) {
    wire::pb::OpenWait wait;
    wait.set_what(question.what);
    return survey_.Add(wait);
  }
  wire::pb::Why why;
  why.set_request(++last_inquiry_);
  why.set_block(block.id.value());
  if (survey_.Ask(why.request(), std::move(question))) link.SendControl(wire::Kind::kWhy, why);
}

void WorkerNode::Core::EndSurvey() {
  env_.timers.Cancel(std::exchange(survey_timer_, {}));
  wire::pb::WhyReply reply = survey_.End();
  for (wire::pb::OpenWait& wait : *reply.mutable_open()) wait.set_what(ClippedMessage(wait.what()));
  // As it is now: what was asked meanwhile counts only if the user is still there.
  reply.set_acts(acts_);
  reply.set_waits(UserWaits());
  reply.set_settled(IsSettled());
  scheduler_.SendControl(wire::Kind::kWhyReply, reply);
}

}  // namespace leeway
