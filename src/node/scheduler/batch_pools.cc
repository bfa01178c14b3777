#include "node/scheduler/batch_pools.h"

#include <algorithm>

#include "base/errors.h"
#include "base/mutation.h"
#include "node/control_frame.h"

namespace leeway {

std::uint64_t BatchPools::Pool::at_work() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(leases, [](const auto& entry) { return !entry.second.finished; }));
}

Result<BatchPools::Pool*> BatchPools::Find(const wire::pb::LeaseBatches& request) {
  const auto found = pools_.find(request.pool());
  if (found == pools_.end()) {
    if (request.pool().size() > kNameBytesMax) {
      return InvalidArgument("pool name of {} bytes, wanted at most {}", request.pool().size(),
                             kNameBytesMax);
    }
    if (pools_.size() >= kPoolsMax)
      return ResourceExhausted("{} pools are in use, no more may be", kPoolsMax);
    Pool& pool = pools_[request.pool()];
    pool.batches = request.batches();
    return &pool;
  }
  Pool& pool = found->second;
  if (pool.restored) {
    // A job that goes on may have more to do than before: further epochs are further batches.
    if (request.batches() < pool.next) {
      return InvalidArgument(
          "pool \"{}\": got {} batches, wanted at least {}: the checkpoint has them leased", request.pool(),
          request.batches(), pool.next);
    }
    pool.batches = request.batches();
    pool.restored = false;
  }
  if (pool.batches != request.batches()) {
    return InvalidArgument("pool \"{}\": got {} batches, wanted {} as from the worker that came first",
                           request.pool(), request.batches(), pool.batches);
  }
  return &pool;
}

bool BatchPools::MustWait(const wire::pb::LeaseBatches& request) const {
  const auto found = pools_.find(request.pool());
  if (found == pools_.end() || unsettled_.empty() || request.wanted() == 0) return false;
  const Pool& pool = found->second;
  if (pool.unleased() > 0 || pool.batches != request.batches()) return false;
  return std::ranges::any_of(pool.leases,
                             [this](const auto& entry) { return unsettled_.contains(entry.second.life); });
}

wire::pb::BatchLease BatchPools::Lend(MemberKey life, const wire::pb::LeaseBatches& request,
                                      std::size_t live) {
  wire::pb::BatchLease lease;
  lease.set_request(request.request());
  const Result<Pool*> found = Find(request);
  if (!found.ok()) {
    lease.set_error(ClippedMessage(found.status().message()));
    return lease;
  }
  Pool& pool = **found;
  const auto last = pool.answers.find(life.worker);
  if (last != pool.answers.end() && last->second.request() == request.request() && request.request() != 0)
    return last->second;

  TakeFinished(life, request, pool);
  // Half of an even share of the batches that are left, at least one.
  const std::uint64_t share = 2 * std::max<std::uint64_t>(live, 1);
  const std::uint64_t fair = (pool.unleased() + share - 1) / share;
  std::uint64_t count =
      std::min({std::uint64_t{request.wanted()}, std::max<std::uint64_t>(fair, 1), kLeaseMax});
  auto returned = pool.returned.begin();
  for (std::uint64_t next = pool.next; count > 0; --count) {
    if (returned != pool.returned.end()) {
      lease.add_batches(*returned++);
    } else if (next < pool.batches) {
      lease.add_batches(next++);
    }
  }
  lease.set_exhausted(lease.batches().empty() && pool.unleased() == 0);
  Record(life, request, lease, pool);
  if (keep_changes_) {
    wire::pb::PoolChange& change = changes_.emplace_back();
    change.set_worker(life.worker.value());
    change.set_incarnation(life.incarnation.value());
    *change.mutable_request() = request;
    *change.mutable_answer() = lease;
  }
  return lease;
}

bool BatchPools::IsDrawing(WorkerId worker) const {
  return std::ranges::any_of(pools_, [worker](const auto& entry) {
    const auto& answers = entry.second.answers;
    const auto last = answers.find(worker);
    return last != answers.end() && !last->second.exhausted();
  });
}

