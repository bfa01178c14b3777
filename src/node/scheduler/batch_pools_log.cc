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
    out.set_seen(seen_.value());
    out.set_name(name);
    out.set_batches(pool.batches);
    out.set_next(pool.next);
    out.mutable_returned()->Assign(pool.returned.begin(), pool.returned.end());
    for (const auto& [batch, lease] : pool.leases) {
      wire::pb::LoggedLease& entry = *out.add_leases();
      entry.set_batch(batch);
      entry.set_worker(lease.life.worker.value());
      entry.set_incarnation(lease.life.incarnation.value());
      entry.set_iteration(lease.iteration.value());
      entry.set_finished(lease.finished);
      entry.set_taken(lease.taken);
    }
    out.set_done(pool.done);
    out.set_restored(pool.restored);
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
    if (!applied.ok()) return applied.WithContext(fmt::format("pool \"{}\"", change.request().pool()));
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
  for (const wire::pb::LoggedLease& entry : from.leases()) {
    pool.leases[entry.batch()] = {{WorkerId(entry.worker()), Incarnation(entry.incarnation())},
                                  Iteration(entry.iteration()),
                                  entry.finished(),
                                  entry.taken()};
  }
  seen_ = std::max(seen_, Iteration(from.seen()));
  pool.done = from.done();
  pool.restored = from.restored();
  for (const auto& [worker, answer] : from.answers()) pool.answers[WorkerId(worker)] = answer;
  const bool returned_fit = pool.returned.empty() || *pool.returned.rbegin() < pool.next;
  const bool leased_fit = pool.leases.empty() || pool.leases.rbegin()->first < pool.next;
  if (pool.next > pool.batches || !returned_fit || !leased_fit) {
    return InvalidArgument("{} of {} batches were leased, and some beyond them", pool.next, pool.batches);
  }
  pools_[from.name()] = std::move(pool);
  return Status::Ok();
}

Status BatchPools::Apply(const wire::pb::PoolChange& change) {
  const MemberKey life{WorkerId(change.worker()), Incarnation(change.incarnation())};
  if (change.gone()) {
    for (auto& [name, pool] : pools_) EndIn(pool, life, Iteration(change.top()), change.left());
    return Status::Ok();
  }
  LW_ASSIGN_OR_RETURN(Pool* const pool, Find(change.request()));
  for (const std::uint64_t batch : change.answer().batches()) {
    if (batch >= pool->batches) return InvalidArgument("batch {}, wanted below {}", batch, pool->batches);
  }
  TakeFinished(life, change.request(), *pool);
  Record(life, change.request(), change.answer(), *pool);
  return Status::Ok();
}

}  // namespace leeway
