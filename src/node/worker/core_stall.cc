// Why a wait takes so long: the shard of the block is asked, then the scheduler, each once and not for long.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/seconds.h"
#include "node/worker/core.h"

namespace leeway {
namespace {

// How long a peer may take to say why. Nothing waits for it but a line of a log.
constexpr Duration kWhyLimit = std::chrono::seconds(1);
constexpr std::size_t kInquiriesMax = 8;

}  // namespace

void WorkerNode::Core::ExplainWait(Explained done) {
  Wait wait = Waiting();
  if (wait.cause == Wait::Cause::kNothing || inquiries_.size() >= kInquiriesMax) {
    const std::string text = wait.text.empty() ? "nothing of the job (any more)" : wait.text;
    return due_.Later([done = std::move(done), text] { done(text, false); });
  }
  const std::uint64_t request = ++last_inquiry_;
  Inquiry& inquiry = inquiries_[request];
  inquiry.done = std::move(done);
  StallFacts& facts = inquiry.facts;
  facts.self = stance_.worker;
  facts.alone = std::ranges::all_of(roster_.present(),
                                    [&facts](std::uint32_t rank) { return rank == facts.self.value(); });
  facts.give_up_after_s = Seconds(options_.link.give_up_after);
  facts.scheduler_up = scheduler_.up();
  facts.scheduler_age_s = Seconds(env_.clock.Now() - scheduler_.last_heard());
  facts.shard = wait.name;
  const WorkerBlock* block = std::exchange(wait.block, nullptr);
  facts.wait = std::move(wait);
  if (block == nullptr) return AskScheduler(request);

  Link& link = ports_.Of(*block).link();
  facts.shard = link.peer();
  facts.shard_up = link.up();
  facts.sync = !block->model->sync.empty() ? block->model->sync : block->table->spec.sync;
  if (!facts.shard_up) return AskScheduler(request);
  wire::pb::Why why;
  why.set_request(request);
  why.set_block(block->id.value());
  link.SendControl(wire::Kind::kWhy, why);
  inquiry.timer = env_.timers.After(kWhyLimit, [this, request] {
    AskScheduler(request);
    due_.Run();
  });
}

void WorkerNode::Core::AskScheduler(std::uint64_t request) {
  Inquiry& inquiry = inquiries_.at(request);
  env_.timers.Cancel(std::exchange(inquiry.timer, {}));
  inquiry.asks_scheduler = true;
  const StallFacts& facts = inquiry.facts;
  wire::pb::Why why;
  why.set_request(request);
  for (const std::uint32_t rank : facts.wait.ranks) why.add_ranks(rank);
  if (facts.of_shard) why.mutable_ranks()->MergeFrom(facts.of_shard->missing());
  if (facts.wait.cause == Wait::Cause::kBarrier) {
    why.set_at_barrier(true);
    why.set_barrier(facts.wait.name);
  }
  const bool worthwhile =
      why.ranks_size() > 0 || why.at_barrier() || facts.wait.cause == Wait::Cause::kGathering;
  if (!facts.scheduler_up || !worthwhile) return EndInquiry(request);
  scheduler_.SendControl(wire::Kind::kWhy, why);
  inquiry.timer = env_.timers.After(kWhyLimit, [this, request] {
    EndInquiry(request);
    due_.Run();
  });
}

void WorkerNode::Core::OnWhyReply(const wire::pb::WhyReply& reply, bool of_scheduler) {
  const auto found = inquiries_.find(reply.request());
  if (!of_scheduler && survey_.Take(reply)) {
    if (survey_.IsAnswered()) EndSurvey();
    return;
  }
  if (found == inquiries_.end() || found->second.asks_scheduler != of_scheduler) return;  // too late
  if (of_scheduler) {
    found->second.facts.of_scheduler = reply;
    EndInquiry(reply.request());
  } else {
    found->second.facts.of_shard = reply;
    AskScheduler(reply.request());
  }
}

void WorkerNode::Core::EndInquiry(std::uint64_t request) {
  auto inquiry = inquiries_.extract(request);
  env_.timers.Cancel(inquiry.mapped().timer);
  const StallFacts& facts = inquiry.mapped().facts;
  due_.Later([done = std::move(inquiry.mapped().done), text = StallText(facts),
              members = IsForMembers(facts)] { done(text, members); });
}

void WorkerNode::Core::DropInquiries() {
  env_.timers.Cancel(std::exchange(survey_timer_, {}));
  for (const auto& [request, inquiry] : inquiries_) env_.timers.Cancel(inquiry.timer);
  inquiries_.clear();
}

}  // namespace leeway
