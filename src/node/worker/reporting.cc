#include "node/worker/reporting.h"

#include <algorithm>
#include <utility>

#include "node/control_frame.h"
#include "node/seconds.h"
#include "node/worker/open_waits.h"

namespace leeway {

Reporting::Reporting(Timers& timers, const LinkOptions& options, Link& scheduler,
                     const WorkerCounters& counters, const UserActivity& user, DueCallbacks& due,
                     Events events)
    : timers_(timers),
      beat_(options.beat),
      give_up_after_(options.give_up_after),
      scheduler_(scheduler),
      counters_(counters),
      user_(user),
      due_(due),
      events_(std::move(events)),
      inquiries_(timers, due, scheduler, [this](wire::pb::WhyReply reply) { OnSurveyed(std::move(reply)); }) {
}

void Reporting::Start() {
  timer_ = timers_.After(beat_, [this] { OnBeat(); });
}

void Reporting::Stop() {
  timers_.Cancel(std::exchange(timer_, {}));
  inquiries_.Drop();
}

void Reporting::OnBeat() {
  Report();
  events_.beat();
  Start();
  due_.Run();
}

void Reporting::Report() const {
  if (!scheduler_.up()) return;
  const WorkerView view = events_.view();
  scheduler_.SendControl(wire::Kind::kReport, reports_.Make(view, counters_, UserWaits(view)));
}

bool Reporting::UserWaits(const WorkerView& view) const {
  if (const std::optional<bool> said = user_.UserWaits()) return *said;
  return view.waits.open() > 0 || view.requests.AnyAwaited(view.step.entered() ? 1 : 0) ||
         view.phase == WorkerPhase::kLeaving || view.phase == WorkerPhase::kFinishing;
}

void Reporting::Explain(WorkerId self, Explained done) {
  const WorkerView view = events_.view();
  Wait wait = FindWait(view);
  if (wait.cause == Wait::Cause::kNothing || inquiries_.full()) {
    const std::string text = wait.text.empty() ? "nothing of the job (any more)" : wait.text;
    due_.Later([done = std::move(done), text] { done(text, false); });
    return due_.Run();
  }
  StallFacts facts;
  facts.self = self;
  facts.alone =
      std::ranges::all_of(view.roster.present(), [self](std::uint32_t rank) { return rank == self.value(); });
  facts.give_up_after_s = Seconds(give_up_after_);
  facts.scheduler_up = scheduler_.up();
  facts.scheduler_age_s = Seconds(view.now - scheduler_.last_heard());
  facts.shard = wait.name;
  const WorkerBlock* block = std::exchange(wait.block, nullptr);
  facts.wait = std::move(wait);
  Link* shard = nullptr;
  if (block != nullptr) {
    shard = &view.ports.Of(*block).link();
    facts.shard = shard->peer();
    facts.shard_up = shard->up();
    facts.sync = !block->model->sync.empty() ? block->model->sync : block->table->spec.sync;
  }
  inquiries_.Explain(std::move(facts), shard, block == nullptr ? BlockId() : block->id, std::move(done));
  due_.Run();
}

void Reporting::OnSurvey(const wire::pb::Why& why) {
  inquiries_.Survey(why.request(), [this] {
    const WorkerView view = events_.view();
    if (UserWaits(view)) AddOpenWaits(view, inquiries_);
  });
}

void Reporting::OnSurveyed(wire::pb::WhyReply reply) {
  const WorkerView view = events_.view();
  for (wire::pb::OpenWait& wait : *reply.mutable_open()) wait.set_what(ClippedMessage(wait.what()));
  // As it is now: what was asked meanwhile counts only if the user is still there.
  reply.set_acts(reports_.acts());
  reply.set_waits(UserWaits(view));
  // Nothing is under way, and no thread of the user computes.
  reply.set_settled(!user_.UserMayCompute() && IsSettled(view));
  scheduler_.SendControl(wire::Kind::kWhyReply, reply);
}

}  // namespace leeway
