// Membership in the scheduler's log. The log leaves out connections and the times when members were last
// heard of, and so which members are suspect.
#include "base/errors.h"
#include "node/scheduler/membership.h"

namespace leeway {
namespace {

WorkerState LoggedState(const WorkerSeat& seat) {
  return seat.state == WorkerState::kSuspect ? WorkerState::kJoined : seat.state;
}

bool IsSame(const WorkerSeat& a, const WorkerSeat& b) {
  return a.incarnation == b.incarnation && a.life == b.life && LoggedState(a) == LoggedState(b) &&
         a.first == b.first && a.entered == b.entered && a.joining == b.joining &&
         a.own_firsts == b.own_firsts && a.left_at == b.left_at && a.finished == b.finished &&
         a.done == b.done && a.host == b.host && a.pid == b.pid;
}

bool IsSame(const ShardSeat& a, const ShardSeat& b) {
  return a.taken == b.taken && a.life == b.life && a.address == b.address && a.done == b.done;
}

void Fill(const WorkerSeat& seat, wire::pb::LoggedWorker& out) {
  out.set_rank(seat.rank.value());
  out.set_incarnation(seat.incarnation.value());
  out.set_life(seat.life);
  out.set_state(static_cast<std::uint32_t>(LoggedState(seat)));
  out.set_first(seat.first.value());
  out.set_entered(seat.entered.value());
  out.set_joining(seat.joining);
  for (const auto& [table, first] : seat.own_firsts)
    (*out.mutable_own_firsts())[table.value()] = first.value();
  out.set_left_at(seat.left_at.value());
  out.set_finished(seat.finished);
  out.set_done(seat.done);
  out.set_host(seat.host);
  out.set_pid(seat.pid);
}

void Fill(const ShardSeat& seat, wire::pb::LoggedShard& out) {
  out.set_shard(seat.id.value());
  out.set_taken(seat.taken);
  out.set_life(seat.life);
  out.set_address(seat.address);
  out.set_done(seat.done);
}

Status SeatFromLog(const wire::pb::LoggedWorker& from, TimePoint now, WorkerSeat& seat) {
  if (from.state() > static_cast<std::uint32_t>(WorkerState::kDead)) {
    return InvalidArgument("worker {} in state {}, wanted at most {}", from.rank(), from.state(),
                           static_cast<int>(WorkerState::kDead));
  }
  seat = WorkerSeat();
  seat.rank = WorkerId(from.rank());
  seat.incarnation = Incarnation(from.incarnation());
  seat.life = from.life();
  seat.state = static_cast<WorkerState>(from.state());
  seat.first = Iteration(from.first());
  seat.entered = Epoch(from.entered());
  seat.joining = from.joining();
  for (const auto& [table, first] : from.own_firsts()) seat.own_firsts[TableId(table)] = Iteration(first);
  seat.last_heard = now;
  seat.left_at = Epoch(from.left_at());
  seat.finished = from.finished();
  seat.done = from.done();
  seat.host = from.host();
  seat.pid = from.pid();
  return Status::Ok();
}

}  // namespace

bool Membership::AddChanges(wire::pb::LogRecord& record) {
  bool changed = false;
  // The first call compares with new seats.
  if (logged_workers_.empty()) logged_workers_.resize(workers_.size());
  if (logged_shards_.empty()) logged_shards_.resize(shards_.size());
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (IsSame(workers_[i], logged_workers_[i])) continue;
    logged_workers_[i] = workers_[i];
    Fill(workers_[i], *record.add_workers());
    changed = true;
  }
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    if (IsSame(shards_[i], logged_shards_[i])) continue;
    logged_shards_[i] = shards_[i];
    Fill(shards_[i], *record.add_shards());
    changed = true;
  }
  if (roster_epoch_ != logged_roster_epoch_ || start_ != logged_start_) {
    logged_roster_epoch_ = roster_epoch_;
    logged_start_ = start_;
    FillMembership(*record.mutable_membership());
    changed = true;
  }
  return changed;
}

void Membership::FillMembership(wire::pb::LoggedMembership& out) const {
  out.set_roster_epoch(roster_epoch_.value());
  out.set_start(start_.value());
  for (const Iteration begin : begins_) out.add_begins(begin.value());
}

void Membership::AddAll(wire::pb::LogRecord& record) const {
  FillMembership(*record.mutable_membership());
  for (const WorkerSeat& seat : workers_) Fill(seat, *record.add_workers());
  for (const ShardSeat& seat : shards_) Fill(seat, *record.add_shards());
}

Status Membership::Apply(const wire::pb::LogRecord& record, TimePoint now) {
  if (record.has_membership()) {
    roster_epoch_ = Epoch(record.membership().roster_epoch());
    start_ = Iteration(record.membership().start());
    begins_.clear();
    for (const std::int64_t begin : record.membership().begins()) begins_.emplace_back(begin);
  }
  for (const wire::pb::LoggedWorker& worker : record.workers()) {
    if (worker.rank() >= workers_.size()) {
      return InvalidArgument("worker {}, wanted one of {}", worker.rank(), workers_.size());
    }
    LW_RETURN_IF_ERROR(SeatFromLog(worker, now, workers_[worker.rank()]));
  }
  for (const wire::pb::LoggedShard& shard : record.shards()) {
    if (shard.shard() >= shards_.size()) {
      return InvalidArgument("shard {}, wanted one of {}", shard.shard(), shards_.size());
    }
    ShardSeat& seat = shards_[shard.shard()];
    seat.taken = shard.taken();
    seat.life = shard.life();
    seat.address = shard.address();
    seat.connection = {};
    seat.last_heard = now;
    seat.done = shard.done();
  }
  return Status::Ok();
}

}  // namespace leeway
