// The batch pools in the scheduler's log.
#include <algorithm>
#include <utility>

#include "base/errors.h"
#include "node/scheduler/batch_pools.h"

namespace leeway {

bool BatchPools::AddChanges(wire::pb::LogRecord& record) {
  for (wire::pb::PoolChange& change : changes_) *record.add_pool_changes() = std::move(change);
  return !std::exchange(changes_, {}).empty();
}

void BatchPools::AddAll(wire::pb::LogRecord& record) const {
  for (const auto& [name, pool] : pools_) {
    wire::pb::LoggedPool& out = *record.add_pools();
    out.set_name(name);
    out.set_batches(pool.batches);
    out.set_next(pool.next);
    out.mutable_returned()->Assign(pool.returned.begin(), pool.returned.end());
    for (const auto& [batch, worker] : pool.leased) (*out.mutable_leased())[batch] = worker.value();
    out.set_done(pool.done);
    for (const auto& [worker, answer] : pool.answers) (*out.mutable_answers())[worker.value()] = answer;
  }
}

Status BatchPools::Apply(const wire::pb::LogRecord& record) {
  for (const wire::pb::LoggedPool& pool : record.pools()) {
    const Status applied = Apply(pool);
    if (!applied.ok()) return applied.WithContext(fmt::format("pool \"{}\"", pool.name()));
  }
  for (const wire::pb::PoolChange& change : record.pool_changes()) {
    const Status applied = Apply(change);
    if (!applied.ok()) return applied.WithContext(fmt::format("pool \"{}\"", change.name()));
  }
  if (pools_.size() > kPoolsMax) {
    return ResourceExhausted("{} pools, wanted at most {}", pools_.size(), kPoolsMax);
  }
  return Status::Ok();
}

Status BatchPools::Apply(const wire::pb::LoggedPool& from) {
  Pool pool;
  pool.batches = from.batches();
  pool.next = from.next();
  pool.returned.insert(from.returned().begin(), from.returned().end());
  for (const auto& [batch, worker] : from.leased()) pool.leased[batch] = WorkerId(worker);
  pool.done = from.done();
  for (const auto& [worker, answer] : from.answers()) pool.answers[WorkerId(worker)] = answer;
  const bool returned_fit = pool.returned.empty() || *pool.returned.rbegin() < pool.next;
  const bool leased_fit = pool.leased.empty() || pool.leased.rbegin()->first < pool.next;
  if (pool.next > pool.batches || !returned_fit || !leased_fit) {
    return InvalidArgument("{} of {} batches were leased, and some beyond them", pool.next, pool.batches);
  }
  pools_[from.name()] = std::move(pool);
  return Status::Ok();
}

Status BatchPools::Apply(const wire::pb::PoolChange& change) {
  const WorkerId worker(change.worker());
  if (change.gone()) {
    const bool kept = std::exchange(keep_changes_, false);
    Gone(worker);
    keep_changes_ = kept;
    return Status::Ok();
  }
  const auto [entry, is_new] = pools_.try_emplace(change.name());
  Pool& pool = entry->second;
  if (is_new) pool.batches = change.batches();
  if (pool.batches != change.batches()) {
    return InvalidArgument("got {} batches, wanted {} as before", change.batches(), pool.batches);
  }
  for (const std::uint64_t batch : change.done()) {
    const auto held = pool.leased.find(batch);
    if (held == pool.leased.end() || held->second != worker) continue;
    pool.leased.erase(held);
    ++pool.done;
  }
  for (const std::uint64_t batch : change.answer().batches()) {
    if (batch >= pool.batches) return InvalidArgument("batch {}, wanted below {}", batch, pool.batches);
    pool.returned.erase(batch);
    pool.next = std::max(pool.next, batch + 1);
    pool.leased[batch] = worker;
  }
  pool.answers[worker] = change.answer();
  return Status::Ok();
}

}  // namespace leeway