void BatchPools::TakeFinished(MemberKey life, const wire::pb::LeaseBatches& request, Pool& pool) {
  const bool says_when = request.used_size() == request.done_size();
  for (int i = 0; i < request.done_size(); ++i) {
    const auto held = pool.leases.find(request.done(i));
    if (held == pool.leases.end() || held->second.life != life || held->second.finished) continue;
    held->second.finished = true;
    if (says_when) held->second.iteration = Iteration(request.used(i));
    ++pool.done;
  }
  if (Iteration(request.settled()) < kIterationMax) seen_ = std::max(seen_, Iteration(request.iteration()));
  // Blocks hold every push that has its verdict, and so does each checkpoint that is cut from now on.
  const Iteration known = std::min(Iteration(request.settled()), keep_from_);
  std::erase_if(pool.leases, [&](const auto& entry) {
    const Lease& lease = entry.second;
    return lease.finished && lease.life == life && lease.iteration < known;
  });
}

void BatchPools::Record(MemberKey life, const wire::pb::LeaseBatches& request,
                        const wire::pb::BatchLease& answer, Pool& pool) {
  const auto per_iteration = static_cast<int>(std::max(request.per_iteration(), 1U));
  for (int i = 0; i < answer.batches_size(); ++i) {
    const std::uint64_t batch = answer.batches(i);
    pool.returned.erase(batch);
    pool.next = std::max(pool.next, batch + 1);
    pool.leases[batch] = {life, Iteration(request.iteration()) + i / per_iteration};
  }
  pool.answers[life.worker] = answer;
}

void BatchPools::End(MemberKey life, Iteration top, bool left) {
  unsettled_.erase(life);
  for (auto& [name, pool] : pools_) EndIn(pool, life, top, left);
  if (keep_changes_ && !pools_.empty()) {
    wire::pb::PoolChange& change = changes_.emplace_back();
    change.set_worker(life.worker.value());
    change.set_incarnation(life.incarnation.value());
    change.set_gone(true);
    change.set_top(top.value());
    change.set_left(left);
  }
}

void BatchPools::EndIn(Pool& pool, MemberKey life, Iteration top, bool left) const {
  std::uint64_t said_done = 0, done = 0;
  for (auto& [batch, lease] : pool.leases) {
    if (lease.life != life) continue;
    if (lease.finished) ++said_done;
    const bool taken = lease.iteration <= top && !LW_MUTATED(taken_batch_returned);
    if (taken || (left && lease.finished)) {
      lease.finished = lease.taken = true;
      ++done;
    } else {
      pool.returned.insert(batch);
    }
  }
  pool.done += done - said_done;
  std::erase_if(pool.leases, [&](const auto& entry) {
    const Lease& lease = entry.second;
    return lease.life == life && (!lease.taken || lease.iteration < keep_from_);
  });
  pool.answers.erase(life.worker);
}

void BatchPools::KeepFrom(Iteration from) {
  keep_from_ = from;
  for (auto& [name, pool] : pools_) {
    std::erase_if(pool.leases,
                  [from](const auto& entry) { return entry.second.taken && entry.second.iteration < from; });
  }
}

std::vector<ManifestPool> BatchPools::InCut(std::span<const Iteration> begins) const {
  std::vector<ManifestPool> cut;
  for (const auto& [name, pool] : pools_) {
    std::set<std::uint64_t> open = pool.returned;
    for (const auto& [batch, lease] : pool.leases) {
      const std::size_t rank = lease.life.worker.index();
      if (rank >= begins.size() || lease.iteration >= begins[rank]) open.insert(batch);
    }
    cut.push_back({name, pool.batches, pool.next, {open.begin(), open.end()}});
  }
  return cut;
}

void BatchPools::Resume(std::span<const ManifestPool> pools) {
  for (const ManifestPool& from : pools) {
    Pool& pool = pools_[from.name];
    pool.batches = from.batches;
    pool.next = from.next;
    pool.returned = {from.open.begin(), from.open.end()};
    pool.done = from.next - from.open.size();
    pool.restored = true;
  }
}

}  // namespace leeway
