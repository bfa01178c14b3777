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
  next_ = std::max(next_, next);
  if (first_ == 0) first_ = next_;
  counted_from_ = std::max(counted_from_, now_at);
  timed_from_ = now;
}

bool Checkpoints::IsWanted(Iteration fastest, Moment moment, TimePoint now) const {
  if (asked_ || (options_.every.count() > 0 && now - timed_from_ >= options_.every)) return true;
  const auto every = static_cast<std::int64_t>(options_.every_iterations);
  return moment == Moment::kNearby && every > 0 && fastest >= counted_from_ + every;
}

bool Checkpoints::IsDue(Iteration fastest, Moment moment, TimePoint now) const {
  if (!enabled()) return false;
  const bool wanted = IsWanted(fastest, moment, now);
  const bool same_for_all = moment == Moment::kExact || moment == Moment::kSkipping;
  if (!under_way()) return wanted || (same_for_all && options_.every_iterations > 0);
  return IsAhead(fastest) && wanted && fastest + room_ < Iteration(cut_->iteration());
}

bool Checkpoints::IsAhead(Iteration fastest) const {
  return !cut_->soon() && replies_.empty() && fastest < Iteration(cut_->iteration());
}

const wire::pb::Cut& Checkpoints::Begin(Iteration fastest, Moment moment, TimePoint now) {
  LW_CHECK(enabled());
  Iteration at = std::max(fastest, reached_) + room_;
  const bool wanted = IsWanted(fastest, moment, now);
  if (!wanted) at = std::max(at, counted_from_ + static_cast<std::int64_t>(options_.every_iterations));
  // Where blocks are taken at once, the next cut counts from where the fastest worker is now.
  counts_as_ = wanted && moment == Moment::kNearby ? fastest : at;
  replies_.clear();
  reached_at_.reset();
  published_from_.reset();
  cut_.emplace();
  cut_->set_checkpoint(next_++);
  cut_->set_folder(JoinPath(options_.folder, CheckpointName(cut_->checkpoint())));
  cut_->set_iteration(at.value());
  cut_->set_soon(wanted);
  told_ = !(wanted && moment == Moment::kNearby);
  return *cut_;
}

bool Checkpoints::IsOverdue(Iteration fastest, TimePoint now) {
  if (!cut_) return false;
  if (published_from_) return now - *published_from_ >= options_.limit;
  const bool reached = !replies_.empty() || fastest >= Iteration(cut_->iteration());
  if (reached && !reached_at_) reached_at_ = now;
  return reached_at_ && now - *reached_at_ >= options_.limit;
}

void Checkpoints::Publish(TimePoint now) {
  if (!published_from_) published_from_ = now;
}

const wire::pb::Cut* Checkpoints::OpenFor(ShardId shard) const {
  return cut_ && told_ && !replies_.contains(shard) ? &*cut_ : nullptr;
}

Checkpoints::Step Checkpoints::Take(ShardId shard, const wire::pb::CutReply& reply) {
  if (!cut_ || reply.checkpoint() != cut_->checkpoint()) return Step::kWait;
  if (reply.late() > 0) {
    TooLate(Iteration(reply.late()));
    return Step::kTooLate;
  }
  if (!reply.error().empty()) {
    failure_ = reply.error();
    return Step::kFailed;
  }
  replies_[shard] = reply;
  return written() ? Step::kWritten : Step::kWait;
}

void Checkpoints::TooLate(Iteration reached) {
  reached_ = std::max(reached_, reached);
  room_ = std::min(room_ * 2, kRoomMax);
  cut_.reset();
}

void Checkpoints::Complete(Iteration iteration, TimePoint now) {
  counted_from_ = counts_as_;
  last_ = Last{cut_->checkpoint(), iteration, cut_->folder(), now};
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
  // The next one comes at its usual time, not at once: the fault may take a while to mend.
  counted_from_ = std::max(counted_from_, counts_as_);
  cut_.reset();
}

bool Checkpoints::AddChanges(wire::pb::LogRecord& record) {
  const std::uint64_t last = last_ ? last_->checkpoint : 0;
  if (next_ == logged_next_ && last == logged_last_ && given_up_ == logged_given_up_) return false;
  logged_next_ = next_;
  logged_given_up_ = given_up_;
  logged_last_ = last;
  AddAll(record);
  return true;
}

void Checkpoints::AddAll(wire::pb::LogRecord& record) const {
  wire::pb::LoggedCheckpoints& out = *record.mutable_checkpoints();
  out.set_next(next_);
  out.set_first(first_);
  out.set_completed(completed_);
  out.set_given_up(given_up_);
  if (!last_) return;
  out.set_last(last_->checkpoint);
  out.set_last_iteration(last_->iteration.value());
  out.set_last_folder(last_->folder);
}

std::vector<std::string> Checkpoints::Candidates() const {
  std::vector<std::string> folders;
  if (first_ == 0 || !enabled()) return folders;
  const std::uint64_t known = last_ ? last_->checkpoint : 0;
  const std::uint64_t bound = next_ > kCandidatesMax ? next_ - kCandidatesMax : 0;
  for (std::uint64_t id = next_; id-- > std::max({first_, known, bound});) {
    folders.push_back(JoinPath(options_.folder, CheckpointName(id)));
  }
  if (known > 0 && known < bound) folders.push_back(JoinPath(options_.folder, CheckpointName(known)));
  return folders;
}

void Checkpoints::Apply(const wire::pb::LogRecord& record) {
  if (!record.has_checkpoints()) return;
  const wire::pb::LoggedCheckpoints& from = record.checkpoints();
  next_ = std::max<std::uint64_t>(from.next(), 1);
  first_ = from.first();
  completed_ = from.completed();
  given_up_ = from.given_up();
  if (from.last() == 0) return;
  last_ = Last{from.last(), Iteration(from.last_iteration()), from.last_folder()};
  counted_from_ = last_->iteration;
}

}  // namespace leeway
