#include "node/scheduler/batch_pools.h"

#include <algorithm>

#include "base/errors.h"
#include "node/control_frame.h"

namespace leeway {

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
  if (found->second.batches != request.batches()) {
    return InvalidArgument("pool \"{}\": got {} batches, wanted {} as from the worker that came first",
                           request.pool(), request.batches(), found->second.batches);
  }
  return &found->second;
}

wire::pb::BatchLease BatchPools::Lease(WorkerId worker, const wire::pb::LeaseBatches& request,
                                       std::size_t live) {
  wire::pb::BatchLease lease;
  lease.set_request(request.request());
  const Result<Pool*> found = Find(request);
  if (!found.ok()) {
    lease.set_error(ClippedMessage(found.status().message()));
    return lease;
  }
  Pool& pool = **found;
  wire::pb::BatchLease& last = pool.answers[worker];
  if (last.request() == request.request() && request.request() != 0) return last;

  for (const std::uint64_t batch : request.done()) {
    const auto held = pool.leased.find(batch);
    if (held == pool.leased.end() || held->second != worker) continue;
    pool.leased.erase(held);
    ++pool.done;
  }
  // Half of an even share of what is left, at least one.
  const std::uint64_t share = 2 * std::max<std::uint64_t>(live, 1);
  const std::uint64_t fair = (pool.unleased() + share - 1) / share;
  std::uint64_t count =
      std::min({std::uint64_t{request.wanted()}, std::max<std::uint64_t>(fair, 1), kLeaseMax});
  for (; count > 0 && pool.unleased() > 0; --count) {
    const std::uint64_t batch =
        pool.returned.empty() ? pool.next++ : pool.returned.extract(pool.returned.begin()).value();
    pool.leased[batch] = worker;
    lease.add_batches(batch);
  }
  lease.set_exhausted(lease.batches().empty() && pool.unleased() == 0);
  last = lease;
  if (keep_changes_) {
    wire::pb::PoolChange& change = changes_.emplace_back();
    change.set_worker(worker.value());
    change.set_name(request.pool());
    change.set_batches(request.batches());
    *change.mutable_done() = request.done();
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

void BatchPools::Gone(WorkerId worker) {
  if (keep_changes_ && !pools_.empty()) {
    wire::pb::PoolChange& change = changes_.emplace_back();
    change.set_worker(worker.value());
    change.set_gone(true);
  }
  for (auto& [name, pool] : pools_) {
    std::erase_if(pool.leased, [&, &returned = pool.returned](const auto& entry) {
      if (entry.second != worker) return false;
      returned.insert(entry.first);
      return true;
    });
    pool.answers.erase(worker);
  }
}

}  // namespace leeway
