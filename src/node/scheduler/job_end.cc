#include "node/scheduler/job_end.h"

#include <utility>

#include "node/control_frame.h"

namespace leeway {

JobEnd::JobEnd(Env& env, const SchedulerOptions& options, std::function<bool()> shards_done,
               std::function<void(const Status&)> close)
    : env_(env),
      pause_(options.link.hello_timeout),
      limit_(options.expel_after),
      shards_done_(std::move(shards_done)),
      close_(std::move(close)) {}

JobEnd::~JobEnd() { env_.timers.Cancel(timer_); }

wire::pb::JobEnd JobEnd::Message() const {
  wire::pb::JobEnd end;
  end.set_code(static_cast<std::uint32_t>(outcome_.code()));
  end.set_message(ClippedMessage(outcome_.message()));
  return end;
}

bool JobEnd::MayWait() {
  const TimePoint now = env_.clock.Now();
  if (!waits_since_) waits_since_ = now;
  return now - *waits_since_ < limit_;
}

void JobEnd::Begin(const Status& why) {
  over_ = true;
  outcome_ = why;
}

void JobEnd::Linger(bool nobody) {
  lingers_ = true;
  since_ = env_.clock.Now();
  const Duration linger = nobody && ShardsKnow() ? Duration::zero() : pause_;
  timer_ = env_.timers.After(linger, [this] { OnLingered(); });
}

void JobEnd::OnGone(bool nobody) {
  if (lingers_ && nobody && ShardsKnow()) End();
}

void JobEnd::EndSoon() {
  env_.timers.Cancel(timer_);
  timer_ = env_.timers.After(Duration::zero(), [this] {
    timer_ = {};
    End();
  });
}

bool JobEnd::ShardsKnow() const {
  // A scheduler that was started again does not know which shards its predecessor has told.
  const bool must = outcome_.ok() || over_before_;
  return !must || shards_done_();
}

void JobEnd::OnLingered() {
  timer_ = {};
  // A shard is given up as it is while the job runs.
  if (ShardsKnow() || env_.clock.Now() - since_ >= limit_) return End();
  timer_ = env_.timers.After(pause_, [this] { OnLingered(); });
}

void JobEnd::End() {
  if (std::exchange(ended_, true)) return;
  env_.timers.Cancel(std::exchange(timer_, {}));
  close_(outcome_);
}

void JobEnd::AddTo(wire::pb::LoggedJob& job) const {
  job.set_over(over_);
  job.set_code(static_cast<std::uint32_t>(outcome_.code()));
  job.set_message(ClippedMessage(outcome_.message()));
}

void JobEnd::Apply(const wire::pb::LoggedJob& job) {
  over_ = over_before_ = job.over();
  outcome_ = StatusFromWire(job.code(), job.message());
}

}  // namespace leeway
