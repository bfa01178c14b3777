#include "node/scheduler/checkpoints.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "checkpoint/layout.h"

namespace leeway {
namespace {

constexpr std::int64_t kRoom = 2;
constexpr std::int64_t kRoomMax = 1 << 20;

}  // namespace

Checkpoints::Checkpoints(const CheckpointOptions& options, std::size_t shards)
    : options_(options), shards_(shards), room_(kRoom) {}

void Checkpoints::Start(std::uint64_t next, Iteration now_at, TimePoint now) {
  next_ = next;
  counted_from_ = now_at;
  timed_from_ = now;
}

// Whatever the iteration is.
bool Checkpoints::IsWanted(TimePoint now) const {
  return asked_ || (options_.every.count() > 0 && now - timed_from_ >= options_.every);
}

bool Checkpoints::IsDue(Iteration fastest, TimePoint now) const {
  if (!enabled()) return false;
  if (!under_way()) return IsWanted(now) || options_.every_iterations > 0;
  const bool ahead = replies_.empty() && fastest < Iteration(cut_->iteration());
  return ahead && IsWanted(now) && fastest + room_ < Iteration(cut_->iteration());
}

const wire::pb::Cut& Checkpoints::Begin(Iteration fastest, TimePoint now) {
  LW_CHECK(enabled());
  Iteration at = std::max(fastest, reached_) + room_;
  if (!IsWanted(now)) at = std::max(at, counted_from_ + static_cast<std::int64_t>(options_.every_iterations));
  replies_.clear();
  reached_at_.reset();
  cut_.emplace();
  cut_->set_checkpoint(next_++);
  cut_->set_folder(JoinPath(options_.folder, CheckpointName(cut_->checkpoint())));
  cut_->set_iteration(at.value());
  return *cut_;
}

bool Checkpoints::IsOverdue(Iteration fastest, TimePoint now) {
  if (!cut_) return false;
  const bool reached = !replies_.empty() || fastest >= Iteration(cut_->iteration());
  if (reached && !reached_at_) reached_at_ = now;
  return reached_at_ && now - *reached_at_ >= options_.limit;
}

const wire::pb::Cut* Checkpoints::OpenFor(ShardId shard) const {
  return cut_ && !replies_.contains(shard) ? &*cut_ : nullptr;
}

Checkpoints::Step Checkpoints::Take(ShardId shard, const wire::pb::CutReply& reply) {
  if (!cut_ || reply.checkpoint() != cut_->checkpoint()) return Step::kWait;
  if (reply.late() > 0) {
    reached_ = std::max(reached_, Iteration(reply.late()));
    room_ = std::min(room_ * 2, kRoomMax);
    cut_.reset();
    return Step::kTooLate;
  }
  if (!reply.error().empty()) {
    failure_ = reply.error();
    return Step::kFailed;
  }
  replies_[shard] = reply;
  return replies_.size() == shards_ ? Step::kWritten : Step::kWait;
}

void Checkpoints::Complete(TimePoint now) {
  counted_from_ = Iteration(cut_->iteration());
  last_ = Last{cut_->checkpoint(), counted_from_, cut_->folder()};
  room_ = std::max(room_ / 2, kRoom);
  asked_ = false;
  timed_from_ = now;
  ++completed_;
  cut_.reset();
}

void Checkpoints::GiveUp(const std::string& why, TimePoint now) {
  failure_ = why;
  asked_ = false;
  timed_from_ = now;
  ++given_up_;
  // The next one at its usual time, not at once: what went wrong may take a while to mend.
  counted_from_ = std::max(counted_from_, Iteration(cut_->iteration()));
  cut_.reset();
}

}  // namespace leeway
