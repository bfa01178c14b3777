#include "node/worker/inquiries.h"

#include <utility>

namespace leeway {
namespace {

// How long a peer may take to say why. Nothing waits for it but a line of a log.
constexpr Duration kWhyLimit = std::chrono::seconds(1);
// How long shards may take to name the missing workers.
constexpr Duration kSurveyLimit = std::chrono::seconds(1);
constexpr std::size_t kInquiriesMax = 8;

}  // namespace

Inquiries::Inquiries(Timers& timers, DueCallbacks& due, Link& scheduler, Surveyed surveyed)
    : timers_(timers), due_(due), scheduler_(scheduler), surveyed_(std::move(surveyed)) {}
Inquiries::~Inquiries() { Drop(); }

bool Inquiries::full() const { return open_.size() >= kInquiriesMax; }

void Inquiries::Explain(StallFacts facts, Link* shard, BlockId block, Explained done) {
  const std::uint64_t request = ++last_request_;
  Inquiry& inquiry = open_[request];
  inquiry.facts = std::move(facts);
  inquiry.done = std::move(done);
  if (shard == nullptr || !shard->up()) return AskScheduler(request);
  wire::pb::Why why;
  why.set_request(request);
  why.set_block(block.value());
  shard->SendControl(wire::Kind::kWhy, why);
  inquiry.timer = timers_.After(kWhyLimit, [this, request] {
    AskScheduler(request);
    due_.Run();
  });
}

void Inquiries::AskScheduler(std::uint64_t request) {
  Inquiry& inquiry = open_.at(request);
  timers_.Cancel(std::exchange(inquiry.timer, {}));
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
  if (!facts.scheduler_up || !worthwhile) return End(request);
  scheduler_.SendControl(wire::Kind::kWhy, why);
  inquiry.timer = timers_.After(kWhyLimit, [this, request] {
    End(request);
    due_.Run();
  });
}

void Inquiries::OnReply(const wire::pb::WhyReply& reply, bool of_scheduler) {
  if (!of_scheduler && survey_.Take(reply)) {
    if (survey_.IsAnswered()) EndSurvey();
    return;
  }
  const auto found = open_.find(reply.request());
  if (found == open_.end() || found->second.asks_scheduler != of_scheduler) return;  // too late
  if (of_scheduler) {
    found->second.facts.of_scheduler = reply;
    End(reply.request());
  } else {
    found->second.facts.of_shard = reply;
    AskScheduler(reply.request());
  }
}

void Inquiries::End(std::uint64_t request) {
  auto inquiry = open_.extract(request);
  timers_.Cancel(inquiry.mapped().timer);
  const StallFacts& facts = inquiry.mapped().facts;
  due_.Later([done = std::move(inquiry.mapped().done), text = StallText(facts),
              members = IsForMembers(facts)] { done(text, members); });
}

void Inquiries::Survey(std::uint64_t round, const std::function<void()>& ask) {
  timers_.Cancel(std::exchange(survey_timer_, {}));
  survey_.Begin(round);
  ask();
  if (survey_.IsAnswered()) return EndSurvey();
  survey_timer_ = timers_.After(kSurveyLimit, [this] {
    survey_timer_ = {};
    EndSurvey();
    due_.Run();
  });
}

void Inquiries::AskShard(Link& shard, BlockId block, WaitSurvey::Question question) {
  if (!shard.up()) {
    wire::pb::OpenWait wait;
    wait.set_what(question.what);
    return survey_.Add(wait);
  }
  wire::pb::Why why;
  why.set_request(++last_request_);
  why.set_block(block.value());
  if (survey_.Ask(why.request(), std::move(question))) shard.SendControl(wire::Kind::kWhy, why);
}

void Inquiries::EndSurvey() {
  timers_.Cancel(std::exchange(survey_timer_, {}));
  surveyed_(survey_.End());
}

void Inquiries::Drop() {
  timers_.Cancel(std::exchange(survey_timer_, {}));
  for (const auto& [request, inquiry] : open_) timers_.Cancel(inquiry.timer);
  open_.clear();
}

}  // namespace leeway
