// BatchPools: the job's work as numbered batches, leased to workers in small runs, each to one worker at a
// time.
//
// A slow worker asks less often, so it does less. Leases shrink as a pool runs out, so that no worker ends
// long after the others. Every lease names the iteration whose gradients its batch is in: when a life ends,
// batches up to the last iteration that any block holds of it are done, and the others are leased again,
// first. A checkpoint tells them apart in the same way. Pure state, told of events by the scheduler node.
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
  // Nothing is left to lease, but a life has ended whose leases may come back: the request has to wait until
  // Settle. It changes nothing to ask.
  [[nodiscard]] bool MustWait(const wire::pb::LeaseBatches& request) const;
  // The life has ended, and it is not known yet what the blocks hold of it.
  void Doubt(MemberKey life) { in_doubt_.insert(life); }
  // The life has died, and the blocks hold nothing of it above iteration `top`: batches of later ones are
  // leased again.
  void Settle(MemberKey life, Iteration top) { End(life, top, false); }
  // The life has left after iteration `top`, with all of its verdicts: batches of later ones that it has not
  // said to be done are leased again.
  void Left(MemberKey life, Iteration top) { End(life, top, true); }

  // A checkpoint is under way whose blocks hold all pushes below `from`, and perhaps some of later ones:
  // which batches are in it must stay known until it is over. kIterationMax: none is.
  void KeepFrom(Iteration from);
  // The pools as they are in a checkpoint from which rank r begins with iteration begins[r].
  [[nodiscard]] std::vector<ManifestPool> InCut(std::span<const Iteration> begins) const;
  // Goes on from a checkpoint. REQUIRES: nobody has asked yet.
  void Resume(std::span<const ManifestPool> pools);
  // Whether the worker draws from a pool and was not told that it is used up: when it leaves now, others do
  // its work.
  [[nodiscard]] bool IsDrawing(WorkerId worker) const;
  // The highest iteration in which a worker asked: batches of lower ones may be known to be done, and
  // forgotten. -1: nobody has, in a job with iterations.
  [[nodiscard]] Iteration seen() const { return seen_; }
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
  // What a request says of leases before it.
  void TakeFinished(MemberKey life, const wire::pb::LeaseBatches& request, Pool& pool);
  // What its answer gives out.
  static void Record(MemberKey life, const wire::pb::LeaseBatches& request,
                     const wire::pb::BatchLease& answer, Pool& pool);
  void End(MemberKey life, Iteration top, bool left);
  void EndIn(Pool& pool, MemberKey life, Iteration top, bool left) const;

  [[nodiscard]] Status Apply(const wire::pb::LoggedPool& from);
  [[nodiscard]] Status Apply(const wire::pb::PoolChange& change);

  std::map<std::string, Pool> pools_;
  std::set<MemberKey> in_doubt_;
  Iteration seen_{-1};
  Iteration keep_from_ = kIterationMax;
  bool keep_changes_ = false;
  std::vector<wire::pb::PoolChange> changes_;
};

}  // namespace leeway
