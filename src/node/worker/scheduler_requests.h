// SchedulerRequests: what a worker has asked of the scheduler and not been answered.
//
// Every request is idempotent and kept until its answer, so a lost connection means only that all of them are
// sent again. Callbacks are not called from here: they go out through `later`, after the event. Thread rule:
// the node's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "leeway/env.h"
#include "leeway/status.h"
#include "leeway/worker.h"
#include "node/link.h"
#include "node/worker/lent_gradient.h"
#include "node/worker/wait.h"
#include "wire/control.pb.h"

namespace leeway {

class SchedulerRequests {
 public:
  using Later = std::function<void(std::function<void()>)>;
  using MapDone = std::function<void(const Status&, const wire::pb::TableMap&)>;
  using LeaseDone = std::function<void(const Status&, const BatchLease&)>;
  using SetSyncDone = std::function<void(const Status&, std::uint32_t tables)>;

  // Borrows both for its life.
  SchedulerRequests(const Clock& clock, Link& link, Later later);

  // `done` is called during OnTableMap: the node's state must follow before any other frame.
  void Define(const std::vector<TableSpec>& tables, const std::vector<wire::pb::SeenBlock>& seen,
              MapDone done);
  void Barrier(const std::string& name, Iteration iteration, std::uint64_t steps, Done done);
  // Nobody waits at it any more: its callback is dropped.
  void ForgetBarrier(const std::string& name);
  // Where the worker is as it asks for batches.
  struct LeaseMoment {
    Iteration iteration;  // that it is in
    Iteration settled;    // every push below it has its verdict
  };
  // `used`: of the batches leased before, in their order, the iteration that each was used in; empty: one in
  // each.
  void Lease(const std::string& pool, std::uint64_t batches, std::uint32_t wanted,
             std::span<const Iteration> used, const LeaseMoment& moment, LeaseDone done);
  // The worker does not do `iteration`, nor any after it.
  void Leave(Iteration iteration, std::function<void(Epoch)> left);
  // `done` gets how many tables the rule means.
  void SetSync(const std::string& rule, SetSyncDone done);

  // Answers; repeated ones are ignored.
  void OnTableMap(const wire::pb::TableMap& map);
  void OnBarrierDone(const wire::pb::BarrierDone& done);
  void OnBatchLease(const wire::pb::BatchLease& lease);
  void OnLeft(const wire::pb::Left& left);
  void OnSetSyncReply(const wire::pb::SetSyncReply& reply);

  void ResendAll();
  void FailAll(const Status& why);
  // The first open request, oldest kind first.
  [[nodiscard]] Wait Waiting() const;
  // All that is open: each barrier, and one entry for the rest.
  [[nodiscard]] std::vector<wire::pb::OpenWait> Open() const;
  // Whether a request is open that its caller waits for, beyond so many barriers. SetSync does not count: its
  // caller does not wait.
  [[nodiscard]] bool AnyAwaited(std::size_t barriers) const {
    return !definitions_.empty() || barriers_.size() > barriers || !leases_.empty();
  }

 private:
  struct Definition {
    wire::pb::DefineTables message;
    MapDone done;
    TimePoint since;
  };
  struct OpenBarrier {
    wire::pb::Barrier message;
    Done done;
    TimePoint since;
  };
  struct OpenLease {
    wire::pb::LeaseBatches message;
    LeaseDone done;
    TimePoint since;
  };
  struct OpenSwitch {
    wire::pb::SetSync message;
    SetSyncDone done;
    TimePoint since;
  };

  const Clock& clock_;
  Link& link_;
  const Later later_;
  std::uint64_t last_request_ = 0;
  std::map<std::uint64_t, Definition> definitions_;                        // by request
  std::map<std::string, std::uint64_t> barrier_rounds_;                    // the last round begun, by name
  std::map<std::pair<std::string, std::uint64_t>, OpenBarrier> barriers_;  // by name and round
  std::map<std::uint64_t, OpenLease> leases_;                              // by request
  std::map<std::string, std::vector<std::uint64_t>> leased_;               // batches at work, by pool
  std::map<std::string, std::uint32_t> per_iteration_;                     // batches used in one, by pool
  std::map<std::uint64_t, OpenSwitch> switches_;                           // by request
  std::function<void(Epoch)> left_;                                        // set while leaving
  wire::pb::Leave leave_;
};

// The wire form of a table's spec.
[[nodiscard]] wire::pb::Table TableToWire(const TableSpec& spec);

}  // namespace leeway
