// BatchPools: the job's work as numbered batches, leased to workers in small runs, each to one worker at a
// time.
//
// A slow worker asks less often, so it does less. Leases shrink as a pool runs out, so that no worker ends
// long after the others. What a gone member had leased and not finished goes back, and is leased first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "leeway/ids.h"
#include "leeway/status.h"
#include "wire/control.pb.h"
#include "wire/scheduler_log.pb.h"

namespace leeway {

class BatchPools {
 public:
  static constexpr std::size_t kPoolsMax = 4096;
  static constexpr std::size_t kNameBytesMax = 256;
  static constexpr std::uint64_t kLeaseMax = 4096;  // batches in one lease

  struct Pool {
    std::uint64_t batches = 0;
    std::uint64_t next = 0;            // never leased from here on
    std::set<std::uint64_t> returned;  // leased once, and given back by a gone member
    std::map<std::uint64_t, WorkerId> leased;
    std::uint64_t done = 0;
    // The last answer to each worker: a request that comes again (its answer was lost) gets the same.
    std::map<WorkerId, wire::pb::BatchLease> answers;

    [[nodiscard]] std::uint64_t unleased() const { return batches - next + returned.size(); }
  };

  // `live` is the number of members. An error is in the lease's `error`.
  [[nodiscard]] wire::pb::BatchLease Lease(WorkerId worker, const wire::pb::LeaseBatches& request,
                                           std::size_t live);
  void Gone(WorkerId worker);
  // Whether the worker draws from a pool and was not told that it is used up: when it leaves now, others do
  // its work.
  [[nodiscard]] bool IsDrawing(WorkerId worker) const;
  [[nodiscard]] const std::map<std::string, Pool>& all() const { return pools_; }

  // The log: from the first call on changes are kept; AddChanges gives what came since the last, and says
  // whether anything did. Not whole pools, which may be large, but one lease after another.
  void KeepChanges() { keep_changes_ = true; }
  bool AddChanges(wire::pb::LogRecord& record);
  void AddAll(wire::pb::LogRecord& record) const;
  // Back, into one that is new.
  [[nodiscard]] Status Apply(const wire::pb::LogRecord& record);

 private:
  [[nodiscard]] Result<Pool*> Find(const wire::pb::LeaseBatches& request);

  [[nodiscard]] Status Apply(const wire::pb::LoggedPool& from);
  [[nodiscard]] Status Apply(const wire::pb::PoolChange& change);

  std::map<std::string, Pool> pools_;
  bool keep_changes_ = false;
  std::vector<wire::pb::PoolChange> changes_;
};

}  // namespace leeway
