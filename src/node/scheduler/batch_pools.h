// BatchPools: the job's work as numbered batches, leased to workers in small runs, each to one worker at a
// time.
//
// A slow worker asks less often, so it does less. Leases shrink as a pool runs out, so that no worker ends
// long after the others. Every lease names the iteration whose gradients its batch is in. When a life ends,
// its batches up to the last iteration that any block holds of it are done. Its other batches are leased
// again, first. A checkpoint tells them apart in the same way. Pure state, told of events by its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "block/block_events.h"
#include "checkpoint/manifest.h"
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

  struct Lease {
    MemberKey life;
    Iteration iteration;    // whose gradients the batch is in, as far as is known
    bool finished = false;  // the worker has said so; its push may still be on its way
    bool taken = false;     // its life is over, and the blocks have it
  };
  struct Pool {
    std::uint64_t batches = 0;
    std::uint64_t next = 0;            // never leased from here on
    std::set<std::uint64_t> returned;  // leased once, and given back
    std::map<std::uint64_t, Lease>
        leases;  // by batch; a finished one stays until it is known to be in the blocks
    std::uint64_t done = 0;
    bool restored = false;  // from a checkpoint, and nobody has asked yet: it may be larger now
    // The last answer to each worker: a request that comes again (its answer was lost) gets the same.
    std::map<WorkerId, wire::pb::BatchLease> answers;

    [[nodiscard]] std::uint64_t unleased() const { return batches - next + returned.size(); }
    [[nodiscard]] std::uint64_t at_work() const;
  };

  // `live` is the number of members. An error is in the lease's `error`.
  [[nodiscard]] wire::pb::BatchLease Lend(MemberKey life, const wire::pb::LeaseBatches& request,
                                          std::size_t live);
  // The request has to wait until Settle: no batch is left to lease, but leases of a life that ended may come
  // back.
  [[nodiscard]] bool MustWait(const wire::pb::LeaseBatches& request) const;
  // The life has ended, and it is not known yet what the blocks hold of it.
  void AwaitSettle(MemberKey life) { unsettled_.insert(life); }
  // The life has died, and the blocks hold nothing of it above iteration `top`: batches of later ones are
  // leased again.
  void Settle(MemberKey life, Iteration top) { End(life, top, false); }
  // The life has left after iteration `top`, with all of its verdicts: batches of later ones that it has not
  // said to be done are leased again.
  void Left(MemberKey life, Iteration top) { End(life, top, true); }

  // A checkpoint is under way. Its blocks hold all pushes below iteration `from`, and perhaps some of later
  // ones, so the pools keep leases from there on. kIterationMax: no checkpoint is under way.
  void KeepFrom(Iteration from);
  // The pools as they are in a checkpoint from which rank r begins with iteration begins[r].
  [[nodiscard]] std::vector<ManifestPool> InCut(std::span<const Iteration> begins) const;
  // Goes on from a checkpoint. REQUIRES: nobody has asked yet.
  void Resume(std::span<const ManifestPool> pools);
  // Whether the worker draws from a pool, and was not told that the pool is used up. If it leaves now, others
  // do its work.
  [[nodiscard]] bool IsDrawing(WorkerId worker) const;
  // The highest iteration in which a worker asked; -1 before the first request. Batches of lower iterations
  // may be done and forgotten.
  [[nodiscard]] Iteration seen() const { return seen_; }
  [[nodiscard]] const std::map<std::string, Pool>& all() const { return pools_; }

  // The log. After KeepChanges, AddChanges adds all changes since the last call, and says whether there are
  // any. It adds single leases, because whole pools may be large.
  void KeepChanges() { keep_changes_ = true; }
  bool AddChanges(wire::pb::LogRecord& record);
  void AddAll(wire::pb::LogRecord& record) const;
  // Puts a record into a new object.
  [[nodiscard]] Status Apply(const wire::pb::LogRecord& record);

 private:
  [[nodiscard]] Result<Pool*> Find(const wire::pb::LeaseBatches& request);
  // Takes what a request says of earlier leases.
  void TakeFinished(MemberKey life, const wire::pb::LeaseBatches& request, Pool& pool);
  // Notes the leases that an answer gives out.
  static void Record(MemberKey life, const wire::pb::LeaseBatches& request,
                     const wire::pb::BatchLease& answer, Pool& pool);
  void End(MemberKey life, Iteration top, bool left);
  void EndIn(Pool& pool, MemberKey life, Iteration top, bool left) const;

  [[nodiscard]] Status Apply(const wire::pb::LoggedPool& from);
  [[nodiscard]] Status Apply(const wire::pb::PoolChange& change);

  std::map<std::string, Pool> pools_;
  std::set<MemberKey> unsettled_;
  Iteration seen_{-1};
  Iteration keep_from_ = kIterationMax;
  bool keep_changes_ = false;
  std::vector<wire::pb::PoolChange> changes_;
};

}  // namespace leeway
