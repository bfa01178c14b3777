#include "node/worker/scheduler_requests.h"

#include <algorithm>

#include "base/errors.h"
#include "node/control_frame.h"
#include "node/seconds.h"

namespace leeway {

wire::pb::Table TableToWire(const TableSpec& spec) {
  wire::pb::Table table;
  table.set_name(spec.name);
  for (const std::int64_t dimension : spec.shape) table.add_shape(dimension);
  table.set_dtype(static_cast<std::uint32_t>(spec.dtype));
  table.set_clock(static_cast<std::uint32_t>(spec.clock));
  table.set_nonfinite(static_cast<std::uint32_t>(spec.nonfinite));
  table.set_sync(spec.sync);
  table.set_apply(spec.apply);
  table.set_optimizer(spec.optimizer);
  return table;
}

SchedulerRequests::SchedulerRequests(const Clock& clock, Link& link, Later later)
    : clock_(clock), link_(link), later_(std::move(later)) {}

void SchedulerRequests::Define(const std::vector<TableSpec>& tables,
                               const std::vector<wire::pb::SeenBlock>& seen, MapDone done) {
  Definition& request = definitions_[++last_request_];
  request.message.set_request(last_request_);
  for (const TableSpec& table : tables) *request.message.add_tables() = TableToWire(table);
  for (const wire::pb::SeenBlock& block : seen) *request.message.add_seen() = block;
  request.done = std::move(done);
  request.since = clock_.Now();
  link_.SendControl(wire::Kind::kDefineTables, request.message);
}

void SchedulerRequests::Barrier(const std::string& name, Iteration iteration, std::uint64_t steps,
                                Done done) {
  const std::uint64_t round = ++barrier_rounds_[name];
  OpenBarrier& barrier = barriers_[{name, round}];
  barrier.message.set_name(name);
  barrier.message.set_round(round);
  barrier.message.set_iteration(iteration.value());
  barrier.message.set_steps(steps);
  barrier.done = std::move(done);
  barrier.since = clock_.Now();
  link_.SendControl(wire::Kind::kBarrier, barrier.message);
}

void SchedulerRequests::ForgetBarrier(const std::string& name) {
  std::erase_if(barriers_, [&name](const auto& entry) { return entry.first.first == name; });
}

void SchedulerRequests::Lease(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
                              std::span<const Iteration> used, const LeaseMoment& moment, LeaseDone done) {
  // One request of a pool at a time, so that the scheduler need keep one answer to repeat. A call that was
  // broken off leaves its request open; the next one takes it over.
  for (auto& [id, open] : leases_) {
    if (open.message.pool() != pool) continue;
    later_([older = std::exchange(open.done, std::move(done)), pool] {
      older(Cancelled("pool \"{}\": another call leases from it", pool), {});
    });
    return;
  }
  OpenLease& request = leases_[++last_request_];
  request.message.set_request(last_request_);
  request.message.set_pool(pool);
  request.message.set_batches(batches);
  request.message.set_wanted(wanted);
  std::vector<std::uint64_t>& leased = leased_[pool];
  std::uint32_t& per_iteration = per_iteration_[pool];
  for (const std::uint64_t batch : leased) request.message.add_done(batch);
  if (used.size() == leased.size()) {
    for (const Iteration iteration : used) {
      request.message.add_used(iteration.value());
      const auto same = static_cast<std::uint32_t>(std::ranges::count(used, iteration));
      per_iteration = std::max(per_iteration, same);
    }
  }
  leased.clear();
  request.message.set_iteration(moment.iteration.value());
  request.message.set_per_iteration(per_iteration);
  request.message.set_settled(moment.settled.value());
  request.done = std::move(done);
  request.since = clock_.Now();
  link_.SendControl(wire::Kind::kLeaseBatches, request.message);
}

void SchedulerRequests::Leave(Iteration iteration, std::function<void(Epoch)> left) {
  left_ = std::move(left);
  leave_.set_iteration(iteration.value());
  link_.SendControl(wire::Kind::kLeave, leave_);
}

void SchedulerRequests::SetSync(const std::string& rule, SetSyncDone done) {
  OpenSwitch& request = switches_[++last_request_];
  request.message.set_request(last_request_);
  request.message.set_rule(rule);
  request.done = std::move(done);
  request.since = clock_.Now();
  // One at a time, so that what the scheduler remembers to answer again is enough.
  if (switches_.size() == 1) link_.SendControl(wire::Kind::kSetSync, request.message);
}

void SchedulerRequests::OnSetSyncReply(const wire::pb::SetSyncReply& reply) {
  auto found = switches_.extract(reply.request());
  if (found.empty()) return;
  const Status status =
      reply.error().empty() ? Status::Ok() : StatusFromWire(reply.error_code(), reply.error());
  later_([done = std::move(found.mapped().done), status, tables = reply.tables()] { done(status, tables); });
  if (!switches_.empty()) link_.SendControl(wire::Kind::kSetSync, switches_.begin()->second.message);
}

void SchedulerRequests::OnTableMap(const wire::pb::TableMap& map) {
  auto found = definitions_.extract(map.request());
  if (found.empty()) return;
  const Status status = map.error().empty() ? Status::Ok() : StatusFromWire(map.error_code(), map.error());
  found.mapped().done(status, map);
}

void SchedulerRequests::OnBarrierDone(const wire::pb::BarrierDone& message) {
  auto found = barriers_.extract({message.name(), message.round()});
  if (found.empty()) return;
  Status status;
  if (!message.error().empty())
    status = FailedPrecondition("barrier \"{}\": {}", ClippedMessage(message.name()),
                                ClippedMessage(message.error()));
  later_([done = std::move(found.mapped().done), status] { done(status); });
}

void SchedulerRequests::OnBatchLease(const wire::pb::BatchLease& message) {
  auto found = leases_.extract(message.request());
  if (found.empty()) return;
  OpenLease& request = found.mapped();
  Status status;
  BatchLease lease;
  if (!message.error().empty()) {
    status = InvalidArgument("pool \"{}\": {}", request.message.pool(), ClippedMessage(message.error()));
  } else {
    lease.batches.assign(message.batches().begin(), message.batches().end());
    lease.exhausted = message.exhausted();
    std::vector<std::uint64_t>& leased = leased_[request.message.pool()];
    leased.insert(leased.end(), lease.batches.begin(), lease.batches.end());
  }
  later_([done = std::move(request.done), status, lease = std::move(lease)] { done(status, lease); });
}

void SchedulerRequests::OnLeft(const wire::pb::Left& message) {
  if (auto left = std::exchange(left_, nullptr)) left(Epoch(message.epoch()));
}

void SchedulerRequests::ResendAll() {
  for (const auto& [id, request] : definitions_)
    link_.SendControl(wire::Kind::kDefineTables, request.message);
  for (const auto& [key, barrier] : barriers_) link_.SendControl(wire::Kind::kBarrier, barrier.message);
  for (const auto& [id, request] : leases_) link_.SendControl(wire::Kind::kLeaseBatches, request.message);
  if (!switches_.empty()) link_.SendControl(wire::Kind::kSetSync, switches_.begin()->second.message);
  if (left_) link_.SendControl(wire::Kind::kLeave, leave_);
}

void SchedulerRequests::FailAll(const Status& why) {
  for (auto& [id, request] : std::exchange(definitions_, {})) request.done(why, {});
  for (auto& [key, barrier] : std::exchange(barriers_, {})) {
    later_([done = std::move(barrier.done), why] { done(why); });
  }
  for (auto& [id, request] : std::exchange(leases_, {})) {
    later_([done = std::move(request.done), why] { done(why, {}); });
  }
  for (auto& [id, request] : std::exchange(switches_, {})) {
    later_([done = std::move(request.done), why] { done(why, 0); });
  }
  left_ = nullptr;
}

Wait SchedulerRequests::Waiting() const {
  const auto wait = [this](Wait::Cause cause, TimePoint since, const std::string& what) {
    Wait made{cause, fmt::format("{}, for {:.1f} s", what, Seconds(clock_.Now() - since))};
    made.since = since;
    return made;
  };
  if (!definitions_.empty()) {
    const Definition& first = definitions_.begin()->second;
    return wait(Wait::Cause::kTables, first.since,
                fmt::format("the scheduler to place {} tables", first.message.tables_size()));
  }
  if (!barriers_.empty()) {
    const auto& [key, barrier] = *barriers_.begin();
    Wait made = wait(Wait::Cause::kBarrier, barrier.since,
                     fmt::format("all members at barrier \"{}\" (round {})", key.first, key.second));
    made.name = key.first;
    return made;
  }
  if (!leases_.empty()) {
    const OpenLease& first = leases_.begin()->second;
    return wait(Wait::Cause::kBatches, first.since,
                fmt::format("batches of pool \"{}\"", first.message.pool()));
  }
  if (!switches_.empty()) {
    const OpenSwitch& first = switches_.begin()->second;
    return wait(Wait::Cause::kTables, first.since,
                fmt::format("every server to take the rule \"{}\"", first.message.rule()));
  }
  if (left_) return {Wait::Cause::kLeft, "the scheduler to confirm that this worker left"};
  return {};
}

std::vector<wire::pb::OpenWait> SchedulerRequests::Open() const {
  std::vector<wire::pb::OpenWait> open;
  for (const auto& [key, barrier] : barriers_) {
    wire::pb::OpenWait& wait = open.emplace_back();
    wait.set_what(fmt::format("barrier \"{}\"", key.first));
    wait.set_at_barrier(true);
    wait.set_barrier(key.first);
  }
  if (!definitions_.empty() || !leases_.empty() || !switches_.empty() || left_) {
    open.emplace_back().set_what("an answer of the scheduler");
  }
  return open;
}

}  // namespace leeway
